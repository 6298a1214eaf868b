"""Rows out as text: CSV, TSV and JSON Lines, with the fewest digits that read back as the same number."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from gradcli.files.kept_cells import Layout, values, whole_cells
from gradcli.results import Array, Mapped

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)
_JSON_NAMES = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}


class DelimitedWriter:
    """CSV or TSV: a row of names, then a line a row; arrays to keep have a column for each element."""

    def __init__(self, file: BinaryIO, layout: Layout, form: str) -> None:
        self._file, self._separator = file, "\t" if form == "tsv" else ","
        self._special = re.compile(f'[{self._separator}"\n\r]')
        self._kept, self._columns = layout.kept, layout.columns
        self._has_header = not layout.has_names

    def write(self, mapped: Mapped) -> None:
        """Write a block of rows, a line each, after the row of names."""
        columns = [
            map(self._quoted, column)
            for name, cells in mapped.kept.items()
            for column in _split(values(cells), self._kept[name])
        ]
        self._header()
        if mapped.count:
            lines = _lines(mapped.values, self._separator).split("\n")
            rows = map(self._separator.join, zip(*columns, lines, strict=True)) if columns else lines
            self._file.write(("\n".join(rows) + "\n").encode("utf-8", "surrogateescape"))
        self._file.flush()

    def finish(self) -> None:
        """Write the row of names, if there were no rows."""
        self._header()

    def _header(self) -> None:
        if not self._has_header:
            kept = [name + _index(index) for name, shape in self._kept.items() for index in np.ndindex(*shape)]
            cells = map(self._quoted, [*kept, *self._columns])
            self._file.write((self._separator.join(cells) + "\n").encode("utf-8", "surrogateescape"))
            self._has_header = True

    def _quoted(self, cell: str) -> str:
        """A cell, in quotes if it would else be read as something else."""
        return '"' + cell.replace('"', '""') + '"' if self._special.search(cell) else cell


class ObjectWriter:
    """JSON Lines: an object a row; numbers that JSON has not are the strings that every parser reads."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        self._file, self._as_json = file, _json_of_text if layout.source.is_text else _json_of_value
        # One template for all rows; a % in a name is doubled, as the template is filled by %.
        pairs = (_json_of_value(name).replace("%", "%%") + ": %s" for name in (*layout.kept, *layout.columns))
        self._row = "{" + ", ".join(pairs) + "}\n"

    def write(self, mapped: Mapped) -> None:
        """Write a block of rows, an object each."""
        kept = [map(self._as_json, values(cells)) for cells in mapped.kept.values()]
        lines = _lines(mapped.values, ",", _JSON_NAMES).split("\n") if mapped.count else []
        rows = zip(*kept, (line.split(",") for line in lines), strict=True)
        self._file.write("".join(self._row % (*cells, *numbers) for *cells, numbers in rows).encode())
        self._file.flush()

    def finish(self) -> None:
        """There is nothing after the last row."""


def _lines(values: Sequence[Array], separator: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Write the numbers of some rows, a line each, with the fewest digits that read back as the same numbers.

    Args:
        values: Arrays of shape (N, *shape), N not 0.
        separator: What stands between the numbers of a line.
        names: What NaN and the infinities are called, if not as in Python.
    """
    import orjson

    table = np.concatenate([array.reshape(len(array), -1) for array in values], axis=1)
    text = orjson.dumps(table, option=orjson.OPT_SERIALIZE_NUMPY)[2:-2].decode().replace("],[", "\n")
    words = [names.get(word, word) for word in map(repr, table[~np.isfinite(table)].tolist())]
    if words:
        text = "".join(itertools.chain.from_iterable(zip(text.split("null"), [*words, ""], strict=True)))
    return text.replace(",", separator)


def _split(cells: Sequence[Any], shape: tuple[int, ...]) -> list[list[str]]:
    """A list of texts for each element of some cells, empty in rows whose cell has another shape."""
    columns = whole_cells(cells, shape).reshape(len(cells), -1).T.tolist() if shape else [cells]
    return [list(map(_cell, column)) for column in columns]


def _index(index: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""


def _cell(value: Any) -> str:
    """A cell of a table: texts as they are, what JSON has else as JSON."""
    match value:
        case str():
            return value
        case None:
            return ""
        case float():
            return repr(value)
        case bool() | int() | list() | dict():
            return json.dumps(value, ensure_ascii=False, default=_word)
    return _word(value)


def _word(value: Any) -> str:
    """Write as text a value that JSON has no form for."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _json_of_text(cell: str) -> str:
    """A cell of a table as JSON: a number if it is one, null if it is empty, else a string."""
    word = cell.strip()
    return (word if _JSON_NUMBER.fullmatch(word) else _JSON_NAMES.get(word) or _json_of_value(cell)) if word else "null"


def _json_of_value(value: Any) -> str:
    return json.dumps(_finite(value), default=_word)


def _finite(value: Any) -> Any:
    """A value with text in UTF-8, and with strings for the numbers that JSON has not."""
    match value:
        case list():
            return list(map(_finite, value))
        case dict():
            return {_finite(key): _finite(item) for key, item in value.items()}
        case float() if not math.isfinite(value):
            return _JSON_NAMES[repr(value)].strip('"')
        case str() if not value.isascii():
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value

"""Rows to CSV, TSV and JSON Lines: the shortest digits that read back as the same number, one join a block."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.decoding import shown
from gradcli.files.sinks.output_file import Target
from gradcli.results import Mapped, Quantity

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)
_JSON_NAMES = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}


class DelimitedWriter:
    """CSV or TSV: a row of names, then a line a row; arrays to keep have a column for each element."""

    def __init__(
        self, target: Target, kept: Mapping[str, tuple[int, ...]], quantities: Sequence[Quantity], separator: str
    ) -> None:
        self._file, self._separator = target.file, separator
        self._kept = kept
        self._columns = [column for quantity in quantities for column in quantity.columns]
        self._has_header = False

    def write(self, mapped: Mapped) -> None:
        """Write a block of rows, a line each, after the row of names."""
        columns: list[list[str]] = []
        for name, cells in mapped.kept.items():
            if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
                columns += _digits(cells)
            elif isinstance(cells, np.ndarray):
                columns += map(self._quoted, _digits(_worded(cells)))
            else:
                columns += map(self._quoted, _split(name, cells, self._kept[name], mapped.faulty))
        for values in mapped.values:
            columns += _digits(values)
        self._header()
        if mapped.count:
            lines = "\n".join(map(self._separator.join, zip(*columns, strict=True)))
            self._file.write((lines + "\n").encode("utf-8", "surrogateescape"))
        self._file.flush()

    def finish(self) -> None:
        """Write the row of names, if there were no rows."""
        self._header()

    def _header(self) -> None:
        if not self._has_header:
            kept = [name + _index(index) for name, shape in self._kept.items() for index in np.ndindex(*shape)]
            cells = self._quoted([*kept, *self._columns])
            self._file.write((self._separator.join(cells) + "\n").encode("utf-8", "surrogateescape"))
            self._has_header = True

    def _quoted(self, cells: list[str]) -> list[str]:
        """The cells, those in quotes that would else be read as something else."""
        everything = "".join(cells)
        if not any(mark in everything for mark in (self._separator, '"', "\n", "\r")) and all(cells):
            return cells
        return [self._quote(cell) if cell else cell for cell in cells]

    def _quote(self, cell: str) -> str:
        if any(mark in cell for mark in (self._separator, '"', "\n", "\r")):
            return '"' + cell.replace('"', '""') + '"'
        return cell


class ObjectWriter:
    """JSON Lines: an object a row; numbers that JSON has not are the strings that every parser reads."""

    def __init__(self, target: Target, kept: Sequence[str], quantities: Sequence[Quantity], *, from_text: bool) -> None:
        self._file = target.file
        self._as_json: Callable[[Any], str] = _of_text if from_text else _of_value
        names = [*kept, *(column for quantity in quantities for column in quantity.columns)]
        # One template for all rows; a % in a name is doubled, as the template is filled by %.
        pairs = (json.dumps(_readable(name)).replace("%", "%%") + ": %s" for name in names)
        self._row = "{" + ", ".join(pairs) + "}\n"

    def write(self, mapped: Mapped) -> None:
        """Write a block of rows, an object each."""
        columns: list[list[str]] = []
        for cells in mapped.kept.values():
            if isinstance(cells, np.ndarray):
                columns.append([_of_value(cell) for cell in _worded(cells).tolist()])
            else:
                columns.append([self._as_json(cell) for cell in cells])
        for values in mapped.values:
            found = _digits(values)
            if not np.isfinite(values).all():
                found = [[_JSON_NAMES.get(cell, cell) for cell in column] for column in found]
            columns += found
        self._file.write("".join(map(self._row.__mod__, zip(*columns, strict=True))).encode("utf-8"))
        self._file.flush()

    def finish(self) -> None:
        """There is nothing after the last row."""


def _digits(values: npt.NDArray[Any]) -> list[list[str]]:
    """A list of texts for each column of some rows."""
    flat = values.reshape(len(values), math.prod(values.shape[1:])).T
    match flat.dtype.kind:
        case "f" if flat.dtype.itemsize != 8:
            return [column.astype(str).tolist() for column in flat]
        case "U":
            return [column.tolist() for column in flat]
    return [list(map(repr, column)) for column in flat.tolist()]


def _worded(cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of numbers or of texts; dates and bytes become texts."""
    match cells.dtype.kind:
        case "m" | "M":
            return cells.astype(str)
        case "S":
            return np.char.decode(cells, "utf-8", "replace")
    return cells


def _split(name: str, cells: Sequence[Any], shape: tuple[int, ...], faulty: frozenset[int]) -> list[list[str]]:
    """A list of texts for each element of cells of what JSON holds, empty where there is null.

    Raises:
        InputError: A cell has another shape, and its row is not at fault.
    """
    rows: list[list[Any]] = []
    for row, cell in enumerate(cells):
        level = [cell]
        for size in shape:
            if cell is not None and row not in faulty and any(type(i) is not list or len(i) != size for i in level):
                raise InputError(
                    f"--keep keeps the column {shown(name)}, and {shown(_cell(cell))} in it has not its shape {shape}",
                    hint="write .jsonl, which holds anything, or leave out --keep",
                )
            parts = (item if type(item) is list and len(item) == size else [None] * size for item in level)
            level = list(itertools.chain.from_iterable(parts))
        rows.append(level)
    return [[_cell(row[element]) for row in rows] for element in range(math.prod(shape))]


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
    return json.dumps(value, ensure_ascii=False)


def _of_text(cell: str) -> str:
    """A cell of a table as JSON: a number if it is one, null if it is empty, else a string."""
    word = cell.strip()
    if _JSON_NUMBER.fullmatch(word):
        return word
    if not word:
        return "null"
    return _JSON_NAMES.get(word) or json.dumps(_readable(cell))


def _readable(text: str) -> str:
    """A text whose bytes were no UTF-8 as JSON can have it."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if not text.isascii() else text


def _of_value(value: Any) -> str:
    text = repr(value) if isinstance(value, float) else json.dumps(_finite(value))
    return _JSON_NAMES.get(text, text)


def _finite(value: Any) -> Any:
    """Nested lists with the strings in place of numbers that JSON has not."""
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return _JSON_NAMES[repr(value)].strip('"')
    return value

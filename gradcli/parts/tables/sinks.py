"""Rows out: blocks of columns to a file or standard output, a writer a format, whole or not at all.

A layout says which columns there are, and which cells of the input are kept.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field
from types import MappingProxyType
from typing import IO, Any, BinaryIO, cast

import numpy as np

from gradcli.arrays import AnyArray
from gradcli.errors import GradcliError, InputError
from gradcli.files.atomic import TEMPORARY, target
from gradcli.files.binary import write_npy, write_npz
from gradcli.files.csv_tables import is_number, number
from gradcli.files.decoding import array_of, quoted
from gradcli.parts.tables.columnar import ArrowData, is_numeric, pyarrow
from gradcli.results import Array, Cells, ColumnGroup, Mapped, RowSource
from gradcli.results.record import Record

_ROWS, _BYTES = 2**20, 2**26
"""Rows and bytes of a group that is written: what is reached first ends it."""


@contextmanager
def open_sink(path: str, form: str, layout: Layout) -> Iterator[Writer]:
    """Open a writer of rows; the file gets its name when all are written, and does not exist if that fails.

    Args:
        path: Of the file, or `-` for standard output.
        form: One of the formats of rows.
        layout: What is written.

    Raises:
        OSError: The output cannot be written.
        InputError: The format cannot hold a column to keep.
    """
    with target(path) as found, ExitStack() as stack:
        file = found
        if path.lower().endswith(".gz"):  # without a name and a time, so that the same rows are the same bytes
            packed = gzip.GzipFile("", "wb", fileobj=found, mtime=0, compresslevel=6)
            file = cast("BinaryIO", stack.enter_context(packed))
        writer: Writer
        match form:
            case "parquet":
                writer = ColumnWriter(file, layout)
                stack.callback(writer.abandon)
            case "npy" | "npz":
                writer = ArrayWriter(file, layout, stack, is_archive=form == "npz")
            case "jsonl":
                writer = ObjectWriter(file, layout)
            case _:
                writer = DelimitedWriter(file, layout, form)
        failures = ValueError, OverflowError, getattr(sys.modules.get("pyarrow"), "ArrowException", OverflowError)
        try:
            yield writer
            writer.finish()
        except failures as error:
            if not layout.is_kept:
                raise
            said = str(error).partition("\n")[0].rstrip(".")
            hint = "leave out --keep, or write another format: .csv, .jsonl, .parquet"
            raise InputError(f"a column cannot be kept so: {said}", hint=hint) from None


# -- the layout of a table, and the cells that it keeps of any kind of input


class Layout(Record):
    """Layout of a table of rows out: the columns of the input, if they are kept, and the quantities.

    Attributes:
        source: The columns of the input.
        is_kept: Whether they come first.
        numbers: Those of them that are read as numbers.
        quantities: What comes after them.
        dtype: Of these.
        has_names: Whether a text begins with a row of names: a part that is not the first of a table does not.
        about: What a file says of itself, where its format has room for that.
    """

    source: RowSource
    is_kept: bool
    numbers: Sequence[str]
    quantities: Sequence[ColumnGroup]
    dtype: str
    has_names: bool = True
    about: Mapping[str, object] = field(default_factory=dict)

    @property
    def kept(self) -> Mapping[str, tuple[int, ...]]:
        """The columns of the input that come first, with the shapes of their cells."""
        return self.source.columns if self.is_kept else {}

    @property
    def columns(self) -> list[str]:
        """The names of the numbers, one for each element."""
        return [column for quantity in self.quantities for column in quantity.columns]


def values(cells: Cells) -> list[Any]:
    """Convert the cells of a column to texts, numbers, and what else JSON holds; those of text are as they were read.

    A number of fewer digits than float64 has is the one that these digits say.
    """
    if isinstance(cells, list):
        return cells
    found: ArrowData = cells
    pa, types = pyarrow(), pyarrow().types
    if found.type == pa.float32():
        found = found.cast(pa.string()).cast(pa.float64())
    elif any(test(found.type) for test in (types.is_date, types.is_time, types.is_timestamp)):
        found = found.cast(pa.string())  # all digits, and years that Python has not
    is_plain = not found.null_count and (types.is_integer(found.type) or types.is_floating(found.type))
    given: list[Any] = found.to_numpy().tolist() if is_plain else found.to_pylist()
    return given


def whole_cells(cells: Sequence[Any], shape: tuple[int, ...]) -> AnyArray:
    """Arrange lists as an array of objects, of shape (N, *cell), with None in rows whose cell has another shape."""
    found = np.full((len(cells), *shape), None, dtype=object)
    for row, cell in enumerate(cells):
        with contextlib.suppress(ValueError):  # lists of different lengths
            if np.shape(cell) == shape:
                found[row] = cell
    return found


def numeric(cells: Sequence[Any], shape: tuple[int, ...], column: str | None = None) -> Array:
    """Convert the cells of a column to numbers, NaN where one is empty or no number.

    Args:
        cells: Numbers, lists of them, or texts.
        shape: Of a cell.
        column: Its name, where it is no variable.

    Raises:
        InputError: A cell of what is no variable is no number.
    """
    if not shape and set(map(type, cells)) <= {float, int}:
        return np.array(cells, np.float64)
    found = np.full((len(cells), *shape), np.nan)
    for row, cell in enumerate(cells):
        try:
            is_word = isinstance(cell, str) and is_number(cell)
            found[row] = number(cell) if is_word else array_of(cell, "a cell").reshape(shape)
        except (ValueError, GradcliError):
            if column is not None and cell not in (None, ""):
                said = f"--keep keeps the column {quoted(column)}, and {quoted(str(cell))} in it is not a number"
                raise InputError(said, hint="arrays hold numbers: write .csv or .jsonl, or leave out --keep") from None
    return found


# -- text, with the fewest digits that read back as the same number

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
        """Quote a cell if it would else be read as something else."""
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
        """Write nothing after the last row."""


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


def _split(cells: Sequence[object], shape: tuple[int, ...]) -> list[list[str]]:
    """List the texts of each element of some cells, empty in rows whose cell has another shape."""
    columns = whole_cells(cells, shape).reshape(len(cells), -1).T.tolist() if shape else [cells]
    return [list(map(_cell, column)) for column in columns]


def _index(index: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""


def _cell(value: object) -> str:
    """Write a cell of a table: a text as it is, anything else as JSON."""
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


def _word(value: object) -> str:
    """Write as text a value that JSON has no form for."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _json_of_text(cell: str) -> str:
    """Write a cell of a table as JSON: a number if it is one, null if it is empty, else a string."""
    word = cell.strip()
    return (word if _JSON_NUMBER.fullmatch(word) else _JSON_NAMES.get(word) or _json_of_value(cell)) if word else "null"


def _json_of_value(value: object) -> str:
    return json.dumps(_finite(value), default=_word)


def _finite(value: object) -> object:
    """Convert a value for JSON: text in UTF-8, and strings for the numbers that JSON lacks."""
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


# -- NumPy's own files


class ArrayWriter:
    """One array of records with a field for each column, or an archive with an array for each quantity.

    What is written waits in a temporary file an array, as the number of rows, which comes first, is known at the end,
    and as an archive holds one member at a time.
    """

    def __init__(self, file: BinaryIO, layout: Layout, stack: ExitStack, *, is_archive: bool) -> None:
        self._file, self._layout, self._is_archive, self._count = file, layout, is_archive, 0
        fields = [(name, "float64", shape) for name, shape in layout.kept.items()]
        if is_archive:
            fields += [(quantity.name, layout.dtype, quantity.shape) for quantity in layout.quantities]
            kinds = {name: np.dtype((kind, shape)) for name, kind, shape in fields}
        else:
            kinds = {"": np.dtype([*fields, *((name, layout.dtype, ()) for name in layout.columns)])}
        path = str(getattr(file, "name", ""))
        folder = os.path.dirname(path) if path.endswith(TEMPORARY) else None  # next to the file, where there is room
        spools = (tempfile.TemporaryFile(dir=folder) for _ in kinds)  # noqa: SIM115 (the stack closes them)
        self._spools = [(*one, stack.enter_context(own)) for one, own in zip(kinds.items(), spools, strict=True)]

    def write(self, mapped: Mapped) -> None:
        """Append a block of rows, the columns to keep first."""
        count, variables = mapped.count, self._layout.numbers
        kept = [
            numeric(values(cells), self._layout.kept[name], None if name in variables else name)
            for name, cells in mapped.kept.items()
        ]
        arrays: list[AnyArray] = [*kept, *mapped.values]
        if not self._is_archive:
            rows = np.empty(count, self._spools[0][1])
            flat = [column for array in mapped.values for column in array.reshape(count, -1).T] if count else []
            for name, column in zip(rows.dtype.names or (), [*kept, *flat], strict=bool(count)):
                rows[name] = column
            arrays = [rows]
        for (_, kind, spool), array in zip(self._spools, arrays, strict=True):
            spool.write(np.ascontiguousarray(array, kind.base).tobytes())
        self._count += count

    def finish(self) -> None:
        """Write the file, now that the number of rows is known."""
        arrays = {name: self._array(kind, spool) for name, kind, spool in self._spools}
        if self._is_archive:
            write_npz(arrays, self._file)
        else:
            write_npy(arrays[""], self._file)

    def _array(self, kind: np.dtype[Any], spool: IO[bytes]) -> AnyArray:
        spool.flush()
        whole = (self._count, *kind.shape)
        is_empty = math.prod(whole) * kind.base.itemsize == 0  # which cannot be mapped
        return np.empty(whole, kind.base) if is_empty else np.memmap(spool, kind.base, "r", shape=whole)


# -- Parquet


class ColumnWriter:
    """A table of columns: those of the input that are kept with the types they have, then the numbers.

    The variables of a text become numbers; of JSON, the first cells of a column say its type.
    """

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        self._pa, self._file, self._layout = pyarrow(), file, layout
        self._writer: ArrowData = None
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0

    def write(self, mapped: Mapped) -> None:
        """Write a block of rows, or hold it until there are enough for a group."""
        if not mapped.count:  # all of its rows are left out
            return
        arrays = [self._kept(name, cells) for name, cells in mapped.kept.items()]
        for array in mapped.values:
            arrays += [self._pa.array(column) for column in array.reshape(mapped.count, -1).T]
        names = [*self._layout.kept, *self._layout.columns]
        self._waiting.append(self._pa.Table.from_arrays(arrays, names))
        self._rows += mapped.count
        self._bytes += self._waiting[-1].nbytes
        if self._rows >= _ROWS or self._bytes >= _BYTES:
            self._flush(self._pa.concat_tables(self._waiting).combine_chunks())

    def finish(self) -> None:
        """Write what waits, and the end of the file."""
        if self._waiting or self._writer is None:
            self._flush(self._pa.concat_tables(self._waiting or [self._empty()]).combine_chunks())
        self._writer.close()

    def abandon(self) -> None:
        """Write no end, if there is none yet: the file is no more."""
        if self._writer is not None:
            self._writer.is_open = False  # which else is closed when it is collected, into a file that is closed

    def _flush(self, table: ArrowData) -> None:
        if self._writer is None:
            schema = table.schema.with_metadata({"gradcli": json.dumps(self._layout.about)})
            # Numbers rarely repeat, so that a dictionary of them would be built for nothing.
            texts = [field.name for field in schema if not is_numeric(field.type)]
            self._writer = self._pa.parquet.ParquetWriter(self._file, schema, use_dictionary=texts)
        self._writer.write_table(table)
        self._waiting, self._rows, self._bytes = [], 0, 0

    def _empty(self) -> ArrowData:
        """Make a table without rows."""
        pa, layout = self._pa, self._layout
        kinds = {name: pa.float64() if name in layout.numbers else pa.string() for name in layout.kept}
        kinds |= {name: kind for name, kind in layout.source.types.items() if name in kinds}
        return pa.schema([*kinds.items(), *((name, layout.dtype) for name in layout.columns)]).empty_table()

    def _kept(self, name: str, cells: Cells) -> ArrowData:
        """Convert the cells of a column to keep to an array of Arrow."""
        if not isinstance(cells, list):
            return cells
        if name not in self._layout.numbers:
            return self._pa.array(cells, "string" if self._layout.source.is_text else None)
        shape = self._layout.kept[name]
        found = self._pa.array(numeric(cells, shape).ravel())
        for size in reversed(shape):
            found = self._pa.FixedSizeListArray.from_arrays(found, size)
        return found


Writer = ArrayWriter | DelimitedWriter | ObjectWriter | ColumnWriter
"""Writes rows in one format, block by block, and then what comes after the last of them."""

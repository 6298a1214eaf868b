"""Rows out: blocks of columns to a file or standard output, a writer a format, whole or not at all.

Texts have the fewest digits that read back as the same number.  The header of an .npy names the number of rows, which
is known at the end: until then the numbers wait in temporary files.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import IO, Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.atomic import Target, target
from gradcli.files.columnar import ArrowWriter, refusing, unpacked
from gradcli.files.compression import compressing
from gradcli.files.csv_tables import number
from gradcli.files.decoding import array_of, shown
from gradcli.files.several import suffixes
from gradcli.results import Array, Cells, Mapped, Quantity, RowSource

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)
_JSON_NAMES = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}


@dataclass(frozen=True)
class Layout:
    """What a table of rows out holds.

    Attributes:
        source: The columns of the input.
        is_kept: Whether they come first.
        numbers: Those of them that are read as numbers.
        quantities: What comes after them.
        dtype: Of these.
        from_text: Whether the cells of the input are texts of which some are numbers.
        has_names: Whether a text begins with a row of names: a part that is not the first of a table does not.
        about: What a file says of itself, where its format has room for that.
    """

    source: RowSource
    is_kept: bool
    numbers: Sequence[str]
    quantities: Sequence[Quantity]
    dtype: str
    from_text: bool
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


class Writer(Protocol):
    """Writes rows in one format."""

    def write(self, mapped: Mapped) -> None:
        """Write the next block of rows."""
        ...

    def finish(self) -> None:
        """Write what comes after the last row."""
        ...


@contextmanager
def open_sink(path: str, form: str, layout: Layout) -> Iterator[Writer]:
    """A writer of rows; the file has its name when all are written, and does not exist if that fails.

    Args:
        path: Of the file, or `-` for standard output.
        form: One of the formats of rows.
        layout: What is written.

    Raises:
        OSError: The output cannot be written.
        InputError: The format cannot hold a column to keep.
    """
    with target(path) as found, compressing(found.file, suffixes(path)[1]) as file:
        writer: Writer
        match form:
            case "jsonl":
                writer = ObjectWriter(file, layout)
            case "npy" | "npz":
                writer = ArrayWriter(found, layout, is_archive=form == "npz")
            case "csv" | "tsv":
                writer = DelimitedWriter(file, layout, "\t" if form == "tsv" else ",")
            case _:
                writer = ColumnWriter(file, form, layout)
        with refusing(is_kept=layout.is_kept):
            try:
                yield writer
                writer.finish()
            finally:
                if isinstance(writer, ArrowWriter):
                    writer.abandon()


class ColumnWriter(ArrowWriter):
    """Writes columns of Arrow; the variables of a text become columns of numbers."""

    def __init__(self, file: BinaryIO, form: str, layout: Layout) -> None:
        own, self._kept_shapes = layout.source.types, layout.kept
        self._read = [name for name in layout.numbers if layout.is_kept and name not in own]
        types = {name: own.get(name, "string" if layout.from_text else None) for name in layout.kept}
        types |= dict.fromkeys(self._read)
        super().__init__(file, form, types, layout.columns, layout.dtype, layout.about)

    def write(self, mapped: Mapped) -> None:
        """Write a block of rows, those of texts as the numbers that were read."""
        kept, shapes = mapped.kept, self._kept_shapes
        numbers = {name: numeric(name, kept[name], shapes[name], mapped.faulty) for name in self._read}
        super().write(replace(mapped, kept={**kept, **numbers}))


# -- texts


class DelimitedWriter:
    """CSV or TSV: a row of names, then a line a row; arrays to keep have a column for each element."""

    def __init__(self, file: BinaryIO, layout: Layout, separator: str) -> None:
        self._file, self._separator = file, separator
        self._kept, self._columns = layout.kept, layout.columns
        self._has_header = not layout.has_names

    def write(self, mapped: Mapped) -> None:
        """Write a block of rows, a line each, after the row of names."""
        columns: list[list[str]] = []
        for name, given in mapped.kept.items():
            cells = _as_read(given)
            if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
                columns += _digits(cells)
            elif isinstance(cells, np.ndarray):
                columns += map(self._quoted, _digits(_worded(cells)))
            else:
                columns += map(self._quoted, _split(name, cells, self._kept[name], mapped.faulty))
        self._header()
        if mapped.count:
            lines = _lines(mapped.values, self._separator)
            if columns:
                kept = map(self._separator.join, zip(*columns, strict=True))
                pairs = zip(kept, lines.split("\n"), strict=True)
                lines = "\n".join(map(self._separator.join, pairs))
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

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        self._file = file
        self._as_json: Callable[[Any], str] = _of_text if layout.from_text else _of_value
        names = [*layout.kept, *layout.columns]
        # One template for all rows; a % in a name is doubled, as the template is filled by %.
        pairs = (json.dumps(_readable(name)).replace("%", "%%") + ": %s" for name in names)
        self._row = "{" + ", ".join(pairs) + "}\n"

    def write(self, mapped: Mapped) -> None:
        """Write a block of rows, an object each."""
        columns: list[list[str]] = []
        for cells in map(_as_read, mapped.kept.values()):
            if isinstance(cells, np.ndarray):
                columns.append([_of_value(cell) for cell in _worded(cells).tolist()])
            else:
                columns.append([self._as_json(cell) for cell in cells])
        kept = zip(*columns, strict=True) if columns else itertools.repeat(())
        lines = _lines(mapped.values, ",", _JSON_NAMES).split("\n") if mapped.count else []
        rows = [self._row % (*cells, *line.split(",")) for cells, line in zip(kept, lines, strict=False)]
        self._file.write("".join(rows).encode("utf-8"))
        self._file.flush()

    def finish(self) -> None:
        """There is nothing after the last row."""


def _lines(values: Sequence[Array], separator: str, names: Mapping[str, str] | None = None) -> str:
    """Write the numbers of some rows, a line each, with the fewest digits that read back as the same numbers.

    Args:
        values: Arrays of shape (N, *shape), N not 0.
        separator: What stands between the numbers of a line.
        names: What NaN and the infinities are called, if not as in Python.
    """
    import orjson

    table = np.concatenate([array.reshape(len(array), -1) for array in values], axis=1)
    text = orjson.dumps(table, option=orjson.OPT_SERIALIZE_NUMPY)[2:-2].decode().replace("],[", "\n")
    lost = table[~np.isfinite(table)].tolist()
    if lost:
        words = [(names or {}).get(word, word) for word in map(repr, lost)]
        text = "".join(itertools.chain.from_iterable(zip(text.split("null"), [*words, ""], strict=True)))
    return text if separator == "," else text.replace(",", separator)


def _as_read(cells: Cells) -> Cells:
    """Convert cells of Arrow to an array of NumPy or a list; leave others."""
    return cells if isinstance(cells, list | np.ndarray) else unpacked(cells)


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
        case bool() | int() | list() | dict():
            return json.dumps(value, ensure_ascii=False, default=_word)
    return _word(value)


def _word(value: Any) -> str:
    """Write as text a value that JSON has no form for."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


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
    text = repr(value) if isinstance(value, float) else json.dumps(_finite(value), default=_word)
    return _JSON_NAMES.get(text, text)


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return _JSON_NAMES[repr(value)].strip('"')
    return value


# -- NumPy's own files


class ArrayWriter:
    """One array of records with a field for each column, or an archive with an array for each quantity.

    What is written waits in a temporary file an array, as the number of rows, which comes first, is known at the end,
    and as an archive holds one member at a time.
    """

    def __init__(self, target: Target, layout: Layout, *, is_archive: bool) -> None:
        self._target, self._kept, self._quantities = target, layout.kept, layout.quantities
        self._dtype, self._is_archive = layout.dtype, is_archive
        self._spools: dict[str, tuple[IO[bytes], np.dtype[Any], tuple[int, ...]]] = {}
        self._count = 0

    def write(self, mapped: Mapped) -> None:
        """Append a block of rows, the columns to keep first."""
        arrays = {name: numeric(name, cells, self._kept[name], mapped.faulty) for name, cells in mapped.kept.items()}
        arrays |= {quantity.name: values for quantity, values in zip(self._quantities, mapped.values, strict=True)}
        self._append(arrays)
        self._count += mapped.count

    def finish(self) -> None:
        """Write the file, now that the number of rows is known."""
        if not self._spools:
            arrays = {name: np.empty((0, *shape)) for name, shape in self._kept.items()}
            self._append(arrays | {one.name: np.empty((0, *one.shape), self._dtype) for one in self._quantities})
        if not self._is_archive:
            self._copy("", self._target.file)
            return
        with zipfile.ZipFile(self._target.file, "w") as archive:
            for name in self._spools:
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                    self._copy(name, member)

    def _append(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        for name, array in (arrays if self._is_archive else {"": self._records(arrays)}).items():
            if name not in self._spools:
                spool = tempfile.TemporaryFile(dir=self._target.folder)  # noqa: SIM115 (closed with the target)
                self._spools[name] = self._target.stack.enter_context(spool), array.dtype, array.shape[1:]
            file, dtype, _ = self._spools[name]
            file.write(np.ascontiguousarray(array, dtype).tobytes())

    def _records(self, arrays: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        columns = {name: arrays[name] for name in self._kept}
        for quantity in self._quantities:
            flat = arrays[quantity.name].reshape(-1, len(quantity.columns))
            columns |= zip(quantity.columns, flat.T, strict=True)
        rows = np.empty(len(flat), [(name, array.dtype, array.shape[1:]) for name, array in columns.items()])
        for name, array in columns.items():
            rows[name] = array
        return rows

    def _copy(self, name: str, to: IO[bytes]) -> None:
        spool, dtype, shape = self._spools[name]
        spool.flush()
        whole = (self._count, *shape)
        is_empty = math.prod(whole) * dtype.itemsize == 0  # which cannot be mapped
        array = np.empty(whole, dtype) if is_empty else np.memmap(spool, dtype, "r", shape=whole)
        # Nothing but a way to write: of a file NumPy would take the descriptor, and not say that a pipe is closed.
        np.lib.format.write_array(SimpleNamespace(write=to.write), array, allow_pickle=False)


def numeric(name: str, cells: Cells, shape: tuple[int, ...], faulty: frozenset[int]) -> npt.NDArray[Any]:
    """The cells of a column to keep as an array of numbers, of shape (N, *cell).

    NaN stands for an empty cell, and for one that is no number in a row at fault.

    Raises:
        InputError: They are no numbers.
    """
    cells = _as_read(cells)
    if isinstance(cells, np.ndarray):
        return cells
    found = np.full((len(cells), *shape), np.nan)
    for row, cell in enumerate(cells):
        try:
            if cell not in (None, ""):
                found[row] = array_of(cell, name).reshape(shape) if shape else _number(cell)
        except (TypeError, ValueError, OverflowError, InputError):
            if row in faulty:
                continue
            raise InputError(
                f"--keep keeps the column {shown(name)}, and {shown(str(cell))} in it is not a number",
                hint="arrays hold numbers; write .csv, .tsv or .jsonl, or leave out --keep",
            ) from None
    return found


def _number(cell: Any) -> float:
    return number(cell) if isinstance(cell, str) else float(cell)

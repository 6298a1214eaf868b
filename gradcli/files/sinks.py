"""Rows out: blocks of columns to a file or standard output, a writer a format, whole or not at all.

Texts have the shortest digits that read back as the same number, one join a block.  The header of an .npy names the
number of rows, which is known at the end: until then the numbers wait in temporary files.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, Protocol

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.atomic import Target, target
from gradcli.files.binary import MAGIC
from gradcli.files.csv_tables import number
from gradcli.files.decoding import array_of, shown
from gradcli.results import Cells, Mapped, Quantity

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)
_JSON_NAMES = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}

_COPIED = 2**20


class Writer(Protocol):
    """Writes rows in one format."""

    def write(self, mapped: Mapped) -> None:
        """Write the next block of rows."""
        ...

    def finish(self) -> None:
        """Write what comes after the last row."""
        ...


@contextmanager
def open_sink(
    path: str,
    form: str,
    kept: Mapping[str, tuple[int, ...]],
    quantities: Sequence[Quantity],
    dtype: str,
    *,
    from_text: bool,
) -> Iterator[Writer]:
    """A writer of rows; the file has its name when all are written, and does not exist if that fails.

    Args:
        path: Of the file, or `-` for standard output.
        form: `csv`, `tsv`, `jsonl`, `npy` or `npz`.
        kept: The columns of the input that come first, with the shapes of their cells.
        quantities: What comes behind them.
        dtype: Of their numbers.
        from_text: Whether the cells of the columns to keep are texts of which some are numbers.

    Raises:
        OSError: The output cannot be written.
        InputError: The format cannot hold a column to keep.
    """
    with target(path) as file:
        writer: Writer
        match form:
            case "jsonl":
                writer = ObjectWriter(file, list(kept), quantities, from_text=from_text)
            case "npy" | "npz":
                writer = ArrayWriter(file, kept, quantities, dtype, is_archive=form == "npz")
            case _:
                writer = DelimitedWriter(file, kept, quantities, "\t" if form == "tsv" else ",")
        yield writer
        writer.finish()


# -- texts


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
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return _JSON_NAMES[repr(value)].strip('"')
    return value


# -- NumPy's own files


class ArrayWriter:
    """One array of records with a field for each column, or an archive with an array for each quantity.

    What is written waits in a temporary file an array, as the number of rows, which comes first, is known at the end,
    and as an archive holds one member at a time.
    """

    def __init__(
        self,
        target: Target,
        kept: Mapping[str, tuple[int, ...]],
        quantities: Sequence[Quantity],
        dtype: str,
        *,
        is_archive: bool,
    ) -> None:
        self._target, self._kept, self._quantities = target, kept, quantities
        self._dtype, self._is_archive = dtype, is_archive
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
        to.write(header(dtype, (self._count, *shape)))
        spool.seek(0)
        shutil.copyfileobj(spool, to, _COPIED)


def numeric(name: str, cells: Cells, shape: tuple[int, ...], faulty: frozenset[int]) -> npt.NDArray[Any]:
    """The cells of a column to keep as an array of numbers, of shape (N, *cell).

    NaN stands for an empty cell, and for one that is no number in a row at fault.

    Raises:
        InputError: They are no numbers.
    """
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


def header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The header of an .npy file.

    >>> header(np.dtype(float), (9,)).rstrip()
    b"\\x93NUMPY\\x01\\x00v\\x00{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }"
    """
    descr = np.lib.format.dtype_to_descr(dtype)
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    is_wide = len(text) > 2**16 - 100 or not text.isascii()
    version, width = (b"\x03\x00", 4) if is_wide else (b"\x01\x00", 2)
    before = len(MAGIC) + len(version) + width
    size = -(-(before + len(text) + 1) // 64) * 64 - before
    return MAGIC + version + size.to_bytes(width, "little") + text.ljust(size - 1) + b"\n"

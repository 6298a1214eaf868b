"""Rows to NumPy's own files: .npy with a record a row, .npz with an array a quantity.

The header of an .npy names the number of rows, which is known at the end: a place is kept for it, or the numbers wait
in a temporary file.  The arrays of an .npz are written member by member to temporary files, then into the archive.
"""

from __future__ import annotations

import struct
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.binary import MAGIC
from gradcli.files.csv_tables import number
from gradcli.files.decoding import shown
from gradcli.files.nested import array_of
from gradcli.files.sinks.output_file import Target
from gradcli.results import Cells, Mapped, Quantity

_COPIED = 2**20
_LARGEST_COUNT = 10**18


class NpyWriter:
    """One array of records, with a field for each column."""

    def __init__(
        self, target: Target, kept: Mapping[str, tuple[int, ...]], quantities: Sequence[Quantity], dtype: str
    ) -> None:
        self._target, self._kept = target, kept
        self._columns = [(column, np.dtype(dtype), ()) for quantity in quantities for column in quantity.columns]
        self._spool: IO[bytes] = target.file
        if not target.is_seekable:
            self._spool = target.stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        self._record: np.dtype[Any] | None = None
        self._count = 0

    def write(self, mapped: Mapped) -> None:
        """Append a block of rows as records, the columns to keep first."""
        kept = {name: numeric(name, cells, self._kept[name], mapped.faulty) for name, cells in mapped.kept.items()}
        record = self._begin(kept)
        rows = np.empty(mapped.count, record)
        for name, array in kept.items():
            rows[name] = array
        names = iter(name for name, _, _ in self._columns)
        for values in mapped.values:
            for column in values.reshape(mapped.count, int(np.prod(values.shape[1:]))).T:
                rows[next(names)] = column
        self._spool.write(rows.tobytes())
        self._count += mapped.count

    def finish(self) -> None:
        """Write the header anew with the number of rows, which is known only now."""
        record = self._begin({name: np.empty((0, *shape)) for name, shape in self._kept.items()})
        if self._target.is_seekable:
            self._spool.seek(0)
            self._spool.write(header(record, (self._count,)))
            return
        self._target.file.write(header(record, (self._count,)))
        _copy(self._spool, self._target.file)

    def _begin(self, kept: dict[str, npt.NDArray[Any]]) -> np.dtype[Any]:
        if self._record is None:
            before = [(name, array.dtype, array.shape[1:]) for name, array in kept.items()]
            self._record = np.dtype([*before, *self._columns])
            if self._target.is_seekable:
                # A header of the same length for now: the number of rows is known at the end.
                self._spool.write(header(self._record, (0,)))
        return self._record


class NpzWriter:
    """An archive with an array for each quantity, rows on its first axis."""

    def __init__(
        self, target: Target, kept: Mapping[str, tuple[int, ...]], quantities: Sequence[Quantity], dtype: str
    ) -> None:
        self._target, self._kept = target, kept
        self._quantities = quantities
        self._dtype = np.dtype(dtype)
        self._spools: dict[str, IO[bytes]] = {}
        self._kinds: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}
        self._count = 0

    def write(self, mapped: Mapped) -> None:
        """Append a block of rows to the spool of each array."""
        arrays = {name: numeric(name, cells, self._kept[name], mapped.faulty) for name, cells in mapped.kept.items()}
        arrays |= {quantity.name: values for quantity, values in zip(self._quantities, mapped.values, strict=True)}
        for name, array in arrays.items():
            if name not in self._spools:
                # A zip archive holds one member at a time, and rows come with all columns at once.
                spool = tempfile.TemporaryFile(dir=self._target.folder)  # noqa: SIM115 (closed with the target)
                self._spools[name] = self._target.stack.enter_context(spool)
                self._kinds[name] = array.dtype, array.shape[1:]
            self._spools[name].write(np.ascontiguousarray(array, self._kinds[name][0]).tobytes())
        self._count += mapped.count

    def finish(self) -> None:
        """Write the archive from the spools, now that the number of rows is known."""
        for name, shape in self._kept.items():
            self._kinds.setdefault(name, (np.dtype(np.float64), shape))
        for quantity in self._quantities:
            self._kinds.setdefault(quantity.name, (self._dtype, quantity.shape))
        with zipfile.ZipFile(self._target.file, "w") as archive:
            for name, (dtype, shape) in self._kinds.items():
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                    member.write(header(dtype, (self._count, *shape)))
                    if name in self._spools:
                        _copy(self._spools.pop(name), member)


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
    """The header of an .npy file, of one length whatever the number of rows.

    >>> len(header(np.dtype(float), (1,))) == len(header(np.dtype(float), (10**9,)))
    True
    """
    descr = np.lib.format.dtype_to_descr(dtype)

    def text(sizes: tuple[int, ...]) -> str:
        return f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {sizes!r}, }}"

    is_latin = text(shape).isascii()
    longest = len(text((_LARGEST_COUNT, *shape[1:])).encode())
    is_long = longest > 2**16 - 100 or not is_latin
    start = 12 if is_long else 10
    size = -(-(start + longest + 1) // 64) * 64 - start
    version = (b"\x02\x00" if is_latin else b"\x03\x00") if is_long else b"\x01\x00"
    body = text(shape).encode()
    return MAGIC + version + struct.pack("<I" if is_long else "<H", size) + body.ljust(size - 1) + b"\n"


def _copy(spool: IO[bytes], to: IO[bytes]) -> None:
    spool.seek(0)
    while data := spool.read(_COPIED):
        to.write(data)
    spool.close()

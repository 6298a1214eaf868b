"""Rows in: a file or standard input as blocks of columns, in bounded memory; and those of NumPy's own files.

These are .npy of records or of a plain table, and .npz with an array a variable.  They are read in order, a block at a
time, and not mapped: the memory is that of a block however long the file is.
"""

from __future__ import annotations

import math
import os
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError, TooLargeError
from gradcli.files.binary import (
    DIRECTORY_BYTES,
    FORTRAN,
    HEADER_BYTES,
    MAGIC,
    SCALE,
    SHAPE,
    directory,
    element_type,
    header_of,
    members_of,
    within_float64,
)
from gradcli.files.decoding import shown
from gradcli.files.delimited import Delimited, named_twice
from gradcli.files.objects import Objects
from gradcli.files.reader import Files
from gradcli.results import Array, Block, Cells, Fault, RowSource

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".npy": "npy", ".npz": "npz"}
"""The formats of rows by the suffix of the file."""


class Rows(Protocol):
    """Reads a table block by block, so that it need not fit in memory."""

    source: RowSource

    @property
    def progress(self) -> tuple[int, int | None]:
        """How far it has been read, and how far it goes."""
        ...

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int) -> Iterator[Block]:
        """The rows: the columns wanted as numbers, all columns as they are if they are to be kept."""
        ...


def format_of(path: str, given: str | None, option: str) -> str:
    """The format of a file: as given, or as its suffix says; CSV without a name.

    Raises:
        InputError: The suffix says nothing.
    """
    if given or path == "-":
        return given or "csv"
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in FORMATS:
        raise InputError(
            f"the name '{path}' does not say what format the file is in",
            hint=f"name it {', '.join(FORMATS)}, or give {option} {', '.join(dict.fromkeys(FORMATS.values()))}",
        )
    return FORMATS[suffix]


@contextmanager
def open_rows(
    files: Files, path: str, given: str | None, names: Sequence[str], columns: Sequence[str] = ()
) -> Iterator[Rows]:
    """The rows of a file, its header read.

    Args:
        files: The files of the command line.
        path: Of the file, or `-`.
        given: The format, if the suffix does not decide.
        names: The variables that have their values there.
        columns: What the columns of a table without names are called, in order; by default as `names`, where there is
            no other way to read it.

    Raises:
        GradcliError: It cannot be read, its header is not one, or its columns are named twice.
    """
    form = format_of(path, given, "--points-format")
    with ExitStack() as stack:
        stream, name = files.stream(path, "--points", stack)
        match form:
            case "jsonl":
                yield Objects(stream, _unnamed(name, columns))
            case "npy":
                yield Npy(stream, name, names, stack, columns)
            case "npz":
                yield Npz(stream, _unnamed(name, columns), names, stack)
            case _:
                yield Delimited(stream, name, form, names, columns)


def _unnamed(name: str, columns: Sequence[str]) -> str:
    """What a source of rows that have names is called.

    Raises:
        InputError: There are names beside it.
    """
    if columns:
        raise named_twice(name)
    return name


# -- NumPy's own files

_COPIED = 2**20

_WORDS = re.compile(r"[<>=|]?[SU]\d{1,9}|[<>=|]?[mM]8(?:\[\w+\])?")
"""Types of texts and dates, which are kept and are no variables."""

_PLAIN = re.compile(r"""['"]descr['"]\s*:\s*['"]([^'"]*)['"]""")
_RECORD = re.compile(r"""['"]descr['"]\s*:\s*\[(.*?)\]\s*,\s*['"]fortran_order""", re.DOTALL)
_FIELD = re.compile(
    r"""\s*\(\s*(?:'([^']*)'|"([^"]*)")\s*,\s*['"]([^'"]*)['"]\s*(?:,\s*\(([\d,\s]*)\))?\s*,?\s*\)\s*,?"""
)


@dataclass(frozen=True)
class _Table:
    """An array in a stream: where it begins, its type, its rows, and the shape of one."""

    stream: IO[bytes]
    name: str
    dtype: np.dtype[Any]
    count: int
    shape: tuple[int, ...]
    start: int = 0
    by_columns: bool = False

    def rows(self, first: int, last: int) -> npt.NDArray[Any]:
        """Some rows; those of a table in C order must be asked for one after the other."""
        size = math.prod(self.shape)
        if not self.by_columns:
            data = _exactly(self.stream, (last - first) * size * self.dtype.itemsize, self.name)
            return np.frombuffer(data, self.dtype).reshape(last - first, *self.shape)
        found = np.empty((size, last - first), self.dtype)
        for column in range(size):
            self.stream.seek(self.start + (column * self.count + first) * self.dtype.itemsize)
            data = _exactly(self.stream, (last - first) * self.dtype.itemsize, self.name)
            found[column] = np.frombuffer(data, self.dtype)
        return found.T.reshape(last - first, *self.shape, order="F")


class Npy:
    """The rows of one array: the fields of its records, or the columns of a plain table in the order of their names.

    Attributes:
        source: Its columns.
    """

    def __init__(
        self, stream: BinaryIO, name: str, variables: Sequence[str], stack: ExitStack, columns: Sequence[str] = ()
    ) -> None:
        names = columns or variables
        self._table = _seekable(_table(stream, name), stack)
        self._done = 0
        dtype, shape = self._table.dtype, self._table.shape
        self._fields: dict[str, Any] = {}
        if dtype.names:
            _unnamed(name, columns)
            if shape:
                raise InputError(f"{name} has {len(shape) + 1} dimensions of records", hint="a row is one record")
            self._fields = {field: field for field in dtype.names if dtype[field].base.kind in "biufSUmM"}
            shapes = {field: dtype[field].shape for field in self._fields}
        elif len(names) == 1:
            whole = shape == (1,)
            self._fields = {names[0]: (..., 0) if whole else (...,)}
            shapes = {names[0]: () if whole else shape}
        else:
            width = shape[0] if len(shape) == 1 else 1
            if len(shape) > 1 or width != len(names):
                what = "names in --columns" if columns else "variables without --at"
                raise InputError(
                    f"{name} has rows of shape {shape}, and there are {len(names)} {what}: "
                    f"{', '.join(names[:8]) or 'none'}",
                    hint="a table without names has a column for each of them, in their order; records have names",
                )
            self._fields = {known: (..., column) for column, known in enumerate(names)}
            shapes = dict.fromkeys(names, ())
        self.source = RowSource(name, shapes)

    @property
    def progress(self) -> tuple[int, int | None]:
        """Rows that have been read, and that there are."""
        return self._done, self._table.count

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int) -> Iterator[Block]:
        """The rows, counted from 1.

        Args:
            wanted: The columns to read as numbers.
            keep: Whether to keep all columns.
            most: Rows of a block.
        """
        for name in wanted:
            field = f"the field {shown(name)} of {self.source.name}" if self._table.dtype.names else self.source.name
            _require_numbers(self._table.dtype[name] if self._table.dtype.names else self._table.dtype, field)
        for first in range(0, self._table.count, most):
            self._done = last = min(first + most, self._table.count)
            rows = self._table.rows(first, last)
            read = {name: rows[self._fields[name]] for name in wanted}
            kept: dict[str, Cells] = {name: rows[place] for name, place in self._fields.items()} if keep else {}
            yield _block(self.source.name, range(first, last), read, kept)


class Npz:
    """The rows of the arrays of an archive, which have as many of them.

    Attributes:
        source: Its columns.
    """

    def __init__(self, stream: BinaryIO, name: str, names: Sequence[str], stack: ExitStack) -> None:
        self._name, self._stack = name, stack
        self._done = self._count = 0
        with _damage_told(name):
            self._archive = stack.enter_context(_archive(stream, name))
        self._members = members_of(self._archive, name)
        shapes: dict[str, tuple[int, ...]] = {}
        counts: dict[str, int] = {}
        for member, info in self._members.items():
            try:
                table = self._opened(member, info)
            except InputError:
                if member in names:
                    raise
                continue
            table.stream.close()
            if table.count >= 0 and not table.dtype.names:
                shapes[member], counts[member] = table.shape, table.count
        used = {member: counts[member] for member in shapes if member in names} or counts
        self._count = next(iter(used.values()), 0)
        for member, count in used.items():
            if count != self._count:
                first = next(iter(used))
                raise InputError(
                    f"{name} has {self._count:,} rows of {shown(first)} and {count:,} of {shown(member)}",
                    hint="every array has a row a point, on its first axis",
                )
        self.source = RowSource(name, {member: shapes[member] for member in shapes if counts[member] == self._count})

    @property
    def progress(self) -> tuple[int, int | None]:
        """Rows that have been read, and that there are."""
        return self._done, self._count

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int) -> Iterator[Block]:
        """The rows, counted from 1; arguments as for `Npy.blocks`."""
        read = list(self.source.columns) if keep else wanted
        tables = {member: self._kept_open(member) for member in read}
        for member in wanted:
            _require_numbers(tables[member].dtype, tables[member].name)
        for first in range(0, self._count, most):
            self._done = last = min(first + most, self._count)
            rows = {member: self._rows(table, first, last) for member, table in tables.items()}
            numbers = {member: rows[member] for member in wanted}
            yield _block(self._name, range(first, last), numbers, {**rows} if keep else {})

    def _kept_open(self, member: str) -> _Table:
        table = self._opened(member, self._members[member])
        self._stack.enter_context(table.stream)
        return _seekable(table, self._stack)

    def _rows(self, table: _Table, first: int, last: int) -> npt.NDArray[Any]:
        with _damage_told(self._name):
            return table.rows(first, last)

    def _opened(self, member: str, info: zipfile.ZipInfo) -> _Table:
        name = f"{self._name[:-1]}:{member}'"
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(f"the array {name} is encrypted, or compressed in another way", hint="use numpy.savez")
        with _damage_told(self._name):
            return _table(self._archive.open(info), name)


def _block(name: str, rows: range, read: Mapping[str, npt.NDArray[Any]], kept: Mapping[str, Cells]) -> Block:
    """Rows of a file, counted from 0; those with a number that float64 has not are at fault."""
    columns: dict[str, Array] = {}
    faults: dict[int, Fault] = {}
    for column, array in read.items():
        columns[column], beyond = within_float64(array)
        for index in [] if beyond is None else np.unique(np.nonzero(beyond)[0]).tolist():
            message = f"row {rows[index] + 1} of {name}, {shown(column)}, holds a number beyond the range of float64"
            faults.setdefault(index, Fault(index, message, SCALE))
    at_fault = tuple(faults[index] for index in sorted(faults))
    return Block(np.arange(rows.start + 1, rows.stop + 1), columns, kept, at_fault)


def _table(stream: IO[bytes], name: str) -> _Table:
    head = _some(stream, 12)
    size = int(struct.unpack_from("<H" if head[6:7] == b"\x01" else "<I", head.ljust(12, b"\0"), 8)[0])
    start = 10 if head[6:7] == b"\x01" else 12
    if head.startswith(MAGIC) and size > HEADER_BYTES:
        raise TooLargeError(f"{name} has a header of {size:,} bytes", hint="save fewer columns")
    head += _some(stream, max(0, start + size - len(head)))
    header, start = header_of(head, name)
    if head[6:7] == b"\x03":
        header = header.encode("latin-1").decode("utf-8", "replace")
    fortran, sizes = FORTRAN.search(header), SHAPE.search(header)
    if fortran is None or sizes is None:
        raise InputError(f"the header of {name} is damaged", hint="save or copy it again")
    shape = tuple(int(part[:18]) for part in re.findall(r"\d+", sizes[1]))
    dtype = _dtype(header, name)
    if not shape:
        raise InputError(f"{name} is a single number and has no rows", hint="give it to --at")
    by_columns = fortran[1] == "True" and len(shape) > 1
    return _Table(stream, name, dtype, shape[0], shape[1:], start, by_columns)


def _dtype(header: str, name: str) -> np.dtype[Any]:
    record = _RECORD.search(header)
    if record is None:
        plain = _PLAIN.search(header)
        return np.dtype(plain[1]) if plain and _WORDS.fullmatch(plain[1]) else element_type(plain and plain[1], name)
    fields: list[tuple[Any, ...]] = []
    place = 0
    while place < len(record[1]):
        match = _FIELD.match(record[1], place)
        if match is None:
            raise InputError(f"{name} holds records inside records", hint="save plain fields of numbers")
        field = match[1] if match[1] is not None else match[2]
        sizes = tuple(map(int, re.findall(r"\d+", match[4]))) if match[4] is not None else ()
        if _WORDS.fullmatch(match[3]) or re.fullmatch(r"\|V\d{1,9}", match[3]):
            kind = np.dtype(match[3])
        else:
            kind = element_type(match[3], f"the field {shown(field)} of {name}")
        fields.append((field or f" {len(fields)}", kind, sizes))
        place = match.end()
    try:
        return np.dtype(fields)
    except ValueError as error:
        raise InputError(f"the header of {name} is damaged: {error}", hint="save or copy it again") from None


def _require_numbers(dtype: np.dtype[Any], name: str) -> None:
    """Refuse texts and dates as a variable.

    Raises:
        InputError: They are.
    """
    if dtype.base.kind in "SUmM":
        element_type(dtype.base.str, name)


def _seekable(table: _Table, stack: ExitStack) -> _Table:
    """The table; one that is stored by columns in a stream that cannot go back is copied to the disk."""
    if not table.by_columns or (table.stream.seekable() and not isinstance(table.stream, zipfile.ZipExtFile)):
        return table
    copy = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
    while data := table.stream.read(_COPIED):
        copy.write(data)
    return _Table(copy, table.name, table.dtype, table.count, table.shape, 0, by_columns=True)


def _some(stream: IO[bytes], count: int) -> bytes:
    data = b""
    while len(data) < count and (more := stream.read(count - len(data))):
        data += more
    return data


def _exactly(stream: IO[bytes], count: int, name: str) -> bytes:
    data = _some(stream, count)
    if len(data) < count:
        raise InputError(f"{name} is cut short: it ends before its last row", hint="save or copy it again")
    return data


def _archive(stream: BinaryIO, name: str) -> zipfile.ZipFile:
    """The archive, unless its table of contents would itself fill the memory."""
    if not stream.seekable():
        raise InputError(f"{name} is an archive, which is not read from a pipe", hint="write it to a file")
    size, _ = directory(stream)
    if size > DIRECTORY_BYTES:
        raise TooLargeError(f"the archive {name} has {size:,} bytes of names", hint="save fewer arrays")
    return zipfile.ZipFile(stream)


@contextmanager
def _damage_told(name: str) -> Iterator[None]:
    """What the parts of an archive say of damage, as one error."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, NotImplementedError):
        raise InputError(f"{name} is not an .npz file, or is damaged", hint="save it with numpy.savez") from None

"""Rows in: a file or standard input as blocks of columns, in bounded memory; and those of NumPy's own files.

These are .npy of records or of a plain table, and .npz with an array a variable.  They are mapped, and what is in a
pipe or an archive is copied to a temporary file: the memory is that of a block however long the file is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.binary import SCALE, mapped, members_of, opened_archive, require_numbers, within_float64
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
                yield ArrayRows(name, _columns_of_npy(stream, name, names, columns, stack))
            case "npz":
                yield ArrayRows(name, _columns_of_npz(stream, _unnamed(name, columns), names, stack))
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


def _columns_of_npy(
    stream: BinaryIO, name: str, variables: Sequence[str], columns: Sequence[str], stack: ExitStack
) -> dict[str, npt.NDArray[Any]]:
    """The fields of records, or the columns of a plain table in the order of their names.

    Raises:
        GradcliError: The array has no rows, or no columns for these names.
    """
    table = mapped(stream, name, stack)
    if not table.ndim:
        raise InputError(f"{name} is a single number and has no rows", hint="give it to --at")
    if table.dtype.names:
        _unnamed(name, columns)
        if table.ndim > 1:
            raise InputError(f"{name} has {table.ndim} dimensions of records", hint="a row is one record")
        return {field: table[field] for field in table.dtype.names if table.dtype[field].base.kind in "biufSUmM"}
    names, shape = columns or variables, table.shape[1:]
    if len(names) == 1:
        return {names[0]: table[:, 0] if shape == (1,) else table}
    if shape != (len(names),):
        what = "names in --columns" if columns else "variables without --at"
        raise InputError(
            f"{name} has rows of shape {shape}, and there are {len(names)} {what}: {', '.join(names[:8]) or 'none'}",
            hint="a table without names has a column for each of them, in their order; records have names",
        )
    return {known: table[:, column] for column, known in enumerate(names)}


def _columns_of_npz(
    stream: BinaryIO, name: str, variables: Sequence[str], stack: ExitStack
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an archive, those of the variables and others of as many rows.

    Raises:
        InputError: One of a variable cannot be read, or the variables have different numbers of rows.
    """
    found: dict[str, npt.NDArray[Any]] = {}
    with opened_archive(stream, name) as archive:
        for member, info in members_of(archive, name).items():
            try:
                array = mapped(archive.open(info), f"{name[:-1]}:{member}'", stack)
                if not array.ndim:
                    raise InputError(f"{name[:-1]}:{member}' is a single number", hint="give it to --at")
            except InputError:
                if member in variables:
                    raise
            else:
                if not array.dtype.names:
                    found[member] = array
    used = {member: len(array) for member, array in found.items() if member in variables}
    used = used or {member: len(array) for member, array in found.items()}
    first, count = next(iter(used.items()), ("", 0))
    for member, other in used.items():
        if other != count:
            raise InputError(
                f"{name} has {count:,} rows of {shown(first)} and {other:,} of {shown(member)}",
                hint="every array has a row a point, on its first axis",
            )
    return {member: array for member, array in found.items() if len(array) == count}


class ArrayRows:
    """The rows of arrays that have as many of them.

    Attributes:
        source: Its columns.
    """

    def __init__(self, name: str, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self._columns = columns
        self._count = min(map(len, columns.values()), default=0)
        self._done = 0
        self.source = RowSource(name, {column: array.shape[1:] for column, array in columns.items()})

    @property
    def progress(self) -> tuple[int, int | None]:
        """Rows that have been read, and that there are."""
        return self._done, self._count

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int) -> Iterator[Block]:
        """The rows, counted from 1.

        Args:
            wanted: The columns to read as numbers.
            keep: Whether to keep all columns.
            most: Rows of a block.
        """
        for name in wanted:
            require_numbers(self._columns[name].dtype, f"the column {shown(name)} of {self.source.name}")
        for first in range(0, self._count, most):
            self._done = last = min(first + most, self._count)
            kept: dict[str, Cells] = {name: a[first:last] for name, a in self._columns.items()} if keep else {}
            columns: dict[str, Array] = {}
            faults: dict[int, Fault] = {}
            for name in wanted:
                columns[name], beyond = within_float64(self._columns[name][first:last])
                for index in [] if beyond is None else np.unique(np.nonzero(beyond)[0]).tolist():
                    where = f"row {first + index + 1} of {self.source.name}, {shown(name)}"
                    message = f"{where}, holds a number beyond the range of float64"
                    faults.setdefault(index, Fault(index, message, SCALE))
            at_fault = tuple(faults[index] for index in sorted(faults))
            yield Block(np.arange(first + 1, last + 1), columns, kept, at_fault)

"""NumPy's own files as rows: an array of records, a plain table, or an archive with an array for each column.

They are mapped, so that the memory is that of a block however long the file is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.binary import as_float64, mapped, opened_npz, require_numbers
from gradcli.files.decoding import Start, shown
from gradcli.files.delimited import named_twice
from gradcli.results import Block, Cells, RowSource

_ROWS = 2**20
"""Rows of a piece of arrays."""

_Columns = dict[str, npt.NDArray[Any]]


def columns_of_npy(
    stream: BinaryIO, name: str, variables: Sequence[str], columns: Sequence[str], stack: ExitStack
) -> _Columns:
    """The fields of records, or the columns of a plain table in the order of their names.

    Raises:
        GradcliError: The array has no rows, or no columns for these names.
    """
    table = mapped(stream, name, stack)
    if table.dtype.names:
        if columns:
            raise named_twice(name)
        return {field: table[field] for field in table.dtype.names if table.dtype[field].base.kind in "biufSUmM"}
    names = columns or variables
    if table.ndim and len(names) == 1:
        return {names[0]: table[:, 0] if table.shape[1:] == (1,) else table}
    if table.shape[1:] != (len(names),):
        what = "names in --columns" if columns else "variables without --at"
        said = f"{name} is an array of shape {table.shape}, and there are {len(names)} {what}: {', '.join(names[:8])}"
        raise InputError(said, hint="a table without names has a column for each of them, in their order")
    return {known: table[:, column] for column, known in enumerate(names)}


def columns_of_npz(stream: BinaryIO, name: str, variables: Sequence[str], stack: ExitStack) -> _Columns:
    """The arrays of an archive that have a row for each of the first variable's.

    Raises:
        InputError: One cannot be read, or the variables have different numbers of rows.
    """
    with opened_npz(stream, name) as members:
        found = {member: mapped(opened(), f"{name[:-1]}:{member}'", stack) for member, opened in members.items()}
    rows = {member: len(array) for member, array in found.items() if array.ndim and not array.dtype.names}
    used = {member: count for member, count in rows.items() if member in variables} or rows
    first, count = next(iter(used.items()), ("", 0))
    for member, other in used.items():
        if other != count:
            said = f"{name} has {count:,} rows of {shown(first)} and {other:,} of {shown(member)}"
            raise InputError(said, hint="every array has a row a point, on its first axis")
    return {member: found[member] for member, length in rows.items() if length == count}


class ArrayRows:
    """The rows of arrays that have as many of them.

    Attributes:
        source: Its columns.
        passed: Rows that have gone by.
        count: Rows that there are.
    """

    def __init__(self, name: str, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self._columns, self.passed, self.count = columns, 0, min(map(len, columns.values()), default=0)
        self.source = RowSource(name, {column: array.shape[1:] for column, array in columns.items()})

    @property
    def share(self) -> float | None:
        """Fraction of the rows that has been read."""
        return self.passed / max(1, self.count)

    def starts(self) -> Iterator[Start]:
        """Yield where pieces end."""
        yield from (Start(min(end, self.count)) for end in range(_ROWS, self.count + _ROWS, _ROWS))

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int, first: int = 1) -> Iterator[Block]:
        """The rows, counted from 1.

        Args:
            wanted: The columns to read as numbers.
            keep: Whether to keep all columns.
            most: Rows of a block.
            first: The first row that is needed.
        """
        for name in wanted:
            require_numbers(self._columns[name].dtype, f"the column {shown(name)} of {self.source.name}")
        for start in range((first - 1) // most * most, self.count, most):
            self.passed = last = min(start + most, self.count)
            kept: dict[str, Cells] = {name: _cells(a[start:last]) for name, a in self._columns.items() if keep}
            columns = {name: as_float64(self._columns[name][start:last]) for name in wanted}
            yield Block(np.arange(start + 1, last + 1), columns, kept)


def _cells(array: npt.NDArray[Any]) -> list[Any]:
    """A list of numbers and texts; a number of fewer digits than float64 has is the one that these digits say."""
    match array.dtype.kind:
        case "f" if array.dtype.itemsize < 8:
            array = array.astype(str).astype(float)
        case "m" | "M":
            array = array.astype(str)
        case "S":
            array = np.char.decode(array, "utf-8", "replace")
    found: list[Any] = array.tolist()
    return found

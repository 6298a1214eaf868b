"""Rows of a stream with their faults, and what is computed of them.

Knows no formats: `gradcli.files` reads and writes rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal

from gradcli.arrays import AnyArray, Array
from gradcli.results.record import Record
from gradcli.results.verdicts import Check

Cells = Sequence[Any] | AnyArray
"""The cells of a column: texts, values of JSON, or an array of NumPy or Arrow."""

OnError = Literal["fail", "skip", "nan"]


class RowSource(Record):
    """A source of rows: its name and columns, known before the first row.

    Attributes:
        name: Its name in messages.
        columns: The shape of a cell of each column, in order.
        twice: Names that several columns have.
        types: The type of each column, where the source has types.
        is_text: Whether cells are texts, of which some are numbers.
    """

    name: str
    columns: Mapping[str, tuple[int, ...]]
    twice: frozenset[str] = frozenset()
    types: Mapping[str, Any] = field(default_factory=dict)
    is_text: bool = False


class Fault(Record):
    """A fault in a row.

    Attributes:
        index: The index of the row in its block.
        message: The error, with the number of the row and the column.
        hint: A remedy, if one is known.
    """

    index: int
    message: str
    hint: str | None = None


def row_called(number: int, line: int | None = None, group: int | None = None) -> str:
    """Name a row of a file for messages: by its number, and by its line in a text or its row group.

    >>> row_called(2), row_called(2, 3), row_called(2, group=0)
    ('row 2', 'row 2 (line 3)', 'row 2 (row group 0)')
    """
    inside = f" (line {line})" if line is not None else f" (row group {group})" if group is not None else ""
    return f"row {number}{inside}"


class Block(Record):
    """Consecutive rows of a source; a block without rows says that the source waits for more.

    Attributes:
        numbers: The place of each row in its source, from 1, or from 0 in arrays of Python.
        columns: An array of shape (N, *cell) for each column asked for; rows at fault hold any numbers.
        kept: The cells of the columns to keep, as text, arrays or values of JSON.
        faults: The faults of rows, in the order of the rows.
        lines: The line of a text that each row begins on, from 1; None for a source without lines.
        name: The name of the file in messages, if the source has several.
        before: The number of rows in the files before it, which `numbers` include and messages do not.
        group: The row group of the file, if it has row groups.
    """

    numbers: AnyArray
    columns: Mapping[str, Array]
    kept: Mapping[str, Cells]
    faults: tuple[Fault, ...] = ()
    lines: AnyArray | None = None
    name: str = ""
    before: int = 0
    group: int | None = None

    def called(self, index: int) -> str:
        """Name a row for messages, by its index here."""
        line = None if self.lines is None else int(self.lines[index])
        return row_called(int(self.numbers[index]) - self.before, line, self.group)

    def rows(self, first: int, last: int) -> Block:
        """Slice the rows from index `first` up to `last`, without the latter."""
        part = slice(first, last)
        return replace(
            self,
            numbers=self.numbers[part],
            columns={name: array[part] for name, array in self.columns.items()},
            kept={name: cells[part] for name, cells in self.kept.items()},
            faults=tuple(replace(one, index=one.index - first) for one in self.faults if first <= one.index < last),
            lines=None if self.lines is None else self.lines[part],
        )


class ColumnGroup(Record):
    """The output, or its derivative by a variable.

    Attributes:
        name: `y` or `dy_dx`.
        shape: Its shape at one point.
        columns: A name for each element, in row-major order.
    """

    name: str
    shape: tuple[int, ...]
    columns: tuple[str, ...]


class Mapped(Record):
    """The output for some rows.

    Attributes:
        count: The number of rows to write.
        kept: Their cells of the columns to keep.
        values: An array of shape (N, *shape) for each quantity, in order.
    """

    count: int
    kept: Mapping[str, Cells]
    values: tuple[Array, ...]


class StreamSummary(Record):
    """Summary of a stream after its last row.

    Attributes:
        read: The number of rows of the source.
        written: The number of rows of the output.
        faulty: The number of rows that were left out, or have NaN.
        on_error: The treatment of rows at fault.
        first: The first fault, in words.
        output: The name of the output.
        check: The verdict on a sample of the rows, if it was asked for.
        called: The names of the sampled rows in messages, by their numbers.
        remarks: On how the text of the function is read.
        valueless: The rows without a fault at which the function or a derivative is NaN or infinite.
        first_valueless: The first of them, by its name in messages.
    """

    read: int
    written: int
    faulty: int
    on_error: OnError
    first: str
    output: str
    check: Check | None
    called: Mapping[int, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    valueless: int = 0
    first_valueless: str = ""

"""Many points as a stream: blocks of rows in, blocks of rows out, and what there is to say at the end.

Knows neither formats nor functions: `gradcli.files` reads and writes rows, `gradcli.questions` computes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy.typing as npt

from gradcli.results.verdicts import Array, Check

Cells = Sequence[Any] | npt.NDArray[Any]
"""The cells of a column: texts, what JSON holds, or an array."""

OnError = Literal["fail", "skip", "nan"]


@dataclass(frozen=True, slots=True)
class RowSource:
    """What a source of rows says before its first row.

    Attributes:
        name: How messages call it.
        columns: The shape of a cell of each column, in order.
        twice: Columns that are there more than once.
    """

    name: str
    columns: Mapping[str, tuple[int, ...]]
    twice: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a row.

    Attributes:
        index: Of the row in its block.
        message: What is wrong, with the number of the row and the column.
        hint: What to do about it.
    """

    index: int
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows, one after the other in their source; one without rows says that the source waits for more.

    Attributes:
        numbers: What messages call each row: its line in a text, its place from 1 elsewhere.
        columns: An array of shape (N, *cell) for each column asked for; rows at fault hold any numbers.
        kept: The cells of the columns to keep, as text, arrays or what JSON holds.
        faults: What is wrong with which rows, in their order.
    """

    numbers: npt.NDArray[Any]
    columns: Mapping[str, Array]
    kept: Mapping[str, Cells]
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Quantity:
    """The output, or its derivative by a variable.

    Attributes:
        name: `y` or `dy_dx`.
        shape: At one point.
        columns: A name for each element, in row-major order.
    """

    name: str
    shape: tuple[int, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """What some rows are mapped to.

    Attributes:
        count: Rows to write.
        kept: Their cells of the columns to keep.
        values: An array of shape (N, *shape) for each quantity, in order.
        faulty: The rows among them that were at fault and have NaN.
    """

    count: int
    kept: Mapping[str, Cells]
    values: tuple[Array, ...]
    faulty: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class StreamSummary:
    """What there is to say when all rows have gone by.

    Attributes:
        read: Rows of the source.
        written: Rows of the output.
        faulty: Rows that were left out, or have NaN.
        on_error: What became of those.
        first: The first of them, in words.
        output: What the output is called.
        check: The verdict on a sample of the rows, if it was asked for.
    """

    read: int
    written: int
    faulty: int
    on_error: OnError
    first: str
    output: str
    check: Check | None

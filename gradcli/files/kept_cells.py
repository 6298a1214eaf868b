"""The layout of a table of rows out, and the cells that it keeps of any kind of input, as lists and as arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import GradcliError, InputError
from gradcli.files.columnar import pyarrow
from gradcli.files.csv_tables import is_number, number
from gradcli.files.decoding import array_of, shown
from gradcli.results import Array, Cells, Quantity, RowSource
from gradcli.results.record import Record


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
    quantities: Sequence[Quantity]
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
    found: Any = cells
    pa, types = pyarrow(), pyarrow().types
    if found.type == pa.float32():
        found = found.cast(pa.string()).cast(pa.float64())
    elif any(test(found.type) for test in (types.is_date, types.is_time, types.is_timestamp)):
        found = found.cast(pa.string())  # all digits, and years that Python has not
    is_plain = not found.null_count and (types.is_integer(found.type) or types.is_floating(found.type))
    given: list[Any] = found.to_numpy().tolist() if is_plain else found.to_pylist()
    return given


def whole_cells(cells: Sequence[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Arrange lists as an array of objects, of shape (N, *cell), with None in rows whose cell has another shape."""
    found = np.full((len(cells), *shape), None, dtype=object)
    for row, cell in enumerate(cells):
        with contextlib.suppress(ValueError):  # lists of different lengths
            if np.shape(cell) == shape:
                found[row] = cell
    return found


def numeric(cells: Sequence[Any], shape: tuple[int, ...], column: str | None = None) -> Array:
    """The cells of a column as numbers, NaN where one is empty, or is none, as those of a variable in a row at fault.

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
                said = f"--keep keeps the column {shown(column)}, and {shown(str(cell))} in it is not a number"
                raise InputError(said, hint="arrays hold numbers: write .csv or .jsonl, or leave out --keep") from None
    return found

"""What a table of rows out holds, and the cells that it keeps of the input, whatever that was, as others need them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.columnar import unpacked
from gradcli.files.csv_tables import number
from gradcli.files.decoding import shown
from gradcli.results import Cells, Quantity, RowSource
from gradcli.results.comparing import Record


class Layout(Record):
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


def values(cells: Cells) -> list[Any]:
    """Convert the cells of a column to texts, numbers, and what else JSON holds; those of text are as they were read.

    A number of fewer digits than float64 has is the one that these digits say.
    """
    found: Any = cells if isinstance(cells, list | np.ndarray) else unpacked(cells)
    if isinstance(found, list):
        return found
    match found.dtype.kind:
        case "f" if found.dtype.itemsize < 8:
            found = found.astype(str).astype(float)
        case "m" | "M":
            found = found.astype(str)
        case "S":
            found = np.char.decode(found, "utf-8", "replace")
    given: list[Any] = found.tolist()
    return given


def whole_cells(cells: Sequence[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Arrange lists as an array of objects, of shape (N, *cell), with None in rows whose cell has another shape."""
    found = np.full((len(cells), *shape), None, dtype=object)
    for row, cell in enumerate(cells):
        with contextlib.suppress(ValueError):  # lists of different lengths
            if np.shape(cell) == shape:
                found[row] = cell
    return found


def numeric(name: str, cells: Cells, shape: tuple[int, ...], faulty: frozenset[int]) -> npt.NDArray[Any]:
    """The cells of a column to keep as an array of numbers, of shape (N, *cell).

    NaN stands for an empty cell, and for one that is no number in a row at fault.

    Raises:
        InputError: They are no numbers.
    """
    cells = cells if isinstance(cells, list | np.ndarray) else unpacked(cells)
    if isinstance(cells, np.ndarray):
        return cells
    found = np.full((len(cells), *shape), np.nan)
    for row, cell in enumerate(whole_cells(cells, shape) if shape else cells):
        try:
            found[row] = number(cell or "nan") if isinstance(cell, str) else cell  # which is NaN of None
        except (TypeError, ValueError, OverflowError):
            if row in faulty:
                continue
            raise InputError(
                f"--keep keeps the column {shown(name)}, and {shown(str(cell))} in it is not a number",
                hint="arrays hold numbers; write .csv, .tsv or .jsonl, or leave out --keep",
            ) from None
    return found

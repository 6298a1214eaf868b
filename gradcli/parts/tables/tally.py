"""The count of the rows of a stream: read, written, at fault, and without a value of the function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gradcli.arrays import AnyArray, Array
from gradcli.parts.tables.many_points import Sample
from gradcli.results import Block


@dataclass
class Tally:
    """Count of the rows read, written and at fault, with the first fault in words, and a sample of rows.

    Attributes:
        read: The rows that were read.
        written: Those that were written.
        faulty: Those at fault.
        first: The first fault.
        sample: Some rows, to judge.
        valueless: The rows without a fault at which the function or a derivative is NaN or infinite.
        first_valueless: The first of them, in words.
    """

    read: int = 0
    written: int = 0
    faulty: int = 0
    first: str = ""
    sample: Sample | None = None
    valueless: int = 0
    first_valueless: str = ""

    def add(self, other: Tally) -> None:
        """Add the tally of the rows that follow."""
        self.read, self.written = self.read + other.read, self.written + other.written
        self.faulty, self.first = self.faulty + other.faulty, self.first or other.first
        self.valueless += other.valueless
        self.first_valueless = self.first_valueless or other.first_valueless
        if self.sample and other.sample:
            self.sample.join(other.sample)

    def add_valueless(
        self, block: Block, good: AnyArray, values: Sequence[Array], inputs: Iterable[Array], source: str
    ) -> None:
        """Add the rows at which something is NaN or infinite.

        Args:
            block: The rows that were read.
            good: The indices of those that were computed.
            values: The function and its derivatives at these.
            inputs: Variables at these; where one is NaN or infinite itself, the row is not counted.
            source: The name of the table.
        """
        is_whole = _are_finite(values, len(good))
        if is_whole.all():
            return
        is_whole |= ~_are_finite(inputs, len(good))
        if is_whole.all():
            return
        self.valueless += int((~is_whole).sum())
        if not self.first_valueless:
            place = int(np.flatnonzero(~is_whole)[0])
            y, *blocks = (array[place] for array in values)
            # torch goes on with the slope where there is no value: 1/x of log(x) below 0.
            is_slope_alone = np.isnan(y).any() and any(np.isfinite(block).any() for block in blocks)
            alone = ", where a number beside nan is torch's, and no derivative" if is_slope_alone else ""
            self.first_valueless = f"{block.called(int(good[place]))} of {block.name or source}{alone}"


def _are_finite(arrays: Iterable[Array], count: int) -> AnyArray:
    """Tell of each row whether all of its elements are finite."""
    found = np.ones(count, dtype=bool)
    for array in arrays:
        found &= np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
    return found

"""The count of the rows of a stream: read, written, at fault, and without a value of the function."""

from __future__ import annotations

from collections.abc import Sequence
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
        valueless: The rows without a fault at which the function or a derivative is NaN.
        first_valueless: The first of them.
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

    def add_valueless(self, block: Block, good: AnyArray, values: Sequence[Array], source: str) -> None:
        """Add the rows at which something is NaN.

        Args:
            block: The rows that were read.
            good: The indices of those that were computed.
            values: The function and its derivatives at these.
            source: The name of the table.
        """
        has_nan = np.zeros(len(good), dtype=bool)
        for array in values:
            has_nan |= np.isnan(array).any(axis=tuple(range(1, array.ndim)))
        if has_nan.any():
            self.valueless += int(has_nan.sum())
            row = block.called(int(good[np.flatnonzero(has_nan)[0]]))
            self.first_valueless = self.first_valueless or f"{row} of {block.name or source}"

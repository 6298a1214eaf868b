"""What is to be judged: one number of torch, and where its truth is among what the reference finds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy
from flint import arb, fmpq

from gradcli.check.entry import Entry
from gradcli.reference.balls import Ball
from gradcli.reference.duals import Direction, Found
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import Array, Verdict


class ReferenceValues:
    """What one pass of the reference found, its derivatives by direction."""

    def __init__(self, found: Found) -> None:
        self.values = found.values
        self.columns: dict[int, dict[int, Outcome]] = {}
        for (direction, row), outcome in found.columns.items():
            self.columns.setdefault(direction, {})[row] = outcome


@dataclass(frozen=True, slots=True)
class Target:
    """One number of torch.

    Attributes:
        variable: The x of a derivative; None for an element of y.
        column: Flat position in x; -1 for an element of y.
        row: Flat position in y; -1 for an entry of vᵀJ.
        direction: The number of its direction in a plan; -1 for an element of y.
        torch: The number.
        weights: v, flat, for an entry of vᵀJ.
        passes: For an entry that several vᵀJ were added to, their v, a row each, of which `weights` is the sum.
    """

    variable: str | None
    column: int
    row: int
    direction: int
    torch: float
    weights: Array | None = None
    passes: Array | None = None

    @property
    def noun(self) -> str:
        """What the number is, for messages."""
        return "value" if self.variable is None else "derivative"

    @property
    def place(self) -> Direction:
        """The element that it is a derivative by."""
        return sympy.Symbol(self.variable, real=True), self.column

    def truth(self, sight: ReferenceValues, *, as_added: bool = False) -> Outcome:
        """The ball that contains the true number; what no direction reaches is an exact zero.

        Args:
            sight: What the reference found.
            as_added: Whether to add up the passes one by one as torch does, whose rounding the balls then cover.
        """
        if self.variable is None:
            return sight.values[self.row]
        column = sight.columns.get(self.direction, {})
        if self.weights is None:
            return column.get(self.row, arb(0))
        if as_added and self.passes is not None:
            added: Outcome = arb(0)
            for weights in self.passes:
                one = replace(self, weights=weights, passes=None).truth(sight)
                added = one if isinstance(one, Undefined) else added if isinstance(added, Undefined) else added + one
            return added
        total = arb(0)
        for row, outcome, weight in self._weighted(column):
            if not math.isfinite(weight):
                return Undefined("domain", f"v is {weight} here", True)
            if isinstance(outcome, Undefined):
                return outcome
            total += outcome * (weight if self.passes is None else _exact(self.passes[:, row]))
        return total

    def rows(self, sight: ReferenceValues) -> list[int]:
        """The elements of y that it is about."""
        if self.weights is None:
            return [self.row]
        return [row for row, _, _ in self._weighted(sight.columns.get(self.direction, {}))]

    def values(self, sight: ReferenceValues) -> Mapping[int, Outcome]:
        """These elements, as far as they were judged."""
        return {row: sight.values[row] for row in self.rows(sight) if row in sight.values}

    def _weighted(self, column: Mapping[int, Outcome]) -> Iterator[tuple[int, Outcome, float]]:
        assert self.weights is not None, "an entry of J has no weights"  # noqa: S101
        for row, outcome in column.items():
            weight = float(self.weights[row])
            if weight != 0 or (self.passes is not None and _exact(self.passes[:, row]) != 0):
                yield row, outcome, weight

    def entry(
        self,
        verdict: Verdict,
        ball: Ball | None = None,
        error: float | None = None,
        note: str = "",
        *,
        one_sided: tuple[float, float] | None = None,
        proven: bool = True,
    ) -> Entry:
        """The entry with what became of it."""
        return Entry(
            self.variable, self.column, self.row, self.torch, verdict, ball, error, note, one_sided, proven=proven
        )


def _exact(weights: Array) -> Ball:
    """The sum of some numbers, whatever cancels in it."""
    total = sum(map(Fraction, weights.tolist()), start=Fraction(0)) if np.isfinite(weights).all() else math.nan
    return arb(total) if isinstance(total, float) else arb(fmpq(total.numerator, total.denominator))

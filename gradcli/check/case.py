"""What numbers of torch are compared with: the truth of each, where the reference finds it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import sympy
from flint import arb, fmpq

from gradcli.check.compare import Tolerance
from gradcli.check.point import flat
from gradcli.language.program.wengert import Shape
from gradcli.reference.balls import Ball
from gradcli.reference.duals import Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.running import Direction, Found
from gradcli.results import Array, Entry


class ReferenceValues:
    """What one pass of the reference found: y by flat row, and the nonzero derivatives by direction and row."""

    def __init__(self, found: Found, directions: Sequence[Direction]) -> None:
        self.values = found.values
        self.columns: dict[Direction, dict[int, Outcome]] = {}
        for (number, row), outcome in found.columns.items():
            self.columns.setdefault(directions[number], {})[row] = outcome


@dataclass(frozen=True)
class Case:
    """A function at a point, and how torch's numbers for it are compared: elements of y, entries of J and of vᵀJ.

    Attributes:
        reference: The function at the point.
        tolerance: How far a number may be from the truth.
        v: The gradient vector, flat, for entries of vᵀJ.
        passes: For a vᵀJ that several passes were added to, their v, a row each, of which `v` is the sum.
    """

    reference: Reference
    tolerance: Tolerance
    v: Array | None = None
    passes: Array | None = None

    def direction(self, entry: Entry) -> Direction:
        """The element of x that an entry is a derivative by."""
        symbol, shape = self._variables[entry.variable or ""]
        return symbol, flat(entry.column or (), shape)

    def row(self, entry: Entry) -> int:
        """The flat row of y of an element or an entry of J."""
        return flat(entry.row, self._shape) if entry.row else 0

    def weight(self, entry: Entry, row: int) -> float:
        """What a row of y counts in an entry."""
        return 1.0 if entry.row is not None else float(self._weights[row])

    def seeds(self, entry: Entry) -> dict[int, float]:
        """The rows of y that a backward pass for an entry goes back from, and their weights."""
        if entry.row is not None or self.v is None:
            return {self.row(entry): 1.0}
        return {int(row): float(self.v[row]) for row in np.flatnonzero(self.v)}

    def truth(self, entry: Entry, seen: ReferenceValues, *, as_added: bool = False) -> Outcome:
        """The ball that contains the true number; what no direction reaches is an exact zero.

        Args:
            entry: The number.
            seen: What the reference found.
            as_added: Whether to add up the passes one by one as torch does, whose rounding the balls then cover.
        """
        if entry.variable is None:
            return seen.values[self.row(entry)]
        if entry.row is not None:
            return seen.columns.get(self.direction(entry), {}).get(self.row(entry), arb(0))
        if as_added and self.passes is not None:
            added: Outcome = arb(0)
            for v in self.passes:
                one = replace(self, v=v, passes=None).truth(entry, seen)
                added = one if isinstance(one, Undefined) else added if isinstance(added, Undefined) else added + one
            return added
        total = arb(0)
        for row, outcome, weight in self._weighted(entry, seen):
            if not math.isfinite(weight):
                return Undefined("domain", f"v is {weight} here", True)
            if isinstance(outcome, Undefined):
                return outcome
            total += outcome * (weight if self.passes is None else _exact(self.passes[:, row]))
        return total

    def rows(self, entry: Entry, seen: ReferenceValues) -> list[int]:
        """The flat rows of y that an entry is about."""
        if entry.row is not None:
            return [self.row(entry)]
        return [row for row, _, _ in self._weighted(entry, seen)]

    def values(self, entry: Entry, seen: ReferenceValues) -> Mapping[int, Outcome]:
        """The elements of y in these rows, as far as they were judged."""
        return {row: seen.values[row] for row in self.rows(entry, seen) if row in seen.values}

    @cached_property
    def _variables(self) -> Mapping[str, tuple[sympy.Symbol, Shape]]:
        """The symbols and shapes of the variables by name, which each entry asks for."""
        shapes = self.reference.shapes
        return {str(symbol): (symbol, shapes[symbol]) for symbol in self.reference.program.variables}

    @cached_property
    def _shape(self) -> Shape:
        """The shape of y, asked of the reference once for all entries."""
        return self.reference.shapes.get(self.reference.program.output, ())

    @property
    def _weights(self) -> Array:
        assert self.v is not None, "an entry of vᵀJ has weights"  # noqa: S101
        return self.v

    def _weighted(self, entry: Entry, seen: ReferenceValues) -> Iterator[tuple[int, Outcome, float]]:
        """The rows that v has weights for, with their derivatives."""
        for row, outcome in seen.columns.get(self.direction(entry), {}).items():
            weight = float(self._weights[row])
            if weight != 0 or (self.passes is not None and _exact(self.passes[:, row]) != 0):
                yield row, outcome, weight


def _exact(weights: Array) -> Ball:
    """The sum of some numbers, whatever cancels in it."""
    total = sum(map(Fraction, weights.tolist()), start=Fraction(0)) if np.isfinite(weights).all() else math.nan
    return arb(total) if isinstance(total, float) else arb(fmpq(total.numerator, total.denominator))

"""What holding numbers in a float format adds to the balls: with it, they cover what rounding can explain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from gradcli.language.ops import TABLE
from gradcli.language.program.wengert import Call
from gradcli.reference.balls import Ball
from gradcli.reference.rules import Outcome, Undefined, rule_of, slope_condition


@dataclass(frozen=True, slots=True)
class Rounding:
    """A float format: the bits of its significand, and the exponent of its smallest positive number."""

    bits: int
    smallest: int

    @property
    def largest(self) -> Ball:
        """What no number of the format reaches."""
        return arb(2) ** (3 - self.smallest - self.bits)

    def constant(self, exact: Ball, nearest: float) -> Ball:
        """A constant and what the format makes of it."""
        with np.errstate(over="ignore"):
            rounded = float(np.float32(nearest)) if self.bits == 24 else nearest
        return exact.union(arb(rounded)) if math.isfinite(rounded) else exact

    def slope(self, ball: Ball, slope_condition: Ball) -> Ball:
        """A slope with the error of computing it from rounded operands and a rounded value."""
        return ball + arb(0, slope_condition * arb(2) ** (1 - self.bits))

    def underflown(self, ball: Ball) -> Ball:
        """A result with the error of holding it with fewer bits than usual, or not at all."""
        smallest = arb(2) ** self.smallest
        return ball + arb(0, smallest) if ball != 0 and abs(ball).lower() < smallest * 2**60 else ball

    def computed(self, value: Outcome, call: Call, operands: list[Outcome], shown: str = "") -> Outcome:
        """The value of an operation, where torch rounds the argument on the way: sinc(1) is 0, and 4e-17 in torch."""
        if isinstance(value, Undefined) or not call.op.rounds_argument:
            return value
        if call.op.name == "polygamma":
            value += arb(0, self._series(call.statics[0], value, operands[0]))
        slopes = [rule_of(call).slope(k, operands, shown) for k in range(len(operands))]
        sizes = [abs(x * s).upper() for x, s in zip(operands, slopes, strict=True) if not isinstance(s, Undefined)]
        return self.slope(value, sum(sizes, start=arb(0)))

    def spans(self, values: Sequence[Ball]) -> bool:
        """Whether products of ratios of these numbers may underflow or overflow: elimination makes such.

        >>> Rounding(24, -149).spans([arb(1), arb(2) ** 60]), Rounding(53, -1074).spans([arb(1), arb(2) ** 60])
        (True, False)
        """
        sizes = [size for size in (abs(value).upper() for value in values) if size > 0]
        if not sizes:
            return False
        least, most = min(sizes), max(sizes)
        smallest_exact = arb(2) ** (self.smallest + 2 * self.bits)
        return bool(least < smallest_exact or most * smallest_exact > 1 or most**2 * smallest_exact > least**2)

    def strays(self, factors: Sequence[Ball]) -> bool:
        """Whether a product of some of these numbers may underflow or overflow where that of all of them does not.

        >>> Rounding(53, -1074).strays([arb(2) ** -700, arb(2) ** -700, arb(2) ** 900])
        True
        """
        sizes = [abs(factor).upper() for factor in factors]
        small, large = arb(1), arb(1)
        for size in sizes:
            small, large = (small * size, large) if size < 1 else (small, large * size)
        smallest_exact = arb(2) ** (self.smallest + self.bits)
        return bool((small < smallest_exact and large > 1) or (large > self.largest and small < 1))

    def eliminated(self, matrix: Sequence[Ball], order: int) -> list[Ball]:
        """The matrix, row by row, that elimination in effect begins with: its error is one of the largest of each row.

        Torch factors the transpose with pivots from its columns, so that multipliers are at most 1.
        Source: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, theorem 9.3.
        """
        found = []
        for start in range(0, len(matrix), max(1, order)):
            row = matrix[start : start + order]
            error = arb(0, max(abs(value).upper() for value in row) * order * arb(2) ** -self.bits)
            found += [value + error for value in row]
        return found

    def _series(self, n: int, value: Ball, x: Outcome) -> Ball:
        """The error of torch's polygamma(n, x): its series starts with x**(-n - 1), which may underflow."""
        if n == 1 or isinstance(x, Undefined):
            return abs(value).upper() * TABLE["digamma"].error
        return abs(x).upper() * arb(n + 1).gamma() * arb(2) ** self.smallest

    def sloped(self, slope: Outcome, call: Call, k: int, operands: list[Outcome]) -> Outcome:
        """The slope of an elementwise operation with the error of computing it."""
        if isinstance(slope, Undefined):
            return slope
        slope += arb(0, abs(slope).upper() * call.op.error)
        return self.underflown(self.slope(slope, slope_condition(call, k, operands, slope)))

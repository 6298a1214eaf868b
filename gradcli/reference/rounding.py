"""What holding numbers in a float format adds to the balls: with it, they cover what rounding can explain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from gradcli.reference.balls import Ball


@dataclass(frozen=True, slots=True)
class Rounding:
    """A float format: the bits of its significand, and the exponent of its smallest positive number."""

    bits: int
    smallest: int

    def constant(self, exact: Ball, nearest: float) -> Ball:
        """A constant and what the format makes of it."""
        with np.errstate(over="ignore"):
            rounded = float(np.float32(nearest)) if self.bits == 24 else nearest
        return exact.union(arb(rounded)) if math.isfinite(rounded) else exact

    def slope(self, ball: Ball, spread: Ball) -> Ball:
        """A slope with the error of computing it from rounded operands and a rounded value."""
        return ball + arb(0, spread * arb(2) ** (1 - self.bits))

    def underflown(self, ball: Ball) -> Ball:
        """A result with the error of holding it with fewer bits than usual, or not at all."""
        smallest = arb(2) ** self.smallest
        return ball + arb(0, smallest) if ball != 0 and abs(ball).lower() < smallest * 2**60 else ball

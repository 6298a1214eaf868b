"""Products, extremes, determinants and inverses of lists of balls, with their partial derivatives.

Source of the cofactor: Jacobi's formula, ∂det(A)/∂A[p, q] = cofactor of (p, q), which exists for singular A too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import Any

from flint import arb, arb_mat

Ball = Any
"""A `flint.arb`."""


def product(values: Sequence[Ball]) -> Ball:
    """The product of all values; 1 where there are none."""
    total = arb(1)
    for value in values:
        total *= value
    return total


def products_of_others(values: Sequence[Ball]) -> list[Ball]:
    """For each value, the product of all others."""
    before = [arb(1), *accumulate(values, mul)]
    after = [arb(1), *accumulate(reversed(values), mul)]
    return [before[n] * after[len(values) - 1 - n] for n in range(len(values))]


def extreme(values: Sequence[Ball], *, largest: bool) -> Ball:
    """The ball of the largest or smallest value."""
    best = values[0]
    for value in values[1:]:
        best = best.max(value) if largest else best.min(value)
    return best


def is_chosen(values: Sequence[Ball], n: int, *, largest: bool) -> Ball:
    """1 if value n is the extreme, 0 if another is, the ball around both where they tie or that cannot be decided."""
    own = values[n] if largest else -values[n]
    others = [v if largest else -v for k, v in enumerate(values) if k != n]
    if any(other > own for other in others):
        return arb(0)
    return arb(1) if all(other < own for other in others) else arb(0.5, 0.5)


def logsumexp(values: Sequence[Ball]) -> Ball:
    """log(sum(exp(x))), its exponents taken from the largest."""
    top = extreme(values, largest=True)
    return top if not top.is_finite() else top + sum(((value - top).exp() for value in values), start=arb(0)).log()


def variance(values: Sequence[Ball], correction: float) -> Ball:
    """The sum of the squared deviations over the count less the correction."""
    count = len(values)
    mean = sum(values, start=arb(0)) / count
    return sum(((value - mean) ** 2 for value in values), start=arb(0)) / (count - arb(correction))


def determinant(values: Sequence[Ball], order: int) -> Ball:
    """The determinant of a matrix given row by row."""
    return _matrix(values, order).det() if order else arb(1)


def cofactor(values: Sequence[Ball], order: int, row: int, column: int) -> Ball:
    """(-1)**(row + column) times the determinant without this row and column."""
    kept = [values[i * order + j] for i in range(order) for j in range(order) if i != row and j != column]
    minor = determinant(kept, order - 1)
    return minor if (row + column) % 2 == 0 else -minor


def inverse(values: Sequence[Ball], order: int) -> list[Ball]:
    """The inverse row by row; nan where the matrix is singular, or may be."""
    try:
        found = _matrix(values, order).inv()
    except ZeroDivisionError:
        return [arb.nan()] * (order * order)
    return [found[i, j] for i in range(order) for j in range(order)]


def _matrix(values: Sequence[Ball], order: int) -> arb_mat:
    return arb_mat(order, order, list(values))

"""Functions of one number u around 0: their rational coefficients, and a bound of all terms after them.

A function is known by its first coefficients and by enclosures on a circle around 0.  It is analytic inside, but for a
pole at 0: a sum and a product are; so is a quotient whose denominator, over its first term, has a positive real part on
the circle, and by that no zero inside; and a function of it, if that is analytic on the convex hull of its values on
the circle.  By Cauchy's estimate the size on the circle bounds each coefficient that is not known.

Sources: L. V. Ahlfors, "Complex Analysis", 1979, chapter 4 for Cauchy's estimate and the maximum principle, and the
enclosures of the same functions as Taylor models in K. Makino and M. Berz, "Taylor models and other validated
functional inclusion methods", 2003.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from operator import methodcaller
from typing import Any

from flint import acb, acb_series, arb, ctx, fmpq, fmpq_series

from gradcli.reference.balls import Ball, integer_power, precision
from gradcli.reference.series import ANALYTIC, SeriesFunction

ORDER = 44
"""Number of coefficients of u and of constants."""

MOST_FACTORS = 30
"""Factors of a whole power that are multiplied one by one."""

ARCS = 512
"""Arcs of the circle, each enclosed by a ball."""

POWER_SERIES_BITS = 192
"""Precision of the balls."""


class NoSeriesError(Exception):
    """Error of a function without a series with rational coefficients, or without one that is found here."""


@contextmanager
def series_precision() -> Iterator[None]:
    """Run a block at the precision and the order of series; both are global to the process."""
    before = ctx.cap
    ctx.cap = 2 * ORDER
    try:
        with precision(POWER_SERIES_BITS):
            yield
    finally:
        ctx.cap = before


@lru_cache(maxsize=16)
def _circle(radius: fmpq) -> tuple[acb, ...]:
    """Build balls around arcs, each as wide as its chord is long."""
    with precision(POWER_SERIES_BITS):
        half = arb.pi() / ARCS
        width = arb(0, (arb(radius) * half).upper())
        angles = (arb(2 * n) * half for n in range(ARCS))
        return tuple(acb(arb(radius) * a.cos() + width, arb(radius) * a.sin() + width) for a in angles)


@dataclass(frozen=True)
class PowerSeries:
    """A function of u, other than 0, on 0 < |u| <= radius.

    Attributes:
        shift: The power of u that the first coefficient is of.
        coefficients: The first of them, of which the first is not 0.
        arcs: Enclosures of the function on each arc of the circle.
        radius: The radius of the circle.
    """

    shift: int
    coefficients: Sequence[fmpq]
    arcs: Sequence[acb]
    radius: fmpq

    @classmethod
    def from_coefficients(
        cls, shift: int, coefficients: Sequence[fmpq], arcs: Sequence[acb], radius: fmpq
    ) -> PowerSeries:
        """Build the series, without the zeros in front.

        Raises:
            NoSeriesError: All known coefficients are 0, or nothing is known on the circle.
        """
        zeros = next((n for n, c in enumerate(coefficients) if c != 0), None)
        if zeros is None or not all(one.is_finite() for one in arcs):
            raise NoSeriesError
        return cls(shift + zeros, coefficients[zeros:], arcs, radius)

    @classmethod
    def constant(cls, value: fmpq, radius: fmpq) -> PowerSeries:
        """Build the series of one number everywhere."""
        return cls.from_coefficients(0, [value] + [fmpq(0)] * (ORDER - 1), [acb(value)] * ARCS, radius)

    @classmethod
    def identity(cls, radius: fmpq) -> PowerSeries:
        """Build the series of u."""
        return cls.from_coefficients(1, [fmpq(1)] + [fmpq(0)] * (ORDER - 1), _circle(radius), radius)

    def __add__(self, other: PowerSeries) -> PowerSeries:
        shift = min(self.shift, other.shift)
        found = list((self._from(shift) + other._from(shift)).coeffs())
        order = min(len(self.coefficients) + self.shift, len(other.coefficients) + other.shift) - shift
        return self._joined(other, operator.add, shift, found, order)

    def __mul__(self, other: PowerSeries) -> PowerSeries:
        found = list((self._from(self.shift) * other._from(other.shift)).coeffs())
        order = min(len(self.coefficients), len(other.coefficients))
        return self._joined(other, operator.mul, self.shift + other.shift, found, order)

    def __truediv__(self, other: PowerSeries) -> PowerSeries:
        if not all((one / other.coefficients[0]).real > 0 for one in other.leading):
            raise NoSeriesError  # there may be another zero inside
        found = list((self._from(self.shift) / other._from(other.shift)).coeffs())
        order = min(len(self.coefficients), len(other.coefficients))
        return self._joined(other, operator.truediv, self.shift - other.shift, found, order)

    def _joined(
        self, other: PowerSeries, join: Callable[[acb, acb], acb], shift: int, found: list[fmpq], order: int
    ) -> PowerSeries:
        arcs = [join(a, b) for a, b in zip(self.arcs, other.arcs, strict=True)]
        return PowerSeries.from_coefficients(shift, (found + [fmpq(0)] * order)[:order], arcs, self.radius)

    def __neg__(self) -> PowerSeries:
        return PowerSeries.constant(fmpq(-1), self.radius) * self

    def __sub__(self, other: PowerSeries) -> PowerSeries:
        return self + -other

    def power(self, n: int) -> PowerSeries:
        """Raise to a whole power.

        Raises:
            NoSeriesError: The power is large, or negative and the series may have another zero.
        """
        if abs(n) > MOST_FACTORS:
            raise NoSeriesError
        found = reduce(operator.mul, [self] * abs(n), PowerSeries.constant(fmpq(1), self.radius))
        return found if n >= 0 else PowerSeries.constant(fmpq(1), self.radius) / found

    def applied(self, name: str) -> PowerSeries:
        """Apply a function to the series.

        Raises:
            NoSeriesError: The result has a pole, or no rational coefficients here.
        """
        function = FUNCTIONS[name]
        if self.shift < 0:
            raise NoSeriesError
        hull = reduce(acb.union, self.arcs)
        try:
            found = function(self._from(0))
            is_analytic = function(acb_series([hull, 1], prec=2))[1].is_finite()
        except (ValueError, ZeroDivisionError, NotImplementedError):
            raise NoSeriesError from None
        if not is_analytic:
            raise NoSeriesError
        order = len(self.coefficients) + self.shift
        coefficients = [found[n] for n in range(order)]
        return PowerSeries.from_coefficients(0, coefficients, [function(one) for one in self.arcs], self.radius)

    def relative_error(self, terms: int, reach: fmpq, order: int = 0) -> Ball:
        """Bound the error of the first terms of a function or its derivative, relative to it, for |u| <= reach.

        Args:
            terms: The number of coefficients that are kept, zeros among them.
            reach: Less than the radius.
            order: 1 for the derivative.
        """
        sizes = [abs(arb(c * (self.shift + n) ** order)) * arb(reach) ** n for n, c in enumerate(self.coefficients)]
        ratio, count = arb(reach / self.radius), len(sizes)
        # The sums of q**n, and of n*q**n, over all n that are not known.
        beyond = self.size * ratio**count / (1 - ratio)
        beyond *= abs(self.shift) + count + ratio / (1 - ratio) if order else 1
        first = next((n for n, size in enumerate(sizes) if size > 0), count)
        below = sum(sizes[first : first + 1], start=arb(0)) - sum(sizes[first + 1 :], start=beyond)
        above = sum(sizes[terms:], start=beyond)
        return above / below if terms > first and below > 0 else arb.pos_inf()

    @cached_property
    def leading(self) -> Sequence[acb]:
        """Enclosures of the function over u**shift, which is analytic, on each arc."""
        return [a * integer_power(u, -self.shift) for a, u in zip(self.arcs, _circle(self.radius), strict=True)]

    @cached_property
    def size(self) -> Ball:
        """Largest absolute value of `leading`."""
        return reduce(arb.max, (abs(one).upper() for one in self.leading))

    def _from(self, shift: int) -> fmpq_series:
        """Return the coefficients from a lower power on."""
        zeros = self.shift - shift
        return fmpq_series([fmpq(0)] * zeros + list(self.coefficients), prec=len(self.coefficients) + zeros)


def _asin(t: Any) -> Any:
    """Give the inverse sine; that of a series of balls lacks its constant, which no derivative needs."""
    return (t.derivative() / (1 - t * t).sqrt()).integral() if isinstance(t, acb_series) else t.asin()


FUNCTIONS: Mapping[str, SeriesFunction] = {
    **{name: ANALYTIC[name] for name in "exp sin cos tan atan sinh cosh tanh".split()},
    **{name: methodcaller(name) for name in ("log", "sqrt")},
    "expm1": lambda t: t.exp() - 1,
    "log1p": lambda t: (t + 1).log(),
    "asin": _asin,
    "atanh": lambda t: ((1 + t).log() - (1 - t).log()) / 2,
}
"""Functions of series, with rational coefficients or with balls."""


OPERATORS: Mapping[str, Callable[..., PowerSeries]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "square": lambda a: a * a,
    "reciprocal": lambda a: a.power(-1),
}
"""Operations of arithmetic on functions that have series."""


def has_rule(name: str) -> bool:
    """Tell whether an operation has a rule of its own: others have series by what they are defined as."""
    return name in FUNCTIONS or name in OPERATORS


def combined(name: str, operands: list[PowerSeries]) -> PowerSeries:
    """Apply an operation to functions that have series.

    Raises:
        NoSeriesError: The result has none, or there is no rule.
    """
    if name in FUNCTIONS:
        return operands[0].applied(name)
    if name not in OPERATORS:
        raise NoSeriesError
    return OPERATORS[name](*operands)

"""Series in a distance t > 0 that shrinks to 0: what a function is on a ray into a point, with balls for coefficients.

A series is a sum of terms c*t**e with rational exponents, and O(t**rest) for what is left out:

    sqrt(4*t + t**2)     2*t**(1/2) + t**(3/2)/4 + O(t**(5/2))

The sign of its first term is the sign of the function near the point, so that abs, maximum and conditions have series
too; a root of what is negative has no value on this side.  Where the first term may be 0, nothing is decided.
Logarithms of t are no such terms.  Source: V. Puiseux's series, as in D. E. Knuth, "The Art of Computer Programming",
volume 2, section 4.7 for powers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, arb_series

from gradcli.reference.balls import Ball, integer_power

MOST_TERMS = 8
"""Terms of a series, so that what cancels to the sixth order is still seen."""

ZERO, ONE = Fraction(0), Fraction(1)


class Undecided(Exception):  # noqa: N818 -- no mistake of anybody
    """The balls, or the terms that are kept, do not tell what happens on the ray."""


class Absent(Exception):  # noqa: N818
    """There is certainly no value on the ray."""


@dataclass(frozen=True, slots=True)
class Series:
    """The sum of c*t**e over (e, c) in `terms`, by rising exponents, and O(t**rest); nothing is left out if None.

    Attributes:
        terms: None with a coefficient that is exactly 0.
        rest: The exponent of what is left out.
        is_continuous: Whether it certainly tends to the value at the point.
    """

    terms: tuple[tuple[Fraction, Ball], ...]
    rest: Fraction | None = None
    is_continuous: bool = True

    @property
    def is_still(self) -> bool:
        """Whether it is exactly a constant on the ray."""
        return self.rest is None and all(e == 0 for e, _ in self.terms)

    @property
    def least(self) -> Fraction | None:
        """The least exponent that there may be; None of an exact 0."""
        return self.terms[0][0] if self.terms else self.rest

    @property
    def is_bounded(self) -> bool:
        """Whether it certainly has a limit, its constant."""
        return (self.least is None or self.least >= 0) and (self.rest is None or self.rest > 0)

    @property
    def constant(self) -> Ball:
        """The coefficient of t**0: the limit at the point, where there is one."""
        return next((c for e, c in self.terms if e == 0), arb(0))

    def sign(self) -> int:
        """The sign near the point, 0 of an exact 0.

        Raises:
            Undecided: The first term may be 0.
        """
        if not self.terms:
            if self.rest is None:
                return 0
            raise Undecided
        first = self.terms[0][1]
        if not (first > 0 or first < 0):
            raise Undecided
        return 1 if first > 0 else -1

    def moving(self) -> Series:
        """All but the constant, where the series has a limit.

        Raises:
            Undecided: It may have none.
        """
        if not self.is_bounded:
            raise Undecided
        return replace(self, terms=tuple(term for term in self.terms if term[0] > 0))

    def slope(self) -> Ball | None:
        """The derivative by t at the point, None if it is infinite.

        Raises:
            Undecided: It may be either.
        """
        near = self.moving()
        steep = [c for e, c in near.terms if e < 1]
        # A power of t below 1 has an infinite slope; `sign` raises if its coefficient may be 0.
        if steep:
            near.sign()
            return None
        if near.rest is not None and near.rest <= 1:
            raise Undecided
        return next((c for e, c in near.terms if e == 1), arb(0))


def constant(ball: Ball) -> Series:
    """The series of a number that stays the same on the ray."""
    return Series(() if ball == 0 else ((ZERO, ball),))


def ray(ball: Ball, side: int) -> Series:
    """An input that moves by side*t.

    >>> ray(arb(2), -1).terms
    ((Fraction(0, 1), 2.00000000000000), (Fraction(1, 1), -1.00000000000000))
    """
    return Series((*constant(ball).terms, (ONE, arb(side))))


def _collected(terms: Mapping[Fraction, Ball], rest: Fraction | None, *, is_continuous: bool) -> Series:
    kept = sorted((e, c) for e, c in terms.items() if (rest is None or e < rest) and not c == 0)  # noqa: SIM201
    if len(kept) > MOST_TERMS:
        rest, kept = kept[MOST_TERMS][0], kept[:MOST_TERMS]
    return Series(tuple(kept), rest, is_continuous)


def _least(exponents: Sequence[Fraction | None]) -> Fraction | None:
    return min((e for e in exponents if e is not None), default=None)


def plus(a: Series, b: Series) -> Series:
    """The sum of two series, as far as both are known."""
    terms = dict(a.terms)
    for e, c in b.terms:
        terms[e] = terms[e] + c if e in terms else c
    return _collected(terms, _least([a.rest, b.rest]), is_continuous=a.is_continuous and b.is_continuous)


def scaled(a: Series, factor: Ball) -> Series:
    """The series times a ball."""
    return times(constant(factor), a)


def times(a: Series, b: Series) -> Series:
    """The product of two series, as far as the lower rest allows."""
    is_continuous = a.is_continuous and b.is_continuous
    if a.least is None or b.least is None:
        return Series((), None, is_continuous)
    terms: dict[Fraction, Ball] = {}
    for e, c in a.terms:
        for f, d in b.terms:
            terms[e + f] = terms[e + f] + c * d if e + f in terms else c * d
    rest = _least([None if a.rest is None else a.rest + b.least, None if b.rest is None else a.least + b.rest])
    return _collected(terms, rest, is_continuous=is_continuous)


def power(a: Series, exponent: Fraction) -> Series:
    """A constant power: that of the first term, times the binomial series of 1 + the other terms over it.

    Raises:
        Absent: A root of what is negative near the point, or a negative power of 0.
        Undecided: The first term may be 0.
    """
    # By products, as a whole power needs no first term that is certainly not 0.
    if exponent.denominator == 1 and exponent >= 0:
        result = constant(arb(1))
        for _ in range(min(int(exponent), MOST_TERMS)):
            result = times(result, a)
        if exponent <= MOST_TERMS:
            return result
    sign = a.sign()
    if sign == 0 and exponent > 0:
        return a
    if sign == 0 or (sign < 0 and exponent.denominator != 1):
        raise Absent
    (least, first), *_ = a.terms
    # a = first*t**least*(1 + small): the binomial series takes only what tends to 0.
    over = times(a, Series(((-least, 1 / first),)))
    # The first term is 1 by construction, but its ball is only around 1: it is left out, not subtracted.
    small = replace(over, terms=over.terms[1:])
    coefficients, coefficient = [], arb(1)
    for k in range(MOST_TERMS):
        coefficients.append(coefficient)
        coefficient = coefficient * _exact(exponent - k) / (k + 1)
    return times(Series(((least * exponent, _power(first, exponent)),)), composed(coefficients, small))


def _power(base: Ball, exponent: Fraction) -> Ball:
    """Exact where that is a square root of a square, or a whole power."""
    root, denominator = base, exponent.denominator
    # Square roots keep the ball of a square exact, which a general power would widen.
    while denominator > 1 and denominator % 2 == 0:
        root, denominator = root.sqrt(), denominator // 2
    return integer_power(root, exponent.numerator) if denominator == 1 else base ** _exact(exponent)


def composed(coefficients: Sequence[Ball], small: Series) -> Series:
    """The power series with these coefficients, of what tends to 0.

    Raises:
        Undecided: It may not tend to 0.
    """
    if small.least is None:
        return replace(constant(coefficients[0]), is_continuous=small.is_continuous)
    if small.least <= 0:
        raise Undecided
    total = Series((), small.least * len(coefficients), small.is_continuous)
    factor = constant(arb(1))
    for c in coefficients:
        total = plus(total, scaled(factor, c))
        factor = times(factor, small)
    return total


def _exact(number: Fraction) -> Ball:
    return arb(number.numerator) / number.denominator


def _sinh(x: arb_series) -> arb_series:
    return (x.exp() - (-x).exp()) / 2


def _cosh(x: arb_series) -> arb_series:
    return (x.exp() + (-x).exp()) / 2


def _asinh(x: arb_series) -> arb_series:
    return (x.derivative() / (1 + x * x).sqrt()).integral() + arb(x[0]).asinh()


def _bessel(order: int) -> Callable[[arb_series], arb_series]:
    """By the derivative of I(n), which is half of I(n-1) + I(n+1) (DLMF 10.29.1)."""

    def of(x: arb_series) -> arb_series:
        at = arb(x[0])
        terms = [
            sum(math.comb(k, j) * at.bessel_i(abs(order - k + 2 * j)) for j in range(k + 1))
            / (2**k * math.factorial(k))
            for k in range(MOST_TERMS)
        ]
        return arb_series(terms, prec=MOST_TERMS)

    return of


ANALYTIC: Mapping[str, Callable[[arb_series], arb_series]] = {
    "exp": arb_series.exp,
    "log": arb_series.log,
    "sin": arb_series.sin,
    "cos": arb_series.cos,
    "tan": arb_series.tan,
    "asin": arb_series.asin,
    "acos": arb_series.acos,
    "atan": arb_series.atan,
    "sinh": _sinh,
    "cosh": _cosh,
    "asinh": _asinh,
    "tanh": lambda x: _sinh(x) / _cosh(x),
    "erf": arb_series.erf,
    "erfc": arb_series.erfc,
    "i0": _bessel(0),
    "i1": _bessel(1),
}
"""Operations with many coefficients; of others there are two, the value and the slope."""


def coefficients_of(name: str, at: Ball) -> list[Ball]:
    """The power series of an analytic operation around a point, where that is inside of its domain.

    It has numbers that are no numbers where the ball is too wide to divide by what an operation divides by.
    """
    try:
        found = ANALYTIC[name](arb_series([at, 1], prec=MOST_TERMS))
    except ValueError:  # tanh = sinh/cosh at 1e100, where the balls of both are all numbers
        return [arb("nan")] * MOST_TERMS
    return [arb(found[k]) for k in range(MOST_TERMS)]

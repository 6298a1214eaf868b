"""Series in a distance t > 0 that shrinks to 0: a function on a ray into a point, with balls for coefficients.

A series is a sum of terms c*t**e*L**m, with L = -log(t), e rational and m whole, and O(...) for the terms left out:

    sqrt(4*t + t**2)     2*t**(1/2) + t**(3/2)/4 + O(t**(5/2))
    t**t                 1 - t*L + t**2*L**2/2 + O(t**3*L**3)

The sign of its first term is the sign of the function near the point, so that abs, maximum and conditions have series
too; a root of a negative number has no value on this side.  Where the first term may be 0, nothing is decided.
Source: V. Puiseux's series, as in D. E. Knuth, "The Art of Computer Programming", volume 2, section 4.7 for powers;
G. H. Hardy, "Orders of Infinity", 1910, for logarithms.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from operator import methodcaller
from typing import Any, TypeVar

from flint import acb_series, arb, arb_series, fmpq_series

from gradcli.reference.balls import Ball, fraction, integer_power, is_nothing

MOST_SERIES_TERMS = 8
"""Most terms of a series, enough to see a difference that cancels to the sixth order."""

_Coefficients = TypeVar("_Coefficients", arb_series, acb_series, fmpq_series)

Exponent = Fraction | int
"""Exponent of t: an int where it is whole, as fractions are slow to hash and to compare."""

Power = tuple[Exponent, int]
"""(e, -m) of t**e*L**m: of two, the smaller is larger near the point."""

CONSTANT: Power = (0, 0)

LINEAR: Power = (1, 0)

FLAT: Power = (10**6, 0)
"""Power of a function that is smaller than all powers of t, as exp(-1/t) is."""


class Undecided(Exception):  # noqa: N818 -- no mistake of anybody
    """Error of balls, or of a series cut off, that leave the behaviour on the ray open."""


class Absent(Exception):  # noqa: N818
    """Error of a function that certainly has no value on the ray."""


class Nan(Absent):
    """Error of a function for which floats certainly have nan on the ray; comparisons take it."""


class Divergent(Exception):  # noqa: N818
    """Error of a function that grows faster than all powers of t."""


@dataclass(frozen=True, slots=True)
class Series:
    """The sum of c*t**e*L**m over ((e, -m), c) in `terms`, the largest first, and O(rest); nothing is left out if None.

    Attributes:
        terms: The powers and their coefficients, none of which is exactly 0.
        rest: The power of the terms left out.
        is_continuous: Whether the series certainly tends to the value at the point.
    """

    terms: tuple[tuple[Power, Ball], ...]
    rest: Power | None = None
    is_continuous: bool = True

    @property
    def is_still(self) -> bool:
        """Tell whether the series is exactly a constant on the ray."""
        return self.rest is None and all(p == CONSTANT for p, _ in self.terms)

    @property
    def least(self) -> Power | None:
        """The least power that there may be; None of an exact 0."""
        return self.terms[0][0] if self.terms else self.rest

    @property
    def is_bounded(self) -> bool:
        """Tell whether the series certainly has a limit, its constant."""
        return (self.least is None or self.least >= CONSTANT) and (self.rest is None or self.rest > CONSTANT)

    @property
    def constant(self) -> Ball:
        """The coefficient of t**0: the limit at the point, where there is one."""
        return next((c for p, c in self.terms if p == CONSTANT), arb(0))

    def sign(self) -> int:
        """Return the sign near the point, 0 of an exact 0.

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
        """Return all but the constant, where the series has a limit.

        Raises:
            Undecided: It may have none.
        """
        if not self.is_bounded:
            raise Undecided
        return replace(self, terms=tuple(term for term in self.terms if term[0] > CONSTANT))

    def moved_to(self, constant: Ball) -> Series:
        """Return the series with another constant, if it has a limit."""
        return replace(self, terms=((CONSTANT, constant), *self.moving().terms)) if self.is_bounded else self

    def derivative(self, order: int = 1) -> Ball | None:
        """Return the derivative by t at the point, None if it is infinite.

        Raises:
            Undecided: It may be either.
        """
        own = (order, 0)
        steep = [(p, c) for p, c in self.moving().terms if p < own and (p[1] != 0 or p[0].denominator != 1)]
        if steep:
            Series(tuple(steep)).sign()  # raises if the coefficient may be 0
            return None
        if self.rest is not None and self.rest <= own:
            raise Undecided
        return next((c * math.factorial(order) for p, c in self.terms if p == own), arb(0))

    def __add__(self, other: Series) -> Series:
        terms = dict(self.terms)
        for p, c in other.terms:
            terms[p] = terms[p] + c if p in terms else c
        is_continuous = self.is_continuous and other.is_continuous
        return _collected(terms, _least([self.rest, other.rest]), is_continuous=is_continuous)

    def __neg__(self) -> Series:
        return replace(self, terms=tuple((p, -c) for p, c in self.terms))

    def __sub__(self, other: Series) -> Series:
        # One and the same ball is one number, which cancels exactly, as two balls never show it.
        own, others = dict(self.terms), dict(other.terms)
        same = {p for p, c in own.items() if others.get(p) is c}
        first, second = (
            replace(one, terms=tuple(term for term in one.terms if term[0] not in same)) for one in (self, other)
        )
        return first + -second

    def __mul__(self, other: Series) -> Series:
        is_continuous = self.is_continuous and other.is_continuous
        if self.least is None or other.least is None:
            return Series((), None, is_continuous)
        terms: dict[Power, Ball] = {}
        for p, c in self.terms:
            for q, d in other.terms:
                power = _joined(p, q)
                terms[power] = terms[power] + c * d if power in terms else c * d
        rests = [
            None if rest is None else _joined(rest, least)
            for rest, least in ((self.rest, other.least), (other.rest, self.least))
        ]
        return _collected(terms, _least(rests), is_continuous=is_continuous)

    def __truediv__(self, other: Series) -> Series:
        return self * power(other, Fraction(-1))

    def scaled(self, factor: Ball) -> Series:
        """Multiply the series by a ball."""
        return constant(factor) * self


def _joined(p: Power, q: Power) -> Power:
    """Return the power of a product; a flat factor stays flat."""
    return min((p[0] + q[0], p[1] + q[1]), FLAT)


def constant(ball: Ball) -> Series:
    """Build the series of a number that stays the same on the ray."""
    return Series(() if ball == 0 else ((CONSTANT, ball),))


_UNIT = constant(arb(1))


def ray(ball: Ball, weight: Ball) -> Series:
    """Build the series of an input that moves by weight*t.

    >>> ray(arb(2), arb(-1)).terms
    (((0, 0), 2.00000000000000), ((1, 0), -1.00000000000000))
    """
    return Series((*constant(ball).terms, (LINEAR, weight)))


def _collected(terms: Mapping[Power, Ball], rest: Power | None, *, is_continuous: bool) -> Series:
    kept = sorted((p, c) for p, c in terms.items() if (rest is None or p < rest) and not is_nothing(c))
    if len(kept) > MOST_SERIES_TERMS:
        rest, kept = kept[MOST_SERIES_TERMS][0], kept[:MOST_SERIES_TERMS]
    return Series(tuple(kept), rest, is_continuous)


def _least(powers: Sequence[Power | None]) -> Power | None:
    return min((p for p in powers if p is not None), default=None)


def power(a: Series, exponent: Fraction) -> Series:
    """Raise to a constant power: the power of the first term, times a binomial series of the others over it.

    Raises:
        Nan: A root of a series that is negative near the point.
        Absent: A negative power of 0.
        Undecided: The first term may be 0.
    """
    # Take products, as a whole power needs no first term that is certainly not 0.
    if exponent.denominator == 1 and 0 <= exponent <= MOST_SERIES_TERMS:
        return reduce(Series.__mul__, [a] * int(exponent), _UNIT)
    sign = a.sign()
    if sign == 0 and exponent > 0:
        return a
    if sign < 0 and exponent.denominator != 1:
        raise Nan
    if sign == 0:
        raise Absent
    (e, m), first = a.terms[0]
    if (m * exponent).denominator != 1:
        raise Undecided
    steps = range(MOST_SERIES_TERMS - 1)
    coefficients = [*accumulate(steps, lambda c, k: c * exact(exponent - k) / (k + 1), initial=arb(1))]
    times = e * exponent
    leading = (times.numerator if times.denominator == 1 else times, int(m * exponent))
    lead = Series(((leading, _power(first, exponent)),))
    return lead * composed(coefficients, _over_first(a))


def _over_first(a: Series) -> Series:
    """Divide the other terms by the first one; the quotient tends to 0."""
    (e, m), first = a.terms[0]
    over = a * Series((((-e, -m), 1 / first),))
    # The first term is 1 by construction, but its ball is only around 1: it is left out, not subtracted.
    return replace(over, terms=over.terms[1:])


def _power(base: Ball, exponent: Fraction) -> Ball:
    """Raise a ball to a power, exactly where that is a square root of a square, or a whole power."""
    root, denominator = base, exponent.denominator
    # Square roots keep the ball of a square exact, which a general power would widen.
    while denominator > 1 and denominator % 2 == 0:
        root, denominator = root.sqrt(), denominator // 2
    return integer_power(root, exponent.numerator) if denominator == 1 else base ** exact(exponent)


def composed(coefficients: Sequence[Ball], small: Series) -> Series:
    """Compose the power series with these coefficients with a series that tends to 0.

    Raises:
        Undecided: The series may not tend to 0, or a coefficient is no number.
    """
    if not all(c.is_finite() for c in coefficients):
        raise Undecided
    if small.least is None:
        return replace(constant(coefficients[0]), is_continuous=small.is_continuous)
    if small.least <= CONSTANT:
        raise Undecided
    e, m = small.least
    rest = min((e * len(coefficients), m * len(coefficients)), FLAT)
    total, factor = Series((), rest, small.is_continuous), constant(arb(1))
    for c in coefficients:
        total += factor.scaled(c)
        factor *= small
    return total


def exact(number: Exponent) -> Ball:
    """Return the ball of a rational number."""
    return arb(number.numerator) / number.denominator


# -- functions


def exp(a: Series) -> Series:
    """Compute the exponential, also of a series that grows: of c*L it is a power of t.

    Raises:
        Divergent: It grows faster than all powers.
        Undecided: It is not known how it grows.
    """
    steep = [term for term in a.terms if term[0] < CONSTANT]
    if not steep:
        return _analytic("exp", a)
    (p, c), *others = steep
    if p < (0, -1):
        if a.sign() > 0:
            raise Divergent
        return Series((), FLAT, a.is_continuous)
    exponent = fraction(c)
    if exponent is None or others:
        raise Undecided
    return Series((((-exponent, 0), arb(1)),)) * exp(replace(a, terms=a.terms[1:]))


def log(a: Series) -> Series:
    """Compute the logarithm, also of a series that tends to 0 or grows.

    Raises:
        Nan: The series is below 0 near the point.
        Absent: The series is 0.
        Undecided: The first term may be 0, or has a logarithm in it.
    """
    if (sign := a.sign()) <= 0:
        raise Nan if sign else Absent
    (e, m), first = a.terms[0]
    if m:
        raise Undecided
    coefficients = [arb(0), *(exact(Fraction((-1) ** (k + 1), k)) for k in range(1, MOST_SERIES_TERMS))]
    lead = [((0, -1), exact(-e))] if e else []
    return Series((*lead, *constant(first.log()).terms)) + composed(coefficients, _over_first(a))


def _root(a: Series) -> Series:
    return power(a, Fraction(1, 2))


def _odd(name: str, beyond: Callable[[Series], Series]) -> Callable[[Series], Series]:
    """Build an odd function, which is given by a rule of its own for a series that grows to infinity."""

    def apply(a: Series) -> Series:
        if a.is_bounded:
            return _analytic(name, a)
        sign = arb(a.sign())
        return beyond(a.scaled(sign)).scaled(sign)

    return apply


def _tanh(a: Series) -> Series:
    small = exp(a.scaled(arb(-2)))
    return (_UNIT - small) / (_UNIT + small)


_atan = _odd("atan", lambda a: constant(arb.pi() / 2) - _analytic("atan", _UNIT / a))
_erf = _odd("erf", lambda a: _UNIT + Series((), FLAT))


def _wave(name: str) -> Callable[[Series], Series]:
    """Build the sine or cosine, which of a series that grows is only known to be bounded."""
    return lambda a: _analytic(name, a) if a.is_bounded else Series((), CONSTANT, is_continuous=False)


def angle(y: Series, x: Series) -> Series:
    """Compute the angle of a point, which may jump where it tends to the negative axis or to the origin.

    Raises:
        Absent: There is none at the origin.
        Undecided: It is not known on which side of an axis the point is.
    """
    if x.sign() > 0:
        return _atan(y / x)
    if y.sign() == 0:
        if x.sign() == 0:
            raise Absent
        return constant(arb.pi())
    found = constant(arb.pi() / 2 * y.sign()) - _atan(x / y)
    return replace(found, is_continuous=found.is_continuous and y.constant != 0)


def _asin(a: Series) -> Series:
    """Compute the inverse sine; at an end of the domain asin(x) is pi/2 - 2*asin(sqrt((1 - x)/2))."""
    if a.is_still or a.constant not in (1, -1):
        return _analytic("asin", a)
    end = a.constant
    angle = _analytic("asin", _root((_UNIT - a.scaled(end)).scaled(arb(0.5))))
    return (constant(arb.pi() / 2) - angle.scaled(arb(2))).scaled(end)


FUNCTIONS: Mapping[str, Callable[..., Series]] = {
    "mul": operator.mul,
    "div": operator.truediv,
    "abs": lambda a: a.scaled(arb(a.sign())),
    "atan2": angle,
    "exp": exp,
    "log": log,
    "sqrt": _root,
    "sin": _wave("sin"),
    "cos": _wave("cos"),
    "asin": _asin,
    "acos": lambda a: constant(arb.pi() / 2) - _asin(a),
    "atan": _atan,
    "sinh": _odd("sinh", lambda a: (exp(a) - exp(-a)).scaled(arb(0.5))),
    "cosh": lambda a: _analytic("cosh", a) if a.is_bounded else (exp(a) + exp(-a)).scaled(arb(0.5)),
    "tanh": _odd("tanh", _tanh),
    "asinh": _odd("asinh", lambda a: log(a + _root(a * a + _UNIT))),
    "acosh": lambda a: log(a + _root(a * a - _UNIT)),
    "atanh": lambda a: (log(_UNIT + a) - log(_UNIT - a)).scaled(arb(0.5)),
    "erf": _erf,
    "erfc": lambda a: _UNIT - _erf(a),
}
"""Operations that have rules of their own: where an operand grows, changes its sign, or where their domain ends."""


def _analytic(name: str, a: Series) -> Series:
    return composed(coefficients_of(name, a.constant), a.moving())


def _sinh(x: _Coefficients) -> _Coefficients:
    return (x.exp() - (-x).exp()) / 2


def _cosh(x: _Coefficients) -> _Coefficients:
    return (x.exp() + (-x).exp()) / 2


def _bessel(order: int) -> Callable[[arb_series], arb_series]:
    """Build I(order), by the derivative of I(n), which is half of I(n-1) + I(n+1) (DLMF 10.29.1)."""

    def bessel(x: arb_series) -> arb_series:
        at = arb(x[0])
        terms = [
            sum(math.comb(k, j) * at.bessel_i(abs(order - k + 2 * j)) for j in range(k + 1))
            / (2**k * math.factorial(k))
            for k in range(MOST_SERIES_TERMS)
        ]
        return arb_series(terms, prec=MOST_SERIES_TERMS)

    return bessel


def _sinc(x: arb_series) -> arb_series:
    if x[0] == 0:
        whole = arb_series([0, arb.pi()], prec=MOST_SERIES_TERMS + 1).sin()
        return arb_series([whole[k + 1] / arb.pi() for k in range(MOST_SERIES_TERMS)], prec=MOST_SERIES_TERMS)
    angle = x * arb.pi()
    return angle.sin() / angle


SeriesFunction = Callable[[Any], Any]
"""Function of a series, whose coefficients are balls, complex balls or fractions."""

ANALYTIC: Mapping[str, SeriesFunction] = {
    **{name: methodcaller(name) for name in "exp sin cos tan asin atan erf".split()},
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": lambda x: _sinh(x) / _cosh(x),
    "asinh": lambda x: (x.derivative() / (1 + x * x).sqrt()).integral() + arb(x[0]).asinh(),
    "sinc": _sinc,
    "i0": _bessel(0),
    "i1": _bessel(1),
}
"""Operations with many coefficients around an inner point of their domain."""


def coefficients_of(name: str, at: Ball) -> list[Ball]:
    """Compute the power series of an analytic operation around a point, where that is inside of its domain.

    The coefficients are nan where the balls are too wide for a division in the operation.
    """
    try:
        found = ANALYTIC[name](arb_series([at, 1], prec=MOST_SERIES_TERMS))
    except ValueError:  # tanh = sinh/cosh at 1e100, where the balls of both are all numbers
        return [arb("nan")] * MOST_SERIES_TERMS
    return [arb(found[k]) for k in range(MOST_SERIES_TERMS)]

"""One-sided power series over mpmath: the truth of a function at a point and on either side of it, without gradcli.

A `Series` is what a function does along x + h·u as h falls to 0 from above: the coefficients of 1, h, h², ...  Every
condition is decided by the first coefficient that is not 0, so that a kink, a jump or an edge of the domain is met
exactly from the side that is asked for.  Along u = 0 it is the value at the point itself.

What is decided is kept in `Decisions`: a truth is believed when twice as many digits decide alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import mpmath
from mpmath import mp

TERMS = 6
"""Coefficients of a series; what needs more is not known."""


class NoValueError(ArithmeticError):
    """There is no real value here: an edge of the domain, or a pole."""


class NotKnownError(ArithmeticError):
    """The series does not tell: too few terms, or a number beyond what mpmath should compute."""


@dataclass
class Decisions:
    """The numbers whose signs chose a branch."""

    numbers: list[Any] = field(default_factory=list)
    at_zero: bool = False

    def sign(self, a: Series) -> int:
        """The sign of a just beside the point; 0 where it is 0 all along."""
        for index, number in enumerate(a.terms):
            if number != 0:
                self.numbers.append(number)
                self.at_zero |= index > 0
                return 1 if number > 0 else -1
        if not a.is_exact and len(a.terms) < TERMS:
            raise NotKnownError("the sign is beyond the known terms")
        self.numbers.append(mp.zero)
        self.at_zero = True
        return 0


@dataclass(frozen=True)
class Series:
    """Coefficients by rising powers of h, as many as are known; of an exact one the others are 0.

    `size` is the sum over all paths of |product of the local derivatives|: the largest that rounding of the derivative
    is measured against.
    """

    terms: tuple[Any, ...]
    is_exact: bool = False
    size: Any = mp.zero

    def __getitem__(self, index: int) -> Any:
        return self.terms[index] if index < len(self.terms) else mp.zero

    @property
    def order(self) -> int:
        """The power of the first term that is not 0."""
        for index, number in enumerate(self.terms):
            if number != 0:
                return index
        return len(self.terms)

    @property
    def length(self) -> int:
        return TERMS if self.is_exact else len(self.terms)

    def slope(self) -> Any:
        if self.length < 2:
            raise NotKnownError("the slope is not finite, or not known")
        return self[1]


def number(value: Any) -> Series:
    return Series((mp.mpf(value),), is_exact=True)


def _made(terms: Sequence[Any], size: Any, *, is_exact: bool = False) -> Series:
    for term in terms:
        if term != 0 and abs(mp.mag(term)) > 10**6:
            raise NotKnownError("out of range")
    return Series(tuple(terms[:TERMS]), is_exact, size)


def add(a: Series, b: Series) -> Series:
    is_exact = a.is_exact and b.is_exact
    length = max(len(a.terms), len(b.terms)) if is_exact else min(a.length, b.length)
    return _made([a[i] + b[i] for i in range(length)], a.size + b.size, is_exact=is_exact)


def scale(a: Series, factor: Any) -> Series:
    factor = mp.mpf(factor)
    return _made([factor * term for term in a.terms], abs(factor) * a.size, is_exact=a.is_exact)


def neg(a: Series) -> Series:
    return Series(tuple(-term for term in a.terms), a.is_exact, a.size)


def sub(a: Series, b: Series) -> Series:
    return add(a, neg(b))


def mul(a: Series, b: Series) -> Series:
    if a.is_exact and b.is_exact and len(a.terms) + len(b.terms) - 1 <= TERMS:
        length, is_exact = len(a.terms) + len(b.terms) - 1, True
    else:
        length, is_exact = min(TERMS, a.order + b.length, b.order + a.length), False
    terms = [mp.fsum(a[i] * b[k - i] for i in range(k + 1)) for k in range(length)]
    return _made(terms, abs(a[0]) * b.size + abs(b[0]) * a.size, is_exact=is_exact)


def div(a: Series, b: Series) -> Series:
    """The quotient a/b; of two that are 0 at the point the limit, which is a value beside it only (see `Point`)."""
    shift = b.order
    if shift == b.length or shift == len(b.terms):
        raise NoValueError("division by 0")
    if a.order < shift:
        raise NoValueError("a pole")
    length = min(a.length, b.length) - shift
    quotient: list[Any] = []
    for k in range(length):
        known = mp.fsum(quotient[i] * b[shift + k - i] for i in range(k))
        quotient.append((a[shift + k] - known) / b[shift])
    size = abs(1 / b[0]) * a.size + abs(a[0] / b[0] ** 2) * b.size if b[0] != 0 else mp.zero
    return _made(quotient, size)


def _composed(a: Series, value: Any, slope: Callable[[], Series]) -> Series:
    """f(a) of which f(a[0]) and f'(a) are known."""
    if len(a.terms) == 1 and a.is_exact:
        return number(value)
    inner = slope()
    terms = [value]
    for k in range(1, min(a.length, inner.length + 1, TERMS)):
        terms.append(mp.fsum(i * a[i] * inner[k - i] for i in range(1, k + 1)) / k)
    return _made(terms, abs(inner[0]) * a.size)


def exp(a: Series) -> Series:
    if mp.mag(a[0]) > 19:
        raise NotKnownError("out of range")
    terms = [mp.exp(a[0])]
    if len(a.terms) == 1 and a.is_exact:
        return number(terms[0])
    for k in range(1, a.length):
        terms.append(mp.fsum(i * a[i] * terms[k - i] for i in range(1, k + 1)) / k)
    return _made(terms, terms[0] * a.size)


def log(a: Series, value: Any = None) -> Series:
    if a[0] < 0:
        raise NoValueError("log of a negative number")
    if a[0] == 0:
        raise NotKnownError("log at 0") if a.order < len(a.terms) else NoValueError("log of 0")
    return _composed(a, mp.log(a[0]) if value is None else value, lambda: div(number(1), a))


def log1p(a: Series) -> Series:
    inner = add(a, number(1))
    return log(inner, mp.log1p(a[0]) if inner[0] > 0 else None)


def expm1(a: Series) -> Series:
    grown = exp(a)
    return Series((mp.expm1(a[0]), *grown.terms[1:]), grown.is_exact, grown.size)


def sin(a: Series) -> Series:
    return _circle(a)[0]


def cos(a: Series) -> Series:
    return _circle(a)[1]


def _circle(a: Series) -> tuple[Series, Series]:
    s, c = [mp.sin(a[0])], [mp.cos(a[0])]
    if len(a.terms) == 1 and a.is_exact:
        return number(s[0]), number(c[0])
    for k in range(1, a.length):
        s.append(mp.fsum(i * a[i] * c[k - i] for i in range(1, k + 1)) / k)
        c.append(-mp.fsum(i * a[i] * s[k - i] for i in range(1, k + 1)) / k)
    return _made(s, abs(c[0]) * a.size), _made(c, abs(s[0]) * a.size)


def power(a: Series, exponent: Any) -> Series:
    """The power of a to a constant that is no natural number, for a ≥ 0."""
    exponent = mp.mpf(exponent)
    if a.order == len(a.terms):
        if not a.is_exact and a.length < TERMS:
            raise NotKnownError("too few terms")
        if exponent < 0:
            raise NoValueError("a pole")
        return number(0)
    if a[a.order] < 0:
        raise NoValueError("a fractional power of a negative number")
    shift, first = a.order * exponent, a[a.order]
    if shift < 0:
        raise NoValueError("a pole")
    if shift != int(shift):
        return _made([mp.zero] * min(TERMS, int(mp.ceil(shift))), mp.zero)
    terms = [first**exponent]
    for k in range(1, a.length - a.order):
        known = mp.fsum((exponent * i - k + i) * a[a.order + i] * terms[k - i] for i in range(1, k + 1))
        terms.append(known / (k * first))
    size = abs(exponent * terms[0] / first) * a.size if a.order == 0 else mp.zero
    return _made([mp.zero] * int(shift) + terms, size)


def sqrt(a: Series) -> Series:
    return power(a, 0.5)


def natural(a: Series, exponent: int) -> Series:
    found = a
    for _ in range(exponent - 1):
        found = mul(found, a)
    return found


def absolute(a: Series, decided: Decisions) -> Series:
    return neg(a) if decided.sign(a) < 0 else a


def tanh(a: Series) -> Series:
    """Without a difference of equal numbers, however large a is."""
    if a[0] < 0:
        return neg(tanh(neg(a)))
    falling = exp(scale(a, -2))
    found = div(sub(number(1), falling), add(number(1), falling))
    return Series(found.terms, found.is_exact, abs(found[1] / a[1]) * a.size if a[1] != 0 else a.size)


def sigmoid(a: Series) -> Series:
    if a[0] < 0:
        grown = exp(a)
        return div(grown, add(number(1), grown))
    return div(number(1), add(number(1), exp(neg(a))))


def atan(a: Series) -> Series:
    return _composed(a, mp.atan(a[0]), lambda: div(number(1), add(number(1), mul(a, a))))


def asinh(a: Series) -> Series:
    return _composed(a, mp.asinh(a[0]), lambda: div(number(1), sqrt(add(number(1), mul(a, a)))))


def _edged(a: Series, value: Callable[[Any], Any], inner: Series) -> Series:
    if inner.order > 0:
        if inner.order < len(inner.terms) and inner[inner.order] < 0:
            raise NoValueError("outside of the domain")
        return _made([mp.re(value(a[0]))], mp.zero) if len(a.terms) > 1 else number(mp.re(value(a[0])))
    if inner[0] < 0:
        raise NoValueError("outside of the domain")
    return _composed(a, value(a[0]), lambda: div(number(1), sqrt(inner)))


def asin(a: Series) -> Series:
    return _edged(a, mp.asin, sub(number(1), mul(a, a)))


def acosh(a: Series) -> Series:
    if a[0] < 1:
        raise NoValueError("acosh below 1")
    return _edged(a, mp.acosh, sub(mul(a, a), number(1)))


def erf(a: Series) -> Series:
    if mp.mag(a[0]) > 9:
        raise NotKnownError("out of range")
    return _composed(a, mp.erf(a[0]), lambda: scale(exp(neg(mul(a, a))), 2 / mp.sqrt(mp.pi)))


def floor(a: Series, decided: Decisions) -> Series:
    whole = number(mpmath.floor(a[0]))
    return sub(whole, number(1)) if decided.sign(sub(a, whole)) < 0 else whole


def atan2(y: Series, x: Series) -> Series:
    """The angle of (x, y), by its differential (x·dy - y·dx)/(x² + y²)."""
    if x[0] == 0 and y[0] == 0:
        raise NotKnownError("the angle at the origin")
    if y[0] == 0 and x[0] < 0:
        raise NotKnownError("the cut")
    square = add(mul(x, x), mul(y, y))
    if len(x.terms) == 1 and len(y.terms) == 1 and x.is_exact and y.is_exact:
        return number(mp.atan2(y[0], x[0]))
    dx, dy = _derived(x), _derived(y)
    inner = div(sub(mul(x, dy), mul(y, dx)), square)
    terms = [mp.atan2(y[0], x[0]), *(inner[k] / (k + 1) for k in range(min(inner.length, TERMS - 1)))]
    return _made(terms, (abs(x[0]) * y.size + abs(y[0]) * x.size) / square[0])


def _derived(a: Series) -> Series:
    terms = [i * a[i] for i in range(1, len(a.terms))] or [mp.zero]
    return Series(tuple(terms), a.is_exact)

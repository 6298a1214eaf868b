"""Functions of one number u around 0 as Taylor models: exact coefficients, and an enclosure of all that follows them.

A model says that f(u) = u**shift * (c0 + c1*u + ... + u**n * rest) for every complex u other than 0 within the radius,
the coefficients being rational and the rest a ball that contains whatever it is there.  A quotient that is 0/0 at 0 has
one as well.  The rest is analytic, so that its size bounds its derivative nearer to 0.

Sources: K. Makino and M. Berz, "Taylor models and other validated functional inclusion methods", 2003; A. L. Cauchy's
estimate of derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul
from typing import Any

from flint import acb, acb_series, arb, ctx, fmpq, fmpq_poly, fmpq_series

from gradcli.reference.balls import Ball, precision

ORDER = 30
"""Coefficients of a model, as long as nothing cancels."""

BITS = 192
"""Of the balls."""

OUTER = 1.5
"""How many times as far from 0 a model holds as its derivative does."""

Polynomial = Any
"""A `flint.fmpq_poly`, which has no types."""


class NoModelError(Exception):
    """There is no model, or none that this finds."""


@contextmanager
def modelling() -> Iterator[None]:
    """Run a block at the precision and the order of models; both are global to the process."""
    before = ctx.cap
    ctx.cap = ORDER + 1
    try:
        with precision(BITS):
            yield
    finally:
        ctx.cap = before


@dataclass(frozen=True)
class Model:
    """A function on 0 < |u| <= radius.

    Attributes:
        shift: The power of u before everything else.
        known: The coefficients.
        order: How many there are, zeros at the end among them.
        rest: What follows, over u**order.
        radius: Of u.
    """

    shift: int
    known: Polynomial
    order: int
    rest: acb
    radius: Ball

    @classmethod
    def of(cls, shift: int, known: Polynomial, order: int, rest: acb, radius: Ball) -> Model:
        """A model of at most `ORDER` coefficients, of which the first is not 0.

        Raises:
            NoModelError: All that is known of it is 0, or nothing is known of the rest.
        """
        if not rest.is_finite():
            raise NoModelError
        coefficients = known.coeffs()[:order]
        zeros = next((n for n, c in enumerate(coefficients) if c != 0), None)
        if zeros is None:
            raise NoModelError
        rest += _range(_high(known, order), radius)
        most = min(order - zeros, ORDER)
        kept, cut = coefficients[zeros : zeros + most], coefficients[zeros + most :]
        beyond = order - zeros - most
        if beyond:
            rest = _range(fmpq_poly(cut), radius) + _to(_around(radius), beyond) * rest
        return cls(shift + zeros, fmpq_poly(kept), most, rest, radius)

    @classmethod
    def constant(cls, value: fmpq, radius: Ball) -> Model:
        """The same number everywhere."""
        return cls.of(0, fmpq_poly([value]), ORDER, acb(0), radius)

    @classmethod
    def identity(cls, radius: Ball) -> Model:
        """u."""
        return cls.of(1, fmpq_poly([1]), ORDER, acb(0), radius)

    def coefficient(self, n: int) -> fmpq:
        """Of u**(shift + n)."""
        return self.known[n] if n <= self.known.degree() else fmpq(0)

    def __add__(self, other: Model) -> Model:
        shift = min(self.shift, other.shift)
        first, second = self._from(shift), other._from(shift)
        order = min(first[1], second[1])
        rest = sum((_tail(poly, size, rest, order, self.radius) for poly, size, rest in (first, second)), acb(0))
        return Model.of(shift, _low(first[0] + second[0], order), order, rest, self.radius)

    def __sub__(self, other: Model) -> Model:
        return self + other.scaled(fmpq(-1))

    def __mul__(self, other: Model) -> Model:
        order, radius = min(self.order, other.order), self.radius
        tails = (_tail(one.known, one.order, one.rest, order, radius) for one in (self, other))
        first, second = (Part(_low(one.known, order), tail) for one, tail in zip((self, other), tails, strict=True))
        product = first.times(second, order, radius)
        return Model.of(self.shift + other.shift, product.known, order, product.rest, radius)

    def __truediv__(self, other: Model) -> Model:
        unit = Model.of(0, other.known, other.order, other.rest, other.radius)
        inverse = unit.applied("inverse")
        return self * Model.of(-other.shift, inverse.known, inverse.order, inverse.rest, self.radius)

    def scaled(self, factor: fmpq) -> Model:
        """Times a number other than 0."""
        return Model.of(self.shift, self.known * factor, self.order, self.rest * acb(factor), self.radius)

    def power(self, n: int) -> Model:
        """To a whole power."""
        if abs(n) > ORDER:
            raise NoModelError
        found = Model.constant(fmpq(1), self.radius)
        for _ in range(abs(n)):
            found = found * self
        return found if n >= 0 else Model.constant(fmpq(1), self.radius) / found

    def applied(self, name: str) -> Model:
        """A function of it: its own series at the value at 0, and its last coefficient anywhere in reach.

        Raises:
            NoModelError: It has a pole or no rational coefficients here.
        """
        function = FUNCTIONS[name]
        if self.shift < 0:
            raise NoModelError
        known, order, rest = self._from(0)
        first = known[0] if known.degree() >= 0 else fmpq(0)
        moving = _divided(known - fmpq_poly([first]))
        order -= 1
        if order < 1:
            raise NoModelError
        order = min(order, ORDER)
        rest = _tail(moving, max(order, self.order + self.shift - 1), rest, order, self.radius)
        moving = _low(moving, order)
        reach = _range(moving, self.radius) + _to(_around(self.radius), order) * rest
        whole = acb(first) + _around(self.radius) * reach
        try:
            series = function(fmpq_series([first, 1], prec=order + 1))
            last = function(acb_series([whole, 1], prec=order + 1))[order]
        except (ValueError, ZeroDivisionError, NotImplementedError):
            raise NoModelError from None
        coefficients = [series[n] for n in range(order)]
        # By Horner's rule in t = u*(moving + u**order*rest), the last term with the enclosed coefficient.
        total = Part(fmpq_poly([coefficients[-1]]), acb(0))
        step = Part(fmpq_poly([0, *moving.coeffs()]), _around(self.radius) * rest)
        for coefficient in reversed(coefficients[:-1]):
            total = total.times(step, order, self.radius).plus(coefficient)
        return Model.of(0, total.known, order, total.rest + _to(reach, order) * last, self.radius)

    def within(self, radius: Ball) -> tuple[Model, Model]:
        """The model nearer to 0, and that of its derivative there.

        Args:
            radius: Of its own by `OUTER`.

        Raises:
            NoModelError: It is constant.
        """
        power = self.shift + self.order
        known = [self.coefficient(n) * (self.shift + n) for n in range(self.order)]
        size = abs(self.rest).upper() * (abs(power) + 1 / (OUTER - 1))
        slope = Model.of(self.shift - 1, fmpq_poly(known), self.order, _around(size), radius)
        return replace(self, radius=radius), slope

    def _from(self, shift: int) -> tuple[Polynomial, int, acb]:
        """The coefficients from a lower power on, how many are known, and the rest."""
        zeros = self.shift - shift
        return fmpq_poly([0] * zeros + self.known.coeffs()), self.order + zeros, self.rest


@dataclass(frozen=True)
class Part:
    """A polynomial and what is over u**order beyond it, on the way to a model; it may be 0."""

    known: Polynomial
    rest: acb

    def times(self, other: Part, order: int, radius: Ball) -> Part:
        """The product."""
        product, power = self.known * other.known, _to(_around(radius), order)
        rest = _range(_high(product, order), radius) + power * self.rest * other.rest
        rest += _range(self.known, radius) * other.rest + _range(other.known, radius) * self.rest
        return Part(_low(product, order), rest)

    def plus(self, number: fmpq) -> Part:
        """The sum with a number."""
        return Part(self.known + fmpq_poly([number]), self.rest)


def _around(radius: Ball) -> acb:
    """All u."""
    return acb(arb(0, radius), arb(0, radius))


def _to(ball: Any, n: int) -> Any:
    """A power by products: Arb's takes a logarithm, which a ball around 0 has not."""
    return reduce(mul, [ball] * n, arb(1))


def _range(polynomial: Polynomial, radius: Ball) -> Any:
    """What a polynomial may be for any u."""
    total = acb(0)
    for coefficient in reversed(polynomial.coeffs()):
        total = total * _around(radius) + acb(coefficient)
    return total


def _low(polynomial: Polynomial, order: int) -> Polynomial:
    return fmpq_poly(polynomial.coeffs()[:order])


def _high(polynomial: Polynomial, order: int) -> Polynomial:
    return fmpq_poly(polynomial.coeffs()[order:])


def _divided(polynomial: Polynomial) -> Polynomial:
    """By u, which divides it."""
    return fmpq_poly(polynomial.coeffs()[1:])


def _tail(polynomial: Polynomial, size: int, rest: acb, order: int, radius: Ball) -> Any:
    """All from u**order on, over that, of a polynomial with a rest over u**size."""
    return _range(_high(polynomial, order), radius) + _to(_around(radius), size - order) * rest


def _sinh(t: Any) -> Any:
    return (t.exp() - (-t).exp()) / 2


def _cosh(t: Any) -> Any:
    return (t.exp() + (-t).exp()) / 2


FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "inverse": lambda t: t.inv(),
    "exp": lambda t: t.exp(),
    "expm1": lambda t: t.exp() - 1,
    "log": lambda t: t.log(),
    "log1p": lambda t: (t + 1).log(),
    "sin": lambda t: t.sin(),
    "cos": lambda t: t.cos(),
    "tan": lambda t: t.tan(),
    "atan": lambda t: t.atan(),
    "asin": lambda t: (t.derivative() / (1 - t * t).sqrt()).integral(),
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": lambda t: _sinh(t) / _cosh(t),
    "atanh": lambda t: ((1 + t).log() - (1 - t).log()) / 2,
    "sqrt": lambda t: t.sqrt(),
}
"""Functions of series, with rational coefficients or with balls; that of asin is right where its constant is 0."""


def combined(name: str, operands: list[Model]) -> Model:
    """An operation of functions that have models.

    Raises:
        NoModelError: There is no model of the result, or no rule.
    """
    match name, operands:
        case "add", [a, b]:
            return a + b
        case "sub", [a, b]:
            return a - b
        case "mul", [a, b]:
            return a * b
        case "div", [a, b]:
            return a / b
        case "neg", [a]:
            return a.scaled(fmpq(-1))
        case "square", [a]:
            return a * a
        case "reciprocal", [a]:
            return Model.constant(fmpq(1), a.radius) / a
        case _, [a] if name in FUNCTIONS:
            return a.applied(name)
    raise NoModelError


def relative_error(model: Model, terms: int) -> Ball:
    """How far the first terms of a model are from it at most, relative to it: a ball whose upper end is a bound.

    Args:
        model: Of the function.
        terms: How many coefficients are kept, zeros among them.
    """
    radius = model.radius
    first = abs(arb(model.coefficient(0)))
    tail = _tail(model.known, model.order, model.rest, terms, radius)
    moving = _tail(model.known, model.order, model.rest, 1, radius)
    below = first - radius * abs(moving).upper()
    return _to(radius, terms) * abs(tail).upper() / below if bool(below > 0) else arb.pos_inf()

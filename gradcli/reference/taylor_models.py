"""Functions of one number u around 0 as Taylor models: exact coefficients, and an enclosure of all that follows them.

A model says that f(u) = u**shift * (c0 + c1*u + ... + u**n * rest) for every u other than 0 within the radius, the
coefficients being rational and the rest a ball that contains whatever it is there.  A quotient that is 0/0 at 0 has one
as well.  Duals of models are a function with its derivative.

Source: K. Makino and M. Berz, "Taylor models and other validated functional inclusion methods", 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any

from flint import arb, arb_series, ctx, fmpq, fmpq_poly, fmpq_series

from gradcli.reference.balls import Ball, exists, precision

ORDER = 22
"""Coefficients of a model, as long as nothing cancels."""

BITS = 192
"""Of the balls."""

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
    rest: Ball
    radius: Ball

    @classmethod
    def of(cls, shift: int, known: Polynomial, order: int, rest: Ball, radius: Ball) -> Model:
        """A model of at most `ORDER` coefficients, of which the first is not 0.

        Raises:
            NoModelError: All that is known of it is 0, or nothing is known of the rest.
        """
        if not exists(rest):
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
        return cls.of(0, fmpq_poly([value]), ORDER, arb(0), radius)

    @classmethod
    def identity(cls, radius: Ball) -> Model:
        """u."""
        return cls.of(1, fmpq_poly([1]), ORDER, arb(0), radius)

    def coefficient(self, n: int) -> fmpq:
        """Of u**(shift + n)."""
        return self.known[n] if n <= self.known.degree() else fmpq(0)

    def __add__(self, other: Model) -> Model:
        shift = min(self.shift, other.shift)
        first, second = self._from(shift), other._from(shift)
        order = min(first[1], second[1])
        rest = sum((_tail(poly, size, rest, order, self.radius) for poly, size, rest in (first, second)), arb(0))
        return Model.of(shift, _low(first[0] + second[0], order), order, rest, self.radius)

    def __sub__(self, other: Model) -> Model:
        return self + other.scaled(fmpq(-1))

    def __mul__(self, other: Model) -> Model:
        order = min(self.order, other.order)
        product = self.known * other.known
        here = _around(self.radius)
        rest = _range(_high(product, order), self.radius)
        rest += _range(self.known, self.radius) * _to(here, other.order - order) * other.rest
        rest += _range(other.known, self.radius) * _to(here, self.order - order) * self.rest
        rest += self.rest * other.rest * _to(here, self.order + other.order - order)
        return Model.of(self.shift + other.shift, _low(product, order), order, rest, self.radius)

    def __truediv__(self, other: Model) -> Model:
        unit = Model.of(0, other.known, other.order, other.rest, other.radius)
        inverse = unit.applied(lambda t: t.inv(), lambda t: t.inv())
        return self * Model.of(-other.shift, inverse.known, inverse.order, inverse.rest, self.radius)

    def scaled(self, factor: fmpq) -> Model:
        """Times a number other than 0."""
        return Model.of(self.shift, self.known * factor, self.order, self.rest * arb(factor), self.radius)

    def power(self, n: int) -> Model:
        """To a whole power."""
        if abs(n) > ORDER:
            raise NoModelError
        found = Model.constant(fmpq(1), self.radius)
        for _ in range(abs(n)):
            found = found * self
        return found if n >= 0 else Model.constant(fmpq(1), self.radius) / found

    def applied(self, exactly: Callable[[Any], Any], enclosed: Callable[[Any], Any]) -> Model:
        """A function of it.

        Args:
            exactly: The function of a series with rational coefficients, for its own at the value at 0.
            enclosed: The function of a series of balls, for its last coefficient anywhere in reach.

        Raises:
            NoModelError: It has a pole or no rational coefficients here.
        """
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
        whole = arb(first) + _around(self.radius) * reach
        try:
            series = exactly(fmpq_series([first, 1], prec=order + 1))
        except (ValueError, ZeroDivisionError, NotImplementedError):
            raise NoModelError from None
        coefficients = [series[n] for n in range(order)]
        last = enclosed(arb_series([whole, 1], prec=order + 1))[order]
        # By Horner's rule in t = u*(moving + u**order*rest), the last term with the enclosed coefficient.
        total = Part(fmpq_poly([coefficients[-1]]), arb(0))
        step = Part(fmpq_poly([0, *moving.coeffs()]), _around(self.radius) * rest)
        for coefficient in reversed(coefficients[:-1]):
            total = total.times(step, order, self.radius).plus(coefficient)
        return Model.of(0, total.known, order, total.rest + _to(reach, order) * last, self.radius)

    def _from(self, shift: int) -> tuple[Polynomial, int, Ball]:
        """The coefficients from a lower power on, how many are known, and the rest."""
        zeros = self.shift - shift
        return fmpq_poly([0] * zeros + self.known.coeffs()), self.order + zeros, self.rest


@dataclass(frozen=True)
class Part:
    """A polynomial and what is over u**order beyond it, on the way to a model; it may be 0."""

    known: Polynomial
    rest: Ball

    def times(self, other: Part, order: int, radius: Ball) -> Part:
        """The product."""
        product, power = self.known * other.known, _to(_around(radius), order)
        rest = _range(_high(product, order), radius) + power * self.rest * other.rest
        rest += _range(self.known, radius) * other.rest + _range(other.known, radius) * self.rest
        return Part(_low(product, order), rest)

    def plus(self, number: fmpq) -> Part:
        """The sum with a number."""
        return Part(self.known + fmpq_poly([number]), self.rest)


def _around(radius: Ball) -> Ball:
    """All u."""
    return arb(0, radius)


def _to(ball: Ball, n: int) -> Ball:
    """A power by products: Arb's takes a logarithm, which a ball around 0 has not."""
    return reduce(mul, [ball] * n, arb(1))


def _range(polynomial: Polynomial, radius: Ball) -> Ball:
    """What a polynomial may be for any u."""
    total = arb(0)
    for coefficient in reversed(polynomial.coeffs()):
        total = total * _around(radius) + arb(coefficient)
    return total


def _low(polynomial: Polynomial, order: int) -> Polynomial:
    return fmpq_poly(polynomial.coeffs()[:order])


def _high(polynomial: Polynomial, order: int) -> Polynomial:
    return fmpq_poly(polynomial.coeffs()[order:])


def _divided(polynomial: Polynomial) -> Polynomial:
    """By u, which divides it."""
    return fmpq_poly(polynomial.coeffs()[1:])


def _tail(polynomial: Polynomial, size: int, rest: Ball, order: int, radius: Ball) -> Ball:
    """All from u**order on, over that, of a polynomial with a rest over u**size."""
    return _range(_high(polynomial, order), radius) + _to(_around(radius), size - order) * rest


Dual = tuple[Model, Model | None]
"""A function and its derivative; None for one that is 0."""


def _sinh(t: arb_series) -> arb_series:
    return (t.exp() - (-t).exp()) / 2


def _cosh(t: arb_series) -> arb_series:
    return (t.exp() + (-t).exp()) / 2


ENCLOSED: Mapping[str, Callable[[Any], Any]] = {
    "exp": lambda t: t.exp(),
    "expm1": lambda t: t.exp() - 1,
    "log": lambda t: t.log(),
    "log1p": lambda t: (t + 1).log(),
    "sin": lambda t: t.sin(),
    "cos": lambda t: t.cos(),
    "tan": lambda t: t.tan(),
    "atan": lambda t: t.atan(),
    "asin": lambda t: t.asin(),
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": lambda t: _sinh(t) / _cosh(t),
    "atanh": lambda t: ((1 + t).log() - (1 - t).log()) / 2,
    "sqrt": lambda t: t.sqrt(),
}
"""Functions of series of balls."""

EXACT: Mapping[str, Callable[[Any], Any]] = {
    **ENCLOSED,
    "sinh": lambda t: t.sinh(),
    "cosh": lambda t: t.cosh(),
    "tanh": lambda t: t.tanh(),
    "atanh": lambda t: t.atanh(),
}
"""The same of series with rational coefficients."""


def _slope(name: str, u: Model, result: Model) -> Model:
    """The derivative of a function by its operand."""
    one = Model.constant(fmpq(1), u.radius)
    match name:
        case "exp":
            return result
        case "expm1":
            return result + one
        case "log":
            return one / u
        case "log1p":
            return one / (u + one)
        case "sin":
            return u.applied(EXACT["cos"], ENCLOSED["cos"])
        case "cos":
            return u.applied(EXACT["sin"], ENCLOSED["sin"]).scaled(fmpq(-1))
        case "tan":
            return one + result * result
        case "atan":
            return one / (one + u * u)
        case "asin":
            return one / (one - u * u).applied(EXACT["sqrt"], ENCLOSED["sqrt"])
        case "sinh" | "cosh":
            other = "cosh" if name == "sinh" else "sinh"
            return u.applied(EXACT[other], ENCLOSED[other])
        case "tanh":
            return one - result * result
        case "atanh":
            return one / (one - u * u)
        case "sqrt":
            return (one / result).scaled(fmpq(1, 2))
    raise NoModelError


def _plus(a: Model | None, b: Model | None) -> Model | None:
    return b if a is None else a if b is None else a + b


def _times(a: Model, b: Model | None) -> Model | None:
    return None if b is None else a * b


def combined(name: str, operands: list[Dual]) -> Dual:
    """An operation of functions that have models.

    Raises:
        NoModelError: There is no model of the result, or no rule.
    """
    match name, operands:
        case "add" | "sub", [(a, da), (b, db)]:
            if name == "sub":
                b, db = b.scaled(fmpq(-1)), None if db is None else db.scaled(fmpq(-1))
            return a + b, _plus(da, db)
        case "mul", [(a, da), (b, db)]:
            return a * b, _plus(_times(a, db), _times(b, da))
        case "div", [(a, da), (b, db)]:
            found = a / b
            slope = _plus(da, None if db is None else (found * db).scaled(fmpq(-1)))
            return found, None if slope is None else slope / b
        case "neg", [(a, da)]:
            return a.scaled(fmpq(-1)), None if da is None else da.scaled(fmpq(-1))
        case "square", [(a, da)]:
            return a * a, _times(a.scaled(fmpq(2)), da)
        case "reciprocal", [(a, da)]:
            one = Model.constant(fmpq(1), a.radius)
            return combined("div", [(one, None), (a, da)])
        case _, [(a, da)] if name in ENCLOSED:
            found = a.applied(EXACT[name], ENCLOSED[name])
            return found, None if da is None else _slope(name, a, found) * da
    raise NoModelError


def whole_power(operand: Dual, n: int) -> Dual:
    """A whole power of a function that has a model.

    Raises:
        NoModelError: There is none of the result.
    """
    a, da = operand
    if n == 0:
        raise NoModelError
    return a.power(n), None if da is None else a.power(n - 1).scaled(fmpq(n)) * da


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

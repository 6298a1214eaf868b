"""Whole arrays of Arb's balls, with as many bits as a deep function needs, where the bounds of floats grow too wide.

A `BallArray` takes the place of `Bounds` in values: `middle` has the balls, each with its own radius, and
`radius` says only what is known (0) and what is not (infinity).  Numbers that are floats stay an array of floats until
something is computed of them, as weights are many.
Source: F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", 2017.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import cast

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb, arb_mat
from sympy import Expr
from sympy.core.relational import Relational

from gradcli.arrays import AnyArray, Array
from gradcli.reference import balls
from gradcli.reference.array_functions import compile_bounds, determinant
from gradcli.reference.balls import COMPARISONS, HEADS, Ball, integer_power
from gradcli.reference.bounds import (
    Bounds,
    Mask,
    NoRuleError,
    add,
    extreme,
    inverse,
    larger,
    multiply,
    product,
    smaller,
)
from gradcli.reference.compiling import Arithmetic, Closure, compile_ball
from gradcli.reference.deadline import require_time

Balls = npt.NDArray[np.object_]
"""Array of `flint.arb`."""

AT_ONCE = 2**13
"""Balls, or products of two, between two checks of the time limit; a matrix product has a hundred times as many."""


class BallArray(Bounds):
    """Balls, as an array of objects, or of floats where each is one float."""

    @property
    def balls(self) -> Balls:
        """The balls, of which the ones that are not known may be any."""
        return _as_balls(self.middle)

    @property
    def is_exact(self) -> Mask:
        """Mask of the elements that are known numbers, of radius 0."""
        if self.middle.dtype != object:
            return super().is_exact
        return np.asarray(self.is_known & _mask(arb.is_exact, self.middle))

    @property
    def is_zero(self) -> Mask:
        """Mask of the elements that are certainly 0, exactly."""
        return np.asarray(self.is_known & np.asarray(self.middle == 0, dtype=bool))

    @property
    def is_infinite(self) -> Mask:
        """Mask of the elements that are known to be infinite."""
        if self.middle.dtype != object:
            return super().is_infinite
        return np.asarray(self.is_known & _mask(lambda a: abs(a) == arb.pos_inf(), self.middle))

    @property
    def low(self) -> Array:
        """Lower bounds of the true elements, as floats."""
        found = self.in_floats()
        return np.where(found.radius == 0, found.middle, np.nextafter(found.middle - found.radius, -np.inf))

    @property
    def high(self) -> Array:
        """Upper bounds of the true elements, as floats."""
        return -(-self).low

    def __neg__(self) -> BallArray:
        return type(self)(-self.middle, self.radius)

    def routed(self, change: Callable[[Array], Array], terms: int = 1) -> BallArray:
        """Apply a linear map of zeros and ones, of at most so many terms a result."""
        middle = self.middle if terms <= 1 else self.balls
        return type(self)(self.held(change(cast(Array, middle))), change(self.radius))

    def where(self, condition: Mask, other: Bounds) -> BallArray:
        """Take these elements where the condition holds, else the other's."""
        middle = np.where(condition, self.balls, _as_balls(other.middle))
        return type(self)(middle, np.where(condition, self.radius, other.radius))

    def joined(self, others: Sequence[Bounds], join: Callable[[Sequence[Array]], Array]) -> BallArray:
        """Join these elements and those of others to one array."""
        every = (self, *others)
        return type(self)(join([cast(Array, _as_balls(one.middle)) for one in every]), join([a.radius for a in every]))

    def united(self, other: Bounds) -> BallArray:
        """Enclose both."""
        return _known(type(self), _each(arb.union, self.balls, _as_balls(other.middle)), self, other)

    @classmethod
    def held(cls, numbers: AnyArray) -> AnyArray:
        """Convert the results of an operation to the kind of the array."""
        return numbers

    def in_floats(self) -> Bounds:
        """Round to floats with a radius; the digits beyond a float go into the radius."""
        if self.middle.dtype != object:
            return Bounds(self.middle, self.radius)
        middle, radius = (
            _each(function, self.middle).astype(np.float64) for function in (lambda a: float(a.mid()), _radius)
        )
        is_infinite = np.isinf(middle) & (radius == 0)
        radius = np.where(is_infinite, 0.0, (radius + abs(middle) * 2.0**-52) * (1 + 2.0**-50))
        is_lost = ~(np.isfinite(radius) & self.is_known)
        return Bounds(np.where(is_lost, 0.0, middle), np.where(is_lost, np.inf, radius))


class RoundedArray(BallArray):
    """Numbers without a radius, rounded after each operation: about what a float format of as many bits makes of them.

    Arb rounds towards 0, so that long sums are off by more; nothing is proved by these numbers.
    """

    @classmethod
    def held(cls, numbers: AnyArray) -> AnyArray:
        """Round the results of an operation to numbers."""
        return _each(arb.mid, numbers) if numbers.dtype == object else numbers


def of_bounds(bounds: Bounds, kind: type[BallArray] = BallArray) -> BallArray:
    """Convert bounds of floats that are exact, or not known."""
    return bounds if isinstance(bounds, BallArray) else kind(bounds.middle, bounds.radius)


def of_constant(atom: Expr, kind: type[BallArray]) -> BallArray:
    """Give a number, or an infinity, as an array of one ball."""
    found = np.empty(1, dtype=object)
    found[0] = compile_ball(atom)({})
    return kind(kind.held(found), np.zeros(1))


def evaluated(expression: Expr, environment: Mapping[sympy.Symbol, Bounds]) -> Bounds:
    """Evaluate an expression of elements on arrays of either kind.

    Raises:
        NoRuleError: It has a function without a rule.
    """
    operands, kind = [*environment.values()], None
    for one in operands:
        kind = type(one) if isinstance(one, BallArray) else kind
    if kind is None:
        return compile_bounds(expression)(environment)
    found = _compiled(expression)({name: _as_balls(one.middle) for name, one in environment.items()})
    return _known(kind, np.asarray(found, dtype=object), *operands)


def _known(kind: type[BallArray], found: Balls, *operands: Bounds) -> BallArray:
    """Make an array of results, unknown where an operand is, or where nothing finite comes of finite operands."""
    is_known = _mask(arb.is_finite, found)
    for one in operands:
        if not is_known.all() and (is_infinite := of_bounds(one).is_infinite).any():
            is_infinite = is_infinite & _mask(lambda a: abs(a) == arb.pos_inf(), found)
            is_known, found = is_known | is_infinite, np.where(is_infinite, _each(_infinity, found), found)
    for one in operands:
        is_known = is_known & one.is_known
    return kind(np.broadcast_to(kind.held(found), is_known.shape), np.where(is_known, 0.0, np.inf))


def _infinity(ball: Ball) -> Ball:
    return arb.pos_inf() if ball > 0 else arb.neg_inf()


def _radius(ball: Ball) -> float:
    return 0.0 if (radius := ball.rad()) == 0 else float(radius) * (1 + 2.0**-50) + 2.0**-1070


def _as_balls(numbers: AnyArray) -> Balls:
    return cast(Balls, numbers) if numbers.dtype == object else _each(arb, numbers)


def _each(function: Callable[..., object], *arrays: AnyArray) -> Balls:
    """Apply a function to each element of arrays that broadcast."""
    apply = np.frompyfunc(function, len(arrays), 1)
    if max((one.size for one in arrays), default=0) <= AT_ONCE:
        return np.asarray(apply(*arrays), dtype=object)
    wide = np.broadcast_arrays(*arrays)
    flat, found = [one.ravel() for one in wide], np.empty(wide[0].size, dtype=object)
    for first in range(0, found.size, AT_ONCE):
        require_time()
        part = slice(first, first + AT_ONCE)
        found[part] = apply(*(one[part] for one in flat))
    return found.reshape(wide[0].shape)


def _mask(function: Callable[[Ball], object], balls: AnyArray) -> Mask:
    return _each(function, balls).astype(bool) if balls.dtype == object else np.ones(balls.shape, dtype=bool)


# -- expressions


def _branch(condition: Closure[Balls], first: Closure[Balls], second: Closure[Balls]) -> Closure[Balls]:
    def taken(truth: Ball, holds: Ball, fails: Ball) -> Ball:
        return holds if truth == 1 else fails if truth == 0 else holds.union(fails)

    return lambda env: _each(taken, *map(np.asarray, (condition(env), first(env), second(env))))


_ARITHMETIC = Arithmetic[Balls](
    heads={head: partial(_each, function) for head, function in HEADS.items()},
    add=operator.add,
    multiply=operator.mul,
    divide=operator.truediv,
    negate=operator.neg,
    root=partial(_each, arb.sqrt),
    whole_power=lambda base, exponent: _each(lambda a: integer_power(a, exponent), base),
    power=partial(_each, operator.pow),
    branch=_branch,
    neither=lambda env: _constant(sympy.nan),
    error=NoRuleError,
)


def _constant(expression: Expr) -> Balls:
    found = np.empty((), dtype=object)
    found[()] = compile_ball(expression)({})
    return found


@lru_cache(maxsize=1024)
def _compiled(expression: Expr) -> Closure[Balls]:
    if not expression.free_symbols:
        try:
            compile_ball(expression)
        except NotImplementedError:
            raise NoRuleError from None
        return lambda env: _constant(expression)
    if isinstance(expression, sympy.Symbol):
        return lambda env: env[expression]
    if isinstance(expression, Relational):
        compare, sides = COMPARISONS[expression.rel_op], [_compiled(side) for side in (expression.lhs, expression.rhs)]
        return lambda env: _each(compare, *(np.asarray(side(env)) for side in sides))
    return _ARITHMETIC.compile(expression, _compiled)


# -- arithmetic


def _of_two(function: Callable[[Balls, Balls], Balls]) -> Callable[[BallArray, Bounds], BallArray]:
    def apply(a: BallArray, b: Bounds) -> BallArray:
        require_time()
        return _known(type(a), function(a.balls, _as_balls(b.middle)), a, b)

    return apply


add.register(BallArray)(_of_two(operator.add))
multiply.register(BallArray)(_of_two(operator.mul))
larger.register(BallArray)(_of_two(partial(_each, arb.max)))
smaller.register(BallArray)(_of_two(partial(_each, arb.min)))


@extreme.register(BallArray)
def _extreme(a: BallArray, lost: Mask, axes: tuple[int, ...], *, largest: bool) -> BallArray:
    front = np.moveaxis(a.balls, axes, range(len(axes)))
    front = front.reshape(-1, *front.shape[len(axes) :])
    pick = np.frompyfunc(arb.max if largest else arb.min, 2, 1)
    return type(a)(cast(Array, pick.reduce(front, axis=0)), np.max(np.where(lost, 0.0, a.radius), axis=axes))


@product.register(BallArray)
def _product(a: BallArray, b: Bounds) -> BallArray:
    """Multiply matrices, of at least two dimensions each."""
    *front, rows, count = a.middle.shape
    batch = np.broadcast_shapes(tuple(front), b.middle.shape[:-2])
    columns = b.middle.shape[-1]
    found = np.empty((*batch, rows, columns), dtype=object)
    lefts, rights = (np.broadcast_to(m, (*batch, *m.shape[-2:])) for m in (a.middle, b.middle))
    step = max(1, 100 * AT_ONCE // max(1, count * columns))
    for at in np.ndindex(*batch):
        left, right = _nonzero(lefts[at], rights[at])
        factor = _matrix(right)
        for first in range(0, rows, step):
            require_time()
            part = left[first : first + step]
            entries = (_matrix(part) * factor).entries() if part.shape[1] else [arb(0)] * (len(part) * columns)
            found[at][first : first + step].ravel()[:] = entries
    lost = (np.isinf(a.radius).any(axis=-1, keepdims=True)) | (np.isinf(b.radius).any(axis=-2, keepdims=True))
    return _known(type(a), found, BallArray(np.zeros(1), np.where(lost, np.inf, 0.0)))


def _nonzero(left: AnyArray, right: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Leave out rows and columns of zeros, such as padding around an image, and their factors."""
    for one, axis in ((left, 0), (right, 1)):
        if one.size <= left.size + right.size - one.size:  # the smaller one
            kept = np.flatnonzero(np.asarray(one != 0, dtype=bool).any(axis=axis))
            if len(kept) < left.shape[1]:
                return left[:, kept], right[kept]
    return left, right


def _matrix(numbers: AnyArray) -> arb_mat:
    rows, columns = numbers.shape
    return arb_mat(rows, columns, numbers.ravel().tolist())


@inverse.register(BallArray)
def _inverse(a: BallArray) -> BallArray:
    return _of_matrices(a, lambda m, order: arb_mat(order, order, m).inv().entries(), a.middle.shape)


@determinant.register(BallArray)
def _determinant(a: BallArray) -> BallArray:
    return _of_matrices(a, lambda m, order: [balls.determinant(m, order)], a.middle.shape[:-2])


def _of_matrices(a: BallArray, function: Callable[[list[Ball], int], list[Ball]], shape: tuple[int, ...]) -> BallArray:
    order, found = a.middle.shape[-1], list[Ball]()
    size = math.prod(shape[len(a.middle.shape) - 2 :])
    for matrix in a.balls.reshape(-1, order * order):
        require_time()
        try:
            found += function(matrix.tolist(), order)
        except ZeroDivisionError:
            found += [arb.nan()] * size
    every = np.empty(len(found), dtype=object)
    every[:] = found
    are_known = a.is_known.all(axis=(-1, -2), keepdims=len(shape) == a.middle.ndim)
    return _known(type(a), every.reshape(shape), BallArray(np.zeros(1), np.where(are_known, 0.0, np.inf)))

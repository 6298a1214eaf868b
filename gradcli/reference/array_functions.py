"""SymPy's functions on whole arrays with bounds, element by element.

Source of the functions: NumPy, of which `bounds.LOSS` is assumed; and balls for those that it lacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sympy
from flint import arb

from gradcli.language.program import meaning
from gradcli.language.program.library_calls import NUMPY
from gradcli.reference import balls
from gradcli.reference.balls import Ball, precision
from gradcli.reference.bounds import (
    LOSS,
    Array,
    Bounds,
    NoRuleError,
    absolute,
    add,
    angle,
    as_bounds,
    bounded,
    compared,
    divide,
    error_function,
    exact,
    from_one,
    inverse,
    larger,
    monotone,
    multiply,
    of_angle,
    one_by_one,
    product,
    smaller,
    steps,
    truth,
    unknown,
)
from gradcli.reference.deadline import require_time

BITS = 128
"""Of the balls."""

MOST_BALLS = 4_096
"""Elements that are taken ball by ball, of not more at once."""

MOST_WORK = 2**20
"""Multiplications of the determinants that are taken of balls."""

_MORE = 1 + 2.0**-30
"""More than what some sums of radii lose."""


def ball_by_ball(function: Callable[..., Ball], operands: Sequence[Bounds]) -> Bounds:
    """A function of balls on every element.

    Raises:
        NoRuleError: There are too many.
    """
    shape = np.broadcast_shapes(*(operand.middle.shape for operand in operands))
    if math.prod(shape) > MOST_BALLS:
        raise NoRuleError
    with precision(BITS):
        columns = (_as_balls(operand.spread(shape)) for operand in operands)
        found = as_bounds([function(*each) for each in zip(*columns, strict=True)], operands[0].kind)
    return found.mapped(lambda x: x.reshape(shape))


def determinant(a: Bounds) -> Bounds:
    """The determinants of matrices.

    Raises:
        NoRuleError: That is too much work.
    """
    *front, order, _ = a.middle.shape
    if math.prod(front) * max(1, order) ** 3 > MOST_WORK:
        raise NoRuleError
    size = order * order
    with precision(BITS):
        every = list(_as_balls(a))
        found = [balls.determinant(every[n * size : (n + 1) * size], order) for n in range(math.prod(front))]
        return as_bounds(found, a.kind).mapped(lambda x: x.reshape(tuple(front)))


def symmetric_part(a: Bounds) -> Bounds:
    """The half of the sum of matrices and the transposed ones."""
    return multiply(add(a, a.mapped(transposed)), exact(0.5, a.kind))


def transposed(matrix: Array) -> Array:
    """Each matrix with its rows as columns."""
    return np.swapaxes(matrix, -1, -2)


def cholesky(a: Bounds) -> Bounds:
    """The lower triangular L with L @ L.T = S, the symmetric part of a matrix.

    For the inverse X of what floats give, X @ S @ X.T = 1 + E = (1 + F) @ (1 + F).T, and S = L @ L.T with L the inverse
    of X times 1 + F.  F is the lower half of E - F @ F.T, and no larger than E in the norm of Frobenius if that is less
    than 1/4.
    Source: J.-G. Sun, "Perturbation bounds for the Cholesky and QR factorizations", BIT 31 (1991), section 2.
    """
    half, kind = symmetric_part(a), a.kind
    try:
        found = np.tril(np.linalg.inv(np.linalg.cholesky(half.middle.astype(np.float64))))
    except np.linalg.LinAlgError:
        return unknown(a.middle)
    near = exact(found, kind)
    rest = from_one(product(product(near, half), near.mapped(transposed)))
    size = _MORE * np.sqrt(((abs(rest.middle) + rest.radius) ** 2).sum(axis=(-1, -2), keepdims=True))
    size = np.where(size < 0.25, size, np.inf)
    lower = multiply(rest, exact(lower_half(found.shape[-1]), kind))
    one = add(
        bounded(lower.middle, lower.radius + np.tril(size * size * np.ones_like(found))),
        exact(np.eye(len(found[0])), kind),
    )
    return product(inverse(near), one).mapped(np.tril)


def lower_half(order: int) -> Array:
    """The weights that leave of a symmetric matrix the triangular one whose sum with its transpose it is."""
    return np.tril(np.ones((order, order))) - np.eye(order) / 2


def _as_balls(a: Bounds) -> Iterator[Ball]:
    """The elements as balls; what two floats do not hold of a number is part of its radius."""
    first = a.middle.astype(np.float64)
    second = (a.middle - first).astype(np.float64)
    rest = a.radius + abs(a.middle - first - second)
    radius = np.where(rest > 0, np.nextafter(rest.astype(np.float64), np.inf), 0.0)
    for high, low, width in zip(*(x.ravel().tolist() for x in (first, second, radius)), strict=True):
        require_time()
        yield arb(high, width) + arb(low)


def erfc(a: Bounds) -> Bounds:
    """Python's, of numbers in float64 whatever they are."""
    numbers = a.middle.astype(np.float64)
    radius = np.asarray(a.radius + abs(a.middle - numbers), np.float64)
    found = _erfc(bounded(numbers, np.where(radius > 0, np.nextafter(radius, np.inf), 0.0)))
    return found.mapped(lambda x: x.astype(a.middle.dtype))


def _complement(numbers: Array) -> Array:
    return one_by_one(math.erfc, numbers)


_erfc = monotone(_complement, LOSS * 2**11)


_MONOTONE = "exp log asin acos atan sinh tanh asinh acosh atanh".split()

_SENSES: Mapping[Any, Sequence[int]] = {
    **{"==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)},
    **{meaning.eq: (0,), meaning.ne: (-1, 1), meaning.lt: (-1,), meaning.le: (-1, 0), meaning.gt: (1,)},
    meaning.ge: (0, 1),
}

_FUNCTIONS: Mapping[Any, Callable[..., Bounds]] = {
    **{getattr(sympy, name): monotone(getattr(np, NUMPY[name])) for name in _MONOTONE},
    **{getattr(meaning, name): steps(getattr(np, name)) for name in ("sign", "floor", "ceil", "trunc", "round")},
    sympy.sin: of_angle(np.sin),
    sympy.cos: of_angle(np.cos),
    sympy.tan: lambda a: divide(of_angle(np.sin)(a), of_angle(np.cos)(a)),
    sympy.atan2: angle,
    sympy.cosh: lambda a: monotone(np.cosh)(absolute(a)),  # which rises by more than it falls
    sympy.erf: monotone(error_function, LOSS * 2**11),
    sympy.erfc: erfc,
    sympy.Abs: absolute,
    meaning.abs: absolute,
    sympy.sign: steps(np.sign),
    meaning.maximum: larger,
    meaning.minimum: smaller,
    meaning.detach: lambda a: a,
}
"""The functions that meanings and their derivatives are made of, with rules for arrays."""


def applied(function: Any, head: Callable[..., Any], values: Sequence[Any]) -> Bounds:
    """A function of arrays, or a comparison; `head` is that of balls, which is taken of each element if need be.

    Raises:
        NoRuleError: It is of balls, and there are too many elements.
    """
    kind = next(value.kind for value in values if isinstance(value, Bounds))
    operands = [as_bounds(value, kind) for value in values]
    if function in _SENSES:
        return truth(*compared(operands[0], operands[1], _SENSES[function]))
    rule = _FUNCTIONS.get(function)
    return ball_by_ball(head, operands) if rule is None else rule(*operands)

"""Functions of whole arrays with bounds that NumPy lacks: ball by ball, up to a number of elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import sympy
from flint import arb

from gradcli.reference import balls
from gradcli.reference.balls import HEADS, Ball, precision
from gradcli.reference.bounds import (
    LOSS,
    Array,
    Bounds,
    bounded,
    divide,
    exact,
    monotone,
    multiply,
    of_angle,
    one_by_one,
    unit,
    unknown,
)
from gradcli.reference.deadline import require_time

BITS = 128
"""Of the balls."""

MOST_BALLS = 4_096
"""Elements that are taken ball by ball; of more at once, nothing is known."""

MOST_WORK = 2**20
"""Multiplications of the determinants that are taken of balls."""

LARGEST_BESSEL = 714.0
"""From here on, modified Bessel functions are beyond float64, and take long."""

_LEAST = 2.0**-1060
"""More than what an underflow loses."""

Function = Callable[..., Bounds]


def ball_by_ball(function: Callable[..., Ball]) -> Function:
    """A function of balls on every element."""

    def bounds(*operands: Bounds) -> Bounds:
        shape = np.broadcast_shapes(*(operand.middle.shape for operand in operands))
        kind = np.result_type(*(operand.middle for operand in operands)).type
        if math.prod(shape) > MOST_BALLS:
            return unknown(np.zeros(shape, kind))
        with precision(BITS):
            columns = (_as_balls(operand.spread(shape)) for operand in operands)
            return _as_bounds([function(*each) for each in zip(*columns, strict=True)], shape, kind)

    return bounds


def determinant(a: Bounds) -> Bounds | None:
    """The determinants of matrices; None if that is too much work."""
    *front, order, _ = a.middle.shape
    if math.prod(front) * max(1, order) ** 3 > MOST_WORK:
        return None
    size = order * order
    with precision(BITS):
        every = list(_as_balls(a))
        found = [balls.determinant(every[n * size : (n + 1) * size], order) for n in range(math.prod(front))]
        return _as_bounds(found, tuple(front), a.middle.dtype.type)


def _as_balls(a: Bounds) -> Iterator[Ball]:
    """The elements as balls; what two floats do not hold of a number is part of its radius."""
    first = a.middle.astype(np.float64)
    second = (a.middle - first).astype(np.float64)
    rest = a.radius + abs(a.middle - first - second)
    radius = np.where(rest > 0, np.nextafter(rest.astype(np.float64), np.inf), 0.0)
    for high, low, width in zip(*(x.ravel().tolist() for x in (first, second, radius)), strict=True):
        require_time()
        yield arb(high, width) + arb(low)


def _as_bounds(found: Sequence[Ball], shape: tuple[int, ...], kind: type[np.floating[Any]]) -> Bounds:
    middles, radii = np.zeros(len(found), kind), np.full(len(found), np.inf, kind)
    for n, ball in enumerate(found):
        if balls.exists(ball):
            high = float(ball.mid())
            low = 0.0 if kind is np.float64 or not math.isfinite(high) else float((ball - arb(high)).mid())
            rest = abs(ball - arb(high) - arb(low)) if math.isfinite(high) else ball
            middles[n] = kind(high) + kind(low)
            radii[n] = 0.0 if rest == 0 else float(rest.upper()) + _LEAST
            radii[n] += 0.0 if low == 0 else unit(middles) * abs(middles[n])
    return bounded(middles.reshape(shape), radii.reshape(shape))


def sinc(a: Bounds) -> Bounds:
    """The sine of pi*x over that; between 1 and 1 - (pi*x)**2/6 where x may be 0."""
    with precision(BITS):
        angle = multiply(a, _as_bounds([arb.pi()], (), a.middle.dtype.type))
    far = divide(of_angle(np.sin)(angle), angle)
    size = abs(a.middle) + a.radius
    near = bounded(np.ones_like(a.middle), 2 * size * size)
    return near.where(size < 2.0**-40, far)


def bessel(order: Bounds, a: Bounds) -> Bounds:
    """The modified Bessel functions, where they are no larger than numbers are and the bounds are not wide."""
    is_near = (abs(a.middle) < LARGEST_BESSEL) & (a.radius < 2.0**-20)
    found = ball_by_ball(HEADS[sympy.besseli])(order, a.where(is_near, exact(0.0, a.middle.dtype.type)))
    return found.where(is_near, unknown(found.middle))


def erfc(a: Bounds) -> Bounds:
    """Python's, of numbers in float64 whatever they are."""
    numbers = a.middle.astype(np.float64)
    radius = np.asarray(a.radius + abs(a.middle - numbers), np.float64)
    found = _erfc(bounded(numbers, np.where(radius > 0, np.nextafter(radius, np.inf), 0.0)))
    return found.mapped(lambda x: x.astype(a.middle.dtype))


def _complement(numbers: Array) -> Array:
    return one_by_one(math.erfc, numbers)


_erfc = monotone(_complement, LOSS * 2**11)

"""Functions of whole arrays with bounds that NumPy lacks: the gamma functions by their series, others ball by ball.

For x > 0 what a series of Stirling's leaves out, and each derivative of that, is less than its next term; smaller x are
moved up first, by gamma(x + 1) = x*gamma(x).
Sources: DLMF 5.11.1, 5.15.8, 5.5.2 and 5.15.5; H. Alzer, "On some inequalities for the gamma and psi functions",
Mathematics of Computation 66, 1997, theorem 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import arb, fmpq

from gradcli.language.program import meaning
from gradcli.reference import balls
from gradcli.reference.balls import HEADS, Ball, precision
from gradcli.reference.bounds import (
    LOSS,
    Array,
    Bounds,
    Mask,
    add,
    bounded,
    divide,
    exact,
    monotone,
    multiply,
    negative,
    of_angle,
    one_by_one,
    unit,
    unknown,
    whole_power,
)
from gradcli.reference.deadline import require_time

BITS = 128
"""Of the balls."""

MOST_BALLS = 4_096
"""Elements that are taken ball by ball; of more at once, nothing is known."""

MOST_WORK = 2**20
"""Multiplications of the determinants that are taken of balls."""

MOST_ORDER = 8
"""Of the polygamma functions that are taken by their series."""

LARGEST_BESSEL = 714.0
"""From here on, modified Bessel functions are beyond float64, and take long."""

FAR = 12
"""From here on, so many terms of a series are enough for all digits."""

_LEAST = 2.0**-1060
"""More than what an underflow loses."""

Function = Callable[..., Bounds]


# -- ball by ball


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


def _unless_positive(near: Callable[[Bounds], Bounds], head: Callable[[Ball], Ball]) -> Callable[[Bounds], Bounds]:
    """A function by its series where what it is of is certainly above 0, and ball by ball elsewhere."""
    slow = ball_by_ball(head)

    def bounds(a: Bounds) -> Bounds:
        is_above = a.low > 0
        found = near(a.where(is_above, exact(1.0, a.middle.dtype.type)))
        if is_above.all():
            return found
        others = slow(a.mapped(lambda x: np.asarray(x)[~is_above]))
        middle, radius = np.array(found.middle), np.array(found.radius)
        middle[~is_above], radius[~is_above] = others.middle, others.radius
        return Bounds(middle, radius)

    return bounds


# -- the gamma functions


def polygamma(order: Bounds, a: Bounds) -> Bounds:
    """A derivative of digamma, or that itself, of a whole order that is one number."""
    n = int(order.middle.ravel()[0])
    if n > MOST_ORDER:
        return ball_by_ball(HEADS[meaning.polygamma])(order, a)
    return _unless_positive(lambda x: _polygamma(n, x), lambda x: HEADS[meaning.polygamma](arb(n), x))(a)


def lgamma(a: Bounds) -> Bounds:
    """The logarithm of |gamma(x)|."""
    return _unless_positive(_log_gamma, HEADS[meaning.lgamma])(a)


def _log_gamma(x: Bounds) -> Bounds:
    y, is_moved = _moved(x)
    log = monotone(np.log)
    below = x
    for i in range(1, FAR):
        below = multiply(below, add(x, exact(float(i))))
    one = exact(1.0, x.middle.dtype.type)
    half = add(y, exact(-0.5))
    found = add(add(multiply(half, log(y)), negative(y)), _constant(lambda: (2 * arb.pi()).log() / 2, x))
    coefficients = [Fraction(_bernoulli(2 * k), 2 * k * (2 * k - 1)) for k in range(1, FAR + 2)]
    found = add(found, _series(y, coefficients, 1))
    return add(found, negative(log(below.where(is_moved, one)))).where(is_moved, found)


def _polygamma(n: int, x: Bounds) -> Bounds:
    y, is_moved = _moved(x)
    over = divide(exact(1.0), y)
    first = negative(monotone(np.log)(y)) if n == 0 else multiply(_whole(n - 1), whole_power(over, n))
    found = add(first, multiply(multiply(_whole(n), exact(0.5)), whole_power(over, n + 1)))
    coefficients = [
        _bernoulli(2 * k) * math.factorial(2 * k + n - 1) / math.factorial(2 * k) for k in range(1, FAR + 2)
    ]
    found = add(found, _series(y, coefficients, n + 2))
    sums = exact(np.zeros_like(x.middle), x.middle.dtype.type)
    for i in range(FAR):
        sums = add(sums, whole_power(divide(exact(1.0), add(x, exact(float(i)))), n + 1))
    found = add(found, multiply(_whole(n), sums)).where(is_moved, found)
    return found if n % 2 else negative(found)


def _moved(x: Bounds) -> tuple[Bounds, Mask]:
    """Where a series is taken, and which elements are moved there."""
    is_moved = x.middle < FAR
    return add(x, exact(float(FAR))).where(is_moved, x), is_moved


def _series(y: Bounds, coefficients: Sequence[Fraction], power: int) -> Bounds:
    """The terms in y**-power, y**-(power + 2) and so on, the last coefficient as a bound of what is left out."""
    kind = y.middle.dtype.type
    over = divide(exact(1.0, kind), y)
    squared, (*kept, last) = multiply(over, over), coefficients
    found = _ratio(kept[-1], kind)
    for coefficient in reversed(kept[:-1]):
        found = add(multiply(found, squared), _ratio(coefficient, kind))
    found = multiply(found, whole_power(over, power))
    rest = float(abs(last)) * (abs(over.middle) + over.radius) ** (power + 2 * len(kept))
    return bounded(found.middle, found.radius + rest * (1 + 2.0**-40) + _LEAST)


def _whole(n: int) -> Bounds:
    return exact(float(math.factorial(n)))


def _ratio(value: Fraction, kind: type[np.floating[Any]]) -> Bounds:
    """A fraction to the precision of the numbers."""
    with precision(BITS):
        return _as_bounds([arb(fmpq(value.numerator, value.denominator))], (), kind)


def _bernoulli(n: int) -> Fraction:
    number = fmpq.bernoulli(n)
    return Fraction(int(number.p), int(number.q))


def _constant(value: Callable[[], Ball], like: Bounds) -> Bounds:
    with precision(BITS):
        return _as_bounds([value()], (), like.middle.dtype.type)


# -- others


def sinc(a: Bounds) -> Bounds:
    """The sine of pi*x over that; between 1 and 1 - (pi*x)**2/6 where x may be 0."""
    angle = multiply(a, _constant(arb.pi, a))
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

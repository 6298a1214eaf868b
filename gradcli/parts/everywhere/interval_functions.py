"""Functions of intervals, and SymPy expressions of them as closures: values and slopes of elementary operations.

A function that rises or falls has its ends at those of its operand.  One that turns has its least and largest values
there, or at its turning points: `turning` is told where these are.  Functions without a rule in floats are enclosed by
Arb's balls at the ends.
Source of the functions: NumPy and Python, of which `bounds.LOSS` is assumed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial, reduce

import numpy as np
import sympy
from flint import arb
from sympy import Expr

from gradcli.arrays import Array
from gradcli.language.ops import SIGNS, TABLE
from gradcli.language.program import sympy_functions
from gradcli.language.program.library_calls import NUMPY
from gradcli.parts.everywhere.intervals import (
    UNIT,
    Interval,
    absolute,
    add,
    chosen,
    closed,
    compared,
    divide,
    hull,
    larger,
    logarithm,
    meet,
    monotone,
    multiply,
    point,
    power,
    root,
    smaller,
    steps,
    subtract,
    unknown,
    whole_power,
    widened,
)
from gradcli.reference.balls import HEADS, precision
from gradcli.reference.bounds import LOSS, Mask, NoRuleError, one_by_one
from gradcli.reference.compiling import Arithmetic, folded
from gradcli.reference.deadline import require_time

BALL_BITS = 80
"""Precision of the balls at the ends."""

LARGEST_ANGLE = 2.0**20
"""Largest angle whose turning points are counted."""

LOSS_OF_ERF = LOSS * 2**11
"""Roundings that Python's error functions may lose, as the array bounds assume."""

Turn = tuple[float, float, float]
"""Turning point of a function: a float that is within some units in its last place, the value there, and its error."""


def turning(
    function: Callable[[Array], tuple[Array, Array]],
    turns: Sequence[Turn],
    a: Interval,
    losses: float = LOSS,
    *,
    has_origin: bool = False,
) -> Interval:
    """Apply a function that rises or falls between its turning points.

    Args:
        function: Gives values, and sizes: the error of a value is so many roundings of its size.
        turns: The turning points.
        a: The operand.
        losses: The roundings.
        has_origin: Whether it is exactly 0 at 0.
    """
    with np.errstate(all="ignore"):
        first, first_size = function(a.low)
        last, last_size = (first, first_size) if a.low is a.high else function(a.high)
    parts = ((a.low, first, first_size), (a.high, last, last_size))
    found = hull(*(_at_end(x, value, losses * UNIT * size, has_origin) for x, value, size in parts))
    low, high = found.low, found.high
    for place, value, error in turns:
        near = 2.0**-40 * (1 + abs(place))
        is_inside = (a.low <= place + near) & (a.high >= place - near)
        low = np.where(is_inside, np.minimum(low, value - error), low)
        high = np.where(is_inside, np.maximum(high, value + error), high)
    return Interval(low, high)


def _at_end(x: Array, value: Array, error: Array, has_origin: bool) -> Interval:
    """Enclose a value at an end, which may be off by an error."""
    found = widened(value - error, value + error, 4)
    return point(np.zeros(())).where(x == 0, found) if has_origin else found


def of_angle(a: Interval, *, is_cosine: bool) -> Interval:
    """Apply the sine or the cosine: 1 and -1 where a turning point may be inside."""
    function, shift = (np.cos, 0.5) if is_cosine else (np.sin, 0.0)
    first, last, near = a.low / np.pi + shift, a.high / np.pi + shift, 1e-13 * (1 + a.largest)

    def reaches(place: float) -> Mask:
        count = np.floor((last - place) / 2 + near) >= np.ceil((first - place) / 2 - near)
        return np.asarray(count | ~(a.largest < LARGEST_ANGLE))

    with np.errstate(all="ignore"):
        ends = [widened(value := function(x), value) for x in (a.low, a.high)]
        if not is_cosine:
            ends = [point(0.0).where(x == 0, end) for x, end in zip((a.low, a.high), ends, strict=True)]
        found = hull(*ends)
        low = np.where(reaches(1.5), -1.0, np.maximum(found.low, -1.0))
        return Interval(low, np.where(reaches(0.5), 1.0, np.minimum(found.high, 1.0)))


def tangent(a: Interval) -> Interval:
    """Apply the tangent, which rises between its poles."""
    near = 1e-13 * (1 + a.largest)
    first, last = np.floor(a.low / np.pi - 0.5 - near), np.floor(a.high / np.pi - 0.5 + near)
    found = widened(np.tan(a.low), np.tan(a.high))
    is_middle = first == -1
    low = np.where(is_middle & (a.low >= 0), np.maximum(found.low, 0.0), found.low)
    high = np.where(is_middle & (a.high <= 0), np.minimum(found.high, 0.0), found.high)
    return Interval(low, high).where((first == last) & (a.largest < LARGEST_ANGLE), unknown())


def on_domain(
    function: Callable[[Array], Array],
    least: float,
    most: float,
    a: Interval,
    *,
    through: tuple[float, float] | None = None,
) -> Interval:
    """Apply a function that rises on its domain alone, which is from one number to another."""
    is_outside = (a.high < least) | (a.low > most)
    found = monotone(function, Interval(np.clip(a.low, least, most), np.clip(a.high, least, most)), through=through)
    return unknown().where(is_outside, found)


def arc_cosine(a: Interval) -> Interval:
    """Apply the arc cosine, which falls."""
    return -on_domain(lambda x: -np.arccos(x), -1.0, 1.0, a)


def angle_of(y: Interval, x: Interval) -> Interval:
    """Compute the angle of points (x, y): at a corner, where the negative axis is not met."""
    corners = [np.arctan2(b, a) for b in (y.low, y.high) for a in (x.low, x.high)]
    found = widened(reduce(np.minimum, corners), reduce(np.maximum, corners))
    is_apart = (x.low > 0) | (y.low > 0) | (y.high < 0)
    return found.where(is_apart, Interval(np.asarray(-3.1415926535897936), np.asarray(3.1415926535897936)))


def sinc(a: Interval) -> Interval:
    """Compute sin(pi*x)/(pi*x), which falls from 0 to its first minimum, at 1.43; -0.2173 <= sinc <= 1."""
    size = absolute(a)
    scaled = multiply(pi(), size)
    far = meet(divide(of_angle(scaled, is_cosine=False), scaled), Interval(np.asarray(-0.2172336283), np.asarray(1.0)))
    ends = [sinc_at(end) for end in (size.high, size.low)]
    near = Interval(ends[0].low, ends[1].high)
    return near.where(size.high < 1.43, far)


def sinc_at(numbers: Array) -> Interval:
    """Compute sinc at numbers, by its series near 0."""
    x = multiply(pi(), point(numbers))
    square = whole_power(x, 2)
    series = subtract(point(1.0), divide(square, point(6.0)))
    near = hull(series, add(series, divide(whole_power(square, 2), point(120.0))))
    with np.errstate(all="ignore"):
        return near.where(abs(numbers) < 1e-4, divide(of_angle(x, is_cosine=False), x))


def pi() -> Interval:
    """Enclose pi."""
    return Interval(np.asarray(math.pi), np.asarray(np.nextafter(math.pi, 4.0)))


# -- by balls at the ends


def at_ends(function: Callable[..., arb], *ends: Array) -> Interval:
    """Apply a function of balls at numbers; unknown where it gives nothing."""
    shape = np.broadcast_shapes(*(end.shape for end in ends))
    flat, places = np.unique([np.broadcast_to(end, shape).ravel() for end in ends], axis=1, return_inverse=True)
    low, high = np.full(flat.shape[1], -np.inf), np.full(flat.shape[1], np.inf)
    with precision(BALL_BITS):
        for n, numbers in enumerate(flat.T.tolist()):
            if n % 256 == 0:
                require_time()
            if all(math.isfinite(one) for one in numbers):
                ball = function(*map(arb, numbers))
                if ball.is_finite():
                    low[n], high[n] = float(ball.mid() - ball.rad()), float(ball.mid() + ball.rad())
    return widened(low[places].reshape(shape), high[places].reshape(shape), 2)


def rising(function: Callable[..., arb], a: Interval, *, falls: bool = False) -> Interval:
    """Apply a function of balls that only rises, or only falls."""
    first, last = at_ends(function, a.low), at_ends(function, a.high)
    return Interval(last.low, first.high) if falls else Interval(first.low, last.high)


def on_positive(function: Callable[[Interval], Interval], a: Interval) -> Interval:
    """Apply a function that has a rule for positive numbers alone."""
    is_inside = a.low > 0
    found = function(Interval(np.where(is_inside, a.low, 1.0), np.where(is_inside, a.high, 1.0)))
    return found.where(is_inside, unknown())


def log_gamma(a: Interval) -> Interval:
    """Apply log(gamma(x)), which falls up to 1.4616 and rises then."""
    function = partial(at_ends, HEADS[sympy_functions.lgamma])

    def inside(x: Interval) -> Interval:
        found = hull(function(x.low), function(x.high))
        turns = (x.low <= 1.461632144968363) & (x.high >= 1.461632144968362)
        return Interval(np.where(turns, np.minimum(found.low, -0.12148629053584962), found.low), found.high)

    return on_positive(inside, a)


def polygamma(order: Interval, a: Interval) -> Interval:
    """Apply a derivative of log(gamma(x)): from the second on it is of one sign, and goes to 0."""
    n = int(order.low)
    head = HEADS[sympy_functions.polygamma]
    return on_positive(partial(rising, lambda x: head(arb(n), x), falls=n % 2 == 1), a)


def bessel(order: Interval, a: Interval) -> Interval:
    """Apply a modified Bessel function of a whole order, even or odd as the order is; it rises on positive numbers."""
    n = abs(int(order.low))
    function = partial(at_ends, lambda x: HEADS[sympy.besseli](arb(n), x))
    is_near = a.largest < 700.0
    x = a.where(is_near, point(0.0))
    if n % 2:
        return Interval(function(x.low).low, function(x.high).high).where(is_near, unknown())
    least = function(x.least).low
    return Interval(least, function(x.largest).high).where(is_near, unknown())


def hurwitz_zeta(x: Interval, q: Interval) -> Interval:
    """Apply the Hurwitz zeta function, which falls by each of its operands."""
    head = HEADS[sympy_functions.DESCRIBED["zeta"]]
    is_inside = (x.low > 1) & (q.low > 0)
    x, q = x.where(is_inside, point(2.0)), q.where(is_inside, point(1.0))

    def ends(first: Array, second: Array) -> Interval:
        return at_ends(lambda a, b: head(a, b) if a > 1 and b > 0 else arb.nan(), first, second)

    low, high = ends(x.high, q.high).low, ends(x.low, q.low).high
    return Interval(np.maximum(low, 0.0), high).where(is_inside, unknown())


def incomplete_gamma(a: Interval, x: Interval) -> Interval:
    """Apply the upper incomplete gamma function, which rises by its first operand and falls by the second."""
    head = HEADS[sympy_functions.DESCRIBED["gammaincc"]]
    is_inside = (a.low > 0) & (x.low >= 0)
    a, x = a.where(is_inside, point(1.0)), x.where(is_inside, point(1.0))

    def ends(first: Array, second: Array) -> Interval:
        return at_ends(head, first, second)

    low, high = ends(a.low, x.high).low, ends(a.high, x.low).high
    return Interval(np.maximum(low, 0.0), np.minimum(high, 1.0)).where(is_inside, unknown())


def inverse_erf(a: Interval) -> Interval:
    """Apply the inverse error function on -1..1, where it rises."""
    is_inside = (a.low > -1) & (a.high < 1)
    found = rising(HEADS[sympy.erfinv], a.where(is_inside, point(0.0)))
    return found.where(is_inside, unknown())


# -- expressions

_RELATIONS = (sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge)

_RISING = "sinh asinh atan".split()

ORIGIN = (0.0, 0.0)
"""Point that odd functions pass through."""

_DESCRIBED = {"zeta": hurwitz_zeta, "gammaincc": incomplete_gamma}


def error_function(x: Array) -> Array:
    """Apply Python's error function to each number."""
    return one_by_one(math.erf, x)


def complementary(x: Array) -> Array:
    """Apply Python's complementary error function to each number."""
    return one_by_one(math.erfc, x)


_FUNCTIONS: Mapping[type, Callable[..., Interval]] = {
    **{getattr(sympy, name): partial(monotone, getattr(np, NUMPY[name]), through=ORIGIN) for name in _RISING},
    **{sympy_functions.DESCRIBED[name]: rule for name, rule in _DESCRIBED.items()},
    sympy.exp: partial(monotone, np.exp, least=0.0, through=(0.0, 1.0)),
    sympy.log: logarithm,
    sympy.sin: partial(of_angle, is_cosine=False),
    sympy.cos: partial(of_angle, is_cosine=True),
    sympy.tan: tangent,
    sympy.tanh: partial(monotone, np.tanh, least=-1.0, most=1.0, through=ORIGIN),
    sympy.cosh: lambda a: monotone(np.cosh, absolute(a), least=1.0),
    sympy.atan2: angle_of,
    sympy.asin: partial(on_domain, np.arcsin, -1.0, 1.0, through=ORIGIN),
    sympy.acos: arc_cosine,
    sympy.acosh: partial(on_domain, np.arccosh, 1.0, np.inf, through=(1.0, 0.0)),
    sympy.atanh: partial(on_domain, np.arctanh, -1.0, 1.0, through=ORIGIN),
    sympy.erf: partial(monotone, error_function, least=-1.0, most=1.0, losses=LOSS_OF_ERF, through=ORIGIN),
    sympy.erfc: partial(monotone, complementary, falls=True, least=0.0, most=2.0, losses=LOSS_OF_ERF),
    sympy.erfinv: inverse_erf,
    sympy.besseli: bessel,
    sympy_functions.lgamma: log_gamma,
    sympy_functions.polygamma: polygamma,
    sympy_functions.sinc: sinc,
    sympy.Abs: absolute,
    sympy_functions.abs: absolute,
    sympy.sign: partial(steps, np.sign),
    **{getattr(sympy_functions, n): partial(steps, getattr(np, n)) for n in "sign floor ceil trunc round".split()},
    **{one: partial(compared, sense=TABLE[SIGNS[one.rel_op]].sense) for one in _RELATIONS},
    **{getattr(sympy_functions, n): partial(compared, sense=TABLE[n].sense) for n in "eq ne lt le gt ge".split()},
    sympy_functions.maximum: larger,
    sympy_functions.minimum: smaller,
    sympy_functions.detach: lambda a: a,
}

Compiled = Callable[[Mapping[sympy.Symbol, Interval]], Interval]


@lru_cache(maxsize=4096)
def compile_interval(expression: Expr) -> Compiled:
    """Compile an expression of elements to a closure.

    Raises:
        NoRuleError: It has a function without a rule.
    """
    match expression:
        case sympy.Rational() | sympy.Float() | sympy.NumberSymbol():
            constant = enclosed(expression)
            return lambda env: constant
        case sympy.Symbol():
            return lambda env: env[expression]
        case sympy.logic.boolalg.BooleanTrue():
            return lambda env: point(1.0)
        case sympy.logic.boolalg.BooleanFalse():
            return lambda env: point(0.0)
        case sympy.And():
            return folded([compile_interval(a) for a in expression.args], lambda a, b: chosen(a, b, point(0.0)))
        case sympy.Or():
            return folded([compile_interval(a) for a in expression.args], lambda a, b: chosen(a, point(1.0), b))
        case sympy.core.numbers.Infinity():
            return lambda env: closed(np.asarray(np.inf), np.asarray(np.inf))
        case sympy.core.numbers.NegativeInfinity():
            return lambda env: closed(np.asarray(-np.inf), np.asarray(-np.inf))
        case sympy.core.numbers.NaN() | sympy.core.numbers.ComplexInfinity() | sympy_functions.unknown():
            return lambda env: unknown()
    return _ARITHMETIC.compile(expression, compile_interval)


def enclosed(number: Expr) -> Interval:
    """Enclose a constant: by one float where it is one."""
    with precision(64):
        nearest = float(number)
    is_float = not number.is_NumberSymbol and sympy.Rational(number) == sympy.Rational(nearest)
    return point(nearest) if is_float else widened(np.asarray(nearest), np.asarray(nearest), 2)


def _branch(condition: Compiled, value: Compiled, others: Compiled) -> Compiled:
    return lambda env: chosen(condition(env), value(env), others(env))


_ARITHMETIC = Arithmetic[Interval](
    heads=_FUNCTIONS,
    add=add,
    multiply=multiply,
    divide=divide,
    negate=operator.neg,
    root=root,
    whole_power=whole_power,
    power=power,
    branch=_branch,
    neither=lambda env: unknown(),
    error=NoRuleError,
)

"""Operations with a rule as wholes: values, slopes and second slopes of activations, and of the distance from 0.

By its definition x/(1 + exp(-x)), the slope of SiLU on a wide interval is ten times too wide.  As a whole it is a
function of one number with few turning points, which are zeros of its next derivative: those stand here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from gradcli.arrays import Array
from gradcli.language.program.wengert import Call
from gradcli.parts.everywhere.interval_functions import LOSS_OF_ERF, complementary, turning
from gradcli.parts.everywhere.intervals import (
    UNIT,
    Interval,
    add,
    closed,
    divide,
    meet,
    monotone,
    multiply,
    point,
    subtract,
    whole_power,
    widened,
)
from gradcli.reference.bounds import LOSS, Mask

ROOT_OF_2PI = math.sqrt(2 * math.pi)

FAR = 2000.0
"""Argument from which on exp(-x) is 0 in floats, in place of infinity."""


@dataclass(frozen=True)
class Whole:
    """Rules of an operation.

    Attributes:
        value: The value.
        slopes: The slope by each operand; where a kink may be, all those that are near it.
        second: The second slopes, by pairs of operands, the first not after the second.
        has_kink: Tells where it may have a kink; None if it has none.
    """

    value: Callable[..., Interval]
    slopes: tuple[Callable[..., Interval], ...]
    second: Mapping[tuple[int, int], Callable[..., Interval]]
    has_kink: Callable[..., Mask] | None = None


ValuesAndSizes = Callable[[Array], tuple[Array, Array]]
"""Function in floats: values, and sizes that their errors are relative to."""


def _turning(
    function: ValuesAndSizes, *places: float, losses: float = 4 * LOSS, has_origin: bool = False
) -> Callable[[Interval], Interval]:
    """Make a rule of a function that turns at these places; the value there hardly depends on their last digits."""
    turns = []
    for place in places:
        value, size = (float(one) for one in function(np.asarray(place)))
        turns.append((place, value, 2 * losses * UNIT * size + 2.0**-45 * abs(value)))
    return partial(turning, function, tuple(turns), losses=losses, has_origin=has_origin)


# -- the sigmoid, and what is made of it


def _sigmoid_at(x: Array) -> Array:
    small = np.exp(-abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def _sigmoid_slope_at(x: Array) -> tuple[Array, Array]:
    small = np.exp(-abs(x))
    value = small / ((1 + small) * (1 + small))
    return value, value


def _sigmoid_second_at(x: Array) -> tuple[Array, Array]:
    slope, _ = _sigmoid_slope_at(x)
    return -slope * np.tanh(x / 2), slope


def _softplus_at(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-abs(x))))


def _silu_at(x: Array) -> tuple[Array, Array]:
    value = np.clip(x, -FAR, None) * _sigmoid_at(x)
    return value, abs(value)


def _silu_slope_at(x: Array) -> tuple[Array, Array]:
    s, tail = _sigmoid_at(x), np.clip(x, -FAR, FAR) * _sigmoid_slope_at(x)[0]
    return s + tail, s + abs(tail)


def _silu_second_at(x: Array) -> tuple[Array, Array]:
    slope, x = _sigmoid_slope_at(x)[0], np.clip(x, -FAR, FAR)
    return slope * (2 - x * np.tanh(x / 2)), slope * (2 + abs(x))


sigmoid = partial(monotone, _sigmoid_at, least=0.0, most=1.0, losses=2 * LOSS, through=(0.0, 0.5))

softplus = partial(monotone, _softplus_at, least=0.0, losses=3 * LOSS)

_bell = _turning(_sigmoid_slope_at, 0.0)


def sigmoid_slope(a: Interval) -> Interval:
    """Compute s*(1 - s), which is positive."""
    found = _bell(a)
    return Interval(np.maximum(found.low, 0.0), found.high)


def _tanh_slope(a: Interval) -> Interval:
    found = sigmoid_slope(multiply(point(2.0), a))
    return Interval(4 * found.low, 4 * found.high)


_sigmoid_second = _turning(_sigmoid_second_at, -1.3169578969248167, 1.3169578969248167)


def _tanh_second(a: Interval) -> Interval:
    found = _sigmoid_second(multiply(point(2.0), a))
    return Interval(8 * found.low, 8 * found.high)


# -- GELU


def _density_at(x: Array) -> Array:
    return np.asarray(np.exp(-x * x / 2) / ROOT_OF_2PI)


def _normal_at(x: Array) -> Array:
    return complementary(-x / math.sqrt(2)) / 2


def _magnified(x: Array) -> Array:
    """Return how much a rounding of x is magnified in the tails, next to the loss of the error function."""
    return np.asarray(1 + np.minimum(x * x, FAR * FAR) / 2**6)


def _gelu_at(x: Array) -> tuple[Array, Array]:
    value = np.clip(x, -FAR, None) * _normal_at(x)
    return value, abs(value) * _magnified(x)


def _gelu_slope_at(x: Array) -> tuple[Array, Array]:
    near = np.clip(x, -FAR, FAR)
    value, tail = _normal_at(x), near * _density_at(near)
    return value + tail, (value + abs(tail)) * _magnified(x)


def _gelu_second_at(x: Array) -> tuple[Array, Array]:
    near = np.clip(x, -FAR, FAR)
    density = _density_at(near)
    return density * (2 - near * near), density * (2 + near * near) * _magnified(x)


_of_gelu = partial(_turning, losses=LOSS_OF_ERF)

# -- two operands


def _distance(a: Interval, b: Interval) -> Interval:
    with np.errstate(all="ignore"):
        found = widened(np.hypot(a.least, b.least), np.hypot(a.largest, b.largest))
    is_zero = (a.least == 0) & (b.least == 0)
    return Interval(np.where(is_zero, 0.0, found.low), found.high)


def _cosine(a: Interval, b: Interval) -> Interval:
    """Compute a/hypot(a, b), which rises with a, and goes to 0 as |b| grows; -1 to 1 where both may be 0."""

    def cosine_at(x: Array, y: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(np.where(x == 0, 0.0, x / np.hypot(x, y)))

    low = cosine_at(a.low, np.where(a.low >= 0, b.largest, b.least))
    high = cosine_at(a.high, np.where(a.high >= 0, b.least, b.largest))
    found = meet(widened(low, high), Interval(np.asarray(-1.0), np.asarray(1.0)))
    near = Interval(np.where(a.low >= 0, 0.0, -1.0), np.where(a.high <= 0, 0.0, 1.0))
    found = meet(found, near)
    return near.where(a.has_zero & b.has_zero, found)


def _second_of_distance(a: Interval, b: Interval) -> Interval:
    """Compute b**2/hypot(a, b)**3: the square of a cosine over a distance."""
    return divide(whole_power(_cosine(b, a), 2), _distance(a, b))


def _mixed_of_distance(a: Interval, b: Interval) -> Interval:
    return -divide(multiply(_cosine(a, b), _cosine(b, a)), _distance(a, b))


def _log_of_sum(a: Interval, b: Interval) -> Interval:
    """Compute log(exp(a) + exp(b)), which rises with each: what is added to the larger one keeps its own digits."""

    def from_ends(x: Array, y: Array) -> Interval:
        larger = Interval(np.maximum(x, y), np.maximum(x, y))
        smaller = Interval(np.minimum(x, y), np.minimum(x, y))
        return add(larger, softplus(subtract(smaller, larger)))

    return closed(from_ends(a.low, b.low).low, from_ends(a.high, b.high).high)


def _bell_of_difference(a: Interval, b: Interval) -> Interval:
    return sigmoid_slope(subtract(a, b))


WHOLES: Mapping[str, Whole] = {
    "sigmoid": Whole(sigmoid, (sigmoid_slope,), {(0, 0): _sigmoid_second}),
    "softplus": Whole(softplus, (sigmoid,), {(0, 0): sigmoid_slope}),
    "logsigmoid": Whole(lambda a: -softplus(-a), (lambda a: sigmoid(-a),), {(0, 0): lambda a: -sigmoid_slope(a)}),
    "tanh": Whole(
        partial(monotone, np.tanh, least=-1.0, most=1.0, through=(0.0, 0.0)), (_tanh_slope,), {(0, 0): _tanh_second}
    ),
    "silu": Whole(
        _turning(_silu_at, -1.2784645427610738, has_origin=True),
        (_turning(_silu_slope_at, -2.3993572805154677, 2.3993572805154677),),
        {(0, 0): _turning(_silu_second_at, -3.4358409935351107, 0.0, 3.4358409935351107)},
    ),
    "gelu": Whole(
        _of_gelu(_gelu_at, -0.75179152469356446, has_origin=True),
        (_of_gelu(_gelu_slope_at, -math.sqrt(2), math.sqrt(2)),),
        {(0, 0): _of_gelu(_gelu_second_at, -2.0, 0.0, 2.0)},
    ),
    "hypot": Whole(
        _distance,
        (_cosine, lambda a, b: _cosine(b, a)),
        {(0, 0): _second_of_distance, (0, 1): _mixed_of_distance, (1, 1): lambda a, b: _second_of_distance(b, a)},
        lambda a, b: np.asarray(a.has_zero & b.has_zero),
    ),
    "logaddexp": Whole(
        _log_of_sum,
        (lambda a, b: sigmoid(subtract(a, b)), lambda a, b: sigmoid(subtract(b, a))),
        {
            (0, 0): _bell_of_difference,
            (0, 1): lambda a, b: -_bell_of_difference(a, b),
            (1, 1): _bell_of_difference,
        },
    ),
}
"""The rules, by the names of the operations."""


def whole_of(call: Call) -> Whole | None:
    """Return the rule of a call as a whole; None if it has none, or is of another kind, such as an approximation."""
    if call.op.name == "gelu" and call.constants.get("approximate", "none") != "none":
        return None
    return WHOLES.get(call.op.name)

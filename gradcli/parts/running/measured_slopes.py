"""Slopes of a function on either side of a point, each measured by two differences, whose distance is its error.

    slope = (4*(f(h) - f(0)) - (f(2*h) - f(0)))/(2*h)    error = 2*|slope - (f(h) - f(0))/h| + noise/|h|

A recording may miss what a function does, as of a root that is found by bisection: its value moves, and no line of it
does.  The function itself cannot, and so its slopes are measured: with one step and many numbers next to the point of
an answer (`function_slopes`), and of one number with several steps, to tell which of two gradients it has.

Source: C. J. F. Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", Advances in Engineering Software 4, 1982.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gradcli.errors import GradcliError
from gradcli.results import Array

STEPS = (0.1, 1.0, 10.0, 100.0)
"""Steps, in units of the cube root of the machine epsilon: a function may itself move by small steps."""

LONGEST_MEASURED_STEP = 0.02
"""Longest step."""

CLEAR = 0.25
"""Largest error of a slope that tells two slopes apart, relative to their distance."""

SHARP = 0.01
"""Error of a slope, relative to that distance, with which no other step is tried."""

NEAR = 0.02
"""Largest distance from a slope that is not seen in the error, relative to that of the two slopes."""

ROUNDINGS = 16
"""Roundings of its largest number that the sum of the numbers of a function is off by."""

CONSTANT = 0.1
"""Largest relative change of a difference, while the step doubles or shrinks, that tells a jump from a slope."""

SEED = 0


def random_direction(x: Array, generator: np.random.Generator, *, is_only: bool = False) -> Array:
    """Draw a direction in which each element moves by about its own size.

    Args:
        x: The elements; one that is 0 moves by about the largest, but by no more than 1.
        generator: The generator of random numbers.
        is_only: Whether all elements move to the right, as the only one of a function does.
    """
    sizes = np.abs(x.astype(np.float64))
    largest = sizes.max(initial=0.0, where=np.isfinite(sizes))
    sizes = np.where(sizes == 0, min(1.0, largest) or 1.0, sizes)
    signs = 1.0 if is_only else generator.choice((-1.0, 1.0), size=x.shape)
    return np.asarray(sizes * signs * generator.uniform(0.5, 1.5, size=x.shape))


@dataclass(frozen=True)
class OneSided:
    """Measured slopes of numbers, each on one side of a point.

    Attributes:
        slope: The extrapolated slope of each.
        error: The error of each slope.
    """

    slope: Array
    error: Array


def one_sided(once: Array, twice: Array, step: Array | float, noise: Array | float) -> OneSided:
    """Extrapolate the slopes on the side of a step.

    Args:
        once: The change of each number after the step.
        twice: The change after twice the step.
        step: The step, negative on the left; or that of each number.
        noise: The error of the changes.
    """
    with np.errstate(all="ignore"):
        slope = (4 * once - twice) / (2 * step)
        return OneSided(slope, 2 * np.abs(slope - once / step) + noise / np.abs(step))


def is_constant(once: Array, twice: Array) -> NDArray[np.bool_]:
    """Tell which changes stay the same while the step doubles, as that of a jump does."""
    return np.asarray(np.abs(twice - once) < CONSTANT * np.abs(once))


# -- one number, with several steps

Slope = Literal["first", "second", "other", "kink", "jump", "unclear"]
"""What a function has next to a point: one of two slopes on both sides, another one, two slopes, or a jump."""


@dataclass(frozen=True)
class SlopeOfNumber:
    """Slope of a function of one number at 0, compared with two slopes.

    Attributes:
        kind: What it is.
        slope: The number, if both sides have it; NaN else.
        ratio: The first of the two slopes, relative to this one.
    """

    kind: Slope
    slope: float = math.nan
    ratio: float = math.nan


def slope_next_to(
    value: Callable[[float], float], first: float, second: float, *, size: float, digits: float
) -> SlopeOfNumber:
    """Tell which of two slopes a function of one number has at 0, on both sides.

    Args:
        value: The function.
        first: A slope that it may have.
        second: Another one.
        size: The largest number that a value is rounded with.
        digits: The machine epsilon of the values.

    >>> slope_next_to(lambda t: 3*t + t**2, 3.0, 2.0, size=1.0, digits=2.0**-52).kind
    'first'
    >>> slope_next_to(abs, 1.0, 0.0, size=1.0, digits=2.0**-52).kind
    'kink'
    """
    gap, here, noise = abs(first - second), value(0.0), ROUNDINGS * digits * size
    if not (math.isfinite(gap) and gap > 0 and math.isfinite(here)):
        return SlopeOfNumber("unclear")
    jumps, rounded, best = 0, math.inf, OneSided(np.zeros(2), np.full(2, math.inf))
    for step in (factor * digits ** (1 / 3) for factor in STEPS):
        if step > LONGEST_MEASURED_STEP or best.error.max() <= SHARP * gap:
            break
        once, twice = (np.array([value(side * count * step) - here for side in (-1, 1)]) for count in (1, 2))
        found = one_sided(once, twice, np.array([-step, step]), noise)
        if found.error.max() < best.error.max():  # an error of NaN is not smaller
            best, rounded = found, noise / step
        room = 8 * (noise + step * max(abs(first), abs(second)))
        jumps += bool((is_constant(once, twice) & (np.abs(once) > room)).any())
    return _compared(best, first, second, is_jump=jumps > 1, rounded=rounded)


def _compared(found: OneSided, first: float, second: float, *, is_jump: bool, rounded: float) -> SlopeOfNumber:
    """Compare the slopes on both sides with each other, and with two slopes.

    Args:
        found: The slopes on both sides.
        first: A slope.
        second: Another one.
        is_jump: Whether the function seems to jump.
        rounded: The part of each error that is of rounding.
    """
    gap, slopes, errors = abs(first - second), found.slope, found.error
    if errors.max() > CLEAR * gap:
        return SlopeOfNumber("jump" if is_jump else "unclear")
    if abs(slopes[0] - slopes[1]) > errors.sum() + NEAR * gap:
        return SlopeOfNumber("kink")
    slope = float(slopes[errors.argmin()])
    is_first, is_second = ((np.abs(slopes - one) <= errors + NEAR * gap).all() for one in (first, second))
    kind: Slope = "first" if is_first else "second" if is_second else "other"
    if kind == "other" and errors.max() > max(CLEAR * abs(slope), 2 * rounded):
        kind = "unclear"  # of a change that ends within a step it is the mean
    return SlopeOfNumber(kind, slope, first / slope if slope else math.inf)


def slope_of_sum(
    values: Callable[[Mapping[str, Array]], Array],
    here: Mapping[str, Array],
    y: Array,
    v: Array,
    gradients: Sequence[Mapping[str, Array]],
    digits: float,
) -> SlopeOfNumber:
    """Tell which of two gradients a sum of the numbers of a function has, along a random direction.

    Args:
        values: Calls the function where the variables have other numbers.
        here: The numbers of the variables that move.
        y: The numbers of the function there.
        v: The weights of the sum.
        gradients: The two gradients, by variable.
        digits: The machine epsilon of what computes the function.
    """
    generator, v = np.random.default_rng(SEED), v.astype(np.float64)
    u = {name: random_direction(x, generator) for name, x in here.items()}

    has_failed = False

    def value(step: float) -> float:
        nonlocal has_failed
        try:
            if not has_failed:  # where it does not end, each call would take all of its time
                moved = values({name: np.asarray(x + step * u[name], x.dtype) for name, x in here.items()})
                return float((v * moved).sum())
        except GradcliError:
            has_failed = True
        return math.nan

    first, second = (float(sum((one[name] * u[name]).sum() for name in here)) for one in gradients)
    return slope_next_to(value, first, second, size=float(np.abs(v * y).sum()), digits=digits)

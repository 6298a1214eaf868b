"""Differences of a function along one direction: which of two slopes does it have next to a point?

A recording may miss what a function does, as of a root that is found by bisection: its value moves, and no line of it
does.  The function itself is called on both sides of the point, with several steps.  The slope on each side is
extrapolated from two differences, whose distance is its error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

STEPS = (0.1, 1.0, 10.0, 100.0)
"""Steps, in units of the cube root of the machine epsilon: a function may itself move by small steps."""

LONGEST = 0.02
"""Longest step."""

CLEAR = 0.25
"""Largest error of a slope that tells two slopes apart, relative to their distance."""

SHARP = 0.01
"""Error of a slope, relative to that distance, with which no other step is tried."""

NEAR = 0.02
"""Largest distance from a slope that is not seen in the error, relative to that of the two slopes."""

ROUNDINGS = 16
"""Roundings of its largest number that a value is off by."""

SAME = 0.1
"""Largest relative change of a difference, while the step doubles, that tells a jump from a slope."""

Slope = Literal["first", "second", "other", "kink", "jump", "unclear"]
"""What a function has next to a point: one of two slopes on both sides, another one, two slopes, or a jump."""


@dataclass(frozen=True)
class _Side:
    """Difference of a function on one side of a point.

    Attributes:
        change: Change of the value after one step.
        slope: The extrapolated slope.
        error: The error of the slope.
        is_jump: Whether the value changes by as much after two steps.
    """

    change: float
    slope: float
    error: float
    is_jump: bool


def slope_next_to(value: Callable[[float], float], first: float, second: float, *, size: float, digits: float) -> Slope:
    """Tell which of two slopes a function of one number has at 0, on both sides.

    Args:
        value: The function.
        first: A slope that it may have.
        second: Another one.
        size: The largest number that a value is rounded with.
        digits: The machine epsilon of the values.

    >>> slope_next_to(lambda t: 3*t + t**2, 3.0, 2.0, size=1.0, digits=2.0**-52)
    'first'
    >>> slope_next_to(abs, 1.0, 0.0, size=1.0, digits=2.0**-52)
    'kink'
    """
    gap, here, noise = abs(first - second), value(0.0), ROUNDINGS * digits * size
    if not (math.isfinite(gap) and gap > 0 and math.isfinite(here)):
        return "unclear"
    jumps, best = 0, (_Side(0.0, 0.0, math.inf, False),) * 2
    for step in (factor * digits ** (1 / 3) for factor in STEPS):
        if step > LONGEST or _error(best) <= SHARP * gap:
            break
        sides = _side(value, here, -step, noise), _side(value, here, step, noise)
        best = min(best, sides, key=_error)
        room = 8 * (noise + step * max(abs(first), abs(second)))
        jumps += any(one.is_jump and abs(one.change) > room for one in sides)
    if _error(best) > CLEAR * gap:
        return "jump" if jumps > 1 else "unclear"
    left, right = best
    if abs(left.slope - right.slope) > left.error + right.error + NEAR * gap:
        return "kink"
    if all(abs(one.slope - first) <= one.error + NEAR * gap for one in best):
        return "first"
    return "second" if all(abs(one.slope - second) <= one.error + NEAR * gap for one in best) else "other"


def _error(sides: Sequence[_Side]) -> float:
    return max(one.error for one in sides)


def _side(value: Callable[[float], float], here: float, step: float, noise: float) -> _Side:
    """Extrapolate the slope on the side of a step from the differences after it and after twice the step."""
    once, twice = (value(count * step) - here for count in (1, 2))
    near, slope = once / step, (4 * once - twice) / (2 * step)
    error = 2 * abs(slope - near) + noise / abs(step)
    return _Side(once, slope, error if math.isfinite(error) else math.inf, abs(twice - once) < SAME * abs(once))

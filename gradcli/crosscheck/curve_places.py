"""Name the places on a line where a function is singular, by the numbers on both sides of each.

Bounds list the places where there may be no derivative; the numbers on both sides of each say which kind it is:
midpoints of balls, or torch's where the places or the elements are many.  They are taken at distances that shrink by 4:
if their differences shrink too, there is a limit, and if they do not, the numbers grow without bound, as those of a
logarithm do, step by step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from flint import arb

from gradcli.crosscheck.compare import to_float
from gradcli.crosscheck.curves import Evaluate, PlottedFunction
from gradcli.crosscheck.limits import Limit
from gradcli.reference.bounds import Mask
from gradcli.reference.singular_places import MovingProgram, SingularRange, singular_cells
from gradcli.results import Array, Mark, MarkedRange, MarkKind

STEPS, FAR_STEPS, NEAREST = 20, 11, 16
"""Distances from a place on a side; how many of the largest are tried alone; the least one, in widths of the place."""

SHRUNK = 0.93
"""Ratio of two differences, one step after the other, from which on there is no limit: a logarithm has 1."""

MOST_ENCLOSED = 100
"""Most places whose sides are enclosed: of more, torch's numbers count."""

CONTINUOUS, BOUNDED = 0.6, 1.5
"""Ratios of the change of a quantity in a cell and in four times its width, up to which it has no jump, and up to which
it does not grow: 1/4 of a smooth one, 1 of a jump, 2 of the slope of a square root."""

BENT, BEND_STEPS = 1e-3, 9
"""Part of its size from which on a jump of the second derivative is seen; distances on a side where it is looked for:
nearer, differences of slopes are those of rounding."""

_BREAKS: Mapping[str, MarkKind] = {"infinite": "pole", "absent": "edge", "unknown": "undefined"}
"""Kinds of places by the limit of y on one side."""


def tendency(numbers: Array, distances: Array, width: float = 0.0) -> Limit:
    """Find the limit of numbers at distances that shrink by 4.

    Args:
        numbers: The numbers.
        distances: Their distances from the place.
        width: How far the place itself may be off.

    >>> d = 4.0 ** -np.arange(8)
    >>> [_middle(tendency(numbers, d)) for numbers in (3 + d, np.log(d), 1 / d)]
    [3.0, -inf, inf]
    """
    numbers = numbers[: max(4, np.count_nonzero(distances >= NEAREST * width))]
    last = numbers[-4:]
    if np.isnan(last).any():
        return Limit("absent")
    if np.isinf(last[-1]):
        return Limit("infinite", arb(last[-1]))
    numbers = numbers[np.isfinite(numbers)][-5:]
    changes = np.diff(numbers)
    noise = 2.0**-40 * abs(numbers).max()
    if len(changes) < 3 or (abs(changes) <= noise).any():
        return _finite(numbers[-1], noise)
    ratios = changes[1:] / changes[:-1]
    if (abs(ratios) >= SHRUNK).any():
        if (spread := abs(changes).max()) <= 2.0**-20 * abs(numbers).max():  # no change that is visible
            return _finite(numbers[-1], spread)
        is_endless = (ratios >= SHRUNK).all()
        return Limit("infinite", arb(np.copysign(np.inf, changes[-1]))) if is_endless else Limit("unknown")
    limits = numbers[2:] + changes[1:] * ratios / (1 - ratios)
    return _finite(limits[-1], abs(limits[-1] - limits[-2]) + noise + 2 / NEAREST * abs(changes[-1]))


def _limit(numbers: Array, distances: Array, width: float) -> Limit:
    """Find a limit from all distances; without a finite one, from the largest, where a tiny pole does not count."""
    near, far = (tendency(numbers[:count], distances[:count], width) for count in (STEPS, FAR_STEPS))
    return near if near.kind == "finite" or far.kind == "unknown" else far


def _finite(number: float, error: float) -> Limit:
    return Limit("finite", arb(_shortest(number, error), 4 * error + 1e-9 * abs(number)))


def _middle(limit: Limit) -> float:
    """Return the middle of a limit, which may be infinite; NaN of none."""
    return math.nan if limit.ball is None else to_float(limit.ball)


def _shortest(number: float, error: float) -> float:
    """Return the number with the fewest digits that is as near as the error allows."""
    if abs(number) <= error:
        return 0.0
    candidates = (float(f"{number:.{digits}e}") for digits in range(17))
    return next((one for one in candidates if abs(one - number) <= error), float(number))


def classify_places(
    subject: PlottedFunction, places: Sequence[SingularRange], low: float, high: float
) -> tuple[list[Mark], list[MarkedRange]]:
    """Mark each place for each element of y that is singular there; a place too wide for a mark is a crowded range.

    The numbers on both sides are midpoints of balls, or torch's where the places or the elements are many.
    """
    wide = max((high - low) * 2**-20, 64 * np.spacing(max(abs(low), abs(high))))
    crowded = [place for place in places if place.high - place.low > wide]
    narrow = [place for place in places if place not in crowded]
    count = math.prod(subject.moving.shapes.get(subject.moving.program.output, ()))
    spans = [MarkedRange("crowded", one.low, one.high, element) for one in crowded for element in range(count)]
    if not narrow:
        return [], spans
    middles = np.array([_shortest((one.low + one.high) / 2, (one.high - one.low) / 2) for one in narrow])
    beyond = (high - low) / 16
    rooms = np.minimum(np.diff([low - beyond, *middles, high + beyond]), beyond)
    widths = np.array([place.high - place.low for place in narrow])
    distances = np.stack([rooms[:-1], rooms[1:]])[..., None] * 4.0 ** -np.arange(1, STEPS + 1)
    around = middles[:, None] + np.array([-1, 1])[:, None, None] * distances
    evaluate = subject.truths if len(middles) <= MOST_ENCLOSED and subject.is_small else subject.evaluate
    there = subject.evaluate(middles)
    numbers = evaluate(around.ravel())[:2].reshape(2, *around.shape, count)
    marks = []
    for n, element in np.ndindex(len(middles), count):
        width, near = float(widths[n]), numbers[:, :, n, :, element]
        values, slopes = (
            [_limit(one, steps, width) for one, steps in zip(sides, distances[:, n], strict=True)] for sides in near
        )
        kind = _kind(values, slopes, there[:2, n, element], abs(np.nan_to_num(near[0])).max(), narrow[n].is_hole)
        bend = None
        if kind is None and subject.order > 1 and (bend := _bend(near[1], distances[:, n], width)):
            kind = "curvature"
        if kind is not None:
            value, slope = ((_middle(left), _middle(right)) for left, right in (values, slopes))
            marks.append(Mark(kind, float(middles[n]), element, value, slope, float(there[0, n, element]), bend))
    return marks, spans


def _bend(slopes: Array, distances: Array, width: float) -> tuple[float, float] | None:
    """Find the limits of the second derivative on both sides of a place, where they are seen to differ; else None.

    They are those of slopes of the derivative between two distances, one after the other.
    """
    steps = distances[:, : BEND_STEPS + 1] * np.array([[-1], [1]])
    quotients = np.diff(slopes[:, : BEND_STEPS + 1]) / np.diff(steps)
    limits = [tendency(one, at, width) for one, at in zip(quotients, abs(steps[:, :-1]), strict=True)]
    left, right = map(_middle, limits)
    is_known = all(limit.kind == "finite" for limit in limits) and not limits[0].meets(limits[1])
    return (left, right) if is_known and abs(left - right) > BENT * abs(quotients).max() else None


def _kind(
    values: Sequence[Limit], slopes: Sequence[Limit], there: Array, size: float, is_hole: bool
) -> MarkKind | None:
    """Name a place by the limits of y and of its derivative on both sides, and by torch's numbers there.

    `size` is that of y around, and `is_hole` says that an operation may have no value.
    """
    kinds, kinds_of_slopes = ({one.kind for one in sides} for sides in (values, slopes))
    if kinds == {"absent"}:
        return None
    for kind, named in _BREAKS.items():
        if kind in kinds:
            return named
    if not values[0].meets(values[1]):
        return "jump"
    if "infinite" in kinds_of_slopes:
        return "removable" if is_hole else "vertical"
    if kinds_of_slopes == {"finite"} and not slopes[0].meets(slopes[1]):
        return "kink"
    is_other = abs(there[0] - _middle(values[0])) > 1e-3 * size
    if not np.isfinite(there[0]) or is_other or (is_hole and np.isfinite(there[1])):
        return "removable"
    if not np.isfinite(there[1]) and kinds_of_slopes == {"finite"}:
        return "nan-trap"
    return None


class SingularCells(NamedTuple):
    """Cells of a grid that may hold a place.

    Attributes:
        middles: Their middles, of shape (N, 2).
        is_kink: Whether y is continuous there, and the gradient jumps and does not grow, of shape (N,).
    """

    middles: Array
    is_kink: Mask


def cells_with_places(region: MovingProgram, edges: Sequence[Array], evaluate: Evaluate) -> SingularCells:
    """List the cells of a grid where bounds allow a place, and torch's gradient or y jumps.

    Over a cell a smooth function changes a quarter as much as over a square of four times its width.

    Args:
        region: The function of two parameters.
        edges: The edges of the cells along each.
        evaluate: y and its derivatives by both parameters at points, of shape (3, N, 1), from parameters, (2, N).
    """
    low, high = singular_cells(region, edges)
    middle, half = (low + high) / 2, (high - low) / 2
    signs = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]).T[:, None, :]
    changes = []
    for factor in (1, 4):
        around = middle[:, :, None] + factor * half[:, :, None] * signs
        found = evaluate(around.reshape(2, -1)).reshape(3, -1, 4)
        changes.append(found.max(axis=2) - found.min(axis=2))
    small, large = changes
    rounding = 1e-9 * abs(found).max(axis=2)
    with np.errstate(invalid="ignore"):
        jumps = ~np.isfinite(small) | ~(small <= 0.4 * large) & (small > rounding)
        is_continuous = small[0] <= CONTINUOUS * large[0] + rounding[0]
        is_kink = is_continuous & (small[1:] <= BOUNDED * large[1:] + rounding[1:]).all(axis=0)
    chosen = jumps.any(axis=0)
    return SingularCells(middle[:, chosen].T, is_kink[chosen])

"""Draw curves of torch's numbers along a line, broken where bounds find that the function may be singular.

Bounds list the places where there may be no derivative; the numbers on both sides of each say which kind it is:
midpoints of balls, or torch's where the places or the elements are many.  They are taken at distances that shrink by 4:
if their differences shrink too, there is a limit, and if they do not, the numbers grow without bound, as those of a
logarithm do, step by step.  Points are added until each lies on the chord of its neighbours, as far as is seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from gradcli.crosscheck.point import way
from gradcli.reference.balls import precision
from gradcli.reference.bounds import Mask
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Undefined
from gradcli.reference.singular_places import MovingProgram, SingularRange, singular_cells
from gradcli.results import Array, Mark, MarkedRange, MarkKind, RangeKind

FIRST = 161
"""Points at the beginning, over the whole line."""

MOST_POINTS = 1_200
"""Most points of a curve."""

BEND = 1 / 500
"""Part of the window by which a piece of a curve may differ from its chord."""

STEPS = 11
"""Distances from a place on either side."""

SHRUNK = 0.93
"""Ratio of two differences, one step after the other, from which on there is no limit: a logarithm has 1."""

FEWEST = 2
"""Points next to each other without a number that are a range."""

SEEN = 250
"""Part of a window from which on an error is seen."""

FEW_TRUTHS, MOST_TRUTHS = 40, 400
"""Points at which the truth is enclosed: over the whole line, and where digits are lost."""

MOST_ENCLOSED, MOST_ELEMENTS = 24, 256
"""Places whose sides are enclosed, and elements of all lines of a function that is: of more, torch's numbers count."""

BITS = 256
"""Precision of the truth."""

Evaluate = Callable[[Array], Array]
"""y and its derivatives at values of the parameter, of shape (1 + order, N, elements)."""


Windows = Sequence[Sequence[tuple[float, float]]]
"""Ranges that are shown, by order and element."""


@dataclass(frozen=True)
class PlottedFunction:
    """A function on a line: the readings of it.

    Attributes:
        moving: The Program on the line.
        evaluate: Torch's y and derivatives at values of the parameter.
        is_fixed: Whether the Program is the function on the whole line, as it is not of one that branches.
    """

    moving: MovingProgram
    evaluate: Evaluate
    is_fixed: bool = True

    @property
    def is_small(self) -> bool:
        """Tell whether the truth is known all along the line, and takes a millisecond at a point, and no more."""
        return self.is_fixed and sum(math.prod(shape) for shape in self.moving.shapes.values()) <= MOST_ELEMENTS

    @property
    def elements(self) -> int:
        """The number of elements of y."""
        return math.prod(self.moving.shapes.get(self.moving.program.output, ()))

    def truths(self, parameter: Array) -> Array:
        """Enclose y and its derivative along the line, of shape (2, N, elements); NaN where they do not exist.

        Of a function that takes too much work they are torch's.
        """
        steps, found = way(self.moving.directions[0]), np.full((2, len(parameter), self.elements), np.nan)
        program, shapes, moved = self.moving.program, self.moving.shapes, self.moving.inputs_at(parameter)
        for n in range(len(parameter)):
            inputs = {**self.moving.start, **{name: array[n] for name, array in moved.items()}}
            try:
                run = Reference(program, shapes, inputs).plan(list(steps)).run(BITS)
            except OverBudgetError:
                return self.evaluate(parameter)[:2]
            with precision(BITS):
                for row in range(self.elements):
                    if isinstance(value := run.values.get(row), arb):
                        found[0, n, row] = _number(value)
                    total = arb(0)
                    for one, size in steps.items():
                        part = run.columns.get(one, {}).get(row, arb(0))
                        total += arb("nan") if isinstance(part, Undefined) else part * size
                    found[1, n, row] = _number(total)
        return found


def _number(ball: arb) -> float:
    """Return the middle of a ball; 0 for a ball about 0."""
    return 0.0 if ball.is_finite() and ball.contains(0) else float(ball.mid())


@dataclass(frozen=True)
class OneSidedLimit:
    """Tendency of a quantity towards a place from one side.

    Attributes:
        limit: The limit, infinite where it grows without bound, NaN where there is none.
        error: How far the limit may be off.
        is_absent: Whether there are no numbers.
    """

    limit: float
    error: float = 0.0
    is_absent: bool = False

    @property
    def exists(self) -> bool:
        """Tell whether there is a finite limit."""
        return bool(np.isfinite(self.limit))

    def meets(self, other: OneSidedLimit) -> bool:
        """Tell whether both limits are one number, as far as their errors tell."""
        size = abs(self.limit) + abs(other.limit)
        return abs(self.limit - other.limit) <= 4 * (self.error + other.error) + 1e-9 * size


def tendency(numbers: Array) -> OneSidedLimit:
    """Find the limit of numbers at distances that shrink by 4.

    >>> steps = 4.0 ** -np.arange(8)
    >>> [tendency(f(steps)).limit for f in (lambda d: 3 + d, np.log, lambda d: 1 / d)]
    [3.0, -inf, inf]
    """
    last = numbers[-4:]
    if np.isnan(last).any():
        return OneSidedLimit(np.nan, is_absent=True)
    if np.isinf(last[-1]):
        return OneSidedLimit(float(last[-1]))
    numbers = numbers[np.isfinite(numbers)][-5:]
    changes = np.diff(numbers)
    noise = 2.0**-40 * abs(numbers).max()
    if len(changes) < 2 or (abs(changes) <= noise).any():
        return OneSidedLimit(_shortest(numbers[-1], noise), float(noise))
    ratios = changes[1:] / changes[:-1]
    if (ratios >= SHRUNK).all():
        return OneSidedLimit(float(np.copysign(np.inf, changes[-1])))
    if (abs(ratios) >= SHRUNK).any():
        return OneSidedLimit(np.nan)
    limits = numbers[2:] + changes[1:] * ratios / (1 - ratios)
    error = float(abs(limits[-1] - limits[-2]) + noise)
    return OneSidedLimit(_shortest(limits[-1], error), error)


def _shortest(number: float, error: float) -> float:
    """Return the number with the fewest digits that is as near as the error allows."""
    if abs(number) <= error:
        return 0.0
    candidates = (float(f"{number:.{digits}e}") for digits in range(17))
    return next((one for one in candidates if abs(one - number) <= error), float(number))


def classify_places(
    subject: PlottedFunction, places: Sequence[SingularRange], low: float, high: float
) -> tuple[list[Mark], list[MarkedRange]]:
    """Say what each place is for each element of y: a mark, or nothing; ranges that hold many places are spans.

    The numbers on both sides are midpoints of balls, or torch's where the places or the elements are many.
    """
    crowded = [place for place in places if place.high - place.low > (high - low) * 2**-20]
    narrow = [place for place in places if place not in crowded]
    spans = [
        MarkedRange("crowded", one.low, one.high, element) for one in crowded for element in range(subject.elements)
    ]
    middles = np.array([_shortest((one.low + one.high) / 2, (one.high - one.low) / 2) for one in narrow])
    if not len(middles):
        return [], spans
    beyond = (high - low) / 16
    rooms = np.diff([low - beyond, *middles, high + beyond])
    widths = np.array([place.high - place.low for place in narrow])
    shrinking = 4.0 ** -np.arange(1, STEPS + 1)
    evaluate = subject.truths if len(middles) <= MOST_ENCLOSED and subject.is_small else subject.evaluate
    sides = []
    for sign, room in ((-1, rooms[:-1]), (1, rooms[1:])):
        distances = np.maximum(np.minimum(room, beyond)[:, None] * shrinking, 4 * widths[:, None])
        around = middles[:, None] + sign * distances
        found = evaluate(around.ravel())
        sides.append(found.reshape(len(found), *around.shape, -1))
    there = subject.evaluate(middles)
    marks = []
    for n, element in np.ndindex(len(middles), there.shape[-1]):
        values, slopes = (tuple(tendency(side[order, n, :, element]) for side in sides) for order in (0, 1))
        kind = _kind(values, slopes, there[:2, n, element])
        if kind is not None:
            limits = ((values[0].limit, values[1].limit), (slopes[0].limit, slopes[1].limit))
            marks.append(Mark(kind, float(middles[n]), element, *limits))
    return marks, spans


def _kind(values: tuple[OneSidedLimit, ...], slopes: tuple[OneSidedLimit, ...], there: Array) -> MarkKind | None:
    """Name a place by the limits of y and of its derivative on both sides, and by torch's numbers there."""
    left, right = values
    if left.is_absent and right.is_absent:
        return None
    if np.isinf(left.limit) or np.isinf(right.limit):
        return "pole"
    if left.is_absent or right.is_absent:
        return "edge"
    if not (left.exists and right.exists):
        return "undefined"
    if not left.meets(right):
        return "jump"
    if np.isinf(slopes[0].limit) or np.isinf(slopes[1].limit):
        return "vertical"
    if slopes[0].exists and slopes[1].exists and not slopes[0].meets(slopes[1]):
        return "kink"
    if not np.isfinite(there[0]):
        return "removable"
    if not np.isfinite(there[1]) and slopes[0].exists and slopes[1].exists:
        return "nan-trap"
    return None


def sample(evaluate: Evaluate, marks: Sequence[Mark], low: float, high: float) -> tuple[Array, Array]:
    """Take points along the line, dense where a curve bends, and on both sides of each break.

    Returns:
        The points, ascending, and the numbers there, of shape (orders, N, elements); NaN at a break of a curve.
    """
    reach = 2.0**-40 * (high - low)
    around = [place for mark in marks for place in (mark.place - reach, mark.place, mark.place + reach)]
    points = np.union1d(np.linspace(low, high, FIRST), [place for place in around if low <= place <= high])
    numbers = evaluate(points)
    for _ in range(8):
        bends = _bends(points, numbers)
        room = MOST_POINTS - len(points)
        if not bends.any() or room <= 0:
            break
        places = np.flatnonzero(bends)[:room]
        fresh = (points[places] + points[places + 1]) / 2
        order = np.argsort(np.concatenate([points, fresh]), kind="stable")
        points = np.concatenate([points, fresh])[order]
        numbers = np.concatenate([numbers, evaluate(fresh)], axis=1)[:, order]
    numbers[1:][:, np.isnan(numbers[0])] = np.nan  # torch may go on where y has no value: log has the slope 1/x at -1
    for mark in marks:
        first = 1 if mark.kind in ("kink", "vertical", "nan-trap") else 0
        numbers[first:, np.searchsorted(points, mark.place), mark.element] = np.nan
    return points, numbers


def broken_ranges(points: Array, numbers: Array, errors: Array | None, windows: Windows) -> list[MarkedRange]:
    """List the ranges where y has no value, where torch alone has no derivative, and where lost digits are seen."""
    found: list[MarkedRange] = []
    for element in range(numbers.shape[-1]):
        y, slope = numbers[0, :, element], numbers[1, :, element]
        lost: dict[RangeKind, Mask] = {"undefined": np.isnan(y), "nan-trap": np.isfinite(y) & ~np.isfinite(slope)}
        if errors is not None:
            lost["inaccurate"] = np.any(errors[:, :, element] > _seen(windows)[:, :, element], axis=0)
        for kind, mask in lost.items():
            changes = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
            for first, last in zip(changes[::2], changes[1::2] - 1, strict=True):
                close = found and found[-1].kind == kind and found[-1].element == element
                if close and points[first] - found[-1].high <= (points[-1] - points[0]) / 20:
                    found[-1] = replace(found[-1], high=float(points[last]))
                elif last - first >= FEWEST:
                    found.append(MarkedRange(kind, float(points[first]), float(points[last]), element))
    return found


def _seen(windows: Windows) -> Array:
    """Return the errors from which on they are seen, of shape (2, 1, elements)."""
    return np.array([[(high - low) / SEEN for low, high in row] for row in windows[:2]])[:, None]


def lost_digits(subject: PlottedFunction, points: Array, numbers: Array, windows: Windows) -> Array | None:
    """Find how far torch's numbers are off where that is seen; None where it is seen nowhere, or not known.

    The truth is enclosed at a few points over the line, and if digits are lost there, at more.

    Args:
        subject: The function.
        points: The values of the parameter.
        numbers: Torch's numbers, of y and of its derivatives.
        windows: The range that is shown, by order and element.

    Returns:
        The errors of y and of its derivative: those between two points are between their errors.
    """
    if not subject.is_small:
        return None
    for most in (FEW_TRUTHS, MOST_TRUTHS):
        places = np.unique(np.linspace(0, len(points) - 1, most).astype(int))
        with np.errstate(invalid="ignore"):
            off = np.nan_to_num(abs(numbers[:2, places] - subject.truths(points[places])))
        if not (off > _seen(windows)).any():
            return None
    found = np.zeros((2, *numbers.shape[1:]))
    for order, element in np.ndindex(2, off.shape[-1]):
        found[order, :, element] = np.interp(points, points[places], off[order, :, element])
    return found


def _bends(points: Array, numbers: Array) -> Mask:
    """Tell which pieces are to be halved: those next to a point that is off the chord of its neighbours."""
    halved: Mask = np.zeros(len(points) - 1, bool)
    share = np.diff(points)[:-1] / (points[2:] - points[:-2])
    for curve in np.moveaxis(numbers, 1, -1).reshape(-1, len(points)):
        low, high = window(points, curve)
        seen = np.clip(curve, low - (high - low), high + (high - low))
        with np.errstate(invalid="ignore"):
            chord = seen[:-2] + share * (seen[2:] - seen[:-2])
            is_off = abs(seen[1:-1] - chord) > BEND * (high - low)
        lost = ~np.isfinite(curve)
        is_off |= lost[1:-1] != lost[:-2]
        is_off |= lost[1:-1] != lost[2:]
        halved[:-1] |= is_off
        halved[1:] |= is_off
    halved &= np.diff(points) > (points[-1] - points[0]) / 20_000
    return halved


def window(points: Array, curve: Array) -> tuple[float, float]:
    """Choose the range of values to show: all, but not the way of a pole to infinity."""
    is_known = np.isfinite(curve)
    finite = curve[is_known]
    if not len(finite):
        return 0.0, 1.0
    order = np.argsort(finite)
    share = np.cumsum(np.gradient(points)[is_known][order])  # points are dense where the curve bends
    low, high = finite[order[np.searchsorted(share, [share[-1] / 12, share[-1] * 11 / 12])]]
    least, most = finite.min(), finite.max()
    reach = 1.5 * (high - low)
    if most - least > 6 * (high - low) > 0:
        least, most = max(least, low - reach), min(most, high + reach)
    if most - least <= 2.0**-40 * max(abs(least), abs(most), 2.0**-1000):
        size = max(abs(least), abs(most)) / 2 or 1.0
        return float(least - size), float(most + size)
    rest = (most - least) / 24
    return float(least - rest), float(most + rest)


def singular_middles(region: MovingProgram, edges: Sequence[Array], evaluate: Evaluate) -> Array:
    """List the middles of the cells of a grid where bounds allow a place, and torch's gradient or y jumps.

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
    with np.errstate(invalid="ignore"):
        size = abs(large).max(axis=1, keepdims=True, initial=0)
        jumps = ~np.isfinite(small) | (small > 0.4 * large) & (small > 1e-9 * size)
    return middle[:, jumps.any(axis=0)].T

"""Draw curves of torch's numbers along a line, broken where bounds find that the function may be singular.

Points are added until each lies on the chord of its neighbours, and the derivative is the slope of the pieces next to
it, to the accuracy of a picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import arb

from gradcli.crosscheck.compare import to_float
from gradcli.crosscheck.point import nonzero_directions
from gradcli.reference.balls import precision
from gradcli.reference.bounds import Mask
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.singular_places import MovingProgram
from gradcli.results import Array, Mark, MarkedRange, RangeKind

FIRST = 161
"""Points at the beginning, over the whole line."""

MOST_POINTS = 2_000
"""Most points of a curve."""

BEND = 1 / 500
"""Part of the window by which a piece of a curve may differ from its chord."""

SHORTEST = 1 / 2_000
"""Part of the line from which on points next to each other without a number are a range."""

FIRST_BROKEN: Mapping[str, int] = {"kink": 1, "vertical": 1, "nan-trap": 1, "curvature": 2}
"""The lowest derivative that is broken at a place of a kind, if not y itself."""

Cut = tuple[float, float]
"""A quantile at each end of a curve, and the room that is shown beyond the quantiles, in parts of their distance."""

TO_INFINITY: Cut = (1 / 8, 1.0)
"""Of a curve that may go to infinity."""

NEAR_HOLE: Cut = (1 / 12, 1.5)
"""Of one near a hole, where torch's numbers may be those of rounding alone."""

SEEN, MOST_SIZE = 1 / 250, 1e300
"""Part of a window from which on an error is seen; the size from which on a number is shown as infinite."""

FEW_TRUTHS, MOST_TRUTHS, NEAR = 40, 400, 10
"""Points at which the truth is enclosed, at first and if digits are lost; neighbours on a side that share an error."""

CURVE_BITS = 256
"""Precision of the truth."""

MOST_ELEMENTS = 256
"""Most elements of all lines of a function whose truth is enclosed."""

Evaluate = Callable[[Array], Array]
"""y and its derivatives at values of the parameter, of shape (1 + order, N, elements)."""


@dataclass(frozen=True)
class PlottedFunction:
    """A function on a line: the readings of it.

    Attributes:
        moving: The Program on the line.
        evaluate: Torch's y and derivatives at values of the parameter.
        dtype: The dtype of torch's inputs.
        is_fixed: Whether the Program is the function on the whole line, as it is not of one that branches.
        order: The highest derivative that is drawn.
    """

    moving: MovingProgram
    evaluate: Evaluate
    dtype: str
    is_fixed: bool = True
    order: int = 1

    @property
    def is_small(self) -> bool:
        """Tell whether the truth is known all along the line, in a millisecond a point."""
        return self.is_fixed and sum(math.prod(shape) for shape in self.moving.shapes.values()) <= MOST_ELEMENTS

    def truths(self, parameter: Array) -> Array:
        """Enclose y and its derivative along the line, of shape (2, N, elements); NaN where they do not exist.

        Of a function that takes too much work they are torch's.
        """
        program, shapes, moved = self.moving.program, self.moving.shapes, self.moving.inputs_at(parameter)
        steps, rows = nonzero_directions(self.moving.directions[0]), math.prod(shapes.get(program.output, ()))
        found = np.full((2, len(parameter), rows), np.nan)
        for n in range(len(parameter)):
            inputs = {**self.moving.start, **{name: array[n].astype(self.dtype) for name, array in moved.items()}}
            try:
                run = Reference(program, shapes, inputs).plan(list(steps)).run(CURVE_BITS)
            except OverBudgetError:
                return self.evaluate(parameter)[:2]
            with precision(CURVE_BITS):
                for row in range(rows):
                    if isinstance(value := run.values.get(row), arb):
                        found[0, n, row] = to_float(value)
                    parts = ((run.columns.get(one, {}).get(row, arb(0)), size) for one, size in steps.items())
                    terms = [part * size for part, size in parts if isinstance(part, arb)]
                    if len(terms) == len(steps):
                        found[1, n, row] = to_float(sum(terms, arb(0)))
        return found


def sample(
    subject: PlottedFunction, marks: Sequence[Mark], spans: Sequence[MarkedRange], low: float, high: float
) -> tuple[Array, Array]:
    """Take points along the line, dense where a curve bends, and on both sides of each break.

    Returns:
        The points, ascending, and the numbers there, of shape (orders, N, elements); NaN at a break of a curve.
    """
    reach = max(2.0**-40 * (high - low), 4 * float(np.finfo(subject.dtype).eps) * max(abs(low), abs(high)))
    around = [place for mark in marks for place in (mark.place - reach, mark.place, mark.place + reach)]
    points = np.union1d(np.linspace(low, high, FIRST), [place for place in around if low <= place <= high])
    numbers = subject.evaluate(points)
    for _ in range(8):
        places = np.flatnonzero(_bends(points, numbers, windows(points, numbers, marks, spans)))
        places = places[np.argsort(-np.diff(points)[places], kind="stable")[: MOST_POINTS - len(points)]]
        if not len(places):
            break
        fresh = (points[places] + points[places + 1]) / 2
        points = np.insert(points, places + 1, fresh)
        numbers = np.insert(numbers, places + 1, subject.evaluate(fresh), axis=1)
    numbers[1:][:, np.isnan(numbers[0])] = np.nan  # torch may go on where y has no value: log has the slope 1/x at -1
    for mark in marks:
        first = FIRST_BROKEN.get(mark.kind, 0)
        numbers[first:, np.searchsorted(points, mark.place), mark.element] = np.nan
    return points, numbers


def broken_ranges(points: Array, numbers: Array, lost: LostDigits | None) -> list[MarkedRange]:
    """List the ranges where y has no value, where torch alone has no derivative, and where lost digits are seen."""
    found: list[MarkedRange] = []
    for element in range(numbers.shape[-1]):
        y, slope = numbers[0, :, element], numbers[1, :, element]
        masks: dict[RangeKind, Mask] = {"undefined": ~np.isfinite(y), "nan-trap": np.isfinite(y) & ~np.isfinite(slope)}
        if lost is not None:
            masks["inaccurate"] = np.any(lost.errors[:, :, element] > 0, axis=0)
        for kind, mask in masks.items():
            changes = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
            for first, last in zip(changes[::2], changes[1::2] - 1, strict=True):
                if points[last] - points[first] >= SHORTEST * (points[-1] - points[0]):
                    found.append(MarkedRange(kind, float(points[first]), float(points[last]), element))
    return found


class LostDigits(NamedTuple):
    """How far torch's numbers are off, of shape (2, N, elements): those of y and of its derivative.

    Attributes:
        errors: The errors, each the largest of some points next to each other; 0 where they are not seen.
        truth: The true numbers; between the points where they are enclosed, those of a line.
    """

    errors: Array
    truth: Array


def lost_digits(subject: PlottedFunction, points: Array, numbers: Array, shown: Array) -> LostDigits | None:
    """Find how far torch's numbers are off where that is seen; None where it is seen nowhere, or not known.

    The truth is enclosed at a few points over the line, and if digits are lost there, at more.

    Args:
        subject: The function.
        points: The values of the parameter.
        numbers: Torch's numbers, of y and of its derivatives.
        shown: The `windows`: numbers outside of them count as their ends.
    """
    if not subject.is_small:
        return None
    low, high = np.moveaxis(shown[:2, None], -1, 0)
    is_broken = np.isnan(numbers[:2])
    is_break = is_broken & ~np.roll(is_broken, 1, axis=1) & ~np.roll(is_broken, -1, axis=1)
    breaks = np.flatnonzero(is_break.any(axis=(0, 2)))[:MOST_TRUTHS]
    for most in (FEW_TRUTHS, MOST_TRUTHS):
        evenly = np.linspace(0, len(points) - 1, most).astype(int)
        places = np.unique(np.clip([*evenly, *breaks, *(breaks - 1), *(breaks + 1)], 0, len(points) - 1))
        truths = subject.truths(points[places])
        with np.errstate(invalid="ignore"):
            both = (np.clip(one, low, high) for one in (numbers[:2, places], truths))
            off = np.nan_to_num(abs(np.subtract(*both)))
        if not (off > (high - low) * SEEN).any():
            return None
    ends = np.pad(off, ((0, 0), (NEAR, NEAR), (0, 0)), "edge")
    largest = np.lib.stride_tricks.sliding_window_view(ends, 2 * NEAR + 1, axis=1).max(axis=-1)
    errors, truth = (
        np.apply_along_axis(lambda one: np.interp(points, points[places], one), 1, known) for known in (largest, truths)
    )
    return LostDigits(np.where(errors > (high - low) * SEEN, errors, 0), np.where(is_break, np.nan, truth))


def _bends(points: Array, numbers: Array, shown: Array) -> Mask:
    """Tell which pieces are to be halved: those next to a point that is off the chord of its neighbours.

    Those too at whose ends the derivative is another than the slope of the piece: where a curve oscillates, points far
    from each other may all lie on a line.
    """
    halved: Mask = np.zeros(len(points) - 1, bool)
    steps = np.diff(points)
    share = steps[:-1] / (points[2:] - points[:-2])
    for order, element in np.ndindex(*shown.shape[:2]):
        curve, (low, high) = numbers[order, :, element], shown[order, element]
        seen = np.clip(curve, low - (high - low), high + (high - low))
        with np.errstate(invalid="ignore"):
            chord = seen[:-2] + share * (seen[2:] - seen[:-2])
            is_off = abs(seen[1:-1] - chord) > BEND * (high - low)
            for slopes in numbers[order + 1 : order + 2, :, element]:
                turns = abs(np.stack([slopes[:-1], slopes[1:]]) * steps - np.diff(seen)) > BEND * (high - low)
                halved |= (turns & (np.stack([seen[:-1], seen[1:]]) == np.stack([curve[:-1], curve[1:]]))).any(axis=0)
        halved |= np.diff(np.isfinite(curve))
        halved[:-1] |= is_off
        halved[1:] |= is_off
    halved &= steps > max((points[-1] - points[0]) / 20_000, 4 * np.spacing(abs(points).max()))
    return halved


def windows(points: Array, numbers: Array, marks: Sequence[Mark], spans: Sequence[MarkedRange]) -> Array:
    """Choose the numbers that are shown of each curve, of shape (orders, elements, 2): all but ways to infinity.

    Args:
        points: The values of the parameter.
        numbers: y and its derivatives, of shape (orders, N, elements).
        marks: The places, of which some may be poles.
        spans: The crowded ranges: the curves of their elements may have poles there.
    """
    numbers = np.where(abs(numbers) > MOST_SIZE, np.copysign(np.inf, numbers), numbers)
    is_endless = np.asarray(np.isinf(numbers).any(axis=1))
    is_endless[:, [span.element for span in spans]] = True
    for mark in marks:
        is_endless[:, mark.element] |= np.isinf(mark.value).any() or mark.kind == "undefined"
        is_endless[1:, mark.element] |= np.isinf(mark.slope).any()
    holes = {mark.element for mark in marks if mark.kind == "removable"}
    found = np.empty((*is_endless.shape, 2))
    for order, element in np.ndindex(*is_endless.shape):
        rounding = abs(found[0, element]).max() * 2.0**-40 / (points[-1] - points[0]) ** order if order else 0.0
        sides = [side for mark in marks if mark.element == element for side in mark.sides[order : order + 1]]
        limits = np.array(sides).ravel()
        cut = TO_INFINITY if is_endless[order, element] else NEAR_HOLE if element in holes else None
        curve = numbers[order, :, element]
        found[order, element] = _window(points, curve, rounding, cut, limits[np.isfinite(limits)])
    return found


def _window(points: Array, curve: Array, rounding: float, cut: Cut | None, limits: Array) -> tuple[float, float]:
    """Choose the numbers that are shown of a curve; differences as small as those of rounding are not.

    Args:
        points: The values of the parameter.
        curve: The numbers.
        rounding: The size of their rounding.
        cut: How much is shown of a curve that may go to infinity; else None.
        limits: Limits at its places, which are shown.
    """
    evenly = np.interp(np.linspace(points[0], points[-1], FIRST), points, curve)
    finite, usual = curve[np.isfinite(curve)], evenly[np.isfinite(evenly)]
    if not len(finite):
        return 0.0, 1.0
    least, most = finite.min(), finite.max()
    if cut is not None:
        quantile, room = cut
        low, high = np.quantile(usual if len(usual) else finite, [quantile, 1 - quantile])
        reach = room * (high - low)
        if most - least > 2 * (high - low + reach) > 0:
            least = min(max(least, low - reach), limits.min(initial=np.inf))
            most = max(min(most, high + reach), limits.max(initial=-np.inf))
    if most - least <= max(rounding, 2.0**-40 * max(abs(least), abs(most), 2.0**-1000)):
        largest = max(abs(least), abs(most))
        size = largest / 2 if largest > rounding else max(1.0, largest / 2)
        return float(least - size), float(most + size)
    rest = (most - least) / 24
    return float(least - rest), float(most + rest)

"""Sets of boxes: a first grid, halves, and what of a range is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.parts.everywhere.intervals import LARGEST, Interval, hull
from gradcli.reference.bounds import Mask

PIECES = {1: 64, 2: 16, 3: 6}
"""Pieces of each side of the first grid, by the number of variables; of more variables, one."""

AT_ONCE = 4096
"""Boxes that are evaluated at once."""

MAGNITUDES = 1e3
"""Ratio of two ends of one sign from which on a side is cut at the middle of its magnitudes."""

MOST_JOINED = 2_000
"""Boxes in several variables that are joined one by one: of more, one box encloses the rest."""

MOST_CLUSTERS = 2_000
"""Most boxes that touching ones are joined to."""

NARROWEST = 4.0
"""Width in units in the last place from which on a side is not cut."""


@dataclass(frozen=True)
class BoxSet:
    """Boxes in some variables, each with a bound that was found for it.

    Attributes:
        low: Lower ends, of shape (variables, boxes).
        high: Upper ends.
        bound_function: A number for each box.
    """

    low: Array
    high: Array
    bound: Array

    def __len__(self) -> int:
        return int(self.low.shape[1])

    @property
    def sides(self) -> Interval:
        """The sides as intervals."""
        return Interval(self.low, self.high)

    def take(self, places: Mask | npt.NDArray[np.intp] | slice) -> BoxSet:
        """Select some of the boxes."""
        return BoxSet(self.low[:, places], self.high[:, places], self.bound[places])

    def parts_of(self, low: Array, high: Array) -> Array:
        """Return the sides as parts of those of a range, whose width may be beyond float64; 0 of one without width."""
        scale = np.where(high / 2 - low / 2 < LARGEST / 2, 1.0, 0.5)[:, None]
        width = scale * high[:, None] - scale * low[:, None]
        return np.asarray((scale * self.high - scale * self.low) / np.where(width > 0, width, 1.0))

    def share_of(self, low: Array, high: Array) -> float:
        """Return the share of a range that the boxes are."""
        sides = np.where((high > low)[:, None], self.parts_of(low, high), 1.0)
        return float(min(1.0, np.prod(sides, axis=0).sum()))

    @staticmethod
    def joined(parts: list[BoxSet]) -> BoxSet:
        """Join sets of boxes in the same variables."""
        return BoxSet(
            np.concatenate([one.low for one in parts], 1),
            np.concatenate([one.high for one in parts], 1),
            np.concatenate([one.bound for one in parts]),
        )

    def hull(self) -> Interval:
        """Enclose all boxes in one."""
        return Interval(self.low.min(axis=1), self.high.max(axis=1))

    def clusters(self, most: int = MOST_CLUSTERS) -> list[Interval]:
        """Join boxes that touch to one box each; the last of more than so many encloses all the others."""
        if not len(self):
            return []
        boxes = self.take(np.lexsort(self.low[::-1]))
        if len(self.low) == 1:
            found = _runs(boxes.low[0], boxes.high[0])
        else:
            rest = boxes.take(slice(MOST_JOINED, None))
            every = boxes.take(slice(0, MOST_JOINED))
            found = _touching([*every._boxes(), *([rest.hull()] if len(rest) else [])])
        if len(found) <= most:
            return found
        return [*found[: most - 1], reduce(hull, found[most - 1 :])]

    def _boxes(self) -> list[Interval]:
        return [Interval(self.low[:, n], self.high[:, n]) for n in range(len(self))]


def _runs(low: Array, high: Array) -> list[Interval]:
    """Join intervals that touch, in the order of their lower ends."""
    reach = np.maximum.accumulate(high)
    starts = np.concatenate([[0], 1 + np.flatnonzero(low[1:] > reach[:-1])])
    ends = np.concatenate([starts[1:] - 1, [len(low) - 1]])
    return [Interval(low[a : a + 1], reach[b : b + 1]) for a, b in zip(starts, ends, strict=True)]


def _touching(boxes: Sequence[Interval]) -> list[Interval]:
    """Join boxes that touch, one after the other."""
    found: list[Interval] = []
    for box in boxes:
        is_near = [bool(((one.low <= box.high) & (one.high >= box.low)).all()) for one in found]
        joined = reduce(hull, (one for one, near in zip(found, is_near, strict=True) if near), box)
        found = [*(one for one, near in zip(found, is_near, strict=True) if not near), joined]
    return found


def first_grid(low: Array, high: Array, pieces: int | None = None, most: int = AT_ONCE) -> BoxSet:
    """Cut a box into a grid; a side over magnitudes of one sign by these, a side of no width not at all.

    Args:
        low: The lower ends of the box.
        high: The upper ends.
        pieces: The pieces of each side; by default `PIECES`.
        most: The most pieces of a side.
    """
    count = len(low)
    pieces = min(most, PIECES.get(count, 1) if pieces is None else pieces)
    axes = [_cuts(a, b, pieces) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    lows = np.meshgrid(*(axis[:-1] for axis in axes), indexing="ij")
    highs = np.meshgrid(*(axis[1:] for axis in axes), indexing="ij")
    flat_low = np.stack([one.ravel() for one in lows])
    flat_high = np.stack([one.ravel() for one in highs])
    return BoxSet(flat_low, flat_high, np.full(flat_low.shape[1], -np.inf))


def _cuts(low: float, high: float, pieces: int) -> Array:
    if low == high:
        return np.array([low, high])
    if low * high > 0 and max(low / high, high / low) > MAGNITUDES:
        inner = np.copysign(np.geomspace(abs(low), abs(high), pieces + 1), low)
    else:
        scale = 1.0 if math.isfinite(high - low) else 0.5
        inner = (scale * low + scale * (high / pieces - low / pieces) * np.arange(pieces + 1)) / scale
    return np.unique(np.concatenate([[low], np.clip(inner[1:-1], low, high), [high]]))


def middle_of(low: Array, high: Array) -> Array:
    """Return a number between two ends: of one sign and of many magnitudes, the geometric mean.

    From 0 to a large number it is that of 1 and the number, and between two signs of which one is far larger, 0.
    """
    arithmetic = low / 2 + high / 2
    with np.errstate(all="ignore"):
        is_far = (low * high > 0) & (np.maximum(low / high, high / low) > MAGNITUDES)
        geometric = np.copysign(np.sqrt(abs(low)) * np.sqrt(abs(high)), low)
        least, largest = np.minimum(abs(low), abs(high)), np.maximum(abs(low), abs(high))
        is_large = (low * high <= 0) & (largest > MAGNITUDES * np.maximum(least, 1.0))
        from_zero = np.where(least == 0, np.copysign(np.sqrt(largest), low + high), 0.0)
    found = np.where(is_large, from_zero, np.where(is_far, geometric, arithmetic))
    return np.clip(found, low, high)


def is_narrow(boxes: BoxSet) -> Mask:
    """Tell which boxes have no side that is cut."""
    with np.errstate(all="ignore"):
        step = NARROWEST * np.spacing(np.maximum(abs(boxes.low), abs(boxes.high)))
    return np.asarray((boxes.high - boxes.low <= step).all(axis=0))


def halves(boxes: BoxSet, axis: npt.NDArray[np.intp]) -> BoxSet:
    """Cut each box in two along one of its sides; a side without width leaves one box."""
    which = axis, np.arange(len(boxes))
    middle = middle_of(boxes.low[which], boxes.high[which])
    is_cut = (boxes.low[which] < middle) & (middle < boxes.high[which])
    high, low = boxes.high.copy(), boxes.low.copy()
    high[which] = np.where(is_cut, middle, boxes.high[which])
    low[which] = middle
    second = BoxSet(low, boxes.high, boxes.bound).take(is_cut)
    return BoxSet.joined([BoxSet(boxes.low, high, boxes.bound), second])

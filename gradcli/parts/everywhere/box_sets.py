"""Sets of boxes: a first grid, halves, and what of a range is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.parts.everywhere.intervals import Interval
from gradcli.reference.bounds import Mask

PIECES = {1: 64, 2: 16, 3: 6}
"""Pieces of each side of the first grid, by the number of variables; of more variables, one."""

AT_ONCE = 4096
"""Boxes that are evaluated at once."""

MAGNITUDES = 1e3
"""Ratio of two ends of one sign from which on a side is cut at the middle of its magnitudes."""

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

    def clusters(self) -> list[Interval]:
        """Join boxes that touch, a few at most, to one box each."""
        found: list[tuple[Array, Array]] = []
        order = np.lexsort(self.low[::-1])
        for n in order[:2_000]:
            low, high = self.low[:, n], self.high[:, n]
            touching = [one for one in found if (one[0] <= high).all() and (one[1] >= low).all()]
            for one in touching:
                low, high = np.minimum(low, one[0]), np.maximum(high, one[1])
            found = [one for one in found if not any(one is other for other in touching)]
            found.append((low, high))
        return [Interval(low, high) for low, high in found]


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
        inner = low + (high / pieces - low / pieces) * np.arange(pieces + 1)
    return np.unique(np.concatenate([[low], np.clip(inner[1:-1], low, high), [high]]))


def middle_of(low: Array, high: Array) -> Array:
    """Return a number between two ends: of one sign and of many magnitudes, the geometric mean."""
    arithmetic = low / 2 + high / 2
    with np.errstate(all="ignore"):
        is_far = (low * high > 0) & (np.maximum(low / high, high / low) > MAGNITUDES)
        geometric = np.copysign(np.sqrt(abs(low)) * np.sqrt(abs(high)), low)
    return np.clip(np.where(is_far, geometric, arithmetic), low, high)


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

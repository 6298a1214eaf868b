"""Zeros of y in one variable, or of its gradient: boxes that may hold one, and those that certainly hold exactly one.

Krawczyk's operator narrows a box to the zeros in it.  What it gives lies wholly inside of the box only where there is
one zero, which is the only one in it.
Source: R. Moore, "A test for existence of solutions to nonlinear systems", 1977.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradcli.arrays import Array
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_sets import BoxSet, first_grid, halves, is_narrow, middle_of
from gradcli.parts.everywhere.halving import halved
from gradcli.parts.everywhere.intervals import Interval, add, multiply, point, reciprocal, subtract
from gradcli.parts.everywhere.jets import Jet
from gradcli.reference.bounds import Mask
from gradcli.reference.deadline import OverTimeError

AT_ONCE = 2048
"""Boxes that are evaluated at once."""

MOST_BOXES = 100_000
"""Boxes that one search evaluates."""

NARROW = 2.0**-26
"""Width of a box that is halved no more, relative to its numbers, and to the range."""

INFLATION = 0.1
"""Part of its width by which a box is widened, to see a zero at its side."""

Existence = Literal["one", "some", "unknown"]
"""What is known of the zeros in a box: exactly one; at least one, as the sign changes; or nothing."""


@dataclass(frozen=True)
class ZeroBox:
    """A box in which zeros are.

    Attributes:
        low: Its lower ends.
        high: Its upper ends.
        existence: What is known of zeros in it.
        bends: For a gradient, whether y certainly is least (1) or greatest (-1) there among its neighbours; else 0.
    """

    low: Array
    high: Array
    existence: Existence
    bends: int = 0


@dataclass(frozen=True)
class Zeros:
    """Zeros of a system in a box.

    Attributes:
        boxes: Where they are: outside of these there is none.
        evaluated: The boxes that were evaluated.
        stopped: Why the search stopped early; "" where it did not.
    """

    boxes: Sequence[ZeroBox]
    evaluated: int
    stopped: str


@dataclass(frozen=True)
class System:
    """Equations that are to be 0: y of one variable, or the gradient.

    Attributes:
        function: The function.
        is_gradient: Whether the gradient is meant.
        reach: A length next to which the range is not large.
    """

    function: BoxQuantity
    is_gradient: bool
    reach: float = 0.0

    def equations(self, jet: Jet) -> list[Interval]:
        """Return the left sides."""
        return [jet.slope(i) for i in range(self.function.count)] if self.is_gradient else [jet.value]

    def derivative(self, jet: Jet, i: int, j: int) -> Interval:
        """Return the derivative of an equation by a variable."""
        return jet.second_slope(i, j) if self.is_gradient else jet.slope(j)

    @np.errstate(all="ignore")  # what is beyond float64 has no end there
    def find(self, low: Array, high: Array) -> Zeros:
        """Find the zeros in a box."""
        found, rest = list[ZeroBox](), list[BoxSet]()

        def step(boxes: BoxSet) -> BoxSet:
            left, sure, narrow = self._step(boxes, found)
            found.extend(sure)
            rest.append(narrow)
            return left

        search = halved(first_grid(low, high), step, most=lambda: MOST_BOXES, at_once=AT_ONCE)
        rest = [self._unproved(one, found) for one in [*rest, search.left] if len(one)]
        clusters = BoxSet.joined(rest).clusters() if rest else []
        found += [self._judged(box) for box in clusters]
        found = [kept for one in found if (kept := self._within(one, low, high)) is not None]
        return Zeros(sorted(found, key=lambda one: tuple(one.low)), search.evaluated, search.stopped)

    @np.errstate(all="ignore")
    def only_zero(self, boxes: BoxSet) -> ZeroBox | None:
        """Return the box of the one zero that is in a box, or just beside it, if there certainly is one."""
        narrowed, is_one, _ = self.narrowed(_inflated(boxes))
        return self._polished(ZeroBox(narrowed.low[:, 0], narrowed.high[:, 0], "one")) if is_one[0] else None

    def _within(self, box: ZeroBox, low: Array, high: Array) -> ZeroBox | None:
        """Cut a box to the range: a zero that may lie beyond its end is known only where it is the end itself."""
        if ((box.low >= low) & (box.high <= high)).all():
            return box
        if ((box.high < low) | (box.low > high)).any():
            return None
        inside = np.maximum(box.low, low), np.minimum(box.high, high)
        with suppress(OverTimeError):
            return self._at_ends(box, *inside)
        return ZeroBox(*inside, "unknown")

    def _at_ends(self, box: ZeroBox, low: Array, high: Array) -> ZeroBox:
        """Cut a box, whose zero is known to be in the range where it is at an end."""
        inside = low, high
        at_end = self.function.jets(point(np.clip(box.low, *inside)[:, None]))
        at_other = self.function.jets(point(np.clip(box.high, *inside)[:, None]))
        is_zero = any(all(bool(e.is_zero.all()) for e in self.equations(jet)) for jet in (at_end, at_other))
        return ZeroBox(*inside, "one" if is_zero else "unknown", box.bends if is_zero else 0)

    def _step(self, boxes: BoxSet, known: Sequence[ZeroBox]) -> tuple[BoxSet, list[ZeroBox], BoxSet]:
        """Drop boxes without zeros, and keep those with one; return the halves of the others, and the narrow ones."""
        jet = self.function.jets(boxes.sides)
        equations = [one.spread((len(boxes),)) for one in self.equations(jet)]
        may = np.all([one.has_zero for one in equations], axis=0)
        is_all = np.all([one.is_zero for one in equations], axis=0)
        flat = boxes.take(np.asarray(is_all))
        boxes = self._unproved(boxes.take(np.asarray(may & ~is_all)), known)
        if not len(boxes):
            return boxes, [], flat
        proved = list[ZeroBox]()
        narrowed, is_one, is_none = self.narrowed(_inflated(boxes))
        low, high = np.maximum(boxes.low, narrowed.low), np.minimum(boxes.high, narrowed.high)
        for n in np.flatnonzero(is_one):
            box = ZeroBox(narrowed.low[:, n], narrowed.high[:, n], "one")
            if not any(_overlap(box, other) for other in (*known, *proved)):
                proved.append(self._polished(box))
        kept = ~is_one & ~is_none & (low <= high).all(axis=0)
        left = BoxSet(low, high, boxes.bound).take(np.asarray(kept))
        narrow = is_narrow(left) | self._are_degenerate(left)
        rest = left.take(~narrow)
        width = rest.high - rest.low
        done = BoxSet.joined([flat, left.take(narrow)])
        return halves(rest, np.argmax(width, axis=0)) if len(rest) else rest, proved, done

    def _are_degenerate(self, boxes: BoxSet) -> Mask:
        """Tell which boxes are tiny, and still are not known to have one zero or none, as where y only touches 0."""
        near = NARROW * np.maximum(abs(boxes.low), abs(boxes.high)) + NARROW * self.reach
        return np.asarray((boxes.high - boxes.low <= near).all(axis=0))

    def narrowed(self, boxes: BoxSet) -> tuple[Interval, Mask, Mask]:
        """Apply Krawczyk's operator: the sides that hold all zeros, which boxes have exactly one, and which none."""
        count, size = len(boxes.low), len(boxes)
        jet = self.function.jets(boxes.sides)
        middle = middle_of(boxes.low, boxes.high)
        at_middle = self.function.jets(point(middle))
        smooth = jet.is_smooth & at_middle.is_smooth
        rows = [[self.derivative(jet, i, j).spread((size,)) for j in range(count)] for i in range(count)]
        smooth = smooth & np.all([one.is_bounded for row in rows for one in row], axis=0)
        values = [one.spread((size,)) for one in self.equations(at_middle)]
        middles = np.array(
            [[np.where(smooth, one.middle, float(i == j)) for j, one in enumerate(row)] for i, row in enumerate(rows)]
        )
        inverse = np.linalg.pinv(middles.transpose(2, 0, 1))
        steps, sides = subtract(boxes.sides, point(middle)), []
        with np.errstate(all="ignore"):
            for i in range(count):
                side = point(middle[i])
                for j in range(count):
                    side = add(side, multiply(point(-inverse[:, i, j]), values[j]))
                    rest = point(np.full(size, float(i == j)))
                    for k in range(count):
                        rest = add(rest, multiply(point(-inverse[:, i, k]), rows[k][j]))
                    side = add(side, multiply(rest, steps.row(j)))
                sides.append(side)
        found = Interval(np.stack([one.low for one in sides]), np.stack([one.high for one in sides]))
        is_inside = ((found.low > boxes.low) & (found.high < boxes.high)).all(axis=0)
        is_none = smooth & ((found.low > boxes.high) | (found.high < boxes.low)).any(axis=0)
        return boxes.sides.where(~smooth, found), np.asarray(smooth & is_inside), np.asarray(is_none)

    def _polished(self, box: ZeroBox) -> ZeroBox:
        """Narrow a box with one zero as far as it goes, and tell how y bends there."""
        low, high = box.low[:, None], box.high[:, None]
        for _ in range(30):
            found, *_ = self.narrowed(BoxSet(low, high, np.zeros(1)))
            new = np.maximum(low, found.low), np.minimum(high, found.high)
            if not (new[0] <= new[1]).all() or (new[1] - new[0] >= 0.5 * (high - low)).all():
                break
            low, high = new
        return ZeroBox(low[:, 0], high[:, 0], "one", self._bend(low, high))

    def _bend(self, low: Array, high: Array) -> int:
        """Tell whether all second derivatives together certainly bend up or down, by the leading minors."""
        if not self.is_gradient:
            return 0
        jet, count = self.function.jets(Interval(low, high)), len(low)
        rows = [[jet.second_slope(i, j) for j in range(count)] for i in range(count)]
        for sign in (1, -1):
            if are_definite([[one if sign > 0 else -one for one in row] for row in rows]).all():
                return sign
        return 0

    def _unproved(self, boxes: BoxSet, known: Sequence[ZeroBox]) -> BoxSet:
        """Leave out the boxes inside those that have one zero, which is found."""
        is_known = np.zeros(len(boxes), bool)
        for one in known:
            is_known |= ((boxes.low >= one.low[:, None]) & (boxes.high <= one.high[:, None])).all(axis=0)
        return boxes.take(~is_known)

    def _judged(self, box: Interval) -> ZeroBox:
        """Tell of a box whether its ends have different signs, for one equation without a jump."""
        with suppress(OverTimeError):
            return ZeroBox(box.low, box.high, self._existence(box))
        return ZeroBox(box.low, box.high, "unknown")

    def _existence(self, box: Interval) -> Existence:
        """Tell what the signs at the ends of a box say."""
        if len(box.low) == 1 and self.function.jets(Interval(box.low[:, None], box.high[:, None])).is_continuous[0]:
            ends = self.function.jets(point(np.array([[box.low[0], box.high[0]]])))
            one = self.equations(ends)[0].spread((2,))
            changes = (one.high[0] < 0 < one.low[1]) or (one.high[1] < 0 < one.low[0])
            is_zero = bool(one.is_zero.any())
            return "some" if is_zero or (changes and not self.is_gradient) else "unknown"
        return "unknown"


def are_definite(rows: Sequence[Sequence[Interval]], *, may_be_flat: bool = False) -> Mask:
    """Tell which symmetric matrices of intervals have positive definite matrices alone, by elimination.

    Args:
        rows: The matrices.
        may_be_flat: Whether the last pivot may be 0, of matrices that are semidefinite.
    """
    matrix = [list(row) for row in rows]
    found = np.asarray(True)
    with np.errstate(all="ignore"):
        for k, row in enumerate(matrix):
            is_last = k == len(matrix) - 1
            found = found & ((row[k].low >= 0) if may_be_flat and is_last else (row[k].low > 0))
            for i in range(k + 1, len(matrix)):
                for j in range(i, len(matrix)):
                    taken = multiply(multiply(row[i], row[j]), reciprocal(row[k]))
                    matrix[i][j] = matrix[j][i] = subtract(matrix[i][j], taken)
    return np.asarray(found)


def _inflated(boxes: BoxSet) -> BoxSet:
    reach = np.maximum(
        INFLATION * (boxes.high - boxes.low), 16 * np.spacing(np.maximum(abs(boxes.low), abs(boxes.high)))
    )
    return BoxSet(boxes.low - reach, boxes.high + reach, boxes.bound)


def _overlap(a: ZeroBox, b: ZeroBox) -> bool:
    return bool(((a.low <= b.high) & (b.low <= a.high)).all())

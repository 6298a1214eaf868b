"""Least values by branch and bound: where a quantity is least in a box, and how small it certainly is not.

A box is bounded by its value, by its slopes from the middle (where it has no jump), and by its second slopes (where it
is smooth); it is dropped where another point is lower, where the quantity rises or falls through it, or bends down
inside.  Where the gradient may be 0, Krawczyk's operator narrows the box.
Sources: E. Hansen, G. Walster, "Global Optimization Using Interval Analysis", 2004; R. Krawczyk, "Newton-Algorithmen
zur Bestimmung von Nullstellen mit Fehlerschranken", 1969.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_kinds import BROKEN, BoxKind
from gradcli.parts.everywhere.box_sets import AT_ONCE, BoxSet, first_grid, halves, is_narrow, middle_of
from gradcli.parts.everywhere.halving import MOST_BOXES, halved
from gradcli.parts.everywhere.intervals import Interval, add, multiply, point, subtract, whole_power
from gradcli.parts.everywhere.jets import Jet
from gradcli.parts.everywhere.stopping import OVER_TIME
from gradcli.reference.bounds import Mask
from gradcli.reference.deadline import OverTimeError

NEARBY = 16
"""Part of a range below whose width second slopes are worth their time, of several variables."""

MOST_SECOND = 6
"""Variables up to which second slopes are computed."""

MOST_CORNERS = 256
"""Corners of the range at which a search begins."""

MOST_WITHOUT_VALUE = 20_000
"""Boxes after which a search ends that has not found any value."""

HOPELESS = 2.0**-48
"""Part of a range from whose width down a box is halved no more that has no bound, or whose middle alone fails."""

_MISSING = int(BoxKind.POLE | BoxKind.EDGE | BoxKind.OUTSIDE)


@dataclass(frozen=True)
class LeastValue:
    """What a search for the least value has found.

    Attributes:
        bound_function: A number that no value is below; -inf where there is none.
        found: A number that some value is not above; inf where none was found.
        place: The point of that value; None where there is none.
        left: The boxes that may hold a lower value than the point has, less the tolerance.
        evaluated: The boxes that were evaluated.
        stopped: Why the search stopped early; "" where it did not.
    """

    bound: float
    found: float
    place: Array | None
    left: BoxSet
    evaluated: int
    stopped: str


@dataclass
class LeastValueSearch:
    """A search for the least value, box by box.

    Attributes:
        quantity: What is minimized.
        low: The lower ends of the range.
        high: The upper ends.
        tolerance: How far from the least value a bound may be, absolutely or relative to the value.
        target: A number that the quantity is to be not below: boxes that are proved are done; None for the least value.
        is_strict: Whether it is to be above the target.
        is_over_at_target: Whether the search ends where the quantity is the target, as that refutes it.
        is_of_places: Whether it matters where the least value is: what may have it is halved, whatever the tolerance.
        found: The least value that was found.
        place: Its point.
        has_value: Whether there certainly is a value somewhere.
        most: The most boxes that one run evaluates.
        evaluated: The boxes that were evaluated.
        done: Those that are looked at no more.
        unproved: Those of them that are too narrow to be halved, and not known to be above the target.
    """

    quantity: BoxQuantity
    low: Array
    high: Array
    tolerance: float = 1e-6
    target: float | None = None
    is_strict: bool = False
    is_over_at_target: bool = False
    is_of_places: bool = False
    found: float = np.inf
    place: Array | None = None
    has_value: bool = False
    most: int = MOST_BOXES
    evaluated: int = 0
    done: list[BoxSet] = field(default_factory=list)
    unproved: list[BoxSet] = field(default_factory=list)

    @np.errstate(all="ignore")  # what is beyond float64 has no end there
    def run(self, boxes: BoxSet | None = None) -> LeastValue:
        """Search the range, or some boxes of it."""
        at_once = self.quantity.function.at_once
        waiting = first_grid(self.low, self.high, most=at_once) if boxes is None else boxes
        try:
            if not self.quantity.function.is_of_numbers:  # of which one evaluation may be all that there is time for
                value = self.quantity.jets(waiting.sides).value
                waiting = BoxSet(waiting.low, waiting.high, np.maximum(waiting.bound, value.low))
            self._look_at_corners()
        except OverTimeError:
            return self._result(waiting, OVER_TIME)
        search = halved(waiting, self._step, ordered=self._lowest_first, most=self._most, at_once=at_once)
        return self._result(search.left, search.stopped)

    def _most(self) -> int:
        """Return how many boxes are evaluated: fewer where there is no value."""
        return self.most if np.isfinite(self.found) else min(self.most, MOST_WITHOUT_VALUE)

    def _lowest_first(self, boxes: BoxSet) -> BoxSet:
        """Put aside the boxes that are done, and order the others by their bounds; none where the target fails."""
        rest = self._open(boxes)
        return rest.take(slice(0, 0) if self.is_refuted else np.argsort(rest.bound, kind="stable"))

    def _look_at_corners(self) -> None:
        """Note the values at the corners of the range, where those of many functions are least."""
        sides = list(zip(self.low, self.high, strict=True))
        corners = np.array(list(itertools.islice(itertools.product(*sides), MOST_CORNERS))).T
        self._note(corners, self.quantity.jets(point(corners), is_second=False))

    @property
    def _goal(self) -> float:
        """The bound from which on a box is done."""
        if self.target is not None:
            return float(np.nextafter(self.target, np.inf)) if self.is_strict else self.target
        if self.is_of_places:
            return float(np.nextafter(self.found, np.inf))
        return self.found - self.tolerance * max(1.0, abs(self.found)) if np.isfinite(self.found) else np.inf

    @property
    def is_refuted(self) -> bool:
        """Whether a value was found that is not as the target says."""
        if self.target is None:
            return False
        return self.found < self.target or (self.is_over_at_target and self.found == self.target)

    def _open(self, boxes: BoxSet) -> BoxSet:
        """Put aside the boxes that are done."""
        is_done = boxes.bound >= self._goal
        self.done.append(boxes.take(is_done & (boxes.bound <= self.found)))
        return boxes.take(~is_done)

    def _result(self, waiting: BoxSet, stopped: str) -> LeastValue:
        every = BoxSet.joined([*self.done, waiting])
        with suppress(OverTimeError):  # their bounds hold without it
            every = self._with_exact_points(every)
        left = every.take(every.bound <= self.found)
        bound = float(left.bound.min()) if len(left) else self.found
        if self.target is not None:
            left = waiting
        return LeastValue(bound, self.found, self.place, left, self.evaluated, stopped)

    def _with_exact_points(self, boxes: BoxSet) -> BoxSet:
        """Bound those boxes that are points by the value there, which is exact where numbers are."""
        some = np.flatnonzero((boxes.low == boxes.high).all(axis=0) & (boxes.bound <= self.found))[:AT_ONCE]
        if not len(some):
            return boxes
        bound = boxes.bound.copy()
        value = self.quantity.jets(point(boxes.low[:, some]), is_second=False).value
        bound[some] = np.maximum(bound[some], value.low)
        return BoxSet(boxes.low, boxes.high, bound)

    # -- one step

    def _step(self, boxes: BoxSet) -> BoxSet:
        """Bound some boxes, drop those that cannot hold the least value, and halve the others."""
        self.evaluated += len(boxes)
        count, is_small = len(self.low), self._are_small(boxes)
        is_second = is_small and count <= MOST_SECOND and self.quantity.has_second
        jet = self.quantity.jets(boxes.sides, is_second=is_second)
        middle = middle_of(boxes.low, boxes.high)
        at_middle = self.quantity.jets(point(middle), is_second=False)
        self._note(middle, at_middle)
        steps = subtract(boxes.sides, point(middle))
        bound = np.maximum(boxes.bound, _lowest(jet, at_middle, steps))
        is_point = (boxes.low == boxes.high).all(axis=0)
        bound = np.where(is_point, np.maximum(bound, at_middle.value.low), bound)  # exact where numbers are
        kept = (bound <= self.found) & ~(jet.kinds & int(BoxKind.OUTSIDE) != 0)
        low, high, kept = self._through(boxes, jet, kept)
        if is_second:
            low, high, kept = self._inside(BoxSet(low, high, bound), jet, at_middle, middle, steps, kept)
        return self._cut(
            BoxSet(low, high, bound).take(kept),
            [jet.slope(i).spread((len(kept),)).select(kept) for i in range(count)],
            boxes.take(kept),
            at_middle.value.spread((len(kept),)).select(kept),
        )

    def _are_small(self, boxes: BoxSet) -> bool:
        """Tell whether second slopes are worth their time."""
        return len(self.low) == 1 or bool((boxes.parts_of(self.low, self.high) <= 1 / NEARBY).all())

    def _note(self, middle: Array, jet: Jet) -> None:
        """Note the least value at a middle, where there certainly is one."""
        is_one = self.target is None or self.quantity.has_second  # of a derivative that jumps there is none
        missing = _MISSING if is_one else _MISSING | int(BoxKind.JUMP)
        most = np.where((jet.kinds & missing) == 0, jet.value.high, np.inf)
        self.has_value = self.has_value or bool(((jet.kinds & missing) == 0).any())
        if len(most) and (best := int(np.argmin(most))) >= 0 and most[best] < self.found:
            self.found, self.place = float(most[best]), middle[:, best].copy()

    def _through(self, boxes: BoxSet, jet: Jet, kept: Mask) -> tuple[Array, Array, Mask]:
        """Drop boxes through which the quantity rises or falls; at the end of the range, their side there is left."""
        low, high = boxes.low.copy(), boxes.high.copy()
        for i in range(len(low)):
            slope = jet.slope(i)
            rises, falls = jet.is_continuous & (slope.low > 0), jet.is_continuous & (slope.high < 0)
            kept = kept & ~(rises & (boxes.low[i] > self.low[i])) & ~(falls & (boxes.high[i] < self.high[i]))
            high[i] = np.where(rises, low[i], high[i])
            low[i] = np.where(falls, high[i], low[i])
        return low, high, kept

    def _inside(
        self, boxes: BoxSet, jet: Jet, at_middle: Jet, middle: Array, steps: Interval, kept: Mask
    ) -> tuple[Array, Array, Mask]:
        """Use that inside the range the gradient of a smooth quantity is 0 where it is least, and it bends up there."""
        count = len(boxes.low)
        is_inside = jet.is_smooth & (boxes.low > self.low[:, None]).all(0) & (boxes.high < self.high[:, None]).all(0)
        for i in range(count):
            kept = kept & ~(is_inside & (jet.second_slope(i, i).high < 0))
        bounded = np.all([one.is_bounded for one in (jet.second or {}).values()], axis=0) if jet.second else False
        some = np.flatnonzero(is_inside & kept & bounded)
        if not len(some):
            return boxes.low, boxes.high, kept
        gradient = [at_middle.slope(i).spread((len(kept),)).select(some) for i in range(count)]
        narrowed = contracted(jet, gradient, middle[:, some], steps.select(some), some)
        low, high = boxes.low.copy(), boxes.high.copy()
        low[:, some] = np.maximum(low[:, some], narrowed.low)
        high[:, some] = np.minimum(high[:, some], narrowed.high)
        kept = kept & (low <= high).all(0)
        return low, high, kept

    def _cut(self, boxes: BoxSet, slopes: Sequence[Interval], evaluated: BoxSet, at_middle: Interval) -> BoxSet:
        """Halve boxes along the side through which the quantity changes most; in turn along the longest."""
        if not len(boxes):
            return boxes
        is_done = is_narrow(evaluated) | self._are_hopeless(boxes, evaluated, at_middle)
        self.done.append(boxes.take(is_done))
        self.unproved.append(boxes.take(is_done & (boxes.bound < self._goal)))
        rest, width = boxes.take(~is_done), (boxes.high - boxes.low)[:, ~is_done]
        largest = [np.where(np.isfinite(one.largest), one.largest, 1.0)[~is_done] for one in slopes]
        by_change = np.argmax(np.stack([w * s for w, s in zip(width, largest, strict=True)]), axis=0)
        is_long = (self.evaluated // AT_ONCE) % 3 == 0
        by_length = np.argmax(rest.parts_of(self.low, self.high), axis=0)
        no_change = width[by_change, np.arange(len(rest))] == 0
        return halves(rest, np.where(no_change | is_long, by_length, by_change))

    def _are_hopeless(self, boxes: BoxSet, evaluated: BoxSet, at_middle: Interval) -> Mask:
        """Tell which boxes of a tiny part of the range no halving decides.

        They have no bound, as at a pole; or rounding leaves their middle alone undecided, so that the halves are so
        too, and the last halving has not raised the bound, nor have slopes narrowed the box.
        """
        is_tiny = (boxes.parts_of(self.low, self.high) <= HOPELESS).all(axis=0)
        is_whole = ((boxes.low == evaluated.low) & (boxes.high == evaluated.high)).all(axis=0)
        is_lost = (at_middle.low < self._goal) & (boxes.bound <= evaluated.bound) & is_whole
        return np.asarray(is_tiny & (np.isneginf(boxes.bound) | is_lost))


def _lowest(jet: Jet, at_middle: Jet, steps: Interval) -> Array:
    """Bound a quantity from below: by its value, and by its changes from the middle."""
    first = at_middle.value
    for i in jet.slopes:
        first = add(first, multiply(jet.slopes[i], steps.row(i)))
    is_known = jet.is_continuous & (at_middle.kinds & BROKEN == 0)
    low = np.maximum(jet.value.low, np.where(is_known, first.low, -np.inf))
    if jet.second is None:
        return np.asarray(low)
    return np.maximum(low, np.where(jet.is_smooth, _second_order(jet, at_middle, steps).low, -np.inf))


def _second_order(jet: Jet, at_middle: Jet, steps: Interval) -> Interval:
    """Bound a smooth quantity by its gradient at the middle and its second slopes in the box."""
    found = at_middle.value
    for i in jet.slopes:
        curved = multiply(point(0.5), jet.second_slope(i, i))
        found = add(found, multiply(at_middle.slope(i), steps.row(i)))
        found = add(found, multiply(curved, whole_power(steps.row(i), 2)))
        for j in jet.slopes:
            if j > i:
                found = add(found, multiply(jet.second_slope(i, j), multiply(steps.row(i), steps.row(j))))
    return found


def contracted(
    jet: Jet, gradient: Sequence[Interval], middle: Array, steps: Interval, some: npt.NDArray[np.intp]
) -> Interval:
    """Narrow boxes to where the gradient of a smooth quantity may be 0, by Krawczyk's operator.

    Args:
        jet: The jet of all boxes, with second slopes.
        gradient: The gradient at the middles of some.
        middle: Those middles.
        steps: The sides of those boxes, less the middles.
        some: Their places.

    Returns:
        Sides that contain all points of the boxes at which the gradient is 0; a box in which they are wholly inside
        has exactly one.
    """
    count = len(middle)
    second = [
        [jet.second_slope(i, j).spread((len(jet.kinds),)).select(some) for j in range(count)] for i in range(count)
    ]
    middles = np.array([[one.middle for one in row] for row in second]).transpose(2, 0, 1)
    inverse = np.linalg.pinv(middles)
    sides = []
    for i in range(count):
        side = point(middle[i])
        for j in range(count):
            side = add(side, multiply(point(-inverse[:, i, j]), gradient[j]))
            rest = point(np.full(len(some), float(i == j)))
            for k in range(count):
                rest = add(rest, multiply(point(-inverse[:, i, k]), second[k][j]))
            side = add(side, multiply(rest, steps.row(j)))
        sides.append(side)
    return Interval(np.stack([one.low for one in sides]), np.stack([one.high for one in sides]))

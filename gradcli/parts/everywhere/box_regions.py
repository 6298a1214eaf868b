"""JudgedRegions of a box: where torch's numbers are proved, and what the rest may hold.

A box is proved where the truth is smooth, and torch's errors are within the tolerance, relative to the truth; near a
zero of the truth, where no digit of a small number means much, relative to the largest in the whole box.  A box that is
not is halved, unless the bound at its middle fails too: then halves fail as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.crosscheck.rounding import SLACK
from gradcli.parts.everywhere.box_kinds import BoxKind, Kinds
from gradcli.parts.everywhere.box_sets import BoxSet, first_grid, halves, is_narrow, middle_of
from gradcli.parts.everywhere.certain_signs import has_divisors_of_zero
from gradcli.parts.everywhere.intervals import Interval, add, meet, multiply, point, subtract
from gradcli.parts.everywhere.jets import Jet
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.rounded_passes import Rounded, RoundedPasses
from gradcli.parts.everywhere.stopping import OVER_TIME, TOO_MANY, must_stop
from gradcli.progress import budget_factor
from gradcli.reference.bounds import Mask
from gradcli.reference.deadline import OverTimeError
from gradcli.results import RegionVerdict

PIECES = {1: 256, 2: 32, 3: 10}
"""Pieces of each side of the first grid, by the number of variables; of more variables, two."""

MOST_AT_ONCE = 8192
"""Boxes from which on none is halved any more; of a longer budget, as many times more."""

LEVELS = 40
"""Most halvings of a box."""

FIRST_LEVELS = {1: 4, 2: 2}
"""Halvings before the bound at a middle decides that more are in vain, by the number of variables; of more, one."""

NEARBY = {1: 2.0**-16, 2: 2.0**-9}
"""Part of the range within which a number must change its sign, to be compared with the largest in the box."""

FARTHEST = 2.0**-6
"""The same of more variables than two."""

NARROW = 2.0**-34
"""Part of the range from whose width down a box is halved no more."""

SHARES = (1 / 64, 1 / 16, 1 / 4, 1 / 2, 3 / 4, 15 / 16, 63 / 64)
"""Fractions of the length of a region at which a witness is judged, however many boxes it has; more near its ends."""

LABELS: tuple[tuple[int, RegionVerdict], ...] = (
    (int(BoxKind.OUTSIDE), "outside"),
    (int(BoxKind.POLE), "pole"),
    (int(BoxKind.EDGE), "edge"),
    (int(BoxKind.JUMP), "jump"),
    (int(BoxKind.KINK), "kink"),
    (int(BoxKind.OVERFLOW), "overflow"),
)
"""Verdicts on what a box may hold, the first that is there."""


@dataclass(frozen=True)
class JudgedRegions:
    """Boxes by verdict.

    Attributes:
        boxes: All boxes, which make up the range.
        verdicts: The verdict on each.
        evaluated: The boxes that were evaluated.
        stopped: Why the halving stopped early; "" where it did not.
        is_of_special: Whether errors of torch's special functions are taken as measured.
    """

    boxes: BoxSet
    verdicts: npt.NDArray[np.object_]
    evaluated: int
    stopped: str
    is_of_special: bool


class RegionSearch:
    """A search for the part of a box where torch's numbers are proved.

    Args:
        box: The function and its box.
        passes: Torch's passes.
        tolerance: How far they may be off, relative to the truth.
        finest: Part of the range from whose width down smooth boxes are halved no more.
    """

    def __init__(self, box: MovingBox, passes: RoundedPasses, tolerance: float, finest: float = NARROW) -> None:
        self.box, self.passes, self.tolerance, self.finest = box, passes, tolerance, finest
        self.count = len(box.low)
        self.scale = np.zeros(self.count + 1)
        nearby = NEARBY.get(self.count, FARTHEST)
        self.reach = (nearby * box.high - nearby * box.low)[:, None]
        self.evaluated = 0

    @np.errstate(all="ignore")
    def run(self) -> JudgedRegions:
        """Halve the box until all of it has a verdict."""
        most, most_halved = self.box.function.at_once, MOST_AT_ONCE * max(1.0, budget_factor())
        waiting = first_grid(self.box.low, self.box.high, PIECES.get(self.count, 2), most)
        done, verdicts, stopped = list[BoxSet](), list[npt.NDArray[np.object_]](), ""
        for level in range(LEVELS + 1):
            try:
                labels, is_final = self._judged(waiting, level)
            except OverTimeError:
                labels, is_final = np.full(len(waiting), "open", object), np.ones(len(waiting), bool)
                stopped = OVER_TIME
            is_last = level == LEVELS or bool(must_stop()) or 2 * int((~is_final).sum()) > most_halved
            if is_last and not is_final.all() and not stopped:
                stopped = must_stop() or TOO_MANY
            is_final = is_final | is_last
            done.append(waiting.take(is_final))
            verdicts.append(labels[is_final])
            waiting = waiting.take(~is_final)
            if not len(waiting):
                break
            waiting = halves(waiting, np.argmax(waiting.parts_of(self.box.low, self.box.high), axis=0))
        is_of_special = self.passes.has_special_functions
        return JudgedRegions(BoxSet.joined(done), np.concatenate(verdicts), self.evaluated, stopped, is_of_special)

    def _judged(self, boxes: BoxSet, level: int) -> tuple[npt.NDArray[np.object_], Mask]:
        """Judge boxes: a verdict for each, and whether it is the last word."""
        self.evaluated += len(boxes)
        middle, function = middle_of(boxes.low, boxes.high), self.box.quantity()
        jet, at_middle = function.jets(boxes.sides), function.jets(point(middle))
        truths = truths_of(jet, at_middle, subtract(boxes.sides, point(middle)), self.count)
        numbers, at_points = self.passes.run(boxes.sides), self.passes.run(point(middle))
        differences = self._differences(boxes)
        exact = [at_middle.value, *(at_middle.slope(i) for i in range(self.count))]
        exact = [one.spread((len(boxes),)) for one in exact]
        self.scale = np.maximum(self.scale, [np.max(np.where(np.isfinite(t.least), t.least, 0)) for t in exact])
        is_close = self._within(truths, numbers, differences, [False] * len(truths))
        is_close_there = self._within(exact, at_points, [np.zeros(())] * len(truths), [False] * len(truths))
        is_same = np.all([_overlap(a, b) for a, b in zip(exact, at_points, strict=True)], axis=0)
        smooth = jet.is_smooth & is_same
        is_other = jet.is_smooth & ~is_same & ~reduce(np.logical_or, (one.is_bad for one in at_points))
        is_hopeless = (smooth & ~is_close_there | is_other) & (level >= FIRST_LEVELS.get(self.count, 1))
        width = boxes.parts_of(self.box.low, self.box.high).max(axis=0)
        is_last = is_hopeless | is_narrow(boxes) | (width <= NARROW) | (smooth & (width <= self.finest))
        labels, kinds = np.full(len(boxes), "open", object), self._kinds(jet.kinds, boxes)
        for kind, label in reversed(LABELS):
            labels[(kinds & kind) != 0] = label
        is_small = (boxes.high - boxes.low <= self.reach).all(axis=0)
        some = np.flatnonzero(smooth & (is_last | is_small) & ~is_close)
        if len(some):
            zeros = self._zeros_near(boxes.take(some))
            selected = [t.select(some) for t in truths], [one.select(some) for one in numbers]
            own = *selected, [one[some] for one in differences], zeros
            is_fair = self._within(*own)
            labels[some[self._within(*own, self.passes.smallest_normal)]] = "underflow"
            labels[some[is_fair]] = "near-zero"
            is_last[some[is_fair]] = True
        labels[smooth & is_close] = "proved"
        is_outside = (jet.kinds & int(BoxKind.OUTSIDE)) != 0
        return labels, np.asarray((smooth & is_close) | is_last | is_outside)

    def _kinds(self, kinds: Kinds, boxes: BoxSet) -> Kinds:
        """Call a box an overflow and no pole where no divisor in it is 0: the quotient is too large for its bounds."""
        found = np.broadcast_to(kinds, (len(boxes),)).copy()
        poles = np.flatnonzero(found & int(BoxKind.POLE))
        if len(poles):
            lost = poles[~has_divisors_of_zero(self.box.quantity(), boxes.take(poles))]
            found[lost] = found[lost] & ~int(BoxKind.POLE) | int(BoxKind.OVERFLOW)
        return found

    def _differences(self, boxes: BoxSet) -> list[Array]:
        """Bound how far torch's passes are from y and its derivatives, rounding aside."""
        nothing = np.zeros(len(boxes))
        if self.passes.differences is None:
            return [nothing] * (self.count + 1)
        return [nothing, *self.passes.differences.bounds(boxes)]

    def _zeros_near(self, boxes: BoxSet) -> list[Mask]:
        """Tell of y and each derivative where it certainly changes its sign in a box or next to it, or is 0."""
        ends = [(low - reach, high + reach) for low, high, reach in zip(boxes.low, boxes.high, self.reach, strict=True)]
        rises, falls = (np.zeros((self.count + 1, len(boxes)), bool) for _ in range(2))
        own = list(zip(boxes.low, boxes.high, strict=True))
        for corner in itertools.chain(itertools.product(*ends), itertools.product(*own)):
            jet = self.box.quantity().jets(point(np.stack(corner)), is_second=False)
            for k in range(self.count + 1):
                one = (jet.value if k == 0 else jet.slope(k - 1)).spread((len(boxes),))
                is_known = jet.is_smooth
                rises[k] |= is_known & ((one.low > 0) | one.is_zero)
                falls[k] |= is_known & ((one.high < 0) | one.is_zero)
        return [rise & fall for rise, fall in zip(rises, falls, strict=True)]

    def _within(
        self,
        truths: Sequence[Interval],
        numbers: Sequence[Rounded],
        differences: Sequence[Array],
        is_near_zero: Sequence[Mask | bool],
        least: float = 0,
    ) -> Mask:
        """Tell where all errors are within the tolerance: relative to the truth, or near a zero to the largest.

        An error is one of rounding, with a difference that there is without it.

        Numbers that are smaller than the `least` one, in truth and as torch has them, are passed over.
        """
        found = np.asarray(True)
        parts = zip(truths, numbers, differences, self.scale, is_near_zero, strict=True)
        for truth, number, difference, scale, near in parts:
            error = SLACK * number.error + difference
            is_small = (error <= self.tolerance * truth.least) | ((error == 0) & truth.is_zero)
            is_passed = (truth.largest + error < least) | (near & (error <= self.tolerance * scale))
            found = found & ~number.is_bad & (is_small | is_passed)
        return found


def joined(parts: Sequence[JudgedRegions]) -> JudgedRegions:
    """Join the regions of parts of a box."""
    boxes = BoxSet.joined([one.boxes for one in parts])
    verdicts = np.concatenate([one.verdicts for one in parts])
    stopped = next((one.stopped for one in parts if one.stopped), "")
    evaluated, is_of_special = sum(one.evaluated for one in parts), any(one.is_of_special for one in parts)
    return JudgedRegions(boxes, verdicts, evaluated, stopped, is_of_special)


def truths_of(jet: Jet, at_middle: Jet, steps: Interval, count: int) -> list[Interval]:
    """Bound y and its derivatives, also by their changes from the middle where y is smooth."""
    size = jet.kinds.shape
    found = []
    for i in range(-1, count):
        own = jet.value if i < 0 else jet.slope(i)
        near = at_middle.value if i < 0 else at_middle.slope(i)
        for j in range(count):
            change = jet.slope(j) if i < 0 else jet.second_slope(i, j)
            near = add(near, multiply(change, steps.row(j)))
        own, near = own.spread(size), near.spread(size)
        found.append(meet(own, near).where(jet.is_smooth & at_middle.is_smooth, own))
    return found


def _overlap(truth: Interval, number: Rounded) -> Mask:
    """Tell where torch's passes, without rounding, may be the truth."""
    near = SLACK * number.error
    return np.asarray((number.exact.low - near <= truth.high) & (truth.low <= number.exact.high + near))


def witness_points(boxes: BoxSet, most: int) -> Array:
    """Choose points of some boxes: 0 where it is inside, middles and ends, spread over the boxes."""
    places = np.unique(np.linspace(0, len(boxes) - 1, max(1, most // 3)).astype(int))
    chosen = boxes.take(places)
    zero = np.where((chosen.low <= 0) & (chosen.high >= 0), 0.0, chosen.low)
    points = np.unique(np.concatenate([zero, middle_of(chosen.low, chosen.high), chosen.high], axis=1), axis=1)
    return points[:, np.unique(np.linspace(0, points.shape[1] - 1, most).astype(int))]


def points_by_share(boxes: BoxSet) -> Array:
    """Choose the middles of the boxes in which some shares of all of them end."""
    order = np.argsort(boxes.low[0], kind="stable")
    sizes = np.prod(boxes.parts_of(boxes.low.min(axis=1), boxes.high.max(axis=1)), axis=0)[order]
    ends = np.cumsum(sizes)
    places = np.searchsorted(ends, np.multiply(SHARES, ends[-1])).clip(max=len(order) - 1)
    chosen = boxes.take(order[np.unique(places)])
    return middle_of(chosen.low, chosen.high)

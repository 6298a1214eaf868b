"""Bits that torch's numbers lose at most, at every point of a box: of y and its derivatives, relative to each.

Boxes are cut over magnitudes, also on both sides of 0, and halved where their bound is not as low as it is asked for.
Errors of numbers below the normal ones are relative to the least of these, as where bits are measured at points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress

import numpy as np

from gradcli.arrays import Array
from gradcli.crosscheck.rounding import SLACK
from gradcli.errors import GradcliError
from gradcli.parts.everywhere.box_kinds import BoxKind
from gradcli.parts.everywhere.box_regions import truths_of
from gradcli.parts.everywhere.box_sets import BoxSet, first_grid, halves, is_narrow, middle_of
from gradcli.parts.everywhere.code_boxes import known_box
from gradcli.parts.everywhere.intervals import point, subtract
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.recordings import with_recordings
from gradcli.parts.everywhere.rounded_passes import RoundedPasses, recorded_at
from gradcli.progress import SECONDS, budget_factor
from gradcli.questions.bound_function import FunctionWithValues
from gradcli.reference.bounds import NoRuleError
from gradcli.reference.deadline import OverTimeError, part_limit, time_limit

FIRST_BOXES, MOST_AT_ONCE, MOST_ROUNDS = 512, 8192, 80
"""Boxes at the beginning; from which on none is halved any more; and halvings of one."""

MOST_FLOATS = 16
"""More floats than a box has that is not halved."""

SHARE = 0.25
"""Share of the time of a question."""

WITHOUT_VALUE = int(BoxKind.POLE | BoxKind.EDGE | BoxKind.OUTSIDE | BoxKind.OVERFLOW)


def lost_bits_in_box(unbound: FunctionWithValues, ranges: Mapping[str, str], enough: float) -> int | None:
    """Bound the bits that y and its derivatives lose in a box; None where no bound is found, or y may have no value.

    Args:
        unbound: The function.
        ranges: The ranges of the variables that move.
        enough: Bits from which down a bound is as low as it is asked for.
    """
    with suppress(GradcliError, NoRuleError, OverTimeError), time_limit():
        box = known_box(unbound, ranges)
        if box.bound_function.recording is not None or box.bound_function.device != "cpu":
            return None
        _ = box.bound_function.value, recorded_at(box.bound_function)  # so that torch is there, which takes a while
        with part_limit(SHARE * SECONDS * budget_factor()):
            most = max(_bits(part, passes, enough) for part, passes in with_recordings(box))
            return math.ceil(most) if most < np.finfo(box.bound_function.dtype).nmant + 1 else None
    return None


def has_values_in_box(unbound: FunctionWithValues, ranges: Mapping[str, str]) -> bool:
    """Tell whether y certainly has a value at every point of a box."""
    with suppress(GradcliError, OverTimeError), time_limit(), part_limit(SHARE * SECONDS * budget_factor()):
        box = known_box(unbound, ranges)
        waiting, function = _grid(box), box.quantity()
        for _ in range(MOST_ROUNDS):
            kinds = np.broadcast_to(function.jets(waiting.sides, is_second=False).kinds, (len(waiting),))
            waiting = waiting.take((kinds & WITHOUT_VALUE) != 0)
            if not len(waiting):
                return True
            if 2 * len(waiting) > MOST_AT_ONCE:
                return False
            waiting = _halved(waiting)
    return False


def _bits(box: MovingBox, passes: RoundedPasses, enough: float) -> float:
    """Bound the bits that are lost in a box; infinite where that is not known."""
    most, waiting = 0.0, _grid(box)
    for _ in range(MOST_ROUNDS):
        bits = _bits_of(box, passes, waiting)
        narrow = (bits > enough) & is_narrow(waiting)
        if narrow.any() and len(box.low) == 1:  # where a condition changes, torch takes one branch of each float
            most = max(
                most, float(_bits_of(box, passes, _floats(waiting.take(narrow), box.bound_function.dtype)).max())
            )
        is_done = bits <= enough
        is_done |= ~is_done & (2 * int((~is_done & ~narrow).sum()) > MOST_AT_ONCE)
        most = max(most, float(bits[is_done].max(initial=0.0)))
        waiting = waiting.take(~is_done & ~narrow)
        if not len(waiting) or math.isinf(most):
            return most
        waiting = _halved(waiting)
    return max(most, float(_bits_of(box, passes, waiting).max()))


def _halved(boxes: BoxSet) -> BoxSet:
    """Halve the longest side of each box, relative to its numbers."""
    with np.errstate(all="ignore"):
        ends = np.maximum(abs(boxes.low), abs(boxes.high))
        width = (boxes.high - boxes.low) / np.maximum(ends, 1e-300)
    return halves(boxes, np.argmax(width, axis=0))


def _floats(boxes: BoxSet, dtype: str) -> BoxSet:
    """List the floats of narrow boxes, as boxes of one number each."""
    found = set[float]()
    for low, high in zip(boxes.low[0], boxes.high[0], strict=True):
        number = np.asarray(low).astype(dtype)
        for _ in range(MOST_FLOATS):
            found |= {float(number)} if low <= number <= high else set()
            number = np.nextafter(number, np.asarray(np.inf, dtype))
    numbers = np.array(sorted(found) or boxes.low[0].tolist())[None]
    return BoxSet(numbers, numbers, np.zeros(numbers.shape[1]))


@np.errstate(all="ignore")
def _bits_of(box: MovingBox, passes: RoundedPasses, boxes: BoxSet) -> Array:
    """Bound the bits that the worst number of each box loses."""
    kind, count = np.finfo(box.bound_function.dtype), len(box.low)
    middle, function = middle_of(boxes.low, boxes.high), box.quantity()
    jet = function.jets(boxes.sides)
    truths = truths_of(jet, function.jets(point(middle)), subtract(boxes.sides, point(middle)), count)
    found = np.zeros(len(boxes))
    for truth, number in zip(truths, passes.run(boxes.sides), strict=True):
        least = np.maximum(truth.least, number.exact.least - number.error)  # both are bounds of the truth
        relative = SLACK * number.error / np.maximum(least, float(kind.smallest_normal))
        bits = np.log2(np.maximum(relative, 2.0**-2000)) + kind.nmant + 1
        found = np.maximum(found, np.where(number.is_bad | np.isnan(bits), np.inf, bits))
    return np.where((jet.kinds & WITHOUT_VALUE) != 0, np.inf, found)


def _grid(box: MovingBox) -> BoxSet:
    """Cut a box by magnitudes, on both sides of 0."""
    least = float(np.finfo(box.bound_function.dtype).smallest_normal)
    sides = [list(_sides(*pair, least)) for pair in zip(box.low.tolist(), box.high.tolist(), strict=True)]
    if len(sides) == 1:
        sides = [[part for side in sides[0] for part in _apart(*side, _switches(box), box.bound_function.dtype)]]
    parts = list(itertools.product(*sides))
    pieces = max(1, int((FIRST_BOXES / len(parts)) ** (1 / len(sides))))
    ends = (np.array(part).T for part in parts)
    return BoxSet.joined([first_grid(low, high, pieces) for low, high in ends])


def _switches(box: MovingBox) -> set[float]:
    """List the numbers that the one variable, or its absolute value, is compared with."""
    (x,), found = box.program.moving, set[float]()
    sizes = {x, *(line.symbol for line in box.program.lines if line.call.op.name == "abs" and x in line.call.operands)}
    for line in box.program.lines:
        if line.call.op.sense and not sizes.isdisjoint(line.call.operands):
            values = [box.program.constants.get(one, one) for one in line.call.operands]
            numbers = [float(one) for one in values if isinstance(one, float) or one.is_number]
            found |= {sign * one for one in numbers for sign in (1, -1)}
    return found


def _apart(low: float, high: float, places: set[float], dtype: str) -> Iterator[tuple[float, float]]:
    """Cut a range between the floats on both sides of some places, and these themselves, as torch takes one branch."""
    start = low
    for place in sorted(one for one in places if low < one < high):
        below, there, above = (float(one) for one in _neighbours(place, dtype))
        if not (start < below and above < high):
            continue
        yield start, below
        yield there, there
        start = above
    yield start, high


def _neighbours(place: float, dtype: str) -> tuple[Array, Array, Array]:
    """Return a float, with the next ones on both sides."""
    number, end = np.asarray(place).astype(dtype), np.asarray(np.inf, dtype)
    return np.nextafter(number, -end), number, np.nextafter(number, end)


def _sides(low: float, high: float, least: float) -> Iterator[tuple[float, float]]:
    """Cut a range at 0, and next to it."""
    cuts = [low, *(one for one in (-least, 0.0, least) if low < one < high), high]
    yield from itertools.pairwise(cuts)

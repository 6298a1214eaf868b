"""Proofs of statements on all points of a box: proved, refuted by a point, or undecided with what is left."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gradcli import trial
from gradcli.arrays import Array
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_kinds import BoxKind
from gradcli.parts.everywhere.box_sets import BoxSet, first_grid, halves, is_narrow, middle_of
from gradcli.parts.everywhere.box_statements import BoxCondition, Shape, conditions_of, in_quotients
from gradcli.parts.everywhere.certain_signs import is_certainly_positive
from gradcli.parts.everywhere.curvature_rules import Curving, curving, curving_of
from gradcli.parts.everywhere.halving import MOST_BOXES, halved
from gradcli.parts.everywhere.held_kinds import held_kinds
from gradcli.parts.everywhere.intervals import Interval, add, multiply, point, subtract
from gradcli.parts.everywhere.jets import Jet
from gradcli.parts.everywhere.least_values import MOST_SECOND, LeastValue, LeastValueSearch
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.stopping import OVER_TIME, must_stop
from gradcli.parts.everywhere.touching import are_touching
from gradcli.parts.everywhere.zeros import are_definite
from gradcli.reference.bounds import Mask
from gradcli.reference.deadline import OverTimeError, part_limit
from gradcli.results import BoxProof

WITHOUT_VALUE = int(BoxKind.POLE | BoxKind.EDGE | BoxKind.OUTSIDE)
"""What leaves points of a box without a value."""

WHERE_THERE_IS_ONE = "at the points where y has a value"

WHERE_SIDES_HAVE_ONE = "at the points where its sides have values"

NOWHERE = "no point was found where its sides have values"


def proofs_of(statements: Sequence[str], box: MovingBox, seconds: float) -> list[BoxProof]:
    """Prove or refute statements, each in its share of the time.

    Raises:
        InputError: One is not of the form that is read.
    """
    written = [in_quotients(text, box) for text in statements]
    read = [(text, conditions_of(text, box)) for text in written]
    trial.end()
    kinds = held_kinds(box.quantity(), box.low, box.high) if read else 0
    note = WHERE_THERE_IS_ONE if kinds & WITHOUT_VALUE else ""
    return [_proof(text, conditions, box, seconds / len(read), note) for text, conditions in read]


def _proof(
    text: str, conditions: Sequence[BoxCondition | Shape], box: MovingBox, seconds: float, note: str
) -> BoxProof:
    """Prove all conditions of a statement, or refute one of them."""
    boxes, left, open_notes, notes = 0, 0.0, list[str](), [note]
    for one in conditions:
        try:
            with part_limit(seconds / len(conditions)):
                found = _of_shape(text, one, box) if isinstance(one, str) else _of_condition(text, one, box)
        except OverTimeError:
            found = BoxProof(text, "undecided", 0, None, 1.0, f"stopped {OVER_TIME}")
        boxes += found.boxes
        if found.status == "refuted":
            return BoxProof(text, "refuted", boxes, found.at, 0.0, found.note)
        if found.status == "undecided":
            left = max(left, found.left)
            said = one if isinstance(one, str) else one.said
            open_notes.append(f"{said}: {found.note}" if said and len(conditions) > 1 else found.note)
        elif not note:
            notes.append(found.note)
    if open_notes:
        return BoxProof(text, "undecided", boxes, None, left, "; ".join(dict.fromkeys(open_notes)))
    return BoxProof(text, "proved", boxes, None, 0.0, next(filter(None, notes), ""))


def _of_condition(text: str, condition: BoxCondition, box: MovingBox) -> BoxProof:
    """Prove that a number is positive, or not negative, wherever it has a value."""
    may_lack = held_kinds(condition.quantity, box.low, box.high, wanted=WITHOUT_VALUE)
    note = WHERE_SIDES_HAVE_ONE if may_lack else ""
    if _is_above_tangent(condition, box):
        return BoxProof(text, "proved", 1, note=note)
    search = LeastValueSearch(
        condition.quantity,
        box.low,
        box.high,
        target=0.0,
        is_strict=condition.is_strict,
        is_over_at_target=condition.fails_at_zero,
    )
    boxes = first_grid(box.low, box.high, most=condition.quantity.function.at_once)
    is_positive, search.has_value = is_certainly_positive(condition.quantity, boxes)
    found, unproved = _searched(search, boxes.take(~is_positive))
    if search.is_refuted and found.place is not None:
        return BoxProof(
            text, "refuted", found.evaluated, box.by_name(found.place), 0.0, _value_at(condition, found.place)
        )
    with suppress(OverTimeError):  # what was found holds without it
        unproved = unproved.take(~is_certainly_positive(condition.quantity, unproved)[0])
    evaluated = found.evaluated + int(is_positive.sum())
    if not search.has_value:
        return BoxProof(text, "undecided", evaluated, None, 1.0, NOWHERE)
    if not len(unproved):
        return BoxProof(text, "proved", evaluated, note=note)
    reason = f"stopped {found.stopped}" if found.stopped else _on_the_rest(condition, unproved, box)
    with suppress(OverTimeError):
        reason += _underflowing(condition, unproved, box)
    return BoxProof(text, "undecided", evaluated, None, unproved.share_of(box.low, box.high), reason)


TOUCHING_SECONDS = 1.5
"""Seconds in which points are looked for at which a number is 0."""

FIRST_BOXES = (512, 4_096, 32_768)
"""Boxes after which it is looked for points at which a number is 0, in what is left; at the end it is so too."""


def _searched(search: LeastValueSearch, boxes: BoxSet) -> tuple[LeastValue, BoxSet]:
    """Search for a point at which a number is negative; return the boxes in which it may be so."""
    for most in (*(() if search.is_strict else FIRST_BOXES), MOST_BOXES):
        search.most = most
        found = search.run(boxes)
        rest = BoxSet.joined([found.left, *search.unproved])
        if search.is_strict or search.is_refuted or not len(rest):
            break
        boxes = found.left
        with suppress(OverTimeError), part_limit(TOUCHING_SECONDS):  # what was found holds without it
            is_open = ~are_touching(search.quantity, rest, search.low, search.high)
            count = len(found.left)
            boxes, search.unproved = boxes.take(is_open[:count]), [rest.take(slice(count, None)).take(is_open[count:])]
            rest = rest.take(is_open)
        if not len(boxes):
            return replace(found, stopped=""), rest
        if must_stop():
            break
    return found, rest


def _is_above_tangent(condition: BoxCondition, box: MovingBox) -> bool:
    """Tell whether a number is convex in the whole box, and its tangent plane at a point of it is not negative there.

    That proves what is least on a whole line, as (x - y)**2 is, which no halving separates from 0.
    """
    count, sides = len(box.low), Interval(box.low[:, None], box.high[:, None])
    if count > MOST_SECOND or not condition.quantity.has_second:
        return False
    with np.errstate(all="ignore"):
        if not (_is_curved(condition.quantity.jets(sides), 1, count, 1).all() or _is_composed_convex(condition, box)):
            return False
        for at in (box.low / 2 + box.high / 2, np.clip(0.0, box.low, box.high)):
            here = point(at[:, None])
            jet, steps = condition.quantity.jets(here), subtract(sides, here)
            least = jet.value
            for i in range(count):
                least = add(least, multiply(jet.slope(i), steps.row(i)))
            low = float(least.low[0])
            if jet.is_smooth.all() and (low > 0 or (low == 0 and not condition.is_strict)):
                return True
    return False


def _is_composed_convex(condition: BoxCondition, box: MovingBox) -> bool:
    """Tell whether a number of several variables is convex in the whole box by the rules of composition."""
    function = condition.quantity.as_function if len(box.low) > 1 else None
    return function is not None and Curving.CONVEX in curving_of(function, box.low, box.high)


def _on_the_rest(condition: BoxCondition, rest: BoxSet, box: MovingBox) -> str:
    """Say where boxes are left that are not halved any more, as where both sides are equal."""
    reason = "no halving decides the rest"
    if condition.said:
        low, high = rest.low[:, 0], rest.high[:, 0]
        there = box.by_name(np.where((low <= 0) & (high >= 0), 0.0, low / 2 + high / 2))
        where = ", ".join(f"{name} = {number:.3g}" for name, number in there.items())
        why = "both sides may be equal"
        with np.errstate(all="ignore"), suppress(OverTimeError):
            least = condition.quantity.jets(rest.take(slice(0, 1)).sides, is_second=False).value.low
            why = "bounds of the difference are infinite" if np.isneginf(least).any() else why
        reason += f": {condition.said} is open at {where}, where {why}"
    return reason


def _underflowing(condition: BoxCondition, rest: BoxSet, box: MovingBox) -> str:
    """Say where a number is too near to 0 for bounds in float64 to tell its sign; "" if nowhere that is looked at."""
    if not condition.is_strict:
        return ""
    some = rest.take(np.unique(np.linspace(0, len(rest) - 1, MOST_LOOKED_AT).astype(int)))
    middle = middle_of(some.low, some.high)
    with np.errstate(all="ignore"):
        value = condition.quantity.jets(point(middle), is_second=False).value.spread((len(some),))
    least = np.finfo(np.float64).smallest_normal
    tiny = np.flatnonzero((value.low <= 0) & (value.low > -least) & (value.high >= 0) & (value.high < least))
    if not len(tiny):
        return ""
    where = ", ".join(f"{name} = {number:.3g}" for name, number in box.by_name(middle[:, tiny[0]]).items())
    return f"; at {where} the bounds underflow to 0, and tell no sign"


MOST_LOOKED_AT = 64
"""Most boxes that are left in which it is looked for underflow."""


def _value_at(condition: BoxCondition, place: Array) -> str:
    """Write the value of the side that a counterexample is about."""
    if condition.shown is None:
        return ""
    quantity, side = condition.shown
    value = quantity.jets(point(place[:, None]), is_second=False).value
    low, high = float(value.low[0]), float(value.high[0])
    if np.isfinite(low) and np.isfinite(high):
        return f"{side} = {float(value.middle[0]):.6g} there"
    return f"{side} is above {low:.6g} there" if np.isfinite(low) else f"{side} is below {high:.6g} there"


# -- convexity


def _of_shape(text: str, shape: Shape, box: MovingBox) -> BoxProof:
    """Prove that y is convex or concave: by composition, or by its second slopes in small boxes."""
    wanted = Curving.CONVEX if shape == "convex" else Curving.CONCAVE
    if wanted in curving(box):
        return BoxProof(text, "proved", 1)
    return _by_second_slopes(text, box, 1 if shape == "convex" else -1)


def _by_second_slopes(text: str, box: MovingBox, sign: int) -> BoxProof:
    narrow, bad, quantity = list[BoxSet](), list[Array](), box.quantity()

    def step(boxes: BoxSet) -> BoxSet:
        jet = quantity.jets(boxes.sides)
        is_proved = _is_curved(jet, len(boxes), len(box.low), sign)
        rest = boxes.take(~is_proved)
        bad.extend(_counterexamples(quantity, boxes, sign))
        is_bent = ~np.broadcast_to(jet.is_smooth, (len(boxes),))[~is_proved]
        bad.extend(_beyond_chords(quantity, rest.take(is_bent), box, sign))
        is_outside = np.broadcast_to((jet.kinds & int(BoxKind.OUTSIDE)) != 0, (len(boxes),))[~is_proved]
        width = rest.parts_of(box.low, box.high)
        is_done = is_outside | is_narrow(rest) | (width <= NARROW).all(axis=0)
        narrow.append(rest.take(is_done))
        rest, width = rest.take(~is_done), width[:, ~is_done]
        return halves(rest, np.argmax(width, axis=0)) if len(rest) else rest

    search = halved(first_grid(box.low, box.high), step, ordered=lambda rest: rest.take(slice(0, 0)) if bad else rest)
    if bad:
        return BoxProof(text, "refuted", search.evaluated, box.by_name(bad[0]), 0.0, "it bends the other way there")
    left = BoxSet.joined([*narrow, search.left])
    if not len(left):
        return BoxProof(text, "proved", search.evaluated)
    stopped = f"stopped {search.stopped}" if search.stopped else "in the rest there may be a kink, or no bend at all"
    stopped = "; ".join(filter(None, (stopped, _singular(quantity, left, box))))
    return BoxProof(text, "undecided", search.evaluated, None, left.share_of(box.low, box.high), stopped)


FLAT = 1e-9
"""Size of the least eigenvalue, next to the largest, from which down a Hessian counts as singular."""


def _singular(quantity: BoxQuantity, left: BoxSet, box: MovingBox) -> str:
    """Say that the Hessian is singular where boxes are left, so that no bound tells a 0 from what is below; or ""."""
    some = left.take(np.unique(np.linspace(0, len(left) - 1, MOST_LOOKED_AT).astype(int)))
    middle, count = middle_of(some.low, some.high), len(some.low)
    try:
        with np.errstate(all="ignore"):
            _, _, middles = _hessians(quantity, middle)
    except OverTimeError:
        return ""
    values = np.abs(np.linalg.eigvalsh(middles))
    flat = np.flatnonzero((values.min(axis=1) <= FLAT * values.max(axis=1)) & (values.max(axis=1) > 0))
    if count < 2 or 2 * len(flat) < len(some):
        return ""
    where = ", ".join(f"{name} = {number:.3g}" for name, number in box.by_name(middle[:, flat[0]]).items())
    return (
        f"the Hessian is singular, as at {where}: bounds in a box do not tell its eigenvalue 0 from one on either side"
    )


NARROW = 2.0**-20
"""Part of the range from whose width down a box is not halved to prove how y bends."""


def _is_curved(jet: Jet, size: int, count: int, sign: int) -> Mask:
    """Tell in which boxes y bends one way, by the second slopes and their determinants."""
    rows = [[jet.second_slope(i, j).spread((size,)) for j in range(count)] for i in range(count)]
    rows = [[one if sign > 0 else -one for one in row] for row in rows]
    smooth = np.broadcast_to(jet.is_smooth, (size,))
    if count == 1:
        return np.asarray(smooth & (rows[0][0].low >= 0))
    return np.asarray(smooth & are_definite(rows, may_be_flat=True))


def _hessians(quantity: BoxQuantity, at: Array) -> tuple[Jet, list[list[Interval]], Array]:
    """Return the jet at points, the bounds of its second slopes, and these as numbers, a matrix a point."""
    count, size = at.shape
    jet = quantity.jets(point(at))
    rows = [[jet.second_slope(i, j).spread((size,)) for j in range(count)] for i in range(count)]
    return jet, rows, np.array([[np.nan_to_num(one.middle) for one in row] for row in rows]).transpose(2, 0, 1)


def _counterexamples(quantity: BoxQuantity, boxes: BoxSet, sign: int) -> list[Array]:
    """Find middles at which y certainly bends the other way, along an eigenvector of its Hessian."""
    middle, count, size = middle_of(boxes.low, boxes.high), len(boxes.low), len(boxes)
    jet, rows, middles = _hessians(quantity, middle)
    _, vectors = np.linalg.eigh(sign * middles)
    along = vectors[:, :, 0]
    bend = Interval(np.zeros(size), np.zeros(size))
    for i in range(count):
        for j in range(count):
            bend = add(bend, multiply(rows[i][j], multiply(point(along[:, i]), point(along[:, j]))))
    is_bad = jet.is_smooth & ((bend.high < 0) if sign > 0 else (bend.low > 0))
    return list(middle[:, is_bad].T)


def _beyond_chords(quantity: BoxQuantity, boxes: BoxSet, box: MovingBox, sign: int) -> list[Array]:
    """Find points at which y is certainly above the chord between two points next to them; below it, if concave.

    That refutes what has a kink, whose second slopes tell nothing: (c - b)*y(a) + (b - a)*y(c) >= (c - a)*y(b).
    """
    found, size = list[Array](), (len(boxes),)
    if not len(boxes):
        return found

    def values(at: Array) -> tuple[Interval, Mask]:
        jet = quantity.jets(point(at), is_second=False)
        return jet.value.spread(size), np.broadcast_to((jet.kinds & WITHOUT_VALUE) == 0, size)

    for at in (middle_of(boxes.low, boxes.high), boxes.low):  # a kink may be between two boxes
        here, is_there = values(at)
        for n in range(len(at)):
            low, high, reach = at.copy(), at.copy(), boxes.high[n] - boxes.low[n]
            low[n], high[n] = np.maximum(at[n] - reach, box.low[n]), np.minimum(at[n] + reach, box.high[n])
            (first, has_first), (last, has_last) = values(low), values(high)
            a, b, c = point(low[n]), point(at[n]), point(high[n])
            chord = add(multiply(subtract(c, b), first), multiply(subtract(b, a), last))
            beyond = subtract(multiply(subtract(c, a), here), chord)
            is_beyond = (beyond.low > 0) if sign > 0 else (beyond.high < 0)
            found += list(at[:, is_there & has_first & has_last & is_beyond].T)
    return found

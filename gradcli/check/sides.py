"""The derivatives on either side of the point itself, which prove what they show: a kink, a slope, or none.

One-sided dual numbers find them where the slopes of all operations are finite; series on the rays from both sides where
one is infinite or the domain ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb

from gradcli.check.compare import compare
from gradcli.check.entry import Entry, Tolerance, to_float
from gradcli.check.target import ReferenceValues, Target
from gradcli.reference.balls import Ball, precision
from gradcli.reference.duals import Direction, OverBudgetError, Plan, Reference
from gradcli.reference.probing import Limit
from gradcli.reference.rays import Element, Rays
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.series import Absent, Series, Undecided, plus, scaled

SIDE_BITS = 256
"""Precision of the derivatives on either side of the point itself."""

MOST_ROUNDING = 8
"""Rounding errors of numbers near 1 that torch may be off by where it adds up what cancels beside a kink."""

MOST_MEMBERS = 40_000
"""Members of the operations on all rays, which take some twenty microseconds each."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A target, why its truth is missing, and the flat rows of y that it is about."""

    target: Target
    trouble: Undefined
    rows: frozenset[int]


def by_sides(
    reference: Reference, missing: Sequence[Missing], tolerance: Tolerance, dtype: str
) -> tuple[list[Entry], list[Missing]]:
    """What the derivatives on either side prove, a kink where they differ and none where they do not; and the rest."""
    waiting = [one for one in missing if one.target.variable is None or one.trouble.kind == "domain"]
    bent = [one for one in missing if one.target.variable is not None and one.trouble.kind != "domain"]
    prepared = planned(reference, bent) if bent else None
    if prepared is None:
        return [], list(missing)
    plan, renumbered = prepared
    left, right = (ReferenceValues(plan.run(SIDE_BITS, side=side)) for side in (-1, 1))
    entries = []
    with precision(SIDE_BITS):
        for one, own in zip(bent, renumbered, strict=True):
            entry = _meeting(own, own.target.truth(left), own.target.truth(right), tolerance, dtype)
            if entry is None:
                waiting.append(one)
            else:
                entries.append(entry)
    return entries, waiting


def by_rays(
    reference: Reference, missing: Sequence[Missing], tolerance: Tolerance, dtype: str
) -> tuple[list[Entry], list[Missing]]:
    """What series on the rays from both sides prove of derivatives at a point with a value, and the rest."""
    waiting = [one for one in missing if one.target.variable is None or one.trouble.kind == "domain"]
    bent = [one for one in missing if one.target.variable is not None and one.trouble.kind != "domain"]
    prepared = planned(reference, bent) if bent else None
    if prepared is None:
        return [], list(missing)
    plan, renumbered = prepared
    here = ReferenceValues(plan.run(SIDE_BITS))
    rays = Rays(plan, SIDE_BITS)
    seen: dict[Direction, tuple[Mapping[int, Element], Mapping[int, Element]]] = {}
    for group in independent(plan, here):
        if rays.work > MOST_MEMBERS:
            break
        seen |= dict.fromkeys(group, (rays.on(group, -1), rays.on(group, 1)))
    entries = []
    for one, own in zip(bent, renumbered, strict=True):
        entry = None
        if own.target.place in seen:
            with precision(SIDE_BITS):
                below, above = seen[own.target.place]
                entry = _decided(own, (_slope_on(below, own, here), _slope_on(above, own, here)), tolerance, dtype)
        if entry is None:
            waiting.append(one)
        else:
            entries.append(entry)
    return entries, waiting


def _slope_on(ray: Mapping[int, Element], one: Missing, here: ReferenceValues) -> Limit:
    """The derivative on a ray, if y certainly goes on from its value at the point."""
    total = Series(())
    is_absent = False
    for row in sorted(one.rows):
        element, value = ray.get(row), here.values.get(row)
        is_absent |= isinstance(element, Absent)
        if isinstance(element, Series) and not isinstance(value, Undefined):
            weight = 1.0 if one.target.weights is None else float(one.target.weights[row])
            if math.isfinite(weight) and (element.is_continuous or element.constant == value):
                total = plus(total, scaled(element, arb(weight)))
                continue
        total = plus(total, Series((), Fraction(0)))  # it may go anywhere
    if is_absent:
        return Limit("absent")
    try:
        slope = total.slope()
    except Undecided:
        return Limit("unknown")
    return Limit("infinite") if slope is None else Limit("finite", slope)


def _decided(one: Missing, slopes: tuple[Limit, Limit], tolerance: Tolerance, dtype: str) -> Entry | None:
    """The verdict by the slopes on both rays, each away from the point."""
    left, right = slopes
    if "unknown" in (left.kind, right.kind):
        return None
    if left.ball is not None and right.ball is not None:
        return _meeting(one, left.ball, right.ball, tolerance, dtype)
    left = left if left.ball is None else Limit("finite", -left.ball)
    return one.target.entry("undefined", note=f"{one.trouble.reason}: {sides_in_words(left, right)}")


def _meeting(one: Missing, left: Outcome, right: Outcome, tolerance: Tolerance, dtype: str) -> Entry | None:
    """The verdict where the derivatives on both sides exist, and certainly differ or are the same."""
    if isinstance(left, Undefined) or isinstance(right, Undefined):
        return None
    below = -left
    if not below.overlaps(right):
        return kink(one.target, one.trouble, below, right, proven=True)
    return smooth(one.target, one.trouble, right, tolerance, dtype) if below == right else None


def smooth(target: Target, trouble: Undefined, ball: Ball, tolerance: Tolerance, dtype: str) -> Entry | None:
    """The verdict where the derivative exists after all, though not that of an operation inside."""
    entry = compare(target, ball, tolerance, dtype, is_last=True)
    if entry is None or entry.verdict != "disagree":
        return entry
    reason = f"{trouble.reason}, but the whole is smooth here"
    if math.isfinite(target.torch) and abs(ball - arb(target.torch)) < MOST_ROUNDING * float(np.finfo(dtype).eps):
        return replace(entry, verdict="inaccurate", note=reason)
    return replace(entry, note=f"{reason}; torch put together what it picked")


def kink(target: Target, trouble: Undefined, left: Ball, right: Ball, *, proven: bool) -> Entry:
    """The verdict where the slopes on both sides differ."""
    below, above = to_float(left), to_float(right)
    reason = trouble.reason if trouble.kind == "kink" else f"a kink: {trouble.reason}"
    if trouble.kind == "slope":
        reason = reason.replace("no finite slope", "no slope")  # it has two, both finite
    note = f"{reason}; {_picked(target.torch, below, above)}"
    return target.entry("kink", note=note, one_sided=(below, above), proven=proven)


def planned(reference: Reference, missing: Sequence[Missing]) -> tuple[Plan, list[Missing]] | None:
    """A plan of these targets alone, and they by the numbers of its directions; None if it is over the budget."""
    chosen = {d: n for n, d in enumerate(dict.fromkeys(m.target.place for m in missing if m.target.variable))}
    rows = sorted(frozenset[int]().union(*(one.rows for one in missing)))
    try:
        plan = reference.plan(list(chosen), np.array(rows, dtype=np.int64))
    except OverBudgetError:
        return None
    return plan, [_renumbered(one, chosen) for one in missing]


def _renumbered(missing: Missing, chosen: Mapping[Direction, int]) -> Missing:
    target = missing.target
    return replace(missing, target=replace(target, direction=chosen[target.place])) if target.variable else missing


def independent(plan: Plan, here: ReferenceValues) -> Iterator[list[Direction]]:
    """Groups of directions that no row of y has two of."""
    groups: list[tuple[list[Direction], set[int]]] = []
    for n, direction in enumerate(plan.directions):
        rows = set(here.columns.get(n, {}))
        for members, taken in groups:
            if not taken & rows:
                members.append(direction)
                taken.update(rows)
                break
        else:
            groups.append(([direction], set(rows)))
    yield from (members for members, _ in groups)


def _picked(torch: float, left: float, right: float) -> str:
    """What torch makes of a kink."""
    kind = "subgradient" if left <= right else "supergradient"
    if min(left, right) <= torch <= max(left, right):
        return f"torch picked {shown_number(torch)}, a {kind}"
    return f"torch picked {shown_number(torch)}, which is no {kind}"


def sides_in_words(left: Limit, right: Limit) -> str:
    """What the slopes do on either side, where one of them at least is not finite."""
    if left.kind == right.kind == "infinite":
        return "it grows without bound"
    words = {"infinite": "grows without bound", "absent": "does not exist", "none": "has no limit"}
    found = [
        f"{words.get(one.kind) or f'tends to {shown(one.ball)}'} on the {name}"
        for name, one in (("left", left), ("right", right))
    ]
    return f"it {' and '.join(found)}"


def shown(ball: Outcome | None) -> str:
    """A number, for messages."""
    return "nothing" if ball is None or isinstance(ball, Undefined) else shown_number(to_float(ball))


def shown_number(number: float) -> str:
    """The same of a float."""
    return repr(number + 0.0).removesuffix(".0")

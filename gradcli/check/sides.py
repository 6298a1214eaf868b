"""The derivatives on either side of the point itself, which prove what they show: a kink, a slope, or none.

One-sided dual numbers find them where the slopes of all operations are finite; series on the rays from both sides where
one is infinite or the domain ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb

from gradcli.check.compare import Case, ReferenceValues, Singular, Tolerance, compare, number_of, to_float
from gradcli.reference.balls import Ball, precision
from gradcli.reference.duals import Plan
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.probing import Limit
from gradcli.reference.rays import Element, Rays
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.running import Direction
from gradcli.reference.series import Absent, Series, Undecided, plus, scaled
from gradcli.results import Entry

SIDE_BITS = 256
"""Precision of the derivatives on either side of the point itself."""

MOST_ROUNDING = 8
"""Rounding errors of numbers near 1 that torch may be off by where it adds up what cancels beside a kink."""

MOST_MEMBERS = 40_000
"""Members of the operations on all rays, which take some twenty microseconds each."""


Decide = Callable[[Singular], Entry | None]
"""The entry with its verdict; None where this does not tell."""


def by_sides(case: Case, singular: Sequence[Singular]) -> Decide | None:
    """By the derivatives on either side: a kink where they differ, and none where they do not."""
    plan = planned(case, singular)
    if plan is None:
        return None
    left, right = (ReferenceValues(plan.run(SIDE_BITS, side=side), plan.directions) for side in (-1, 1))

    def decide(one: Singular) -> Entry | None:
        with precision(SIDE_BITS):
            return _meeting(one, case.truth(one.entry, left), case.truth(one.entry, right), case.tolerance)

    return decide


def by_rays(case: Case, singular: Sequence[Singular]) -> Decide | None:
    """By series on the rays from both sides, at a point with a value."""
    plan = planned(case, singular)
    if plan is None:
        return None
    here = ReferenceValues(plan.run(SIDE_BITS), plan.directions)
    rays = Rays(plan, SIDE_BITS)
    seen: dict[Direction, tuple[Mapping[int, Element], Mapping[int, Element]]] = {}
    for group in independent(plan, here):
        if rays.work > MOST_MEMBERS:
            break
        # One pass for all directions of a group, as no row of y sees two of them.
        seen |= dict.fromkeys(group, (rays.on(group, -1), rays.on(group, 1)))

    def decide(one: Singular) -> Entry | None:
        if case.direction(one.entry) not in seen:
            return None
        with precision(SIDE_BITS):
            left, right = (_slope_on(ray, one, case, here) for ray in seen[case.direction(one.entry)])
            return _decided(one, left, right, case.tolerance)

    return decide


def _slope_on(ray: Mapping[int, Element], one: Singular, case: Case, here: ReferenceValues) -> Limit:
    """The derivative on a ray, if y certainly goes on from its value at the point."""
    total = Series(())
    is_absent = False
    for row in sorted(one.rows):
        element, value = ray.get(row), here.values.get(row)
        is_absent |= isinstance(element, Absent)
        if isinstance(element, Series) and not isinstance(value, Undefined):
            weight = case.weight(one.entry, row)
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


def _decided(one: Singular, left: Limit, right: Limit, tolerance: Tolerance) -> Entry | None:
    """The verdict by the slopes on both rays, each away from the point."""
    if "unknown" in (left.kind, right.kind):
        return None
    if left.ball is not None and right.ball is not None:
        return _meeting(one, left.ball, right.ball, tolerance)
    left = left if left.ball is None else Limit("finite", -left.ball)
    note = f"{one.cause.reason}: {sides_in_words(left, right)}"
    return replace(one.entry, verdict="undefined", note=note, proven=True)


def _meeting(one: Singular, left: Outcome, right: Outcome, tolerance: Tolerance) -> Entry | None:
    """The verdict where the derivatives on both sides exist, and certainly differ or are the same."""
    if isinstance(left, Undefined) or isinstance(right, Undefined):
        return None
    # The tangent on the left belongs to a step of -1: the slope is minus it.
    below = -left
    if not below.overlaps(right):
        return kink(one, below, right, proven=True)
    return smooth(one, right, tolerance) if below == right else None


def smooth(one: Singular, ball: Ball, tolerance: Tolerance) -> Entry | None:
    """The verdict where the derivative exists after all, though not that of an operation inside."""
    found = compare(one.entry, ball, tolerance, is_last=True)
    if found is None or found.verdict != "disagree":
        return found
    return put_together(found, ball, f"{one.cause.reason}, but the whole is smooth here", tolerance)


def put_together(entry: Entry, truth: Ball, reason: str, tolerance: Tolerance) -> Entry:
    """The verdict where torch adds up what it picked beside a kink: it may be off by the rounding of that."""
    number = number_of(entry)
    if math.isfinite(number) and abs(truth - arb(number)) < MOST_ROUNDING * float(np.finfo(tolerance.dtype).eps):
        return replace(entry, verdict="inaccurate", note=reason)
    return replace(entry, note=f"{reason}; torch put together what it picked")


def kink(one: Singular, left: Ball, right: Ball, *, proven: bool) -> Entry:
    """The verdict where the slopes on both sides differ."""
    below, above = to_float(left), to_float(right)
    reason = one.cause.reason if one.cause.kind == "kink" else f"a kink: {one.cause.reason}"
    if one.cause.kind == "slope":
        reason = reason.replace("no finite slope", "no slope")  # it has two, both finite
    note = f"{reason}; {_picked(number_of(one.entry), below, above)}"
    return replace(one.entry, verdict="kink", note=note, one_sided=(below, above), proven=proven)


def planned(case: Case, singular: Sequence[Singular]) -> Plan | None:
    """A plan of these entries alone; None if it is over the budget."""
    directions = dict.fromkeys(case.direction(one.entry) for one in singular if one.entry.variable is not None)
    rows = sorted(frozenset[int]().union(*(one.rows for one in singular)))
    try:
        return case.reference.plan(list(directions), np.array(rows, dtype=np.int64))
    except OverBudgetError:
        return None


def independent(plan: Plan, here: ReferenceValues) -> Iterator[list[Direction]]:
    """Groups of directions that no row of y has two of."""
    groups: list[tuple[list[Direction], set[int]]] = []
    for direction in plan.directions:
        rows = set(here.columns.get(direction, {}))
        for members, taken in groups:
            if not taken & rows:
                members.append(direction)
                taken.update(rows)
                break
        else:
            groups.append(([direction], set(rows)))
    yield from (members for members, _ in groups)


def _picked(torch: float, left: float, right: float) -> str:
    """What torch's number is at a kink: between the slopes a subgradient or supergradient, else neither."""
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
    """The midpoint of an outcome as messages write it; `nothing` without one."""
    return "nothing" if ball is None or isinstance(ball, Undefined) else shown_number(to_float(ball))


def shown_number(number: float) -> str:
    """A float as messages write it: all digits, no `.0`, no -0."""
    return repr(number + 0.0).removesuffix(".0")

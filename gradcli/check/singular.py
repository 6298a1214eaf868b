"""Where a value or a derivative is missing: a kink, a jump, a removable singularity, or nothing to be had.

The reference says at which operation it is missing.  Whether the whole function misses it too is decided by what it
does around the point: |x|**2 and sqrt(x**4) are smooth at 0, sin(x)/x has a limit there, log(x) at -1 has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import sympy
from flint import arb

from gradcli.check.compare import compare
from gradcli.check.entry import Entry, Tolerance, to_float
from gradcli.check.sides import (
    Missing,
    by_rays,
    by_sides,
    independent,
    kink,
    planned,
    shown,
    shown_number,
    sides_in_words,
    smooth,
)
from gradcli.check.target import ReferenceValues, Target
from gradcli.language.program.expansion import rewritten
from gradcli.language.program.wengert import Atom, Builder, Line
from gradcli.reference.balls import Ball, precision
from gradcli.reference.deadline import OverTimeError, looks_limit
from gradcli.reference.duals import Direction, Plan, Reference
from gradcli.reference.probing import BITS, EXPONENTS, Limit, Neighborhood, Path
from gradcli.reference.rules import Outcome, Undefined

MOST_WORK = 6_000
"""Ball operations of one look at a point around; there are up to twenty-four looks, at up to 4,096 bits."""

MOST_SIDES = 60_000
"""Ball operations of the looks from the left and from the right, one input after the other."""

_JUMP = Undefined("jump", "", decided=True)

WHOLE = "whether that is so of the whole function"
"""What was not looked at."""

_Look = Callable[[Reference, Sequence[Missing], Tolerance, str], tuple[list[Entry], list[Missing]]]
"""What is decided, and what is left for the next look."""

_ApproachPath = tuple[tuple[ReferenceValues, ...], ...]
"""What is seen on a way to the point, nearer and nearer, in one sequence or several."""


def classify_singularities(
    reference: Reference, missing: Sequence[Missing], tolerance: Tolerance, dtype: str
) -> list[Entry]:
    """A verdict for each target whose truth is missing at the point.

    Args:
        reference: The function at the point.
        missing: The targets, each with the reason that the reference gives.
        tolerance: For derivatives that turn out to exist.
        dtype: Of torch.
    """
    beyond = [one for one in missing if one.target.variable is not None and reference.is_infinite(one.target.place)]
    entries = [one.target.entry("undefined", note=one.trouble.reason, proven=one.trouble.decided) for one in beyond]
    waiting = [one for one in missing if one not in beyond]
    looks: list[_Look] = [by_sides, by_rays, *(partial(_around_at, bits) for bits in BITS)]
    try:
        with looks_limit():
            for look in looks:
                if not waiting:
                    return entries
                found, waiting = look(reference, waiting, tolerance, dtype)
                entries += found
    except OverTimeError as error:
        why = f"{WHOLE} was {error}"
        return entries + [_unseen(one.target, one.trouble, why) for one in waiting]
    return entries + [_unknown(one.target, one.trouble) for one in waiting]


def _around_at(
    bits: int, reference: Reference, missing: Sequence[Missing], tolerance: Tolerance, dtype: str
) -> tuple[list[Entry], list[Missing]]:
    """What the function does around the point, at this precision, says of the targets that the budget admits."""
    plan, looked_at, left = _affordable(reference, missing)
    entries = [_unseen(one.target, one.trouble, f"{WHOLE} was over the budget") for one in left]
    if plan is None:
        return entries, []
    surroundings = _Surroundings(plan, bits, tolerance, dtype)
    waiting = []
    for one in looked_at:
        entry = surroundings.verdict(one.target, one.trouble)
        if entry is None:
            waiting.append(one)
        else:
            entries.append(entry)
    return entries, waiting


def at_jumps(
    reference: Reference, entries: Sequence[Entry], targets: Sequence[Target], tolerance: Tolerance, dtype: str
) -> list[Entry]:
    """The entries, where what disagrees is `kink` if torch takes the other side of a jump, as atan2 at -0.0.

    Args:
        reference: The function at the point, where no zero has a sign.
        entries: What was decided.
        targets: The numbers that they are of.
        tolerance: For torch's number and the one on that side.
        dtype: Of torch.
    """
    if all(entry.verdict != "disagree" for entry in entries):
        return list(entries)
    wrong = {(target.variable, target.column, target.row): target for target in targets}
    turned = _turned(reference)
    found = []
    for entry in entries:
        if entry.verdict == "disagree":
            target = wrong[entry.place]
            is_beside = target.variable is None and _is_beside(reference, target, tolerance, dtype)
            if is_beside or (turned is not None and _is_of(turned, target, tolerance, dtype)):
                noun = f"the {target.noun} on one side"
                note = f"a discontinuity: torch gives {shown_number(entry.torch)}, {noun}, by the sign of a 0"
                entry = replace(entry, verdict="kink", note=note, proven=False)  # noqa: PLW2901
        found.append(entry)
    return found


def _is_beside(reference: Reference, target: Target, tolerance: Tolerance, dtype: str) -> bool:
    """Whether an element of y tends to torch's number on a way to the point."""
    prepared = planned(reference, [Missing(target, _JUMP, frozenset((target.row,)))])
    if prepared is None or prepared[0].work > MOST_WORK:
        return False
    neighborhood = Neighborhood(prepared[0], BITS[0])
    limits = (
        neighborhood.limit(_seen(way), lambda sight: sight.values[target.row]).ball for way in neighborhood.around()
    )
    return any(ball is not None and _is_met(target, ball, tolerance, dtype) for ball in limits)


def _is_of(turned: Reference, target: Target, tolerance: Tolerance, dtype: str) -> bool:
    """Whether torch's number is that of the function with its angles on the other side of their cut."""
    rows = (target.row,) if target.weights is None else np.flatnonzero(target.weights).tolist()
    prepared = planned(turned, [Missing(target, _JUMP, frozenset(rows))])
    if prepared is None:
        return False
    plan, (own,) = prepared
    found = ReferenceValues(plan.run(BITS[0]))
    with precision(BITS[0]):
        truth = own.target.truth(found)
        return not isinstance(truth, Undefined) and _is_met(target, truth, tolerance, dtype)


def _is_met(target: Target, ball: Ball, tolerance: Tolerance, dtype: str) -> bool:
    with precision(BITS[0]):
        found = compare(target, ball, tolerance, dtype, is_last=True)
    return found is not None and found.verdict == "agree"


def _turned(reference: Reference) -> Reference | None:
    """The function where each angle on the cut is -pi, as torch has it where a 0 has a sign; None without angles."""
    if not any(line.call.op.name == "atan2" for line in reference.program.lines):
        return None

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        found = builder.emit(line.call.op.name, operands, line.span, line.call.statics)
        if line.call.op.name != "atan2":
            return found
        is_on_cut = builder.emit("eq", (operands[0], sympy.S.Zero), line.span)
        turn = builder.emit("mul", (sympy.Integer(-2), found), line.span)
        chosen = builder.emit("where", (is_on_cut, turn, sympy.S.Zero), line.span)
        return builder.emit("add", (found, builder.emit("detach", (chosen,), line.span)), line.span)

    program = rewritten(reference.program, write, shares=True).program
    inputs = {str(x): reference.inputs[x].reshape(reference.shapes[x]) for x in program.variables}
    return Reference(program, {x: reference.shapes[x] for x in program.variables}, inputs)


def _affordable(reference: Reference, missing: Sequence[Missing]) -> tuple[Plan | None, list[Missing], list[Missing]]:
    """A plan for as many targets as the budget admits, those that it serves, renumbered, and the others."""
    count = len(missing)
    while count:
        prepared = planned(reference, missing[:count])
        if prepared is not None and prepared[0].work <= MOST_WORK:
            return *prepared, list(missing[count:])
        count //= 4
    return None, [], list(missing)


class _Surroundings:
    """What the function does around the point, for the targets of one plan."""

    def __init__(self, plan: Plan, bits: int, tolerance: Tolerance, dtype: str) -> None:
        self.plan, self.tolerance, self.dtype = plan, tolerance, dtype
        self.neighborhood = Neighborhood(plan, bits)
        self.here = ReferenceValues(plan.run(bits))
        self.ways = [_seen(path) for path in self.neighborhood.around()]
        self.sides = self._sides()

    def _sides(self) -> dict[Direction, tuple[_ApproachPath, _ApproachPath]]:
        """From the left and the right, several inputs at a time where no element of y depends on two of them."""
        found: dict[Direction, tuple[_ApproachPath, _ApproachPath]] = {}
        work = 0
        for group in independent(self.plan, self.here):
            work += 2 * sum(map(len, EXPONENTS)) * self.plan.work
            if work > MOST_SIDES and found:
                break
            left, right = self.neighborhood.along(group)
            found |= dict.fromkeys(group, (_seen(left), _seen(right)))
        return found

    def verdict(self, target: Target, trouble: Undefined) -> Entry | None:
        """What becomes of a target; None if more precision may decide."""
        values = target.values(self.here)
        is_missing = any(isinstance(value, Undefined) for value in values.values()) or target.variable is None
        return self._no_value(target, trouble) if is_missing else self._no_slope(target, trouble)

    def _slope(self, way: _ApproachPath, target: Target) -> Limit:
        return self.neighborhood.limit(way, target.truth)

    def _quotient(self, side: _ApproachPath, target: Target, trouble: Undefined, sign: int) -> Limit:
        """The one-sided derivative by its definition, the limit of difference quotients.

        It needs no slopes on the way, which may be missing there too: where a condition is undecided at the point it
        may be so all along the axis.
        """
        rows = target.values(self.here)
        weights = {row: 1.0 if target.weights is None else float(target.weights[row]) for row in rows}
        known = zip(side, self.neighborhood.distances(target.place), strict=True)
        distances = {id(sight): h for way, away in known for sight, h in zip(way, away, strict=True)}

        def quotient(sight: ReferenceValues) -> Outcome:
            total = arb(0)
            for row, here in rows.items():
                there = sight.values[row]
                if isinstance(there, Undefined):
                    return there
                if not math.isfinite(weights[row]):
                    return trouble
                total += (there - here) * weights[row]
            return total / distances[id(sight)] * sign

        return self.neighborhood.limit(side, quotient) if rows else self._slope(side, target)

    def _value(self, way: _ApproachPath, row: int) -> Limit:
        return self.neighborhood.limit(way, lambda sight: sight.values[row])

    def _slopes(self, target: Target) -> list[Limit]:
        return [self._slope(way, target) for way in self.ways]

    def _no_value(self, target: Target, trouble: Undefined) -> Entry | None:
        """Y does not exist at the point: does it around it, and is there a limit?"""
        by_row = [[self._value(way, row) for way in self.ways] for row in target.values(self.here)]
        values = [one for ones in by_row for one in ones]
        limits = values if target.variable is None else self._slopes(target)
        kinds = {one.kind for one in (*values, *limits)}
        if kinds == {"absent"}:
            return target.entry("undefined", note=trouble.reason, proven=trouble.decided)
        if "unknown" in kinds:
            return None
        is_continuous = all(one.meets(ones[0]) for ones in by_row for one in ones)
        if kinds == {"finite"} and is_continuous and all(one.meets(limits[0]) for one in limits):
            ball = limits[0].ball
            noun = "value" if target.variable is None else "derivative"
            note = f"{trouble.reason}, but the limit of the {noun} exists"
            return target.entry("removable", ball, note=note, proven=False)
        return target.entry("undefined", note=f"{trouble.reason}{_around(values, limits)}", proven=trouble.decided)

    def _no_slope(self, target: Target, trouble: Undefined) -> Entry | None:
        """Y exists at the point: is the derivative there after all, or on both sides, or infinite?"""
        sides = self.sides.get(target.place)
        if sides is None:
            slopes = self._slopes(target)
            if self._is_smooth(target):
                return self._smooth(target, trouble, slopes[0].ball)
            if not all(one.kind == "finite" for one in slopes):
                return _unseen(target, trouble, f"{WHOLE} was over the budget")
            return target.entry("kink", note=f"{trouble.reason}; the slopes around the point differ", proven=False)
        left, right = (self._quotient(side, target, trouble, sign) for side, sign in zip(sides, (-1, 1), strict=True))
        if "unknown" in (left.kind, right.kind):
            return None
        jumps = self._jumps(target, sides)
        if jumps:
            return self._jump(target, trouble, sides, jumps)
        if left.ball is not None and right.ball is not None:
            if left.meets(right):
                return self._smooth(target, trouble, left.ball)
            return kink(target, trouble, left.ball, right.ball, proven=False)
        return target.entry("undefined", note=f"{trouble.reason}: {sides_in_words(left, right)}", proven=False)

    def _is_smooth(self, target: Target) -> bool:
        """Whether the slope has one limit on all ways, and the value is the one at the point."""
        slopes = self._slopes(target)
        return all(one.meets(slopes[0]) for one in slopes) and not any(
            self._leaves(row, way) for way in self.ways for row in target.values(self.here)
        )

    def _leaves(self, row: int, way: _ApproachPath) -> bool:
        """Whether an element of y does not tend to its value at the point."""
        here = self.here.values.get(row)
        limit = self._value(way, row)
        return here is None or isinstance(here, Undefined) or limit.ball is None or not limit.ball.overlaps(here)

    def _jumps(self, target: Target, sides: tuple[_ApproachPath, _ApproachPath]) -> str:
        """How y jumps along this input, in words; empty if it does not."""
        for row, here in target.values(self.here).items():
            limits = [self._value(side, row) for side in sides]
            if any(self._leaves(row, side) for side in sides) and all(one.ball is not None for one in limits):
                left, right = (shown(one.ball) for one in limits)
                return f"from {left} on the left over {shown(here)} to {right} on the right"
        return ""

    def _smooth(self, target: Target, trouble: Undefined, ball: Ball) -> Entry | None:
        """The verdict where the derivative is a limit that is inferred, which proves nothing of torch's number."""
        with precision(self.neighborhood.bits):
            entry = smooth(target, trouble, ball, self.tolerance, self.dtype)
        if entry is not None and entry.verdict in ("agree", "disagree"):
            note = f"{trouble.reason}; the limit of the derivative is inferred to be {shown(ball)}, and not proven"
            note += "" if entry.verdict == "agree" else f"; torch gives {shown_number(target.torch)}"
            return replace(entry, verdict="unchecked", error=None, note=note, proven=False)
        return entry and replace(entry, proven=False)

    def _jump(
        self, target: Target, trouble: Undefined, sides: tuple[_ApproachPath, _ApproachPath], jumps: str
    ) -> Entry:
        """A discontinuity, with the slopes beside it."""
        left, right = (self._slope(side, target).ball for side in sides)
        beside = None if left is None or right is None else (to_float(left), to_float(right))
        note = f"a discontinuity: {trouble.reason}, {jumps}; torch picked {shown_number(target.torch)}"
        return target.entry("kink", note=note, one_sided=beside, proven=False)


def _seen(path: Path) -> _ApproachPath:
    return tuple(tuple(map(ReferenceValues, sequence)) for sequence in path)


def _around(values: Sequence[Limit], slopes: Sequence[Limit]) -> str:
    """Why there is no limit of a function without a value."""
    if any(one.kind == "infinite" for one in values):
        return ", and it grows without bound nearby"
    if any(one.kind == "absent" for one in values):
        return ", and it exists on one side only"
    if any(one.kind == "none" for one in values) or not all(one.meets(values[0]) for one in values):
        return ", and no limit: what it tends to depends on the way"
    if any(one.kind == "infinite" for one in slopes):
        return ", and its slope grows without bound nearby"
    return ", and its slope has no limit: it depends on the way"


def _unseen(target: Target, trouble: Undefined, why: str) -> Entry:
    return target.entry("unchecked", note=f"{trouble.reason}; {why}", proven=False)


def _unknown(target: Target, trouble: Undefined) -> Entry:
    note = f"{trouble.reason}, or so close to it that {BITS[-1]} bits cannot tell"
    return target.entry("unchecked", note=note, proven=False)

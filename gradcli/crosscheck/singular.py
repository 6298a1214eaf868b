"""Where a value or a derivative is missing: a kink, a jump, a removable singularity, or nothing to be had.

The reference says at which operation it is missing.  Whether the whole function misses it too is decided first at the
point itself, from both sides, which proves what it shows: by one-sided dual numbers where the slopes of all operations
are finite, by series on the rays from both sides where one is infinite or the domain ends.  Then by what the function
does around the point: |x|**2 and sqrt(x**4) are smooth at 0, sin(x)/x has a limit there, log(x) at -1 has none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.compare import Case, ReferenceValues, Singular, Tolerance, compare, noun, number_of, to_float
from gradcli.language.program.expansion import rewritten
from gradcli.language.program.wengert import Atom, Builder, Line
from gradcli.reference.balls import Ball, precision
from gradcli.reference.deadline import OverTimeError, looks_limit
from gradcli.reference.duals import Plan, Reference
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.probing import BITS, EXPONENTS, Limit, Neighborhood, Path
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


def independent(plan: Plan, here: ReferenceValues) -> list[list[Direction]]:
    """Groups of directions that no row of y has two of."""
    groups: list[tuple[list[Direction], set[int]]] = []
    for direction in plan.directions:
        rows = set(here.columns.get(direction, {}))
        members, taken = next((group for group in groups if not group[1] & rows), ([], set()))
        if not members:
            groups.append((members, taken))
        members.append(direction)
        taken |= rows
    return [members for members, _ in groups]


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


MOST_WORK = 5_500
"""Ball operations of one look at a point around; there are up to twenty-four looks, at up to 4,096 bits."""

MOST_SIDES = 60_000
"""Ball operations of the looks from the left and from the right, one input after the other."""

_JUMP = Undefined("jump", "", decided=True)

WHOLE = "whether that is so of the whole function"
"""What was not looked at."""

_ApproachPath = tuple[tuple[ReferenceValues, ...], ...]
"""What is seen on a way to the point, nearer and nearer, in one sequence or several."""


def classify_singularities(case: Case, singular: Sequence[Singular]) -> list[Entry]:
    """A verdict for each entry whose truth is missing at the point."""
    beyond = [
        one
        for one in singular
        if one.entry.variable is not None and case.reference.is_infinite(case.direction(one.entry))
    ]
    entries = [replace(o.entry, verdict="undefined", note=o.cause.reason, proven=o.cause.decided) for o in beyond]
    waiting = [one for one in singular if one not in beyond]
    # From proof to inference, and from cheap to dear: what one stage decides, the next need not look at.
    try:
        with looks_limit():
            for by in (by_sides, by_rays):
                # What is proved of derivatives that are missing though y has a value.
                is_slope = [one.entry.variable is not None and one.cause.kind != "domain" for one in waiting]
                slopes = list(itertools.compress(waiting, is_slope))
                decide = by(case, slopes) if slopes else None
                if decide is not None:
                    found, left = _split(slopes, decide)
                    others = [one for one, is_of_slope in zip(waiting, is_slope, strict=True) if not is_of_slope]
                    entries, waiting = entries + found, others + left
            for bits in BITS:
                plan, looked_at, left = _affordable(case, waiting)
                unseen = [_unseen(one, f"{WHOLE} was over the budget") for one in left]
                found, waiting = _split(looked_at, _Surroundings(case, plan, bits).verdict) if plan else ([], [])
                entries += unseen + found
    except OverTimeError as error:
        return entries + [_unseen(one, f"{WHOLE} was {error}") for one in waiting]
    unknown = f"or so close to it that {BITS[-1]} bits cannot tell"
    return entries + [replace(one.entry, note=f"{one.cause.reason}, {unknown}") for one in waiting]


def _split(ones: Sequence[Singular], decide: Decide) -> tuple[list[Entry], list[Singular]]:
    """What is decided of them, and the others."""
    found = [(one, decide(one)) for one in ones]
    return [entry for _, entry in found if entry is not None], [one for one, entry in found if entry is None]


def at_jumps(case: Case, entries: Sequence[Entry]) -> list[Entry]:
    """The entries, where what disagrees is `kink` if torch takes the other side of a jump, as atan2 at -0.0."""
    if all(entry.verdict != "disagree" for entry in entries):
        return list(entries)
    turned = _turned(case)

    def settled(entry: Entry) -> Entry:
        is_wrong = entry.verdict == "disagree"
        if not is_wrong or not (_is_beside(case, entry) or (turned is not None and _is_of(turned, entry))):
            return entry
        picked = f"torch gives {shown_number(number_of(entry))}, the {noun(entry)} on one side"
        note = f"a discontinuity: {picked}, by the sign of a 0"
        return replace(entry, verdict="kink", note=note, proven=False)

    return list(map(settled, entries))


def _is_beside(case: Case, entry: Entry) -> bool:
    """Whether an element of y tends to torch's number on a way to the point."""
    if entry.variable is not None:
        return False
    row = case.row(entry)
    plan = planned(case, [Singular(entry, _JUMP, frozenset((row,)))])
    if plan is None or plan.work > MOST_WORK:
        return False
    neighborhood = Neighborhood(plan, BITS[0])
    paths = (_seen(path, plan) for path in neighborhood.around())
    limits = (neighborhood.limit(path, lambda seen: seen.values[row]).ball for path in paths)
    return any(ball is not None and _is_met(case, entry, ball) for ball in limits)


def _is_of(turned: Case, entry: Entry) -> bool:
    """Whether torch's number is that of the function with its angles on the other side of their cut."""
    plan = planned(turned, [Singular(entry, _JUMP, frozenset(turned.seeds(entry)))])
    if plan is None:
        return False
    seen = ReferenceValues(plan.run(BITS[0]), plan.directions)
    with precision(BITS[0]):
        truth = turned.truth(entry, seen)
    return not isinstance(truth, Undefined) and _is_met(turned, entry, truth)


def _is_met(case: Case, entry: Entry, ball: Ball) -> bool:
    with precision(BITS[0]):
        found = compare(entry, ball, case.tolerance, is_last=True)
    return found is not None and found.verdict == "agree"


def _turned(case: Case) -> Case | None:
    """The function where each angle on the cut is -pi, as torch has it where a 0 has a sign; None without angles."""
    reference = case.reference
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
    shapes = {x: reference.shapes[x] for x in program.variables}
    return replace(case, reference=Reference(program, shapes, inputs))


def _affordable(case: Case, ones: Sequence[Singular]) -> tuple[Plan | None, list[Singular], list[Singular]]:
    """A plan for as many entries as the budget admits, those that it serves, and the others."""
    count = len(ones)
    while count:
        plan = planned(case, ones[:count])
        if plan is not None and plan.work <= MOST_WORK:
            return plan, list(ones[:count]), list(ones[count:])
        # Some verdicts are better than none: fewer entries, until their plan fits.
        count //= 4
    return None, [], list(ones)


class _Surroundings:
    """What the function does around the point, for the entries of one plan."""

    def __init__(self, case: Case, plan: Plan, bits: int) -> None:
        self.case, self.plan = case, plan
        self.neighborhood = Neighborhood(plan, bits)
        self.here = ReferenceValues(plan.run(bits), plan.directions)
        self.paths = [_seen(path, plan) for path in self.neighborhood.around()]
        self.sides = self._sides()

    def _sides(self) -> dict[Direction, tuple[_ApproachPath, _ApproachPath]]:
        """From the left and the right, several inputs at a time where no element of y depends on two of them."""
        found: dict[Direction, tuple[_ApproachPath, _ApproachPath]] = {}
        work = 0
        for group in independent(self.plan, self.here):
            work += 2 * sum(map(len, EXPONENTS)) * self.plan.work
            # The first group is looked at whatever it costs, so that every check says something.
            if work > MOST_SIDES and found:
                break
            left, right = self.neighborhood.along(group)
            found |= dict.fromkeys(group, (_seen(left, self.plan), _seen(right, self.plan)))
        return found

    def verdict(self, one: Singular) -> Entry | None:
        """What becomes of an entry; None if more precision may decide."""
        values = self._values(one).values()
        is_missing = any(isinstance(value, Undefined) for value in values) or one.entry.variable is None
        return self._no_value(one) if is_missing else self._no_slope(one)

    def _values(self, one: Singular) -> Mapping[int, Outcome]:
        return self.case.values(one.entry, self.here)

    def _slope(self, path: _ApproachPath, one: Singular) -> Limit:
        return self.neighborhood.limit(path, partial(self.case.truth, one.entry))

    def _quotient(self, side: _ApproachPath, one: Singular, sign: int) -> Limit:
        """The one-sided derivative by its definition, the limit of difference quotients.

        It needs no slopes on the way, which may be missing there too: where a condition is undecided at the point it
        may be so all along the axis.
        """
        rows = self._values(one)
        weights = {row: self.case.weight(one.entry, row) for row in rows}
        known = zip(side, self.neighborhood.distances(self.case.direction(one.entry)), strict=True)
        distances = {id(seen): h for path, away in known for seen, h in zip(path, away, strict=True)}

        def quotient(seen: ReferenceValues) -> Outcome:
            total = arb(0)
            for row, here in rows.items():
                there = seen.values[row]
                if isinstance(there, Undefined):
                    return there
                if not math.isfinite(weights[row]):
                    return one.cause
                total += (there - here) * weights[row]
            return total / distances[id(seen)] * sign

        return self.neighborhood.limit(side, quotient) if rows else self._slope(side, one)

    def _value(self, path: _ApproachPath, row: int) -> Limit:
        return self.neighborhood.limit(path, lambda seen: seen.values[row])

    def _slopes(self, one: Singular) -> list[Limit]:
        return [self._slope(path, one) for path in self.paths]

    def _no_value(self, one: Singular) -> Entry | None:
        """y does not exist at the point: does it around it, and is there a limit?"""
        reason = one.cause.reason
        by_row = [[self._value(path, row) for path in self.paths] for row in self._values(one)]
        values = [limit for limits in by_row for limit in limits]
        limits = values if one.entry.variable is None else self._slopes(one)
        kinds = {limit.kind for limit in (*values, *limits)}
        if kinds == {"absent"}:
            return replace(one.entry, verdict="undefined", note=reason, proven=one.cause.decided)
        if "unknown" in kinds:
            return None
        is_continuous = all(limit.meets(row[0]) for row in by_row for limit in row)
        if kinds == {"finite"} and is_continuous and all(limit.meets(limits[0]) for limit in limits):
            note = f"{reason}, but the limit of the {noun(one.entry)} exists"
            return replace(one.entry, verdict="removable", truth=limits[0].ball, note=note)
        note = f"{reason}{_no_limit(values, limits)}"
        return replace(one.entry, verdict="undefined", note=note, proven=one.cause.decided)

    def _no_slope(self, one: Singular) -> Entry | None:
        """y exists at the point: is the derivative there after all, or on both sides, or infinite?"""
        sides = self.sides.get(self.case.direction(one.entry))
        reason = one.cause.reason
        if sides is None:
            return _unseen(one, f"{WHOLE} was over the budget")
        left, right = (self._quotient(side, one, sign) for side, sign in zip(sides, (-1, 1), strict=True))
        if "unknown" in (left.kind, right.kind):
            return None
        # Quotients over a jump grow without bound: without this, a jump would be said to have an infinite slope.
        jumps = self._jumps(one, sides)
        if jumps:
            return self._jump(one, sides, jumps)
        if left.ball is not None and right.ball is not None:
            return self._smooth(one, left.ball) if left.meets(right) else kink(one, left.ball, right.ball, proven=False)
        return replace(one.entry, verdict="undefined", note=f"{reason}: {sides_in_words(left, right)}")

    def _leaves(self, row: int, path: _ApproachPath) -> bool:
        here = self.here.values.get(row)
        limit = self._value(path, row)
        return here is None or isinstance(here, Undefined) or limit.ball is None or not limit.ball.overlaps(here)

    def _jumps(self, one: Singular, sides: tuple[_ApproachPath, _ApproachPath]) -> str:
        """How y jumps along this input, in words; empty if it does not."""
        for row, here in self._values(one).items():
            limits = [self._value(side, row) for side in sides]
            if any(self._leaves(row, side) for side in sides) and all(limit.ball is not None for limit in limits):
                left, right = (shown(limit.ball) for limit in limits)
                return f"from {left} on the left over {shown(here)} to {right} on the right"
        return ""

    def _smooth(self, one: Singular, ball: Ball) -> Entry | None:
        """The verdict where the derivative is a limit that is inferred, which proves nothing of torch's number."""
        with precision(self.neighborhood.bits):
            entry = smooth(one, ball, self.case.tolerance)
        if entry is not None and entry.verdict in ("agree", "disagree"):
            note = f"{one.cause.reason}; the limit of the derivative is inferred to be {shown(ball)}, and not proven"
            note += "" if entry.verdict == "agree" else f"; torch gives {shown_number(number_of(one.entry))}"
            return replace(entry, verdict="unchecked", relative_error=None, note=note, proven=False)
        return entry and replace(entry, proven=False)

    def _jump(self, one: Singular, sides: tuple[_ApproachPath, _ApproachPath], jumps: str) -> Entry:
        left, right = (self._slope(side, one).ball for side in sides)
        beside = None if left is None or right is None else (to_float(left), to_float(right))
        picked = shown_number(number_of(one.entry))
        note = f"a discontinuity: {one.cause.reason}, {jumps}; torch picked {picked}"
        return replace(one.entry, verdict="kink", note=note, one_sided=beside)


def _seen(path: Path, plan: Plan) -> _ApproachPath:
    return tuple(tuple(ReferenceValues(found, plan.directions) for found in sequence) for sequence in path)


def _no_limit(values: Sequence[Limit], slopes: Sequence[Limit]) -> str:
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


def _unseen(one: Singular, why: str) -> Entry:
    return replace(one.entry, note=f"{one.cause.reason}; {why}")

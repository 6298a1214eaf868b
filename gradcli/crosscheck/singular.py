"""Verdicts on missing values and derivatives: a kink, a jump, a removable singularity, or undefined.

The reference names the operation at which a value or derivative is missing.  Series on rays into the point prove if
the whole function misses it too.  If there is a value, rays from the left and from the right decide: |x|**2 and
sqrt(x**4) are smooth at 0.  If there is none, rays on which all inputs of ``wrt`` move decide: sin(x)/x has a
limit, and its derivative has one if the slopes along the rays are linear in the direction.  If no series decides, it
is unchecked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product

import numpy as np

from gradcli.crosscheck.blame import Fault, at_fault
from gradcli.crosscheck.compare import Case, Singular, Tolerance, compare, number_of, to_float
from gradcli.crosscheck.limits import Limit, midpoint, shown_number, sides_in_words
from gradcli.crosscheck.paths_to_point import MOST_PARTIALS, PathsToPoint, differs_from_partials
from gradcli.crosscheck.ray_series import SeriesOnRays
from gradcli.language.ops import SIGNS
from gradcli.language.program.wengert import Program
from gradcli.reference.balls import Ball, is_nothing, precision
from gradcli.reference.deadline import OverTimeError, extra_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.directional_series import Element
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Plan
from gradcli.reference.rules import Undefined
from gradcli.reference.series import Series, Undecided
from gradcli.results import Entry

SERIES_BITS = (256, 1_152)
"""Precisions of the series."""

PICKED = "; torch put together what it picked"
"""Words for the reason, other than rounding, of a torch derivative that is not that of the whole function."""

RAYS_ROOM = 4
"""Factor on the reference's budget for values at the point, as these are computed once for all rays."""

EQUALITIES = frozenset(SIGNS[sign] for sign in ("==", "!="))
"""Comparisons that have another value at one point than all around it."""


def planned(case: Case, singular: Sequence[Singular]) -> Plan | None:
    """Plan the enclosure of these entries, with the inputs of ``wrt`` moving; None if it is over the budget."""
    rows = np.array(sorted(frozenset[int]().union(*(one.rows for one in singular))), dtype=np.int64)
    directions = dict.fromkeys(case.direction(one.entry) for one in singular if one.entry.variable is not None)
    reference, program = case.reference.admitting(case.reference.budget * RAYS_ROOM), case.reference.program
    has_no_value = any(one.cause.kind == "domain" or one.entry.variable is None for one in singular)
    with suppress(OverBudgetError):
        inside = reference.backward_closure({program.output: rows})
        movable = frozenset(program.differentiable)  # positions stay, and what is only true or false
        moving = [s for s in program.variables if s not in program.masks and str(s) in movable]
        # What no derivative is asked by is held constant; a value that is asked for alone may depend on all inputs.
        chosen = [s for s in moving if (str(s) in case.wrt if case.wrt else has_no_value)]
        every = directions | dict.fromkeys((s, int(j)) for s in chosen for j in inside.get(s, ()))
        # A jump may show where another input moves besides: x*where(y > 0, 1, 2) at 0, 0.
        if has_no_value or len(every) <= MOST_PARTIALS or may_jump(program):
            return reference.plan(list(every), rows)
    with suppress(OverBudgetError):
        return None if has_no_value else reference.plan(list(directions), rows)
    return None


def may_jump(program: Program) -> bool:
    """Tell whether an operation of a function jumps."""
    ops = (line.call.op for line in program.lines)
    return any(op.is_step or op.is_branch or op.is_locally_constant for op in ops)


def _affordable(case: Case, ones: Sequence[Singular]) -> tuple[Plan | None, int]:
    """Plan as many of these entries as the budget admits, and count them."""
    count, plan = len(ones), None
    while count and (plan := planned(case, ones[:count])) is None:
        count //= 4  # some verdicts are better than none: fewer entries, until their plan fits
    return plan, count


def _picked(torch: float, left: float, right: float) -> str:
    """Describe torch's number at a kink: between the slopes a subgradient or supergradient, else neither."""
    kind = "subgradient" if left <= right else "supergradient"
    if min(left, right) <= torch <= max(left, right):
        return f"torch picked {shown_number(torch)}, a {kind}"
    return f"torch picked {shown_number(torch)}, which is no {kind}"


OPEN_QUESTION = "whether that is so of the whole function"
"""Words for the question that stays open."""


def classify_singularities(case: Case, singular: Sequence[Singular]) -> list[Entry]:
    """Give a verdict to each entry with a missing truth at the point."""
    entries, waiting, series = list[Entry](), list[Singular](), None
    found: dict[Singular, Entry] = {}
    # An operation of a definition may have no value where torch gives y one, as it does for eigenvectors of equal
    # eigenvalues: that is no proof that y has none.
    has_value = np.zeros(0, bool) if case.value is None else np.isfinite(case.value)
    if case.v is not None and case.v.shape == has_value.shape:  # an infinite weight has no product
        has_value &= np.isfinite(case.v)
    valued = frozenset(np.flatnonzero(has_value).tolist())
    for one in singular:
        if one.entry.variable is not None and case.reference.is_infinite(case.direction(one.entry)):
            is_valued = one.cause.kind == "domain" and bool(one.rows) and one.rows <= valued
            entries.append(_unchecked(one, AT_INFINITY) if is_valued else _undefined(one, one.cause.reason))
        else:
            waiting.append(one)
    try:
        with extra_limit():
            for bits in SERIES_BITS:
                plan, count = _affordable(case, waiting)
                entries += [_unchecked(one, f"{OPEN_QUESTION} was over the budget") for one in waiting[count:]]
                del waiting[count:]
                series = None if plan is None else RaySeries(case, plan, bits)
                for one in list(waiting):
                    entry = None if series is None else series.verdict(one)  # where time runs out here, it still waits
                    if entry is not None:
                        waiting.remove(one)
                        found[one] = entry
                if series is not None:
                    found |= _kinks_along_no_axis(series, found, waiting)
    except OverTimeError as error:
        return entries + [*found.values()] + [_unchecked(one, f"{OPEN_QUESTION} was {error}") for one in waiting]
    entries += found.values()
    if series is not None and series.is_over:
        return entries + [_unchecked(one, f"{OPEN_QUESTION} was over the budget") for one in waiting]
    return entries + [_undecided(one, valued) for one in waiting]


def _kinks_along_no_axis(
    series: RaySeries, found: Mapping[Singular, Entry], waiting: Sequence[Singular]
) -> dict[Singular, Entry]:
    """Find kinks of rows whose partial derivatives all agree, as those of min(|x|, |y|) at 0, 0 do."""
    differing = [one for one, entry in found.items() if entry.verdict != "agree"]
    others = frozenset[int]().union(*(one.rows for one in (*differing, *waiting)))
    agreed = [one for one, entry in found.items() if entry.verdict == "agree" and one.entry.variable is not None]
    nonlinear = {one: series.nonlinear(one) for one in agreed if not one.rows & others and series.follows(one)}
    return {one: entry for one, entry in nonlinear.items() if entry is not None}


AT_INFINITY = "whether the derivative has a limit at infinity is not known"
"""Words for the question that stays open of a derivative by an infinite input."""


def _undecided(one: Singular, valued: frozenset[int]) -> Entry:
    """Give the verdict on an entry that no series decides: undefined if y has no value, in torch neither."""
    note = "series from either side do not tell whether there is a limit"
    is_valued = bool(one.rows) and one.rows <= valued
    if one.cause.kind == "domain" and one.cause.decided and not is_valued:
        return _undefined(one, one.cause.reason)
    return _unchecked(one, note)


def _undefined(one: Singular, note: str) -> Entry:
    return one.entry.judged(verdict="undefined", note=note, proven=one.cause.decided)


def _unchecked(one: Singular, why: str) -> Entry:
    return one.entry.judged(note=f"{one.cause.reason}; {why}")


class RaySeries(SeriesOnRays):
    """Series of the function of a plan on rays into the point, and the verdicts that they give on its entries."""

    def _changes_at_point_alone(self, direction: Direction) -> bool:
        """Tell whether conditions or steps have other values on both sides along an input than at the point."""
        sides = self._left.get(self.group_of[direction], {})
        return len(sides) == 2 and all(self.rays.of_direction(left, direction) for left in sides.values())

    def verdict(self, one: Singular) -> Entry | None:
        """Decide an entry; None if only more precision may decide it."""
        values = {row: self.at_point.values[row] for row in sorted(one.rows) if row in self.at_point.values}
        is_missing = any(isinstance(value, Undefined) for value in values.values()) or one.entry.variable is None
        with precision(self.bits):
            return self._no_value(one, list(values)) if is_missing else self._no_slope(one)

    # -- where y has no value

    def _no_value(self, one: Singular, rows: Sequence[int]) -> Entry | None:
        """Decide whether y, which has no value at the point, has one around it, and a limit."""
        seen = [self.along(n, sign) for n in (0, 1) for sign in (1, -1)]
        by_row = [[Limit.from_element(elements.get(row, Undecided())) for elements in seen] for row in rows]
        reason = one.cause.reason
        kinds = {limit.kind for limits in by_row for limit in limits}
        if kinds == {"absent"}:
            return _undefined(one, reason)
        if "infinite" in kinds:
            return _undefined(one, f"{reason}, and it grows without bound nearby")
        if "absent" in kinds:
            return _undefined(one, f"{reason}, and it exists on one side only")
        if "unknown" in kinds:
            return None
        if not all(limit.meets(limits[0]) for limits in by_row for limit in limits):
            return _undefined(one, f"{reason}, and no limit: what it tends to depends on the way")
        if self._is_of_point_alone:
            return _undefined(one, f"{reason}, and an equality holds at this point alone")
        paths = PathsToPoint(self, one, rows)
        if missing := paths.without_limit([limits[0] for limits in by_row]):
            return _undefined(one, f"{reason}, and {missing}")
        if one.entry.variable is None:
            found = by_row[0][0].ball
            return one.entry.judged(verdict="removable", truth=found, note=f"{reason}, but {paths.found()}")
        direction = self.case.direction(one.entry)
        slopes = [self.partial(one, direction, n, sign) for n in (0, 1) for sign in (1, -1)]
        along = self.slopes_along(one)
        kinds = {slope.kind for slope in (*slopes, *along)}
        if "infinite" in kinds:
            return _undefined(one, f"{reason}, and its slope grows without bound nearby")
        if "unknown" in kinds:
            return None
        if not all(slope.meets(slopes[0]) for slope in slopes) or is_certainly_nonlinear(along):
            return _undefined(one, f"{reason}, and its slope has no limit: it depends on the way")
        if (partials := paths.limit_partials()) and (missing := paths.without_slope(partials)):
            return _undefined(one, f"{reason}, and {missing}")
        return one.entry.judged(verdict="removable", truth=slopes[0].ball, note=f"{reason}, but {paths.found()}")

    @property
    def _is_of_point_alone(self) -> bool:
        """Tell whether an equality of the point holds on no line."""
        lines = self.case.reference.program.lines
        equalities = {line.symbol for line in lines if line.call.op.name in EQUALITIES}
        return all(any(atom in equalities for atom, _ in left) for left in self._left_on_lines.values())

    # -- where y has a value

    def _no_slope(self, one: Singular) -> Entry | None:
        """Decide whether the derivative of y, which has a value here, exists, exists on each side, or is infinite."""
        left, right = (self.one_sided(one, sign) for sign in (-1, 1))
        if "unknown" in (left.kind, right.kind) and "absent" not in (left.kind, right.kind):
            return self._jump(one, left, right)
        if left.ball is not None and right.ball is not None:
            if not left.meets(right):
                one = self._blaming(one, "kink")
            found = _with_finite_slopes(one, left.ball, right.ball, self.case.tolerance)
            if found is None or found.verdict not in ("disagree", "nan-trap"):
                return found
            if (nonlinear := self.nonlinear(one)) is not None:
                return nonlinear
            if found.verdict == "nan-trap":
                return found
            if self._changes_at_point_alone(self.case.direction(one.entry)):
                slope, picked = shown_number(to_float(found.truth)), shown_number(number_of(found))
                place = f"{_place_of(one.cause)}, at this point alone"
                note = f"{place}: next to it the slope is {slope}; torch picked {picked}"
                return found.judged(verdict="kink", note=note)
            return _unchecked(one, f"{OPEN_QUESTION} was over the budget") if self.is_over else found
        reason = self._blaming(one, "slope").cause.reason
        note = f"{reason}: {sides_in_words(left, right, 'the derivative of the whole')}"
        return one.entry.judged(verdict="undefined", note=note, proven=True)

    def _blaming(self, one: Singular, fault: Fault) -> Singular:
        """Name an operation that has the fault itself, if the one that is named does not."""
        direction = self.case.direction(one.entry)
        sides = self.followed(direction, -1), self.followed(direction, 1)
        reasons = at_fault(self.rays.run, sides, one.rows, fault)
        is_right = not reasons or any(one.cause.reason == reason.reason for reason in reasons)
        return one if is_right else replace(one, cause=reasons[0])

    def follows(self, one: Singular) -> bool:
        """Tell whether the plan has a ray along the input of an entry."""
        return self.case.direction(one.entry) in self.group_of

    def nonlinear(self, one: Singular) -> Entry | None:
        """Return a kink if y certainly has no derivative along all inputs together; None if it may have one."""
        with precision(self.bits):
            is_jump = self._jumps_somewhere(one)
            if not (is_jump or is_certainly_nonlinear(self.slopes_along(one)) or differs_from_partials(self, one)):
                return None
        picked = shown_number(number_of(one.entry))
        what = "the value jumps where" if is_jump else "its slope depends on how"
        note = f"{_place_of(one.cause)}, and {what} all inputs move together; torch picked {picked}"
        return one.entry.judged(verdict="kink", note=note, proven=True)

    def _jumps_somewhere(self, one: Singular) -> bool:
        """Tell whether y certainly tends to another number than that at the point, on some line."""
        if not may_jump(self.case.reference.program):
            return False
        for n, sign in product(range(len(self.generic_directions)), (1, -1)):
            for row, element in self.along(n, sign).items():
                here, limit = self.at_point.values.get(row), Limit.from_element(element)
                if row not in one.rows or here is None or isinstance(here, Undefined):
                    continue
                if limit.kind == "infinite" or (limit.ball is not None and not limit.ball.overlaps(here)):
                    return True
        return False

    def one_sided(self, one: Singular, sign: int) -> Limit:
        """Return the derivative on one side, if y is certainly continuous there from its value at the point."""
        elements = self.along_input(self.case.direction(one.entry), sign)
        kinds = [Limit.from_element(elements.get(row, Undecided())).kind for row in one.rows]
        if "absent" in kinds or "infinite" in kinds:
            return Limit("absent" if "absent" in kinds else "infinite")
        is_on = all(self._is_continuous(row, elements.get(row)) for row in one.rows)
        return self.slope(one, elements).times(sign) if is_on else Limit("unknown")

    def _is_continuous(self, row: int, element: Element | None) -> bool:
        value = self.at_point.values.get(row)
        if not isinstance(element, Series) or value is None or isinstance(value, Undefined):
            return False
        return element.is_continuous or bool(element.constant == value)

    def _jump(self, one: Singular, left: Limit, right: Limit) -> Entry | None:
        """Give the verdict if y certainly jumps along this input; None if that is not certain."""
        series = [self.along_input(self.case.direction(one.entry), sign) for sign in (-1, 1)]
        for row in sorted(one.rows):
            here = self.at_point.values.get(row)
            limits = [Limit.from_element(elements.get(row, Undecided())) for elements in series]
            known = [limit.ball for limit in limits if limit.ball is not None]
            if here is None or isinstance(here, Undefined) or len(known) < len(series):
                continue
            if any(not ball.overlaps(here) for ball in known):
                below, above = (
                    self.slope(one, elements).times(sign) for elements, sign in zip(series, (-1, 1), strict=True)
                )
                ends = below.ball, above.ball
                slopes = None if ends[0] is None or ends[1] is None else (to_float(ends[0]), to_float(ends[1]))
                jumps = (
                    f"from {midpoint(known[0])} on the left over {midpoint(here)} to {midpoint(known[1])} on the right"
                )
                picked = shown_number(number_of(one.entry))
                # What has no slope here is not what jumps, as in where(norm(x) > 0, x/norm(x), 0).
                what = one.cause.reason if one.cause.kind == "jump" else "the value jumps here"
                note = f"a discontinuity: {what}, {jumps}; torch picked {picked}"
                return one.entry.judged(verdict="kink", note=note, one_sided=slopes)
        return None


def _place_of(cause: Undefined) -> str:
    """Return the operation with the kink or jump from a reason, without the explanation."""
    return cause.reason.partition(": ")[0]


def is_certainly_nonlinear(along: Sequence[Limit]) -> bool:
    """Tell whether slopes are certainly not linear in the direction; if not, they may be linear by chance."""
    forth, back, other, both = along
    is_linear = forth.meets(back.times(-1)) and both.meets(forth.plus(other.times(2)))
    return all(slope.ball is not None for slope in along) and not is_linear


def _with_finite_slopes(one: Singular, left: Ball, right: Ball, tolerance: Tolerance) -> Entry | None:
    """Give the verdict if the derivatives on both sides exist; None if they may be equal, but not certainly."""
    cause = one.cause
    if left.overlaps(right):
        found = (
            compare(one.entry, right, tolerance, is_last=True) if left == right or is_nothing(left - right) else None
        )
        if found is None or found.verdict != "disagree":
            return found
        return found.judged(note=f"{cause.reason}, but the whole is smooth here{PICKED}")
    below, above = to_float(left), to_float(right)
    reason = cause.reason if cause.kind == "kink" else f"a kink: {cause.reason}"
    if cause.kind == "slope":
        reason = reason.replace("no finite slope", "no slope")  # it has two, both finite
    note = f"{reason}; {_picked(number_of(one.entry), below, above)}"
    return one.entry.judged(verdict="kink", note=note, one_sided=(below, above), proven=True)

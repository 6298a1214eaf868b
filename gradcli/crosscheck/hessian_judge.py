"""Judge of second derivatives: the judge of Jacobians, with the gradient as the function.

Where an operation has no derivative at the point, the gradient is what it is as a first derivative, and series of it
on both sides tell whether it has a derivative of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from gradcli.crosscheck.compare import (
    FIRST_BITS,
    RISING_BITS,
    Case,
    Singular,
    Tolerance,
    Truths,
    compare,
    number_of,
    to_float,
)
from gradcli.crosscheck.gradient_point import GradientPoint
from gradcli.crosscheck.judge import JacobianJudge
from gradcli.crosscheck.minor import unless_minor
from gradcli.crosscheck.point import FunctionAtPoint, Numbers, nonzero_directions
from gradcli.language.program.passes import for_arrays
from gradcli.language.program.shapes import shapes_in
from gradcli.reference.array_values import Values
from gradcli.reference.balls import Ball, exists, is_nothing, precision
from gradcli.reference.bounds import NoRuleError
from gradcli.reference.deadline import OverTimeError, extra_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_pass import Direction, EnclosedDerivatives
from gradcli.reference.enclosure_plan import Plan, Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import Array, Entry, Index

if TYPE_CHECKING:
    from gradcli.crosscheck.bounded import BoundedProof
    from gradcli.crosscheck.gradient_sides import GradientSides
    from gradcli.crosscheck.sample import Selection

_Element = tuple[str | None, Index | None]
"""A variable and the index of its element."""

UNDECIDED = "branches or poles meet here; whether the second derivative exists, is not decided"
"""Words for an entry that no series decides."""


class HessianJudge(JacobianJudge):
    """Judge of the Hessian of a y of one element, or of its product with a direction.

    Args:
        gradient: The gradient of the function.
        point: The same function of x, or of a step along the direction.
        numbers: Torch's, as those of a Jacobian.
        wrt: The variables of its columns.
        tolerance: How far a number may be from the truth.
        value: Torch's y; NaN if it is not known.
        slopes: The verdicts on the gradient that are known, by its rows.
        u: The direction; without one, the Hessian is judged.
        slope_along: The verdict on the slope of the function along u.
    """

    refines = False  # most of what is left is at a kink, which more digits do not move

    def __init__(
        self,
        gradient: GradientPoint,
        point: FunctionAtPoint,
        numbers: Numbers,
        wrt: tuple[str, ...],
        tolerance: Tolerance,
        *,
        value: float,
        slopes: Mapping[int, Entry],
        u: Mapping[str, Array] | None = None,
        slope_along: Entry | None = None,
    ) -> None:
        super().__init__(point, numbers, wrt, tolerance)
        self.gradient, self.u, self.slopes, self.slope_along = gradient, u, dict(slopes), slope_along
        function = gradient.function
        reference = Reference(function.program, function.shapes, function.inputs)
        self.function = Case(reference, tolerance, u=u, value=np.array([value]))

    def named(self, entry: Entry) -> Entry:
        """Return an entry as one of the Hessian, or of its product with u."""
        row = self.case.row(entry)
        name, index = self.gradient.element(row)
        if self.u is None:
            found = entry.moved(kind="hessian", by=name, row=index)
        else:
            found = entry.moved(kind="hvp", variable=name, column=index, row=None)
        if row not in self.slopes or entry.verdict in ("kink", "undefined", "unchecked"):
            return found
        slope = self.slopes[row]
        return unless_missing(found, slope) if is_missing(slope) else found

    # -- what differs from the judge of Jacobians

    def _plan(self, selection: Selection) -> Plan:
        plan = super()._plan(selection)
        if not plan.judges_value:  # which tells whether there is a derivative
            raise OverBudgetError
        return plan

    def _proof(self, numbers: Numbers) -> BoundedProof | None:
        """Prove entries but those of rows and columns of slopes that do not exist."""
        try:
            is_undefined = self._without_value is not None
        except OverTimeError:
            return None
        if is_undefined or (self.slope_along is not None and self.slope_along.verdict == "undefined"):
            return None
        found = super()._proof(numbers)
        if found is not None and self.u is None:
            for row in (row for row, slope in self.slopes.items() if is_missing(slope)):
                symbol, j = self.gradient.direction(row)
                found.blocks[str(symbol)][:, j] = False
                for block in found.blocks.values():
                    block[row] = False
        return found

    def _truth(self, entry: Entry, seen: EnclosedDerivatives) -> Outcome:
        if self._without_value is not None:
            return self._without_value
        value = seen.values.get(self.case.row(entry))
        if value is not None and not isinstance(value, Undefined) and self._may_leave(self.case.direction(entry)):
            value = Undefined("slope", "the function may have no value on one side", decided=True)
        return value if isinstance(value, Undefined) else super()._truth(entry, seen)

    def _may_leave(self, direction: Direction) -> bool:
        """Tell whether the function may have a value on one side of a direction only, as it has no slope along it."""
        slope = self.slope_along if self.u is not None else self.slopes.get(self.gradient.row(direction))
        return slope is not None and slope.verdict == "undefined"

    def _marked(self, entry: Entry) -> Entry:
        if entry.verdict not in ("disagree", "inaccurate"):
            return entry
        blocks = {str(symbol): self.numbers.block(str(symbol)) for symbol in self.variables}
        row = self.case.row(entry)
        gradients = {name: block[row] for name, block in blocks.items()} if self.u is None else blocks
        return unless_minor(entry, gradients, self.gradient.function, self.case.tolerance)

    def _with_reasons(self, wrong: Sequence[Entry], truths: Truths) -> list[Entry]:
        """Give wrong numbers the reason, by torch's passes back and back again through the function."""
        from gradcli.crosscheck.rounding import explained

        found, groups = list[Entry](), dict[int, dict[_Element, Entry]]()
        for entry in wrong:
            row = self.case.row(entry)
            key: _Element = (entry.variable, entry.column) if self.u is None else self.gradient.element(row)
            groups.setdefault(row if self.u is None else 0, {})[key] = entry
        for row, originals in groups.items():

            def own(one: Entry, originals: Mapping[_Element, Entry] = originals) -> Entry:
                return originals[one.variable, one.column]

            def truths_of_own(bits: int, entries: Sequence[Entry]) -> Callable[[Entry], Outcome]:
                truth_of = truths(bits, list(map(own, entries)))
                return lambda one: truth_of(own(one))  # noqa: B023

            named = [e.moved(kind="vjp", variable=v, column=c, row=None) for (v, c), e in originals.items()]
            case = replace(self.function, u=self._unit(row) if self.u is None else self.u)
            for one in explained(case, self.gradient.function, named, truths_of_own):
                found.append(replace(one, position=own(one).position))
        return found

    def _unit(self, row: int) -> Mapping[str, Array]:
        """Return the direction that moves the element that a row is the derivative by."""
        symbol, j = self.gradient.direction(row)
        unit = np.zeros(self.gradient.function.shapes[symbol])
        unit.reshape(-1)[j] = 1.0
        return {str(symbol): unit}

    @cached_property
    def _without_value(self) -> Undefined | None:
        """Reason why the function has no value at the point, as far as is known; None if it has one."""
        known = [*self.slopes.values(), *([self.slope_along] if self.slope_along else [])]
        if any(slope.verdict == "agree" and slope.truth is not None for slope in known):
            return None  # without a value there is no slope, but one in the limit
        reference, unknown = self.function.reference, Undefined("domain", "y may have no value here", False)
        try:
            plan = reference.plan([], np.array([0]))
            if not plan.judges_value:
                raise OverBudgetError
            for bits in RISING_BITS[:-1]:
                found = plan.run(bits).values.get(0, unknown)
                if not isinstance(found, Undefined) or found.decided:
                    break
            return found if isinstance(found, Undefined) else None
        except OverBudgetError:
            function = self.gradient.function
            program = for_arrays(function.source)
            shapes, kept = shapes_in(program, function.shapes), {program.output}
            try:
                value = Values(program, shapes, function.inputs, (), kept=kept).value.in_floats()
            except NoRuleError:
                return unknown
            return None if value.is_known.all() and np.isfinite(value.middle).all() else unknown

    # -- where an operation has no derivative

    def _without_truth(
        self, missing: Sequence[tuple[Entry, Undefined]], found: EnclosedDerivatives, truths: Truths
    ) -> list[Entry]:
        """Judge entries whose path meets a kink or a pole, by one-sided second derivatives."""
        entries = [entry for entry, _ in missing]
        decided, waiting = list[Entry](), list[Entry]()
        try:
            self._find_slopes(sorted({self.case.row(entry) for entry in entries}))
            for entry in entries:
                row, direction = self.case.row(entry), self.case.direction(entry)
                slope, is_reached = self.slopes.get(row), row in found.columns.get(direction, {})
                if slope is None or slope.verdict == "unchecked":
                    decided.append(_unknown(entry))
                elif is_missing(slope) and not (slope.verdict == "kink" and self._is_own(entry)):
                    decided.append(unless_missing(entry, slope))
                elif (
                    not is_reached
                    and self._without_value is None
                    and slope.verdict != "kink"
                    and not self._may_leave(direction)
                ):
                    decided.append(compare(entry, arb(0), self.case.tolerance, is_last=True) or _unknown(entry))
                else:
                    waiting.append(entry)
            with extra_limit():
                self._look(waiting, decided)
        except (OverTimeError, OverBudgetError):
            known = {(e.variable, e.row, e.column) for e in decided}
            decided += [_unknown(e) for e in entries if (e.variable, e.row, e.column) not in known]
        wrong = [entry for entry in decided if entry.verdict == "disagree"]
        rest = [entry for entry in decided if entry.verdict != "disagree"]
        return rest + (self._with_reasons(wrong, truths) if wrong else [])

    def _moved_by(self, direction: Direction) -> Mapping[Direction, float]:
        return {direction: 1.0} if self.u is None else nonzero_directions(self.u)

    def _is_own(self, entry: Entry) -> bool:
        """Tell whether only the element moves that the slope is by."""
        return [*self._moved_by(self.case.direction(entry))] == [self.gradient.direction(self.case.row(entry))]

    def _find_slopes(self, rows: Sequence[int]) -> None:
        """Judge ∂y/∂x[j] for these rows of the gradient, without torch's number, unless it is known."""
        from gradcli.crosscheck.singular import classify_singularities

        waiting = [row for row in rows if row not in self.slopes]
        if not waiting:
            return
        case, directions = self.function, {row: self.gradient.direction(row) for row in waiting}
        entries = {
            row: self.gradient.function.entry(str(symbol), 0, j, np.nan) for row, (symbol, j) in directions.items()
        }
        plan, ones = case.reference.plan(list(directions.values())), list[Singular]()
        for row, outcome in self._slopes_at(plan, entries, FIRST_BITS).items():
            if isinstance(outcome, Undefined):
                ones.append(Singular(entries[row], outcome, frozenset((0,))))
            else:
                self.slopes[row] = replace(entries[row].judged(verdict="agree", truth=outcome), torch=None)
        for entry in classify_singularities(case, ones) if ones else ():
            self.slopes[self.gradient.row(case.direction(entry))] = replace(entry, torch=None)

    def _slopes_at(self, plan: Plan, entries: Mapping[int, Entry], bits: int) -> Mapping[int, Outcome]:
        found = plan.run(bits)
        return {row: self.function.truth(entry, found) for row, entry in entries.items()}

    def _slope_at(self, row: int, sides: GradientSides, bits: int) -> Ball | None:
        """Return a row of the gradient at the point; None if it is not known."""
        slope, (symbol, j) = self.slopes[row], self.gradient.direction(row)
        entry = self.gradient.function.entry(str(symbol), 0, j, np.nan)
        found = self._slopes_at(self.function.reference.plan([(symbol, j)]), {row: entry}, bits)[row]
        if not isinstance(found, Undefined) and exists(found):
            return found
        along = sides.slope((symbol, j))  # which is the slope, as that exists; with more digits than the verdict has
        return slope.truth if along is None or slope.truth is None or not along.overlaps(slope.truth) else along

    def _look(self, waiting: list[Entry], decided: list[Entry]) -> None:
        """Judge entries by series on both sides, with more bits for the undecided ones."""
        from gradcli.crosscheck.gradient_sides import GradientSides
        from gradcli.crosscheck.singular import RAYS_ROOM, SERIES_BITS

        for bits in SERIES_BITS if waiting else ():
            rows = np.array(sorted({self.case.row(entry) for entry in waiting}), dtype=np.int64)
            directions = list(dict.fromkeys(self.case.direction(entry) for entry in waiting))
            plan = self.reference.admitting(self.reference.budget * RAYS_ROOM).plan(directions, rows)
            sides = GradientSides(self.case, self.function.reference, self._moved_by, plan, bits)
            for entry in list(waiting):
                with precision(bits):
                    found = self._seen(entry, sides, bits)
                if found is not None:
                    waiting.remove(entry)
                    decided.append(found)
        decided += [unless_missing(entry, self.slopes[self.case.row(entry)]) for entry in waiting]
        waiting.clear()

    def _seen(self, entry: Entry, sides: GradientSides, bits: int) -> Entry | None:
        """Give the verdict by the gradient on both sides; None if that decides nothing."""
        from gradcli.crosscheck.limits import midpoint, shown_number, sides_in_words

        row, direction = self.case.row(entry), self.case.direction(entry)
        slope, by = self.slopes[row], self.gradient.direction(row)
        left, right = (sides.side(row, direction, sign, by) for sign in (-1, 1))
        known = left.slope.ball, right.slope.ball
        one_sided = None if known[0] is None or known[1] is None else (to_float(known[0]), to_float(known[1]))
        if is_missing(slope):
            return unless_missing(entry, slope).judged(one_sided=one_sided)
        if self._may_leave(direction) and sides.leaves_domain(direction, by):
            return _undefined(entry, "the function exists on one side only")
        limits, slopes = (left.limit, right.limit), (left.slope, right.slope)
        if any(one.kind in ("absent", "infinite") for one in limits):
            return _undefined(entry, f"the gradient has no limit here: {sides_in_words(*limits)}")
        here = sides.value(row) if self._without_value is None else None
        here = self._slope_at(row, sides, bits) if here is None else here
        if any(one.ball is None for one in limits) or here is None:
            return None
        distances = [one.ball - here for one in limits if one.ball is not None]
        if not all(distance.contains(0) for distance in distances):
            way_over = (
                f"from {midpoint(limits[0].ball)} on the left over {midpoint(here)} to {midpoint(limits[1].ball)}"
            )
            note = f"a discontinuity of the gradient: {way_over} on the right"
            return entry.judged(verdict="kink", note=note, proven=True)
        if not all(map(is_nothing, distances)) or any(one.kind == "unknown" for one in slopes):
            return None
        if known[0] is None or known[1] is None:
            return _undefined(entry, f"the second derivative does not exist: {sides_in_words(*slopes)}")
        if not left.slope.meets(right.slope):
            note = "the second derivatives from the left and from the right differ"
            return entry.judged(verdict="kink", note=note, one_sided=one_sided, proven=True)
        if not is_nothing(known[0] - known[1]):
            return None
        found = compare(entry, known[1], self.case.tolerance, is_last=True)
        if found is None or (found.verdict == "agree" and slope.verdict != "removable"):
            return found
        if slope.verdict == "removable":
            return found.judged(verdict="removable", note=slope.note) if found.truth is not None else found
        if found.verdict == "disagree" and sides.is_of_point_alone(direction, by):
            beside, picked = midpoint(known[1]), shown_number(number_of(entry))
            note = f"a branch of this point alone: next to it the second derivative is {beside}; torch picked {picked}"
            return found.judged(verdict="kink", note=note)
        return found


def is_missing(slope: Entry) -> bool:
    """Tell whether a slope certainly does not exist; a branch of the point alone has that of its sides."""
    return slope.verdict == "undefined" or (slope.verdict == "kink" and slope.truth is None)


def unless_missing(entry: Entry, slope: Entry) -> Entry:
    """Mark an entry as undecided, or as having no truth because the slope that it is the derivative of has none."""
    from gradcli.crosscheck.limits import shown_number

    if not is_missing(slope):
        return _unknown(entry)
    note = f"the gradient does not exist here: {slope.note}"
    if slope.verdict == "kink":
        picked = "" if slope.torch is None else f", and torch picked {shown_number(slope.torch)} for it"
        note = f"the gradient has a kink here{picked}"
    return entry.judged(verdict=slope.verdict, note=note, proven=slope.proven)


def _undefined(entry: Entry, note: str) -> Entry:
    return entry.judged(verdict="undefined", note=note, proven=True)


def _unknown(entry: Entry) -> Entry:
    return entry.judged(verdict="unchecked", note=UNDECIDED, proven=False)

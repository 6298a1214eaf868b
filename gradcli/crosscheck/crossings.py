"""Second derivatives where kinks, jumps, poles or the ends of domains meet: an entry of H is a derivative of a slope.

The tangent Program follows one branch at the point.  Where anything is met there, each entry is decided by the slope
just beside the point instead, on all sides (`gradcli.reference.beside`); what that cannot decide is not believed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import sympy

from gradcli.crosscheck.compare import Tolerance, compare, number_of, to_float
from gradcli.crosscheck.point import Point, flat, unravel
from gradcli.crosscheck.singular import put_together, shown_number
from gradcli.errors import TooLargeError
from gradcli.language.program.shapes import infer
from gradcli.reference.balls import precision
from gradcli.reference.beside import Beside, Way, may_be_met
from gradcli.reference.deadline import OverTimeError
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.jets import Bend, Side
from gradcli.reference.program_writer import unroll
from gradcli.reference.running import Direction
from gradcli.results import Entry, Index, Verdict

LOOKS = ((128, 2), (512, 4))
"""Bits, and terms of a Taylor series, of the first look and of the second."""

MOST_WORK = 400_000
"""Work of all looks together, at 3 to 4 µs each."""

MOST_WHOLE = 20_000
"""Ball operations of a function that is looked at as a whole, and not one slope after the other."""

MOST_FIRST = 32
"""Entries of a row that are tried on all sides before anything else."""

_NEEDS_PROOF: Collection[Verdict] = frozenset(["agree", "inaccurate", "disagree"])
"""The other verdicts are kept, as what seems to be."""


@dataclass(frozen=True)
class Second:
    """An entry of a Hessian, or of a product with it.

    Attributes:
        entry: What the tangent Program makes of it, `unchecked` if that was not asked yet.
        by: The element that the slope is taken by.
        along: The direction that the slope is differentiated along.
        picked: Torch's slope, if it is known.
    """

    entry: Entry
    by: Direction
    along: Way
    picked: float | None = None


@dataclass
class Crossings:
    """The looks at one point.

    Attributes:
        point: The function and its inputs.
        tolerance: For derivatives that exist.
    """

    point: Point
    tolerance: Tolerance
    work: int = 0
    _parts: dict[Direction, Beside | None] = field(default_factory=dict)

    def of_product(self, entry: Entry, u: Way) -> Second:
        """An entry of Hu: the derivative of the gradient along u."""
        return Second(entry, self.direction(entry.variable, entry.column), u)

    def of_hessian(self, entry: Entry, picked: float) -> Second:
        """An entry of H: the derivative of its row's slope by its column."""
        along = {self.direction(entry.variable, entry.column): 1.0}
        return Second(entry, self.direction(entry.by, entry.row), along, picked)

    def direction(self, variable: str | None, index: Index | None) -> Direction:
        """The direction of one element of a variable: its symbol and flat position."""
        symbol = sympy.Symbol(variable, real=True)
        return symbol, flat(index or (), self.point.shapes[symbol])

    def all_settled(self, asked: Iterable[Second]) -> list[Entry] | None:
        """The entries of a row, if what is met at the point decides all of them and none is to be explained."""
        found: list[Entry] = []
        for one in asked:
            entry = self.settled(one)
            # A disagreement is left to the judge of the tangent, which can explain it by rounding.
            if entry is None or entry.verdict in ("unchecked", "disagree") or len(found) == MOST_FIRST:
                return None
            found.append(entry)
        return found or None

    def settled(self, asked: Second) -> Entry | None:
        """The entry; None where nothing is met, and it stays what it is."""
        try:
            return self._settled(asked)
        except OverTimeError as error:
            return _unknown(asked.entry, f"that was {error}")

    def _settled(self, asked: Second) -> Entry | None:
        around = self._around(asked.by)
        if around is None or not around.met:
            return None
        asked = replace(asked, along=around.within(asked.along))
        is_clear = asked.entry.verdict in (*_NEEDS_PROOF, "unchecked")  # else a pole elsewhere is in its sum
        if is_clear and not around.meets([asked.by, *asked.along]):
            return None
        if not all(map(math.isfinite, asked.along.values())):
            return _unknown(asked.entry, "is not known along a direction that is not finite")
        for bits, terms in LOOKS:
            if self.work > MOST_WORK:
                return _unknown(asked.entry, "that was over the budget")
            before = around.work
            bend = around.bend(asked.by, asked.along, bits, terms)
            self.work += around.work - before
            with precision(bits):
                found = self._verdict(asked, bend, is_last=bits == LOOKS[-1][0])
            if found is not None:
                return found
        return _unknown(asked.entry, "it could not be decided")

    @cached_property
    def _reference(self) -> Reference | None:
        try:
            program = unroll(self.point.program, self.point.shapes)
        except TooLargeError:
            return None
        if not any(may_be_met(line.call) for line in program.lines):
            return None
        shapes = infer(program, {s: self.point.shapes[s] for s in program.variables}, bounded=False)
        return Reference(program, shapes, self.point.inputs)

    @cached_property
    def _whole(self) -> Beside | None:
        """All that y is made of; None if that is too much."""
        return self._planned(None)

    def _planned(self, by: Direction | None) -> Beside | None:
        if self._reference is None:
            return None
        try:
            plan = self._reference.plan([] if by is None else [by], judges_value=by is None)
            is_much = by is None and (not plan.judges_value or plan.work > MOST_WHOLE)
            return None if is_much else Beside(plan)
        except OverBudgetError:
            return None

    def _around(self, by: Direction) -> Beside | None:
        """The whole, or what one slope takes; only the last of those is kept."""
        if self._whole is not None:
            return self._whole
        if by not in self._parts:
            self._parts.clear()
            self._parts[by] = self._planned(by)
        return self._parts[by]

    def _verdict(self, asked: Second, bend: Bend, *, is_last: bool) -> Entry | None:
        """What the slopes on all sides prove; None if more precision may."""
        entry, noun = asked.entry, f"the slope by {self._shown(asked.by)}"
        picked = shown_number(number_of(entry))
        missing = next((side for side in bend.slope if side.kind not in ("finite", "unknown")), None)
        if missing is not None:
            if missing.kind == "jump":
                return _decided(entry, "kink", f"a discontinuity: {noun} does not exist here, as the function jumps")
            return _decided(entry, "undefined", f"{noun} does not exist here: {missing.reason}")
        if any(side.kind == "unknown" for side in bend.slope):
            return None
        is_kink = _differ(*bend.slope)
        if is_kink is None:
            return None
        sides = _finite(bend.sides)
        if is_kink:
            note = "the gradient has a kink here"
            note += "" if asked.picked is None else f", and torch picked {shown_number(asked.picked)} for it"
            return _decided(entry, "kink", note, sides if asked.along == {asked.by: 1.0} else None)
        # There is no slope beside the point, or one without bound, that could have a derivative.
        lost = (s for s in bend.sides if s.kind == "infinite" or (s.reason and s.kind not in ("finite", "unknown")))
        gone = next(lost, None)
        if gone is not None:
            why = f"does not exist beside the point: {gone.reason}" if gone.reason else "has no finite slope here"
            return _decided(entry, "undefined", f"{noun} {why}")
        if any(side.kind == "unknown" for side in bend.sides):
            return None
        if any(side.kind == "jump" for side in bend.sides):
            note = f"a discontinuity: {noun} jumps here; torch picked {picked}"
            return _decided(entry, "kink", note)
        differ = _differ(*bend.sides)
        if differ:
            note = f"{noun} has a kink here: its left and right derivatives differ; torch picked {picked}"
            return _decided(entry, "kink", note, sides)
        return None if differ is None else self._truth(entry, bend.sides[1], is_last=is_last)

    def _truth(self, entry: Entry, side: Side, *, is_last: bool) -> Entry | None:
        """The verdict where the second derivative exists."""
        assert side.number is not None, "a finite side has a number"  # noqa: S101
        ball = side.number.ball
        found = compare(entry, ball, self.tolerance, is_last=is_last)
        if found is None:
            return None
        known = entry.truth is not None and bool(entry.truth.overlaps(ball))
        if known and entry.verdict in (found.verdict, "inaccurate"):
            return replace(entry, truth=ball, proven=True, is_crossing=True)
        if found.verdict == "disagree":
            reason = "a kink inside is met here, but the second derivative exists"
            found = put_together(found, ball, reason, self.tolerance)
        return replace(found, is_crossing=True)

    def _shown(self, by: Direction) -> str:
        symbol, element = by
        index = unravel(element, self.point.shapes[symbol])
        return f"{symbol}[{','.join(map(str, index))}]" if index else str(symbol)


def _differ(left: Side, right: Side) -> bool | None:
    """Whether two numbers are not the same; None where that is not known."""
    sign = None if left.number is None or right.number is None else (left.number - right.number).sign
    return None if sign is None else sign != 0


def _finite(sides: tuple[Side, Side]) -> tuple[float, float] | None:
    left, right = (side.number.ball if side.kind == "finite" and side.number else None for side in sides)
    return None if left is None or right is None else (to_float(left), to_float(right))


def _decided(entry: Entry, verdict: Verdict, note: str, one_sided: tuple[float, float] | None = None) -> Entry:
    return replace(entry, verdict=verdict, truth=None, relative_error=None, note=note, one_sided=one_sided, proven=True)


def _unknown(entry: Entry, why: str) -> Entry:
    """What the tangent Program says of one branch is no proof."""
    if entry.verdict not in _NEEDS_PROOF:
        return replace(entry, proven=False)
    note = f"branches or poles meet here; whether the second derivative exists, {why}"
    return replace(entry, verdict="unchecked", truth=None, relative_error=None, note=note, proven=False)

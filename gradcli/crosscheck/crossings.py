"""Second derivatives where kinks, jumps, poles or the ends of domains meet: an entry of H is a derivative of a slope.

The tangent Program follows one branch at the point.  Away from it, along the very element that the slope is taken by,
that is the derivative itself, and where the slope exists at the point it is so there too: a derivative that is
continuous everywhere else has no other limit.  Along anything else nothing is proved where something is met.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import sympy

from gradcli.crosscheck.compare import number_of
from gradcli.crosscheck.point import Point, flat
from gradcli.crosscheck.singular import shown_number
from gradcli.errors import TooLargeError
from gradcli.language.program.shapes import infer
from gradcli.reference.deadline import OverTimeError
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.kinks_met import KinksMet, may_be_met
from gradcli.reference.program_writer import unroll
from gradcli.reference.running import Direction
from gradcli.results import Entry, Index, Verdict

EXISTING: Collection[Verdict] = frozenset(["agree", "inaccurate", "nan-trap", "disagree"])
"""Verdicts on numbers whose truth exists at the point itself."""

_MISSING: Collection[Verdict] = frozenset(["kink", "undefined"])
"""Verdicts on what has no derivative."""


@dataclass
class Crossings:
    """The looks at one point."""

    point: Point
    _known: dict[Direction, KinksMet | None] = field(default_factory=dict)

    def direction(self, variable: str | None, index: Index | None) -> Direction:
        """The direction of one element of a variable: its symbol and flat position."""
        symbol = sympy.Symbol(variable, real=True)
        return symbol, flat(index or (), self.point.shapes[symbol])

    def settled(self, entry: Entry, by: Direction, along: Collection[Direction], slopes: Sequence[Entry]) -> Entry:
        """An entry as far as it can be believed; the same where nothing is met.

        Args:
            entry: What the tangent Program makes of it.
            by: The element that the slope is taken by.
            along: The elements that move in the direction that the slope is differentiated along.
            slopes: What was decided of the slope, if that is known.
        """
        try:
            met = self._met(by)
        except OverTimeError as error:
            return _unknown(entry, f"that was {error}")
        if met is None:
            return entry
        if not met.meets([by, *along]):  # a kink or a pole elsewhere is in its sum
            return _unknown(entry, "is not known") if entry.verdict in _MISSING else entry
        is_own = met.within(along) == {by}
        missing = next((one for one in slopes if one.verdict in _MISSING), None)
        if missing is not None:
            note = f"the gradient has a kink here, and torch picked {shown_number(number_of(missing))} for it"
            return replace(
                entry,
                verdict=missing.verdict,
                truth=None,
                relative_error=None,
                note=note if missing.verdict == "kink" else f"the gradient does not exist here: {missing.note}",
                one_sided=entry.one_sided if is_own else None,
                proven=missing.proven,
            )
        exists = bool(slopes) and all(one.proven and one.verdict in EXISTING for one in slopes)
        if is_own and entry.verdict == "removable":
            return replace(entry, proven=False)
        is_told = entry.verdict not in _MISSING or (entry.verdict == "kink" and entry.proven)
        if is_own and is_told and (exists or met.slope_exists):
            return replace(entry, is_crossing=True)
        return _unknown(entry, "is not decided")

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

    def _met(self, by: Direction) -> KinksMet | None:
        """What one slope meets; only the last is kept."""
        if by not in self._known:
            self._known.clear()
            try:
                plan = self._reference.plan([by], judges_value=False) if self._reference is not None else None
                self._known[by] = None if plan is None else KinksMet(plan)
            except OverBudgetError:
                self._known[by] = None
        return self._known[by]


def _unknown(entry: Entry, why: str) -> Entry:
    """What the tangent Program says of one branch is no proof."""
    note = f"branches or poles meet here; whether the second derivative exists, {why}"
    left = replace(entry, verdict="unchecked", reference=None, truth=None, relative_error=None)
    return replace(left, note=note, one_sided=None, proven=False)

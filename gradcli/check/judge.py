"""A verdict for every checked entry.

In this order: does the function exist here, does its derivative, is torch's number the truth to within a stated
tolerance, and if not, can the rounding of its precision explain it?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy

from gradcli.check.compare import FIRST_BITS, LAST_BITS, compare
from gradcli.check.context import Point, Torch
from gradcli.check.entry import TOLERANCE, Entry, Tolerance
from gradcli.check.rounding import explained
from gradcli.check.sample import Rows, Selection, selections
from gradcli.check.sides import Missing
from gradcli.check.singular import at_jumps, classify_singularities
from gradcli.check.summary import Part, summarize
from gradcli.check.survey import Survey, Wiring
from gradcli.check.target import ReferenceValues, Target
from gradcli.reference.balls import precision
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.duals import BUDGET, Columns, Direction, Found, OverBudgetError, Reference
from gradcli.reference.rules import Undefined
from gradcli.results import Check


@dataclass(frozen=True)
class Evidence:
    """What the reference found at the point, for the formulas: columns by number of the direction, at some bits.

    `work` is how many ball operations that took.
    """

    directions: Sequence[Direction]
    columns: Columns
    rows: Rows | None
    bits: int
    work: int = 0


@dataclass(frozen=True)
class Judgement:
    """What was decided.

    Attributes:
        check: The sum.
        entries: What it sums up, worst first.
        evidence: What the reference found, None if nothing was within its budget.
        parts: The entries of J and of a vᵀJ beside a sampled J, each with its coverage.
    """

    check: Check
    entries: tuple[Entry, ...]
    evidence: Evidence | None
    parts: tuple[Part, ...]


def judge(point: Point, torch: Torch, wrt: tuple[str, ...], tolerance: Tolerance | None = None) -> Judgement:
    """Compare torch's numbers with the reference, all of them or a sample.

    Args:
        point: The Program and its inputs.
        torch: The numbers, per variable.
        wrt: The variables, in order; without any, y alone is judged.
        tolerance: How far a number may be from the truth; by default that of the dtype.
    """
    with time_limit():
        return _Judge(point, torch, wrt, tolerance or TOLERANCE[torch.dtype]).judgement()


class _Judge:
    """One check: the readings' numbers and how they are compared."""

    def __init__(self, point: Point, torch: Torch, wrt: tuple[str, ...], tolerance: Tolerance) -> None:
        self.point, self.torch, self.tolerance = point, torch, tolerance
        self.variables = sorted((s for s in point.program.variables if str(s) in wrt), key=lambda s: wrt.index(str(s)))
        self.reference = Reference(point.program, point.shapes, point.inputs)
        self.wiring = Wiring(point, self.reference)

    def judgement(self) -> Judgement:
        """J and y, and beside a sampled J the vᵀJ on its own."""
        main, evidence = self._within_time(self.torch)
        parts = [main]
        if self.torch.jacobian is not None and self.torch.vjp is not None and main.chosen != "all":
            parts.append(self._within_time(replace(self.torch, jacobian=None))[0])
        check, entries = summarize(self.point, parts)
        return Judgement(check, entries, evidence, tuple(parts))

    def _within_time(self, torch: Torch) -> tuple[Part, Evidence | None]:
        """The part, or nothing of it where that takes too long."""
        survey = Survey(self.wiring, torch, self.variables)
        try:
            return self._part(survey)
        except OverTimeError as error:
            return Part(survey.entries, (), "none", (f"the check was {error}",), is_whole=False), None

    def _part(self, survey: Survey) -> tuple[Part, Evidence | None]:
        torch = survey.torch
        if survey.entries == 0:
            return Part(0, (), "all", ("there are no entries to check",)), None
        too_much = None
        is_long = len(self.reference.program.lines) > BUDGET  # even one entry takes all of its lines
        for selection in () if is_long else selections(survey):
            if (asked := self._asked(selection)) == too_much:
                continue
            try:
                plan = self.reference.plan(selection.directions, selection.rows)
            except OverBudgetError:
                too_much = asked
                continue
            found = plan.run(FIRST_BITS)
            evidence = Evidence(selection.directions, found.columns, selection.rows, FIRST_BITS, plan.work)
            decided = self._decide(evidence, found, self._targets(survey, selection, found))
            notes = [selection.note] if selection.note else []
            if torch.judges_value and not plan.judges_value:
                notes.append("y itself was not checked: that was over the budget")
            elif torch.judges_value and selection.chosen == "all" and len(found.values) < torch.value.size:
                notes.append(f"of y, {len(found.values):,} of {torch.value.size:,} elements were checked")
            is_whole = selection.chosen == "all" and not notes
            notes += self._at_infinity(decided)
            zeros = survey.zeros if selection.is_sparse else 0
            part = Part(survey.entries, decided, selection.chosen, tuple(notes), is_whole=is_whole, zeros=zeros)
            return part, evidence
        note = "even one entry was over the budget of the reference"
        return Part(survey.entries, (), "none", (note,), is_whole=False), None

    def _asked(self, selection: Selection) -> tuple[frozenset[Direction], frozenset[int] | None]:
        """The columns and the rows of a selection, None for all."""
        rows = None if selection.rows is None else frozenset(selection.rows.tolist())
        return frozenset(selection.directions), None if rows and len(rows) == self.point.rows else rows

    def _at_infinity(self, decided: Sequence[Entry]) -> list[str]:
        """That a derivative by an infinite number is a limit."""
        known = [e for e in decided if e.variable is not None and e.verdict != "undefined"]
        names = dict.fromkeys(e.variable for e in known if self.reference.is_infinite((_symbol(e), e.column)))
        return [f"the derivatives by infinite elements of {name} are limits" for name in names]

    def _targets(self, survey: Survey, selection: Selection, found: Found) -> list[Target]:
        torch, value = survey.torch, survey.torch.value.ravel()
        targets = [Target(None, -1, row, -1, float(value[row])) for row in found.values if torch.judges_value]
        rows = range(self.point.rows) if selection.rows is None else selection.rows.tolist()
        reached = ReferenceValues(found).columns
        passes = np.stack([v.ravel() for v in torch.passes]) if torch.passes else None
        for d, (symbol, j) in enumerate(selection.directions):
            name = str(symbol)
            if torch.jacobian is not None:
                block = torch.jacobian[name].reshape(self.point.rows, -1)
                own = sorted(reached.get(d, ())) if selection.is_sparse else rows
                targets += [Target(name, j, row, d, float(block[row, j])) for row in own]
            if torch.vjp is not None and torch.v is not None and selection.rows is None:
                number = float(torch.vjp[name].ravel()[j])
                targets.append(Target(name, j, -1, d, number, torch.v.ravel(), passes))
        return targets + (self._odd(survey) if selection.is_sparse else [])

    def _odd(self, survey: Survey) -> list[Target]:
        """Numbers that are not 0 where the truth is, whatever the numbers are: no direction reaches them."""
        blocks = survey.torch.jacobian if survey.torch.jacobian is not None else survey.torch.vjp or {}
        weights = None if survey.torch.jacobian is not None else np.zeros(0)
        return [
            Target(
                name,
                j,
                row,
                -1,
                float(blocks[name].reshape(-1, self.reference.inputs[sympy.Symbol(name, real=True)].size)[row, j]),
                weights,
            )
            for name, j, row in survey.odd
        ]

    def _decide(self, evidence: Evidence, found: Found, targets: list[Target]) -> list[Entry]:
        """Raise the precision for the targets that need it, then ask why what is wrong is wrong."""
        bits, directions = evidence.bits, list(evidence.directions)
        entries: list[Entry] = []
        wrong: list[tuple[Target, Entry]] = []
        missing: list[Missing] = []
        while targets:
            is_last = bits >= LAST_BITS
            waiting: list[Target] = []
            with precision(bits):
                sight = ReferenceValues(found)
                for target in targets:
                    truth = target.truth(sight)
                    if isinstance(truth, Undefined) and (truth.decided or is_last):
                        missing.append(Missing(target, truth, frozenset(target.rows(sight))))
                        continue
                    entry = None
                    if not isinstance(truth, Undefined):
                        entry = compare(target, truth, self.tolerance, self.torch.dtype, is_last=is_last)
                    if entry is None:
                        waiting.append(target)
                    elif entry.verdict == "disagree":
                        wrong.append((target, entry))
                    else:
                        entries.append(entry)
            targets, directions = _renumbered(waiting, directions)
            bits *= 2
            if targets:
                found = self.reference.plan(directions, evidence.rows).run(bits)
        unequal = explained(self.point, evidence.rows, wrong, self.torch.dtype, self.tolerance)
        entries += at_jumps(self.reference, unequal, [one for one, _ in wrong], self.tolerance, self.torch.dtype)
        return entries + classify_singularities(self.reference, missing, self.tolerance, self.torch.dtype)


def _symbol(entry: Entry) -> sympy.Symbol:
    return sympy.Symbol(entry.variable, real=True)


def _renumbered(targets: list[Target], directions: list[Direction]) -> tuple[list[Target], list[Direction]]:
    """The targets with only the directions that they need."""
    kept = sorted({t.direction for t in targets if t.direction >= 0})
    number = {d: n for n, d in enumerate(kept)}
    return [replace(t, direction=number.get(t.direction, -1)) for t in targets], [directions[d] for d in kept]

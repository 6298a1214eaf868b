"""Verdicts on all checked entries, and one check of all: the worst verdict, the coverage, the findings worth listing.

In this order: does the function exist here, does its derivative, is torch's number the truth to within a stated
tolerance, and if not, can the rounding of its precision explain it?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradcli.crosscheck.compare import FIRST_BITS, TOLERANCE, Case, Evidence, Singular, Tolerance, Truths, verdicts
from gradcli.crosscheck.measured import Measured, MeasuredEntries, MeasuredTruth
from gradcli.crosscheck.minor import unless_minor
from gradcli.crosscheck.point import FunctionAtPoint, Numbers
from gradcli.crosscheck.sample import ALL_ENTRIES, LEAST_SAMPLE, Selection, Survey, selections
from gradcli.crosscheck.summary import PartCheck, summarize, with_findings
from gradcli.language.ops.structure import MEASURED
from gradcli.language.program.opaque import measured_slopes
from gradcli.progress import budget_factor, collector_paused
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_pass import EnclosedDerivatives
from gradcli.reference.enclosure_plan import Plan, Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import SEVERITY, Check, Entry

if TYPE_CHECKING:
    from gradcli.crosscheck.bounded import BoundedProof

MOST_FOLLOWED = 2**20
"""Most elements of all lines to follow for the entries that are 0 by structure, where bounds decide the others."""

MOST_OPEN = 256
"""Most entries left open by bounds for balls to look at, or to list, one by one; more with a larger budget."""


@dataclass(frozen=True)
class Judgement:
    """Verdicts on all entries, and their check.

    Attributes:
        check: The summary of all entries.
        entries: The entries that it sums up, worst first.
        evidence: The truths that the reference enclosed, None if nothing was within its budget.
        parts: The entries of J and, next to a sampled J, of vᵀJ, each with its coverage.
        findings: Findings about the function, besides those about its entries.
        notes: Remarks on the function.
        is_fully_recorded: Whether all that the function does is in the Program; without that nothing is proven.
        is_sample: Whether it is one of several points, of which some were not looked at.
    """

    check: Check
    entries: tuple[Entry, ...]
    evidence: Evidence | None
    parts: tuple[PartCheck, ...]
    findings: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()
    is_fully_recorded: bool = True
    is_sample: bool = False

    @classmethod
    def summarized(cls, parts: Sequence[PartCheck], evidence: Evidence | None) -> Judgement:
        """Make the check of all entries."""
        check, entries = summarize(parts)
        return cls(check, entries, evidence, tuple(parts))

    def joined(
        self,
        findings: Sequence[Entry] = (),
        notes: Sequence[str] = (),
        *,
        is_fully_recorded: bool = True,
        is_sample: bool = False,
    ) -> Judgement:
        """Add findings about the function, and remarks."""
        if not (findings or notes or is_sample) and is_fully_recorded:
            return self
        return replace(
            self,
            findings=tuple(dict.fromkeys((*self.findings, *findings))),
            notes=tuple(dict.fromkeys((*self.notes, *notes))),
            is_fully_recorded=self.is_fully_recorded and is_fully_recorded,
            is_sample=self.is_sample or is_sample,
        ).changed(lambda entry: entry)

    def with_value_of(self, other: Judgement) -> Judgement:
        """Take y from the judgement of another function, whose derivatives are meant to be those that were judged.

        Where nothing is known of that y, none of its elements is listed.
        """
        own = [entry for entry in other.entries if entry.variable is None and entry.verdict != "unchecked"]
        main, *others = (replace(part, decided=[e for e in part.decided if e.kind != "value"]) for part in self.parts)
        parts = (replace(main, decided=[*main.decided, *own]), *others)
        notes = ["y could not be compared with its own truth"] if other.check.verdict == "unchecked" else []
        found = replace(self, parts=parts).changed(lambda entry: entry)
        return found.joined(other.findings, notes, is_fully_recorded=other.is_fully_recorded)

    def changed(self, change: Callable[[Entry], Entry]) -> Judgement:
        """Change entries; the check is summed up again, with the findings about the function: the worst decides."""
        parts = tuple(replace(part, decided=list(map(change, part.decided))) for part in self.parts)
        check, entries = summarize(parts)
        check = with_findings(check, self.findings)
        worst = {one.position: one for one in sorted(self.findings, key=lambda one: SEVERITY.index(one.verdict))}
        known = {
            entry.verdict for entry in entries if entry.variable is not None
        }  # y itself is right where these say it
        worst = {at: one for at, one in worst.items() if at.variable is not None or one.verdict not in known}
        entries = tuple(_worse(entry, worst.get(entry.position)) for entry in entries)
        is_proven = check.proven and self.is_fully_recorded and not self.is_sample
        notes, is_sampled = (*check.notes, *self.notes), check.sampled or self.is_sample
        check = replace(check, notes=notes, proven=is_proven, sampled=is_sampled)
        return replace(self, check=check, entries=entries, parts=parts)


def _worse(entry: Entry, finding: Entry | None) -> Entry:
    """Give an entry the verdict of what was found of the same number, if that is worse."""
    if finding is None or SEVERITY.index(finding.verdict) <= SEVERITY.index(entry.verdict):
        return entry
    return entry.judged(verdict=finding.verdict, note=finding.note, proven=finding.proven)


def judge(
    point: FunctionAtPoint, numbers: Numbers, wrt: tuple[str, ...], tolerance: Tolerance | None = None
) -> Judgement:
    """Compare torch's numbers with the reference, all of them or a sample.

    Args:
        point: The Program and its inputs.
        numbers: Torch's, per variable.
        wrt: The variables, in order; without any, y alone is judged.
        tolerance: How far a number may be from the truth; by default that of the dtype.
    """
    with time_limit(), collector_paused():
        return JacobianJudge(point, numbers, wrt, tolerance or TOLERANCE[numbers.dtype]).judgement()


def withheld(judgement: Judgement, reason: str) -> Judgement:
    """Withdraw each `disagree` of a judgement for a reason, if torch computes something other than the function."""

    def unsaid(entry: Entry) -> Entry:
        return entry.judged(verdict="unchecked", note=reason, proven=False) if entry.verdict == "disagree" else entry

    return judgement.changed(unsaid)


def _split_unknown(entries: Sequence[Entry], measured: Measured) -> tuple[list[Entry], list[Entry]]:
    """Leave unchecked the entries that went through slopes which are not known; give the others besides."""
    left, others = list[Entry](), list[Entry]()
    for entry in entries:
        known = measured(entry)
        if known is not None and known.unknown:
            left.append(entry.judged(verdict="unchecked", note=known.unknown, proven=False))
        else:
            others.append(entry)
    return left, others


def _undecided(left: int) -> str:
    return f"{left:,} {'entry' if left == 1 else 'entries'} could not be decided within the budget of the reference"


class JacobianJudge:
    """Judge of torch's numbers at one point, by the reference."""

    refines = True
    """Whether bounds try again with more digits what those of floats leave open."""

    def __init__(self, point: FunctionAtPoint, numbers: Numbers, wrt: tuple[str, ...], tolerance: Tolerance) -> None:
        self.point, self.numbers = point, numbers
        self.variables = sorted((s for s in point.program.variables if str(s) in wrt), key=lambda s: wrt.index(str(s)))
        self.reference = Reference(point.program, point.shapes, point.inputs)
        is_measured = False  # by a plain loop, as most are not
        for line in self.reference.program.lines:
            is_measured |= line.call.op.name == MEASURED
        self.measured = tuple(measured_slopes(self.reference.program)) if is_measured else ()
        self.elements = sum(map(math.prod, self.reference.shapes.values()))
        v = None if numbers.v is None else numbers.v.ravel()
        passes = np.stack([one.ravel() for one in numbers.passes]) if numbers.passes else None
        self.case = Case(self.reference, tolerance, v, passes, value=numbers.value.ravel(), wrt=frozenset(wrt))

    def judgement(self) -> Judgement:
        """Judge J and y, and next to a sampled J also vᵀJ on its own."""
        main, evidence = self._judged_part(self.numbers)
        parts = [main]
        # With all of J, vᵀJ was judged together; a sample of rows leaves it out, as its entries sum over all rows.
        is_judged_together = main.chosen == "all" and not main.bounded
        if "jacobian" in self.numbers.derivatives and "vjp" in self.numbers.derivatives and not is_judged_together:
            parts.append(self._judged_part(self.numbers.without("jacobian"))[0])
        return Judgement.summarized(parts, evidence)

    def _judged_part(self, numbers: Numbers) -> tuple[PartCheck, Evidence | None]:
        """Judge a part: balls look at a sample of a large one, and bounds may prove the entries left out."""
        survey = Survey(self.point, self.reference, numbers, self.variables)
        # The quick proof by bounds first, as a sample may take all the time.
        is_deep = self.elements > self.reference.budget  # balls would hardly decide a single entry
        is_large = is_deep or survey.entries > ALL_ENTRIES
        proof = self._proof(numbers) if is_large else None
        evidence: Evidence | None = None
        if is_deep and proof is not None and proof.is_decided:
            return self._merged_with_bounds(survey, self._nothing_decided(survey, ""), proof), None
        try:
            part, evidence = self._part_by_balls(survey)
        except OverTimeError as error:
            part = self._nothing_decided(survey, f"the check was {error}")
        if not part.is_whole and (proof := proof if is_large else self._proof(numbers)) is not None:
            with suppress(OverTimeError):
                part = self._merged_with_bounds(survey, part, proof)
        return part, evidence

    def _proof(self, numbers: Numbers) -> BoundedProof | None:
        if self.measured:  # bounds prove, and nothing of these is proven
            return None
        from gradcli.crosscheck.bounded import prove

        return prove(self.point, numbers, self.variables, self.case.tolerance, refines=self.refines)

    def _merged_with_bounds(self, survey: Survey, part: PartCheck, proof: BoundedProof) -> PartCheck:
        """Add entries proved by array bounds; decide the few others with balls."""
        is_decided = {name: np.zeros_like(block) for name, block in proof.blocks.items()}
        pattern = survey.pattern if self.elements <= MOST_FOLLOWED else None
        for symbol, (rows, columns) in (pattern or {}).items():  # the others are 0 by structure, and counted so
            by_structure = survey.numbers.block(str(symbol)) == 0
            by_structure[np.maximum(rows, 0), columns] = False
            is_decided[str(symbol)] |= by_structure

        def not_yet_decided(entries: Sequence[Entry]) -> list[Entry]:
            """Select the entries that were not decided before, and mark all of them as decided."""
            known = {entry: self._place(entry) for entry in entries}
            found = [entry for entry, place in known.items() if not is_decided[place[0]][place[1:]]]
            for entry, place in known.items():
                if entry.variable is None or "jacobian" not in survey.numbers.derivatives or entry.row is not None:
                    is_decided[place[0]][place[1:]] = True  # next to J, vᵀJ is a part of its own
            return found

        def count(blocks: Mapping[str, NDArray[np.bool_]]) -> int:
            return sum(int(np.count_nonzero(block & ~is_decided[name])) for name, block in blocks.items())

        own = not_yet_decided(part.decided)
        lost = not_yet_decided(proof.off)
        decided = [*own, *(lost if self.case.tolerance.is_strict else map(self._marked, lost))]
        decided += self._explained(not_yet_decided(proof.wrong))
        derived = [name for name in proof.lost if name or survey.kind == "value"]
        more = count({name: proof.lost[name] for name in derived})
        is_open = {name: ~(proof.blocks[name] | is_decided[name] | proof.lost[name]) for name in derived}
        most = int(MOST_OPEN * max(1.0, budget_factor()))
        if 0 < count(is_open) <= most:
            places = [(name, i, j) for name, block in is_open.items() for i, j in np.argwhere(block).tolist()]
            others = self._decided_by_balls(survey, places)
            not_yet_decided(others)
            decided += others
        left = count(is_open)
        if not any(entry.variable is not None for entry in decided):  # something to show
            has_y = bool(decided)
            decided += not_yet_decided([entry for entry in proof.shown if entry.variable or not has_y])
        notes = [_undecided(left)] if left else []
        if more:
            notes.append(f"{more:,} more {'entry is' if more == 1 else 'entries are'} inaccurate")
        if left and part.remark:
            notes.insert(0, part.remark)
        y = np.array([is_decided[name] | block | proof.lost[name] for name, block in proof.blocks.items() if not name])
        if not y.all():
            notes.append(f"of y, {np.count_nonzero(y):,} of {y.size:,} elements were checked")
        is_whole = not notes
        is_sample = any(entry.kind == part.kind for entry in part.decided)  # its other entries need no decision
        return replace(
            part,
            decided=decided,
            undecided=0 if is_sample and not part.undecided else left,
            chosen="all" if is_whole else part.chosen if part.decided else "what could be decided",
            notes=(*notes, *self._at_infinity(decided)),
            is_whole=is_whole,
            zeros=0 if pattern is None else survey.zeros,
            bounded=count({name: proof.blocks[name] for name in derived}),
            error=proof.error,
        )

    def _explained(self, wrong: Sequence[Entry]) -> list[Entry]:
        """Explain wrong entries with a truth from array bounds: by rounding, or not at all."""
        if not wrong:
            return []
        others = list(wrong) if self.case.tolerance.is_strict else list(map(self._marked, wrong))
        found = [one for one in others if one.verdict != "disagree"]
        open_ones = [one for one in others if one.verdict == "disagree"]
        try:
            found += self._with_reasons(open_ones, lambda bits, entries: lambda entry: entry.truth)
        except OverTimeError:
            note = "torch's number is not the truth, and there was no time to tell whether rounding explains it"
            found += [one.judged(verdict="unchecked", note=note, proven=False) for one in open_ones]
        return list(map(self._marked, found))

    def _decided_by_balls(self, survey: Survey, places: Sequence[tuple[str, int, int]]) -> list[Entry]:
        """Decide some entries with balls; none where the work is over the budget."""
        symbols, asked = {str(symbol): symbol for symbol in self.variables}, set(places)
        directions = list(dict.fromkeys((symbols[name], column) for name, _, column in places))
        rows = np.unique([row for _, row, _ in places]) if "jacobian" in survey.numbers.derivatives else None
        selection = Selection("all", directions, rows)
        try:
            found = self._plan(selection).run(FIRST_BITS)
            entries = self._entries(survey, selection, found)
            return self._decide(selection, found, [e for e in entries if not e.variable or self._place(e) in asked])
        except (OverBudgetError, OverTimeError):
            return []

    def _place(self, entry: Entry) -> tuple[str, int, int]:
        column = 0 if entry.variable is None else self.case.direction(entry)[1]
        return entry.variable or "", self.case.row(entry), column

    def _part_by_balls(self, survey: Survey) -> tuple[PartCheck, Evidence | None]:
        numbers = survey.numbers
        if survey.entries == 0:
            return PartCheck(survey.kind, 0, (), "all", ("there are no entries to check",)), None
        is_long = len(self.reference.program.lines) > self.reference.budget  # even one entry takes all of its lines
        for selection in () if is_long else selections(survey):
            try:
                plan = self._plan(selection)
            except OverBudgetError:
                continue
            found = plan.run(FIRST_BITS)
            evidence = Evidence.of_columns(self.point, selection.directions, found.columns, selection.rows, FIRST_BITS)
            decided = self._decide(selection, found, self._entries(survey, selection, found))
            notes = [selection.note] if selection.note else []
            if numbers.judges_value and not plan.judges_value:
                notes.append("y itself was not checked: that was over the budget")
            elif numbers.judges_value and selection.chosen == "all" and len(found.values) < numbers.value.size:
                notes.append(f"of y, {len(found.values):,} of {numbers.value.size:,} elements were checked")
            is_whole = selection.chosen == "all" and not notes
            notes += self._at_infinity(decided)
            zeros = survey.zeros if selection.is_sparse else 0
            part = PartCheck(
                survey.kind,
                survey.entries,
                decided,
                selection.chosen,
                tuple(notes),
                is_whole=is_whole,
                zeros=zeros,
                remark=selection.note,
            )
            return self._with_undecided(survey, part) if selection.chosen.startswith("sampled") else part, evidence
        return self._nothing_decided(survey, "even one entry was over the budget of the reference"), None

    def _with_undecided(self, survey: Survey, part: PartCheck) -> PartCheck:
        """Count the entries that a sample leaves undecided: of few entries all are tried; one of many is no sample."""
        tried = part.zeros + sum(entry.kind == survey.kind for entry in part.decided)
        left = survey.entries - tried
        if left <= 0 or (survey.entries > ALL_ENTRIES and tried >= LEAST_SAMPLE):
            return part
        return replace(part, undecided=left, notes=(*part.notes, _undecided(left)))

    def _nothing_decided(self, survey: Survey, note: str) -> PartCheck:
        """Make the part for entries of which none could be decided."""
        return PartCheck(survey.kind, survey.entries, (), "none", (note,), is_whole=False, undecided=survey.entries)

    def _at_infinity(self, decided: Sequence[Entry]) -> list[str]:
        """Write the remark that derivatives by infinite elements of a variable are limits; empty without any."""
        infinite = {symbol.name for symbol, data in self.reference.inputs.items() if np.isinf(data).any()}
        known = [e for e in decided if e.variable in infinite and e.verdict != "undefined"]
        names = dict.fromkeys(e.variable for e in known if self.reference.is_infinite(self.case.direction(e)))
        return [f"the derivatives by infinite elements of {name} are limits" for name in names]

    def _entries(self, survey: Survey, selection: Selection, found: EnclosedDerivatives) -> list[Entry]:
        """List the entries to decide: elements of y, entries of J in these rows and columns, of vᵀJ in the columns."""
        numbers, entry = survey.numbers, self.point.entry
        rows = range(self.point.rows) if selection.rows is None else selection.rows.tolist()
        entries = [entry(None, row, 0, numbers.value.flat[row]) for row in found.values if numbers.judges_value]
        names = dict.fromkeys(symbol.name for symbol, _ in selection.directions)
        blocks = {name: numbers.block(name) for name in names} if "jacobian" in numbers.derivatives else {}
        for symbol, j in selection.directions:
            name = symbol.name
            if blocks:
                own = sorted(found.columns.get((symbol, j), ())) if selection.is_sparse else rows
                column = blocks[name][:, j].tolist()
                entries += [entry(name, row, j, column[row]) for row in own]
            if "vjp" in numbers.derivatives and numbers.v is not None and selection.rows is None:
                entries.append(entry(name, None, j, numbers.derivatives["vjp"]["", name].flat[j]))
        return entries + (survey.odd[0] if selection.is_sparse else [])  # which no direction reaches

    def _decide(self, selection: Selection, found: EnclosedDerivatives, entries: Sequence[Entry]) -> list[Entry]:
        """Compare the entries with the truth, then look for the reason of each wrong number."""
        case = self.case

        def truths(bits: int, entries: Sequence[Entry]) -> Callable[[Entry], Outcome]:
            seen = found
            if bits > FIRST_BITS:  # only the columns that are still open pay for more
                open_ones = {case.direction(entry) for entry in entries if entry.variable is not None}
                directions = [direction for direction in selection.directions if direction in open_ones]
                seen = self._plan(replace(selection, directions=directions)).run(bits)
            return partial(self._truth, seen=seen)

        measured, decided = self._measured(selection) if self.measured else None, list[Entry]()
        if measured is not None:
            decided, entries = _split_unknown(entries, measured)
        known = verdicts(entries, truths, case.tolerance, measured)
        decided += known.decided
        # Imported where they are needed: most checks have neither, and start twice as fast without.
        if known.wrong:
            from gradcli.crosscheck.jumps import at_jumps

            # In this order: an error that rounding explains needs no jump; only the others are compared at jumps.
            decided += at_jumps(case, self._with_reasons(known.wrong, truths))
        if known.missing:
            decided += self._without_truth(known.missing, found, truths)
        if measured is not None:
            # y itself is what the call gave, which nothing encloses
            is_known = [one.variable is not None and measured(one) is None for one in decided]
            decided = [one if known else one.judged(proven=False) for one, known in zip(decided, is_known, strict=True)]
        return decided if case.tolerance.is_strict else list(map(self._marked, decided))

    def _measured(self, selection: Selection) -> Measured:
        """Return a function that gives what is known of an entry if its truth went through measured slopes."""
        found = MeasuredEntries.following(self._plan(selection), self.measured, self.numbers)

        def of_entry(entry: Entry) -> MeasuredTruth | None:
            if entry.variable is None:
                return None
            return found.of_entry(self.case.direction(entry), None if entry.row is None else self.case.row(entry))

        return of_entry

    # -- what is another for derivatives of a gradient

    def _plan(self, selection: Selection) -> Plan:
        return self.reference.plan(selection.directions, selection.rows)

    def _truth(self, entry: Entry, seen: EnclosedDerivatives) -> Outcome:
        return self.case.truth(entry, seen)

    def _with_reasons(self, wrong: Sequence[Entry], truths: Truths) -> list[Entry]:
        """Give wrong numbers the reason: rounding, or none."""
        from gradcli.crosscheck.rounding import explained

        return explained(self.case, self.point, wrong, truths)

    def _without_truth(
        self, missing: Sequence[tuple[Entry, Undefined]], found: EnclosedDerivatives, truths: Truths
    ) -> list[Entry]:
        """Decide entries that no enclosure has a truth of, by series on rays into the point."""
        from gradcli.crosscheck.singular import PICKED, classify_singularities

        ones = [Singular(entry, cause, frozenset(self.case.rows(entry, found))) for entry, cause in missing]
        seen, decided = classify_singularities(self.case, ones), list[Entry]()
        # Rounding may explain a number that is not that of the whole function, where this is smooth.
        others = [entry for entry in seen if entry.verdict in ("disagree", "kink") and entry.truth is not None]
        judged = self._with_reasons([entry.judged(verdict="disagree") for entry in others], truths) if others else []
        lost = {(e.variable, e.row, e.column) for e in judged if e.verdict in ("agree", "inaccurate")}
        for entry in seen:
            is_lost = (entry.variable, entry.row, entry.column) in lost
            note = entry.note.removesuffix(PICKED)
            decided.append(entry.judged(verdict="inaccurate", note=note) if is_lost else entry)
        return decided

    def _marked(self, entry: Entry) -> Entry:
        if entry.verdict not in ("disagree", "inaccurate"):
            return entry
        blocks = self.numbers.derivatives.get("vjp" if entry.row is None else "jacobian", {})
        rows = {name: array if entry.row is None else array[entry.row] for (_, name), array in blocks.items()}
        return unless_minor(entry, rows, self.point, self.case.tolerance)

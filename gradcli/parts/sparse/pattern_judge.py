"""The verdict on all entries of a pattern: bounds prove them; balls decide some of those that these leave open.

What is left is counted: a kink, a pole or lost digits is a finding, with examples, and no list of a million.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from flint import arb

from gradcli.crosscheck.compare import FIRST_BITS, TOLERANCE, Block, Evidence, compare
from gradcli.crosscheck.hessian_judge import HessianJudge
from gradcli.crosscheck.judge import JacobianJudge, Judgement
from gradcli.crosscheck.minor import unless_minor
from gradcli.crosscheck.point import Numbers, flat
from gradcli.crosscheck.rounding import digits_left
from gradcli.crosscheck.sample import Selection
from gradcli.crosscheck.summary import PartCheck
from gradcli.parts.sparse.open_entries import OTHER, kinds_of
from gradcli.parts.sparse.pattern_bounds import (
    MOST_BY_BALLS,
    MOST_VALUES,
    SHOWN,
    Mask,
    PatternProof,
    SparseSubject,
    prove,
)
from gradcli.progress import BUDGET, SECONDS
from gradcli.reference.balls import Ball
from gradcli.reference.deadline import OverTimeError, part_limit, time_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.results import Entry, Index

PER_MILLION = 2.0
"""Seconds of processor time for each million of entries, besides the usual ones."""

BALLS = 4.0
"""Seconds for them."""


def judged(subject: SparseSubject) -> Judgement:
    """Judge all entries, within the budget of the question, or the usual time and more for many entries.

    Balls have time of their own: bounds of a million elements in more digits may pass the usual time by some seconds.
    """
    own = BUDGET.get()
    is_usual = own is None or own.seconds is None
    seconds = SECONDS + PER_MILLION * subject.plan.pattern.count / 1e6
    with nullcontext() if is_usual else time_limit():
        with part_limit(seconds if is_usual else math.inf):
            proof = prove(subject, kinds_of)
        found, evidence = _by_balls(subject, proof)
        part = _part(subject, proof, found)
        return Judgement.summarized([part], evidence)


# -- by balls


@dataclass
class _Decided:
    """What balls decided.

    Attributes:
        entries: The entries, with their verdicts.
        places: Their places in the pattern.
        values: The elements of y.
    """

    entries: list[Entry] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    values: list[Entry] = field(default_factory=list)


class _Asking:
    """What is common to the judges of single entries, which have no array of the whole matrix."""

    subject: SparseSubject

    def admit_movements(self, reference: Reference) -> Reference:
        """Let the reference follow elements through lines as long as they are: only a few of them are looked at."""
        most = max(map(math.prod, reference.shapes.values()), default=0)
        return reference.admitting(reference.budget, max(reference.budget, most))

    def marked(self, entry: Entry) -> Entry:
        """Mark an entry that lost digits as minor, if its error is small next to the largest entry of its row."""
        if entry.verdict not in ("disagree", "inaccurate") or entry.row is None:
            return entry
        pattern, row = self.subject.plan.pattern, flat(entry.row, self.subject.point.shape)
        first, last = np.searchsorted(pattern.rows, (row, row + 1))
        columns, values = pattern.columns[first:last], self.subject.values[first:last]
        starts = zip(self.subject.wrt, self.subject.starts[:-1], self.subject.starts[1:], strict=True)
        rows = {name: values[(columns >= a) & (columns < b)] for name, a, b in starts}
        function = self.subject.point if self.subject.gradient is None else self.subject.gradient.function
        return unless_minor(entry, rows, function, TOLERANCE[self.subject.dtype])

    def explained(self, entries: Sequence[Entry], places: Sequence[int], is_rounding: Mask) -> list[Entry]:
        """Call entries inaccurate that are off within the bounds of float64, where nothing else explained them."""
        place_of = {entry.position: place for entry, place in zip(self.entries_at(places), places, strict=True)}
        return [
            self._by_rounding(one, is_rounding=bool(is_rounding[place_of[one.position]]))
            if one.verdict == "unchecked"
            else one
            for one in entries
        ]

    def _by_rounding(self, entry: Entry, *, is_rounding: bool) -> Entry:
        truth = entry.truth
        if not is_rounding or truth is None or not truth.is_finite() or truth.contains(0):
            return entry.judged(proven=False)
        found = compare(entry, truth, TOLERANCE[self.subject.dtype], is_last=True) or entry
        note = f"{digits_left(found, self.subject.dtype)} the rounding of {self.subject.dtype}"
        return self.marked(found.judged(verdict="inaccurate", note=note))

    def entries_at(self, places: Sequence[int]) -> list[Entry]:
        """Make the entries at some places of the pattern."""
        return list(map(self.entry_at, places))

    def entry_at(self, place: int) -> Entry:
        """Make the entry at a place of the pattern."""
        row, number, column = self.subject.place(place)
        return self.subject.point.entry(self.subject.wrt[number], row, column, self.subject.values[place])

    def selection(self, places: Sequence[int]) -> Selection:
        """Select the rows and columns of some entries."""
        found = [self.subject.place(place) for place in places]
        directions = list(dict.fromkeys((self.subject.symbols[number], column) for _, number, column in found))
        return Selection("all", directions, np.unique([row for row, _, _ in found]))


def _numbers(subject: SparseSubject) -> Numbers:
    """Present y alone as torch's numbers: a matrix of all entries would not fit into memory."""
    value = np.asarray(subject.y).reshape(subject.point.shape)
    return Numbers(subject.dtype, value, judges_value=subject.gradient is None)


class _JacobianEntries(_Asking, JacobianJudge):
    """Judge of single entries of a Jacobian."""

    def __init__(self, subject: SparseSubject) -> None:
        self.subject = subject
        super().__init__(subject.point, _numbers(subject), subject.wrt, TOLERANCE[subject.dtype])
        self.reference = self.admit_movements(self.reference)
        self.case = replace(self.case, reference=self.reference)

    def decided(self, places: Sequence[int], is_rounding: Mask) -> tuple[list[Entry], Evidence]:
        """Decide some entries, and collect their truths; a mask tells what rounding explains."""
        selection = self.selection(places)
        plan = self.reference.plan(selection.directions, selection.rows, judges_value=False)
        found = plan.run(FIRST_BITS)
        rows = selection.rows
        evidence = Evidence.of_columns(self.point, selection.directions, found.columns, rows, FIRST_BITS)
        return self.explained(self._decide(selection, found, self.entries_at(places)), places, is_rounding), evidence

    def decided_values(self, rows: Sequence[int]) -> list[Entry]:
        """Decide some elements of y."""
        selection = Selection("all", [(self.subject.symbols[0], 0)], np.asarray(rows))
        plan = self.reference.plan(selection.directions, selection.rows)
        found = plan.run(FIRST_BITS)
        if not plan.judges_value:
            return []
        return self._decide(selection, found, [self.point.entry(None, row, 0, self.subject.y[row]) for row in rows])

    def _marked(self, entry: Entry) -> Entry:
        return self.marked(entry)


class _HessianEntries(_Asking, HessianJudge):
    """Judge of single entries of a Hessian."""

    def __init__(self, subject: SparseSubject) -> None:
        gradient = subject.gradient
        assert gradient is not None, "it is of a Hessian"  # noqa: S101
        self.subject = subject
        tolerance = TOLERANCE[subject.dtype]
        given = gradient, gradient.point, _numbers(subject), subject.wrt, tolerance
        super().__init__(*given, value=subject.of, slopes={})
        self.reference = self.admit_movements(self.reference)
        self.case = replace(self.case, reference=self.reference)
        self.function = replace(self.function, reference=self.admit_movements(self.function.reference))

    def decided(self, places: Sequence[int], is_rounding: Mask) -> tuple[list[Entry], Evidence]:
        """Decide some entries, and collect their truths; a mask tells what rounding explains."""
        selection = self.selection(places)
        found = self._plan(selection).run(FIRST_BITS)
        entries = self.explained(self._decide(selection, found, self.entries_at(places)), places, is_rounding)
        truths: dict[Block, dict[tuple[Index, Index], Ball]] = {}
        for one in map(self.named, entries):
            if one.truth is not None and one.row is not None and one.column is not None:
                block = truths.setdefault((one.by or "", one.variable or ""), {})
                block[one.row, one.column] = one.truth
        return [self.named(one) for one in entries], Evidence(truths, FIRST_BITS)

    def _marked(self, entry: Entry) -> Entry:
        return self.marked(entry)


def _by_balls(subject: SparseSubject, proof: PatternProof) -> tuple[_Decided, Evidence | None]:
    """Decide by balls some of the entries that are open; where all are proved, look at a few once more."""
    if proof.agrees.all():
        chosen = _spaced(np.arange(len(proof.agrees)), SHOWN)
    else:
        masks = [mask for mask in proof.kinds.values() if mask.any()] or [~proof.agrees]
        spaced = [_spaced(np.flatnonzero(mask), MOST_BY_BALLS // len(masks)) for mask in masks]
        chosen = np.sort(np.concatenate(spaced))
    if not len(chosen):
        return _Decided(), None
    found, evidences = _Decided(), list[Evidence]()
    with suppress(OverBudgetError, OverTimeError), part_limit(BALLS):
        judge = _JacobianEntries(subject) if subject.gradient is None else _HessianEntries(subject)
        step = max(1, len(chosen) // 4)
        for first in range(0, len(chosen), step):  # those that were decided stay so if the time is over
            places = chosen[first : first + step].tolist()
            entries, evidence = judge.decided(places, proof.is_rounding)
            found.entries += entries
            found.places += places
            evidences.append(evidence)
        if isinstance(judge, _JacobianEntries) and proof.value is not None and not proof.value.all():
            rows = _spaced(np.flatnonzero(~proof.value), MOST_VALUES)
            found.values = judge.decided_values(rows.tolist())
    return found, _joined(evidences)


def enclosed(subject: SparseSubject, places: Sequence[int]) -> Evidence | None:
    """Enclose the truths of some entries by balls; None where that takes too long."""
    with suppress(OverBudgetError, OverTimeError), part_limit(BALLS):
        judge = _JacobianEntries(subject) if subject.gradient is None else _HessianEntries(subject)
        return judge.decided(places, np.zeros(subject.plan.pattern.count, dtype=bool))[1]
    return None


def _joined(evidences: Sequence[Evidence]) -> Evidence | None:
    if not evidences:
        return None
    blocks: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for one in evidences:
        for block, truths in one.blocks.items():
            blocks.setdefault(block, {}).update(truths)
    return replace(evidences[0], blocks=blocks, reached=None)


def _spaced(places: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Choose at most this many places, those at the ends among them."""
    if len(places) <= most:
        return places
    return places[np.unique(np.linspace(0, len(places) - 1, most).astype(np.int64))]


def _add_shown(subject: SparseSubject, proof: PatternProof, found: _Decided) -> None:
    """Take entries that bounds prove for those that balls decide, where balls had no time for any."""
    for place, truth in proof.shown.items():
        row, number, column = subject.place(place)
        entry = subject.point.entry(subject.wrt[number], row, column, subject.values[place])
        entry = entry.judged(verdict="agree", proven=True, truth=truth)
        if subject.gradient is not None:
            name, index = subject.gradient.element(row)
            entry = entry.moved(kind="hessian", by=name, row=index)
        found.entries.append(entry)
        found.places.append(place)


def _by_kind(proof: PatternProof, is_left: Mask) -> str:
    """Count the entries that nothing decided by the kind of place that they come through."""
    counts = {kind: int(np.count_nonzero(mask & is_left)) for kind, mask in proof.kinds.items()}
    known = [f"{count:,} {kind}" for kind, count in counts.items() if count]
    return f": by bounds, {', '.join(known)}" if known and set(counts) - {OTHER} else ""


def _sampled(examples: Sequence[Entry]) -> str:
    """Count by their verdicts what balls decided of the entries that bounds leave open: examples of the others."""
    counts = Counter("undecided" if one.verdict == "unchecked" else one.verdict for one in examples)
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"; of {len(examples)} spread over the open ones, balls say: {words}" if examples else ""


def _all_zero(subject: SparseSubject) -> PartCheck:
    """Make the part of a matrix without a pattern: all of its entries are 0, for all values."""
    entries = math.prod(subject.plan.pattern.shape)
    if not entries:
        return PartCheck(subject.kind, 0, (), "all")
    first = subject.point.entry(subject.wrt[0], 0, 0, 0.0).judged(verdict="agree", proven=True, truth=arb(0))
    if subject.gradient is not None:
        name, index = subject.gradient.element(0)
        first = first.moved(kind="hessian", by=name, row=index)
    return PartCheck(subject.kind, entries, [first], "all", zeros=entries - 1)


def _part(subject: SparseSubject, proof: PatternProof, found: _Decided) -> PartCheck:
    """Count what is proved, decided and left open."""
    total = len(proof.agrees)
    if not total:
        return _all_zero(subject)
    if not found.entries:
        _add_shown(subject, proof, found)
    proved = proof.agrees.copy()
    proved[found.places] = False  # each entry is counted once
    bounded = int(np.count_nonzero(proved))
    others = ~proved
    others[found.places] = False
    left_open = others & ~proof.is_off
    lost = int(np.count_nonzero(others & proof.is_off & proof.is_rounding))
    off = int(np.count_nonzero(others & proof.is_off)) - lost
    left = int(np.count_nonzero(others)) - off - lost
    notes = []
    if lost:
        notes.append(f"{lost:,} more {'entry is' if lost == 1 else 'entries are'} inaccurate")
    if off:
        entries = "entry differs" if off == 1 else "entries differ"
        notes.append(f"{off:,} more {entries} from the truth by more than rounding of the result")
    if left:
        notes.append(
            f"{left:,} {'entry' if left == 1 else 'entries'} could not be decided within the budget of the reference"
            f"{_by_kind(proof, left_open)}{_sampled(found.entries)}"
        )
    if proof.value is None and subject.gradient is None:
        notes.append("y itself was not checked")
    elif proof.value is not None and not proof.value.all():
        checked = int(np.count_nonzero(proof.value)) + len(found.values)
        if checked < len(proof.value):
            notes.append(f"of y, {checked:,} of {len(proof.value):,} elements were checked")
    return PartCheck(
        subject.kind,
        total,
        [*found.entries, *found.values],
        "all" if not notes else "what could be decided",
        tuple(notes),
        is_whole=not notes,
        bounded=bounded + off + lost,
        undecided=left,
        error=proof.error,
    )

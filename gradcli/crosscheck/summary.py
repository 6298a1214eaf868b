"""Summary of many entries in one check: the worst verdict, the coverage, and the findings that are worth listing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from gradcli.crosscheck.compare import known_truth
from gradcli.results import SEVERITY, Check, Entry, NumberKind, Verdict
from gradcli.results.verdicts import AssessmentChanges, Index, changed

RANKS = {verdict: rank for rank, verdict in enumerate(SEVERITY)}
"""Place of each verdict among all, from best to worst."""

MAX_FINDINGS = 10
"""Most findings to list."""

FEW = 100
"""Entries of a kind to try for each that may stay undecided; with more undecided ones the check counts as unchecked."""


@dataclass(frozen=True, slots=True)
class PartCheck:
    """Check of the entries of one kind, together with those of y, of vᵀJ or of the gradient.

    Attributes:
        kind: The kind of the entries.
        entries: Their number.
        decided: The entries judged one by one, with or without a verdict.
        chosen: The choice among the entries in words, such as `all`.
        notes: Remarks on the check.
        is_whole: Whether no entry was left out.
        zeros: The number of entries that are 0 by structure, and in torch's numbers.
        bounded: The number of further entries that agree, as bounds of whole arrays prove.
        undecided: The number of entries that were tried and not decided, besides those in `decided`.
        error: The largest relative error of the bounded entries, about.
        remark: The remark on critical elements that a sample leaves out.
        digits: The digits to which the bounded entries were measured; None if bounds prove them.
    """

    kind: NumberKind
    entries: int
    decided: Sequence[Entry]
    chosen: str
    notes: tuple[str, ...] = ()
    is_whole: bool = True
    zeros: int = 0
    bounded: int = 0
    undecided: int = 0
    error: float | None = None
    remark: str = ""
    digits: int | None = None

    @property
    def checked(self) -> int:
        """Number of entries that were compared or shown to have no truth."""
        found = 0
        for entry in self.decided:  # a loop without properties, as there are many
            found += entry.position.kind == self.kind and entry.assessment.verdict != "unchecked"
        return self.zeros + self.bounded + found


def _first_of(noted: Sequence[str]) -> str:
    """Return the first note, and count the others."""
    more = len(noted) - 1
    return f"{noted[0]}, and {more:,} more such {'entry' if more == 1 else 'entries'}" if more else noted[0]


def summarize(parts: Sequence[PartCheck]) -> tuple[Check, tuple[Entry, ...]]:
    """Merge the checks of J (or vᵀJ) and of a separately sampled vᵀJ; list all entries, worst first."""
    main, *others = parts
    # Without the elements of y that a second part looked at again.
    distinct = {e.position: e for part in parts for e in part.decided}
    decided = sorted(distinct.values(), key=badness, reverse=True)
    bad = worth_listing(decided)
    tried = Counter([e.position.kind for e in decided])
    undecided = Counter([e.position.kind for e in decided if e.assessment.verdict == "unchecked"])
    for part in parts:
        tried[part.kind] += part.bounded + part.undecided
        undecided[part.kind] += part.undecided
    verdicts: set[Verdict] = {e.assessment.verdict for e in decided} - {"unchecked"}
    if not verdicts and any(part.bounded for part in parts):
        verdicts.add("agree")
    # A decided y does not make a gradient checked, nor a decided gradient a Hessian.
    if (main.entries and not main.checked) or any(FEW * count > tried[kind] for kind, count in undecided.items()):
        verdicts.add("unchecked")
    verdict = worst(verdicts or {"unchecked"})
    is_whole = all(part.is_whole for part in parts)
    notes = dict.fromkeys(main.notes)
    for part in others:
        if not part.is_whole:
            notes[f"of vᵀJ, {part.checked:,} of {part.entries:,} entries were checked"] = None
        notes |= dict.fromkeys(part.notes)
    # Notes on the terms whose rounding explains entries that are 0 in truth and not in torch.
    remarked = [e for e in decided if e.assessment.note and e.verdict == "agree"]
    noted = [e.note for e in remarked if known_truth(e.truth) == 0 and e.torch != 0]
    if noted:
        notes[_first_of(noted)] = None
    known = [part.digits for part in parts if part.digits is not None]
    known += [e.assessment.digits for e in decided if e.assessment.digits is not None and e.verdict == "agree"]
    opinions = [e.assessment for e in decided]
    errors = [one.relative_error for one in opinions if one.relative_error is not None]
    errors += [part.error for part in parts if part.error is not None]
    check = Check(
        verdict,
        main.entries,
        main.checked,
        max(errors, default=None),
        findings=tuple(map(published, bad[:MAX_FINDINGS])),
        findings_count=len(bad),
        unlisted=tuple(map(published, bad[MAX_FINDINGS:])),
        chosen=main.chosen,
        notes=tuple(notes),
        proven=is_whole and bool(decided) and all(one.proven for one in opinions) and not known,
        sampled=not is_whole,
        zeros=main.zeros,
        undecided=undecided[main.kind],
        digits=min(known, default=None),
    )
    return check, tuple(decided)


def with_findings(check: Check, found: Sequence[Entry]) -> Check:
    """Add findings to a check, whose verdict is the worst of all then."""
    if not found:
        return check
    findings = sorted((*found, *check.findings), key=badness, reverse=True)
    unlisted = (*findings[MAX_FINDINGS:], *check.unlisted)
    count, verdict = check.findings_count + len(found), worst((check.verdict, *(one.verdict for one in found)))
    findings = findings[:MAX_FINDINGS]
    return replace(check, verdict=verdict, findings=tuple(findings), findings_count=count, unlisted=unlisted)


def joined(checks: Sequence[Check]) -> Check:
    """Join the checks of answers that share their Jacobian: the coverage of the first, the findings of all.

    >>> joined([Check("agree", 4, 4, 0.0), Check("kink", 4, 4, 1e-17)]).verdict
    'kink'
    """
    verdict = worst(check.verdict for check in checks)
    findings = list(dict.fromkeys(finding for check in checks for finding in check.findings))
    findings.sort(key=lambda finding: SEVERITY.index(finding.verdict), reverse=True)
    unlisted = dict.fromkeys(entry for check in checks for entry in check.unlisted if entry not in findings)
    hidden = max(check.findings_count - len(check.findings) for check in checks)
    errors = [check.max_relative_error for check in checks if check.max_relative_error is not None]
    return replace(
        checks[0],
        verdict=verdict,
        checked=min(check.checked for check in checks),
        undecided=max(check.undecided for check in checks),
        max_relative_error=max(errors, default=None),
        findings=tuple(findings[:MAX_FINDINGS]),
        findings_count=len(findings) + hidden,
        unlisted=(*findings[MAX_FINDINGS:], *unlisted),
        notes=tuple(dict.fromkeys(note for check in checks for note in check.notes)),
        proven=all(check.proven for check in checks),
        digits=min((check.digits for check in checks if check.digits is not None), default=None),
        sampled=any(check.sampled for check in checks),
        rewrite=next((check.rewrite for check in checks if check.rewrite is not None), None),
    )


def worth_listing(decided: Sequence[Entry]) -> list[Entry]:
    """Leave out agreeing entries, a vᵀJ no worse than the entries of J in its sum, a y that a derivative repeats."""
    if {e.assessment.verdict for e in decided} <= {"agree"}:
        return []
    wrong: dict[tuple[str | None, Index | None], int] = {}
    for e in decided:
        if e.row is not None:
            column = (e.variable, e.column)
            wrong[column] = max(SEVERITY.index(e.verdict), wrong.get(column, 0))
    said = {(e.row, e.verdict) for e in decided if e.variable is not None or e.of}
    return [
        e
        for e in decided
        if e.verdict != "agree"
        and not (not e.of and e.row is None and SEVERITY.index(e.verdict) <= wrong.get((e.variable, e.column), 0))
        and not (
            e.variable is None
            and not e.of
            and e.verdict in ("undefined", "unchecked")
            and {(e.row, e.verdict), (None, e.verdict)} & said
        )
    ]


def published(entry: Entry, **opinions: Unpack[AssessmentChanges]) -> Entry:
    """Copy an entry with the truth as a float, as answers have it, and with these opinions besides."""
    changes = {**opinions, "reference": known_truth(entry.truth), "truth": None}
    return Entry(entry.position, entry.torch, changed(entry.assessment, changes))


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of some verdicts.

    >>> worst(["agree", "undefined", "agree"])
    'undefined'
    """
    return max(verdicts, key=SEVERITY.index)


def badness(entry: Entry) -> tuple[int, bool, float]:
    """Rank by verdict, then y above its derivatives and the gradient above a Hessian, then by error."""
    place, opinion = entry.position, entry.assessment
    is_first = place.kind == "gradient" or (place.variable is None and not entry.of)
    error = math.inf if opinion.relative_error is None else opinion.relative_error
    return RANKS[opinion.verdict], is_first, error

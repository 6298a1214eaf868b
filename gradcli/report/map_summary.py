"""What there is to say when a stream of rows has gone by: how many, what was wrong with some, and the verdict."""

from __future__ import annotations

from gradcli.report.labels import entry
from gradcli.report.wording import covered, standing
from gradcli.results import Entry, StreamSummary

_MOST_FINDINGS = 5


def summary(passage: StreamSummary, seconds: float, *, is_terminal: bool) -> str:
    """The lines for stderr; none where nobody waits for them and nothing is to be said.

    Args:
        passage: What went by.
        seconds: How long it took.
        is_terminal: Whether somebody waits.

    >>> summary(StreamSummary(3, 2, 1, "skip", "row 2 of 't.csv' is empty", "y", None), 1.0, is_terminal=False)
    "3 rows read, 1 left out, 2 written\\nthe first: row 2 of 't.csv' is empty\\n"
    """
    lines = []
    if passage.faulty or is_terminal:
        became = "left out" if passage.on_error == "skip" else "written as nan"
        wrong = f", {passage.faulty:,} {became}" if passage.faulty else ""
        rate = f" in {seconds:.1f} s" if is_terminal else ""
        lines.append(f"{passage.read:,} row{'s' * (passage.read != 1)} read{wrong}, {passage.written:,} written{rate}")
    if passage.first:
        lines.append(f"the first: {passage.first}")
    if passage.check is not None:
        check = passage.check
        entries, error = covered(check)
        lines.append(f"check: {standing(check)}; entries {entries}; largest relative error {error}")
        lines += [f"  {note}" for note in check.notes[:_MOST_FINDINGS]]
        lines += [f"  {_finding(finding, passage.output)}" for finding in check.findings[:_MOST_FINDINGS]]
        if check.findings_count > _MOST_FINDINGS:
            lines.append(f"  and {check.findings_count - _MOST_FINDINGS:,} more")
        if check.rewrite is not None:
            lines.append(f"  better: {check.rewrite.expression}")
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Entry, y: str) -> str:
    note = f": {finding.note}" if finding.note else ""
    return f"row {finding.point}, {entry(finding, y).pretty}, {finding.verdict}{note}"

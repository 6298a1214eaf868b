"""What is said of a stream at its end."""

from __future__ import annotations

from gradcli import results
from gradcli.report.wording import chosen, entry, standing
from gradcli.results.stream_rows import row_called

_MOST_FINDINGS = 5


def summary(passage: results.StreamSummary, seconds: float, *, is_terminal: bool) -> str:
    """Write the lines for stderr; none where nobody waits and there is nothing to report.

    Args:
        passage: Summary of the stream.
        seconds: Duration of the stream.
        is_terminal: Whether somebody waits.

    >>> summary(results.StreamSummary(3, 2, 1, "skip", "row 2 of 't.csv' is empty", "y", None), 1.0, is_terminal=False)
    "3 rows read, 1 left out, 2 written\\nthe first: row 2 of 't.csv' is empty\\n"
    """
    lines = [f"warning: {remark}" for remark in passage.remarks]
    if passage.faulty or is_terminal:
        became = "left out" if passage.on_error == "skip" else "written as nan"
        wrong = f", {passage.faulty:,} {became}" if passage.faulty else ""
        rate = f" in {seconds:.1f} s" if is_terminal else ""
        lines.append(f"{passage.read:,} row{'s' * (passage.read != 1)} read{wrong}, {passage.written:,} written{rate}")
    if passage.first:
        lines.append(f"the first: {passage.first}")
    if passage.valueless:
        rows = "row has" if passage.valueless == 1 else "rows have"
        rows = f"other {rows}" if passage.faulty else rows
        values = f"nan or infinity as the value of {passage.output} or a derivative"
        lines.append(f"{passage.valueless:,} {rows} {values}; the first: {passage.first_valueless}")
        if passage.check is None:
            lines.append("hint: --check says of such rows what they are")
    if passage.check is not None:
        check = passage.check
        details = f" ({chosen(check)})" if chosen(check) else ""
        error = "none" if check.max_relative_error is None else f"{check.max_relative_error:.2g}"
        entries = f"{check.checked:,} of {check.entries:,}{details}"
        lines.append(f"check: {standing(check)}; entries {entries}; largest relative error {error}")
        lines += [f"  {note}" for note in check.notes[:_MOST_FINDINGS]]
        for one in check.findings[:_MOST_FINDINGS]:
            row = passage.called.get(one.point or 0) or row_called(one.point or 0)
            note = f": {one.note}" * bool(one.note)
            lines.append(f"  {row}, {entry(one, passage.output).pretty}, {one.verdict}{note}")
        if check.findings_count > _MOST_FINDINGS:
            lines.append(f"  and {check.findings_count - _MOST_FINDINGS:,} more")
        if check.rewrite is not None:
            lines.append(f"  better: {check.rewrite.expression}")
    return "".join(f"{line}\n" for line in lines)

"""A backward pass of a script in a line."""

from __future__ import annotations

from gradcli.report import document as doc
from gradcli.report.compose.cross_check import standing
from gradcli.report.document import line
from gradcli.report.numbers import in_a_line
from gradcli.results import Pass

MOST_LEAVES = 4
"""Names of leaves in the line."""


def pass_line(one: Pass) -> doc.Note:
    """Compose the line of a pass: where, by which leaves, v, the norm of the gradient, the verdict, the seconds."""
    parts: list[str | doc.Inline] = [f"pass {one.number}", *([one.where] if one.where else [])]
    if one.answer is None:
        parts.append(doc.Span(f"not answered: {getattr(one.refusal, 'message', one.refusal)}", "bad"))
    else:
        names = one.answer.wrt
        more = f" and {len(names) - MOST_LEAVES} more" if len(names) > MOST_LEAVES else ""
        parts.append(f"by {', '.join(names[:MOST_LEAVES])}{more}" if names else "by no leaf")
        if one.answer.v.ndim or one.answer.v != 1:
            parts.append(f"v = {in_a_line(one.answer.v)}")
        parts += [f"|grad| {one.norm or 0.0:.4g}"]
        if one.answer.check is not None:
            parts.append(standing(one.answer.check.verdict, proven=one.answer.check.proven))
    parts.append(doc.Span(f"{one.seconds:.2g} s", "aside"))
    first, *rest = parts
    return doc.Note(line(first, *(piece for part in rest for piece in ("   ", part))))

"""A backward pass of a script in a line."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.report import document as doc
from gradcli.report.compose.closed_forms import standing
from gradcli.report.document import line
from gradcli.report.numbers import in_a_line
from gradcli.results import Pass

MOST_NAMES = 4
"""Most names of leaves in the line, and of modules."""


def pass_line(one: Pass) -> doc.Note:
    """Compose the line of a pass: where, by which leaves, v, the norms of the gradient, the verdict, seconds."""
    parts: list[str | doc.Inline] = [f"pass {one.number}", *([one.where] if one.where else [])]
    if one.answer is None:
        parts.append(doc.Styled(f"not answered: {getattr(one.refusal, 'message', one.refusal)}", "bad"))
    else:
        names = one.answer.wrt
        parts.append(f"by {_first(names)}" if names else "by no leaf")
        if one.answer.v.ndim or one.answer.v != 1:
            parts.append(f"v = {in_a_line(one.answer.v)}")
        largest = sorted(one.norms, key=lambda name: -one.norms[name])
        by_module = f" ({_first([f'{name} {one.norms[name]:.3g}' for name in largest if name])})"
        parts.append(f"|grad| {one.norm:.4g}{by_module * (len(largest) > 1)}")
        if one.answer.check is not None:
            parts.append(standing(one.answer.check.verdict, proven=one.answer.check.proven))
    parts.append(doc.Styled(f"{one.seconds:.2g} s", "aside"))
    parts += [f"\n         {told}" for told in one.nonfinite]
    first, *rest = parts
    return doc.Note(line(first, *(piece for part in rest for piece in ("   ", part))))


def _first(words: Sequence[str]) -> str:
    """Join the first of several, and count the others."""
    more = f" and {len(words) - MOST_NAMES} more" if len(words) > MOST_NAMES else ""
    return f"{', '.join(words[:MOST_NAMES])}{more}"

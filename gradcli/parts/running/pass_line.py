"""A backward pass of a script in a line."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.report import document as doc, wording
from gradcli.report.compose.formula_tables import standing_of
from gradcli.report.document import Screen, line
from gradcli.report.numbers import in_a_line
from gradcli.report.render import table
from gradcli.results import Pass

MOST_NAMES = 4
"""Most names of leaves in the line, and of modules."""


def pass_line(one: Pass, screen: Screen) -> str:
    """Write the line of a pass."""
    return table.render((pass_note(one),), screen)


def compose_pass(one: Pass, digits: int | None, *, is_full: bool) -> tuple[doc.Note]:
    """Compose the line of a pass, whose numbers have few digits in any case."""
    return (pass_note(one),)


def pass_note(one: Pass) -> doc.Note:
    """Compose the line of a pass: where, by which leaves, v, the norms of the gradient, the verdict, seconds."""
    parts: list[str | doc.Inline] = [f"pass {one.number}", *([one.where] if one.where else [])]
    if not one.is_judged:
        return _in_a_row([*parts, doc.Styled(f"not judged: {'; '.join(one.noticed)}", "bad")])
    if not one.answers:
        parts.append(doc.Styled(f"not answered: {getattr(one.refusal, 'message', one.refusal)}", "bad"))
    else:
        answer = one.answers[0]
        parts.append(f"by {_first([*dict.fromkeys(name for other in one.answers for name in other.wrt)])}")
        if (count := sum(other.wrt == answer.wrt for other in one.answers)) > 1:
            parts.append(f"{count} v at once")
        elif answer.v.ndim or answer.v != 1:
            parts.append(f"v = {in_a_line(answer.v)}")
        largest = sorted(one.norms, key=lambda name: -one.norms[name])
        by_module = f" ({_first([f'{name} {one.norms[name]:.3g}' for name in largest if name])})"
        parts.append(f"|grad| {one.norm:.4g}{by_module * (len(largest) > 1)}")
        if one.worst is not None:
            parts.append(standing_of(one.worst))
    parts.append(doc.Styled(f"{one.seconds:.2g} s", "aside"))
    parts += [f"\n         {told}" for told in one.nonfinite]
    if one.worst is not None and one.worst.is_minor and one.worst.findings:  # a pass that is wrong follows in full
        found = one.worst.findings[0]
        name = doc.Symbol(wording.entry(found, one.answers[0].output, is_weighted=True))
        why = f": {found.note}" if found.note else ""
        return _in_a_row(parts, "\n         ", name, f" {found.verdict}{why}; --pass {one.number} shows it")
    return _in_a_row(parts)


def _in_a_row(parts: Sequence[str | doc.Inline], *after: str | doc.Inline) -> doc.Note:
    first, *rest = parts
    return doc.Note(line(first, *(piece for part in rest for piece in ("   ", part)), *after))


def _first(words: Sequence[str]) -> str:
    """Join the first of several, and count the others."""
    more = f" and {len(words) - MOST_NAMES} more" if len(words) > MOST_NAMES else ""
    return f"{', '.join(words[:MOST_NAMES])}{more}"

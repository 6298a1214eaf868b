"""The chain rule at a glance: a row an adjoint; the ends of what is long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradcli.notation import PARTIAL, POINTWISE, TIMES, Form, Name, Notation
from gradcli.report import document as doc
from gradcli.report.compose.closed_forms import standing
from gradcli.report.compose.explain import weighted_sum
from gradcli.report.compose.writer import cut
from gradcli.report.document import line, lines
from gradcli.results import Adjoint, Array, Explanation, Term

MOST_ROWS = 8
"""Lines, adjoints and tensors that are shown; of more, the ends."""

MOST_TERMS = 3
"""Terms of a sum over uses."""

Listed = Callable[[Array], str]
"""What writes an array in a line."""

_SUMMED = Form("sum(%s)", "sum(%s)", r"\operatorname{sum}(%s)")


def chain_rule(answer: Explanation, listed: Listed) -> Iterator[doc.Node]:
    """The lines forward, where there are several, and the adjoints backward."""
    if answer.steps_count > 1:
        steps = [
            line(doc.Symbol(Name(step.name)), " = ", doc.Expression(step.operation), f" = {listed(step.value)}")
            for step in answer.steps
        ]
        ends = cut(steps, answer.steps_count, MOST_ROWS)
        yield doc.Abreast((line("forward:"), *(line("…") if step is None else step for step in ends)))
    if answer.wrt:
        notations = {adjoint.name: adjoint.notation for adjoint in answer.adjoints}
        adjoints = [_adjoint(adjoint, answer, notations, listed) for adjoint in answer.adjoints]
        yield doc.Table(
            lines("backward", "adjoint", "rule"), cut(adjoints, answer.adjoints_count, MOST_ROWS), is_folded=True
        )


def product(answer: Explanation, name: str, numbers: doc.Line, number: Callable[[Any], str]) -> doc.Line:
    """What the backward pass leaves in the `.grad` of a variable, as a sum of rows of J and in numbers."""
    words = weighted_sum(answer, name, number)
    between: list[str | doc.Inline] = [] if words is None else [doc.Symbol(words), " = "]
    return line(f"{name}.grad = vᵀJ = ", *between, *numbers)


def _adjoint(
    adjoint: Adjoint, answer: Explanation, notations: Mapping[str, Notation], listed: Listed
) -> tuple[doc.Line, ...]:
    """What it is the sum of, its numbers, and the rule."""
    parts: list[str | doc.Inline] = [doc.Symbol(adjoint.notation)]
    rule: list[str | doc.Inline] = [adjoint.rule]
    if adjoint.name == answer.output and not adjoint.terms:
        parts.append(" = v")
    elif not adjoint.terms:
        rule = [f"{answer.output} does not depend on it"]
    for n, term in enumerate(adjoint.terms[:MOST_TERMS]):
        parts += [" + " if n else " = ", _term(term, adjoint, notations)]
    if adjoint.terms_count > MOST_TERMS:
        parts.append(" + …")
    if adjoint.verdict not in (None, "agree"):
        rule += [" " if adjoint.rule else "", standing(adjoint.verdict)]
    role: doc.Role = "strong" if adjoint.name in answer.wrt else "plain"
    return lines(line(*parts), doc.Span(listed(adjoint.value), role), line(*rule))


def _term(term: Term, adjoint: Adjoint, notations: Mapping[str, Notation]) -> doc.Expression | doc.Span:
    """The adjoint of the line that uses it, times the local derivative."""
    found = term.equation
    if found is None and term.source in notations:
        sign = POINTWISE if term.is_elementwise and term.local is not None and term.local.ndim else TIMES
        found = sign(notations[term.source], PARTIAL(Name(term.source), Name(adjoint.name)))
    if found is None:
        return doc.Span(f"what {term.source} gives", "aside")
    return doc.Expression(_SUMMED(found) if term.summed else found)

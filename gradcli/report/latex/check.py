"""The answer of `check` in LaTeX: the opinions side by side, why some differ, claims, random points, the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.notation.typesetting import name, text
from gradcli.report.latex.derivatives import beginning
from gradcli.report.latex.parts import (
    cell,
    closed_form,
    code,
    coverage,
    equations,
    heading,
    of,
    partial,
    safe_form,
    sentence,
    table,
    tensor,
)
from gradcli.report.wording import SHOWN, claimed, conclusion, counterexample, opinion_row, readings, reasons, sampled
from gradcli.results import Checking, Claim


def parts(answer: Checking) -> Iterator[str]:
    """Paragraphs, equations and tables, from top to bottom."""
    yield from beginning(answer)
    if answer.sampling is not None:
        yield sentence("the worst of the random points")
    if answer.opinions:
        yield from _opinions(answer)
    for claim in answer.claims:
        yield from _claim(claim, answer.output)
    if answer.sampling is not None:
        yield heading(sampled(answer.sampling))
        yield table(
            ["verdict", "points"], [[text(v), cell(str(count))] for v, count in answer.sampling.verdicts.items()]
        )
    if answer.wrt:
        yield from closed_form(answer)
    if answer.check is not None:
        yield from coverage(answer.check, readings(answer))
        yield from safe_form(answer.check.rewrite)
    yield heading(conclusion(answer))


def _opinions(answer: Checking) -> Iterator[str]:
    shown = answer.opinions[:SHOWN]
    more = answer.opinions_count - len(shown)
    yield heading("the opinions, worst first" + (f": {len(shown)}, and {more:,} more" if more else ""))
    rows = [opinion_row(opinion, answer, answer.output) for opinion in shown]
    headers = [header for header in rows[0] if any(row[header] for row in rows)]
    yield table(
        headers,
        [
            [of(opinion, answer.output), *(cell(row[header]) for header in headers[1:])]
            for opinion, row in zip(shown, rows, strict=True)
        ],
    )
    for reason in reasons(answer.opinions, answer.output):
        yield rf"\noindent {text(reason)}"


def _claim(claim: Claim, y: str) -> Iterator[str]:
    of_what = partial(name(y), name(claim.variable))
    label = rf"v^{{T}} {of_what}" if claim.of == "vector-Jacobian product" else of_what
    yield heading(f"a claim, as a {claim.of}")
    yield rf"\noindent \({label}\) is claimed to be"
    yield code(claim.text)
    yield sentence(claimed(claim))
    if claim.at:
        numbers = {**claim.at, **({} if claim.v is None else {"v": claim.v})}
        yield sentence("a counterexample is")
        yield equations(line for word, array in numbers.items() for line in tensor(name(word), array))
    for words in (counterexample(claim), claim.mistake, claim.note):
        if words:
            yield sentence(words)

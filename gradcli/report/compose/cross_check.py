"""Formulas beside their verdict: of an answer with numbers, and alone."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.report import document as doc
from gradcli.report.compose.marks import mark
from gradcli.report.compose.parts import code, equations, note
from gradcli.report.document import TONES, line, lines
from gradcli.report.wording import NO_VARIABLE, judged, statement
from gradcli.results import ClosedForm, Judged, Verdict

MOST_FORMULAS = 6
"""Formulas beside a verdict."""

MOST_FINDINGS = 3
"""What does not agree that is said in sentences; the numbers of a matrix are marked besides."""


def closed_form(answer: ClosedForm) -> Iterator[doc.Node]:
    """Formulas without numbers, and how to get these."""
    yield doc.Note(line(code(statement(answer))))
    sizes = [f"{name} ({', '.join(shape)}{',' * (len(shape) == 1)})" for name, shape in answer.shapes.items() if shape]
    if sizes:
        yield doc.Abreast(tuple(map(line, sizes)))
    found = list(equations(answer))
    if len(found) == 1 and not sizes:
        ((left, right),) = found
        yield doc.Note(line(left, " = ", right, "   ", standing(answer.check.verdict)))
    elif found:
        yield cross_check(answer)
    for finding in answer.check.findings[:MOST_FINDINGS]:
        yield doc.Note(line(doc.Span(finding.note, TONES[finding.verdict])))
    yield from map(note, answer.remarks)
    names = [name for name in answer.shapes if name != answer.output]
    values = " ".join(f"--at {name}=VALUE" for name in names[:MOST_FORMULAS]) + " ..." * (len(names) > MOST_FORMULAS)
    yield note(f"for numbers, add {values}" if names else NO_VARIABLE)


def cross_check(answer: Judged | ClosedForm) -> doc.Table:
    """The formulas, the verdict, and how many entries it is of."""
    check = answer.check
    verdict = line(standing(check.verdict, proven=check.proven)) if check is not None else line("not checked")
    extent = f"{check.checked:,} of {check.entries:,}{', sampled' * check.sampled}" if check is not None else ""
    if isinstance(answer, ClosedForm):
        extent = f"{answer.check.checked:,} at {answer.check.chosen}"
    found = list(equations(answer))
    if len(found) == 1:
        ((left, right),) = found
        return doc.Table(lines(left, "cross-check", "entries"), (lines(right, verdict, extent),), is_folded=True)
    shown = found[:MOST_FORMULAS]
    cells = [line(left, " = ", *(right if isinstance(right, tuple) else (right,))) for left, right in shown]
    if len(found) > len(shown):
        cells.append(line(f"and {len(found) - len(shown)} more"))
    if not cells:
        return doc.Table(lines("cross-check", "entries"), (lines(verdict, extent),))
    rows = (lines(cell, *([verdict, extent] if n == 0 else [(), ()])) for n, cell in enumerate(cells))
    return doc.Table(lines("formula", "cross-check", "entries"), tuple(rows), is_folded=True)


def standing(verdict: Verdict, *, proven: bool = False) -> doc.Span:
    """A verdict with its sign, in its colour."""
    return doc.Span(f"{mark(verdict)} {judged(verdict, proven=proven)}", TONES[verdict])

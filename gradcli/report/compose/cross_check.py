"""Formulas beside their verdict: of an answer with numbers, and alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.report import document as doc
from gradcli.report.compose.marks import mark
from gradcli.report.compose.parts import all_formulas, code, definitions, equations, note
from gradcli.report.document import TONES, line, lines
from gradcli.report.wording import NO_VARIABLE, judged, statement, undecided
from gradcli.results import ClosedForm, Judged, Verdict

MOST_FORMULAS = 6
"""Formulas beside a verdict."""

LONG = 160
"""Characters of formulas from which on they stand above the numbers."""

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
        yield doc.Note(line(*_sides(found[0]), "   ", standing(answer.check.verdict)))
    elif found:
        yield from long_formulas(answer)
        yield cross_check(answer)
    yield from definitions(all_formulas(answer))
    for finding in answer.check.findings[:MOST_FINDINGS]:
        yield doc.Note(line(doc.Span(finding.note, TONES[finding.verdict])))
    yield from map(note, answer.remarks)
    names = [name for name in answer.shapes if name != answer.output]
    values = " ".join(f"--at {name}=VALUE" for name in names[:MOST_FORMULAS]) + " ..." * (len(names) > MOST_FORMULAS)
    yield note(f"for numbers, add {values}" if names else NO_VARIABLE)


def long_formulas(answer: Judged | ClosedForm) -> Iterator[doc.Table]:
    """The formulas where they are long: above the numbers, which are then seen together with the verdict."""
    found = list(equations(answer))
    if _is_long(found):
        header, cells = _formulas(found)
        yield doc.Table(lines(header), tuple(lines(cell) for cell in cells), is_folded=True)


def cross_check(answer: Judged | ClosedForm) -> doc.Table:
    """The formulas unless they are long, the verdict, and how many entries it is of."""
    check = answer.check
    verdict = line(standing(check.verdict, proven=check.proven)) if check is not None else line("not checked")
    extent = ""
    if check is not None:
        extent = undecided(check) or f"{check.checked:,} of {check.entries:,}{', sampled' * check.sampled}"
    if isinstance(answer, ClosedForm):
        extent = f"{answer.check.checked:,} at {answer.check.chosen}"
    found = list(equations(answer))
    if not found or _is_long(found):
        return doc.Table(lines("cross-check", "entries"), (lines(verdict, extent),))
    header, cells = _formulas(found)
    rows = (lines(cell, *([verdict, extent] if n == 0 else [(), ()])) for n, cell in enumerate(cells))
    return doc.Table(lines(header, "cross-check", "entries"), tuple(rows), is_folded=True)


def _sides(one: doc.Equation) -> tuple[str | doc.Inline, ...]:
    return doc.Symbol(one.left), " = ", one.right


def _is_long(found: Sequence[doc.Equation]) -> bool:
    return sum(map(_length, found[:MOST_FORMULAS])) > LONG


def _length(one: doc.Equation) -> int:
    match one.right:
        case doc.Expression(notation=notation):
            return len(notation.pretty)
        case doc.Span(words=words):
            return len(words)
    return 0


def _formulas(found: Sequence[doc.Equation]) -> tuple[doc.Line, list[doc.Line]]:
    """What stands above them, and the first of them; one alone has its name above it."""
    if len(found) == 1:
        return line(doc.Symbol(found[0].left)), [line(found[0].right)]
    cells = [line(*_sides(one)) for one in found[:MOST_FORMULAS]]
    if len(found) > MOST_FORMULAS:
        cells.append(line(f"and {len(found) - MOST_FORMULAS} more"))
    return line("formula"), cells


def standing(verdict: Verdict, *, proven: bool = False) -> doc.Span:
    """A verdict with its sign, in its colour."""
    return doc.Span(f"{mark(verdict)} {judged(verdict, proven=proven)}", TONES[verdict])

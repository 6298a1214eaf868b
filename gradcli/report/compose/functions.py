"""The functions of the language: a list, or a page each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gradcli.notation import Name
from gradcli.report import document as doc
from gradcli.report.compose.parts import (
    GRADIENT,
    PRODUCT,
    Row,
    code,
    formulas,
    judgement,
    lying,
    named,
    note,
    quantities,
    quantity,
    title,
)
from gradcli.report.document import line, lines
from gradcli.report.wording import facts
from gradcli.results import VJP, FunctionPage, Functions, Gradient, Listing


def document(answer: Functions) -> Iterator[doc.Node]:
    """Lists and pages, in the order asked for."""
    for n, part in enumerate(answer.parts):
        if n:
            yield doc.Gap()
        match part:
            case FunctionPage():
                yield from _page(part)
            case Listing(is_brief=True):
                rows = tuple((group, line(doc.Names(tuple(names)))) for group, names in part.groups)
                yield doc.Facts(rows, ("group", "functions"))
            case _:
                yield from _listing(part)


def _listing(listing: Listing) -> Iterator[doc.Node]:
    if listing.word:
        yield title(f"functions with '{listing.word}' in their name, group or description")
    groups = groupby(listing.entries, key=lambda entry: entry.group)
    yield doc.Glossary(
        ("function", "other names", "what it computes"),
        tuple((group, tuple(doc.Entry(row.usage, row.aliases, row.doc) for row in rows)) for group, rows in groups),
    )


def _page(page: FunctionPage) -> Iterator[doc.Node]:
    yield title(code(page.entry.usage))
    yield doc.Facts(tuple((label, line(words)) for label, words in facts(page) if words))
    answer = page.derivative
    yield title(f"the derivative of {answer.output} = {answer.expression}")
    yield formulas(answer, may_be_matrix=False)
    if page.derivative_note:
        yield note(page.derivative_note)
    yield title("an example")
    yield doc.Note(line(code(page.example_command)))
    yield from _example(page.example)


def _example(answer: VJP | Gradient) -> Iterator[doc.Node]:
    y = answer.output
    rows = [*named(answer.inputs), *named({y: answer.value}), *_quantities(answer)]
    yield quantities(answer.dtype, rows, lead=f"in {answer.dtype}")
    check = answer.check
    if check is not None:
        covered = f", {check.checked:,} of {check.entries:,} entries checked"
        yield doc.Note(judgement("verdict: ", check.verdict, check.verdict, covered))
        yield from (note(finding.note) for finding in check.findings)


def _quantities(answer: VJP | Gradient) -> Iterator[Row]:
    y = Name(answer.output)
    if isinstance(answer, Gradient):
        for name, array in answer.grad.items():
            yield quantity(f"gradient for {name}", GRADIENT(Name(name), y), array)
        return
    yield quantity("v", Name("v"), answer.v)
    for name, array in answer.vjp.items():
        product = doc.Equation(PRODUCT(y, Name(name)), doc.Numbers(lying(array)))
        yield lines(f"vᵀJ for {name}", str(array.shape), product)

"""The functions of the language in LaTeX: a list, or a page each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gradcli.notation.typesetting import text, typed
from gradcli.report.latex.derivatives import parts as answer_parts
from gradcli.report.latex.parts import code, formulas, heading, sentence
from gradcli.report.wording import facts
from gradcli.results import FunctionPage, Functions, Listing


def parts(answer: Functions) -> Iterator[str]:
    """Lists and pages, in the order asked for."""
    for part in answer.parts:
        match part:
            case FunctionPage():
                yield from _page(part)
            case Listing(is_brief=True):
                yield _items((text(group), ", ".join(map(typed, names))) for group, names in part.groups)
            case _:
                yield from _listing(part)


def _items(items: Iterator[tuple[str, str]]) -> str:
    """A description list of LaTeX."""
    lines = "\n".join(rf"\item[{{{term}}}] {words}" for term, words in items)
    return f"\\begin{{description}}\n{lines}\n\\end{{description}}"


def _listing(listing: Listing) -> Iterator[str]:
    if listing.word:
        yield sentence(f"functions with '{listing.word}' in their name, group or description")
    for group, rows in groupby(listing.entries, key=lambda entry: entry.group):
        yield heading(group)
        yield _items(
            (typed(row.usage), text(row.doc) + (f"; also {', '.join(map(typed, row.aliases))}" if row.aliases else ""))
            for row in rows
        )


def _page(page: FunctionPage) -> Iterator[str]:
    yield code(page.entry.usage)
    yield _items((text(label), ", ".join(map(text, words.splitlines()))) for label, words in facts(page) if words)
    yield heading("the derivative")
    yield code(f"{page.derivative.output} = {page.derivative.expression}")
    yield from formulas(page.derivative)
    if page.derivative_note:
        yield sentence(page.derivative_note)
    yield heading("an example")
    yield code(page.example_command)
    yield from answer_parts(page.example)

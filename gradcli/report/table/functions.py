"""The functions of the language as tables: a list, or a page each."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import STYLES, Code, Screen, add_row, elements, new_table, text, title
from gradcli.report.table.parts import formulas
from gradcli.report.wording import facts
from gradcli.results import VJP, Array, FunctionPage, Functions, Listing

Parts = Iterator[Table | Text | Padding]

NARROW = 72
"""Columns of a terminal below which there are paragraphs, as a table would break names."""

NAMES_WIDTH = 76
"""Columns of the names of a group, one after the other."""


def parts(answer: Functions, screen: Screen) -> Parts:
    """Lists and pages, in the order asked for; paragraphs where a terminal is too narrow for the list."""
    for n, part in enumerate(answer.parts):
        if n:
            yield text("", screen)
        match part:
            case FunctionPage():
                yield from _page(part, screen)
            case Listing(is_brief=True):
                yield _brief(part, screen)
            case _:
                yield from _listing(part, screen)


def _brief(listing: Listing, screen: Screen) -> Table:
    table = new_table(["group", "functions"], screen)
    for group, names in listing.groups:
        add_row(table, screen, group, "\n".join(textwrap.wrap(", ".join(names), NAMES_WIDTH)))
    return table


def _listing(listing: Listing, screen: Screen) -> Parts:
    if listing.word:
        yield title(f"functions with '{listing.word}' in their name, group or description", screen)
    if _is_narrow(screen):
        yield from _paragraphs(listing, screen)
        return
    table = new_table(["function", "other names", "what it computes"], screen)
    for group, rows in groupby(listing.entries, key=lambda entry: entry.group):
        table.add_section()
        add_row(table, screen, title(group, screen))
        for entry in rows:
            add_row(table, screen, Code(entry.usage), ", ".join(entry.aliases), entry.doc)
    yield table


def _is_narrow(screen: Screen) -> bool:
    return screen.width is not None and screen.width < NARROW


def _paragraphs(listing: Listing, screen: Screen) -> Parts:
    for group, rows in groupby(listing.entries, key=lambda entry: entry.group):
        yield title(group, screen)
        for entry in rows:
            also = f", also {', '.join(entry.aliases)}" if entry.aliases else ""
            yield Padding(text(entry.usage + also, screen), (0, 0, 0, 2))
            yield Padding(text(entry.doc, screen), (0, 0, 0, 4))


def _page(page: FunctionPage, screen: Screen) -> Parts:
    yield title(Code(page.entry.usage), screen)
    known = [(label, words) for label, words in facts(page) if words]
    if _is_narrow(screen):
        for label, words in known:
            yield text(f"{label}:", screen)
            yield Padding(text(words, screen), (0, 0, 0, 2))
    else:
        table = new_table(["", ""], screen)
        for label, words in known:
            add_row(table, screen, label, words)
        yield table
    yield from _derivative(page, screen)
    yield from _example(page, screen)


def _derivative(page: FunctionPage, screen: Screen) -> Parts:
    answer = page.derivative
    yield title(f"the derivative of {answer.output} = {answer.expression}", screen)
    yield formulas(answer, screen)
    if page.derivative_note:
        yield text(page.derivative_note, screen)


def _example(page: FunctionPage, screen: Screen) -> Parts:
    answer = page.example
    yield title("an example", screen)
    yield text(Code(page.example_command), screen)
    table = new_table(["", "shape", answer.dtype], screen)
    rows: list[tuple[str, Array]] = [*answer.inputs.items(), (answer.output, answer.value)]
    if isinstance(answer, VJP):
        rows += [("v", answer.v), *((f"vᵀJ for {name}", array) for name, array in answer.vjp.items())]
    else:
        rows += [(f"gradient for {name}", array) for name, array in answer.grad.items()]
    for label, array in rows:
        add_row(table, screen, label, str(array.shape), elements(array))
    yield table
    check = answer.check
    if check is not None:
        verdict = title("verdict: ", screen)
        verdict.append(check.verdict, STYLES[check.verdict])
        verdict.append(f", {check.checked:,} of {check.entries:,} entries checked")
        yield verdict
        for finding in check.findings:
            yield text(finding.note, screen)

"""The functions of the language: lists of them, and a page of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from gradcli.report import document as doc
from gradcli.report.compose.formula_tables import code, note
from gradcli.report.document import line, lines
from gradcli.report.wording import facts
from gradcli.results import Answer, FunctionPage, Functions, Listing

Compose = Callable[[Answer], Iterator[doc.Node]]
"""Composes an answer, from top to bottom."""


def functions(answer: Functions, compose: Compose) -> Iterator[doc.Node]:
    """Compose lists and pages, in the order asked for.

    Args:
        answer: The object.
        compose: Composes the example of a page.
    """
    for part in answer.parts:
        if isinstance(part, FunctionPage):
            yield from _page(part, compose)
        elif part.is_brief:
            rows = (lines(group, doc.WordList(tuple(names))) for group, names in part.groups)
            yield doc.Table(lines("group", "functions"), tuple(rows))
        else:
            yield from _listing(part)


def _listing(listing: Listing) -> Iterator[doc.Node]:
    """Tabulate each group of functions."""
    if listing.word:
        yield note(f"functions with '{listing.word}' in their name, group or description")
    for group, entries in groupby(listing.entries, key=lambda entry: entry.group):
        yield _title(group)
        rows = (lines(code(one.usage), ", ".join(one.aliases), one.doc) for one in entries)
        yield doc.Table(lines("function", "other names", "what it computes"), tuple(rows))


def _page(page: FunctionPage, compose: Compose) -> Iterator[doc.Node]:
    yield _title(code(page.entry.usage))
    yield doc.Table(lines("", ""), tuple(lines(label, words) for label, words in facts(page) if words))
    yield _title("an example")
    yield doc.Note(line(code(page.example_command)))
    yield from compose(page.example)


def _title(words: str | doc.Styled) -> doc.Title:
    return doc.Title(line(words))

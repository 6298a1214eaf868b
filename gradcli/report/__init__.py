"""Results out: an answer becomes a document that is rendered, or data that is written.  Does no mathematics.

document                         what a page is made of
compose                          an answer as a document, a module a family of answers
render                           a document on a terminal, in Markdown and in LaTeX; graphs for other programs to draw
data                             an answer as JSON, CSV, bare numbers and arrays
map_summary                      what is said when a stream of rows has gone by
wording, labels, numbers         what all of these say alike: words, names of entries, digits
graph_labels                     what nodes and edges of backward graphs are called
screen                           what a page is shown on
digits, leaves                   fewer digits, and texts that can be shown
"""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.report.compose import compose
from gradcli.report.data import csv, json, plain
from gradcli.report.data.arrays import named, primary_array
from gradcli.report.digits import rounded
from gradcli.report.document import Script
from gradcli.report.leaves import printable
from gradcli.report.render import dot, latex, markdown, mermaid, terminal
from gradcli.report.screen import Screen
from gradcli.results import Answer, BackwardGraph, Functions, Source

__all__ = ["Screen", "named", "pieces", "primary_array", "render"]


def render(answer: Answer | Functions | Source, form: str, screen: Screen, digits: int | None = None) -> str:
    """The answer in a format, as `pieces` gives it."""
    return "".join(pieces(answer, form, screen, digits))


def pieces(
    answer: Answer | Functions | Source,
    form: str,
    screen: Screen,
    digits: int | None = None,
    *,
    one_document: bool = False,
) -> Iterator[str]:
    """The answer in a format, part by part: a matrix may be as large as the memory, and its text is larger.

    Args:
        answer: The object.
        form: `table`, `json`, `csv`, `plain`, `latex` or `markdown`.
        screen: Where a table goes.
        digits: Significant digits that are shown; as many as it takes by default.
        one_document: Whether several objects of JSON make one value.
    """
    if digits is not None:
        answer = rounded(answer, digits, whole=form in ("json", "csv", "plain"))
    if form == "json":  # which escapes by itself, and whose readers want what was typed
        return json.pieces(answer, one_document=one_document)
    answer = printable(answer)
    match form:
        case "csv":
            return csv.pieces(answer)
        case "plain" if not isinstance(answer, Source):
            return plain.pieces(answer)
    return iter([_page(answer, form, screen)])


def _page(answer: Answer | Functions | Source, form: str, screen: Screen) -> str:
    """What people read."""
    document = compose(answer)
    match form, answer:
        case "latex", _:
            return latex.render(document)
        case _, BackwardGraph(drawing="dot" | "mermaid" as language):
            source = dot.render(answer) if language == "dot" else mermaid.render(answer)
            document = (Script(source, source, language),)
    return markdown.render(document, screen) if form == "markdown" else terminal.render(document, screen)

"""Results out: an answer becomes a document that is rendered, or data that is written.  Does no mathematics.

document                         the nodes of a page, and its screen
compose                          an answer as a document, a module a family of answers
render                           a document on a terminal, in Markdown, LaTeX, HTML; graphs for other programs to draw
components                       the arrays of an answer
data                             an answer as JSON, CSV, bare numbers and arrays
wording, numbers                 common to all of these: words, names of entries, digits
"""

from __future__ import annotations

from collections.abc import Iterator

from gradcli import keywords
from gradcli.report.compose import compose
from gradcli.report.document import Document, Line, Note, Screen, ScriptText, Styled
from gradcli.report.numbers import printable, rounded
from gradcli.results import BackwardGraph, Pass, Result, Source

__all__ = ["Screen", "in_python", "pass_line", "pieces", "rendered"]

WIDTH, DIGITS = 100, 6
"""Columns and significant digits of an answer shown in Python: those of a terminal."""


def rendered(answer: Result, form: str, screen: Screen, digits: int | None = None) -> str:
    """Write the answer in a format: all `pieces` in one string."""
    return "".join(pieces(answer, form, screen, digits))


def pieces(
    answer: Result,
    form: str,
    screen: Screen,
    digits: int | None = None,
    *,
    one_document: bool = False,
) -> Iterator[str]:
    """Write the answer in a format, part by part: a matrix may fill the memory, and its text is larger.

    Args:
        answer: The object.
        form: `table`, `full`, `json` or `jsonl`, `csv`, `tsv`, `plain`, `latex`, `markdown` or `html`.
        screen: Where a table goes.
        digits: Significant digits that are shown; as many as it takes by default.
        one_document: Whether several objects of JSON make one value.
    """
    if digits is not None and form != "table":
        answer = rounded(answer, digits)
    match form:  # a format is imported when it is asked for
        case "json" | "jsonl":  # which escapes by itself, and whose readers want what was typed
            from gradcli.report.data import json

            return json.pieces(answer, one_document=one_document)
        case "csv" | "tsv":
            from gradcli.report.data import csv

            return csv.pieces(printable(answer), "\t" if form == "tsv" else ",")
        case "plain" if not isinstance(answer, Source):
            from gradcli.report.data import plain

            return plain.pieces(printable(answer))
    return iter([_page(printable(answer), form, screen, digits)])


def _page(answer: Result, form: str, screen: Screen, digits: int | None) -> str:
    """Write an answer as a page for people: a table, LaTeX, Markdown, HTML, or the source of a drawing."""
    if isinstance(answer, BackwardGraph) and answer.drawing in ("dot", "mermaid"):
        from gradcli.report.render import graphs

        source = graphs.render(answer, answer.drawing)
        document: Document = (ScriptText(source, answer.drawing),)
    else:
        is_full = form != "table" or (isinstance(answer, BackwardGraph) and bool(answer.drawing))
        document = compose(answer, digits, is_full=is_full)
    match form:
        case "latex":
            from gradcli.report.render import latex

            return latex.render(document)
        case "markdown":
            from gradcli.report.render import markdown

            return markdown.render(document, screen)
        case "html":
            from gradcli.report.render import html

            return html.render(document)
    from gradcli.report.render import terminal

    return terminal.render(document, screen)


def pass_line(one: Pass, screen: Screen) -> str:
    """Write a backward pass of a script in a line."""
    from gradcli.report.compose import passes
    from gradcli.report.render import terminal

    return terminal.render((passes.pass_line(one),), screen)


def in_python(answer: Result, form: str) -> str:
    """Show an answer in Python, for `print` or for a notebook.

    Args:
        answer: The object.
        form: `text`, the compact screen, or `cell`, that in HTML for a notebook; `fragment`, all of it in LaTeX;
            `object`, one of JSON; or a format of `pieces`.
    """
    match form:
        case "text":
            from gradcli.report.render import terminal

            return terminal.render(_compact(answer), Screen(WIDTH, encoding="utf-8"))
        case "cell":
            from gradcli.report.render import html

            return html.fragment(_compact(answer))
        case "fragment":
            from gradcli.report.render import latex

            return latex.body(compose(printable(answer)))
        case "object":
            from gradcli.report.data import json

            return "".join(json.reply(answer, {}))
    return rendered(answer, form, Screen(WIDTH, encoding="utf-8"))


def _compact(answer: Result) -> Document:
    """Compose the compact screen, its notes in the words of Python."""
    document = compose(printable(answer), DIGITS, is_full=False)
    return tuple(Note(_reworded(node.words)) if isinstance(node, Note) else node for node in document)


def _reworded(words: Line) -> Line:
    """Put our own words in the words of Python; leave typed ones."""
    return tuple(
        Styled(keywords.in_python(part.words)) if isinstance(part, Styled) and part.role == "plain" else part
        for part in words
    )

"""Results out: an answer becomes a document that is rendered, or data that is written.  Does no mathematics.

document                         the nodes of a page, and its screen
compose                          an answer as a document, a module a family of answers
render                           a document or the fields of an answer as text, a module a format
pictures                         answers as pictures, a module a kind
drawings                         graphs drawn with characters, nodes laid out as tables, words on a screen
wording, numbers                 common to all of these: words, names of entries; arrays of an answer, digits, marks
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from gradcli.errors import InputError
from gradcli.option_words import Words
from gradcli.report.compose.answers import compose
from gradcli.report.document import Document, Line, Note, Screen, Styled
from gradcli.report.numbers import printable, rounded
from gradcli.results import BackwardGraph, Explanation, Hessian, Jacobian, Pass, Plotted, Result, Source

__all__ = ["Screen", "in_python", "pass_line", "pieces", "rendered"]

WIDTH, DIGITS = 100, 6
"""Columns and significant digits of an answer shown in Python: those of a terminal."""

PICTURES = "plot, jacobian, hessian, graph, explain"
"""Commands whose answers have pictures."""

_OTHER_NAMES = {"full": "table", "jsonl": "json", "array": "json", "tsv": "csv"}
"""Modules of formats that have no module of their own."""


def rendered(answer: Result, form: str, screen: Screen, digits: int | None = None) -> str:
    """Write the answer in a format: all `pieces` in one string."""
    return "".join(pieces(answer, form, screen, digits))


def pieces(answer: Result, form: str, screen: Screen, digits: int | None = None) -> Iterator[str]:
    """Write the answer in a format, part by part: a matrix may fill the memory, and its text is larger.

    Args:
        answer: The object.
        form: One of `gradcli.formats.FORMATS`; `array` for several objects of JSON as one value.
        screen: Where a table goes.
        digits: Significant digits that are shown; as many as it takes by default.
    """
    if digits is not None and form != "table":
        answer = rounded(answer, digits)
    if form == "plain" and isinstance(answer, Source):  # a script is itself
        form = "table"
    module: Any = import_module(f"gradcli.report.render.{_OTHER_NAMES.get(form, form)}")
    if form == "html" and isinstance(answer, Explanation):
        from gradcli.report.pictures.explain_page import page

        yield page(printable(answer))
    elif hasattr(module, "pieces"):
        yield from module.pieces(answer, form)
    else:
        yield module.render(compose(printable(answer), digits, is_full=form != "table"), screen)


def picture(answer: Result, form: str, theme: str) -> bytes:
    """Draw an answer.

    Args:
        answer: Curves, a map, a Jacobian, a Hessian, a graph, or an explanation.
        form: svg, png or pdf; a graph, and that of an explanation, is drawn as svg alone.
        theme: The ground of a figure: light or dark.

    Raises:
        InputError: The answer has no picture, its graph is too large, or matplotlib is not installed.
    """
    from gradcli.report.pictures import graphs

    match answer:
        case BackwardGraph() if form == "svg":
            return graphs.of_graph(answer).encode()
        case Explanation() if form == "svg":
            return graphs.of_explanation(answer).encode()
        case Plotted() | Jacobian() | Hessian():
            from gradcli.report.pictures.figures import figure

            return figure(answer, form, theme)
    command = getattr(answer, "command", "functions")
    raise InputError(f"{command} answers with no picture", hint=f"{PICTURES} draw one")


def pass_line(one: Pass, screen: Screen) -> str:
    """Write a backward pass of a script in a line."""
    from gradcli.report.compose import views
    from gradcli.report.render import table

    return table.render((views.pass_line(one),), screen)


def in_python(answer: Result, form: str) -> str:
    """Show an answer in Python, for `print` or for a notebook.

    Args:
        answer: The object.
        form: `text`, the compact screen, or `cell`, that in HTML for a notebook; `fragment`, all of it in LaTeX;
            `object`, one of JSON; or a format of `pieces`.
    """
    match form:
        case "text":
            from gradcli.report.render import table

            return table.render(_compact(answer), Screen(WIDTH, encoding="utf-8"))
        case "cell":
            from gradcli.report.render import html

            return html.fragment(_compact(answer))
        case "fragment":
            from gradcli.report.render import latex

            return latex.body(compose(printable(answer)))
        case "svg":
            return picture(answer, "svg", "light").decode()
        case "object":
            from gradcli.report.render import json

            return "".join(json.reply(answer, {}))
    return rendered(answer, form, Screen(WIDTH, encoding="utf-8"))


def _compact(answer: Result) -> Document:
    """Compose the compact screen, its notes in the words of Python."""
    document = compose(printable(answer), DIGITS, is_full=False)
    return tuple(Note(_reworded(node.words)) if isinstance(node, Note) else node for node in document)


def _reworded(words: Line) -> Line:
    """Name the options in our own words as Python does."""
    return tuple(
        Styled(part.words.python) if isinstance(part, Styled) and isinstance(part.words, Words) else part
        for part in words
    )

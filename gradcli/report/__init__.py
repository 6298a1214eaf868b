"""Results out: one module or folder a format, each from a result object to text.  Does no mathematics.

table                            tables, trees and boards for people, a module a family of answers
latex, markdown                  the same as a fragment of LaTeX, and as GitHub's Markdown
json, csv, plain                 for programs: an object a line, a row an entry, or the bare numbers
arrays                           the arrays of an answer by name, for files of NumPy
map_summary                      what is said when a stream of rows has gone by
dot, mermaid                     graphs for other programs to draw
wording, labels, numbers         what table and latex say alike: words, names of entries, digits
drawing, board, nodes            what tables, boards and graphs are drawn with
reflow, digits, leaves           narrow terminals, fewer digits, and texts that can be shown
"""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.report import csv, dot, json, latex, markdown, mermaid, plain, table
from gradcli.report.arrays import named, primary_array
from gradcli.report.digits import rounded
from gradcli.report.drawing import Screen
from gradcli.report.leaves import printable
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
    """What people read, which shows no more than they can."""
    match form:
        case "markdown":
            return markdown.render(answer, screen)
        case "latex":
            return latex.render(answer)
        case _ if isinstance(answer, BackwardGraph) and answer.drawing == "dot":
            return dot.render(answer)
        case _ if isinstance(answer, BackwardGraph) and answer.drawing == "mermaid":
            return mermaid.render(answer)
        case _:
            return table.render(answer, screen)

"""Results out: one module or folder a format, each from a result object to text.  Does no mathematics.

table                            tables, trees and boards for people, a module a family of answers
latex, markdown                  the same as a fragment of LaTeX, and as GitHub's Markdown
json, csv, plain                 for programs: an object a line, a row an entry, or the bare numbers
arrays                           the arrays of an answer by name, for files of NumPy
mapping                          what is said when a stream of rows has gone by
dot, mermaid                     graphs for other programs to draw
wording, labels, numbers         what table and latex say alike: words, names of entries, digits
drawing, board, nodes            what tables, boards and graphs are drawn with
reflow, rounding, leaves          narrow terminals, fewer digits, and texts that can be shown
"""

from __future__ import annotations

from gradcli.report import csv, dot, json, latex, markdown, mermaid, plain, table
from gradcli.report.arrays import named, own
from gradcli.report.drawing import Screen
from gradcli.report.json import one_document
from gradcli.report.leaves import printable
from gradcli.report.rounding import rounded
from gradcli.results import Answer, BackwardGraph, Functions, Source

__all__ = ["Screen", "named", "one_document", "own", "render"]


def render(answer: Answer | Functions | Source, form: str, screen: Screen, digits: int | None = None) -> str:
    """The answer in a format.

    Args:
        answer: The object.
        form: `table`, `json`, `csv`, `plain`, `latex` or `markdown`.
        screen: Where a table goes.
        digits: Significant digits that are shown; as many as it takes by default.
    """
    if digits is not None:
        answer = rounded(answer, digits, whole=form in ("json", "csv", "plain"))
    if form == "json":  # which escapes by itself, and whose readers want what was typed
        return json.render(answer)
    answer = printable(answer)
    match form:
        case "csv":
            return csv.render(answer)
        case "markdown":
            return markdown.render(answer, screen)
        case "latex":
            return latex.render(answer)
        case "plain" if not isinstance(answer, Source):
            return plain.render(answer)
        case _ if isinstance(answer, BackwardGraph) and answer.drawing == "dot":
            return dot.render(answer)
        case _ if isinstance(answer, BackwardGraph) and answer.drawing == "mermaid":
            return mermaid.render(answer)
        case _:
            return table.render(answer, screen)

"""Results out: one module a format, each from a result object to text.  Does no mathematics."""

from __future__ import annotations

from gradcli.report import dot, json, latex, mermaid, plain, table
from gradcli.report.drawing import Screen
from gradcli.results import Answer, BackwardGraph, Functions, Source

__all__ = ["Screen", "render"]


def render(answer: Answer | Functions | Source, form: str, screen: Screen) -> str:
    """The answer in a format.

    Args:
        answer: The object.
        form: `table`, `json`, `plain` or `latex`.
        screen: Where a table goes.
    """
    match form:
        case "json":
            return json.render(answer)
        case "latex":
            return latex.render(answer)
        case "plain":
            return plain.render(answer)
        case _ if isinstance(answer, BackwardGraph) and answer.drawing == "dot":
            return dot.render(answer)
        case _ if isinstance(answer, BackwardGraph) and answer.drawing == "mermaid":
            return mermaid.render(answer)
        case _:
            return table.render(answer, screen)

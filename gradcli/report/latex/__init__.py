"""Answers as LaTeX: a fragment to \\input into a document that loads amsmath, which is all it needs.

Numbers keep their digits; long axes show their corners; whatever the user typed is escaped.
"""

from __future__ import annotations

from gradcli.report.latex import check, derivatives, explain, functions, graph, points, products, second_order
from gradcli.report.latex.parts import code, document
from gradcli.results import (
    HVP,
    JVP,
    Answer,
    BackwardGraph,
    Checking,
    Explanation,
    Functions,
    Hessian,
    Products,
    Source,
)

__all__ = ["render"]


def render(answer: Answer | Functions | Source) -> str:
    """The whole answer as text."""
    match answer:
        case Functions():
            return document(functions.parts(answer))
        case Source(language="latex"):
            return answer.source
        case Source():
            return document([code(answer.source)])
        case Explanation():
            return document(explain.parts(answer))
        case BackwardGraph():
            return document(graph.parts(answer))
        case JVP() | Hessian() | HVP():
            return document(second_order.parts(answer))
        case Checking():
            return document(check.parts(answer))
        case Answer(points=int()):
            return document(points.parts(answer))
        case Products():
            return document(products.parts(answer))
        case _:
            return document(derivatives.parts(answer))

"""Answers as rich tables that never lose a digit.

On a terminal, cells fold and wide tables become blocks or paragraphs; in a pipe, tables are as wide as they need.
Every cell is plain text: rich's markup would eat `x[0]`.
"""

from __future__ import annotations

from gradcli.report.drawing import Screen, draw
from gradcli.report.table import checking, curvature, derivatives, explanation, functions, graph, points, products
from gradcli.results import HVP, JVP, Answer, BackwardGraph, Checking, Explanation, Functions, Hessian, Products, Source

__all__ = ["render"]


def render(answer: Answer | Functions | Source, screen: Screen) -> str:
    """The whole answer as text, none of it wider than the screen but a script."""
    match answer:
        case Functions():
            return draw(functions.parts(answer, screen), screen)
        case Explanation():
            return draw(explanation.parts(answer, screen), screen)
        case Source():  # without a frame, so that it can go into a file
            return answer.in_ascii if screen.ascii else answer.source
        case Checking():
            return draw(checking.parts(answer, screen), screen)
        case BackwardGraph():
            return draw(graph.parts(answer, screen), screen)
        case Answer(points=int()):
            return draw(points.parts(answer, screen), screen)
        case Products():
            return draw(products.parts(answer, screen), screen)
        case JVP() | Hessian() | HVP():
            return draw(curvature.parts(answer, screen), screen)
        case _:
            return draw(derivatives.parts(answer, screen), screen)

"""Answers as rich tables that never lose a digit.

On a terminal, wide tables become blocks or paragraphs; in a pipe, tables are as wide as they need.
Every cell is plain text: rich's markup would eat `x[0]`.
"""

from __future__ import annotations

from gradcli.report.drawing import Parts, Screen, draw
from gradcli.report.table import check, derivatives, explain, functions, graph, points, products, second_order
from gradcli.results import HVP, JVP, Answer, BackwardGraph, Checking, Explanation, Functions, Hessian, Products, Source

__all__ = ["parts", "render"]


def render(answer: Answer | Functions | Source, screen: Screen) -> str:
    """The whole answer as text, none of it wider than the screen but a script."""
    if isinstance(answer, Source):  # without a frame, so that it can go into a file
        return answer.in_ascii if screen.ascii else answer.source
    return draw(parts(answer, screen), screen)


def parts(answer: Answer | Functions, screen: Screen) -> Parts:
    """Titles, tables and remarks, from top to bottom."""
    match answer:
        case Functions():
            return functions.parts(answer, screen)
        case Explanation():
            return explain.parts(answer, screen)
        case Checking():
            return check.parts(answer, screen)
        case BackwardGraph():
            return graph.parts(answer, screen)
        case Answer(points=int()):
            return points.parts(answer, screen)
        case Products():
            return products.parts(answer, screen)
        case JVP() | Hessian() | HVP():
            return second_order.parts(answer, screen)
        case _:
            return derivatives.parts(answer, screen)

"""Answers as LaTeX: a fragment to \\input into a document that loads amsmath, which is all it needs.

Numbers keep their digits; long axes show their corners; whatever the user typed is escaped.
"""

from __future__ import annotations

from gradcli.report.latex import checking, derivatives, functions, points, products
from gradcli.report.latex.parts import document
from gradcli.results import Answer, Checking, Functions, Products

__all__ = ["render"]


def render(answer: Answer | Functions) -> str:
    """The whole answer as text."""
    match answer:
        case Functions():
            return document(functions.parts(answer))
        case Checking():
            return document(checking.parts(answer))
        case Answer(points=int()):
            return document(points.parts(answer))
        case Products():
            return document(products.parts(answer))
        case _:
            return document(derivatives.parts(answer))

"""Answers as documents, a module a family of answers.  Knows no format.

derivatives, products, points    vjp, jacobian, grad and eval; for several v; at many points
second_order                     jvp, hessian and hvp
check, explain                   what all readings say; the chain rule step by step
graph, functions                 the backward graph; the functions of the language
parts, extras                    what many of them have
"""

from __future__ import annotations

from gradcli.report.compose import check, derivatives, explain, functions, graph, points, products, second_order
from gradcli.report.document import Document, Script
from gradcli.results import HVP, JVP, Answer, BackwardGraph, Checking, Explanation, Functions, Hessian, Products, Source

__all__ = ["compose"]


def compose(answer: Answer | Functions | Source) -> Document:
    """Titles, tables, formulas and remarks, from top to bottom."""
    match answer:
        case Source():
            return (Script(answer.source, answer.in_ascii, answer.language),)
        case Functions():
            return tuple(functions.document(answer))
        case Explanation():
            return tuple(explain.document(answer))
        case Checking():
            return tuple(check.document(answer))
        case BackwardGraph():
            return tuple(graph.document(answer))
        case Answer(points=int()):
            return tuple(points.document(answer))
        case Products():
            return tuple(products.document(answer))
        case JVP() | Hessian() | HVP():
            return tuple(second_order.document(answer))
        case _:
            return tuple(derivatives.document(answer))

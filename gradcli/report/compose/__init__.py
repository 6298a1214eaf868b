"""Answers as documents, a module a family of answers.  Knows no format.

screens, extents                 the compact screen of any answer; what fits into it
glance                           explain and graph on one
cross_check                      formulas beside their verdict, and formulas alone
derivatives                      vjp, jacobian, grad, eval; for several v; at many points; jvp, hessian, hvp
explain                          the chain rule step by step
improve                          the best form of a function, and what it loses
passes                           a backward pass of a script in a line
views                            check; the backward graph; the functions of the language
parts                            what many of them have
marks                            which numbers are not to be trusted
"""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.report.compose import cross_check, derivatives
from gradcli.report.document import Document, Node, Script
from gradcli.results import (
    Answer,
    BackwardGraph,
    Checking,
    ClosedForm,
    Explanation,
    Functions,
    Improvement,
    Result,
    Source,
)

__all__ = ["compose"]


def compose(answer: Result) -> Document:
    """Titles, tables, formulas and remarks, from top to bottom."""
    return tuple(_nodes(answer))


def _nodes(answer: Result) -> Iterator[Node]:
    match answer:
        case Source():
            return iter([Script(answer.source, answer.in_ascii, answer.language)])
        case ClosedForm():
            return cross_check.closed_form(answer)
        case Improvement():
            from gradcli.report.compose.improve import improvement

            return improvement(answer)
        case Explanation():
            from gradcli.report.compose.explain import explanation

            return explanation(answer)
        case Functions() | Checking() | BackwardGraph():
            from gradcli.report.compose import views

            if isinstance(answer, Functions):
                return views.functions(answer)
            return views.check(answer) if isinstance(answer, Checking) else views.graph(answer)
        case Answer(points=int()):
            return derivatives.many_points(answer)
    return derivatives.one_point(answer)

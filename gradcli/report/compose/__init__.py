"""Answers as documents: a compact one, or the same with everything unfolded.  Knows no format.

answers                          of a function at a point or at many: the inputs, the numbers, the findings
views                            the readings of a check, claims, graphs, the best form of a function, passes of scripts
closed_forms                     formulas and the verdict on them; formulas alone
chain_rule                       the chain rule, a row an adjoint
functions                        the functions of the language
writer                           numbers as text, and marks on the doubtful ones
"""

from __future__ import annotations

from gradcli.report.compose.answers import Composer
from gradcli.report.compose.closed_forms import closed_form
from gradcli.report.compose.views import drawing, improvement
from gradcli.report.document import Document, ScriptText
from gradcli.results import BackwardGraph, ClosedForm, Functions, Improvement, Result, Source

__all__ = ["compose"]


def compose(answer: Result, digits: int | None = None, *, is_full: bool = True) -> Document:
    """Compose tables, formulas and remarks, from top to bottom.

    Args:
        answer: The object.
        digits: Significant digits of its numbers; None for all.
        is_full: Whether to unfold everything, which no screen has room for.
    """
    match answer:
        case Source():
            return (ScriptText(answer.source, answer.language),)
        case BackwardGraph(drawing="dot" | "mermaid" as language):
            return (ScriptText(drawing(answer, language), language),)
        case BackwardGraph(drawing="tree" | "table"):
            is_full = True
        case ClosedForm():
            return tuple(closed_form(answer, is_full=is_full))
        case Improvement():
            return tuple(improvement(answer, is_full=is_full))
        case Functions():
            from gradcli.report.compose.functions import functions

            return tuple(functions(answer, Composer(digits, is_full=False)))
    return tuple(Composer(digits, is_full).nodes(answer))

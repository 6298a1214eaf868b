"""The main job on one page: what happens between the text of a function and its answer.

    text        questions.question.read_whole      tokens, a tree, a Program: one operation a line
    question    Inquiry.question                   the Program with shapes and values, before torch is imported
    numbers     operators.OPERATORS, autodiff      reading 1: torch runs the Program, and its backward
    formula     crosscheck.formulas                reading 2: SymPy differentiates it in index notation
    truth       judging.judged, crosscheck.judge   reading 3: enclosures of the gradient Program, next to the numbers
    verdict     judging.concluded                  the only place where the three meet
    answer      results                            quantities, the check and remarks; data that knows no format
    shown       report.compose, report.render      a document, composed once, in a format

`answer` is that for a derivative taken once; `answer_product` for one of the gradient vectors of `vjp`, which may be
several, follow from a loss or stand in pasted passes (`questions.commands.vjp`).
"""

from __future__ import annotations

from typing import Any, TypeVar

from gradcli.arrays import Array
from gradcli.crosscheck.formulas import Derived, derive_formulas
from gradcli.questions.judging import concluded, judged, whole_derivatives
from gradcli.questions.naming import Directions
from gradcli.questions.operators import OPERATORS, Asked, Given, Operator
from gradcli.questions.question import Inquiry, Question
from gradcli.results import VJP, Judged, Quantity, by_name, quantities_of

OneAnswer = TypeVar("OneAnswer", bound=Judged)


def answer(kind: type[OneAnswer], inquiry: Inquiry, u: Directions = None) -> tuple[Question, OneAnswer]:
    """Answer a question by a row of `OPERATORS`.

    Args:
        kind: The class of the answer.
        inquiry: The function at its point.
        u: The directions that are given.

    Raises:
        GradcliError: y has several elements, a direction is missing, or the answer would be too large.
    """
    operator = OPERATORS[kind]
    assert operator.ask is not None, "a command of its own asks for it"  # noqa: S101
    question = inquiry.question(twice=operator.is_second)
    if operator.of_one_element:
        question.require_one_element(operator.command)
    directions = question.directions(u, operator.command) if operator.along == "u" else {}
    asked = operator.ask(question, directions)
    fields = conclude(question, operator, asked, derive(question, operator, directions))
    if operator.along == "u":
        fields["u"] = directions
    return question, kind(command=operator.command, **fields)


def answer_product(question: Question, v: Array) -> tuple[dict[str, Array], dict[str, Any]]:
    """Compute one vector-Jacobian product; return it by variable, and the fields of its answer with the Jacobian.

    Args:
        question: The function at its point.
        v: The gradient vector, of y's shape.
    """
    numbers = whole_derivatives(question, v)
    asked = Asked(numbers, {"jacobian": by_name(numbers.jacobian or {})})
    return dict(numbers.vjp or {}), conclude(question, OPERATORS[VJP], asked, None)


def derive(question: Question, operator: Operator, directions: Given) -> Derived | None:
    """Derive the formulas of Ju, Hu or the Hessian; None stands for those of the Jacobian, which the question keeps."""
    if not operator.is_second:
        return None
    wrt = () if operator.command == "jvp" else question.wrt
    return derive_formulas(question.point, question.program, wrt, operator.command, directions)


def conclude(question: Question, operator: Operator, asked: Asked, derived: Derived | None) -> dict[str, Any]:
    """Judge torch's numbers, confirm the formulas, and collect the fields that all answers of derivatives have."""
    judgement = judged(question, asked.numbers) if question.check else None
    formulas, check = concluded(question, asked.numbers, judgement, derived)
    quantities: list[Quantity] = []
    for kind, blocks in asked.arrays.items():
        own = (formulas.shown, formulas.omitted) if kind == operator.formulas else ()
        quantities += quantities_of(kind, question.program.output_name, question.wrt, blocks, *own)
    fields = {**question.common, "quantities": tuple(quantities), "value": question.value, "check": check}
    if operator.kinds[0] != "jacobian" and "jacobian" in operator.kinds:
        fields["jacobian_omitted"] = question.jacobian_omitted
    return fields

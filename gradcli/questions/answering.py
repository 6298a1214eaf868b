"""The main job on one page: what happens between the text of a function and its answer.

    text        text_reading.read_whole           tokens, a tree, a Program: one operation a line
    binding     prepare, FunctionWithValues.bind  the Program with shapes and values, before torch is imported
    numbers     operators.OPERATORS, autodiff     reading 1: torch runs the Program, and its backward
    formula     derive, crosscheck.formulas       reading 2: SymPy differentiates it in index notation
    truth       judge_numbers, crosscheck.judge   reading 3: enclosures of the gradient Program, next to the numbers
    verdict     confirm_formulas                  the only place where the three meet
    answer      collect, results                  quantities, the check and remarks; data that knows no format
    shown       report.compose, report.render     a document, composed once, in a format

All commands that compute a derivative pass through `answer_bound`: most by `answer`, and `vjp` once for each of its
gradient vectors, which may be several, follow from a loss or stand in pasted passes (`questions.commands.vjp`).
"""

from __future__ import annotations

from typing import Any, TypeVar

from gradcli import trial
from gradcli.crosscheck.formulas import Derived, Formulas, derive_formulas
from gradcli.crosscheck.point import Numbers
from gradcli.questions.bound_function import BoundFunction, FunctionWithValues
from gradcli.questions.judging import confirm_formulas, judge_numbers
from gradcli.questions.naming import Directions
from gradcli.questions.operators import DIFFERENTIATED_TWICE, OPERATORS, Operator, Vectors
from gradcli.results import Judged, Quantity, quantities_of

OneAnswer = TypeVar("OneAnswer", bound=Judged)


def answer(
    kind: type[OneAnswer], unbound: FunctionWithValues, u: Directions = None, operator: Operator | None = None
) -> OneAnswer:
    """Answer a question by a row of `OPERATORS` that is not taken along a gradient vector.

    Args:
        kind: The class of the answer.
        unbound: The function at its point.
        u: The directions that are given.
        operator: The row, if not that of the class.

    Raises:
        GradcliError: A value or a direction is missing, y has several elements, or the answer would be too large.
    """
    operator, bound = operator or OPERATORS[kind], prepare(kind, unbound)
    directions = bound.directions(u, operator.command) if operator.along == "u" else {}
    return answer_bound(kind, bound, directions, operator)


def prepare(kind: type[Judged], unbound: FunctionWithValues) -> BoundFunction:
    """Give the Program its shapes and values, for a derivative that it can have.

    Raises:
        GradcliError: A value is missing or does not fit, or y has several elements.
    """
    operator = OPERATORS[kind]
    bound = unbound.bind(twice=operator.formulas in DIFFERENTIATED_TWICE)
    if operator.of_one_element:
        bound.require_one_element(operator.command)
    return bound


def answer_bound(
    kind: type[OneAnswer], bound: BoundFunction, vectors: Vectors, operator: Operator | None = None
) -> OneAnswer:
    """Ask the three readings for a derivative, and let them meet in the verdict of its answer.

    Args:
        kind: The class of the answer.
        bound: The function at its point.
        vectors: What the derivative is taken along: v by the name of the output, u by the variables that move.
        operator: The row of `OPERATORS`, if not that of the class.

    Raises:
        GradcliError: The answer would be too large, or torch refuses it.
    """
    trial.end()
    operator = operator or OPERATORS[kind]

    def ask(one: BoundFunction) -> Numbers:
        names = {bound.program.output_name: one.program.output_name}
        return operator.ask(one, {names.get(name, name): vector for name, vector in vectors.items()})

    numbers = ask(bound)
    derived = derive(bound, operator, vectors)
    judgement = judge_numbers(bound, numbers, ask) if bound.check else None
    formulas, check = confirm_formulas(bound, numbers, judgement, derived)
    quantities = collect(bound, operator, numbers, formulas)
    own: dict[str, Any] = {}  # fields that some classes of answers alone have
    if operator.along:
        own[operator.along] = vectors if operator.along == "u" else vectors[bound.program.output_name]
    if "jacobian" in operator.kinds and kind.asks != "jacobian":
        own["jacobian_omitted"] = bound.jacobian_omitted
    fields = bound.common | {"device": bound.device} | own
    return kind(command=operator.command, value=bound.value, quantities=quantities, check=check, **fields)


def derive(bound: BoundFunction, operator: Operator, directions: Vectors) -> Derived | None:
    """Derive the formulas of Ju, Hu or the Hessian; None stands for those of the Jacobian, which the question keeps."""
    if operator.formulas not in DIFFERENTIATED_TWICE:
        return None
    wrt = () if operator.command == "jvp" else bound.wrt
    return derive_formulas(bound.point, bound.program, wrt, operator.command, directions)


def collect(bound: BoundFunction, operator: Operator, numbers: Numbers, formulas: Formulas) -> tuple[Quantity, ...]:
    """Make the quantities of an answer, with the formulas of one kind; the numbers of some may have been left out."""
    found: list[Quantity] = []
    for kind in operator.kinds:
        arrays = numbers.derivatives.get(kind, {})
        own = (formulas.shown, formulas.omitted) if kind == operator.formulas else ()
        found += quantities_of(kind, bound.program.output_name, bound.wrt, arrays, *own)
    return tuple(found)

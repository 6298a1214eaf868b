"""Operators: the derivatives that a command asks torch for, a row each, and how any of them is answered.

A row says which quantities the answer has and along which axes (`gradcli.results.quantities`), which of them has
formulas, along which vector it is taken, and whether y must have one element.  Torch is asked by one function a row;
what it gives is judged and put together alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from gradcli.arrays import Array
from gradcli.crosscheck.formulas import derive_formulas
from gradcli.crosscheck.point import HessianVectorProduct, JacobianVectorProduct, Numbers, SecondDerivatives, Torch
from gradcli.option_words import option
from gradcli.questions.judging import checked, whole_derivatives
from gradcli.questions.naming import Directions
from gradcli.questions.question import Inquiry, Question
from gradcli.results import (
    HVP,
    JVP,
    VJP,
    BlockNames,
    Evaluation,
    Gradient,
    Hessian,
    Jacobian,
    Judged,
    NumberKind,
    by_name,
)

Given = Mapping[str, Array]
"""Directions of the variables that move; none for an operator that is taken along none."""

OneAnswer = TypeVar("OneAnswer", bound=Judged)


class Asked(NamedTuple):
    """Torch's numbers: as they are judged, and by kind and block as an answer has them."""

    numbers: Numbers
    arrays: Mapping[NumberKind, Mapping[BlockNames, Array]]


@dataclass(frozen=True)
class Operator:
    """A derivative that a command asks torch for.

    Attributes:
        command: The command that asks for it alone.
        kinds: The kinds of the quantities of its answer, in order.
        formulas: The kind that has formulas; "" for none.
        along: The vector that it is taken along.
        of_one_element: Whether y must have one element.
        ask: Asks torch, for a question and directions; None of those that one command alone asks, with more to it.
    """

    command: str
    kinds: tuple[NumberKind, ...]
    formulas: NumberKind | Literal[""]
    along: Literal["", "v", "u"] = ""
    of_one_element: bool = False
    ask: Callable[[Question, Given], Asked] | None = None

    @property
    def is_second(self) -> bool:
        """Whether torch's gradients are differentiated again: those of Ju by their v."""
        return self.formulas in ("jvp", "hvp", "hessian")


def _grad(question: Question, given: Given) -> Asked:
    numbers = whole_derivatives(question, question.weights(np.ones(question.shape)))
    return Asked(numbers, {"gradient": by_name(numbers.vjp or {}), "jacobian": by_name(numbers.jacobian or {})})


def _jacobian(question: Question, given: Given) -> Asked:
    rows = f"vjp with {option('v', 'e0')}, {option('v', 'e1')}, ... for single rows"
    question.require_room(f"use {rows}, or {option('wrt')} for fewer variables")
    blocks = question.jacobian
    return Asked(Torch(question.dtype, question.value, blocks), {"jacobian": by_name(blocks)})


def _jvp(question: Question, given: Given) -> Asked:
    from gradcli.autodiff.jacobians import jvp

    product = jvp(question.forward, given)
    return Asked(JacobianVectorProduct(question.dtype, question.value, product, given), {"jvp": {("", ""): product}})


def _hvp(question: Question, given: Given) -> Asked:
    from gradcli.autodiff.jacobians import hvp

    gradient, slope, product = hvp(question.forward, given, question.wrt)
    numbers = HessianVectorProduct(question.dtype, float(slope), product, given, question.value.item())
    return Asked(numbers, {"gradient": by_name(gradient), "hvp": by_name(product)})


def _hessian(question: Question, given: Given) -> Asked:
    entries = sum(question.arrays[name].size for name in question.wrt) ** 2
    hint = f"use hvp with {option('u')} for single columns, or {option('wrt')} for fewer variables"
    question.require_room(hint, "the Hessian", entries)
    from gradcli.autodiff.jacobians import hessian

    gradient, blocks = hessian(question.forward, question.wrt)
    numbers = SecondDerivatives(question.dtype, gradient, blocks, question.value.item())
    arrays = {(a, b): array for a, row in blocks.items() for b, array in row.items()}
    return Asked(numbers, {"gradient": by_name(gradient), "hessian": arrays})


OPERATORS: Mapping[type[Judged], Operator] = {
    Evaluation: Operator("eval", (), ""),
    VJP: Operator("vjp", ("vjp", "accumulated", "jacobian"), "jacobian", along="v"),
    Gradient: Operator("grad", ("gradient", "jacobian"), "jacobian", of_one_element=True, ask=_grad),
    Jacobian: Operator("jacobian", ("jacobian",), "jacobian", ask=_jacobian),
    JVP: Operator("jvp", ("jvp",), "jvp", along="u", ask=_jvp),
    Hessian: Operator("hessian", ("gradient", "hessian"), "hessian", of_one_element=True, ask=_hessian),
    HVP: Operator("hvp", ("gradient", "hvp"), "hvp", along="u", of_one_element=True, ask=_hvp),
}
"""All operators, by the class of their answers."""


def answer(kind: type[OneAnswer], inquiry: Inquiry, u: Directions = None) -> tuple[Question, OneAnswer]:
    """Answer a question by a row of the table.

    Args:
        kind: The class of the answer.
        inquiry: The function at its point.
        u: The directions that are given.

    Raises:
        GradcliError: y has several elements, a direction is missing, or the answer would be too large.
    """
    row = OPERATORS[kind]
    assert row.ask is not None, "a command of its own asks for it"  # noqa: S101
    question = inquiry.question(twice=row.is_second)
    if row.of_one_element:
        question.require_one_element(row.command)
    directions = question.directions(u, row.command) if row.along == "u" else {}
    asked = row.ask(question, directions)
    derived = None
    if row.is_second:
        wrt = () if row.command == "jvp" else question.wrt
        derived = derive_formulas(question.point, question.program, wrt, row.command, directions)
    shared: dict[str, Any] = checked(question, asked.numbers, asked.arrays, row.formulas, derived)
    if row.along == "u":
        shared["u"] = directions
    if row.kinds[0] != "jacobian" and "jacobian" in row.kinds:
        shared["jacobian_omitted"] = question.jacobian_omitted
    return question, kind(command=row.command, **shared)

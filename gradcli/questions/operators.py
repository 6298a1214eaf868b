"""Operators: the derivatives that a command asks torch for, a row each.

A row says which quantities the answer has and along which axes (`gradcli.results.quantities`), which of them has
formulas, along which vector it is taken, and whether y must have one element.  Torch is asked by one function a row;
`gradcli.questions.answering` judges what it gives, and puts the answer together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gradcli.arrays import Array
from gradcli.crosscheck.point import HessianVectorProduct, JacobianVectorProduct, Numbers, SecondDerivatives, Torch
from gradcli.option_words import option
from gradcli.questions.judging import whole_derivatives
from gradcli.questions.question import Question
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

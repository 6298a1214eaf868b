"""Operators: the derivatives that a command asks torch for, a row each.

A row says which quantities the answer has and along which axes (`gradcli.results.quantities`), which of them has
formulas, along which vector it is taken, and whether y must have one element.  Torch is asked by one function a row;
`gradcli.questions.answering` judges what it gives, and puts the answer together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gradcli.arrays import Array
from gradcli.crosscheck.point import Numbers
from gradcli.option_words import option
from gradcli.questions.bound_function import BoundFunction
from gradcli.results import HVP, JVP, VJP, Evaluation, Gradient, Hessian, Jacobian, Judged, NumberKind, by_name

Vectors = Mapping[str, Array]
"""Vectors that a derivative is taken along, by name: v belongs to the output, u to the variables that move."""


DIFFERENTIATED_TWICE = ("jvp", "hvp", "hessian")
"""Kinds for which torch's gradients are differentiated again: those of Ju by their v."""


@dataclass(frozen=True)
class Operator:
    """A derivative that a command asks torch for.

    Attributes:
        command: The command that asks for it alone.
        kinds: The kinds of the quantities of its answer, in order; `vjp` adds `accumulated` where passes add up.
        formulas: The kind that has formulas; "" for none.
        ask: Asks torch, for a question and the vectors.
        along: The vector that it is taken along.
        of_one_element: Whether y must have one element.
    """

    command: str
    kinds: tuple[NumberKind, ...]
    formulas: NumberKind | Literal[""]
    ask: Callable[[BoundFunction, Vectors], Numbers]
    along: Literal["", "v", "u"] = ""
    of_one_element: bool = False


def _value(bound: BoundFunction, vectors: Vectors) -> Numbers:
    return Numbers(bound.dtype, bound.value)


def _grad(bound: BoundFunction, vectors: Vectors) -> Numbers:
    numbers = bound.first_derivatives({bound.program.output_name: bound.weights(np.ones(bound.shape))})
    return replace(numbers, derivatives={**numbers.derivatives, "gradient": numbers.derivatives["vjp"]})


def _jacobian(bound: BoundFunction, vectors: Vectors) -> Numbers:
    rows = f"vjp with {option('v', 'e0')}, {option('v', 'e1')}, ... for single rows"
    bound.require_room(f"use {rows}, or {option('wrt')} for fewer variables")
    return Numbers.of_first_order(bound.dtype, bound.value, bound.jacobian)


def _jvp(bound: BoundFunction, vectors: Vectors) -> Numbers:
    from gradcli.autodiff.jacobians import jvp

    product = jvp(bound.forward, vectors)
    return Numbers(bound.dtype, bound.value, {"jvp": {("", ""): product}}, u=vectors)


def _forward_jvp(bound: BoundFunction, vectors: Vectors) -> Numbers:
    from gradcli.questions.derivative_modes import forward_product

    product = forward_product(bound, vectors)
    return Numbers(bound.dtype, bound.value, {"jvp": {("", ""): product}}, u=vectors, mode="forward mode")


def _hvp(bound: BoundFunction, vectors: Vectors) -> Numbers:
    from gradcli.autodiff.jacobians import hvp

    gradient, slope, product = hvp(bound.forward, vectors, bound.wrt)
    derivatives: dict[NumberKind, Mapping[tuple[str, str], Array]] = {
        "gradient": by_name(gradient),
        "jvp": {("", ""): np.full(bound.shape, float(slope))},
        "hvp": by_name(product),
    }
    return Numbers(bound.dtype, bound.value, derivatives, u=vectors)


def _hessian(bound: BoundFunction, vectors: Vectors) -> Numbers:
    entries = sum(bound.arrays[name].size for name in bound.wrt) ** 2
    hint = f"use hvp with {option('u')} for single columns, or {option('wrt')} for fewer variables"
    bound.require_room(hint, "the Hessian", entries)
    from gradcli.autodiff.jacobians import hessian

    gradient, blocks = hessian(bound.forward, bound.wrt)
    second = {(a, b): array for a, row in blocks.items() for b, array in row.items()}
    return Numbers(bound.dtype, bound.value, {"gradient": by_name(gradient), "hessian": second})


OPERATORS: Mapping[type[Judged], Operator] = {
    Evaluation: Operator("eval", (), "", _value),
    VJP: Operator("vjp", ("vjp", "jacobian"), "jacobian", BoundFunction.first_derivatives, along="v"),
    Gradient: Operator("grad", ("gradient", "jacobian"), "jacobian", _grad, of_one_element=True),
    Jacobian: Operator("jacobian", ("jacobian",), "jacobian", _jacobian),
    JVP: Operator("jvp", ("jvp",), "jvp", _jvp, along="u"),
    Hessian: Operator("hessian", ("gradient", "hessian"), "hessian", _hessian, of_one_element=True),
    HVP: Operator("hvp", ("gradient", "hvp"), "hvp", _hvp, along="u", of_one_element=True),
}
"""All operators, by the class of their answers."""

FORWARD_MODE = replace(OPERATORS[JVP], ask=_forward_jvp)
"""The operator of Ju by forward mode, in place of the transpose of vᵀJ by v."""

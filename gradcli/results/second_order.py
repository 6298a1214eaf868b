"""What the commands of directions and of second derivatives answer: Ju, the Hessian, and Hu.

Shapes: a direction has its variable's shape, Ju y's, a Hessian block a.shape + b.shape, Hu its variable's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradcli.results.answers import Formula, Judged
from gradcli.results.verdicts import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class JVP(Judged):
    """The Jacobian-vector product Ju, the derivative of y along a direction.

    Attributes:
        u: The direction of each variable that moves, of its shape.
        jvp: The product Ju, of y's shape: the sum of ∂y[i]/∂x[j]·u[j] over the elements of all variables.
        symbolic: Its formula, if it has one.
        symbolic_omitted: Why it has none.
    """

    u: Mapping[str, Array]
    jvp: Array
    symbolic: Formula | None
    symbolic_omitted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hessian(Judged):
    """The Hessian of a y of one element, a block for each pair of variables.

    Attributes:
        grad: The gradient per variable, of its shape.
        hessian: The derivative ∂²y/∂a∂b by a and by b, of shape a.shape + b.shape.
        symbolic: The formulas of the blocks that have one, by a and by b.
        symbolic_omitted: Why the others have none.
    """

    grad: Mapping[str, Array]
    hessian: Mapping[str, Mapping[str, Array]]
    symbolic: Mapping[str, Mapping[str, Formula]]
    symbolic_omitted: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HVP(Judged):
    """The Hessian-vector product Hu of a y of one element, per variable.

    Attributes:
        u: The direction of each variable that moves, of its shape.
        grad: The gradient per variable, of its shape.
        hvp: Hu per variable, of its shape, the derivative of the gradient along the direction.
        symbolic: The formula per variable that has one.
        symbolic_omitted: Why a variable has none.
    """

    u: Mapping[str, Array]
    grad: Mapping[str, Array]
    hvp: Mapping[str, Array]
    symbolic: Mapping[str, Formula]
    symbolic_omitted: Mapping[str, str]

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
        u: The direction of each variable that moves.
        jvp: Ju.
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
        grad: The gradient per variable.
        hessian: ∂²y/∂a∂b by a and by b.
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
        u: The direction of each variable that moves.
        grad: The gradient per variable.
        hvp: Hu per variable, the derivative of the gradient along the direction.
        symbolic: The formula per variable that has one.
        symbolic_omitted: Why a variable has none.
    """

    u: Mapping[str, Array]
    grad: Mapping[str, Array]
    hvp: Mapping[str, Array]
    symbolic: Mapping[str, Formula]
    symbolic_omitted: Mapping[str, str]

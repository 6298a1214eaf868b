"""The command's own quantity of an answer, by variable."""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.results import HVP, VJP, Answer, Array, Explanation, Gradient, Jacobian


def by_variable(answer: Answer) -> Mapping[str, Array] | None:
    """VᵀJ, the gradient, Hu or J by variable; None of an answer whose quantity is not by variable.

    Shapes: those of the variables, J y.shape + x.shape; at many points with the points before.
    """
    match answer:
        case VJP() | Explanation():
            return answer.vjp
        case Gradient():
            return answer.grad
        case HVP():
            return answer.hvp
        case Jacobian():
            return answer.jacobian or {}
    return None

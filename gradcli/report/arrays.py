"""The arrays of an answer by name, as an .npz file has them, and the one that is the command's own quantity.

Shapes are those of the answer; of several products, the first axis counts them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradcli.errors import InputError
from gradcli.results import (
    HVP,
    JVP,
    VJP,
    Answer,
    Array,
    BackwardGraph,
    Checking,
    Differentiation,
    Evaluation,
    Explanation,
    Gradient,
    Hessian,
    Jacobian,
    Products,
)


def named(answer: Answer) -> dict[str, Array]:
    """Inputs by their names, then `value`, `v`, `vjp_x`, `jacobian_x`, `hessian_x_z` and what else there is.

    An input that is called as one of these is `input_NAME`.
    """
    found = {"value": answer.value}
    match answer:
        case Products():
            found |= _products(answer)
        case VJP():
            found |= {"v": answer.v} | _by("vjp", answer.vjp) | _by("accumulated", answer.accumulated)
        case Gradient():
            found |= _by("grad", answer.grad)
        case JVP():
            found |= _by("u", answer.u) | {"jvp": answer.jvp}
        case HVP():
            found |= _by("u", answer.u) | _by("grad", answer.grad) | _by("hvp", answer.hvp)
        case Hessian():
            found |= _by("grad", answer.grad)
            for name, blocks in answer.hessian.items():
                found |= _by(f"hessian_{name}", blocks)
        case Explanation():
            found |= {"v": answer.v} | _by("value", {step.name: step.value for step in answer.steps})
            found |= _by("adjoint", {adjoint.name: adjoint.value for adjoint in answer.adjoints})
            found |= _by("vjp", answer.vjp)
        case Checking():
            found |= ({} if answer.v is None else {"v": answer.v}) | _by("vjp", answer.vjp)
        case BackwardGraph():
            found |= {} if answer.v is None else {"v": answer.v}
            found |= _by("data", {tensor.name: tensor.data for tensor in answer.tensors})
            found |= _by("grad", {tensor.name: tensor.grad for tensor in answer.tensors if tensor.grad is not None})
    if isinstance(answer, Differentiation):
        kept = answer.intermediates.items()
        found |= _by("value", {name: one.value for name, one in kept})
        found |= _by("adjoint", {name: one.grad for name, one in kept if one.grad is not None})
        found |= _by("jacobian", answer.jacobian)
    inputs = {f"input_{name}" if name in found else name: array for name, array in answer.inputs.items()}
    return inputs | found


def primary_array(answer: Answer) -> Array:
    """The command's own quantity.

    Raises:
        InputError: It has one array for each of several variables, or none.
    """
    match answer:
        case Products():
            return _only("vᵀJ", {name: np.stack([one.vjp[name] for one in answer.answers]) for name in answer.wrt})
        case VJP(vjp=arrays) | Explanation(vjp=arrays):
            return _only("vᵀJ", arrays)
        case Gradient():
            return _only("the gradient", answer.grad)
        case HVP():
            return _only("Hu", answer.hvp)
        case JVP():
            return answer.jvp
        case Jacobian():
            return _only("the Jacobian", answer.jacobian or {})
        case Hessian():
            return _only("the Hessian", {name: blocks[name] for name, blocks in answer.hessian.items()})
        case Evaluation():
            return answer.value
        case _:
            raise InputError(f"what {answer.command} answers is not one array", hint="write an .npz")


def _by(kind: str, arrays: Mapping[str, Array] | None) -> dict[str, Array]:
    return {f"{kind}_{name}": array for name, array in (arrays or {}).items()}


def _products(answer: Products) -> dict[str, Array]:
    one = answer.answers
    found = {"v": np.stack([a.v for a in one])}
    found |= _by("vjp", {name: np.stack([a.vjp[name] for a in one]) for name in answer.wrt})
    held = [a.accumulated for a in one if a.accumulated is not None]
    return found | _by("accumulated", {name: np.stack([h[name] for h in held]) for name in answer.wrt if held})


def _only(what: str, arrays: Mapping[str, Array]) -> Array:
    if len(arrays) != 1:
        raise InputError(
            f"{what} has {len(arrays)} variables, and an .npy file holds one array",
            hint="write an .npz, which holds them all, or choose one with --wrt",
        )
    return next(iter(arrays.values()))

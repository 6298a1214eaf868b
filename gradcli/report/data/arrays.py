"""The arrays of an answer by name, as an .npz file has them, and the one that is the command's own quantity.

Shapes are those of the answer; of several products, the first axis counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.errors import InputError
from gradcli.results import (
    HVP,
    JVP,
    VJP,
    Answer,
    Array,
    BackwardGraph,
    Differentiation,
    Evaluation,
    Explanation,
    Gradient,
    Hessian,
    Jacobian,
    Products,
)

_QUANTITIES = ("v", "u", "vjp", "accumulated", "grad", "jvp", "hvp", "hessian")
"""What an answer may have beside its value, by the name of the attribute."""


def named(answer: Answer) -> dict[str, Array]:
    """Inputs by their names, then `value`, `v`, `vjp_x`, `jacobian_x`, `hessian_x_z` and what else there is.

    An input that is called as one of these is `input_NAME`.
    """
    found = {"value": answer.value}
    for quantity in _QUANTITIES:
        found |= _by(
            quantity, _stacked(answer, quantity) if isinstance(answer, Products) else getattr(answer, quantity, None)
        )
    match answer:
        case Explanation():
            found |= _by("value", {step.name: step.value for step in answer.steps})
            found |= _by("adjoint", {adjoint.name: adjoint.value for adjoint in answer.adjoints})
        case BackwardGraph():
            found |= _by("data", {tensor.name: tensor.data for tensor in answer.tensors})
            found |= _by("grad", {tensor.name: tensor.grad for tensor in answer.tensors})
    if isinstance(answer, Differentiation):
        kept = answer.intermediates.items()
        found |= _by("value", {name: one.value for name, one in kept})
        found |= _by("adjoint", {name: one.grad for name, one in kept})
        found |= _by("jacobian", answer.jacobian)
    inputs = {f"input_{name}" if name in found else name: array for name, array in answer.inputs.items()}
    return inputs | found


def _by(name: str, held: Any) -> dict[str, Array]:
    """An array by its name, or several by their names behind it; nothing where there is none."""
    if held is None:
        return {}
    if isinstance(held, Mapping):
        return {key: array for inner, one in held.items() for key, array in _by(f"{name}_{inner}", one).items()}
    return {name: held}


def _stacked(answer: Products, quantity: str) -> Any:
    """A quantity of all products, the first axis counting them."""
    held: list[Any] = [getattr(one, quantity, None) for one in answer.answers]
    if held[0] is None:
        return None
    if isinstance(held[0], Mapping):
        return {name: np.stack([one[name] for one in held]) for name in answer.wrt}
    return np.stack(held)


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


def _only(what: str, arrays: Mapping[str, Array]) -> Array:
    if len(arrays) != 1:
        raise InputError(
            f"{what} has {len(arrays)} variables, and an .npy file holds one array",
            hint="write an .npz, which holds them all, or choose one with --wrt",
        )
    return next(iter(arrays.values()))

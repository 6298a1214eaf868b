"""Snippets of PyTorch run by PyTorch itself, and the numbers of an answer to compare with theirs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from gradcli import Function
from gradcli.results import HVP, JVP, VJP, Evaluation, Hessian, Jacobian

Array = npt.NDArray[Any]


def run_by_torch(text: str, *, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
    """What the names of a snippet hold after Python has run it; where it writes no dtype, this one is taken."""
    space: dict[str, Any] = {"torch": torch, "np": np, "print": lambda *shown: None}
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own, of its forward mode
            exec(compile(text, "snippet", "exec"), space)
    finally:
        torch.set_default_dtype(before)
    return space


def flat(value: Any) -> list[Array]:
    """The tensors in tuples of tensors, as arrays; 0 for a `.grad` that nothing flowed to."""
    value = 0.0 if value is None else value
    if isinstance(value, tuple | list):
        return [array for part in value for array in flat(part)]
    return [np.asarray(value.detach().numpy() if isinstance(value, torch.Tensor) else value)]


def answered(text: str, **options: Any) -> tuple[Any, list[Array]]:
    """The answer to what a snippet asks, and its numbers, variable after variable."""
    f = Function(text)
    answer: Any = f.answer(**options) if f.asks else f.vjp(**options)
    match answer:
        case VJP():
            return answer, list(answer.vjp.values())
        case Jacobian():
            return answer, list((answer.jacobian or {}).values())
        case Hessian():
            return answer, [block for row in answer.hessian.values() for block in row.values()]
        case JVP():
            return answer, [answer.jvp]
        case HVP():
            return answer, list(answer.hvp.values())
        case Evaluation():
            return answer, [answer.value]
    raise TypeError(type(answer))

"""Snippets of PyTorch run by PyTorch itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch


def run_by_torch(text: str, **names: Any) -> dict[str, Any]:
    """Values of the names of a snippet after Python has run it; where it writes no dtype, torch's own is taken."""
    space: dict[str, Any] = {"torch": torch, "nn": torch.nn, "np": np, "print": lambda *shown: None, **names}
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own, of its forward mode
            exec(compile(text, "snippet", "exec"), space)
    finally:
        torch.set_default_dtype(before)
    return space


def gradients_by_torch(text: str) -> dict[str, Any]:
    """The `.grad` of each leaf of a snippet in the end, by its first name."""
    return _gradients(run_by_torch(text))


def passes_by_torch(text: str) -> list[dict[str, Any]]:
    """The same after each backward pass, which stands on a line of its own."""
    lines = [line + "\nheld.append(told(globals()))" * (".backward(" in line) for line in text.strip().splitlines()]
    space = run_by_torch("\n".join(lines), held=[], told=_gradients)
    return list(space["held"])


def _gradients(space: dict[str, Any]) -> dict[str, Any]:
    tensors = {id(value): (name, value) for name, value in reversed(space.items()) if torch.is_tensor(value)}
    return {name: one.grad.numpy().copy() for name, one in tensors.values() if one.is_leaf and one.grad is not None}

"""Snippets of PyTorch run by PyTorch itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch


def run_by_torch(text: str, *, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
    """What the names of a snippet hold after Python has run it; where it writes no dtype, this one is taken."""
    space: dict[str, Any] = {"torch": torch, "nn": torch.nn, "np": np, "print": lambda *shown: None}
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own, of its forward mode
            exec(compile(text, "snippet", "exec"), space)
    finally:
        torch.set_default_dtype(before)
    return space


def gradients_by_torch(text: str) -> dict[str, Any]:
    """What `.grad` of each leaf of a snippet holds in the end, by its first name."""
    tensors = {
        id(value): (name, value) for name, value in reversed(run_by_torch(text).items()) if torch.is_tensor(value)
    }
    return {name: one.grad.numpy() for name, one in tensors.values() if one.is_leaf and one.grad is not None}

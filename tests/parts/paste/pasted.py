"""Snippets of PyTorch run by PyTorch itself."""

import ast
import math
import warnings
from typing import Any

import numpy as np
import torch


def run_by_torch(text: str, dtype: torch.dtype = torch.float32, **names: Any) -> dict[str, Any]:
    """Values of the names of a snippet after Python has run it, where this dtype is taken if it writes none.

    The `result` is what it ends with: a value, the name that it assigns, or a function, called with these names.
    """
    space: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np, "math": math}
    space |= {"print": lambda *shown: None, "__name__": "__main__", **names}
    tree = ast.parse(text)
    match tree.body[-1]:
        case ast.Expr(value):
            tree.body[-1:] = ast.parse(f"result = {ast.unparse(value)}").body
        case ast.Assign([ast.Name(name)]):
            tree.body += ast.parse(f"result = {name}").body
        case ast.FunctionDef(name, arguments):
            given = [f"{one.arg}={one.arg}" for one in arguments.args if one.arg in names]
            tree.body += ast.parse(f"result = {name}({', '.join(given)})").body
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own, of its forward mode
            exec(compile(tree, "snippet", "exec"), space)
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

"""Plain Python, read without running any, gives what Python and torch give."""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from tests.language.corpus import Snippet, snippets

ALL = snippets()


def by_torch(text: str, at: dict[str, object]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """What a text gives where Python runs it, and the gradient of its sum by each variable."""
    leaves = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in at.items()}
    space: dict[str, Any] = {"torch": torch, "math": math, "np": np, "F": torch.nn.functional, **leaves}
    space |= {"print": lambda *shown: None, "__name__": "__main__", "nn": torch.nn}
    text = text.replace("@torch.jit.script\n", "")
    tree = ast.parse(text)
    last = tree.body[-1]
    shown = last.value if isinstance(last, ast.Expr) else None
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        if shown is not None:
            tree.body.pop()
        exec(builtins.compile(tree, "snippet", "exec"), space)
        if shown is not None:
            result = eval(builtins.compile(ast.Expression(shown), "snippet", "eval"), space)
        elif isinstance(last, ast.FunctionDef):
            given = [one.arg for one in last.args.args]
            result = space[last.name](**{name: space[name] for name in given if name in leaves})
        else:
            result = space[last.targets[0].id]  # type: ignore[attr-defined]
    finally:
        torch.set_default_dtype(before)
    result.sum().backward()
    return result.detach(), {n: torch.zeros_like(x) if x.grad is None else x.grad for n, x in leaves.items()}


@pytest.mark.parametrize("snippet", ALL, ids=[f"{one.group}-{n}" for n, one in enumerate(ALL)])
def test_python_is_read_as_it_runs(snippet: Snippet) -> None:
    """The value and the gradients, by every variable that it is made of."""
    value, gradients = by_torch(snippet.text, snippet.at)
    answer = Function(snippet.text).vjp(at=snippet.at, v="ones" if value.dim() else None, dtype="float64", check=False)
    np.testing.assert_allclose(answer.value, value.numpy(), rtol=1e-12)
    for name, gradient in gradients.items():
        found = answer.vjp.get(name, np.zeros(gradient.shape))
        np.testing.assert_allclose(found, gradient.numpy(), rtol=1e-9, atol=1e-14, err_msg=name)

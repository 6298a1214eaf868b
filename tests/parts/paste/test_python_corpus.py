"""Plain Python, read without running any, gives what Python and torch give.

The snippets stand by construct in `corpus`, one file a group, each behind a line with the values of its variables.
What one gives is its last function where it ends with a definition, else its last expression, else what it assigns
last.
"""

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from tests.parts.paste.pasted import run_by_torch


def snippets() -> list[Any]:
    """Each snippet with the values of its variables, for `parametrize`."""
    found = list[Any]()
    for file in sorted((Path(__file__).parent / "corpus").glob("*.txt")):
        for block in file.read_text(encoding="utf-8").split("\n#: ")[1:]:
            values, _, text = block.partition("\n")
            pairs = (pair.partition(" = ") for pair in values.split("; ") if pair)
            at = {name: ast.literal_eval(value) for name, _, value in pairs}
            found.append(pytest.param(text.strip("\n"), at, id=f"{file.stem}-{len(found)}"))
    return found


def by_torch(text: str, at: dict[str, object]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The value of a text where Python runs it, and the gradient of its sum by each variable."""
    leaves = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in at.items()}
    result = run_by_torch(text.replace("@torch.jit.script\n", ""), torch.float64, **leaves)["result"]
    result.sum().backward()
    return result.detach(), {n: torch.zeros_like(x) if x.grad is None else x.grad for n, x in leaves.items()}


@pytest.mark.parametrize(("text", "at"), snippets())
@pytest.mark.one_in(4)
def test_python_is_read_as_it_runs(text: str, at: dict[str, Any]) -> None:
    """The value and the gradients, by every variable that it is made of."""
    value, gradients = by_torch(text, at)
    answer = Function(text).vjp(at=at, v="ones" if value.dim() else None, dtype="float64", check=False)
    np.testing.assert_allclose(answer.value, value.numpy(), rtol=1e-12)
    for name, gradient in gradients.items():
        found = answer.vjp.get(name, np.zeros(gradient.shape))
        np.testing.assert_allclose(found, gradient.numpy(), rtol=1e-9, atol=1e-14, err_msg=name)

"""Code as people write it is recorded, and its gradients are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradcli.recording.plain_functions import record
from tests.recording.pieces import P
from tests.recording.running import run_by_python

UNCHECKED = {"knn"}
"""Where a distance of 0 keeps the check from deciding."""


@pytest.mark.parametrize(("function", "args"), P, ids=[function.__name__ for function, _ in P])
def test_a_piece_has_the_numbers_of_torch_and_agrees(
    function: Callable[..., Any], args: tuple[torch.Tensor, ...]
) -> None:
    """As Python runs it, with each argument as a leaf."""
    state = torch.get_rng_state()
    asked = record(function, *args)
    answer = asked.vjp(v="ones")
    torch.set_rng_state(state)
    y, leaves = run_by_python(function, *args)
    grads = torch.autograd.grad(y.sum(), leaves, materialize_grads=True)
    for name, grad in zip(asked.parameters, grads, strict=True):
        torch.testing.assert_close(torch.from_numpy(answer.vjp[name]), grad, rtol=1e-12, atol=1e-12)
    assert answer.check is not None
    assert answer.check.verdict == ("unchecked" if function.__name__ in UNCHECKED else "agree"), answer.check

"""Hooks that change gradients make the numbers disagree; those that look change nothing."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradcli.running.plain_functions import record
from tests.checks import check_of

X = torch.tensor([0.5, 1.5, -0.7], dtype=torch.float64)


def of_tensor(hook: Callable[..., Any]) -> Callable[..., Any]:
    def loss(x: torch.Tensor) -> torch.Tensor:
        y = x**2
        if y.requires_grad:
            y.register_hook(hook)  # type: ignore[no-untyped-call]
        return (x * y).sum()

    return loss


def of_module(hook: Callable[..., Any]) -> Callable[..., Any]:
    layer = torch.nn.Linear(3, 2).double()
    layer.register_full_backward_hook(hook)
    return torch.nn.Sequential(layer, torch.nn.Tanh())


@pytest.mark.parametrize(
    ("function", "verdict"),
    [
        (of_tensor(lambda gradient: 2 * gradient), "disagree"),
        (of_tensor(lambda gradient: None), "agree"),
        (of_module(lambda module, gradients, _: (2 * gradients[0],)), "disagree"),
        (of_module(lambda module, gradients, _: None), "agree"),
    ],
)
def test_a_hook_counts_where_it_changes_a_gradient(function: Callable[..., Any], verdict: str) -> None:
    """Registered on a tensor or a module."""
    assert check_of(record(function, X).vjp(v="ones")).verdict == verdict

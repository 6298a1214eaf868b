"""Hooks that change gradients make the numbers disagree; those that look change nothing."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradcli.parts.running.plain_functions import record
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


def named_hook(gradient: torch.Tensor) -> torch.Tensor:
    return gradient.clamp(max=0.1)


def in_place(gradient: torch.Tensor) -> None:
    gradient.mul_(3)


def of_node(hook: Callable[..., Any]) -> Callable[..., Any]:
    def loss(x: torch.Tensor) -> torch.Tensor:
        y = x**2
        if y.grad_fn is not None:
            y.grad_fn.register_hook(hook)
        return (x * y).sum()

    return loss


def with_another_that_looks(x: torch.Tensor) -> torch.Tensor:
    y = x**2
    if y.requires_grad:
        y.register_hook(lambda gradient: gradient)  # type: ignore[no-untyped-call]
        y.register_hook(named_hook)  # type: ignore[no-untyped-call]
    return (x * y).sum()


HERE = "(test_hooks.py, line "


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (of_tensor(lambda gradient: 2 * gradient), f"<lambda> {HERE}"),
        (of_tensor(named_hook), f"named_hook {HERE}{named_hook.__code__.co_firstlineno})"),
        (of_tensor(in_place), f"in_place {HERE}{in_place.__code__.co_firstlineno})"),
        (with_another_that_looks, f"the hook named_hook {HERE}{named_hook.__code__.co_firstlineno}) changed"),
        (of_node(lambda given, _: (2 * given[0],)), f"<lambda> {HERE}"),
        (of_module(lambda module, gradients, _: (2 * gradients[0],)), f"<lambda> {HERE}"),
    ],
    ids=["lambda", "named", "in place", "one of two", "of a node", "of a module"],
)
def test_a_hook_that_changes_a_gradient_is_named_with_its_line(function: Callable[..., Any], said: str) -> None:
    """And no other one, nor one that gives back what it was given."""
    found = check_of(record(function, X).vjp(v="ones"))
    assert found.verdict == "disagree"
    (note,) = {one.note for one in found.findings if one.verdict == "disagree"}
    assert note.startswith("the hook ")
    assert said in note
    assert note.endswith(") changed the gradient")

"""Hooks that change gradients: the numbers disagree, and the note names the hook; those that look change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradcli.running.plain_functions import record
from tests.checks import check_of

X = torch.tensor([0.5, 1.5, -0.7], dtype=torch.float64)


def doubled(gradient: torch.Tensor) -> torch.Tensor:
    return 2 * gradient


def doubled_in_place(gradient: torch.Tensor) -> None:
    gradient.mul_(2)


def doubled_of_node(*gradients: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor]:
    return (2 * gradients[0][0],)


def doubled_of_module(module: torch.nn.Module, *gradients: Any) -> tuple[torch.Tensor, ...]:
    return tuple(2 * one for one in gradients[0])


def seen(*given: Any) -> None:
    assert given


def with_hook(register: Callable[[Any], Any], *, of_node: bool = False, is_leaf: bool = False) -> Callable[..., Any]:
    """A sum of squares that registers a hook on what it computes, on its node, or on what it is given."""

    def loss(x: torch.Tensor) -> torch.Tensor:
        y = x if is_leaf else x**2
        if y.requires_grad:
            register(y.grad_fn if of_node else y)
        return ((x if is_leaf else 1) * y).sum()

    return loss


def module_with_hook(register: Callable[[Any], Any]) -> torch.nn.Module:
    """A layer with a hook, in a module."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2).double()
    register(layer)
    return torch.nn.Sequential(layer, torch.nn.Tanh())


REGISTERED: dict[str, tuple[Callable[[Callable[..., Any]], Any], Callable[..., Any]]] = {
    "tensor": (lambda hook: with_hook(lambda y: y.register_hook(hook)), doubled),
    "tensor in place": (lambda hook: with_hook(lambda y: y.register_hook(hook)), doubled_in_place),
    "leaf": (lambda hook: with_hook(lambda x: x.register_hook(hook), is_leaf=True), doubled),
    "node": (lambda hook: with_hook(lambda node: node.register_hook(hook), of_node=True), doubled_of_node),
    "node before": (lambda hook: with_hook(lambda node: node.register_prehook(hook), of_node=True), doubled_of_node),
    "module": (lambda hook: module_with_hook(lambda one: one.register_full_backward_hook(hook)), doubled_of_module),
    "module before": (
        lambda hook: module_with_hook(lambda one: one.register_full_backward_pre_hook(hook)),
        doubled_of_module,
    ),
    "parameter": (lambda hook: module_with_hook(lambda one: one.weight.register_hook(hook)), doubled),
}
"""What makes a function with a hook, and a hook that changes its gradients."""


def variables(function: Any) -> list[str] | None:
    """All that a function is differentiated by: the weights of a module too."""
    return ["input", "layer_0.weight", "layer_0.bias"] if isinstance(function, torch.nn.Module) else None


@pytest.mark.parametrize(("registered", "hook"), REGISTERED.values(), ids=REGISTERED)
def test_a_hook_that_changes_gradients_is_named_with_its_line(
    registered: Callable[..., Any], hook: Callable[..., Any]
) -> None:
    """Whatever it is registered on: the verdict is on the numbers, and the note says what they went through."""
    function = registered(hook)
    check = check_of(record(function, X).vjp(v="ones", wrt=variables(function)))
    assert check.verdict == "disagree"
    line = hook.__code__.co_firstlineno
    said = f"in the backward pass the gradient goes through {hook.__name__} (test_hooks.py, line {line})"
    assert {one.note for one in check.findings if one.verdict == "disagree"} == {said}


@pytest.mark.parametrize("name", [*REGISTERED, "several"])
def test_a_hook_that_only_looks_changes_no_verdict(name: str) -> None:
    """It is called, and gives nothing."""
    if name == "several":
        function = with_hook(lambda y: torch.autograd.graph.register_multi_grad_hook((y, 2 * y), seen))
    else:
        function = REGISTERED[name][0](seen)
    check = check_of(record(function, X).vjp(v="ones", wrt=variables(function)))
    assert (check.verdict, check.findings) == ("agree", ())


def test_a_hook_that_looks_is_not_blamed_for_one_that_changes() -> None:
    """Only what gives a gradient is named."""

    def register(y: Any) -> None:
        y.register_hook(seen)
        y.register_hook(doubled)

    check = check_of(record(with_hook(register), X).vjp())
    assert "doubled (test_hooks.py" in check.findings[0].note
    assert "seen" not in check.findings[0].note

"""Functions run by Python alone, to compare with what is recorded of them."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from gradcli.parts.running.plain_functions import record
from tests.checks import check_of


def run_by_python(function: Callable[..., Any], *given: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The value of a function, with leaves that require gradients, in the first dtype in which it gives that dtype."""
    state = torch.get_rng_state()
    own = [one.dtype for one in given if one.is_floating_point()]
    for dtype in dict.fromkeys((*own, torch.float64, torch.float32)):
        torch.set_rng_state(state)
        leaves = [one.to(dtype, copy=True).requires_grad_() if one.is_floating_point() else one for one in given]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of numbers that leave torch
                found = function(*leaves)
        except RuntimeError:  # two dtypes meet
            continue
        if isinstance(found, tuple):
            alike = len({one.shape for one in found}) == 1
            found = torch.stack(found) if alike else torch.cat([one.reshape(-1) for one in found])
        if found.dtype is dtype:
            return found, leaves
    raise AssertionError("it gives another dtype than it is given")


def require_as_run(
    function: Callable[..., Any], *given: torch.Tensor, verdict: str = "agree", rtol: float = 0.0
) -> tuple[torch.Tensor, list[torch.Tensor], list[torch.Tensor]]:
    """Require of a recorded function the numbers that Python has alone, and a verdict; return v, leaves and gradients.

    Whoever draws: the generators are where they were, and a recording draws what Python does.
    """
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    y, leaves = run_by_python(function, *given)
    v = torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype).reshape(y.shape)
    gradients = torch.autograd.grad(y, leaves, v, materialize_grads=True)
    _draw_from(states)
    asked = record(function, *given)
    _draw_from(states)
    answer = asked.vjp(v=v.numpy())
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[2]
    np.testing.assert_allclose(answer.value, y.detach().numpy(), rtol=rtol, atol=rtol)
    for name, gradient in zip(asked.parameters, gradients, strict=False):
        np.testing.assert_allclose(answer.vjp[name], gradient.numpy(), rtol=rtol, atol=rtol, err_msg=name)
    assert check_of(answer).verdict == verdict, check_of(answer)
    _draw_from(states)
    return v, leaves, list(gradients)


def _draw_from(states: tuple[torch.Tensor, Any, Any]) -> None:
    torch.set_rng_state(states[0])
    np.random.set_state(states[1])
    random.setstate(states[2])

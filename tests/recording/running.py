"""Functions run by Python alone, to compare with."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch


def run_by_python(function: Callable[..., Any], *given: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """What a function gives, with leaves that require gradients, in the first dtype in which it gives that dtype."""
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

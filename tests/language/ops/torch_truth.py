"""What torch itself says: its function, called by hand, at random points, and its gradients of a weighted sum."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function

Case = tuple[str, Callable[..., Any], Mapping[str, Any]]
"""The text, the same in torch, and of each variable the shape of random numbers, or its numbers."""


def require(case: Case) -> None:
    """Value and gradients of a case, and that the other readings agree."""
    text, plain, given = case
    draw = np.random.default_rng(len(text))
    at = {
        name: draw.uniform(0.2, 1.8, shape) * draw.choice([-1, 1], shape)
        if isinstance(shape, tuple)
        else np.array(shape)
        for name, shape in given.items()
    }
    tensors = {name: torch.tensor(array, dtype=torch.float64, requires_grad=True) for name, array in at.items()}
    whole = [name for name, shape in given.items() if isinstance(shape, list)]
    y = plain(**{name: t.detach().long() if name in whole else t for name, t in tensors.items()})
    assert set(inspect.signature(plain).parameters) == set(given)
    wrt = [name for name in given if name not in whole]
    v = draw.uniform(0.5, 1.5, tuple(y.shape))
    answer = Function(text).vjp({name: at[name].astype(float) for name in at}, v=v, wrt=wrt)
    np.testing.assert_allclose(answer.value, y.detach().numpy(), rtol=1e-12, atol=1e-14)
    assert answer.check is not None
    assert answer.check.verdict == "agree", answer.check.findings
    found = torch.autograd.grad(y, [tensors[name] for name in wrt], torch.tensor(v), allow_unused=True)
    for name, gradient in zip(wrt, found, strict=True):
        expected = np.zeros(at[name].shape) if gradient is None else gradient.numpy()
        np.testing.assert_allclose(answer.vjp[name], expected, rtol=1e-10, atol=1e-13)


def arguments(cases: list[Case]) -> list[Any]:
    """Each case, for `parametrize`."""
    return [pytest.param(case, id=case[0]) for case in cases]

"""Torch computes the function as typed: the same numbers as the same code in plain torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from gradcli.autodiff import derivatives
from gradcli.autodiff.run import run
from gradcli.language.grammar import parse

X = np.array([[0.3, -1.2, 2.5], [0.7, 1.1, -0.4]])
W = np.array([1.5, -0.5, 2.0])

PLAIN: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("x**2 - 1/w", lambda x, w: x**2 - 1 / w),
    ("(x*x*w).sum(1)", lambda x, w: (x * x * w).sum(1)),
    ("x@w + x.T[0, 0]", lambda x, w: x @ w + x.T[0, 0]),
    ("torch.stack([x.sum(), (w**2).mean()])", lambda x, w: torch.stack([x.sum(), (w**2).mean()])),
    ("x[:, ::2].view(-1)[1:]*w", lambda x, w: x[:, ::2].reshape(-1)[1:] * w),
    ("maximum(x, w)*sigmoid(x) + relu(w)", lambda x, w: torch.maximum(x, w) * torch.sigmoid(x) + torch.relu(w)),
    ("2^x - x/3 + clamp(x, 0, 1) + 0*w", lambda x, w: 2**x - x / 3 + torch.clamp(x, 0, 1) + 0 * w),
    ("x/x + (x - x)*w", lambda x, w: x / x + (x - x) * w),
    ("mean(x, dim=(0, 1), keepdim=True)*w[None]", lambda x, w: x.mean((0, 1), keepdim=True) * w[None]),
    (
        "transpose(x, 0, 1)[..., 0] + hypot(w, 2)",
        lambda x, w: x.transpose(0, 1)[..., 0] + torch.hypot(w, torch.tensor(2.0, dtype=w.dtype)),
    ),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("text", "plain"), PLAIN, ids=[text for text, _ in PLAIN])
def test_value_and_gradient_are_bitwise_those_of_plain_torch(
    text: str, plain: Callable[[Any, Any], Any], dtype: str
) -> None:
    """Not close: equal."""
    forward = run(parse(text), {"x": X, "w": W}, ("x", "w"), dtype)
    leaves = [torch.tensor(a, dtype=getattr(torch, dtype), requires_grad=True) for a in (X, W)]
    y = plain(*leaves)
    np.testing.assert_array_equal(derivatives.value(forward), y.detach().numpy())
    v = np.arange(1.0, y.numel() + 1).reshape(tuple(y.shape))
    gradients = torch.autograd.grad(y, leaves, torch.tensor(v, dtype=y.dtype), allow_unused=True)
    found = derivatives.vjp(forward, v.astype(dtype), ("x", "w"))
    for name, expected in zip(("x", "w"), gradients, strict=True):
        np.testing.assert_array_equal(found[name], 0 if expected is None else expected.numpy())


def test_an_operation_without_a_torch_function_runs_as_its_meaning() -> None:
    """The secant is 1/cos."""
    forward = run(parse("sec(x)"), {"x": W}, ("x",), "float64")
    np.testing.assert_allclose(derivatives.value(forward), 1 / np.cos(W), rtol=1e-15)


def test_integers_beyond_64_bits_are_floats() -> None:
    """Torch takes no more."""
    forward = run(parse("x*10**30"), {"x": np.array(2.0)}, ("x",), "float64")
    assert float(derivatives.value(forward)) == 2e30


def test_only_the_variables_asked_for_require_a_gradient() -> None:
    """The others are constants."""
    forward = run(parse("x*w"), {"x": W, "w": W}, ("w",), "float64")
    assert [forward.leaves[name].requires_grad for name in ("x", "w")] == [False, True]

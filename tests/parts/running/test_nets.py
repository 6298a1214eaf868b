"""Whole nets, whose bounds grow with each layer: each entry of a gradient is decided, and none that is wrong passes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

import gradcli
from gradcli import Function
from tests.examples import all_but, part
from tests.parts.running.nets import GPT, ResNet, UNet, ViT

Case = tuple[Callable[[Tensor], Tensor], Tensor]


def _of(net: Any, dtype: torch.dtype) -> Any:
    return net.to(dtype).eval()


def _vit(dtype: torch.dtype, **sizes: Any) -> Case:
    net = _of(ViT(**sizes), dtype)
    return lambda x: cross_entropy(net(x), torch.tensor([3])), torch.randn(1, 3, 8, 8).to(dtype)


def _resnet(dtype: torch.dtype, size: int, **sizes: Any) -> Case:
    net = _of(ResNet(**sizes), dtype)
    return lambda x: cross_entropy(net(x), torch.tensor([3])), torch.randn(1, 3, size, size).to(dtype)


def _unet(dtype: torch.dtype, size: int, **sizes: Any) -> Case:
    net = _of(UNet(**sizes), dtype)
    return lambda x: net(x).square().mean(), torch.randn(1, 1, size, size).to(dtype)


def _gpt(dtype: torch.dtype, length: int, **sizes: Any) -> Case:
    net = _of(GPT(block=length, **sizes), dtype)
    ids, target = torch.randint(0, 50, (2, length))
    return lambda x: cross_entropy(net(x)[0], target), net.embedded(ids[None]).detach()


SMALL: dict[str, Callable[[torch.dtype], Case]] = {
    "a vision transformer": lambda dtype: _vit(dtype, dim=16, heads=2),
    "a residual net": lambda dtype: _resnet(dtype, 16, widths=(4, 8), blocks=2),
    "a U-Net": lambda dtype: _unet(dtype, 8, base=4),
    "a transformer of tokens": lambda dtype: _gpt(dtype, 8, dim=16, depth=3, heads=2),
}
LARGE: dict[str, Callable[[torch.dtype], Case]] = {
    "a vision transformer of 2 blocks": _vit,
    "ResNet-18": lambda dtype: _resnet(dtype, 32),
    "a U-Net of 16 by 16": lambda dtype: _unet(dtype, 16),
    "a transformer of 4 layers of 64": lambda dtype: _gpt(dtype, 16),
}


@pytest.mark.parametrize("name", all_but(SMALL, 2))
@pytest.mark.one_in(4)
def test_every_entry_of_the_gradient_of_a_small_net_is_proved(name: str) -> None:
    """In float64 and by the usual budget."""
    torch.manual_seed(0)
    check = gradcli.check(*SMALL[name](torch.float64)).check
    assert check is not None
    assert (check.verdict, check.proven, check.checked) == ("agree", True, check.entries)


@pytest.mark.thorough
@pytest.mark.parametrize("name", part(SMALL, 0, of=4))
def test_every_entry_of_the_gradient_of_a_small_net_is_decided_in_float32(name: str) -> None:
    """Digits are lost in entries that are small beside the largest, which passes."""
    torch.manual_seed(0)
    answer = gradcli.check(*SMALL[name](torch.float32))
    assert answer.check is not None
    assert (answer.passed, answer.check.undecided) == (True, 0)
    assert answer.check.verdict in ("agree", "inaccurate")


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", LARGE)
def test_every_entry_of_the_gradient_of_a_net_is_decided_within_a_minute(name: str, dtype: torch.dtype) -> None:
    """With a budget, as one who waits for it gives."""
    torch.manual_seed(0)
    answer = gradcli.check(*LARGE[name](dtype), budget=240)  # of a machine that does other things too
    assert answer.check is not None
    assert (answer.passed, answer.check.undecided) == (True, 0)


class _Scaled(torch.autograd.Function):
    """The identity, whose backward is off by one in a thousand."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0] * 1.001


@pytest.mark.parametrize("dtype", [torch.float64, pytest.param(torch.float32, marks=pytest.mark.thorough)])
@pytest.mark.thorough
def test_a_wrong_backward_within_a_net_does_not_pass(dtype: torch.dtype) -> None:
    """Though the bounds of floats are so wide behind so many layers that they contain its numbers."""
    torch.manual_seed(0)
    net, x = SMALL["a vision transformer"](dtype)
    with pytest.raises(AssertionError, match="torch"):
        gradcli.check(lambda x: net(_Scaled.apply(x)), x)  # type: ignore[no-untyped-call]


def test_what_cancellation_leaves_of_zeros_agrees() -> None:
    """A bias of keys shifts all scores of a query alike, so that no attention depends on it."""
    torch.manual_seed(0)
    q, k, v, w = (torch.randn(24, 16, dtype=torch.float64) for _ in range(4))
    bias = torch.randn(16, dtype=torch.float64)

    def attended(bias: Tensor, q: Tensor) -> Tensor:
        x = q
        for _ in range(8):
            x = x + scaled_dot_product_attention(torch.tanh(x), k + bias, v)
        return (x * w).sum()

    assert gradcli.check(attended, bias, q).passed


def test_masked_scores_are_proved() -> None:
    """An infinity that a mask adds stays what it is, whatever it is added to."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(24, 16, dtype=torch.float64) for _ in range(3))
    mask = torch.full((24, 24), -torch.inf, dtype=torch.float64).triu(1)
    check = gradcli.check(lambda q: (((q @ k.T / 4 + mask).softmax(-1) @ v) ** 2).sum(), q).check
    assert check is not None
    assert (check.verdict, check.proven, check.checked) == ("agree", True, check.entries)


def test_one_entry_of_many_is_not_checked() -> None:
    """Where one of 56 was decided, 55 are open."""
    answer = Function("sum(eigenvectors(X@X.T)[:, 0]**3)").check({"X": np.random.default_rng(0).normal(size=(7, 8))})
    assert answer.check is not None
    assert (answer.check.verdict, answer.passed) == ("unchecked", False)
    assert answer.check.undecided + answer.check.checked == 56


def test_a_budget_is_a_number_of_seconds() -> None:
    """Neither negative nor endless; an hour is one, and a thousandth of a second proves nothing of a net."""
    for seconds in (0, -1, float("inf"), float("nan")):
        with pytest.raises(gradcli.GradcliError, match="no number that is positive"):
            gradcli.check(lambda x: x**2, torch.tensor(2.0), budget=seconds)
    assert gradcli.check(lambda x: x**2, torch.tensor(2.0), budget=3600).passed
    torch.manual_seed(0)
    with pytest.raises(AssertionError, match=r"time limit of 0\.001 seconds"):
        gradcli.check(*SMALL["a vision transformer"](torch.float64), budget=0.001)


def _with_derivatives(x: Tensor) -> Tensor:
    """Build the matrix of a Gaussian process with its derivatives, line by line as gpytorch's `RBFKernelGrad` does."""
    (n, d), length = x.shape, torch.nn.functional.softplus(torch.zeros(1, 1, dtype=x.dtype))
    found = torch.zeros(n * (d + 1), n * (d + 1), dtype=x.dtype)
    scaled = x / length
    outer = ((scaled.view(n, 1, d) - scaled.view(1, n, d)) / length.unsqueeze(-2)).transpose(-1, -2).contiguous()
    centred = scaled - scaled.mean(-2, keepdim=True)
    norm = centred.pow(2).sum(-1, keepdim=True)
    left = torch.cat([-2.0 * centred, norm, torch.ones_like(norm)], -1)
    right = torch.cat([centred, torch.ones_like(norm), norm], -1)
    kernel = left.matmul(right.transpose(-2, -1)).clamp_min(0).div(-2).exp()
    found[:n, :n] = kernel
    across = outer.view(n, n * d)
    found[:n, n:] = across * kernel.repeat([1, d])
    below = outer.transpose(-1, -3).reshape(n, n * d).transpose(-1, -2)
    found[n:, :n] = -below * kernel.repeat([d, 1])
    both = across.repeat([d, 1]) * below.repeat([1, d])
    unit = torch.kron(torch.eye(d, dtype=x.dtype) / length**2, torch.ones(n, n, dtype=x.dtype))
    found[n:, n:] = (unit - both) * kernel.repeat([d, d])
    order = torch.arange(n * (d + 1)).view(d + 1, n).t().reshape(n * (d + 1))
    return found[order, :][:, order]


@pytest.mark.thorough
def test_a_formula_ends_with_the_budget() -> None:
    """That of a matrix written in blocks takes SymPy a minute, whoever waits for the numbers."""
    torch.manual_seed(0)
    start = time.thread_time()
    answer = gradcli.check(_with_derivatives, torch.randn(3, 2, dtype=torch.float64), allow=["unchecked"], budget=6)
    assert time.thread_time() - start < 12
    assert "time limit of 6 seconds" in answer.symbolic_omitted["x"]


@pytest.mark.thorough
def test_ties_of_hundreds_are_looked_at_in_time() -> None:
    """Where the ratio of a policy to an old one is 1, both sides of the smaller are the same."""
    torch.manual_seed(0)
    old, advantage = torch.randn(400, dtype=torch.float64) / 10, torch.randn(400, dtype=torch.float64)

    def loss(new: Tensor) -> Tensor:
        ratio = torch.exp(new - old)
        return -torch.min(ratio * advantage, torch.clamp(ratio, 0.8, 1.2) * advantage).mean()

    check = gradcli.check(loss, old.clone()).check
    assert check is not None
    assert (check.verdict, check.checked) == ("agree", 400)

"""Whole nets, whose bounds grow with each layer: each entry of a gradient is decided, and none that is wrong passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

import gradcli
from gradcli import Function
from tests.crosscheck.nets import GPT, ResNet, UNet, ViT

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


@pytest.mark.parametrize("name", SMALL)
def test_every_entry_of_the_gradient_of_a_small_net_is_proved(name: str) -> None:
    """In float64 and by the usual budget."""
    torch.manual_seed(0)
    check = gradcli.check(*SMALL[name](torch.float64)).check
    assert check is not None
    assert (check.verdict, check.proven, check.checked) == ("agree", True, check.entries)


@pytest.mark.parametrize("name", SMALL)
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


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_wrong_backward_within_a_net_does_not_pass(dtype: torch.dtype) -> None:
    """Though the bounds of floats are so wide behind so many layers that they contain its numbers."""
    torch.manual_seed(0)
    net, x = SMALL["a vision transformer"](dtype)
    with pytest.raises(AssertionError, match="torch"):
        gradcli.check(lambda x: net(_Scaled.apply(x)), x)  # type: ignore[no-untyped-call]


def test_what_cancellation_leaves_of_zeros_agrees() -> None:
    """A bias of keys shifts all scores of a query alike, so that no attention depends on it."""
    torch.manual_seed(0)
    q, k, v, w = (torch.randn(40, 16, dtype=torch.float64) for _ in range(4))
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

"""Gradients in a test suite: a failing test shows the table of what is wrong."""

from typing import Any

import pytest
import torch
from torch.nn import functional

import gradcli


class Swish(torch.autograd.Function):
    """x*sigmoid(x), whose backward saves one tensor in place of three."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """The value."""
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
        """The vector-Jacobian product."""
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return v * s * (1 + x * (1 - s))


def huber(x: torch.Tensor) -> torch.Tensor:
    """A loss with two kinks in its second derivative, and none in its first."""
    return torch.where(x.abs() < 1, 0.5 * x**2, x.abs() - 0.5).sum()


@pytest.mark.parametrize("shape", [(), (1,), (3, 2)])
def test_a_custom_backward_is_the_derivative_of_its_forward(shape: tuple[int, ...]) -> None:
    """At this point, and wherever else gradcli looks for mistakes."""
    gradcli.check(Swish.apply, torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64))


def test_a_network_in_float32_passes() -> None:
    """Digits that rounding cost in entries too small to matter are shown, and fail only with strict=True."""
    torch.manual_seed(2)
    net = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    target = torch.randint(2, (8,))
    gradcli.check(lambda x: functional.cross_entropy(net(x), target), torch.randn(8, 10))


def test_a_kink_that_is_meant_is_allowed() -> None:
    """Torch takes 0 of the slopes from -1 to 1 of abs at 0."""
    x = torch.tensor([0.0, 2.0], dtype=torch.float64)
    gradcli.check(lambda x: huber(x) + x.abs().sum(), x, allow=["kink"])


def test_a_kernel_in_low_precision_is_as_accurate_as_torch() -> None:
    """Its errors are at most twice those of eager torch, by one enclosure of the truth."""
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(0)).bfloat16()
    gradcli.check(Swish.apply, x, versus=functional.silu)

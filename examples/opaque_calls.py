"""Calls that gradcli cannot read: their derivatives are measured, by calling them.

gradcli check examples/opaque_calls.py::energy --at 0.5,1.5
gradcli check examples/opaque_calls.py::wrong_energy --at 0.5,1.5
gradcli check examples/opaque_calls.py::rounded --at 0.5,1.5
gradcli check examples/opaque_calls.py::kernel --at 0.5,1.5
"""

import numpy as np
import torch
from torch import Tensor


class Morse(torch.autograd.Function):
    """A potential in NumPy, (1 - exp(-x))², with its derivative by hand."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Leave torch."""
        ctx.save_for_backward(x)
        return torch.from_numpy((1 - np.exp(-x.detach().numpy())) ** 2)

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        """Multiply by the derivative."""
        (x,) = ctx.saved_tensors
        return grad * 2 * (1 - torch.exp(-x)) * torch.exp(-x)


class WrongMorse(Morse):
    """The same with a derivative that is off by a thousandth."""

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        """Multiply by almost the derivative."""
        return 1.001 * Morse.backward(ctx, grad)


def energy(x: Tensor) -> Tensor:
    """Add up the energies of bonds that are stretched."""
    return Morse.apply(x - x.mean()).sum() + (x**2).sum()


def wrong_energy(x: Tensor) -> Tensor:
    """Add up the same with the wrong derivative."""
    return WrongMorse.apply(x - x.mean()).sum() + (x**2).sum()


@torch.library.custom_op("examples::smooth_floor", mutates_args=())
def smooth_floor(x: Tensor) -> Tensor:
    """Round down, smoothly."""
    found = x.detach().numpy()
    return torch.from_numpy(found - np.sin(2 * np.pi * found) / (2 * np.pi))


@smooth_floor.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


def _backward(ctx, grad: Tensor) -> Tensor:
    (x,) = ctx.saved_tensors
    return grad * (1 - torch.cos(2 * torch.pi * x))


def _save(ctx, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


smooth_floor.register_autograd(_backward, setup_context=_save)


def rounded(x: Tensor) -> Tensor:
    """Add up numbers that are rounded down, smoothly."""
    return smooth_floor(x).sum()


def kernel_backward(x: Tensor, grad: Tensor) -> Tensor:
    """Compute the backward pass of a kernel, x·sigmoid(x), as it would be written for a GPU."""
    s = torch.sigmoid(x)
    return grad * s * (1 + x * (1 - s))


class Kernel(torch.autograd.Function):
    """The kernel's backward pass next to a forward in torch, which says what it is to be the derivative of."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Compute in torch."""
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        """Run the kernel."""
        return kernel_backward(*ctx.saved_tensors, grad)


kernel = Kernel.apply

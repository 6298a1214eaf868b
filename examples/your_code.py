"""Functions of your own: wrong gradients that gradcheck passes, a model, and a graph that is cut."""

from typing import Any

import torch

import gradcli


class Tiny(torch.autograd.Function):
    """1e-5*x, whose gradient somebody took for 0."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """The value."""
        return 1e-5 * x

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
        """The vector-Jacobian product."""
        return torch.zeros_like(v)


class Far(torch.autograd.Function):
    """x, with a gradient that is wrong where x is large."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """The value."""
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
        """The vector-Jacobian product."""
        (x,) = ctx.saved_tensors
        return torch.where(x > 100, 2 * v, v)


def tiny(x: torch.Tensor) -> torch.Tensor:
    """A loss in which it is used."""
    return (3 * Tiny.apply(x)).sum()


torch.manual_seed(0)
layer = torch.nn.Linear(2, 2).double()


def loss(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Mean squares of a layer, with a branch."""
    y = torch.tanh(layer(x))
    if y.sum() > 0:
        y = 2 * y
    return ((y - target) ** 2).mean()


def weighted(x: torch.Tensor) -> torch.Tensor:
    """A sum of squares, one factor of which somebody took out of the graph."""
    weights = x.detach()
    return (weights * x).sum()


class Cosine(torch.autograd.Function):
    """The cosine, with a right backward, and a jvp in which a sign was forgotten."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """The value."""
        ctx.sine = torch.sin(x)
        return torch.cos(x)

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
        """The vector-Jacobian product, by a tensor that has no graph."""
        return -v * ctx.sine

    @staticmethod
    def jvp(ctx: Any, u: torch.Tensor) -> torch.Tensor:
        """The Jacobian-vector product of forward mode."""
        return u * ctx.sine


def why(function: Any, x: torch.Tensor) -> str:
    """Why `gradcli.check` fails a test."""
    try:
        gradcli.check(function, x)
    except AssertionError as error:
        return " ".join(str(error).partition("did not pass: ")[2].split())
    return ""


if __name__ == "__main__":
    x = torch.tensor([0.0, 2.0], dtype=torch.float64, requires_grad=True)
    for function in (Tiny.apply, Far.apply, torch.abs):
        print(torch.autograd.gradcheck(function, x), why(function, x))
    f = gradcli.record(loss, torch.tensor([0.5, -1.0], dtype=torch.float64), torch.tensor([1.0, 0.0]).double())
    print(f.grad(wrt=["layer.bias"]).grad, f.check().check.verdict)

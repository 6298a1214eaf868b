"""Custom functions whose backward is differentiated again, right and wrong ones, and what they are applied to."""

from typing import Any, ClassVar

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from tests.parts.running.functions_with_jvp import Cube, Product, SineAndCosine, Square, Turned, first_sorted, scaled
from tests.parts.running.wrong_backwards import W, X


def sine(name: str, backward: Any, kept: Any = lambda x: x) -> Any:
    """A sine that saves something of x, and has this backward."""

    def forward(ctx, x):
        ctx.save_for_backward(kept(x))
        return x.sin()

    def of_saved(ctx, g):
        return backward(*ctx.saved_tensors, g)

    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(of_saved)})


class Exponential(Function):
    """A function that saves its value, which has a graph."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Wave(Function):
    """A function that returns what it computed for its backward."""

    @staticmethod
    def forward(ctx, x):
        sine, cosine = x.sin(), x.cos()
        ctx.save_for_backward(sine, cosine)
        return sine, cosine

    @staticmethod
    def backward(ctx, g, h):
        sine, cosine = ctx.saved_tensors
        return g * cosine - h * sine


class BySquare(Function):
    """A function whose backward applies another one."""

    inner: ClassVar[Any] = Square

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @classmethod
    def of_inner(cls, x, g):
        return 3 * cls.inner.apply(x) * g

    @staticmethod
    def backward(ctx, g):
        return BySquare.of_inner(*ctx.saved_tensors, g)


class Attribute(Function):
    """A function that keeps what has no graph as an attribute."""

    @staticmethod
    def forward(ctx, x):
        ctx.foo = x.cos()
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.foo


class Once(Function):
    """A function that says of itself that it has no second derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos()


class OneFactor(Product):
    """A product, of one factor of which its backward has no graph."""

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w.detach(), g * x


class OneOutput(SineAndCosine):
    """Two outputs, of one of which its backward has no graph."""

    @staticmethod
    def backward(ctx, g, h):
        sine, cosine = ctx.saved_tensors
        return g * cosine.detach() - h * sine


class SquareOnce(Square):
    """A square whose backward is wrong."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


class ByWrongSquare(Function):
    """A function whose backward applies one with a wrong backward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * SquareOnce.apply(x) * g


def without_grad(x, g):
    with torch.no_grad():
        return g * x.cos()


def fresh(x, g):
    return g * torch.tensor(x.tolist(), dtype=x.dtype).cos()


def under_attribute(x, w):
    return torch.tanh(Attribute.apply(x * w)).sum()


RIGHT: list[tuple[Any, tuple[Any, ...]]] = [
    (sine("Sine", lambda x, g: g * x.cos()).apply, (X,)),
    (Exponential.apply, (X,)),
    (Wave.apply, (X,)),
    (Cube.apply, (X,)),
    (Product.apply, (X, W)),
    (Product.apply, (X, W[:1])),
    (BySquare.apply, (X,)),
    (Turned.apply, (X,)),
    (first_sorted, (X,)),
    (scaled, (X,)),
    (sine("Linear", lambda x, g: g * torch.func.grad(lambda z: z.sin().sum())(x)).apply, (X,)),
]

NO_GRAPH = "which has no graph"

WRONG: list[tuple[Any, tuple[Any, ...], str]] = [
    (Attribute, (X,), "its result is 0: ctx.foo is computed in its forward, and has no graph"),
    (sine("Saved", lambda c, g: g * c, torch.cos), (X,), NO_GRAPH),
    (Once, (X,), "is once_differentiable, and has no derivative"),
    (OneFactor, (X, W), "is wrong where it is differentiated again"),
    (OneOutput, (X,), "is wrong where it is differentiated again"),
    (sine("Detached", lambda x, g: g * x.detach().cos()), (X,), "its result is 0"),
    (sine("Data", lambda x, g: g * x.data.cos()), (X,), "its result is 0"),
    (sine("NoGrad", without_grad), (X,), "loses the graph of the gradient vector that it is given"),
    (sine("Fresh", fresh), (X,), "its result is 0"),
    (sine("OfV", lambda x, g: g.detach() * x.cos()), (X,), "loses the graph of the gradient vector that it is given"),
    (sine("Doubled", lambda x, g: g * x.cos() * (1 + torch.is_grad_enabled())), (X,), "gives another gradient where"),
    (sine("Halved", lambda x, g: g * (x.cos() + x.cos().detach()) / 2), (X,), "is 0.5 times the second derivative"),
    (ByWrongSquare, (X,), "is 0.5 times the second derivative"),
]
"""Each with what it is applied to, and words on it: all have right gradients."""

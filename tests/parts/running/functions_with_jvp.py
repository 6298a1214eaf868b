"""Custom functions with a `jvp`, right and wrong ones, as people write them, and what they are applied to."""

from typing import Any, ClassVar

import torch
from torch.autograd import Function

from tests.parts.running.wrong_backwards import W, X


class Square(Function):
    """The square, by setup_context."""

    generate_vmap_rule: ClassVar[bool] = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return 2 * x * t


class Cube(Function):
    """The cube, whose forward takes ctx, and keeps x as an attribute."""

    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x**3

    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.x**2 * g

    @staticmethod
    def jvp(ctx, t):
        return 3 * ctx.x**2 * t


class Product(Function):
    """A product, whose factors may have one number alone."""

    @staticmethod
    def forward(x, w):
        return x * w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return (g * w).sum_to_size(x.shape), (g * x).sum_to_size(w.shape)

    @staticmethod
    def jvp(ctx, t, s):
        x, w = ctx.saved_tensors
        return t * w + x * s


class SineAndCosine(Function):
    """Two outputs."""

    @staticmethod
    def forward(x):
        return x.sin(), x.cos()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*output)
        ctx.save_for_forward(*output)

    @staticmethod
    def backward(ctx, g, h):
        sine, cosine = ctx.saved_tensors
        return g * cosine - h * sine

    @staticmethod
    def jvp(ctx, t):
        sine, cosine = ctx.saved_tensors
        return t * cosine, -t * sine


class Sorted(Function):
    """An output of whole numbers, which has no derivative."""

    @staticmethod
    def forward(x):
        return torch.sort(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])
        ctx.save_for_forward(output[1])

    @staticmethod
    def backward(ctx, g, _):
        (order,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(-1, order, g)

    @staticmethod
    def jvp(ctx, t):
        (order,) = ctx.saved_tensors
        return t.gather(-1, order), None


class Scaled(Function):
    """A change in place, with a number of Python."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        ctx.mark_dirty(x)
        return x.mul_(k)

    @staticmethod
    def backward(ctx, g):
        return ctx.k * g, None

    @staticmethod
    def jvp(ctx, t, _):
        return t.mul_(ctx.k)


class Turned(Function):
    """A view."""

    @staticmethod
    def forward(ctx, x):
        return x.view(1, -1)

    @staticmethod
    def backward(ctx, g):
        return g.view(-1)

    @staticmethod
    def jvp(ctx, t):
        return t.view(1, -1)


def scaled(x):
    return Scaled.apply(x * 1, 3.0) ** 2


def first_sorted(x):
    return Sorted.apply(x)[0]


def product_of_squares(x, w):
    return Product.apply(Square.apply(x), torch.sin(w)).sum()


def differentiated_inside(x):
    return torch.func.jvp(Square.apply, (x.sin(),), (torch.ones_like(x),))[1]


RIGHT: list[tuple[Any, tuple[Any, ...]]] = [
    (Square.apply, (X,)),
    (Cube.apply, (X,)),
    (Product.apply, (X, W)),
    (Product.apply, (X, W[:1])),
    (SineAndCosine.apply, (X,)),
    (first_sorted, (X,)),
    (scaled, (X,)),
    (Turned.apply, (X,)),
    (product_of_squares, (X, W)),
]


def wrong(name: str, base: type[Function], jvp: Any) -> Any:
    """A function with another `jvp`, which is right in its backward."""
    return type(name, (base,), {"jvp": staticmethod(jvp)})


def of_saved(jvp: Any) -> Any:
    return lambda ctx, *tangents: jvp(*ctx.saved_tensors, *tangents)


class Tripled(Square):
    """The square, with a wrong factor."""

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return 3 * x * t


class Fails(Square):
    """The square, whose jvp raises."""

    @staticmethod
    def jvp(ctx, t):
        raise ValueError("not yet")


WRONG: list[tuple[Any, tuple[Any, ...], str]] = [
    (Tripled, (X,), "its result is 1.5 times the derivative"),
    (wrong("Negative", Square, of_saved(lambda x, t: -2 * x * t)), (X,), "its result has the other sign"),
    (wrong("Ignores", Square, of_saved(lambda x, t: 2 * x)), (X,), "does not multiply by the tangent it is given"),
    (wrong("Absolute", Square, of_saved(lambda x, t: 2 * x * t.abs())), (-X,), "is wrong"),
    (wrong("Constant", Square, of_saved(lambda x, t: torch.zeros_like(t))), (X,), "its result is 0"),
    (wrong("Unchained", Square, of_saved(lambda x, t: t * 1)), (X,), "is wrong"),
    (wrong("OneTangent", Product, of_saved(lambda x, w, t, s: t * w)), (X, W), "is wrong for w: its result is 0"),
    (wrong("Swapped", Product, of_saved(lambda x, w, t, s: t * x + s * w)), (X, W), "is the derivative of w"),
    (wrong("Signs", SineAndCosine, of_saved(lambda s, c, t: (t * c, t * s))), (X,), "is wrong"),
    (wrong("SwappedOutputs", SineAndCosine, of_saved(lambda s, c, t: (-t * s, t * c))), (X,), "is wrong"),
    (wrong("Unsorted", Sorted, lambda ctx, t: (t * 1, None)), (X,), "is wrong"),
    (wrong("InPlace", Scaled, lambda ctx, t, _: t.mul_(1.0)), (X, 3.0), "is wrong"),
    (wrong("TwiceThere", Turned, lambda ctx, t: t.view(1, -1) * 2), (X,), "the jvp is not returning a view"),
    (Fails, (X,), "ValueError: not yet"),
]
"""Each with what it is applied to, and words on it."""

ELSEWHERE: list[tuple[Any, tuple[Any, ...], str]] = [
    (wrong("Large", Square, of_saved(lambda x, t: torch.where(x > 100, t, 2 * x * t))), (X,), "only where x is large"),
    (wrong("NegativeX", Square, of_saved(lambda x, t: 2 * x.abs() * t)), (X.abs(),), "only where x is negative"),
    (wrong("AtZero", Square, of_saved(lambda x, t: t * 2 * x**2 / x)), (X,), "is wrong"),
]
"""The same of those that are right at the point, and wrong elsewhere."""

"""Custom functions whose backward is wrong, each in one way, as people write them; and others that are right.

At the point where the tests apply it, most of the wrong ones give the right gradient.
"""

from typing import Any, ClassVar

import torch
from torch.autograd import Function
from torch.nn.functional import one_hot

X = torch.tensor([0.5, 1.5, -0.7], dtype=torch.float64)
W = torch.tensor([1.2, 0.4, 0.9], dtype=torch.float64)
M = torch.tensor([[0.5, 1.5, -0.7], [0.2, -0.4, 0.9], [1.1, 0.3, -1.6]], dtype=torch.float64)


def custom(name, forward, backward, *, keeps_value=False):
    """Make a custom function whose backward is given the arguments, or the value, and the gradient vectors."""

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*([output] if keeps_value else inputs))

    def of_kept(ctx, *vectors):
        return backward(*ctx.saved_tensors, *vectors)

    parts = {"forward": forward, "setup_context": setup_context, "backward": of_kept}
    return type(name, (Function,), {key: staticmethod(part) for key, part in parts.items()})


Square = custom("Square", lambda x: x * x, lambda x, g: 2 * x * g)
Product = custom(
    "Product", lambda x, w: x * w, lambda x, w, g: ((g * w).sum_to_size(x.shape), (g * x).sum_to_size(w.shape))
)
Pair = custom("Pair", lambda x: (x * x, torch.sin(x)), lambda x, g, h: 2 * x * g + torch.cos(x) * h)


def as_if_contiguous(x):
    return torch.as_strided(x, x.shape, torch.empty(x.shape).stride())


def in_pieces(x):
    """A function in pieces, the last of which has the slope of the one before where its backward is wrong."""
    return torch.where(x < 2, x, torch.where(x < 3, 2 * x - 2, 3 * x - 5))


def by_overflowing(x, g):
    e = torch.exp(-x)
    return g * e / (1 + e) ** 2


OF_SQUARE = {
    # wrong at some values of x
    "NegativeX": lambda x, g: 2 * x.abs() * g,
    "HugeX": lambda x, g: 2 * x.clamp(-1e6, 1e6) * g,
    "EqualElements": lambda x, g: 2 * x * g.view(-1)[(x.view(-1, 1) == x.view(-1)).double().argmax(0)].view_as(x),
    # with some gradient vectors
    "Ignored": lambda x, g: 2 * x,
    "NoNegative": lambda x, g: 2 * x * g.clamp(min=0),
    "ClippedToHundred": lambda x, g: 2 * x * g.clamp(-100, 100),
    "OverwritesV": lambda x, g: g.mul_(2 * x),
    # with another layout
    "StridesOfV": lambda x, g: 2 * x * as_if_contiguous(g),
    # in the numbers
    "Half": lambda x, g: x * g,
    "InFloat32": lambda x, g: (2 * x.float() * g.float()).to(g.dtype),
}
OF_PRODUCT = {
    "Swapped": lambda x, w, g: ((g * x).sum_to_size(x.shape), (g * w).sum_to_size(w.shape)),
    "Missing": lambda x, w, g: (g * w, None),
}
OF_M = {
    "Transposed": (lambda x: x * x, lambda x, g: (2 * x * g).T, [M]),
    "Summed": (lambda x, b: x + b, lambda x, b, g: (g, g.mean(0)), [M[:2], W]),
}
OTHERS = {
    "AtZero": (lambda x: x.sin(), lambda x, g: g * torch.sin(2 * x) / (2 * torch.sin(x))),
    "AtNegativeZero": (lambda x: x.exp(), lambda x, g: torch.where(torch.signbit(x) & (x >= 0), 0.0, g * x.exp())),
    "TinyX": (lambda x: x.tanh(), lambda x, g: torch.where(x.abs() < 1e-5, 0.0, g * (1 - x.tanh() ** 2))),
    "OnePiece": (in_pieces, lambda x, g: torch.where(x < 2, g, 2 * g)),
    "Overflows": (lambda x: x.sigmoid(), by_overflowing),
    "Tiny": (lambda x: 1e-5 * x, lambda x, g: torch.zeros_like(g)),
    "Unchained": (lambda x: torch.sin(x**2 / 2), lambda x, g: g * torch.cos(x**2 / 2)),
    "Large": (lambda x: x.clone(), lambda x, g: torch.where(x > 100, 2 * g, g)),
}


# -- wrong in some states


class CachedSlope(Square):
    slopes: ClassVar[dict[Any, Any]] = {}

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return CachedSlope.slopes.setdefault(x.shape, 2 * x) * g


# -- wrong where not all gradients are needed


class Shifted(Product):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        found = [one for one, is_needed in zip((g * w, g * x), ctx.needs_input_grad, strict=True) if is_needed]
        return tuple((*found, None)[:2])


class AllOrNone(Product):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return (g * w, g * x) if all(ctx.needs_input_grad) else (None, None)


class WithTheFirst(Product):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        to_x = g * w if ctx.needs_input_grad[0] else torch.zeros_like(g)
        return to_x, to_x / w * x


WRONG: list[tuple[Any, tuple[Any, ...]]] = [
    *((custom(name, lambda x: x * x, backward), (X,)) for name, backward in OF_SQUARE.items()),
    *((custom(name, lambda x, w: x * w, backward), (X, W)) for name, backward in OF_PRODUCT.items()),
    *((custom(name, *both), (X,)) for name, both in OTHERS.items()),
    *((custom(name, *both), tuple(given)) for name, (*both, given) in OF_M.items()),
    (custom("AtY", lambda x: x.tanh(), lambda y, g: g * (1 - y.tanh() ** 2), keeps_value=True), (X,)),
    (CachedSlope, (X,)),
    *((one, (X, W)) for one in (Shifted, AllOrNone, WithTheFirst)),
]
"""Each with what it is applied to."""


# -- right ones


class Power(Function):
    @staticmethod
    def forward(ctx, x, n, name):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        return ctx.n * ctx.saved_tensors[0] ** (ctx.n - 1) * g, None, None


class Needed(Product):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        is_x, is_w = ctx.needs_input_grad
        return (g * w).sum_to_size(x.shape) if is_x else None, (g * x).sum_to_size(w.shape) if is_w else None


class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return 3 * g


def exprel(x):
    """Loses digits, which its derivative does not."""
    return (torch.exp(x) - 1) / x


def of_exprel(x, g):
    exact = (x * torch.exp(x) - torch.expm1(x)) / x**2
    return g * torch.where(x.abs() < 1e-3, 0.5 + x / 3 + x**2 / 8 + x**3 / 30, exact)


def softmax(x):
    e = torch.exp(x - x.max(-1, keepdim=True).values)
    return e / e.sum(-1, keepdim=True)


def length(x):
    return torch.sqrt((x * x).sum())


def of_length(x, g):
    return torch.where(x.any(), g * x / length(x), torch.zeros_like(x))


def linear(x, weight, bias):
    return x.mm(weight.t()) + bias


OF_X = {
    "Relu": (lambda x: x.clamp(min=0), lambda x, g: g * (x >= 0)),
    "Floor": (lambda x: x.floor(), lambda x, g: torch.zeros_like(g)),
    "Exprel": (exprel, of_exprel),
    "Softplus": (lambda x: torch.log(1 + torch.exp(x)), lambda x, g: g * torch.sigmoid(x)),
    "Norm": (length, of_length),
    "Largest": (lambda x: x.view(-1)[x.argmax()], lambda x, g: g * one_hot(x.argmax(), x.numel()).view_as(x)),
    "Branches": (lambda x: 2 * x if x.sum() > 0 else 3 * x, lambda x, g: 2 * g if x.sum() > 0 else 3 * g),
}
Sigmoid = custom("Sigmoid", lambda x: 1 / (1 + torch.exp(-x)), lambda y, g: g * y * (1 - y), keeps_value=True)
Softmax = custom("Softmax", softmax, lambda y, g: y * (g - (g * y).sum(-1, keepdim=True)), keeps_value=True)
Root = custom("Root", lambda x: x.sqrt(), lambda y, g: g / (2 * y), keeps_value=True)
Linear = custom("Linear", linear, lambda x, weight, bias, g: (g.mm(weight), g.t().mm(x), g.sum(0)))
RIGHT: list[tuple[Any, tuple[Any, ...]]] = [
    *((custom(name, *both), (X,)) for name, both in OF_X.items()),
    *((one, (X,)) for one in (Square, Pair, Sigmoid, Softmax, InPlace)),
    *((one, (X, W)) for one in (Product, Needed)),
    (Power, (X, 3, "cube")),
    (Root, (X.abs(),)),
    (Linear, (M, M[:2], W[:2])),
]
"""Each with what it is applied to."""

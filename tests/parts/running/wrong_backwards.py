"""Custom functions whose backward is wrong, each in one way, as people write them.

At the point where the tests apply it, most of the wrong ones give the right gradient.
"""

from typing import Any, ClassVar

import torch
from torch.autograd import Function

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


# -- in one layout, shape, or set of values only


def in_memory_order(g):
    """Read the first numbers of the memory, as a kernel does that asks for no strides."""
    return (
        torch.as_strided(g, (g.numel(),), (1,), 0).view(g.shape) if g.untyped_storage().nbytes() >= 8 * g.numel() else g
    )


def first_block(g, size=128):
    return torch.where(torch.arange(g.numel()).view(g.shape) < size, g, 0.0)


def by_threes(g):
    return torch.where(torch.arange(g.numel()).view(g.shape) < g.numel() // 3 * 3, g, 0.0)


HIDDEN_OF_SQUARE = {
    "MemoryOfX": lambda x, g: 2 * in_memory_order(x) * g,
    "MemoryOfV": lambda x, g: 2 * x * in_memory_order(g),
    "FlatV": lambda x, g: (2 * x.reshape(-1) * g.view(-1)).view(x.shape),
    "FirstBlock": lambda x, g: first_block(2 * x * g),
    "ByThrees": lambda x, g: by_threes(2 * x * g),
    "OneElement": lambda x, g: g if x.shape == (1,) else 2 * x * g,
    "ZeroDimensions": lambda x, g: 2 * x * g if x.ndim else g,
    "TwoDimensions": lambda x, g: (2 * x * g).flip(0) if x.ndim == 2 else 2 * x * g,
    "AllPositive": lambda x, g: (3 if (x > 0).all() else 2) * x * g,
    "AllNegative": lambda x, g: (3 if (x < 0).all() else 2) * x * g,
    "WholeNumbers": lambda x, g: torch.where(x == x.round(), 0.0, 2 * x * g),
    "AtTwo": lambda x, g: torch.where(x == 2, g, 2 * x * g),
    "BetweenFourAndSix": lambda x, g: torch.where((x > 4) & (x < 6), 0.0, 2 * x * g),
    "NegativeWholeNumbers": lambda x, g: torch.where((x == x.round()) & (x < 0), 0.0, 2 * x * g),
    "NearSevenTenths": lambda x, g: torch.where((x > 0.68) & (x < 0.75), 0.0, 2 * x * g),
    "TinyV": lambda x, g: torch.where(g.abs() < 1e-7, 0.0, 2 * x * g),
    "DividesByTheSumOfV": lambda x, g: 2 * x * (g / g.sum()) * g.sum() if g.sum().abs() > 1e-12 else 0 * g,
    "SignOfV": lambda x, g: 2 * x * g.sign(),
    "SizeOfV": lambda x, g: 2 * x * g.abs(),
    "SquareOfV": lambda x, g: 2 * x * g * g.abs(),
    "MeanOfV": lambda x, g: 2 * x * g.mean(),
    "NormalizedV": lambda x, g: 2 * x * g / g.norm(),
    "OtherSign": lambda x, g: -2 * x * g,
    "Summed": lambda x, g: (2 * x * g).sum().expand_as(x),
    "Averaged": lambda x, g: (2 * x * g).mean().expand_as(x),
    "Reversed": lambda x, g: (2 * x * g).flip(-1) if x.ndim else 2 * x * g,
    "Plus": lambda x, g: 2 * x * g + 1e-3,
    "ByADifference": lambda x, g: g * ((x + 1e-3) ** 2 - x**2) / 1e-3,
    "Random": lambda x, g: 2 * x * g * (torch.rand_like(x) > 0.5),
    "FactorOfX": lambda x, g: 2 * x * x * g,
    "InGroups": lambda x, g: 2 * x * g if x.ndim < 3 else (2 * x * g).mT.reshape(x.shape),
    "DividesByV": lambda x, g: 2 * x * g * g / g,
    "SortedElements": lambda x, g: x * g * (1 if x.numel() > 1 and (x.diff() > 0).all() else 2),
    "NearlyRight": lambda x, g: 2.000002 * x * g,
    "ToWholeNumbers": lambda x, g: 2 * x * (1e6 * g).round() / 1e6,
}
"""Backwards of a square."""


def stretched(grad, w, *, mean):
    """Reduce a gradient to the shape of a stretched argument, in the right way or by a mean."""
    if grad.shape == w.shape:
        return grad
    found = grad.sum_to_size(w.shape)
    return found * w.numel() / grad.numel() if mean else found


HIDDEN_OF_PRODUCT = {
    "MeanOfStretched": lambda x, w, g: (stretched(g * w, x, mean=True), stretched(g * x, w, mean=True)),
    "WhereOpposite": lambda x, w, g: (
        torch.where(x == -w, 0.0, g * w).sum_to_size(x.shape), (g * x).sum_to_size(w.shape),
    ),
    "WhereEqual": lambda x, w, g: ((g * w).sum_to_size(x.shape), torch.where(x == w, 2.0, g * x).sum_to_size(w.shape)),
    "OfANumber": lambda x, w, g: (
        (g * w).sum_to_size(x.shape), (g * x).sum_to_size(w.shape) if w.ndim else g.sum() * x.sum(),
    ),
    "BothOfX": lambda x, w, g: ((g * x).sum_to_size(x.shape), (g * x).sum_to_size(w.shape)),
}  # fmt: skip
"""Backwards of a product."""

E1 = torch.tensor([0.5, 1.5, 0.7], dtype=torch.float64)
"""Positive numbers."""


def layer_norm(x):
    return (x - x.mean(-1, keepdim=True)) / ((x - x.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True).sqrt()


HIDDEN: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "HardCoded": (lambda x: x.mean(), lambda x, g: g.expand_as(x) / 3, (X,)),
    "NoMean": (lambda x: x.mean(), lambda x, g: g.expand_as(x), (X,)),
    "FirstAxis": (
        lambda x: torch.softmax(x, -1),
        lambda x, g: torch.softmax(x, -1) * (g - (g * torch.softmax(x, -1)).sum(0)),
        (X,),
    ),
    "LogSoftmax": (lambda x: torch.log_softmax(x, -1), lambda x, g: g - torch.softmax(x, -1) * g, (X,)),
    "LayerNorm": (layer_norm, lambda x, g: g / x.std(-1, keepdim=True, correction=0), (X,)),
    "Accumulated": (lambda x: x.cumsum(-1), lambda x, g: g.cumsum(-1), (X,)),
    "Permuted": (lambda x: x[..., [2, 0, 1]], lambda x, g: g[..., [2, 0, 1]], (X,)),
    "Cosine": (lambda x: x.cos(), lambda x, g: g * x.sin(), (X,)),
    "Period": (lambda x: torch.sin(2 * torch.pi * x), lambda x, g: g * torch.cos(2 * torch.pi * x), (X,)),
    "RootOfX": (lambda x: x.sqrt(), lambda x, g: g / (2 * x), (E1,)),
    "Power": (lambda x: x**3, lambda x, g: 3 * x**3 * g, (X,)),
    "Leaky": (lambda x: torch.where(x > 0, x, 0.01 * x), lambda x, g: torch.where(x > 0, g, 0.1 * g), (E1,)),
    "Clamped": (lambda x: x.clamp(-1, 1), lambda x, g: g, (E1 / 2,)),
    "Absolute": (lambda x: x.abs(), lambda x, g: g, (E1,)),
    "Maximum": (lambda x: x.max(), lambda x, g: g.expand_as(x), (X,)),
    "Length": (lambda x: (x * x).sum().sqrt(), lambda x, g: g * x, (X,)),
    "LargeInMagnitude": (
        lambda x: x.tanh(), lambda x, g: torch.where(x.abs() > 4, 0.0, g / torch.cosh(x) ** 2), (3 * X - 1.1,),
    ),
    "Gauss": (lambda x: torch.exp(-x * x), lambda x, g: -2 * x * g, (X,)),
    "Huber": (
        lambda x: torch.where(x.abs() < 1, x * x / 2, x.abs() - 0.5), lambda x, g: g * x, (E1 / 2,),
    ),
    "Quotient": (lambda a, b: a / b, lambda a, b, g: (g / b, -g * a / b), (X, W)),
    "Matrix": (lambda a, b: a @ b, lambda a, b, g: (g @ b.mT, a @ g), (M, M + 1)),
    "Threshold": (
        lambda x: torch.log1p(x.exp()), lambda x, g: torch.where(x > 5, g, g * x.sigmoid()), (X,),
    ),
    "OneOfTwo": (
        lambda x: x[..., [0, 2, 2]], lambda x, g: torch.stack([g[..., 0], 0 * g[..., 0], g[..., 2]], -1), (X,),
    ),
    "Symmetric": (lambda a: a.inverse(), lambda a, g: -a.inverse() @ g @ a.inverse(), (M,)),
    "Outer": (lambda a, b: a @ b, lambda a, b, g: (torch.outer(b, g), a.mT @ g), (M, X)),
    "Shared": (lambda a, b, c: a * b + c, lambda a, b, c, g: (g * b, g, g * a), (X, W, X + 1)),
    "Bias": (lambda x, b: x + b, lambda x, b, g: (g, g.sum(-1).sum_to_size(b.shape) if g.ndim < 3 else g), (M, X)),
    "FirstOnly": (lambda x: (x * x, x.sin()), lambda x, g, h: 2 * x * g, (X,)),
    "OutputsSwapped": (lambda x: (x * x, x.sin()), lambda x, g, h: 2 * x * h + x.cos() * g, (X,)),
    "UnusedOutput": (
        lambda x: (x * x, x.sin()), lambda x, g, h: 2 * x * g + x.cos() * h + (0 if h.any() else g), (X,),
    ),
    "Entropy": (
        lambda x: -torch.log_softmax(x, -1)[..., 0].mean(),
        lambda x, g: g * (torch.softmax(x, -1) - torch.eye(3, dtype=x.dtype)[0]),
        (M,),
    ),
}  # fmt: skip
"""Forward, backward, and what it is applied to."""


class NoneOfUnused(Function):
    """A backward that forgets that the gradient of an output that is not used is None."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x * x, x.sin()

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return 2 * x * g + x.cos() * h


class ChangedLater(Function):
    """What is kept for the backward pass is changed before it."""

    @staticmethod
    def forward(ctx, x):
        ctx.kept = x.clone()
        y = ctx.kept
        y.mul_(2)
        return y * y / 4

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.kept * g


class OfTheLastCall(Function):
    """The arguments are kept by the class, where the next call replaces them."""

    @staticmethod
    def forward(ctx, x):
        OfTheLastCall.x = x.detach().clone()
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * OfTheLastCall.x * g


class OnlyOnce(Function):
    """The second backward pass finds nothing left."""

    @staticmethod
    def forward(ctx, x):
        ctx.kept = [2 * x]
        return x * x

    @staticmethod
    def backward(ctx, g):
        return ctx.kept.pop() * g if ctx.kept else torch.zeros_like(g)


class OffByOne(Product):
    """The flags of the other argument are asked."""

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        is_w, is_x = ctx.needs_input_grad
        return (
            (g * w).sum_to_size(x.shape) if is_x else torch.zeros_like(x),
            (g * x).sum_to_size(w.shape) if is_w else torch.zeros_like(w),
        )


class ThreeFlags(Function):
    """One of three arguments is wrong where exactly two need a gradient."""

    @staticmethod
    def forward(ctx, a, b, c):
        ctx.save_for_backward(a, b)
        return a * b + c

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * (b if sum(ctx.needs_input_grad) == 2 else a), g


NOT_FOUND = {
    "AtOnePoint": lambda x, g: torch.where((x - 0.3).abs() < 1e-9, 0.0, 2 * x * g),
    "OfSeventeen": lambda x, g: 2 * x * g if x.numel() != 17 else g,
    "InAnInterval": lambda x, g: torch.where((x - 20).abs() < 0.5, g, 2 * x * g),
}
"""Backwards of a square that no variant shows: what hides so well is known to pass."""

MORE_WRONG: list[tuple[Any, tuple[Any, ...]]] = [
    *((custom(name, lambda x: x * x, backward), (X,)) for name, backward in HIDDEN_OF_SQUARE.items()),
    *((custom(name, lambda x, w: x * w, backward), (X, W)) for name, backward in HIDDEN_OF_PRODUCT.items()),
    *((custom(name, forward, backward), given) for name, (forward, backward, given) in HIDDEN.items()),
    *((one, (X,)) for one in (NoneOfUnused, ChangedLater, OfTheLastCall, OnlyOnce)),
    (OffByOne, (X, W)),
    (ThreeFlags, (X, W, X + 1)),
    *((custom(name, lambda x: x * x, backward), (X,)) for name, backward in NOT_FOUND.items()),
]
"""Each with what it is applied to."""

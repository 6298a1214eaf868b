"""Forty custom functions whose backward is wrong, each in one way, as people write them; and others that are right.

At the point where the tests apply it, most of the wrong ones give the right gradient.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch.autograd import Function

X = torch.tensor([0.5, 1.5, -0.7], dtype=torch.float64)
W = torch.tensor([1.2, 0.4, 0.9], dtype=torch.float64)
M = torch.tensor([[0.5, 1.5, -0.7], [0.2, -0.4, 0.9], [1.1, 0.3, -1.6]], dtype=torch.float64)


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


class Product(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return (g * w).sum_to_size(x.shape), (g * x).sum_to_size(w.shape)


class Pair(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x, torch.sin(x)

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return 2 * x * g + torch.cos(x) * h


# -- wrong at some values of x


class NegativeX(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x.abs() * g


class AtZero(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.sin(x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * torch.sin(2 * x) / (2 * y)


class AtNegativeZero(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.exp(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(torch.signbit(x) & (x >= 0), 0.0, g * torch.exp(x))


class TinyX(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.tanh(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x.abs() < 1e-5, 0.0, g * (1 - torch.tanh(x) ** 2))


class HugeX(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x.clamp(-1e6, 1e6) * g


class InAnInterval(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where((x > 0.3) & (x < 0.31), g, 2 * x * g)


class OnePiece(Function):
    """A function in pieces, the last of which has the slope of the one before."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x < 2, x, torch.where(x < 3, 2 * x - 2, 3 * x - 5))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x < 2, g, 2 * g)


class Overflows(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sigmoid(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        e = torch.exp(-x)
        return g * e / (1 + e) ** 2


class EqualElements(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        first = (x.reshape(-1, 1) == x.reshape(-1)).double().argmax(0)
        return 2 * x * g.reshape(-1)[first].view_as(x)


# -- wrong with some gradient vectors


class Ignored(Square):
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0]


class Averaged(Square):
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g.mean()


class Absolute(Square):
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g.abs()


class NoNegative(Square):
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g.clamp(min=0)


class ClippedToOne(Square):
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g.clamp(-1, 1)


class ClippedToHundred(Square):
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g.clamp(-100, 100)


class Normalized(Square):
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g / g.norm()


class LeakyWithNegative(Square):
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * torch.where(g > 0, g, 0.1 * g)


# -- wrong with other arguments or shapes


class SwappedGradients(Product):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return (g * x).sum_to_size(x.shape), (g * w).sum_to_size(w.shape)


class MeanOfStretched(Product):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        to_w = g * x
        return g * w, to_w if to_w.shape == w.shape else to_w.mean().expand_as(w)


class MissingSum(Product):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, (g * x).reshape(-1)[: w.numel()].view_as(w)


class SumOfTheWrongDimension(Product):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        to_w = g * x
        return g * w, to_w.sum(0).reshape(w.shape) if w.numel() < to_w.numel() else to_w


class NoDimension(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g if x.dim() else g.clone()


class TwoDimensions(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).mean()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g / (len(x) if x.dim() else 1)


class FirstFour(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        found = torch.zeros_like(x)
        found.view(-1)[:4] = (2 * x * g).reshape(-1)[:4]
        return found


class OneElement(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.zeros_like(x) if x.numel() == 1 and x.dim() else 2 * x * g


class ManyElements(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        found = 2 * x * g
        found.view(-1)[256:] = 0
        return found


def as_if_contiguous(x):
    return torch.as_strided(x, x.shape, torch.empty(x.shape).stride())


class StridesOfX(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * as_if_contiguous(x) * g


class StridesOfV(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * as_if_contiguous(g)


class UntransposedProduct(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b, a.T @ g


# -- wrong in some states


class LastX(Function):
    """Keeps x on the class, where the next call overwrites it."""

    x: ClassVar[Any]

    @staticmethod
    def forward(ctx, x):
        LastX.x = x.detach()
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * LastX.x * g


class CachedSlope(Square):
    slopes: ClassVar[dict[Any, Any]] = {}

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return CachedSlope.slopes.setdefault(x.shape, 2 * x) * g


class UsedUp(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = 2 * x.detach()
        return x * x

    @staticmethod
    def backward(ctx, g):
        return ctx.slope.mul_(g).clone()


class OverwritesV(Square):
    @staticmethod
    def backward(ctx, g):
        return g.mul_(2 * ctx.saved_tensors[0])


# -- wrong where not all gradients are needed, or not all outputs are used


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


class NoneIsNoNumber(Pair):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return Pair.forward(ctx, x)


class BothOrNone(NoneIsNoNumber):
    @staticmethod
    def backward(ctx, g, h):
        return None if g is None or h is None else Pair.backward(ctx, g, h)


# -- wrong in the numbers


class InFloat32(Square):
    @staticmethod
    def backward(ctx, g):
        return (2 * ctx.saved_tensors[0].float() * g.float()).to(g.dtype)


class AtY(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * (1 - torch.tanh(ctx.saved_tensors[0]) ** 2)


WRONG: list[tuple[Any, tuple[Any, ...]]] = [
    *((one, (X,)) for one in (NegativeX, AtZero, AtNegativeZero, TinyX, HugeX, InAnInterval, OnePiece, Overflows)),
    *((one, (X,)) for one in (EqualElements, Ignored, Averaged, Absolute, NoNegative, ClippedToOne, ClippedToHundred)),
    *((one, (X,)) for one in (Normalized, LeakyWithNegative, NoDimension, TwoDimensions, FirstFour, OneElement)),
    *((one, (X,)) for one in (ManyElements, StridesOfX, StridesOfV, LastX, CachedSlope, UsedUp, OverwritesV)),
    *((one, (X,)) for one in (NoneIsNoNumber, BothOrNone, InFloat32, AtY)),
    *((one, (X, W)) for one in (SwappedGradients, MeanOfStretched, MissingSum, Shifted, AllOrNone, WithTheFirst)),
    (SumOfTheWrongDimension, (M, W)),
    (UntransposedProduct, (M, M.flip(0))),
]
"""Each with what it is applied to."""


# -- right ones


class PairOfNone(NoneIsNoNumber):
    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        parts = [*([] if g is None else [2 * x * g]), *([] if h is None else [torch.cos(x) * h])]
        return sum(parts)


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


class Relu(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.saved_tensors[0] >= 0)


class Abs(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 0, x, -x)

    @staticmethod
    def backward(ctx, g):
        return g * torch.sign(ctx.saved_tensors[0])


class Floor(Function):
    @staticmethod
    def forward(ctx, x):
        return torch.floor(x)

    @staticmethod
    def backward(ctx, g):
        return torch.zeros_like(g)


class Sigmoid(Function):
    """Loses digits where it is almost 1, as everybody's does."""

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * (1 - y)


class Exprel(Function):
    """Loses digits forward only."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (torch.exp(x) - 1) / x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        exact = (x * torch.exp(x) - torch.expm1(x)) / x**2
        return g * torch.where(x.abs() < 1e-3, 0.5 + x / 3 + x**2 / 8 + x**3 / 30, exact)


class Softplus(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log(1 + torch.exp(x))

    @staticmethod
    def backward(ctx, g):
        return g * torch.sigmoid(ctx.saved_tensors[0])


class Softmax(Function):
    @staticmethod
    def forward(ctx, x):
        e = torch.exp(x - x.max(-1, keepdim=True).values)
        y = e / e.sum(-1, keepdim=True)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(-1, keepdim=True))


class Linear(Function):
    """That of torch's own tutorial."""

    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight, bias)
        return x.mm(weight.t()) + bias

    @staticmethod
    def backward(ctx, g):
        x, weight, bias = ctx.saved_tensors
        to_x = g.mm(weight) if ctx.needs_input_grad[0] else None
        to_weight = g.t().mm(x) if ctx.needs_input_grad[1] else None
        return to_x, to_weight, g.sum(0) if ctx.needs_input_grad[2] else None


class Norm(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.sqrt((x * x).sum())
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return torch.where(y > 0, g * x / y, torch.zeros_like(x))


class Root(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.sqrt(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g / (2 * ctx.saved_tensors[0])


class ProductOfAll(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.prod()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        flat = x.reshape(-1)
        others = flat.expand(flat.numel(), -1).clone()
        others.fill_diagonal_(1)
        return (g * others.prod(-1)).view_as(x)


class Largest(Function):
    @staticmethod
    def forward(ctx, x):
        place = x.argmax()
        ctx.save_for_backward(x, place)
        return x.reshape(-1)[place]

    @staticmethod
    def backward(ctx, g):
        x, place = ctx.saved_tensors
        found = torch.zeros_like(x).reshape(-1)
        found[place] = g
        return found.view_as(x)


class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return 3 * g


class Cubes(Function):
    """With a product of any three elements."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.einsum("i,j,k->ijk", x, x, x).sum()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x.sum() ** 2 * torch.ones_like(x)


class Branches(Function):
    """Decides by a value."""

    @staticmethod
    def forward(ctx, x):
        ctx.is_positive = bool(x.sum() > 0)
        return 2 * x if ctx.is_positive else 3 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g if ctx.is_positive else 3 * g


class Halves(Function):
    """Of matrices with an even number of rows."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        first, second = x.view(2, -1, x.shape[1])
        return first * second

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        first, second = x.view(2, -1, x.shape[1])
        return torch.cat([g * second, g * first])


class Marked(Pair):
    """One of its outputs has no derivative on purpose."""

    @staticmethod
    def forward(ctx, x):
        y, z = Pair.forward(ctx, x)
        ctx.mark_non_differentiable(z)
        return y, z

    @staticmethod
    def backward(ctx, g, _):
        return 2 * ctx.saved_tensors[0] * g


RIGHT: list[tuple[Any, tuple[Any, ...]]] = [
    *((one, (X,)) for one in (Square, Pair, PairOfNone, Relu, Abs, Floor, Sigmoid, Exprel, Softplus, Softmax)),
    *((one, (X,)) for one in (Norm, ProductOfAll, Largest, InPlace, Branches)),
    *((one, (X, W)) for one in (Product, Needed)),
    (Power, (X, 3, "cube")),
    (Root, (X.abs(),)),
    (Linear, (M, M[:2], W[:2])),
    (Halves, (M[:2],)),
]
"""Each with what it is applied to."""

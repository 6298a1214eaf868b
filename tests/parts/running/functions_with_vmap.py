"""Custom functions for several v at once, and with rules for `torch.vmap`, right and wrong ones."""

from typing import Any

import torch
from torch.autograd import Function

from tests.parts.running.functions_with_jvp import Product, SineAndCosine, Square, Turned, first_sorted, scaled
from tests.parts.running.wrong_backwards import Square as WithoutRule, W, X


class WithRule(Function):
    """A product with a rule of its own."""

    @staticmethod
    def forward(x, w):
        return x * w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, g * x

    @staticmethod
    def vmap(info, in_dims, x, w):
        x, w = (one if d is None else one.movedim(d, 0) for one, d in zip((x, w), in_dims, strict=True))
        x, w = (one.expand(info.batch_size, *one.shape[one.ndim - 1 :]) for one in (x, w))
        return WithRule.apply(x, w), 0


def wrong_rule(name: str, vmap: Any) -> Any:
    return type(name, (WithRule,), {"vmap": staticmethod(vmap)})


def forgets_one(info, in_dims, x, w):
    return WithRule.apply(x, w if in_dims[1] is None else w[:1].expand_as(w)), 0


def doubles(info, in_dims, x, w):
    return WithRule.apply(x, w) * 2, 0


def only_if_all(info, in_dims, x, w):
    if None in in_dims:
        raise ValueError("both must be batched")
    return WithRule.apply(x, w), 0


def loses_graph(info, in_dims, x, w):
    return WithRule.apply(x, w.detach()), 0


def applies(inner: Any) -> Any:
    """A function whose backward applies another one."""

    def forward(x):
        return x**3

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * inner(g)

    parts = {"forward": forward, "setup_context": setup_context, "backward": backward}
    return type("Outer", (Function,), {key: staticmethod(part) for key, part in parts.items()})


class Identity(Function):
    """The identity, without a rule."""

    @staticmethod
    def forward(g):
        return g.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g


class OldIdentity(Function):
    """The identity, whose forward takes ctx."""

    @staticmethod
    def forward(ctx, g):
        return g.clone()

    @staticmethod
    def backward(ctx, g):
        return g


class WrongIdentity(Identity):
    """The identity, with a rule that takes the first of several."""

    @staticmethod
    def vmap(info, in_dims, g):
        g = g.movedim(in_dims[0], 0)
        return g[:1].expand_as(g).clone(), 0


class Branches(Square):
    """A square whose backward decides by a number of v."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g if g.sum() != 0 else torch.zeros_like(x)


class ByNumpy(Square):
    """A square whose backward leaves torch."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.from_numpy(2 * x.detach().numpy() * g.numpy())


RIGHT: list[tuple[Any, tuple[Any, ...]]] = [
    (Square.apply, (X,)),
    (Product.apply, (X, W)),
    (SineAndCosine.apply, (X,)),
    (Turned.apply, (X,)),
    (first_sorted, (X,)),
    (scaled, (X,)),
    (WithRule.apply, (X, W)),
    (WithoutRule.apply, (X,)),
    (applies(lambda g: g * 1).apply, (X,)),
    (lambda x: torch.softmax(x, 0) @ x, (X,)),
]

WRONG_RULES: list[tuple[Any, str]] = [
    (wrong_rule("ForgetsOne", forgets_one), "torch.vmap has other values than one call after the other"),
    (wrong_rule("Doubles", doubles), "torch.vmap has other values than one call after the other"),
    (wrong_rule("OnlyIfAll", only_if_all), "ValueError: both must be batched"),
    (wrong_rule("LosesGraph", loses_graph), "torch.vmap has other gradients than one call after the other"),
]
"""Each is applied to X and W, and right without vmap; with words on it."""

WRONG_BACKWARDS: list[tuple[Any, str]] = [
    (applies(Identity.apply), "Identity has no vmap rule (vmap, or generate_vmap_rule=True)"),
    (applies(OldIdentity.apply), "has no setup_context, which vmap needs"),
    (applies(WrongIdentity.apply), "is wrong for several v at once"),
    (Branches, "data-dependent control flow"),
    (ByNumpy, "raised in the backward pass by"),
]
"""Each is applied to X, and right for one v; with words on it."""

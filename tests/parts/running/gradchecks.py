"""Functions of the kinds that `torch.autograd.gradcheck` is called with, right and wrong.

Each has its inputs and whether its gradients are right; a row is (function, inputs, is_right).
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

Row = tuple[Callable[..., Any], tuple[Any, ...], bool]


def custom(forward: Callable[..., Any], backward: Callable[..., Any], *, marks: str = "") -> Callable[..., Any]:
    """Make a custom function of its forward, and of a backward that takes v of each output and then the arguments.

    Args:
        forward: Of the arguments.
        backward: Gives the gradients.
        marks: "changed" if the forward changes its first argument, "whole" if its last output has no derivative,
            "none" if gradients that are not used are None.
    """

    class Made(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            ctx.save_for_backward(*(one for one in args if isinstance(one, torch.Tensor) and marks != "changed"))
            ctx.set_materialize_grads(marks != "none")
            found = forward(*args)
            if marks == "changed":
                ctx.mark_dirty(args[0])
                ctx.save_for_backward(found.clone())
            if marks == "whole":
                ctx.mark_non_differentiable(found[-1])
            return found

        @staticmethod
        def backward(ctx: Any, *vs: Any) -> Any:
            return backward(*vs, *ctx.saved_tensors)

    return Made.apply


def _drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()


X, Y, A, B = _drawn(3), _drawn(3, seed=1), _drawn(3, 3, seed=2), _drawn(3, 3, seed=3)
P = (_drawn(3, seed=4).detach().abs() + 0.5).requires_grad_()
S = (A.detach() @ A.detach().T + 3 * torch.eye(3, dtype=torch.float64)).requires_grad_()
IMAGE, KERNEL = _drawn(1, 2, 4, 4, seed=5), _drawn(2, 2, 2, 2, seed=6)
LABELS = torch.tensor([2, 0, 1])


def in_place(x: torch.Tensor) -> torch.Tensor:
    """A clone, changed twice."""
    y = x.clone()
    y *= 3
    y.sin_()
    return y


def of_views(x: torch.Tensor) -> torch.Tensor:
    """A clone whose views are changed."""
    y = x.clone()
    y[0] *= 2
    y[1:].mul_(x[:-1])
    return y.view(-1, 1).expand(3, 2)


def at_index(x: torch.Tensor) -> torch.Tensor:
    """Numbers put where others were."""
    return torch.zeros(4, dtype=x.dtype).index_add(0, torch.tensor([0, 2, 2]), x)


def with_constants(x: torch.Tensor) -> torch.Tensor:
    """A Jacobian by hand, with rows of constants."""
    zero, one = (torch.tensor(number, dtype=x.dtype) for number in (0.0, 1.0))
    return torch.stack([torch.stack([2 * x[0], zero]), torch.stack([zero, one])])


def branch(x: torch.Tensor) -> torch.Tensor:
    """A branch on the values."""
    return x.exp() if x.sum() > 0 else x**3


def loop(x: torch.Tensor) -> torch.Tensor:
    """A loop that a value ends."""
    while x.norm() > 0.5:
        x = x / 2
    return x


def held(x: torch.Tensor) -> torch.Tensor:
    """A product with a constant."""
    return x * x.detach()


def hooked(x: torch.Tensor) -> torch.Tensor:
    """A hook that changes the gradient."""
    y = x * 1
    y.register_hook(lambda v: 2 * v)  # type: ignore[no-untyped-call]
    return y.sin()


def checkpointed(x: torch.Tensor) -> torch.Tensor:
    """A part that is computed again in the backward pass."""
    from torch.utils.checkpoint import checkpoint

    found: torch.Tensor = checkpoint(lambda z: torch.tanh(z) * z, x, use_reentrant=False)
    return found


def with_gradient_inside(x: torch.Tensor) -> torch.Tensor:
    """A gradient within the function."""
    (found,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return found


PLAIN: Mapping[str, Row] = {
    "sin": (torch.sin, (X,), True),
    "product": (torch.mul, (X, Y), True),
    "quotient": (torch.div, (X, P), True),
    "power": (torch.pow, (P, Y), True),
    "matrix product": (torch.matmul, (A, B), True),
    "batched product": (torch.bmm, (_drawn(2, 2, 3), _drawn(2, 3, 2, seed=8)), True),
    "solve": (torch.linalg.solve, (S, X), True),
    "inverse": (torch.linalg.inv, (S,), True),
    "determinant": (torch.linalg.det, (A,), True),
    "log of a determinant": (torch.logdet, (S,), True),
    "cholesky": (lambda s: torch.linalg.cholesky(s @ s.T), (S,), True),
    "eigenvalues": (lambda s: torch.linalg.eigvalsh(s + s.T), (A,), True),
    "singular values": (torch.linalg.svdvals, (A,), True),
    "matrix exponential": (torch.matrix_exp, (A,), True),
    "sum": (torch.sum, (A,), True),
    "mean by a dimension": (lambda a: a.mean(1), (A,), True),
    "variance": (torch.var, (X,), True),
    "norm": (torch.norm, (X,), True),
    "prod": (torch.prod, (X,), True),
    "cumprod": (lambda x: torch.cumprod(x, 0), (X,), True),
    "cumsum": (lambda x: torch.cumsum(x, 0), (X,), True),
    "logsumexp": (lambda x: torch.logsumexp(x, 0), (X,), True),
    "softmax": (lambda x: torch.softmax(x, 0), (X,), True),
    "largest": (torch.max, (X,), True),
    "sorted": (lambda x: torch.sort(x).values, (X,), True),
    "two largest": (lambda x: torch.topk(x, 2).values, (X,), True),
    "gather": (lambda a: a.gather(1, torch.tensor([[0], [2], [1]])), (A,), True),
    "scatter": (at_index, (X,), True),
    "masked": (lambda x: x[x > 0], (X,), True),
    "padded": (lambda x: functional.pad(x, (1, 2)), (X,), True),
    "rolled": (lambda x: x.roll(1), (X,), True),
    "transposed": (lambda a: a.T.contiguous(), (A,), True),
    "expanded": (lambda x: x.expand(2, 3), (X,), True),
    "strided": (lambda x: x.as_strided((2, 2), (1, 1)), (X,), True),
    "einsum": (lambda a, x: torch.einsum("ij,j->i", a, x), (A, X), True),
    "outer": (torch.outer, (X, Y), True),
    "convolution": (functional.conv2d, (IMAGE, KERNEL), True),
    "pooling": (lambda x: functional.avg_pool2d(x, 2), (IMAGE,), True),
    "largest in windows": (lambda x: functional.max_pool2d(x, 2), (IMAGE,), True),
    "interpolated": (lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"), (IMAGE,), True),
    "layer norm": (lambda a: functional.layer_norm(a, (3,)), (A,), True),
    "group norm": (lambda x: functional.group_norm(x, 2), (IMAGE,), True),
    "cross entropy": (lambda a: functional.cross_entropy(a, LABELS), (A,), True),
    "gelu": (functional.gelu, (X,), True),
    "embedding": (lambda a: functional.embedding(LABELS, a), (A,), True),
    "attention": (functional.scaled_dot_product_attention, (_drawn(2, 3), _drawn(4, 3, seed=9), _drawn(4, 3)), True),
    "two outputs": (lambda x: (x.sin(), x.cos()), (X,), True),
    "rows of constants": (with_constants, (X,), True),
    "outputs of two shapes": (lambda x: (x.sum(), x * 2), (X,), True),
    "an output without a derivative": (lambda x: (x.sin(), (x > 0).sum()), (X,), True),
    "in place": (in_place, (X,), True),
    "views": (of_views, (X,), True),
    "branch": (branch, (X,), True),
    "loop": (loop, (X,), True),
    "checkpoint": (checkpointed, (X,), True),
    "gradient inside": (with_gradient_inside, (X,), True),
    "no dependence": (lambda x, y: x * 1, (X, Y), True),
    "complex": (lambda z: z * z.conj() + z**2, (torch.complex(X.detach(), Y.detach()).requires_grad_(),), True),
    "to complex": (lambda x: torch.exp(1j * x), (X,), True),
    "transform": (torch.fft.rfft, (X,), True),
    "one number": (torch.exp, (_drawn(),), True),
    "no numbers": (lambda x: x[:0].sum() + x.sum(), (X,), True),
    "held constant": (held, (X,), False),
    "a hook": (hooked, (X,), False),
}
"""Functions of torch, and of its code."""


def _of_used_outputs(v: torch.Tensor | None, w: torch.Tensor | None, x: torch.Tensor) -> torch.Tensor | None:
    """Add the gradients by those of a sine and a cosine that are used."""
    parts = [v * x.cos() if v is not None else None, -w * x.sin() if w is not None else None]
    used = [one for one in parts if one is not None]
    return sum(used[1:], used[0]) if used else None


def _of_sine(v: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return v * x.cos()


def _of_softmax(v: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    s = torch.softmax(x, 0)
    return s * (v - (v * s).sum(0))


def _of_one_softmax(v: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    s = torch.softmax(x, 0)
    return s * (v - (v * s).sum())


CUSTOM: Mapping[str, Row] = {
    "square": (custom(lambda x: x * x, lambda v, x: 2 * v * x), (X,), True),
    "without a factor": (custom(lambda x: x * x, lambda v, x: v * x), (X,), False),
    "another sign": (custom(torch.sin, lambda v, x: -v * x.cos()), (X,), False),
    "without v": (custom(torch.sin, lambda v, x: x.cos()), (X,), False),
    "off by a thousandth": (custom(torch.exp, lambda v, x: 1.002 * v * x.exp()), (X,), False),
    "two arguments": (custom(torch.mul, lambda v, x, y: (v * y, v * x)), (X, Y), True),
    "arguments swapped": (custom(torch.mul, lambda v, x, y: (v * x, v * y)), (X, Y), False),
    "a missing argument": (custom(torch.mul, lambda v, x, y: (v * y, None)), (X, Y), False),
    "matrices": (custom(torch.matmul, lambda v, a, b: (v @ b.T, a.T @ v)), (A, B), True),
    "not transposed": (custom(torch.matmul, lambda v, a, b: (v @ b, a.T @ v)), (A, B), False),
    "a sum, expanded": (custom(torch.sum, lambda v, x: v.expand_as(x)), (X,), True),
    "a mean as a sum": (custom(torch.mean, lambda v, x: v.expand_as(x)), (X,), False),
    "two outputs": (
        custom(lambda x: (x.sin(), x.cos()), lambda v, w, x: v * x.cos() - w * x.sin()), (X,), True,
    ),
    "one of two outputs": (custom(lambda x: (x.sin(), x.cos()), lambda v, w, x: v * x.cos()), (X,), False),
    "outputs that are not used": (
        custom(
            lambda x: (x.sin(), x.cos()),
            _of_used_outputs,
            marks="none",
        ),
        (X,),
        True,
    ),
    "an output without a derivative": (
        custom(lambda x: (x * 2, (x > 0).long()), lambda v, _, x: 2 * v, marks="whole"), (X,), True,
    ),
    "in place": (lambda x: custom(lambda z: z.exp_(), lambda v, y: v * y, marks="changed")(x.clone()), (X,), True),
    "wrong in place": (
        lambda x: custom(lambda z: z.exp_(), lambda v, y: 2 * v * y, marks="changed")(x.clone()), (X,), False,
    ),
    "a view": (custom(lambda a: a.T, lambda v, a: v.T), (A,), True),
    "a view, not turned back": (custom(lambda a: a.T, lambda v, a: v), (A,), False),
    "once": (custom(torch.sin, once_differentiable(_of_sine)), (X,), True),
    "stable": (custom(lambda x: torch.log1p(x.exp()), lambda v, x: v * torch.sigmoid(x)), (X,), True),
    "straight through": (custom(torch.round, lambda v, x: v), (X,), False),
    "reversed": (custom(lambda x: x.clone(), lambda v, x: -v), (X,), False),
    "clipped": (custom(lambda x: 3 * x, lambda v, x: 3 * v.clamp(-0.5, 0.5)), (X,), False),
    "rows swapped": (custom(lambda a: a @ a, lambda v, a: v @ a.T + a.T @ v), (A,), True),
    "softmax, halfway": (
        custom(lambda x: torch.softmax(x, 0), lambda v, x: v * torch.softmax(x, 0)), (X,), False,
    ),
    "softmax": (
        custom(
            lambda x: torch.softmax(x, 0),
            _of_softmax,
        ),
        (X,),
        True,
    ),
}  # fmt: skip
"""Custom functions."""

torch.manual_seed(0)
MODULES: Mapping[str, Row] = {
    "linear": (nn.Linear(3, 2).double(), (X,), True),
    "perceptron": (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double(), (X,), True),
    "recurrent": (nn.GRUCell(3, 2).double(), (A, _drawn(3, 2, seed=10)), True),
    "normalized": (nn.BatchNorm1d(3).double(), (A,), True),
    "bilinear": (nn.Bilinear(3, 3, 2).double(), (A, B), True),
}
"""Modules."""

UNSEEN: Mapping[str, Row] = {
    "off by a millionth": (custom(torch.exp, lambda v, x: 1.000001 * v * x.exp()), (X,), False),
    "large x": (custom(torch.neg, lambda v, x: torch.where(x > 20, v, -v)), (X,), False),
    "v of one sign": (custom(torch.neg, lambda v, x: -v.clamp(min=0)), (X,), False),
    "large v": (custom(torch.neg, lambda v, x: -v.clamp(-10, 10)), (X,), False),
    "other shapes": (
        custom(lambda x: torch.softmax(x, 0), _of_one_softmax),
        (X,),
        False,
    ),
    "next to a kink": (lambda x: torch.relu(x - X.detach() - 1e-8), (X.detach().clone().requires_grad_(),), True),
}  # fmt: skip
"""Functions of which gradcheck says the contrary."""

"""Custom functions whose backward is right, as people write them: none of them may be blamed."""

from typing import Any

import torch
from torch.autograd import Function
from torch.nn.functional import one_hot

from tests.parts.running.wrong_backwards import M, Pair, Product, Square, W, X, custom


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


# -- more of them

E1 = torch.tensor([0.5, 1.5, 0.7], dtype=torch.float64)
SPD = M @ M.T + torch.eye(3, dtype=torch.float64)
KERNEL = torch.tensor([0.2, -0.5, 0.3], dtype=torch.float64)


def in_rows(x):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()


def of_rows(x, g):
    y, deviation = in_rows(x), (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()
    return (g - g.mean(-1, keepdim=True) - y * (g * y).mean(-1, keepdim=True)) / deviation


def of_softmax(x, g):
    y = torch.softmax(x, -1)
    return y * (g - (g * y).sum(-1, keepdim=True))


def of_log_softmax(x, g):
    return g - torch.softmax(x, -1) * g.sum(-1, keepdim=True)


def of_gelu(x, g):
    density = torch.exp(-x * x / 2) / (2 * torch.pi) ** 0.5
    return g * (torch.special.ndtr(x) + x * density)


def rotated(x):
    return torch.stack([-x[..., 1], x[..., 0]], -1)


SMOOTH = {
    "Exponential": (lambda x: x.exp(), lambda x, g: g * x.exp(), (X,)),
    "Sine": (lambda x: x.sin(), lambda x, g: g * x.cos(), (X,)),
    "Logarithm": (lambda x: x.log(), lambda x, g: g / x, (E1,)),
    "Reciprocal": (lambda x: 1 / x, lambda x, g: -g / x**2, (X,)),
    "Cubed": (lambda x: x**3, lambda x, g: 3 * x**2 * g, (X,)),
    "Arctangent": (lambda x: x.atan(), lambda x, g: g / (1 + x * x), (X,)),
    "Softsign": (lambda x: x / (1 + x.abs()), lambda x, g: g / (1 + x.abs()) ** 2, (X,)),
    "Silu": (lambda x: x * x.sigmoid(), lambda x, g: g * (x.sigmoid() * (1 + x * (1 - x.sigmoid()))), (X,)),
    "Gelu": (lambda x: x * torch.special.ndtr(x), of_gelu, (X,)),
    "Error": (lambda x: x.erf(), lambda x, g: g * 2 / torch.pi**0.5 * torch.exp(-x * x), (X,)),
    "Gaussian": (lambda x: torch.exp(-x * x), lambda x, g: -2 * x * g * torch.exp(-x * x), (X,)),
    "Sinc": (lambda x: x.sin() / x, lambda x, g: g * (x * x.cos() - x.sin()) / x**2, (X,)),
    "Identity": (lambda x: x.clone(), lambda x, g: g, (X,)),
    "Constant": (lambda x: torch.ones_like(x) * 1, lambda x, g: None, (X,)),
    "Affine": (lambda x: 3 * x - 1, lambda x, g: 3 * g, (X,)),
}
WITH_KINKS = {
    "Clamp": (lambda x: x.clamp(-1, 1), lambda x, g: g * ((x > -1) & (x < 1)), (X,)),
    "Absolute": (lambda x: x.abs(), lambda x, g: g * x.sign(), (X,)),
    "LeakyRelu": (lambda x: torch.where(x > 0, x, 0.1 * x), lambda x, g: torch.where(x > 0, g, 0.1 * g), (X,)),
    "Huber": (
        lambda x: torch.where(x.abs() < 1, x * x / 2, x.abs() - 0.5),
        lambda x, g: g * x.clamp(-1, 1),
        (X,),
    ),
    "Shrink": (
        lambda x: x.sign() * (x.abs() - 0.5).clamp(min=0),
        lambda x, g: g * (x.abs() > 0.5),
        (X,),
    ),
    "Rounded": (lambda x: x.round(), lambda x, g: 0 * g, (X,)),
    "Step": (lambda x: (x > 0).to(x.dtype), lambda x, g: 0 * g, (X,)),
    "Highest": (lambda x: x.amax(-1), lambda x, g: g.unsqueeze(-1) * one_hot(x.argmax(-1), x.shape[-1]), (M,)),
    "Sorted": (
        lambda x: x.sort(-1).values,
        lambda x, g: torch.zeros_like(g).scatter(-1, x.sort(-1).indices, g),
        (X,),
    ),
}
OF_SHAPES = {
    "Mean": (lambda x: x.mean(), lambda x, g: g.expand_as(x) / x.numel(), (X,)),
    "SumOfRows": (lambda x: x.sum(-1), lambda x, g: g.unsqueeze(-1).expand_as(x), (M,)),
    "Transpose": (lambda x: x.t(), lambda x, g: g.t(), (M,)),
    "Flat": (lambda x: x.reshape(-1), lambda x, g: g.reshape(x.shape), (M,)),
    "FirstRow": (
        lambda x: x[0],
        lambda x, g: torch.cat([g.unsqueeze(0), torch.zeros_like(x[1:])]),
        (M,),
    ),
    "Flip": (lambda x: x.flip(-1), lambda x, g: g.flip(-1), (M,)),
    "Cumulative": (lambda x: x.cumsum(-1), lambda x, g: g.flip(-1).cumsum(-1).flip(-1), (X,)),
    "Repeat": (lambda x: torch.cat([x, x], -1), lambda x, g: sum(g.chunk(2, -1)), (X,)),
    "Rotation": (rotated, lambda x, g: -rotated(g), (M[:, :2],)),
    "Outside": (
        lambda a, b: a.unsqueeze(-1) * b,
        lambda a, b, g: ((g * b).sum(-1), (g * a.unsqueeze(-1)).sum(0)),
        (X, W),
    ),
    "Expand": (lambda x: x.expand(4, *x.shape), lambda x, g: g.sum(0), (X,)),
    "Trace": (lambda x: x.trace(), lambda x, g: g * torch.eye(*x.shape, dtype=x.dtype), (M,)),
}
OF_MATRICES = {
    "Matmul": (lambda a, b: a @ b, lambda a, b, g: (g @ b.mT, a.mT @ g), (M, M + 1)),
    "Times": (lambda a, x: a.mv(x), lambda a, x, g: (torch.outer(g, x), a.t().mv(g)), (M, X)),
    "Dot": (lambda a, b: a.dot(b), lambda a, b, g: (g * b, g * a), (X, W)),
    "Inverse": (
        lambda a: a.inverse(),
        lambda a, g: -a.inverse().mT @ g @ a.inverse().mT,
        (SPD,),
    ),
    "Solve": (
        lambda a, b: torch.linalg.solve(a, b) * 1,
        lambda a, b, g: (
            -torch.outer(torch.linalg.solve(a.mT, g), torch.linalg.solve(a, b)),
            torch.linalg.solve(a.mT, g),
        ),
        (SPD, X),
    ),
    "Quadratic": (
        lambda a, x: x @ a @ x,
        lambda a, x, g: (g * torch.outer(x, x), g * (a + a.mT) @ x),
        (M, X),
    ),
    "Biased": (lambda x, b: x + b, lambda x, b, g: (g.sum_to_size(x.shape), g.sum_to_size(b.shape)), (M, W)),
}
OF_NETS = {
    "Rows": (in_rows, of_rows, (M,)),
    "SoftmaxOfRows": (lambda x: torch.softmax(x, -1), of_softmax, (M,)),
    "LogSoftmax": (lambda x: torch.log_softmax(x, -1), of_log_softmax, (M,)),
    "LogSum": (lambda x: x.logsumexp(-1), lambda x, g: g.unsqueeze(-1) * torch.softmax(x, -1), (M,)),
    "Squares": (
        lambda x, y: ((x - y) ** 2).mean(),
        lambda x, y, g: ((2 * g * (x - y) / (x - y).numel()).sum_to_size(x.shape),
                         (-2 * g * (x - y) / (x - y).numel()).sum_to_size(y.shape)),
        (X, W),
    ),
    "Crossed": (
        lambda x, t: torch.nn.functional.binary_cross_entropy_with_logits(x, t, reduction="none"),
        lambda x, t, g: ((g * (x.sigmoid() - t)).sum_to_size(x.shape), (-g * x).sum_to_size(t.shape)),
        (X, W),
    ),
    "Quotient": (
        lambda a, b: a / b,
        lambda a, b, g: ((g / b).sum_to_size(a.shape), (-g * a / b**2).sum_to_size(b.shape)),
        (X, W),
    ),
    "Angle": (
        lambda a, b: torch.atan2(a, b) * 1,
        lambda a, b, g: ((g * b / (a**2 + b**2)).sum_to_size(a.shape), (-g * a / (a**2 + b**2)).sum_to_size(b.shape)),
        (X, W),
    ),
}  # fmt: skip


class ByBisection(Function):
    """A square root that no line of its recording moves, which its backward knows."""

    @staticmethod
    def forward(ctx, x):
        low, high = torch.zeros_like(x), torch.clamp(x, min=1.0)
        for _ in range(50):
            middle = (low + high) / 2
            is_low = middle * middle < x
            low, high = torch.where(is_low, middle, low), torch.where(is_low, high, middle)
        ctx.save_for_backward(low)
        return low

    @staticmethod
    def backward(ctx, g):
        return g / (2 * ctx.saved_tensors[0])


class Entmax(Function):
    """Sparse probabilities, whose threshold is found by bisection."""

    @staticmethod
    def forward(ctx, x):
        z = x / 2
        low = z.max(-1, keepdim=True).values - 1
        step = torch.ones_like(low)
        for _ in range(50):
            step = step / 2
            total = ((z - low - step).clamp(min=0) ** 2).sum(-1, keepdim=True)
            low = torch.where(total >= 1, low + step, low)
        p = (z - low).clamp(min=0) ** 2
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, g):
        s = ctx.saved_tensors[0].sqrt()
        return s * (g - (g * s).sum(-1, keepdim=True) / s.sum(-1, keepdim=True))


class CubeRoot(Function):
    """A cube root by Newton's method, which has none of 0."""

    @staticmethod
    def forward(ctx, x):
        if (x == 0).any():
            raise ValueError("0 has no derivative")
        y = torch.ones_like(x)
        for _ in range(60):
            y = (2 * y + x / (y * y)) / 3
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g / (3 * ctx.saved_tensors[0] ** 2)


class WithIndices(Function):
    """The largest of each row, and where it is."""

    @staticmethod
    def forward(ctx, x):
        values, indices = x.max(-1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        ctx.size = x.shape[-1]
        return values, indices

    @staticmethod
    def backward(ctx, g, _):
        return g.unsqueeze(-1) * one_hot(ctx.saved_tensors[0], ctx.size)


class NoneIsZero(Function):
    """Gradients of outputs that are not used are None."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x * x, x.sin()

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        found = torch.zeros_like(x)
        found = found if g is None else found + 2 * x * g
        return found if h is None else found + x.cos() * h


class Optional(Function):
    """A bias that may be missing."""

    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight)
        return x * weight if bias is None else x * weight + bias

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        return (g * weight).sum_to_size(x.shape), (g * x).sum_to_size(weight.shape), None


MORE_RIGHT: list[tuple[Any, tuple[Any, ...]]] = [
    *(
        (custom(name, forward, backward), given)
        for table in (SMOOTH, WITH_KINKS, OF_SHAPES, OF_MATRICES, OF_NETS)
        for name, (forward, backward, given) in table.items()
    ),
    *((one, (E1,)) for one in (ByBisection, CubeRoot)),
    *((one, (M,)) for one in (Entmax, WithIndices)),
    (NoneIsZero, (X,)),
    (Optional, (X, W)),
]
"""Each with what it is applied to."""

"""Functions of a user that change tensors in place, draw numbers, decide by masks, and hide what they do."""

import random
import warnings

import numpy as np
import torch
from torch import nn


def base_doubled(x):
    y = x * 1
    z = y.flip(0), y[1:], y.view(3, 1).T
    y.mul_(x)
    return z[0] * z[1].sum() + z[2]


def far_views(m):
    a = m.clone()
    a.T[0].add_(1.0)
    a.diagonal().mul_(m[0])
    a[::2, 1:] += a[1:2, :2]
    return a


def rows_copied(m):
    out = torch.empty(3, 3)
    for i in range(3):
        out[i].copy_(m[i] * i)
    return out


def filled(m):
    a = m @ m
    a.fill_diagonal_(0)
    b = m * 2
    b[0].zero_()
    b[1, 1:].fill_(3.0)
    return a * b


def put(x):
    y = torch.zeros(3)
    y.index_put_((torch.tensor([0, 2]),), x[:2] ** 2)
    return y.index_put((torch.tensor([1]),), x[2:])


def new_ones(x):
    out = x.new_zeros(3)
    out[0] = x[1]
    like = torch.empty_like(x)
    like[:] = x * 2
    return out + like


def named_hard(x):
    __h = x * 2
    pi = __h + __h.sum()
    sum = pi * pi  # noqa: A001
    place = sum[0]
    return sum * __h * place


def cast(x):
    return (x > 1).float() * x + x.double()


def drawn_by_numpy(x):
    return x * float(np.random.rand()) + torch.from_numpy(np.random.rand(3))


def drawn_by_python(x):
    return x * random.random()


def largest_place(x):
    return x[x.argmax()] * x


def penalty(x):
    y = (x * 2).view(-1, 1)
    (g,) = torch.autograd.grad(y**3, y, torch.ones_like(y), create_graph=True)
    return (g.norm(2, dim=1) - 1) ** 2


class Same(torch.autograd.Function):
    """Gives back what it is given."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class Dirty(torch.autograd.Function):
    """Changes what it is given."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return 2 * g


class Marked(torch.autograd.Function):
    """Gives a tensor that is a constant outside."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        twice = x * 2
        ctx.mark_non_differentiable(twice)
        return x**2, twice

    @staticmethod
    def backward(ctx, g, _):
        return 2 * g * ctx.saved_tensors[0]


class Inner(torch.autograd.Function):
    """Takes a derivative in its forward, of a tensor that it detaches."""

    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            z = x.detach().requires_grad_()
            y = (z**3).sum()
        (ctx.g,) = torch.autograd.grad(y, z)
        return y.detach()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.g


def customs(x):
    y = x * 3
    Dirty.apply(y)
    squares, twice = Marked.apply(x)
    return Same.apply(x) * y + squares * twice + Inner.apply(x)


CALLS: list[int] = []


def counting(x):
    CALLS.append(1)
    return x * len(CALLS)


class OfNumpy(torch.autograd.Function):
    """Computes where nobody sees it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.exp(x.detach().numpy()))

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].exp()


def of_numpy(x):
    return OfNumpy.apply(x) * x


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it is deprecated, and used
    hidden = torch.jit.script(nn.Sequential(nn.Sigmoid()))


def of_hidden(x):
    return hidden(x) * x


def all_large(x):
    return x * 2 if (x + 1 > 0).all() else x * 3


def none_small(x):
    return x * 2 if not (x < -1).any() | (x[0] > 5) else x * 3


def masked(x):
    return x[x > -1].sum()


def counted(x):
    return (x > -1).sum() * x


def largest(x):
    return max(x[0], torch.tensor(-1.0, dtype=torch.float64)) * x


AVERAGE = torch.zeros(3, dtype=torch.float64)


def averaged(x):
    AVERAGE.mul_(0.9).add_(0.1 * x.detach())
    return x * AVERAGE


def drawn_by_chance(x):
    return x * torch.bernoulli(torch.sigmoid(x))


def times_numpy(x):
    return np.float64(2.0) * x + np.float32(0.5) * x


def transformed(x):
    return torch.func.vmap(lambda t: t.sin())(x)


def with_data_set(x):
    y = x * 2
    y.data = y.data * 3
    return y


def labelled(x, label):
    if (x == x).all():  # noqa: PLR0124
        return x[label == 1]
    return x


def by_number(x: torch.Tensor) -> torch.Tensor:
    """Python compares a number that it took from a tensor."""
    return x**2 if x[0].item() >= -1 else x


def by_difference(x: torch.Tensor) -> torch.Tensor:
    """And one that it computed from such numbers."""
    return x.sin() if abs(1 - x[0].item() * 2) < 3 else x


def by_truth(x: torch.Tensor) -> torch.Tensor:
    """A number is true if it is not 0."""
    return x * 3 if (x[0] + 1).item() else x


def by_place(x: torch.Tensor) -> torch.Tensor:
    """Only which is the larger decides, and its number is a constant."""
    return x * 2 if torch.cat([x, x[:1] + 3]).argmax().item() == 1 else x


def by_order(x: torch.Tensor) -> torch.Tensor:
    """Positions as an index."""
    return torch.stack([x[0] + 3, x[1]])[torch.stack([x[0] + 3, x[1]]).sort(descending=True).indices]

"""Functions of a user, as they are written: branches, loops, modules, changes in place; the tests record them."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

print("the model is loaded")  # as scripts do

torch.manual_seed(0)
W = torch.randn(3, 4, dtype=torch.float64)
HALF = torch.tensor(0.5)
DATA = torch.tensor([0.5, -1.0, 2.0])
INDEX = torch.tensor([2, 0])


# -- arithmetic and functions


def polynomial(x):
    return 3 * x**3 - x / 2 + 1


def reflected(x):
    return 1 / x + 2**x - 3 * x + (5 - x) % 3


def methods(x):
    return x.exp().log1p().sqrt().mul(2).sub(x, alpha=2).neg()


def functions(x):
    return torch.sin(x) * torch.cos(x) + torch.atan2(x, x + 1) + torch.hypot(x, x)


def activations(x):
    return F.relu(x) + F.gelu(x) + F.silu(x) + F.softplus(x) + F.elu(x) + F.leaky_relu(x, 0.1)


def clamped(x):
    return x.clamp(min=0.5) * torch.clamp(x, max=1.5)


def chosen(x):
    return torch.where(x > 1, x**2, -x)


def constants(x):
    return x * HALF + DATA * math.pi


def new_constants(x):
    scale = torch.tensor([1.0, 2.0, 3.0])
    return x * scale + torch.ones(3) - torch.eye(3)[0]


def filled(x):
    return x * torch.full((3,), 2.5) + torch.zeros_like(x)


# -- reductions and matrices


def sums(x):
    return x.sum() + x.mean() + x.prod() + torch.logsumexp(x, 0)


def spreads(x):
    return x.var() + x.std(unbiased=False) + x.norm() + torch.linalg.vector_norm(x, 1)


def extremes(x):
    largest, _ = x.view(1, 3).max(dim=1)
    return largest.sum() + x.min() + x.amax()


def normalized(x):
    return F.softmax(x, dim=0) * F.log_softmax(x, dim=-1)


def scanned(x):
    return torch.cumsum(x, 0) * x


def products(x):
    return (x @ W).sum() + torch.dot(x, x) + torch.outer(x, x).sum()


def equation(x):
    return torch.einsum("i,ij->j", x, W)


def solved(x):
    matrix = torch.outer(x, x) + torch.eye(3)
    return torch.linalg.solve(matrix, x).sum() + torch.logdet(matrix)


# -- structure


def shaped(x):
    return x.view(3, 1).expand(3, 2).reshape(-1).unsqueeze(0).squeeze().flatten()


def joined(x):
    return torch.cat([x, 2 * x]).view(2, 3).T @ torch.stack([x[:2], x[1:]])


def indexed(x):
    return x[0] * x[-1] + x[1:].sum() + x[None, :2].sum() + x[..., 1]


def flipped(x):
    return x.flip(0) * torch.roll(x, 1)


def triangles(x):
    return torch.tril(torch.outer(x, x)).diagonal().sum() + torch.triu(torch.outer(x, x)).sum()


def padded(x):
    return F.pad(x, (1, 2), value=1.0) ** 2


def of_shape(x):
    return x.reshape(x.shape[0], 1) * torch.ones(1, len(x)) / x.numel()


# -- Python


def helper(x, power=2):
    return x**power


def called(x):
    return helper(helper(x), power=3)


def looped(x, steps: int = 3):
    for _ in range(steps):
        x = torch.sin(x) * x
    return x


def branched(x):
    if x.sum() > 0:
        return 2 * x
    return 3 * x


def searched(x):
    while x.norm() < 10:
        x = x * 2
    return x


def comprehended(x):
    return sum([v**2 for v in x])


def gathered(x):
    parts = []
    for i, v in enumerate(x):
        parts.append(v * (i + 1))
    return torch.stack(parts)


def keyword_only(x, *, scale=2.0):
    return x * scale


def in_classes(x):
    class Doubler:
        def __init__(self):
            self.factor = torch.tensor(2.0)

        def __call__(self, t):
            return self.factor * t

    return Doubler()(x)


def closed(x):
    offset = torch.tensor([1.0, 1.0, 1.0])

    def inner(t):
        return t * offset

    return inner(x) + inner(2 * x)


def several(x):
    return x.sum(), x.prod()


def several_shapes(x):
    return x * 2, x.sum()


# -- in place


def augmented(x):
    y = x.clone()
    y += 1
    y *= x
    y.mul_(2).add_(1)
    return y


def assigned(x):
    out = torch.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2
    return out


def assigned_slices(x):
    out = torch.zeros(2, 3)
    out[0] = x
    out[1, 1:] = x[:2] * 2
    return out


def overwritten(x):
    y = x * 2
    y[0] = 7.0
    return y * y


def in_place_activation(x):
    return F.relu(x * 2, inplace=True)


# -- what autograd does not follow


def detached(x):
    return x * x.detach() + x.data


def without_grad(x):
    with torch.no_grad():
        weight = x * 2
    return x * weight


def through_floats(x):
    return x * math.sin(float(x[0])) + float(x[1]) + x[2].item()


def through_numpy(x):
    return torch.tensor(np.sin(x.detach().numpy())) * x


def noisy(x):
    return ((x + torch.randn(3)) ** 2).sum()


def noise_alike(x):
    return x * torch.rand_like(x)


def dropped(x):
    return F.dropout(x * 2, 0.5, training=True)


# -- modules


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(3, 4)
        self.fc2 = nn.Linear(4, 2)
        self.register_buffer("scale", torch.tensor([1.0, 2.0]))

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x))) * self.scale


net = Net()
net64 = Net().double()
sequential = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 1))


def mean_squares(x, target):
    return F.mse_loss(net(x), target)


def entropy(x, target):
    return F.cross_entropy(net(x).view(1, 2), target)


class Model:
    def __init__(self):
        self.w = torch.tensor([1.0, 2.0, 3.0])

    def loss(self, x):
        return ((self.w * x) ** 2).sum()


model = Model()


# -- custom functions: right ones


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


class Scaled(torch.autograd.Function):
    """With an argument that is no tensor, and one that needs no gradient."""

    @staticmethod
    def forward(ctx, x, w, power):
        ctx.save_for_backward(x, w)
        ctx.power = power
        return w * x**power

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        to_x = g * w * ctx.power * x ** (ctx.power - 1) if ctx.needs_input_grad[0] else None
        to_w = g * x**ctx.power if ctx.needs_input_grad[1] else None
        return to_x, to_w, None


class SinCos(torch.autograd.Function):
    """With two outputs."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x), torch.cos(x)

    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        return g_sin * torch.cos(x) - g_cos * torch.sin(x)


class Modern(torch.autograd.Function):
    """With `setup_context`."""

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Clipped(torch.autograd.Function):
    """Straight through on purpose: right inside of -1..1."""

    @staticmethod
    def forward(ctx, x):
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx, g):
        return g


# -- custom functions: wrong ones, each in another way


class Half(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x * g


class Negative(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -2 * x * g


class Ungiven(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x


class Tiny(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 1e-5 * x

    @staticmethod
    def backward(ctx, g):
        return torch.zeros_like(g)


class Swapped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w**2

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return 2 * g * x * w, g * w**2


class Transposed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, m):
        ctx.save_for_backward(m)
        return m**2 * torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    @staticmethod
    def backward(ctx, g):
        (m,) = ctx.saved_tensors
        return (2 * g * m * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).T


class Unchained(torch.autograd.Function):
    """Forgets the factor that the chain rule brings."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x**2 / 2)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.cos(x**2 / 2)


class Large(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x > 100, 2 * g, g)


class Missing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, g):
        _, w = ctx.saved_tensors
        return g * w, None


class Summed(torch.autograd.Function):
    """Gives the mean over a dimension that was stretched, in place of the sum."""

    @staticmethod
    def forward(ctx, x, b):
        return x + b

    @staticmethod
    def backward(ctx, g):
        return g, g.mean(0)


apply_square = Square.apply


def uses_square(x):
    return (Square.apply(x) * 3).sum()


def uses_half(x):
    return (Half.apply(x) * 3).sum()


def uses_name(x):
    return apply_square(x).sum()


def uses_large(x):
    return Large.apply(x).sum()


# -- what cannot be answered


def raises(x):
    raise ValueError("no good")


def leaves(x):
    raise SystemExit(3)


def gives_numbers(x):
    return x.sum().item()


def gives_nothing(x):
    x.sum()


def through_detached(x):
    y = x.clone()
    y.detach().mul_(2)
    return y.sum()


def without_record(x):
    y = x * 2
    with torch.no_grad():
        y[0] = 0
    return y


def any_number(*x):
    return sum(x)


NUMBER = 3

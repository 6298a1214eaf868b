"""Functions of a user, as they are written: branches, loops, modules, changes in place; the tests record them."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

print("the model is loaded")  # as scripts do

torch.manual_seed(0)


# -- arithmetic and functions


def new_constants(x):
    scale = torch.tensor([1.0, 2.0, 3.0])
    return x * scale + torch.ones(3) - torch.eye(3)[0]


# -- reductions and matrices


def sums(x):
    return x.sum() + x.mean() + x.prod() + torch.logsumexp(x, 0)


def solved(x):
    matrix = torch.outer(x, x) + torch.eye(3)
    return torch.linalg.solve(matrix, x).sum() + torch.logdet(matrix)


# -- structure


def joined(x):
    return torch.cat([x, 2 * x]).view(2, 3).T @ torch.stack([x[:2], x[1:]])


# -- Python


def branched(x):
    if x.sum() > 0:
        return 2 * x
    return 3 * x


def keyword_only(x, *, scale=2.0):
    return x * scale


def several(x):
    return x.sum(), x.prod()


def several_shapes(x):
    return x * 2, x.sum()


# -- in place


def overwritten(x):
    y = x * 2
    y[0] = 7.0
    return y * y


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


def through_domain(x):
    return math.sqrt(-x[0])


def of_numpy_alone(x):
    return np.sum(np.sin(x) * x)


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


# -- custom functions: wrong ones, each in another way


class Half(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return x * g


class Large(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x > 100, 2 * g, g)


def uses_square(x):
    return (Square.apply(x) * 3).sum()


def uses_half(x):
    return (Half.apply(x) * 3).sum()


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

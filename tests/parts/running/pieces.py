"""Pieces of code as people write them: layers, losses, models, solvers; each with its arguments."""

import torch
from torch import nn

F = torch.nn.functional
D = torch.float64
_DRAWN = torch.Generator().manual_seed(0)


def T(*sizes):
    return torch.randn(sizes, dtype=D, generator=_DRAWN)


def U(*sizes):
    """Positive numbers."""
    return torch.rand(sizes, dtype=D, generator=_DRAWN) + 0.5


P = []


def piece(*args, verdict="agree"):
    """Add a function with its arguments, and what is to be said of it."""

    def register(function):
        P.append((function, args, verdict))
        return function

    return register


@piece(T(1, 2, 4, 4))
def res_block(x):
    torch.manual_seed(1)
    c = nn.Conv2d(2, 2, 3, padding=1).double()
    b = nn.BatchNorm2d(2).double()
    return F.relu(b(c(x)) + x).sum()

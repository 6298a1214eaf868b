"""Pieces of code as people write them: layers, losses, models, solvers; each with its arguments."""

from __future__ import annotations

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


def piece(*args, verdict="agree", refused=""):
    """Add a function with its arguments, and what is to be said of it."""

    def register(function):
        P.append((function, args, verdict, refused))
        return function

    return register


@piece(T(1, 2, 4, 4))
def res_block(x):
    torch.manual_seed(1)
    c = nn.Conv2d(2, 2, 3, padding=1).double()
    b = nn.BatchNorm2d(2).double()
    return F.relu(b(c(x)) + x).sum()


@piece(T(2, 3), T(3, 2))
def vae(x, w):
    torch.manual_seed(2)
    h = x @ w
    mu, lv = h, h.tanh()
    eps = torch.randn_like(mu)
    z = mu + eps * (0.5 * lv).exp()
    return ((z @ w.T - x) ** 2).sum() - 0.5 * (1 + lv - mu**2 - lv.exp()).sum()


@piece(T(3))
def gradient_penalty(x):
    y = (x**3).sum().sin()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    return (g.norm() - 1) ** 2


@piece(T(1, 4, 4))
def enc(x):
    torch.manual_seed(6)
    return nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True).double()(x)[..., 0].exp()


@piece(T(1, 1, 4, 4))
def up(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False).pow(2).sum()

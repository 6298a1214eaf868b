"""Pieces of code as people write them: layers, losses, models, solvers; each with its arguments."""

from __future__ import annotations

import math

import numpy as np
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


@piece(T(2), T(2))
def maml(w, x):
    loss = ((w * x).sum() - 1) ** 2
    g = torch.autograd.grad(loss, w, create_graph=True)[0]
    return (((w - 0.1 * g) * x).sum() - 1) ** 2


@piece(torch.rand(2, dtype=D) + 0.5)
def gp(t):
    X = torch.linspace(0, 1, 4, dtype=D)
    y = torch.sin(6 * X)
    K = t[0] * torch.exp(-((X[:, None] - X[None]) ** 2) / t[1] ** 2) + 0.1 * torch.eye(4, dtype=D)
    L = torch.linalg.cholesky(K)
    a = torch.cholesky_solve(y[:, None], L)[:, 0]
    return -0.5 * y @ a - L.diagonal().log().sum()


@piece(T(3, 2), T(3, 2))
def contrastive(a, b):
    s = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T
    return F.cross_entropy(s / 0.1, torch.arange(3))


@piece(torch.rand(4, dtype=D))
def dice(x):
    t = torch.tensor([1.0, 0, 1, 1], dtype=D)
    p = x.sigmoid()
    return 1 - (2 * (p * t).sum() + 1) / (p.sum() + t.sum() + 1)


@piece(T(5))
def total_variation(x):
    return torch.abs(x[1:] - x[:-1]).sum()


@piece(T(3, 2))
def knn(x):
    d = torch.cdist(x, x)
    return d.topk(2, largest=False).values[:, 1].sum()


@piece(T(1, 4, 4))
def enc(x):
    torch.manual_seed(6)
    return nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True).double()(x).pow(2).sum()


@piece(T(3))
def jac(x):
    return torch.func.jacrev(lambda z: z.sin() * z.sum())(x).sum()


@piece(T(3))
def hvp(x):
    return torch.func.jvp(torch.func.grad(lambda z: (z**3).sum()), (x,), (torch.ones_like(x),))[1]


@piece(T(3, 2))
def vm(x):
    return torch.vmap(lambda r: r.norm() * r[0])(x)


@piece(T(4))
def sortloss(x):
    return (x.sort().values * torch.arange(4)).sum()


@piece(T(3))
def npfun(x):
    return x * np.pi + math.e


@piece(T(2, 2))
def expm(a):
    return torch.matrix_exp(a).trace()


@piece(T(2, 2))
def lsm(a):
    return torch.logsumexp(a, 0).sum() + F.log_softmax(a, 1)[0, 0]


@piece(T(2, 6))
def pool(x):
    return F.max_pool1d(x[None], 2).sum() + F.adaptive_avg_pool1d(x[None], 3).prod()


@piece(T(1, 1, 4, 4))
def up(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False).pow(2).sum()


@piece(T(3, 4))
def emb(w):
    return F.embedding(torch.tensor([0, 2, 2]), w).sum(0)


@piece(T(3, 3))
def ein(a):
    return torch.einsum("ij,jk,kl->il", a, a, a).diagonal()


@piece(T(4))
def cumulative(x):
    return torch.cumsum(x.exp(), 0).log()


@piece(T(3))
def clampy(x):
    return x.clamp(-1, 1) * torch.where(x > 0, x, x * 0.1)


@piece(T(3, 2))
def scatter(x):
    return torch.zeros(2, 2, dtype=D).index_add(0, torch.tensor([0, 1, 1]), x)


@piece(T(3, 2))
def scat2(x):
    return torch.zeros(3, 2, dtype=D).scatter_add(0, torch.tensor([[0, 1], [1, 1], [2, 0]]), x)


@piece(T(3, 3))
def eigs(a):
    return torch.linalg.eigvalsh(a + a.T)


@piece(T(3, 2))
def svdn(a):
    return torch.linalg.svdvals(a).sum()


@piece(T(3, 3))
def qr(a):
    return torch.linalg.qr(a).R.diagonal().abs().sum()


@piece(T(2, 3))
def mha(x):
    torch.manual_seed(8)
    m = nn.MultiheadAttention(3, 1, batch_first=True).double()
    return m(x[None], x[None], x[None], need_weights=True)[0].sum()


@piece(T(1, 2, 6))
def convt(x):
    torch.manual_seed(9)
    return nn.ConvTranspose1d(2, 1, 3, stride=2).double()(x).pow(2).sum()


@piece(T(3))
def quant(x):
    return torch.quantile(x, 0.3) + x.median()


@piece(T(3, 2))
def cosd(x):
    return F.cosine_similarity(x[0], x[1], dim=0) + F.pairwise_distance(x[0], x[2])


@piece(T(3, 4))
def ctc_like(x):
    return F.nll_loss(F.log_softmax(x, 1), torch.tensor([1, 0, 3]), weight=torch.tensor([1.0, 2, 3, 4], dtype=D))

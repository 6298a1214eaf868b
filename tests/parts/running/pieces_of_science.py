"""Solvers, energies, statistics, transforms and custom functions, as people write them; each with its arguments."""

import collections
import math

import torch
from torch import nn
from torch.func import grad, hessian, jacfwd, jacrev, vmap

from tests.parts.running.pieces import D, T, U, piece

# -- differential equations and simulation


@piece(U(3, 2))
def lennard_jones(pos):
    i, j = torch.triu_indices(3, 3, offset=1)
    r2 = ((pos[i] - pos[j]) ** 2).sum(-1) + 0.5
    inv6 = (1.0 / r2) ** 3
    return 4.0 * (inv6**2 - inv6).sum()


@piece(T(4, 3))
def dihedral(p):
    b0, b1, b2 = p[0] - p[1], p[2] - p[1], p[3] - p[2]
    b1 = b1 / b1.norm()
    v = b0 - (b0 @ b1) * b1
    w = b2 - (b2 @ b1) * b1
    return torch.atan2(torch.linalg.cross(b1, v) @ w, v @ w)


@piece(T(3, 4))
def soft_dtw(d):
    inf = torch.tensor(float("inf"), dtype=D)
    R = collections.defaultdict(lambda: inf, {(-1, -1): torch.zeros((), dtype=D)})
    for i in range(3):
        for j in range(4):
            prev = torch.stack([R[i - 1, j], R[i, j - 1], R[i - 1, j - 1]])
            R[i, j] = d[i, j] ** 2 - 0.5 * torch.logsumexp(-prev / 0.5, 0)
    return R[2, 3]


# -- optimisation loops


@piece(T(2), U(1))
def unrolled_sgd(w, lr):
    x = torch.tensor([[1.0, 2.0], [0.5, -1.0], [2.0, 0.1]], dtype=D)
    y = torch.tensor([1.0, -0.5, 0.7], dtype=D)
    for _ in range(4):
        loss = ((x @ w - y) ** 2).mean()
        (g,) = torch.autograd.grad(loss, w, create_graph=True)
        w = w - 0.1 * lr * g
    return ((x @ w - y) ** 2).mean()


@piece(T(3))
def detached_inner_loop(w):
    fast = w.detach().clone().requires_grad_()
    for _ in range(2):
        (g,) = torch.autograd.grad(((fast - 1) ** 2).sum(), fast)
        fast = fast - 0.1 * g
    return ((w - fast.detach()) ** 2).sum() * 0 + (w**2).sum()


@piece(T(3), verdict="cut")
def first_order_maml(w):
    (g,) = torch.autograd.grad(((w - 1) ** 4).sum(), w)
    return ((w - 0.1 * g) ** 2).sum()


@piece(U(2))
def implicit_fixed_point(a):
    z = torch.zeros(2, dtype=D)
    for _ in range(200):
        new = torch.cos(a * z) * 0.5
        if (new - z).abs().max() < 1e-14:
            break
        z = new
    return z


# -- linear algebra and statistics


@piece(U(2), U(3))  # a distance of 0
def gp_marginal_likelihood(theta, xs):
    y = torch.sin(3 * xs)
    K = theta[0] ** 2 * torch.exp(-0.5 * torch.cdist(xs[:, None], xs[:, None]) ** 2 / theta[1] ** 2)
    L = torch.linalg.cholesky(K + 0.1 * torch.eye(3, dtype=D))
    alpha = torch.linalg.solve_triangular(L, y[:, None], upper=False)
    return -0.5 * (alpha**2).sum() - L.diagonal().log().sum() - 1.5 * math.log(2 * math.pi)


@piece(T(2))
def reparametrized_sample(p):
    torch.manual_seed(41)
    d = torch.distributions.Normal(p[0], p[1].exp())
    z = d.rsample((4,))
    return (z**2).mean() - d.entropy()


@piece(T(2))
def transformed_distribution(p):
    d = torch.distributions
    base = d.Normal(p[0], p[1].exp())
    flow = d.TransformedDistribution(base, [d.transforms.TanhTransform(), d.transforms.AffineTransform(0.5, 2.0)])
    return flow.log_prob(torch.tensor([0.3, 1.1], dtype=D)).sum()


@piece(T(4, 2))  # a correlation of 1 is clamped to 1, which it is at every point
def covariance_logdet(x):
    c = torch.cov(x.T) + 0.1 * torch.eye(2, dtype=D)
    return torch.logdet(c) + torch.trace(torch.corrcoef(x.T).inverse())


@piece(U(2, 2))
def matrix_functions(a):
    s = a @ a.T + torch.eye(2, dtype=D)
    values, vectors = torch.linalg.eigh(s)
    root = vectors @ torch.diag(values.sqrt()) @ vectors.T
    return torch.kron(root, s).sum() + torch.linalg.matrix_power(a, 3).trace() + torch.block_diag(a, s).sum()


# -- torch.func


@piece(T(3))
def laplacian(x):
    return torch.trace(hessian(lambda z: torch.sin(z).prod() + (z**4).sum())(x))


@piece(T(2))
def jacobian_determinant(x):
    f = lambda z: torch.stack([z[0] ** 2 * z[1], 5 * z[0] + z[1].sin()])
    return torch.det(jacfwd(f)(x)) + jacrev(f)(x)[0, 1]


@piece(T(2, 3))
def wgan_gp(real):
    torch.manual_seed(43)
    critic = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1)).double()
    fake = torch.randn(2, 3, dtype=D)
    eps = torch.rand(2, 1, dtype=D)
    mixed = eps * real + (1 - eps) * fake
    g = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    return critic(fake).mean() - critic(real).mean() + 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()


@piece(T(3))
def hutchinson_trace(x):
    torch.manual_seed(44)
    v = torch.randint(0, 2, (3,)).double() * 2 - 1
    g = torch.autograd.grad((x**3).sum() * x[0], x, create_graph=True)[0]
    hv = torch.autograd.grad(g, x, grad_outputs=v, create_graph=True)[0]
    return (hv * v).sum()


# -- indexing, in place, Python


@piece(T(5))
def top_k_and_gather(x):
    values, idx = torch.topk(x, 3)
    rest = torch.ones(5, dtype=torch.bool).scatter(0, idx, False)
    return (values * torch.tensor([3.0, 2.0, 1.0], dtype=D)).sum() + torch.masked_select(x, rest).prod()


@piece(T(10))
def mask_of_another_shape(x):
    return torch.masked_select(x, torch.ones(10, 10, dtype=torch.bool).tril()) ** 2


@piece(T(3, 3))
def triangular_fill(x):
    out = torch.zeros(3, 3, dtype=D)
    i, j = torch.tril_indices(3, 3)
    out[i, j] = x.flatten()[:6]
    out.diagonal().exp_()
    return out @ out.T


@piece(T(4))
def in_place_scan(x):
    y = x.clone()
    for i in range(1, len(y)):
        y[i] += 0.5 * y[i - 1]
    y[1:3] *= 2
    y.view(2, 2)[0].neg_()
    return y


@piece(T(3, 2))
def early_exit(x):
    total = torch.zeros((), dtype=D)
    for row in x:
        norm = row.norm()
        if norm < 0.2:
            continue
        total = total + norm
        if total > 2.5:
            return total
    return -total


@piece(torch.tensor([-1.0, 4.0], dtype=D), verdict="nan-trap")
def where_with_a_trap(x):
    return torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x)).sum()


@piece(torch.tensor([0.0, 4.0], dtype=D), verdict="undefined")
def root_at_zero(x):
    return torch.sqrt(x).sum()


@piece(T(5))
def spline_by_bucket(y):
    knots = torch.linspace(0, 1, 5, dtype=D)
    t = torch.tensor([0.1, 0.55, 0.9], dtype=D)
    k = torch.bucketize(t, knots) - 1
    frac = (t - knots[k]) / (knots[k + 1] - knots[k])
    return torch.lerp(y[k], y[k + 1], frac)


@piece(T(3).float(), T(3).float())
def float32_throughout(x, w):
    h = torch.sigmoid(x * w)
    return (h / h.sum()).log().mean()


# -- autograd.Function: right ones


@piece(T(3))
def checkpointed(x):
    block = lambda t: torch.tanh(t * t) + t
    return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False).sum()


# -- autograd.Function: those whose gradient is not the derivative


class Round(torch.autograd.Function):
    """A straight-through estimator, on purpose."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


@piece(T(3), verdict="disagree")
def straight_through(x):
    return (Round.apply(x * 4) / 4).sum()


# -- more of Python


@piece(T(3), verdict="cut")
def backward_inside(x):
    z = x.detach().clone().requires_grad_()
    (z**3).sum().backward()
    return (x * z.grad).sum()


@piece(T(3))
def gradient_to_look_at(x):
    (g,) = torch.autograd.grad((x**3).sum(), x, retain_graph=True)
    assert "tensor" in str(g)
    return x.sin().sum()


@piece(T(3))
def fallback_after_an_error(x):
    try:
        return torch.linalg.cholesky(torch.outer(x, x) - torch.eye(3, dtype=D)).sum()
    except RuntimeError:
        return (x**2).sum()


@piece(T(3))
def number_of_terms_by_value(x):
    n = int(x.abs().sum().item() > 0) + 2
    return torch.stack([x**k for k in range(n)])


@piece(T(3))
def three_hundred_steps(x):
    for _ in range(300):
        x = torch.sin(x) + 0.1 * x
    return x.sum()


@piece(T(3))
def scripted(x):
    @torch.jit.script
    def f(z: torch.Tensor):
        return z.relu() * 2

    return f(x)


@piece(torch.arange(3, dtype=D), verdict="disagree")  # the last one is kept, and torch's backward gives 1 to both
def assigned_twice(x):
    y = torch.zeros(2, dtype=D)
    y[torch.tensor([0, 0, 1])] = x
    return y.sum()


@piece(T(2, 2))
def checked_covariance(a):
    cov = a @ a.T + torch.eye(2, dtype=D)
    dist = torch.distributions.MultivariateNormal(torch.zeros(2, dtype=D), covariance_matrix=cov)
    return dist.log_prob(torch.ones(2, dtype=D)) + (cov if torch.equal(cov, cov.T) else a).sum()


@piece(T(2, 3))
def spectral_norm_of_torch(x):
    torch.manual_seed(0)
    return nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2).double()).eval()(x)


@piece(T(4, 3), T(3))
def gradients_of_samples(xs, w):
    return vmap(grad(lambda w, x: (torch.tanh(x @ w) - 1) ** 2), (None, 0))(w, xs).pow(2).sum(1)

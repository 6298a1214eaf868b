"""Solvers, energies, statistics, transforms and custom functions, as people write them; each with its arguments."""

from __future__ import annotations

import collections
import math

import numpy as np
import torch
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from tests.recording.pieces import D, F, T, U, piece

# -- differential equations and simulation


@piece(T(2), T(2, 2))
def neural_ode_euler(y, w):
    for _ in range(6):
        y = y + 0.1 * torch.tanh(w @ y)
    return y


@piece(T(6))
def upwind_advection(u):
    c = 0.4
    for _ in range(3):
        u = u - c * (u - torch.roll(u, 1))
    return (u**2).sum()


@piece(T(3, 3))
def wave_energy(u):
    dx = u[1:, :] - u[:-1, :]
    dy = torch.diff(u, dim=1)
    return 0.5 * dx.square().sum() + 0.5 * dy.square().sum() + F.pad(u, (1, 1, 1, 1)).mean()


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


@piece(U(2))
def unrolled_adam(w):
    m = v = torch.zeros(2, dtype=D)
    b1, b2 = 0.9, 0.999
    for t in range(1, 4):
        g = grad(lambda p: (p**4).sum())(w)
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        w = w - 0.1 * (m / (1 - b1**t)) / ((v / (1 - b2**t)).sqrt() + 1e-8)
    return w.sum()


@piece(T(3), T(3))
def maml_with_functional_call(inner, x):
    torch.manual_seed(40)
    net = nn.Linear(3, 1).double()
    params = {"weight": inner[None], "bias": torch.zeros(1, dtype=D)}
    for _ in range(2):
        g = grad(lambda p: (functional_call(net, p, (x,)) - 1).pow(2).sum())(params)
        params = {k: p - 0.1 * g[k] for k, p in params.items()}
    return functional_call(net, params, (2 * x,)).sum()


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


@piece(T(3), verdict="cut")
def weights_by_sensitivity(x):
    (g,) = torch.autograd.grad(outputs=x.exp().sum(), inputs=x, retain_graph=True)
    return (g / g.sum() * x).sum()


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


@piece(T(4, 2))
def least_squares(a):
    b = torch.tensor([1.0, 0.5, -1.0, 2.0], dtype=D)
    return torch.linalg.lstsq(a, b[:, None]).solution.squeeze()


@piece(T(4, 2))
def ridge_and_pinv(a):
    b = torch.tensor([1.0, 0.5, -1.0, 2.0], dtype=D)
    w = torch.linalg.solve(a.T @ a + 0.1 * torch.eye(2, dtype=D), a.T @ b)
    return torch.cat([w, torch.linalg.pinv(a) @ b])


@piece(T(2, 2), T(2))
def mvn_log_prob(L, mu):
    tril = torch.tril(L, -1) + torch.diag(L.diagonal().exp())
    dist = torch.distributions.MultivariateNormal(mu, scale_tril=tril)
    return dist.log_prob(torch.tensor([0.5, -0.5], dtype=D))


@piece(U(2), U(3), verdict="unchecked")  # a distance of 0
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


@piece(T(5))
def kernel_density(x):
    grid = torch.linspace(-1, 1, 3, dtype=D)
    return torch.exp(-((grid[:, None] - x) ** 2) / 0.18).mean(1) / (0.3 * math.sqrt(2 * math.pi))


@piece(T(6))
def robust_median(x):
    mad = (x - x.median()).abs().median()
    return torch.tanh((x - x.mean()) / mad).sum()


@piece(T(4, 2), verdict="unchecked")  # a correlation of 1 is clamped to 1
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


@piece(T(3, 2), T(2))
def per_sample_gradients(xs, w):
    loss = lambda w, x: torch.tanh(w @ x) ** 2
    return vmap(grad(loss), in_dims=(None, 0))(w, xs).norm(dim=1)


@piece(T(2))
def jacobian_determinant(x):
    f = lambda z: torch.stack([z[0] ** 2 * z[1], 5 * z[0] + z[1].sin()])
    return torch.det(jacfwd(f)(x)) + jacrev(f)(x)[0, 1]


@piece(T(3), T(3))
def vjp_and_jvp(x, v):
    y, pull = vjp(torch.tanh, x)
    _, push = jvp(lambda z: z.exp().cumsum(0), (x,), (v,))
    return y + pull(v)[0] * push


@piece(T(2, 3))
def wgan_gp(real):
    torch.manual_seed(43)
    critic = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1)).double()
    fake = torch.randn(2, 3, dtype=D)
    eps = torch.rand(2, 1, dtype=D)
    mixed = eps * real + (1 - eps) * fake
    g = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    return critic(fake).mean() - critic(real).mean() + 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()


@piece(T(2))
def score_matching(x):
    energy = lambda z: (z[0] ** 2 - 1) ** 2 + z[1] ** 2 * z[0].cos()
    score = grad(lambda z: -energy(z))(x)
    return 0.5 * (score**2).sum() + torch.func.jacfwd(grad(lambda z: -energy(z)))(x).trace()


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


@piece(T(4))
def generator_pipeline(x):
    def windows(t, n):
        for i in range(len(t) - n + 1):
            yield t[i : i + n]

    return torch.stack([w.mean() * w.max() for w in windows(x, 2)])


@piece(T(2, 3))
def where_with_safe_inner(x):
    safe = torch.where(x > 0, x, torch.ones_like(x))
    return torch.where(x > 0, safe.sqrt(), 0.1 * x)


@piece(torch.tensor([-1.0, 4.0], dtype=D), verdict="nan-trap")
def where_with_a_trap(x):
    return torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x)).sum()


@piece(torch.tensor([0.0, 4.0], dtype=D), verdict="undefined")
def root_at_zero(x):
    return torch.sqrt(x).sum()


@piece(T(3, 2), T(2, 3))
def named_einsum_and_tensordot(a, b):
    c = torch.einsum("...ij,jk->...ik", a, b)
    return torch.tensordot(c, a, dims=([1], [0])) + torch.chain_matmul(a, b, a)


@piece(T(4))
def polynomial_by_horner(c):
    xs = torch.linspace(-1, 1, 3, dtype=D)
    return torch.stack([functools_horner(c, x) for x in xs]) + torch.vander(xs, 4, increasing=True) @ c


def functools_horner(coefficients, x):
    acc = 0
    for c in coefficients.flip(0):
        acc = acc * x + c
    return acc


@piece(T(5))
def spline_by_bucket(y):
    knots = torch.linspace(0, 1, 5, dtype=D)
    t = torch.tensor([0.1, 0.55, 0.9], dtype=D)
    k = torch.bucketize(t, knots) - 1
    frac = (t - knots[k]) / (knots[k + 1] - knots[k])
    return torch.lerp(y[k], y[k + 1], frac)


@piece(T(4), T(3))
def correlate(signal, kernel):
    full = F.conv1d(signal[None, None], kernel.flip(0)[None, None], padding=2).squeeze()
    by_hand = torch.stack([(signal[i : i + 2] * kernel[:2]).sum() for i in range(3)])
    return torch.cat([full, by_hand])


@piece(T(3).float(), T(3).float())
def float32_throughout(x, w):
    h = torch.sigmoid(x * w)
    return (h / h.sum()).log().mean()


@piece(T(3))
def mixed_dtypes(x):
    idx = torch.tensor([2, 0, 1])
    weights = torch.tensor([1, 2, 3])
    half = torch.tensor([0.5, 0.25, 0.125], dtype=torch.float16)
    return (x[idx] * weights * half.to(x.dtype)).sum() / torch.tensor(4)


@piece(T(3), verdict="cut")
def normalized_by_item(x):
    scale = x.abs().max().item()
    return ((x / scale) ** 3).sum()


@piece(T(3), verdict="cut")
def teacher_without_grad(x):
    with torch.no_grad():
        target = torch.tanh(2 * x)
    return F.mse_loss(x, target)


@piece(T(3), verdict="cut")
def stop_gradient_target(q):
    return (q[0] - (1.0 + 0.9 * q[1:].max().detach())) ** 2


@piece(T(3), verdict="cut")
def numpy_in_the_middle(x):
    weights = np.exp(-(x.detach().numpy() ** 2))
    return (x * torch.from_numpy(weights)).sum()


@piece(T(3), verdict="cut")
def weight_by_float(x):
    return torch.exp(-x * float(x.sum())).sum()


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


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.lam, None


@piece(T(3), verdict="disagree")
def gradient_reversal(x):
    return (Reverse.apply(x.tanh(), 0.5) ** 2).sum()


class WrongSoftmax(torch.autograd.Function):
    """The diagonal of the Jacobian alone."""

    @staticmethod
    def forward(ctx, x):
        p = torch.softmax(x, -1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g * p * (1 - p)


@piece(T(3), verdict="disagree")
def softmax_without_its_rest(x):
    return WrongSoftmax.apply(x) @ torch.tensor([1.0, 2.0, 3.0], dtype=D)


@piece(T(3), verdict="disagree")
def hook_that_doubles_the_gradient(x):
    y = x * 2
    y.register_hook(lambda g: 2 * g)
    return (y**2).sum()


@piece(T(3), verdict="disagree")
def clipped_gradient_by_hook(x):
    y = 10 * x**2
    y.register_hook(lambda g: g.clamp(-0.1, 0.1))
    return y.sum()


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


@piece(U(3))
def special_functions(x):
    special = torch.special.i0(x) + torch.special.ndtr(x) + torch.special.entr(x) + torch.special.xlog1py(x, x)
    return special + torch.lgamma(x) + torch.digamma(x) + torch.erfinv(x / 3)


@piece(T(3, 3))
def lu_factors(a):
    _, lower, upper = torch.linalg.lu(a + 3 * torch.eye(3, dtype=D))
    return lower.sum() + upper.diagonal().prod()


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


@piece(T(3))
def hessian_by_an_element(x):
    return hessian(lambda z: (z**4).sum() * z[0])(x).sum()


@piece(T(2, 3))
def spectral_norm_of_torch(x):
    torch.manual_seed(0)
    return nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2).double()).eval()(x)


@piece(T(2, 3, 3), T(2, 3, 2))
def batched_factors(a, b):
    s = a @ a.mT + torch.eye(3, dtype=D)
    lower = torch.linalg.cholesky(s)
    x = torch.linalg.solve(s, b) + torch.cholesky_solve(b, lower) + torch.linalg.lu_solve(*torch.linalg.lu_factor(s), b)
    right = torch.linalg.solve(s[0], b.mT, left=False)
    return x.sum((0, 2)) + torch.linalg.qr(s)[1].diagonal(dim1=1, dim2=2).abs().sum(0) + right.sum((0, 1))


@piece(T(4, 3), T(3))
def gradients_of_samples(xs, w):
    return vmap(grad(lambda w, x: (torch.tanh(x @ w) - 1) ** 2), (None, 0))(w, xs).pow(2).sum(1)


@piece(T(3))
def laplacian_by_directions(x):
    f = lambda z: (z[0] ** 2 * z[1] * z[2]).sin()
    return sum(jvp(grad(f), (x,), (e,))[1] @ e for e in torch.eye(3, dtype=D))

"""Solvers, energies, statistics, transforms and custom functions, as people write them; each with its arguments."""

from __future__ import annotations

import collections
import itertools
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


@piece(T(2), U(4))
def lotka_volterra_rk4(start, p):
    alpha, beta, delta, gamma = p

    def f(s):
        prey, pred = s[0], s[1]
        return torch.stack([alpha * prey - beta * prey * pred, delta * prey * pred - gamma * pred])

    s, h = start, 0.05
    for _ in range(4):
        k1 = f(s)
        k2 = f(s + h / 2 * k1)
        k3 = f(s + h / 2 * k2)
        k4 = f(s + h * k3)
        s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return s


@piece(T(2), T(2))
def leapfrog_pendulum(q, p):
    for _ in range(5):
        p = p - 0.05 * torch.sin(q)
        q = q + 0.1 * p
        p = p - 0.05 * torch.sin(q)
    return 0.5 * p**2 - torch.cos(q)


@piece(T(2))
def hamiltonian_field(state):
    q, p = state
    h = 0.5 * p**2 + 0.25 * q**4
    dh = torch.autograd.grad(h, state, create_graph=True)[0]
    return torch.stack((dh[1], -dh[0]))


@piece(T(6))
def heat_equation(u):
    for _ in range(3):
        lap = torch.zeros_like(u)
        lap[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        u = u + 0.2 * lap
    return u


@piece(T(6))
def upwind_advection(u):
    c = 0.4
    for _ in range(3):
        u = u - c * (u - torch.roll(u, 1))
    return (u**2).sum()


@piece(T(5))
def burgers_finite_volume(u):
    for _ in range(2):
        left, right = u, torch.roll(u, -1)
        speed = torch.maximum(left.abs(), right.abs())
        flux = 0.5 * (0.5 * left**2 + 0.5 * right**2) - 0.5 * speed * (right - left)
        u = u - 0.1 * (flux - torch.roll(flux, 1))
    return u


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


@piece(T(3, 3))
def coulomb_and_springs(x):
    energy = torch.zeros((), dtype=D)
    for a, b in itertools.combinations(range(len(x)), 2):
        r = torch.linalg.norm(x[a] - x[b])
        energy += 1 / r + 0.5 * (r - 1.0) ** 2
    return energy


@piece(T(4, 3))
def dihedral(p):
    b0, b1, b2 = p[0] - p[1], p[2] - p[1], p[3] - p[2]
    b1 = b1 / b1.norm()
    v = b0 - (b0 @ b1) * b1
    w = b2 - (b2 @ b1) * b1
    return torch.atan2(torch.linalg.cross(b1, v) @ w, v @ w)


@piece(T(4))
def quaternion_rotation(q):
    w, x, y, z = q / q.norm()
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    R = torch.stack([torch.stack(row) for row in rows])
    return R @ torch.tensor([1.0, 2.0, 3.0], dtype=D)


@piece(U(3))
def projectile_until_landed(v):
    x, y, vy, dt, steps = 0.0, torch.ones((), dtype=D), v[1], 0.05, 0
    while y > 0 and steps < 100:
        x = x + v[0] * dt
        vy = vy - 9.81 * dt * v[2]
        y = y + vy * dt
        steps += 1
    return torch.stack([x, y])


@piece(U(2), T(3))
def kalman_filter(noise, zs):
    q, r = noise
    x, p, ll = torch.zeros((), dtype=D), torch.ones((), dtype=D), 0.0
    for z in zs:
        p = p + q
        s = p + r
        k = p / s
        innov = z - x
        ll = ll - 0.5 * (torch.log(2 * torch.pi * s) + innov**2 / s)
        x = x + k * innov
        p = (1 - k) * p
    return ll


@piece(T(2, 2))
def kalman_of_matrices(a):
    P = torch.eye(2, dtype=D)
    H = torch.tensor([[1.0, 0.0]], dtype=D)
    x = torch.tensor([1.0, -1.0], dtype=D)
    for z in (0.5, 1.5):
        x, P = a @ x, a @ P @ a.T + 0.1 * torch.eye(2, dtype=D)
        S = H @ P @ H.T + 0.2
        K = P @ H.T @ torch.linalg.inv(S)
        x = x + (K @ (z - H @ x)[:, None]).squeeze(-1)
        P = (torch.eye(2, dtype=D) - K @ H) @ P
    return x


@piece(T(3), T(3, 3))
def hmm_forward(log_pi, logits):
    log_a = F.log_softmax(logits, dim=1)
    emit = torch.tensor([[0.7, 0.1], [0.2, 0.3], [0.1, 0.6]], dtype=D).log()
    alpha = F.log_softmax(log_pi, 0) + emit[:, 0]
    for obs in (1, 0, 1):
        alpha = torch.logsumexp(alpha[:, None] + log_a, dim=0) + emit[:, obs]
    return torch.logsumexp(alpha, 0)


@piece(T(3, 3), T(3))
def viterbi_score(trans, start):
    score = start
    for emission in torch.tensor([[0.1, 0.5, -0.2], [0.3, -0.4, 0.8]], dtype=D):
        score, _ = (score.unsqueeze(1) + trans).max(dim=0)
        score = score + emission
    return score.max()


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


@piece(T(2))
def unrolled_momentum_by_formula(w):
    v = torch.zeros_like(w)
    for t in range(5):
        g = 2 * (w - torch.tensor([1.0, -1.0], dtype=D)) * torch.tensor([1.0, 10.0], dtype=D)
        v = 0.9 * v - 0.02 * g
        w = w + v
        if t > 2:
            w = w.clamp(-2, 2)
    return w


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


@piece(U(3))
def bisection_is_a_cut(a):
    lo, hi = 0.0, 3.0
    for _ in range(60):
        mid = (lo + hi) / 2
        if mid**3 - float(a.sum()) > 0:
            hi = mid
        else:
            lo = mid
    return a.sum() * 0 + a.prod() + 0 * mid


@piece(U(3, 3))
def conjugate_gradient(m):
    A = m @ m.T + torch.eye(3, dtype=D)
    b = torch.tensor([1.0, 2.0, 3.0], dtype=D)
    x = torch.zeros(3, dtype=D)
    r = p = b
    for _ in range(3):
        rs = r @ r
        Ap = A @ p
        a = rs / (p @ Ap)
        x = x + a * p
        r = r - a * Ap
        p = r + (r @ r) / rs * p
    return x


@piece(T(2, 2))
def newton_schulz(m):
    x = m / m.norm()
    for _ in range(4):
        x = 1.5 * x - 0.5 * x @ x.T @ x
    return x


@piece(T(3))
def power_iteration(v):
    A = torch.tensor([[2.0, 1, 0], [1, 3, 1], [0, 1, 1]], dtype=D)
    for _ in range(3):
        v = A @ v
        v = v / torch.linalg.vector_norm(v)
    return v @ A @ v


# -- linear algebra and statistics


@piece(T(3, 2))
def gram_schmidt(a):
    basis = []
    for v in a.T:
        w = v - sum(((v @ b) * b for b in basis), torch.zeros_like(v))
        basis.append(w / w.norm())
    return torch.stack(basis)


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


@piece(U(4))
def several_distributions(p):
    d = torch.distributions
    x = torch.tensor(0.4, dtype=D)
    terms = [
        d.Gamma(p[0], p[1]).log_prob(x),
        d.Beta(p[2], p[3]).log_prob(x),
        d.Laplace(p[0], p[1]).log_prob(x),
        d.StudentT(p[2] + 2).log_prob(x),
        d.Poisson(p[3]).log_prob(torch.tensor(3.0, dtype=D)),
        d.Exponential(p[1]).log_prob(x),
    ]
    return torch.stack(terms)


@piece(U(3))
def dirichlet_and_kl(a):
    p = torch.distributions.Dirichlet(a + 1)
    q = torch.distributions.Dirichlet(torch.ones(3, dtype=D))
    return torch.distributions.kl_divergence(p, q) + p.entropy()


@piece(T(2))
def reparametrized_sample(p):
    torch.manual_seed(41)
    d = torch.distributions.Normal(p[0], p[1].exp())
    z = d.rsample((4,))
    return (z**2).mean() - d.entropy()


@piece(T(3))
def mixture_same_family(logits):
    d = torch.distributions
    mix = d.Categorical(logits=logits)
    comp = d.Normal(logits, torch.ones(3, dtype=D))
    return d.MixtureSameFamily(mix, comp).log_prob(torch.tensor([0.1, -0.7], dtype=D))


@piece(T(2))
def transformed_distribution(p):
    d = torch.distributions
    base = d.Normal(p[0], p[1].exp())
    flow = d.TransformedDistribution(base, [d.transforms.TanhTransform(), d.transforms.AffineTransform(0.5, 2.0)])
    return flow.log_prob(torch.tensor([0.3, 1.1], dtype=D)).sum()


@piece(T(4), T(6))
def affine_coupling_flow(x, w):
    x1, x2 = x[:2], x[2:]
    s = torch.tanh(w[:2] * x1 + w[2])
    t = w[3:5] * x1 + w[5]
    z = torch.cat([x1, x2 * torch.exp(s) + t])
    return -0.5 * (z**2).sum() + s.sum()


@piece(T(2), T(2), T())
def planar_flow(z, w, b):
    u = torch.tensor([0.5, -0.3], dtype=D)
    u = u + (F.softplus(w @ u) - 1 - w @ u) * w / (w @ w)
    h = torch.tanh(w @ z + b)
    logdet = torch.log(torch.abs(1 + u @ ((1 - h**2) * w)))
    return torch.cat([z + u * h, logdet[None]])


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


@piece(U(2, 1))
def physics_informed(x):
    torch.manual_seed(42)
    net = nn.Sequential(nn.Linear(1, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    u = net(x)
    (du,) = torch.autograd.grad(u.sum(), x, create_graph=True)
    (ddu,) = torch.autograd.grad(du.sum(), x, create_graph=True)
    return ((ddu + u) ** 2).mean()


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


@piece(T(4))
def masked_assignment(x):
    y = torch.empty_like(x)
    mask = x > 0
    y[mask] = torch.log1p(x[mask])
    y[~mask] = -((-x[~mask]) ** 1.5)
    return y


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


@piece(T(3))
def dictionary_of_tensors(x):
    state = {"a": x, "b": x.sin()}
    state |= {f"{k}2": v**2 for k, v in state.items()}
    Pair = collections.namedtuple("Pair", "first second")
    pair = Pair(first=state["a2"], second=sum(state.values()))
    return pair.first * pair.second


@piece(T(3, 4))
def ragged_segments(x):
    lengths = [1, 3]
    parts = torch.split(x.reshape(-1)[:4], lengths)
    return torch.stack([p.mean() for p in parts]) * torch.tensor(lengths)


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


@piece(T(5))
def smoothing_and_trapezoid(x):
    ema = [x[0]]
    for value in x[1:]:
        ema.append(0.8 * ema[-1] + 0.2 * value)
    return torch.trapezoid(torch.stack(ema), dx=0.5) + torch.cumulative_trapezoid(x).prod()


@piece(T(4))
def discrete_cosine_by_matrix(x):
    n = torch.arange(4, dtype=D)
    basis = torch.cos(math.pi / 4 * (n[None] + 0.5) * n[:, None])
    return (basis @ x).abs().log1p()


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


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


@piece(T(3))
def custom_exp(x):
    return Exp.apply(Exp.apply(0.5 * x)).sum()


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


@piece(T(2, 3), T(2, 3), T(2))
def custom_linear(x, w, b):
    return LinearFunction.apply(x, w, b).pow(2).sum()


class PolarOf(torch.autograd.Function):
    """Two outputs, and two inputs."""

    @staticmethod
    def forward(ctx, x, y):
        r = torch.sqrt(x * x + y * y)
        ctx.save_for_backward(x, y, r)
        return r, torch.atan2(y, x)

    @staticmethod
    def backward(ctx, gr, gt):
        x, y, r = ctx.saved_tensors
        return gr * x / r - gt * y / r**2, gr * y / r + gt * x / r**2


@piece(T(3), T(3))
def custom_polar(x, y):
    r, theta = PolarOf.apply(x, y)
    return (r * theta).sum()


class Power(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.n = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


@piece(T(3))
def custom_power(x):
    return Power.apply(x, 3) + Power.apply(x, 1)


class Swish(torch.autograd.Function):
    """Saves memory: what backward needs is computed again."""

    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * torch.sigmoid(beta * x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(ctx.beta * x)
        return g * (s + ctx.beta * x * s * (1 - s)), None


@piece(T(4))
def custom_swish(x):
    return Swish.apply(x, 1.5)


class StableLogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        m = x.max()
        e = (x - m).exp()
        ctx.mark_non_differentiable(m)
        ctx.save_for_backward(e)
        return e.sum().log() + m, m

    @staticmethod
    def backward(ctx, g, _):
        (e,) = ctx.saved_tensors
        return g * e / e.sum()


@piece(T(4))
def custom_log_sum_exp(x):
    out, largest = StableLogSumExp.apply(x)
    return out + 0 * largest


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


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x


@piece(U(3) + 1, verdict="disagree")
def wrong_power(x):
    return Cubed.apply(x).sum()


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


class WrongNorm(torch.autograd.Function):
    """Forgets that the mean depends on x."""

    @staticmethod
    def forward(ctx, x, w):
        xhat = (x - x.mean()) / (x.var(unbiased=False) + 1e-5).sqrt()
        ctx.save_for_backward(xhat, w, x)
        return xhat * w

    @staticmethod
    def backward(ctx, g):
        xhat, w, x = ctx.saved_tensors
        return g * w / (x.var(unbiased=False) + 1e-5).sqrt(), g * xhat


@piece(T(4), U(4), verdict="disagree")
def norm_without_its_mean(x, w):
    return (WrongNorm.apply(x, w) ** 2 * torch.arange(4)).sum()


class ClipSaturated(torch.autograd.Function):
    """Passes the gradient where the clip is flat."""

    @staticmethod
    def forward(ctx, x):
        return x.clamp(-0.5, 0.5)

    @staticmethod
    def backward(ctx, g):
        return g.clone()


@piece(torch.tensor([0.1, 2.0], dtype=D), verdict="disagree")
def clip_that_passes(x):
    return ClipSaturated.apply(x).sum()


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

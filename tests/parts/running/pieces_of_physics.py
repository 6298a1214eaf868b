"""Physics, statistics, projections and loops of optimizers, as people write them; each with its arguments."""

import itertools
import math

import numpy as np
import torch
from torch.func import functional_call, grad, hessian, jacrev, jvp, vjp, vmap

from tests.parts.running.pieces import D, F, T, U, piece


def at(*numbers):
    return torch.tensor(numbers, dtype=D)


# -- equations that are solved


@piece(at(0.8), at(0.3))
def kepler(mean_anomaly, eccentricity):
    E = mean_anomaly
    for _ in range(8):
        E = E - (E - eccentricity * torch.sin(E) - mean_anomaly) / (1 - eccentricity * torch.cos(E))
    return torch.cos(E) - eccentricity


@piece(at(2.0))
def square_root_by_newton(a):
    x = torch.ones_like(a)
    while (x * x - a).abs().max() > 1e-12:
        x = 0.5 * (x + a / x)
    return x


class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        x = torch.ones_like(a)
        for _ in range(30):
            x = 0.5 * (x + a / x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / (2 * x)


@piece(U(3))
def implicit_square_root(a):
    return Root.apply(a).sum()


@piece(T(2), U(2))
def runge_kutta(y, k):
    def f(y):
        return torch.stack([y[1], -k[0] * y[0] - k[1] * y[1]])

    h = 0.1
    for _ in range(5):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y.pow(2).sum()


@piece(T(2), T(2))
def leapfrog(q, p):
    for _ in range(4):
        p = p - 0.05 * (q + q**3)
        q = q + 0.1 * p
        p = p - 0.05 * (q + q**3)
    return 0.5 * (p**2).sum() + (q**2 / 2 + q**4 / 4).sum()


@piece(U(2))
def lotka_volterra(state):
    x, y = state
    for _ in range(6):
        x, y = x + 0.05 * (1.1 * x - 0.4 * x * y), y + 0.05 * (0.1 * x * y - 0.4 * y)
    return x + y


@piece(U(3))
def chemical_kinetics(rates):
    c = at(1.0, 0.0, 0.0)
    for _ in range(4):
        r1, r2 = rates[0] * c[0], rates[1] * c[1] ** 2
        c = c + 0.1 * torch.stack([-r1, r1 - r2, r2 * rates[2]])
    return c[2]


@piece(at(0.5, 1.0), verdict="kink")
def bouncing_at_the_floor(v):
    height = 1.0 - v
    return torch.where(height <= 0, -0.8 * v, v).sum()


@piece(at(0.5, 1.0), verdict="cut")
def penalty_of_the_change(v):
    return torch.clamp(v - 0.5 * v.detach(), min=0.0).sum()


@piece(T(6))
def heat_equation(u):
    for _ in range(3):
        u = torch.cat([u[:1], u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])
    return u.pow(2).sum()


@piece(T(4, 4))
def laplacian_in_place(u):
    out = torch.zeros_like(u)
    out[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    return out.pow(2).sum()


@piece(T(5))
def burgers_residual(u):
    ux = (torch.roll(u, -1) - torch.roll(u, 1)) / 0.4
    uxx = (torch.roll(u, -1) - 2 * u + torch.roll(u, 1)) / 0.04
    return ((u * ux - 0.01 * uxx) ** 2).mean()


@piece(T(4, 1), T(1, 3), T(3, 1))
def pinn_residual(x, w1, w2):
    x = x.clone().requires_grad_()
    u = torch.tanh(x @ w1) @ w2
    du = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    d2u = torch.autograd.grad(du.sum(), x, create_graph=True)[0]
    return ((d2u + u) ** 2).mean()


# -- energies


@piece(T(4, 4))
def ising_mean_field(m):
    s = torch.tanh(m)
    return -(s * torch.roll(s, 1, 0) + s * torch.roll(s, 1, 1)).sum() - 0.3 * s.sum()


@piece(T(4, 3))
def pairwise_potential(pos):
    diff = pos[:, None, :] - pos[None, :, :]
    r2 = (diff**2).sum(-1) + torch.eye(4, dtype=D)
    inv = 1 / (r2 + 1)
    return 0.5 * (inv**6 - inv**3).sum()


@piece(T(3, 2))
def coulomb(pos):
    e = 0
    for i, j in itertools.combinations(range(3), 2):
        e = e + 1.0 / torch.norm(pos[i] - pos[j])
    return e


@piece(T(4, 2))
def forces_of_springs(pos):
    def energy(p):
        return ((p[1:] - p[:-1]).norm(dim=1) - 1).pow(2).sum()

    return grad(energy)(pos).pow(2).sum()


@piece(T(3), T(3))
def bond_angle(a, b):
    cos = torch.dot(a, b) / (a.norm() * b.norm())
    return (torch.acos(cos.clamp(-0.999999, 0.999999)) - 1.9) ** 2


@piece(T(4))
def quaternion_rotation(q):
    w, x, y, z = q / q.norm()
    R = torch.stack(
        [
            torch.stack([1 - 2 * (y**2 + z**2), 2 * (x * y - z * w), 2 * (x * z + y * w)]),
            torch.stack([2 * (x * y + z * w), 1 - 2 * (x**2 + z**2), 2 * (y * z - x * w)]),
            torch.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x**2 + y**2)]),
        ]
    )
    return (R @ at(1.0, 2.0, -1.0))[0]


@piece(T(3))
def rodrigues(r):
    theta = r.norm()
    k = r / theta
    K = torch.zeros(3, 3, dtype=D)
    K[0, 1], K[0, 2], K[1, 2] = -k[2], k[1], -k[0]
    K = K - K.T
    R = torch.eye(3, dtype=D) + torch.sin(theta) * K + (1 - torch.cos(theta)) * K @ K
    return (R @ at(0.3, -0.2, 0.9)).pow(3).sum()


@piece(U(3))
def camera_projection(p):
    K = torch.tensor([[500.0, 0, 320], [0, 500, 240], [0, 0, 1]], dtype=D)
    uv = K @ p
    return ((uv[:2] / uv[2] - at(600.0, 500.0)) ** 2).sum() / 1e4


@piece(T(4), T(4))
def quantum_expectation(re, im):
    psi = torch.complex(re, im)
    psi = psi / psi.abs().pow(2).sum().sqrt()
    H = torch.diag(at(1.0, 2.0, 3.0, 4.0)).to(torch.complex128)
    return (psi.conj() @ (H @ psi)).real


@piece(torch.tensor(0.3, dtype=D), torch.tensor(-0.7, dtype=D))
def rotation_gates(a, b):
    c, s = torch.cos(a / 2), torch.sin(a / 2)
    ry = torch.stack([torch.stack([c, -s]), torch.stack([s, c])]).to(torch.complex128)
    rz = torch.diag(torch.exp(torch.stack([-0.5j * b, 0.5j * b])))
    state = rz @ ry @ torch.tensor([1.0, 0.0], dtype=torch.complex128)
    return state.abs().pow(2)[0] + state.imag.sum()


@piece(T(6))
def power_spectrum(x):
    f = torch.fft.rfft(x * torch.hann_window(6, dtype=D))
    return torch.log1p(f.abs() ** 2).sum()


@piece(T(6), T(3))
def convolution_theorem(x, k):
    return torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(k, n=6), n=6).pow(2).sum()


@piece(T(6))
def autocorrelation(x):
    f = torch.fft.fft(x)
    return torch.fft.ifft(f * f.conj()).real[1:3].sum()


# -- interpolation


@piece(T(4), at(0.3, 1.6, 2.2))
def linear_interpolation(values, x):
    i = x.floor().long().clamp(0, 2)
    t = x - i
    return (values[i] * (1 - t) + values[i + 1] * t).sum()


@piece(T(5), at(1.3))
def catmull_rom(p, x):
    i = int(x)
    t = x - i
    a, b, c, d = p[i - 1], p[i], p[i + 1], p[i + 2]
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)


@piece(at(0.2, 0.7), T(4))
def de_boor(x, c):
    total = 0
    for n in range(4):
        u = (3 * x - n).abs()
        total = total + c[n] * torch.where(u < 1, (2 / 3 - u**2 + u**3 / 2), torch.relu(2 - u) ** 3 / 6)
    return total.sum()


@piece(at(1.0, 2.0), T(4), verdict="kink")
def linear_interpolation_at_a_knot(x, values):
    i = x.floor().long().clamp(0, 2)
    return (values[i] + (x - i) * (values[i + 1] - values[i])).sum()


@piece(at(0.4, 0.9))
def polynomial_by_horner(x):
    y = torch.zeros_like(x)
    for c in (1.0, -2.0, 0.5, 3.0):
        y = y * x + c
    return y.prod()


@piece(at(0.4, -0.9))
def chebyshev_series(x):
    t0, t1, total = torch.ones_like(x), x, 0.5 + 0.3 * x
    for c in (0.2, -0.1, 0.05):
        t0, t1 = t1, 2 * x * t1 - t0
        total = total + c * t1
    return total.sum()


# -- statistics


@piece(T(4, 1), U(2))
def gaussian_process(x, theta):
    K = theta[0] * torch.exp(-0.5 * torch.cdist(x, x + 1e-3) ** 2 / theta[1]) + 0.1 * torch.eye(4, dtype=D)
    K = 0.5 * (K + K.T)
    y = x.squeeze() ** 2
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y[:, None], L).squeeze()
    return 0.5 * y @ alpha + L.diagonal().log().sum()


@piece(T(2), U(2))
def kalman_step(mean, var):
    A = torch.tensor([[1.0, 0.1], [0.0, 1.0]], dtype=D)
    P = torch.diag(var)
    m, P = A @ mean, A @ P @ A.T + 0.01 * torch.eye(2, dtype=D)
    H = torch.tensor([[1.0, 0.0]], dtype=D)
    S = H @ P @ H.T + 0.1
    K = P @ H.T / S
    m = m + (K * (0.5 - H @ m)).squeeze(1)
    P = (torch.eye(2, dtype=D) - K @ H) @ P
    return m.pow(2).sum() + P.trace()


@piece(T(2), T(3))
def multivariate_normal(mu, raw):
    L = torch.zeros(2, 2, dtype=D)
    L[0, 0], L[1, 0], L[1, 1] = raw[0].exp(), raw[1], raw[2].exp()
    dist = torch.distributions.MultivariateNormal(mu, scale_tril=L)
    return dist.log_prob(at(0.5, -0.5)) + dist.entropy()


@piece(T(3))
def hidden_markov(logits):
    A = torch.stack([logits, logits.flip(0), logits * 0]).log_softmax(-1)
    alpha = torch.zeros(3, dtype=D)
    for obs in (0, 2, 1):
        alpha = torch.logsumexp(alpha[:, None] + A, 0) + logits[obs] * 0.1
    return alpha.logsumexp(0)


@piece(U(2), U(2))
def beta_likelihood(a, b):
    return torch.distributions.Beta(a, b).log_prob(at(0.3, 0.6)).sum()


@piece(U(2), U(2), verdict="inaccurate")  # torch has about ten digits of trigamma
def gamma_divergence(a, b):
    p = torch.distributions.Gamma(a, b)
    return torch.distributions.kl_divergence(p, torch.distributions.Gamma(at(2.0, 1.0), at(1.0, 1.0))).sum()


@piece(U(2), verdict="unchecked")
def gamma_sample(a):
    return torch.distributions.Gamma(a, 1.0).rsample().log().sum()


@piece(T(3), U(3))
def laplace_sample(loc, scale):
    return torch.distributions.Laplace(loc, scale).rsample().pow(2).sum()


@piece(T(3))
def gumbel_softmax_soft(logits):
    return (F.gumbel_softmax(logits, tau=0.7) * at(1.0, 2.0, 3.0)).sum()


@piece(T(3), verdict="cut")
def score_function_estimator(mu):
    dist = torch.distributions.Normal(mu, 1.0)
    sample = dist.sample()
    return (dist.log_prob(sample) * (sample**2)).sum()


@piece(U(4))
def weibull_fit(k):
    t = at(0.5, 1.0, 1.5, 2.0)
    return -(k.log() + (k - 1) * t.log() - t**k).sum()


@piece(T(5))
def empirical_quantile(x):
    return torch.quantile(x, 0.3) + x.median()


# -- projections and loops of optimizers


@piece(at(0.5, 1.2, -0.3, 0.1))
def onto_the_simplex(v):
    u, _ = torch.sort(v, descending=True)
    css = u.cumsum(0) - 1
    ind = torch.arange(1, 5, dtype=D)
    rho = int(((u - css / ind) > 0).sum())
    return torch.clamp(v - css[rho - 1] / rho, min=0).pow(2).sum()


@piece(at(0.5, 1.2, -0.3))
def sparsemax(z):
    s = z.sort(descending=True).values
    k = torch.arange(1, 4, dtype=D)
    support = 1 + k * s > s.cumsum(0)
    tau = (s[support].sum() - 1) / support.sum()
    return (torch.relu(z - tau) * k).sum()


@piece(at(0.5, -1.2, 0.05))
def soft_threshold(x):
    return (torch.sign(x) * torch.clamp(x.abs() - 0.1, min=0)).pow(2).sum()


@piece(at(0.5, -1.0, 0.1), verdict="kink")
def soft_threshold_at_its_edge(x):
    return (x.sign() * F.relu(x.abs() - 0.5)).sum()


@piece(T(3))
def onto_the_ball(x):
    norm = x.norm()
    return (x / torch.clamp(norm, min=0.5)).pow(3).sum()


@piece(T(3, 3))
def sinkhorn(cost):
    f = g = torch.zeros(3, dtype=D)
    for _ in range(5):
        f = -0.5 * torch.logsumexp((g[None] - cost) / 0.5, 1)
        g = -0.5 * torch.logsumexp((f[:, None] - cost) / 0.5, 0)
    plan = torch.exp((f[:, None] + g[None] - cost) / 0.5)
    return (plan * cost).sum()


@piece(T(3), U(1))
def unrolled_ista(b, lam):
    A = torch.tensor([[1.0, 0.2], [0.3, -1.0], [0.5, 0.4]], dtype=D)
    x = torch.zeros(2, dtype=D)
    for _ in range(4):
        x = x - 0.3 * A.T @ (A @ x - b)
        x = x.sign() * torch.relu(x.abs() - 0.01 * lam)
    return x.pow(2).sum()


@piece(T(2), U(1))
def unrolled_adam(w, lr):
    m = v = torch.zeros_like(w)
    for t in range(1, 4):
        g = 2 * (w - at(1.0, -1.0))
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        w = w - 0.1 * lr * (m / (1 - 0.9**t)) / ((v / (1 - 0.99**t)).sqrt() + 1e-8)
    return (w**2).sum()


@piece(T(3))
def conjugate_gradient(b):
    A = torch.tensor([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]], dtype=D)
    x, r = torch.zeros(3, dtype=D), b
    p = r
    for _ in range(2):
        Ap = A @ p
        alpha = (r @ r) / (p @ Ap)
        x, new = x + alpha * p, r - alpha * Ap
        p, r = new + (new @ new) / (r @ r) * p, new
    return x.sum()


@piece(T(3))
def power_iteration(v):
    A = torch.tensor([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 1.0]], dtype=D)
    for _ in range(3):
        v = A @ v
        v = v / v.norm()
    return v @ A @ v


@piece(T(3, 3))
def matrix_sign_by_newton_schulz(g):
    x = g / (g.norm() + 1e-7)
    for _ in range(3):
        a = x @ x.T
        x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
    return x.sum()


@piece(T(3, 2))
def procrustes(a):
    u, _, vh = torch.linalg.svd(a.T @ torch.tensor([[1.0, 0.2], [0.5, -1.0], [0.3, 0.7]], dtype=D))
    return (u @ vh)[0, 1]


@piece(T(3))
def quadratic_program_by_kkt(q):
    K = torch.tensor([[2.0, 0, 0, 1], [0, 3, 0, 1], [0, 0, 4, 1], [1, 1, 1, 0]], dtype=D)
    return torch.linalg.solve(K, torch.cat([-q, at(1.0)]))[:3].pow(2).sum()


@piece(at(3.0, 1.0, 2.0))
def soft_rank(x):
    return torch.sigmoid((x[:, None] - x[None]) / 0.5).sum(1).pow(2).sum()


@piece(T(4))
def sorted_differences(x):
    return x.sort().values.diff().pow(2).sum() + x.argsort().to(D).sum() * 0.0


# -- transforms of functions


@piece(T(3), T(2, 3))
def per_sample_gradients(w, xs):
    def loss(w, x):
        return torch.tanh(w @ x) ** 2

    return vmap(grad(loss), (None, 0))(w, xs).pow(2).sum()


@piece(T(3))
def hessian_trace(x):
    return torch.trace(hessian(lambda z: (z**4).sum() + z.prod())(x))


@piece(T(3))
def newton_decrement(x):
    f = lambda z: (z.exp() + z**2).sum()
    g = grad(f)(x)
    return g @ torch.linalg.solve(hessian(f)(x), g)


@piece(T(2), T(2))
def product_with_a_jacobian(x, u):
    _, found = jvp(lambda z: torch.stack([z.prod(), z.sin().sum()]), (x,), (u,))
    return found.pow(2).sum()


@piece(T(2))
def gauss_newton(x):
    f = lambda z: torch.stack([z[0] ** 2 - z[1], z[0] * z[1]])
    J = jacrev(f)(x)
    return torch.linalg.solve(J.T @ J + torch.eye(2, dtype=D), J.T @ f(x)).sum()


@piece(T(2))
def pullback(x):
    y, back = vjp(lambda z: z.sin() * z, x)
    return back(y)[0].sum()


@piece(T(2, 2))
def stateless_call(w):
    layer = torch.nn.Linear(2, 2, bias=False).double()
    return functional_call(layer, {"weight": w}, (at(1.0, 2.0),)).pow(2).sum()


# -- what leaves torch, or jumps


@piece(T(3), verdict="cut")
def through_numpy(x):
    return (x * torch.from_numpy(np.sin(x.detach().numpy()))).sum()


@piece(T(3), verdict="cut")
def through_math(x):
    return x.sum() * math.exp(x[0].item())


@piece(T(3), verdict="cut")
def rebuilt_from_numbers(x):
    return torch.tensor([x[0].item() ** 2, 1.0], dtype=D).sum() * x[1]


@piece(at(0.0, 1.0), verdict="kink")
def branch_by_a_number(x):
    if float(x[0]) > 0:
        return (x**2).sum()
    return (3 * x).sum()


@piece(at(1.0, 1.0), verdict="kink")
def branch_by_a_tensor(x):
    return x.sum() ** 2 if x[0] >= x[1] else x.prod()


@piece(at(2.5, -0.7))
def branch_far_from_its_boundary(x):
    y = x * 2
    if y.norm() > 1:
        y = y / y.norm()
    return y.prod()


@piece(at(1.5, 0.5))
def counted_loop(x):
    n = 0
    while x.sum() < 40 and n < 10:
        x, n = x * 1.7, n + 1
    return x.sum()


@piece(at(0.0, 2.0), verdict="kink")
def step_by_a_cast(x):
    return (x * 1.5 * (x >= 0).double() + (x >= 0).double()).sum()


@piece(at(0.5, 2.5))
def reduced_to_a_period(x):
    return ((x - torch.floor(x)) ** 2).sum()


@piece(at(1.0, 2.5), verdict="kink")
def reduced_at_a_period(x):
    return torch.remainder(x, 1.0).sum()


@piece(at(0.0, 0.0), verdict="undefined")
def norm_at_zero_by_sqrt(x):
    return torch.sqrt(x[0]) + x[1]


@piece(at(3.0, 4.0))
def norm_away_from_zero(x):
    return torch.sqrt((x**2).sum()) + torch.hypot(x[0], x[1])


@piece(at(-1.0, 2.0), verdict="nan-trap")
def masked_logarithm(x):
    return torch.where(x > 0, torch.log(x) * torch.sqrt(x), torch.zeros_like(x)).sum()


@piece(at(-1.0, 2.0))
def guarded_logarithm(x):
    safe = torch.where(x > 0, x, torch.ones_like(x))
    return torch.where(x > 0, safe.log(), torch.zeros_like(x)).sum()


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x


@piece(at(0.5, 2.0), verdict="disagree")
def cube_with_a_wrong_backward(x):
    return Wrong.apply(x).sum()


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * (s + x * s * (1 - s))


@piece(T(4))
def memory_saving_swish(x):
    return Swish.apply(x).pow(2).sum()


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -g


@piece(T(3), verdict="disagree")
def gradient_reversal(x):
    return Reversed.apply(x * 2).sum()


@piece(T(3))
def rows_in_a_buffer(x):
    buffer = torch.empty(3, 3, dtype=D)
    for i in range(3):
        buffer[i] = x * (i + 1) if i == 0 else buffer[i - 1].clone() * x
    return buffer.sum()


@piece(T(3))
def in_place_accumulation(x):
    y = x * 2
    y[0] += x[1] ** 2
    y.mul_(x.exp())
    y[1:] -= 1
    return y.sum()

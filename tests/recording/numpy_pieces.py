"""Functions of NumPy and of `math`, as people write them; each with its arguments, and what is read as torch's."""

from __future__ import annotations

import math
from functools import partial
from math import exp, sqrt as root
from typing import Any

import numpy as np
import numpy.linalg as la
from numpy import cos

W = np.array([[0.5, -1.0], [2.0, 0.25], [-0.5, 1.5]])
b = np.array([0.1, -0.2])
t = np.linspace(0.0, 1.0, 4)
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(4, 3)), rng.normal(size=4)

NUMPY: list[tuple[Any, str, tuple[Any, ...]]] = []


def function(read, *args):
    """Add a function with some of what is read as torch's."""

    def register(found):
        NUMPY.append((found, read, tuple(np.asarray(one, dtype=float) for one in args)))
        return found

    return register


V = [0.7, -1.3, 2.1]
M = [[0.7, -1.3], [2.1, 0.4]]


@function("np.tanh", V)
def layer(x):
    return np.tanh(x @ W + b)


@function("np.linalg.norm", M)
def lengths(m):
    return la.norm(m, axis=1)


@function("np.std", V)
def standardized(x):
    return (x - np.mean(x)) / np.std(x)


@function("np.clip", V)
def clipped(x):
    return np.clip(x, -1, 1) + x.clip(-2, 2)


@function("np.array", V)
def cartesian(p):
    r, theta, z = p
    return np.array([r * np.cos(theta), r * np.sin(theta), z])


@function("np.power", [0.5, 2.0])
def powers(x):
    return np.power(x, 1.5) + np.square(x) + 2.0**x + np.float_power(2.0, x) * 0


@function("np.prod", V)
def product(x):
    return np.prod(x) + np.abs(x).min() + np.sign(x).sum()


@function("np.linalg.det", M)
def matrix(m):
    return np.linalg.det(m) + np.trace(np.linalg.inv(m)) + np.linalg.solve(m, b).sum()


@function("np.zeros_like", V)
def assigned(x):
    out = np.zeros_like(x)
    for i in range(3):
        out[i] = np.sin(x[i]) * (i + 1)
    return out


@function("np.sort", V)
def ordered(x):
    return np.sort(x)[:2] + np.median(x)


@function("np.multiply", V)
def arrays_before_operators(x):
    return np.arange(3) * x + np.ones(3) / x - np.pi


@function("np.cos", [0.3, 1.2])
def imported_from_numpy(x):
    return cos(x).prod()


@function("math.erf", 0.7)
def normal_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


@function("math.log", 0.7, 1.2)
def black_scholes(s, v):
    d1 = (math.log(s / 0.9) + 0.5 * v**2) / v
    d2 = d1 - v
    return s * 0.5 * math.erfc(-d1 / root(2)) - 0.9 * exp(-0.02) * 0.5 * math.erfc(-d2 / root(2))


@function("math.hypot", 0.7, 1.2)
def distances(x, y):
    return math.hypot(x, y) + math.hypot(x, 1, y) + math.atan2(y, x) + math.hypot(x)


@function("math.pow", 0.7)
def of_powers(x):
    return math.pow(x, 3) + math.pow(2, x) + math.log(x, 2) + math.log2(x) + math.fabs(x) + math.log10(x)


@function("math.lgamma", 2.7)
def stirling(n):
    return math.lgamma(n) + math.degrees(math.radians(n)) + math.fmod(n, 2)


@function("np.exp", M)
def methods_of_arrays(m):
    d = m.copy()
    d[0] = 2 * d[1]
    z = d - d.max(axis=1, keepdims=True)
    return np.exp(z).sum(axis=1) / m.size + m.dot(m).trace() * m.astype(float).std()


@function("np.sin", V)
def lists_of_elements(x):
    return np.mean([np.sin(xi) for xi in x]) + np.sum([x[0] * x[1], x[2]])


@function("np.sum", V)
def spread(x):
    return np.sum(x) / x.std()


def newton_step(x, power):
    return x - (math.exp(x) - 2) / math.exp(x) ** power


@function("math.exp", 0.4)
def by_helpers(x):
    for _ in range(3):
        x = newton_step(x, power=1)
    return x


@function("math.sin", 0.4)
def numbers_and_tensors(x):
    scale = math.sqrt(2) + float(np.sum(W)) + np.sin(0.3)
    return scale * math.sin(x) if not math.isnan(x) else x


class Oscillator:
    """With a method that is recorded."""

    def __init__(self, rate):
        self.rate = rate

    def at(self, x):
        return np.exp(-self.rate * x) * np.cos(x)

    def __call__(self, x):
        return self.at(x) + math.cos(self.rate)


NUMPY += [
    (Oscillator(0.5).at, "np.exp", (np.array(V),)),
    (Oscillator(0.5), "np.exp", (np.array(V),)),
    (partial(newton_step, power=2), "math.exp", (np.array(0.3),)),
]

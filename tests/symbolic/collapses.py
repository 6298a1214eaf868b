"""Functions whose derivatives collapse sums, and formulas evaluated at their entries, one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
import pytest
import sympy
from flint import arb

from gradcli.reference.compiling import compile_ball, environment
from gradcli.symbolic.derivative import Derivative

N, M = 5, 3
LARGE_N, LARGE_M = 19, 17

TEXTS: list[tuple[str, dict[str, str]]] = [
    ("exp(x)/sum(exp(x))", {"x": "n"}),
    ("log(sum(exp(x)))", {"x": "n"}),
    ("x*sum(x)*sum(x**2)", {"x": "n"}),
    ("sum(x[1:])", {"x": "n"}),
    ("sum(x[1::3]**2)", {"x": "n"}),
    ("sum((x[1:] - x[:-1])**2)", {"x": "n"}),
    ("sum(x[2:] - 2*x[1:-1] + x[:-2])", {"x": "n"}),
    ("mean((x - mean(x))**2)", {"x": "n"}),
    ("A@x", {"A": "mn", "x": "n"}),
    ("sum(A, dim=1)*sum(A, dim=0)[:1]", {"A": "mn"}),
    ("A/sum(A, dim=1, keepdim=True)", {"A": "mn"}),
    ("sum(A[:, 1:]*A[:, :-1])", {"A": "mn"}),
    ("sum(maximum(x, w)**2)", {"x": "n", "w": "n"}),
    ("[sum(x), sum(x**2), x[0]*x[1]]", {"x": "n"}),
    ("amax([a, b, a*b])*x", {"a": "", "b": "", "x": "n"}),
    ("amin([x, w], dim=0)", {"x": "n", "w": "n"}),
    ("[[a, b], [b, a]]@[a, b]", {"a": "", "b": ""}),
    ("A.view(-1)[0]*a", {"A": "mn", "a": ""}),
    ("i*k + n[0]*j", {"i": "n", "k": "n", "n": "n", "j": ""}),
    ("std(A, dim=1)", {"A": "mn"}),
    ("sum(w*log_softmax(x))", {"x": "n", "w": "n"}),
    ("amax(x*w)**2", {"x": "n", "w": "n"}),
    ("norm(A, p=3, dim=1)", {"A": "mn"}),
    ("sum(cumsum(x)*w)", {"x": "n", "w": "n"}),
    ("cumprod(x*w)", {"x": "n", "w": "n"}),
    ("sum(cumprod(A, dim=1)*x)", {"A": "mn", "x": "n"}),
    ("sum(where((x > 0.5) & (x < 1), x**3, w))", {"x": "n", "w": "n"}),
    ("sum(cat([A, B.T], dim=1)**2, dim=0)", {"A": "mn", "B": "nm"}),
    ("stack([x, w], dim=1)@stack([w, x])", {"x": "n", "w": "n"}),
    ("sum(roll(A, (1, -2), (0, 1))*A)", {"A": "mn"}),
    ("pad(x, (2, 1), value=3)**2", {"x": "n"}),
    ("sum(exp(diag(x, 1)))", {"x": "n"}),
    ("diagonal(A, 1)**2", {"A": "mn"}),
    ("A.reshape(-1)[1:]*A.reshape(-1)[:-1]", {"A": "mn"}),
    ("x.expand(2, -1).sum(0)*x", {"x": "n"}),
    ("einsum('ij,j,ji->i', A, x, B)", {"A": "mn", "x": "n", "B": "nm"}),
    ("einsum('ij,kj->ik', A, A).sum()", {"A": "mn"}),
    ("det(A)*a", {"A": "mm", "a": ""}),
    ("sum(x)/x.numel() + x.shape[0]*x", {"x": "n"}),
    ("huber_loss(x, w, delta=0.25)", {"x": "n", "w": "n"}),
]

SIZES = pytest.mark.parametrize(("n", "m"), [(N, M), (LARGE_N, LARGE_M)], ids=["numbers", "symbols"])
"""Above 16 they are symbols in the formula."""

COLLAPSES = pytest.mark.parametrize(("text", "shapes"), TEXTS, ids=[text for text, _ in TEXTS])


def point(shapes: Mapping[str, str], n: int, m: int) -> dict[str, np.ndarray]:
    """Values for variables whose shapes are given in letters."""
    generator = np.random.default_rng(7)
    sizes = {"n": n, "m": m, "1": 1}
    return {name: generator.uniform(0.3, 1.4, tuple(sizes[s] for s in letters)) for name, letters in shapes.items()}


def require_equal(
    derivative: Derivative, at: Mapping[str, np.ndarray], expected: np.ndarray, most: int, rtol: float, atol: float
) -> None:
    """The formula is what is expected at all entries, or at about so many that lie evenly among more."""
    env = environment(
        {
            sympy.Symbol(k, real=True): (lambda *i, a=a: arb(float(a[i]))) if a.ndim else arb(float(a))
            for k, a in at.items()
        }
    )
    env |= derivative.sizes
    indices = list(itertools.product(*map(range, expected.shape)))
    step = max(1, len(indices) // most)
    while any(math.gcd(step, size) > 1 for size in expected.shape):  # or some rows would never be met
        step += 1
    for index in indices[::step]:
        row, column = index[: len(derivative.rows)], index[len(derivative.rows) :]
        expression, values = derivative.at(row, column)
        found = float(compile_ball(expression)({**env, **values}).mid())
        np.testing.assert_allclose(found, expected[index], rtol, atol, err_msg=str(index))

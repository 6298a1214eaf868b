"""Shares of ordinary problems that a check proves.

`pytest -m benchmark tests/benchmarks/test_coverage_of_checks.py -s -n 0` prints it.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from tests.checks import check_of


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def _positive(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.5, 2, size=shape)


_MATRICES = {name: _normal(32, 32) / 6 for name in "ABC"}
_LAYER = {"W": _normal(32, 64) / 8, "b": _normal(32), "x": _normal(64)}
_REGRESSION = {"X": _normal(500, 20), "w": _normal(20), "y": _normal(500)}
_ATTENTION = {"Q": _normal(32, 16), "K": _normal(31, 16), "V": _normal(31, 16)}
_CLASSES = {"x": _normal(100, 10), "t": np.eye(10)[np.arange(100) % 10]}
_POSITIVE_DEFINITE = {"A": _normal(20, 20) @ _normal(20, 20).T / 20 + np.eye(20), "b": _normal(20)}

PROBLEMS: Mapping[str, Mapping[str, Any]] = {
    # elementwise, and their sums
    "sum(x**2)": {"x": _normal(10_000)},
    "sum(sin(x)*exp(-x**2))": {"x": _normal(10_000)},
    "sum(tanh(x))": {"x": _normal(10_000)},
    "sum(relu(x))": {"x": _normal(10_000)},
    "sum(gelu(x))": {"x": _normal(10_000)},
    "sum(abs(x))": {"x": _normal(10_000)},
    "sum(atan2(y, x))": {"x": _positive(5_000), "y": _normal(5_000)},
    "sum(where(x > 0, x**2, -x))": {"x": _normal(10_000)},
    "sum(clamp(x, -1, 1)**2)": {"x": _normal(10_000)},
    "sum(x**y)": {"x": _positive(2_000), "y": _normal(2_000)},
    "sum(erf(x))": {"x": _normal(10_000)},
    "sum(1/(1 + x**2))": {"x": _normal(10_000)},
    # reductions and normalisations
    "norm(x)": {"x": _normal(1_000_000)},
    "std(x)": {"x": _normal(100_000)},
    "logsumexp(x, 0)": {"x": _normal(1_000_000)},
    "softmax(x)@w": {"x": _normal(10_000), "w": _normal(10_000) + 3},
    "sum(log_softmax(x, 1)[:, 0])": {"x": _normal(500, 20)},
    "sum(amax(x, 1))": {"x": _normal(100, 100)},
    "prod(x)": {"x": _positive(200)},
    "sum(cumsum(x)**2)": {"x": _normal(1_000)},
    "mean((x - mean(x))**4)": {"x": _normal(10_000)},
    "sum(((x - x.mean(1, keepdim=True))/x.std(1, keepdim=True))**3)": {"x": _normal(100, 50)},
    "cosine_similarity(x, y, 0)": {"x": _normal(2_000), "y": _positive(2_000)},
    # losses
    "mse_loss(x, y)": {"x": _normal(5_000), "y": _positive(5_000)},
    "huber_loss(x, y)": {"x": _normal(5_000), "y": _positive(5_000)},
    "cross_entropy(x, t)": _CLASSES,
    "binary_cross_entropy_with_logits(x, y)": {"x": _normal(2_000), "y": (_normal(2_000) > 0) * 1.0},
    # matrices and networks
    "sum((A@B@C)**2)": _MATRICES,
    "norm(A@B - C)": _MATRICES,
    "sum(tanh(W@x + b)**2)": _LAYER,
    "mean((X@w - y)**2) + 0.1*sum(w**2)": _REGRESSION,
    "mean(log(1 + exp(-y*(X@w))))": _REGRESSION,
    "mean((X@w - y)**2) + 0.1*sum(abs(w))": _REGRESSION,
    "sum((softmax(Q@K.T/4, 1)@V)**2)": _ATTENTION,
    "sum(inv(A))": {"A": _POSITIVE_DEFINITE["A"]},
    "b@inv(A)@b": _POSITIVE_DEFINITE,
    "log(det(A))": {"A": _POSITIVE_DEFINITE["A"][:6, :6]},
    "sum(solve(A, b)**2)": _POSITIVE_DEFINITE,
    "sum(W2@relu(W1@x + b1) + b2)": {
        "W1": _normal(64, 128) / 11, "b1": _normal(64), "W2": _normal(10, 64) / 8, "b2": _normal(10), "x": _normal(128)
    },
    "mean((W3@tanh(W2@tanh(W1@x)) - y)**2)": {
        "W1": _normal(32, 16) / 4, "W2": _normal(33, 32) / 6, "W3": _normal(10, 33) / 6, "x": _normal(16),
        "y": _normal(10),
    },
    "cross_entropy(X@W + b, t)": {"X": _normal(100, 20), "W": _normal(20, 10), "b": _normal(10), "t": _CLASSES["t"]},
    "sum(einsum('bij,bjk->bik', A, B)**2)": {"A": _normal(8, 10, 12), "B": _normal(8, 12, 9)},
    # stencils and shifts
    "sum((x[1:] - x[:-1])**2)": {"x": _normal(100_000)},
    "sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)": {"x": _normal(100_000)},
    "sum((roll(x, 1) - 2*x + roll(x, -1))**2)": {"x": _normal(100_000)},
    "sum((u[1:, :-1] - u[:-1, :-1])**2 + (u[:-1, 1:] - u[:-1, :-1])**2)": {"u": _normal(200, 200)},
    "sum(((3-2*x)*x - cat([zeros(1), x[:-1]]) - 2*cat([x[1:], zeros(1)]) + 1)**2)": {"x": _normal(100_000)},
    "sum(outer(x, y)**2)": {"x": _normal(100), "y": _normal(101)},
}  # fmt: skip
"""Functions that people differentiate, at sizes that people have."""


@pytest.mark.benchmark
def test_ordinary_problems_are_proved() -> None:
    """Prints for each what was checked; none is unchecked, and of nearly all every entry is proved."""
    whole = unchecked = 0
    for text, at in PROBLEMS.items():
        function, start = Function(text), time.perf_counter()
        check = check_of(function.grad({name: at[name] for name in function.variables}))
        whole += check.is_whole
        unchecked += check.verdict == "unchecked"
        seconds = time.perf_counter() - start
        print(f"{check.checked:>9,} of {check.entries:>9,} {check.verdict:10} {seconds:5.1f} s  {text}")
    print(f"{len(PROBLEMS)} problems: {unchecked} unchecked, {whole} with all entries")
    assert unchecked == 0
    assert whole >= len(PROBLEMS) * 6 // 7

"""Reductions, scans and normalized exponentials: every dim, keepdim, correction and p against NumPy."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.ops.numpy_truth import Array, Case, Cases, absolute, arguments, require


def _mean(x: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    return x.sum(axis, keepdims=keepdims) / (x.size / x.sum(axis).size)


def _var(x: Array, axis: Any = None, ddof: int = 1, *, keepdims: bool = False) -> Array:
    count = x.size // x.sum(axis).size
    return ((x - _mean(x, axis, keepdims=True)) ** 2).sum(axis, keepdims=keepdims) / (count - ddof)


def _norm(x: Array, p: float = 2, axis: Any = None, *, keepdims: bool = False) -> Array:
    return (absolute(x) ** p).sum(axis, keepdims=keepdims) ** (1 / p)


def _softmax(x: Array, axis: int) -> Array:
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


CASES: Cases = {
    "sum": [
        ("sum(x)", lambda x: x.sum()),
        ("sum(a)**2", lambda a: a**2),
        ("x.sum(0)*w", lambda x, w: x.sum(0) * w),
        ("x.sum(dim=-1)", lambda x: x.sum(-1)),
        ("sum(x, 1, keepdim=True)*x", lambda x: x.sum(1, keepdims=True) * x),
        ("sum(z, dim=(0, -1))*u", lambda z, u: z.sum((0, 2)) * u),
        ("z.sum((1, 2), keepdim=True)", lambda z: z.sum((1, 2), keepdims=True)),
        ("np.sum(z, axis=1, keepdims=True)**2", lambda z: z.sum(1, keepdims=True) ** 2),
        ("torch.sum([a, b, a*b])", lambda a, b: a + b + a * b),
    ],
    "mean": [
        ("mean(x**3)", lambda x: _mean(x**3)),
        ("x.mean(0)", lambda x: _mean(x, 0)),
        ("x.mean(dim=-1, keepdim=True)*x", lambda x: _mean(x, -1, keepdims=True) * x),
        ("mean(z, dim=(0, 2))", lambda z: _mean(z, (0, 2))),
        ("mean(z, (-1,), keepdim=True)", lambda z: _mean(z, -1, keepdims=True)),
    ],
    "prod": [
        ("prod(x)", lambda x: x.prod()),
        ("x.prod(0)*w", lambda x, w: x.prod(0) * w),
        ("prod(x, dim=-1)", lambda x: x.prod(-1)),
        ("prod(z, 1, keepdim=True)", lambda z: z.prod(1, keepdims=True)),
        ("prod(x + 1, dim=1)**2", lambda x: (x + 1).prod(1) ** 2),
    ],
    "amax": [
        ("amax(x)", lambda x: x.max()),
        ("amax(x, dim=1)*x.T", lambda x: x.max(1) * x.T),
        ("x.amax(-2)", lambda x: x.max(0)),
        ("amax(z, dim=(0, 2), keepdim=True)**2", lambda z: z.max((0, 2), keepdims=True) ** 2),
    ],
    "amin": [
        ("amin(x**2)", lambda x: (x**2).min()),
        ("amin(x, dim=0, keepdim=True)", lambda x: x.min(0, keepdims=True)),
        ("z.amin((1, -1))", lambda z: z.min((1, 2))),
    ],
    "max": [
        ("max(x)*a", lambda x, a: x.max() * a),
        ("max(x, dim=1)[0]", lambda x: x.max(1)),
        ("x.max(dim=0, keepdim=True).values", lambda x: x.max(0, keepdims=True)),
        ("z.max(-1)[0]", lambda z: z.max(-1)),
    ],
    "min": [
        ("min(x)", lambda x: x.min()),
        ("min(z, 1)[0]*v", lambda z, v: z.min(1) * v),
        ("x.min(dim=-1).values**2", lambda x: x.min(-1) ** 2),
    ],
    "var": [
        ("var(x)", _var),
        ("var(x, correction=0)", lambda x: _var(x, None, 0)),
        ("x.var(0)", lambda x: _var(x, 0)),
        ("var(x, dim=-1, keepdim=True)*x", lambda x: _var(x, -1, keepdims=True) * x),
        ("var(x, 1, correction=2)", lambda x: _var(x, 1, 2)),
        ("var(z, dim=(0, 2), correction=0)", lambda z: _var(z, (0, 2), 0)),
        ("x.var(1, unbiased=False)", lambda x: _var(x, 1, 0)),
        ("np.var(x, axis=0, ddof=1)", lambda x: _var(x, 0)),
    ],
    "std": [
        ("std(x)", lambda x: np.sqrt(_var(x))),
        ("std(x, dim=1, correction=0)", lambda x: np.sqrt(_var(x, 1, 0))),
        ("z.std((0, 1), keepdim=True)", lambda z: np.sqrt(_var(z, (0, 1), keepdims=True))),
        ("x.std(unbiased=False)*a", lambda x, a: np.sqrt(_var(x, None, 0)) * a),
    ],
    "norm": [
        ("norm(x)", lambda x: _norm(x)),
        ("torch.linalg.norm(u)", lambda u: _norm(u)),
        ("x.norm(dim=1)", lambda x: _norm(x, 2, 1)),
        ("norm(x, p=1)", lambda x: absolute(x).sum()),
        ("norm(x, 1, dim=0, keepdim=True)*w", lambda x, w: absolute(x).sum(0, keepdims=True) * w),
        ("norm(x, p=3, dim=-1)", lambda x: _norm(x, 3, -1)),
        ("norm(x, p=0.5)", lambda x: _norm(x, 0.5)),
        ("norm(x, p=-1, dim=1)", lambda x: _norm(x, -1, 1)),
        ("norm(x, p=0)*x", lambda x: 6 * x),
        ("norm(x, p=inf)", lambda x: absolute(x).max()),
        ("torch.linalg.vector_norm(x, float('inf'), dim=1)", lambda x: absolute(x).max(1)),
        ("norm(x, p=-inf, dim=0)", lambda x: absolute(x).min(0)),
        ("norm(z, dim=(0, 2))", lambda z: _norm(z, 2, (0, 2))),
        ("norm(z, p=2.5, dim=(1, 2), keepdim=True)", lambda z: _norm(z, 2.5, (1, 2), keepdims=True)),
    ],
    "cumsum": [
        ("cumsum(u)", lambda u: u.cumsum()),
        ("cumsum(x, dim=0)**2", lambda x: x.cumsum(0) ** 2),
        ("x.cumsum(-1)*x", lambda x: x.cumsum(1) * x),
        ("cumsum(z, dim=1)", lambda z: z.cumsum(1)),
        ("cumsum(a)", lambda a: a),
    ],
    "cumprod": [
        ("cumprod(u)", lambda u: u.cumprod()),
        ("cumprod(x, dim=0)**2", lambda x: x.cumprod(0) ** 2),
        ("x.cumprod(-1)*x", lambda x: x.cumprod(1) * x),
        ("cumprod(z - 1, dim=1)", lambda z: (z - 1).cumprod(1)),
        ("cumprod(a)", lambda a: a),
    ],
    "logsumexp": [
        ("logsumexp(u)", lambda u: np.log(np.exp(u).sum())),
        ("logsumexp(x, dim=1, keepdim=True)*x", lambda x: np.log(np.exp(x).sum(1, keepdims=True)) * x),
        ("z.logsumexp((0, -1))", lambda z: np.log(np.exp(z).sum((0, 2)))),
    ],
    "softmax": [
        ("softmax(u)", lambda u: _softmax(u, 0)),
        ("softmax(x, dim=0)", lambda x: _softmax(x, 0)),
        ("x.softmax(-1)**2", lambda x: _softmax(x, 1) ** 2),
        ("F.softmax(z, dim=1)", lambda z: _softmax(z, 1)),
    ],
    "log_softmax": [
        ("log_softmax(u)*w", lambda u, w: np.log(_softmax(u, 0)) * w),
        ("log_softmax(x, dim=0)", lambda x: np.log(_softmax(x, 0))),
        ("F.log_softmax(z, dim=-1)", lambda z: np.log(_softmax(z, 2))),
    ],
}


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_reductions(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case, {})

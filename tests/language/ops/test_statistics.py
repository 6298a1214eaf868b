"""Order and statistics against NumPy: sorted elements, quantiles, moments, differences; and ties, which are kinks."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.ops.statistics import exchanges
from tests.language.ops.numpy_truth import POINT, Array, Case, Cases, arguments, require, value_at_point


def _sorted(x: Array, axis: int = -1, *, falls: bool = False) -> Array:
    """By the real part."""
    order = np.argsort(x.real, axis)
    return np.take_along_axis(x, np.flip(order, axis) if falls else order, axis)


def _running(x: Array, axis: int, *, largest: bool = True) -> Array:
    columns = np.moveaxis(x, axis, 0)
    found = [columns[0]]
    for column in columns[1:]:
        is_new = column.real > found[-1].real if largest else column.real < found[-1].real
        found.append(np.where(is_new, column, found[-1]))
    return np.moveaxis(np.stack(found), 0, axis)


def _quantile(x: Array, q: float) -> Array:
    at = q * (len(x) - 1)
    first = int(at)
    s = _sorted(x)
    return s[first] + (at - first) * (s[min(first + 1, len(x) - 1)] - s[first])


def _cov(x: Array, ddof: int = 1) -> Array:
    c = x - x.sum(1, keepdims=True) / x.shape[1]
    return c @ c.T / (x.shape[1] - ddof)


def _steps(y: Array, width: Array) -> Array:
    return (y[..., 1:] + y[..., :-1]) * width / 2


CASES: Cases = {
    "sorted": [
        ("sorted(v)**2", lambda v: _sorted(v) ** 2),
        ("sorted(y, 0)", lambda y: _sorted(y, 0)),
        ("sorted(z, 1, True)", lambda z: _sorted(z, 1, falls=True)),
    ],
    "sort": [
        ("sort(v).values", lambda v: _sorted(v)),
        ("torch.sort(y, dim=0, descending=True)[0]*y", lambda y: _sorted(y, 0, falls=True) * y),
        ("np.sort(x, axis=0)", lambda x: _sorted(x, 0)),
    ],
    "msort": [("msort(y)", lambda y: _sorted(y, 0))],
    "topk": [
        ("topk(v, 2).values", lambda v: _sorted(v)[:1:-1]),
        ("y.topk(1, dim=0, largest=False)[0]", lambda y: _sorted(y, 0)[:1]),
    ],
    "kthvalue": [
        ("kthvalue(v, 3).values", lambda v: _sorted(v)[2]),
        ("y.kthvalue(2, 0, True)[0]", lambda y: _sorted(y, 0)[1:2]),
    ],
    "median": [
        ("median(v)", lambda v: _sorted(v)[1]),
        ("median(y, dim=0).values", lambda y: _sorted(y, 0)[1]),
        ("x.median()", lambda x: _sorted(x.ravel())[2]),
    ],
    "quantile": [
        ("quantile(v, 0.4)", lambda v: _quantile(v, 0.4)),
        ("torch.quantile(u, torch.tensor([0.25, 0.5]))", lambda u: np.stack([_quantile(u, q) for q in (0.25, 0.5)])),
        ("u.quantile(1, dim=0, keepdim=True)", lambda u: _sorted(u)[2:]),
    ],
    "cummax": [("cummax(u).values", lambda u: _running(u, 0)), ("y.cummax(1)[0]*y", lambda y: _running(y, 1) * y)],
    "cummin": [("cummin(z, dim=-1)", lambda z: _running(z, 2, largest=False))],
    "aminmax": [
        ("aminmax(x).max - aminmax(x).min", lambda x: x.max() - x.min()),
        ("x.aminmax(dim=1)[0]", lambda x: x.min(1)),
    ],
    "std_mean": [("std_mean(x, dim=1)[0]", lambda x: np.sqrt(((x - x.sum(1, keepdims=True) / 3) ** 2).sum(1) / 2))],
    "var_mean": [
        ("var_mean(u)[0]", lambda u: ((u - u.sum() / 3) ** 2).sum() / 2),
        ("torch.var_mean(x, dim=0, correction=0)[1]", lambda x: x.sum(0) / 2),
    ],
    "nansum": [("nansum(x**2, 1)", lambda x: (x**2).sum(1))],
    "nanmean": [("nanmean(x**2)", lambda x: (x**2).sum() / 6)],
    "cov": [
        ("cov(x)", lambda x: _cov(x)),
        ("cov(y, correction=0)", lambda y: _cov(y, 0)),
        ("cov(u)", lambda u: _cov(u[None])[0, 0]),
    ],
    "logcumsumexp": [
        ("logcumsumexp(u, 0)", lambda u: np.log(np.cumsum(np.exp(u)))),
        ("x.logcumsumexp(1)", lambda x: np.log(np.cumsum(np.exp(x), 1))),
    ],
    "dist": [
        ("dist(u, w)", lambda u, w: np.sqrt(((u - w) ** 2).sum())),
        ("torch.dist(x, k, 3)", lambda x, k: (np.where((x - k).real < 0, k - x, x - k) ** 3).sum() ** (1 / 3)),
    ],
    "cdist": [
        ("cdist(x, M)", lambda x, M: np.sqrt(((x[:, None] - M) ** 2).sum(-1))),
        ("torch.cdist(x, k, p=1)", lambda x, k: np.where((d := x[:, None] - k).real < 0, -d, d).sum(-1)),
    ],
    "renorm": [
        (
            "renorm(x, 2, 0, 1.5)",
            lambda x: np.stack(
                [r * (1.5 / (np.sqrt((r**2).sum()) + 1e-7)) if (r.real**2).sum() > 2.25 else r for r in x]
            ),
        )
    ],
    "diff": [
        ("diff(v)", lambda v: v[1:] - v[:-1]),
        ("torch.diff(y, n=2, dim=0)", lambda y: y[2:] - 2 * y[1:-1] + y[:-2]),
        ("np.diff(x)", lambda x: x[:, 1:] - x[:, :-1]),
    ],
    "average": [
        ("np.average(x)", lambda x: x.mean()),
        ("np.average(x, weights=k)", lambda x, k: (x * k).sum() / k.sum()),
        ("np.average(x, axis=1, weights=w)", lambda x, w: (x * w).sum(1) / w.sum()),
        ("np.average(x, 0)", lambda x: x.mean(0)),
        ("np.average(C, axis=0, weights=v[2:])", lambda C, v: (v[2:] @ C) / v[2:].sum()),
        ("np.average(x, axis=-1, weights=k)", lambda x, k: (x * k).sum(1) / k.sum(1)),
    ],
    "ptp": [
        ("np.ptp(u)", lambda u: u[2] - u[1]),
        ("ptp(x, axis=1)", lambda x: x[:, [2, 1]].diagonal() - x[:, [1, 2]].diagonal()),
    ],
    "appended": [
        ("np.append(x, u)", lambda x, u: np.concatenate([x.ravel(), u])),
        ("np.append(x, [u], axis=0)", lambda x, u: np.concatenate([x, u[None]])),
        ("np.append(u, 3)*2", lambda u: np.concatenate([u, [3]]) * 2),
    ],
    "trapezoid": [
        ("trapezoid(v)", lambda v: _steps(v, np.array(1.0)).sum()),
        ("torch.trapz(u, w)", lambda u, w: _steps(u, w[1:] - w[:-1]).sum()),
        ("trapezoid(x, dx=0.5)", lambda x: _steps(x, np.array(0.5)).sum(1)),
    ],
    "cumulative_trapezoid": [("cumulative_trapezoid(u, w)", lambda u, w: _steps(u, w[1:] - w[:-1]).cumsum())],
    "slopes_of": [
        ("slopes_of(v)[0]", lambda v: np.stack([v[1] - v[0], (v[2] - v[0]) / 2, (v[3] - v[1]) / 2, v[3] - v[2]])),
        ("torch.gradient(x, spacing=2., dim=0)[0]", lambda x: np.stack([(x[1] - x[0]) / 2] * 2)),
    ],
}


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_statistics(op: str, case: Case) -> None:
    """Value, Jacobian and verdict; a formula where it is not too long."""
    omitted = ops_without_formula(case[0])
    require(op, case, {case[0]: "levels"} if omitted else {})


def ops_without_formula(text: str) -> bool:
    """Whether a sorted dimension is so long that its formula is."""
    answer = Function(text).jacobian({n: POINT[n] for n in Function(text).variables}, check=False)
    return any("levels" in reason for reason in answer.symbolic_omitted.values())


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9])
def test_the_exchanges_sort_everything(count: int) -> None:
    """Every order of zeros and ones, by the zero-one principle; no stage meets an element twice."""
    stages = exchanges(count)
    assert all(len({*itertools.chain(*stage)}) == 2 * len(stage) for stage in stages)
    for numbers in itertools.product([0, 1], repeat=count):
        found = [*numbers]
        for i, j in itertools.chain(*stages):
            found[i], found[j] = min(found[i], found[j]), max(found[i], found[j])
        assert found == sorted(numbers)


@pytest.mark.parametrize("text", ["sort(x).values", "topk(x, 1).values", "kthvalue(x, 2).values", "cummax(x, 0)[0]"])
def test_a_tie_is_a_kink(text: str) -> None:
    """Of the elements that tie, each may be the one."""
    answer = Function(text).jacobian({"x": [1.0, 2.0, 2.0]})
    assert answer.check is not None
    assert answer.check.verdict == "kink"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quantile(u, a)", "constant for q"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, said: str) -> None:
    """With the sizes in question."""
    with pytest.raises(GradcliError, match=said):
        value_at_point(text)

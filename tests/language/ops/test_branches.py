"""Branches, comparisons, conditions and constants like a tensor, at points where no condition changes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.language.ops.numpy_truth import Case, Cases, arguments, require

CASES: Cases = {
    "where": [
        ("where(x > 0, x**2, -x)", lambda x: np.where(x > 0, x**2, -x)),
        ("where(x > row, x*w, a)", lambda x, row, w, a: np.where(x > row, x * w, a)),
        ("torch.where(a < 1, u, w**2)", lambda a, u, w: u + 0 * a + 0 * w),
        ("x**3 if a > b else exp(x)", lambda x, a, b: x**3 + 0 * a + 0 * b),
        ("x**3 if a < b else exp(x)", lambda x, a, b: np.exp(x) + 0 * a + 0 * b),
        (
            "Piecewise((x**2, x > 1), (x**3, x > 0), (1, True))",
            lambda x: np.where(x > 1, x**2, np.where(x > 0, x**3, 1)),
        ),
        ("where(column > 0, x, y[:2, :3])", lambda column, x, y: np.where(column > 0, x, y[:2, :3])),
    ],
    "gt": [("where(x > k, x, k**2)", lambda x, k: np.where(x > k, x, k**2))],
    "ge": [("where(x >= 2*a, x**2, a*x)", lambda x, a: np.where(x > 2 * a, x**2, a * x))],
    "lt": [("where(torch.lt(x, w), x, w**2)", lambda x, w: np.where(x < w, x, w**2))],
    "le": [("where(column <= row, column*row, 1)", lambda column, row: np.where(column < row, column * row, 1))],
    "eq": [
        ("where(floor(x) == 0, x**2, x**3)", lambda x: np.where(np.floor(x.real) == 0, x**2, x**3)),
        ("where(x == x, x**2, 7)", lambda x: x**2),
    ],
    "ne": [("where(sign(x) != sign(k), x*k, x)", lambda x, k: np.where(x.real * k.real < 0, x * k, x))],
    "logical_and": [
        ("where((x > 0) & (x < 1), x**2, x**3)", lambda x: np.where((x > 0) & (x < 1), x**2, x**3)),
        ("where(-1 < x < 2 and k > 0, x*k, k)", lambda x, k: np.where((x > -1) & (x < 2) & (k > 0), x * k, k)),
    ],
    "logical_or": [
        ("where((x < 0) | (x > row), x**2, row)", lambda x, row: np.where((x < 0) | (x > row), x**2, row)),
        ("where(Or(x < -1, k > 1, x > 2), x, k)", lambda x, k: np.where((x < -1) | (k > 1) | (x > 2), x, k)),
    ],
    "logical_not": [
        ("where(~(x > k), x, k**2)", lambda x, k: np.where(x > k, k**2, x)),
        ("where(not x > 1, x**2, 0)", lambda x: np.where(x > 1, 0, x**2)),
    ],
    "masked_fill": [
        ("masked_fill(x, x > 1, -2)", lambda x: np.where(x > 1, -2 + 0 * x, x)),
        ("x.masked_fill(row > x, 0.5)**2", lambda x, row: np.where(row > x, 0.5 + 0 * x, x) ** 2),
        ("masked_fill(x, x > k, a)", lambda x, k, a: np.where(x > k, a + 0 * x, x)),
    ],
    "lerp": [
        ("lerp(x, row, column)", lambda x, row, column: x + column * (row - x)),
        ("torch.lerp(u, w, 0.25)", lambda u, w: u + 0.25 * (w - u)),
        ("x.lerp(k, a)", lambda x, k, a: x + a * (k - x)),
    ],
    "zeros_like": [("zeros_like(x)*w + x", lambda x, w: x + 0 * w)],
    "ones_like": [("torch.ones_like(x)*row", lambda x, row: row + 0 * x)],
    "detach": [
        ("x*detach(x)", lambda x: x * x.real),
        ("(x - x.max(1, keepdim=True)[0].detach()).exp()", lambda x: np.exp(x - x.max(1, keepdims=True).real)),
    ],
}


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_branches(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case, {})

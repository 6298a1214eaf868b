"""Branches and extremes at the points where they change: smooth, a kink, or not known."""

from __future__ import annotations

from typing import Any

import pytest

from gradcli import Function
from tests.checks import check_of

X = [0.5, -1.5, 2.0]

MEETINGS = [
    # What does not move has neither kinks nor jumps
    ("where(floor(x) == 2, x**2, 0)", 2.5, "agree"),
    ("where(sign(x) != sign(w), x*w, x)", [1.0, -2.0], "agree"),
    ("sqrt(x.detach())*x", 0.0, "agree"),
    ("where(floor(x) % 2 == 0, x, -x)", 4.5, "agree"),
    ("where(abs(x) < 1, x**2, 5)", 0.0, "agree"),
    ("abs(floor(x))", 0.0, "kink"),
    ("log(floor(x))", 0.5, "undefined"),
    ("where(x**2 == 0, x, 3)", 0.0, "kink"),
    ("floor(floor(x))", 2.0, "kink"),
    # The larger of two that are the same is either
    ("maximum(x, 1*x)", X, "agree"),
    ("minimum(x*w, w*x)", X, "agree"),
    ("amax([x, x])", X, "agree"),
    ("amax(0*x + x[0])", X, "agree"),
    ("maximum(x**2, 2*x - 1)", 1.0, "agree"),
    ("amax(x)**2", [0.0, 0.0], "agree"),
    ("maximum(exp(x), exp(w))", X, "kink"),
    ("minimum(exp(x), clamp(exp(x), 0.1, 9))", X, "agree"),
    ("minimum(exp(x), detach(exp(x)))", X, "kink"),
    ("minimum(exp(x), clamp(exp(x), 0.1, exp(w)))", X, "kink"),
    ("where(x != 0, sin(x)/x, 1)", 1.0, "agree"),
    ("where(x > 0, sqrt(x), 0)", -1.0, "nan-trap"),
]


@pytest.mark.parametrize(("text", "x", "verdict"), MEETINGS, ids=[f"{text} at {x}" for text, x, _ in MEETINGS])
def test_what_happens_where_branches_meet(text: str, x: Any, verdict: str) -> None:
    """A derivative is denied only where there is none, and given only where it is proved."""
    function = Function(text)
    check = check_of(function.vjp(dict.fromkeys(function.variables, x), "ones"))
    assert check.verdict == verdict, check.findings


def test_a_formula_that_counts_a_tie_twice_is_not_shown() -> None:
    """The largest of [x, x] has the slope 1; a sum over all places of the largest would say 2."""
    answer = Function("amax([x, x])").grad({"x": 3.0})
    assert float(answer.grad["x"]) == 1.0
    assert not answer.symbolic

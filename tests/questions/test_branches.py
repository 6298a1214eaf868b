"""Branches of Python that values decide: torch runs the one that is taken, as Python does."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli import Function

TEXT = """
def f(x):
    if x.sum() > 0:
        y = torch.sqrt(x)
    else:
        y = x**2
    return y.sum()
"""


def test_the_branch_that_is_not_taken_poisons_nothing() -> None:
    """A square root of what is negative would be NaN in a where; the formula has both branches."""
    answer = Function(TEXT).vjp([-1, -2])
    assert answer.vjp["x"].tolist() == [-2, -4]
    assert answer.check is not None
    assert answer.check.verdict == "agree"
    assert "the branch not (x.sum() > 0) was taken; torch ran that alone" in answer.warnings
    assert Function(TEXT).vjp([1, 4]).vjp["x"].tolist() == [0.5, 0.25]


def test_second_derivatives_are_of_that_branch() -> None:
    """Their Program is run for each of them."""
    assert Function(TEXT).hessian([-1, -2]).hessian["x"]["x"].tolist() == [[2, 0], [0, 2]]


def test_each_point_takes_its_own_branch() -> None:
    """Of many points together, and of random ones."""
    answer = Function(TEXT).vjp({"x": [[1, 4], [-1, -2]]}, points_of=["x"])
    np.testing.assert_array_equal(answer.vjp["x"], [[0.5, 0.25], [-2, -4]])
    assert Function("def f(x): return x**2 if x > 0.5 else -x").check(random=20, box={"x": "0..1"}).passed


@pytest.mark.parametrize(
    "text", ["def f(x): return x if x > 0 else x**2", "def f(x):\n if x > 0:\n  return x\n return x**2"]
)
def test_the_boundary_is_a_kink(text: str) -> None:
    """Both sides are in the function that is judged."""
    answer = Function(text).vjp(0)
    assert answer.check is not None
    assert answer.check.verdict == "kink"

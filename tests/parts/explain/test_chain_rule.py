"""The chain rule unfolded: products with their numbers, sums over rows of J, the rule in words."""

import re
from typing import Any

import pytest

from gradcli import Function
from gradcli.report import Screen, rendered


def _rows(answer: Any) -> list[list[str]]:
    """The cells of all tables."""
    shown = rendered(answer, "full", Screen()).splitlines()
    return [re.split(r"\s*│\s*", line.strip("│ ")) for line in shown if line.startswith("│")]


SUMS = [
    ("x**2", "1,2", "-1,0.5", "x.grad = vᵀJ = (-1)·∂y₀/∂x + 0.5·∂y₁/∂x = [-2, 2]"),
    ("[[x, 2*x], [3*x, 4*x]]", "1", "[[1,0],[0,1]]", "1·∂y₀₀/∂x + 0·∂y₀₁/∂x + 0·∂y₁₀/∂x + 1·∂y₁₁/∂x = 5"),
    ("x**2", "3", None, "x.grad = vᵀJ = 6"),
    ("x**2", "arange(7)", "ones", "x.grad = vᵀJ = [0, 2, 4, 6, 8, 10, 12]"),
]


@pytest.mark.parametrize(("text", "x", "v", "shown"), SUMS)
def test_the_weighted_sum_is_written_where_it_is_short(text: str, x: str, v: str | None, shown: str) -> None:
    """Of one row nothing is summed, and of many the sum says no more than the product."""
    lines = rendered(Function(text).explain({"x": x}, v), "full", Screen()).splitlines()
    (line,) = [line for line in lines if line.startswith("x.grad = vᵀJ = ")]
    assert line.endswith(shown)


def test_numbers_are_multiplied_by_a_dot_and_tensors_element_by_element() -> None:
    """A matrix product has the dot, too."""
    rows = _rows(Function("y = A@x; sum(y**2)").explain({"A": "[[1,2],[3,4]]", "x": "5,6"}))
    assert ["ȳ = t̄1 ⊙ ∂t1/∂y = t̄1 ⊙ 2·y", "[1, 1] ⊙ [34, 78]", "34, 78", "power rule"] in rows
    assert ["x̄ = Aᵀ · ȳ", "[[1, 3], [2, 4]] · [34, 78]", "268, 380", "product rule"] in rows
    assert "⊙" not in rendered(Function("y = x**2; y**3").explain({"x": 2}), "full", Screen())

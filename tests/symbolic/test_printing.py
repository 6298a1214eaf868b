"""How formulas look to people."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli import Function

PRETTY = [
    ("x**2", {"x": [1, 2]}, "2·x[i]·δ[i,j]"),
    ("x**y", {"x": 2, "y": 3}, "x^(y - 1)·y"),
    ("pi*x**3", {"x": 1}, "3·π·x²"),
    ("sum(exp(x))*x", {"x": [1, 2]}, "exp(x[j])·x[i] + Σ[k=0..1](exp(x[k]))·δ[i,j]"),
    ("sinc(x)", {"x": 1.5}, "{0 if x = 0; (cos(π·x) - sinc(x))/x otherwise}"),
    ("A@x", {"x": [1, 2], "A": [[1, 2]]}, "A[i,j]"),
    ("(x + 1)**4", {"x": 1}, "4·(x + 1)³"),
]


@pytest.mark.parametrize(("text", "at", "expected"), PRETTY, ids=[text for text, _, _ in PRETTY])
def test_pretty_formulas(text: str, at: dict[str, object], expected: str) -> None:
    """Unicode mathematics, never SymPy's markup."""
    answer = Function(text).jacobian(at, wrt=["x"])  # type: ignore[arg-type]
    assert answer.symbolic["x"].cells[0].pretty == expected


def test_indices_take_letters_that_no_variable_has() -> None:
    """With variables i and k, the indices are j and l."""
    answer = Function("i*k").jacobian({"i": np.ones(3), "k": 2.0})
    assert answer.symbolic["i"].cells[0].pretty == "k·δ[j,l]"
    assert answer.symbolic["i"].cells[0].row == "y[j]"


def test_the_output_is_not_called_like_a_variable() -> None:
    """With a variable y, the output is f."""
    answer = Function("x*y").jacobian({"x": 2, "y": 3})
    assert (answer.symbolic["y"].cells[0].row, answer.symbolic["y"].cells[0].column) == ("f", "y")

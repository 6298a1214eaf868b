"""Rows and columns give the same Jacobian, and what y does not depend on has zeros."""

import re
from typing import Any

import numpy as np
import pytest

from gradcli import Function


@pytest.mark.parametrize(
    ("text", "at", "shapes"),
    [
        ("A@x", {"A": np.ones((2, 3)), "x": np.ones(3)}, {"A": (2, 2, 3), "x": (2, 3)}),
        ("x**2", {"x": 3.0}, {"x": ()}),
        ("x**2", {"x": [3.0]}, {"x": (1, 1)}),
        # zeros by rows and by columns where y does not depend on a variable
        ("0*a + ones(3)", {"a": 1.0}, {"a": (3,)}),
        ("zeros(100) + 0*floor(w)", {"w": 1.0}, {"w": (100,)}),
        ("1 + 0*w[1:]", {"w": np.ones(80)}, {"w": (79, 80)}),
        ("[1, 2]", {}, {}),
    ],
)
def test_shapes_are_those_of_y_then_x(text: str, at: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> None:
    """Also for a y and an x of one element."""
    blocks = Function(text).jacobian(at).jacobian or {}
    assert {name: block.shape for name, block in blocks.items()} == shapes
    assert all(block.any() == ("0*" not in text) for block in blocks.values())


@pytest.mark.parametrize(
    ("method", "text", "options"),
    [
        ("jacobian", "-x**3", {}),
        ("jacobian", "-x.unsqueeze(1) * ones(70)", {}),
        ("vjp", "-x**3", {"v": [1, 0]}),
        ("vjp", "-x**3", {"loss": "sum(0*x - 0*y)"}),
        ("vjps", "y = -x**3; z = 2*y", {"vs": ["e0", "e1"], "accumulate": True}),
        ("grad", "1 - 0*x[0]*x[1]", {}),
        ("jvp", "-x**3", {"u": "e0"}),
        ("hessian", "-sum(x**3)", {}),
        ("hvp", "-sum(x**3)", {"u": "e0"}),
        pytest.param("check", "-x**3", {}, marks=pytest.mark.part("claims")),
        pytest.param("explain", "-x**3", {"v": "e0"}, marks=pytest.mark.part("explain")),
        pytest.param("graph", "-x**3", {"v": "e0"}, marks=pytest.mark.part("explain")),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_no_zero_of_a_derivative_has_a_sign(method: str, text: str, options: dict[str, Any], dtype: str) -> None:
    """Autograd multiplies zeros of v and of the structure by what is negative; values keep the sign of their 0."""
    answer = getattr(Function(text), method)([1, 2], dtype=dtype, **options)
    assert "-0.0" not in re.split(r"[\s,\[\]]+", answer.to_json())


@pytest.mark.part("tables")
def test_no_zero_of_a_derivative_has_a_sign_at_many_points() -> None:
    """As rows of a table, and y itself keeps the -0 that it has."""
    found = Function("[-x**3, 5*x]").map({"x": [0, 1]})
    assert not np.signbit(found["dy_dx"][0]).any()
    assert np.signbit(found["y"][0]).tolist() == [True, False]
    assert Function("-x").vjp(0).value.tobytes() == np.array(-0.0).tobytes()

"""The gradient vector: values, components, and expressions in y and the variables."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.inputs import Outputs, read_cotangent
from gradcli.language.program.wengert import Program

EXPRESSIONS = [
    ("y", [1.0, 4.0]),
    ("2*y", [2.0, 8.0]),
    ("x", [1.0, 2.0]),
    ("y - x", [0.0, 2.0]),
    ("ones_like(y)", [1.0, 1.0]),
    ("sigmoid(x)*y", [1 / (1 + np.exp(-1)), 4 / (1 + np.exp(-2))]),
    ("[y[1], x[0]]", [4.0, 1.0]),
    ("y[1], x[0]", [4.0, 1.0]),
    ("where(y > 2, y, 0)", [0.0, 4.0]),
    ("2*ones(2)", [2.0, 2.0]),
]


@pytest.mark.parametrize(("text", "v"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_v_may_name_y_and_the_variables(text: str, v: list[float]) -> None:
    """As a constant: v is not differentiated."""
    answer = Function("x**2").vjp({"x": [1, 2]}, text)
    np.testing.assert_allclose(answer.v, v, rtol=1e-15)
    np.testing.assert_allclose(answer.vjp["x"], [2 * v[0], 4 * v[1]], rtol=1e-15)


def test_the_output_is_named_as_in_the_answer() -> None:
    """By the last statement, or f where a variable is called y."""
    np.testing.assert_array_equal(Function("y = x**2; z = 3*y").vjp({"x": 2}, "z").v, 12)
    np.testing.assert_array_equal(Function("x*y").vjp({"x": 2, "y": 5}, "f + y").v, 15)
    np.testing.assert_array_equal(Function("x*y").vjp({"x": 2, "y": 5}, "y", dtype="float32").v, 5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("z", "names 'z'"),
        ("y.sum()", r"v has shape \(\), and y has shape \(2,\)"),
        ("x[:, 0]", "2 indices"),
        ("y +", "ends too early"),
        ("e2", "no component"),
        ("sin(q)", "names 'q'"),
    ],
)
def test_a_wrong_expression_is_refused_before_torch_runs(text: str, words: str) -> None:
    """Names and shapes are known without values."""
    with pytest.raises(GradcliError, match=words):
        read_cotangent(text, Outputs("y", (2,), {"x": (2,)}))


def test_an_expression_stays_a_program_until_y_is_known() -> None:
    """Only one without names is a value."""
    assert isinstance(read_cotangent("2*y", Outputs("y", (2,), {})), Program)
    assert isinstance(read_cotangent("2,3", Outputs("y", (2,), {})), np.ndarray)

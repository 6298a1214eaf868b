"""Finite differences against hand-derived slopes, and their own estimates against their errors."""

import math
from typing import Any

import numpy as np
import pytest

from gradcli.autodiff.batched import PRODUCT, difference
from tests.parsing import parse

SMOOTH = [
    ("x**2", 3.0, 6.0),
    ("sin(x)", 0.5, math.cos(0.5)),
    ("exp(x)", 20.0, math.exp(20)),
    ("log(x)", 1e-8, 1e8),
    ("1/x", 1e-5, -1e10),
    ("x**3", 1e10, 3e20),
    ("sin(8*x)", 1.0, 8 * math.cos(8)),
    ("relu(x) + gelu(x)", -1.0, -0.08331547058768603),
    ("7 + 0*x", 2.0, 0.0),
]


def quotients(text: str, x: Any, *rows: int, **of_y: Any) -> list[tuple[float, float]]:
    """The quotients that there are by x, or by its first element, and their estimated errors."""
    found = (difference(parse(text), {"x": np.asarray(x)}, ("x", 0, row), **of_y) for row in rows)
    return [one for one in found if one]


@pytest.mark.parametrize(("text", "x", "slope"), SMOOTH, ids=[text for text, _, _ in SMOOTH])
def test_smooth_functions_have_nine_digits_and_an_honest_estimate(text: str, x: float, slope: float) -> None:
    """The true error is within the estimate, and the estimate is small."""
    ((quotient, error),) = quotients(text, x, 0)
    assert abs(quotient - slope) <= error
    assert error <= 1e-8 * max(1.0, abs(slope))


def test_a_product_with_v_is_the_difference_of_v_times_y() -> None:
    """Two rows, weighted; a weight of 0 hides an infinite element."""
    for text, v, expected in (("[x**2, x**3]", [10.0, 1.0], 52), ("[x**2, log(-x)]", [1.0, 0.0], 4)):
        ((quotient, _),) = quotients(text, 2.0, PRODUCT, v=np.array(v), shape=(2,))
        assert quotient == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "x"), [("log(x)", -1.0), ("sqrt(x)", 0.0), ("x**2", math.inf), ("binary_cross_entropy(x, 0.5)", 1.0)]
)
def test_there_is_none_without_values_on_both_sides(text: str, x: float) -> None:
    """Outside the domain, at its edge, at infinity, and where torch refuses the step."""
    assert quotients(text, x, 0) == []


@pytest.mark.parametrize(("text", "x"), [("x/sum(x)", [1e-320, 0]), ("[x[0], 1/x[0]]", [1.7e308, 0])])
def test_a_step_too_small_or_too_large_for_float64_is_left_out_for_every_row(text: str, x: list[float]) -> None:
    """A thousandth of 1e-320 moves nothing, and 1.7e308 may not be doubled."""
    assert all(math.isfinite(quotient) for quotient, _ in quotients(text, x, 0, 1, shape=(2,)))


def test_inputs_of_float32_are_taken_in_float64() -> None:
    """Their differences would have three digits else."""
    x = np.array(0.1, dtype=np.float32)
    ((quotient, error),) = quotients("exp(x)", x, 0)
    assert abs(quotient - math.exp(float(x))) <= error < 1e-9
    assert x == np.float32(0.1)

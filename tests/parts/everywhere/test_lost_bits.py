"""Bits that torch loses at most at every point of a range: never fewer than at a point, and of every float."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from gradcli import Function
from gradcli.parts.everywhere import has_values_in_box, lost_bits_in_box
from gradcli.questions.bound_function import Dtype


def _one_less_cosine(x: Any) -> tuple[Any, Any]:
    return 2 * mp.sin(x / 2) ** 2, mp.sin(x)


def _root_less_root(x: Any) -> tuple[Any, Any]:
    y = 1 / (mp.sqrt(x + 1) + mp.sqrt(x))
    return y, -y / (2 * mp.sqrt(x) * mp.sqrt(x + 1))


def _hypotenuse_less_side(x: Any) -> tuple[Any, Any]:
    h = mp.sqrt(x * x + 1)
    y = 1 / (h + x) if x > 0 else h - x
    return y, -y / h


BOUNDED: list[tuple[str, str, int, Callable[[Any], tuple[Any, Any]]]] = [
    ("2*sin(x/2)**2", "1e-300..1", 12, _one_less_cosine),
    ("1/(sqrt(x + 1) + sqrt(x))", "1e-12..1e12", 12, _root_less_root),
    ("log1p(x)", "1e-300..1", 12, lambda x: (mp.log1p(x), 1 / (1 + x))),
    ("1/(hypot(x, 1) + x)", "1..1e300", 12, _hypotenuse_less_side),
    ("1 - cos(x)", "0.01..1", 40, _one_less_cosine),
    (
        "z = where(abs(x) < 1/2, 1/2, x); where(abs(x) < 1/2, x**3/6 - x**5/120 + x**7/5040 - x**9/362880 + "
        "x**11/39916800 - x**13/6227020800 + x**15/1307674368000, z - sin(z))",
        "1e-10..1",
        12,
        lambda x: (x - mp.sin(x), 1 - mp.cos(x)),
    ),
    (
        "z = where(x < 0, 1, x); where(x < 0, hypot(x, 1) - x, 1/(hypot(z, 1) + z))",
        "-1e300..1e300",
        12,
        _hypotenuse_less_side,
    ),
]
"""Forms, ranges, the most bits that a bound may be of, and the function with its derivative."""


def _lost(found: float, truth: Any) -> float:
    """Measure the bits that a number has lost of 53."""
    error = abs(mp.mpf(float(found)) - truth)
    return float(mp.log(error / max(abs(truth), mp.mpf(2) ** -1022), 2)) + 53 if error else -math.inf


@pytest.mark.parametrize(("text", "ends", "most", "truth"), BOUNDED, ids=[text for text, *_ in BOUNDED])
def test_no_point_loses_more_bits_than_is_proved(
    text: str, ends: str, most: int, truth: Callable[[Any], tuple[Any, Any]]
) -> None:
    """At points of all magnitudes, against 60 digits."""
    bits = lost_bits_in_box(Function(text)._asked(None), {"x": ends}, 12.0)
    assert bits is not None
    assert bits <= most
    low, high = map(float, ends.split(".."))
    x = np.geomspace(max(low, 1e-300), high, 80) * (1 + 1e-9 * np.arange(-40, 40))
    x = np.clip(np.concatenate([x, -x[::4]]) if low < 0 else x, low, high)
    answer = Function(text).vjp({"x": x}, "ones", check=False)
    with mp.workdps(60):
        for at, *numbers in zip(x.tolist(), np.asarray(answer.value), answer.vjp["x"], strict=True):
            lost = [_lost(one, exact) for one, exact in zip(numbers, truth(mp.mpf(at)), strict=True)]
            assert max(lost) <= bits, at


@pytest.mark.parametrize(
    ("text", "ends"),
    [("1 - cos(x)", "1e-300..1"), ("where(x > 0, sqrt(x), 0)", "-1..1"), ("1/x", "-1..1"), ("ndtri(x/4)", "1..2")],
)
def test_without_a_bound_nothing_is_said(text: str, ends: str) -> None:
    """Where all digits are lost, or torch gives NaN, or y has no value, or nothing is known."""
    assert lost_bits_in_box(Function(text)._asked(None), {"x": ends}, 12.0) is None


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_are_those_of_the_dtype(dtype: Dtype) -> None:
    """A few of 24 or of 53."""
    bits = lost_bits_in_box(Function("exp(x)")._asked(None, dtype=dtype), {"x": "-1..1"}, 12.0)
    assert bits is not None
    assert 3 <= bits <= 8


@pytest.mark.parametrize(
    ("text", "ends", "has_values"),
    [
        ("1/(hypot(x, 1) + x)", "-1..1e300", True),
        ("1/x", "1e-300..1", True),
        ("1/x", "0..1", False),
        ("1/(x - 0.3)", "0..1", False),
        ("log(x)", "0..1", False),
        ("sqrt(x)", "-1..1", False),
        ("z = where(x < 0, 1, x); 1/(hypot(z, 1) + z)", "-1e300..1e300", True),
    ],
)
def test_whether_y_has_a_value_everywhere(text: str, ends: str, *, has_values: bool) -> None:
    """Cut over magnitudes, so that a range may be as long as floats are."""
    assert has_values_in_box(Function(text)._asked(None), {"x": ends}) == has_values

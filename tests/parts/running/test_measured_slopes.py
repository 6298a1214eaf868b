"""Slopes of functions of one number next to 0, measured from their values."""

import math
from collections.abc import Callable

import pytest

from gradcli.parts.running.measured_slopes import slope_next_to

EPS = 2.0**-52


def by_steps(size: float) -> Callable[[float], float]:
    """A line of slope 2 that moves by steps, as a bisection that ends early does."""
    return lambda t: size * math.floor(2 * t / size)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda t: 2 * t + t * t, "first"),
        (lambda t: t + 100 * t**2, "second"),
        (lambda t: 1.7 * t, "other"),
        (lambda t: 1.0, "other"),
        (lambda t: 1 + 2 * t, "first"),
        (abs, "kink"),
        (lambda t: 2 * max(t, 0.0), "kink"),
        (lambda t: float(t > 0), "jump"),
        (lambda t: float(t >= 0) + 2 * t, "jump"),
        (by_steps(1e-14), "first"),
        (by_steps(1e-7), "first"),
        (lambda t: math.nan, "unclear"),
        (lambda t: math.sin(1e9 * t), "unclear"),
        (lambda t: 2e-6 * math.tanh(1e6 * t), "unclear"),
    ],
)
def test_a_slope_is_told_from_values(function: Callable[[float], float], said: str) -> None:
    """Of 2 and 1, another one, a kink, a jump, or none that can be told."""
    assert slope_next_to(function, 2.0, 1.0, size=1.0, digits=EPS).kind == said


def test_slopes_closer_than_rounding_are_not_told_apart() -> None:
    """Nor is one that is not finite told from any."""
    assert slope_next_to(lambda t: 2 * t, 2.0, 2 + 1e-12, size=1.0, digits=EPS).kind == "unclear"
    assert slope_next_to(lambda t: 2 * t, math.inf, 2.0, size=1.0, digits=EPS).kind == "unclear"


def test_a_slope_is_measured_with_the_digits_that_the_values_have() -> None:
    """Also where it is neither of the two; where the sides differ there is none."""
    found = slope_next_to(lambda t: 1 + math.sin(1.7 * t), 2.0, 1.0, size=1.0, digits=EPS)
    assert found.kind == "other"
    assert found.slope == pytest.approx(1.7, abs=1e-4)
    assert math.isnan(slope_next_to(abs, 2.0, 1.0, size=1.0, digits=EPS).slope)

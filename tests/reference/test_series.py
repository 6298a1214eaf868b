"""Series in a small distance: their sums near the point against the function itself, and what they cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb

from gradcli.reference.balls import HEADS, precision
from gradcli.reference.series import (
    ANALYTIC,
    Series,
    Undecided,
    coefficients_of,
    composed,
    constant,
    plus,
    power,
    ray,
    scaled,
    times,
)

T = 2.0**-20
HALF = Fraction(1, 2)


def _analytic(name: str, a: Series) -> Series:
    return composed(coefficients_of(name, a.constant), a.moving())


def _sum(series: Series, t: float) -> float:
    with precision(256):
        return float(sum((c * arb(t) ** (arb(e.numerator) / e.denominator) for e, c in series.terms), start=arb(0)))


def _thirds(t: Series) -> Series:
    return times(plus(t, scaled(_analytic("sin", t), arb(-1))), power(t, Fraction(-3)))


CASES: list[tuple[str, Callable[[Series], Series], Callable[[arb], arb]]] = [
    ("sqrt(4t + t²)", lambda t: power(plus(scaled(t, arb(4)), times(t, t)), HALF), lambda t: (4 * t + t * t).sqrt()),
    ("sin(t)/t", lambda t: times(_analytic("sin", t), power(t, Fraction(-1))), lambda t: t.sin() / t),
    ("1/(1+t)", lambda t: power(plus(constant(arb(1)), t), Fraction(-1)), lambda t: 1 / (1 + t)),
    ("(t-sin t)/t³", _thirds, lambda t: (t - t.sin()) / t**3),
    ("(2+t)**9", lambda t: power(plus(constant(arb(2)), t), Fraction(9)), lambda t: (2 + t) ** 9),
    ("acos-like", lambda t: _analytic("asin", power(scaled(t, arb(0.5)), HALF)), lambda t: (t / 2).sqrt().asin()),
]


@pytest.mark.parametrize(("series", "function"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_series_sums_up_to_the_function_near_the_point(
    series: Callable[[Series], Series], function: Callable[[arb], arb]
) -> None:
    """The terms that are left out are nothing at 1e-6."""
    with precision(256):
        found, true = series(ray(arb(0), 1)), float(function(arb(T)))
    assert _sum(found, T) == pytest.approx(true, rel=1e-14)


@pytest.mark.parametrize("name", ANALYTIC)
@pytest.mark.parametrize("at", [0.25, 0.5])
def test_coefficients_are_those_of_the_function(name: str, at: float) -> None:
    """Around an inner point, for all functions that have them."""
    with precision(256):
        coefficients = coefficients_of(name, arb(at))
        head = next((f for h, f in HEADS.items() if h.__name__ == name), None)
        true = float(head(arb(at) + arb(T)) if head else (arb(at) + arb(T)).bessel_i(int(name[1])))
    assert _sum(composed(coefficients, ray(arb(0), 1)), T) == pytest.approx(true, rel=1e-14)


def test_what_may_be_zero_decides_nothing() -> None:
    """A first coefficient that may be 0, or terms that all cancel beside what is left out."""
    unsure = plus(ray(arb(0), 1), constant(arb(0, 1e-30)))
    with pytest.raises(Undecided):
        power(unsure, HALF)
    sine = _analytic("sin", ray(arb(0), 1))
    with pytest.raises(Undecided):
        plus(sine, scaled(sine, arb(-1))).sign()

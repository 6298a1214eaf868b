"""Series in a small distance: their sums near the point against the function itself, and what they cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb

from gradcli.reference.balls import HEADS, precision
from gradcli.reference.series import (
    ANALYTIC,
    FUNCTIONS,
    Divergent,
    Series,
    Undecided,
    angle,
    coefficients_of,
    composed,
    constant,
    exact,
    exp,
    log,
    power,
    ray,
)

T = 2.0**-20
HALF = Fraction(1, 2)


def _analytic(name: str, a: Series) -> Series:
    return composed(coefficients_of(name, a.constant), a.moving())


def _sum(series: Series, t: float) -> float:
    with precision(256):
        return float(sum((c * arb(t) ** exact(e) * (-arb(t).log()) ** -m for (e, m), c in series.terms), start=arb(0)))


def _thirds(t: Series) -> Series:
    return (t - _analytic("sin", t)) / power(t, Fraction(3))


ONE = constant(arb(1))

CASES: list[tuple[str, Callable[[Series], Series], Callable[[arb], arb]]] = [
    ("sqrt(4t + t²)", lambda t: power(t.scaled(arb(4)) + t * t, HALF), lambda t: (4 * t + t * t).sqrt()),
    ("sin(t)/t", lambda t: _analytic("sin", t) / t, lambda t: t.sin() / t),
    ("1/(1+t)", lambda t: ONE / (ONE + t), lambda t: 1 / (1 + t)),
    ("(t-sin t)/t³", _thirds, lambda t: (t - t.sin()) / t**3),
    ("(2+t)**9", lambda t: power(ONE + ONE + t, Fraction(9)), lambda t: (2 + t) ** 9),
    ("asin(sqrt(t/2))", lambda t: _analytic("asin", power(t.scaled(arb(0.5)), HALF)), lambda t: (t / 2).sqrt().asin()),
    ("log(1/t)", lambda t: log(ONE / t), lambda t: -t.log()),
    ("t**t", lambda t: exp(t * log(t)), lambda t: (t * t.log()).exp()),
    ("t**(3/2 + t)", lambda t: exp((ONE.scaled(arb(1.5)) + t) * log(t)), lambda t: ((1.5 + t) * t.log()).exp()),
    ("t*log(t)**2/sqrt(t)", lambda t: t * log(t) * log(t) / power(t, HALF), lambda t: t.log() ** 2 * t.sqrt()),
    ("acosh(1 + t)", lambda t: FUNCTIONS["acosh"](ONE + t), lambda t: (1 + t).acosh()),
    ("acos(1 - t)", lambda t: FUNCTIONS["acos"](ONE - t), lambda t: (1 - t).acos()),
    ("asin(t - 1)", lambda t: FUNCTIONS["asin"](t - ONE), lambda t: (t - 1).asin()),
    ("atanh(1 - t)", lambda t: FUNCTIONS["atanh"](ONE - t), lambda t: (1 - t).atanh()),
    ("atan(-1/t)", lambda t: FUNCTIONS["atan"](-ONE / t), lambda t: (-1 / t).atan()),
    ("tanh(1/t)", lambda t: FUNCTIONS["tanh"](ONE / t), lambda t: (1 / t).tanh()),
    ("erfc(1/t)", lambda t: FUNCTIONS["erfc"](ONE / t), lambda t: (1 / t).erfc()),
    ("asinh(-1/t)", lambda t: FUNCTIONS["asinh"](-ONE / t), lambda t: (-1 / t).asinh()),
    ("angle of (t, -1)", lambda t: angle(t, -ONE), lambda t: arb.atan2(t, arb(-1))),
    ("angle of (-t, -t)", lambda t: angle(-t, -t), lambda t: arb.atan2(-t, -t)),
]


@pytest.mark.parametrize(("series", "function"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_series_sums_up_to_the_function_near_the_point(
    series: Callable[[Series], Series], function: Callable[[arb], arb]
) -> None:
    """The terms that are left out are nothing at 1e-6."""
    with precision(256):
        found, true = series(ray(arb(0), arb(1))), float(function(arb(T)))
    assert _sum(found, T) == pytest.approx(true, rel=1e-14)


@pytest.mark.parametrize("name", ANALYTIC)
@pytest.mark.parametrize("at", [0.25, 0.5])
def test_coefficients_are_those_of_the_function(name: str, at: float) -> None:
    """Around an inner point, for all functions that have them."""
    with precision(256):
        coefficients = coefficients_of(name, arb(at))
        head = next((f for h, f in HEADS.items() if h.__name__ == name), None)
        at_t = arb(at) + arb(T)
        true = float(head(at_t) if head else at_t.bessel_i(int(name[1])))
    assert _sum(composed(coefficients, ray(arb(0), arb(1))), T) == pytest.approx(true, rel=1e-14)


def test_what_may_be_zero_decides_nothing() -> None:
    """A first coefficient that may be 0, or terms that all cancel beside what is left out."""
    unsure = ray(arb(0), arb(1)) + constant(arb(0, 1e-30))
    with pytest.raises(Undecided):
        power(unsure, HALF)
    sine = _analytic("sin", ray(arb(0), arb(1)))
    with pytest.raises(Undecided):
        (sine - sine).sign()
    with pytest.raises(Divergent):
        exp(ONE / ray(arb(0), arb(1)))

"""Series in a small distance: their sums near the point against the function itself, and what they cannot tell."""

from fractions import Fraction

import pytest
from flint import arb

from gradcli.reference.balls import HEADS, precision
from gradcli.reference.series import (
    ANALYTIC,
    Divergent,
    Series,
    Undecided,
    coefficients_of,
    composed,
    constant,
    exact,
    exp,
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


ONE = constant(arb(1))


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

"""Functions on balls: against Arb's own where that is quick, and how much work they are."""

from __future__ import annotations

import pytest
from flint import acb, arb

from gradcli.reference import balls
from gradcli.reference.balls import precision


@pytest.mark.parametrize("order", [1, 2, 3, 5, 10, 20, 63])
@pytest.mark.parametrize("x", ["-0.5", "-3.25", "-10.125", "-0.001953125"])
def test_polygamma_to_the_left_is_reflected(order: int, x: str) -> None:
    """By the derivatives of the cotangent."""
    with precision(200):
        found, wanted = balls._polygamma(arb(order), arb(x)), acb(arb(x)).polygamma(order).real
        assert found.overlaps(wanted)
        assert found.rel_accuracy_bits() > 100


@pytest.mark.parametrize("x", [-1e300, -1e16, -1.0, 0.0])
@pytest.mark.parametrize("order", [0, 1, 2, 10**18])
def test_polygamma_has_no_value_at_its_poles(order: int, x: float) -> None:
    """Which Arb's own looks for by a sum over all of them."""
    assert balls._polygamma(arb(order), arb(x)).is_nan()

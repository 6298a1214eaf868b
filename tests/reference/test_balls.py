"""Functions of balls: no call takes long, and a wide ball costs no more bits than it is known to."""

import time

import numpy as np
import pytest
import sympy
from flint import arb

from gradcli import Function
from gradcli.language.program import sympy_functions
from gradcli.reference.balls import HEADS, Ball, precision

LONGEST = 1.0
"""Seconds of processor time that a call may take."""


def _around(middle: float, error: float) -> Ball:
    """The ball around a number with a relative error."""
    return arb(middle) * arb(1, error)


@pytest.mark.parametrize("bits", [64, 1_152, 4_096])
@pytest.mark.parametrize(
    ("head", "operands"),
    [
        (sympy_functions.DESCRIBED["zeta"], (arb(2.5), _around(1e6, 0.1))),
        (sympy_functions.DESCRIBED["zeta"], (arb(1e6), _around(2.5, 0.1))),
        (sympy_functions.DESCRIBED["zeta"], (arb(1e18), _around(2.5, 1e-9))),
        (sympy_functions.DESCRIBED["gammaincc"], (arb(2.5), _around(0.5, 1e-9))),
        (sympy_functions.DESCRIBED["gammaincc"], (arb(1e6), _around(1e9, 1e-9))),
        (sympy_functions.polygamma, (arb(2), _around(1e6, 0.1))),
        (sympy.besseli, (arb(1), _around(700.0, 0.1))),
    ],
    ids=str,
)
def test_a_wide_ball_is_soon_evaluated(head: sympy.Expr, operands: tuple[Ball, ...], bits: int) -> None:
    """At thousands of bits such a call took seconds."""
    with precision(bits):
        start = time.thread_time()
        found = HEADS[head](*operands)
        assert time.thread_time() - start < LONGEST
        assert not found.is_exact()


@pytest.mark.parametrize("bits", [64, 256, 4_096])
def test_an_order_that_is_too_large_is_not_evaluated(bits: int) -> None:
    """Arb finds nothing there in a tenth of a second; thousands of such calls are over every budget."""
    with precision(bits):
        start = time.thread_time()
        found = [HEADS[sympy_functions.DESCRIBED["zeta"]](arb(1e18), arb(q)) for q in range(1, 101)]
        assert time.thread_time() - start < LONGEST
        assert not any(ball.is_finite() or ball.is_nan() for ball in found)


def test_orders_that_are_too_large_have_no_value_either() -> None:
    """Values are computed by NumPy, and those that it lacks by balls, a call an element."""
    start = time.thread_time()
    found = Function("x").eval({"x": "zeta(10**18, linspace(1, 2, 100))"}, check=False)
    assert np.isnan(found.value).all()
    assert time.thread_time() - start < 5 * LONGEST


@pytest.mark.parametrize(("q", "bits"), [(2.5, 64), (2.5, 256), (1e6, 64)])
def test_fewer_bits_lose_no_point_of_a_ball(q: float, bits: int) -> None:
    """The values near the ends of a ball are in the value of the ball."""
    zeta = HEADS[sympy_functions.DESCRIBED["zeta"]]
    with precision(bits):
        found = zeta(arb(3), _around(q, 1e-12))
        for end in (-9e-13, 9e-13):
            assert found.contains(zeta(arb(3), arb(q) * (1 + arb(end))))

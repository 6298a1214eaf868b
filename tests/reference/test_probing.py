"""What a function seems to tend to: powers and logarithms of the distance, and oscillations that must not fool it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.results import Entry

NONE = [
    *("x*sin(pi/x)", "x*cos(pi/x)", "x*cos(2*pi/x)", "x*sin(1e30/x)", "x*sin(2**60*pi/x)", "x*sin(2*pi*log2(abs(x)))"),
    *("x*cos(2*pi*log2(abs(x)))", "x*sin(log(abs(x)))", "x*sin(pi*log2(abs(x))/80)"),
]


def _slope(text: str, x: float = 0) -> tuple[str, Entry | None]:
    check = Function(text).grad({"x": x}).check
    assert check is not None
    return check.verdict, next((f for f in check.findings if f.variable is not None), None)


@pytest.mark.parametrize("text", NONE)
def test_oscillations_have_no_limit(text: str) -> None:
    """At all powers of 2, sin(pi/x) is 0 and cos(2*pi/x) is 1."""
    verdict, finding = _slope(f"where(x == 0, 0, {text})")
    assert verdict == "undefined"
    assert finding is not None
    assert "it has no limit on the left and has no limit on the right" in finding.note


@pytest.mark.parametrize(
    "text",
    [
        *("x/log(abs(x))", "x/log(2*abs(x)) + x**2", "x/log(abs(x))**2", "x/sqrt(-log(abs(x)))", "x**2*log(abs(x))"),
        *("x/log2(abs(x))", "exp(-1/x**2)", "x**2*sin(pi/x)"),
    ],
)
def test_what_goes_to_zero_slowly_has_a_limit(text: str) -> None:
    """As a power of the logarithm of the distance does; torch says NaN."""
    verdict, finding = _slope(f"where(x == 0, 0, {text})")
    assert verdict == "nan-trap"
    assert finding is not None
    assert (finding.reference, finding.proven) == (0, False)


def test_a_slow_way_on_one_side_is_seen() -> None:
    """The other side is 0."""
    assert _slope("where(x > 0, x/log(x), 0)")[0] == "nan-trap"


@pytest.mark.parametrize("text", ["x/log(abs(x)) + x", "exp(x)*x/log(abs(x)) - 2*x", "x*abs(x)**0.1*log(abs(x))"])
def test_other_slow_ways_are_left_open(text: str) -> None:
    """1 + 1/log(h) is 1.005 at the nearest point."""
    assert _slope(f"where(x == 0, 0, {text})")[0] == "unchecked"


INFERRED = ["where(x >= 1, exp(x), exp(1)*x)", "where(x >= 1, sin(x), sin(1) + cos(1)*(x - 1))"]


@pytest.mark.parametrize("text", INFERRED)
def test_no_agreement_is_inferred(text: str) -> None:
    """Two slopes of e that no number of bits shows to be the same: torch's number is the limit, which is no proof."""
    verdict, finding = _slope(text, 1)
    assert verdict == "unchecked"
    assert finding is not None
    assert finding.reference == pytest.approx(finding.torch)
    assert "is inferred to be" in finding.note


@pytest.mark.parametrize("seed", range(2))
def test_random_oscillations_are_never_called_smooth(seed: int) -> None:
    """x*f(c/x) and x*f(c*log|x|) for random c, also powers of 2 and multiples of pi."""
    generator = np.random.default_rng(seed)
    for _ in range(25):
        c: Any = generator.choice(["pi", "2*pi", "pi/2", "1", "3*pi", "1024", "2**80*pi", "pi/3"])
        inside = generator.choice([f"{c}/x", f"{c}/x**2", f"{c}*log2(abs(x))", f"{c}*log(abs(x))"])
        f = generator.choice(["sin({})", "cos({})", "sin({})**2", "cos({})**3", "tanh(sin({}))"])
        text = f"where(x == 0, 0, x*{f.format(inside)})"
        assert _slope(text)[0] in ("undefined", "unchecked"), text

"""Functions on rays into a point: powers, logarithms and exponentials of the distance, and oscillations."""

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from tests.checks import check_of
from tests.crosscheck.asking import checked, slope_of
from tests.examples import seeds


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("x/log(abs(x))", 0),
        ("x/log(abs(x))**2", 0),
        ("x**2*log(abs(x))", 0),
        ("exp(-1/x**2)", 0),
        ("x**2*sin(pi/x)", 0),
        ("x*abs(x)**0.1*log(abs(x))", 0),
        ("x/log(abs(x)) + x", 1),
        ("x*tanh(1/x**2)", 1),
        ("x**2/(1 + exp(1/x))", 0),
    ],
)
@pytest.mark.one_in(4)
def test_what_goes_to_zero_slowly_has_a_limit(text: str, slope: float) -> None:
    """By hand, with L = -log|x|, whose powers all grow more slowly than any power of 1/x; torch says NaN."""
    check = checked(f"where(x == 0, 0, {text})", 0)
    assert (check.verdict, slope_of(check).proven) == ("nan-trap", True)
    assert slope_of(check).reference == pytest.approx(slope)


@pytest.mark.parametrize(
    ("text", "at", "verdict"),
    [
        ("sin(x*y)/(x*y)", {"x": 0.0, "y": 0.0}, "removable"),
        ("x*y/(x**2 + y**2)", {"x": 0.0, "y": 0.0}, "undefined"),
        ("x**2*y/(x**2 + y**2)", {"x": 0.0, "y": 0.0}, "undefined"),
        ("x**2*y**2/(x**2 + y**2)", {"x": 0.0, "y": 0.0}, "removable"),
        ("x*y/(x + y)", {"x": 0.0, "y": 0.0}, "undefined"),
        ("x*atan(1/x)", {"x": 0.0}, "undefined"),
        ("sin(x)/x + y", {"x": 0.0, "y": 1.0}, "removable"),
    ],
)
def test_a_limit_in_several_inputs_is_one_on_all_ways(text: str, at: dict[str, float], verdict: str) -> None:
    """By hand; that of x**2*y/(x**2 + y**2) exists, and its slopes along straight lines are not linear in the line."""
    check = check_of(Function(text).grad(at))
    verdicts = {finding.verdict for finding in check.findings if finding.variable == "x"}
    assert verdicts == {verdict}


@pytest.mark.parametrize(
    ("text", "A", "sides"),
    [
        ("det(relu(A))", "[[0,2],[1,3]]", (0, 3)),
        ("det(relu(A))", "[[0,2,1],[1,3,1],[0,0,1]]", (0, 3)),
        ("sum(inv(relu(A) + eye(2)))", "[[0,2],[1,3]]", (0, -1.5)),
        ("relu(det(A))", "[[1,2],[2,4]]", (0, 4)),
        ("abs(det(A))*det(A)", "[[1,2],[2,4]]", None),
    ],
)
def test_determinants_and_inverses_have_sides(text: str, A: str, sides: tuple[float, float] | None) -> None:
    """By hand, by A[0, 0]: cofactors, and minus the sum of a column of the inverse times that of a row."""
    check = check_of(Function(text).grad({"A": A}))
    found = [finding.one_sided for finding in check.findings if finding.column == (0, 0)]
    assert found == ([] if sides is None else [pytest.approx(sides)])
    assert check.undecided == 0


KEPT: tuple[int, ...] = ()
"""Seeds of oscillations, of which one was called smooth once."""


@pytest.mark.parametrize("seed", seeds(0, 1, KEPT))
def test_random_oscillations_are_never_called_smooth(seed: int) -> None:
    """x*f(c/x) and x*f(c*log|x|) for random c, also powers of 2 and multiples of pi."""
    generator = np.random.default_rng(seed)
    for _ in range(25):
        c: Any = generator.choice(["pi", "2*pi", "pi/2", "1", "3*pi", "1024", "2**80*pi", "pi/3"])
        inside = generator.choice([f"{c}/x", f"{c}/x**2", f"{c}*log2(abs(x))", f"{c}*log(abs(x))"])
        f = generator.choice(["sin({})", "cos({})", "sin({})**2", "cos({})**3", "tanh(sin({}))"])
        text = f"where(x == 0, 0, x*{f.format(inside)})"
        assert checked(text, 0).verdict in ("undefined", "unchecked"), text

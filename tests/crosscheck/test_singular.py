"""Kinks, jumps, removable singularities and what is undefined: hand-derived one-sided derivatives and limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.crosscheck.judge import judge
from gradcli.crosscheck.point import Point, Torch
from gradcli.results import Check, Entry
from tests.crosscheck.asking import checked
from tests.parsing import parse

INF = math.inf


def _slope(check: Check) -> Entry:
    return next(f for f in check.findings if f.variable is not None)


KINKS = [
    ("abs(x)", 0, (-1, 1), 0),
    ("-abs(x)", 0, (1, -1), 0),
    ("relu(x)", 0, (0, 1), 0),
    ("maximum(x, 1)", 1, (0, 1), 0.5),
    ("maximum(x, x**2)", 1, (1, 2), 1.5),
    ("minimum(3*x, 5 + x/2)", 2, (3, 0.5), 1.75),
    ("amax([x, 2*x, 3*x])", 0, (1, 3), 2),
    ("amax(x)", [1, 1, 1], (0, 1), 1 / 3),
    ("amin(x)", [1, 1, 2], (1, 0), 0.5),
    ("clamp(x, 0, 1)", 0, (0, 1), 1),
    ("clamp(x, 0, 1)", 1, (1, 0), 1),
    ("where(x > 0, x**2, -x)", 0, (-1, 0), -1),
    ("x if x < 1 else 2*x - 1", 1, (1, 2), 2),
    ("Piecewise((x, x < 0), (x**3, True))", 0, (1, 0), 0),
    ("sqrt(x**2)", 0, (-1, 1), math.nan),
    ("norm(x)", [0, 0, 0], (-1, 1), 0),
    ("sqrt(sum(x**2))", [0, 0], (-1, 1), math.nan),
    ("exp(abs(x))", 0, (-1, 1), 0),
    ("abs(x - 3)*x", 3, (-3, 3), 0),
    ("abs(x) + abs(x - 1e-300)", 0, (-2, 0), -1),
    ("abs(x - 1e300)", 1e300, (-1, 1), 0),
    ("leaky_relu(x)", 0, (0.01, 1), 0.01),
    ("(x**2)**(1/2) + x", 0, (0, 2), math.nan),
    ("std(x)", [1, 1], (-math.sqrt(0.5), math.sqrt(0.5)), 0),
    ("abs(sin(pi*x))", 1, (-math.pi, math.pi), -math.pi),
]


@pytest.mark.parametrize(("text", "x", "sides", "torch"), KINKS, ids=[f"{t} at {x}" for t, x, _, _ in KINKS])
def test_a_kink_has_its_one_sided_derivatives(text: str, x: Any, sides: tuple[float, float], torch: float) -> None:
    """[left, right], what torch picked, and whether that is a subgradient."""
    check = checked(text, x)
    finding = _slope(check)
    assert check.verdict == "kink"
    assert finding.proven
    assert finding.one_sided == pytest.approx(sides, rel=1e-12, abs=1e-300)
    assert finding.torch == pytest.approx(torch, nan_ok=True)
    kind = "subgradient" if sides[0] <= sides[1] else "supergradient"
    between = min(sides) <= torch <= max(sides)
    assert (f"a {kind}" if between else f"no {kind}") in finding.note


def test_ackley_has_a_kink_at_its_minimum() -> None:
    """Its square root leaves with the slope 20 * 0.2 / sqrt(2) in each coordinate, where torch says NaN."""
    ackley = "-20*exp(-0.2*sqrt(mean(x**2))) - exp(mean(cos(2*pi*x))) + 20 + E"
    check = checked(ackley, [0, 0])
    assert check.verdict == "kink"
    assert _slope(check).one_sided == pytest.approx((-4 / math.sqrt(2), 4 / math.sqrt(2)))


JUMPS = [
    ("floor(x)", 2, "from 1 on the left over 2 to 2 on the right"),
    ("ceil(x)", 2, "from 2 on the left over 2 to 3 on the right"),
    ("sign(x)", 0, "from -1 on the left over 0 to 1 on the right"),
    ("trunc(x)", -1, "from -1 on the left over -1 to 0 on the right"),
    ("where(x > 0, 1, 2)", 0, "from 2 on the left over 2 to 1 on the right"),
    ("where(x == 0, 5, x)", 0, "from 0 on the left over 5 to 0 on the right"),
    ("x % 3", 6, "from 3 on the left over 0 to 0 on the right"),
]


@pytest.mark.parametrize(("text", "x", "words"), JUMPS, ids=[f"{t} at {x}" for t, x, _ in JUMPS])
def test_a_discontinuity_is_said_as_such(text: str, x: Any, words: str) -> None:
    """With the values on either side."""
    check = checked(text, x)
    assert check.verdict == "kink"
    assert "a discontinuity" in _slope(check).note
    assert words in _slope(check).note


REMOVABLE = [
    ("sin(x)/x", 0, 1, 0),
    ("x**2/x", 0, 0, 1),
    ("(exp(x) - 1)/x", 0, 1, 0.5),
    ("x/x", 0, 1, 0),
    ("(x - sin(x))/x**3", 0, 1 / 6, 0),
    ("(x**2 - 1)/(x - 1)", 1, 2, 1),
    ("log(1 + x)/x", 0, 1, -0.5),
    ("x**3/abs(x)", 0, 0, 0),
    ("sum(sin(x)/x)", [0, 0], 2, 0),
    ("prod(x)/prod(x)", [0, 2], 1, 0),
]


@pytest.mark.parametrize(("text", "x", "value", "slope"), REMOVABLE, ids=[f"{t} at {x}" for t, x, _, _ in REMOVABLE])
def test_a_removable_singularity_has_limits(text: str, x: Any, value: float, slope: float) -> None:
    """Of the value and of the derivative."""
    check = checked(text, x)
    assert check.verdict == "removable"
    own, *slopes = check.findings
    assert (own.variable, own.verdict) == (None, "removable")
    assert own.reference == pytest.approx(value, rel=1e-15, abs=1e-300)
    assert slopes[0].verdict == "removable"
    assert slopes[0].reference == pytest.approx(slope, rel=1e-15, abs=1e-300)
    assert not check.proven


UNDONE = [
    ("maximum(x, 0) + minimum(x, 0)", 0, "agree"),
    ("where((x > 0) | (x <= 0), x**2, 5)", 0, "agree"),
    ("abs(x)**3", 0, "agree"),
    ("relu(x) - relu(-x)", 0, "disagree"),
]


@pytest.mark.parametrize(("text", "x", "verdict"), UNDONE, ids=[f"{t} at {x}" for t, x, _ in UNDONE])
def test_what_is_undone_is_smooth(text: str, x: Any, verdict: str) -> None:
    """Though an operation inside has a kink or no finite slope; torch says 0 for relu(x) - relu(-x), which is x."""
    check = checked(text, x)
    assert check.verdict == verdict, check.findings


UNDEFINED = [
    ("log(x)", -1, "needs x > 0", True),
    ("log(x)", 0, "grows without bound nearby", True),
    ("sqrt(x)", -1, "needs x >= 0", True),
    ("sqrt(x)", 0, "does not exist on the left and grows without bound on the right", True),
    ("(x**2)**(1/3)", 0, "it grows without bound", True),
    ("1/x", 0, "grows without bound nearby", True),
    ("abs(x)/x", 0, "what it tends to depends on the way", True),
    ("atan(1/x)", 0, "what it tends to depends on the way", True),
    ("x*abs(x)/x", 0, "its slope has no limit", True),
    ("tan(pi/2*x)", 1, "grows without bound nearby", False),
    ("x**x", 0, "does not exist on the left", False),
    ("where(x > 0, sqrt(x), 0)", 0, "tends to 0 on the left and grows without bound on the right", True),
    ("acos(x)", 2, "needs", True),
]


@pytest.mark.parametrize(("text", "x", "words", "proven"), UNDEFINED, ids=[f"{t} at {x}" for t, x, _, _ in UNDEFINED])
def test_what_is_undefined_says_why(text: str, x: Any, words: str, proven: bool) -> None:
    """Outside of the domain, poles, infinite slopes: with the reason."""
    check = checked(text, x)
    assert check.verdict == "undefined", check.findings
    assert words in _slope(check).note
    assert _slope(check).proven == proven


def test_zeros_of_a_thousand_elements_are_looked_at_together() -> None:
    """Elementwise functions share the looks from either side; what is over the budget is said."""
    check = checked("relu(x)", np.zeros(1_000))
    assert (check.verdict, check.checked) == ("kink", 1_000)
    assert all(f.one_sided == (0, 1) for f in check.findings)
    for text in ("sum(sin(x)/x)", "sin(x)/x"):
        check = checked(text, np.zeros(1_000))
        assert check.verdict == "removable", text
        assert check.checked < check.entries


def test_an_entry_that_does_not_depend_on_a_missing_value_is_an_exact_zero() -> None:
    """log(x) of [-1, 2]: only the first row and column are undefined, and y[0]."""
    answer = Function("log(x)").jacobian({"x": [-1, 2]})
    assert answer.check is not None
    assert [(f.row, f.column) for f in answer.check.findings] == [((0,), (0,))]


def test_one_kink_of_two_variables_is_told_by_variable() -> None:
    """abs(x - y) has one along each."""
    check = checked("abs(x - y)", {"x": 2, "y": 2})
    assert [(f.variable, f.one_sided) for f in check.findings] == [("x", (-1, 1)), ("y", (-1, 1))]


@pytest.mark.parametrize(
    ("text", "x", "truth"),
    [("(1-cos(x))/x**2", 1e-8, 0.5), ("log(1+x)", 1e-18, 1e-18), ("sum(x)", [1e16, 1, -1e16], 1)],
)
def test_a_value_that_lost_its_digits_is_reported(text: str, x: Any, truth: float) -> None:
    """Also where its derivative is right."""
    check = checked(text, x)
    value = next(f for f in check.findings if f.variable is None)
    assert value.verdict == "inaccurate"
    assert value.reference == pytest.approx(truth)
    assert "digits survive" in value.note


@pytest.mark.parametrize(
    ("text", "x"), [("norm(x)", [0, 0]), ("sqrt(x**2)", 0), ("hypot(x, 0)", 0), ("std(x)", [1, 1])]
)
def test_a_kink_is_not_said_to_have_an_infinite_slope(text: str, x: Any) -> None:
    """One of the operations inside has; the slopes of the whole are finite on both sides."""
    found = _slope(checked(text, x))
    assert found.verdict == "kink"
    assert found.note.startswith(f"a kink: {text} has no slope here; torch picked")


def test_a_value_within_rounding_of_the_end_of_its_domain() -> None:
    """No other branch is taken there: acos(1 - x) at 1e-18 is sqrt(2e-18), and 1 for torch is 1 - 1e-18."""
    found = next(f for f in checked("acos(1-x)", 1e-18).findings if f.variable is None)
    assert found.verdict == "inaccurate"
    assert found.note.startswith("rounding in float64 may leave the domain: acos(1-x) has no value here")


@pytest.mark.parametrize(("text", "at"), [("x**-1", 0), ("x**y", {"x": 0, "y": -1})])
def test_a_negative_power_of_zero_is_not_blamed_on_its_whole_exponent(text: str, at: Any) -> None:
    """1/0 is out of the domain although -1 is an integer and 0 >= 0."""
    found = _slope(checked(text, at))
    assert found.verdict == "undefined"
    assert "needs a > 0, or b >= 0 at a = 0, or an integer b at a < 0" in found.note


@pytest.mark.parametrize("text", ["floor(x)*x", "x%1", "x//2"])
def test_the_jumps_of_a_large_number_are_seen(text: str) -> None:
    """1e300 is a whole number and even; on the left of it, floor(x) is 1 less, and x % 1 tends to 1."""
    found = _slope(checked(text, 1e300))
    assert found.verdict == "kink"
    assert found.note.startswith("a discontinuity")


@pytest.mark.parametrize("text", ["floor(x*1e300)", "floor(x/1e-300)"])
def test_jumps_that_are_close_together_are_seen(text: str) -> None:
    """Every 1e-300; 1 times 1e300 is a whole number, and exactly 1 over the float 1e-300 is not."""
    check = checked(text, 1)
    assert "disagree" not in {finding.verdict for finding in check.findings}
    assert "*" not in text or _slope(check).note.startswith("a discontinuity")


@pytest.mark.parametrize("text", ["where(x<0, 1, 0) + abs(x)", "abs(x) + where(x<0, 1, 0)"])
@pytest.mark.parametrize("outer", ["ceil({} + 0.5)", "({})**2", "sum([{}, x])**2"])
def test_a_kink_does_not_hide_a_jump_that_it_is_added_to(text: str, outer: str) -> None:
    """On the left of 0 there is 1 more; a slope of 0 undoes the kink, and not the jump."""
    found = _slope(checked(outer.format(text), 0))
    assert found.verdict == "kink"
    assert found.note.startswith("a discontinuity")


@pytest.mark.parametrize("text", ["maximum(abs(x), sqrt(abs(x)))**2", "maximum(sqrt(abs(x)), abs(x))**2"])
def test_a_kink_does_not_hide_an_infinite_slope_that_it_ties_with(text: str) -> None:
    """Near 0 the larger one is the root, and its square is abs(x)."""
    found = _slope(checked(text, 0))
    assert (found.verdict, found.one_sided) == ("kink", (-1, 1))


def test_rounding_beside_a_jump_that_the_whole_has_not_is_lost_digits() -> None:
    """By hand, lerp(x, x, x) is x and the branch x - x has the slope 0; torch's terms of size 1 cancel to 2e-16."""
    slope = _slope(checked("t = lerp(x, x, x); where(x > t, x*t, x - t)", -1.47))
    assert (slope.verdict, slope.reference) == ("inaccurate", 0)
    assert slope.torch is not None
    assert 0 < abs(slope.torch) < 1e-15
    assert "but the whole is smooth here" in slope.note
    assert _slope(checked("2*abs(x) - abs(2*x) + relu(x) - relu(-x)", 0)).verdict == "disagree"


def test_a_value_on_one_side_of_a_jump_is_no_disagreement() -> None:
    """Torch heeds the sign of -0.0: atan2(-0.0, -1) is -pi, and atan2(0, -1) is pi."""
    check = Function("atan2(y, x)").eval({"y": "-0.0,0", "x": "-1,-1"}).check
    assert check is not None
    assert [(f.row, f.verdict, f.proven) for f in check.findings] == [((0,), "kink", False)]
    assert "torch gives -3.141592653589793, the value on one side, by the sign of a 0" in check.findings[0].note


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("x*atan2(y, -1)", {"x": 3, "y": -0.0}),
        ("sum(x*atan2(y, -1))", {"x": "3,4", "y": "-0.0,2"}),
        ("atan2(0*y, -1)", {"y": -2}),
        ("exp(atan2(-(y - y), x))", {"y": 3, "x": -2}),
        ("x*atan2(y, -1) + atan2(-y, -1)", {"x": 1.5, "y": -0.0}),
    ],
)
def test_torch_takes_a_side_by_the_sign_of_a_zero_that_the_reals_have_not(text: str, at: dict[str, Any]) -> None:
    """Of an input, or of what is 0 on the way; in the value, and in derivatives that it is a factor of."""
    check = Function(text).grad(at).check
    assert check is not None
    assert check.verdict == "kink"
    assert "by the sign of a 0" in check.findings[0].note


@pytest.mark.parametrize("text", ["atan2(y, y)", "asinh(atan2(y, y))", "atan2(y, -y**2)", "atan2(y, x)", "atan(1/y)"])
@pytest.mark.parametrize("zero", ["0", "-0.0"])
def test_there_is_no_angle_at_the_origin(text: str, zero: str) -> None:
    """Torch gives one of 0, pi and -pi by the signs of two zeros, the function of reals has none."""
    at = {name: zero for name in "xy" if name in text}
    check = Function(text).grad(at).check
    assert check is not None
    assert check.verdict == "undefined"
    assert "has no value here" in check.findings[0].note


def test_a_planted_angle_disagrees_on_the_cut_too() -> None:
    """It is on neither side."""
    program = parse("atan2(y, -1)")
    point = Point.of(program, {program.variables[0]: ()}, {"y": np.array(0.0)})
    for planted, verdict in ((3.0, "disagree"), (np.pi, "agree"), (-np.pi, "kink")):
        check = judge(point, Torch("float64", np.array(planted), None), ()).check
        assert check.verdict == verdict


def test_a_limit_that_is_inferred_refutes_nothing() -> None:
    """No truth that is not proven makes torch's number wrong, here one that is planted; it is shown beside it."""
    text = "where(x >= 1, exp(x), exp(1)*x)"
    program = parse(text)
    point = Point.of(program, {program.variables[0]: ()}, {"x": np.array(1.0)})
    value = Function(text).eval({"x": 1.0}).value
    for planted in (0.5, -3.0, 1e9):
        check = judge(point, Torch("float64", value, {"x": np.array(planted)}), ("x",)).check
        assert (check.verdict, check.findings[0].proven) == ("unchecked", False)
        assert f"torch gives {planted!r}".removesuffix(".0") in check.findings[0].note


def test_a_slope_that_is_too_large_to_divide_by_is_not_known() -> None:
    """Tanh is sinh/cosh in its series, and at 1e200 both are beyond all balls."""
    for x in (1e100, -1e200, 1e300):
        assert checked("abs(tanh(floor(x)) - 1)", x).verdict != "disagree"
        assert checked("tanh(floor_divide(x, 2))", x).verdict != "disagree"

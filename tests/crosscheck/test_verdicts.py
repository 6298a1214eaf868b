"""Verdicts on functions at points: tables of verdicts, one-sided derivatives and limits, derived by hand."""

import math
import pickle
import re
from math import inf, nan
from typing import Any

import pytest

from gradcli import Function
from gradcli.report.numbers import rounded
from tests.crosscheck.asking import checked, slope_of

X = [0.5, -1.5, 2.0]
STEEP = ("where(x == 0, 0, 1/log(abs(x)))", "where(x == 0, 0, x*log(abs(x)))", "abs(x)**0.5*log(abs(x) + (x == 0))")
OSCILLATING = ("x*sin(pi/x)", "x*sin(log(abs(x)))", "x*cos(2*pi*log2(abs(x)))", "x*lgamma(abs(x))")
ANGLES = ("atan2(y, y)", "asinh(atan2(y, y))", "atan2(y, -y**2)", "atan2(y, x)", "atan(1/y)")

VERDICTS: list[tuple[str, Any, str, str]] = [
    ("3*log(x) + x", -1, "undefined", "log(x) has no value here: log(x) needs x > 0"),
    ("3*log(x) + x", 0, "undefined", "log(x) has no value here: log(x) needs x > 0, and it grows without bound nearby"),
    ("sqrt(x)", -1, "undefined", "needs x >= 0"),
    ("3*sqrt(x) + x", 0, "undefined", "sqrt(x) has no finite slope here: it does not exist on the left and grows"),
    ("3*x**(1/3) + x", 0, "undefined", "x**(1/3) has no finite slope here: it does not exist on the left and grows"),
    ("3*asin(x) + x", 1, "undefined", "asin(x) has no finite slope here: it grows without bound on the left"),
    ("(x**2)**(1/3)", 0, "undefined", "it grows without bound"),
    (
        "-(1-x)**(1/2)*log(x)",
        1,
        "undefined",
        "finite slope here: the derivative of the whole tends to 0 on the left and",
    ),
    ("3*(1/x) + x", 0, "undefined", "1/x has no value here: a/b needs b != 0, and it grows without bound nearby"),
    ("abs(x)/x", 0, "undefined", "what it tends to depends on the way"),
    ("atan(1/x)", 0, "undefined", "what it tends to depends on the way"),
    ("x*abs(x)/x", 0, "undefined", "its slope has no limit"),
    ("tan(pi/2*x)", 1, "unchecked", "do not tell whether there is a limit"),
    ("x**x", 0, "undefined", "does not exist on the left"),
    ("where(x > 0, sqrt(x), 0)", 0, "undefined", "tends to 0 on the left and grows without bound on the right"),
    ("acos(x)", 2, "undefined", "needs"),
    ("x**1.5", 0, "undefined", "does not exist on the left and tends to 0 on the right"),
    ("x**(x+1)", 0, "undefined", "does not exist on the left and tends to 1 on the right"),
    ("(1-x**2)**1.5", 1, "undefined", "tends to 0 on the left and does not exist on the right"),
    ("maximum(x**1.5-1,x)", 0, "undefined", "does not exist on the left and tends to 1 on the right"),
    ("amax([sqrt(x) - 5, x])", 0, "undefined", "does not exist on the left and tends to 1 on the right"),
    ("clamp(sqrt(x)-5,0,1)", 0, "undefined", "does not exist on the left and tends to 0 on the right"),
    ("relu(acos(x) - 5)", 1, "undefined", "tends to 0 on the left and does not exist on the right"),
    ("(pi - acos(x))**2", -1, "undefined", "does not exist on the left and is not known on the right"),
    ("(asin(x) - pi/2)**2", 1, "undefined", "on the left and does not exist on the right"),
    ("(-x**2)**1.5", 0, "undefined", "does not exist on the left and does not exist on the right"),
    ("3*floor(x) + x", 2, "kink", "floor(x) jumps here, from 5 on the left over 8 to 8 on the right"),
    ("3*round(x) + x", 2.5, "kink", "round(x) jumps here, from 8.5 on the left over 8.5 to 11.5 on the right"),
    ("3*relu(x) + x", 0, "kink", "relu(x) has a kink here"),
    ("sign(x)", 0, "kink", "from -1 on the left over 0 to 1 on the right"),
    ("trunc(x)", -1, "kink", "from -1 on the left over -1 to 0 on the right"),
    ("where(x == 0, 5, x)", 0, "kink", "from 0 on the left over 5 to 0 on the right"),
    ("(x**2)**1.5", 0, "agree", ""),
    ("where(x>=0, x**1.5, 0)", 0, "agree", ""),
    ("where(x<0, 0, x*sqrt(x))", 0, "nan-trap", ""),
    ("norm(x)**2", [0, 0], "agree", ""),
    ("sqrt(x**4)", 0, "nan-trap", ""),
    ("0**x", 2, "agree", ""),
    ("detach(x)**1.5 + x", 0, "agree", ""),
    ("nansum(where(x > 0, x, nan))", [1, -2], "agree", ""),
    ("where(isnan(where(x > 0, x, nan)), 0, x)", [1, -2], "agree", ""),
    ("where(where(x > 0, x, nan) > 0, x, 0)", [1, -2], "agree", ""),
    ("maximum((x**2)**1.5 - 1, x)", 0, "agree", ""),
    ("where(x == 0, 1, sin(x)/x)", 0, "nan-trap", ""),
    ("maximum(x, 0) + minimum(x, 0)", 0, "agree", ""),
    ("abs(x)**3", 0, "agree", ""),
    ("relu(x) - relu(-x)", 0, "disagree", ""),
    ("(1-cos(x))/x**2", 1e-08, "inaccurate", ""),
    (
        "log(tanh(x)**2 + 1/cosh(x)**2 - 1 + 1e-30)",
        1,
        "inaccurate",
        "may leave the domain",
    ),  # which 64 bits do not tell
    ("exp(x)/exp(x)", 1000, "nan-trap", ""),
    ("3*(x*2) + x", inf, "undefined", "x is inf here"),
    ("sin(pi*x)", 1, "inaccurate", ""),
    ("tanh(x)", 200, "inaccurate", ""),
    ("(1e300*(1e-200*x))**2", 1e-130, "inaccurate", ""),
    ("x*1e300*1e300*1e-300*1e-300", 1e-300, "inaccurate", ""),
    ("(0.1*x)**2", 3, "agree", ""),
    ("(x+0.1+0.2)**2", 3, "agree", ""),
    ("exp(-x**2)", 27.2, "inaccurate", ""),
    ("acosh(x)", 1.00000001, "inaccurate", ""),
    ("lgamma(x)", -0.504083, "inaccurate", ""),
    ("(x-9007199254740993)**2", 9007199254740992, "inaccurate", ""),
    ("digamma(x)", -10000.5, "agree", ""),
    ("exp(exp(exp(x)))", 5, "inaccurate", ""),
    ("x*sqrt(-4)", 2, "undefined", ""),
    ("(-2)**x", 2, "undefined", ""),
    ("abs(relu(x))", -1, "agree", ""),
    ("maximum(x, -inf)", 1, "agree", ""),
    ("atan2(x, -1)", 0, "kink", ""),
    ("atan2(x, 1)", 0, "agree", ""),
    ("atan2(relu(x), x - 1)**2.5", -2, "agree", ""),
    ("nan_to_num(relu(x))", 0, "kink", "has a kink here"),
    ("where(x**1.5 > -1, x, 0)", 0, "kink", "x**1.5 is at the edge of its domain here"),  # nan is not above -1
    ("heaviside(x, 0)", 0, "kink", "from 0 on the left over 0 to 1 on the right"),
    ("where(x < 0, 0, where(x > 0, 1, x))", 0, "kink", "a discontinuity"),
    ("where(x > 0, floor(x), 0*x)", 0, "agree", ""),
    ("abs(x)**where(x == 0, 0, 1/log(abs(x)))", 0, "kink", "from 2.718281828459045 on the left over 1 to"),
    ("where(where(x > 0, exp(1), exp(2)) < exp(2), x, 0)", 0, "kink", "a kink"),
    ("where(maximum(x + 1, where(x > 0, 7, 0)) == x + 1, x, 0)", 0, "kink", "a kink"),
    ("1/where(x == 0, 1, exp(1/abs(x)))", 0, "kink", "from 0 on the left over 1 to 0 on the right"),
    ("where(isfinite(cbrt(x)), x, 0)", 0, "agree", ""),
    ("erfinv(x)", 1, "undefined", "needs -1 < x < 1"),
    ("gammaincc(2.5, x)", -1, "undefined", "needs a > 0, x >= 0"),
    ("abs(x/3 - 2)", 6, "kink", ""),
    ("floor(sin(x)**2 + cos(x)**2)", 0.3, "unchecked", ""),
    ("x*inf", 0, "undefined", ""),
    ("x*sin(inf)", 1, "undefined", ""),
    ("sinc(x)", 3, "inaccurate", ""),
    ("x**-1", 0, "undefined", "needs a > 0, or b >= 0 at a = 0, or an integer b at a < 0"),
    ("x**y", {"x": 0, "y": -1}, "undefined", "needs a > 0, or b >= 0 at a = 0, or an integer b at a < 0"),
    # 1e300 is whole and even: on the left of it floor(x) is 1 less, and x % 1 tends to 1
    *((text, 1e300, "kink", "a discontinuity") for text in ("floor(x)*x", "x%1", "x//2")),
    ("floor(x*1e300)", 1, "kink", "a discontinuity"),
    # a slope of 0 undoes a kink, and not the jump that it is added to
    ("ceil(where(x<0, 1, 0) + abs(x) + 0.5)", 0, "kink", "a discontinuity"),
    ("sum([abs(x) + where(x<0, 1, 0), x])**2", 0, "kink", "a discontinuity"),
    ("x**2", [nan, 1], "undefined", ""),
    ("[x, -inf]", 1, "undefined", "y is -inf here"),
    ("where(x > 2, x, -inf)", 1, "undefined", "y is -inf here"),
    ("amax([x, inf])", 1, "undefined", "y is inf here"),
    ("torch.sum([x, nan])", 1, "undefined", "y is nan here"),
    ("amax(inf)", {}, "undefined", "y is inf here"),
    ("stack([inf, -inf])", {}, "undefined", "y is inf here"),
    ("softmax(where(arange(3) < 2, x, -inf))", [1, 2, 3], "agree", ""),  # a mask, as people leave an element out
    ("acos(1-x)", 1e-18, "nan-trap", "rounding in float64 may leave the domain: acos(x) needs -1 <= x <= 1"),
    # torch divides by max(0, count - correction), and its backward pass by count - correction
    ("var(x, correction=3)", [1, 2], "undefined", "has no value here"),
    ("sum(x/var(2*x, correction=2.5))", [1, 2], "undefined", "has no value here"),
    ("a**b", {"a": [0.0, 1.0], "b": 0.0}, "undefined", ""),
    ("x**y", {"x": [0.0, 1.0], "y": 1.0}, "agree", ""),
    ("cosine_similarity(a, b, dim=0)", {"a": 1, "b": "3,4"}, "agree", ""),  # torch stretches a first
    ("log(x)*0 + x", [-1.0, 2.0], "undefined", ""),
    # infinities, single points and what spreads a nan are not taken for one that is handled
    ("nansum(log(x))", [1, 0], "undefined", ""),  # -inf, and no nan
    (
        "nansum(x/y)",
        {"x": [1, 0], "y": [1, 0]},
        "unchecked",
        "",
    ),  # nan at this point alone, and torch gives 1
    ("where(isnan(x**0), 0, 5)*y", {"x": nan, "y": 1}, "agree", ""),  # nan**0 is 1
    ("where(isnan(x**y), 0, 5)", {"x": nan, "y": 0}, "undefined", ""),
    ("maximum(x, y)", {"x": 1, "y": nan}, "undefined", ""),
    ("relu(x)", nan, "undefined", ""),
    *((text, 4, "undefined", "") for text in ("softshrink(acos(x))", "threshold(acos(x), 0, 0)", "angle(acos(x))")),
    # each alone leaves the median where it is, and torch's slope of the sum is that of all
    *((text, [1, 1, 1], "kink", "depends on how all inputs move together") for text in ("median(x)", "sorted(x)[1]")),
    # torch takes a side by the sign of a zero, of an input or on the way, and the reals have none
    ("x*atan2(y, -1)", {"x": 3, "y": -0.0}, "kink", "by the sign of a 0"),
    ("exp(atan2(-(y - y), x))", {"y": 3, "x": -2}, "kink", "by the sign of a 0"),
    ("x*atan2(y, -1) + atan2(-y, -1)", {"x": 1.5, "y": -0.0}, "kink", "by the sign of a 0"),
    # there is no angle at the origin, whatever the signs of its zeros
    *((text, zero, "undefined", "has no value here") for text in ANGLES for zero in ("0", "-0.0")),
    # kinks that cancel in a product with ones: x + y, and x - y
    *((text, 1, "agree", "") for text in ("maximum(x, y) + minimum(x, y)", "abs(x - y) + 2*minimum(x, y)")),
    # a branch or a step of the point alone, next to which the slope is another
    ("where(x == 0, 3*x, x)", 0, "kink", "at this point alone: next to it the slope is 1; torch picked 3"),
    ("where((x[0] == 0) & (x[1] == 0), sum(x), sum(x**2))", [0, 0], "kink", "next to it the slope is 0; torch picked"),
    ("where(x > 0, x, 0) + where(x < 0, x, 0)", 0, "kink", "next to it the slope is 1; torch picked 0"),
    ("x*sign(x)**2", 0, "kink", "at this point alone: next to it the slope is 1; torch picked 0"),
    ("where(x == 0, 3*x, 3*x)", 0, "agree", ""),
    ("relu(x) - relu(-x)", 0, "disagree", "but the whole is smooth here"),
    # partial derivatives without a derivative
    ("minimum(abs(x), abs(y))", 0, "kink", "its slope depends on how all inputs move together; torch picked 0"),
    ("amin(abs(x))", [0, 0], "kink", "its slope depends on how all inputs move together; torch picked 0"),
    ("abs(x)*abs(y)", 0, "agree", ""),
    # what does not move has neither kinks nor jumps
    ("where(floor(x) == 2, x**2, 0)", 2.5, "agree", ""),
    ("where(sign(x) != sign(w), x*w, x)", [1.0, -2.0], "agree", ""),
    ("sqrt(x.detach())*x", 0.0, "agree", ""),
    ("where(floor(x) % 2 == 0, x, -x)", 4.5, "agree", ""),
    ("where(abs(x) < 1, x**2, 5)", 0.0, "agree", ""),
    ("abs(floor(x))", 0.0, "kink", ""),
    ("log(floor(x))", 0.5, "undefined", ""),
    ("where(x**2 == 0, x, 3)", 0.0, "kink", ""),
    ("floor(floor(x))", 2.0, "kink", ""),
    # the larger of two that are the same is either
    ("maximum(x, 1*x)", X, "agree", ""),
    ("minimum(x*w, w*x)", X, "agree", ""),
    ("amax([x, x])", X, "agree", ""),
    ("amax(0*x + x[0])", X, "agree", ""),
    ("maximum(x**2, 2*x - 1)", 1.0, "agree", ""),
    ("amax(x)**2", [0.0, 0.0], "agree", ""),
    ("maximum(exp(x), exp(w))", X, "kink", ""),
    ("minimum(exp(x), clamp(exp(x), 0.1, 9))", X, "agree", ""),
    ("minimum(exp(x), detach(exp(x)))", X, "kink", ""),
    ("minimum(exp(x), clamp(exp(x), 0.1, exp(w)))", X, "kink", ""),
    ("where(x != 0, sin(x)/x, 1)", 1.0, "agree", ""),
    ("where(x > 0, sqrt(x), 0)", -1.0, "nan-trap", ""),
    # of the elements that tie, each may be the one
    *((f"{ties}[0]", [1, 2, 2], "kink", "") for ties in ("sort(x)", "topk(x, 1)", "kthvalue(x, 2)", "cummax(x, 0)")),
    ("max_pool1d(x, 2)", [[3, 3]], "kink", ""),
    ("i0e(x)", 0, "kink", ""),
    *((f"{name}(x)", 1e300, "agree", "") for name in ("i0e", "i1e")),  # of exponents that 64 bits do not reach
    ("i0e(x)", 5e115, "inaccurate", "rounding in float64 may leave the domain"),
    *((f"{name}(x)", 5e115, "inaccurate", "beyond the range") for name in ("sinh", "cosh", "i0", "i1")),
    ("sinh(x)/cosh(x)", 1e300, "nan-trap", ""),
    # slopes that grow as log(x), 1/(x*log(x)**2) and the like; and oscillations, which have no series
    ("where(x > 0, x*log(x), 0)", 0, "undefined", "tends to 0 on the left and grows without bound on the right"),
    *((text, 0, "undefined", "it grows without bound") for text in STEEP),
    *((f"where(x == 0, 0, {text})", 0, "unchecked", "") for text in OSCILLATING),
    # what is not greater than itself is not at 4,096 bits either
    ("where(exp(x) > exp(y), 5*y, 3*y)", 1, "kink", "over 3 "),
    ("where(exp(x) >= exp(y), 5*y, 3*y)", 1, "kink", "over 5 "),
    ("where(exp(x) - exp(y) == 0, 5*y, 3*y)", 1, "kink", "over 5 "),
]
"""Words of the note of a finding are the last column."""

INFERRED = {"tan(pi/2*x)"}
"""Whose verdict is not proven; that of a jump never is."""


@pytest.mark.parametrize(("text", "x", "verdict", "words"), VERDICTS, ids=[f"{t} at {x}" for t, x, _, _ in VERDICTS])
def test_the_verdict_on_a_function_at_a_point(text: str, x: Any, verdict: str, words: str) -> None:
    """Kinks that are undone, ends of domains, poles, jumps, lost digits, saturation, constants, exact quotients."""
    check = checked(text, x)
    assert check.verdict == verdict, check.findings
    assert not words or any(words in finding.note for finding in check.findings), check.findings
    for slope in [finding for finding in check.findings if finding.variable][:1]:
        is_jump = "a discontinuity" in slope.note
        assert slope.proven == (text not in INFERRED and not is_jump and verdict != "unchecked")


E, S = math.e, 1 / (1 + math.exp(-1))
KINKS: list[tuple[str, Any, tuple[float, float], float]] = [
    ("abs(x)", 0, (-1, 1), 0),
    ("relu(x)", 0, (0, 1), 0),
    ("maximum(x, 1)", 1, (0, 1), 0.5),
    ("maximum(x, x**2)", 1, (1, 2), 1.5),
    ("minimum(3*x, 5 + x/2)", 2, (3, 0.5), 1.75),
    ("amax([x, 2*x, 3*x])", 0, (1, 3), 2),
    ("amax(x)", [1, 1, 1], (0, 1), 1 / 3),
    ("clamp(x, 0, 1)", 0, (0, 1), 1),
    ("clamp(x, 0, 1)", 1, (1, 0), 1),
    ("where(x > 0, x**2, -x)", 0, (-1, 0), -1),
    ("nan_to_num(sqrt(x)**2)", 0, (0, 1), math.nan),
    ("norm(where(x > 0, sqrt(x), 0))", [1, 0], (0, 0.5), math.nan),
    ("Piecewise((x, x < 0), (x**3, True))", 0, (1, 0), 0),
    ("sqrt(x**2)", 0, (-1, 1), math.nan),
    ("norm(x)", [0, 0, 0], (-1, 1), 0),
    ("abs(x - 3)*x", 3, (-3, 3), 0),
    ("abs(x) + abs(x - 1e-300)", 0, (-2, 0), -1),
    ("abs(x - 1e300)", 1e300, (-1, 1), 0),
    ("(x**2)**(1/2) + x", 0, (0, 2), math.nan),
    ("std(x)", [1, 1], (-math.sqrt(0.5), math.sqrt(0.5)), 0),
    ("abs(sin(pi*x))", 1, (-math.pi, math.pi), -math.pi),
    ("hypot(x, 0)", 0, (-1, 1), math.nan),
    ("(x**4)**0.25", 0, (-1, 1), math.nan),
    ("maximum(abs(x), sqrt(abs(x)))**2", 0, (-1, 1), math.nan),  # near 0 the larger one is the root
    (
        f"-20*exp(-0.2*sqrt(mean(x**2))) - exp(mean(cos({2 * math.pi}*x)))",
        [0, 0],
        (-math.sqrt(8), math.sqrt(8)),
        math.nan,
    ),
    # equal terms cancel exactly, and the kink behind them is proved
    ("std(exp(x))", [1, 1], (-E / math.sqrt(2), E / math.sqrt(2)), 0),
    ("norm(sigmoid(x)-sigmoid(y))", 1, (-S * (1 - S), S * (1 - S)), 0),
    ("abs(exp(x)-exp(y))", 1, (-E, E), 0),
    ("relu(exp(x)*y - y*exp(x*z))", {"x": 1, "y": 2, "z": 1}, (-2 * E, 0), 0),  # by z alone
    ("maximum(exp(x), exp(y))", 1, (0, E), E / 2),
    ("amax(exp(x))", [1, 1, 0], (0, E), E / 2),
    ("where(exp(x) >= exp(y), exp(x), exp(y))", 1, (0, E), E),
    ("sum(abs(exp(x) - mean(exp(x))))", [1, 1], (-E, E), 0),
    ("norm(cumsum(log(x), 0) - cumsum(log(y), 0))", [2, 3], (-(2**-0.5), 2**-0.5), 0),
]


@pytest.mark.parametrize(("text", "x", "sides", "torch"), KINKS, ids=[f"{t} at {x}" for t, x, _, _ in KINKS])
@pytest.mark.one_in(2)
def test_a_kink_has_its_one_sided_derivatives(text: str, x: Any, sides: tuple[float, float], torch: float) -> None:
    """[left, right], what torch picked, and whether that is a subgradient; no infinite slope of a part is blamed."""
    check = checked(text, x)
    finding = slope_of(check)
    assert (check.verdict, finding.proven) == ("kink", True)
    assert re.search("has a kink here: |^a kink: .* has no slope here; torch picked", finding.note)
    assert finding.one_sided == pytest.approx(sides, rel=1e-14, abs=1e-300)
    assert finding.torch == pytest.approx(torch, nan_ok=True)
    kind = "subgradient" if sides[0] <= sides[1] else "supergradient"
    between = min(sides) <= torch <= max(sides)
    assert (f"a {kind}" if between else f"no {kind}") in finding.note


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
@pytest.mark.one_in(2)
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


BEYOND = [
    ("1/x", "grad", 1e-310, ("torch inf ✗ truth 1e+310", "-inf ✗ truth -1e+620")),
    ("exp(x)", "grad", 1e10, ("inf ✗ truth 10**(4.34e+09)",)),
    ("exp(x)", "hessian", 800, ("inf ✗ truth 2.72637e+347",)),
    ("x**2", "check", 1e200, ("torch inf ✗ truth 1e+400",)),
]


@pytest.mark.parametrize(("text", "command", "at", "said"), BEYOND)
def test_a_truth_beyond_float64_is_a_number(text: str, command: str, at: float, said: tuple[str, ...]) -> None:
    """And is no word that torch gives; as a float it is infinite."""
    answer = getattr(Function(text), command)(x=at)
    for shown in (format(answer), format(rounded(answer, 3)), format(pickle.loads(pickle.dumps(answer)))):
        assert all(one in shown for one in said)
        assert "truth inf" not in shown
        assert "truth -inf" not in shown
    assert all(math.isinf(one.reference) for one in answer.check.findings)

"""The search for better forms: each identity is one, and what is found loses nothing at the point and around it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from flint import arb

from gradcli import Function
from gradcli.crosscheck.point import Point
from gradcli.diagnose import advice
from gradcli.diagnose.advice import is_same
from gradcli.diagnose.expansions import expansions
from gradcli.diagnose.exploring import MOST_MEASURED, Measured, better, searched
from gradcli.diagnose.forms import Form
from gradcli.diagnose.measuring import Measure, around
from gradcli.language.program.shapes import infer
from gradcli.reference.enclosure_plan import Reference
from tests.checks import check_of
from tests.parsing import parse
from tests.work import counted


def _found(text: str, **at: float) -> str:
    check = check_of(Function(text).jacobian(at))
    assert check.verdict in ("inaccurate", "nan-trap")
    if check.rewrite is None:
        return ""
    assert check.rewrite.verdict == "agree"
    return check.rewrite.expression


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("(1 - cos(x))/sin(x)", {"x": 1e-200}, "tan(x/2)"),
        ("atan(N+1) - atan(N)", {"N": 1e90}, "r = hypot(N + 1/2, sqrt(3/4)); atan(1/r/r)"),
        ("1/sqrt(x) - 1/sqrt(x+1)", {"x": 1e100}, "1/(sqrt(x + 1) + sqrt(x))/sqrt(x)/sqrt(x + 1)"),
        ("tan(x+e) - tan(x)", {"x": 1.0, "e": 1e-14}, "sin(e)/cos(x + e)/cos(x)"),
        ("(x+1)**(1/3) - x**(1/3)", {"x": 1e12}, "x**(1/3)*expm1(1/3*log1p(1/x))"),
        ("exp(x) - 2 + exp(-x)", {"x": 1e-9}, "4*sinh(x/2)**2"),
        ("(-b + sqrt(b*b - 4*a*c))/(2*a)", {"a": 1.0, "b": 1e9, "c": 1.0}, "-2*c/(b + sqrt(b*b - 4*a*c))"),
        ("(-b - sqrt(b**2 - a*c))/a", {"a": 1.0, "b": -1e9, "c": 1.0}, "c/(sqrt(b**2 - a*c) - b)"),
        ("(n+1)*log(n+1) - n*log(n) - 1", {"n": 1e20}, "n*log1p(1/n) + log(n + 1) - 1"),
        ("log((1-e)/(1+e))", {"e": 1e-20}, "-2*atanh(e)"),
        ("sqrt((exp(2*x) - 1)/(exp(x) - 1))", {"x": 1e-12}, "sqrt(exp(x) + 1)"),
        ("(x+1)**(1/n) - x**(1/n)", {"x": 1e20, "n": 3.5}, "x**(1/n)*expm1(1/n*log1p(1/x))"),
        ("1/(x+1) - 2/x + 1/(x-1)", {"x": 1e50}, "2/x/(x + 1)/(x - 1)"),
        ("((1 + i)**n - 1)/j", {"i": 1e-12, "n": 3.5, "j": 1e-3}, "expm1(n*log1p(i))/j"),
        ("log(x + sqrt(x**2 - 1))", {"x": 1e200}, "log(x) + log1p(sqrt(1 - 1/x)*sqrt(1 + 1/x))"),
        ("log(1/x + sqrt(1 - x*x)/x)", {"x": 1e-200}, "log(1 + sqrt(1 - x*x)) - log(x)"),
        ("sqrt(x**2 + y**2) - x", {"x": 1e9, "y": 1.0}, "y**2/(sqrt(x**2 + y**2) + x)"),
        (
            "s = sin(x); (x - s)/x**3",
            {"x": 1e-5},
            "z = where(abs(x) < 1/128, 1/128, x); "
            "where(abs(x) < 1/128, 1/6 - x**2/120 + x**4/5040 - x**6/362880, (z - sin(z))/z**3)",
        ),
        (
            "1/x - 1/tan(x)",
            {"x": 1e-30},
            "z = where(abs(x) < 1/1024, 1/1024, x); where(abs(x) < 1/1024, x/3 + x**3/45 + 2*x**5/945, 1/z - 1/tan(z))",
        ),
        (
            "(e - sin(e))/(e - tan(e))",
            {"e": 1e-200},
            "z = where(abs(e) < 1/128, 1/128, e); "
            "where(abs(e) < 1/128, -1/2 + 9*e**2/40 - 27*e**4/2800 + 27*e**6/112000, (z - sin(z))/(z - tan(z)))",
        ),
    ],
)
def test_cancellations_of_hamming_are_mended(text: str, at: dict[str, float], expected: str) -> None:
    """Hamming's examples and problems, at a point where the typed form has lost its digits."""
    assert _found(text, **at) == expected


def test_one_step_leads_to_another() -> None:
    """The root of squares that overflow, inside of the quadratic formula that cancels."""
    found = _found("(-b + sqrt(b*b - 4*a*c))/(2*a)", a=1e100, b=1e200, c=1e100)
    assert found.startswith("m = detach(maximum(abs(b), sqrt(abs(a))*sqrt(abs(c)))); -2*c/(b + m*sqrt(")


SERIES = ["1/x - 1/tan(x)", "log(1-x)/log(1+x)", "(1-cos(x))/(x*x)", "(x - sin(x))/(x - tan(x))", "(exp(x) - 1)/x"]


@pytest.mark.parametrize("text", SERIES)
def test_what_a_series_leaves_out_is_less_than_a_rounding(text: str) -> None:
    """Of the value and of the derivative, on all of the interval: by balls at its end, where it is most."""
    every = list(expansions(Form(parse(text), {"x": ()})))
    found = [one for one in every if one.program.lines[-1].call.op.is_branch]  # of the whole
    assert found
    for one in found:
        match = re.search(r"abs\(x\) < (\d+)/(\d+)", one.text)
        assert match is not None
        end = int(match[1]) / int(match[2])
        for x in (end * (1 - 2.0**-40), -end * 0.99, end / 3, 1e-5 * end):
            (value, slope), (other, other_slope) = (_truths(t, x) for t in (text, one.text))
            assert abs(other - value) <= 2.0**-54 * abs(value)
            assert abs(other_slope - slope) <= 2.0**-54 * abs(slope)


def _truths(text: str, x: float) -> tuple[arb, arb]:
    program = parse(text)
    point = Point.of(program, infer(program, dict.fromkeys(program.variables, ())), {"x": np.asarray(x)})
    plan = Reference(point.program, point.shapes, point.inputs).plan([(point.program.variables[0], 0)])
    found = plan.run(400)
    value, slope = found.values[0], found.columns[point.program.variables[0], 0][0]
    assert isinstance(value, arb)
    assert isinstance(slope, arb)
    return value, slope


@pytest.mark.parametrize("text", ["1/x", "log(x)/x", "sin(x)/x**2", "abs(x)/x", "exp(1 + x) - exp(1 - x)"])
def test_what_has_no_series_gets_none(text: str) -> None:
    """Poles, kinks, and coefficients that are not rational."""
    assert list(expansions(Form(parse(text), {"x": ()}))) == []


def test_improve_proves_an_identity_of_the_table() -> None:
    """The search finds it, and the claim that both are one function is proved."""
    found = _found("sin(x)*cos(y) - cos(x)*sin(y)", x=1.0, y=1.0 + 1e-13)
    assert found == "sin(x - y)"
    answer = Function("sin(x)*cos(y) - cos(x)*sin(y)").improve({"x": 1.0, "y": 1.0 + 1e-13})
    assert (answer.form, answer.same) == ("sin(x - y)", "proved")


def test_names_of_definitions_are_new() -> None:
    """What is defined before the text is called as nothing in it is."""
    at: dict[str, Any] = {"r": np.asarray(1e80)}
    program = parse("atan(r+1) - atan(r)")
    best = better(searched(Form(program, {"r": ()}), Measure(program, around(at, "float64"), ("r",), "float64")))[
        0
    ].form
    assert best.text == "r1 = hypot(r + 1/2, sqrt(3/4)); atan(1/r1/r1)"
    assert is_same(program, best.text, at)


def test_a_form_is_found_in_bounded_work() -> None:
    """Long sums of what cancels have many forms."""
    text = " + ".join(f"(tan(x + {n}) - tan(x))*(1/(x + {n}) - 1/x)" for n in range(1, 5))
    at = {"x": np.asarray(1e9)}
    program = parse(text)
    with counted() as work:
        assert (
            len(searched(Form(program, {"x": ()}), Measure(program, around(at, "float64"), ("x",), "float64")))
            <= MOST_MEASURED
        )
    assert work.calls < 20_000_000


def test_nothing_is_searched_where_numbers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where a known cure is enough."""
    asked: list[str] = []

    def nothing(original: Form, _: Measure) -> list[Measured]:
        asked.append(original.text)
        return []

    monkeypatch.setattr(advice, "searched", nothing)
    assert _found("1 - cos(x)", x=1e-8) == "2*sin(x/2)**2"
    check = check_of(Function("tan(x + 1) - tan(x)").vjp({"x": 0.5}))
    assert check.verdict == "agree"
    assert asked == []
    assert _found("tan(x + e) - tan(x)", x=1.0, e=1e-14) == ""
    assert asked == ["tan(x + e) - tan(x)"]

"""The end of a domain: a derivative there is one on one side, however the function is spelled."""

import math
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.results import Entry
from tests.checks import check_of
from tests.crosscheck.asking import asked, checked
from tests.examples import examples, quarter, seeds

SPELLINGS = examples(400)
"""Pairs of spellings that are drawn."""

KEPT: tuple[int, ...] = ()
"""Seeds of spellings that had two verdicts once."""


def test_a_partial_derivative_along_an_edge_exists() -> None:
    """Of x**1.5 + y by y at x = 0, and of x**y by y, which is 0 nearby; an integer exponent that stays has no edge."""
    assert {f.variable for f in checked("x**1.5 + y", {"x": 0, "y": 1}).findings} == {"x"}
    assert checked("x**y", {"x": 0, "y": 2}).verdict == "agree"
    assert {f.variable for f in checked("x**y", {"x": 0, "y": 2.5}).findings} == {"x"}


@pytest.mark.parametrize("u", [1, -1])
def test_a_directional_derivative_into_a_domain_or_out_of_it_has_one_side(u: float) -> None:
    """Both are at its end."""
    check = asked("jvp", "x**1.5", {"x": 0}, u={"x": u})
    assert check.verdict == "undefined"


SAME = [
    ["abs({0})", "sqrt(({0})**2)", "maximum({0}, -({0}))", "where({0} > 0, {0}, -({0}))", "(({0})**4)**0.25"],
    ["relu({0})", "maximum({0}, 0)", "where({0} > 0, {0}, 0)", "({0} + abs({0}))/2", "clamp({0}, min=0)"],
    ["({0})**1.5", "({0})*sqrt({0})", "sqrt({0})**3", "sqrt({0})*sqrt({0})*sqrt({0})"],
    ["sqrt({0})", "({0})**0.5", "({0})**(1/2)", "({0})**(3/2 - 1)"],
    ["({0})**2", "({0})*({0})", "square({0})", "abs({0})**2"],
    ["clamp({0}, -1, 1)", "minimum(maximum({0}, -1), 1)", "maximum(minimum({0}, 1), -1)"],
    ["1/(({0})**2 + 1)", "(({0})**2 + 1)**-1", "(1 + ({0})*({0}))**-1.0"],
    ["tanh({0})", "sinh({0})/cosh({0})", "1 - 2/(exp(2*({0})) + 1)"],
    ["acos({0})", "pi/2 - asin({0})"],
    ["log(({0})*({0}))", "2*log(abs({0}))"],
    ["maximum({0}, ({0})**2)", "where(({0})**2 > {0}, ({0})**2, {0})", "({0} + ({0})**2 + abs({0} - ({0})**2))/2"],
]
"""Each row is one function."""

EXISTS = ("agree", "inaccurate", "nan-trap", "disagree")


def _spellings(generator: np.random.Generator, depth: int) -> tuple[str, str]:
    """Two spellings of one random function of x."""
    if depth == 0:
        return "x", "x"
    inside = _spellings(generator, depth - 1)
    row = SAME[generator.integers(len(SAME))]
    one, other = (row[n].format(text) for n, text in zip(generator.integers(len(row), size=2), inside, strict=True))
    return one, other


def _truth(text: str, x: float) -> tuple[str, tuple[float, ...]] | None:
    """The finding on the derivative of a spelling: whether it exists, and its numbers; None if it is not known."""
    answer = Function(text).grad({"x": x})
    found = [f for f in check_of(answer).findings if f.variable is not None]
    if not found:
        return "exists", (float(answer.grad["x"]),)
    finding: Entry = found[0]
    if finding.verdict in ("unchecked", "removable"):
        return None
    if finding.verdict in EXISTS:
        return "exists", () if finding.reference is None else (finding.reference,)
    return finding.verdict, finding.one_sided or ()


@pytest.mark.parametrize("seed", [*KEPT, *quarter(seeds(0, 4), 0)])
def test_spellings_of_one_function_have_one_verdict(seed: int) -> None:
    """Inside of the domain, at kinks, and at its ends."""
    generator = np.random.default_rng(seed)
    unknown = compared = 0
    for _ in range(SPELLINGS // 4):
        one, other = _spellings(generator, int(generator.integers(1, 4)))
        x = float(generator.choice([0, 0, 1, 1, -1, 0.5, 2, -0.25]))
        first, second = _truth(one, x), _truth(other, x)
        if first is None or second is None:
            unknown += first is not second
            continue
        if {first[0], second[0]} == {"exists", "undefined"} and "where" in one + other:
            continue  # what compares itself with 0 is 0 where it has no value, as nan > 0 is false
        compared += 1
        assert first[0] == second[0], (one, other, x, first, second)
        assert all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in zip(first[1], second[1], strict=False))
    assert unknown <= SPELLINGS // 40
    assert compared >= 0.8 * (SPELLINGS // 4)


INFINITE: list[tuple[str, dict[str, Any], str]] = [
    ("softmax(x + m, 0)", {"x": [1, 2, 3], "m": [0, -math.inf, 0]}, "agree"),
    ("exp(-x)", {"x": math.inf}, "agree"),
    ("amax(x)", {"x": [1, -math.inf]}, "agree"),
    ("softmax(x + m, 0)", {"x": [1, 2], "m": [-math.inf, -math.inf]}, "undefined"),
    ("log_softmax(x + m, 0)", {"x": [1, 2], "m": [0, -math.inf]}, "undefined"),
    ("x - x", {"x": math.inf}, "undefined"),
    ("sin(x)", {"x": math.inf}, "undefined"),
    ("where(m == -inf, 0, x + m)", {"x": 1, "m": -math.inf}, "undefined"),
    ("softmax(x + m, 0)", {"x": [1, 2], "m": [0, math.nan]}, "undefined"),
]


@pytest.mark.parametrize(("text", "at", "verdict"), INFINITE, ids=[f"{t} at {x}" for t, x, _ in INFINITE])
def test_infinite_inputs_are_extended_reals(text: str, at: dict[str, Any], verdict: str) -> None:
    """As infinite constants are; a derivative by one is a limit, where the chain rule gives it without 0*inf."""
    check = asked("jacobian", text, at)
    assert check.verdict == verdict, check.findings
    assert verdict != "agree" or any("are limits" in note for note in check.notes)


def test_a_branch_that_an_infinite_input_decides_is_known() -> None:
    """By x, that is: by m, it jumps at infinity."""
    check = asked("grad", "where(m == -inf, 2*x, x + m)", {"x": 1.5, "m": -math.inf})
    assert {f.variable for f in check.findings} == {"m"}

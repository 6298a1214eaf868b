"""Claims in a box: proved on the branches that it meets, refuted by a point of it, or left open."""

from typing import Any

import numpy as np
import pytest
import sympy

from gradcli import Function, check
from gradcli.errors import GradcliError
from gradcli.parts.everywhere import signs_in_box
from gradcli.results import BoxChecking, Claim

pytestmark = pytest.mark.part("claims")


def _claim(text: str, claim: str, ends: str, **at: float) -> Claim:
    answer = Function(text).check(at or None, box={"x": ends}, claim={"x": claim})
    assert isinstance(answer, BoxChecking)
    (found,) = answer.claims
    assert answer.passed == (found.status == "proved")
    return found


PROVED = [
    ("abs(x)", "1", "1..2"),
    ("abs(x)", "1", "0..1"),
    ("sqrt(x**2)", "x/abs(x)", "-1..1"),
    ("sqrt(x**2)", "-1", "-2..-1"),
    ("sign(x)", "0", "-1..1"),
    ("floor(x)", "0", "0.2..5"),
    ("relu(x - 0.37)", "1", "0.37..1"),
    ("abs(sin(x))", "cos(x)", "0.1..3"),
    ("relu(exp(x) - 2)", "exp(x)", "0.7..1"),
    ("maximum(x, x**2)", "1", "0..1"),
    ("clip(x**3, -1, 1)", "3*x**2", "-0.9..0.9"),
    ("where(x > 0, x**2, x**3)", "2*x", "1..3"),
    ("where(abs(x - 2) < 1, x, x**2)", "1", "1.25..2.75"),
    ("x**3", "3*x**2", "-5..5"),
]
"""Functions with what their derivatives are in a range."""

REFUTED = [
    ("abs(x)", "1", "-1..1"),
    ("abs(sin(x))", "cos(x)", "0..4"),
    ("relu(x - 0.37)", "1", "0.3..1"),
    ("relu(x - 0.9999999)", "0", "0..1"),
    ("maximum(x, x**2)", "1", "0..1.001"),
    ("gelu(x)", "1", "5..6"),
    ("sin(x)", "cos(x) + 1e-9*x", "1..2"),
]
"""Functions with what their derivatives are not, somewhere in a range."""


@pytest.mark.parametrize(("text", "claim", "ends"), PROVED)
def test_what_is_true_in_the_box_is_proved(text: str, claim: str, ends: str) -> None:
    """Whatever it is elsewhere."""
    assert _claim(text, claim, ends).status == "proved"


@pytest.mark.parametrize(("text", "claim", "ends"), REFUTED)
def test_what_is_false_is_refuted_by_a_point_of_the_box(text: str, claim: str, ends: str) -> None:
    """With both numbers there."""
    found = _claim(text, claim, ends)
    assert found.status == "refuted"
    assert found.at is not None
    low, high = map(float, ends.split(".."))
    assert low <= float(found.at["x"]) <= high
    assert found.truth != found.claimed


def test_a_claim_that_is_true_of_more_than_the_box_says_so_by_silence() -> None:
    """The note is of proofs that leave branches out."""
    assert _claim("x**2", "2*x", "0..1").note == ""
    assert "branches that the box meets" in _claim("abs(x)", "1", "1..2").note
    assert "where it is differentiable" in _claim("abs(x)", "1", "0..1").note


def test_what_is_not_proved_is_left_open() -> None:
    """And passes where that is allowed."""
    text, ends, claim = "asin(sin(x))", {"x": "-1..1"}, {"x": "1"}
    assert _claim(text, "1", "-1..1").status == "no counterexample"
    assert Function(text).check(box=ends, claim=claim, allow=["no-counterexample"]).passed


def test_the_other_variables_have_their_values() -> None:
    """A claim may be true of these alone, and is refuted at them."""
    assert _claim("x**a", "2*x", "-1..1", a=2).status == "proved"
    found = _claim("x**a", "2*x", "-1..1", a=3)
    assert found.at is not None
    assert float(found.at["a"]) == 3


def test_a_derivative_by_a_variable_that_does_not_move() -> None:
    """At its value, with the others anywhere in the box."""
    answer = Function("abs(a*x)").check({"a": 2.0}, box={"x": "1..2"}, claim={"a": "x"})
    assert isinstance(answer, BoxChecking)
    assert [one.status for one in answer.claims] == ["proved"]


@pytest.mark.parametrize(
    ("text", "claim", "ends", "status"),
    [
        ("sum(abs(x))", "x/x", "[1,2]..[2,3]", "proved"),
        ("sum(abs(x))", "x/x", "[-1,2]..[2,3]", "refuted"),
        ("abs(x)*x", "diag(2*x)", "[1,2]..[2,3]", "proved"),
        ("abs(x)*x", "2*x*v", "[1,2]..[2,3]", "proved"),
        ("abs(x)*x", "2*x*v", "[1,-2]..[2,3]", "refuted"),
        ("relu(x[0] - x[1])", "[1, -1]", "[3,0]..[4,2]", "proved"),
    ],
)
def test_vectors_move(text: str, claim: str, ends: str, status: str) -> None:
    """Each element between its own ends."""
    assert _claim(text, claim, ends).status == status


def test_several_claims_and_statements_are_of_one_box() -> None:
    """All are to be proved."""
    asked: dict[str, Any] = {
        "box": {"x": "1..2", "y": "0..1"},
        "claim": {"x": "2*x*y", "y": "x"},
        "prove": "df/dx >= 0",
    }
    answer: object = check("x**2*y", raise_exception=False, **asked)
    assert isinstance(answer, BoxChecking)
    assert [one.status for one in answer.claims] == ["proved", "refuted"]
    assert [one.status for one in answer.proofs] == ["proved"]
    assert not answer.passed
    with pytest.raises(AssertionError, match="not all that is asked of"):
        check("x**2*y", **asked)


def test_a_jump_is_a_note() -> None:
    """There is no derivative to claim."""
    answer = Function("sign(x)").check(box={"x": "-1..1"}, claim={"x": "0"})
    assert isinstance(answer, BoxChecking)
    assert answer.notes == ("y may jump in the box: claims are of the points with a derivative",)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"allow": ["kink"]}, "no-counterexample|no counterexample"),
        ({"expect": {"x": 2}}, "is for points"),
        ({"claim": {"q": "1"}}, "names 'q'"),
        ({"claim": {"x": "2*"}}, "ends too early"),
        ({"claim": {"x": "[1, 2]"}}, "has shape"),
    ],
)
def test_mistakes_are_refused(given: dict[str, object], words: str) -> None:
    """In words, before anything is proved."""
    with pytest.raises(GradcliError, match=words):
        Function("x**2").check(**({"box": {"x": "0..1"}, "claim": {"x": "2*x"}} | given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "ends", "signs"),
    [
        ("x*(1 - x)", (0.0, 1.0), {0, 1}),
        ("sin(x)", (0.5, 3.0), {1}),
        ("sin(x) - 2", (-9.0, 9.0), {-1}),
        ("exp(x) - 1", (-1.0, 1.0), {-1, 0, 1}),
        ("x", (0.0, 0.0), {0}),
    ],
)
def test_signs_of_expressions(text: str, ends: tuple[float, float], signs: set[int]) -> None:
    """All that some point has, and mostly no more."""
    x = sympy.Symbol("x", real=True)
    expression = sympy.sympify(text, locals={"x": x})
    assert signs_in_box(expression, {x: ends}) == signs
    values = sympy.lambdify(x, expression)(np.linspace(*ends, 101))
    assert {int(one) for one in np.sign(values)} <= signs

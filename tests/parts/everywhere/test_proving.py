"""Statements on all points of a box: proved, refuted by a point, or left open; and what is no statement."""

import random

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.parts.everywhere.moving_box import moving_box
from gradcli.parts.everywhere.proving import proofs_of
from gradcli.results import BoxChecking, BoxProof

pytestmark = pytest.mark.part("claims")


def _proof(text: str, statement: str, **ranges: str) -> BoxProof:
    answer = Function(text).check(box=ranges, prove=statement)
    assert isinstance(answer, BoxChecking)
    (found,) = answer.proofs
    assert answer.passed == (found.status == "proved")
    return found


PROVED = [
    ("x*tanh(x) + 0.9*sin(x)", "dy/dx >= 0", "0..10"),
    ("gelu(x)", "abs(dy/dx) < 1.1290", "-100..100"),
    ("gelu(x)", "y > -0.16998 and dy/dx > -0.12891", "-100..100"),
    ("silu(x)", "-0.0999 <= dy/dx <= 1.0999", "-100..100"),
    ("x**2", "y <= 4", "-2..2"),
    ("x**2", "y >= 0", "-2..2"),
    ("x**2", "d2y/dx2 >= 2", "-2..2"),
    ("x**3 - x", "dy/dx >= -1", "-2..2"),
    ("relu(x)", "dy/dx >= 0 and y >= 0", "-2..2"),
    ("x", "y > 0 or x < 0.1", "-1..1"),
    ("log(x)", "y <= 0", "0..1"),
    ("1/x", "dy/dx <= -1", "0.5..1"),
    ("sinh(x)", "y >= 0", "0..3"),
    ("x**2", "convex", "-2..2"),
    ("abs(x) + x**2", "convex", "-2..2"),
    ("softplus(x)", "convex", "-9..9"),
    ("relu(1 - x)**2", "convex", "-9..9"),
    ("-abs(x)", "concave", "-9..9"),
    ("x**4 - x**2/2 + x**2", "convex", "-1..1"),
    ("sin(x)", "concave", "0..3.14"),
    ("max([x, 1 - x])", "y >= 0.5 and convex", "-2..3"),
    ("where(abs(x) < 1e-30, 1, abs(x))", "y > 0", "-1..1"),
    ("leaky_relu(x)", "convex", "-3..3"),
    ("elu(x) + x*log(x + 4)", "convex", "-3..3"),
    ("exp(x)", "y > 0 and dy/dx > 0", "-1000..1"),
    ("exp(-x**2)*softplus(x)", "y > 0", "-300..300"),
    ("sigmoid(x)", "dy/dx > 0 and 0 < y <= 1", "-2000..2000"),
    ("tanh(x)", "dy/dx > 0 and x*y >= 0", "-1000..1000"),
    ("where(x > 0, exp(-x), cosh(x))", "y > 0", "-600..1e4"),
    ("1/x", "y > 0 or y < 0", "-1..1"),
]
"""Functions with what is true of them everywhere."""

REFUTED = [
    ("gelu(x)", "dy/dx <= 1.12", "-100..100"),
    ("x**2", "y > 0", "-2..2"),
    ("x**2", "y < 4", "-2..2"),
    ("x**2", "concave", "-2..2"),
    ("abs(x)", "dy/dx >= 0", "-1..1"),
    ("x**3", "convex", "-1..1"),
    ("sin(x)", "y >= 0 and y <= 1", "0..4"),
    ("x", "y > 0 or x < -0.1", "-1..1"),
    ("floor(x)", "y < 1", "0..1"),
    ("exp(x)", "y < 1e308", "0..1000"),
    ("hardsigmoid(x)", "convex", "-4..4"),
    ("hardsigmoid(x)", "concave", "-4..4"),
    ("hardswish(x)", "convex", "-4..4"),
    ("selu(x)", "convex", "-3..3"),
    ("leaky_relu(3*x - 1)", "concave", "-1..1"),
    ("floor(x)", "convex", "-3.3..3"),
    ("x*exp(-x)", "y > 0", "0..2000"),
    ("tanh(x)", "y > 0", "-1000..1000"),
]
"""Functions with what is false of them somewhere."""


@pytest.mark.parametrize(("text", "statement", "ends"), PROVED)
def test_what_is_true_is_proved(text: str, statement: str, ends: str) -> None:
    """Also where a bound is reached at an end, or by a form whose numbers are exact."""
    assert _proof(text, statement, x=ends).status == "proved"


@pytest.mark.parametrize(("text", "statement", "ends"), REFUTED)
def test_what_is_false_is_refuted_by_a_point(text: str, statement: str, ends: str) -> None:
    """The point is in the box."""
    found = _proof(text, statement, x=ends)
    assert found.status == "refuted"
    assert found.at is not None
    low, high = map(float, ends.split(".."))
    assert low <= found.at["x"] <= high


OPEN = [
    ("x**2", "y >= 0 or y > 5", "-1..1"),
    ("x**2", "y > 5 or y >= 0", "-1..1"),
    ("x", "log(y) >= 0", "-2..-1"),
    ("log(x)", "y > 100", "-2..-1"),
    ("lgamma(x)", "y > 100", "-1.9..-1.1"),
    ("digamma(x)", "dy/dx < 0", "-1.9..-1.1"),
    ("zeta(2, x)", "y < 0", "-1.9..-1.1"),
]
"""Statements that are true where 0 is reached, of what has no value in the box, and of what is not known there."""


@pytest.mark.parametrize(("text", "statement", "ends"), OPEN)
def test_what_is_not_decided_is_neither_proved_nor_refuted(text: str, statement: str, ends: str) -> None:
    """A statement of no point at all is not called true."""
    assert _proof(text, statement, x=ends).status == "undecided"


def test_a_side_without_a_value_somewhere_is_said() -> None:
    """The proof is of the other points."""
    assert "its sides have values" in _proof("x", "sqrt(y) <= 1", x="-1..1").note


def test_a_flat_bowl_is_convex() -> None:
    """Its Hessian is singular everywhere."""
    assert _proof("x**2 - 2*x*y + y**2", "convex", x="-1..1", y="-1..1").status == "proved"


@pytest.mark.thorough
def test_what_is_too_near_to_0_to_have_a_sign_is_said() -> None:
    """A difference of numbers below the smallest float."""
    found = _proof("exp(x) - exp(x - 1)", "y > 0", x="-1000..-900")
    assert "the bounds underflow to 0, and tell no sign" in found.note


def test_what_has_no_bound_is_not_said_to_be_equal() -> None:
    """At the end of x*log(x), whose factors are 0 and infinite there."""
    assert "where bounds of the difference are infinite" in _proof("x*log(x)", "y >= -1", x="0..1").note


def test_what_was_proved_before_the_time_was_over_is_said() -> None:
    """By the boxes, and by the share that is left."""
    box = moving_box(Function("1/x")._asked(None), {"x": "-1..1"})
    (found,) = proofs_of(["x*y > 0"], box, 0.5)
    assert found.status == "undecided"
    assert found.boxes > 0
    assert found.left < 0.5


@pytest.mark.parametrize(
    ("text", "statement", "ends"),
    [
        ("x**2 - 2*x*sqrt(2) + 2", "y >= 0", "0..3"),
        ("x**x", "y >= exp(-exp(-1))", "0.1..2"),
        ("x**2", "y >= 2*x - 1 + 1e-18", "-1..2"),
    ],
)
def test_what_is_true_or_false_by_a_hair_is_left_open(text: str, statement: str, ends: str) -> None:
    """At a point that is no rational number, or by less than rounding; the search ends where halving gains nothing."""
    found = _proof(text, statement, x=ends)
    assert found.status == "undecided"
    assert 0 <= found.left < 1e-3
    assert found.boxes < 1000


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("logsumexp([x, y])", "convex"),
        ("norm([x, y, 1])", "convex"),
        ("sqrt(x**2 + y**2)", "convex"),
        ("maximum(x, y) + exp(x + y)", "convex"),
        ("100*x**2 + y**2 + x*y", "convex"),
        ("minimum(x, y)", "concave"),
        ("x**2 + y**2", "df/dx + df/dy <= 12 and d2f/dxdy <= 0"),
        ("atan2(y, x + 5)", "abs(df/dx) < 1"),
    ],
)
def test_statements_of_two_numbers(text: str, statement: str) -> None:
    """By rules of composition where the Hessian is singular, else by small boxes."""
    answer = Function(text).check(box={"x": "-2..2", "y": "-2..3"}, prove=statement)
    assert isinstance(answer, BoxChecking)
    assert [one.status for one in answer.proofs] == ["proved"]


def test_a_saddle_is_not_convex() -> None:
    """Though it is convex in each variable alone."""
    answer = Function("x**2 + y**2 + 3*x*y").check(box={"x": "-1..1", "y": "-1..1"}, prove="convex; concave")
    assert isinstance(answer, BoxChecking)
    assert [one.status for one in answer.proofs] == ["refuted", "refuted"]


def test_nothing_is_proved_that_a_point_refutes() -> None:
    """Random polynomials and their inequalities, against a thousand points."""
    draw, count = random.Random(3), 0
    for _ in range(25):
        a, b, c = (draw.randint(-3, 3) for _ in range(3))
        bound = draw.choice([-1, 0, 1, 2])
        text, statement = f"{a}*x**3 + {b}*x**2 + {c}*sin(3*x)", f"dy/dx >= {bound}"
        x = np.linspace(-1, 2, 1001)
        truth = 3 * a * x**2 + 2 * b * x + 3 * c * np.cos(3 * x)
        found = _proof(text, statement, x="-1..2")
        count += found.status != "undecided"
        assert found.status != "proved" or (truth >= bound - 1e-12).all(), text
        assert found.status != "refuted" or (truth < bound + 1e-3).any(), text
    assert count >= 20


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("dy/dz >= 0", "z does not move"),
        ("foo > 1", "foo is not known"),
        ("y", "compares two sides"),
        ("y >=", "compares two sides"),
        ("", "empty"),
        ("[y, y] > 0", "one number"),
        ("convex or y > 0", "stand alone"),
    ],
)
def test_what_is_no_statement_is_refused(statement: str, words: str) -> None:
    """In words, with its place."""
    with pytest.raises(GradcliError, match=words):
        Function("x**2").check(box={"x": "0..1"}, prove=statement)


@pytest.mark.parametrize("options", [{"random": 10}, {"expect": {"x": 2}}, {"v": 1}, {"differences": True}])
def test_options_of_points_are_refused_in_a_box(options: dict[str, object]) -> None:
    """A box has every point."""
    with pytest.raises(GradcliError, match="is for points"):
        Function("x**2").check(box={"x": "0..1"}, prove="y >= 0", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("statement", "status"), [("f >= 0", "proved"), ("f > 0", "refuted"), ("f >= 1", "refuted")])
def test_what_is_least_on_a_line_is_proved_by_a_tangent(statement: str, status: str) -> None:
    """As the number is convex, it is nowhere below its tangent plane at a point."""
    answer = Function("x**2 - 2*x*y + y**2").check(box={"x": "-2..3", "y": "-3..3"}, prove=statement)
    assert isinstance(answer, BoxChecking)
    assert answer.proofs[0].status == status


def test_a_singular_hessian_is_said_to_leave_convexity_open() -> None:
    """As of (x - y)**2 in other words; and all of the box is left, not one."""
    answer = Function("x**2/abs(y)").check(box={"x": "-5..5", "y": "-1..-0.01"}, prove="convex")
    assert isinstance(answer, BoxChecking)
    assert "all of the box is left" in str(answer)
    assert "the Hessian is singular" in answer.proofs[0].note

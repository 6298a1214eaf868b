"""Random questions at kinks, ties, jumps, poles and gaps have the verdict of their truth, which is known by hand."""

import random
from typing import Any

import pytest

from gradcli import Function
from tests.crosscheck import adversary
from tests.examples import examples, quarter, seeds

QUESTIONS = examples(400)
KEPT: tuple[int, ...] = ()
"""Seeds of questions that had a wrong verdict once."""

KEPT_MEETINGS: tuple[int, ...] = ()
"""Seeds of kinks that meet, of which one had a wrong verdict once."""

LEAVES = "x; y; 2; x; (x - y)"
UNARY = "abs({0}); relu({0}); ({0})**2; (-{0}); (3*{0}); (-2*{0}); clamp({0}, -1, 1); sign({0}); floor({0})"
BINARY = """
maximum({0}, {1}); minimum({0}, {1}); amax([{0}, {1}]); ({0} + {1}); ({0} - {1}); ({0}*{1})
({0} if {0} > {1} else 2*{1}); ({0}*{1} if {0} <= {1} else {1}); (1 if {0} == {1} else {0} - {1})
({1} if {0} != {1} else ({0})**2)
"""
"""All kinks and jumps are at whole numbers, so that they coincide, cancel and hide each other."""

START = {"x": 0.0, "y": 0.0}


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("relu(x)", 0.0, (0, 1)),
        ("sqrt(x)", 0.0, None),
        ("relu(x)**1.5", 0.0, (0, 0)),
        ("sin(x)/x", 0.0, None),
        ("(1 if x == 0 else sin(x)/x)", 0.0, (0, 0)),
        ("(1 - cos(x))/x**2", 2.0**-200, (-(2.0**-200) / 12,) * 2),
        ("floor(x)", 1.0, None),
    ],
)
def test_the_truth_is_the_hand_derived_one(text: str, x: float, expected: tuple[float, float] | None) -> None:
    """From the left and from the right."""
    found = adversary.first(text, {"x": x, "y": 1.0}, "x")
    assert found == (expected and pytest.approx(expected, rel=1e-15, abs=1e-300))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x*y", (1, 1)), ("relu(x*y)", None), ("x*relu(y)", (0, 1)), ("x*relu(x)*y", (0, 0)), ("x*abs(x)*y", (0, 0))],
)
def test_the_mixed_derivative_at_crossing_kinks_is_the_hand_derived_one(text: str, expected: Any) -> None:
    """The derivative by y of ∂f/∂x at 0, 0."""
    assert adversary.second(text, START, "x", {"y": 1.0}) == (expected and pytest.approx(expected, abs=1e-300))


def test_a_function_that_bends_in_one_quadrant_has_a_kink_at_its_corner() -> None:
    """Along both inputs, and along lines that do not enter the quadrant, it is 0."""
    judged = adversary.faults(adversary.Question("relu(minimum(x, y))", {"x": 0.0, "y": 0.0}, "float64"))
    assert (judged.found, judged.verdict, judged.compared) == ([], "kink", 2)


@pytest.mark.parametrize("seed", quarter(range(4), 0))
def test_no_random_question_has_a_wrong_verdict(seed: int) -> None:
    """Nothing agrees that has no derivative or another, nothing is called wrong or a kink that is right."""
    compared = 0
    for own in seeds(seed * QUESTIONS, QUESTIONS // 4, KEPT):
        judged = adversary.faults(adversary.draw(own))
        assert not judged.found, f"seed {own}"
        compared += judged.compared
    assert compared >= QUESTIONS // 4


@pytest.mark.parametrize("seed", [*KEPT_MEETINGS, *quarter(seeds(0, 4), 0)])
def test_kinks_and_jumps_that_meet_have_their_exact_sides(seed: int) -> None:
    """A smooth point is not called a kink, no kink is missed, and the derivatives on both sides are right."""
    r = random.Random(seed)
    unchecked = compared = 0
    for _ in range(QUESTIONS // 4):
        text = adversary.nested(r, LEAVES, UNARY, BINARY, r.randrange(1, 5))
        at = {name: float(r.choice([0, 0, 0, 1, -1])) for name in Function(text).variables}
        judged = adversary.faults(adversary.Question(text, at, "float64"))
        assert not judged.found
        unchecked += judged.verdict == "unchecked"
        compared += judged.compared
    assert unchecked <= 2
    assert compared >= QUESTIONS // 4

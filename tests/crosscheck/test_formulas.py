"""Formulas at points where their cases meet: the reference refutes what is wrong, and no formula by cases for a tie."""

import itertools

import pytest

from gradcli import Function
from tests.checks import check_of

CONDITIONS = ("x == 0", "x**3 != 0", "x >= 0", "x**2 <= 0")
CASES = ("0", "x", "-sin(x)")


@pytest.mark.parametrize("outer", ["relu({})", "abs({})", "{}"])
def test_no_formula_is_called_wrong_where_its_cases_meet(outer: str) -> None:
    """It takes one of them there; what torch has of a tie is judged on its own."""
    for condition, (first, second) in itertools.product(CONDITIONS, itertools.permutations(CASES, 2)):
        text = outer.format(f"where({condition}, {first}, {second})")
        for answer in (Function(text).jvp({"x": 0}, {"x": 1}), Function(text).vjp({"x": 0})):
            assert not [finding for finding in check_of(answer).findings if finding.torch is None], text


def test_a_tie_that_torch_has_right_agrees() -> None:
    """The formula would say 1, as the branch that is met has the slope 1."""
    answer = Function("relu(where(x**3 != 0, 0, x))").jvp({"x": 0}, {"x": 1})
    assert (float(answer.jvp), answer.symbolic) == (0.0, None)
    assert check_of(answer).verdict == "agree"


def test_a_formula_that_counts_a_tie_twice_is_not_shown() -> None:
    """The largest of [x, x] has the slope 1; a sum over all places of the largest would say 2."""
    answer = Function("amax([x, x])").grad({"x": 3.0})
    assert (float(answer.grad["x"]), dict(answer.symbolic)) == (1.0, {})

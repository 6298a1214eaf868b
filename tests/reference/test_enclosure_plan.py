"""The reference against hand-derived truths, and its budget."""

from collections.abc import Mapping

import numpy as np
import pytest
import sympy
from flint import arb

from gradcli import Function
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Outcome, Undefined
from tests.parsing import parse


def reference_of(expression: str, at: Mapping[str, object]) -> tuple[Reference, list[sympy.Symbol]]:
    """The reference of a text at a point, and its variables."""
    program = in_primitives(parse(expression))
    arrays = {name: np.asarray(at[name], dtype=float) for name in program.names}
    shapes = infer(program, {s: arrays[str(s)].shape for s in program.variables})
    return Reference(program, shapes, arrays), list(program.variables)


def _middle(outcome: Outcome) -> float:
    assert not isinstance(outcome, Undefined), outcome.reason
    return float(outcome.mid())


def test_rows_restrict_the_work() -> None:
    """Sixteen rows of a product of two 400 × 400 matrices: 64 million products, of which a few are looked at."""
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=(2, 400, 400))
    reference, (first, _) = reference_of("A@B", {"A": a, "B": b})
    columns = reference.plan([(first, 401)], np.array([399, 400, 401])).run(64).columns
    assert {row: _middle(ball) for row, ball in columns[first, 401].items()} == {400: b[1, 0], 401: b[1, 1]}


def test_the_budget_is_counted_before_the_work() -> None:
    """A dense column of a million elements is refused at once; a sparse one is not."""
    x = np.linspace(0, 1, 1_000_000)
    softmax, (symbol,) = reference_of("exp(x)/sum(exp(x))", {"x": x})
    with pytest.raises(OverBudgetError):
        softmax.plan([(symbol, 0)])
    square, (symbol,) = reference_of("sum(x**2)", {"x": x})
    plan = square.plan([(symbol, 999_999)])
    assert not plan.judges_value
    assert _middle(plan.run(64).columns[symbol, 999_999][0]) == 2.0


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("t = x*0; sign(t)*t", False),
        ("sign(0*x)", False),
        ("sign(x*y)", True),
        ("floor(sin(y)*x)", True),
        ("sign(x**2)", True),
        ("sign(x*x)", True),
        ("sign(x*(x + y))", True),
        ("sign(x*y + x)", True),
    ],
)
def test_a_step_of_what_stays_is_no_jump(text: str, moves: bool) -> None:
    """At x = y = 0 along x: a slope of 0 that is made of what does not move leaves an element where it is.

    Unless several inputs move it together, as they do x*y.
    """
    names = ("x", "y") if "y" in text else ("x",)
    reference, symbols = reference_of(text, dict.fromkeys(names, 0.0))
    plan = reference.plan([(symbol, 0) for symbol in symbols])
    found = plan.run(64).columns[next(s for s in symbols if str(s) == "x"), 0][0]
    if moves:
        assert isinstance(found, Undefined)
        assert (found.kind, found.decided) == ("jump", True)
    else:
        assert _middle(found) == 0.0


def test_a_slope_that_may_be_zero_is_not_left_out() -> None:
    """A ball around 0 of what does not move: sin(pi) as pi is typed is not 0, and 60 bits do not tell."""
    reference, symbols = reference_of("sin(y)*x", {"x": 1.0, "y": np.pi})
    x = next(symbol for symbol in symbols if str(symbol) == "x")
    found = reference.plan([(x, 0)]).run(40).columns[x, 0][0]
    assert not isinstance(found, Undefined)
    assert found.contains(arb(float(np.pi)).sin())


def test_a_value_that_does_not_exist_is_not_hidden_by_a_slope_of_zero() -> None:
    """Where y is over the budget and not judged, the derivative alone says that sqrt(-1) has no value."""
    text = "sqrt(x*0 - 1) + sum(exp(z))"
    check = Function(text).grad({"x": 2.0, "z": np.zeros(200_000)}, wrt=["x"]).check
    assert check is not None
    assert check.verdict == "unchecked"

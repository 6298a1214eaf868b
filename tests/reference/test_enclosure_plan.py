"""The reference against hand-derived truths, and its budget."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Outcome, Undefined
from tests.parsing import parse


def _reference(expression: str, at: dict[str, object]) -> tuple[Reference, list[sympy.Symbol]]:
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
    reference, (first, _) = _reference("A@B", {"A": a, "B": b})
    columns = reference.plan([(first, 401)], np.array([399, 400, 401])).run(64).columns
    assert {row: _middle(ball) for row, ball in columns[first, 401].items()} == {400: b[1, 0], 401: b[1, 1]}


def test_the_budget_is_counted_before_the_work() -> None:
    """A dense column of a million elements is refused at once; a sparse one is not."""
    x = np.linspace(0, 1, 1_000_000)
    softmax, (symbol,) = _reference("exp(x)/sum(exp(x))", {"x": x})
    with pytest.raises(OverBudgetError):
        softmax.plan([(symbol, 0)])
    square, (symbol,) = _reference("sum(x**2)", {"x": x})
    plan = square.plan([(symbol, 999_999)])
    assert not plan.judges_value
    assert _middle(plan.run(64).columns[symbol, 999_999][0]) == 2.0


@pytest.mark.parametrize(
    ("expression", "x", "kind", "words"),
    [
        ("log(x)", -1.0, "domain", "log(x) has no value here: log(x) needs x > 0"),
        ("log(x)", 0.0, "domain", "log(x) has no value here"),
        ("sqrt(x)", 0.0, "slope", "sqrt(x) has no finite slope here"),
        ("x**(1/3)", 0.0, "slope", "x**(1/3) has no finite slope here"),
        ("1/x", 0.0, "domain", "1/x has no value here"),
        ("asin(x)", 1.0, "slope", "asin(x) has no finite slope here"),
        ("abs(x)", 0.0, "kink", "abs(x) has a kink here"),
        ("relu(x)", 0.0, "kink", "relu(x) has a kink here"),
        ("floor(x)", 3.0, "jump", "floor(x) jumps here"),
        ("round(x)", 2.5, "jump", "round(x) jumps here"),
        ("clamp(x, 0, 1)", 1.0, "kink", "clamp(x, 0, 1) has a kink here"),
        ("x*2", np.inf, "domain", "x is inf here"),
    ],
)
def test_trouble_names_the_sub_expression(expression: str, x: float, kind: str, words: str) -> None:
    """No value, no slope, or a kink; proved, as the inputs are exact."""
    reference, (symbol,) = _reference(f"3*({expression}) + x", {"x": x})
    outcome = reference.plan([(symbol, 0)]).run(64).columns[symbol, 0][0]
    assert isinstance(outcome, Undefined)
    assert (outcome.kind, outcome.decided) == (kind, True)
    assert words in outcome.reason


def test_what_more_precision_may_decide_is_not_decided() -> None:
    """tanh(x)**2 + 1/cosh(x)**2 is 1, but its ball at 64 bits only contains 1."""
    reference, (symbol,) = _reference("log(tanh(x)**2 + 1/cosh(x)**2 - 1 + 1e-30)", {"x": 1.0})
    outcome = reference.plan([(symbol, 0)]).run(64).columns[symbol, 0][0]
    assert isinstance(outcome, Undefined)
    assert not outcome.decided
    assert not isinstance(reference.plan([(symbol, 0)]).run(256).columns[symbol, 0][0], Undefined)


def test_cancellation_is_seen_through() -> None:
    """(1 - cos(x))/x**2 at 1e-60, where 75 decimal digits agree on a wrong answer."""
    reference, (symbol,) = _reference("(1-cos(x))/x**2", {"x": 1e-60})
    ball = reference.plan([(symbol, 0)]).run(1280).columns[symbol, 0][0]
    assert _middle(ball) == pytest.approx(-1e-60 / 12, rel=1e-15)

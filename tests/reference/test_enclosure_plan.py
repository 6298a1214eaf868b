"""The reference against hand-derived truths, and its budget."""

from collections.abc import Mapping

import numpy as np
import pytest
import sympy

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

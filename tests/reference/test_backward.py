"""Adjoints on balls are the derivatives that reverse mode gives, and tell when their terms cancel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb

from gradcli.language.parsing import parse
from gradcli.language.program.expansion import expansion, in_primitives
from gradcli.language.program.shapes import infer
from gradcli.reference.balls import precision
from gradcli.reference.duals import Backward, Flow, Reference, Sweep, lower, lowering
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.rules import Undefined


def _sweep(text: str, row: int = 0, **at: Any) -> tuple[Reference, Sweep]:
    program = parse(text)
    inputs = {name: np.array(value, dtype=np.float64) for name, value in at.items()}
    shapes = {symbol: inputs[str(symbol)].shape for symbol in program.variables}
    program = in_primitives(program)
    reference = Reference(program, infer(program, shapes), inputs)
    output = reference.program.output
    with precision(200):
        backward = Backward(reference, reference.made_of({output: np.array([row])}))
        return reference, backward.sweep({output: {row: Flow(arb(1), arb(1))}}, reference.program.lines)


def _adjoints(text: str, row: int = 0, **at: Any) -> dict[int, float]:
    reference, sweep = _sweep(text, row, **at)
    flows = sweep.adjoints.get(reference.program.variables[0], {})
    return {e: float(flow.total.mid()) for e, flow in sorted(flows.items()) if not isinstance(flow.total, Undefined)}


DERIVATIVES = [
    ("x**3", 2, {0: 12}),
    ("sum(x*x)", [1, 2, 3], {0: 2, 1: 4, 2: 6}),
    ("x[1:]*x[:-1]", [5, 7, 11], {0: 7, 1: 5}),
    ("prod(x)", [2, 3, 5], {0: 15, 1: 10, 2: 6}),
    ("amax(x)", [1, 9, 3], {1: 1}),
    ("maximum(x, 2)*x", 5, {0: 10}),
    ("maximum(x, 2)*x", 1, {0: 2}),
    ("where(x > 0, x**2, log(x))", -3, {}),
    ("where(x > 0, x**2, log(-x))", -4, {0: -0.25}),
    ("floor(x)*x", 2.5, {0: 2}),
    ("det(x)", [[2, 1], [7, 5]], {0: 5, 1: -7, 2: -1, 3: 2}),
    ("cumsum(x)[2]", [1, 2, 3, 4], {0: 1, 1: 1, 2: 1}),
]


@pytest.mark.parametrize(("text", "x", "derivatives"), DERIVATIVES, ids=[f"{t} at {x}" for t, x, _ in DERIVATIVES])
def test_adjoints_are_derivatives(text: str, x: Any, derivatives: dict[int, float]) -> None:
    """Taken by hand; what is not taken gets nothing."""
    assert _adjoints(text, x=x) == derivatives


def test_a_row_of_a_matrix_product() -> None:
    """∂(A@x)[1]/∂A[1, k] = x[k]."""
    assert _adjoints("A@x", row=1, A=[[1, 2, 3], [4, 5, 6]], x=[7, 8, 9]) == {3: 7, 4: 8, 5: 9}


def test_the_largest_way_is_kept_beside_the_sum() -> None:
    """x**2 - 6*x at 3 has the slope 6 - 6."""
    reference, sweep = _sweep("x**2 - 6*x", x=3)
    flow = sweep.adjoints[reference.program.variables[0]][0]
    assert flow.total == 0
    assert flow.largest == 6


def test_a_slope_that_does_not_exist_is_trouble_only_where_something_flows() -> None:
    """The slope of sqrt at 0, taken and not taken."""
    reference, sweep = _sweep("sqrt(x)", x=0)
    total = sweep.adjoints[reference.program.variables[0]][0].total
    assert isinstance(total, Undefined)
    assert total.kind == "slope"
    assert _adjoints("where(x > 0, sqrt(x), x)", x=0) == {0: 1}


def test_ties_have_no_slope() -> None:
    """Of two equal elements neither is the largest."""
    reference, sweep = _sweep("amax(x)", x=[4, 4])
    flows = sweep.adjoints[reference.program.variables[0]]
    assert all(isinstance(flow.total, Undefined) for flow in flows.values())


def test_what_an_element_moves_is_found_among_what_is_asked_for() -> None:
    """X[1] moves both products, of which the second alone is wanted."""
    reference, _ = _sweep("x[1:]*x[:-1]", row=1, x=[5, 7, 11])
    output, x = reference.program.output, reference.program.variables[0]
    wanted = reference.made_of({output: np.array([1])})
    assert reference.moved_by((x, 1), wanted)[output].tolist() == [1]
    assert output not in reference.moved_by((x, 0), wanted)


def test_a_number_made_of_too_much_is_over_the_budget() -> None:
    """A sum of a hundred thousand."""
    program = in_primitives(parse("sum(x)"))
    x = program.variables[0]
    reference = Reference(program, infer(program, {x: (100_000,)}), {"x": np.zeros(100_000)})
    with pytest.raises(OverBudgetError):
        reference.made_of({reference.program.output: np.array([0])})


# -- which line became what


def test_lines_that_are_not_shared_belong_to_one_line_each() -> None:
    """exp(-x) stands for itself and is inside of sigmoid(x)."""
    program = parse("exp(-x) + sigmoid(x)")
    shared, apart = expansion(program), expansion(program, shares=False)
    names = [[line.call.op.name for line in found.program.lines] for found in (shared, apart)]
    assert [name.count("exp") for name in names] == [1, 2]
    owners = {line.symbol: line.call.op.name for line in program.lines}
    parts = [line.call.op.name for line in apart.program.lines if owners[apart.owners[line.symbol]] == "sigmoid"]
    assert parts == ["neg", "exp", "add", "div"]


def test_expansions_follow_each_other() -> None:
    """A dot is a matrix product by its meaning, and that a sum of products."""
    program = parse("dot(a, b)")
    shapes = dict.fromkeys(program.variables, (3,))
    first = expansion(program, shares=False)
    both = first.then(lowering(first.program, infer(first.program, shapes), shares=False))
    assert set(both.owners.values()) == {program.output}
    assert both.renamed[program.output] == both.program.output
    lowered, _ = lower(first.program, infer(first.program, shapes))
    assert [line.call.op.name for line in both.program.lines] == [line.call.op.name for line in lowered.lines]
    assert isinstance(both.program.output, sympy.Symbol)

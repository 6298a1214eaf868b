"""The tangent of a Program: its values are the columns of the Jacobian times a direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import sympy

from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Program
from gradcli.reference.balls import precision
from gradcli.reference.duals import Reference
from gradcli.reference.rules import Undefined
from gradcli.reference.tangent import tangent
from tests.parsing import parse

BITS = 128

Arrays = Mapping[str, np.ndarray[Any, Any]]


def _shapes(program: Program, arrays: Arrays) -> dict[Atom, tuple[int, ...]]:
    return infer(program, {symbol: arrays[str(symbol)].shape for symbol in program.variables})


def _values(reference: Reference) -> list[Any]:
    found = reference.plan([], None).run(BITS).values
    return [found[row] for row in sorted(found)]


def _tangent_values(program: Program, arrays: Arrays, u: Arrays) -> list[Any]:
    found = tangent(program, _shapes(program, arrays), u)
    inputs = {**arrays, **{found.directions[name]: array for name, array in u.items()}}
    size = int(np.prod(_shapes(program, arrays)[program.output]))
    values = _values(Reference(found.program, found.shapes, inputs))
    return values if len(values) == size else values * size


def _column_values(program: Program, arrays: Arrays, u: Arrays) -> list[Any]:
    """The reference's own columns, weighed by u."""
    reference = Reference(program, _shapes(program, arrays), arrays)
    directions = [(sympy.Symbol(name, real=True), j) for name, a in u.items() for j in range(a.size)]
    weights: list[float] = np.concatenate([a.ravel() for a in u.values()]).tolist()
    found = reference.plan(directions, None).run(BITS)
    total: list[Any] = [0 * weights[0]] * int(np.prod(reference.shapes[reference.program.output]))
    for (d, row), ball in found.columns.items():
        assert not isinstance(ball, Undefined), ball
        total[row] = total[row] + ball * weights[d]
    return total


def _agree(program: Program, arrays: Arrays, u: Arrays) -> None:
    with precision(BITS):
        found, wanted = _tangent_values(program, arrays, u), _column_values(program, arrays, u)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert not isinstance(one, Undefined), one
            assert float(abs(one - other).upper()) <= 1e-25 * (1 + abs(float(one))), (one, other)


def _directions(arrays: Arrays, seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    generator = np.random.default_rng(seed)
    return {name: np.asarray(generator.normal(size=array.shape)) for name, array in arrays.items()}


EXAMPLES = [op for op in ops.TABLE.values() if op.kind is not Kind.SOURCE or op.name == "eye"]


@pytest.mark.parametrize("op", EXAMPLES, ids=lambda op: op.name)
def test_every_operation_of_the_table_has_the_tangent_that_its_columns_give(op: ops.Op) -> None:
    """At its worked example, moved a little off round numbers."""
    text, at = op.worked_example
    arrays = {name: read_value(value, "--at") for name, value in at.items()}
    program = parse(text, shapes={name: array.shape for name, array in arrays.items()})
    arrays = {name: arrays[name] + 0.01 * (name in program.differentiable) for name in program.names}
    u = _directions({name: arrays[name] for name in program.differentiable})
    _agree(in_primitives(program), arrays, u)


SMOOTH = [
    ("prod(x)", {"x": [1.5, 0.0, -2.0, 3.0, 0.5]}),
    ("prod(A, dim=0)", {"A": [[1.5, -2.0], [0.25, 3.0], [2.0, 0.0]]}),
    ("prod(x[:0])", {"x": [1.5]}),
    ("amax(A, dim=0)", {"A": [[1.5, -2.0], [0.25, 3.0], [2.0, 0.0]]}),
    ("det(A)", {"A": [[1.0, 2.0], [2.0, 4.0]]}),
    ("det(A)", {"A": np.arange(9.0).reshape(3, 3)}),
    ("det(A)", {"A": np.vander([1.0, 2.0, 3.0, 5.0])}),
    ("det(A)", {"A": np.vander([1.0, 2.0, 3.0, 5.0, 7.0])}),
    ("det(A)", {"A": np.arange(8.0).reshape(2, 2, 2) ** 2}),
    ("det(A)", {"A": [[3.0]]}),
    ("sum(x + s)", {"x": [1.0, 2.0, 3.0], "s": 2.0}),
    ("where(x > 2, s, x)", {"x": [1.0, 2.5, 3.0], "s": 2.0}),
    ("maximum(x, 1.5)*minimum(x, s)", {"x": [1.0, 2.5, 3.0], "s": 2.0}),
    ("maximum(x, x)", {"x": [1.0]}),
    ("sum((x[:, None] >= x)*x, 1)", {"x": [3.0, 1.0, 2.0]}),
    ("x**y", {"x": [0.5, 2.0], "y": [2.0, -1.0]}),
    ("x**y", {"x": 0.0, "y": 2.0}),
    ("2**x + 0.3**x + pi**x", {"x": 1.5}),
    ("x**0.3 + x**-2 + x**1 + x**0", {"x": 1.5}),
    ("sinc(x)", {"x": [0.0, 0.5, 1.0]}),
    ("floor(x) + sign(x)*x + detach(x)*x", {"x": [1.5, -0.5]}),
    ("cumprod(A, dim=0)*x", {"A": [[1.0, 0.0], [3.0, 4.0], [0.0, 2.0]], "x": [2.0, 3.0]}),
    ("7", {}),
]


@pytest.mark.parametrize(("text", "at"), SMOOTH, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_rewritten_first_has_the_same_columns(text: str, at: dict[str, Any]) -> None:
    """Products with a zero, singular determinants, ties of nothing, operands that stretch."""
    program = in_primitives(parse(text))
    arrays = {name: np.asarray(at[name], dtype=float) for name in program.names}
    if at:
        _agree(program, arrays, _directions(arrays))
    else:
        assert tangent(program, {}).program.output == 0


def test_a_long_product_has_few_lines() -> None:
    """Ten thousand elements in fourteen halves."""
    program = in_primitives(parse("prod(x)"))
    assert len(tangent(program, {program.variables[0]: (10_000,)}).program.lines) < 200


def test_the_branch_not_taken_poisons_nothing() -> None:
    """sqrt(x) has neither a value nor a slope at -1."""
    program = in_primitives(parse("where(x > 0, sqrt(x), 3*x)"))
    (found,) = _tangent_values(program, {"x": np.array(-1.0)}, {"x": np.array(2.0)})
    assert found == 6


@pytest.mark.parametrize("text", ["log(x)", "atanh(x)", "asin(x)", "acosh(x)", "x**1.5", "lgamma(floor(x))"])
def test_outside_of_its_domain_an_operation_has_no_tangent_either(text: str) -> None:
    """Though 1/x has a value at -3."""
    program = in_primitives(parse(text))
    if "floor" in text:
        assert tangent(program, {program.variables[0]: ()}).program.output == 0
        return
    (found,) = _tangent_values(program, {"x": np.array(-3.0)}, {"x": np.array(1.0)})
    assert isinstance(found, Undefined)
    assert found.kind == "domain"


def test_new_lines_are_called_slopes_in_messages() -> None:
    """So that abs(x) is not said to jump where its slope does."""
    found = tangent(in_primitives(parse("y = abs(x); y + 1")), {sympy.Symbol("x", real=True): ()}).program
    assert [found.excerpt(line) for line in found.lines] == [
        "abs(x)",
        "the slope of abs(x)",
        "the slope of abs(x)",
        "y + 1",
    ]

"""A trace keeps what torch had: every value, what flows back to it, and which operation added what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.autodiff.run import Trace, trace
from gradcli.errors import InputError
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Line


def _trace(text: str, v: Any = 1.0, dtype: str = "float64", **at: Any) -> Trace:
    program = parse(text)
    inputs = {name: np.array(value, dtype=dtype) for name, value in at.items()}
    return trace(program, inputs, program.names, dtype, np.array(v))


def _line(found: Trace, shown: str) -> Line:
    return next(line for line in found.program.lines if found.program.excerpt(line) == shown)


def test_every_line_has_its_value_and_its_adjoint() -> None:
    """Of y = (x*z)**2 with x*z = 6: dy/d(x*z) = 12, dy/dx = 36, dy/dz = 24."""
    found = _trace("(x*z)**2", x=2, z=3)
    product = _line(found, "x*z").symbol
    x, z = found.program.variables
    assert found.values[product] == 6
    assert [found.adjoints[a].item() for a in (found.program.output, product, x, z)] == [1, 12, 36, 24]


def test_adjoints_are_weighted_by_v_and_have_the_shape_of_the_line() -> None:
    """∂(v·x**2)/∂x = 2*v*x."""
    found = _trace("x**2", v=[[1, 10, 100], [0, 0, -1]], x=[[1, 2, 3], [4, 5, 6]])
    assert found.adjoints[found.program.variables[0]].tolist() == [[2, 40, 600], [0, 0, -12]]


def test_contributions_are_those_of_one_operation_alone() -> None:
    """In x*sin(x) the product adds sin(x), and the sine x*cos(x)."""
    found = _trace("x*sin(x)", x=0.5)
    x = found.program.variables[0]
    product, sine = (found.contributions(_line(found, shown)) for shown in ("x*sin(x)", "sin(x)"))
    assert product[x] == np.sin(0.5)
    assert sine[x] == 0.5 * np.cos(0.5)
    assert product[x] + sine[x] == found.adjoints[x]


def test_contributions_can_be_asked_for_at_other_numbers() -> None:
    """3*a**2 at another a, of another adjoint."""
    found = _trace("x**3", x=2)
    x = found.program.variables[0]
    line = found.program.lines[0]
    assert found.contributions(line)[x] == 12
    assert found.contributions(line, np.array(10.0))[x] == 120
    assert found.contributions(line, values={x: np.array(1.0)})[x] == 3


def test_an_operand_used_twice_gets_both_contributions() -> None:
    """x*x adds x twice."""
    found = _trace("x*x", x=3)
    assert found.contributions(found.program.lines[0])[found.program.variables[0]] == 6


def test_conditions_have_values_and_no_adjoints() -> None:
    """Nothing flows back through a comparison."""
    found = _trace("where(x > 0, x, -x)", x=[1, -1], v=[1, 1])
    condition = _line(found, "x > 0").symbol
    assert found.values[condition].tolist() == [True, False]
    assert condition not in found.adjoints
    assert found.contributions(_line(found, "x > 0")) == {}


def test_the_lines_are_those_that_torch_ran() -> None:
    """Softmax is one operation of torch; a Program that ends in a number has no line, and nothing flows back."""
    assert [line.call.op.name for line in _trace("softmax(x)", v=[1, 1], x=[1, 2]).program.lines] == ["softmax"]
    assert _trace("7").values == {}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays_have_the_dtype_of_the_run(dtype: str) -> None:
    """1e-30 squared underflows in float32 alone."""
    found = _trace("x**2", dtype=dtype, x=1e-30)
    assert found.values[found.program.output].dtype == dtype
    assert (found.values[found.program.output] == 0) == (dtype == "float32")


def test_what_torch_refuses_is_an_error_of_the_input() -> None:
    """The inverse at a singular matrix in place of the one that ran."""
    found = _trace("inv(A)", v=np.eye(2), A=[[2, 0], [0, 1]])
    A = found.program.variables[0]
    with pytest.raises(InputError):
        found.contributions(found.program.lines[0], values={A: np.zeros((2, 2))})


def test_slopes_are_those_of_every_element() -> None:
    """Of x*b with a number b: b for x, and x for b in every place of the line."""
    found = _trace("x*b", v=[1, 10], x=[2, 3], b=5)
    x, b = found.program.variables
    slopes = found.slopes(found.program.lines[0])
    assert (slopes[x].tolist(), slopes[b].tolist()) == ([5, 5], [2, 3])
    assert found.contributions(found.program.lines[0])[b] == 32


def test_a_slope_by_an_operand_used_twice_is_of_both_uses() -> None:
    """2*x for x*x, and none by a condition."""
    found = _trace("x*x", v=[1, 1], x=[2, 3])
    assert found.slopes(found.program.lines[0])[found.program.variables[0]].tolist() == [4, 6]
    choice = _trace("where(x > 0, x, 7)", v=[1, 1], x=[2, -3])
    last = choice.program.lines[-1]
    assert {str(a): s.tolist() for a, s in choice.slopes(last).items()} == {"x": [1, 0]}


def test_local_jacobians_have_a_row_for_each_element() -> None:
    """Of a matrix by a vector: the matrix for the vector."""
    found = _trace("A@x", v=[1, 1], A=[[1, 2, 3], [4, 5, 6]], x=[1, 0, 2])
    A, x = found.program.variables
    jacobians = found.jacobians(found.program.lines[0])
    assert jacobians[x].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert jacobians[A].shape == (2, 2, 3)
    assert jacobians[A][1].tolist() == [[0, 0, 0], [1, 0, 2]]


def test_lines_keep_their_names_where_operations_are_replaced() -> None:
    """Sec is run as 1/cos, and u stays u."""
    found = _trace("u = sec(x); u*x", x=0.5)
    assert [line.name for line in found.program.lines] == ["", "u", ""]

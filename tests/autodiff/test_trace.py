"""A trace keeps what torch had: every value, what flows back to it, and which operation added what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.autodiff.run import Trace, trace
from gradcli.errors import InputError
from gradcli.language.parsing import parse


def _trace(text: str, v: Any = 1.0, dtype: str = "float64", **at: Any) -> Trace:
    program = parse(text)
    inputs = {name: np.array(value, dtype=dtype) for name, value in at.items()}
    return trace(program, inputs, program.names, dtype, np.array(v))


def _lists(found: Any) -> dict[str, Any]:
    return {str(atom): array.tolist() for atom, array in found.items()}


def test_contributions_can_be_asked_for_at_other_numbers() -> None:
    """3*a**2 at another a, of another adjoint; what torch refuses there is an error of the input."""
    found = _trace("x**3", x=2)
    x, line = found.program.variables[0], found.program.lines[0]
    assert found.contributions(line)[x] == 12
    assert found.contributions(line, np.array(10.0))[x] == 120
    assert found.contributions(line, values={x: np.array(1.0)})[x] == 3
    inverse = _trace("inv(A)", v=np.eye(2), A=[[2, 0], [0, 1]])
    with pytest.raises(InputError):
        inverse.contributions(inverse.program.lines[0], values={inverse.program.variables[0]: np.zeros((2, 2))})


@pytest.mark.parametrize(
    ("text", "v", "at", "contributions", "slopes"),
    [
        ("x*x", [1, 1], {"x": [2, 3]}, {"x": [4, 6]}, {"x": [4, 6]}),  # of both uses
        # b is a number: of its slope there is one in every place of the line
        ("x*b", [1, 10], {"x": [2, 3], "b": 5}, {"x": [5, 50], "b": 32}, {"x": [5, 5], "b": [2, 3]}),
        ("x > 0", [1, 1], {"x": [2, 3]}, {}, {}),
    ],
)
def test_a_line_has_contributions_and_slopes(
    text: str, v: Any, at: dict[str, Any], contributions: dict[str, Any], slopes: dict[str, Any]
) -> None:
    """Of the operation alone: weighted by v, and of every element."""
    found = _trace(text, v, **at)
    line = found.program.lines[-1]
    assert _lists(found.contributions(line)) == contributions
    assert text == "x > 0" or _lists(found.slopes(line)) == slopes


def test_local_jacobians_have_a_row_for_each_element() -> None:
    """Of a matrix by a vector: the matrix for the vector."""
    found = _trace("A@x", v=[1, 1], A=[[1, 2, 3], [4, 5, 6]], x=[1, 0, 2])
    assert _lists(found.jacobians(found.program.lines[0])) == {
        "A": [[[1, 0, 2], [0, 0, 0]], [[0, 0, 0], [1, 0, 2]]],
        "x": [[1, 2, 3], [4, 5, 6]],
    }


def test_conditions_have_values_and_no_adjoints() -> None:
    """Nothing flows back through a comparison; a Program that ends in a number has no line."""
    found = _trace("where(x > 0, x, -x)", x=[1, -1], v=[1, 1])
    condition = next(line.symbol for line in found.program.lines if line.call.op.name == "gt")
    assert found.values[condition].tolist() == [True, False]
    assert condition not in found.adjoints
    assert _trace("7").values == {}

"""Bounds of determinants: the expansion of small matrices, next to NumPy's numbers."""

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_the_bounds_of_a_determinant_hold_its_values(rows: int) -> None:
    """At the one matrix of a thin box, and tightly."""
    matrix = np.random.default_rng(rows).integers(-4, 5, (rows, rows)).astype(float)
    text = f"det(X + t*eye({rows}))"
    bounds = Function(text).range({"X": matrix}, box={"t": "0..0.001"}).bounds[0]
    ends = [np.linalg.det(matrix + t * np.eye(rows)) for t in (0.0, 0.001)]
    assert bounds.low <= min(ends) + 1e-9
    assert bounds.high >= max(ends) - 1e-9
    assert bounds.high - bounds.low <= 10 * abs(ends[1] - ends[0]) + 1e-2


def test_a_larger_determinant_has_no_bounds() -> None:
    """Its expansion would have too many products."""
    with pytest.raises(GradcliError, match="det has no bounds on a box"):
        Function("det(X + t*eye(5))").range({"X": np.eye(5)}, box={"t": "0..1"})

"""What fits into a compact screen, and what the elements of its tables are called."""

from __future__ import annotations

import numpy as np

from gradcli.notation import Element
from gradcli.results import Answer, Differentiation, Improvement

MOST_ROWS, MOST_COLUMNS = 8, 12
"""Of a matrix that is shown whole; of a larger one, the products are, or the ends of its rows."""


def in_dtype(answer: Answer | Improvement) -> str:
    """What it was computed in, where that is not the usual."""
    return "" if answer.dtype == "float64" else f" in {answer.dtype}"


def is_small(answer: Differentiation) -> bool:
    """Whether all of the Jacobian is shown."""
    columns = sum(answer.inputs[name].size for name in answer.wrt)
    return answer.jacobian is not None and 0 < answer.value.size <= MOST_ROWS and 0 < columns <= MOST_COLUMNS


def elements(name: str, shape: tuple[int, ...]) -> list[str]:
    """What the elements of an array are called."""
    return [Element(name, place).pretty for place in np.ndindex(shape)]

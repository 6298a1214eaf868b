"""Type of the arrays that all rooms hand on, and their comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating[Any]]
"""Array of floating-point numbers, of any shape."""

AnyArray = npt.NDArray[Any]
"""Array of any type of elements: numbers, balls, words."""

FloatType = type[np.floating[Any]]
"""Format of floating-point numbers, float32 or float64."""


def are_same(a: AnyArray, b: AnyArray) -> bool:
    """Tell whether two arrays have the same numbers, nan like nan; most that are compared are the same and have none.

    >>> are_same(np.array([1.0, np.nan]), np.array([1.0, np.nan])), are_same(np.zeros(2), np.zeros((2, 1)))
    (True, False)
    """
    if a is b or np.array_equal(a, b):
        return True
    return a.shape == b.shape and bool((a != a).any()) and np.array_equal(a, b, equal_nan=True)  # noqa: PLR0124

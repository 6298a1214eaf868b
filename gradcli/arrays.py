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


_MOST_DIGITS = 17
"""Significant digits that tell any two floats apart."""


def are_same(a: AnyArray, b: AnyArray) -> bool:
    """Tell whether two arrays have the same numbers, nan like nan; most that are compared are the same and have none.

    >>> are_same(np.array([1.0, np.nan]), np.array([1.0, np.nan])), are_same(np.zeros(2), np.zeros((2, 1)))
    (True, False)
    """
    if a is b or np.array_equal(a, b):
        return True
    return a.shape == b.shape and bool((a != a).any()) and np.array_equal(a, b, equal_nan=True)  # noqa: PLR0124


_DIGIT = 16
"""Bits of the digits by which NumPy sorts in time that is linear."""

_MANY = 2**14
"""Whole numbers from which on their digits are sorted by, one after the other."""


def order_of(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """List the places of whole numbers that are not negative in their order, and of the same number as they come.

    >>> order_of(np.array([2, 70_000, 2, 0])).tolist()
    [3, 0, 2, 1]
    """
    if len(numbers) < _MANY:
        return np.argsort(numbers, kind="stable")
    if (numbers[1:] >= numbers[:-1]).all():
        return np.arange(len(numbers))
    most, shift = int(numbers.max()), _DIGIT
    order = np.argsort((numbers & (2**_DIGIT - 1)).astype(np.uint16), kind="stable")
    while most >> shift:
        digit = ((numbers >> shift) & (2**_DIGIT - 1)).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
        shift += _DIGIT
    return order


def told_apart(*numbers: float, least: int = 6) -> list[str]:
    """Write numbers with the same count of digits, as many as it takes to see which of them differ.

    Args:
        numbers: The numbers.
        least: Fewest significant digits.

    >>> told_apart(0.5000043, 0.5000033, least=3), told_apart(1.0, 1.0), told_apart(2 / 3, 7.0, least=3)
    (['0.500004', '0.500003'], ['1', '1'], ['0.667', '7'])
    """
    different = len({f"{number:.{_MOST_DIGITS}g}" for number in numbers})
    for count in range(least, _MOST_DIGITS):
        texts = [f"{number:.{count}g}" for number in numbers]
        if len(set(texts)) >= different:
            return texts
    return [f"{number:.{_MOST_DIGITS}g}" for number in numbers]

"""An answer with its numbers rounded to so many significant digits, for people; no verdict changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.report.leaves import Anything, changed
from gradcli.results import Array

MANY = 2**16
"""Elements beyond which only those near the ends of the axes are rounded, where no others are shown."""

NEAR = 12
"""How near that is."""


def rounded(answer: Anything, digits: int, *, whole: bool = False) -> Anything:
    """The same answer, every float in it rounded; text and whole numbers stay.

    Args:
        answer: An object of `gradcli.results`, or what is in one.
        digits: How many are left.
        whole: Whether to round the middle of large arrays too.

    >>> rounded((1 / 3, 2, {"x": 123456.0}), 3)
    (0.333, 2, {'x': 123000.0})
    """

    def leaf(one: Any) -> Any:
        match one:
            case np.ndarray():
                return _array(one, digits, whole=whole)
            case np.floating():
                return _array(np.asarray(one), digits, whole=whole)[()]
            case float():
                return _number(one, digits)
        return one

    return changed(answer, leaf)


def _number(number: Any, digits: int) -> float:
    found = float(f"{float(number):.{digits - 1}e}")
    return float(number) if np.isinf(found) else found  # the largest floats have no neighbour above


def _array(array: Array, digits: int, *, whole: bool) -> Array:
    if array.dtype.kind != "f":
        return array
    found = array.copy()
    if whole or array.size <= MANY:
        flat = found.reshape(-1)
        for first in range(0, flat.size, MANY):  # as Python's numbers they take several times their own memory
            part = flat[first : first + MANY]
            with np.errstate(over="ignore"):
                fewer = np.array([_number(number, digits) for number in part]).astype(array.dtype)
            part[:] = np.where(np.isinf(fewer), part, fewer)
        return found
    place = np.ix_(*(_near(size) for size in array.shape))
    found[place] = _array(found[place], digits, whole=False) if found[place].size <= MANY else found[place]
    return found


def _near(size: int) -> list[int]:
    """Positions near either end of an axis."""
    return sorted({*range(min(NEAR, size)), *range(max(0, size - NEAR), size)})

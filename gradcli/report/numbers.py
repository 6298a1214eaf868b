"""Numbers as text: the shortest digits that read back as the same float of the same precision, or fewer.

Fewer digits, and texts that can be shown, are made by walks over an answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from gradcli.errors import displayable
from gradcli.results import Array

EDGE = 3
"""Elements shown at either end of a long axis."""

LONG = 12
"""Most elements of an axis that are all shown; of a longer one, only the ends are."""


MANY = 2**16
"""Most elements turned into text at a time: as Python's numbers they take several times their own memory."""

Anything = TypeVar("Anything")


def digits(number: Any) -> str:
    """Write one element of an array, without the `.0` of whole numbers; of conditions, the word.

    >>> digits(np.float64(2)), digits(np.float64(0.1)), digits(np.float32(0.1))
    ('2', '0.1', '0.1')
    >>> digits(np.True_)
    'True'
    """
    text = str(number) if isinstance(number, np.floating | np.bool_) else repr(float(number))
    return text.removesuffix(".0")


def elements(array: Array) -> str:
    """Write elements separated by commas, a line a row; the corners and the count of a large array."""
    if array.ndim == 0:
        return digits(array[()])
    if array.size == 0:
        return "empty"
    rows = array.reshape(-1, array.shape[-1])
    lines = [
        "…" if i < 0 else ", ".join("…" if j < 0 else digits(rows[i, j]) for j in ends(rows.shape[1]))
        for i in ends(len(rows))
    ]
    if max(rows.shape) > LONG:
        lines.append(f"({array.size:,} elements)")
    return "\n".join(lines)


def ends(size: int) -> list[int]:
    """List the positions of an axis; only the ends of a long one, -1 standing for the rest."""
    if size <= LONG:
        return list(range(size))
    return [*range(EDGE), -1, *range(size - EDGE, size)]


def in_a_line(array: Array, number: Callable[[Any], str] = digits) -> str:
    """Write the elements as they can be typed; of many, the ends."""
    if array.ndim == 0:
        return number(array[()])
    if array.size <= LONG:
        return f"[{', '.join(in_a_line(part, number) for part in array)}]"
    flat = array.reshape(-1)
    return f"[{', '.join([*map(number, flat[:EDGE]), '…', number(flat[-1])])}]"


def in_lists(array: Array) -> Any:
    """Turn an array into nested lists of Python floats, or a float; numbers that JSON lacks become strings.

    >>> in_lists(np.array([1.0, np.nan, -np.inf]))
    [1.0, 'NaN', '-Infinity']
    """
    if array.dtype == np.bool_ or (array.dtype == np.float64 and np.isfinite(array).all()):
        return array.tolist()
    # Each number once: zeros and ones, of which large arrays are made, come a million times.
    bits, places = np.unique(np.ravel(array).view(f"i{array.itemsize}"), return_inverse=True)
    known = np.array([json_number(number) for number in bits.view(array.dtype)], dtype=object)
    return known[places].reshape(array.shape).tolist()


def json_number(number: Any) -> float | str:
    """Turn a number into a float, or `"NaN"`, `"Infinity"`, `"-Infinity"`."""
    exact = float(str(number))
    if math.isnan(exact):
        return "NaN"
    if math.isinf(exact):
        return "Infinity" if exact > 0 else "-Infinity"
    return exact


def spaced(row: Array) -> Iterator[str]:
    """Write the numbers of a vector with blanks between, at most `MANY` at a time."""
    for first in range(0, len(row), MANY):
        yield " " * (first > 0) + " ".join(map(digits, row[first : first + MANY]))


# -- an answer with every text and number in it passed through a function


def changed(answer: Any, leaf: Callable[[Any], Any]) -> Any:
    """Replace each text, number and array of an answer by the value of `leaf` for it.

    Args:
        answer: An object of `gradcli.results`, or a part of one; names are left as they are.
        leaf: Function of one text, number or array.

    >>> changed((1, {"x": "a"}), lambda one: one * 2)
    (2, {'x': 'aa'})
    """
    match answer:
        case Mapping():
            return {key: changed(value, leaf) for key, value in answer.items()}
        case tuple():
            return tuple(changed(value, leaf) for value in answer)
    if not is_dataclass(answer):
        return leaf(answer)
    return replace(answer, **{one.name: changed(getattr(answer, one.name), leaf) for one in fields(answer)})  # type: ignore[type-var]


def printable(answer: Anything) -> Anything:
    """Escape all in the texts of an answer that a terminal or a page would not show as itself."""
    found: Anything = changed(answer, lambda one: displayable(one) if isinstance(one, str) else one)
    return found


def rounded(answer: Anything, digits: int) -> Anything:
    """Round every float of an answer; text and whole numbers stay.

    Args:
        answer: An object of `gradcli.results`, or a part of one.
        digits: Number of digits to keep.

    >>> rounded((1 / 3, 2, {"x": 123456.0}), 3)
    (0.333, 2, {'x': 123000.0})
    """

    def leaf(one: Any) -> Any:
        match one:
            case np.ndarray():
                return _array(one, digits)
            case np.floating():
                return _array(np.asarray(one), digits)[()]
            case float():
                return _number(one, digits)
        return one

    found: Anything = changed(answer, leaf)
    return found


def _number(number: Any, digits: int) -> float:
    found = float(f"{float(number):.{digits - 1}e}")
    return float(number) if np.isinf(found) else found  # the largest floats have no neighbour above


def _array(array: Array, digits: int) -> Array:
    if array.dtype.kind != "f":
        return array
    with np.errstate(over="ignore"):
        fewer = np.array([_number(number, digits) for number in array.flat]).reshape(array.shape).astype(array.dtype)
    return np.where(np.isinf(fewer), array, fewer)

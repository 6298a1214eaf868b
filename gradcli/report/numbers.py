"""Numbers as text: the shortest digits that read back as the same float of the same precision."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcli.results import Array

EDGE = 3
"""Elements shown at either end of a long axis."""

LONG = 12
"""Elements of an axis from which on only its ends are shown."""


def digits(number: Any) -> str:
    """One element of an array, without the `.0` of whole numbers; of conditions, the word.

    >>> digits(np.float64(2)), digits(np.float64(0.1)), digits(np.float32(0.1))
    ('2', '0.1', '0.1')
    >>> digits(np.True_)
    'True'
    """
    text = str(number) if isinstance(number, np.floating | np.bool_) else repr(float(number))
    return text.removesuffix(".0")


def elements(array: Array) -> str:
    """Elements separated by commas, a line a row; the corners and the count of a large array."""
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
    """Positions of an axis; only the ends of a long one, -1 standing for the rest."""
    if size <= LONG:
        return list(range(size))
    return [*range(EDGE), -1, *range(size - EDGE, size)]


MANY = 2**16
"""Elements that are turned into text at a time: as Python's numbers they take several times their own memory."""


def as_json(array: Array) -> Any:
    """What JSON can hold of an array: `in_lists`; one of more than `MANY` elements stays itself until it is written."""
    return array if array.size > MANY else in_lists(array)


def in_lists(array: Array) -> Any:
    """An array as nested lists of Python floats, or a float; what JSON cannot hold as the strings it reads as.

    >>> in_lists(np.array([1.0, np.nan, -np.inf]))
    [1.0, 'NaN', '-Infinity']
    """
    if array.dtype == np.bool_ or (array.dtype == np.float64 and np.isfinite(array).all()):
        return array.tolist()
    if array.ndim == 0:
        return json_number(array[()])
    if array.ndim == 1:
        return [json_number(number) for number in (array if array.dtype == np.float32 else array.tolist())]
    return [in_lists(part) for part in array]


def json_number(number: Any) -> float | str:
    """A float, or `"NaN"`, `"Infinity"`, `"-Infinity"`."""
    exact = float(str(number))
    if math.isnan(exact):
        return "NaN"
    if math.isinf(exact):
        return "Infinity" if exact > 0 else "-Infinity"
    return exact


def json_pieces(array: Array) -> Iterator[str]:
    """The text of an array in JSON, at most `MANY` elements at a time.

    >>> "".join(json_pieces(np.arange(3.0)))
    '[0.0, 1.0, 2.0]'
    """
    if array.size <= MANY:
        yield json.dumps(in_lists(array), allow_nan=False)
        return
    size = max(1, array.size // len(array))
    yield "["
    for first in range(0, len(array), max(1, MANY // size)):
        yield ", " * (first > 0)
        if size > MANY:
            yield from json_pieces(array[first])
        else:
            yield json.dumps(in_lists(array[first : first + MANY // size]), allow_nan=False)[1:-1]
    yield "]"


def spaced(row: Array) -> Iterator[str]:
    """The numbers of a vector with blanks between, at most `MANY` at a time."""
    for first in range(0, len(row), MANY):
        yield " " * (first > 0) + " ".join(map(digits, row[first : first + MANY]))

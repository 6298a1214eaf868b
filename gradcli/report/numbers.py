"""Numbers as text: the shortest digits that read back as the same float of the same precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.results import Array


def digits(number: Any) -> str:
    """One element of an array, without the `.0` of whole numbers; of conditions, the word.

    >>> digits(np.float64(2)), digits(np.float64(0.1)), digits(np.float32(0.1))
    ('2', '0.1', '0.1')
    >>> digits(np.True_)
    'True'
    """
    text = str(number) if isinstance(number, np.floating | np.bool_) else repr(float(number))
    return text.removesuffix(".0")


def as_json(array: Array) -> Any:
    """An array as nested lists of Python floats, or a float; what JSON cannot hold as the strings it reads as.

    >>> as_json(np.array([1.0, np.nan, -np.inf]))
    [1.0, 'NaN', '-Infinity']
    """
    if array.dtype == np.bool_ or (array.dtype == np.float64 and np.isfinite(array).all()):
        return array.tolist()
    if array.ndim == 0:
        return json_number(array[()])
    if array.ndim == 1:
        return [json_number(number) for number in (array if array.dtype == np.float32 else array.tolist())]
    return [as_json(part) for part in array]


def json_number(number: Any) -> float | str:
    """A float, or `"NaN"`, `"Infinity"`, `"-Infinity"`."""
    exact = float(str(number))
    if math.isnan(exact):
        return "NaN"
    if math.isinf(exact):
        return "Infinity" if exact > 0 else "-Infinity"
    return exact

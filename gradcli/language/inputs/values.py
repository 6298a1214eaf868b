"""Values of variables: text, numbers or arrays to NumPy arrays, without torch.

A value's text is the language without free names, run by NumPy in float64.  Knows nothing of the function.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.language.parsing import parse_value
from gradcli.language.program.numeric import run

Array = npt.NDArray[np.floating[Any]]

Value = str | float | Sequence[Any] | npt.NDArray[Any]
"""What a value may be given as: text of the language, a number, nested lists, or an array."""

_PLAIN = re.compile(r"\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*(?:,\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*)*")


def read_value(value: Value, source: str) -> Array:
    """The float64 array of a value.

    Shapes: `1` is (), `1,2` is (2,), `[1]` is (1,), `[[1,2],[3,4]]` is (2, 2); `source` names the value in errors.

    Raises:
        LanguageError, ShapeError, TooLargeError: the text is not a value.
        InputError: not real numbers.

    >>> read_value("-1, pi/2", "--at")
    array([-1.        ,  1.57079633])
    """
    if isinstance(value, str):
        return _read_text(value, source)
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"dtype {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{source} is not an array of real numbers: {error}", hint="nested lists need equal lengths"
        ) from error


def _read_text(text: str, source: str) -> Array:
    if _PLAIN.fullmatch(text):
        try:
            numbers = [float(word) for word in text.split(",")]
        except ValueError:
            numbers = []
        if all(map(math.isfinite, numbers)) and numbers:
            return np.array(numbers if "," in text else numbers[0])
    return run(parse_value(text, source))

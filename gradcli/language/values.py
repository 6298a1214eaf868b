"""Values of variables and of v: text, numbers or arrays to NumPy arrays, without torch.

A value's text is the language without free names, run by NumPy in float64.  Knows nothing of the function, except
for `cotangent`, which knows the shape of y.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError, Place, Span
from gradcli.language.grammar import parse_value
from gradcli.language.indexing import Shape, show
from gradcli.language.numeric import run

Array = npt.NDArray[np.floating[Any]]

Value = str | float | Sequence[Any] | npt.NDArray[Any]
"""What a value may be given as: text of the language, a number, nested lists, or an array."""

_PLAIN = re.compile(r"\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*(?:,\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*)*")
_COMPONENT = re.compile(r"\s*e(\d{1,9}(?:_\d{1,9})*)\s*")


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


def read_cotangent(value: Value, shape: Shape, source: str = "--v") -> Array:
    """The gradient vector v for a y of this shape: a value, `ones`, or one component, `e0` or `e0_1`.

    `e0` is ones over `y[0]`, at all its points; `e0_1` is the single element `y[0, 1]` of a y of two dimensions.

    Raises:
        InputError: v has not y's shape, or the component does not exist.
    """
    if isinstance(value, str):
        if value.strip() == "ones":
            return np.ones(shape)
        if match := _COMPONENT.fullmatch(value):
            return _component(value, tuple(int(n) for n in match[1].split("_")), shape, source)
    v = read_value(value, source)
    if v.shape != shape:
        place = Place(value, Span(0, len(value)), source) if isinstance(value, str) else None
        raise InputError(
            f"v has shape {show(v.shape)}, and y has shape {show(shape)}",
            place=place,
            hint=_shape_hint(value, v.shape, shape),
        )
    return v


def _shape_hint(value: Value, given: Shape, wanted: Shape) -> str:
    if math.prod(given) == math.prod(wanted) == 1:
        missing = len(wanted) - len(given)
        brackets = "[" * missing, "]" * missing
        example = str(value).strip().join(brackets) if missing > 0 else f"it with {len(wanted)} pairs of brackets"
        return f"write {example}: as in torch, v must have y's shape"
    return "v weights the elements of y, so it must have y's shape" + (", here a plain number" if not wanted else "")


def _component(text: str, index: tuple[int, ...], shape: Shape, source: str) -> Array:
    if not shape:
        place = Place(text, Span(0, len(text)), source)
        raise InputError("y is one number and has no components", place=place, hint="leave out --v")
    if len(index) > len(shape) or any(n >= size for n, size in zip(index, shape, strict=False)):
        place = Place(text, Span(0, len(text)), source)
        raise InputError(
            f"y has shape {show(shape)} and no component {list(index)}", place=place, hint="indices count from 0"
        )
    v = np.zeros(shape)
    v[index] = 1.0
    return v


def _read_text(text: str, source: str) -> Array:
    if _PLAIN.fullmatch(text):
        try:
            numbers = [float(word) for word in text.split(",")]
        except ValueError:
            numbers = []
        if all(map(math.isfinite, numbers)) and numbers:
            return np.array(numbers if "," in text else numbers[0])
    return run(parse_value(text, source))

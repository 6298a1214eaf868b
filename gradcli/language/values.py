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

from gradcli.errors import GradcliError, InputError, Place, ShapeError, Span, TooLargeError
from gradcli.language import ops
from gradcli.language.grammar import parse_value
from gradcli.language.ops import Kind
from gradcli.language.program import Atom, Line, Program, number
from gradcli.language.shapes import (
    MAX_DIMENSIONS,
    MAX_ELEMENTS,
    Shape,
    as_key,
    permutation,
    require_work,
    shape_of,
    show,
)

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
    return _run(parse_value(text, source))


def _run(program: Program) -> Array:
    values: dict[Atom, Array] = {}
    for line in program.lines:
        operands = [values[a] if a in values else np.asarray(number(a)) for a in line.call.operands]
        try:
            with np.errstate(all="ignore"):
                values[line.symbol] = np.asarray(_apply(line, operands), dtype=np.float64)
        except GradcliError as error:
            error.place = error.place or program.place(line)
            raise
    output = program.output
    return values[output] if output in values else np.asarray(number(output))


def _apply(line: Line, operands: list[Array]) -> Any:
    op, statics = line.call.op, line.call.statics
    if op.kind is Kind.SOURCE:
        return _source(op.name, operands)
    if op.name == "stack" and len({a.shape for a in operands}) > 1:
        shown = ", ".join(show(a.shape) for a in operands[:4]) + ", ..." * (len(operands) > 4)
        raise ShapeError(f"this list has parts of different shapes: {shown}", hint="nested lists need equal lengths")
    shapes = [a.shape for a in operands]
    _require_room(math.prod(shape_of(line, shapes)))
    require_work(line, shapes)
    if op.name == "index":
        return operands[0][as_key(statics[0])]
    if op.name == "stack":
        return np.stack(operands)
    if op.name == "transpose":
        return operands[0].transpose(permutation(operands[0].shape, statics))
    if not op.numpy:
        raise InputError(f"'{op.name}' cannot be used in a value", hint="use it in the expression")
    function = getattr(np, op.numpy)
    if op.kind is Kind.REDUCTION:
        return function(*operands, axis=statics[0], keepdims=statics[1])
    return function(*operands, *statics)


def _source(name: str, operands: list[Array]) -> Array:
    if any(a.ndim for a in operands):
        raise InputError(f"{name} takes plain numbers", hint=f"write {name}({', '.join(ops.TABLE[name].signature)})")
    numbers = [float(a) for a in operands]
    if name in ("zeros", "ones", "eye"):
        _require_room(max(map(abs, numbers)))
        if len(numbers) > MAX_DIMENSIONS:
            raise TooLargeError(f"a value of {len(numbers)} dimensions; at most {MAX_DIMENSIONS} are held")
    sizes = [int(a) for a in numbers if a.is_integer()]
    if name == "arange" and 1 <= len(numbers) <= 3 and all(map(math.isfinite, numbers)) and numbers[2:] != [0.0]:
        start, stop, step = (0.0, *numbers, 1.0) if len(numbers) == 1 else (*numbers, 1.0)[:3]
        _require_room((stop - start) / step)
        return np.arange(start, stop, step)
    if name == "linspace" and len(numbers) == 3 and numbers[2].is_integer() and numbers[2] >= 1:
        _require_room(numbers[2])
        with np.errstate(all="ignore"):
            return np.linspace(numbers[0], numbers[1], int(numbers[2]))
    if name == "eye" and len(sizes) == len(numbers) == 1 and sizes[0] >= 0:
        _require_room(sizes[0] ** 2)
        return np.eye(sizes[0])
    if name in ("zeros", "ones") and len(sizes) == len(numbers) and min(sizes) >= 0:
        _require_room(math.prod(sizes))
        return np.full(tuple(sizes), 1.0 if name == "ones" else 0.0)
    signature = ", ".join(ops.TABLE[name].signature)
    raise InputError(
        f"{name}({signature}) does not take these arguments",
        hint="sizes are whole numbers from 0 on, and a step is not 0",
    )


def _require_room(elements: float) -> None:
    if elements > MAX_ELEMENTS:
        shown = f"{elements:,.0f}" if elements < 1e15 else f"{elements:.3g}"
        raise TooLargeError(f"a value of {shown} elements; at most {MAX_ELEMENTS:,} are held")

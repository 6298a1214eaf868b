"""A Program run by NumPy in float64: values of variables and of v, and constants inside an expression.

So that input errors need no torch.  A defined operation without a NumPy function runs as its meaning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import GradcliError, InputError, ShapeError, TooLargeError
from gradcli.language import sources
from gradcli.language.indexing import show
from gradcli.language.movement import axes_of, fill_of, moved
from gradcli.language.ops import Kind
from gradcli.language.program import Atom, Call, Program, number
from gradcli.language.shapes import MAX_ELEMENTS, axis_of_scan, count_of, require_work, shape_of

Array = npt.NDArray[np.float64]

_BY_MATH: Mapping[str, Callable[[float], float]] = {"erf": math.erf, "erfc": math.erfc, "lgamma": math.lgamma}
"""Functions that Python has and NumPy has not."""


def run(program: Program, known: Mapping[Atom, Array] = MappingProxyType({})) -> Array:
    """The value of a Program without variables; `known` are values of symbols that no line of it has.

    Raises:
        InputError: an operation that NumPy has no function for.
        ShapeError, TooLargeError: shapes that do not fit, more than `MAX_ELEMENTS` elements.
    """
    from gradcli.language.expansion import expand

    program = expand(program, keep=lambda call: call.op.is_primitive or bool(call.op.numpy))
    values = dict(known)
    for line in program.lines:
        operands = [values[a] if a in values else np.asarray(number(a)) for a in line.call.operands]
        try:
            with np.errstate(all="ignore"):
                values[line.symbol] = np.asarray(_apply(line.call, operands), dtype=np.float64)
        except GradcliError as error:
            error.place = error.place or program.place(line)
            raise
    output = program.output
    return values[output] if output in values else np.asarray(number(output))


def _apply(call: Call, operands: list[Array]) -> Any:
    op, statics = call.op, call.statics
    shapes = [a.shape for a in operands]
    if op.name == "stack" and len(set(shapes)) > 1:
        shown = ", ".join(show(shape) for shape in shapes[:4]) + ", ..." * (len(shapes) > 4)
        raise ShapeError(f"this list has parts of different shapes: {shown}", hint="nested lists need equal lengths")
    require_room(math.prod(shape_of(call, shapes)))
    require_work(call, shapes)
    match op.kind:
        case Kind.SOURCE:
            return sources.array_of(call)
        case Kind.LIST:
            return np.stack(operands, *statics) if op.name == "stack" else np.concatenate(operands, *statics)
        case Kind.MOVEMENT:
            return moved(call, operands[0], fill_of(call))
        case Kind.COUNT:
            return count_of(shapes[0], statics[0])
        case Kind.REDUCTION:
            axes = axes_of(shapes[0], statics[0])
            return getattr(np, op.numpy)(operands[0], axis=axes, keepdims=statics[1])
        case Kind.SCAN:
            axis = axis_of_scan(call, shapes[0])
            return operands[0] if axis is None else np.cumsum(operands[0], axis)
        case Kind.MATRIX:
            return _matrix(call, operands[0])
    return elementwise(call, operands)


def elementwise(call: Call, operands: list[Array]) -> Any:
    """The values of an elementwise operation.

    Raises:
        InputError: NumPy has no function for it.
    """
    op = call.op
    if op.name in _BY_MATH:
        return np.vectorize(_real(_BY_MATH[op.name]), otypes=[float])(operands[0])
    if op.name == "detach":
        return operands[0]
    if not op.numpy:
        raise InputError(f"'{op.name}' cannot be used in a value", hint="use it in the expression")
    return getattr(np, op.numpy)(*operands, *call.statics)


def _matrix(call: Call, matrix: Array) -> Any:
    try:
        return reduce(getattr, call.op.numpy.split("."), np)(matrix)  # type: ignore[operator]
    except np.linalg.LinAlgError:
        raise InputError("this matrix has no inverse", hint="its determinant is 0") from None


def _real(function: Callable[[float], float]) -> Callable[[float], float]:
    """NaN or infinity where Python raises an error."""

    def apply(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.inf if math.isfinite(x) else math.nan

    return apply


def require_room(elements: float) -> None:
    """Refuse a tensor of more than `MAX_ELEMENTS`.

    Raises:
        TooLargeError: It would be.
    """
    if elements > MAX_ELEMENTS:
        shown = f"{elements:,.0f}" if elements < 1e15 else f"{elements:.3g}"
        raise TooLargeError(f"a value of {shown} elements; at most {MAX_ELEMENTS:,} are held")

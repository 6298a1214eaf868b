"""A Program run by NumPy in float64: values of variables and of v, and constants inside an expression.

So that input errors need no torch.  How NumPy is asked for an operation stands in `numpy_calls`; a defined operation
that it does not have runs as its meaning, which is written anew where it would overflow or cancel in floats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import GradcliError, InputError, TooLargeError
from gradcli.language.ops import Kind
from gradcli.language.program import constant_tensors, special_functions
from gradcli.language.program.numpy_calls import NumpyCalls, is_in_numpy
from gradcli.language.program.shapes import MAX_ELEMENTS, require_work, shape_of
from gradcli.language.program.torch_calls import operand_shape
from gradcli.language.program.wengert import Atom, Call, Program, number

Array = npt.NDArray[np.float64]

CALLS = NumpyCalls(np, math, special_functions, np.float64)
"""How NumPy is asked for an operation in float64."""


def run(program: Program, known: Mapping[Atom, Array] = MappingProxyType({})) -> Array:
    """The value of a Program without variables; `known` are values of symbols that no line of it has.

    Raises:
        InputError: numbers that torch refuses too, a matrix without an inverse.
        ShapeError, TooLargeError: shapes that do not fit, more than `MAX_ELEMENTS` elements.
    """
    values: dict[Atom, Any] = dict(known)
    for line in program.lines:
        operands = [values[a] if a in values else number(a) for a in line.call.operands]
        try:
            with np.errstate(all="ignore"):
                value = _apply(line.call, operands)
        except GradcliError as error:
            error.place = error.place or program.place(line)
            raise
        values[line.symbol] = value if isinstance(value, int | list) else np.asarray(value, dtype=np.float64)
    output = program.output
    return np.asarray(values[output] if output in values else number(output), dtype=np.float64)


def _apply(call: Call, operands: list[Any]) -> Any:
    shapes = [operand_shape(a) for a in operands]
    require_room(math.prod(shape_of(call, shapes)))
    require_work(call, shapes)
    if call.op.kind is Kind.SOURCE:
        return constant_tensors.array_of(call)
    if not is_in_numpy(call):
        return _defined(call, [np.asarray(a) for a in operands])
    try:
        return CALLS.apply(call, operands)
    except np.linalg.LinAlgError:
        raise InputError("this matrix has no inverse", hint="its determinant is 0") from None


def _defined(call: Call, operands: list[Array]) -> Array:
    """An operation as it is written in the language, of floats if there are any."""
    from gradcli.language.program.expansion import definition, in_floats

    _require_range(call, operands)
    has_elements = all(a.size for a in operands)
    meaning = (in_floats if has_elements else definition)(call.op.name, call.statics, len(operands))
    return run(meaning, dict(zip(meaning.variables, operands, strict=True)))


def _require_range(call: Call, operands: list[Array]) -> None:
    """Refuse what torch refuses for its numbers."""
    match call.op.name, operands:
        case "binary_cross_entropy", _ if not all(((a >= 0) & (a <= 1)).all() for a in operands):
            raise InputError("binary_cross_entropy needs input and target between 0 and 1")
        case "hardtanh", (_, least, largest) if least.ndim == largest.ndim == 0 and least > largest:
            raise InputError("hardtanh needs min_val <= max_val")
        case "smooth_l1_loss", (_, _, beta) if beta.ndim == 0 and beta < 0:
            raise InputError("smooth_l1_loss needs beta >= 0")


def require_room(elements: float) -> None:
    """Refuse a tensor of more than `MAX_ELEMENTS`.

    Raises:
        TooLargeError: It would be.
    """
    if elements > MAX_ELEMENTS:
        shown = f"{elements:,.0f}" if elements < 1e15 else f"{elements:.3g}"
        raise TooLargeError(f"a value of {shown} elements; at most {MAX_ELEMENTS:,} are held")

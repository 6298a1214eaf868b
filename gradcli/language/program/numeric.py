"""A Program run by NumPy in float64: values of variables and of v, and constants inside an expression.

So that input errors need no torch.  A defined operation without a NumPy function runs as its meaning,
which is written anew where it would overflow or cancel in floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial, reduce
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import GradcliError, InputError, TooLargeError
from gradcli.language.ops import Kind
from gradcli.language.program import constant_tensors
from gradcli.language.program.movement import axes_of, fill_of, moved
from gradcli.language.program.shapes import MAX_ELEMENTS, axis_of_scan, count_of, require_work, shape_of
from gradcli.language.program.wengert import Atom, Call, Program, number

Array = npt.NDArray[np.float64]

_BY_MATH: Mapping[str, Callable[[float], float]] = {"erf": math.erf, "erfc": math.erfc, "lgamma": math.lgamma}
"""Functions that Python has and NumPy has not."""

BY_MPMATH = frozenset(["digamma", "polygamma", "erfinv", "i1"])
"""Functions that neither has; mpmath comes with SymPy."""


MOST_SHIFTS = 1_000
"""How far to the left of 0 mpmath evaluates polygamma, one unit after the other."""


def run(program: Program, known: Mapping[Atom, Array] = MappingProxyType({})) -> Array:
    """The value of a Program without variables; `known` are values of symbols that no line of it has.

    Raises:
        InputError: numbers that torch refuses too, a matrix without an inverse.
        ShapeError, TooLargeError: shapes that do not fit, more than `MAX_ELEMENTS` elements.
    """
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
    require_room(math.prod(shape_of(call, shapes)))
    require_work(call, shapes)
    if not (op.is_primitive or op.numpy):
        return _defined(call, operands)
    match op.kind:
        case Kind.SOURCE:
            return constant_tensors.array_of(call)
        case Kind.LIST:
            if op.name == "cat":
                return np.concatenate(operands, *statics)
            part = max(shapes, key=len)  # scalars stretch
            return np.stack([np.broadcast_to(a, part) for a in operands], *statics)
        case Kind.MOVEMENT:
            return moved(call, operands[0], fill_of(call))
        case Kind.COUNT:
            return count_of(shapes[0], statics[0])
        case Kind.REDUCTION:
            axes = axes_of(shapes[0], statics[0])
            return getattr(np, op.numpy)(operands[0], axis=axes, keepdims=statics[1])
        case Kind.SCAN:
            axis = axis_of_scan(call, shapes[0])
            return operands[0] if axis is None else getattr(np, op.numpy)(operands[0], axis)
        case Kind.MATRIX:
            return _matrix(call, operands[0])
    return elementwise(call, operands)


def elementwise(call: Call, operands: list[Array]) -> Any:
    """The values of an elementwise operation.

    Raises:
        InputError: Polygamma far to the left.
    """
    op = call.op
    if op.name in _BY_MATH:
        return np.vectorize(_real(_BY_MATH[op.name]), otypes=[float])(operands[0])
    if op.name in BY_MPMATH:
        return np.vectorize(partial(_by_mpmath, op.name, *call.statics), otypes=[float])(operands[0])
    if op.name == "detach":
        return operands[0]
    return getattr(np, op.numpy)(*operands, *call.statics)


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


def _by_mpmath(name: str, *arguments: float) -> float:
    """The function at one number; at a pole, at infinity and outside the domain what torch gives.

    Raises:
        InputError: Polygamma far to the left, where it takes as many steps as x has units.
    """
    import mpmath

    *orders, x = arguments
    order = int(orders[0]) if orders else 0
    if math.isnan(x) or (math.isinf(x) and (x < 0 or name == "i1")):
        return math.nan
    match name:
        case "erfinv" if abs(x) >= 1:
            return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
        case "digamma" | "polygamma" if x <= 0 and x == math.floor(x):
            return _at_pole(order, x)
        case "polygamma" if order > 1 and x < -MOST_SHIFTS:
            message = f"polygamma is taken of {x:g}, and in a value of no number below -{MOST_SHIFTS:,}"
            raise InputError(message, hint="use it in the expression")
    try:
        return float(mpmath.besseli(1, x) if name == "i1" else getattr(mpmath, name)(*orders, x))
    except OverflowError:
        return math.copysign(math.inf, x)


def _at_pole(order: int, x: float) -> float:
    """Polygamma at a whole number that is not positive: infinite, of the sign of both sides where they have one."""
    if order == 0:
        return math.nan if x else -math.copysign(math.inf, x)
    return math.inf if order % 2 else -math.inf


def require_room(elements: float) -> None:
    """Refuse a tensor of more than `MAX_ELEMENTS`.

    Raises:
        TooLargeError: It would be.
    """
    if elements > MAX_ELEMENTS:
        shown = f"{elements:,.0f}" if elements < 1e15 else f"{elements:.3g}"
        raise TooLargeError(f"a value of {shown} elements; at most {MAX_ELEMENTS:,} are held")

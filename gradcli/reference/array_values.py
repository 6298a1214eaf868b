"""The values of a Program of primitives on whole arrays, with bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.language.ops import Kind, Monoid
from gradcli.language.program import numeric
from gradcli.language.program.movement import axes_of, axis_of, fill_of, sources
from gradcli.language.program.shapes import axis_of_scan, count_of
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.reference.array_functions import Compiled, compile_bounds
from gradcli.reference.bounds import (
    Bounds,
    Mask,
    bounded,
    chosen,
    compared,
    exact,
    inverse,
    multiply,
    negative,
    product,
    running_largest,
    running_product,
    running_total,
    stacked,
    total,
)
from gradcli.reference.deadline import require_time
from gradcli.reference.rules import rule_of
from gradcli.reference.special_functions import determinant

MOST_ELEMENTS = 2**25
"""Elements of all lines of a sweep, with those of its rows."""

MOST_FACTORS = 1_024
"""Factors of a product along a dimension."""


class NoSweepError(Exception):
    """The Program has an operation without a rule here, or too many elements."""


class Values:
    """The values of a Program of primitives at a point, with bounds; `moves` has what depends on a variable.

    Args:
        program: The function.
        shapes: Of its symbols.
        inputs: The values of its variables.
        moving: The variables that are differentiated by.
        kind: What is computed in: float64, or `longdouble`, which is slow and has more digits on most machines.

    Raises:
        NoSweepError: It cannot be run so.
    """

    def __init__(
        self,
        program: Program,
        shapes: Mapping[Atom, Shape],
        inputs: Mapping[str, npt.NDArray[np.float64]],
        moving: Sequence[sympy.Symbol],
        kind: type[np.floating[Any]] = np.float64,
    ) -> None:
        self.program, self.shapes, self.kind = program, shapes, kind
        if sum(math.prod(shapes[line.symbol]) for line in program.lines) > MOST_ELEMENTS:
            raise NoSweepError
        self.moves: set[Atom] = set(moving)
        self.values: dict[Atom, Bounds] = {s: exact(inputs[str(s)], kind) for s in program.variables}
        with np.errstate(all="ignore"):
            for line in program.lines:
                require_time()
                is_fixed = line.call.op.is_detached or line.call.op.kind is Kind.COUNT
                if self.moves.intersection(line.call.operands) and not is_fixed:
                    self.moves.add(line.symbol)
                self.values[line.symbol] = self._value(line)

    @property
    def value(self) -> Bounds:
        """Of y."""
        return self.of(self.program.output)

    def of(self, atom: Atom) -> Bounds:
        """Of a line, a variable or a number."""
        if atom in self.values:
            return self.values[atom]
        return compiled(atom)({})

    def _value(self, line: Line) -> Bounds:
        call, shape = line.call, self.shapes[line.symbol]
        operands = [_ENDS[a] if call.op.sense and a in _ENDS else self.of(a) for a in call.operands]
        match call.op.kind:
            case Kind.ELEMENTWISE:
                return self._elementwise(line, operands).spread(shape)
            case Kind.SOURCE:
                return exact(numeric.array_of(call))
            case Kind.COUNT:
                return exact(float(count_of(self.shapes.get(call.operands[0], ()), call.statics[0])))
            case Kind.REDUCTION:
                axes = axes_of(operands[0].middle.shape, call.statics[0])
                return self._folded(line, operands[0], axes, keepdims=bool(call.statics[1]))
            case Kind.SCAN:
                axis = axis_of_scan(call, operands[0].middle.shape)
                return operands[0] if axis is None else self._scanned(line, operands[0], axis)
            case Kind.CONTRACTION:
                return matmul(*operands)
            case Kind.LIST:
                return self._listed(line, operands)
            case Kind.MOVEMENT:
                return self._moved(line, operands[0])
            case Kind.MATRIX if call.op.keeps_shape:
                return inverse(operands[0])
            case Kind.MATRIX if (found := determinant(operands[0])) is not None:
                return found
        raise NoSweepError

    def _elementwise(self, line: Line, operands: list[Bounds]) -> Bounds:
        call = line.call
        if call.op.sense:
            is_fixed = not self.moves.intersection(call.operands)
            holds, fails = compared(operands[0], operands[1], call.op.sense, at_ties=is_fixed)
            return bounded(np.where(holds, 1.0, 0.0), np.where(holds | fails, 0.0, np.inf))
        if call.op.is_branch:
            return chosen(*operands)
        rule = rule_of(call)
        named = {p: operand for p, operand in zip(rule.parameters, operands, strict=True) if p is not None}
        return compiled(rule.expression)(named)

    def _folded(self, line: Line, a: Bounds, axes: tuple[int, ...], *, keepdims: bool) -> Bounds:
        match line.call.op.folds_by:
            case Monoid.SUM:
                return total(a, axes, keepdims=keepdims)
            case Monoid.LARGEST | Monoid.SMALLEST as fold if a.middle.size:
                pick = np.max if fold is Monoid.LARGEST else np.min
                middle = pick(a.middle, axis=axes, keepdims=keepdims)
                _, lost = winners(a if fold is Monoid.LARGEST else negative(a), axes)
                radius = np.max(np.where(lost, 0.0, a.radius), axis=axes, keepdims=keepdims)
                return bounded(np.asarray(middle), np.asarray(radius))
            case Monoid.PRODUCT:
                front, count = self.in_front(a, axes)
                if count <= MOST_FACTORS:
                    found = exact(np.ones(front.middle.shape[1:]))
                    for n in range(count):
                        found = multiply(found, one_of(front, n))
                    return found.mapped(lambda x: np.expand_dims(x, axes) if keepdims else x)
        raise NoSweepError

    def _scanned(self, line: Line, a: Bounds, axis: int) -> Bounds:
        match line.call.op.folds_by:
            case Monoid.SUM:
                return running_total(a, axis)
            case Monoid.LARGEST:
                return running_largest(a, axis)
            case Monoid.SMALLEST:
                return negative(running_largest(negative(a), axis))
            case Monoid.PRODUCT if a.middle.shape[axis] <= MOST_FACTORS:
                return running_product(a, axis)
        raise NoSweepError

    def in_front(self, a: Bounds, axes: tuple[int, ...]) -> tuple[Bounds, int]:
        """With what is folded in front, as one dimension, and how many there are."""
        rest = [d for d in range(a.middle.ndim) if d not in axes]
        count = math.prod(a.middle.shape[d] for d in axes)
        shape = (count, *(a.middle.shape[d] for d in rest))
        return a.mapped(lambda x: np.transpose(x, (*axes, *rest)).reshape(shape)), count

    def _listed(self, line: Line, operands: list[Bounds]) -> Bounds:
        shape = self.shapes[line.symbol]
        if line.call.op.adds_dimension:
            axis = axis_of(shape, line.call.statics[0])
            part = (*shape[:axis], *shape[axis + 1 :])
            return stacked([operand.spread(part) for operand in operands], axis)
        axis = axis_of(operands[0].middle.shape, line.call.statics[0])
        middles, radii = [p.middle for p in operands], [p.radius for p in operands]
        return Bounds(np.concatenate(middles, axis), np.concatenate(radii, axis))

    def _moved(self, line: Line, a: Bounds) -> Bounds:
        if line.call.op.keeps_order:
            return a.mapped(lambda x: x.reshape(self.shapes[line.symbol]))
        source = sources(line.call, a.middle.shape)
        fill = fill_of(line.call)
        middle = np.where(source < 0, fill, a.middle.ravel()[source]) if a.middle.size else np.full(source.shape, fill)
        radius = np.where(source < 0, 0.0, a.radius.ravel()[source]) if a.middle.size else np.zeros(source.shape)
        return bounded(middle, radius)


_ENDS = {sign * sympy.oo: Bounds(np.array(sign * np.inf), np.array(0.0)) for sign in (1, -1)}
"""Infinities, with which numbers may be compared; nothing else is known of them."""


def one_of(a: Bounds, n: int) -> Bounds:
    """What is at a place of the first dimension."""
    return Bounds(a.middle[n], a.radius[n])


def compiled(expression: Any) -> Compiled:
    """An expression as a function of bounds.

    Raises:
        NoSweepError: It has a function without a rule.
    """
    try:
        return compile_bounds(expression)
    except NotImplementedError:
        raise NoSweepError from None


def winners(a: Bounds, axes: tuple[int, ...]) -> tuple[Mask, Mask]:
    """Which elements are certainly the only largest, and which are certainly not the largest."""
    low, high = a.low, a.high
    largest_low = low.max(axis=axes, keepdims=True)
    lost = high < largest_low
    alone = np.count_nonzero(~lost, axis=axes, keepdims=True) == 1
    return ~lost & alone, lost


def matmul(a: Bounds, b: Bounds) -> Bounds:
    """The product as `@` has it, of vectors too."""
    is_row, is_column = a.middle.ndim == 1, b.middle.ndim == 1
    left = a.mapped(lambda x: x[None, :]) if is_row else a
    right = b.mapped(lambda x: x[:, None]) if is_column else b
    found = product(left, right)
    found = found.mapped(lambda x: x[..., 0, :]) if is_row else found
    return found.mapped(lambda x: x[..., 0]) if is_column else found

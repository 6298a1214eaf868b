"""Derivatives swept through a Program on whole arrays, with bounds: back for rows of y, or forward for directions.

An adjoint or a tangent is known where every operation on the way has a derivative for certain: no kink, no edge of a
domain and no tie within the bounds.  What is not known stays so, and spoils what it flows into.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import sympy

from gradcli.language.ops import Kind
from gradcli.language.program.movement import axes_of, axis_of, sources
from gradcli.language.program.shapes import axis_of_scan
from gradcli.language.program.wengert import Atom, Line, Shape
from gradcli.reference.array_slopes import Flow, Slopes
from gradcli.reference.array_values import (
    MOST_ELEMENTS,
    NoSweepError,
    Values,
    matmul,
)
from gradcli.reference.bounds import (
    Array,
    Bounds,
    bounded,
    exact,
    negative,
    product,
    running_total,
    total,
    unit,
)
from gradcli.reference.deadline import require_time


class Sweep:
    """The derivatives of a Program at values that are known with bounds."""

    def __init__(self, values: Values) -> None:
        self.known, self.slopes = values, Slopes(values)
        self.program, self.shapes, self.moves = values.program, values.shapes, values.moves

    def adjoints(self, v: Array) -> dict[Atom, Flow]:
        """The adjoints of the variables that move, for rows of weights of y.

        Args:
            v: Of shape (rows, *y.shape), exactly.

        Raises:
            NoSweepError: An operation has no rule, or it is too much at once.
        """
        if len(v) * max((math.prod(shape) for shape in self.shapes.values()), default=1) > MOST_ELEMENTS:
            raise NoSweepError
        flows: dict[Atom, Flow] = {self.program.output: Flow(exact(v, self.known.kind), v != 0)}
        with np.errstate(all="ignore"):
            for line in reversed(self.program.lines):
                flow = flows.pop(line.symbol, None)
                if flow is None or line.symbol not in self.moves or not flow.reached.any():
                    continue
                require_time()
                for operand, entering in self._back(line, flow):
                    flows[operand] = flows[operand].plus(entering) if operand in flows else entering
        rows = len(v)
        for symbol in self.program.variables:
            if symbol in self.moves and symbol not in flows:
                nothing = np.zeros((rows, *self.shapes[symbol]))
                flows[symbol] = Flow(exact(nothing), nothing != 0)
        return {symbol: flows[symbol] for symbol in self.program.variables if symbol in flows}

    def tangents(self, u: Mapping[sympy.Symbol, Array]) -> Flow:
        """The tangents of y, for several directions at a time.

        Args:
            u: By variable, of shape (directions, *x.shape), exactly; the others do not move.

        Raises:
            NoSweepError: An operation has no rule, or it is too much at once.
        """
        count = len(next(iter(u.values())))
        if count * max((math.prod(shape) for shape in self.shapes.values()), default=1) > MOST_ELEMENTS:
            raise NoSweepError
        flows: dict[Atom, Flow] = {symbol: Flow(exact(way, self.known.kind), way != 0) for symbol, way in u.items()}
        with np.errstate(all="ignore"):
            for line in self.program.lines:
                if line.symbol in self.moves:
                    require_time()
                    parts = [self._leaving(line, k, flows[a]) for k, a in enumerate(line.call.operands) if a in flows]
                    if parts:
                        flows[line.symbol] = functools.reduce(Flow.plus, parts)
        shape = (count, *self.shapes.get(self.program.output, ()))
        nothing = np.zeros(shape)
        return flows.get(self.program.output, Flow(exact(nothing), nothing != 0))

    # -- back

    def _back(self, line: Line, flow: Flow) -> Iterator[tuple[Atom, Flow]]:
        """What flows on to each operand that moves."""
        for k, operand in enumerate(line.call.operands):
            if operand in self.moves:
                yield operand, self._entering(line, k, flow)

    def _entering(self, line: Line, k: int, flow: Flow) -> Flow:
        call, shape = line.call, self.shapes.get(line.call.operands[k], ())
        match call.op.kind:
            case Kind.ELEMENTWISE:
                return _gathered(self.slopes.scaled(line, k, flow), shape)
            case Kind.REDUCTION:
                return self._spread_back(line, flow)
            case Kind.SCAN:
                axis = axis_of_scan(call, shape)
                if axis is None:
                    return flow
                if call.op.is_linear:
                    return _summed_from_the_end(flow, axis + 1)
                return self.slopes.scanned_back(line, flow, axis)
            case Kind.CONTRACTION:
                return self._of_product(line, k, flow)
            case Kind.LIST:
                return self._of_part(line, k, flow)
            case Kind.MOVEMENT:
                return self._moved_back(line, flow)
            case Kind.MATRIX if not call.op.keeps_shape:
                grown = flow.mapped(lambda x: x[..., None, None])
                return grown.times(self.slopes.of_determinant(line))
            case Kind.MATRIX:
                turned = self.known.of(line.symbol).mapped(lambda x: np.swapaxes(x, -1, -2)[None])
                back = negative(matmul(matmul(turned, flow.bounds), turned))
                return Flow(back, np.ones_like(back.middle, dtype=bool))
        raise NoSweepError

    def _spread_back(self, line: Line, flow: Flow) -> Flow:
        shape, rows = self.shapes[line.call.operands[0]], len(flow.reached)
        axes = axes_of(shape, line.call.statics[0])
        kept = tuple(1 if d in axes else size for d, size in enumerate(shape))
        return self.slopes.folded(line, flow.mapped(lambda x: np.broadcast_to(x.reshape(rows, *kept), (rows, *shape))))

    def _of_product(self, line: Line, k: int, flow: Flow) -> Flow:
        """The adjoint of a factor: the adjoint of the product times the other factor, transposed."""
        left, right = (self.known.of(a) for a in line.call.operands)
        rows = len(flow.reached)
        is_row, is_column = left.middle.ndim == 1, right.middle.ndim == 1
        grown = flow.mapped(lambda x: x[..., None]) if is_column else flow
        grown = grown.mapped(lambda x: x[..., None, :]) if is_row else grown
        if k == 0:
            other = right.mapped(lambda x: (x[None, :] if is_column else np.swapaxes(x, -1, -2))[None])
            found, any_reached = matmul(grown.bounds, other), grown.reached.any(axis=-1, keepdims=True)
        else:
            other = left.mapped(lambda x: (x[:, None] if is_row else np.swapaxes(x, -1, -2))[None])
            found, any_reached = matmul(other, grown.bounds), grown.reached.any(axis=-2, keepdims=True)
        shape = self.shapes[line.call.operands[k]]
        own = (1, *shape) if k == 0 and is_row else (*shape, 1) if k == 1 and is_column else shape
        gathered = _gathered(Flow(found, np.broadcast_to(any_reached, found.middle.shape)), own)
        return gathered.mapped(lambda x: x.reshape(rows, *shape))

    def _of_part(self, line: Line, k: int, flow: Flow) -> Flow:
        """What flows to one part of a list; one that stands in it twice is asked for twice."""
        place = self._place_in(line, k)
        return _gathered(flow.mapped(lambda x: x[place]), self.shapes.get(line.call.operands[k], ()))

    def _place_in(self, line: Line, k: int) -> tuple[Any, ...]:
        """Where a part of a list is, behind the dimension of the rows."""
        call, axis = line.call, axis_of(self.shapes[line.symbol], line.call.statics[0])
        if call.op.adds_dimension:
            return (slice(None), *(slice(None),) * axis, k)
        sizes = [self.shapes.get(a, ())[axis] for a in call.operands]
        return (slice(None), *(slice(None),) * axis, slice(sum(sizes[:k]), sum(sizes[: k + 1])))

    def _moved_back(self, line: Line, flow: Flow) -> Flow:
        shape, rows = self.shapes[line.call.operands[0]], len(flow.reached)
        if line.call.op.keeps_order:
            return flow.mapped(lambda x: x.reshape(rows, *shape))
        source = sources(line.call, shape).ravel()
        size = math.prod(shape)
        kept = np.flatnonzero(source >= 0)
        places = (np.arange(rows)[:, None] * size + source[kept]).ravel()
        most = int(np.bincount(source[kept], minlength=1).max(initial=0))

        def scattered(x: Array) -> Array:
            weights = x.reshape(rows, -1)[:, kept].ravel()
            if x.dtype == np.float64:
                return np.asarray(np.bincount(places, weights, rows * size).reshape(rows, *shape))
            found = np.zeros(rows * size, x.dtype)
            np.add.at(found, places, weights)
            return found.reshape(rows, *shape)

        loss = most * unit(flow.bounds.middle)
        middle, sizes = scattered(flow.bounds.middle), scattered(abs(flow.bounds.middle))
        # What is not known is infinite, and a sum of such stays so.
        radius = scattered(flow.bounds.radius) + (loss * sizes if most > 1 else 0.0)
        reached = scattered(flow.reached.astype(np.float64)) > 0
        return Flow(bounded(middle, radius * (1 + 4 * loss)), reached)

    # -- forward

    def _leaving(self, line: Line, k: int, flow: Flow) -> Flow:
        """What the tangent of one operand adds to that of a line."""
        call, shape = line.call, self.shapes[line.symbol]
        full = (len(flow.reached), *shape)
        match call.op.kind:
            case Kind.ELEMENTWISE:
                return self.slopes.scaled(line, k, flow.mapped(lambda x: np.broadcast_to(_lifted(x, len(shape)), full)))
            case Kind.REDUCTION:
                axes = tuple(axis + 1 for axis in axes_of(flow.reached.shape[1:], call.statics[0]))
                scaled = self.slopes.folded(line, flow)
                keepdims = bool(call.statics[1])
                bounds = total(scaled.bounds, axes, keepdims=keepdims) if axes else scaled.bounds
                reached = scaled.reached.any(axis=axes, keepdims=keepdims) if axes else scaled.reached
                return Flow(bounds, np.asarray(reached))
            case Kind.SCAN:
                axis = axis_of_scan(call, flow.reached.shape[1:])
                if axis is None:
                    return flow
                if not call.op.is_linear:
                    return self.slopes.scanned_on(line, flow, axis)
                reached = np.logical_or.accumulate(flow.reached, axis + 1)
                return Flow(running_total(flow.bounds, axis + 1), reached)
            case Kind.CONTRACTION:
                return self._product_flow(line, k, flow)
            case Kind.LIST:
                return self._part_flow(line, k, flow)
            case Kind.MOVEMENT:
                return self._moved_flow(line, flow)
            case Kind.MATRIX if not call.op.keeps_shape:
                terms = flow.times(self.slopes.of_determinant(line))
                axes = (terms.reached.ndim - 2, terms.reached.ndim - 1)
                return Flow(total(terms.bounds, axes), np.asarray(terms.reached.any(axis=axes)))
            case Kind.MATRIX:
                found = self.known.of(line.symbol).mapped(lambda x: x[None])
                moved = negative(matmul(matmul(found, flow.bounds), found))
                return Flow(moved, np.ones_like(moved.middle, dtype=bool))
        raise NoSweepError

    def _product_flow(self, line: Line, k: int, flow: Flow) -> Flow:
        """The tangent of a factor times the other factor."""
        left, right = (self.known.of(a) for a in line.call.operands)
        is_row, is_column = left.middle.ndim == 1, right.middle.ndim == 1
        grown, other = flow.bounds, right if k == 0 else left
        if (is_row and k == 0) or (is_column and k == 1):
            grown = grown.mapped(lambda x: x[..., None, :] if k == 0 else x[..., None])
        if (is_column and k == 0) or (is_row and k == 1):
            other = other.mapped(lambda x: x[:, None] if k == 0 else x[None, :])
        # With as many dimensions before those of the matrix on both sides, the first counting directions.
        rank = max(grown.middle.ndim - 1, other.middle.ndim)
        grown, other = grown.mapped(lambda x: _lifted(x, rank)), other.mapped(lambda x: _lifted(x[None], rank))
        found = product(grown, other) if k == 0 else product(other, grown)
        count = len(flow.reached)
        shape = (count, *self.shapes[line.symbol])
        is_reached = flow.reached.reshape(count, -1).any(axis=1).reshape(count, *(1,) * (len(shape) - 1))
        return Flow(found.mapped(lambda x: x.reshape(shape)), np.broadcast_to(is_reached, shape))

    def _part_flow(self, line: Line, k: int, flow: Flow) -> Flow:
        """The tangent of a list of which one part moves."""
        shape, count = self.shapes[line.symbol], len(flow.reached)
        place = self._place_in(line, k)
        middle = np.zeros((count, *shape), flow.bounds.middle.dtype)
        radius, reached = np.zeros_like(middle), np.zeros(middle.shape, dtype=bool)
        for into, part in ((middle, flow.bounds.middle), (radius, flow.bounds.radius), (reached, flow.reached)):
            into[place] = _lifted(part, into[place].ndim - 1)
        return Flow(Bounds(middle, radius), reached)

    def _moved_flow(self, line: Line, flow: Flow) -> Flow:
        """The tangents where a movement puts them."""
        count, shape = len(flow.reached), flow.reached.shape[1:]
        if line.call.op.keeps_order:
            return flow.mapped(lambda x: x.reshape(count, *self.shapes[line.symbol]))
        source = sources(line.call, shape)

        def moved(x: Any) -> Any:
            found = np.zeros((count, *source.shape), x.dtype)
            found[:, source >= 0] = x.reshape(count, -1)[:, source[source >= 0]]
            return found

        return flow.mapped(moved)


def _lifted(array: Any, rank: int) -> Any:
    """With so many dimensions behind the first, those that are new before the others."""
    return array.reshape(len(array), *(1,) * (rank + 1 - array.ndim), *array.shape[1:])


def _summed_from_the_end(flow: Flow, axis: int) -> Flow:
    found = running_total(flow.bounds.mapped(lambda x: np.flip(x, axis)), axis).mapped(lambda x: np.flip(x, axis))
    reached = np.flip(np.logical_or.accumulate(np.flip(flow.reached, axis), axis), axis)
    return Flow(found, reached)


def _gathered(flow: Flow, shape: Shape) -> Flow:
    """Summed over the dimensions along which an operand of this shape was broadcast."""
    inside = flow.bounds.middle.shape[1:]
    extra = len(inside) - len(shape)
    axes = tuple(1 + d for d in range(extra)) + tuple(
        1 + extra + d for d, size in enumerate(shape) if size == 1 and inside[extra + d] != 1
    )
    if not axes:
        return flow
    rows = flow.bounds.middle.shape[0]
    bounds = total(flow.bounds, axes, keepdims=True).mapped(lambda x: x.reshape(rows, *shape))
    return Flow(bounds, flow.reached.any(axis=axes, keepdims=True).reshape(rows, *shape))

"""Which elements of its operands an element of a line comes from, and which elements it goes to.

Elements are flat row-major positions.  Nothing is held in full: a matrix product of two 1000 × 1000 matrices is, to the
reference, a sum over a product of 10⁹ elements of which only the asked-for ones are ever looked at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradcli.language.ops import Kind
from gradcli.language.program.movement import axes_of, axis_of, sources
from gradcli.language.program.shapes import axis_of_scan
from gradcli.language.program.wengert import Atom, Line, Shape

Flat = npt.NDArray[np.int64]
Pairs = tuple[Flat, Flat]
"""Positions in a list of elements, and an element of the other side for each."""


class TooManyError(Exception):
    """A list of elements that is longer than allowed."""


class Footprint:
    """The wiring of one Program of primitives without `matmul` (see `lowering`) with its shapes."""

    def __init__(self, shapes: Mapping[Atom, Shape], most: int) -> None:
        self.shapes, self.most = shapes, most
        self._sources: dict[tuple[Line, int], Flat] = {}

    def down(self, line: Line, k: int, out: Flat) -> Pairs:
        """For each element of the line, the elements of operand k that it is made of."""
        shape, operand = self.shapes[line.symbol], self._operand(line, k)
        match line.call.op.kind:
            case Kind.ELEMENTWISE:
                return np.arange(len(out)), _project(out, shape, operand)
            case Kind.REDUCTION | Kind.DEFINED:
                return self._spread(out, _kept(operand, line), operand)
            case Kind.SCAN:
                size, step = _axis_of(line, operand)
                place = out // step % size
                return self._steps(out - place * step, place + 1, step)
            case Kind.LIST:
                part = self._part(line, k)
                along = out // part.inner % part.whole - part.start
                held = np.flatnonzero((along >= 0) & (along < part.size))
                inside = (out[held] // (part.inner * part.whole) * part.size + along[held]) * part.inner
                return held, inside + out[held] % part.inner if operand else np.zeros(len(held), dtype=np.int64)
            case Kind.MATRIX:
                block = operand[-1] * operand[-2]
                each = block if line.call.op.keeps_shape else 1
                return self._steps(out // max(1, each) * block, np.full(len(out), block), 1)
            case Kind.COUNT:
                return np.arange(0), np.arange(0)
            case _:
                source = self._source(line, k)[out]
                held = np.flatnonzero(source >= 0)
                return held, source[held]

    def up(self, line: Line, k: int, elements: Flat) -> Pairs:
        """For each element of operand k, the elements of the line that it enters."""
        shape, operand = self.shapes[line.symbol], self._operand(line, k)
        match line.call.op.kind:
            case Kind.ELEMENTWISE:
                return self._spread(elements, operand, shape)
            case Kind.REDUCTION | Kind.DEFINED:
                return np.arange(len(elements)), _project(elements, operand, _kept(operand, line))
            case Kind.SCAN:
                size, step = _axis_of(line, operand)
                return self._steps(elements, size - elements // step % size, step)
            case Kind.LIST:
                part = self._part(line, k)
                if not operand:
                    positions, inside = self._spread(elements, (), part.shape)
                else:
                    positions, inside = np.arange(len(elements)), elements
                size = max(1, part.size)
                outer, along = inside // (part.inner * size), inside // part.inner % size
                out = (outer * part.whole + along + part.start) * part.inner + inside % part.inner
                return positions, out
            case Kind.MATRIX:
                block = operand[-1] * operand[-2]
                each = block if line.call.op.keeps_shape else 1
                return self._steps(elements // block * each, np.full(len(elements), each), 1)
            case Kind.COUNT:
                return np.arange(0), np.arange(0)
            case _:
                source = self._source(line, k)
                out = np.flatnonzero(np.isin(source, elements))
                return self._matched(elements, source[out], out)

    def up_to(self, line: Line, k: int, elements: Flat, out: Flat) -> Pairs:
        """For each element of operand k, those among some elements of the line that it enters."""
        position, source = self.down(line, k, out)
        return self._matched(elements, source, out[position])

    def _matched(self, elements: Flat, source: Flat, out: Flat) -> Pairs:
        """For each element, the `out` whose source it is."""
        # By binary search and not by a dictionary: there may be a million elements.
        order = np.argsort(elements, kind="stable")
        ordered = elements[order]
        first = np.searchsorted(ordered, source, "left")
        count = np.searchsorted(ordered, source, "right") - first
        self._require(int(count.sum()))
        return order[_ranges(first, count)], np.repeat(out, count)

    def _steps(self, first: Flat, count: Flat, step: int) -> Pairs:
        """For each position, `count` elements from `first` on, a step apart."""
        self._require(int(count.sum()))
        return np.repeat(np.arange(len(first)), count), np.repeat(first, count) + step * _ranges(count * 0, count)

    def _part(self, line: Line, k: int) -> _Part:
        """Where operand k of a list is in the result."""
        shape, call = self.shapes[line.symbol], line.call
        if call.op.adds_dimension:
            axis, start, size = axis_of(shape, call.statics[0]), k, 1
        else:
            axis = axis_of(self._operand(line, 0), call.statics[0])
            start = sum(self._operand(line, n)[axis] for n in range(k))
            size = self._operand(line, k)[axis]
        inner = math.prod(shape[axis + 1 :])
        return _Part(max(1, inner), shape[axis], start, size, (*shape[:axis], size, *shape[axis + 1 :]))

    def _operand(self, line: Line, k: int) -> Shape:
        return self.shapes.get(line.call.operands[k], ())

    def _spread(self, elements: Flat, small: Shape, large: Shape) -> Pairs:
        """Each element of a shape with sizes of 1 (or fewer dimensions) to all it stretches to."""
        if small == large:
            return np.arange(len(elements)), elements
        small = (1,) * (len(large) - len(small)) + small
        steps = _steps(large)
        stretched = [(size, step) for s, size, step in zip(small, large, steps, strict=True) if s == 1 and size != 1]
        self._require(len(elements) * math.prod(size for size, _ in stretched))
        offsets = np.zeros(1, dtype=np.int64)
        for size, step in stretched:
            offsets = (offsets[:, None] + step * np.arange(size)).ravel()
        base = np.zeros(len(elements), dtype=np.int64)
        for coordinate, step in zip(np.unravel_index(elements, small) if small else (), steps, strict=True):
            base += coordinate * step
        return np.repeat(np.arange(len(elements)), len(offsets)), (base[:, None] + offsets).ravel()

    def _require(self, count: int) -> None:
        if count > self.most:
            raise TooManyError

    def _source(self, line: Line, k: int) -> Flat:
        """For each element of a line that only moves elements, its element in operand k."""
        key = (line, k)
        if key not in self._sources:
            # A position in an array costs far less than a ball operation, and so counts a sixteenth of one.
            self._require(math.prod(self.shapes[line.symbol]) // 16)
            self._sources[key] = sources(line.call, self._operand(line, k)).ravel()
        return self._sources[key]


class _Part(NamedTuple):
    """An operand of a list: the elements of one step along the list, its length, and the operand's part of it."""

    inner: int
    whole: int
    start: int
    size: int
    shape: Shape


def _axis_of(line: Line, operand: Shape) -> tuple[int, int]:
    """The size and the step of the dimension of a scan; a plain number has one element."""
    axis = axis_of_scan(line.call, operand)
    return (1, 1) if axis is None else (max(1, operand[axis]), max(1, math.prod(operand[axis + 1 :])))


def _kept(shape: Shape, line: Line) -> Shape:
    """The shape before a reduction with sizes of 1 where it sums."""
    axes = axes_of(shape, line.call.statics[0])
    return tuple(1 if d in axes else size for d, size in enumerate(shape))


def _project(elements: Flat, large: Shape, small: Shape) -> Flat:
    """Each element of a shape to the one it is stretched from."""
    if small == large:
        return elements
    if math.prod(small) == 1:
        return np.zeros(len(elements), dtype=np.int64)
    coordinates = np.unravel_index(elements, large)[len(large) - len(small) :]
    result = np.zeros(len(elements), dtype=np.int64)
    for coordinate, size, step in zip(coordinates, small, _steps(small), strict=True):
        if size != 1:
            result += coordinate * step
    return result


def _steps(shape: Shape) -> list[int]:
    steps = [1]
    for size in reversed(shape[1:]):
        steps.append(steps[-1] * size)
    return steps[::-1][: len(shape)]


def _ranges(first: Flat, count: Flat) -> Flat:
    """The concatenation of range(f, f + c) for each pair."""
    # Without a loop: one running count, shifted so that each range begins at its own first.
    starts = np.repeat(first - np.concatenate(([0], np.cumsum(count)[:-1])), count)
    return starts + np.arange(int(count.sum()))

"""Which elements of its operands an element of a line comes from, and which elements it goes to.

Elements are flat row-major positions.  Nothing is held in full: a matrix product of two 1000 × 1000 matrices is, to the
reference, a sum over a product of 10⁹ elements of which only the asked-for ones are ever looked at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gradcli.language.ops import Kind
from gradcli.language.program import Atom, Line
from gradcli.language.shapes import Shape, as_key, permutation, reduced_axes

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
            case Kind.REDUCTION:
                return self._spread(out, _kept(operand, line), operand)
            case _ if line.call.op.name == "stack":
                size, part = _part(shape)
                held = np.flatnonzero(out // size == k)
                return held, _project(out[held] % size, part, operand)
            case _:
                return np.arange(len(out)), self._source(line, k)[out]

    def up(self, line: Line, k: int, elements: Flat) -> Pairs:
        """For each element of operand k, the elements of the line that it enters."""
        shape, operand = self.shapes[line.symbol], self._operand(line, k)
        match line.call.op.kind:
            case Kind.ELEMENTWISE:
                return self._spread(elements, operand, shape)
            case Kind.REDUCTION:
                return np.arange(len(elements)), _project(elements, operand, _kept(operand, line))
            case _ if line.call.op.name == "stack":
                size, part = _part(shape)
                position, out = self._spread(elements, operand, part)
                return position, out + k * size
            case _:
                source = self._source(line, k)
                out = np.flatnonzero(np.isin(source, elements))
                order = np.argsort(elements, kind="stable")
                ordered = elements[order]
                first = np.searchsorted(ordered, source[out], "left")
                count = np.searchsorted(ordered, source[out], "right") - first
                self._require(int(count.sum()))
                return order[_ranges(first, count)], np.repeat(out, count)

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
            self._require(math.prod(self.shapes[line.symbol]) // 16)
            self._sources[key] = self._moved(line, k).ravel()
        return self._sources[key]

    def _moved(self, line: Line, k: int) -> Flat:
        operand, statics = self._operand(line, k), line.call.statics
        elements = np.arange(math.prod(operand)).reshape(operand)
        match line.call.op.name:
            case "index":
                return np.asarray(elements[as_key(statics[0])])
            case "transpose":
                return elements.transpose(permutation(operand, statics))
            case "reshape":
                return elements
            case name:
                raise NotImplementedError(f"no wiring for {name}")


def _part(shape: Shape) -> tuple[int, Shape]:
    """The number of elements of each part of a stack, and their shape."""
    return max(1, math.prod(shape[1:])), shape[1:]


def _kept(shape: Shape, line: Line) -> Shape:
    """The shape before a reduction with sizes of 1 where it sums."""
    axes = reduced_axes(shape, line.call.statics[0])
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
    starts = np.repeat(first - np.concatenate(([0], np.cumsum(count)[:-1])), count)
    return starts + np.arange(int(count.sum()))

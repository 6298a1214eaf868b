"""Dependencies between elements: the elements of its operands that each comes from, and those that it goes to.

Elements are flat row-major positions.  Nothing is held in full: a matrix product of two 1000 × 1000 matrices is, to the
reference, a sum over a product of 10⁹ elements of which only the asked-for ones are ever looked at.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.arrays import order_of
from gradcli.language.ops import Kind
from gradcli.language.program.movement import axes_of, axis_of, sources
from gradcli.language.program.positions import IndexedBlock, block_of, flat_places
from gradcli.language.program.shapes import axis_of_scan
from gradcli.language.program.wengert import Atom, Line, Shape
from gradcli.reference.deadline import require_time

Flat = npt.NDArray[np.int64]
Pairs = tuple[Flat, Flat]
"""Positions in a list of elements, and an element of the other side for each."""


MOST_POSSIBLE = 2**12
"""Most elements that are evaluated as those of other positions, for positions that jump."""


class OverBudgetError(Exception):
    """Error of more elements to follow, or more ball operations, than is allowed."""


class Dependencies:
    """Dependencies between the elements of a Program of primitives without `matmul` (see `enclosure_plan.lower`).

    Args:
        shapes: The shapes of its symbols.
        most: The most elements to follow through one line.
        places: The flat positions that gathers and their transposes have by value, by line.
    """

    def __init__(
        self, shapes: Mapping[Atom, Shape], most: int, places: Mapping[Atom, Flat] = MappingProxyType({})
    ) -> None:
        self.shapes, self.most, self.places = shapes, most, places
        self._known: dict[Atom, _Origins] = {}
        self._inverse: dict[Atom, Pairs] = {}

    def operand_numbers(self, line: Line) -> Sequence[int]:
        """List the operands of a line by number; each symbol of a list once, as all its places are found together."""
        return list(self._origins(line).places) if line.call.op.kind is Kind.LIST else range(len(line.call.operands))

    def source_chunks(self, line: Line, out: Flat) -> Iterator[tuple[int, Flat, Flat]]:
        """Yield, operand by operand, positions in `out` and the operand elements that these depend on.

        The elements of a list are found in one pass, as it may have as many operands as elements.  Positions are left
        out: they are no part of a value, and say only where it comes from.
        """
        if line.call.op.kind is not Kind.LIST:
            count = 1 if line.call.op.is_at_positions else len(line.call.operands)
            yield from ((k, *self.sources(line, k, out)) for k in range(count))
        elif len(out):
            origins = self._origins(line)
            first = origins.first[out]
            for held in _grouped(first):
                yield int(first[held[0]]), held, origins.inside[out[held]]

    def sources_by_element(self, line: Line, out: Flat) -> dict[int, list[tuple[Atom, int]]]:
        """List for each element the operands and operand elements that it depends on."""
        found: dict[int, list[tuple[Atom, int]]] = {e: [] for e in out.tolist()}
        for k, position, source in self.source_chunks(line, out):
            for e, s in zip(out[position].tolist(), source.tolist(), strict=True):
                found[e].append((line.call.operands[k], s))
        return found

    def sources(self, line: Line, k: int, out: Flat) -> Pairs:
        """Return pairs (index into `out`, element of operand k that it depends on)."""
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
            case Kind.MATRIX | Kind.SPECTRAL:
                block, each = operand[-1] * operand[-2], _of_matrix(line, operand)
                return self._steps(out // max(1, each) * block, np.full(len(out), block), 1)
            case Kind.COUNT:
                return np.arange(0), np.arange(0)
            case Kind.MOVEMENT if line.call.op.keeps_order:
                return np.arange(len(out)), out
            case Kind.GATHER | Kind.SCATTER:
                return self._positions_of(line, out) if k else self._moved(line, out, line.call.op.kind is Kind.GATHER)
            case _:
                origins = self._origins(line)
                held = np.flatnonzero(origins.first[out] == k)
                return held, origins.inside[out[held]]

    def users(self, line: Line, k: int, elements: Flat) -> Pairs:
        """Return pairs (index into `elements` of operand k, line element that uses it), at all places in a list."""
        shape, operand = self.shapes[line.symbol], self._operand(line, k)
        match line.call.op.kind:
            case Kind.ELEMENTWISE:
                return self._spread(elements, operand, shape)
            case Kind.REDUCTION | Kind.DEFINED:
                return np.arange(len(elements)), _project(elements, operand, _kept(operand, line))
            case Kind.SCAN:
                size, step = _axis_of(line, operand)
                return self._steps(elements, size - elements // step % size, step)
            case Kind.MATRIX | Kind.SPECTRAL:
                block, each = operand[-1] * operand[-2], _of_matrix(line, operand)
                return self._steps(elements // block * each, np.full(len(elements), each), 1)
            case Kind.COUNT:
                return np.arange(0), np.arange(0)
            case Kind.MOVEMENT if line.call.op.keeps_order:
                return np.arange(len(elements)), elements
            case Kind.GATHER | Kind.SCATTER if k:
                return self._matched(elements, *self._positions_of(line, np.arange(math.prod(shape)))[::-1])
            case Kind.GATHER | Kind.SCATTER:
                return self._moved(line, elements, line.call.op.kind is Kind.SCATTER)
            case _:
                origins = self._origins(line)
                return self._matched(elements, origins.inside[origins.places[k]], origins.places[k])

    def users_among(self, line: Line, k: int, elements: Flat, out: Flat) -> Pairs:
        """Return pairs (index into `elements` of operand k, element of `out` that uses it)."""
        position, source = self.sources(line, k, out)
        return self._matched(elements, source, out[position])

    def backward_closure(
        self, lines: Sequence[Line], start: Mapping[Atom, Flat], most: float = math.inf
    ) -> dict[Atom, Flat]:
        """Return the backward closure of some elements, themselves and the positions of elements included.

        Raises:
            OverBudgetError: They are too many for one step, or more than `most` in all.
        """
        known: dict[Atom, Flat] = {}
        lists: dict[Atom, list[Flat]] = {atom: [elements] for atom, elements in start.items()}
        total = 0
        for line in reversed(lines):
            if line.symbol not in lists:
                continue
            require_time()
            known[line.symbol] = elements = distinct(lists.pop(line.symbol))
            chunks = self.source_chunks(line, elements)
            if line.call.op.is_at_positions:
                chunks = itertools.chain(chunks, [(1, *self.sources(line, 1, elements))])
            for k, _, source in chunks:
                if isinstance(operand := line.call.operands[k], sympy.Symbol):
                    total += len(source)
                    if total > most:
                        raise OverBudgetError
                    lists.setdefault(operand, []).append(source)
        return known | {atom: distinct(parts) for atom, parts in lists.items() if isinstance(atom, sympy.Symbol)}

    def _moved(self, line: Line, elements: Flat, has_positions: bool) -> Pairs:
        """Follow elements of one side of a gather, or of its transpose, to the other side.

        Args:
            line: The operation.
            elements: Of the side that has the positions in the place of the dimensions that are indexed, or of the
                other one.
            has_positions: Which side they are of.
        """
        _, size, count, after = self._block(line).flat
        places = self._places_of(line)
        own, other = (count, size) if has_positions else (size, count)
        rest, inside = np.divmod(elements, max(1, after))
        before, at = np.divmod(rest, max(1, own))
        if has_positions:
            return np.arange(len(elements)), (before * other + places[at]) * after + inside
        if line.symbol not in self._inverse:
            counts = np.bincount(places, minlength=size)
            self._inverse[line.symbol] = order_of(places), counts
        order, counts = self._inverse[line.symbol]
        first, many = (np.cumsum(counts) - counts)[at], counts[at]
        self._require(int(many.sum()))
        taken = order[_ranges(first, many)]
        return np.repeat(np.arange(len(elements)), many), (
            (np.repeat(before, many) * other + taken) * after + np.repeat(inside, many)
        )

    def _positions_of(self, line: Line, out: Flat) -> Pairs:
        """Find for each element of a gather, or of its transpose, the elements of the positions that lead to it."""
        block = self._block(line)
        _, _, count, after = block.flat
        held, moved = np.arange(len(out)), out
        if line.call.op.kind is Kind.SCATTER:
            held, moved = self._moved(line, out, has_positions=False)
        at = moved // max(1, after) % max(1, count)
        rank = len(block.sizes)
        self._require(rank * len(at))
        return np.tile(held, rank), (np.arange(rank)[:, None] * count + at).ravel()

    def possible_sources(self, line: Line, out: Flat) -> Flat:
        """List the elements that elements of a gather may have at any position; none where they are many."""
        _, size, count, after = self._block(line).flat
        if size * len(out) > MOST_POSSIBLE:
            return np.arange(0)
        rest, inside = np.divmod(out, after)
        return np.unique(((rest // count * size)[:, None] + np.arange(size)) * after + inside[:, None])

    def source_at(self, line: Line, element: int, positions: Sequence[int]) -> int | None:
        """Return the operand element that an element of a gather has at other positions; None where there is none."""
        block = self._block(line)
        if not all(0 <= at < size for at, size in zip(positions, block.sizes, strict=True)):
            return None
        _, size, count, after = block.flat
        rest, inside = divmod(element, after)
        return (rest // count * size + int(flat_places(np.array(positions), block.sizes)[0])) * after + inside

    def _block(self, line: Line) -> IndexedBlock:
        return block_of(line.call, self._operand(line, 0), self._operand(line, 1))

    def _places_of(self, line: Line) -> Flat:
        """Return the flat positions of a gather or of its transpose.

        Raises:
            OverBudgetError: They are not known.
        """
        if line.symbol not in self.places:
            raise OverBudgetError
        return self.places[line.symbol]

    def _matched(self, elements: Flat, source: Flat, out: Flat) -> Pairs:
        """Return pairs (index into `elements`, entry of `out` with this source)."""
        # By binary search and not by a dictionary: there may be a million elements.
        if len(elements) * FEW < len(source):
            near = np.flatnonzero(_is_among(elements, source))
            source, out = source[near], out[near]
        order = order_of(elements)
        ordered = elements[order]
        first = np.searchsorted(ordered, source, "left")
        count = np.searchsorted(ordered, source, "right") - first
        self._require(int(count.sum()))
        return order[_ranges(first, count)], np.repeat(out, count)

    def _steps(self, first: Flat, count: Flat, step: int) -> Pairs:
        """Return for each position `count` elements from `first` on, a step apart."""
        self._require(int(count.sum()))
        return np.repeat(np.arange(len(first)), count), np.repeat(first, count) + step * _ranges(count * 0, count)

    def _origins(self, line: Line) -> _Origins:
        """Return the origins of the elements of a line that only moves elements, or puts them together; found once."""
        if line.symbol not in self._known:
            shape, call = self.shapes[line.symbol], line.call
            # A position in an array costs far less than a ball operation, and so counts a sixteenth of one.
            self._require(math.prod(shape) // 16)
            if call.op.kind is Kind.LIST:
                first, inside = self._listed(line, shape)
                places = {int(first[held[0]]): held for held in _grouped(first)}
            else:
                inside = sources(call, self._operand(line, 0)).ravel()
                first, places = np.where(inside < 0, -1, 0), {0: np.flatnonzero(inside >= 0)}
            self._known[line.symbol] = _Origins(first, inside, places)
        return self._known[line.symbol]

    def _listed(self, line: Line, shape: Shape) -> Pairs:
        """Find for each element of a list the first operand with its symbol, and its position there."""
        call = line.call
        axis, numbers = axis_of(shape, call.statics[0]), {a: k for k, a in reversed([*enumerate(call.operands)])}
        owns = [self._operand(line, k) for k in range(len(call.operands))]
        is_stack = bool(call.op.adds_dimension)
        parts = [(*shape[:axis], *shape[axis + 1 :]) if is_stack else own for own in owns]
        join = np.stack if is_stack else np.concatenate
        first = [np.full(part, numbers[a]) for a, part in zip(call.operands, parts, strict=True)]
        places = [np.arange(math.prod(own)).reshape(own) for own in owns]
        inside = [np.broadcast_to(a, part) for a, part in zip(places, parts, strict=True)]
        return join(first, axis).ravel(), join(inside, axis).ravel()

    def _operand(self, line: Line, k: int) -> Shape:
        return self.shapes.get(line.call.operands[k], ())

    def _spread(self, elements: Flat, small: Shape, large: Shape) -> Pairs:
        """Map each element of a shape with sizes of 1 (or fewer dimensions) to all elements it stretches to."""
        if small == large:
            return np.arange(len(elements)), elements
        small = (1,) * (len(large) - len(small)) + small
        stretched = [size if own == 1 else 1 for own, size in zip(small, large, strict=True)]
        self._require(len(elements) * math.prod(stretched))
        full = [max(1, size) for size in large]
        offsets = np.ravel_multi_index(np.unravel_index(np.arange(math.prod(stretched)), stretched), full)
        base = np.ravel_multi_index(np.unravel_index(elements, small), full)
        return np.repeat(np.arange(len(elements)), len(offsets)), (base[:, None] + offsets).ravel()

    def _require(self, count: int) -> None:
        if count > self.most:
            raise OverBudgetError


class _Origins(NamedTuple):
    """Origins of the elements of a line.

    Attributes:
        first: For each element, the number of the first operand with the symbol of its own; -1 for one that has none.
        inside: The position of each element in that operand.
        places: The elements, by the number in `first`.
    """

    first: Flat
    inside: Flat
    places: Mapping[int, Flat]


def _grouped(numbers: Flat) -> list[Flat]:
    """Return the positions of each number that occurs."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(order) else []


def _axis_of(line: Line, operand: Shape) -> tuple[int, int]:
    """Return the size and the step of the dimension of a scan; a plain number has one element."""
    axis = axis_of_scan(line.call, operand)
    return (1, 1) if axis is None else (max(1, operand[axis]), max(1, math.prod(operand[axis + 1 :])))


def _kept(shape: Shape, line: Line) -> Shape:
    """Return the shape before a reduction with sizes of 1 where it sums."""
    axes = axes_of(shape, line.call.statics[0])
    return tuple(1 if d in axes else size for d, size in enumerate(shape))


def _project(elements: Flat, large: Shape, small: Shape) -> Flat:
    """Map each element of a shape to the one it is stretched from."""
    if small == large:
        return elements
    if math.prod(small) == 1:
        return np.zeros(len(elements), dtype=np.int64)
    coordinates = np.unravel_index(elements, large)[len(large) - len(small) :]
    return np.ravel_multi_index([c % size for c, size in zip(coordinates, small, strict=True)], small)


def _ranges(first: Flat, count: Flat) -> Flat:
    """Concatenate range(f, f + c) for each pair."""
    # Without a loop: one running count, shifted so that each range begins at its own first.
    starts = np.repeat(first - np.concatenate(([0], np.cumsum(count)[:-1])), count)
    return starts + np.arange(int(count.sum()))


FEW = 64
"""Elements for each of those that are looked for, from which on a table is faster than a binary search."""


def _is_among(elements: Flat, source: Flat) -> npt.NDArray[np.bool_]:
    """Mark the positions of `source` that are among some elements."""
    top = max(int(elements.max(initial=0)), int(source.max(initial=0)))
    is_wanted = np.zeros(top + 1, dtype=bool)
    is_wanted[elements] = True
    return is_wanted[source]


DENSE = 2**20
"""Position below which a table of all positions marks the ones that occur."""


def distinct(parts: Sequence[Flat]) -> Flat:
    """Merge the parts, each position once, in order; NumPy's own `unique` hashes, which takes ten times as long."""
    joined = np.concatenate(parts)
    if len(joined) < 2:
        return joined
    if joined.max() < DENSE:
        is_among = np.zeros(int(joined.max()) + 1, dtype=bool)
        is_among[joined] = True
        return np.flatnonzero(is_among)
    ordered: Flat = np.sort(joined)
    kept: Flat = ordered[np.concatenate([np.ones(1, dtype=bool), ordered[1:] != ordered[:-1]])]
    return kept


def _of_matrix(line: Line, operand: Shape) -> int:
    """Count the elements of the result for each matrix of the operand: a matrix, its eigenvalues, or a number."""
    op = line.call.op
    if op.keeps_shape:
        return operand[-1] * operand[-2]
    return operand[-1] if op.kind is Kind.SPECTRAL else 1

"""The pattern of a Jacobian: index sets of the inputs that each element of y may depend on, forward through a Program.

What a line takes from its operands says `gradcli.reference.dependencies`, which the enclosures follow too; a pattern is
the product of those dependencies, as sparse matrices of truth values.  So nothing is sampled: an entry outside of the
pattern is 0 for all values, and one inside of it may be 0 by its numbers.  A Hessian is the Jacobian of the gradient
Program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.arrays import Array, order_of
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import moving_lines
from gradcli.language.program.shapes import shapes_in
from gradcli.language.program.wengert import Atom, Line, Program, Shape, needed
from gradcli.parts.sparse.input_layers import Layers, listed
from gradcli.reference.array_values import places_of
from gradcli.reference.dependencies import Dependencies, Flat, OverBudgetError
from gradcli.reference.enclosure_plan import lower

Indices = npt.NDArray[np.int32]
"""Flat positions; a tensor has fewer than 2³¹ elements."""

Csr = Any
"""A `scipy.sparse.csr_array` of truth values: a row for each element of a line, a column for each input."""

MOST_JOINED = 4
"""Entries that the operands of a line may have, for each that its pattern may have: they coincide where it adds up."""

MOST_LISTED = 2**24
"""Entries that are listed and sorted at once, some 24 bytes each; more of them are a product of sparse matrices."""


@dataclass(frozen=True)
class SparsityPattern:
    """Entries of a matrix that are not 0 by structure, row by row and in the order of the columns.

    Attributes:
        rows: The row of each entry.
        columns: The column of each entry.
        shape: Of the matrix.
    """

    rows: Indices
    columns: Indices
    shape: tuple[int, int]

    @property
    def count(self) -> int:
        """The number of entries."""
        return len(self.rows)

    @property
    def density(self) -> float:
        """The part of all entries that are in the pattern."""
        return self.count / max(1, math.prod(self.shape))

    @cached_property
    def counts(self) -> tuple[Flat, Flat]:
        """The numbers of entries of each row, and of each column."""
        height, width = self.shape
        return np.bincount(self.rows, minlength=height), np.bincount(self.columns, minlength=width)

    @property
    def bandwidth(self) -> tuple[int, int]:
        """The largest distances of an entry below and above the diagonal.

        >>> SparsityPattern(np.int32([0, 1, 2]), np.int32([1, 2, 0]), (3, 3)).bandwidth
        (2, 1)
        """
        if not self.count:
            return 0, 0
        distance = self.columns - self.rows
        return max(0, -int(distance.min())), max(0, int(distance.max()))


def pattern_of(
    program: Program,
    shapes: Mapping[Atom, Shape],
    variables: Sequence[sympy.Symbol],
    most: int,
    inputs: Mapping[str, Array] = MappingProxyType({}),
) -> SparsityPattern:
    """Find the pattern of the Jacobian of a Program by some variables, whose columns stand next to each other.

    Args:
        program: The function, in primitives.
        shapes: Of its symbols.
        variables: In the order of the columns.
        most: The most entries that it may have.
        inputs: The values of the variables, which say where elements are taken at positions.

    Raises:
        OverBudgetError: It has more, or a position is not known.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x[1:] - x[:-1]")
    >>> x = program.variables[0]
    >>> found = pattern_of(program, {x: (3,)}, [x], 100)
    >>> found.rows.tolist(), found.columns.tolist(), found.shape
    ([0, 0, 1, 1], [0, 1, 1, 2], (2, 3))
    """
    known = FollowedProgram.from_inputs(program, shapes, inputs)
    sets = _IndexSets(known, variables, most)
    rows, columns = sets.entries(sets.follow(known.program.output))
    return SparsityPattern(rows, columns, (math.prod(known.shapes.get(known.program.output, ())), sets.width))


def _rows(found: Csr) -> Indices:
    """List the row of each entry."""
    return np.repeat(np.arange(found.shape[0], dtype=np.int32), np.diff(found.indptr))


@dataclass(frozen=True)
class FollowedProgram:
    """A Program in operations whose dependencies are known.

    Attributes:
        program: The Program.
        shapes: Of its symbols.
        places: Where elements are taken at positions.
    """

    program: Program
    shapes: Mapping[Atom, Shape]
    places: Mapping[Atom, npt.NDArray[np.intp]]

    @classmethod
    def from_inputs(
        cls, program: Program, shapes: Mapping[Atom, Shape], inputs: Mapping[str, Array]
    ) -> FollowedProgram:
        """Lower a Program; see `pattern_of`."""
        lowered, _ = lower(program, shapes_in(program, shapes))
        known = shapes_in(lowered, {symbol: shapes[symbol] for symbol in lowered.variables})
        places = places_of(lowered, known, inputs) if any(one.call.op.is_at_positions for one in lowered.lines) else {}
        return cls(lowered, known, places)

    def through(
        self, atom: Atom, elements: Flat, variables: Sequence[sympy.Symbol], most: int
    ) -> tuple[Indices, Indices]:
        """List the rows and columns of the entries by which some elements of a line, or of a variable, move y.

        Args:
            atom: The line or the variable.
            elements: Flat positions in it.
            variables: In the order of the columns.
            most: The most entries that there may be.

        Raises:
            OverBudgetError: There are more.
        """
        earlier = _IndexSets(self, variables, most)
        before = earlier.matrix(earlier.follow(atom))[elements]
        later = tuple(line for line in self.program.lines if line.symbol != atom)
        rest = replace(self, program=replace(self.program, lines=later))
        following = _IndexSets(rest, [atom], most)
        after = following.matrix(following.follow(self.program.output))[:, elements]
        found = after @ before
        return _rows(found), found.indices


class _IndexSets:
    """Index sets of all lines, each until no further line needs it: layers, or sparse matrices where these are many."""

    def __init__(
        self,
        followed: FollowedProgram,
        variables: Sequence[Atom],
        most: int,
    ) -> None:
        self.program, self.shapes, self.most = followed.program, followed.shapes, most
        shapes = self.shapes
        sizes = [math.prod(shapes[symbol]) for symbol in variables]
        self.width = sum(sizes)
        self.offsets = dict(zip(variables, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        # A step may list the elements of a line, however few of them the pattern has.
        largest = max(map(math.prod, shapes.values()), default=0)
        self.dependencies = Dependencies(shapes, max(most, largest), followed.places)
        self.sets: dict[Atom, Layers | Csr] = {}

    @cached_property
    def sparse(self) -> ModuleType:
        """SciPy's matrices, which take a tenth of a second to import."""
        return import_module("scipy.sparse")

    def follow(self, output: Atom) -> Layers | Csr:
        """Follow all lines that a value needs, and return its index sets."""
        moves = moving_lines(self.program, [*self.offsets])
        lines = [line for line in needed(self.program.lines, output) if line.symbol in moves]
        last = {atom: line.symbol for line in lines for atom in line.call.operands}
        for line in lines:
            layers = self._in_layers(line)
            self.sets[line.symbol] = self._of_line(line) if layers is None else layers
            for atom in set(line.call.operands):
                if last[atom] == line.symbol and atom != output:
                    self.sets.pop(atom, None)
        found = self._layers_of(output)
        return self.sets[output] if found is None else found

    def entries(self, found: Layers | Csr) -> tuple[Indices, Indices]:
        """List the rows and columns of the entries of index sets, in order.

        Raises:
            OverBudgetError: They are too many.
        """
        if isinstance(found, Layers):
            rows, columns = found.entries()
            self._require(len(rows))
            return rows, columns
        self._require(found.nnz)
        found.sort_indices()
        return _rows(found), found.indices.astype(np.int32, copy=False)

    def matrix(self, found: Layers | Csr) -> Csr:
        """Return index sets as a sparse matrix."""
        if not isinstance(found, Layers):
            return found
        rows, columns = self.entries(found)
        ends = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=found.size)))).astype(np.int32)
        parts = np.ones(len(columns), dtype=bool), columns, ends
        return self.sparse.csr_array(parts, shape=(found.size, self.width))

    def _layers_of(self, atom: Atom) -> Layers | None:
        """Return the layers of a line or a variable, none of a constant; None of one that has a matrix."""
        if atom in self.offsets:
            return Layers.of_variable(math.prod(self.shapes[atom]), self.offsets[atom])
        found = self.sets.get(atom, Layers((), math.prod(self.shapes.get(atom, ()))))
        return found if isinstance(found, Layers) else None

    def _in_layers(self, line: Line) -> Layers | None:
        """Join the layers of the operand elements that each element of a line depends on; None if these are many."""
        call, shape = line.call, self.shapes[line.symbol]
        known = {atom: self._layers_of(atom) for atom in dict.fromkeys(call.operands)}
        if any(one is None for one in known.values()):
            return None
        layers = {atom: one for atom, one in known.items() if one is not None and one.parts}
        inside = {atom: self.shapes.get(atom, ()) for atom in layers}
        size = math.prod(shape)
        found = Layers((), size)
        if call.op.kind is Kind.MOVEMENT:
            return next((one.moved(call, inside[atom]) for atom, one in layers.items()), found)
        if call.op.kind is Kind.ELEMENTWISE and set(inside.values()) <= {shape}:
            for one in layers.values():
                found = found.joined(one)
            return found if found.is_few else None
        chunks = self.dependencies.source_chunks(line, np.arange(size))
        parts = [(layers[a], p, s) for k, p, s in chunks for a in [call.operands[k]] if a in layers]
        if call.op.kind is Kind.LIST:
            return listed(parts, size)
        for one, position, source in parts:
            own = one.taken(position, source, size)
            if own is None or not (found := found.joined(own)).is_few:
                return None
        return found

    def _of_line(self, line: Line) -> Csr:
        """Join the index sets of the operand elements that each element of a line depends on."""
        size = math.prod(self.shapes[line.symbol])
        total: Csr = None
        seen: set[Atom] = set()
        for k, position, source in self.dependencies.source_chunks(line, np.arange(size)):
            operand = line.call.operands[k]
            if operand not in self.offsets and operand not in self.sets:
                continue
            part = self._taken(operand, position, source, size)
            if operand in seen and part is self.sets.get(operand):
                continue
            seen.add(operand)
            total = part if total is None or total is part else self._joined(total, part)
        return self.sparse.csr_array((size, self.width), dtype=bool) if total is None else total

    def _joined(self, one: Csr, other: Csr) -> Csr:
        if np.array_equal(one.indptr, other.indptr) and np.array_equal(one.indices, other.indices):
            return one
        found = one + other
        self._require(found.nnz)
        return found

    def _taken(self, operand: Atom, position: Flat, source: Flat, size: int) -> Csr:
        """Return the index sets of operand elements, put where they are used."""
        if operand in self.offsets:
            return self._selection(position, source, size, operand)
        known = self.sets[operand]
        if isinstance(known, Layers) and len(position) * len(known.parts) <= MOST_LISTED:
            return self._listed(known, position, source, size)
        known = self.sets[operand] = self.matrix(known)
        if len(source) == size == known.shape[0] and _is_range(source) and _is_range(position):
            return known
        entries = int(np.diff(known.indptr)[source].sum())
        self._require(entries // MOST_JOINED)
        chosen = self._selection(position, source, size, None, known.shape[0])
        found = chosen @ known
        self._require(found.nnz)
        return found

    def _listed(self, known: Layers, position: Flat, source: Flat, size: int) -> Csr:
        """Return the index sets of elements in layers, put where they are used, from a list of all their entries."""
        inputs = [layer.take(source) for layer in known.parts]
        rows = [position.astype(np.int32)] * len(inputs)
        for k, own in enumerate(inputs):
            if not own.all():
                held = np.flatnonzero(own)
                rows[k], inputs[k] = rows[k][held], own[held]
        at = np.concatenate(rows), np.concatenate(inputs) - np.int32(1)
        entries = np.ones(len(at[0]), dtype=bool), at
        found = self.sparse.coo_array(entries, shape=(size, self.width)).tocsr()  # which joins those of one place
        self._require(found.nnz)
        return found

    def _selection(self, position: Flat, source: Flat, size: int, variable: Atom | None, width: int = 0) -> Csr:
        """Return the matrix with a row of a unit matrix in each position; of a variable, at its columns."""
        if len(position) and (np.diff(position) < 0).any():
            order = order_of(position)
            position, source = position[order], source[order]
        ends = np.concatenate(([0], np.cumsum(np.bincount(position, minlength=size))))
        columns = source if variable is None else source + self.offsets[variable]
        kind = np.int32 if len(source) < 2**31 else np.int64
        shape = size, self.width if variable is not None else width
        parts = np.ones(len(source), dtype=bool), columns.astype(kind), ends.astype(kind)
        found = self.sparse.csr_array(parts, shape=shape)
        if variable is not None and len(source) > size:
            found.sum_duplicates()  # an element may be taken several times
        return found

    def _require(self, count: int) -> None:
        if count > self.most:
            raise OverBudgetError


def _is_range(numbers: Flat) -> bool:
    return bool(len(numbers) == 0 or (numbers[0] == 0 and (np.diff(numbers) == 1).all()))

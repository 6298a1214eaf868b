"""A Program of arrays as one of numbers: each element a line of its own, so that boxes of any variables are possible.

The value of a variable that does not move is a number, and movements, sums and products of matrices are written out.
What has no elements of this kind, such as an inverse, is refused; a line through many numbers is bounded by
`array_jets`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.arrays import Array
from gradcli.errors import Span
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program import numeric
from gradcli.language.program.expansion import expand, without_detach
from gradcli.language.program.movement import axes_of, axis_of, fill_of, sources
from gradcli.language.program.passes import for_enclosures
from gradcli.language.program.shapes import axis_of_scan, count_of, infer
from gradcli.language.program.wengert import Atom, Builder, Call, Line, Program, needed
from gradcli.parts.everywhere.wholes import whole_of
from gradcli.reference.bounds import NoRuleError

MOST_LINES = 20_000
"""Most lines of a Program of numbers."""

TOO_MANY = f"it has more than {MOST_LINES:,} operations on numbers"
"""Reason for which there is no Program of numbers."""

SEVERAL = "in any order"
"""Static of a sum of more than two numbers, which torch adds up in some order."""

Atoms = npt.NDArray[np.object_]
"""The elements of an array: symbols and numbers."""

MOST_ROWS = 4
"""Most rows of a determinant, which is a sum of as many products as its rows have orders."""


@dataclass(frozen=True)
class ScalarProgram:
    """A Program of numbers.

    Attributes:
        lines: Its lines, elementwise operations on numbers.
        outputs: The elements of y, of its shape.
        variables: The elements of the variables that move, by name, each of the shape of its variable.
        constants: The numbers that symbols of other variables stand for.
    """

    lines: Sequence[Line]
    outputs: Atoms
    variables: Mapping[str, Atoms]
    constants: Mapping[Atom, float]

    @property
    def moving(self) -> tuple[sympy.Symbol, ...]:
        """The symbols that move, in order."""
        return tuple(symbol for atoms in self.variables.values() for symbol in atoms.ravel())


def prepared(program: Program) -> Program:
    """Return the function in operations that have a rule: primitives, and those that have one as wholes.

    A value that is held constant is one of the function all the same.
    """
    whole, _ = without_detach(program)
    meant = for_enclosures(whole)
    if meant is not expand(whole) and [str(line.call) for line in meant.lines] != _texts(expand(whole)):
        return meant  # torch has values where the meanings have none
    return expand(whole, lambda call: call.op.is_primitive or whole_of(call) is not None or is_length(call))


def is_length(call: Call) -> bool:
    """Tell whether it is the Euclidean norm, which is made of distances, so that it has slopes at 0."""
    return call.op.name == "norm" and call.statics[0] == 2


def _texts(program: Program) -> list[str]:
    return [str(line.call) for line in program.lines]


def in_numbers(program: Program, inputs: Mapping[str, Array], moving: Sequence[str]) -> ScalarProgram:
    """Write a function as a Program of numbers.

    Args:
        program: The function.
        inputs: The value of each variable; of those that move, any of its shape.
        moving: The names of those that move.

    Raises:
        NoRuleError: It has an operation that is not one of numbers, or too many elements.
    """
    return _Writer(prepared(program), inputs, moving).found()


def recorded_in_numbers(
    program: Program, inputs: Mapping[str, Array], moving: Sequence[str]
) -> tuple[ScalarProgram, Mapping[Atom, Atoms]]:
    """Write a recorded Program as one of numbers, each line as it is; give also the elements of all its values.

    Raises:
        NoRuleError: It has an operation that is not one of numbers, or too many elements.
    """
    writer = _Writer(program, inputs, moving, is_recorded=True)
    found = writer.found()
    lines = tuple(writer.builder.lines)
    return ScalarProgram(lines, found.outputs, found.variables, found.constants), writer.atoms


class _Writer:
    """Writer of the lines of all elements."""

    def __init__(
        self, program: Program, inputs: Mapping[str, Array], moving: Sequence[str], *, is_recorded: bool = False
    ) -> None:
        self.program, self.is_recorded = program, is_recorded
        self.shapes = infer(program, {s: inputs[str(s)].shape for s in program.variables})
        if max((math.prod(shape) for shape in self.shapes.values()), default=0) > MOST_LINES:
            raise NoRuleError(TOO_MANY)
        self.builder = Builder(program.text, program.source)
        self.constants: dict[Atom, float] = {}
        self.atoms: dict[Atom, Atoms] = {}
        self.span = Span(0, 0)
        self.variables = {name: _symbols(name, inputs[name].shape) for name in moving}
        for symbol in program.variables:
            name = str(symbol)
            if name in self.variables:
                self.atoms[symbol] = self.variables[name]
            else:
                self.atoms[symbol] = self._numbers(np.asarray(inputs[name], float))

    def found(self) -> ScalarProgram:
        """Write all lines, and keep those that y needs."""
        for line in self.program.lines:
            self.span = line.span
            self.atoms[line.symbol] = self._line(line)
            if len(self.builder.lines) > MOST_LINES:
                raise NoRuleError(TOO_MANY)
        outputs = self._of(self.program.output)
        lines = needed(self.builder.lines, *outputs.ravel())
        return ScalarProgram(lines, outputs, self.variables, self.constants)

    def _numbers(self, array: Array) -> Atoms:
        """Make symbols of numbers: a float is no constant of an expression, whose arithmetic would be exact."""
        found = _symbols("c", array.shape)
        self.constants.update(zip(found.ravel(), array.ravel().tolist(), strict=True))
        return found

    def _of(self, atom: Atom) -> Atoms:
        if atom in self.atoms:
            return self.atoms[atom]
        return _array([atom], ())

    def _emit(self, op: str, *operands: Atom, statics: tuple[Hashable, ...] = ()) -> Atom:
        if not self.is_recorded:
            op, operands = self._as_whole(op, operands)
        return self.builder.emit(op, operands, self.span, statics)

    def _as_whole(self, op: str, operands: tuple[Atom, ...]) -> tuple[str, tuple[Atom, ...]]:
        """Name the operation that a typed form is: sqrt(a**2 + b**2), log(1 + exp(a)), 1/(1 + exp(-a)), a/(...)."""
        match op:
            case "sqrt" if len(terms := self._terms(operands[0])) > 1:
                squares = [one for one in map(self._square_root, terms) if one is not None]
                if len(squares) == len(terms):
                    *before, last = squares
                    return "hypot", (reduce(lambda a, b: self._emit("hypot", a, b), before), last)
            case "log" if (parts := self._parts("add", operands[0])) is not None:
                logs = [sympy.S.Zero if one == 1 else self._inside("exp", one) for one in parts]
                if None not in logs:
                    known = [one for one in logs if one is not None and one != 0]
                    return ("softplus", tuple(known)) if len(known) == 1 else ("logaddexp", tuple(known))
            case "div" if (parts := self._parts("add", operands[1])) is not None and 1 in parts:
                power = self._inside("exp", next((one for one in parts if one != 1), sympy.S.One))
                inner = None if power is None else self._inside("neg", power)
                if inner is not None and operands[0] in (1, inner):
                    return ("sigmoid" if operands[0] == 1 else "silu"), (inner,)
        return op, operands

    def _terms(self, atom: Atom) -> list[Atom]:
        """List what a sum adds up one by one."""
        others = []
        while (parts := self._parts("add", atom)) is not None:
            atom, other = parts
            others.append(other)
        return [atom, *others[::-1]]

    def _parts(self, op: str, atom: Atom) -> tuple[Atom, ...] | None:
        line = self.builder.line_of(atom)
        return line.call.operands if line is not None and line.call.op.name == op else None

    def _inside(self, op: str, atom: Atom) -> Atom | None:
        found = self._parts(op, atom)
        return found[0] if found is not None else None

    def _square_root(self, atom: Atom) -> Atom | None:
        """Return the number that a square is of."""
        power, product = self._parts("pow", atom), self._parts("mul", atom)
        if power is not None and power[1] == 2:
            return power[0]
        return product[0] if product is not None and product[0] == product[1] else None

    def _line(self, line: Line) -> Atoms:
        call, shape = line.call, self.shapes[line.symbol]
        inside = [self._of(a) for a in call.operands]
        match call.op.kind:
            case Kind.SOURCE:
                return self._numbers(numeric.array_of(call))
            case Kind.COUNT:
                return _array([sympy.Integer(count_of(inside[0].shape, call.statics[0]))], ())
            case Kind.LIST:
                axis = axis_of(shape, call.statics[0])
                return (np.stack if call.op.adds_dimension else np.concatenate)(inside, axis)
            case Kind.MOVEMENT:
                return self._moved(call, inside[0])
            case Kind.REDUCTION:
                return self._reduced(call, inside[0], shape)
            case Kind.SCAN:
                return self._scanned(call, inside[0])
            case Kind.CONTRACTION:
                return self._multiplied(*inside, shape=shape)
            case Kind.ELEMENTWISE:
                return self._elementwise(call, inside, shape)
        if not self.is_recorded and whole_of(call) is not None:
            return self._elementwise(call, inside, shape)
        if not self.is_recorded and is_length(call):
            return self._lengths(inside[0], call.statics[1], shape)
        if not self.is_recorded and call.op.name == "det" and inside[0].shape[-1] <= MOST_ROWS:
            matrices = inside[0].reshape(-1, *inside[0].shape[-2:])
            return _array([self._determinant(one, tuple(range(len(one)))) for one in matrices], shape)
        raise NoRuleError(f"{call.op.name} has no bounds on a box")

    def _elementwise(self, call: Call, inside: Sequence[Atoms], shape: tuple[int, ...]) -> Atoms:
        wide = [np.broadcast_to(a, shape).ravel() for a in inside]
        flat = [self._emit(call.op.name, *operands, statics=call.statics) for operands in zip(*wide, strict=True)]
        return _array(flat, shape)

    def _moved(self, call: Call, a: Atoms) -> Atoms:
        fill = sympy.Float(fill_of(call), precision=53) if fill_of(call) else sympy.S.Zero
        places, flat = sources(call, a.shape), a.ravel()
        return _array([fill if n < 0 else flat[n] for n in places.ravel().tolist()], places.shape)

    def _folded(self, fold: Monoid, parts: Sequence[Atom]) -> Atom:
        empty = {Monoid.SUM: sympy.S.Zero, Monoid.PRODUCT: sympy.S.One}
        if not parts:
            return empty[fold]
        if self.is_recorded and len(parts) > 2:
            if fold is Monoid.PRODUCT:
                raise NoRuleError("how torch multiplies more than two numbers is not bounded in a box")
            if fold is Monoid.SUM:  # in any order
                return self.builder.emit("add", tuple(parts), self.span, (SEVERAL,))
        return reduce(lambda a, b: self._emit(FOLDS[fold], a, b), parts)

    def _reduced(self, call: Call, a: Atoms, shape: tuple[int, ...]) -> Atoms:
        rows = _rows(a, axes_of(a.shape, call.statics[0]))
        return _array([self._folded(call.op.folds_by, row.tolist()) for row in rows], shape)

    def _lengths(self, a: Atoms, dim: object, shape: tuple[int, ...]) -> Atoms:
        rows = _rows(a, axes_of(a.shape, dim))
        flat = [
            self._emit("abs", row[0]) if len(row) == 1 else reduce(lambda p, q: self._emit("hypot", p, q), row, *ends)
            for row, ends in ((row, () if len(row) else (sympy.S.Zero,)) for row in rows)
        ]
        return _array(flat, shape)

    def _determinant(self, matrix: Atoms, columns: tuple[int, ...]) -> Atom:
        """Expand the determinant of the last rows and of some columns by the first of these rows."""
        terms = list[Atom]()
        for n, column in enumerate(columns):
            entry, others = matrix[len(matrix) - len(columns), column], columns[:n] + columns[n + 1 :]
            term = self._emit("mul", entry, self._determinant(matrix, others)) if others else entry
            terms.append(self._emit("neg", term) if n % 2 else term)
        return self._folded(Monoid.SUM, terms) if terms else sympy.S.One

    def _scanned(self, call: Call, a: Atoms) -> Atoms:
        axis = axis_of_scan(call, a.shape)
        if axis is None:
            return a
        moved = np.moveaxis(a, axis, 0)
        rows = [*moved.reshape(len(moved), -1)]
        for n in range(1, len(rows)):
            pairs = zip(rows[n - 1], rows[n], strict=True)
            rows[n] = _array([self._emit(FOLDS[call.op.folds_by], x, y) for x, y in pairs], rows[n].shape)
        return np.moveaxis(np.stack(rows).reshape(moved.shape), 0, axis) if rows else a

    def _multiplied(self, a: Atoms, b: Atoms, *, shape: tuple[int, ...]) -> Atoms:
        left = a[None] if a.ndim == 1 else a
        right = b[:, None] if b.ndim == 1 else b
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        left = np.broadcast_to(left, (*batch, *left.shape[-2:])).reshape(-1, *left.shape[-2:])
        right = np.broadcast_to(right, (*batch, *right.shape[-2:])).reshape(-1, *right.shape[-2:])
        flat = [
            self._folded(Monoid.SUM, [self._emit("mul", x, y) for x, y in zip(row, column, strict=True)])
            for one, other in zip(left, right, strict=True)
            for row in one
            for column in other.T
        ]
        return _array(flat, shape)


FOLDS = {Monoid.SUM: "add", Monoid.PRODUCT: "mul", Monoid.LARGEST: "maximum", Monoid.SMALLEST: "minimum"}
"""Operations of two numbers that reductions fold by."""


def _rows(a: Atoms, axes: tuple[int, ...]) -> Atoms:
    """Arrange the elements along some axes as rows."""
    rest = [d for d in range(a.ndim) if d not in axes]
    return np.transpose(a, (*rest, *axes)).reshape(math.prod(a.shape[d] for d in rest), -1)


def _symbols(name: str, shape: tuple[int, ...]) -> Atoms:
    return _array([sympy.Dummy(name, real=True) for _ in range(math.prod(shape))], shape)


def _array(flat: Sequence[Atom], shape: tuple[int, ...]) -> Atoms:
    found = np.empty(len(flat), object)
    found[:] = flat
    return found.reshape(shape)

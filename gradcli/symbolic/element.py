"""One element of a line as a scalar SymPy expression with symbolic indices.

`entry(y, (i,))` of `softmax` is exp(x[i])/Sum(exp(x[k]), (k, 0, n - 1)): variables are `IndexedBase`, sums have bound
indices that are fresh Dummies (SymPy's `diff` silently loses a factor when a sum's index meets the index of
differentiation), and sizes above `LARGE` are symbols, so the cost does not depend on the length and the expression
holds for every length.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

import sympy
from sympy import Expr, Integer, KroneckerDelta

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.ops.structure import MEASURED
from gradcli.language.program.movement import axes_of, axis_of, fill_of
from gradcli.language.program.numeric import array_of
from gradcli.language.program.positions import IndexedBlock, block_of
from gradcli.language.program.shapes import axis_of_scan, bounds
from gradcli.language.program.sympy_functions import (
    InverseElement,
    Largest,
    MatrixDeterminant,
    Multiplied,
    RunningProduct,
    Smallest,
    Total,
    maximum,
    meaning,
    minimum,
)
from gradcli.language.program.wengert import MAX_BITS, Atom, Call, Line, Program, Shape, broadcast
from gradcli.progress import may_end
from gradcli.symbolic.linear import assemble, linear
from gradcli.symbolic.origins import LARGE, NoFormulaError, SymbolicIndex, aligned, sources_of

FORMULA_NODES = 1_500
"""Nodes of an expression that a person would still read; a longer one is not built."""

EXACT_BITS = 1_000
"""Precision of decimals, so that SymPy's arithmetic on them does not round where float64's would."""

_SLACK = 30
"""Bits of decimals that some operations of SymPy may round."""

LARGEST_ARGUMENT = 100_000
"""Decimals above this are not put into a function when a formula is built."""

LARGEST_EXPONENT = 1_000
"""Whole exponents above this stand in formulas on variables only."""

_FOLDS = {Monoid.PRODUCT: operator.mul, Monoid.LARGEST: maximum, Monoid.SMALLEST: minimum}
_AGGREGATES = {Monoid.PRODUCT: Multiplied, Monoid.LARGEST: Largest, Monoid.SMALLEST: Smallest}
_RUNNING = _AGGREGATES | {Monoid.PRODUCT: RunningProduct}
"""Extremes, each of two elements, of all along an index, and of those up to one."""

FORMULA_DEPTH = 120
"""Operations inside one another; SymPy recurses over them and fails at about 300."""


@dataclass
class Sizes:
    """Sizes as SymPy expressions: small ones as integers, each large one as a symbol of its own."""

    symbols: dict[int, sympy.Symbol] = field(default_factory=dict)

    def __call__(self, size: int) -> Expr:
        """Return the expression of a size."""
        if size <= LARGE:
            return Integer(size)
        return self.symbols.setdefault(size, _large_size(len(self.symbols), size))


@functools.lru_cache(maxsize=64)
def _large_size(number: int, size: int) -> sympy.Symbol:
    """Make the symbol of a large size, by its number among those of a Program; shared as `_index` is."""
    return sympy.Dummy(f"n{number}", dummy_index=size, integer=True, positive=True)


@functools.lru_cache(maxsize=512)
def _index(name: str, number: int, size: int) -> sympy.Symbol:
    """Make the index of this number among those of a Program, once, as SymPy works out the facts of each symbol.

    All Programs share it, and one of another size is another; their order is that of the numbers.
    """
    return sympy.Dummy(name, dummy_index=number * 2**64 + size, integer=True, nonnegative=True)


class Entries:
    """Elements of the lines of one Program of primitives with its shapes."""

    def __init__(self, program: Program, shapes: Mapping[Atom, Shape]) -> None:
        self.program, self.shapes = program, shapes
        self.sizes = Sizes()
        self.lines: Mapping[Atom, Line] = {line.symbol: line for line in program.lines}
        self.ranges: dict[sympy.Symbol, Expr] = {}
        self.too_long = _too_long(program, shapes)

    def copy(self) -> Entries:
        """Copy the entries, so that indices and sizes can be added."""
        found = copy(self)
        found.sizes, found.ranges = Sizes(dict(self.sizes.symbols)), dict(self.ranges)
        return found

    def index(self, name: str, size: int) -> sympy.Symbol:
        """Make a fresh index that runs from 0 to size - 1."""
        symbol = _index(name, len(self.ranges), size)
        self.ranges[symbol] = self.sizes(size)
        return symbol

    def indices(self, name: str, shape: Shape) -> tuple[sympy.Symbol, ...]:
        """Make a fresh index for each dimension of a shape."""
        return tuple(self.index(name, size) for size in shape)

    def entry(self, atom: Atom, index: SymbolicIndex) -> Expr:
        """Return the element of a variable, a line or a number at this index.

        Raises:
            NoFormulaError: longer than `FORMULA_NODES`, deeper than `FORMULA_DEPTH`, or without index notation.
        """
        if atom in self.too_long:
            raise NoFormulaError(
                f"it would have more than {FORMULA_NODES:,} terms and factors, or {FORMULA_DEPTH} levels"
            )
        may_end()
        line = self.lines.get(atom)
        if line is not None:
            return self._line(line, index)
        if isinstance(atom, sympy.Float):
            return _exact(atom)
        if not isinstance(atom, sympy.Symbol):
            return atom
        return sympy.IndexedBase(str(atom), real=True)[index] if index else atom

    def _line(self, line: Line, index: SymbolicIndex) -> Expr:
        call = line.call
        shapes = [self.shapes.get(a, ()) for a in call.operands]
        match call.op.kind:
            case Kind.ELEMENTWISE:
                shape = self.shapes[line.symbol]
                inside = (index[: len(s)] if s in ((), shape) else aligned(index, shape, s) for s in shapes)
                parts = list(map(self.entry, call.operands, inside))
                _require_moderate(call.op, parts)
                try:
                    return meaning(call, tuple(map(_turns, parts)))
                except ValueError as error:  # mpmath, of a constant that SymPy works out: erfinv(2)
                    raise NoFormulaError(f"a constant in it has no real value: {error}") from None
            case Kind.REDUCTION:
                return self._reduced(call, shapes[0], index)
            case Kind.SCAN:
                return self._scanned(call, shapes[0], index)
            case Kind.CONTRACTION:
                return self._product(call.operands, shapes, index)
            case Kind.LIST if call.op.adds_dimension:
                return self._stacked(call, shapes, index)
            case Kind.LIST:
                return self._joined(call, shapes, index)
            case Kind.MOVEMENT:
                return self._moved(line, shapes[0], index)
            case Kind.GATHER:
                return self._taken(call, block_of(call, *shapes), index)
            case Kind.SCATTER:
                return self._added_up(call, block_of(call, *shapes), index)
            case Kind.MATRIX:
                return self._matrix(call, shapes[0], index)
            case Kind.COUNT:
                axes = axes_of(shapes[0], call.statics[0])
                return sympy.Mul(*(self.sizes(shapes[0][axis]) for axis in axes))
            case Kind.SOURCE if call.op.name == MEASURED:
                raise NoFormulaError(f"{call.statics[1].called} cannot be read: its slopes are measured")
            case Kind.SOURCE:
                return self._constant(call, index)
            case _:
                raise NoFormulaError(f"{call.op.name} has no formula for one element")

    def _reduced(self, call: Call, shape: Shape, index: SymbolicIndex) -> Expr:
        dim, keepdim = call.statics
        axes = axes_of(shape, dim)
        rest = iter(i for d, i in enumerate(index) if not (keepdim and d in axes))
        bound = {axis: self.index("k", shape[axis]) for axis in axes}
        body = self.entry(call.operands[0], tuple(bound[d] if d in bound else next(rest) for d in range(len(shape))))
        if call.op.is_linear:
            return functools.reduce(self.total, bound.values(), body)
        if written := self._written_out(body, list(bound.values())):
            return functools.reduce(_FOLDS[call.op.folds_by], written)
        limits = tuple((k, 0, self.ranges[k] - 1) for k in bound.values())
        return _AGGREGATES[call.op.folds_by](body, limits) if limits else body

    def _written_out(self, body: Expr, bound: Sequence[sympy.Symbol]) -> list[Expr]:
        """List the elements one by one where an index chooses among the parts of a list; empty where none does."""
        sizes = [self.ranges[k] for k in bound]
        chooses = any(set(bound) & p.free_symbols for p in body.atoms(sympy.Eq))
        if not (chooses and all(size.is_Integer for size in sizes) and math.prod(map(int, sizes)) <= LARGE):
            return []
        points = itertools.product(*(range(int(size)) for size in sizes))
        return [body.xreplace({k: Integer(n) for k, n in zip(bound, at, strict=True)}) for at in points]

    def _scanned(self, call: Call, shape: Shape, index: SymbolicIndex) -> Expr:
        """Write a running fold as the fold up to the index itself."""
        axis = axis_of_scan(call, shape)
        if axis is None:
            return self.entry(call.operands[0], index)
        k = self.index("k", shape[axis])
        body = self.entry(call.operands[0], (*index[:axis], k, *index[axis + 1 :]))
        written = (
            [body.xreplace({k: Integer(n)}) for n in range(int(index[axis]) + 1)] if index[axis].is_Integer else []
        )
        if call.op.is_linear:
            return sympy.Add(*written) if written else Total(body, (k, 0, index[axis]))
        if 0 < len(written) <= LARGE:
            return functools.reduce(_FOLDS[call.op.folds_by], written)
        return _RUNNING[call.op.folds_by](body, ((k, 0, index[axis]),))

    def total(self, body: Expr, k: sympy.Symbol) -> Expr:
        """Sum `body` over the whole range of k; written out where k chooses among the parts of a list."""
        size = self.ranges[k]
        if k not in body.free_symbols:
            return body * size
        if size.is_Integer and (size <= 1 or any(k in p.free_symbols for p in body.atoms(sympy.Eq))):
            return sympy.Add(*(body.xreplace({k: Integer(n)}) for n in range(int(size))))
        return Total(body, (k, 0, size - 1))

    def _product(self, operands: Sequence[Atom], shapes: Sequence[Shape], index: SymbolicIndex) -> Expr:
        (a, b), (left, right) = operands, shapes
        k = self.index("k", left[-1])
        rest = list(index)
        column = [rest.pop()] if len(right) > 1 else []
        row = [rest.pop()] if len(left) > 1 else []
        batch, full = tuple(rest), broadcast([left[:-2], right[:-2]])
        first = self.entry(a, (*aligned(batch, full, left[:-2]), *row, k))
        second = self.entry(b, (*aligned(batch, full, right[:-2]), k, *column))
        return self.total(first * second, k)

    def _stacked(self, call: Call, shapes: Sequence[Shape], index: SymbolicIndex) -> Expr:
        axis = axis_of(max(shapes, key=len), call.statics[0], extra=1)
        at, rest = index[axis], (*index[:axis], *index[axis + 1 :])
        if at.is_Integer:
            return self.entry(call.operands[int(at)], rest[len(rest) - len(shapes[int(at)]) :])
        if len(shapes) > LARGE:
            raise NoFormulaError(f"a list of more than {LARGE} parts has no index notation")
        parts = [self.entry(a, rest[len(rest) - len(s) :]) for a, s in zip(call.operands, shapes, strict=True)]
        return sympy.Piecewise(*((part, sympy.Eq(at, n)) for n, part in enumerate(parts[:-1])), (parts[-1], True))

    def _joined(self, call: Call, shapes: Sequence[Shape], index: SymbolicIndex) -> Expr:
        """Join tensors one after the other: each holds the indices from the end of the one before it."""
        if len(shapes) > LARGE:
            raise NoFormulaError(f"a list of more than {LARGE} parts has no index notation")
        axis = axis_of(shapes[0], call.statics[0])
        at, start = index[axis], Integer(0)
        cases = []
        for operand, shape in zip(call.operands, shapes, strict=True):
            inside = (*index[:axis], at - start, *index[axis + 1 :])
            start = start + self.sizes(shape[axis])
            condition = sympy.Le(at, start - 1)
            if shape[axis] and condition != sympy.false:
                cases.append((self.entry(operand, inside), condition))
            if condition == sympy.true:  # what follows begins behind this place
                break
        if not cases:
            return sympy.S.Zero
        return sympy.Piecewise(*cases[:-1], (cases[-1][0], True))

    def _moved(self, line: Line, shape: Shape, index: SymbolicIndex) -> Expr:
        call, result = line.call, self.shapes[line.symbol]
        sources = sources_of(call, index, result, shape, self.sizes)
        possible = [s for s in sources if s.condition != sympy.false]  # elsewhere there is no such element
        cases = [(s.weight * self.entry(call.operands[0], s.index), s.condition) for s in possible]
        if cases and cases[0][1] == sympy.true:
            return cases[0][0]
        fill = fill_of(call)
        rest = sympy.Integer(int(fill)) if fill.is_integer() else sympy.Float(fill, precision=53)
        return sympy.Piecewise(*cases, (rest, True))

    def _taken(self, call: Call, block: IndexedBlock, index: SymbolicIndex) -> Expr:
        """Return the element at the positions that the index names."""
        first, last = len(block.before), len(block.before) + len(block.batch)
        places = self._places(call, block, index[first:last])
        return self.entry(call.operands[0], (*index[:first], *places, *index[last:]))

    def _added_up(self, call: Call, block: IndexedBlock, index: SymbolicIndex) -> Expr:
        """Add up the elements whose positions are the index."""
        first, last = len(block.before), len(block.before) + len(block.sizes)
        bound = self.indices("k", block.batch)
        places = self._places(call, block, bound)
        element = self.entry(call.operands[0], (*index[:first], *bound, *index[last:]))
        body = element * sympy.Mul(*(KroneckerDelta(i, at) for i, at in zip(index[first:last], places, strict=True)))
        return assemble(linear(functools.reduce(self.total, bound, body), self.ranges))

    def _places(self, call: Call, block: IndexedBlock, index: SymbolicIndex) -> SymbolicIndex:
        """Return the position in each dimension; variables of positions are known to be within the dimensions."""
        axes = range(len(block.sizes)) if len(block.sizes) > 1 else [None]
        found = [self.entry(call.operands[1], index if axis is None else (Integer(axis), *index)) for axis in axes]
        for place, size in zip(found, block.sizes, strict=True):
            if isinstance(place, sympy.Indexed):
                self.ranges.setdefault(place.base.label, self.sizes(size))
        return tuple(found)

    def _matrix(self, call: Call, shape: Shape, index: SymbolicIndex) -> Expr:
        p, q = self.index("k", shape[-1]), self.index("l", shape[-1])
        limits = tuple((k, 0, self.ranges[k] - 1) for k in (p, q))
        if not call.op.keeps_shape:
            return MatrixDeterminant(self.entry(call.operands[0], (*index, p, q)), limits)
        return InverseElement(self.entry(call.operands[0], (*index[:-2], p, q)), limits, index[-2:])

    def _constant(self, call: Call, index: SymbolicIndex) -> Expr:
        """Return an element of a constant tensor: in closed form where it has one, else by the tensor's name."""
        statics = call.statics
        match call.op.name:
            case "zeros":
                return sympy.S.Zero
            case "ones":
                return sympy.S.One
            case "full":
                return _exact(statics[1])
            case "eye":
                return KroneckerDelta(*index)
            case "arange" if all(isinstance(a, int) for a in bounds(call)):
                start, _, step = bounds(call)
                return start + step * index[0]
            case "drawn" if all(i.is_Integer for i in index):
                return _exact(float(array_of(call)[tuple(map(int, index))]))
        symbol = constant_symbol(call)
        return sympy.IndexedBase(symbol, real=True)[index] if index else symbol


def _bits(number: sympy.Rational) -> int:
    return max(abs(int(number.p)), int(number.q)).bit_length()


def has_long_number(expression: Expr) -> bool:
    """Tell whether an exact number of an expression is longer than float64 reaches."""
    return any(_bits(number) > MAX_BITS for number in expression.atoms(sympy.Rational))


def _turns(part: Expr) -> Expr:
    """Put the factors of a multiple of π by cases into the cases: SymPy takes a 6th of what is 4 or 8 for whole."""
    is_multiple = part.is_Mul and sympy.pi in part.args and part.has(sympy.Piecewise)
    return sympy.piecewise_fold(part) if is_multiple and (part / sympy.pi).is_integer else part


def _require_moderate(op: Op, parts: Sequence[Expr]) -> None:
    """Refuse a function of huge numbers: SymPy would evaluate it to its last digit, and mpmath recurse or overflow.

    A power of anything but a variable is one: SymPy writes (2*x)**n as 2**n*x**n.
    """
    if op.coefficients or op.monoid or op.is_branch or op.name == "div":
        return
    # Of a polygamma of a whole number SymPy adds up one term for each whole step.
    kinds = sympy.Number if op.name == "polygamma" else sympy.Float
    is_huge = all(p.is_number for p in parts) and any(isinstance(p, kinds) and abs(p) > LARGEST_ARGUMENT for p in parts)
    if op.name == "pow":
        base, exponent = parts
        is_of_variable = exponent.is_Integer and isinstance(base, sympy.Symbol | sympy.Indexed)
        listed = {n for choice in exponent.atoms(sympy.Piecewise) for n in choice.atoms(sympy.Integer)}
        wholes = {exponent} if exponent.is_Integer else listed  # one of a list becomes the exponent as it is picked
        is_huge |= not is_of_variable and any(abs(n) > LARGEST_EXPONENT for n in wholes)
        is_huge |= exponent.is_Integer and base.is_Rational and _bits(base) * abs(int(exponent)) > MAX_BITS
    if is_huge:
        raise NoFormulaError("it has a constant that is too long to write")


def constant_symbol(call: Call) -> sympy.Symbol:
    """Name a constant tensor in formulas: by the call itself, or its numbers."""
    if call.op.name == "drawn":
        return sympy.Symbol(str(call.statics[1]), real=True)
    return sympy.Symbol(f"{call.op.name}({', '.join(str(a) for a in call.statics if a is not None)})", real=True)


def _exact(number: object) -> Expr:
    """Write a number so that SymPy computes with it exactly, or with more digits than float64 has."""
    if isinstance(number, int):
        return Integer(number)
    exact = sympy.Float(number, precision=EXACT_BITS)
    return Integer(int(exact)) if exact.is_Float and _is_whole(exact) else exact


def with_tidy_decimals(expression: Expr) -> Expr:
    """Write decimals that are whole as integers, and leave out what rounding alone leaves of those that cancel.

    >>> x = sympy.Symbol("x")
    >>> with_tidy_decimals(sympy.Float(3, precision=EXACT_BITS) / 3 * x), with_tidy_decimals(
    ...     x + sympy.Float(2.5, precision=EXACT_BITS) / 3 - sympy.Rational(5, 6)
    ... )
    (x, x)
    """
    decimals = expression.atoms(sympy.Float)
    tidy = {
        f: sympy.S.Zero if _is_remainder(f) else Integer(int(f)) for f in decimals if _is_remainder(f) or _is_whole(f)
    }
    return expression.xreplace(tidy)


def _is_whole(number: sympy.Float) -> bool:
    """Tell whether a decimal is a whole number of ordinary size, exactly."""
    return bool(number._mpf_[2] >= 0 and abs(number) <= LARGEST_EXPONENT)


def _is_remainder(number: sympy.Float) -> bool:
    """Tell whether a decimal is some last places of a number near 1: tiny, and of few bits, as no typed one is."""
    _, mantissa, exponent, length = number._mpf_
    return bool(mantissa) and length <= _SLACK and exponent + length < _SLACK - EXACT_BITS


def _too_long(program: Program, shapes: Mapping[Atom, Shape]) -> set[Atom]:
    """List the lines whose expression would be too long or too deep, counted before any is built.

    A line that is used twice is written twice, so the length can double with every line; and a sum over the parts of
    a list is written out.
    """
    known: dict[Atom, tuple[int, int]] = {}
    has_list = any(line.call.op.adds_dimension for line in program.lines)
    for line in program.lines:
        call, written = line.call, 1
        if has_list and call.op.kind in (Kind.REDUCTION, Kind.CONTRACTION):
            written = max((size for a in call.operands for size in shapes.get(a, ()) if size <= LARGE), default=1)
        inside = [known.get(operand, (1, 0)) for operand in call.operands]
        length = min(1 + written * sum(one for one, _ in inside), FORMULA_NODES + 1)
        known[line.symbol] = length, 1 + max((depth for _, depth in inside), default=0)
    return {symbol for symbol, (length, depth) in known.items() if length > FORMULA_NODES or depth > FORMULA_DEPTH}

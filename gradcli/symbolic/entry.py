"""One element of a line as a scalar SymPy expression with symbolic indices.

`entry(y, (i,))` of `softmax` is exp(x[i])/Sum(exp(x[k]), (k, 0, n - 1)): variables are `IndexedBase`, sums have bound
indices that are fresh Dummies (SymPy's `diff` silently loses a factor when a sum's index meets the index of
differentiation), and sizes above `LARGE` are symbols, so the cost does not depend on the length and the expression
holds for every length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy import Expr, Integer

from gradcli.language.meaning import meaning
from gradcli.language.ops import Kind
from gradcli.language.program import Atom, Line, Program
from gradcli.language.shapes import Shape, indexed_axes, permutation, reduced_axes
from gradcli.symbolic.total import Total

LARGE = 16
"""Sizes above this are symbols; constant indices up to it are known to be inside them."""

NEAR_END = 64
"""Positions from the end that are counted from there, so that they mean the same at another size."""

MAX_NODES = 1_500
"""Nodes of an expression that a person would still read; a longer one is not built."""

EXACT_BITS = 1_000
"""Precision of decimals, so that SymPy's arithmetic on them does not round where float64's would."""

MAX_DEPTH = 120
"""Operations inside one another; SymPy recurses over them and fails at about 300."""

Index = tuple[Expr, ...]


class NoFormulaError(Exception):
    """There is no closed form that is worth showing, and why."""


@dataclass
class Sizes:
    """Sizes as SymPy expressions: small ones as integers, each large one as a symbol of its own."""

    symbols: dict[int, sympy.Symbol] = field(default_factory=dict)

    def __call__(self, size: int) -> Expr:
        """The expression for a size."""
        if size <= LARGE:
            return Integer(size)
        return self.symbols.setdefault(size, sympy.Dummy(f"n{len(self.symbols)}", integer=True, positive=True))


class Entries:
    """Elements of the lines of one Program of primitives with its shapes."""

    def __init__(self, program: Program, shapes: Mapping[Atom, Shape]) -> None:
        self.program, self.shapes = program, shapes
        self.sizes = Sizes()
        self.lines: Mapping[Atom, Line] = {line.symbol: line for line in program.lines}
        self.ranges: dict[sympy.Symbol, Expr] = {}
        self.too_long = _too_long(program, shapes)

    def index(self, name: str, size: int) -> sympy.Symbol:
        """A fresh index that runs from 0 to size - 1."""
        symbol = sympy.Dummy(name, integer=True, nonnegative=True)
        self.ranges[symbol] = self.sizes(size)
        return symbol

    def entry(self, atom: Atom, index: Index) -> Expr:
        """The element of a variable, a line or a number at this index.

        Raises:
            NoFormulaError: it would be longer than `MAX_NODES` or deeper than `MAX_DEPTH`, or has no index notation.
        """
        if atom in self.too_long:
            raise NoFormulaError(f"it would have more than {MAX_NODES:,} terms and factors, or {MAX_DEPTH} levels")
        line = self.lines.get(atom)
        if line is not None:
            return self._line(line, index)
        if isinstance(atom, sympy.Float):
            return sympy.Float(atom, precision=EXACT_BITS)
        if not isinstance(atom, sympy.Symbol):
            return atom
        return sympy.IndexedBase(str(atom), real=True)[index] if index else atom

    def _line(self, line: Line, index: Index) -> Expr:
        call = line.call
        shapes = [self.shapes.get(a, ()) for a in call.operands]
        if call.op.kind is Kind.ELEMENTWISE:
            shape = self.shapes[line.symbol]
            parts = [self.entry(a, aligned(index, shape, s)) for a, s in zip(call.operands, shapes, strict=True)]
            return meaning(call, tuple(parts))
        match call.op.name:
            case "sum" | "mean":
                return self._reduced(call.operands[0], shapes[0], index, *call.statics, mean=call.op.name == "mean")
            case "matmul":
                return self._product(call.operands, shapes, index)
            case "stack":
                return self._stacked(call.operands, shapes, index)
            case "index":
                axes, dropped = indexed_axes(shapes[0], call.statics[0])
                source = {axis: self._position(at, shapes[0][axis]) for axis, at in dropped.items()}
                for axis, at in zip(axes, index, strict=True):
                    if axis.source >= 0:
                        start = self._position(axis.start, shapes[0][axis.source])
                        source[axis.source] = start + axis.step * at
                return self.entry(call.operands[0], tuple(source[a] for a in range(len(shapes[0]))))
            case "transpose":
                order = permutation(shapes[0], call.statics)
                return self.entry(call.operands[0], tuple(index[order.index(d)] for d in range(len(order))))
            case "reshape":
                return self.entry(call.operands[0], self._reshaped(index, self.shapes[line.symbol], shapes[0]))
            case name:
                raise NoFormulaError(f"there is no index notation for {name}")

    def _position(self, at: int, size: int) -> Expr:
        """A constant position; near the end of a large dimension it is counted from there, as `x[-1]` is."""
        is_near_end = size > LARGE and at >= LARGE and size - at <= NEAR_END
        return self.sizes(size) - (size - at) if is_near_end else Integer(at)

    def _reduced(self, operand: Atom, shape: Shape, index: Index, dim: Any, keepdim: Any, *, mean: bool) -> Expr:
        axes = reduced_axes(shape, dim)
        rest = iter(i for d, i in enumerate(index) if not (keepdim and d in axes))
        if mean and 0 in (shape[axis] for axis in axes):
            raise NoFormulaError("it takes a mean of nothing")
        bound = {axis: self.index("k", shape[axis]) for axis in axes}
        body = self.entry(operand, tuple(bound[d] if d in bound else next(rest) for d in range(len(shape))))
        for k in bound.values():
            body = self.total(body, k)
            if mean:
                body = body / self.ranges[k]
        return body

    def total(self, body: Expr, k: sympy.Symbol) -> Expr:
        """The sum of `body` over the whole range of k; written out where k chooses among the parts of a list."""
        size = self.ranges[k]
        if size.is_Integer and (size <= 1 or any(k in p.free_symbols for p in body.atoms(sympy.Eq))):
            return sympy.Add(*(body.xreplace({k: Integer(n)}) for n in range(int(size))))
        return Total(body, (k, 0, size - 1))

    def _product(self, operands: Sequence[Atom], shapes: Sequence[Shape], index: Index) -> Expr:
        (a, b), (left, right) = operands, shapes
        k = self.index("k", left[-1])
        rest = list(index)
        column = [rest.pop()] if len(right) > 1 else []
        row = [rest.pop()] if len(left) > 1 else []
        batch, full = tuple(rest), tuple(max(p) for p in _aligned_pairs(left[:-2], right[:-2]))
        first = self.entry(a, (*aligned(batch, full, left[:-2]), *row, k))
        second = self.entry(b, (*aligned(batch, full, right[:-2]), k, *column))
        return self.total(first * second, k)

    def _stacked(self, operands: Sequence[Atom], shapes: Sequence[Shape], index: Index) -> Expr:
        first, rest = index[0], index[1:]
        parts = [self.entry(a, rest[len(rest) - len(s) :]) for a, s in zip(operands, shapes, strict=True)]
        if first.is_Integer:
            return parts[int(first)]
        if len(parts) > LARGE:
            raise NoFormulaError(f"a list of more than {LARGE} parts has no index notation")
        return sympy.Piecewise(*((part, sympy.Eq(first, n)) for n, part in enumerate(parts[:-1])), (parts[-1], True))

    def _reshaped(self, index: Index, new: Shape, old: Shape) -> Index:
        """The old index of an element by its row-major position; dimensions of size 1 come and go freely."""
        kept = [i for i, size in zip(index, new, strict=True) if size != 1]
        if [size for size in new if size != 1] == [size for size in old if size != 1]:
            rest = iter(kept)
            return tuple(Integer(0) if size == 1 else next(rest) for size in old)
        position: Expr = Integer(0)
        for i, size in zip(index, new, strict=True):
            position = position * self.sizes(size) + i
        if sum(size != 1 for size in old) == 1:
            return tuple(Integer(0) if size == 1 else position for size in old)
        if position.is_Integer:
            return tuple(Integer(n) for n in _unravel(int(position), old))
        raise NoFormulaError("this change of shape has no closed form in index notation")


def _unravel(position: int, shape: Shape) -> list[int]:
    index = []
    for size in reversed(shape):
        position, at = divmod(position, size)
        index.append(at)
    return index[::-1]


def aligned(index: Index, shape: Shape, operand: Shape) -> Index:
    """The index into a broadcast operand: the last dimensions, with 0 where a size of 1 stretches."""
    start = len(shape) - len(operand)
    return tuple(
        Integer(0) if size == 1 and shape[start + d] != 1 else index[start + d] for d, size in enumerate(operand)
    )


def _aligned_pairs(a: Shape, b: Shape) -> list[tuple[int, int]]:
    width = max(len(a), len(b))
    return list(zip((1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b, strict=True))


def _too_long(program: Program, shapes: Mapping[Atom, Shape]) -> set[Atom]:
    """The lines whose expression would be too long or too deep, counted before any is built.

    A line that is used twice is written twice, so the length can double with every line; and a sum over the parts of
    a list is written out.
    """
    length: dict[Atom, int] = {}
    depth: dict[Atom, int] = {}
    has_list = any(line.call.op.name == "stack" for line in program.lines)
    for line in program.lines:
        operands = line.call.operands
        depth[line.symbol] = 1 + max((depth.get(a, 0) for a in operands), default=0)
        written = 1
        if has_list and line.call.op.kind in (Kind.REDUCTION, Kind.CONTRACTION):
            written = max((size for a in operands for size in shapes.get(a, ()) if size <= LARGE), default=1)
        length[line.symbol] = min(1 + written * sum(length.get(a, 1) for a in operands), MAX_NODES + 1)
    return {symbol for symbol in length if length[symbol] > MAX_NODES or depth[symbol] > MAX_DEPTH}

"""What derivatives of a Program need to be written as lines of one: SymPy expressions, and folds of lists in pairs.

Expressions of scalars are the derivatives of elementwise operations, to be run once more: the inverse of
`gradcli.language.program.meaning`.  What has no operation of its own is written with those that there are.

A product or an extreme folds its list in halves: 1,000 elements take ten lines.  A determinant up to `MOST_ORDER` rows
is a polynomial, whose derivatives exist for a singular matrix too.  Torch divides instead: the slope of a product by an
element is the product over the element, unless one of them is 0, and that of a determinant is by the inverse.
Source: for the Bessel function of order 2, DLMF 10.29.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import combinations

import sympy
from sympy import Expr

from gradcli.errors import Span
from gradcli.language.ops import Kind
from gradcli.language.program import meaning
from gradcli.language.program.expansion import rewritten
from gradcli.language.program.movement import Slice, axes_of
from gradcli.language.program.shapes import axis_of_scan, shape_of
from gradcli.language.program.wengert import Atom, Builder, Call, Line, Program, Shape

_NAMES: Mapping[type, str] = {head: name for name, head in meaning.MEANINGS.items() if isinstance(head, type)}
"""The operation of each function."""

_RELATIONS: Mapping[type, str] = {
    sympy.Eq: "eq",
    sympy.Ne: "ne",
    sympy.Gt: "gt",
    sympy.Ge: "ge",
    sympy.Lt: "lt",
    sympy.Le: "le",
}


class NoTangentError(Exception):
    """A derivative cannot be written as a Program; the message says why."""


def emit(builder: Builder, span: Span, name: str, *arguments: Atom | Hashable) -> Atom:
    """A line at a range of the text; what is no atom among the arguments is a constant argument."""
    operands = tuple(a for a in arguments if isinstance(a, Expr))
    return builder.emit(name, operands, span, tuple(a for a in arguments if not isinstance(a, Expr)))


@dataclass
class Writer(Builder):
    """A builder of derivatives: it knows the shapes of its lines, and writes the next ones at `at`."""

    shapes: dict[Atom, Shape] = field(default_factory=dict)
    at: Span = field(default_factory=lambda: Span(0, 0))
    _sized: int = 0

    def add(self, name: str, *arguments: Atom | Hashable) -> Atom:
        """One more line; see `emit`."""
        return emit(self, self.at, name, *arguments)

    def shape(self, atom: Atom) -> Shape:
        """The shape of a symbol, those of all new lines included."""
        for line in self.lines[self._sized :]:
            self.shapes[line.symbol] = shape_of(line.call, [self.shapes.get(a, ()) for a in line.call.operands])
        self._sized = len(self.lines)
        return self.shapes.get(atom, ())

    def stretched(self, atom: Atom, shape: Shape) -> Atom:
        """A value in a shape that it broadcasts to."""
        return atom if self.shape(atom) == shape else self.add("add", atom, self.add("zeros", shape))

    def write(self, expression: Expr, symbols: Mapping[Expr, Atom]) -> Atom:
        """What holds the value of an expression of scalars.

        Args:
            expression: Of scalars.
            symbols: What its symbols stand for.

        Raises:
            NoTangentError: it has a function that no operation computes.

        >>> x = sympy.Symbol("x", real=True)
        >>> writer = Writer("")
        >>> _ = writer.write(1 / sympy.sqrt(1 - x**2), {x: x})
        >>> [line.call.op.name for line in writer.lines]
        ['pow', 'neg', 'add', 'sqrt', 'div']
        """
        return _Expression(self.add, symbols).atom(expression)


@dataclass(frozen=True)
class _Expression:
    _emit: Callable[..., Atom]
    symbols: Mapping[Expr, Atom]

    def atom(self, expression: Expr) -> Atom:
        match expression:
            case sympy.Symbol():
                return self.symbols[expression]
            case sympy.Float():
                return sympy.Rational(*float(expression).as_integer_ratio())
            case sympy.Number() | sympy.NumberSymbol():
                return expression
            case sympy.Add():
                return self._folded("add", [self.atom(a) for a in expression.as_ordered_terms()])
            case sympy.Mul():
                return self._product(expression)
            case sympy.Pow():
                return self._power(expression)
            case sympy.Piecewise():
                return self._cases(expression)
            case meaning.polygamma():
                return self._polygamma(*expression.args)
            case sympy.besseli():
                return self._bessel(*expression.args)
        name = _NAMES.get(expression.func)
        if name is None:
            raise NoTangentError(f"no operation for {expression.func}")
        return self._emit(name, *(self.atom(a) for a in expression.args))

    def _folded(self, name: str, atoms: list[Atom]) -> Atom:
        return reduce(lambda a, b: self._emit(name, a, b), atoms)

    def _product(self, expression: Expr) -> Atom:
        """Divided once, so that 2/3 of a number is rounded once; a sign in front."""
        above, below, is_negative = [], [], False
        for factor in expression.args:
            match factor:
                case sympy.Pow() if factor.exp.is_Rational and factor.exp < 0:
                    below.append(factor.base ** (-factor.exp))
                case sympy.Rational():
                    is_negative ^= bool(factor < 0)
                    above += [sympy.Integer(abs(factor.p))] * (abs(factor.p) != 1)
                    below += [sympy.Integer(factor.q)] * (factor.q != 1)
                case _:
                    above.append(factor)
        result = self._folded("mul", [self.atom(a) for a in above or [sympy.S.One]])
        if below:
            result = self._emit("div", result, self._folded("mul", [self.atom(b) for b in below]))
        return self._emit("neg", result) if is_negative else result

    def _power(self, expression: Expr) -> Atom:
        base, exponent = expression.args
        if exponent.is_Rational and exponent < 0:
            return self._emit("div", sympy.S.One, self.atom(base**-exponent))
        if exponent == sympy.S.Half:
            return self._emit("sqrt", self.atom(base))
        return self._emit("pow", self.atom(base), self.atom(exponent))

    def _cases(self, expression: Expr) -> Atom:
        """A choice by conditions, those on constants decided."""
        cases: list[tuple[Expr, Atom | bool]] = []
        for value, condition in expression.args:
            holds = self._condition(condition)
            if holds is not False:
                cases.append((value, holds))
            if holds is True:
                break
        result = self.atom(cases[-1][0])
        for value, holds in reversed(cases[:-1]):
            result = self._emit("where", holds, self.atom(value), result)
        return result

    def _condition(self, condition: Expr) -> Atom | bool:
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if isinstance(condition, sympy.And):
            parts = [self._condition(c) for c in sorted(condition.args, key=str)]
            if False in parts:
                return False
            open_parts = [part for part in parts if part is not True]
            return reduce(lambda a, b: self._emit("where", a, b, sympy.S.Zero), open_parts) if open_parts else True
        name = _RELATIONS.get(condition.func)
        if name is None:
            raise NoTangentError(f"no operation for the condition {condition}")
        left, right = (self.atom(side) for side in condition.args)
        if left.is_Rational and right.is_Rational:
            return bool(meaning.MEANINGS[name](left, right) == 1)
        return self._emit(name, left, right)

    def _polygamma(self, order: Expr, x: Expr) -> Atom:
        if order == 0:
            return self._emit("digamma", self.atom(x))
        return self._emit("polygamma", self.atom(x), int(order))

    def _bessel(self, order: Expr, x: Expr) -> Atom:
        """I0, I1, and I2(x) = I0(x) - 2*I1(x)/x, which is 0 at 0."""
        at = self.atom(x)
        if order in (0, 1):
            return self._emit(f"i{order}", at)
        if order != 2:
            raise NoTangentError(f"no operation for the Bessel function of order {order}")
        slope = self._emit("div", self._emit("mul", sympy.Integer(2), self._emit("i1", at)), at)
        away = self._emit("sub", self._emit("i0", at), slope)
        return self._emit("where", self._emit("eq", at, sympy.S.Zero), sympy.S.Zero, away)


_ALL = Slice(None, None)

MOST_ORDER = 4
"""Rows of a determinant that is written out, in at most 4 * 2**4 products."""


def unroll(program: Program, shapes: Mapping[Atom, Shape]) -> Program:
    """The same function without products, extremes, and determinants of up to `MOST_ORDER` rows.

    Args:
        program: The function.
        shapes: Of its symbols.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("prod(x)")
    >>> [line.call.op.name for line in unroll(program, {program.variables[0]: (3,)}).lines]
    ['index', 'index', 'mul', 'index', 'cat', 'index', 'index', 'mul', 'reshape']
    """

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        call, add = line.call, partial(emit, builder, line.span)
        shape = shapes.get(call.operands[0], ()) if call.operands else ()
        op = call.op
        if op.kind is Kind.SCAN and op.is_nonlinear_fold:
            return _scanned(add, call, operands[0], shape)
        if op.is_nonlinear_fold and 0 not in shape:
            return _folded(add, call, operands[0], shape)
        if op.kind is Kind.MATRIX and not op.keeps_shape and 1 <= shape[-1] <= MOST_ORDER:
            return _determinant(add, operands[0], shape[-1])
        return builder.emit(op.name, operands, line.span, call.statics)

    return rewritten(program, write, shares=True).program


_Add = Callable[..., Atom]


def _folded(add: _Add, call: Call, value: Atom, shape: Shape) -> Atom:
    """The reduced dimensions joined into a last one, and halved until one element is left."""

    def part(start: int, stop: int) -> Atom:
        return add("index", value, ("...", Slice(start, stop)))

    axes = axes_of(shape, call.statics[0])
    kept = tuple(d for d in range(len(shape)) if d not in axes)
    order = (*kept, *axes)
    if order != tuple(range(len(shape))):
        value = add("permute", value, order)
    size = math.prod(shape[d] for d in axes)
    if len(axes) != 1:
        value = add("reshape", value, (*(shape[d] for d in kept), size))
    while size > 1:
        half = size // 2
        folded = add(call.op.folds_by.operation, part(0, half), part(half, 2 * half))
        if size % 2:
            folded = add("cat", folded, part(2 * half, size), -1)
        value, size = folded, half + size % 2
    return add("reshape", value, shape_of(call, [shape]))


def _scanned(add: _Add, call: Call, value: Atom, shape: Shape) -> Atom:
    """Running folds by doubling: with each step an element holds twice as many, from the identity before the first."""
    axis = axis_of_scan(call, shape)
    if axis is None:
        return value
    monoid, size, step = call.op.folds_by, shape[axis], 1
    while step < size:
        kept = add("index", value, (*[_ALL] * axis, Slice(None, size - step)))
        moved = add("pad", kept, (*(0, 0) * (len(shape) - axis - 1), step, 0), "constant", monoid.identity)
        value, step = add(monoid.operation, value, moved), 2 * step
    return value


def _determinant(add: _Add, matrix: Atom, order: int) -> Atom:
    """By Laplace's expansion along the rows, each minor of the lower rows once."""

    def element(row: int, column: int) -> Atom:
        return add("index", matrix, ("...", row, column))

    minors: dict[tuple[int, ...], Atom] = {(j,): element(order - 1, j) for j in range(order)}
    for row in reversed(range(order - 1)):
        below, minors = minors, {}
        for columns in combinations(range(order), order - row):
            total: Atom = sympy.S.Zero
            for n, j in enumerate(columns):
                product = add("mul", element(row, j), below[(*columns[:n], *columns[n + 1 :])])
                total = product if n == 0 else add("sub" if n % 2 else "add", total, product)
            minors[columns] = total
    return minors[tuple(range(order))]

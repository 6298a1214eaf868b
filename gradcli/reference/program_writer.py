"""What derivatives of a Program need to be written as lines of one: SymPy expressions, and folds of lists in pairs.

Expressions of scalars are the derivatives of elementwise operations, to be run once more: the inverse of
`gradcli.language.program.meaning`.  What has no operation of its own is written with those that there are.

A product or an extreme folds its list in halves: 1,000 elements take ten lines.  A determinant up to `MOST_ORDER` rows
is a polynomial, whose derivatives exist for a singular matrix too.  Torch divides instead: the slope of a product by an
element is the product over the element, unless one of them is 0, and that of a determinant is by the inverse.
Source: for the Bessel function of order 2, DLMF 10.29.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import combinations

import sympy
from sympy import Expr

from gradcli.errors import Span
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program import meaning
from gradcli.language.program.expansion import rewritten
from gradcli.language.program.movement import Slice, axes_of
from gradcli.language.program.shapes import axis_of_scan, shape_of
from gradcli.language.program.wengert import Atom, Builder, Line, Program, Shape

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


class Writer:
    """Appends lines to a builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def write(self, expression: Expr, symbols: Mapping[Expr, Atom], span: Span) -> Atom:
        """What holds the value of an expression.

        Args:
            expression: Of scalars.
            symbols: What its symbols stand for.
            span: The range of the text of the new lines.

        Raises:
            NoTangentError: it has a function that no operation computes.

        >>> x = sympy.Symbol("x", real=True)
        >>> builder = Builder("")
        >>> _ = Writer(builder).write(1 / sympy.sqrt(1 - x**2), {x: x}, Span(0, 0))
        >>> [line.call.op.name for line in builder.lines]
        ['pow', 'neg', 'add', 'sqrt', 'div']
        """
        return _Expression(self.builder, symbols, span).atom(expression)


class _Expression:
    """One expression on its way into lines."""

    def __init__(self, builder: Builder, symbols: Mapping[Expr, Atom], span: Span) -> None:
        self.builder, self.symbols, self.span = builder, symbols, span

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

    def _emit(self, name: str, *operands: Atom, statics: tuple[int, ...] = ()) -> Atom:
        return self.builder.emit(name, operands, self.span, statics)

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
        return self._emit("polygamma", self.atom(x), statics=(int(order),))

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


def unroll(program: Program, shapes: Mapping[Atom, Shape], *, as_torch: bool = False) -> Program:
    """The same function without products, extremes, and determinants of up to `MOST_ORDER` rows.

    Args:
        program: The function.
        shapes: Of its symbols.
        as_torch: Whether determinants, and products that are not 0, stay for torch's rules.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("prod(x)")
    >>> [line.call.op.name for line in unroll(program, {program.variables[0]: (3,)}).lines]
    ['index', 'index', 'mul', 'index', 'cat', 'index', 'index', 'mul', 'reshape']
    """

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        call = line.call
        shape = shapes.get(call.operands[0], ()) if call.operands else ()
        op = call.op
        if op.kind is Kind.SCAN and op.is_nonlinear_fold:
            return _scanned(builder, line, operands[0], shape)
        if op.is_nonlinear_fold and 0 not in shape:
            folded = _folded(builder, line, operands[0], shape)
            is_kept = as_torch and op.monoid is Monoid.PRODUCT
            return _unless_zero(builder, line, operands[0], folded) if is_kept else folded
        if op.keeps_shape is False and 1 <= shape[-1] <= MOST_ORDER and not as_torch:
            return _determinant(builder, operands[0], shape[-1], line.span)
        return builder.emit(op.name, operands, line.span, call.statics)

    return rewritten(program, write, shares=True).program


def _folded(builder: Builder, line: Line, value: Atom, shape: Shape) -> Atom:
    """The reduced dimensions joined into a last one, and halved until one element is left."""
    call, span = line.call, line.span
    axes = axes_of(shape, call.statics[0])
    kept = tuple(d for d in range(len(shape)) if d not in axes)
    order = (*kept, *axes)
    if order != tuple(range(len(shape))):
        value = builder.emit("permute", (value,), span, (order,))
    size = 1
    for d in axes:
        size *= shape[d]
    if len(axes) != 1:
        value = builder.emit("reshape", (value,), span, ((*(shape[d] for d in kept), size),))
    while size > 1:
        half = size // 2
        first, second = (_part(builder, value, n * half, (n + 1) * half, span) for n in (0, 1))
        folded = builder.emit(call.op.folds_by.operation, (first, second), span)
        if size % 2:
            folded = builder.emit("cat", (folded, _part(builder, value, 2 * half, size, span)), span, (-1,))
        value, size = folded, half + size % 2
    return builder.emit("reshape", (value,), span, (shape_of(call, [shape]),))


def _scanned(builder: Builder, line: Line, value: Atom, shape: Shape) -> Atom:
    """Running folds by doubling: with each step an element holds twice as many, from the identity before the first."""
    axis = axis_of_scan(line.call, shape)
    if axis is None:
        return value
    monoid, size, step = line.call.op.folds_by, shape[axis], 1
    while step < size:
        kept = builder.emit("index", (value,), line.span, ((*[_ALL] * axis, Slice(None, size - step)),))
        pad = (*(0, 0) * (len(shape) - axis - 1), step, 0)
        moved = builder.emit("pad", (kept,), line.span, (pad, "constant", monoid.identity))
        value, step = builder.emit(monoid.operation, (value, moved), line.span), 2 * step
    return value


def _unless_zero(builder: Builder, line: Line, value: Atom, folded: Atom) -> Atom:
    """The product itself, but where an element is 0 the folded one; a choice that does not move."""
    span, statics = line.span, line.call.statics
    product = builder.emit("prod", (value,), span, statics)
    zeros = builder.emit("eq", (builder.emit("detach", (value,), span), sympy.S.Zero), span)
    is_zero = builder.emit("gt", (builder.emit("sum", (zeros,), span, statics), sympy.S.Zero), span)
    return builder.emit("where", (is_zero, folded, product), span)


def _part(builder: Builder, value: Atom, start: int, stop: int, span: Span) -> Atom:
    return builder.emit("index", (value,), span, (("...", Slice(start, stop)),))


def _determinant(builder: Builder, matrix: Atom, order: int, span: Span) -> Atom:
    """By Laplace's expansion along the rows, each minor of the lower rows once."""

    def element(row: int, column: int) -> Atom:
        return builder.emit("index", (matrix,), span, (("...", row, column),))

    minors: dict[tuple[int, ...], Atom] = {(j,): element(order - 1, j) for j in range(order)}
    for row in reversed(range(order - 1)):
        below, minors = minors, {}
        for columns in combinations(range(order), order - row):
            total: Atom = sympy.S.Zero
            for n, j in enumerate(columns):
                product = builder.emit("mul", (element(row, j), below[(*columns[:n], *columns[n + 1 :])]), span)
                total = product if n == 0 else builder.emit("sub" if n % 2 else "add", (total, product), span)
            minors[columns] = total
    return minors[tuple(range(order))]

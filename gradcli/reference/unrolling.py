"""Products, extremes and small determinants as operations on pairs of elements, which have simple tangents.

A product or an extreme folds its list in halves: 1,000 elements take ten lines.  A determinant up to `MOST_ORDER` rows
is a polynomial, whose derivatives exist for a singular matrix too.

Torch divides instead: the slope of a product by an element is the product over the element, unless one of them is 0,
and that of a determinant is by the inverse.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import sympy

from gradcli.errors import Span
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program.expansion import rewritten
from gradcli.language.program.movement import Slice, axes_of
from gradcli.language.program.shapes import axis_of_scan, shape_of
from gradcli.language.program.wengert import Atom, Builder, Line, Program, Shape

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

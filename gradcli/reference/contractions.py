"""Sums of products as products of matrices: a convolution is one, whose products alone would be too many to keep.

A line `sum(a*b)` in which a and b stretch along each other becomes `A @ B`, with the dimensions that both have and that
stay as those of a batch, those of one alone as rows or columns, and those that are summed between them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from gradcli.language.ops import Kind, Monoid
from gradcli.language.program.expansion import rewritten
from gradcli.language.program.movement import axes_of
from gradcli.language.program.wengert import Atom, Builder, Line, Program, Shape

LEAST = 4, 2**10
"""Fewest products to avoid: relative to the elements of the smaller factor, and in all."""


def contracted(program: Program, shapes: Mapping[Atom, Shape]) -> Program:
    """Rewrite the sums of products of a Program of primitives that are products of matrices.

    Args:
        program: The function.
        shapes: The shapes of its symbols.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("sum(a[:, None, :]*b, 2)")
    >>> shapes = dict(zip(program.variables, [(80, 90), (70, 90)]))
    >>> from gradcli.language.program.shapes import shapes_in
    >>> [line.call.op.name for line in contracted(program, shapes_in(program, shapes)).lines][-5:]
    ['reshape', 'matmul', 'reshape', 'permute', 'reshape']
    """
    products = {line.symbol: line for line in program.lines if _is_product(line)}
    uses = Counter(a for line in program.lines for a in set(line.call.operands)) + Counter([program.output])
    fused = {}
    for line in program.lines:
        op, inside = line.call.op, line.call.operands[0] if line.call.operands else None
        if op.kind is Kind.REDUCTION and op.folds_by is Monoid.SUM and inside in products and uses[inside] == 1:
            factors = products[inside].call.operands
            if all(a.is_Symbol for a in factors) and _outnumber(inside, factors, shapes):
                fused[line.symbol] = products[inside]
    if not fused:
        return program
    skipped = {line.symbol for line in fused.values()}

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        if line.symbol in skipped:
            waiting[line.symbol] = operands
            return operands[0]  # which nothing uses but the sum
        if line.symbol not in fused:
            return builder.emit(line.call.op.name, operands, line.span, line.call.statics)
        product = fused[line.symbol]
        own = [shapes[a] for a in product.call.operands]
        axes = axes_of(shapes[product.symbol], line.call.statics[0])
        return _as_matrices(builder, line, waiting[product.symbol], own, axes, shapes[line.symbol])

    waiting: dict[Atom, tuple[Atom, ...]] = {}
    return rewritten(program, write, shares=True).program


def _is_product(line: Line) -> bool:
    return line.call.op.kind is Kind.ELEMENTWISE and line.call.op.monoid is Monoid.PRODUCT


def _outnumber(product: Atom, factors: Sequence[Atom], shapes: Mapping[Atom, Shape]) -> bool:
    count = math.prod(shapes[product])
    return count >= max(LEAST[0] * min(math.prod(shapes[a]) for a in factors), LEAST[1])


def _as_matrices(
    builder: Builder, line: Line, factors: Sequence[Atom], own: Sequence[Shape], summed: Sequence[int], shape: Shape
) -> Atom:
    """Write a sum of products along some dimensions as a product of matrices, of the shape of the sum."""
    rank = max(map(len, own))
    sizes = [(*(1,) * (rank - len(one)), *one) for one in own]
    kinds: dict[str, list[int]] = {"batch": [], "rows": [], "columns": [], "summed": []}
    alone: tuple[list[int], list[int]] = ([], [])
    for d, (a, b) in enumerate(zip(*sizes, strict=True)):
        if d in summed and a == b:
            kinds["summed"].append(d)
        elif d in summed:  # the other factor is the same all along
            alone[a == 1].append(d)
        else:
            kinds["batch" if a == b else "rows" if b == 1 else "columns"].append(d)
    batch, count = [sizes[0][d] for d in kinds["batch"]], math.prod(sizes[0][d] for d in kinds["summed"])
    rows = math.prod(sizes[0][d] for d in kinds["rows"])
    columns = math.prod(sizes[1][d] for d in kinds["columns"])
    matrices = []
    for k, (factor, mine) in enumerate(zip(factors, ("rows", "columns"), strict=True)):
        lifted = _emit(builder, line, "reshape", factor, (sizes[k],))
        if alone[k]:
            lifted = _emit(builder, line, "sum", lifted, (tuple(alone[k]), True))
        middle = (mine, "summed") if k == 0 else ("summed", mine)
        order = [d for kind in ("batch", *middle) for d in kinds[kind]]
        lifted = _emit(builder, line, "permute", lifted, ((*order, *(d for d in range(rank) if d not in order)),))
        last = (rows, count) if k == 0 else (count, columns)
        matrices.append(_emit(builder, line, "reshape", lifted, ((*batch, *last),)))
    found = builder.emit("matmul", tuple(matrices), line.span)
    order = [*kinds["batch"], *kinds["rows"], *kinds["columns"]]
    result = [max(sizes[0][d], sizes[1][d]) for d in order]
    found = _emit(builder, line, "reshape", found, (tuple(result),))
    found = _emit(builder, line, "permute", found, (tuple(order.index(d) for d in sorted(order)),))
    return _emit(builder, line, "reshape", found, (shape,))


def _emit(builder: Builder, line: Line, op: str, operand: Atom, statics: tuple[Hashable, ...]) -> Atom:
    return builder.emit(op, (operand,), line.span, statics)

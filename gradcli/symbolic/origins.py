"""Where an element of a movement comes from, in index notation: the index of the operand, by cases where needed.

`gradcli.language.program.movement` has the same as arrays of positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy
from sympy import Expr, Integer, KroneckerDelta

from gradcli.language.program.movement import axes_of, axis_of, indexed_axes, padding, permutation, rolls
from gradcli.language.program.wengert import Call, Shape
from gradcli.symbolic.reshaping import Index, SizeOf, reshaped

LARGE = 16
"""Sizes above this are symbols; constant indices up to it are known to be inside them."""

NEAR_END = 64
"""Positions from the end that are counted from there, so that they mean the same at another size."""


class NoFormulaError(Exception):
    """There is no closed form that is worth showing, and why."""


@dataclass(frozen=True)
class Origin:
    """Where an element comes from: an index of the operand, where that holds, and by what the element is weighted."""

    index: Index
    condition: Expr = sympy.true
    weight: Expr = sympy.S.One


def sources_of(call: Call, index: Index, shape: Shape, operand: Shape, sizes: SizeOf, large: int) -> list[Origin]:
    """The sources of the element at `index` of a movement, the first whose condition holds; else it is the fill.

    Args:
        call: The movement.
        index: Of the result.
        shape: Of the result.
        operand: The operand's shape.
        sizes: The expression for a size: a number or a symbol.
        large: Sizes above this are symbols.

    Raises:
        NoFormulaError: the movement has no closed form in index notation.
    """
    match call.op.name:
        case "roll":
            return _rolled(call, index, operand, sizes)
        case "index" if (places := _listed_places(call, operand)) is not None:
            axis, source, listed = places
            plain = _indexed(call, index, operand, sizes, large)
            return [
                Origin((*plain[:source], Integer(at), *plain[source + 1 :]), condition)
                for at, condition in _by_place(listed, index[axis])
            ]
    return [_source(call, index, shape, operand, sizes, large)]


def _source(call: Call, index: Index, shape: Shape, operand: Shape, sizes: SizeOf, large: int) -> Origin:
    match call.op.name:
        case "index":
            return Origin(_indexed(call, index, operand, sizes, large))
        case "transpose" | "permute":
            order = permutation(operand, call)
            return Origin(tuple(index[order.index(d)] for d in range(len(order))))
        case _ if call.op.keeps_order:
            return Origin(reshaped(index, shape, operand, sizes))
        case "expand":
            return Origin(aligned(index, shape, operand))
        case "flip":
            axes = axes_of(operand, call.statics[0])
            return Origin(tuple(sizes(operand[d]) - 1 - i if d in axes else i for d, i in enumerate(index)))
        case "windows":
            dim, _, step, dilation = call.statics
            axis = axis_of(operand, dim)
            return Origin((*index[:axis], step * index[axis] + dilation * index[-1], *index[axis + 1 : -1]))
        case "pad":
            return _padded(call, index, operand, sizes)
        case "diag" if len(operand) == 1:
            k = int(call.statics[0])
            at = index[0] if k >= 0 else index[1]
            inside = sympy.Le(at, sizes(operand[0]) - 1) if k else sympy.true
            return Origin((at,), inside, KroneckerDelta(index[0] + k, index[1]))
        case "diag" | "diagonal":
            return Origin(_diagonal(call, index, operand))
        case _:
            row, column, k = index[-2], index[-1], call.statics[0]
            is_kept = sympy.Le(column, row + k) if call.op.name == "tril" else sympy.Ge(column, row + k)
            return Origin(index, is_kept)


def aligned(index: Index, shape: Shape, operand: Shape) -> Index:
    """The index into a broadcast operand: the last dimensions, with 0 where a size of 1 stretches."""
    start = len(shape) - len(operand)
    return tuple(
        Integer(0) if size == 1 and shape[start + d] != 1 else index[start + d] for d, size in enumerate(operand)
    )


def position(at: int, size: int, sizes: SizeOf, large: int) -> Expr:
    """A constant position; near the end of a large dimension it is counted from there, as `x[-1]` is."""
    is_near_end = size > large and at >= large and size - at <= NEAR_END
    return sizes(size) - (size - at) if is_near_end else Integer(at)


def _indexed(call: Call, index: Index, operand: Shape, sizes: SizeOf, large: int) -> Index:
    axes, dropped = indexed_axes(operand, call.statics[0])
    source = {axis: position(at, operand[axis], sizes, large) for axis, at in dropped.items()}
    for axis, at in zip(axes, index, strict=True):
        if axis.source >= 0:
            start = position(axis.start, operand[axis.source], sizes, large)
            source[axis.source] = start + axis.step * at
    return tuple(source[a] for a in range(len(operand)))


def _listed_places(call: Call, operand: Shape) -> tuple[int, int, tuple[int, ...]] | None:
    """The dimension of the result whose positions are listed, that of the operand, and the positions."""
    axes, _ = indexed_axes(operand, call.statics[0])
    return next(((n, axis.source, axis.places) for n, axis in enumerate(axes) if axis.places), None)


def _by_place(listed: Sequence[int], at: Expr) -> list[tuple[int, Expr]]:
    """Each of some positions, and where it is the one at an index; the last one needs no condition."""
    if at.is_Integer:
        inside = int(at) if 0 <= at < len(listed) else 0  # of a case that does not hold
        return [(listed[inside], sympy.true)]
    if len(listed) > LARGE:
        raise NoFormulaError(f"an index of more than {LARGE} numbers has no closed form in index notation")
    conditions = [*(sympy.Eq(at, n) for n in range(len(listed) - 1)), sympy.true]
    return list(zip(listed, conditions, strict=True))


def _rolled(call: Call, index: Index, operand: Shape, sizes: SizeOf) -> list[Origin]:
    if call.statics[1] is None and len(operand) != 1:
        raise NoFormulaError("roll without dims has no closed form in index notation")
    pairs = rolls(operand, call) if call.statics[1] is not None else [(0, int(call.statics[0]))]
    sources = [Origin(index)]
    for axis, amount in pairs:
        shift = amount % max(1, operand[axis])
        if shift == 0:
            continue
        n, i = sizes(operand[axis]), index[axis]
        # The shorter way round, so that roll(x, -1) reads x[i + 1] and not x[i - n + 1].
        if shift <= operand[axis] // 2:
            first, second = (i - shift, sympy.Ge(i, shift)), i - shift + n
        else:  # to the left is shorter
            back = operand[axis] - shift
            first, second = (i + back, sympy.Le(i, n - 1 - back)), i + back - n
        sources = [
            Origin((*s.index[:axis], at, *s.index[axis + 1 :]), sympy.And(s.condition, condition))
            for s in sources
            for at, condition in (first, (second, sympy.true))
        ]
    return sources


def _padded(call: Call, index: Index, operand: Shape, sizes: SizeOf) -> Origin:
    source, conditions = [], []
    for i, size, (before, after) in zip(index, operand, padding(operand, call), strict=True):
        source.append(i - before)
        conditions += [sympy.Ge(i, before)] if before > 0 else []
        conditions += [sympy.Le(i, sizes(size) + before - 1)] if after > 0 else []
    return Origin(tuple(source), sympy.And(*conditions))


def _diagonal(call: Call, index: Index, operand: Shape) -> Index:
    offset, first, second = (*call.statics, 0, 1)[:3]
    k, a, b = int(offset), axis_of(operand, first), axis_of(operand, second)
    rest = iter(index[:-1])
    at = {a: index[-1] + max(0, -k), b: index[-1] + max(0, k)}
    return tuple(at[d] if d in at else next(rest) for d in range(len(operand)))

"""Find the source of an element of a movement, in index notation: the index of the operand, by cases where needed.

`gradcli.language.program.movement` gives the sources as arrays of positions.

Of a reshaped tensor, dimensions that are split or joined among themselves keep their own indices apart from the others:
of (n, g*c) seen as (n, g, c) the index of n is unchanged, and only g and c are read off the position in g*c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sympy
from sympy import Expr, Integer, KroneckerDelta

from gradcli.language.program.movement import axes_of, axis_of, indexed_axes, padding, permutation, rolls
from gradcli.language.program.sympy_functions import quotient
from gradcli.language.program.wengert import Call, Shape

SymbolicIndex = tuple[Expr, ...]
SizeOf = Callable[[int], Expr]

LARGE = 16
"""Sizes above this are symbols; constant indices up to it are known to be inside them."""

NEAR_END = 64
"""Positions from the end that are counted from there, so that they mean the same at another size."""


class NoFormulaError(Exception):
    """Error of a function without a closed form, or with one too long to show; the message says why."""


@dataclass(frozen=True)
class Origin:
    """Source of an element: an index of the operand, the condition under which it holds, and the element's weight."""

    index: SymbolicIndex
    condition: Expr = sympy.true
    weight: Expr = sympy.S.One


def sources_of(call: Call, index: SymbolicIndex, shape: Shape, operand: Shape, sizes: SizeOf) -> list[Origin]:
    """List the sources of the element at `index` of a movement; the first whose condition holds counts, else the fill.

    Args:
        call: The movement.
        index: Of the result.
        shape: Of the result.
        operand: The operand's shape.
        sizes: The expression for a size: a number or a symbol.

    Raises:
        NoFormulaError: the movement has no closed form in index notation.
    """
    source, condition, weight = index, sympy.true, sympy.S.One
    match call.op.name:
        case "roll":
            return _rolled(call, index, operand, sizes)
        case "index":
            return _indexed(call, index, operand, sizes)
        case "transpose" | "permute":
            order = permutation(operand, call)
            source = tuple(index[order.index(d)] for d in range(len(order)))
        case _ if call.op.keeps_order:
            source = reshaped(index, shape, operand, sizes)
        case "expand":
            source = aligned(index, shape, operand)
        case "flip":
            axes = axes_of(operand, call.statics[0])
            source = tuple(sizes(operand[d]) - 1 - i if d in axes else i for d, i in enumerate(index))
        case "windows":
            dim, _, step, dilation = call.statics
            axis = axis_of(operand, dim)
            source = (*index[:axis], step * index[axis] + dilation * index[-1], *index[axis + 1 : -1])
        case "pad":
            ends = list(zip(index, operand, padding(operand, call), strict=True))
            source = tuple(i - before for i, _, (before, _) in ends)
            begins = (sympy.Ge(i, before) for i, _, (before, _) in ends if before > 0)
            stops = (sympy.Le(i, sizes(size) + before - 1) for i, size, (before, after) in ends if after > 0)
            condition = sympy.And(*begins, *stops)
        case "diag" if len(operand) == 1:
            k = int(call.statics[0])
            source = (index[0] if k >= 0 else index[1],)
            condition = sympy.Le(source[0], sizes(operand[0]) - 1) if k else sympy.true
            weight = KroneckerDelta(index[0] + k, index[1])
        case "diag" | "diagonal":
            offset, first, second = (*call.statics, 0, 1)[:3]
            rest, k = iter(index[:-1]), int(offset)
            at = {axis_of(operand, first): index[-1] + max(0, -k), axis_of(operand, second): index[-1] + max(0, k)}
            source = tuple(at[d] if d in at else next(rest) for d in range(len(operand)))
        case name:
            row, column, k = index[-2], index[-1], call.statics[0]
            condition = sympy.Le(column, row + k) if name == "tril" else sympy.Ge(column, row + k)
    return [Origin(source, condition, weight)]


def aligned(index: SymbolicIndex, shape: Shape, operand: Shape) -> SymbolicIndex:
    """Return the index into a broadcast operand: the last dimensions, with 0 where a size of 1 stretches."""
    start = len(shape) - len(operand)
    return tuple(
        Integer(0) if size == 1 and shape[start + d] != 1 else index[start + d] for d, size in enumerate(operand)
    )


def _position(at: int, size: int, sizes: SizeOf) -> Expr:
    """Write a constant position; near the end of a large dimension it is counted from there, as `x[-1]` is."""
    is_near_end = size > LARGE and at >= LARGE and size - at <= NEAR_END
    return sizes(size) - (size - at) if is_near_end else Integer(at)


def _indexed(call: Call, index: SymbolicIndex, operand: Shape, sizes: SizeOf) -> list[Origin]:
    axes, dropped = indexed_axes(operand, call.statics[0])
    source = {axis: _position(at, operand[axis], sizes) for axis, at in dropped.items()}
    for axis, at in zip(axes, index, strict=True):
        if axis.source >= 0:
            source[axis.source] = _position(axis.start, operand[axis.source], sizes) + axis.step * at
    found = Origin(tuple(source[a] for a in range(len(operand))))
    listed = [(axis, at) for axis, at in zip(axes, index, strict=True) if axis.places]
    if not listed:
        return [found]
    axis, at = listed[0]
    conditions = [*(sympy.Eq(at, n) for n in range(len(axis.places) - 1)), sympy.true]
    chosen = list(zip(axis.places, conditions, strict=True))
    if at.is_Integer:  # beyond them in a case that does not hold
        chosen = [(axis.places[int(at) if 0 <= at < len(axis.places) else 0], sympy.true)]
    if len(chosen) > LARGE:
        raise NoFormulaError(f"an index of more than {LARGE} numbers has no closed form in index notation")
    before, behind = found.index[: axis.source], found.index[axis.source + 1 :]
    return [Origin((*before, Integer(place), *behind), condition) for place, condition in chosen]


def _rolled(call: Call, index: SymbolicIndex, operand: Shape, sizes: SizeOf) -> list[Origin]:
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


# -- reshaped tensors


def reshaped(index: SymbolicIndex, new: Shape, old: Shape, sizes: SizeOf) -> SymbolicIndex:
    """Map an index of the new shape to the old one, by row-major positions, part by part.

    Args:
        index: In the new shape.
        new: The shape that elements are seen in.
        old: The shape that they come from, of as many elements.
        sizes: The expression for a size: a number or a symbol.
    """
    return tuple(at for part in _parts(new, old) for at in _of_part(index[part[0]], new[part[0]], old[part[1]], sizes))


def _parts(new: Shape, old: Shape) -> Iterator[tuple[slice, slice]]:
    """Split both shapes into the shortest runs of dimensions that hold the same number of elements.

    >>> list(_parts((2, 3, 4), (2, 12)))
    [(slice(0, 1, None), slice(0, 1, None)), (slice(1, 3, None), slice(1, 2, None))]
    """
    if 0 in new:
        yield slice(None), slice(None)
        return
    i = j = 0
    while i < len(new) or j < len(old):
        first, second, above, below = i, j, 1, 1
        if i < len(new):
            above, i = new[i], i + 1
        else:
            below, j = old[j], j + 1
        while above != below:
            if above < below:
                above, i = above * new[i], i + 1
            else:
                below, j = below * old[j], j + 1
        yield slice(first, i), slice(second, j)


def _of_part(index: SymbolicIndex, new: Shape, old: Shape, sizes: SizeOf) -> SymbolicIndex:
    """Return the old index of an element by its row-major position; dimensions of size 1 come and go freely."""
    kept = [i for i, size in zip(index, new, strict=True) if size != 1]
    # Only sizes of 1 differ: the indices stay what they are, and formulas stay free of quotients.
    if [size for size in new if size != 1] == [size for size in old if size != 1]:
        rest = iter(kept)
        return tuple(Integer(0) if size == 1 else next(rest) for size in old)
    place: Expr = Integer(0)
    for i, size in zip(index, new, strict=True):
        place = place * sizes(size) + i
    if sum(size != 1 for size in old) == 1:
        return tuple(Integer(0) if size == 1 else place for size in old)
    return _unravelled(place, old, sizes)


def _unravelled(place: Expr, shape: Shape, sizes: SizeOf) -> SymbolicIndex:
    """Return the index of the element at a row-major position: quotients and remainders, from the last size on."""
    index: list[Expr] = []
    first = next((d for d, size in enumerate(shape) if size != 1), 0)
    for d in reversed(range(len(shape))):
        # The first dimension needs no quotient by its size: what is left of the position is its index.
        if shape[d] == 1 or d == first:
            index.append(place if d == first else Integer(0))
            continue
        n = sizes(shape[d])
        row = quotient(place, n)
        index.append(place - n * row)
        place = row
    return tuple(reversed(index))

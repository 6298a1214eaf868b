"""Adjoints through movements, lists, sums and running sums: the transposes of linear maps of zeros and ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.adjoint.writing import ZERO, LineWriter
from gradcli.language.ops import Kind
from gradcli.language.program.movement import (
    Axis,
    Slice,
    axes_of,
    axis_of,
    indexed_axes,
    padding,
    permutation,
    rolls,
    sources,
    windows_of,
)
from gradcli.language.program.positions import block_of
from gradcli.language.program.shapes import axis_of_scan
from gradcli.language.program.wengert import Atom, Call, Shape

MOST_FILLED = 4
"""Most zeros and elements, for each element, that are taken target by target."""

MOST_PLACES = 2**22
"""Most positions that a transposed index names one by one."""


def moved_back(writer: LineWriter, call: Call, g: Atom) -> Atom:
    """Return the adjoint of the operand of a movement: each element has the sum of those it went to."""
    inside = writer.shape(call.operands[0])
    match call.op.name:
        case _ if call.op.keeps_order:
            return writer.reshape(g, inside)
        case "transpose" | "permute":
            return writer.permute(g, [int(d) for d in np.argsort(permutation(inside, call))])
        case "expand":
            return writer.fit(g, inside)
        case "flip":
            return writer.write("flip", g, dims=call.statics[0])
        case "roll" if call.statics[1] is None:
            return writer.write("roll", g, shifts=-call.statics[0])
        case "roll":
            pairs = rolls(inside, call)
            return writer.write("roll", g, shifts=tuple(-n for _, n in pairs), dims=tuple(axis for axis, _ in pairs))
        case "tril" | "triu":
            return writer.write(call.op.name, g, diagonal=call.statics[0])
        case "pad":
            for axis, (before, after) in enumerate(padding(inside, call)):
                g = writer.pad(g, axis, -before, -after)
            return g
        case "windows":
            return _added_windows(writer, call, g, inside)
        case "index":
            axes, dropped = indexed_axes(inside, call.statics[0])
            listed = [d for d, axis in enumerate(axes) if axis.places]
            if len(listed) == 1 and not dropped:
                (d,) = listed
                source, size = axes[d].source, inside[axes[d].source]
                g = summed_at(writer, g, d, np.array(axes[d].places), size)
                axes[d] = Axis(source, 0, 1, size)
                listed = []
            if not listed:
                return _placed(writer, axes, dropped, g, inside)
        case "diag" if len(inside) == 1:
            return writer.write("diagonal", g, offset=call.statics[0])
        case "diag" | "diagonal":
            offset, *dims = (*call.statics, 0, 1)[:3]
            return _on_diagonal(writer, g, offset, [axis_of(inside, d) for d in dims], inside)
    return _by_places(writer, g, sources(call, inside), inside)


def gathered_back(writer: LineWriter, call: Call, g: Atom) -> Atom:
    """Return the adjoint of the operand of a gather: each element has the sum of those it was taken for."""
    x, index = call.operands
    block = block_of(call, writer.shape(x), writer.shape(index))
    return writer.write("sums_at", g, index, dim=len(block.before), sizes=block.sizes)


def scattered_back(writer: LineWriter, call: Call, g: Atom) -> Atom:
    """Return the adjoint of elements that were added up at positions: that of the sum at each position."""
    x, index = call.operands
    block = block_of(call, writer.shape(x), writer.shape(index))
    return writer.write("elements_at", g, index, dim=len(block.before), count=len(block.sizes))


def moves_every_element(writer: LineWriter, call: Call) -> bool:
    """Tell whether each element of the operand of a linear map goes somewhere, so that an adjoint comes back to it."""
    inside = writer.shape(call.operands[0])
    if call.op.kind is not Kind.MOVEMENT:
        return call.op.kind is not Kind.GATHER
    match call.op.name:
        case "pad":
            return all(before >= 0 <= after for before, after in padding(inside, call))
        case "windows":
            axis, size, step, dilation = windows_of(inside, call)
            return dilation == 1 and step <= size and (inside[axis] - size) % step == 0
        case "index":
            axes, dropped = indexed_axes(inside, call.statics[0])
            chosen = {a.source: set(a.places or range(a.size)) for a in axes if a.source >= 0}
            return all(len(chosen.get(d, ())) == size or (d in dropped and size == 1) for d, size in enumerate(inside))
        case "tril" | "triu" | "diag" | "diagonal":
            return False
    return True


def _placed(writer: LineWriter, axes: Sequence[Axis], dropped: dict[int, int], g: Atom, inside: Shape) -> Atom:
    """Put the elements of slices and single positions back to where they came from."""
    kept = [axis for axis in axes if axis.source >= 0]
    order = sorted(kept, key=lambda axis: axis.source)
    g = writer.reshape(g, tuple(axis.size for axis in kept))
    if order != kept:
        g = writer.permute(g, [kept.index(axis) for axis in order])
    sizes = iter(order)
    g = writer.reshape(g, tuple(1 if d in dropped else next(sizes).size for d in range(len(inside))))
    of = {axis.source: axis for axis in order}
    for d, size in enumerate(inside):
        if d in dropped:
            g = writer.pad(g, d, dropped[d], size - 1 - dropped[d])
            continue
        axis = of[d]
        step = abs(axis.step)
        first = min(axis.start, axis.start + axis.step * (axis.size - 1)) if axis.size else 0
        if axis.step < 0:
            g = writer.write("flip", g, dims=d)
        g = dilated(writer, g, d, step)
        g = writer.pad(g, d, first, size - first - writer.shape(g)[d])
    return g


def dilated(writer: LineWriter, g: Atom, axis: int, step: int) -> Atom:
    """Put step - 1 zeros between the elements along an axis."""
    shape = writer.shape(g)
    if step == 1 or shape[axis] < 2:
        return g
    g = writer.pad(writer.reshape(g, (*shape[: axis + 1], 1, *shape[axis + 1 :])), axis + 1, 0, step - 1)
    g = writer.reshape(g, (*shape[:axis], shape[axis] * step, *shape[axis + 1 :]))
    return writer.pad(g, axis, 0, 1 - step)


def _on_diagonal(writer: LineWriter, g: Atom, offset: int, dims: Sequence[int], inside: Shape) -> Atom:
    """Put the elements of a diagonal back on it, with zeros elsewhere."""
    rows, columns = (inside[d] for d in dims)
    count, *batch = reversed(writer.shape(g))
    if not count:
        return writer.write("zeros", shape=inside)
    above, left = max(-offset, 0), max(offset, 0)
    sides = left, columns - count - left, above, rows - count - above
    row = writer.pad(g, len(batch), sides[0], sides[1])
    wide = writer.expand(writer.write("unsqueeze", row, dim=-2), (*batch[::-1], rows, columns))
    is_diagonal = writer.write("ne", writer.write("pad", writer.write("eye", n=count), pad=sides), ZERO)
    found = writer.choose(is_diagonal, wide, ZERO)
    order = [*(d for d in range(len(inside)) if d not in dims), *dims]
    return writer.permute(found, sorted(range(len(order)), key=order.__getitem__))


def _added_windows(writer: LineWriter, call: Call, g: Atom, inside: Shape) -> Atom:
    """Add up windows that overlap: for each element those of its places in windows."""
    axis, size, step, dilation = windows_of(inside, call)
    last = len(inside)
    g = writer.permute(g, [*range(axis + 1), last, *range(axis + 1, last)])
    count = writer.shape(g)[axis]
    flat = writer.reshape(g, (*inside[:axis], count * size, *inside[axis + 1 :]))
    targets = np.arange(count)[:, None] * step + np.arange(size) * dilation
    return summed_at(writer, flat, axis, targets.ravel(), inside[axis])


def _by_places(writer: LineWriter, g: Atom, source: npt.NDArray[np.intp], inside: Shape) -> Atom:
    """Sum for each element those that it went to, by their positions one by one."""
    flat = writer.reshape(g, (source.size,))
    return writer.reshape(summed_at(writer, flat, 0, source.ravel(), math.prod(inside)), inside)


def summed_at(writer: LineWriter, g: Atom, axis: int, targets: npt.NDArray[np.intp], size: int) -> Atom:
    """Add up along an axis the elements with the same target, and put the sums there; elsewhere is 0.

    They are taken target by target, filled up with zeros; where that would be many, those with one target are first
    added in pairs until one of each is left.

    Args:
        writer: Of the lines.
        g: The elements.
        axis: The dimension that they lie along.
        targets: The position of each in the result; none of those below 0.
        size: Of the result along the axis.
    """
    if size > MOST_PLACES:
        raise NoAdjointError("an index of too many positions")
    kept = np.flatnonzero(targets >= 0)
    at = kept[np.argsort(targets[kept], kind="stable")]
    targets = targets[at]
    most = int(np.bincount(targets).max(initial=1))
    if most > 1 and size * most <= MOST_FILLED * len(targets):
        shape = writer.shape(g)
        filled = np.full((size, most), shape[axis])
        filled[targets, _ranks(targets)] = at
        found = _taken(writer, writer.pad(g, axis, 0, 1), axis, filled.ravel())
        found = writer.reshape(found, (*shape[:axis], size, most, *shape[axis + 1 :]))
        return writer.write("sum", found, dim=axis + 1)
    while (targets[1:] == targets[:-1]).any():
        first = np.flatnonzero(_ranks(targets) % 2 == 0)
        is_pair = np.r_[targets[1:] == targets[:-1], False][first]
        nothing = writer.shape(g)[axis]  # the position of a 0 behind all elements
        second = np.where(is_pair, at[np.minimum(first + 1, len(at) - 1)], nothing)
        g = writer.plus(_taken(writer, g, axis, at[first]), _taken(writer, writer.pad(g, axis, 0, 1), axis, second))
        at, targets = np.arange(len(first)), targets[first]
    if len(at) and targets[-1] - targets[0] == len(at) - 1:
        before = int(targets[0])
        return writer.pad(_taken(writer, g, axis, at), axis, before, size - before - len(at))
    places = np.full(size, writer.shape(g)[axis])
    places[targets] = at
    return _taken(writer, writer.pad(g, axis, 0, 1), axis, places)


def _ranks(targets: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Number each of ascending numbers among those that are equal to it."""
    return np.arange(len(targets)) - np.searchsorted(targets, targets)


def _taken(writer: LineWriter, atom: Atom, axis: int, places: npt.NDArray[np.intp]) -> Atom:
    """Take elements along an axis by their positions."""
    size = writer.shape(atom)[axis]
    if len(places) and (places == np.arange(places[0], places[0] + len(places))).all():
        return writer.slice(atom, axis, int(places[0]), int(places[-1]) + 1)
    if not len(places):
        return writer.slice(atom, axis, size, size)
    return writer.write("index", atom, key=(*[Slice(None, None)] * axis, tuple(places.tolist())))


def part_of_list(writer: LineWriter, call: Call, k: int, g: Atom) -> Atom:
    """Return the adjoint of part k of a list, before broadcasting of numbers among its siblings."""
    shape = writer.shape(g)
    axis = axis_of(shape, call.statics[0])
    if call.op.adds_dimension:
        one = writer.slice(g, axis, k, k + 1)
        return writer.reshape(one, (*shape[:axis], *shape[axis + 1 :]))
    sizes = [writer.shape(a)[axis] for a in call.operands]
    return writer.slice(g, axis, sum(sizes[:k]), sum(sizes[: k + 1]))


def kept_shape(writer: LineWriter, call: Call) -> Shape:
    """Return the shape before a reduction with sizes of 1 where it folds."""
    inside = writer.shape(call.operands[0])
    axes = axes_of(inside, call.statics[0])
    return tuple(1 if d in axes else size for d, size in enumerate(inside))


def spread(writer: LineWriter, call: Call, g: Atom) -> Atom:
    """Return the adjoint of the operand of a sum: that of the result at each of its terms."""
    inside = writer.shape(call.operands[0])
    return writer.expand(writer.reshape(g, kept_shape(writer, call)), inside)


def summed_behind(writer: LineWriter, call: Call, g: Atom) -> Atom:
    """Return the adjoint of the operand of a running sum: each element is in the sums from its place on."""
    axis = axis_of_scan(call, writer.shape(call.operands[0]))
    if axis is None:
        return g
    flipped = writer.write("flip", g, dims=axis)
    return writer.write("flip", writer.write("cumsum", flipped, dim=axis), dims=axis)

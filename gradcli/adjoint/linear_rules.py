"""Adjoints through movements, lists, sums and running sums: the transposes of linear maps of zeros and ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.adjoint.writing import LineWriter
from gradcli.language.program.movement import (
    Axis,
    axes_of,
    axis_of,
    indexed_axes,
    padding,
    permutation,
    rolls,
    sources,
    windows_of,
)
from gradcli.language.program.shapes import axis_of_scan
from gradcli.language.program.wengert import Atom, Call, Shape

MOST_PLACES = 2**20
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
            if not any(axis.places for axis in axes):
                return _placed(writer, axes, dropped, g, inside)
    return _by_places(writer, g, sources(call, inside), inside)


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


def _added_windows(writer: LineWriter, call: Call, g: Atom, inside: Shape) -> Atom:
    """Add up windows that overlap, one place of all windows after the other."""
    axis, size, step, dilation = windows_of(inside, call)
    found: Atom | None = None
    last = len(writer.shape(g)) - 1
    for n in range(size):
        one = writer.slice(g, last, n, n + 1)
        one = dilated(writer, writer.reshape(one, writer.shape(one)[:-1]), axis, step)
        one = writer.pad(one, axis, n * dilation, inside[axis] - n * dilation - writer.shape(one)[axis])
        found = one if found is None else writer.plus(found, one)
    if found is None:
        raise NoAdjointError("windows of no elements")
    return found


def _by_places(writer: LineWriter, g: Atom, source: npt.NDArray[np.intp], inside: Shape) -> Atom:
    """Sum for each element those that it went to, by their positions one by one."""
    size, flat = math.prod(inside), source.ravel()
    kept = np.flatnonzero(flat >= 0)
    counts = np.bincount(flat[kept], minlength=size) if size else np.zeros(0, dtype=np.intp)
    most = int(counts.max(initial=0))
    if size * most > MOST_PLACES:
        raise NoAdjointError("an index of too many positions")
    nothing = flat.size  # the position of a 0 behind all elements
    places = np.full((size, max(1, most)), nothing)
    order = kept[np.argsort(flat[kept], kind="stable")]
    places[flat[order], np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)] = order
    row = writer.pad(writer.reshape(g, (flat.size,)), 0, 0, 1)
    taken = writer.write("index", row, key=(tuple(places.ravel().tolist()),))
    if most > 1:
        taken = writer.write("sum", writer.reshape(taken, (size, most)), dim=1)
    return writer.reshape(taken, inside)


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

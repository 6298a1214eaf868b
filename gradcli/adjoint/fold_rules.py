"""Adjoints of products, running products and extremes, without a division by what may be 0.

All others of an element are its neighbour in a pair, and what is outside of the pair: pairs are folded to a tree, up
which each has its fold, and down which each has that of the others.  The adjoint of a running product y is
x̄[i] = (product before i) * S[i], where S[i] = ȳ[i] + x[i + 1]*S[i + 1]; such a recurrence goes in steps of 1, 2, 4, ...
places, after log2(n) of which each element has all that follow (W. D. Hillis, G. L. Steele, "Data parallel
algorithms", 1986).
"""

from __future__ import annotations

import sympy

from gradcli.adjoint.linear_rules import kept_shape
from gradcli.adjoint.writing import ONE, ZERO, LineWriter
from gradcli.language.ops import Monoid
from gradcli.language.program.movement import Slice, axes_of
from gradcli.language.program.shapes import axis_of_scan
from gradcli.language.program.wengert import Atom, Call


def folded_adjoint(writer: LineWriter, call: Call, symbol: Atom, g: Atom, *, halves_ties: bool) -> Atom:
    """Return the adjoint of the operand of a product or an extreme over dimensions.

    Args:
        writer: Of the lines.
        call: The reduction.
        symbol: Of its line.
        g: The adjoint of the result.
        halves_ties: Whether equal extremes share the adjoint, as in torch; else none has any of it.
    """
    x, fold = call.operands[0], call.op.folds_by
    wide = writer.expand(writer.reshape(g, kept_shape(writer, call)), writer.shape(x))
    if fold.is_extreme and halves_ties:
        kept = writer.reshape(symbol, kept_shape(writer, call))
        is_extreme = writer.write("eq", x, kept)
        count = writer.write("sum", is_extreme, dim=call.statics[0], keepdim=True)
        return writer.write("div", writer.choose(is_extreme, wide, ZERO), count)
    others = _of_others(writer, call, by_scans=halves_ties)
    if fold is Monoid.PRODUCT:
        return writer.times(wide, others)
    return writer.choose(wins(writer, x, others, fold), wide, ZERO)


def may_be_extreme(writer: LineWriter, call: Call) -> Atom:
    """Return the condition that an element is an extreme of a reduction, alone or at a tie."""
    sense = "ge" if call.op.folds_by is Monoid.LARGEST else "le"
    return writer.write(sense, call.operands[0], _of_others(writer, call))


def apart_from_ties(writer: LineWriter, call: Call, symbol: Atom) -> Atom:
    """Return what vanishes at a tie: how far the extreme is from the next of the others, for each element."""
    others = _of_others(writer, call)
    is_only = wins(writer, call.operands[0], others, call.op.folds_by)
    kept = writer.reshape(symbol, kept_shape(writer, call))
    # of one that is not the extreme, the distance to it
    return writer.choose(is_only, writer.write("sub", call.operands[0], others), writer.write("sub", kept, others))


def wins(writer: LineWriter, x: Atom, others: Atom, fold: Monoid) -> Atom:
    """Return 1 where a number is more extreme than others."""
    return writer.write("gt" if fold is Monoid.LARGEST else "lt", x, others)


def _of_others(writer: LineWriter, call: Call, *, by_scans: bool = False) -> Atom:
    """Fold for each element of the operand of a reduction all others that go into the same result.

    Args:
        writer: Of the lines.
        call: The reduction.
        by_scans: Whether products up to each element are running products, which are one line.
    """
    x, fold = call.operands[0], call.op.folds_by
    inside = writer.shape(x)
    axes = axes_of(inside, call.statics[0])
    rest = [d for d in range(len(inside)) if d not in axes]
    order = [*rest, *axes]
    turned = writer.permute(x, order)
    sizes = writer.shape(turned)
    count = 1
    for size in sizes[len(rest) :]:
        count *= size
    flat = writer.reshape(turned, (*sizes[: len(rest)], count))
    found = excluded(writer, flat, len(rest), fold, by_scans=by_scans)
    back = sorted(range(len(order)), key=order.__getitem__)
    return writer.permute(writer.reshape(found, sizes), back)


def excluded(writer: LineWriter, x: Atom, axis: int, fold: Monoid, *, by_scans: bool = False) -> Atom:
    """Fold for each element along an axis all others."""
    if by_scans:
        up = writer.write("cumprod", x, dim=axis)
        down = writer.write("flip", writer.write("cumprod", writer.write("flip", x, dims=axis), dim=axis), dims=axis)
        before = _shifted(writer, up, axis, 1, fold.identity)
        behind = _shifted(writer, down, axis, -1, fold.identity)
        return writer.write(fold.operation, before, behind)
    levels = _levels(writer, x, axis, fold)
    if not levels:
        return writer.write("full", shape=writer.shape(x), fill_value=fold.identity)
    others = sympy.nan  # of the top of the tree there are none
    for size, pairs in reversed(levels):
        found = writer.write("flip", pairs, dims=axis + 1)
        if others.is_Symbol:
            found = writer.write(fold.operation, writer.write("unsqueeze", others, dim=axis + 1), found)
        shape = writer.shape(found)
        flat = writer.reshape(found, (*shape[:axis], 2 * shape[axis], *shape[axis + 2 :]))
        others = writer.slice(flat, axis, 0, size)
    return others


def _levels(writer: LineWriter, x: Atom, axis: int, fold: Monoid) -> list[tuple[int, Atom]]:
    """List the levels of a tree that folds an axis two elements at a time: the size of each, and its pairs."""
    found: list[tuple[int, Atom]] = []
    while (size := writer.shape(x)[axis]) > 1:
        even = writer.pad(x, axis, 0, size % 2, fold.identity)
        shape = writer.shape(even)
        pairs = writer.reshape(even, (*shape[:axis], shape[axis] // 2, 2, *shape[axis + 1 :]))
        found.append((size, pairs))
        if size == 2:
            break
        keys = ((*[Slice(None, None)] * (axis + 1), side) for side in (0, 1))
        x = writer.write(fold.operation, *(writer.write("index", pairs, key=key) for key in keys))
    return found


def _shifted(writer: LineWriter, x: Atom, axis: int, distance: int, fill: float) -> Atom:
    """Move elements so far along an axis; those beyond the end are lost, and `fill` comes in."""
    size = writer.shape(x)[axis]
    reach = min(abs(distance), size)
    start, stop = (0, size - reach) if distance > 0 else (reach, size)
    before, after = (reach, 0) if distance > 0 else (0, reach)
    return writer.pad(writer.slice(x, axis, start, stop), axis, before, after, fill)


def _recurrence(writer: LineWriter, g: Atom, factor: Atom, axis: int) -> Atom:
    """Return S with S[i] = g[i] + factor[i + 1]*S[i + 1] along an axis."""
    carried, distance = _shifted(writer, factor, axis, -1, 0.0), 1
    while distance < writer.shape(g)[axis]:
        behind = _shifted(writer, g, axis, -distance, 0.0)
        g = writer.plus(g, writer.write("mul", carried, behind))
        carried = writer.write("mul", carried, _shifted(writer, carried, axis, -distance, 0.0))
        distance *= 2
    return g


def _summed_while(writer: LineWriter, g: Atom, goes_on: Atom, is_apart: Atom, axis: int) -> Atom:
    """Return S with S[i] = g[i], and S[i + 1] added where `goes_on` holds at i + 1; nan in its place at a tie."""
    carried = _shifted(writer, goes_on, axis, -1, 0.0)
    apart = _shifted(writer, is_apart, axis, -1, 0.0) if is_apart.is_Symbol else is_apart
    distance = 1
    while distance < writer.shape(g)[axis]:
        behind = writer.choose(apart, _shifted(writer, g, axis, -distance, 0.0), sympy.nan)
        g = writer.plus(g, writer.choose(carried, behind, ZERO))
        carried = writer.both(carried, _shifted(writer, carried, axis, -distance, 0.0))
        apart = writer.both(apart, _shifted(writer, apart, axis, -distance, 0.0)) if apart.is_Symbol else apart
        distance *= 2
    return g


def running_adjoint(writer: LineWriter, call: Call, symbol: Atom, g: Atom, *, guards: bool) -> Atom:
    """Return the adjoint of the operand of running products or extremes.

    Args:
        writer: Of the lines.
        call: The scan.
        symbol: Of its line.
        g: The adjoint of the result.
        guards: Whether it is nan where an element ties with the extreme before it; else the later one has it all, as
            in torch.
    """
    x, fold = call.operands[0], call.op.folds_by
    axis = axis_of_scan(call, writer.shape(x))
    if axis is None:
        return g
    before = _shifted(writer, symbol, axis, 1, fold.identity)
    if fold is Monoid.PRODUCT:
        return writer.times(before, _recurrence(writer, g, x, axis))
    is_largest = fold is Monoid.LARGEST
    is_new = writer.write("ge" if is_largest else "le", x, before)
    if not guards:
        goes_on = writer.write("lt" if is_largest else "gt", x, before)
        return writer.choose(is_new, _summed_while(writer, g, goes_on, ONE, axis), ZERO)
    is_apart = writer.write("ne", writer.write("sub", x, before), ZERO)
    may_go_on = writer.write("le" if is_largest else "ge", x, before)
    found = writer.choose(is_new, _summed_while(writer, g, may_go_on, is_apart, axis), ZERO)
    return writer.choose(is_apart, found, sympy.nan)

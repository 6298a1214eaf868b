"""Operations that only put elements elsewhere: the shape they give, and the same movement of a NumPy array.

One rule serves values (`moved` of the numbers), scripts (`moved` of a recorder of calls), the reference (`sources`,
which moves the positions) and the shapes.  The symbolic reading has the same movements in index notation.

The positions of an index are constants here; those that are values have operations of their own, in `positions`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradcli.errors import ShapeError
from gradcli.language.program.wengert import Call, Shape, broadcast, show

NEW = "None"
"""Index `None`: a new dimension of size 1."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Slice `start:stop:step`; None as in Python. Torch has no negative step, which NumPy has."""

    start: int | None
    stop: int | None
    step: int = 1

    def __str__(self) -> str:
        bounds = f"{'' if self.start is None else self.start}:{'' if self.stop is None else self.stop}"
        return bounds if self.step == 1 else f"{bounds}:{self.step}"


class Axis(NamedTuple):
    """Origin of an indexed dimension: `source` of the operand, at start + step*i; source -1 is new.

    Positions that are listed one by one stand in `places`.
    """

    source: int
    start: int
    step: int
    size: int
    places: tuple[int, ...] = ()


def as_key(key: Hashable) -> tuple[Any, ...]:
    """Convert a parsed index to the tuple that NumPy and torch take."""
    words: dict[Hashable, object] = {"...": Ellipsis, NEW: None}
    items = key if isinstance(key, tuple) else (key,)
    return tuple(
        slice(k.start, k.stop, k.step) if isinstance(k, Slice) else [*k] if isinstance(k, tuple) else words.get(k, k)
        for k in items
    )


def forward_key(shape: Shape, key: Hashable) -> tuple[Hashable, tuple[int, ...]]:
    """Make the steps of an index positive, as torch lacks negative ones; return the dimensions to flip after it.

    >>> forward_key((5,), (Slice(None, None, -2),))
    ((Slice(start=0, stop=5, step=2),), (0,))
    """
    axes, _ = indexed_axes(shape, key)
    back = [axis for axis in axes if axis.step < 0]
    slices = (Slice(a.start + a.step * (a.size - 1), a.start + 1, -a.step) if a.size else Slice(0, 0) for a in back)
    items = key if isinstance(key, tuple) else (key,)
    found = tuple(next(slices) if isinstance(item, Slice) and item.step < 0 else item for item in items)
    return found, tuple(place for place, axis in enumerate(axes) if axis.step < 0)


def indexed_axes(shape: Shape, key: Hashable) -> tuple[list[Axis], dict[int, int]]:
    """Map `x[key]` back: one `Axis` per dimension of the result, and the positions of the dropped dimensions.

    Raises:
        ShapeError: an index outside of its dimension, or more of them than dimensions.
    """
    items = list(key) if isinstance(key, tuple) else [key]
    with _refused("index", shape):
        for bound in (min, max):
            np.broadcast_to(0, shape)[as_key(tuple(bound(one) if isinstance(one, tuple) else one for one in items))]
    at = items.index("...") if "..." in items else len(items)
    items[at : at + 1] = [Slice(None, None)] * (len(shape) - sum(item not in ("...", NEW) for item in items))
    axes: list[Axis] = []
    dropped: dict[int, int] = {}
    source = 0
    for item in items:
        if item == NEW:
            axes.append(Axis(-1, 0, 0, 1))
            continue
        size = shape[source]
        if isinstance(item, Slice):
            chosen = range(*slice(item.start, item.stop, item.step).indices(size))
            axes.append(Axis(source, chosen.start, chosen.step, len(chosen)))
        elif isinstance(item, tuple):
            axes.append(Axis(source, 0, 0, len(item), tuple(at % size for at in item)))
        elif isinstance(item, int):
            dropped[source] = item % size
        source += 1
    return axes, dropped


@contextmanager
def _refused(name: str, shape: Shape) -> Iterator[None]:
    """Raise an error of NumPy about a shape as a ShapeError."""
    try:
        yield
    except (ValueError, IndexError) as error:
        hint = None if shape else "a single number has no elements; a vector is 1,2 or [1]"
        raise ShapeError(f"{name} does not fit the shape {show(shape)}: {error}", hint=hint) from None


def axis_of(shape: Shape, axis: Hashable, extra: int = 0) -> int:
    """Count a dimension from the front; `extra` more of them may be named than there are.

    Raises:
        ShapeError: it does not exist.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise ShapeError(f"a dimension is a whole number, not {axis}", hint="write dim=0")
    count = len(shape) + extra
    if -count <= axis < count:
        return axis % count
    hint = f"it has {len(shape)} dimension{'s' * (len(shape) != 1)}, counted from 0"
    raise ShapeError(f"dim={axis} does not exist in the shape {show(shape)}", hint=hint)


def axes_of(shape: Shape, dims: Hashable) -> tuple[int, ...]:
    """Count distinct dimensions from the front; None is all of them.

    Raises:
        ShapeError: one does not exist, or is named twice.
    """
    if dims is None:
        return tuple(range(len(shape)))
    if not shape and dims in (0, -1, (0,), (-1,)):
        return ()  # torch takes a plain number for a dimension of one
    axes = tuple(axis_of(shape, d) for d in (dims if isinstance(dims, tuple) else (dims,)))
    if len(set(axes)) < len(axes):
        raise ShapeError(f"dim={dims} names a dimension of the shape {show(shape)} twice")
    return axes


def permutation(shape: Shape, call: Call) -> tuple[int, ...]:
    """Return the order of dimensions after `permute`, `transpose(x, dim0, dim1)`, or `x.T` if the two are None."""
    if call.op.name == "permute":
        order = axes_of(shape, call.statics[0])
        if len(order) != len(shape):
            hint = f"name each of its {len(shape)} dimensions once"
            raise ShapeError(f"permute names {len(order)} dimensions of the shape {show(shape)}", hint=hint)
        return order
    if call.statics == (None, None) and len(shape) != 2:
        hint = "write transpose(x, 0, 1)" if len(shape) > 2 else "a column is x[:, None]"
        raise ShapeError(f".T needs two dimensions, and the shape is {show(shape)}", hint=hint)
    a, b = (0, 1) if call.statics == (None, None) else (axis_of(shape, axis) for axis in call.statics)
    return tuple({a: b, b: a}.get(axis, axis) for axis in range(len(shape)))


def padding(shape: Shape, call: Call) -> list[tuple[int, int]]:
    """Count the elements added before and after each dimension; torch counts the pairs from the last one."""
    pads = call.statics[0] if isinstance(call.statics[0], tuple) else (call.statics[0],)
    sizes = [n for n in pads if isinstance(n, int) and not isinstance(n, bool)]
    if len(sizes) != len(pads) or len(sizes) % 2 or len(sizes) > 2 * len(shape):
        hint = "pad=(left, right) of the last dimension, then of the one before it"
        raise ShapeError(f"pad={show(tuple(sizes))} does not fit the shape {show(shape)}", hint=hint)
    pairs = [(sizes[n], sizes[n + 1]) for n in range(0, len(sizes), 2)]
    pairs = ([*pairs, *[(0, 0)] * (len(shape) - len(pairs))])[::-1]
    if any(size + a + b < 0 for size, (a, b) in zip(shape, pairs, strict=True)):
        raise ShapeError(f"pad={show(tuple(sizes))} takes away more than the shape {show(shape)} has")
    return pairs


def rolls(shape: Shape, call: Call) -> list[tuple[int, int]]:
    """List the pairs of (dimension, shift) of a `roll` along dimensions.

    Raises:
        ShapeError: as many shifts as dimensions are needed.
    """
    shifts, dims = call.statics
    amounts = shifts if isinstance(shifts, tuple) else (shifts,)
    axes = tuple(axis_of(shape, d) for d in (dims if isinstance(dims, tuple) else (dims,)))
    if len(amounts) != len(axes):
        raise ShapeError(f"roll has {len(amounts)} shifts for {len(axes)} dimensions", hint="give one for each")
    return list(zip(axes, amounts, strict=True))


def windows_of(shape: Shape, call: Call) -> tuple[int, int, int, int]:
    """Return the dimension of windows, their size, and the steps to the next window and the next element of one.

    Raises:
        ShapeError: A number is not from 1 on.
    """
    dim, size, step, dilation = call.statics
    if min(size, step, dilation) < 1:
        raise ShapeError("windows have a size, a step and a dilation from 1 on")
    return axis_of(shape, dim), size, step, dilation


def fill_of(call: Call) -> float:
    """Return the number in elements without a source: the value of a `pad`, else 0."""
    return float(call.statics[2]) if call.op.name == "pad" else 0.0


def shape_after(call: Call, shape: Shape) -> Shape:
    """Return the shape that a movement gives, which NumPy finds by moving an array that takes no room.

    Raises:
        ShapeError: it does not fit this shape.
    """
    statics = call.statics
    match call.op.name:
        case "index":
            return tuple(axis.size for axis in indexed_axes(shape, statics[0])[0])
        case "roll":
            if statics[1] is not None or isinstance(statics[0], tuple):
                rolls(shape, call)
            return shape
        case "tril" | "triu" if len(shape) > 1:
            _whole(statics[0])
            return shape
        case "pad":
            return tuple(size + a + b for size, (a, b) in zip(shape, padding(shape, call), strict=True))
        case "diag" if len(shape) == 1:
            side = shape[0] + abs(_whole(statics[0]))
            return side, side
        case "diag" | "tril" | "triu" if len(shape) != 2:
            raise ShapeError(f"{call.op.name} needs a matrix, and the shape is {show(shape)}")
    with _refused(call.op.name, shape):
        return tuple(moved(call, np.broadcast_to(np.int8(0), shape), 0).shape)


def sources(call: Call, shape: Shape) -> npt.NDArray[np.intp]:
    """Map each element of a movement to its position in the operand; -1 for one without a source.

    Args:
        call: The movement.
        shape: Of its operand.

    >>> import sympy
    >>> sources(Call("tril", (sympy.Symbol("x"),), (0,)), (2, 2)).tolist()
    [[0, -1], [2, 3]]
    """
    positions = 1 + np.arange(math.prod(shape), dtype=np.intp).reshape(shape)
    return np.asarray(moved(call, positions, 0)) - 1


def moved(call: Call, x: Any, fill: float, library: Any = np) -> Any:
    """Move the elements of an array.

    Args:
        call: The movement.
        x: The array, or an expression that writes itself, with its shape.
        fill: The value of the elements that a `pad` adds; other movements add zeros.
        library: NumPy, or a recorder of its calls.
    """
    shape, statics = x.shape, call.statics
    match call.op.name:
        case "index":
            return x[as_key(statics[0])]
        case "transpose" | "permute":
            order = permutation(shape, call)
            return x.T if order == tuple(range(len(shape)))[::-1] else library.transpose(x, order)
        case _ if call.op.keeps_order:
            return library.reshape(x, _regrouped(call, shape))
        case "expand":
            sizes = statics[0] if isinstance(statics[0], tuple) else (statics[0],)
            own = (*(-1,) * (len(sizes) - len(shape)), *shape)
            kept = tuple(old if size == -1 else size for size, old in zip(sizes, own, strict=False))
            if broadcast([shape, kept]) != kept:
                raise ShapeError(f"the shape {show(shape)} does not stretch to {show(sizes)}")
            return library.broadcast_to(x, kept)
        case "flip":
            dims = axes_of(shape, statics[0])
            return library.flip(x, axis=dims[0] if len(dims) == 1 else dims)
        case "roll" if statics[1] is None:
            return library.roll(x, statics[0])
        case "roll":
            axes, shifts = zip(*rolls(shape, call), strict=True)
            return library.roll(x, shifts, axis=axes)
        case "pad" if not shape:  # NumPy takes no empty list of widths
            return x
        case "pad":
            pairs = padding(shape, call)
            if any(a > 0 or b > 0 for a, b in pairs):
                x = library.pad(x, [(max(0, a), max(0, b)) for a, b in pairs], constant_values=fill)
            if any(a < 0 or b < 0 for a, b in pairs):
                x = x[tuple(slice(max(0, -a) or None, min(0, b) or None) for a, b in pairs)]
            return x
        case "windows":
            axis, size, step, dilation = windows_of(shape, call)
            found: Any = library.lib.stride_tricks.sliding_window_view(x, (size - 1) * dilation + 1, axis=axis)
            if step == dilation == 1:
                return found
            return found[(*[slice(None)] * axis, slice(None, None, step), ..., slice(None, None, dilation))]
        case "diagonal":
            first, second = (axis_of(shape, axis) for axis in statics[1:])
            return library.diagonal(x, _within(statics[0], shape), first, second)
    is_made = call.op.name == "diag" and len(shape) == 1  # a matrix, whose size depends on the offset
    offset = _whole(statics[0]) if is_made else _within(statics[0], shape)  # of diag, tril and triu
    return getattr(library, call.op.name)(x, offset)


def _within(offset: Hashable, shape: Shape) -> int:
    """Limit the offset of a diagonal to the elements that there are: NumPy takes 32 bits."""
    most = sum(shape) + 1
    return max(-most, min(most, _whole(offset)))


def _whole(number: Hashable) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise ShapeError(f"a diagonal is a whole number, not {number}")
    return number


def _regrouped(call: Call, shape: Shape) -> object:
    """Return the sizes of a movement that keeps the order of the elements."""
    statics = call.statics
    match call.op.name:
        case "flatten":
            first, last = (axis_of(shape or (1,), d) for d in statics)
            if first > last:
                raise ShapeError(f"flatten goes from dimension {first} to {last} of the shape {show(shape)}")
            return (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])
        case "squeeze":
            dropped = {d for d in axes_of(shape, statics[0]) if shape[d] == 1}
            return tuple(size for d, size in enumerate(shape) if d not in dropped)
        case "unsqueeze":
            at = axis_of(shape, statics[0], extra=1)
            return (*shape[:at], 1, *shape[at:])
    sizes = statics[0] if isinstance(statics[0], tuple) else (statics[0],)
    known = -math.prod(sizes)
    found = tuple(math.prod(shape) // known if size == -1 and known > 0 else size for size in sizes)
    if min(found, default=0) < 0 or math.prod(found) != math.prod(shape):
        message = f"the shape {show(shape)} cannot be viewed as {show(found)}"
        raise ShapeError(message, hint=f"it has {math.prod(shape):,} elements")
    return found

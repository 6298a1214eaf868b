"""Operations that only put elements elsewhere: the shape they give, and the same movement of a NumPy array.

One rule serves values (`moved` of the numbers), the reference (`moved` of the positions 0, 1, 2, ..., which tells where
each element comes from) and the shapes.  The symbolic reading has the same movements in index notation.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import ShapeError
from gradcli.language.program.indexing import Shape, as_key, indexed_axes, show
from gradcli.language.program.wengert import Atom, Call

_DIAGONALS = frozenset(["diag", "diagonal", "tril", "triu"])


def axis_of(shape: Shape, axis: Hashable, extra: int = 0) -> int:
    """A dimension counted from the front; `extra` more of them may be named than there are.

    Raises:
        ShapeError: it does not exist.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise ShapeError(f"a dimension is a whole number, not {axis}", hint="write dim=0")
    count = len(shape) + extra
    if -count <= axis < count:
        return axis % count
    raise ShapeError(
        f"dim={axis} does not exist in the shape {show(shape)}",
        hint=f"it has {len(shape)} dimension{'s' * (len(shape) != 1)}, counted from 0",
    )


def axes_of(shape: Shape, dims: Hashable) -> tuple[int, ...]:
    """Distinct dimensions counted from the front; None is all of them.

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
    """The order of the dimensions after `permute`, `transpose(x, dim0, dim1)`, or `x.T` if the two are None."""
    if call.op.name == "permute":
        order = axes_of(shape, call.statics[0])
        if len(order) != len(shape):
            hint = f"name each of its {len(shape)} dimensions once"
            raise ShapeError(f"permute names {len(order)} dimensions of the shape {show(shape)}", hint=hint)
        return order
    first, second = call.statics
    swapped = list(range(len(shape)))
    if first is not None or second is not None:
        a, b = axis_of(shape, first), axis_of(shape, second)
        swapped[a], swapped[b] = swapped[b], swapped[a]
    elif len(shape) == 2:
        swapped.reverse()
    else:
        hint = "write transpose(x, 0, 1)" if len(shape) > 2 else "a column is x[:, None]"
        raise ShapeError(f".T needs two dimensions, and the shape is {show(shape)}", hint=hint)
    return tuple(swapped)


def padding(shape: Shape, call: Call) -> list[tuple[int, int]]:
    """Elements added before and after each dimension; torch counts the pairs from the last one."""
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
    """Pairs of (dimension, shift) of a `roll` along dimensions.

    Raises:
        ShapeError: as many shifts as dimensions are needed.
    """
    shifts, dims = call.statics
    amounts = shifts if isinstance(shifts, tuple) else (shifts,)
    axes = tuple(axis_of(shape, d) for d in (dims if isinstance(dims, tuple) else (dims,)))
    if len(amounts) != len(axes):
        raise ShapeError(f"roll has {len(amounts)} shifts for {len(axes)} dimensions", hint="give one for each")
    return list(zip(axes, amounts, strict=True))


def fill_of(call: Call) -> float:
    """The number in elements that come from nowhere: the value of a `pad`, else 0."""
    return float(call.statics[2]) if call.op.name == "pad" else 0.0


def gives_back(call: Call, shapes: Mapping[Atom, Shape]) -> bool:
    """Whether torch gives back the operand itself, and no new tensor: where there is nothing to flatten.

    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> [gives_back(Call("flatten", (x,), (0, -1)), {x: shape}) for shape in [(3,), (3, 1), ()]]
    [True, False, False]
    """
    if call.op.name != "flatten":
        return False
    shape = shapes.get(call.operands[0], ())
    return bool(shape) and len({axis_of(shape, d) for d in call.statics}) == 1


def shape_after(call: Call, shape: Shape) -> Shape:
    """The shape that a movement gives.

    Raises:
        ShapeError: it does not fit this shape.
    """
    statics = call.statics
    match call.op.name:
        case "index":
            return tuple(axis.size for axis in indexed_axes(shape, statics[0])[0])
        case "transpose" | "permute":
            return tuple(shape[d] for d in permutation(shape, call))
        case "reshape":
            return _reshaped(shape, statics[0])
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
        case "expand":
            return _expanded(shape, statics[0])
        case "flip":
            axes_of(shape, statics[0])
            return shape
        case "roll":
            if statics[1] is not None or isinstance(statics[0], tuple):
                rolls(shape, call)
            return shape
        case "pad":
            return tuple(size + a + b for size, (a, b) in zip(shape, padding(shape, call), strict=True))
        case "diag" if len(shape) == 1:
            side = shape[0] + abs(_whole(statics[0]))
            return side, side
        case "diag" | "diagonal":
            return _diagonal(shape, call)
        case _:
            if len(shape) < 2:
                raise ShapeError(f"{call.op.name} needs a matrix, and the shape is {show(shape)}")
            return shape


def moved(call: Call, array: npt.NDArray[Any], fill: float) -> npt.NDArray[Any]:
    """The movement of an array, with `fill` in elements that come from nowhere."""
    shape, statics = array.shape, call.statics
    after = shape_after(call, shape)
    k = _within(statics[0], (*shape, *after)) if call.op.name in _DIAGONALS else 0
    match call.op.name:
        case "index":
            return np.asarray(array[as_key(statics[0])])
        case "transpose" | "permute":
            return array.transpose(permutation(shape, call))
        case _ if call.op.keeps_order:
            return array.reshape(after)
        case "expand":
            return np.broadcast_to(array, after)
        case "flip":
            return np.flip(array, axes_of(shape, statics[0]))
        case "roll" if statics[1] is None:
            return np.roll(array, statics[0])
        case "roll":
            for axis, shift in rolls(shape, call):
                array = np.roll(array, shift % max(1, shape[axis]), axis)
            return array
        case "pad":
            return _padded(array, padding(shape, call), fill)
        case "diag" if len(shape) == 1:
            result = np.full(after, fill, dtype=array.dtype)
            result[np.eye(after[0], k=k, dtype=bool)] = array
            return result
        case "diag":
            return np.diagonal(array, k)
        case "diagonal":
            return np.diagonal(array, k, *(_whole(n) for n in statics[1:]))
        case "tril":
            return np.where(np.tri(shape[-2], shape[-1], k=k, dtype=bool), array, fill).astype(array.dtype)
        case "triu":
            below = np.tri(shape[-2], shape[-1], k=k - 1, dtype=bool)
            return np.where(below, fill, array).astype(array.dtype)
        case name:
            raise NotImplementedError(f"no movement for {name}")


def _within(offset: Hashable, shape: Shape) -> int:
    """An offset of a diagonal, no further out than any element of a matrix is: NumPy takes 32 bits."""
    most = 2 * max((1 << 16), *shape)
    return max(-most, min(most, _whole(offset)))


def _whole(number: Hashable) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise ShapeError(f"a diagonal is a whole number, not {number}")
    return number


def _padded(array: npt.NDArray[Any], pairs: list[tuple[int, int]], fill: float) -> npt.NDArray[Any]:
    kept = tuple(slice(max(0, -a), size - max(0, -b)) for size, (a, b) in zip(array.shape, pairs, strict=True))
    if any(size + min(a, 0) + min(b, 0) < 0 for size, (a, b) in zip(array.shape, pairs, strict=True)):
        return np.full([size + a + b for size, (a, b) in zip(array.shape, pairs, strict=True)], fill, array.dtype)
    if not pairs:  # a plain number, of which NumPy takes no pairs
        return array
    return np.pad(array[kept], [(max(0, a), max(0, b)) for a, b in pairs], constant_values=fill)


def _reshaped(old: Shape, new: Hashable) -> Shape:
    wanted = new if isinstance(new, tuple) else (new,)
    sizes = [size for size in wanted if isinstance(size, int)]
    known = math.prod(size for size in sizes if size != -1)
    missing = sizes.count(-1)
    if missing == 1 and known > 0 and math.prod(old) % known == 0:
        sizes = [math.prod(old) // known if size == -1 else size for size in sizes]
    if missing > 1 or min(sizes, default=0) < 0 or math.prod(sizes) != math.prod(old):
        raise ShapeError(
            f"the shape {show(old)} cannot be viewed as {show(tuple(sizes))}",
            hint=f"it has {math.prod(old):,} elements",
        )
    return tuple(sizes)


def _expanded(old: Shape, new: Hashable) -> Shape:
    wanted = new if isinstance(new, tuple) else (new,)
    sizes = [size for size in wanted if isinstance(size, int)]
    start = len(sizes) - len(old)
    full = [old[d - start] if size == -1 and d >= start >= 0 else size for d, size in enumerate(sizes)]
    fits = start >= 0 and all(size in (1, full[start + d]) for d, size in enumerate(old)) and min(full, default=0) >= 0
    if not fits:
        hint = "sizes must be equal or 1, counted from the last dimension"
        raise ShapeError(f"the shape {show(old)} does not stretch to {show(tuple(sizes))}", hint=hint)
    return tuple(full)


def _diagonal(shape: Shape, call: Call) -> Shape:
    offset, first, second = (*call.statics, 0, 1)[:3]
    if len(shape) < 2 or (call.op.name == "diag" and len(shape) > 2):
        needed = "one or two dimensions" if call.op.name == "diag" else "two dimensions"
        raise ShapeError(f"{call.op.name} needs {needed}, and the shape is {show(shape)}")
    a, b = axis_of(shape, first), axis_of(shape, second)
    if a == b:
        raise ShapeError(f"a diagonal needs two different dimensions of the shape {show(shape)}")
    k = _whole(offset)
    length = max(0, min(shape[a], shape[b] - k) if k >= 0 else min(shape[a] + k, shape[b]))
    return (*(size for d, size in enumerate(shape) if d not in (a, b)), length)

"""What is put or added at positions: index_add, index_copy, scatter, slice_scatter.

What is added follows where a comparison of positions holds, so that positions may be given as variables; what is put
takes constant positions, and is one index into both tensors, one behind the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import ShapeError, TooLargeError
from gradcli.language.lower.scope import Array
from gradcli.language.lower.written.at_positions import checked, of_mask
from gradcli.language.lower.written.given import Given, Text, sizes
from gradcli.language.lower.written.rearranging import moved_axes, strided_places
from gradcli.language.program.movement import NEW, Slice, axis_of
from gradcli.language.program.wengert import MAX_ELEMENTS, Shape, show

Places = npt.NDArray[np.intp]


def _put(g: Given, x: str, source: str, places: Places) -> str:
    return put(x, g.shape("x"), source, places)


def put(x: str, shape: Shape, source: str, places: Places, chosen: str = "") -> str:
    """A tensor with the elements of another one at places of its flattened elements; the last one there counts.

    Args:
        x: The tensor.
        shape: Of the tensor.
        source: The other one.
        places: Those of its elements.
        chosen: What `merged` is called in the text; it is written out if empty.

    >>> put("x", (3,), "v", np.array([2, 0]))
    'reshape(cat([reshape(x, -1), reshape(v, -1)])[[4, 1, 3]], (3,))'
    """
    both = f"cat([reshape({x}, -1), reshape({source}, -1)])"
    return f"reshape({both}[{chosen or merged(shape, places)}], {sizes(shape)})" if math.prod(shape) else x


def merged(shape: Shape, places: Places) -> list[int]:
    """Where each element of a tensor comes from, where others are put behind it.

    >>> merged((3,), np.array([2, 0]))
    [4, 1, 3]
    """
    count = math.prod(shape)
    found = np.arange(count)
    for n, at in enumerate(places.ravel().tolist()):
        found[at] = count + n
    return [int(n) for n in found]


def places(shape: Shape, items: Sequence[Any]) -> Places:
    """The places among the flattened elements that an index names.

    Args:
        shape: Of the tensor.
        items: Whole numbers, slices, `...` and None as the language has them, and arrays of positions.

    Raises:
        ShapeError: The index does not fit.

    >>> places((2, 3), [np.array([1.0, 0.0]), np.array([2.0, 0.0])]).tolist()
    [5, 0]
    """
    key: list[Any] = []
    for item in items:
        if isinstance(item, np.ndarray):
            if (item != np.floor(item)).any():
                raise ShapeError(f"an index is a whole number, not {item[item != np.floor(item)].flat[0]:g}")
            key.append(item.astype(np.intp))
        elif isinstance(item, Slice):
            key.append(slice(item.start, item.stop, item.step))
        else:
            key.append(Ellipsis if item == "..." else None if item == NEW else item)
    try:
        return np.asarray(_numbered(shape)[tuple(key)])
    except IndexError as error:
        raise ShapeError(f"this index does not fit the shape {show(shape)}: {error}") from None


def _numbered(shape: Shape) -> Places:
    if math.prod(shape) > MAX_ELEMENTS:
        raise TooLargeError(f"a tensor of shape {show(shape)}; at most {MAX_ELEMENTS:,} elements are held")
    return np.arange(math.prod(shape), dtype=np.intp).reshape(shape)


def _of_slice(g: Given, places: Places) -> Text:
    if g.shape("src") != places.shape:
        message = f"{g.op.name} puts a tensor of shape {show(places.shape)}, and src has {show(g.shape('src'))}"
        raise g.refuse(message, None)
    return _put(g, "x", "src", places)


def _slice_scatter(g: Given) -> Text:
    at = [slice(None)] * g.axis("x")
    return _of_slice(g, _numbered(g.shape("x"))[(*at, slice(g["start"], g["end"], g["step"]))])


def _select_scatter(g: Given) -> Text:
    axis, index = g.axis("x"), int(checked(np.array(g["index"]), g.size("x")))
    return _of_slice(g, np.asarray(_numbered(g.shape("x")).take(index, axis)))


def _diagonal_scatter(g: Given) -> Text:
    shape = g.shape("x")
    first, second = (axis_of(shape, g[name]) for name in ("dim1", "dim2"))
    return _of_slice(g, np.diagonal(_numbered(shape), g["offset"], first, second))


def _as_strided_scatter(g: Given) -> Text:
    return _of_slice(g, strided_places(g))


def _positions(g: Given) -> Array:
    return g.constant("index", "positions")


def _index_copy(g: Given) -> Text:
    axis = g.axis("x")
    at = checked(_positions(g).reshape(-1), g.size("x"))
    return _put(g, "x", "source", _numbered(g.shape("x")).take(at, axis))


def _index_fill(g: Given) -> Text:
    shape, axis = g.shape("x"), g.axis("x")
    hit = f"sum(reshape(one_hot(index, {shape[axis]}), (-1, {shape[axis]})), 0) > 0"
    line = sizes([size if n == axis else 1 for n, size in enumerate(shape)])
    return f"where(reshape({hit}, {line}), value, x)"


def _index_add(g: Given) -> Text:
    shape, given, axis = g.shape("x"), g.shape("source"), g.axis("x")
    (count,) = g.shape("index") or (1,)
    wanted = (*shape[:axis], count, *shape[axis + 1 :])
    if given != wanted:
        raise g.refuse(f"index_add adds a tensor of shape {show(wanted)}, and source has {show(given)}", None)
    rest = [size for n, size in enumerate(shape) if n != axis]
    rows = f"reshape({moved_axes('source', len(shape), (axis,), (0,))}, {sizes([count, math.prod(rest)])})"
    hit = f"transpose(reshape(one_hot(index, {shape[axis]}), ({count}, {shape[axis]})), 0, 1)"
    added = f"reshape({hit} @ {rows}, {sizes([shape[axis], *rest])})"
    return f"x + alpha*{moved_axes(added, len(shape), (0,), (axis,))}"


def _spread(g: Given, source: str) -> str:
    """What each position of the dimension is given, summed up."""
    shape, wanted, axis = g.shape("x"), g.shape("index"), g.axis("x")
    if len(shape) != len(wanted):
        raise g.refuse(f"{g.op.name} needs an index of as many dimensions as x", None)
    cut = f"({source})[{', '.join(f':{size}' for size in wanted)}]" if g.shape("src") else source
    last = len(shape)
    sums = f"sum(where(one_hot(index, {shape[axis]}) == 1, unsqueeze({cut}, {last}), 0), {axis}, keepdim=True)"
    moved = f"squeeze(transpose({sums}, {axis}, {last}), {last})"
    widths = [(0, 0) if n == axis else (0, a - b) for n, (a, b) in enumerate(zip(shape, wanted, strict=True))]
    flat = tuple(n for pair in reversed(widths) for n in pair)
    return f"pad({moved}, {flat})" if any(flat) else moved


def _scatter_add(g: Given) -> Text:
    return f"x + {_spread(g, 'src')}"


def _scatter(g: Given) -> Text:
    shape, axis, at = g.shape("x"), g.axis("x"), checked(_positions(g), g.size("x"))
    if at.ndim != len(shape):
        raise g.refuse("scatter needs an index of as many dimensions as x", None)
    lines = np.indices(at.shape)
    lines[axis] = at
    places = np.ravel_multi_index(tuple(lines), shape)
    cut = f"src[{', '.join(f':{size}' for size in at.shape)}]" if g.shape("src") else f"expand(src, {sizes(at.shape)})"
    reduce = g["reduce"]
    if reduce is None:
        return _put(g, "x", cut, places)
    if reduce == "add":
        return f"x + {_spread(g, 'src' if g.shape('src') else cut)}"
    hit = f"one_hot(index, {shape[axis]}) == 1"
    last = len(shape)
    found = f"prod(where({hit}, unsqueeze({cut}, {last}), 1), {axis}, keepdim=True)"
    return f"x*squeeze(transpose({found}, {axis}, {last}), {last})"


_FOLDS: Mapping[str, tuple[str, str]] = {
    "sum": ("sum", "0"),
    "mean": ("sum", "0"),
    "prod": ("prod", "1"),
    "amax": ("amax", "-inf"),
    "amin": ("amin", "inf"),
}
"""How what is put at one position is taken together, and what changes nothing."""


def _reduced(g: Given, hits: str, values: str, axis: int) -> str:
    """x with what is put at each of its positions, by hits and values that fold along a dimension."""
    fold, nothing = _FOLDS[g["reduce"]]
    text = f"h = {hits}; n = sum(where(h, 1, 0), {axis}); f = {fold}(where(h, {values}, {nothing}), {axis})"
    if not g["include_self"]:
        found = "f/where(n > 0, n, 1)" if g["reduce"] == "mean" else "f"
        return f"{text}; where(n > 0, {found}, x)"
    both = {"sum": "x + f", "prod": "x*f", "mean": "(x + f)/(n + 1)", "amax": "maximum(x, f)", "amin": "minimum(x, f)"}
    return f"{text}; {both[g['reduce']]}"


def _scatter_reduce(g: Given) -> Text:
    shape, wanted, axis = g.shape("x"), g.shape("index"), g.axis("x")
    others = [n for n in range(len(shape)) if n != axis]
    if len(shape) != len(wanted) or any(wanted[n] != shape[n] for n in others):
        both = f"{show(wanted)} and {show(shape)}"
        raise g.refuse(f"scatter_reduce needs an index of x's sizes but along dim, and the shapes are {both}", None)
    cut = f"src[{', '.join(f':{size}' for size in wanted)}]"
    last = len(shape)
    # Behind the dimension of what is put lies that of the positions.
    order = sizes([*range(axis + 1), last, *range(axis + 1, last)])
    hits = f"permute(one_hot(index, {shape[axis]}), {order}) == 1"
    return _reduced(g, hits, f"unsqueeze({cut}, {axis + 1})", axis)


def _index_reduce(g: Given) -> Text:
    shape, given, axis = g.shape("x"), g.shape("source"), g.axis("x")
    (count,) = g.shape("index") or (1,)
    wanted = (*shape[:axis], count, *shape[axis + 1 :])
    if given != wanted:
        raise g.refuse(f"index_reduce takes a source of shape {show(wanted)}, and it has {show(given)}", None)
    line = [1] * axis + [count, shape[axis]] + [1] * (len(shape) - axis - 1)
    hits = f"reshape(one_hot(index, {shape[axis]}), {sizes(line)}) == 1"
    return _reduced(g, hits, f"unsqueeze(source, {axis + 1})", axis)


def _index_put(g: Given) -> Text:
    shape, found = g.shape("x"), g.constant("index", "positions")
    at = [checked(np.asarray(one), size) for one, size in zip(found, shape, strict=False)]
    places = _numbered(shape)[tuple(at)]
    values = f"expand(values, {sizes(places.shape)})"
    if not g["accumulate"]:
        return _put(g, "x", values, places)
    flat = f"reshape(one_hot({places.ravel().tolist()}, {math.prod(shape)}), (-1, {math.prod(shape)}))"
    return f"x + reshape(transpose({flat}, 0, 1) @ reshape({values}, -1), {sizes(shape)})"


def _put_flat(g: Given) -> Text:
    places = checked(_positions(g), math.prod(g.shape("x")))
    return _put(g, "x", "source", places)


def _masked_scatter(g: Given) -> Text:
    mask, shape = g.mask("mask"), g.shape("x")
    mask = np.broadcast_to(mask, shape)
    places = _numbered(shape)[tuple(axis.astype(np.intp) for axis in of_mask(mask))]
    if math.prod(g.shape("source")) < places.size:
        raise g.refuse(f"masked_scatter needs {places.size} elements of source", None)
    return _put(g, "x", f"reshape(source, -1)[:{places.size}]", places)


RULES: Mapping[str, Callable[[Given], Text]] = {
    "slice_scatter": _slice_scatter,
    "select_scatter": _select_scatter,
    "diagonal_scatter": _diagonal_scatter,
    "as_strided_scatter": _as_strided_scatter,
    "index_copy": _index_copy,
    "index_fill": _index_fill,
    "index_add": _index_add,
    "scatter_add": _scatter_add,
    "scatter": _scatter,
    "scatter_reduce": _scatter_reduce,
    "index_reduce": _index_reduce,
    "index_put": _index_put,
    "put": _put_flat,
    "masked_scatter": _masked_scatter,
}

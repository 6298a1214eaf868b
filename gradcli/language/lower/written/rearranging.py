"""Dimensions and elements put elsewhere, by the shapes of the operands: moved, turned, embedded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import TooLargeError
from gradcli.language.lower.written.at_positions import listed
from gradcli.language.lower.written.given import Given, Text, key, sizes
from gradcli.language.program.movement import axes_of
from gradcli.language.program.wengert import show

MOST_STRIDED = 2**20
"""Positions that strides may name."""


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _permuted(x: str, order: Sequence[int]) -> str:
    return x if [*order] == sorted(order) else f"permute({x}, {sizes(order)})"


def moved_axes(x: str, rank: int, source: Sequence[int], destination: Sequence[int]) -> str:
    """The text of a tensor whose dimensions `source` stand at `destination`, the others in their order.

    >>> moved_axes("x", 3, (0,), (2,))
    'permute(x, (1, 2, 0))'
    """
    at = dict(zip(destination, source, strict=True))
    rest = iter(n for n in range(rank) if n not in source)
    return _permuted(x, [at[n] if n in at else next(rest) for n in range(rank)])


def _movedim(g: Given) -> Text:
    shape = g.shape("x")
    source, destination = (axes_of(shape, _tuple(g[name])) for name in ("source", "destination"))
    if len(source) != len(destination):
        raise g.refuse("movedim needs as many destinations as sources", None)
    return moved_axes("x", len(shape), source, destination)


def _permute_axes(g: Given) -> Text:
    dims = g["dims"]
    return f"permute(x, {sizes(range(g.rank('x'))[::-1] if dims is None else dims)})"


def _flip_axes(g: Given) -> Text:
    dims = g["dims"]
    return f"flip(x, {sizes(range(g.rank('x')) if dims is None else _tuple(dims))})"


def _places(size: int, before: int, after: int, mode: str) -> list[int]:
    """Which element of a dimension stands where elements are put before and after it."""
    found = range(-before, size + after)
    if mode == "circular":
        return [n % size for n in found]
    if mode == "replicate":
        return [min(max(n, 0), size - 1) for n in found]
    return [size - 1 - abs(size - 1 - abs(n)) for n in found]


def _pad_with_elements(g: Given) -> Text:
    shape, pad, mode = g.shape("x"), _tuple(g["pad"]), g["mode"]
    most = [size - (mode == "reflect") if mode != "replicate" else max(pad) for size in shape[::-1]]
    if len(pad) % 2 or len(pad) > 2 * len(shape) or min(pad) < 0 or any(n > most[k // 2] for k, n in enumerate(pad)):
        raise g.refuse(f"pad={pad} with mode='{mode}' does not fit {show(shape)}", "a mirror image is no wider than x")
    text = "x"
    for n in range(0, len(pad), 2):
        axis = len(shape) - 1 - n // 2
        text += key(axis, listed(_places(shape[axis], pad[n], pad[n + 1], mode)))
    return text


def _narrow(g: Given) -> Text:
    size, start, length = g.size("x"), g["start"], g["length"]
    start += size * (start < 0)
    if not (0 <= start <= start + length <= size):
        raise g.refuse(f"{length} elements from {g['start']} on are not in a dimension of size {size}", None)
    return "x" + key(g.axis("x"), f"{start}:{start + length}")


def _select(g: Given) -> Text:
    return "x" + key(g.axis("x"), g["index"])


def _slice(g: Given) -> Text:
    start, end = ("" if g[name] is None else g[name] for name in ("start", "end"))
    return "x" + key(g.axis("x"), f"{start}:{end}:{g['step']}")


def _expand_as(g: Given) -> Text:
    return f"expand(x, {sizes(g.shape('other'))})"


def _reshape_as(g: Given) -> Text:
    return f"reshape(x, {sizes(g.shape('other'))})"


def _sum_to_size(g: Given) -> Text:
    shape, wanted = g.shape("x"), _tuple(g["shape"])
    before = len(shape) - len(wanted)
    pairs = list(zip(shape[max(before, 0) :], wanted, strict=False))
    if before < 0 or any(b not in (a, 1) for a, b in pairs):
        raise g.refuse(f"the shape {show(shape)} does not sum to {show(wanted)}", "sizes stay, or become 1")
    axes = [*range(before), *(before + n for n, (a, b) in enumerate(pairs) if a != b)]
    return f"reshape(sum(x, {sizes(axes)}), {sizes(wanted)})" if axes else "x"


def _flipped(axis: int) -> Callable[[Given], Text]:
    def rule(g: Given) -> Text:
        if g.rank("x") <= axis:
            raise g.refuse(f"{g.op.name} needs {axis + 1} dimensions, and x has {g.rank('x')}", None)
        return f"flip(x, {axis})"

    return rule


def _rot90(g: Given) -> Text:
    first, second = axes_of(g.shape("x"), g["dims"])
    turned = f"transpose(x, {first}, {second})"
    texts = ["x", f"flip({turned}, {first})", f"flip(x, ({first}, {second}))", f"flip({turned}, {second})"]
    return texts[int(g["k"]) % 4]


def _embedded(g: Given, x: str, size: int, rank: int, ends: tuple[int, int]) -> str:
    """The last of `rank` dimensions along the diagonal of two, zeros elsewhere."""
    k = g["offset"]
    square = f"where(eye({size}) == 1, unsqueeze({x}, -1), 0)"
    if k:
        square = f"pad({square}, {(k, 0, 0, k) if k > 0 else (0, -k, -k, 0)})"
    return moved_axes(square, rank + 1, (rank - 1, rank), ends)


def _diag_embed(g: Given) -> Text:
    shape = g.shape("x")
    if not shape:
        raise g.refuse("diag_embed needs a dimension, and x has none", None)
    first, second = axes_of((*shape, 1), (g["dim1"], g["dim2"]))
    return _embedded(g, "x", shape[-1], len(shape), (first, second))


def _diagflat(g: Given) -> Text:
    return _embedded(g, "reshape(x, -1)", math.prod(g.shape("x")), 1, (0, 1))


def _unflatten(g: Given) -> Text:
    shape, axis = g.shape("x"), g.axis("x")
    wanted = list(_tuple(g["sizes"]))
    if wanted.count(-1) == 1:
        wanted[wanted.index(-1)] = shape[axis] // max(1, -math.prod(wanted))
    if math.prod(wanted) != shape[axis]:
        raise g.refuse(f"a dimension of size {shape[axis]} does not fall into {show(tuple(wanted))}", None)
    return f"reshape(x, {sizes([*shape[:axis], *wanted, *shape[axis + 1 :]])})"


def strided_places(g: Given) -> npt.NDArray[np.intp]:
    """The positions of the elements of x that strides name."""
    shape, strides = _tuple(g["shape"]), _tuple(g["strides"])
    if len(shape) != len(strides) or min((*shape, *strides, g["storage_offset"], 0)) < 0:
        raise g.refuse(f"{g.op.name} needs a stride from 0 on for each size", None)
    if math.prod(shape) > MOST_STRIDED:
        raise TooLargeError(f"{g.op.name} reads at most {MOST_STRIDED:,} positions")
    places = np.full(shape, g["storage_offset"])
    for n, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        places = places + stride * np.arange(size).reshape([-1 if m == n else 1 for m in range(len(shape))])
    if places.size and places.max() >= math.prod(g.shape("x")):
        raise g.refuse(f"{g.op.name} reaches beyond the elements of x", None)
    return places


def _as_strided(g: Given) -> Text:
    places = strided_places(g)
    return f"reshape(reshape(x, -1)[{listed(places.ravel().tolist())}], {sizes(places.shape)})"


RULES: Mapping[str, Callable[[Given], Text]] = {
    "movedim": _movedim,
    "permute_axes": _permute_axes,
    "flip_axes": _flip_axes,
    "pad_with_elements": _pad_with_elements,
    "narrow": _narrow,
    "select": _select,
    "slice": _slice,
    "expand_as": _expand_as,
    "reshape_as": _reshape_as,
    "sum_to_size": _sum_to_size,
    "fliplr": _flipped(1),
    "flipud": _flipped(0),
    "rot90": _rot90,
    "diag_embed": _diag_embed,
    "diagflat": _diagflat,
    "unflatten": _unflatten,
    "as_strided": _as_strided,
}

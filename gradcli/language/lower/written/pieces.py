"""Tensors that are cut, joined and repeated: by where each piece stands."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

from gradcli.errors import TooLargeError
from gradcli.language.lower.written.given import Given, Text, key, sizes
from gradcli.language.program.movement import broadcast

Rule = Callable[[Given], Text]

MOST_CHOICES = 10_000
"""Combinations and pieces that are written out."""


def _cut(x: str, axis: int, widths: Sequence[int]) -> list[str]:
    """The pieces of these widths along a dimension."""
    _require_few(len(widths))
    ends = list(itertools.accumulate(widths, initial=0))
    return [x + key(axis, f"{first}:{last}") for first, last in itertools.pairwise(ends)]


def _require_few(pieces: int) -> None:
    if pieces > MOST_CHOICES:
        raise TooLargeError(f"{pieces:,} pieces; at most {MOST_CHOICES:,} are read", hint="take fewer")


def _require_axis(g: Given, least: int) -> None:
    if g.rank("x") < least:
        noun = "dimension" if least == 1 else "dimensions"
        raise g.refuse(f"{g.op.name} needs at least {least} {noun}, and x has {g.rank('x')}", None)


def _chunk(g: Given) -> Text:
    _require_axis(g, 1)
    size, chunks = g.size("x"), g["chunks"]
    if chunks < 1:
        raise g.refuse(f"chunk makes at least one part, not {chunks}", None)
    width = max(1, -(-size // chunks))
    count = max(1, -(-size // width))
    return _cut("x", g.axis("x"), [min(width, size - n * width) for n in range(count)])


def _split(g: Given) -> Text:
    _require_axis(g, 1)
    size, wanted = g.size("x"), g["split_size"]
    if g.library == "numpy" or (g.library == "tensorflow" and isinstance(wanted, int)):
        return _sections(g, g.axis("x"), wanted, must_fit=True)
    if isinstance(wanted, int):
        if wanted < 1:
            raise g.refuse(f"split makes parts of at least one element, not {wanted}", None)
        wanted = [min(wanted, size - first) for first in range(0, size, wanted)] or [0]
    if sum(wanted) != size or min(wanted, default=0) < 0:
        raise g.refuse(f"the sizes {sizes(wanted)} do not add up to {size}, the size of dimension {g['dim']}", None)
    return _cut("x", g.axis("x"), wanted)


def _sections(g: Given, axis: int, wanted: int | tuple[int, ...], *, must_fit: bool = False) -> list[str]:
    """So many parts, of which the first may be longer by one; or those between places where it is cut."""
    size = g.shape("x")[axis]
    if isinstance(wanted, int):
        if wanted < 1 or (must_fit and size % wanted):
            hint = "split(x, sizes) takes the sizes" if wanted > 0 else None
            raise g.refuse(f"{size} elements do not fall into {wanted} equal parts", hint)
        return _cut("x", axis, [size // wanted + (n < size % wanted) for n in range(wanted)])
    places = [range(size)[slice(at)].stop for at in wanted]
    return ["x" + key(axis, f"{first}:{max(first, last)}") for first, last in itertools.pairwise([0, *places, size])]


def _tensor_split(g: Given) -> Text:
    _require_axis(g, 1)
    return _sections(g, g.axis("x"), g["sections"])


def _unbind(g: Given) -> Text:
    _require_axis(g, 1)
    axis = g.axis("x")
    _require_few(g.shape("x")[axis])
    return ["x" + key(axis, n) for n in range(g.shape("x")[axis])]


def _along(axis: int) -> Rule:
    def rule(g: Given) -> Text:
        _require_axis(g, {0: 2, 1: 1, 2: 3}[axis])
        at = axis if axis != 1 or g.rank("x") > 1 else 0
        return _sections(g, at, g["sections"], must_fit=True)

    return rule


def _joined(g: Given, texts: Sequence[str], axis: int) -> str:
    return f"cat([{', '.join(texts)}], {axis})"


def _at_least(x: str, rank: int, least: int) -> str:
    """A text with new dimensions as torch's atleast_3d has them: a vector becomes a row, a matrix gets a last one."""
    if rank >= least:
        return x
    if not rank:
        return f"reshape({x}, {sizes([1] * least)})"
    before, after = {(0, 1): (1, 0), (0, 2): (2, 0), (0, 3): (3, 0), (1, 2): (1, 0), (1, 3): (1, 1), (2, 3): (0, 1)}[
        rank, least
    ]
    return f"{x}[{', '.join(['None'] * before + [':'] * rank + ['None'] * after)}]"


def _hstack(g: Given) -> Text:
    ranks = [g.rank(name) for name in g.names]
    texts = [_at_least(name, rank, 1) for name, rank in zip(g.names, ranks, strict=True)]
    return _joined(g, texts, 0 if max(ranks) <= 1 else 1)


def _vstack(g: Given) -> Text:
    return _joined(g, [_at_least(name, g.rank(name), 2) for name in g.names], 0)


def _dstack(g: Given) -> Text:
    return _joined(g, [_at_least(name, g.rank(name), 3) for name in g.names], 2)


def _column_stack(g: Given) -> Text:
    columns = [f"reshape({name}, (-1, 1))" if g.rank(name) < 2 else name for name in g.names]
    return _joined(g, columns, 1)


def _block_diag(g: Given) -> Text:
    shapes = [(1,) * (2 - g.rank(name)) + g.shape(name) for name in g.names]
    if any(len(shape) > 2 for shape in shapes):
        raise g.refuse("block_diag takes matrices", None)
    width, before, rows = sum(shape[1] for shape in shapes), 0, []
    for name, shape in zip(g.names, shapes, strict=True):
        rows.append(f"pad(reshape({name}, {sizes(shape)}), ({before}, {width - before - shape[1]}))")
        before += shape[1]
    return _joined(g, rows, 0)


def _atleast(least: int) -> Rule:
    def rule(g: Given) -> Text:
        found = [_at_least(name, g.rank(name), least) for name in g.names]
        return found if len(found) > 1 else found[0]

    return rule


def _repeated(x: str, shape: Sequence[int], times: Sequence[int]) -> str:
    """Each dimension so many times, one whole after the other."""
    if all(n == 1 for n in times):
        return f"reshape({x}, {sizes(shape)})"
    apart = [size for pair in zip(times, shape, strict=True) for size in pair]
    ones = [size for one in shape for size in (1, one)]
    whole = [n * size for n, size in zip(times, shape, strict=True)]
    return f"reshape(expand(reshape({x}, {sizes(ones)}), {sizes(apart)}), {sizes(whole)})"


def _tile(g: Given) -> Text:
    shape, times = g.shape("x"), g["sizes" if g.op.name == "repeat" else "dims"]
    times = times if isinstance(times, tuple) else (times,)
    if g.op.name == "repeat" and len(times) < len(shape):
        raise g.refuse(f"repeat needs a number for each of the {len(shape)} dimensions", "tile takes fewer")
    if any(n < 0 for n in times):
        raise g.refuse(f"{g.op.name} takes whole numbers from 0 on, not {sizes(times)}", None)
    rank = max(len(shape), len(times))
    shape, times = (1,) * (rank - len(shape)) + shape, (1,) * (rank - len(times)) + times
    return _repeated("x", shape, times)


def _repeat_interleave(g: Given) -> Text:
    dim, x, shape = g["dim"], "x", g.shape("x")
    if dim is None:
        x, shape = "reshape(x, -1)", (_product(shape),)
    axis = 0 if dim is None else g.axis("x")
    times = tuple(g["repeats"]) if isinstance(g["repeats"], tuple) else (g["repeats"],)
    if len(times) not in (1, shape[axis]) or min(times) < 0:
        raise g.refuse(f"repeat_interleave needs one number from 0 on for each of {shape[axis]} elements", None)
    places = [n for n in range(shape[axis]) for _ in range(times[n if len(times) > 1 else 0])]
    if len(set(times)) > 1:
        return f"{x}{key(axis, f'{places}')}" if places else x + key(axis, ":0")
    apart = (*shape[: axis + 1], times[0], *shape[axis + 1 :])
    whole = (*shape[:axis], shape[axis] * times[0], *shape[axis + 1 :])
    return f"reshape(expand(unsqueeze({x}, {axis + 1}), {sizes(apart)}), {sizes(whole)})"


def _product(shape: Sequence[int]) -> int:
    found = 1
    for size in shape:
        found *= size
    return found


def _meshgrid(g: Given) -> Text:
    lengths = [_product(g.shape(name)) for name in g.names]
    if any(g.rank(name) > 1 for name in g.names):
        raise g.refuse("meshgrid takes vectors", None)
    order = [*range(len(lengths))]
    if g["indexing"] == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    whole = [lengths[n] for n in order]
    found = []
    for n, name in enumerate(g.names):
        ones = [lengths[n] if at == n else 1 for at in order]
        found.append(f"expand(reshape({name}, {sizes(ones)}), {sizes(whole)})")
    return found


def _broadcast_tensors(g: Given) -> Text:
    shape = broadcast([g.shape(name) for name in g.names])
    return [f"expand({name}, {sizes(shape)})" if shape else name for name in g.names]


def _cartesian_prod(g: Given) -> Text:
    if any(g.rank(name) != 1 for name in g.names):
        raise g.refuse("cartesian_prod takes vectors", None)
    if len(g.names) == 1:
        return g.names[0]
    lengths = [g.shape(name)[0] for name in g.names]
    columns = []
    for n, name in enumerate(g.names):
        ones = [size if at == n else 1 for at, size in enumerate(lengths)]
        columns.append(f"reshape(expand(reshape({name}, {sizes(ones)}), {sizes(lengths)}), -1)")
    return f"stack([{', '.join(columns)}], 1)"


def _combinations(g: Given) -> Text:
    if g.rank("x") != 1:
        raise g.refuse("combinations takes a vector", None)
    chosen = itertools.combinations_with_replacement if g["with_replacement"] else itertools.combinations
    size, r = g.shape("x")[0], g["r"]
    if math.comb(size + max(0, r - 1) * g["with_replacement"], max(0, r)) > MOST_CHOICES:
        raise TooLargeError(f"combinations gives more than {MOST_CHOICES:,} choices", hint="take fewer elements")
    found = list(chosen(range(size), r))
    if not found:
        return f"zeros((0, {g['r']}))"
    places = g.hold(tuple(at for choice in found for at in choice))
    return f"reshape(x[{places}], {sizes((len(found), g['r']))})"


RULES: Mapping[str, Rule] = {
    "chunk": _chunk,
    "split": _split,
    "tensor_split": _tensor_split,
    "unbind": _unbind,
    "hsplit": _along(1),
    "vsplit": _along(0),
    "dsplit": _along(2),
    "hstack": _hstack,
    "vstack": _vstack,
    "dstack": _dstack,
    "column_stack": _column_stack,
    "block_diag": _block_diag,
    "atleast_1d": _atleast(1),
    "atleast_2d": _atleast(2),
    "atleast_3d": _atleast(3),
    "repeat": _tile,
    "tile": _tile,
    "repeat_interleave": _repeat_interleave,
    "meshgrid": _meshgrid,
    "broadcast_tensors": _broadcast_tensors,
    "cartesian_prod": _cartesian_prod,
    "combinations": _combinations,
}

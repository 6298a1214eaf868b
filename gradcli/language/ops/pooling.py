"""What takes one number of each window: means, largest elements, powers; and windows as columns and back.

A window that reaches beyond the end, as `ceil_mode` lets it, has fewer elements.  Adaptive pools have as many windows
as they are asked for: the i-th of m over n elements goes from floor(i·n/m) to ceil((i + 1)·n/m).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradcli.errors import InputError, ShapeError
from gradcli.language.ops.convolutions import Constants, padded, shaped, sizes_of, spread, windows
from gradcli.language.ops.row import Kind, Op, Shapes, row


def _space(name: str, shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The sizes of the dimensions of space.

    Raises:
        ShapeError: there are others.
    """
    if len(shape) not in (count + 1, count + 2):
        raise ShapeError(f"{name} takes an input of {count + 1} or {count + 2} dimensions, and the shape is {shape}")
    return shape[-count:]


def _places(size: int, kernel: int, step: int, pad: int, apart: int, *, is_ceil: bool) -> tuple[int, int]:
    """How many windows there are along a dimension, and how far the last one reaches beyond the padding."""
    span = apart * (kernel - 1) + 1
    room = size + 2 * pad - span
    count = (-(-room // step) if is_ceil else room // step) + 1
    if is_ceil and (count - 1) * step >= size + pad:  # a window that would begin behind the end
        count -= 1
    return count, max(0, (count - 1) * step + span - size - 2 * pad)


def _windowed(name: str, constants: Constants, shapes: Shapes, count: int, fill: str = "") -> Any:
    """The text of the windows, and along each dimension their number, size, step and padding."""
    space = _space(name, shapes[0], count)
    kernel = sizes_of(name, "kernel_size", constants["kernel_size"], count)
    step = sizes_of(name, "stride", constants["stride"] or kernel, count)
    pad = sizes_of(name, "padding", constants.get("padding", 0), count)
    apart = sizes_of(name, "dilation", constants.get("dilation", 1), count)
    if any(2 * p > k or p < 0 for p, k in zip(pad, kernel, strict=True)):
        raise ShapeError(f"{name} takes a padding of at most half its kernel_size")
    found = [
        _places(*numbers, is_ceil=bool(constants["ceil_mode"]))
        for numbers in zip(space, kernel, step, pad, apart, strict=True)
    ]
    around = [(p, p + beyond) for p, (_, beyond) in zip(pad, found, strict=True)]
    text = windows(padded("input", around, fill), len(shapes[0]) - count, kernel, step, apart)
    return text, [n for n, _ in found], kernel, step, pad


def _of(count: int) -> str:
    """The dimensions inside a window."""
    return f"({', '.join(str(n) for n in range(-count, 0))},)"


def _largest(count: int) -> Callable[[Constants, Shapes], str]:
    def written(constants: Constants, shapes: Shapes) -> str:
        if not shapes:
            return ""
        if constants["return_indices"]:
            raise InputError(f"max_pool{count}d gives the values alone", hint="leave return_indices out")
        text = _windowed(f"max_pool{count}d", constants, shapes, count, "-inf")[0]
        return f"amax({text}, {_of(count)})"

    return written


def _mean(count: int) -> Callable[[Constants, Shapes], str]:
    name = f"avg_pool{count}d"

    def written(constants: Constants, shapes: Shapes) -> str:
        if not shapes:
            return ""
        text, numbers, kernel, step, pad = _windowed(name, constants, shapes, count)
        if divisor := constants.get("divisor_override"):
            return f"sum({text}, {_of(count)})/{divisor}"
        space = shapes[0][-count:]
        held = []
        for size, n, k, s, p in zip(space, numbers, kernel, step, pad, strict=True):
            least, most = (-p, size + p) if constants["count_include_pad"] else (0, size)
            held.append([min(i * s - p + k, most) - max(i * s - p, least) for i in range(n)])
        if all(of == k for k, counts in zip(kernel, held, strict=True) for of in counts):
            return f"mean({text}, {_of(count)})"
        counts = "*".join(
            f"{one}[{', '.join(':' if m == n else 'None' for m in range(count))}]" for n, one in enumerate(held)
        )
        return f"sum({text}, {_of(count)})/({counts})"

    return written


def _adaptive(count: int, fold: str) -> Callable[[Constants, Shapes], str]:
    name = f"adaptive_{'avg' if fold == 'mean' else 'max'}_pool{count}d"

    def written(constants: Constants, shapes: Shapes) -> str:
        if not shapes:
            return ""
        space = _space(name, shapes[0], count)
        sizes = sizes_of(name, "output_size", constants["output_size"], count)
        wanted = [size if n is None else n for size, n in zip(space, sizes, strict=True)]
        first, steps = len(shapes[0]) - count, ["a = input"]
        if min(wanted) < 1:
            raise ShapeError(f"{name} takes an output_size from 1 on")
        for axis, (size, n) in enumerate(zip(space, wanted, strict=True), first):
            steps.append(f"a = {regions('a', axis, size, n, fold)}")
        return "; ".join([*steps, "a"])

    return written


def regions(text: str, axis: int, size: int, count: int, fold: str) -> str:
    """The text of as many regions of a dimension as are wanted, each folded to one number."""
    if size % count == 0:
        return f"{fold}(windows({text}, {axis}, {size // count}, {size // count}), -1)"
    ends = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
    parts = [f"{fold}({text}[{':, ' * axis}{a}:{b}], {axis})" for a, b in ends]
    return f"stack([{', '.join(parts)}], {axis})"


# -- windows as columns, and back


def _columns(constants: Constants, shapes: Shapes) -> str:
    if not shapes:
        return ""
    space = _space("unfold", shapes[0], 2)
    kernel, apart, pad, step = (
        sizes_of("unfold", p, constants[p], 2) for p in ("kernel_size", "dilation", "padding", "stride")
    )
    first = len(shapes[0]) - 2
    text = windows(padded("input", [(p, p) for p in pad]), first, kernel, step, apart)
    places = [_places(*numbers, is_ceil=False)[0] for numbers in zip(space, kernel, step, pad, apart, strict=True)]
    order = (*range(first), first + 2, first + 3, first, first + 1)
    channels = shapes[0][first - 1]
    return shaped(
        f"permute({text}, {order})", (*shapes[0][: first - 1], channels * kernel[0] * kernel[1], places[0] * places[1])
    )


def _from_columns(constants: Constants, shapes: Shapes) -> str:
    """The sum over the places in a window of what lies step apart in the result."""
    if not shapes:
        return ""
    wanted, kernel, apart, pad, step = (
        sizes_of("fold", p, constants[p], 2) for p in ("output_size", "kernel_size", "dilation", "padding", "stride")
    )
    places = [_places(*numbers, is_ceil=False)[0] for numbers in zip(wanted, kernel, step, pad, apart, strict=True)]
    x, size = shapes[0], kernel[0] * kernel[1]
    if len(x) not in (2, 3) or x[-2] % size or x[-1] != places[0] * places[1]:
        raise ShapeError(
            f"fold takes (channels*{size}, {places[0] * places[1]}) for windows of this size, and the shape is {x}"
        )
    lead = x[:-2]
    steps = [f"a = {shaped('input', (*lead, x[-2] // size, *kernel, *places))}"]
    terms = []
    for row_at in range(kernel[0]):
        for column_at in range(kernel[1]):
            term = f"a[{':, ' * (len(lead) + 1)}{row_at}, {column_at}]"
            term = spread(term, (*lead, x[-2] // size, *places), 2, step)
            around = [
                (at * d - p, n + p - at * d - count * s)
                for at, d, p, n, count, s in zip((row_at, column_at), apart, pad, wanted, places, step, strict=True)
            ]
            terms.append(padded(term, around))
    return "; ".join([*steps, " + ".join(terms)])


def _unpooled(count: int) -> Callable[[Constants, Shapes], str]:
    name = f"max_unpool{count}d"

    def written(constants: Constants, shapes: Shapes) -> str:
        if not shapes:
            return ""
        space = _space(name, shapes[0], count)
        kernel = sizes_of(name, "kernel_size", constants["kernel_size"], count)
        step = sizes_of(name, "stride", constants["stride"] or kernel, count)
        pad = sizes_of(name, "padding", constants["padding"], count)
        wanted = constants["output_size"] or [
            (n - 1) * s - 2 * p + k for n, s, p, k in zip(space, step, pad, kernel, strict=True)
        ]
        wanted = list(wanted)[-count:]
        lead, size = shapes[0][:-count], math.prod(wanted)
        if shapes[0] != shapes[1]:
            raise ShapeError(f"{name} takes as many indices as numbers, and the shapes are {shapes[0]} and {shapes[1]}")
        flat = (*lead, math.prod(space))
        chosen = f"{shaped('indices', flat)}[..., None] == arange({size})"
        return shaped(f"sum(where({chosen}, {shaped('input', flat)}[..., None], 0), -2)", (*lead, *wanted))

    return written


# -- the rows

_NESTED = {1: "[[1,5,2,4]]", 2: "[[[1,5,2],[4,3,7]]]", 3: "[[[[1,5],[2,4]],[[8,3],[7,6]]]]"}
_HALF = {1: ("[[5,4]]", "[[1,3]]"), 2: ("[[[5]]]", "[[[2]]]"), 3: ("[[[[5]]]]", "[[[[6]]]]")}


def _pool(signature: str, doc: str, meaning: str, example: str, **facts: Any) -> Op:
    name = signature.partition("(")[0].partition("|")[0]
    return row(
        signature,
        doc,
        meaning,
        **{"torch": f"nn.functional.{name}", "kind": Kind.DEFINED, "of_shapes": True, "example": example, **facts},
    )


def _rows(count: int) -> tuple[Op, ...]:
    x = _NESTED[count]
    divisor = ", divisor_override=None" * (count > 1)
    return (
        _pool(
            f"avg_pool{count}d(input, kernel_size=, stride=None, padding=0, ceil_mode=False, "
            f"count_include_pad=True{divisor})",
            "the mean of each window; the windows lie side by side, or stride apart",
            "mean(windows(input))",
            f"avg_pool{count}d(x, 2) at x={x}",
            written=_mean(count),
        ),
        _pool(
            f"max_pool{count}d(input, kernel_size=, stride=None, padding=0, dilation=1, ceil_mode=False, "
            "return_indices=False)",
            "the largest element of each window; the windows lie side by side, or stride apart",
            "amax(windows(input))",
            f"max_pool{count}d(x, 2) at x={x}",
            written=_largest(count),
            caveat="a kink where two elements of a window are the largest",
        ),
        _pool(
            f"adaptive_avg_pool{count}d(input, output_size=)",
            "the means of as many regions as are wanted",
            "mean over floor(i*n/m) to ceil((i + 1)*n/m)",
            f"adaptive_avg_pool{count}d(x, 2) at x={x}",
            written=_adaptive(count, "mean"),
        ),
        _pool(
            f"adaptive_max_pool{count}d(input, output_size=)",
            "the largest elements of as many regions as are wanted",
            "amax over floor(i*n/m) to ceil((i + 1)*n/m)",
            f"adaptive_max_pool{count}d(x, 2) at x={x}",
            written=_adaptive(count, "amax"),
            caveat="a kink where two elements of a region are the largest",
        ),
        _pool(
            f"max_unpool{count}d(input, indices, kernel_size=, stride=None, padding=0, output_size=None)",
            "zeros with the elements of a max pool where they came from, by their flat indices",
            "sum(where(indices == position, input, 0))",
            f"max_unpool{count}d(x, i, 2) at x={_HALF[count][0]} i={_HALF[count][1]}",
            written=_unpooled(count),
            whole=("indices",),
        ),
    )


POOLING = (
    *(op for count in (1, 2, 3) for op in _rows(count)),
    _pool(
        "im2col(input, kernel_size=, dilation=1, padding=0, stride=1)",
        "the windows of a plane as columns, F.unfold",
        "permute(windows(input))",
        "im2col(x, 2) at x=[[[1,2,3],[4,5,6]]]",
        written=_columns,
        torch="nn.functional.unfold",
        caveat="F.unfold of torch; x.unfold(dim, size, step) is windows(x, dim, size, step)",
    ),
    _pool(
        "fold|col2im(input, output_size=, kernel_size=, dilation=1, padding=0, stride=1)",
        "columns back where they came from in a plane, summed where windows overlap",
        "the adjoint of im2col",
        "fold(x, (2, 3), 2) at x=[[1,2],[3,4],[5,6],[7,8]]",
        written=_from_columns,
    ),
)

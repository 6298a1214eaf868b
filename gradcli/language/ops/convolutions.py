"""Windows that slide over a tensor, and what sums over them: convolutions, and their adjoints.

A convolution is a sum of products over windows, and a transposed one that of windows over its input with zeros in
between, its kernel turned round:

    y[n,o,i]  =  Σ[c,k] w[o,c,k]·x[n,c,s·i + d·k - p]
    y[n,o,j]  =  Σ[c,i,k] w[c,o,k]·x[n,c,i] where s·i + d·k - p = j

Source: V. Dumoulin, F. Visin, "A guide to convolution arithmetic for deep learning", 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.errors import ShapeError
from gradcli.language.ops.row import Kind, Op, Shapes, known, row

Constants = Mapping[str, Any]


def sizes_of(name: str, parameter: str, value: Any, count: int) -> tuple[int, ...]:
    """A constant of each spatial dimension; one number is that of all.

    Raises:
        ShapeError: there are others than dimensions.
    """
    found = value if isinstance(value, tuple) else (value,)
    found = found * count if len(found) == 1 else found
    if len(found) != count:
        raise ShapeError(f"{name} has {count} dimensions of space, and {parameter} is {value}")
    if parameter in ("kernel_size", "stride", "dilation") and min(found) < 1:
        raise ShapeError(f"{name} takes a {parameter} from 1 on, and not {value}")
    return found


def windows(text: str, first: int, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> str:
    """The text of windows along dimensions that follow each other; their places are the last dimensions."""
    for n, (size, step, apart) in enumerate(zip(kernel, stride, dilation, strict=True)):
        text = f"windows({text}, {first + n}, {size}, {step}, {apart})"
    return text


def padded(text: str, pairs: Sequence[tuple[int, int]], value: str = "") -> str:
    """The text with elements before and after its last dimensions."""
    if all(pair == (0, 0) for pair in pairs):
        return text
    widths = ", ".join(f"{before}, {after}" for before, after in reversed(pairs))
    return f"pad({text}, ({widths}){f', value={value}' * bool(value)})"


def shaped(text: str, shape: Sequence[int]) -> str:
    """The text in another shape."""
    return f"reshape({text}, ({', '.join(map(str, shape))},))"


def _require_layer(name: str, shapes: Shapes, count: int, channels: int, features: int, groups: int) -> None:
    """Refuse shapes that do not fit each other."""
    x, weight, bias = shapes
    shown = f"and the shapes are {x} and {weight}"
    if len(x) not in (count + 1, count + 2) or len(weight) != count + 2:
        space = ", ".join("LHWD"[1 : count + 1] if count > 1 else "L")
        raise ShapeError(
            f"{name} takes an input of {count + 1} or {count + 2} dimensions and a weight of {count + 2}, {shown}",
            hint=f"input is (channels, {space}) or (samples, channels, {space})",
        )
    if groups < 1 or x[-count - 1] != channels or features % groups or channels % groups:
        each = f" in {groups} groups" * (groups != 1)
        raise ShapeError(
            f"{name} needs the weight's {channels} channels{each}, and input has {x[-count - 1]}: {shown[4:]}"
        )
    if bias not in ((), (features,)):
        raise ShapeError(f"{name} takes a bias of the shape {(features,)}, and this has {bias}")


def _paddings(name: str, given: Any, kernel: Sequence[int], dilation: Sequence[int], stride: Sequence[int]) -> Any:
    """How many zeros before and after each dimension of space."""
    if given == "same":
        if any(step != 1 for step in stride):
            raise ShapeError(f"{name} takes padding='same' with a stride of 1 only")
        spans = [apart * (size - 1) for size, apart in zip(kernel, dilation, strict=True)]
        return [(span // 2, span - span // 2) for span in spans]
    given = 0 if given == "valid" else given
    return [(n, n) for n in sizes_of(name, "padding", given, len(kernel))]


def _summed(window: str, weight: str, shapes: tuple[Sequence[int], Sequence[int]], count: int, groups: int) -> str:
    """The sum of products of windows (samples, channels, places, kernel) with a weight (features, channels, kernel)."""
    (*samples, _), (features, inside, *kernel) = shapes
    lead, nones = ":, " * len(samples), "None, " * count
    summed = (len(samples) + 1, *range(-count, 0))
    if groups == 1:
        return f"sum(({window})[{lead}None]*({weight})[:, :, {nones}...], {summed})"
    grouped = f"reshape({weight}, ({groups}, {features // groups}, {inside}, {', '.join(map(str, kernel))}))"
    summed = (len(samples) + 2, *range(-count, 0))
    return f"sum(({window})[{lead}:, None]*{grouped}[:, :, :, {nones}...], {summed})"


def _with_bias(text: str, shapes: Shapes, count: int) -> str:
    return f"{text} + bias[:, {', '.join(['None'] * count)}]" if shapes[2] else text


def _convolution(count: int) -> Callable[[Constants, Shapes], str]:
    name = f"conv{count}d"

    def written(constants: Constants, shapes: Shapes) -> str:
        if not shapes:
            return ""
        x, weight, _ = shapes
        groups = constants["groups"]
        features, inside, *kernel = weight if len(weight) == count + 2 else (0,) * (count + 2)
        _require_layer(name, shapes, count, inside * groups, features, groups)
        stride, dilation = (sizes_of(name, p, constants[p], count) for p in ("stride", "dilation"))
        around = _paddings(name, constants["padding"], kernel, dilation, stride)
        first = len(x) - count
        found = windows(padded("input", around), first, kernel, stride, dilation)
        places = [
            (size + before + after - apart * (k - 1) - 1) // step + 1
            for size, (before, after), apart, k, step in zip(x[first:], around, dilation, kernel, stride, strict=True)
        ]
        if groups > 1:
            found = shaped(found, (*x[: first - 1], groups, inside, *places, *kernel))
        text = _summed(found, "weight", ((*x[: first - 1], inside), weight), count, groups)
        if groups > 1:
            text = shaped(text, (*x[: first - 1], features, *places))
        return _with_bias(text, shapes, count)

    return written


def spread(text: str, shape: Sequence[int], count: int, stride: Sequence[int]) -> str:
    """The text with stride - 1 zeros behind each element of the last dimensions."""
    if all(step == 1 for step in stride):
        return text
    kept, space = tuple(shape[: len(shape) - count]), shape[len(shape) - count :]
    text = shaped(text, (*kept, *(n for size in space for n in (size, 1))))
    text = padded(text, [pair for step in stride for pair in ((0, 0), (0, step - 1))])
    return shaped(text, (*kept, *(size * step for size, step in zip(space, stride, strict=True))))


def _transposed(count: int) -> Callable[[Constants, Shapes], str]:
    name = f"conv_transpose{count}d"

    def written(constants: Constants, shapes: Shapes) -> str:
        if not shapes:
            return ""
        x, weight, _ = shapes
        groups = constants["groups"]
        channels, outside, *kernel = weight if len(weight) == count + 2 else (0,) * (count + 2)
        _require_layer(name, shapes, count, channels, outside * groups, groups)
        named = [sizes_of(name, p, constants[p], count) for p in ("stride", "padding", "output_padding", "dilation")]
        stride, padding, behind, dilation = named
        if any(more >= max(step, apart) for more, step, apart in zip(behind, stride, dilation, strict=True)):
            raise ShapeError(f"{name} takes an output_padding below its stride or dilation")
        first = len(x) - count
        spans = [apart * (size - 1) for size, apart in zip(kernel, dilation, strict=True)]
        around = [
            (span - pad, span - pad + more - (step - 1))
            for span, pad, more, step in zip(spans, padding, behind, stride, strict=True)
        ]
        places = [
            size * step + before + after - span
            for size, step, (before, after), span in zip(x[first:], stride, around, spans, strict=True)
        ]
        if min(places) < 1:
            raise ShapeError(f"{name} leaves nothing of the shape {x} without the padding {padding}")
        found = windows(padded(spread("input", x, count, stride), around), first, kernel, [1] * count, dilation)
        turned = f"flip(weight, {tuple(range(2, count + 2))})"
        samples, inside = x[: first - 1], channels // groups
        if groups == 1:
            text = _summed(
                found, f"transpose({turned}, 0, 1)", ((*samples, channels), (outside, channels, *kernel)), count, 1
            )
            return _with_bias(text, shapes, count)
        found = shaped(found, (*samples, groups, inside, *places, *kernel))
        grouped = shaped(turned, (groups, inside, outside, *kernel))
        turned = shaped(f"transpose({grouped}, 1, 2)", (groups * outside, inside, *kernel))
        text = _summed(found, turned, ((*samples, inside), (groups * outside, inside, *kernel)), count, groups)
        return _with_bias(shaped(text, (*samples, groups * outside, *places)), shapes, count)

    return written


_EXAMPLES = {
    1: ("[[1,2,4,3]]", "[[[1,-1]]]"),
    2: ("[[[1,2],[4,3]]]", "[[[[1,-1],[2,0]]]]"),
    3: ("[[[[1,2]],[[4,3]]]]", "[[[[[1,-1]],[[2,0]]]]]"),
}


def _layer(count: int, *, is_transposed: bool) -> Op:
    name = f"conv_transpose{count}d" if is_transposed else f"conv{count}d"
    more = "padding=0, output_padding=0, groups=1, dilation=1" if is_transposed else "padding=0, dilation=1, groups=1"
    space = ("a line", "a plane", "space")[count - 1]
    what = (
        f"the adjoint of conv{count}d by its input"
        if is_transposed
        else f"the sums of products of a kernel with windows along {space}"
    )
    x, weight = _EXAMPLES[count]
    return row(
        f"{name}(input, weight, bias, stride=1, {more})",
        what,
        f"the sum over windows(input)*{'flip(weight)' if is_transposed else 'weight'}, and bias",
        written=_transposed(count) if is_transposed else _convolution(count),
        of_shapes=True,
        torch=f"nn.functional.{name}",
        kind=Kind.DEFINED,
        defaults={"bias": 0},
        optional=("bias",),
        example=f"{name}(x, w) at x={x} w={weight}",
    )


CONVOLUTIONS = (
    known(
        "windows(x, dim=, size=, step=1, dilation=1)",
        "the windows of size elements along dim, from step to step, as a new last dimension",
        torch="",
        qualified=("unfold",),
        kind=Kind.MOVEMENT,
        keeps_order=False,
        caveat="x.unfold(dim, size, step) of torch, not F.unfold; dilation is from one element of a window to the next",
        example="windows(x, 0, 2) at x=1,2,3",
    ),
    *(_layer(count, is_transposed=False) for count in (1, 2, 3)),
    *(_layer(count, is_transposed=True) for count in (1, 2, 3)),
)

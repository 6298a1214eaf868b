"""Windows that slide over a tensor: convolutions and pools, in functions of torch.

    y[n,o,i]  =  Σ[c,k] w[o,c,k]·x[n,c,s·i + d·k - p]
    y[n,o,j]  =  Σ[c,i,k] w[c,o,k]·x[n,c,i] where s·i + d·k - p = j, transposed

Source: V. Dumoulin, F. Visin, "A guide to convolution arithmetic for deep learning", 2016.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor

Ints = Sequence[int]

MOST_WINDOW_PRODUCTS = 2**24
"""Largest product of the elements of windows and of a kernel for which their products are written out."""


def padded(x: Tensor, axis: int, before: int, after: int, value: float = 0.0) -> Tensor:
    """Add elements of one value before and after those of an axis."""
    widths = [0, 0] * (x.ndim - 1 - axis) + [before, after]
    return torch.nn.functional.pad(x, widths, value=value) if before or after else x


def _windows(
    x: Tensor,
    count: int,
    sizes: Ints,
    steps: Ints,
    pads: Ints,
    apart: Ints = (1,),
    *,
    more: float | None = None,
    fill: float = 0.0,
) -> Tensor:
    """Lay the windows of the last dimensions along new dimensions.

    Args:
        x: The tensor that the windows slide over.
        count: How many dimensions.
        sizes: Sizes of a window.
        steps: Steps from one window to the next, or its sizes if there are none.
        pads: How much there is before the first element and after the last.
        apart: Steps from one element of a window to the next.
        more: The number beyond the padding, where a last window may reach beyond that.
        fill: The number in the padding.
    """
    first = x.ndim - count
    each = [[*one] * (count // len(one)) for one in (sizes, steps or sizes, pads, apart)]
    for axis, pad in enumerate(each[2], first):
        x = padded(x, axis, pad, pad, fill)
    for axis, (size, step, pad, by) in enumerate(zip(*each, strict=True), first):
        span = by * (size - 1) + 1
        room = x.shape[axis] - span
        rest = -room % step
        if more is not None and room + rest < x.shape[axis] - pad:  # else that window would begin after the end
            x = padded(x, axis, 0, rest, more)
        x = x.unfold(axis, span, step)[..., ::by]
    return x


def unfold_backward(grad: Tensor, sizes: Ints, dim: int, size: int, step: int) -> Tensor:
    """Add the gradients of the elements of each window, with zeros between windows."""
    spread = padded(grad.unsqueeze(dim + 1), dim + 1, 0, step - 1).flatten(dim, dim + 1)
    more = sizes[dim] - spread.shape[dim]
    return functools.reduce(torch.add, (padded(spread[..., k], dim, k, more - k) for k in range(size)))


def _inside(count: int) -> tuple[int, ...]:
    return tuple(range(-count, 0))


def convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> Tensor:
    """Sum over windows; a transposed one slides a turned kernel over the input with zeros in between."""
    count = weight.ndim - 2
    each = [[*one] * (count // len(one)) for one in (stride, padding, dilation, output_padding)]
    if transposed:
        weight = weight.unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1).flip(_inside(count))
        for axis, (step, pad, apart, more) in enumerate(zip(*each, strict=True), 2):
            span = apart * (weight.shape[axis] - 1)
            x = padded(x.unsqueeze(axis + 1), axis + 1, 0, step - 1).flatten(axis, axis + 1)
            x = padded(x, axis, span - pad, span - pad + more - (step - 1))
        stride, padding = (1,), (0,)
    x = _windows(x, count, weight.shape[2:], stride, padding, dilation)
    if groups > 1 or x.numel() * weight.numel() > MOST_WINDOW_PRODUCTS:
        letters, places = "abc"[:count], "xyz"[:count]
        parts = x.unflatten(1, (groups, -1)), weight.unflatten(0, (groups, -1))
        found = torch.einsum(f"ngi{places}{letters},goi{letters}->ngo{places}", *parts).flatten(1, 2)
    else:
        found = (x.unsqueeze(1) * weight[(..., *[None] * count, *[slice(None)] * count)]).sum((2, *_inside(count)))
    return found if bias is None else found + bias[(slice(None), *[None] * count)]


def columns(x: Tensor, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Tensor:
    """Lay the windows of two dimensions out as columns."""
    found = _windows(x, 2, kernel, stride, padding, dilation)
    return found.movedim((-2, -1), (-4, -3)).flatten(-5, -3).flatten(-2)


def mean_pool(
    count: int,
    x: Tensor,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    is_ceil: bool,
    counts_padding: bool,
    divisor: int | None,
) -> Tensor:
    """Average over windows."""
    slide = functools.partial(
        _windows, count=count, sizes=kernel, steps=stride, pads=padding, more=0.0 if is_ceil else None
    )
    ones = torch.ones(x.shape[-count:], dtype=x.dtype)
    return slide(x).sum(_inside(count)) / (divisor or slide(ones, fill=float(counts_padding)).sum(_inside(count)))


def largest_pool(
    count: int, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, is_ceil: bool
) -> Tensor:
    """Take the largest element of each window."""
    low = -math.inf
    x = _windows(x, count, kernel, stride, padding, dilation, more=low if is_ceil else None, fill=low)
    return x.amax(_inside(count))


def adaptive_pool(fold: str, x: Tensor, sizes: Sequence[int]) -> Tensor:
    """Fold regions: the i-th of m over n elements goes from floor(i·n/m) to ceil((i + 1)·n/m)."""
    for axis, wanted in enumerate(sizes, x.ndim - len(sizes)):
        size = x.shape[axis]
        ends = [(n * size // wanted, -(-(n + 1) * size // wanted)) for n in range(wanted)]
        if not wanted:
            x = x.narrow(axis, 0, 0)
        elif size % wanted == 0:
            x = getattr(x.unfold(axis, size // wanted, size // wanted), fold)(-1)
        else:
            x = torch.stack([getattr(x.narrow(axis, a, b - a), fold)(axis) for a, b in ends], axis)
    return x


MOST_POOLED = 2**12
"""Most elements of a fractional pool, whose regions are written out one by one."""


def fractional_pool(x: Tensor, kernel: Ints, sizes: Ints, samples: Tensor) -> Tensor:
    """Take the largest element of regions that begin at drawn places, in the last two dimensions."""
    planes = x.reshape(-1, *x.shape[-2:])
    if len(planes) * math.prod(sizes) > MOST_POOLED:
        result: Tensor = NotImplemented
        return result
    draws = samples.reshape(-1, 2).tolist()  # of the width, then of the height
    found = [
        plane[top : top + kernel[0], left : left + kernel[1]].amax()
        for plane, (of_width, of_height) in zip(planes, draws, strict=True)
        for top in _drawn_starts(x.shape[-2], kernel[0], sizes[0], of_height)
        for left in _drawn_starts(x.shape[-1], kernel[1], sizes[1], of_width)
    ]
    return torch.stack(found).reshape(*x.shape[:-2], *sizes)


def _drawn_starts(size: int, span: int, count: int, sample: float) -> list[int]:
    """Find where the regions of one dimension begin: at floor((i + u)·a) - floor(u·a), and the last at the end."""
    step = (size - span) / max(count - 1, 1)
    return [*(int((n + sample) * step) - int(sample * step) for n in range(count - 1)), size - span]

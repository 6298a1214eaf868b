"""Convolutions and pools in functions of torch: what sums, or folds, windows that slide over a tensor.

    y[n,o,i]  =  Σ[c,k] w[o,c,k]·x[n,c,s·i + d·k - p]
    y[n,o,j]  =  Σ[c,i,k] w[c,o,k]·x[n,c,i] where s·i + d·k - p = j, transposed

Source: V. Dumoulin, F. Visin, "A guide to convolution arithmetic for deep learning", 2016.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor

MOST_TERMS = 2**24
"""Elements of windows and of a kernel, multiplied, up to which a formula has their products, and memory too."""


def _padded(x: Tensor, axis: int, before: int, after: int, value: float = 0.0) -> Tensor:
    widths = [0, 0] * (x.ndim - 1 - axis) + [before, after]
    return torch.nn.functional.pad(x, widths, value=value) if before or after else x


def _windows(
    x: Tensor,
    count: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int] = (1,),
    *,
    is_ceil: bool = False,
    fill: float = 0.0,
    beyond: float = 0.0,
) -> Tensor:
    """Lay the windows of the last dimensions along new ones.

    Args:
        x: What they slide over.
        count: How many dimensions.
        kernel: Sizes of a window.
        stride: From window to window; the sizes where it is empty.
        padding: How much there is before the first element and after the last.
        dilation: From one element of a window to the next.
        is_ceil: Whether a last window may reach beyond that.
        fill: What the padding holds.
        beyond: What lies beyond.
    """
    first = x.ndim - count
    each = [[*one] * (count // len(one)) for one in (kernel, stride or kernel, padding, dilation)]
    for axis, pad in enumerate(each[2], first):
        x = _padded(x, axis, pad, pad, fill)
    for axis, (size, step, pad, apart) in enumerate(zip(*each, strict=True), first):
        span = apart * (size - 1) + 1
        room = x.shape[axis] - span
        more = -room % step if is_ceil else 0
        more *= room + more < x.shape[axis] - pad  # else that window would begin after the end
        x = _padded(x, axis, 0, more, beyond).unfold(axis, span, step)[..., ::apart]
    return x


def _unfold_backward(grad: Tensor, sizes: Sequence[int], dim: int, size: int, step: int) -> Tensor:
    """Add what flows back to each element of a window, with zeros between windows."""
    spread = _padded(grad.unsqueeze(dim + 1), dim + 1, 0, step - 1).flatten(dim, dim + 1)
    more = sizes[dim] - spread.shape[dim]
    return functools.reduce(torch.add, (_padded(spread[..., k], dim, k, more - k) for k in range(size)))


def _inside(count: int) -> tuple[int, ...]:
    return tuple(range(-count, 0))


def _convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    *_: Any,
) -> Tensor:
    """Sum over windows; a transposed one slides a turned kernel over the input with zeros in between."""
    count = weight.ndim - 2
    each = [[*one] * (count // len(one)) for one in (stride, padding, dilation, output_padding)]
    if transposed:
        weight = weight.unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1).flip(_inside(count))
        for axis, (step, pad, apart, more) in enumerate(zip(*each, strict=True), 2):
            span = apart * (weight.shape[axis] - 1)
            x = _padded(x.unsqueeze(axis + 1), axis + 1, 0, step - 1).flatten(axis, axis + 1)
            x = _padded(x, axis, span - pad, span - pad + more - (step - 1))
        stride, padding = (1,), (0,)
    x = _windows(x, count, weight.shape[2:], stride, padding, dilation)
    if groups > 1 or x.numel() * weight.numel() > MOST_TERMS:
        letters, places = "abc"[:count], "xyz"[:count]
        parts = x.unflatten(1, (groups, -1)), weight.unflatten(0, (groups, -1))
        found = torch.einsum(f"ngi{places}{letters},goi{letters}->ngo{places}", *parts).flatten(1, 2)
    else:
        found = (x.unsqueeze(1) * weight[(..., *[None] * count, *[slice(None)] * count)]).sum((2, *_inside(count)))
    return found if bias is None else found + bias[(slice(None), *[None] * count)]


def _columns(
    x: Tensor, kernel: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> Tensor:
    found = _windows(x, 2, kernel, stride, padding, dilation)
    return found.movedim((-2, -1), (-4, -3)).flatten(-5, -3).flatten(-2)


def _mean_pool(
    count: int,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Tensor:
    where = kernel, stride, padding
    found = _windows(x, count, *where, is_ceil=ceil_mode).sum(_inside(count))
    held = torch.ones(x.shape[-count:], dtype=x.dtype)
    held = _windows(held, count, *where, is_ceil=ceil_mode, fill=float(count_include_pad)).sum(_inside(count))
    return found / (divisor or held)


def _largest_pool(count: int, x: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> Any:
    low = -math.inf
    x = _windows(x, count, kernel, stride, padding, dilation, is_ceil=ceil, fill=low, beyond=low)
    return x.amax(_inside(count)), None


def _adaptive_pool(fold: str, x: Tensor, sizes: Sequence[int]) -> Tensor:
    """Fold regions: the i-th of m over n elements goes from floor(i·n/m) to ceil((i + 1)·n/m)."""
    for axis, wanted in enumerate(sizes, x.ndim - len(sizes)):
        size = x.shape[axis]
        ends = [(n * size // wanted, -(-(n + 1) * size // wanted)) for n in range(wanted)]
        if size % wanted == 0:
            x = getattr(x.unfold(axis, size // wanted, size // wanted), fold)(-1)
        else:
            x = torch.stack([getattr(x.narrow(axis, a, b - a), fold)(axis) for a, b in ends], axis)
    return x


def _embedding_bag(weight: Tensor, index: Tensor, offsets: Tensor, scale: Any, mode: int, *_: Any, **__: Any) -> Any:
    """Fold the rows of bags of one length."""
    if len(index) % max(len(offsets), 1) or (offsets.diff() != len(index) // len(offsets)).any():
        return NotImplemented
    fold = ("sum", "mean", "amax")[mode]
    return getattr(weight[index].unflatten(0, (len(offsets), -1)), fold)(1), None, None, None


def _distances(x: Tensor, p: float) -> Tensor:
    first, second = torch.triu_indices(len(x), len(x), 1)
    return torch.linalg.vector_norm(x[first] - x[second], p, -1)


def _all_distances(x1: Tensor, x2: Tensor, p: float) -> Tensor:
    return torch.linalg.vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


def _back(forward: Callable[..., Tensor], grad: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    """Go back through a function as autograd does."""
    is_above = torch._C._SetExcludeDispatchKeyGuard(torch._C.DispatchKey.AutogradFunctionality, False)
    with is_above, torch.enable_grad():
        leaves = [one.detach().requires_grad_() for one in inputs]
        return torch.autograd.grad(forward(*leaves), leaves, grad)


def _convolution_backward(grad: Tensor, x: Tensor, weight: Tensor, _: Any, *how: Any) -> tuple[Tensor | None, ...]:
    *where, mask = how
    of_x, of_weight = _back(lambda x, weight: _convolution(x, weight, None, *where), grad, x, weight)
    found = zip((of_x, of_weight, grad.sum((0, *range(2, grad.ndim)))), mask, strict=True)
    return tuple(one if is_wanted else None for one, is_wanted in found)


WINDOWED: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys("convolution _convolution mkldnn_convolution".split(), _convolution),
    "unfold_backward": _unfold_backward,
    "im2col": _columns,
    **{f"avg_pool{n}d": functools.partial(_mean_pool, n) for n in (2, 3)},
    **{f"max_pool{n}d_with_indices": functools.partial(_largest_pool, n) for n in (2, 3)},
    **{f"_adaptive_avg_pool{n}d": functools.partial(_adaptive_pool, "mean") for n in (2, 3)},
    **{f"adaptive_max_pool{n}d": lambda x, sizes: (_adaptive_pool("amax", x, sizes), None) for n in (2, 3)},
    **dict.fromkeys("_embedding_bag _embedding_bag_forward_only".split(), _embedding_bag),
    "convolution_backward": _convolution_backward,
    "_pdist_forward": _distances,
    "_pdist_backward": lambda grad, x, p, _: _back(lambda x: _distances(x, p), grad, x)[0],
    "_cdist_backward": lambda grad, x1, x2, p, _: _back(lambda x1: _all_distances(x1, x2, p), grad, x1)[0],
}
"""By the name of an operation of ATen."""

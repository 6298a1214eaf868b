"""Layers and losses that torch's tables do not decompose, in functions of torch."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.aten_calls import Argument

_LSTM = 2
"""Number of the LSTM among the recurrent layers of oneDNN."""


def recurrent_layer(
    x: Tensor,
    of_input: Tensor,
    of_state: Tensor,
    input_bias: Tensor,
    state_bias: Tensor,
    hidden: Tensor,
    cell: Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    *_: object,
) -> Argument:
    """Step an LSTM through time, the first dimension, or back.

    Source: S. Hochreiter, J. Schmidhuber, "Long short-term memory", Neural Computation 9, 1997, with a forget gate.
    """
    if mode != _LSTM or batch_sizes:
        return NotImplemented
    h, c = (one.reshape(x.shape[1], -1) for one in (hidden, cell))
    outputs = []
    for step in x.flip(0) if reverse else x:
        gates = step @ of_input.mT + input_bias + h @ of_state.mT + state_bias
        i, f, g, o = gates.chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs.append(h)
    y = torch.stack(outputs[::-1] if reverse else outputs)
    return y, h.reshape(hidden.shape), c.reshape(cell.shape), None


def embedding_bag(
    weight: Tensor,
    index: Tensor,
    offsets: Tensor,
    by_frequency: bool = False,
    mode: int = 0,
    sparse: bool = False,
    factors: Tensor | None = None,
    has_last: bool = False,
    padding: int = -1,
) -> Argument:
    """Fold the rows of each bag, but for those of the padding."""
    places, starts = index.tolist(), offsets.tolist()
    ends = starts if has_last else [*starts, len(places)]
    fold = ("sum", "mean", "amax")[mode]
    found = []
    for first, last in itertools.pairwise(ends):
        kept = [n for n in range(first, last) if places[n] != padding]
        rows = weight[index[kept]]
        rows = rows if factors is None else rows * factors[kept].unsqueeze(-1)
        found.append(getattr(rows, fold)(0) if kept else weight.new_zeros(weight.shape[1]))
    return torch.stack(found) if found else NotImplemented


def linear_cross_entropy(
    x: Tensor,
    linear: Tensor,
    target: Tensor,
    bias: Tensor | None,
    weight: Tensor | None,
    reduction: str,
    ignored: int,
    smoothing: float,
    *_: object,
) -> Argument:
    """Take the cross entropy of a linear layer, whose gradients torch computes on the way."""
    logits = torch.nn.functional.linear(x, linear, bias)
    loss = torch.nn.functional.cross_entropy
    found = loss(logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=smoothing)
    return found, None, None, None


def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Argument:
    """Sum max(0, 1 - x[i] + x[j]) over labels i, which end at the first -1, and classes j that are none."""
    losses = []
    for x, labels in zip(torch.atleast_2d(self), torch.atleast_2d(target), strict=True):
        own = list(itertools.takewhile(lambda n: n >= 0, labels.tolist()))
        others = [n for n in range(len(x)) if n not in own]
        margins = 1 - x[own].unsqueeze(1) + x[others]
        losses.append(margins.clamp(min=0).sum() / len(x))
    found = torch.stack(losses).reshape(self.shape[:-1])
    return (found, found.mean(), found.sum())[reduction], None


def grid_sample_3d(x: Tensor, grid: Tensor, mode: int, padding: int, is_aligned: bool) -> Tensor:
    """Interpolate linearly between eight neighbours (0), or take the nearest one (1), at places from -1 to 1."""
    sizes = x.shape[-1:-4:-1]  # as the places name them: width, height, depth
    places = [_place(grid[..., n], size, padding, is_aligned) for n, size in enumerate(sizes)]
    if mode:
        return _elements(x, [torch.round(one) for one in places])
    floors = [torch.floor(one) for one in places]
    shares = [one - floor for one, floor in zip(places, floors, strict=True)]
    terms = []
    for corner in itertools.product((0, 1), repeat=3):
        weights = [share if n else 1 - share for share, n in zip(shares, corner, strict=True)]
        found = _elements(x, [floor + n for floor, n in zip(floors, corner, strict=True)])
        terms.append(found * functools.reduce(torch.mul, weights).unsqueeze(1))
    return functools.reduce(torch.add, terms)


def _place(at: Tensor, size: int, padding: int, is_aligned: bool) -> Tensor:
    """Scale places to elements; those outside stay (0), or are moved to the border (1), or mirrored at it (2)."""
    found = (at + 1) / 2 * (size - 1) if is_aligned else ((at + 1) * size - 1) / 2
    if padding == 2:
        low, high = (0.0, size - 1.0) if is_aligned else (-0.5, size - 0.5)
        span = high - low
        beyond = (found - low).abs()
        turns = torch.floor(beyond / span) if span else torch.zeros_like(beyond)
        rest = beyond - turns * span
        found = torch.where(turns % 2 == 0, rest + low, high - rest) if span else torch.zeros_like(found)
    return found.clamp(0, size - 1) if padding else found


def _elements(x: Tensor, places: Sequence[Tensor]) -> Tensor:
    """Take elements of each channel at whole places, and 0 outside."""
    sizes = x.shape[-1:-4:-1]
    inside = functools.reduce(
        torch.logical_and, [(one >= 0) & (one < size) for one, size in zip(places, sizes, strict=True)]
    )
    w, h, d = (one.clamp(0, size - 1).to(torch.int64) for one, size in zip(places, sizes, strict=True))
    sample = torch.arange(len(x)).reshape(-1, 1, 1, 1)
    found = x[sample, :, d, h, w].movedim(-1, 1)
    return torch.where(inside.unsqueeze(1), found, 0.0)

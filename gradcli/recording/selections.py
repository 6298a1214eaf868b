"""Elements chosen by the order of values, and folds over those that positions choose, in functions of torch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.aten_calls import Argument

_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}
"""Neutral element of each fold."""


def scatter_reduce(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool = True, **_: object
) -> Tensor:
    """Fold the source elements at each position, together with the old element or in its place."""
    if any(m != n for k, (m, n) in enumerate(zip(self.shape, index.shape, strict=True)) if k != dim % self.ndim):
        result: Tensor = NotImplemented
        return result
    source = src[tuple(map(slice, index.shape))]
    if reduce == "sum" and include_self:
        return self.scatter_add(dim, index, source)
    count = torch.zeros(self.shape, dtype=self.dtype).scatter_add(dim, index, torch.ones(index.shape, dtype=self.dtype))
    if reduce in ("sum", "mean"):
        found = torch.zeros(self.shape, dtype=self.dtype).scatter_add(dim, index, source)
    else:
        hits = index.unsqueeze(-1) == torch.arange(self.shape[dim])
        values = torch.where(hits, source.unsqueeze(-1), _NEUTRAL[reduce])
        found = getattr(values, reduce)(dim).movedim(-1, dim % self.ndim)
    if include_self:
        folds = {"prod": torch.mul, "amax": torch.maximum, "amin": torch.minimum}
        whole = folds.get(reduce, torch.add)(self, found)
        return whole / (count + 1) if reduce == "mean" else whole
    found = found / torch.where(count > 0, count, 1.0) if reduce == "mean" else found
    return torch.where(count > 0, found, self)


def kth(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Tensor:
    """Take the k-th smallest element."""
    found = self.sort(dim=dim)[0]
    return found.narrow(dim, k - 1, 1) if keepdim else found.select(dim, k - 1)


def topk(self: Tensor, k: int, dim: int = -1, largest: bool = True, *_: object) -> Tensor:
    """Take the k largest or smallest elements."""
    return self.sort(dim=dim, descending=largest)[0].narrow(dim, 0, k)


def median(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Take the element in the middle, of two the smaller one."""
    if dim is None:
        return median(self.reshape(-1), 0)
    return kth(self, (self.shape[dim] + 1) // 2, dim, keepdim)


def nanmedian(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Take the median of the elements that are no NaN, of each line along a dimension."""
    if dim is None:
        return nanmedian(self.reshape(-1), 0)
    lines = self.movedim(dim, -1)
    with torch_internals.without_dispatch():
        known = [line.isnan().logical_not().nonzero().flatten() for line in lines.reshape(-1, lines.shape[-1])]
    if not all(len(places) for places in known):
        result: Tensor = NotImplemented
        return result
    medians = [median(line[places]) for line, places in zip(lines.reshape(-1, lines.shape[-1]), known, strict=True)]
    found = torch.stack(medians).reshape(lines.shape[:-1])
    return found.unsqueeze(dim) if keepdim else found


def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> Tensor:
    """Take the smallest element, if no two are equal: then each is as frequent as the others."""
    with torch_internals.without_dispatch():
        are_equal = bool((self.sort(dim).values.diff(dim=dim) == 0).any())
    return NotImplemented if are_equal else self.amin(dim, keepdim)


def index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool = True
) -> Tensor:
    """Fold slices of the source at each position."""
    shape = [-1 if n == dim % source.ndim else 1 for n in range(source.ndim)]
    return scatter_reduce(self, dim, index.reshape(shape).expand(source.shape), source, reduce, include_self)


_FOLDS = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "amax", "min": "amin"}


def segment_reduce(
    data: Tensor,
    reduce: str,
    lengths: Tensor | None = None,
    indices: object = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Fold neighbours along an axis, of which each segment has its own number."""
    counts = lengths if offsets is None else offsets.diff(dim=-1)
    if counts is None:
        result: Tensor = NotImplemented
        return result
    if axis:
        each = zip(data, counts, strict=True)
        return torch.stack([segment_reduce(one, reduce, n, axis=axis - 1, initial=initial) for one, n in each])
    return torch.stack([_folded(one, reduce, initial) for one in _segments(data, counts.tolist())])


def _segments(data: Tensor, counts: Sequence[int]) -> Sequence[Tensor]:
    ends = [sum(counts[:n]) for n in range(len(counts) + 1)]
    return [data[first:last] for first, last in itertools.pairwise(ends)]


def _folded(segment: Tensor, reduce: str, initial: float | None) -> Tensor:
    fold, start = _FOLDS[reduce], initial
    if start is None:
        start = math.nan if reduce == "mean" and not len(segment) else _NEUTRAL[fold]
    if not len(segment):
        return torch.full(segment.shape[1:], start, dtype=segment.dtype)
    found: Tensor = getattr(segment, fold)(0)
    if start == _NEUTRAL[fold]:
        return found
    match reduce:
        case "mean":
            found = found + start / len(segment)
        case "sum":
            found = found + start
        case "prod":
            found = found * start
        case _:
            found = found.clamp(min=start) if reduce == "max" else found.clamp(max=start)
    return found


def mantissa(self: Tensor) -> tuple[Argument, ...]:
    """Divide by the power of two above each number."""
    return self / torch.exp2(torch.floor(torch.log2(self.abs())) + 1), None


def nextafter(self: Tensor, other: Tensor) -> Tensor:
    """Add the step to the next number, which is a constant: between powers of two all steps are equal."""
    with torch_internals.without_dispatch():
        step = torch.nextafter(self, other) - self
    return self + step

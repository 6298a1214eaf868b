"""Positions that values decide, as those of the largest: where two values are the same number, others may be taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor

_LARGEST = frozenset(["argmax", "max"])

_SMALLEST = frozenset(["argmin", "min"])

_ORDER = frozenset("argsort sort msort median nanmedian mode kthvalue".split())
"""What all values decide."""


def distinct(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor | None:
    """Where the values differ that decide the positions which a function gives; None of what is no such function.

    Args:
        name: Of the function of torch.
        args: What it is given.
        kwargs: By name.

    >>> distinct("argmax", [torch.tensor([3.0, 1.0, 3.0])], {}).tolist()
    [False]
    """
    if name not in _LARGEST | _SMALLEST | _ORDER | {"topk"} or not args or not args[0].is_floating_point():
        return None
    count = 2
    x, others = args[0], list(args[1:])
    if name in ("topk", "kthvalue"):
        count = 1 + kwargs.get("k", others.pop(0) if others else 1)
    dim = kwargs.get("dim", others[0] if others else None)
    if dim is None and name in ("argmax", "argmin"):
        x = x.flatten()
    dim = -1 if dim is None else dim
    if not x.ndim or x.shape[dim] < 2:
        return None
    if name in _ORDER:
        values = x.sort(dim=dim).values
    else:
        is_largest = name in _LARGEST or (name == "topk" and kwargs.get("largest", True))
        values = x.topk(min(count, x.shape[dim]), dim=dim, largest=is_largest).values
    most = values.shape[dim] - 1
    return torch.ne(values.narrow(dim, 0, most), values.narrow(dim, 1, most))

"""Positions that values decide, as those of the largest: where two values are the same number, others may be taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor

_LARGEST = frozenset(["argmax", "max"])

_SMALLEST = frozenset(["argmin", "min"])

_ORDER = frozenset("argsort sort msort median nanmedian mode kthvalue".split())
"""What all values decide."""


ORDERED = _LARGEST | _SMALLEST | _ORDER | {"topk"}
"""Operations that give positions which the order of values decides."""


def distinct(name: str, given: Mapping[str, Any]) -> Tensor | None:
    """Where the values differ that decide the positions which a function gives; None of what is no such function.

    Args:
        name: Of the function of torch.
        given: Its arguments by the names of ATen's schema.

    >>> distinct("argmax", {"self": torch.tensor([3.0, 1.0, 3.0])}).tolist()
    [False]
    """
    x = given["self"]
    if name not in ORDERED or not x.is_floating_point():
        return None
    count = 1 + given.get("k", 1)
    dim = given.get("dim")
    if dim is None and name in ("argmax", "argmin"):
        x = x.flatten()
    dim = -1 if dim is None else dim
    if not x.ndim or x.shape[dim] < 2:
        return None
    if name in _ORDER:
        values = x.sort(dim=dim).values
    else:
        is_largest = name in _LARGEST or (name == "topk" and given.get("largest", True))
        values = x.topk(min(count, x.shape[dim]), dim=dim, largest=is_largest).values
    most = values.shape[dim] - 1
    return torch.ne(values.narrow(dim, 0, most), values.narrow(dim, 1, most))

"""The limits of floating-point types, as `torch.finfo(x.dtype).eps` and `np.finfo(float).max` name them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_NAMES = frozenset("eps max min tiny smallest_normal resolution".split())


def limit(words: Sequence[str], name: str) -> float | None:
    """A limit of the type that words say, float64 where they say none; None where there is no such limit.

    >>> limit(["torch", "float32"], "eps"), limit(["float"], "max"), limit(["x", "dtype"], "digits")
    (1.1920928955078125e-07, 1.7976931348623157e+308, None)
    """
    is_narrow = "float32" in words or list(words) == ["torch", "float"]
    info = np.finfo(np.float16 if {"float16", "half"} & {*words} else np.float32 if is_narrow else np.float64)
    return float(getattr(info, name)) if name in _NAMES else None

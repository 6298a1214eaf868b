"""Caches of this package and of SymPy, emptied, so that a stream of new expressions keeps flat memory.

Each cache has a bound, but there are hundreds of them, and some take one entry in ten requests: all of them together
grow for tens of thousands of requests before the last one is full.
"""

from __future__ import annotations

import functools
import sys

PACKAGES = ("gradcli", "sympy")


def empty_caches() -> None:
    """Empty what functions of modules of `PACKAGES` remember of their calls; it is found again where it is needed."""
    if "sympy.core.cache" in sys.modules:  # which knows the cached methods too
        sys.modules["sympy.core.cache"].clear_cache()
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in PACKAGES:
            for value in [*vars(module).values()]:
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()

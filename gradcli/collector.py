"""Pause of the cyclic garbage collector while many objects are made that all stay alive.

It would walk them again and again in vain: a tenth of the time of importing torch, half of the time of reading a long
Program, and more than proportionally so.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Run a block without collections; the collector is left as it was found."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

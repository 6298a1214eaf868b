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


def count_as_old() -> None:
    """Move all objects into the oldest generation, unless the process has frozen some.

    Those of an import are walked twice while they are young: a tenth of the time of a short command.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()

"""How long a check may take: one limit for all that is asked of the reference within it, by whoever asks.

It is of the processor's time for this thread, so that what a check finds does not hang on what else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SECONDS = 10.0
"""Of one check; most take a thousandth of it."""

_END: ContextVar[float | None] = ContextVar("end", default=None)


class OverTimeError(Exception):
    """The check would take longer than `SECONDS`."""

    def __init__(self) -> None:
        super().__init__(f"over the time limit of {SECONDS:g} seconds")


@contextmanager
def time_limit() -> Iterator[None]:
    """Run a block with this limit, or with what is left of the limit that it is inside of."""
    if _END.get() is not None:
        yield
        return
    token = _END.set(time.thread_time() + SECONDS)
    try:
        yield
    finally:
        _END.reset(token)


def require_time() -> None:
    """Go on within the limit, if there is one.

    Raises:
        OverTimeError: It has passed.
    """
    end = _END.get()
    if end is not None and time.thread_time() >= end:
        raise OverTimeError

"""How long a check may take: one limit for all that is asked of the reference within it, by whoever asks.

It is of the processor's time for this thread, so that what a check finds does not hang on what else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from gradcli.progress import SECONDS, patience

LOOKS = 2.0
"""Of it for what a function does around the points where derivatives are missing."""


@dataclass
class _Limit:
    """When the thread's time ends, and until when on the wall clock, which is quick to read, it cannot have ended.

    `seconds` is how long it was, and `looks` what is left of it for looks around points.
    """

    end: float
    look: float
    seconds: float
    looks: float


_LIMIT: ContextVar[_Limit | None] = ContextVar("limit", default=None)


class OverTimeError(Exception):
    """The check would take longer than `SECONDS`, or a part of it longer than its own limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"over the time limit of {seconds:g} seconds")


@contextmanager
def time_limit() -> Iterator[None]:
    """Run a block with this limit, or with what is left of the limit that it is inside of."""
    if _LIMIT.get() is not None:
        yield
        return
    with _limited(_limit_of(SECONDS * patience())):
        yield


@contextmanager
def looks_limit() -> Iterator[None]:
    """Run a block with what is left of `LOOKS`, which all looks within one limit share, and of that limit."""
    around, start = _LIMIT.get(), time.thread_time()
    own = _limit_of(LOOKS if around is None else around.looks)
    own.seconds = LOOKS
    try:
        with _limited(own if around is None or own.end < around.end else around):
            yield
    finally:
        if around is not None:
            around.looks -= time.thread_time() - start


def _limit_of(seconds: float) -> _Limit:
    return _Limit(time.thread_time() + seconds, time.monotonic() + seconds, seconds, LOOKS)


@contextmanager
def _limited(limit: _Limit) -> Iterator[None]:
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def require_time() -> None:
    """Go on within the limit, if there is one.

    Raises:
        OverTimeError: It has passed.
    """
    limit = _LIMIT.get()
    if limit is None or (now := time.monotonic()) < limit.look:
        return
    left = limit.end - time.thread_time()
    if left <= 0:
        raise OverTimeError(limit.seconds)
    limit.look = now + left

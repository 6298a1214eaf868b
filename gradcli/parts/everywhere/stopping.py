"""When a search ends early: its time is over, or the user has interrupted it, and wants what is proved so far.

The first interrupt of a process of the shell ends the searches, and the answer says so; another one ends the process.
In Python an interrupt is `KeyboardInterrupt`, as ever.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

from gradcli.reference.deadline import is_over_time

INTERRUPTED = "by an interrupt"
"""Reason for which a search ended."""

OVER_TIME = "over the time limit"
"""Another one, which a longer budget does away with."""

TOO_MANY = "as there are too many boxes"
"""Another one, of which a longer budget allows more."""

_INTERRUPT: ContextVar[threading.Event | None] = ContextVar("interrupt", default=None)


@contextmanager
def interruptible() -> Iterator[None]:
    """Run a block whose searches end at an interrupt, in a process that an interrupt would end."""
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(before) or before is signal.default_int_handler:
        yield
        return
    asked = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    token = _INTERRUPT.set(asked)
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _INTERRUPT.reset(token)


def must_stop() -> str:
    """Return why a search is to end now, in words; "" where it may go on."""
    asked = _INTERRUPT.get()
    if asked is not None and asked.is_set():
        return INTERRUPTED
    return OVER_TIME if is_over_time() else ""

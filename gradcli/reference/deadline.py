"""Time limit of checks and searches: one clock for all of them within one question, whichever part asks.

It counts the processor time of this thread, so that findings do not depend on how busy the machine is.  Where a budget
states seconds, it counts wall time, which bounds the processor time of the thread too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from gradcli.progress import BUDGET, INTERRUPTING, SECONDS, budget_factor

EXTRA = 4.0
"""Seconds of the limit to explain entries that lack a truth or are wrong: twice what the admitted work takes."""

FORMULAS = 5.0
"""Seconds of processor time to derive the formulas of a question, besides those of its checks."""


@dataclass
class _Limit:
    """Time limit of a block.

    Attributes:
        clock: Gives the time that is limited.
        end: The time at which the limit ends.
        seconds: Its length.
        next_reading: A time on the wall clock, which is quick to read, before which the limit cannot have ended.
        extra: The seconds that are left of `EXTRA`.
    """

    clock: Callable[[], float]
    end: float
    seconds: float
    next_reading: float = 0.0
    extra: float = EXTRA

    def left(self) -> float:
        """Return the seconds that are left."""
        return self.end - self.clock()


_LIMIT: ContextVar[_Limit | None] = ContextVar("limit", default=None)


class OverTimeError(Exception):
    """Error of a check that would take longer than `SECONDS`, or of a part that would pass its own limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"over the time limit of {seconds:g} seconds")


@contextmanager
def time_limit() -> Iterator[None]:
    """Run a block within the time of its question, or with what is left of the enclosing limit."""
    if _LIMIT.get() is not None:
        yield
        return
    budget, seconds = BUDGET.get(), SECONDS * budget_factor()
    clock = time.thread_time if budget is None or budget.seconds is None else time.monotonic
    end = clock() + seconds if budget is None or budget.end is None else budget.end
    if budget is not None:
        budget.end = end
    with _limited(_Limit(clock, end, seconds, extra=EXTRA * budget_factor())):
        yield


@contextmanager
def extra_limit() -> Iterator[None]:
    """Run a block that explains entries: all such blocks of one limit share `EXTRA` seconds of it."""
    outer = _LIMIT.get()
    with part_limit(EXTRA if outer is None else outer.extra, EXTRA) as part:
        before = part.left()
        try:
            yield
        finally:
            if outer is not None:
                outer.extra -= before - part.left()


@contextmanager
def formula_limit() -> Iterator[None]:
    """Run a block that derives formulas, within `FORMULAS` seconds or what is left of a stated budget."""
    budget, token = BUDGET.get(), INTERRUPTING.set(require_time)
    has_own = budget is None or budget.seconds is None
    own = _limited(_Limit(time.thread_time, time.thread_time() + FORMULAS, FORMULAS))
    try:
        with own if has_own else time_limit():
            yield
    finally:
        INTERRUPTING.reset(token)


@contextmanager
def part_limit(seconds: float, whole: float | None = None) -> Iterator[_Limit]:
    """Run a block with min(seconds, what is left of the enclosing limit).

    Args:
        seconds: The number of seconds.
        whole: The number for the message, where earlier blocks took a part of these seconds.
    """
    outer = _LIMIT.get()
    clock = time.thread_time if outer is None else outer.clock
    own = _Limit(clock, clock() + seconds, seconds if whole is None else whole)
    own = own if outer is None or own.end < outer.end else outer
    with _limited(own):
        yield own


@contextmanager
def _limited(limit: _Limit) -> Iterator[None]:
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def require_time() -> None:
    """Return if the time limit has not passed, or if there is none.

    Raises:
        OverTimeError: It has passed.
    """
    limit = _LIMIT.get()
    if limit is None or (now := time.monotonic()) < limit.next_reading:
        return
    left = limit.left()
    if left <= 0:
        raise OverTimeError(limit.seconds)
    limit.next_reading = now + left


def is_over_time() -> bool:
    """Tell whether the limit has passed, or the seconds of a budget, if there are any."""
    limit, budget = _LIMIT.get(), BUDGET.get()
    if limit is None and budget is not None and budget.seconds is not None and budget.end is not None:
        return time.monotonic() >= budget.end
    return limit is not None and limit.left() <= 0

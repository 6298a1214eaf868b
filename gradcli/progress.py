"""Progress of long work, which the shell may show; the time budget of a question; pauses of the garbage collector.

Of the progress only the last step is kept, at the cost of an assignment: it belongs to the process, as a terminal does.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    _Item = TypeVar("_Item")

_steps: dict[str, tuple[str, int, int]] = {}
"""The step being done ("inner"), and the item of several that it is part of ("outer")."""


def set_step(what: str, done: int = 0, total: int = 0) -> None:
    """Set the step being done, and how much of it is done, if that is known.

    >>> set_step("proving", 512, 1024)
    >>> step_text()
    'proving 512 of 1,024'
    """
    _steps["inner"] = what, done, total


def tracked(what: str, items: Iterable[_Item], total: int) -> Iterator[_Item]:
    """Yield items that take long each; the steps done meanwhile are shown as part of the item.

    >>> for _ in tracked("point", "abc", 3):
    ...     set_step("proving")
    ...     step_text()
    'point 1 of 3: proving'
    'point 2 of 3: proving'
    'point 3 of 3: proving'
    """
    try:
        for n, item in enumerate(items, 1):
            _steps["outer"] = what, n, total
            yield item
    finally:
        _steps.pop("outer", None)


def step_text() -> str:
    """Write the last step, and the item that it is part of."""
    return ": ".join(_words(*_steps[part]) for part in ("outer", "inner") if part in _steps)


def _words(what: str, done: int, total: int) -> str:
    return f"{what} {done:,} of {total:,}" if total > 1 else what


# -- how long a check may take

SECONDS = 5.0
"""Seconds of processor time for all checks and searches of one question, unless a budget is set."""


@dataclass
class Budget:
    """Time budget of the checks and searches of one question together.

    Attributes:
        seconds: Seconds of the wall clock; None for the usual seconds of processor time.
        end: The time at which the budget ends; None before the first of them begins.
    """

    seconds: float | None
    end: float | None = None


BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)
"""The budget of the question that is being answered, if it has one."""


@contextmanager
def budget(seconds: float | None) -> Iterator[None]:
    """Bound the time of all checks and searches within a block that answers one question; by `SECONDS` if None.

    >>> with budget(10.0):
    ...     budget_factor()
    2.0
    """
    token = BUDGET.set(Budget(seconds))
    try:
        yield
    finally:
        BUDGET.reset(token)


@contextmanager
def each_with_time() -> Iterator[None]:
    """Run one check of several with the usual time for itself, unless a budget in seconds covers all of them."""
    own = BUDGET.get()
    with budget(None) if own is None or own.seconds is None else nullcontext():
        yield


def budget_factor() -> float:
    """Return the factor by which a check may exceed its usual limits of time and operations."""
    own = BUDGET.get()
    return 1.0 if own is None or own.seconds is None else own.seconds / SECONDS


INTERRUPTING: ContextVar[Callable[[], None] | None] = ContextVar("interrupting", default=None)
"""Function that ends long work by an error, once its time is over; `may_end` calls it."""


def may_end() -> None:
    """Give what bounds the time of this work, if anything does, the occasion to end it by an error."""
    if (check := INTERRUPTING.get()) is not None:
        check()


# -- Python's garbage collector


@contextmanager
def collector_paused() -> Iterator[None]:
    """Run a block without collections of garbage, while many objects are made that all stay alive.

    These would walk the objects again and again in vain: a tenth of the time of importing torch, half of the time of
    reading a long Program, and more than proportionally so.  The collector is left as it was found.
    """
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

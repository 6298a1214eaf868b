"""What is being done, for those who wait: said by whatever may take long, shown by the shell or by nobody.

The last word counts, and saying it costs an assignment: it belongs to the process, as a terminal does.

And how long it may take, where somebody says so.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    _Item = TypeVar("_Item")

_Step = tuple[str, int, int]

_steps: dict[str, _Step] = {}
"""What is being done, and which of several that it is part of."""


def doing(what: str, done: int = 0, total: int = 0) -> None:
    """Say what is being done, and how much of it, if that is known.

    >>> doing("proving", 512, 1024)
    >>> said()
    'proving 512 of 1,024'
    """
    _steps["inner"] = what, done, total


def counted(what: str, items: Iterable[_Item], total: int) -> Iterator[_Item]:
    """The items, of which each takes long: whatever is done meanwhile is part of that.

    >>> for _ in counted("point", "abc", 3):
    ...     doing("proving")
    ...     said()
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


def said() -> str:
    """What was said last."""
    return ": ".join(_words(*_steps[part]) for part in ("outer", "inner") if part in _steps)


def _words(what: str, done: int, total: int) -> str:
    return f"{what} {done:,} of {total:,}" if total > 1 else what


# -- how long a check may take

SECONDS = 5.0
"""Of processor time, of all checks and searches of one question, where nobody says otherwise."""


class Budget:
    """What the checks and searches of one question may take together.

    Attributes:
        seconds: By the wall clock; None for the usual number of seconds of processor time.
        end: When they are over; None before the first of them begins.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.end: float | None = None


_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budget(seconds: float | None) -> Iterator[None]:
    """Bound the time of all checks and searches within a block that answers one question; by `SECONDS` if None.

    >>> with budget(10.0):
    ...     patience()
    2.0
    """
    token = _BUDGET.set(Budget(seconds))
    try:
        yield
    finally:
        _BUDGET.reset(token)


@contextmanager
def each_with_time() -> Iterator[None]:
    """Run one check of several with the usual time for itself, unless a budget in seconds covers all of them."""
    own = _BUDGET.get()
    with budget(None) if own is None or own.seconds is None else nullcontext():
        yield


def budget_in_force() -> Budget | None:
    """The budget of the question that is being answered, if it has one."""
    return _BUDGET.get()


def patience() -> float:
    """How many times as much as usual a check may take: of time, and of the operations that fit into it."""
    own = _BUDGET.get()
    return 1.0 if own is None or own.seconds is None else own.seconds / SECONDS

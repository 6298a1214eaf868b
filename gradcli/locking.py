"""One question at a time: the lock of a process under which its threads ask.

What the readings share belongs to the process, and no library offers it by thread: the precision of FLINT
(`flint.ctx.prec`) and of mpmath, Python's filters of warnings, torch's number of threads.  Two questions that are
answered at once would round with each other's precision.  Recordings, time budgets and limits belong to a context.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOCK = Lock()
_HOLDS: ContextVar[bool] = ContextVar("holds the lock", default=False)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Run a block that answers a question while no other thread answers one.

    A question may ask others, also in threads of its own that begin with `inherited`.

    >>> with one_at_a_time(), one_at_a_time():
    ...     print("asked within a question")
    asked within a question
    """
    if _HOLDS.get():
        yield
        return
    with _LOCK:
        token = _HOLDS.set(True)
        try:
            yield
        finally:
            _HOLDS.reset(token)


def inherited() -> Callable[[], object]:
    """Return what a new thread calls first, to ask within the question of this thread."""
    return partial(_HOLDS.set, _HOLDS.get())

"""Signals that end the process: unfinished work is undone first, and no exception is raised.

An exception would come at any moment: in a callback of Python, which drops it and goes on, or below C++ that aborts on
it, as happens within `import torch`.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from types import FrameType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAMES = "SIGTERM SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGPROF SIGXCPU SIGPWR SIGIO".split()
_DEADLY = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
"""Signals that end a process at once unless it handles them: a kill, a key, a timer, the limit of CPU time."""

LOOK = 0.1
"""Seconds of waiting after which Python looks for signals."""

_undoing: list[Callable[[], None]] = []
"""Functions to call before the process ends, the innermost last; they belong to the process, as signals do."""


def end_on_interrupt(code: int) -> None:
    """Let an interrupt end the process from now on, unless it ignores interrupts, as background jobs do.

    Sent by a program, it ends with an exit code.  Typed at a terminal, the process dies of it, which the shell there
    reports as 130: it got the interrupt too, and bash ends its own loop only then.

    Args:
        code: The exit code.

    Source: M. Cracauer, "Proper handling of SIGINT/SIGQUIT", https://www.cons.org/cracauer/sigint.html
    """

    def leave(number: int, frame: FrameType | None) -> None:
        die_if_typed()
        _undo()
        os._exit(code)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def die_if_typed() -> None:
    """Die of an interrupt that was typed at the terminal of this process."""
    if _is_in_foreground():
        _die(signal.SIGINT, None)


@contextlib.contextmanager
def undone(undo: Callable[[], None]) -> Iterator[None]:
    """Run a block in which a signal that ends the process calls `undo` first.

    Args:
        undo: The function to call; it may run between any two steps of the block, and more than once.
    """
    _undoing.append(undo)
    is_main = threading.current_thread() is threading.main_thread()
    ours = [number for number in _DEADLY if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _die)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
        _undoing.remove(undo)


def readable(descriptor: int, seconds: float | None = None) -> bool:
    """Wait until a descriptor has bytes or is at its end, at most some seconds; tell whether it has.

    A signal ends the wait within a moment, also one that comes after Python has looked for signals and before it waits:
    the system would go on waiting then, and whoever listens in Python would be called after the next byte.
    """
    left = float("inf") if seconds is None else seconds
    while not select.select([descriptor], [], [], min(left, LOOK))[0]:
        left -= LOOK
        if left <= 0:
            return False
    return True


def wait_until_writable(descriptor: int) -> None:
    """Wait until a descriptor takes bytes, or is closed at its other end; a signal is heard as in `readable`."""
    while not select.select([], [descriptor], [], LOOK)[1]:
        pass


def _is_in_foreground() -> bool:
    """Tell whether this process is in the foreground of its terminal, and so gets typed input."""
    try:
        return os.tcgetpgrp(os.open("/dev/tty", os.O_RDONLY)) == os.getpgrp()
    except (OSError, AttributeError):  # there is no terminal, or there are none on this system
        return False


def _die(number: int, frame: FrameType | None) -> None:
    """End the process as the signal would have ended it."""
    _undo()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _undo() -> None:
    for undo in reversed(_undoing):
        with contextlib.suppress(Exception):  # the process ends, whatever cannot be undone
            undo()

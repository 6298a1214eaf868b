"""Signals that end the process: what is half done is undone first, and no exception is raised.

An exception would come at any moment: in a callback of Python, which drops it and goes on, or below C++ that aborts on
it, as happens within `import torch`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from types import FrameType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DEADLY = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
"""What ends a process on the spot, unless it asks to be told."""

_undoing: list[Callable[[], None]] = []
"""What is to be undone, the innermost last; signals belong to the process, and so does this."""


def end_on_interrupt(code: int) -> None:
    """From here on an interrupt ends the process with a code; one that ignores them, as background jobs do, goes on."""

    def leave(number: int, frame: FrameType | None) -> None:
        _undo()
        os._exit(code)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


@contextlib.contextmanager
def undone(undo: Callable[[], None]) -> Iterator[None]:
    """A block within which a signal that ends the process calls `undo` first.

    Args:
        undo: Called between any two steps of the block, and perhaps more than once.
    """
    _undoing.append(undo)
    ours: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        ours = [number for number in _DEADLY if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _die)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
        _undoing.remove(undo)


def _die(number: int, frame: FrameType | None) -> None:
    """End as the signal would have ended the process."""
    _undo()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _undo() -> None:
    for undo in reversed(_undoing):
        with contextlib.suppress(Exception):  # the process ends, whatever cannot be undone
            undo()

"""A line on the terminal that says what takes so long, from the first second on, and is gone before anything else.

It is written by a thread of its own, plainly: no cursor is hidden and nothing is imported, as what is waited for may be
an import.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence

from gradcli import progress
from gradcli.cli import settings
from gradcli.cli.console import columns, descriptor
from gradcli.signals import undone

PATIENCE = 1.0
"""Seconds before anything is said."""

RENEWED = 0.1
"""Seconds between two looks at what is being done."""

_CLEARED = b"\r\x1b[2K"


@contextlib.contextmanager
def waiting(arguments: Sequence[str]) -> Iterator[None]:
    """A block that says on stderr what it does, if that takes long and is a terminal which somebody looks at.

    Args:
        arguments: The command line, in which `--quiet` asks for nothing of the kind.
    """
    terminal = _terminal(arguments)
    if terminal is None:
        yield
        return
    progress.doing("reading")
    line = _Line(terminal, (columns(sys.stderr) or 1) - 1)
    thread = threading.Thread(target=line.show, args=arguments[:1], daemon=True)
    thread.start()
    try:
        with undone(line.give_up):
            yield
    finally:
        line.ended.set()
        thread.join()
        line.clear()


def _terminal(arguments: Sequence[str]) -> int | None:
    """The terminal that shows it, if one does."""
    if os.name != "posix" or os.environ.get("TERM", "dumb") == "dumb" or {"-q", "--quiet"} & set(arguments):
        return None
    return descriptor(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None


class _Line:
    """The line: shown until all is over, then cleared."""

    def __init__(self, terminal: int, width: int) -> None:
        self.ended = threading.Event()
        self._terminal, self._width = terminal, width
        self._is_written = False

    def show(self, command: str = "") -> None:
        """Write what is being done, over and over, once patience is over, unless a setting of the command is quiet."""
        start = time.monotonic()
        wait = PATIENCE
        while not self.ended.wait(wait):
            if not self._is_written and settings.peek("quiet", command):
                return
            words = f"{progress.said()}, {time.monotonic() - start:.0f} s"
            self._is_written = True
            with contextlib.suppress(OSError):
                os.write(self._terminal, _CLEARED + words[: self._width].encode("ascii", "replace"))
            wait = RENEWED

    def clear(self) -> None:
        """Take it off the terminal."""
        if self._is_written:
            with contextlib.suppress(OSError):
                os.write(self._terminal, _CLEARED)

    def give_up(self) -> None:
        """Clear it while the thread may still write, of which nothing arrives any more: the process ends."""
        terminal, self._terminal = self._terminal, os.open(os.devnull, os.O_WRONLY)
        if self._is_written:
            os.write(terminal, _CLEARED)

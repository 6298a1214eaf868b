"""A pseudo-terminal that is read all the time, as who fills it would else wait for ever for who waits for it."""

from __future__ import annotations

import contextlib
import os
import pty
import threading
import time

LONGEST = 120
"""Seconds until a process that says nothing is taken for one that hangs."""


class Terminal(threading.Thread):
    """A pseudo-terminal: `shown` is what came to `there`."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.here, self.there = pty.openpty()
        self.shown = b""
        self.start()

    def run(self) -> None:
        """Read until nobody has the other end open."""
        with contextlib.suppress(OSError):
            while data := os.read(self.here, 65_536):
                self.shown += data

    def wait_for(self, sign: bytes) -> None:
        """Wait until this was shown."""
        end = time.monotonic() + LONGEST
        while sign not in self.shown:
            assert time.monotonic() < end, self.shown
            time.sleep(0.01)

    def whole(self) -> str:
        """All that was shown, once the other end is closed."""
        self.join(LONGEST)
        assert not self.is_alive()
        os.close(self.here)
        return self.shown.decode()

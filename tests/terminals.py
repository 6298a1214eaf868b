"""Programs with pipes, and with a pseudo-terminal that is read all the time, as they would else wait to write to it."""

import contextlib
import fcntl
import os
import pty
import re
import subprocess
import termios
import threading
import time
from typing import IO, Any

LONGEST = 120
"""Seconds until a process that says nothing is taken for one that hangs."""


PIPES: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)


class Program(subprocess.Popen[bytes]):
    """A program that is started with pipes."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]

    def send(self, text: bytes) -> None:
        """Write to its standard input, and keep nothing back."""
        self.stdin.write(text)
        self.stdin.flush()

    def __exit__(self, kind: Any, *rest: Any) -> None:
        """Wait for its end; after an error end it, as nobody else will."""
        if kind is not None:
            self.kill()
        super().__exit__(kind, *rest)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


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

    def start_program(self, *words: str, **environment: str) -> Program:
        """Start a program whose terminal this is."""
        there = self.there
        streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), there)
        own = os.environ | environment
        program = Program(words, **streams, env=own, start_new_session=True, preexec_fn=_take_terminal)
        os.close(there)
        return program

    def wait_for(self, sign: str, keys: str = "") -> None:
        """Wait until this was shown, colours and bells apart, and then type keys."""
        end = time.monotonic() + LONGEST
        while sign not in re.sub(r"\x1b\[[?\d;]*[A-Za-z]|\x07", "", self.shown.decode(errors="replace")):
            assert time.monotonic() < end, self.shown
            time.sleep(0.01)
        os.write(self.here, keys.encode())

    def whole(self) -> str:
        """All that was shown, once the other end is closed."""
        self.join(LONGEST)
        assert not self.is_alive()
        os.close(self.here)
        return self.shown.decode()

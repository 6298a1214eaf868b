"""To start the process, to stop it, and what it says of itself."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import IO

from gradcli.warm import place, wire

STOPPING = 5.0

_PROGRAM = (
    "import sys; sys.path[:] = dict.fromkeys(p for p in [*sys.path, sys.argv[2]] if p); "
    "from gradcli.warm.zygote import main; main(float(sys.argv[1]))"
)
"""Not `-m`, which would look for modules in the folder that it stands in."""


@dataclass(frozen=True)
class Status:
    """What a process says of itself.

    Attributes:
        process: Its number.
        calls: How many it has forked for.
        left: Seconds until it ends, if no call comes.
        started_with: What its start depended on, a line each.
    """

    process: int
    calls: int
    left: int
    started_with: tuple[str, ...]

    @property
    def differences(self) -> list[str]:
        """What is another here: such calls run cold."""
        here, there = place.fingerprint().decode("utf-8", "surrogateescape").split("\n"), self.started_with
        return sorted({*here} ^ {*there})


def status(kind: bytes = wire.STATUS) -> Status | None:
    """What the process says of itself; None if there is none that answers."""
    if not place.is_possible() or not place.is_safe():
        return None
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.settimeout(1.0)
            connection.connect(place.socket_path())
            if wire.peer(connection) != os.geteuid():
                return None
            connection.sendall(wire.message(kind, b""))
            wire.received(connection, 1)
            numbers, started_with = wire.unpacked(wire.body(connection))
        except (OSError, EOFError, ValueError):
            return None
    process, calls, left = map(int, numbers)
    return Status(process, calls, left, tuple(map(os.fsdecode, started_with)))


def stop() -> Status | None:
    """Stop the process, whose children go on; what it was, or None if there was none."""
    found = status(wire.STOP)
    end = time.monotonic() + STOPPING
    while found and (now := status()) and now.process == found.process and time.monotonic() < end:
        time.sleep(0.01)
    return found


def begin(idle: float) -> IO[bytes]:
    """Start a process, detached; what it says: a line when it takes calls, or else why it does not.

    Args:
        idle: Seconds without a call after which it ends.
    """
    process = subprocess.Popen(  # noqa: S603 -- this interpreter, and no word of the user's
        [sys.executable, "-c", _PROGRAM, str(idle), os.path.dirname(place.PACKAGE)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
        start_new_session=True,
        umask=0o077,
    )
    process.returncode = 0  # it outlives this one, which does not wait for it
    assert process.stdout is not None  # noqa: S101 -- it is a pipe
    return process.stdout


def start(idle: float) -> str:
    """Start a process, and wait until it takes calls; why it does not, or nothing."""
    with begin(idle) as said:
        lines = said.read().decode(errors="replace").split("\n")  # to the end of what it says
    if "ready" in lines:
        return ""
    return next(filter(None, reversed(lines)), "another one is about to")

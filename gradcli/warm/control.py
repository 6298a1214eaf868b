"""Start the process, stop it, and ask for its number."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from typing import IO

from gradcli.warm import place, wire

STOPPING = 5.0

_PROGRAM = (
    "import sys; sys.path[:] = dict.fromkeys(p for p in [*sys.path, sys.argv[2]] if p); "
    "from gradcli.warm.zygote import main; main(float(sys.argv[1]))"
)
"""Not `-m`, which would look for modules in the folder that it stands in."""

_OF_NOBODY = {"GRADCLI_CONFIG": ""}
"""No settings are read at the start: each call reads its own."""


def status(kind: bytes = wire.STATUS) -> int | None:
    """The number of the process; None if there is none that answers."""
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
            return wire.value(wire.received(connection, wire.NUMBER))
        except (OSError, EOFError):
            return None


def stop() -> int | None:
    """Stop the process, whose children go on; its number, or None if there was none."""
    found, end = status(wire.STOP), time.monotonic() + STOPPING
    while found and status() == found and time.monotonic() < end:
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
        env={**{name: word for name, word in os.environ.items() if not name.startswith("GRADCLI_")}, **_OF_NOBODY},
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

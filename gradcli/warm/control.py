"""Start the process, stop it, and ask for its number."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import IO

from gradcli.warm import paths

STOPPING = 5.0

_PROGRAM = (
    "import sys; sys.path[:] = dict.fromkeys(p for p in [*sys.path, sys.argv[2]] if p); "
    "from gradcli.warm.server import main; main(float(sys.argv[1]))"
)
"""Not `-m`, which would look for modules in the folder that it stands in."""

_OF_NOBODY = {"GRADCLI_CONFIG": ""}
"""No settings are read at the start: each call reads its own."""


def status() -> int | None:
    """The number of the process, which stands in the file that it has locked; None if there is none."""
    if not paths.is_possible() or not paths.is_safe():
        return None
    import fcntl

    with contextlib.suppress(FileNotFoundError), open(paths.lock_path(), encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(lock.read() or 0) or None  # none yet, while it loads
    return None


def stop() -> int | None:
    """Stop the process, whose children go on; its number, or None if there was none."""
    found, end = status(), time.monotonic() + STOPPING
    if found:
        os.kill(found, signal.SIGTERM)
    while found and status() == found and time.monotonic() < end:
        time.sleep(0.01)
    return found


def begin(idle: float) -> IO[bytes]:
    """Start a process, detached; what it says: a line when it takes calls, or else why it does not.

    Args:
        idle: Seconds without a call after which it ends.
    """
    process = subprocess.Popen(  # noqa: S603 -- this interpreter, and no word of the user's
        [sys.executable, "-c", _PROGRAM, str(idle), os.path.dirname(paths.PACKAGE)],
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

"""Start the process, stop it, and ask for its number."""

from __future__ import annotations

import glob
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import IO

from gradcli.parts.warm import paths

STOPPING = 5.0

LOADING = 120.0
"""Seconds within which a process is ready: it takes some ten, and more on a machine that does much else."""

_PROGRAM = (
    "import sys; sys.path[:] = dict.fromkeys(p for p in [*sys.path, sys.argv[2]] if p); "
    "from gradcli.parts.warm.server import main; main(float(sys.argv[1]))"
)
"""Program for `-c`, not `-m`, which would look for modules in the current folder."""

_OF_NOBODY = {"GRADCLI_CONFIG": ""}
"""No settings are read at the start: each call reads its own."""


def running(name: str = "*") -> list[int]:
    """List the numbers of the processes, or of the one with a name, from the files that they have locked."""
    if not paths.is_possible() or not paths.is_safe():
        return []
    import fcntl

    found = []
    for path in glob.glob(os.path.join(glob.escape(paths.folder()), f"{name}.lock")):
        with open(path, encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                found.append(int(lock.read() or 0))
    return [number for number in found if number]  # none yet, while it loads


def stop() -> list[int]:
    """Stop the processes, whose children go on; give their numbers."""
    found, end = running(), time.monotonic() + STOPPING
    for number in found:
        os.kill(number, signal.SIGTERM)
    while not set(found).isdisjoint(running()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def begin(idle: float) -> IO[bytes]:
    """Start a process, detached; give its output: a line when it takes calls, or else why it does not.

    Args:
        idle: Seconds without a call after which it ends.
    """
    process = subprocess.Popen(  # noqa: S603 -- this interpreter, and no word of the user's
        [sys.executable, *_flags(), "-c", _PROGRAM, str(idle), os.path.dirname(paths.PACKAGE)],
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


def _flags() -> Iterator[str]:
    """Write the options of this interpreter, so that the process is one for calls such as this."""
    flags = {"-I": sys.flags.isolated, "-E": sys.flags.ignore_environment, "-P": sys.flags.safe_path}
    flags |= {"-s": sys.flags.no_user_site, "-S": sys.flags.no_site, "-B": sys.flags.dont_write_bytecode}
    yield from (word for word, is_on in flags.items() if is_on)
    yield from ("-" + "O" * sys.flags.optimize,) if sys.flags.optimize else ()
    yield from (f"-X{name}" if value is True else f"-X{name}={value}" for name, value in sys._xoptions.items())


def start(idle: float, seconds: float = LOADING) -> str:
    """Start a process, and wait until it takes calls; give the reason why it does not, or nothing.

    Args:
        idle: Seconds without a call after which it ends.
        seconds: The longest time to wait.
    """
    said, end = b"", time.monotonic() + seconds
    with begin(idle) as output:
        while select.select([output], [], [], max(0.0, end - time.monotonic()))[0]:
            piece = os.read(output.fileno(), 4096)
            said += piece
            if not piece:  # to the end of its output
                break
        else:
            return f"it still loads after {seconds:.0f} s, on a busy machine; gradcli warm status tells when it runs"
    lines = said.decode(errors="replace").split("\n")
    if "ready" not in lines:
        return next(filter(None, reversed(lines)), "it ended without a word, as where memory is short")
    if running(paths.name()):
        return ""
    return "the one that started is for other calls, as files of gradcli or the environment have changed; try again"

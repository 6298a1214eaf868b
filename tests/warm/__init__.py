"""The installed command at the price of a fork, and the same for scripts of Python: what most tests start.

`gradcli` is the installed command, beside a warm process of this run of the tests; `python` is an interpreter with all
packages imported, served by the same code.  Tests of the start itself run the installed command alone.

scripts    the process behind `python`, and one that imports nothing
"""

import atexit
import contextlib
import fcntl
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from gradcli.parts import is_listed
from tests.terminals import Program

INSTALLED = os.path.join(os.path.dirname(sys.executable), "gradcli")


class Warm:
    """A folder with a `gradcli` and a `python`, each beside a warm process of its own.

    Args:
        kinds: Which processes are started; a program without one runs cold.
        path: The folder, if it is another than a temporary one of its own.
    """

    def __init__(self, *kinds: str, path: Path | None = None) -> None:
        self.path = path or Path(tempfile.mkdtemp(prefix="warm"))
        self.servers: list[Program] = []
        for kind in ("gradcli", "python", "light", "slow"):
            (self.path / f".{kind}").mkdir(mode=0o700, parents=True)
        self._write("gradcli", f'"{sys.executable}" -m gradcli' if not os.path.exists(INSTALLED) else f'"{INSTALLED}"')
        self._write("python", f'"{sys.executable}" -m tests.warm.scripts')
        self._write("light", f'"{sys.executable}" -m tests.warm.scripts')
        self._write("slow", f'"{sys.executable}" -m tests.warm.scripts')
        for kind in kinds:
            self.start(kind)

    def start(self, kind: str, *, idle: float = 900) -> Program:
        """Start the process of a program, and wait until it takes calls."""
        words = [sys.executable, "-c", f"from tests.warm.scripts import serve; serve({kind!r}, {idle})"]
        environment = os.environ | {"XDG_RUNTIME_DIR": self.runtime(kind)}
        return self._started(words, environment, count=1)

    def start_both(self, *, idle: float = 900) -> Program:
        """Start the processes of `gradcli` and of `python`, which import and answer the first calls once for both."""
        folders = [self.runtime(kind) for kind in ("gradcli", "python")]
        words = [sys.executable, "-c", f"from tests.warm.scripts import serve_both; serve_both({folders}, {idle})"]
        return self._started(words, dict(os.environ), count=2)

    def _started(self, words: list[str], environment: dict[str, str], count: int) -> Program:
        nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
        server = Program(words, stdin=nothing, stdout=pipe, env=environment, start_new_session=True)
        self.servers.append(server)
        with server.stdout as said:
            for _ in range(count):
                assert said.readline() == b"ready\n"
        return server

    def runtime(self, kind: str) -> str:
        """The folder that a program looks for its process in."""
        return str(self.path / f".{kind}")

    def program(self, kind: str) -> str:
        """A program, as a path."""
        return str(self.path / kind)

    def end(self) -> None:
        """Stop the processes, and take the folder away."""
        for server in self.servers:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.killpg(server.pid, signal.SIGTERM)
            server.wait()
        shutil.rmtree(self.path, ignore_errors=True)

    def _write(self, name: str, command: str) -> None:
        program = self.path / name
        program.write_text(f'#!/bin/sh\nGRADCLI_WARM= XDG_RUNTIME_DIR="{self.runtime(name)}" exec {command} "$@"\n')
        program.chmod(0o755)


@functools.cache
def _shared() -> Path:
    """Make the programs of this run of the tests, whose processes all workers of pytest call, and give their folder.

    The first worker that asks starts the processes, and ends them once no other worker holds them any more.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)[:12]
    path = Path(tempfile.gettempdir()) / f"warm-{run}"
    with _locked(path):
        shared = None if path.exists() else Warm(path=path)
        users = (path / "users").open("a")
        fcntl.flock(users, fcntl.LOCK_SH)
        atexit.register(_end, users, shared)
        if shared is not None and is_listed("warm"):
            shared.start_both()
    return path


def _end(users: IO[str], started: Warm | None) -> None:
    """Let go of the processes, and end them if this worker started them."""
    if started is None:
        users.close()
        return
    with _locked(started.path) as lock:
        fcntl.flock(users, fcntl.LOCK_EX)  # once the other workers have let go
        started.end()
        os.unlink(lock.name)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[IO[str]]:
    with path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def folder() -> str:
    """The folder of `gradcli` and `python`, for a PATH; their processes are started at the first call."""
    return str(_shared())


def gradcli() -> str:
    """The command, as a path."""
    return str(_shared() / "gradcli")


def runner() -> str:
    """The command for `run` alone, forked too, as a path."""
    return str(_shared() / "python")

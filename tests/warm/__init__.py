"""The installed command at the price of a fork, and the same for scripts of Python: what most tests start.

`gradcli` is the installed command, beside a warm process of this run of the tests; `python` is an interpreter with all
packages imported, served by the same code.  Tests of the start itself run the installed command alone.

scripts    the process behind `python`, and one that imports nothing
"""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.terminals import Program

INSTALLED = os.path.join(os.path.dirname(sys.executable), "gradcli")


class Warm:
    """A folder with a `gradcli` and a `python`, each beside a warm process of its own.

    Args:
        kinds: Which processes are started; a program without one runs cold.
    """

    def __init__(self, *kinds: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="warm"))
        self.servers: list[Program] = []
        for kind in ("gradcli", "python", "light", "slow"):
            (self.path / f".{kind}").mkdir(mode=0o700)
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
        server = Program(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment)
        self.servers.append(server)
        with server.stdout as said:
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
            server.terminate()
            server.wait()
        shutil.rmtree(self.path, ignore_errors=True)

    def _write(self, name: str, command: str) -> None:
        program = self.path / name
        program.write_text(f'#!/bin/sh\nGRADCLI_WARM= XDG_RUNTIME_DIR="{self.runtime(name)}" exec {command} "$@"\n')
        program.chmod(0o755)


@functools.cache
def _shared() -> Warm:
    shared = Warm()
    atexit.register(shared.end)
    return shared


@functools.cache
def _program(kind: str) -> str:
    _shared().start(kind)
    return _shared().program(kind)


def folder() -> str:
    """The folder of `gradcli` and `python`, for a PATH; their processes are started at the first call."""
    return os.path.dirname(gradcli() and _program("python"))


def gradcli() -> str:
    """The command, as a path."""
    return _program("gradcli")


def runner() -> str:
    """The command for `run` alone, forked too, as a path."""
    return _program("python")

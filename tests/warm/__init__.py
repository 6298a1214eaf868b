"""Processes at the price of a fork: programs that hand what they are given to a server, which has imported all.

The server forks a process for each, with the arguments, the folder, the environment and the open files of the program;
so pipes, redirections, terminals and encodings are what they are.  Signals are not handed on, and what a process
imports is not seen: tests of those, and of the start itself, run the installed command.
"""

from __future__ import annotations

import atexit
import functools
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

_HERE = Path(__file__).parent


@functools.cache
def folder() -> str:
    """Where there are a `gradcli` and a `python`, for a PATH; their server is started at the first call."""
    found = tempfile.TemporaryDirectory(prefix="warm")
    socket = str(Path(found.name) / "socket")
    for name in ("gradcli", "python"):
        program = Path(found.name) / name
        client = shlex.join([sys.executable, "-IS", str(_HERE / "client.py"), socket, name])
        program.write_text(f'#!/bin/sh\nexec {client} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    # The server ends with its standard input, so at the latest with this process.
    words = [sys.executable, "-m", "tests.warm.server", socket]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_HERE.parent.parent)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    atexit.register(found.cleanup)
    atexit.register(server.communicate)
    return found.name


def gradcli() -> str:
    """The command, as a path."""
    return f"{folder()}/gradcli"


def python() -> str:
    """The interpreter with all packages imported, which takes the path of a script."""
    return f"{folder()}/python"

"""The process that has imported all, and forks one for each program that connects."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import fcntl
import gc
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from typing import TextIO

from gradcli.cli import main, process

_QUESTIONS = (
    ["--version"],
    ["functions", "sin", "--format", "markdown"],
    ["vjp", "x**2 + sin(x)", "--at", "1,2", "--v", "1,1"],
    ["hessian", "x[0]**2*x[1]", "--at", "1,2", "--json"],
)
"""What is answered before the first fork, so that no process spends its time on what is done once."""

_ABOVE = 500
"""Descriptors from here on are out of the way of those that a program may have."""


def serve(path: str) -> None:
    """Fork until standard input ends; returns in the forked processes, when they are what the program asked for."""
    for words in _QUESTIONS:
        with contextlib.redirect_stdout(io.StringIO()):
            main(words)
    sys.excepthook = sys.__excepthook__
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            ready, _, _ = select.select([listener.fileno(), 0], [], [])
            if 0 in ready:
                os._exit(0)
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _keep(connection)
                return
            connection.close()
            while _reaped():
                pass


def _reaped() -> bool:
    """Whether one of the processes between has ended."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _keep(connection: socket.socket) -> None:
    """Fork once more, and tell the program how that process ended; returns in that process."""
    length, received, _, _ = socket.recv_fds(connection, 8, 250)
    data = b""
    while len(data) < int.from_bytes(length, "big"):
        data += connection.recv(2**20)
    words, folder, environment, wanted = json.loads(data)
    child = os.fork()
    if child == 0:
        connection.close()
        _place(received, wanted)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = words
        return
    for descriptor in (0, 1, 2, *received):
        os.close(descriptor)  # or whoever waits for the end of a pipe would wait for this process
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall(code.to_bytes(8, "big", signed=True))
    os._exit(0)


def _place(received: Sequence[int], wanted: Sequence[int]) -> None:
    """Give the received descriptors the numbers that they had, and close those that the program had closed."""
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _ABOVE) for descriptor in received]
    for descriptor in {0, 1, 2, *received}:
        os.close(descriptor)
    for descriptor, number in zip(moved, wanted, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)


def _streams() -> None:
    """Standard streams as Python sets them up at its start."""
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    encoding = codecs.lookup(encoding or "utf-8").name
    sys.stdin = _stream(0, "r", encoding, errors or "strict")
    sys.stdout = _stream(1, "w", encoding, errors or "strict")
    sys.stderr = _stream(2, "w", encoding, "backslashreplace")


def _stream(number: int, mode: str, encoding: str, errors: str) -> TextIO:
    try:
        os.fstat(number)
    except OSError:
        return None  # type: ignore[return-value]
    is_lines = number == 2 or os.isatty(number)
    buffering = 1 if is_lines and mode == "w" else -1
    return open(number, mode, buffering, encoding=encoding, errors=errors, closefd=False)  # type: ignore[return-value]


def _run(program: str, arguments: list[str]) -> int:
    """What the program is to do, and its exit code."""
    if program == "gradcli":
        return process()
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


def _end(code: int) -> None:
    """Leave as Python does, but for taking down all that was imported, which takes a second."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            os.write(2, f"Exception ignored in: {stream}\n{error!r}\n".encode())
            code = 120
    os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _streams()
    _end(_run(sys.argv[0], sys.argv[1:]))

"""A forked process made what a started one would be, and its end."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import importlib
import marshal
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn, cast

from gradcli.warm import wire

if TYPE_CHECKING:
    import socket
    from io import TextIOWrapper


ABOVE = 500
"""Descriptors from here on are out of the way of those that a call has."""


def become(connection: socket.socket, threads: int) -> socket.socket:
    """Take over a call, with so many threads of torch; the connection, at a number that is in nobody's way.

    Raises:
        OSError, EOFError: The client has gone.
    """
    data, received = wire.receive_with(connection)
    words, variables, paths, wanted, mask, ignored = marshal.loads(data)  # noqa: S302 (of the same user)
    kept = fcntl.fcntl(connection.fileno(), fcntl.F_DUPFD_CLOEXEC, ABOVE)
    connection.close()
    connection = type(connection)(fileno=kept)
    os.fchdir(received[0])
    os.close(received[0])
    _place(received[1:], wanted)
    os.umask(mask)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    os.environb.clear()
    os.environb.update(variables)
    time.tzset()
    tempfile.tempdir = None
    sys.argv = [os.fsdecode(word) for word in words]
    sys.path[:] = [os.fsdecode(path) for path in paths]
    importlib.invalidate_caches()
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):  # the variables that they heed are the same
        is_lines = not os.environ.get("PYTHONUNBUFFERED") and (number == 2 or os.isatty(number))
        cast("TextIOWrapper", stream).reconfigure(line_buffering=is_lines)
    _restore(threads)
    return connection


def _place(received: Sequence[int], wanted: Sequence[int]) -> None:
    """Give the received descriptors the numbers that they had."""
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, ABOVE) for descriptor in received]
    for descriptor in received:
        os.close(descriptor)
    for descriptor, number in zip(moved, wanted, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)


def _restore(threads: int) -> None:
    """Give torch and NumPy what they have at a start: threads, and random numbers that nobody else has."""
    if threads:
        import numpy as np

        from gradcli.autodiff._torch import torch

        torch.set_num_threads(threads)
        torch.seed()
        np.random.seed()


def finish(connection: socket.socket, program: Callable[[], int]) -> None:
    """Run a program, and end with its exit code, as Python does but for taking down all that was imported.

    Whatever else ends this process with an exit code says so, and where the client has gone, it ends too.
    """
    own, end = os.getpid(), os._exit

    def leave(status: int) -> NoReturn:
        if os.getpid() == own:  # and no process that the program has forked
            signal.signal(signal.SIGIO, signal.SIG_IGN)
            with contextlib.suppress(OSError):
                connection.sendall(wire.number(status))
        end(status & 0xFF)

    os._exit = leave
    signal.signal(signal.SIGIO, lambda *_: os.killpg(own, signal.SIGTERM))
    fcntl.fcntl(connection, fcntl.F_SETOWN, own)
    fcntl.fcntl(connection, fcntl.F_SETFL, fcntl.fcntl(connection, fcntl.F_GETFL) | os.O_ASYNC)
    code = _ending(program)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            os.write(2, f"Exception ignored in: {stream}\n{type(error).__name__}: {error}\n".encode())
            code = 120
    leave(code)


def _ending(program: Callable[[], int]) -> int:
    """The exit code of a program, also where it leaves by an exception; that of an interrupt is its signal."""
    try:
        return program()
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        sys.stderr.write(f"{error.code}\n")
        return 1
    except BaseException as error:
        sys.excepthook(*sys.exc_info())
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1

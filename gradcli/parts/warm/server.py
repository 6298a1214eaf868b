"""The process that has imported all: it answers one call of each kind to itself, and then forks a child for each call.

The process has one thread.  What it forks has torch's threads again: torch starts them with its first parallel work,
and a process that has started them cannot be forked.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import importlib
import io
import marshal
import os
import pkgutil
import re
import select
import shlex
import signal
import socket
import sys
import tempfile
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn, cast

from gradcli.parts.warm import paths, protocol

if TYPE_CHECKING:
    import socket
    from io import TextIOWrapper

TURN = 1.0
"""Seconds that a call may keep the next one waiting, where there are as many as processors: some wait for others."""

LOOK = 0.01
"""Seconds between two looks at whose turn it is."""

NOT_FLUSHED = 120
"""Exit code of Python where the rest of the output cannot be written at its end."""

_FIRST = (
    "--version; --help; vjp --help; functions sin --format markdown; vjp x**2+sin(x) --at 1,2 --v 1,1 --full; vjp x+; "
    "jacobian [x*y,x+y] --at x=3 --at y=5 --json; grad abs(x) --at 0; check x**3 --at 2 --claim 3*x**2; "
    "grad mean((X@w-y)**2); x**2 --at 3"
)
"""Calls answered before the first fork, besides the first example of each command, so that no call spends its time on
work that is done once."""


def serve(idle: float, ready: Callable[[], None], load: Callable[[], int], program: Callable[[], int]) -> None:
    """Load all, and fork for each call, until there is nothing more to do; or return, as another process serves.

    Args:
        idle: Seconds without a call after which it ends.
        ready: Called when it takes calls.
        load: Called before, for all that calls share; gives the threads that torch takes by itself, 0 without it.
        program: What a child runs; its exit code is that of the call.
    """
    path = paths.socket_path()
    if not paths.make_folder():
        _say(f"the folder {paths.folder()} cannot be used")
        return
    os.umask(0o077)  # each child takes that of its call
    with open(path.removesuffix("socket") + "lock", "a", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            _say("another one is loading; gradcli warm status tells when it runs")
            return
        lock.truncate(0)
        threads = load()
        if path != paths.socket_path():
            _say("the installation has changed meanwhile; try again")
            return
        with socket.socket(socket.AF_UNIX) as listener:
            new = path.removesuffix("socket") + str(os.getpid())  # nobody else's who lives
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new)
            listener.bind(new)
            listener.listen(128)
            os.rename(new, path)  # where it stays: nobody knows what is there at the end
            lock.write(str(os.getpid()))
            lock.flush()
            ready()
            _fork_for_each(listener, idle, partial(_be_a_call, listener, lock.fileno(), threads, program))


def _say(reason: str) -> None:
    """Tell the starter of the process why it takes no calls."""
    with contextlib.suppress(OSError):  # the starter has gone
        os.write(1, f"{reason}\n".encode())


def main(idle: float) -> None:
    """Run the program of the process, which says a line on its output when it takes calls."""
    from gradcli.cli import process

    serve(idle, say_ready, loaded, partial(process, is_forked=True))


def say_ready() -> None:
    """Tell the starter of the process that it is ready, and write nothing any more."""
    with contextlib.suppress(OSError):  # the starter has gone
        os.write(1, b"ready\n")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.close(nothing)


def loaded() -> int:
    """Import all, and answer one call of each kind; give the number of threads that torch takes by itself."""
    import gradcli
    from gradcli.autodiff._torch import torch
    from gradcli.cli import main
    from gradcli.registry import all_commands

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        for found in pkgutil.walk_packages(gradcli.__path__, "gradcli."):
            if not found.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # of an extra
                    importlib.import_module(found.name)
        helps = (one.loaded().__doc__ or "" for one in all_commands().values() if one.method)
        examples = (shlex.split(re.findall("gradcli (.*)", text)[0]) for text in helps)
        for words in [*map(str.split, _FIRST.split("; ")), *examples]:
            main(words)
    sys.excepthook = sys.__excepthook__
    for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        finalizer.atexit = False  # shared objects are not taken down by each child
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            vars(module).pop("__warningregistry__", None)  # past warnings are given again
    gc.collect()
    gc.freeze()
    return threads


def _fork_for_each(listener: socket.socket, idle: float, answer: Callable[[socket.socket], None]) -> None:
    """Fork a child for each client, in turn, until there is none for long.

    Every client is told at once that it will be served, or many at once would give up and start by themselves.
    """
    waiting: deque[socket.socket] = deque()
    begun: dict[int, float] = {}  # when children began that have not ended, nor had their turn

    def forget(*_: object) -> None:
        with contextlib.suppress(ChildProcessError):
            while child := os.waitpid(-1, os.WNOHANG)[0]:
                begun.pop(child, None)

    signal.signal(signal.SIGCHLD, forget)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    listener.setblocking(False)
    most, last = max(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2), time.monotonic()
    while waiting or time.monotonic() < last + idle:
        wait = LOOK if waiting else last + idle - time.monotonic()
        if select.select([listener], [], [], max(0, wait))[0]:
            waiting.extend(_accepted(listener))
            last = time.monotonic()
        for child in [child for child, start in [*begun.items()] if time.monotonic() > start + TURN]:
            begun.pop(child, None)
        while waiting and len(begun) < most:
            with waiting.popleft() as connection:
                with warnings.catch_warnings(action="ignore"):  # of threads, which their library stops first
                    child = os.fork()
                if child == 0:
                    try:
                        for other in waiting:
                            other.close()
                        answer(connection)
                    finally:
                        os._exit(70)
                begun[child] = time.monotonic()


def _accepted(listener: socket.socket) -> Iterator[socket.socket]:
    """Accept all clients of this user that are there, and tell them to wait."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:  # there are no more
            return
        connection.setblocking(True)
        try:
            if protocol.peer(connection) == os.geteuid():
                connection.sendall(protocol.ACCEPTED)
                yield connection
                continue
        except OSError:  # the client has gone
            pass
        connection.close()


def _be_a_call(
    listener: socket.socket, lock: int, threads: int, program: Callable[[], int], connection: socket.socket
) -> None:
    """Answer the call of a client in this child, and end."""
    os.setpgid(0, 0)
    for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.close(lock)
    listener.close()
    try:
        connection.sendall(protocol.CHILD + protocol.number(os.getpid()))
        become(connection, threads)
    except (OSError, EOFError):  # the client has gone
        os._exit(0)
    finish(connection, program)


# -- making a forked child like a started process, and its end


def become(connection: socket.socket, threads: int) -> None:
    """Take over a call, with `threads` threads of torch.

    Raises:
        OSError, EOFError: The client has gone.
    """
    size, received, _, _ = socket.recv_fds(connection, protocol.NUMBER, 4)
    size += protocol.received(connection, protocol.NUMBER - len(size))
    data = protocol.received(connection, protocol.value(size))
    words, variables, mask, ignored = marshal.loads(data)  # noqa: S302 (of the same user)
    os.fchdir(received[0])
    for number, descriptor in enumerate(received[1:]):
        os.dup2(descriptor, number)
    for descriptor in received:
        os.close(descriptor)
    os.umask(mask)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    os.environb.clear()
    os.environb.update(variables)
    time.tzset()
    tempfile.tempdir = None
    sys.argv = [os.fsdecode(word) for word in words]
    raw = io.FileIO(0, closefd=False)  # which finds out anew whether there is a way back in it
    raw.name = "<stdin>"
    sys.stdin = io.TextIOWrapper(io.BufferedReader(raw), sys.stdin.encoding, sys.stdin.errors, newline="\n")
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):  # the variables that they heed are the same
        is_lines = not os.environ.get("PYTHONUNBUFFERED") and (number == 2 or os.isatty(number))
        cast("TextIOWrapper", stream).reconfigure(line_buffering=is_lines)
    if threads:  # torch and NumPy as at a start: threads, and random numbers that nobody else has
        import numpy as np

        from gradcli.autodiff._torch import torch

        torch.set_num_threads(threads)
        torch.seed()
        np.random.seed()


def finish(connection: socket.socket, program: Callable[[], int]) -> None:
    """Run a program, and end with its exit code, as Python does but for taking down all that was imported.

    Any other end of this process sends its exit code too; where the client has gone, the process ends.
    """
    own, end = os.getpid(), os._exit

    def leave(status: int) -> NoReturn:
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            connection.sendall(protocol.number(status))
        end(status & 0xFF)

    os._exit = leave
    signal.signal(signal.SIGIO, lambda *_: os.killpg(own, signal.SIGTERM))
    fcntl.fcntl(connection, fcntl.F_SETOWN, own)
    fcntl.fcntl(connection, fcntl.F_SETFL, fcntl.fcntl(connection, fcntl.F_GETFL) | os.O_ASYNC)
    try:
        code = program()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            code = NOT_FLUSHED if stream is sys.stdout else code
        except ValueError:  # it is closed
            pass
    leave(code)

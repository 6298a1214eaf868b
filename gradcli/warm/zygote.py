"""The process that has imported all: it answers one call of each kind to itself, and then forks a child for each call.

One child is there before its call comes, as a fork takes as long as half an answer.  The process has one thread.  What
it forks has torch's threads again: torch starts them with its first parallel work, and a process that has started them
cannot be forked.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import io
import os
import pkgutil
import selectors
import signal
import socket
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import NamedTuple

from gradcli.warm import place, wire
from gradcli.warm.becoming import Origin, become, finish

LOOKING = 30.0
"""Seconds after which it looks whether it still is what is installed, and has its socket."""

SAYING = 1.0
"""Seconds that a client has for its first words."""

_FIRST = (
    ["--version"],
    ["--help"],
    ["vjp", "--help"],
    ["functions", "sin", "--format", "markdown"],
    ["vjp", "x**2 + sin(x)", "--at", "1,2", "--v", "1,1"],
    ["vjp", "x**2", "--at", "1,2", "--v", "1,1", "--full"],
    ["jacobian", "[x*y, x+y]", "--at", "x=3", "--at", "y=5", "--json"],
    ["grad", "sum(softmax(A@x))", "--at", "A=[[1,2],[3,4]]", "--at", "x=5,6"],
    ["grad", "abs(x)", "--at", "0"],
    ["jvp", "sin(x)", "--at", "1,2", "--u", "ones"],
    ["hessian", "x[0]**2*x[1]", "--at", "1,2"],
    ["hvp", "sum(x**3)", "--at", "1,2", "--u", "e0"],
    ["eval", "x**2", "--at", "3", "--format", "plain"],
    ["check", "x**3", "--at", "2", "--claim", "3*x**2"],
    ["improve", "1 - cos(x)", "--at", "1e-8"],
    ["explain", "y = x**2; z = x*y", "--at", "1,2", "--v", "1,1"],
    ["graph", "y = x**2; z = y**3", "--at", "1,2", "--v", "1,1"],
    ["code", "x**2", "--at", "1,2", "--v", "1,1"],
    ["grad", "mean((X@w - y)**2)"],
    ["vjp", "x +", "--at", "1"],
)
"""What is answered before the first fork, so that no call spends its time on what is done once."""


def serve(idle: float, ready: Callable[[], None], load: Callable[[], Origin], program: Callable[[], int]) -> None:
    """Load all, and fork for each call, until there is nothing more to do; or return, as another process serves.

    Args:
        idle: Seconds without a call after which it ends.
        ready: Called when it takes calls.
        load: Called before, for all that calls share.
        program: What a child runs; its exit code is that of the call.
    """
    path, fingerprint = place.socket_path(), place.fingerprint()
    if not place.made():
        return
    os.umask(0o077)  # each child takes that of its call
    with open(place.lock_path(), "a", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        origin = load()
        if path != place.socket_path():
            return  # what is installed has changed meanwhile
        with socket.socket(socket.AF_UNIX) as listener:
            new = path.removesuffix("socket") + str(os.getpid())  # nobody else's who lives
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new)
            listener.bind(new)
            listener.listen(128)
            server = _Server(path, os.lstat(new), fingerprint, listener, lock.fileno(), origin, idle, program)
            os.rename(new, path)  # where it stays: nobody knows what is there at the end
            ready()
            server.run()


def main(idle: float) -> None:
    """The program of the process, which says a line on its output when it takes calls."""
    from gradcli.cli import process

    serve(idle, say_ready, loaded, partial(process, is_forked=True))


def say_ready() -> None:
    """Tell who started the process, and write nothing any more."""
    with contextlib.suppress(OSError):  # whoever started it has gone
        os.write(1, b"ready\n")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.close(nothing)


def loaded() -> Origin:
    """Import all, and answer one call of each kind."""
    import gradcli
    from gradcli.autodiff._torch import torch
    from gradcli.cli import main

    origin = Origin.of_torch()
    torch.set_num_threads(1)
    nowhere = io.StringIO()
    with _nothing_of_the_user(), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        for found in pkgutil.walk_packages(gradcli.__path__, "gradcli."):
            if not found.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # of an extra
                    importlib.import_module(found.name)
        for words in _FIRST:
            main(words)
    sys.excepthook = sys.__excepthook__
    for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        finalizer.atexit = False  # what is shared is not taken down by each child
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            vars(module).pop("__warningregistry__", None)  # what was warned of is warned of again
    gc.collect()
    gc.freeze()
    return origin


@contextlib.contextmanager
def _nothing_of_the_user() -> Iterator[None]:
    """A block in which no settings are read: each call reads its own."""
    kept = dict(os.environ)
    for name in list(os.environ):
        if name.startswith("GRADCLI_"):
            del os.environ[name]
    os.environ["GRADCLI_CONFIG"] = ""
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


@dataclass
class _Caller:
    """A client: what it has said, until when it has to have said all, and the process that was forked for it."""

    connection: socket.socket
    until: float
    said: bytes = b""
    child: int = 0


class _Spare(NamedTuple):
    """A child that was forked before its call comes, and the end of a pair of sockets by which it gets one."""

    process: int
    end: socket.socket


class _Server:
    """The loop: connections are taken first, as a client waits no longer than `client.PATIENCE` for that."""

    def __init__(
        self,
        path: str,
        own: os.stat_result,
        fingerprint: bytes,
        listener: socket.socket,
        lock: int,
        origin: Origin,
        idle: float,
        program: Callable[[], int],
    ) -> None:
        self.path, self.listener, self.lock = path, listener, lock
        self.origin, self.idle, self.program = origin, idle, program
        self.own, self.fingerprint = own, fingerprint
        self.started = self.used = self.looked = time.monotonic()
        self.calls = 0
        self.is_over = False
        self.callers: dict[int, _Caller] = {}
        self.accepted: list[_Caller] = []
        self.spare: _Spare | None = None
        self.selector = selectors.DefaultSelector()
        self.woken, self.wakes = os.pipe()

    def run(self) -> None:
        """Serve until it is over."""
        self.listener.setblocking(False)
        for end in (self.woken, self.wakes):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self.wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, self._stop)
        self.selector.register(self.listener.fileno(), selectors.EVENT_READ)
        self.selector.register(self.woken, selectors.EVENT_READ)
        while not self.is_over:
            self._turn()
        if self.spare is not None:
            self.spare.end.close()

    def _turn(self) -> None:
        found = self.selector.select(0 if self.spare is None else self._patience())
        if not found and self.spare is None:  # nobody waits
            self.spare = self._forked()
            found = self.selector.select(self._patience())
        ready = [key.fd for key, _ in found]
        self._accept()
        for descriptor in ready:
            if descriptor == self.woken:
                with contextlib.suppress(BlockingIOError):
                    os.read(self.woken, 4096)
            elif descriptor in self.callers:
                self._hear(self.callers[descriptor])
        while self.accepted:
            self._hand_over(self.accepted.pop(0))
            self._accept()
        self._reap()
        self._look()

    def _patience(self) -> float:
        now = time.monotonic()
        waiting = [caller.until - now for caller in self.callers.values() if not caller.child]
        return max(0.0, min([LOOKING, self.used + self.idle - now, *waiting]))

    def _stop(self, *_: object) -> None:
        self.is_over = True

    # -- callers

    def _accept(self) -> None:
        """Take all connections that there are, and what they have said already."""
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setblocking(False)
            caller = _Caller(connection, time.monotonic() + SAYING)
            if wire.peer(connection) != os.geteuid():
                connection.close()
                continue
            self.callers[connection.fileno()] = caller
            self.selector.register(connection, selectors.EVENT_READ)
            self._hear(caller)

    def _hear(self, caller: _Caller) -> None:
        """What a client says: its request, of which what comes behind it is for the child; or that it has gone."""
        if caller.child or caller in self.accepted:
            if self._has_gone(caller.connection):
                self._forget(caller)
            return
        header = 1 + wire.NUMBER
        try:
            wanted = header if len(caller.said) < header else header + wire.value(caller.said[1:header])
            while len(caller.said) < wanted <= wire.LONGEST:
                more = caller.connection.recv(wanted - len(caller.said))
                if not more:
                    self._forget(caller)
                    return
                caller.said += more
                if len(caller.said) == header:
                    wanted += wire.value(caller.said[1:header])
        except BlockingIOError:
            return
        except OSError:
            self._forget(caller)
            return
        self._answer(caller, caller.said[:1], caller.said[header:])

    def _answer(self, caller: _Caller, kind: bytes, said: bytes) -> None:
        is_call = kind == wire.RUN
        reply = b""
        if is_call and said == self.fingerprint:
            reply = wire.TAKEN
            self.accepted.append(caller)
        elif is_call:
            reply = wire.OTHER
        elif kind in (wire.STATUS, wire.STOP):
            self.is_over |= kind == wire.STOP
            reply = wire.message(kind, self._said())
        try:
            caller.connection.send(reply)
        except OSError:
            self._forget(caller)
            return
        if not (is_call and reply == wire.TAKEN):
            self._forget(caller)

    def _said(self) -> bytes:
        """What it says of itself: numbers, and what it was started with."""
        now = time.monotonic()
        running = sum(bool(caller.child) for caller in self.callers.values())
        left = max(0, int(self.used + self.idle - now))
        numbers = (os.getpid(), int(now - self.started), self.calls, running, left)
        return wire.packed([b"%d" % number for number in numbers], self.fingerprint.split(b"\n"))

    def _has_gone(self, connection: socket.socket) -> bool:
        try:
            return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _forget(self, caller: _Caller) -> None:
        """Close a connection; what still runs for it has nobody left to run for."""
        descriptor = caller.connection.fileno()
        self.selector.unregister(descriptor)
        self.callers.pop(descriptor, None)
        if caller in self.accepted:
            self.accepted.remove(caller)
        caller.connection.close()
        if caller.child:
            with contextlib.suppress(OSError):
                os.killpg(caller.child, signal.SIGKILL)

    # -- children

    def _hand_over(self, caller: _Caller) -> None:
        """Give a call to the spare child, or to one that is forked for it."""
        self.used = time.monotonic()
        self.calls += 1
        while (child := self.spare or self._forked()) is not None:
            self.spare = None
            with child.end:
                try:
                    socket.send_fds(child.end, [b"c"], [caller.connection.fileno()])
                except OSError:
                    continue  # somebody has killed it
            caller.child = child.process
            return
        self._forget(caller)  # no memory, or too many processes: the client runs cold

    def _forked(self) -> _Spare | None:
        """A child that waits for a call; None if there can be none."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                with warnings.catch_warnings(action="ignore"):  # of threads, which their library stops first
                    process = os.fork()
            except OSError:
                ours.close()
                return None
            if process == 0:
                try:
                    ours.close()
                    self._be(theirs)
                finally:
                    os._exit(70)
        with contextlib.suppress(OSError):
            os.setpgid(process, process)
        return _Spare(process, ours)

    def _be(self, end: socket.socket) -> None:
        """In the child: wait for a call, be what its client asks for, and end."""
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        others = [caller.connection.fileno() for caller in self.callers.values()]
        self.selector.close()
        for descriptor in (self.listener.fileno(), self.lock, self.woken, self.wakes, *others):
            os.close(descriptor)
        _, given, _, _ = socket.recv_fds(end, 1, 1)
        end.close()
        if not given:  # the process that forked this one has ended
            os._exit(0)
        os.set_inheritable(given[0], False)
        connection = socket.socket(fileno=given[0])
        connection.settimeout(None)  # for the process that shares it too, which says of each call that it does not wait
        connection.sendall(wire.CHILD + wire.number(os.getpid()))
        try:
            connection = become(connection, self.origin)
        except (OSError, EOFError):  # the client has gone
            os._exit(0)
        finish(connection, self.program)

    def _reap(self) -> None:
        """Tell the clients of the children that have ended how they did."""
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if child == 0:
                return
            if self.spare is not None and self.spare.process == child:
                self.spare.end.close()
                self.spare = None
            caller = next((c for c in self.callers.values() if c.child == child), None)
            if caller is None:
                continue
            code = os.waitstatus_to_exitcode(status)
            reply = wire.ENDED + wire.number(code) if code >= 0 else wire.KILLED + wire.number(-code)
            with contextlib.suppress(OSError):
                caller.connection.send(reply, socket.MSG_DONTWAIT)
            caller.child = 0
            self.used = time.monotonic()
            self._forget(caller)

    # -- its own end

    def _look(self) -> None:
        """Whether it is to go on: it is in use, has its socket, and is of what is installed."""
        now = time.monotonic()
        for caller in [c for c in self.callers.values() if not c.child and c not in self.accepted]:
            if caller.until < now:
                self._forget(caller)
        has_children = any(caller.child for caller in self.callers.values())
        if not has_children and now >= self.used + self.idle:
            self.is_over = True
        if now >= self.looked + LOOKING:
            self.looked = now
            self.is_over |= not self._has_socket() or place.socket_path() != self.path

    def _has_socket(self) -> bool:
        try:
            return os.path.samestat(os.lstat(self.path), self.own)
        except OSError:
            return False

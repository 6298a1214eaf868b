"""The installed command: it hands its call to the warm process, if there is one, or runs it.

It hands over arguments, variables, folder, open files, umask and the signals that are ignored; the rest of a program's
start is compared (`place.fingerprint`).  It waits for the exit code, and passes on the signals that it gets.
"""

from __future__ import annotations

import os
import sys

from gradcli.warm import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Iterator, Sequence
    from types import FrameType

PATIENCE = 1.0
"""Seconds until the call has to be taken: many calls at once take their turns."""

PASSED = "SIGINT SIGQUIT SIGHUP SIGTERM SIGUSR1 SIGUSR2 SIGALRM SIGWINCH SIGCONT SIGTSTP".split()
"""Signals that go on to the child."""

TYPED = "SIGINT SIGQUIT SIGHUP SIGWINCH SIGCONT SIGTSTP".split()
"""Those that a terminal sends to all processes of a command, such as the pager."""

LIVED_THROUGH = "SIGWINCH SIGCONT SIGTSTP".split()
"""Those that end nothing."""


def process() -> int:
    """The entry point of `gradcli`: answered by the warm process, or by this one."""
    if os.environ.get(place.VARIABLE) != "0" and sys.argv[1:2] != [place.COMMAND] and not _runs_code(sys.argv[1:]):
        code = answered()
        if code is not None:
            os._exit(code)
    from gradcli.cli import process as cold

    return cold()


def _runs_code(words: Sequence[str]) -> bool:
    """Whether a call runs code of the user's, which might tell a forked process from one that is started.

    >>> _runs_code(["run", "fit.py"]), _runs_code(["grad", "model.py::loss"]), _runs_code(["grad", "x[1:3]"])
    (True, True, False)
    """
    if not {"run", "--run"}.isdisjoint(words):
        return True
    if not any(":" in word for word in words):
        return False
    from gradcli.running.targets import target

    return any(map(target, words))


def answered() -> int | None:
    """The exit code of this call from the warm process; None if there is none that takes it."""
    try:
        import _socket

        if sys.warnoptions or not place.is_safe():
            return None
        path, fingerprint = place.socket_path(), place.fingerprint()
        connection = _socket.socket(_socket.AF_UNIX)
    except (ImportError, AttributeError, OSError):
        return None
    try:
        call = _Call(connection)
        return call.end(call.taken(path, fingerprint))
    except (OSError, EOFError):
        return None
    finally:
        connection.close()


class _Call:
    """This call, on a connection to the process."""

    def __init__(self, connection: _socket.socket) -> None:
        self.connection = connection
        self.deadly = 0  # the last signal that went on to the child and may end it

    def taken(self, path: str, fingerprint: bytes) -> int:
        """The number of the process that is forked for this call.

        Raises:
            OSError, EOFError: None is.
        """
        from gradcli.warm import wire

        connection = self.connection
        connection.settimeout(PATIENCE)
        connection.connect(path)
        if wire.peer(connection) != os.geteuid():
            raise EOFError
        connection.sendall(wire.message(wire.RUN, fingerprint))
        if wire.received(connection, 1) != wire.CHILD:
            raise EOFError
        child = wire.value(wire.received(connection, wire.NUMBER))
        connection.settimeout(None)
        return child

    def end(self, child: int) -> int | None:
        """Give the child what this process was given, and end as it does; None if it cannot be what this is.

        Raises:
            OSError: The folder was removed, or must not be read.
        """
        from gradcli.warm import wire

        descriptors = list(_open(self.connection.fileno()))
        if len(descriptors) > wire.MOST_DESCRIPTORS:
            return None
        folder = os.open(os.getcwd(), os.O_RDONLY)
        restored = self._pass_signals(child)
        try:
            call = _given(descriptors)
            wire.send_with(self.connection, wire.number(len(call)) + call, [folder, *descriptors])
            kind = wire.received(self.connection, 1)
            value = 0 if kind == wire.COLD else wire.value(wire.received(self.connection, wire.NUMBER))
        except (OSError, EOFError):
            if self.deadly:
                _die(self.deadly)
            if sys.stderr is not None:
                sys.stderr.write("gradcli: the warm process ended before this call did; try again\n")
                sys.stderr.flush()
            os._exit(70)
        if kind == wire.COLD:
            import _signal  # type: ignore[import-not-found]

            for number, handler in restored:
                _signal.signal(number, handler)
            os.close(folder)
            return None
        if value < 0:
            _die(-value)
        if value == 130 and self.deadly:  # typed at a terminal, the command dies of it
            from gradcli.signals import die_if_typed

            die_if_typed()
        return value

    def _pass_signals(self, child: int) -> list[tuple[int, object]]:
        """From here on signals go to the child; what was there before."""
        import _signal

        names = {getattr(_signal, name): name for name in PASSED}
        stop = _signal.SIGTSTP

        def passed(number: int, frame: FrameType | None) -> None:
            if names[number] not in LIVED_THROUGH:
                self.deadly = number
            try:
                if names[number] in TYPED:
                    os.killpg(child, number)
                else:
                    os.kill(child, number)
            except OSError:
                pass  # it has just ended
            if number == stop:
                os.kill(os.getpid(), _signal.SIGSTOP)

        restored = []
        for number in names:
            before = _signal.getsignal(number)
            if before != _signal.SIG_IGN:
                restored.append((number, before))
                _signal.signal(number, passed)
        return restored


def _open(own: int) -> Iterator[int]:
    """The descriptors that a program which this one starts would have."""
    for name in os.listdir("/dev/fd"):
        try:
            if int(name) != own and (int(name) <= 2 or os.get_inheritable(int(name))):
                yield int(name)
        except (OSError, ValueError):
            continue  # the folder that was just read


def _given(descriptors: list[int]) -> bytes:
    """What this process was given."""
    import _signal
    import marshal  # Python has imported it, for modules

    mask = os.umask(0)
    os.umask(mask)
    ignored = [n for n in range(1, _signal.NSIG) if n not in _OWN and _signal.getsignal(n) == _signal.SIG_IGN]
    words, paths = list(map(os.fsencode, sys.argv)), list(map(os.fsencode, sys.path))
    return marshal.dumps((words, dict(os.environb), paths, descriptors, mask, ignored))


_OWN = (13, 25)
"""SIGPIPE and SIGXFSZ, which Python ignores."""


def _die(number: int) -> None:
    """End as the child did, of a signal."""
    import _signal

    if number != _signal.SIGKILL:
        _signal.signal(number, _signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)

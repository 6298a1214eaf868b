"""What the installed command does first: it hands its call to the warm process, if there is one.

It hands over arguments, variables, folder, standard streams, umask and the signals that are ignored; the rest of a
program's start is in the name of the socket (`paths`).  It waits for the exit code, and passes on the signals it gets.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import errno
import os
import sys

from gradcli.parts.warm import paths, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Iterator, Sequence
    from types import FrameType

PATIENCE = 1.0
"""Seconds until the call has to be accepted; it then waits for its turn behind others, however long they take."""

PASSED = "SIGINT SIGQUIT SIGHUP SIGTERM SIGUSR1 SIGUSR2 SIGALRM SIGWINCH SIGCONT SIGTSTP".split()
"""Signals that go on to the child."""

TYPED = "SIGINT SIGQUIT SIGHUP SIGWINCH SIGCONT SIGTSTP".split()
"""Signals that a terminal sends to all processes of a command, such as the pager."""

OPEN_HERE = ("/dev/fd", "/dev/tty", "/proc/self", "/proc/thread-self", f"/proc/{os.getpid()}")
"""What is another thing to each process: its open files, and its terminal, which a detached process has none of."""

HANDED_OVER = {f"{folder}{number}" for folder in ("", "fd/") for number in range(3)}
"""Of these the standard streams, which the child has too."""

LONGEST_PATH = 4096
"""Characters of a path that a system takes."""

MOST_LINKS = 40
"""Most links on a path that a system follows."""

LIVED_THROUGH = "SIGWINCH SIGCONT SIGTSTP".split()
"""Signals that end nothing."""


def take_over() -> None:
    """End this process with the answer of the warm process, if there is one that may take the call."""
    if os.environ.get(paths.VARIABLE) != "0" and sys.argv[1:2] != [paths.COMMAND] and not _is_only_here(sys.argv[1:]):
        code = answered()
        if code is not None:
            os._exit(code)


def _is_only_here(words: Sequence[str]) -> bool:
    """Tell whether a call runs the user's code, which might tell processes apart, or opens what is open here alone.

    >>> _is_only_here(["run", "fit.py"]), _is_only_here(["grad", "model.py::loss"]), _is_only_here(["grad", "x[1:3]"])
    (True, True, False)
    >>> _is_only_here(["explain", "train.py"]), _is_only_here(["explain", "x**2"])
    (True, False)
    >>> _is_only_here(["eval", "x", "--at=x=@/dev/fd/63"])
    True
    """
    if not {"run", "--run"}.isdisjoint(words) or any(map(is_open_here, _paths(words))):
        return True
    if any(word.rstrip().endswith((".py", ".pyw", ".ipynb")) for word in words):
        return True
    if not any(":" in word for word in words):
        return False
    from gradcli.parts import all_parts

    return any(part.names_code(word) for part in all_parts() for word in words)


def _paths(words: Sequence[str]) -> Iterator[str]:
    """List what may be a path in the words of a call, and in the variables that name a file or a program.

    >>> [path for path in _paths(["p.csv", "--at=x=@q.csv:1"]) if path.endswith("csv")]
    ['p.csv', '--at=x=@q.csv', 'x=@q.csv', '@q.csv', 'q.csv']
    """
    for word in words:
        starts = [0, *(k + 1 for k, sign in enumerate(word) if sign in "=@")]
        for path in (word[start : start + LONGEST_PATH] for start in starts):
            yield path
            if ":" in path:  # before the name of a column
                yield path.partition(":")[0]
    yield os.path.expanduser(os.environ.get("GRADCLI_CONFIG", ""))
    yield from (word for name in ("GRADCLI_PAGER", "PAGER") for word in os.environ.get(name, "").split())


def is_open_here(path: str) -> bool:
    """Tell whether a path leads, by links too, to an open file of this process or to its terminal.

    >>> is_open_here("/dev/../dev/fd/63"), is_open_here("/dev/stdin"), is_open_here("x**2/fd")
    (True, False, False)
    """
    try:
        parts = [*reversed(os.path.join(os.getcwd(), path).split("/"))]
    except OSError:  # the folder is gone
        return False
    place, links = "/", 0
    while parts and links < MOST_LINKS:
        part = parts.pop()
        if part in ("", "."):
            continue
        place = os.path.dirname(place) if part == ".." else os.path.join(place, part)
        if place in OPEN_HERE:
            return "/".join(filter(None, reversed(parts))) not in HANDED_OVER
        try:
            link = os.readlink(place)
        except OSError as error:
            if error.errno == errno.EINVAL:  # it is there, and no link
                continue
            return False
        parts += reversed(link.split("/"))
        place, links = "/" if link[:1] == "/" else os.path.dirname(place), links + 1
    return False


def answered() -> int | None:
    """Get the exit code of this call from the warm process; None if there is none that takes it."""
    try:
        import _socket

        if sys.warnoptions or not paths.is_safe():
            return None
        connection = _socket.socket(_socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        connection.connect(paths.socket_path())
        if protocol.peer(connection) != os.geteuid():
            return None
        if protocol.received(connection, 1) != protocol.ACCEPTED:
            return None
        connection.settimeout(None)
        if _awaited(connection) != protocol.CHILD:
            return None
        child = protocol.value(protocol.received(connection, protocol.NUMBER))
        folder = os.open(os.getcwd(), os.O_RDONLY)
        os.fchdir(folder)  # which the child must do
    except (ImportError, AttributeError, OSError, EOFError):
        return None
    return _ended(connection, child, folder)


def _awaited(connection: _socket.socket) -> bytes:
    """Wait for this call's turn; an interrupt ends this process, without a word."""
    raises = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
    if raises:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    try:
        return protocol.received(connection, 1)
    finally:
        if raises:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _ended(connection: _socket.socket, child: int, folder: int) -> int:
    """Give a child this call, its folder and its streams, and get its exit code; or end as it does."""
    deadly = _pass_signals(child)
    try:
        _hand_over(connection, folder)
        value = protocol.value(protocol.received(connection, protocol.NUMBER))
    except (OSError, EOFError):
        if deadly:
            _die(deadly[-1])
        if sys.stderr is not None:
            sys.stderr.write("gradcli: the warm process ended before this call did; try again\n")
            sys.stderr.flush()
        return 70
    if value == 130 and deadly:  # typed at a terminal, the command dies of it
        from gradcli.signals import die_if_typed

        die_if_typed()
    return value


def _pass_signals(child: int) -> list[int]:
    """Pass signals on to the child; give the list of passed signals that may end it."""
    names = {getattr(_signal, name): name for name in PASSED}
    deadly: list[int] = []

    def passed(number: int, frame: FrameType | None) -> None:
        if names[number] not in LIVED_THROUGH:
            deadly.append(number)
        try:
            if names[number] in TYPED:
                os.killpg(child, number)
            else:
                os.kill(child, number)
        except OSError:
            pass  # it has just ended
        if number == _signal.SIGTSTP:
            os.kill(os.getpid(), _signal.SIGSTOP)

    for number in names:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, passed)
    return deadly


def _hand_over(connection: _socket.socket, folder: int) -> None:
    """Send arguments, variables, umask and ignored signals of this process, its folder and its streams."""
    import _socket
    import marshal  # Python has imported it, for modules

    mask = os.umask(0)
    os.umask(mask)
    ignored = [n for n in range(1, _signal.NSIG) if n not in _OWN and _signal.getsignal(n) == _signal.SIG_IGN]
    data = marshal.dumps((list(map(os.fsencode, sys.argv)), dict(os.environb), mask, ignored))
    data = protocol.number(len(data)) + data
    rights = b"".join(descriptor.to_bytes(4, sys.byteorder) for descriptor in (folder, 0, 1, 2))
    rest = data[connection.sendmsg([data], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)]) :]
    if rest:  # or the other end may have done all, and be gone
        connection.sendall(rest)


_OWN = (13, 25)
"""SIGPIPE and SIGXFSZ, which Python ignores."""


def _die(number: int) -> None:
    """End as the child did, of a signal."""
    if number != _signal.SIGKILL:
        _signal.signal(number, _signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)

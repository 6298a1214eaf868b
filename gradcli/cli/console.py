"""Stdout and stderr: their width, colours and signs, and writing to them.

A small answer is written in one piece; a sign that a stream cannot show becomes an escape, or a word in ASCII.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from gradcli import progress
from gradcli.cli import settings
from gradcli.errors import GradcliError, OutputError, displayable
from gradcli.formats import TINTS
from gradcli.signals import undone

if TYPE_CHECKING:
    from gradcli.report.document import Screen

PAGER_VARIABLE = "GRADCLI_PAGER"
"""Variable of the environment that names the pager."""

PIECE = 2**20
"""Characters that are written at a time."""

NARROWEST = 20
"""Least number of columns of an answer."""

USUAL = 80
"""Columns of a terminal that does not tell its width."""

_TINT_NAMES = {"error": "red", "warning": "amber"}
_MARKS = re.compile(r"^(error|warning|note):", re.MULTILINE)
_HINTS = re.compile(r"^hint:", re.MULTILINE)


def require_stdout() -> None:
    """Refuse to work for an answer that cannot be written.

    Raises:
        OutputError: There is no stdout.
    """
    if sys.stdout is None:
        raise OutputError("the output could not be written: stdout is closed")


def is_sent() -> bool:
    """Tell whether standard input is a file or a pipe."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        mode = os.fstat(sys.stdin.fileno()).st_mode
        return stat.S_ISREG(mode) or stat.S_ISFIFO(mode)
    return False


def send(pieces: Iterable[str]) -> None:
    """Write a text to stdout and flush it: a small text in one piece, a large one as its pieces come.

    Raises:
        OutputError: There is no stdout.
        OSError: Writing failed.
    """
    require_stdout()
    waiting, size = [], 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= PIECE:
            _send("".join(waiting), sys.stdout)
            waiting, size = [], 0
    _send("".join(waiting), sys.stdout)


def complain(error: GradcliError, color: str) -> None:
    """Write an error to stderr, its excerpt no wider than the terminal."""
    encoding = (sys.stderr.encoding if sys.stderr is not None else None) or "ascii"
    remark(error.render(columns(sys.stderr), encoding) + "\n", color)


def remark(text: str, color: str = "never") -> None:
    """Write to stderr, if there is one; failures are ignored, as a lost message must not undo the answer."""
    if sys.stderr is not None:
        text = displayable(text)
        with contextlib.suppress(OSError):
            _send(marked(text) if is_colored(color, sys.stderr) else text, sys.stderr)


def in_signs_of(words: str, stream: TextIO | None) -> str:
    """Put words of gradcli into signs that the stream can encode."""
    if words.isascii() or stream is None or (stream.encoding or "ascii").lower().startswith("utf"):
        return words
    from gradcli.report.document import in_ascii

    return in_ascii(words)


def _send(text: str, stream: TextIO) -> None:
    """Write and flush; drop unwritten text after a failure, or Python would try again at exit and complain."""
    encoding = stream.encoding or "ascii"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))  # with escapes for signs it lacks
        stream.flush()
    except OSError:
        if (number := descriptor(stream)) is not None:
            with open(os.devnull, "w", encoding="utf-8") as nowhere:
                os.dup2(nowhere.fileno(), number)
        raise


# -- width, colours and signs of the streams


def columns(stream: TextIO | None) -> int | None:
    """Width of a terminal; None for any other stream.  COLUMNS overrides it, as in other programs."""
    if stream is None or not stream.isatty():
        return None
    told = os.environ.get("COLUMNS", "")
    width = int(told) if told.isdecimal() else 0
    if not width and (number := descriptor(stream)) is not None:
        with contextlib.suppress(OSError):
            width = os.get_terminal_size(number).columns
    return max(NARROWEST, width or USUAL)


def descriptor(stream: TextIO) -> int | None:
    """File descriptor of a stream; None if it has none, like the streams of tests and notebooks."""
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def screen(color: str = "auto") -> Screen:
    """Describe stdout: the width if it is a terminal, its encoding, and if it gets colours."""
    from gradcli.report.document import Screen

    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "ascii"
    is_ascii = not encoding.lower().startswith("utf")
    has_colors = is_colored(color, sys.stdout)
    return Screen(columns(sys.stdout), is_ascii, has_colors, encoding, has_colors and has_all_colors())


def is_colored(color: str, stream: TextIO | None) -> bool:
    """Tell whether a stream gets colours: by `--color`, FORCE_COLOR (0 is off), NO_COLOR, or being a terminal."""
    if color != "auto":
        return color == "always"
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()


def marked(text: str) -> str:
    """Colour the first word of a message; that of a hint is bold."""
    found = _MARKS.sub(_tinted, text, count=1)
    return _HINTS.sub("\x1b[1m\\g<0>\x1b[0m", found)


def _tinted(mark: re.Match[str]) -> str:
    name = _TINT_NAMES.get(mark[1])
    return f"\x1b[{TINTS[name].escape(is_deep=has_all_colors()) if name else '1'}m{mark[0]}\x1b[0m"


def has_all_colors() -> bool:
    """Tell whether the terminal says that it has colours of 24 bits, and not only 256."""
    return os.environ.get("COLORTERM") in ("truecolor", "24bit")


# -- the pager: shows a text that is longer than the screen of a terminal, as git does it
#
# GRADCLI_PAGER names it, or else the file of settings, or else PAGER; without any it is less.  An empty name and `cat`
# mean no pager.  A pager that is missing, or that the reader quits early, is no error.


LESS = "FRX"
"""Options of less unless LESS is set: quit if the text fits one screen, show colours, leave the text there."""

PAGERS = ("less", "more")
"""Pagers to try where none is named; not on a `dumb` terminal, where they would only complain."""

_ESCAPE = re.compile(r"\x1b\[[\d;]*m")


def pager_program(configured: str | None = None) -> str:
    """Command of the pager; empty for none.

    Args:
        configured: The pager in the file of settings.
    """
    words = (os.environ.get(PAGER_VARIABLE), configured, os.environ.get("PAGER"))
    named = next((word.strip() for word in words if word is not None), None)
    if named is None:
        is_dumb = os.environ.get("TERM", "dumb") == "dumb"
        named = "" if is_dumb else next(filter(shutil.which, PAGERS), "")
    return "" if named == "cat" else named


def show_paged(pieces: Iterable[str], pager: str) -> None:
    """Write a text to stdout, a terminal: through the pager if the text is longer than the screen.

    Args:
        pieces: The text, part by part.
        pager: The command.

    Raises:
        OSError: Writing failed.
    """
    text, (width, height) = "".join(pieces), shutil.get_terminal_size()
    lines = (len(_ESCAPE.sub("", line)) for line in text.split("\n"))  # the empty last one counts for the prompt below
    name = next((word for word in pager.split() if "=" not in word), "")  # after LESS=R
    is_longer = sum(max(1, -(-line // width)) for line in lines) > height
    if is_longer and not shutil.which(name):
        remark(f"note: there is no pager {name}\n")
    elif is_longer:
        _page(text, pager)
        return
    send([text])


def _page(text: str, pager: str) -> None:
    """Run the pager; Ctrl-C goes to it alone, so that gradcli does not end before it and leave it the terminal."""
    import subprocess  # only where there is a terminal

    encoding, environment = sys.stdout.encoding or "ascii", {"LESS": LESS, **os.environ}
    kept = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        # The pager is a command line of the user's: POSIX has man run it by `sh -c`
        subprocess.run(  # noqa: S602
            pager, shell=True, input=text, env=environment, encoding=encoding, errors="backslashreplace", check=False
        )
    finally:
        signal.signal(signal.SIGINT, kept)


# -- the line of progress on the terminal: shown after the first second, and cleared before anything else is written
#
# A thread of its own writes it, plainly: it hides no cursor and imports nothing, as the work that takes so long may be
# an import.


PATIENCE = 1.0
"""Seconds before the line of progress is shown."""

RENEWED = 0.1
"""Seconds between two updates of the line."""

_CLEARED = b"\r\x1b[2K"


@contextlib.contextmanager
def waiting(arguments: Sequence[str]) -> Iterator[None]:
    """Show the progress of a block on stderr, if the block takes long and stderr is a terminal.

    Args:
        arguments: The command line; `--quiet` in it switches this off.
    """
    is_dumb = os.name != "posix" or os.environ.get("TERM", "dumb") == "dumb"
    is_shown = sys.stderr is not None and sys.stderr.isatty() and not {"-q", "--quiet"} & set(arguments)
    terminal = descriptor(sys.stderr) if is_shown and not is_dumb else None
    if terminal is None:
        yield
        return
    progress.set_step("reading")
    line = _Line(terminal, (columns(sys.stderr) or 1) - 1)
    thread = threading.Thread(target=line.show, daemon=True)
    thread.start()
    try:
        with undone(line.give_up):
            yield
    finally:
        line.ended.set()
        thread.join()
        line.write(b"")


class _Line:
    """The line of progress: shown until the block is over, then cleared."""

    def __init__(self, terminal: int, width: int) -> None:
        self.ended = threading.Event()
        self._terminal, self._width = terminal, width
        self._is_written = False

    def show(self) -> None:
        """Write the progress again and again, after `PATIENCE` seconds; not if quiet is a setting."""
        start = time.monotonic()
        if self.ended.wait(PATIENCE) or settings.peek("quiet"):
            return
        self._is_written = True
        while not self.ended.is_set():
            words = f"{progress.step_text()}, {time.monotonic() - start:.0f} s"
            self.write(words[: self._width].encode("ascii", "replace"))
            self.ended.wait(RENEWED)

    def write(self, words: bytes) -> None:
        """Replace the line by other words; by none to clear it."""
        if self._is_written:
            with contextlib.suppress(OSError):
                os.write(self._terminal, _CLEARED + words)

    def give_up(self) -> None:
        """Clear the line for good, as the process ends: later writes of the thread go to the null device."""
        terminal, self._terminal = self._terminal, os.open(os.devnull, os.O_WRONLY)
        if self._is_written:
            os.write(terminal, _CLEARED)

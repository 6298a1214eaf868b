"""Stdout and stderr: what they can show, and writing to them.

An answer is written in one piece where it is small; what a terminal cannot show is an escape, or a word in ASCII.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from gradcli.errors import GradcliError, OutputError, displayable

if TYPE_CHECKING:
    from gradcli.report.document import Screen

PIECE = 2**20
"""Characters that are written at a time."""

NARROWEST = 20
"""Columns that an answer has at least."""

USUAL = 80
"""Columns of a terminal that does not say."""

_STYLES = {"error": "\x1b[1;31merror:\x1b[0m", "warning": "\x1b[1;33mwarning:\x1b[0m", "note": "\x1b[1mnote:\x1b[0m"}
_MARKS = re.compile(r"^(error|warning|note):", re.MULTILINE)
_HINTS = re.compile(r"^hint: .*", re.MULTILINE)


def require_stdout() -> None:
    """Refuse to work for nobody.

    Raises:
        OutputError: There is no stdout.
    """
    if sys.stdout is None:
        raise OutputError("the output could not be written: stdout is closed")


def send(pieces: Iterable[str]) -> None:
    """Write a text to stdout and flush it: what is small in one piece, what is large as it comes.

    Raises:
        OutputError: There is no stdout; other failures of writing are the `OSError` that they are.
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
    """Write to stderr, if there is one: a message that nobody can read must not undo the answer."""
    if sys.stderr is not None:
        text = displayable(text)
        with contextlib.suppress(OSError):
            _send(marked(text) if is_colored(color, sys.stderr) else text, sys.stderr)


def in_signs_of(words: str, stream: TextIO | None) -> str:
    """Our own words in signs that the stream has."""
    if words.isascii() or stream is None or (stream.encoding or "ascii").lower().startswith("utf"):
        return words
    from gradcli.report.document import in_ascii

    return in_ascii(words)


def _send(text: str, stream: TextIO) -> None:
    """Write and flush; what could not be written is dropped, or Python would try again at exit and complain."""
    try:
        stream.write(_writable(text, stream))
        stream.flush()
    except OSError:
        if (number := descriptor(stream)) is not None:
            with open(os.devnull, "w", encoding="utf-8") as nowhere:
                os.dup2(nowhere.fileno(), number)
        raise


def _writable(text: str, stream: TextIO) -> str:
    """The text in what the stream can encode, the rest as escapes."""
    encoding = stream.encoding or "ascii"
    return text.encode(encoding, "backslashreplace").decode(encoding)


# -- what they can show


def columns(stream: TextIO | None) -> int | None:
    """The width of a terminal; None for what is none. COLUMNS counts more, as it does elsewhere."""
    if stream is None or not stream.isatty():
        return None
    told = os.environ.get("COLUMNS", "")
    width = int(told) if told.isdecimal() else 0
    if not width and (number := descriptor(stream)) is not None:
        with contextlib.suppress(OSError):
            width = os.get_terminal_size(number).columns
    return max(NARROWEST, width or USUAL)


def descriptor(stream: TextIO) -> int | None:
    """What the system calls a stream; None of one that it does not know, as those of tests and of notebooks."""
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def screen(color: str = "auto") -> Screen:
    """What stdout is: the terminal's width and colours, or a pipe."""
    from gradcli.report.document import Screen

    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "ascii"
    is_ascii = not encoding.lower().startswith("utf")
    return Screen(columns(sys.stdout), is_ascii, is_colored(color, sys.stdout), encoding)


def is_colored(color: str, stream: TextIO | None) -> bool:
    """Whether a stream gets colours: `--color`, then FORCE_COLOR (0 is off), then NO_COLOR, then the terminal."""
    if color != "auto":
        return color == "always"
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()


def marked(text: str) -> str:
    """A message with its first word in colour, and the hint dim."""
    found = _MARKS.sub(lambda match: _STYLES[match[1]], text, count=1)
    return _HINTS.sub("\x1b[2m\\g<0>\x1b[0m", found)

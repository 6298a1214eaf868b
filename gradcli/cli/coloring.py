"""Where there are colours: on each stream by its own state, unless somebody says otherwise."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TextIO

from gradcli.cli import environment
from gradcli.options import COLOR_VARIABLE, COLORS

_STYLES = {"error": "\x1b[1;31merror:\x1b[0m", "warning": "\x1b[1;33mwarning:\x1b[0m", "note": "\x1b[1mnote:\x1b[0m"}
_MARKS = re.compile(r"^(error|warning|note):", re.MULTILINE)
_HINTS = re.compile(r"^hint: .*", re.MULTILINE)


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


def typed(arguments: Sequence[str]) -> str:
    """The colours that a command line asks for, before it is known to be right; else those of the environment."""
    words = environment.given(arguments, "--color") or [os.environ.get(COLOR_VARIABLE, "")]
    return words[-1] if words[-1] in COLORS else "auto"

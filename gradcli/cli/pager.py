"""What is longer than the screen of a terminal, through the pager, as git does it.

GRADCLI_PAGER names it, or else the file of settings, or else PAGER; without any it is less.  An empty name and `cat`
are none.  A pager that is not there, or that its reader ends early, is no error.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterable

from gradcli.cli.console import remark, send
from gradcli.options import PAGER_VARIABLE

LESS = "FRX"
"""Options of less unless LESS is set: end on one screen, show colours, and leave the text there."""

USUAL = ("less", "more")
"""What is taken where no pager is named; on a terminal that is `dumb` it would only complain."""

_ESCAPE = re.compile(r"\x1b\[[\d;]*m")


def program(configured: str | None = None) -> str:
    """The command that is the pager; empty for none.

    Args:
        configured: What the file of settings names.
    """
    words = (os.environ.get(PAGER_VARIABLE), configured, os.environ.get("PAGER"))
    named = next((word.strip() for word in words if word is not None), None)
    if named is None:
        is_dumb = os.environ.get("TERM", "dumb") == "dumb"
        named = "" if is_dumb else next(filter(shutil.which, USUAL), "")
    return "" if named == "cat" else named


def show(pieces: Iterable[str], pager: str) -> None:
    """Write a text to stdout, which is a terminal, through the pager if it has no room for all of it.

    Args:
        pieces: The text, part by part.
        pager: The command.

    Raises:
        OSError: What writing fails with.
    """
    width, height = shutil.get_terminal_size()
    rest = iter(pieces)
    text = ""
    for piece in rest:
        text += piece
        if not _fits(text, width, height):
            _page(itertools.chain([text], rest), pager)
            return
    send([text])


def _fits(text: str, width: int, height: int) -> bool:
    """Whether a text and the prompt below it fit a screen."""
    lines = (len(_ESCAPE.sub("", line)) for line in text.split("\n"))
    return sum(max(1, -(-line // width)) for line in lines) <= height


def _page(pieces: Iterable[str], pager: str) -> None:
    """Run the pager; Ctrl-C is for it alone, as it must not be left behind with the terminal."""
    import subprocess  # only where there is a terminal

    name = next((word for word in pager.split() if "=" not in word), "")  # behind LESS=R
    if not shutil.which(name):
        remark(f"note: there is no pager {name}\n")
        send(pieces)
        return
    encoding, environment = sys.stdout.encoding or "ascii", {"LESS": LESS, **os.environ}
    kept = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        # The pager is what its user would type: POSIX has man run it by `sh -c`
        process = subprocess.Popen(  # noqa: S602
            pager, shell=True, stdin=subprocess.PIPE, env=environment, encoding=encoding, errors="backslashreplace"
        )
        with contextlib.suppress(BrokenPipeError), process:
            process.stdin.writelines(pieces)  # type: ignore[union-attr]
    finally:
        signal.signal(signal.SIGINT, kept)

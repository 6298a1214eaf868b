"""Markdown for people to read: drawn by rich and through the pager on a terminal, as it is in a pipe."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown, TableElement
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from gradcli.cli.output import require_stdout, screen, send, typed_color, write
from gradcli.errors import OutputError
from gradcli.report.document import Screen, in_ascii

WIDEST = 100
"""Columns of a page on a wide terminal: longer lines of prose are hard to read."""

LESS = "FRSX"
"""Options of less unless LESS is set: end on one screen, show colours, scroll to the right of what is wide (rather than
break tables), and leave the text there."""

NOT_FOUND = 127
"""Exit code of a shell that does not find a command."""

_THEME = Theme({"markdown.code": "cyan", "markdown.code_block": "none", "markdown.h2": "bold magenta"})
"""Rich's own style of code has a black background, whatever the terminal has."""


def show(markdown: str) -> int:
    """Write a page: on a terminal through the pager, else the Markdown itself.

    Returns:
        The exit code.

    Raises:
        OutputError: There is no such pager.
    """
    require_stdout()
    shown = screen(typed_color(()))
    return write(markdown) if shown.width is None else _page(rendered(markdown, shown))


def rendered(markdown: str, screen: Screen) -> str:
    """A page as it stands on a terminal; code is never broken, and may be wider than the screen."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=min(screen.width or WIDEST, WIDEST),
        force_terminal=screen.color,
        color_system="standard" if screen.color else None,
        legacy_windows=False,
        theme=_THEME,
        _environ={},
    )
    console.print(_Page(markdown, hyperlinks=False), crop=False)
    text = "".join(f"{line.rstrip(' ')}\n" for line in out.getvalue().splitlines())
    return in_ascii(text) if screen.ascii else text


class _Code(CodeBlock):
    """Code line for line, as tables in it fall apart where they are wrapped; the commands are bold."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = Text("", no_wrap=True, overflow="ignore")
        for line in str(self.text).rstrip().split("\n"):
            code.append(f"  {line}\n", style="bold" if line.startswith(("$ ", ">>> ")) else "")
        code.rstrip()
        yield code


class _Table(TableElement):
    """A table whose cells keep all that they say, also a word that is wider than they are."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                for column in table.columns:
                    column.overflow = "fold"
            yield table


class _Page(Markdown):
    elements = Markdown.elements | {"fence": _Code, "code_block": _Code, "table_open": _Table}


def _page(text: str) -> int:
    """Show a text in the pager, or print it where there is none."""
    pager = os.environ.get("PAGER", "").strip() or next(filter(shutil.which, ("less", "more")), "")
    if not pager:
        send([text])
    elif _run(pager, text) == NOT_FOUND:
        raise OutputError(f"the pager '{pager}' was not found", hint="PAGER names it; PAGER=cat does without one")
    return 0


def _run(pager: str, text: str) -> int:
    """The exit code of the pager; Ctrl-C is for it alone, as it must not be left behind with the terminal."""
    environment = {"LESS": LESS, **os.environ}
    sent = text.encode(sys.stdout.encoding, "backslashreplace")
    kept = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        # PAGER is what its user would type: POSIX has man run it by `sh -c`
        return subprocess.run(pager, shell=True, input=sent, env=environment, check=False).returncode  # noqa: S602
    finally:
        signal.signal(signal.SIGINT, kept)

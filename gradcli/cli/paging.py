"""Markdown for people to read, drawn by rich as it stands on a terminal."""

from __future__ import annotations

import io

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown, TableElement
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from gradcli.report.document import Screen, in_ascii

WIDEST = 100
"""Columns of a page on a wide terminal: longer lines of prose are hard to read."""

_THEME = Theme({"markdown.code": "cyan", "markdown.code_block": "none", "markdown.h2": "bold magenta"})
"""Rich's own style of code has a black background, whatever the terminal has."""


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

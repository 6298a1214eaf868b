"""Markdown to the signs of a terminal: wrapped at its width, with tables in lines and code as it is written."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, ClassVar

from rich.console import Console
from rich.markdown import CodeBlock, Heading, Markdown
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderResult
    from rich.markdown import MarkdownElement

    from gradcli.report.document import Screen

WIDEST = 100
"""Columns of a page on a wide terminal, as longer lines are hard to read; code may be as wide as the terminal."""


_END = re.compile(r"(?: |\x1b\[[\d;]*m)+$")
"""Blanks and codes of colours that a line ends with."""

_THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.code": "cyan",
        "markdown.item.bullet": "bold",
    }
)
"""Styles that can be read on black and on white."""


class _Heading(Heading):
    """Heading at the left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Code(CodeBlock):
    """Code without colours of its own, in from the left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = Text(str(self.text).rstrip("\n"), overflow="fold")
        yield Padding(code, (0, 0, 0, 2))


class _Page(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }


def drawn(text: str, on: Screen) -> str:
    """Draw Markdown on a screen.

    Args:
        text: The Markdown.
        on: A screen with a width.
    """
    width = on.width or WIDEST
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=on.color,
        color_system="standard" if on.color else None,
        theme=_THEME,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as written:
        console.print(_Page(text, hyperlinks=False), width=min(width, WIDEST))
    lines = (
        _END.sub(lambda end: end[0].replace(" ", "") if end.start() else "", line)
        for line in written.get().splitlines()
    )
    return re.sub(r"\n{3,}", "\n\n", "".join(f"{line}\n" for line in lines))

"""The terminal at the top of the README, on light and on dark ground, which `python -m tests.screenshot` renews."""

import contextlib
import io
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from gradcli.cli import main
from tests import generated

COMMANDS = ('gradcli vjp "x**2" --at 1,2 --v 1,1', 'gradcli grad "(1-cos(x))/x**2" --at 1e-8')
COLUMNS = 106

_NORMAL = [
    (0, 0, 0),
    (207, 34, 46),
    (17, 99, 41),
    (125, 78, 0),
    (9, 105, 218),
    (130, 80, 223),
    (27, 124, 131),
    (110, 119, 129),
]
_BRIGHT = [
    (255, 255, 255),
    (255, 123, 114),
    (63, 185, 80),
    (210, 153, 34),
    (88, 166, 255),
    (188, 140, 255),
    (57, 197, 207),
    (177, 186, 196),
]

GROUNDS: Mapping[str, TerminalTheme] = {
    "light": TerminalTheme((246, 248, 250), (31, 35, 40), _NORMAL, _NORMAL),
    "dark": TerminalTheme((13, 17, 23), (230, 237, 243), _BRIGHT, _BRIGHT),
}


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def path(ground: str) -> Path:
    """The file of a picture."""
    return generated.GUIDE / "pictures" / f"terminal-{ground}.svg"


def screen() -> str:
    """What a terminal shows of the commands, with codes of colours."""
    parts = []
    for command in COMMANDS:
        with patch.dict(os.environ, COLUMNS=str(COLUMNS)), contextlib.redirect_stdout(_Terminal()) as out:
            assert main([*shlex.split(command)[1:], "--color", "always", "--no-pager"]) == 0
        parts.append(f"\x1b[1m$ {command}\x1b[0m\n{out.getvalue()}")
    return "\n".join(parts)


def draw(shown: str, ground: str) -> str:
    """Draw a screen on a ground."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.from_ansi(shown.rstrip("\n")), soft_wrap=True)
    svg = console.export_svg(title="gradcli", theme=GROUNDS[ground], unique_id=f"terminal-{ground}")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # fonts of the network


def lines(svg: str) -> list[str]:
    """The texts of a picture, in order."""
    return re.findall(r"<text [^>]*>(.*?)</text>", svg)


if __name__ == "__main__":
    shown = screen()
    for ground in GROUNDS:
        path(ground).write_text(draw(shown, ground), encoding="utf-8")

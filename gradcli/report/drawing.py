"""Titles, tables and numbers on a screen: what every answer that is drawn with rich has in common.

In a pipe, tables are as wide as they need; on a terminal, they fit, and no number is broken.  Every cell is plain text:
rich's markup would eat `x[0]`.  What is a formula or a drawing says so, for formats that set these in their own way.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gradcli.report.numbers import digits
from gradcli.report.reflow import fitted
from gradcli.results import Array, Cell, Verdict

EDGE = 3
"""Elements shown at either end of a long axis."""

LONG = 12
"""Elements of an axis from which on only its ends are shown."""

WIDEST = 10_000
"""Columns of text of a table in a pipe."""

STYLES: Mapping[Verdict, str] = {
    "agree": "bold green",
    "unchecked": "bold yellow",
    "kink": "bold yellow",
    "inaccurate": "bold magenta",
    "removable": "bold magenta",
    "nan-trap": "bold red",
    "undefined": "bold yellow",
    "disagree": "bold red",
}

_ASCII = str.maketrans(
    {"∂": "d", "²": "2", "ᵀ": "T", "…": "...", "±": "+-", "∇": "grad ", "ℓ": "l", "δ": "delta", "Σ": "sum", "√": "sqrt"}
    | {"≥": ">=", "≤": "<=", "≠": "!=", "·": "*", "×": "x", "→": "->", "←": "<-", "∞": "inf", "∘": " o ", "–": "-"}
    | {"│": "|", "├": "|", "└": "`", "─": "-", "⌊": "floor(", "⌋": ")", "⌈": "ceil(", "⌉": ")", "Π": "prod", "π": "pi"}
    | {"—": "-", "−": "-"}
    | dict.fromkeys("╭╮╰╯┤┬┴┼", "+")
)
"""What our own words and signs become where a screen has no others; formulas are in SymPy's notation there."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Where tables go: the width of the terminal (None in a pipe), and what it can show.

    Where there are only the characters of ASCII for our own words, those of the user are in the encoding, or escapes.
    """

    width: int | None = None
    ascii: bool = False
    color: bool = False
    encoding: str = "ascii"


class Code(str):
    """Words that are a formula or an expression."""

    __slots__ = ()


class CodeText(Text):
    """The same on a screen."""


class Drawing(Text):
    """Lines whose blanks matter."""


Parts = Iterable[Table | Text | Padding]
"""An answer from top to bottom."""


def draw(parts: Parts, screen: Screen) -> str:
    """The parts from top to bottom as text, none wider than the screen."""
    shown = list(parts)
    if screen.width is not None:
        shown = [piece for part in shown for piece in fitted(part, screen.width)]
    out = io.StringIO()
    console = _console(screen, out, WIDEST)
    needed = max(Measurement.get(console, console.options, part).maximum for part in shown)
    console = _console(screen, out, min(needed, screen.width or WIDEST))
    for part in shown:
        console.print(part)
    return "".join(line.rstrip(" ") + "\n" for line in out.getvalue().splitlines())


def _console(screen: Screen, out: io.StringIO, width: int) -> Console:
    return Console(
        file=out,
        width=width,
        force_terminal=screen.color,
        color_system="standard" if screen.color else None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )


def title(words: str, screen: Screen) -> Text:
    """A line above a table."""
    return text(words, screen, "bold")


def text(words: str, screen: Screen, style: str = "") -> Text:
    """Words in characters that the screen has."""
    kind = CodeText if isinstance(words, Code) else Text
    return kind(_shown(words, screen), style=style)


def drawing(words: str, screen: Screen) -> Drawing:
    """Lines whose blanks matter, in characters that the screen has."""
    return Drawing(_shown(words, screen))


def _shown(words: str, screen: Screen) -> str:
    """Words as they will be written, so that a column is as wide as the escapes in it."""
    if not screen.ascii:
        return str(words)
    return in_ascii(words).encode(screen.encoding, "backslashreplace").decode(screen.encoding)


def in_ascii(words: str) -> str:
    """Our own words where there are no other characters."""
    return words.translate(_ASCII)


def new_table(headers: Sequence[str], screen: Screen, *, numeric: bool = False) -> Table:
    """A table without rows; without a header where all are empty."""
    table = Table(box=box.ASCII if screen.ascii else box.ROUNDED, show_header=any(headers))
    for n, header in enumerate(headers):
        table.add_column(text(header, screen), justify="right" if numeric and n else "left", overflow="fold")
    return table


def add_row(table: Table, screen: Screen, *cells: str | Text) -> None:
    """One row of a table."""
    table.add_row(*(cell if isinstance(cell, Text) else text(cell, screen) for cell in cells))


def formula(cell: Cell, screen: Screen) -> Code:
    """Unicode mathematics, or SymPy's notation where the screen has no such characters."""
    return Code(cell.text if screen.ascii else cell.pretty)


def elements(array: Array) -> str:
    """Elements separated by commas, a line a row; the corners and the count of a large array."""
    if array.ndim == 0:
        return digits(array[()])
    if array.size == 0:
        return "empty"
    rows = array.reshape(-1, array.shape[-1])
    lines = [
        "…" if i < 0 else ", ".join("…" if j < 0 else digits(rows[i, j]) for j in ends(rows.shape[1]))
        for i in ends(len(rows))
    ]
    if max(rows.shape) > LONG:
        lines.append(f"({array.size:,} elements)")
    return "\n".join(lines)


def ends(size: int) -> list[int]:
    """Positions of an axis; only the ends of a long one, -1 standing for the rest."""
    if size <= LONG:
        return list(range(size))
    return [*range(EDGE), -1, *range(size - EDGE, size)]

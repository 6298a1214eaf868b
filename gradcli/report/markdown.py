r"""Answers in GitHub's Markdown: what the tables have, titles as headings, formulas and drawings as code.

Whatever was typed is escaped, so that a product is no emphasis and a comparison no tag.

Source: GitHub Flavored Markdown Spec, https://github.github.com/gfm/
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gradcli.report import dot, mermaid, table
from gradcli.report.drawing import CodeText, Drawing, Screen
from gradcli.results import Answer, BackwardGraph, Functions, Source

_SPECIAL = re.compile(r"[\\`*<>|~$]|(?<![^\W_])_|_(?![^\W_])|&(?=[#\w])")
_LINK = re.compile(r"\][(\[:]")
_OPENING = re.compile(r"^(?:[-+#](?=\s|#|$)|\d+(?=[.)](?:\s|$))|={2,}|-{2,})")


def render(answer: Answer | Functions | Source, screen: Screen) -> str:
    """The whole answer; a script or the source of a picture in a fenced block."""
    match answer:
        case Source():
            return fenced(
                answer.in_ascii if screen.ascii else answer.source, "latex" if answer.language == "latex" else "python"
            )
        case BackwardGraph(drawing="dot"):
            return fenced(dot.render(answer), "dot")
        case BackwardGraph(drawing="mermaid"):
            return fenced(mermaid.render(answer), "mermaid")
        case _:
            return "\n".join(_blocks(table.parts(answer, Screen(ascii=screen.ascii, encoding=screen.encoding))))


def fenced(words: str, language: str = "") -> str:
    """A block of code, behind more backticks than it has in a row itself."""
    ticks = _ticks(words, 3)
    return f"{ticks}{language}\n{words.rstrip()}\n{ticks}\n"


def code(words: str) -> str:
    """Code within a line.

    >>> code("x`y"), code("a | b")
    ('``x`y``', '`a | b`')
    """
    ticks = _ticks(words, 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{space}{words}{space}{ticks}" if words.strip() else ""


def _ticks(words: str, least: int) -> str:
    return "`" * max(least, 1 + max(map(len, re.findall("`+", words)), default=0))


def escaped(words: str) -> str:
    r"""Words that mean no more than themselves.

    >>> escaped("a*b < x_1"), escaped("x[0]"), escaped("_x_ [a](b)")
    ('a\\*b \\< x_1', 'x[0]', '\\_x\\_ \\[a](b)')
    """
    found = _SPECIAL.sub(r"\\\g<0>", words)
    if _LINK.search(found):
        found = found.replace("[", r"\[")
    return _OPENING.sub(lambda m: m[0] + "\\" if m[0].isdigit() else "\\" + m[0], found)


def _blocks(parts: Iterable[Table | Text | Padding]) -> Iterator[str]:
    """Blocks that end with a newline each; drawings that follow one another are one."""
    drawn: list[str] = []
    for part in parts:
        match part:
            case Drawing():
                drawn.append(part.plain)
                continue
            case Text(plain=words) if not words.strip():
                continue
        if drawn:
            yield fenced("\n".join(drawn))
            drawn = []
        match part:
            case Table():
                yield _table(part)
            case Padding(renderable=Text() as inside) | (Text() as inside):
                yield _paragraph(inside)
    if drawn:
        yield fenced("\n".join(drawn))


def _paragraph(text: Text) -> str:
    """A heading where it is a title, else the lines as they are."""
    words, is_title = text.plain.strip("\n"), text.style == "bold" and not text.spans
    if isinstance(text, CodeText):
        if "\n" in words:
            return fenced(words)
        return f"{'### ' * is_title}{code(words)}\n"
    lines = [escaped(line.strip()) for line in words.split("\n")]
    return f"### {' '.join(lines)}\n" if is_title else "\\\n".join(filter(None, lines)) + "\n"


def _table(found: Table) -> str:
    """A row a line; the header is there even if it is empty, as it must be."""
    columns = found.columns
    headers = [_cell(column.header) for column in columns]
    rules = ["---:" if column.justify == "right" else "---" for column in columns]
    rows = zip(*([_cell(cell) for cell in column.cells] for column in columns), strict=True)
    return "".join(f"| {' | '.join(row)} |\n" for row in (headers, rules, *rows))


def _cell(cell: object) -> str:
    """One cell, its lines separated by `<br>`; pipes are escaped in code too, where nothing else is."""
    words = cell.plain if isinstance(cell, Text) else str(cell)
    if isinstance(cell, CodeText):
        return "<br>".join(code(line).replace("|", r"\|") for line in words.split("\n"))
    return "<br>".join(map(escaped, words.split("\n")))

"""A document on a terminal or in a pipe: titles, tables in frames, equations as on a board.

In a pipe, tables are as wide as they need; on a terminal, they fit, and no number is broken.  Every cell is plain text:
rich's markup would eat `x[0]`.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from gradcli.report import document as doc
from gradcli.report.numbers import elements
from gradcli.report.render import board, tables, tree
from gradcli.report.render.reflow import fitted
from gradcli.report.screen import WIDEST, Screen

STYLES: Mapping[doc.Role, str] = {
    "strong": "bold",
    "aside": "dim",
    "good": "bold green",
    "open": "bold yellow",
    "lost": "bold magenta",
    "bad": "bold red",
}

NARROW = 72
"""Columns of a terminal below which lists of functions are paragraphs, as a table would break names."""

NAMES_WIDTH = 76
"""Columns of names that stand one after another."""

Part = RichTable | Text | Padding


def render(document: doc.Document, screen: Screen) -> str:
    """The whole document, none of it wider than the screen but a script."""
    if isinstance(document[0], doc.Script):  # without a frame, so that it can go into a file
        return document[0].in_ascii if screen.ascii else document[0].source
    return draw((part for node in document for part in _parts(node, screen)), screen)


def draw(parts: Iterable[Part], screen: Screen) -> str:
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


def _parts(node: doc.Node, screen: Screen) -> Iterator[Part]:
    match node:
        case doc.Title():
            yield text(node.words, screen, "bold")
        case doc.Note():
            yield Text(node.indent) + text(node.words, screen)
        case doc.Gap():
            yield Text()
        case doc.Chain() | doc.BoardLine():
            yield Text("\n".join(map(screen.shown, board.drawn(node, screen))))
        case doc.Products():
            for part in board.products(node, screen):
                yield Text("\n".join(map(screen.shown, part))) if isinstance(part, list) else framed(part, screen)
        case doc.Graph():
            yield Text(screen.shown("\n".join(tree.lines(node, screen))))
        case doc.Script():
            yield Text(node.source)
        case doc.Facts() | doc.Glossary() if screen.width is not None and screen.width < NARROW:
            yield from _paragraphs(node, screen)
        case doc.Glossary():
            yield _glossary(node, screen)
        case _:
            yield from _fitting(tables.table(node), screen)


# -- tables


def framed(table: doc.Table, screen: Screen) -> RichTable:
    """A table in a frame; without a header where all are empty."""
    found = _frame(table.headers, screen, is_numeric=table.is_numeric)
    rows = _rows(table, screen)
    has_rules = table.has_rules and any("\n" in cell.plain for row in rows for cell in row)
    for row in rows:
        found.add_row(*row, end_section=has_rules)
    return found


def _rows(table: doc.Table, screen: Screen) -> list[list[Text]]:
    return [
        [text(cell, screen, is_cell=True) for cell in row or [(doc.Span("…"),)] * len(table.headers)]
        for row in table.rows
    ]


def _frame(headers: Sequence[doc.Line], screen: Screen, *, is_numeric: bool = False) -> RichTable:
    found = RichTable(box=box.ASCII if screen.ascii else box.ROUNDED, show_header=any(headers))
    for n, header in enumerate(headers):
        found.add_column(text(header, screen), justify="right" if is_numeric and n else "left", overflow="fold")
    return found


def _fitting(table: doc.Table, screen: Screen) -> Iterator[Part]:
    """A table in a frame; where it does not fit, a paragraph a row, or a matrix in blocks of columns."""
    if table.heads and screen.width is not None:
        headers, rows = [text(header, screen) for header in table.headers], _rows(table, screen)
        columns = zip(headers, *rows, strict=True)
        widths = [max(cell_len(line) for cell in column for line in cell.plain.split("\n")) for column in columns]
        if sum(widths) + 3 * len(widths) + 1 > screen.width:
            shown = zip(table.rows, rows, strict=True)
            yield Text("\n").join(
                line
                for given, row in shown
                for line in (_paragraph(headers, row, table.heads) if given else [text(doc.line("…"), screen)])
            )
            return
    yield from (framed(block, screen) for block in _abreast(table, screen))


def _paragraph(headers: Sequence[Text], row: Sequence[Text], heads: Sequence[int]) -> Iterator[Text]:
    """The heads of a row on one line, then a line for each line of the other cells behind its header."""
    label = headers[heads[0]].plain if len(heads) == 1 else ""
    yield Text(f"{label} " if label else "") + Text(": ").join(row[n] for n in heads)
    for n, (header, cell) in enumerate(zip(headers, row, strict=True)):
        if n not in heads and cell.plain:
            yield from (Text("  ") + header + " " + line for line in cell.split("\n"))


def _abreast(table: doc.Table, screen: Screen) -> Iterator[doc.Table]:
    """A wide matrix in blocks of columns that fit the screen, each behind the labels of the rows."""
    if not table.is_numeric or screen.width is None:
        yield table
        return
    columns = list(zip(table.headers, *(row for row in table.rows if row is not None), strict=True))
    widths = [max(len(text(cell, screen, is_cell=True).plain) for cell in column) + 3 for column in columns]
    block, used = [0], widths[0] + 1
    for n in range(1, len(columns)):
        if len(block) > 1 and used + widths[n] > screen.width:
            yield _columns(table, block)
            block, used = [0], widths[0] + 1
        block.append(n)
        used += widths[n]
    yield _columns(table, block)


def _columns(table: doc.Table, chosen: Sequence[int]) -> doc.Table:
    rows = (row and tuple(row[n] for n in chosen) for row in table.rows)
    return doc.Table(tuple(table.headers[n] for n in chosen), tuple(rows), is_numeric=True)


def _glossary(node: doc.Glossary, screen: Screen) -> RichTable:
    found = _frame([(doc.Span(header),) for header in node.headers], screen)
    rows = iter(tables.table(node).rows)
    for _, entries in node.groups:
        found.add_section()
        for _ in range(len(entries) + 1):
            found.add_row(*(text(cell, screen, is_cell=True) for cell in next(rows) or ()))
    return found


def _paragraphs(node: doc.Facts | doc.Glossary, screen: Screen) -> Iterator[Part]:
    """What a narrow terminal has in the place of a table."""
    if isinstance(node, doc.Facts):
        for label, fact in node.rows:
            yield Text(screen.shown(f"{label}:"))
            yield Padding(text(fact, screen, is_cell=True), (0, 0, 0, 2))
        return
    for group, entries in node.groups:
        yield Text(screen.shown(group), style="bold")
        for entry in entries:
            also = f", also {', '.join(entry.aliases)}" if entry.aliases else ""
            yield Padding(Text(screen.shown(entry.usage + also)), (0, 0, 0, 2))
            yield Padding(Text(screen.shown(entry.words)), (0, 0, 0, 4))


# -- lines


def text(line: doc.Line, screen: Screen, style: str = "", *, is_cell: bool = False) -> Text:
    """A line in characters that the screen has; arrays in it stand on one line, those of a cell on a line a row."""
    found = Text(style=style)
    for part in line:
        shown = words(part, screen)
        shown = " ".join(shown.split()) if isinstance(part, doc.Numbers) and not is_cell else shown
        found.append(shown, STYLES.get(part.role, "") if isinstance(part, doc.Span) else "")
    return found


def words(part: doc.Inline, screen: Screen) -> str:
    """A part of a line in characters that the screen has."""
    match part:
        case doc.Span(words=plain):
            return screen.shown(plain)
        case doc.Symbol(notation=notation) | doc.Expression(notation=notation):
            return screen.written(notation)
        case doc.Numbers(array=array):
            return screen.shown(elements(array))
        case doc.Names(words=names):
            return "\n".join(textwrap.wrap(", ".join(names), NAMES_WIDTH))
        case doc.Equation(right=right):
            return words(right, screen)

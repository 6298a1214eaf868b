"""A document on a terminal or in a pipe: titles, tables in frames, graphs.

In a pipe, tables are as wide as they need.  On a terminal they fit, and no number is broken: a table that does not fit
is drawn with its cells broken at blanks where that leaves room to read; else each row becomes a block, its first cell
above a line for each of the others.  Every cell is plain text: rich's markup would eat `x[0]`.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from gradcli.report import document as doc, drawings
from gradcli.report.appearance import Appearance
from gradcli.report.compose.answers import compose
from gradcli.report.document import WIDEST, Screen, in_ascii
from gradcli.report.drawings import point, words
from gradcli.results import Result

COMFORTABLE = 24
"""Fewest columns for a cell of words, before a table becomes blocks."""

_WORD = re.compile(r"\s*\S+")
_TOKEN = re.compile(r"\s*(?:[-+]?\d+\.?\d*(?:e[-+]?\d+)?|\w+|\S)", re.IGNORECASE)

FORMULA = 12
"""Fewest columns for a formula, before a table becomes blocks."""

USUAL = 80
"""Columns of a pipe, for short lines next to each other."""

_STEP = "  "
"""Indent of the lines of a block."""

BLOCKS, _AROUND = 16, 6
"""Most lines for the blocks of a matrix where something shorter says the same, and lines around the rows of a block."""

Part = RichTable | Text


def pieces(answer: Result, shown: Appearance) -> Iterator[str]:
    """Write an answer as tables."""
    yield render(compose(answer, shown.digits, is_full=shown.form != "table"), shown.screen)


def render(document: doc.Document, screen: Screen) -> str:
    """Write the whole document, none of it wider than the screen but a script."""
    if isinstance(document[0], doc.ScriptText):  # without a frame, so that it can go into a file
        return in_ascii(document[0].source) if screen.ascii else document[0].source
    nodes = [(*[doc.Note(())] * (n > 0 and isinstance(node, doc.Title)), node) for n, node in enumerate(document)]
    shown = (part for node in itertools.chain.from_iterable(nodes) for part in _parts(node, screen))
    if screen.width is not None:
        shown = (one for part in shown for one in (lines(part, screen.width) if isinstance(part, Text) else [part]))
    parts = list(shown)
    out = io.StringIO()
    console = _console(screen, out, WIDEST)
    needed = max(Measurement.get(console, console.options, part).maximum for part in parts)
    console = _console(screen, out, min(needed, screen.width or WIDEST))
    for part in parts:
        console.print(part)
    return "".join(line.rstrip(" ") + "\n" for line in out.getvalue().splitlines())


def _console(screen: Screen, out: io.StringIO, width: int) -> Console:
    return Console(
        file=out,
        width=width,
        force_terminal=screen.color,
        force_jupyter=False,  # in a notebook it would show the text itself
        color_system=("truecolor" if screen.is_deep else "256") if screen.color else None,
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
            yield text(node.words, screen)
        case doc.Abreast(lines=parts):
            yield from _beside([text(part, screen) for part in parts], screen.width or USUAL)
        case doc.Graph():
            yield Text(screen.in_characters("\n".join(drawings.tree(node, screen))))
        case doc.ScriptText():
            yield Text(node.source)
        case doc.Chart():
            yield from node.drawn(screen)
        case _:
            blocks = list(_abreast(drawings.table(node), screen))
            instead = node.instead if isinstance(node, doc.Blocks) and len(blocks) > 1 else ()
            if instead and len(blocks) * (len(blocks[0].rows) + _AROUND) > BLOCKS:
                for one in instead:
                    yield from _parts(one, screen)
                return
            for block in blocks:
                yield from _framed(block, screen)


# -- tables


def _framed(table: doc.Table, screen: Screen) -> Iterator[Part]:
    """Frame a table, its cells broken at blanks while there is room to read; else write each row as a block."""
    rows = [[text(cell, screen, is_cell=True) for cell in row] for row in (table.headers, *table.body)]
    if table.is_pointed:
        rows = _pointed(rows, table.labels)
    widths = _widths(table, rows, screen.width)
    if widths is None:
        for is_there, row in zip([*map(bool, table.rows), True], rows[1:], strict=False):
            yield from _block(rows[0], row, screen.width or WIDEST) if is_there else row[:1]
        return
    cells = (zip(row, widths, strict=True) for row in rows)
    headers, *body = ([Text("\n").join(lines(cell, width)) for cell, width in row] for row in cells)
    left = table.labels if table.is_numeric and not table.is_pointed else len(headers)
    found = RichTable(box=box.ASCII if screen.ascii else box.ROUNDED, show_header=any(headers))
    for n, header in enumerate(headers):
        found.add_column(header, justify="left" if n < left else "right", overflow="fold")
    has_rules = table.has_rules and any("\n" in cell.plain for row in body for cell in row)
    for n, row in enumerate(body):
        found.add_row(*row, end_section=has_rules or (bool(table.footer) and n == len(body) - 2))
    yield found


def _widths(table: doc.Table, rows: Sequence[Sequence[Text]], width: int | None) -> list[int] | None:
    """Fit the widths of columns: the widest give way, no word but of a formula is broken; None if they do not fit."""
    columns = list(zip(*rows, strict=True))
    widths = [max(cell_len(line) for cell in column for line in cell.plain.split("\n")) for column in columns]
    words = [max((cell_len(word) for cell in column for word in cell.plain.split()), default=0) for column in columns]
    least = [min(FORMULA, words[0]), *words[1:]] if table.is_folded else [max(word, COMFORTABLE) for word in words]
    room = (width or WIDEST) - 3 * len(widths) - 1
    while sum(widths) > room and (spare := [n for n, wide in enumerate(widths) if wide > least[n]]):
        widths[max(spare, key=widths.__getitem__)] -= 1
    return widths if width is None or sum(widths) <= room else None


def _block(headers: Sequence[Text], row: Sequence[Text], width: int) -> Iterator[Text]:
    """Write a row as lines: the first cell, and below it the others after their headers."""
    for n, (header, cell) in enumerate(zip(headers, row, strict=True)):
        if not cell.plain:
            continue
        indent = _STEP if n else ""
        label = Text(f"{indent}{header.plain.replace(chr(10), ' ')} " if header.plain else indent)
        if "\n" not in cell.plain:
            yield from lines(label + cell, width)
            continue
        if header.plain:
            yield from lines(label, width)
            indent += _STEP
        for line in cell.split("\n"):
            yield from lines(Text(indent) + line, width)


def _pointed(rows: list[list[Text]], labels: int) -> list[list[Text]]:
    """Align the numbers of each column at their points, in the rows below the header."""
    columns = [[row[n] for row in rows] for n in range(len(rows[0]))]
    for head, *cells in columns[labels:]:
        before = max((point(cell.plain) for cell in cells), default=0)
        for cell in cells:
            cell.pad_left(before - point(cell.plain))
        width, wide = max((cell_len(cell.plain) for cell in cells), default=0), cell_len(head.plain)
        head.pad_left(max(0, width - wide))
        for cell in cells:
            cell.pad_left(max(0, wide - width))
    return rows


def _abreast(table: doc.Table, screen: Screen) -> Iterator[doc.Table]:
    """Split a wide matrix into blocks of columns that fit the screen, each after the labels of the rows."""
    if not table.is_numeric or screen.width is None:
        yield table
        return
    columns = list(zip(table.headers, *table.body, strict=True))
    widths = [max(len(text(cell, screen, is_cell=True).plain) for cell in column) + 3 for column in columns]
    heads = list(range(table.labels))
    block, used = heads[:], sum(widths[: table.labels]) + 1
    for n in range(table.labels, len(columns)):
        if len(block) > table.labels and used + widths[n] > screen.width:
            yield _columns(table, block)
            block, used = heads[:], sum(widths[: table.labels]) + 1
        block.append(n)
        used += widths[n]
    yield _columns(table, block)


def _columns(table: doc.Table, chosen: Sequence[int]) -> doc.Table:
    rows = (row and tuple(row[n] for n in chosen) for row in table.rows)
    footer = tuple(table.footer[n] for n in chosen) if table.footer else ()
    return replace(table, headers=tuple(table.headers[n] for n in chosen), rows=tuple(rows), footer=footer)


# -- lines


def _beside(parts: Sequence[Text], width: int) -> Iterator[Text]:
    """Put short lines next to each other with blanks between, as many as there is room for."""
    held = Text()
    for part in parts:
        if held.plain and cell_len(held.plain) + cell_len(part.plain) + 3 > width:
            yield held
            held = Text()
        held += Text("   " if held.plain else "") + part
    yield held


def text(line: doc.Line, screen: Screen, style: str = "", *, is_cell: bool = False) -> Text:
    """Write a line in the screen's characters; arrays in it stand on one line, one that is a cell on a line a row."""
    found = Text(style=style)
    for part in line:
        shown = words(part, screen, is_alone=is_cell and len(line) == 1)
        found.append(shown, screen.style(part.role) if screen.color and isinstance(part, doc.Styled) else "")
    return found


# -- on a narrow terminal: broken at blanks, never inside a number that fits


def lines(text: Text, room: int) -> list[Text]:
    """Break long lines of a text; the rest of a line is indented as the line is.

    >>> [line.plain for line in lines(Text("  torch 0.1 0.2"), 11)]
    ['  torch 0.1', '  0.2']
    """
    found: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        start = stop = indent = len(line.plain) - len(line.plain.lstrip(" "))
        for begin, end in _units(line.plain, room):
            if cell_len(line.plain[start:end]) + indent > room and stop > start:
                found.append(_piece(line[start:stop], indent, room))
                start = end - len(line.plain[begin:end].lstrip())
                indent = min(indent, room // 3)
            stop = end
        found.append(_piece(line[start:stop], indent, room))
    return found


def _piece(piece: Text, indent: int, room: int) -> Text:
    """Indent a piece of a line where there is room."""
    return Text(" " * indent) + piece if cell_len(piece.plain) + indent <= room else piece


def _units(line: str, room: int) -> Iterator[tuple[int, int]]:
    """Find the spans not to break: words; of words too long, numbers and names; of those too long, characters."""
    for word in _WORD.finditer(line):
        if cell_len(word[0].strip()) <= room:
            yield word.span()
            continue
        for token in _TOKEN.finditer(line, *word.span()):
            if cell_len(token[0].strip()) <= room:
                yield token.span()
            else:
                yield from ((n, n + 1) for n in range(*token.span()))

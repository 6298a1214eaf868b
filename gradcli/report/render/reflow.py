"""Tables and lines on a narrow terminal: broken at blanks, never inside a number that fits the terminal.

A table that does not fit is drawn with its cells broken at blanks where that leaves room to read; else each row becomes
a block, its first cell above a line for each of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

COMFORTABLE = 24
"""Columns that a cell of words should have at least, before a table becomes blocks."""

_WORD = re.compile(r"\s*\S+")
_TOKEN = re.compile(r"\s*(?:[-+]?\d+\.?\d*(?:e[-+]?\d+)?|\w+|\S)", re.IGNORECASE)

_STEP = "  "
"""What the lines of a block are indented by."""


def fitted(part: Table | Text | Padding, width: int) -> Iterator[Table | Text]:
    """The part in pieces that are no wider than so many columns."""
    match part:
        case Table():
            yield from _table(part, width)
        case Padding(renderable=Text() as inside):
            indent = min(part.left, width // 3)
            for line in lines(inside, width - indent):
                yield Text(" " * indent) + line
        case Text():
            yield from lines(part, width)


# -- lines


def lines(text: Text, room: int) -> list[Text]:
    """The lines of a text, long ones broken; what follows is indented as the line is.

    >>> [line.plain for line in lines(Text("  torch 0.1 0.2"), 11)]
    ['  torch 0.1', '  0.2']
    """
    found: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        if cell_len(line.plain.rstrip()) <= room:
            found.append(line)
            continue
        depth = min(len(line.plain) - len(line.plain.lstrip(" ")), room // 3)
        pieces = _broken(line.plain, room, depth)
        for n, (start, stop) in enumerate(pieces):
            words = line.plain[start:stop].lstrip(" ")
            piece = line[stop - len(words) : stop]
            indent = " " * (depth if n else stop - start - len(words))
            found.append(Text(indent) + piece if cell_len(indent + words) <= room else piece)
    return found


def _broken(line: str, room: int, depth: int) -> list[tuple[int, int]]:
    """Where the pieces of a line begin and end; what follows the first has less room by its indent."""
    cuts = [0]
    stop = 0
    for begin, end in _units(line, room):
        space = room - (depth if len(cuts) > 1 else 0)
        if stop > cuts[-1] and cell_len(line[cuts[-1] : end]) > space and line[cuts[-1] : stop].strip():
            cuts.append(begin + len(line[begin:end]) - len(line[begin:end].lstrip()))
        stop = end
    ends = [*cuts[1:], len(line)]
    return [(start, start + len(line[start:end].rstrip())) for start, end in zip(cuts, ends, strict=True)]


def _units(line: str, room: int) -> Iterator[tuple[int, int]]:
    """What is not broken: words; of a word that is too long, numbers and names; of those, characters."""
    for word in _WORD.finditer(line):
        if cell_len(word[0].strip()) <= room:
            yield word.span()
            continue
        for token in _TOKEN.finditer(line, *word.span()):
            if cell_len(token[0].strip()) <= room:
                yield token.span()
            else:
                yield from ((n, n + 1) for n in range(*token.span()))


# -- tables


def _table(table: Table, width: int) -> Iterator[Table | Text]:
    headers = [_text(column.header) for column in table.columns]
    rows = list(zip(*([_text(cell) for cell in column.cells] for column in table.columns), strict=True))
    columns = list(zip(headers, *rows, strict=True))
    natural = [max(cell_len(line) for text in column for line in text.plain.split("\n")) for column in columns]
    room = width - 3 * len(columns) - 1
    if sum(natural) <= room:
        yield table
        return
    least = [max((cell_len(w) for text in column for w in text.plain.split()), default=0) for column in columns]
    widths = [min(wide, max(word, COMFORTABLE)) for wide, word in zip(natural, least, strict=True)]
    if sum(widths) <= room:
        yield _narrowed(table, headers, rows, _shared(widths, natural, room))
    else:
        for row in rows:
            yield from _block(headers, row, width)


def _text(cell: object) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


def _shared(widths: Sequence[int], natural: Sequence[int], room: int) -> list[int]:
    """The room that is left given to the columns that want it, from the left."""
    found = list(widths)
    for n, wide in enumerate(natural):
        found[n] += min(wide - found[n], room - sum(found))
    return found


def _narrowed(table: Table, headers: Sequence[Text], rows: Sequence[Sequence[Text]], widths: Sequence[int]) -> Table:
    """The same table with its cells broken."""
    found = Table(box=table.box, show_header=table.show_header)
    for column, header, width in zip(table.columns, headers, widths, strict=True):
        found.add_column(_joined(header, width), justify=column.justify, overflow="fold")
    for row, options in zip(rows, table.rows, strict=True):
        found.add_row(
            *(_joined(cell, width) for cell, width in zip(row, widths, strict=True)), end_section=options.end_section
        )
    return found


def _joined(cell: Text, width: int) -> Text:
    return Text("\n").join(lines(cell, width))


def _block(headers: Sequence[Text], row: Sequence[Text], width: int) -> Iterator[Text]:
    """A row as lines: the first cell, and below it the others behind their headers."""
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

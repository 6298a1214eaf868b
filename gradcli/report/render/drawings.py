"""Nodes drawn with characters, or laid out as tables, for the terminal and for Markdown.

Equations have their numbers in place, as on a board: matrices in tall brackets beside one another.  A chain of equal
things stands on one line where it fits, else with one `=` a line; a matrix that fits no line is written as a list,
which wraps.  Nothing is cut off.

In the tree of a graph, a chain of single operations goes straight down, so that a long function does not indent off the
screen; where branches nest too deeply, a branch is cut off and drawn below, from the left again.  A node that several
lead to is drawn once.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from rich.cells import cell_len

from gradcli.notation import Element, Notation
from gradcli.report import document as doc
from gradcli.report.document import WIDEST, Screen, lines
from gradcli.report.numbers import digits, ends, in_a_line
from gradcli.report.wording import node_text
from gradcli.results import Array, GraphEdge

WIDE = 100
"""Columns of a line in a pipe before a chain goes on in the next."""

WIDEST_ROW = 160
"""Columns of one `= ...` in a pipe, where its matrices may need more."""

INDENT = 4
"""Columns by which the next lines of a chain are indented."""


MAX_LINES = 400
"""Lines of a tree."""

DEEPEST = 12
"""Branches inside one another that are indented, on a screen that is wide enough."""

_BRANCH = 4
"""Columns that a branch takes."""

_LABEL = 40
"""Columns that a tree leaves for what a line says, at least."""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of an equation: lines of one width, and the same on one line."""

    lines: tuple[str, ...]
    inline: str

    @property
    def width(self) -> int:
        """In columns of the terminal."""
        return max(map(cell_len, self.lines))


def words(text: str) -> Block:
    """A piece of one line."""
    return Block((text,), text)


def numbers(array: Array) -> Block:
    """An array: a number, a list, or a matrix in brackets; of more dimensions, its rows; long axes by their ends."""
    if array.ndim == 0:
        return words(digits(array[()]))
    if array.size == 0:
        return words("empty")
    if array.ndim == 1:
        return words(in_a_line(array))
    rows = array.reshape(-1, array.shape[-1])
    cells = [["…" if i < 0 or j < 0 else digits(rows[i, j]) for j in ends(rows.shape[1])] for i in ends(rows.shape[0])]
    return Block(matrix(cells), in_a_line(array))


def matrix(cells: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Cells in columns, aligned to the right, in tall brackets.

    >>> print("\\n".join(matrix([["1", "20"], ["300", "4"]])))
    ⎡  1  20⎤
    ⎣300   4⎦
    """
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rows = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    if len(rows) == 1:
        return tuple(f"[{row}]" for row in rows)
    sides = [("⎢", "⎥")] * len(rows)
    sides[0], sides[-1] = ("⎡", "⎤"), ("⎣", "⎦")
    return tuple(left + row + right for (left, right), row in zip(sides, rows, strict=True))


def drawn(node: doc.Chain, screen: Screen) -> list[str]:
    """The lines of equal things."""
    return chain([_side(side, screen) for side in node.sides], screen, before=node.before, after=node.after)


def _side(side: doc.Side, screen: Screen) -> list[Block]:
    """Parts with signs between."""
    found: list[Block] = []
    for n, part in enumerate(side.parts):
        found += [words(f" {side.sign} ")] * bool(n) + [_piece(part, screen, is_factor=bool(n) and side.sign != "+")]
    found += [words(f" {side.sign} …")] * side.has_more
    return [words("sum("), *found, words(")")] if side.is_summed else found


def _piece(part: Notation | Array, screen: Screen, *, is_factor: bool) -> Block:
    """Notation or numbers; a negative number behind a sign in brackets."""
    if isinstance(part, Notation):
        return words(screen.written(part))
    array = np.asarray(part)
    shown = numbers(array)
    return words(f"({shown.inline})") if is_factor and array.ndim == 0 and array < 0 else shown


def chain(groups: Sequence[Sequence[Block]], screen: Screen, *, before: str = "", after: str = "") -> list[str]:
    """The lines of `a = b = c`, each of them pieces side by side.

    Args:
        groups: What is equal; each one a sequence of pieces.
        screen: For the width.
        before: Words before the first one, such as `from t2: `, below whose end the next lines begin; or an indent.
        after: Words behind the last one, in brackets.
    """
    room = screen.width or WIDE
    pieces = [words(before), *_with_signs(groups)]
    whole, said = beside(pieces), f"({after})" if after else ""
    if max(map(cell_len, whole)) <= room:
        full = beside([*pieces, words(f"   {said}" if said else "")])
        beneath = " " * (len(before) - len(before.lstrip()) + 2) + said
        return full if max(map(cell_len, full)) <= room else [*whole, beneath]
    room = screen.width or WIDEST_ROW
    first, *rest = groups
    head = [words(" = "), *rest[0]] if rest else []
    lines = _fitting([words(before), *first, *head], room)
    indent = " " * min(INDENT + cell_len(before.rstrip() and before), max(2, room // 5))
    for group in rest[1:]:
        lines += _fitting([words(f"{indent}= "), *group], room)
    return [*lines, f"{indent}{said}"] if said else lines


def beside(blocks: Iterable[Block]) -> list[str]:
    """Pieces side by side, centred on one line."""
    held = [block for block in blocks if block.width]
    height = max(len(block.lines) for block in held)
    lines = [""] * height
    for block in held:
        top = (height - len(block.lines)) // 2
        for n in range(height):
            inside = block.lines[n - top] if 0 <= n - top < len(block.lines) else ""
            lines[n] += inside + " " * (block.width - cell_len(inside))
    return [line.rstrip() for line in lines]


def _with_signs(groups: Sequence[Sequence[Block]]) -> Iterator[Block]:
    for n, group in enumerate(groups):
        if n:
            yield words(" = ")
        yield from group


def _fitting(blocks: Sequence[Block], room: int) -> list[str]:
    """Side by side if that fits; else on one line, which wraps."""
    found = beside(blocks)
    if max(map(cell_len, found)) <= room:
        return found
    line = "".join(block.inline for block in blocks)
    indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
    return textwrap.wrap(line, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


# -- backward graphs


def tree(graph: doc.Graph, screen: Screen) -> list[str]:
    """The lines of a graph from its output, or the first `MAX_LINES` and how much is left."""
    if not graph.nodes:
        return ["empty"]
    drawn: set[int] = set()
    lines = _tree(graph, (screen.width or WIDEST) - _LABEL, drawn)
    found = list(islice(lines, MAX_LINES))
    nodes = len(graph.nodes) - len(drawn)
    if next(lines, None) is not None:
        found.append(f"… and {f'{nodes:,} more nodes' if nodes else 'more edges to the nodes above'}")
    return found


def _tree(graph: doc.Graph, room: int, drawn: set[int]) -> Iterator[str]:
    """The lines, without recursion; what has been drawn is in `drawn`."""
    edges: dict[int, list[GraphEdge]] = {}
    for edge in graph.edges:
        edges.setdefault(edge.source, []).append(edge)
    arrivals = Counter(edge.target for edge in graph.edges)
    deepest = max(1, min(DEEPEST, room // _BRANCH))
    later = deque([0])  # what was cut off
    while later:
        root = later.popleft()
        waiting = [] if root in drawn else [("", "", root, 0)]
        while waiting:
            lead, indent, number, level = waiting.pop()
            node, following = graph.nodes[number], edges.get(number, [])
            tag = f"  #{number}" if not node.variable and (arrivals[number] > 1 or (not lead and number)) else ""
            line = f"{lead}{node.name}: {node_text(node)}"
            if number in drawn:
                yield f"{line}{tag}  ↑ see above"
            elif level > deepest and following:
                later.append(number)
                yield f"{line}  #{number}  ↓ see below"
            else:
                drawn.add(number)
                yield line + tag
                waiting += reversed(_branches(following, indent, level))


def _branches(following: Sequence[GraphEdge], indent: str, level: int) -> list[tuple[str, str, int, int]]:
    """What leads to each node that follows, and what stands before the lines below it."""
    if len(following) == 1:
        return [(f"{indent}↓ ", indent, following[0].target, level)]
    found = []
    for edge in following:
        is_last = edge is following[-1]
        lead = f"{indent}{'└─' if is_last else '├─'}{edge.input} "
        below = indent + ("" if is_last else "│").ljust(_BRANCH)
        found.append((lead, below, edge.target, level + 1))
    return found


# -- nodes as tables


def table(node: doc.Table | doc.Blocks | doc.Facts | doc.Glossary) -> doc.Table:
    """The node as rows below headers."""
    match node:
        case doc.Blocks():
            return _blocks(node)
        case doc.Facts():
            return doc.Table(lines(*node.headers), tuple(lines(label, words) for label, words in node.rows))
        case doc.Glossary():
            return _glossary(node)
        case doc.Table():
            return node


def _blocks(node: doc.Blocks) -> doc.Table:
    """One matrix of all blocks, long axes by their ends; with weights before the rows, and their sum below."""
    columns = [(b, j, label) for b, axis in enumerate(node.columns) for j, label in labels(axis).items()]
    is_weighted = node.weights is not None
    rows = []
    for a, axis in enumerate(node.rows):
        for i, label in labels(axis).items():
            weight = "" if node.weights is None or a else "…" if i < 0 else f"{digits(node.weights[i])} ×"
            rows.append(lines(*[weight] * is_weighted, label, *(_entry(node, a, i, b, j) for b, j, _ in columns)))
    footer = rows.pop() if is_weighted else ()
    headers = lines(*["v"] * is_weighted, doc.Symbol(node.name), *(label for _, _, label in columns))
    return doc.Table(
        headers,
        tuple(rows),
        is_numeric=True,
        is_pointed=True,
        labels=1 + is_weighted,
        footer=footer,
        instead=node.instead,
    )


def _entry(node: doc.Blocks, a: int, i: int, b: int, j: int) -> doc.Line:
    """A number: of the answer bold, of what it is made of plain, a zero of a matrix faint."""
    if min(i, j) < 0:
        return doc.line("…")
    number = node.blocks[a][b][1][i, j]
    role: doc.Role = "strong" if node.weights is None or a else "plain"
    return node.marks.get((a, i, b, j)) or doc.line(doc.Span(digits(number), role if number or a else "aside"))


def labels(axis: doc.Axis) -> dict[int, doc.Span | doc.Symbol]:
    """Flat positions with their names, `x[0]`, `x[1]`, …; only the ends of a long axis, -1 standing for the rest."""
    name, shape = axis.name, axis.shape
    return {
        n: doc.Span("…") if n < 0 else doc.Symbol(Element(name, tuple(int(i) for i in np.unravel_index(n, shape))))
        for n in ends(math.prod(shape))
    }


def _glossary(node: doc.Glossary) -> doc.Table:
    """A row for the name of each group above its functions."""
    rows: list[tuple[doc.Line, ...]] = []
    for group, entries in node.groups:
        rows.append(lines(doc.Span(group, "strong"), (), ()))
        rows += (lines(doc.Span(one.usage, "code"), ", ".join(one.aliases), one.words) for one in entries)
    return doc.Table(lines(*node.headers), tuple(rows))

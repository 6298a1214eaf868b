"""Graphs drawn with characters, nodes laid out as tables, and words in the characters of a screen.

In the tree of a graph, a chain of single operations goes straight down, so that a long function does not indent off the
screen; where branches nest too deeply, a branch is cut off and drawn below, from the left again.  A node that several
lead to is drawn once.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from gradcli.language.text import signs
from gradcli.notation import Element
from gradcli.report import document as doc
from gradcli.report.document import WIDEST, Screen, lines
from gradcli.report.numbers import digits, elements, ends, in_a_line
from gradcli.report.wording import node_text
from gradcli.results import GraphEdge

MAX_LINES = 400
"""Most lines of a tree."""

DEEPEST = 12
"""Most branches inside one another that are indented, on a screen that is wide enough."""

_BRANCH = 4
"""Columns that a branch takes."""

NAMES_WIDTH = 76
"""Columns of names that stand one after another."""

_FRACTION = re.compile(r"[.e ]")

_LABEL = 40
"""Fewest columns that a tree leaves for the words of a line."""


# -- backward graphs


def tree(graph: doc.Graph, screen: Screen) -> list[str]:
    """Draw the lines of a graph from its output, or the first `MAX_LINES` and the number of nodes left."""
    if not graph.nodes:
        return ["empty"]
    drawn: set[int] = set()
    lines = _tree(graph, (screen.width or WIDEST) - _LABEL, drawn)
    found = list(islice(lines, MAX_LINES))
    nodes = len(graph.nodes) - len(drawn)
    if next(lines, None) is not None:
        more = f"{nodes:,} more node{'s' * (nodes > 1)}" if nodes else "more edges to the nodes above"
        found.append(f"… and {more}")
    return found


def _tree(graph: doc.Graph, room: int, drawn: set[int]) -> Iterator[str]:
    """Draw the lines, without recursion; `drawn` collects the nodes drawn."""
    edges: dict[int, list[GraphEdge]] = {}
    for edge in graph.edges:
        edges.setdefault(edge.source, []).append(edge)
    arrivals = Counter(edge.target for edge in graph.edges)
    deepest = max(1, min(DEEPEST, room // _BRANCH))
    later = deque([0])  # roots of branches cut off
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
    """List each following node with the lead of its line, and the indent of the lines below it."""
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


def table(node: doc.Table | doc.Blocks) -> doc.Table:
    """Lay out the node below headers: blocks as one matrix, long axes by their ends; weights with the sum below."""
    if isinstance(node, doc.Table):
        return node
    columns = [(b, j, label) for b, axis in enumerate(node.columns) for j, label in labels(axis).items()]
    is_weighted = node.weights is not None
    rows = []
    for a, axis in enumerate(node.rows):
        for i, label in labels(axis).items():
            weight = "" if node.weights is None or a else "…" if i < 0 else f"{digits(node.weights[i])} ×"
            rows.append(lines(*[weight] * is_weighted, label, *(_entry(node, a, i, b, j) for b, j, _ in columns)))
    footer = rows.pop() if is_weighted else ()
    headers = lines(*["v"] * is_weighted, doc.Symbol(node.name), *(label for _, _, label in columns))
    count = 1 + is_weighted
    return doc.Table(headers, tuple(rows), is_numeric=True, is_pointed=True, labels=count, footer=footer)


def _entry(node: doc.Blocks, a: int, i: int, b: int, j: int) -> doc.Line:
    """Write a number: of the answer bold, of its parts plain, a zero of a matrix faint."""
    if min(i, j) < 0:
        return doc.line("…")
    number = node.blocks[a][b][1][i, j]
    role: doc.Role = "strong" if node.weights is None or a else "plain"
    return node.marks.get((a, i, b, j)) or doc.line(doc.Styled(digits(number), role if number or a else "aside"))


def labels(axis: doc.MatrixAxis) -> dict[int, doc.Styled | doc.Symbol]:
    """Name flat positions `x[0]`, `x[1]`, …; only the ends of a long axis, -1 standing for the rest."""
    name, shape = axis.name, axis.shape
    return {
        n: doc.Styled("…") if n < 0 else doc.Symbol(Element(name, tuple(int(i) for i in np.unravel_index(n, shape))))
        for n in ends(math.prod(shape))
    }


# -- words


def words(part: doc.Inline, screen: Screen, *, is_alone: bool) -> str:
    """Write a part of a line in the screen's characters; an array that is alone has a line a row."""
    match part:
        case doc.Styled(words=typed, role="code") if screen.ascii and not typed.isascii():
            return screen.in_characters(signs.in_ascii(typed))
        case doc.Styled(words=plain):
            return screen.in_characters(plain)
        case doc.Symbol(notation=notation) | doc.FormulaText(notation=notation):
            return screen.in_characters(notation.text if screen.ascii else notation.pretty)
        case doc.ArrayNumbers(array=array):
            return screen.in_characters(elements(array) if is_alone else in_a_line(array))
        case doc.WordList(words=names):
            return "\n".join(textwrap.wrap(", ".join(names), NAMES_WIDTH))
        case doc.EquationCell(right=right):
            return words(right, screen, is_alone=is_alone)


def point(number: str) -> int:
    """Find where the fraction or the exponent of a number begins; give its length where neither does."""
    found = _FRACTION.search(number)
    return found.start() if found else len(number)

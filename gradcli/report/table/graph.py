"""The backward graph as a tree, and the tensors as a table.

A chain of single operations goes straight down, so that a long function does not indent off the screen; where branches
nest too deeply, a branch is cut off and drawn below, from the left again.  A node that several lead to is drawn once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import WIDEST, Code, Screen, add_row, drawing, elements, new_table, text, title
from gradcli.report.nodes import clipped, node_text
from gradcli.report.wording import statement
from gradcli.results import BackwardGraph, GraphEdge, GraphNode, GraphTensor

MAX_LINES = 400
"""Lines of a tree."""

MAX_ROWS = 200
"""Rows of the table of tensors."""

DEEPEST = 12
"""Branches inside one another that are indented, on a screen that is wide enough."""

_INDENT = 4
"""Columns that a branch takes."""

_LABEL = 40
"""Columns that a tree leaves for what a line says, at least."""


def parts(answer: BackwardGraph, screen: Screen) -> Iterator[Table | Text]:
    """Titles, the tree, the table, and remarks."""
    yield title(Code(statement(answer)), screen)
    if answer.drawing in ("", "tree"):
        yield title("the backward graph", screen)
        yield drawing("\n".join(_Tree(answer, screen).lines()) if answer.nodes else "empty", screen)
    if answer.drawing in ("", "table"):
        yield title(_occasion(answer), screen)
        yield _tensors(answer.tensors, screen)
    for note in answer.notes if answer.drawing != "tree" or not answer.nodes else ():
        yield text(note, screen)


def _occasion(answer: BackwardGraph) -> str:
    """When the tensors are looked at."""
    if answer.v is None:
        return "the tensors"
    v = "" if answer.v.size == 1 and answer.v.flat[0] == 1 else elements(answer.v).replace("\n", "; ")
    return f"the tensors after {clipped(answer.output)}.backward({'v) with v = ' + v if v else ')'}"


# -- the tree


@dataclass(frozen=True, slots=True)
class _Signs:
    """What a tree is drawn with."""

    branch: str = "├─"
    last: str = "└─"
    beside: str = "│"
    down: str = "↓ "
    above: str = "↑ see above"
    below: str = "↓ see below"
    rest: str = "…"


_ASCII = _Signs("|-", "`-", "|", "-> ", "^ see above", "-> see below", "...")


@dataclass
class _Tree:
    """Draws a graph from its output, without recursion.

    Attributes:
        answer: The graph.
        screen: Where to.
        drawn: The nodes that have been drawn.
        later: Those that were cut off.
    """

    answer: BackwardGraph
    screen: Screen
    drawn: set[int] = field(default_factory=set)
    later: deque[int] = field(default_factory=deque)

    def lines(self) -> list[str]:
        """All of it, or the first `MAX_LINES` and how much is left."""
        signs = _ASCII if self.screen.ascii else _Signs()
        self.later.append(0)
        drawing = self._all(signs)
        found = list(islice(drawing, MAX_LINES))
        nodes = len(self.answer.nodes) - len(self.drawn)
        if next(drawing, None) is not None:
            more = f"{nodes:,} more nodes" if nodes else "more edges to the nodes above"
            found.append(f"{signs.rest} and {more}")
        return found

    def _all(self, signs: _Signs) -> Iterator[str]:
        edges: dict[int, list[GraphEdge]] = {}
        for edge in self.answer.edges:
            edges.setdefault(edge.source, []).append(edge)
        arrivals = Counter(edge.target for edge in self.answer.edges)
        room = (self.screen.width or WIDEST) - _LABEL
        deepest = max(1, min(DEEPEST, room // _INDENT))
        while self.later:
            root = self.later.popleft()
            if root in self.drawn:
                continue
            waiting = [("", "", root, 0)]
            while waiting:
                lead, indent, number, level = waiting.pop()
                node, following = self.answer.nodes[number], edges.get(number, [])
                tag = f"  #{number}" if not node.variable and (arrivals[number] > 1 or (not lead and number)) else ""
                if number in self.drawn:
                    yield f"{lead}{_label(node)}{tag}  {signs.above}"
                    continue
                if level > deepest and following:
                    self.later.append(number)
                    yield f"{lead}{_label(node)}  #{number}  {signs.below}"
                    continue
                self.drawn.add(number)
                yield f"{lead}{_label(node)}{tag}"
                waiting += reversed(_branches(following, indent, level, signs))


def _branches(
    following: Sequence[GraphEdge], indent: str, level: int, signs: _Signs
) -> list[tuple[str, str, int, int]]:
    """What leads to each node that follows, and what stands before the lines below it."""
    if len(following) == 1:
        return [(indent + signs.down, indent, following[0].target, level)]
    found = []
    for edge in following:
        is_last = edge is following[-1]
        lead = f"{indent}{signs.last if is_last else signs.branch}{edge.input} "
        below = indent + ("" if is_last else signs.beside).ljust(_INDENT)
        found.append((lead, below, edge.target, level + 1))
    return found


def _label(node: GraphNode) -> str:
    """`MulBackward0: y = x*y`, `AccumulateGrad: x`."""
    return f"{node.name}: {node_text(node)}"


# -- the table


def _tensors(tensors: Sequence[GraphTensor], screen: Screen) -> Table | Text:
    """A row each, or a paragraph each where the rows would not fit the screen; of very many, the first and the last."""
    has_shapes = any(tensor.data.ndim for tensor in tensors)
    is_retained = any(tensor.retains_grad for tensor in tensors)
    headers = ["", *["shape"] * has_shapes, "data", "requires_grad", "grad", "grad_fn", "is_leaf"]
    headers += ["retains_grad"] * is_retained
    left_out = max(0, len(tensors) - MAX_ROWS)
    shown = [*tensors[: MAX_ROWS - 1], tensors[-1]] if left_out else tensors
    rows = [_row(tensor, has_shapes=has_shapes, is_retained=is_retained) for tensor in shown]
    if left_out:
        rows.insert(-1, ["…", f"{left_out:,} more", *[""] * (len(headers) - 2)])
    widths = [max(max(map(len, cell.split("\n"))) for cell in column) for column in zip(headers, *rows, strict=True)]
    if sum(widths) + 3 * len(widths) + 1 > (screen.width or WIDEST):
        return text("\n".join(_paragraph(headers, row) for row in rows), screen)
    table = new_table(headers, screen)
    for row in rows:
        add_row(table, screen, *row)
    return table


def _row(tensor: GraphTensor, *, has_shapes: bool, is_retained: bool) -> list[str]:
    return [
        clipped(tensor.name),
        *[str(tensor.data.shape)] * has_shapes,
        elements(tensor.data),
        str(tensor.requires_grad),
        "None" if tensor.grad is None else elements(tensor.grad),
        str(tensor.grad_fn),
        str(tensor.is_leaf),
        *[str(tensor.retains_grad)] * is_retained,
    ]


def _paragraph(headers: Sequence[str], row: Sequence[str]) -> str:
    name, *cells = row
    lines = (
        f"  {header} {cell.replace(chr(10), '; ')}" for header, cell in zip(headers[1:], cells, strict=True) if cell
    )
    return "\n".join([name, *lines])

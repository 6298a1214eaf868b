"""A backward graph as a tree of characters.

A chain of single operations goes straight down, so that a long function does not indent off the screen; where branches
nest too deeply, a branch is cut off and drawn below, from the left again.  A node that several lead to is drawn once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from gradcli.report.document import Graph
from gradcli.report.graph_labels import node_text
from gradcli.report.screen import WIDEST, Screen
from gradcli.results import GraphEdge, GraphNode

MAX_LINES = 400
"""Lines of a tree."""

DEEPEST = 12
"""Branches inside one another that are indented, on a screen that is wide enough."""

_INDENT = 4
"""Columns that a branch takes."""

_LABEL = 40
"""Columns that a tree leaves for what a line says, at least."""


def lines(graph: Graph, screen: Screen) -> list[str]:
    """All of it, or the first `MAX_LINES` and how much is left."""
    return _Tree(graph, screen).lines() if graph.nodes else ["empty"]


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
        graph: What to draw.
        screen: Where to.
        drawn: The nodes that have been drawn.
        later: Those that were cut off.
    """

    graph: Graph
    screen: Screen
    drawn: set[int] = field(default_factory=set)
    later: deque[int] = field(default_factory=deque)

    def lines(self) -> list[str]:
        """All of it, or the first `MAX_LINES` and how much is left."""
        signs = _ASCII if self.screen.ascii else _Signs()
        self.later.append(0)
        drawing = self._all(signs)
        found = list(islice(drawing, MAX_LINES))
        nodes = len(self.graph.nodes) - len(self.drawn)
        if next(drawing, None) is not None:
            more = f"{nodes:,} more nodes" if nodes else "more edges to the nodes above"
            found.append(f"{signs.rest} and {more}")
        return found

    def _all(self, signs: _Signs) -> Iterator[str]:
        edges: dict[int, list[GraphEdge]] = {}
        for edge in self.graph.edges:
            edges.setdefault(edge.source, []).append(edge)
        arrivals = Counter(edge.target for edge in self.graph.edges)
        room = (self.screen.width or WIDEST) - _LABEL
        deepest = max(1, min(DEEPEST, room // _INDENT))
        while self.later:
            root = self.later.popleft()
            if root in self.drawn:
                continue
            waiting = [("", "", root, 0)]
            while waiting:
                lead, indent, number, level = waiting.pop()
                node, following = self.graph.nodes[number], edges.get(number, [])
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

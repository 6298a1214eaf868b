"""What the nodes and edges of a backward graph are called, and how many are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gradcli.errors import TooLargeError
from gradcli.results import BackwardGraph, GraphEdge, GraphNode

MAX_NODES = 20_000
"""Nodes of a graph that is written whole."""

_LONGEST = 40
"""Characters of a name in a label."""


def clipped(name: str) -> str:
    """A name, without its end where it is very long."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def node_text(node: GraphNode) -> str:
    """The variable of a leaf; else the text that the operation comes from, with the names of its result.

    >>> node_text(GraphNode(0, "MulBackward0", "x*y", ("z",)))
    'z = x*y'
    """
    return clipped(node.variable) or " = ".join([*map(clipped, node.tensors[:3]), node.line])


def numbered(graph: BackwardGraph) -> Iterator[tuple[GraphEdge, str]]:
    """The edges, with the number of the input where there are several from one node."""
    count = Counter(edge.source for edge in graph.edges)
    return ((edge, str(edge.input) if count[edge.source] > 1 else "") for edge in graph.edges)


def require_few_nodes(graph: BackwardGraph, form: str) -> None:
    """Refuse a graph that is too large to be written whole.

    Raises:
        TooLargeError: So it is.
    """
    if len(graph.nodes) > MAX_NODES:
        raise TooLargeError(
            f"the graph has {len(graph.nodes):,} nodes; as {form} it may have {MAX_NODES:,}",
            hint="--to tree draws the beginning",
        )

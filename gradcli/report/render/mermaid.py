"""A backward graph as a Mermaid flowchart: leaves as boxes, operations as stadiums.

Labels are read as Markdown and then as HTML, so every character that may mean something there is written by its number.

Source: Mermaid, "Flowcharts", https://mermaid.js.org/syntax/flowchart.html, "Entity codes to escape characters".
"""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.report.graph_labels import node_text, numbered, require_few_nodes
from gradcli.results import BackwardGraph

_PLAIN = frozenset(" ,()/:")
"""Characters beside letters and digits that mean nothing in a quoted label."""


def render(graph: BackwardGraph) -> str:
    """The graph as a flowchart; an empty one where there is none.

    Raises:
        TooLargeError: More nodes than `MAX_NODES`.
    """
    require_few_nodes(graph, "mermaid")
    return "".join(f"{line}\n" for line in _lines(graph))


def _lines(graph: BackwardGraph) -> Iterator[str]:
    yield "flowchart TD"
    for node in graph.nodes:
        label = "<br/>".join(map(_escaped, filter(None, (node.name, node_text(node)))))
        yield f'  n{node.id}["{label}"]' if node.variable else f'  n{node.id}(["{label}"])'
    for edge, number in numbered(graph):
        yield f"  n{edge.source} -->{f'|{number}|' if number else ''} n{edge.target}"


def _escaped(words: str) -> str:
    """By entity codes, `#42;` for `*`."""
    return "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in words)

"""A backward graph in Graphviz's DOT language: leaves as boxes, operations as ellipses.

Source: Graphviz, "DOT Language", https://graphviz.org/doc/info/lang.html: in a quoted string only the quote is escaped;
a label reads further escapes of its own, such as \\n and \\l, so that a backslash is written twice.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.report.graph_labels import node_text, numbered, require_few_nodes
from gradcli.results import BackwardGraph


def render(graph: BackwardGraph) -> str:
    """The graph as a digraph; an empty one where there is none.

    Raises:
        TooLargeError: More nodes than `MAX_NODES`.
    """
    require_few_nodes(graph, "dot")
    return "".join(f"{line}\n" for line in _lines(graph))


def _lines(graph: BackwardGraph) -> Iterator[str]:
    yield "digraph backward {"
    yield "  node [shape=ellipse];"
    for node in graph.nodes:
        label = "\\n".join(map(_escaped, filter(None, (node.name, node_text(node)))))
        shape = ", shape=box" if node.variable else ""
        yield f'  n{node.id} [label="{label}"{shape}];'
    for edge, number in numbered(graph):
        label = f' [label="{number}"]' if number else ""
        yield f"  n{edge.source} -> n{edge.target}{label};"
    yield "}"


def _escaped(words: str) -> str:
    return words.replace("\\", "\\\\").replace('"', '\\"')

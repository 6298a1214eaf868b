"""Backward graphs for other programs to draw: leaves as boxes, operations round, each with its numbers.

Graphviz's DOT: in a quoted string only the quote is escaped; a label reads further escapes of its own, such as \\n and
\\l, so that a backslash is written twice.  Mermaid: labels are read as Markdown and then as HTML, so every character
that may mean something there is written by its number.

Sources: Graphviz, "DOT Language", https://graphviz.org/doc/info/lang.html; Mermaid, "Flowcharts",
https://mermaid.js.org/syntax/flowchart.html, "Entity codes to escape characters".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradcli.report.numbers import in_a_line
from gradcli.report.wording import node_text, numbered, require_few_nodes
from gradcli.results import BackwardGraph, GraphNode

_PLAIN = frozenset(" ,()/:")
"""Characters besides letters and digits that mean nothing in a quoted label of Mermaid's."""


def drawing(graph: BackwardGraph, language: str) -> str:
    """Write the graph as a digraph of `dot`, or as a flowchart of `mermaid`; an empty one where there is none.

    Raises:
        TooLargeError: More nodes than `MAX_NODES`.
    """
    require_few_nodes(graph, language)
    lines = _dot(graph) if language == "dot" else _mermaid(graph)
    return "".join(f"{line}\n" for line in lines)


def _dot(graph: BackwardGraph) -> Iterator[str]:
    yield "digraph backward {"
    yield "  node [shape=ellipse];"
    for node in graph.nodes:
        label = _label(node, "\\n", _quoted)
        shape = ", shape=box" if node.variable else ""
        yield f'  n{node.id} [label="{label}"{shape}];'
    for edge, number in numbered(graph):
        label = f' [label="{number}"]' if number else ""
        yield f"  n{edge.source} -> n{edge.target}{label};"
    yield "}"


def _mermaid(graph: BackwardGraph) -> Iterator[str]:
    yield "flowchart TD"
    for node in graph.nodes:
        label = _label(node, "<br/>", _coded)
        yield f'  n{node.id}["{label}"]' if node.variable else f'  n{node.id}(["{label}"])'
    for edge, number in numbered(graph):
        yield f"  n{edge.source} -->{f'|{number}|' if number else ''} n{edge.target}"


def _label(node: GraphNode, newline: str, escaped: Callable[[str], str]) -> str:
    """Write the operation, its source text, and its value with the adjoint."""
    return newline.join(map(escaped, filter(None, (node.name, node_text(node), _numbers(node)))))


def _numbers(node: GraphNode) -> str:
    """Write the value forward and the adjoint backward; a variable has no `.grad` before the backward pass."""
    if node.value is None:
        return ""
    value = in_a_line(node.value)
    adjoint = None if node.adjoint is None else in_a_line(node.adjoint)
    if node.variable:
        return f"value {value} | .grad None" + ("" if adjoint is None else f", then {adjoint}")
    return f"value {value}" + ("" if adjoint is None else f" | adjoint {adjoint}")


def _quoted(words: str) -> str:
    return words.replace("\\", "\\\\").replace('"', '\\"')


def _coded(words: str) -> str:
    """Escape characters by entity codes, `#42;` for `*`."""
    return "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in words)

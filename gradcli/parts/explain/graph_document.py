"""A backward graph as a document: the tree, and the contents of each tensor; its source for Graphviz.

In Graphviz's DOT only the quote is escaped in a quoted string; a label reads further escapes of its own, such as \\n
and \\l, so that a backslash is written twice.

Source: Graphviz, "DOT Language", https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gradcli.report import document as doc, wording
from gradcli.report.compose.formula_tables import code, known_columns, note
from gradcli.report.document import line
from gradcli.report.numbers import Writer, cut, in_a_line
from gradcli.results import BackwardGraph, GraphEdge, GraphNode, GraphTensor

MOST_TENSORS, MAX_TENSORS = 8, 200
"""Most tensors of a graph, folded and unfolded."""


def compose_graph(answer: BackwardGraph, digits: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose a backward graph, or its source for Graphviz."""
    if answer.drawing == "dot":
        yield doc.ScriptText(dot(answer), "dot")
        return
    yield doc.Note(line(code(wording.statement(answer))))
    yield from graph(answer, Writer(digits, is_full=is_full or answer.drawing in ("tree", "table")))
    yield from map(note, answer.remarks)


def graph(answer: BackwardGraph, write: Writer) -> Iterator[doc.Node]:
    """Compose the tree, and the contents of each tensor."""
    if answer.drawing != "table":
        yield doc.Graph(answer.nodes, answer.edges)
    if answer.drawing != "tree":
        v = "" if answer.v is None or (answer.v.size == 1 and answer.v.flat[0] == 1) else write.listed(answer.v)
        passed = f" after {wording.clipped(answer.output)}.backward({f'v) with v = {v}' if v else ')'}"
        yield note(f"the tensors{'' if answer.v is None else passed}")
        table = known_columns([_tensor(tensor, write) for tensor in answer.tensors])
        rows = cut(table.rows, len(table.rows), MAX_TENSORS if write.is_full else MOST_TENSORS)
        yield doc.Table(table.headers, rows, is_folded=not write.is_full)
    if answer.drawing != "tree" or not answer.nodes:
        yield from map(note, answer.notes)


def _tensor(tensor: GraphTensor, write: Writer) -> dict[str, doc.Line]:
    why = "" if tensor.requires_grad or write.is_full else ", requires_grad=False"
    found = {
        "": line(wording.clipped(tensor.name)),
        "data": write.marked(tensor.data, {}, "plain"),
        ".grad": (line("None") if tensor.grad is None else write.marked(tensor.grad, {})) + line(why),
        "grad_fn": line(str(tensor.grad_fn)),
        "is_leaf": line(str(tensor.is_leaf)),
    }
    if write.is_full:
        found["requires_grad"] = line(str(tensor.requires_grad))
        found["retains_grad"] = line("True" * tensor.retains_grad)
    return found


# -- for Graphviz to draw: leaves as boxes, operations round, each with its numbers


def numbered(graph: BackwardGraph) -> Iterator[tuple[GraphEdge, str]]:
    """Pair the edges with the number of the input, empty where only one leaves a node."""
    count = Counter(edge.source for edge in graph.edges)
    return ((edge, str(edge.input) if count[edge.source] > 1 else "") for edge in graph.edges)


def dot(graph: BackwardGraph) -> str:
    """Write the graph as a digraph of `dot`; an empty one where there is none.

    Raises:
        TooLargeError: More nodes than `MAX_NODES`.
    """
    wording.require_few_nodes(graph, "dot")
    return "".join(f"{line}\n" for line in _dot(graph))


def _dot(graph: BackwardGraph) -> Iterator[str]:
    yield "digraph backward {"
    yield "  node [shape=ellipse];"
    for node in graph.nodes:
        label = _label(node)
        shape = ", shape=box" if node.variable else ""
        yield f'  n{node.id} [label="{label}"{shape}];'
    for edge, number in numbered(graph):
        label = f' [label="{number}"]' if number else ""
        yield f"  n{edge.source} -> n{edge.target}{label};"
    yield "}"


def _label(node: GraphNode) -> str:
    """Write the operation, its source text, its value with the adjoint, and the rule by which it hands that on."""
    return "\\n".join(map(_quoted, filter(None, (node.name, wording.node_text(node), _numbers(node), node.rule))))


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

"""The backward graph in LaTeX: its edges and its tensors as tables."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.notation.typesetting import name, text, typed
from gradcli.report.latex.parts import code, heading, matrix, sentence, table
from gradcli.report.nodes import clipped, node_text
from gradcli.report.wording import statement
from gradcli.results import BackwardGraph, GraphNode, GraphTensor

MAX_ROWS = 200
"""Rows of a table."""


def parts(answer: BackwardGraph) -> Iterator[str]:
    """Paragraphs and tables, from top to bottom."""
    yield code(statement(answer))
    if answer.drawing != "table":
        yield heading("the backward graph")
        yield from _edges(answer)
    if answer.drawing != "tree":
        yield heading("the tensors" + ("" if answer.v is None else " after the backward pass"))
        headers = ["", "data", "requires_grad", "grad", "grad_fn", "is_leaf", "retains_grad"]
        yield table(headers, [_row(tensor) for tensor in answer.tensors[:MAX_ROWS]])
        yield from _more(len(answer.tensors))
        for note in answer.notes:
            yield sentence(note)


def _edges(answer: BackwardGraph) -> Iterator[str]:
    if not answer.edges:
        yield sentence("no edges: " + ("; ".join(map(_label, answer.nodes)) or "empty"))
        return
    rows = [
        [typed(_label(answer.nodes[edge.source])), rf"\({edge.input}\)", typed(_label(answer.nodes[edge.target]))]
        for edge in answer.edges[:MAX_ROWS]
    ]
    yield table(["from", "input", "to"], rows)
    yield from _more(len(answer.edges))


def _more(count: int) -> Iterator[str]:
    if count > MAX_ROWS:
        yield sentence(f"and {count - MAX_ROWS:,} more")


def _label(node: GraphNode) -> str:
    return f"{node.id} {node.name}: {node_text(node)}"


def _row(tensor: GraphTensor) -> list[str]:
    return [
        rf"\({name(clipped(tensor.name))}\)",
        rf"\({matrix(tensor.data)}\)",
        str(tensor.requires_grad),
        "None" if tensor.grad is None else rf"\({matrix(tensor.grad)}\)",
        text(str(tensor.grad_fn)),
        str(tensor.is_leaf),
        str(tensor.retains_grad),
    ]

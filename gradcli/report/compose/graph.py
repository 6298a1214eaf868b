"""The backward graph, and the tensors as torch holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.report import document as doc
from gradcli.report.compose.parts import code, note, title
from gradcli.report.document import lines
from gradcli.report.graph_labels import clipped
from gradcli.report.numbers import elements
from gradcli.report.wording import statement
from gradcli.results import BackwardGraph, GraphTensor

MAX_ROWS = 200
"""Rows of the table of tensors."""


def document(answer: BackwardGraph) -> Iterator[doc.Node]:
    """The function, its graph, its tensors, and remarks."""
    yield title(code(statement(answer)))
    if answer.drawing != "table":
        yield title("the backward graph")
        yield doc.Graph(answer.nodes, answer.edges)
    if answer.drawing != "tree":
        yield title(_occasion(answer))
        yield _tensors(answer.tensors)
    for words in answer.notes if answer.drawing != "tree" or not answer.nodes else ():
        yield note(words)


def _occasion(answer: BackwardGraph) -> str:
    """When the tensors are looked at."""
    if answer.v is None:
        return "the tensors"
    v = "" if answer.v.size == 1 and answer.v.flat[0] == 1 else elements(answer.v).replace("\n", "; ")
    return f"the tensors after {clipped(answer.output)}.backward({'v) with v = ' + v if v else ')'}"


def _tensors(tensors: Sequence[GraphTensor]) -> doc.Table:
    """A row each; of very many, the first and the last."""
    has_shapes = any(tensor.data.ndim for tensor in tensors)
    is_retained = any(tensor.retains_grad for tensor in tensors)
    headers = ["", *["shape"] * has_shapes, "data", "requires_grad", "grad", "grad_fn", "is_leaf"]
    headers += ["retains_grad"] * is_retained
    left_out = max(0, len(tensors) - MAX_ROWS)
    shown = [*tensors[: MAX_ROWS - 1], tensors[-1]] if left_out else tensors
    rows = [_row(tensor, has_shapes=has_shapes, is_retained=is_retained) for tensor in shown]
    if left_out:
        rows.insert(-1, lines("…", f"{left_out:,} more", *[()] * (len(headers) - 2)))
    return doc.Table(lines(*headers), tuple(rows), heads=(0,))


def _row(tensor: GraphTensor, *, has_shapes: bool, is_retained: bool) -> tuple[doc.Line, ...]:
    return lines(
        clipped(tensor.name),
        *[str(tensor.data.shape)] * has_shapes,
        doc.Numbers(tensor.data),
        str(tensor.requires_grad),
        "None" if tensor.grad is None else doc.Numbers(tensor.grad),
        str(tensor.grad_fn),
        str(tensor.is_leaf),
        *[str(tensor.retains_grad)] * is_retained,
    )

"""A backward graph as what JSON can hold: tensors, nodes and edges."""

from __future__ import annotations

from typing import Any

from gradcli.report.nodes import require_few_nodes
from gradcli.report.numbers import as_json
from gradcli.results import BackwardGraph, GraphNode, GraphTensor


def graph_fields(graph: BackwardGraph) -> dict[str, Any]:
    """What a graph has beside the common fields; an edge is `[from, to, input]`.

    Raises:
        TooLargeError: More nodes than `MAX_NODES`.
    """
    require_few_nodes(graph, "json")
    found: dict[str, Any] = {} if graph.v is None else {"v": as_json(graph.v)}
    found["tensors"] = [_tensor(tensor) for tensor in graph.tensors]
    found["nodes"] = [_node(node) for node in graph.nodes]
    found["edges"] = [[edge.source, edge.target, edge.input] for edge in graph.edges]
    return found | ({"notes": list(graph.notes)} if graph.notes else {})


def _tensor(tensor: GraphTensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "shape": list(tensor.data.shape),
        "data": as_json(tensor.data),
        "requires_grad": tensor.requires_grad,
        "grad": None if tensor.grad is None else as_json(tensor.grad),
        "grad_fn": tensor.grad_fn,
        "is_leaf": tensor.is_leaf,
        "retains_grad": tensor.retains_grad,
    }


def _node(node: GraphNode) -> dict[str, Any]:
    found: dict[str, Any] = {"id": node.id, "name": node.name}
    found |= {"tensors": list(node.tensors)} if node.tensors else {}
    return found | {key: words for key, words in (("line", node.line), ("variable", node.variable)) if words}

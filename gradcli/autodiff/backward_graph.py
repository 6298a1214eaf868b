"""The backward graph that torch built for a Program, and its tensors as torch holds them.

    z = x*y     z.grad_fn is MulBackward0; its next_functions are the AccumulateGrad of x and that of y

Every attribute is read from torch's own objects; nothing is derived from the Program but the text beside a node.  The
walk is breadth first and recurses nowhere, as torch's own backward pass does not.

Source: PyTorch, "Autograd mechanics", https://docs.pytorch.org/docs/stable/notes/autograd.html
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gradcli import collector
from gradcli.autodiff.run import (
    Tensor,
    array_of,
    backward_error,
    evaluate,
    leaves_of,
    output_of,
    tensor_of,
    unshared,
)
from gradcli.errors import printable
from gradcli.language.program.expansion import Expansion
from gradcli.language.program.wengert import Atom, Program
from gradcli.results import Array, GraphEdge, GraphNode, GraphTensor

Node = Any
"""A node of torch's graph, such as a `MulBackward0`."""


@dataclass(frozen=True)
class Walked:
    """What was found: tensors in the order asked for, nodes in breadth-first order from the output."""

    tensors: tuple[GraphTensor, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def walk(
    program: Program,
    inputs: Mapping[str, Array],
    wrt: tuple[str, ...],
    dtype: str,
    *,
    named: Mapping[str, Atom],
    retained: Iterable[str] = (),
    v: Array | None = None,
) -> Walked:
    """Run a Program in torch, walk its backward graph, and run the backward pass if there is a v.

    Args:
        program: What to run.
        inputs: An array per variable.
        wrt: The variables that require a gradient.
        dtype: `float64` or `float32`, of every tensor.
        named: The tensors to tell of beside the variables, by their names; numbers are left out unless one is the
            output.
        retained: Which of these names keep their gradients, by `retain_grad()`.
        v: The gradient vector, of y's shape; without it there is no backward pass.

    Raises:
        InputError: What torch refuses.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> program = parse("x*y")
    >>> found = walk(program, {"x": np.ones(2), "y": np.ones(2)}, ("x",), "float64", named={"z": program.output})
    >>> [(node.name, node.line or node.variable) for node in found.nodes]
    [('MulBackward0', 'x*y'), ('AccumulateGrad', 'x')]
    >>> [(tensor.name, tensor.requires_grad, tensor.grad_fn) for tensor in found.tensors]
    [('x', True, None), ('y', False, None), ('z', True, 'MulBackward0')]
    """
    ran = unshared(program)
    met: dict[Node, str] = {}
    with collector.paused():
        try:
            leaves = leaves_of(ran.program, inputs, wrt, dtype)
            return _run(program, ran, leaves, dtype, named, tuple(retained), v, met)
        finally:
            # A node that Python has seen is freed by a call inside the call that frees what leads to it, and a long
            # chain would overflow the stack. The tensors are gone by now: free the nodes one by one, the output first.
            while met:
                met.popitem()


def _run(
    program: Program,
    ran: Expansion,
    leaves: Mapping[str, Tensor],
    dtype: str,
    named: Mapping[str, Atom],
    retained: tuple[str, ...],
    v: Array | None,
    met: dict[Node, str],
) -> Walked:
    """Run forward and backward, and read the graph; nodes that Python has seen go to `met`, in line order."""
    values = evaluate(ran.program, leaves, dtype)
    y = output_of(ran.program, values, dtype)
    held = {name: values.get(ran.renamed.get(atom, atom)) for name, atom in named.items()}
    # The output may be a plain number, of which only `output_of` makes a tensor.
    held = {name: y if named[name] == program.output else tensor for name, tensor in held.items()}
    tensors = {**leaves, **{name: tensor for name, tensor in held.items() if tensor is not None}}
    for name in retained:
        if tensors[name].requires_grad:
            tensors[name].retain_grad()
    if v is not None and y.requires_grad:
        _backward(y, v)
    _meet(program, ran, values, met)
    nodes, edges = _graph(y, met, tensors, leaves)
    return Walked(tuple(_tensor(name, tensor) for name, tensor in tensors.items()), nodes, edges)


def _meet(program: Program, ran: Expansion, values: Mapping[Atom, Tensor], met: dict[Node, str]) -> None:
    """The text that each node comes from: that of the line whose value needed it first."""
    excerpts = {line.symbol: printable(program.excerpt(line)) for line in program.lines}
    for part in ran.program.lines:
        text = excerpts[ran.owners[part.symbol]]
        waiting = [values[part.symbol].grad_fn]
        while waiting:
            node = waiting.pop()
            if node is not None and node not in met:
                # An AccumulateGrad belongs to a variable, not to the line that reads it first.
                met[node] = "" if hasattr(node, "variable") else text
                waiting += (following for following, _ in node.next_functions)


def _graph(
    y: Tensor, lines: Mapping[Node, str], tensors: Mapping[str, Tensor], leaves: Mapping[str, Tensor]
) -> tuple[tuple[GraphNode, ...], tuple[GraphEdge, ...]]:
    """The nodes from the output on, and what leads from one to another."""
    variables = {id(leaf): name for name, leaf in leaves.items()}
    names: dict[Node, list[str]] = {}
    for name, tensor in tensors.items():
        names.setdefault(tensor.grad_fn, []).append(name)
    order: dict[Node, int] = {} if y.grad_fn is None else {y.grad_fn: 0}
    waiting = list(order)
    edges = []
    for node in waiting:  # it grows while it is read
        for n, (following, _) in enumerate(node.next_functions):
            if following is None:
                continue
            if following not in order:
                order[following] = len(order)
                waiting.append(following)
            edges.append(GraphEdge(order[node], order[following], n))
    nodes = (
        GraphNode(
            n,
            _name(node),
            lines.get(node, ""),
            tuple(names.get(node, ())),
            variables[id(node.variable)] if hasattr(node, "variable") else "",
        )
        for node, n in order.items()
    )
    return tuple(nodes), tuple(edges)


def _name(node: Node) -> str:
    """As torch prints it, without the namespace that some have: `torch::autograd::AccumulateGrad`."""
    return str(node.name()).rpartition("::")[2]


def _backward(y: Tensor, v: Array) -> None:
    try:
        y.backward(tensor_of(v, y.dtype))
    except RuntimeError as error:
        raise backward_error(error) from None


def _tensor(name: str, tensor: Tensor) -> GraphTensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the .grad of what is no leaf is None
        grad = tensor.grad
    return GraphTensor(
        name=name,
        data=array_of(tensor),
        requires_grad=tensor.requires_grad,
        grad=None if grad is None else array_of(grad),
        grad_fn=None if tensor.grad_fn is None else _name(tensor.grad_fn),
        is_leaf=tensor.is_leaf,
        retains_grad=tensor.retains_grad,
    )

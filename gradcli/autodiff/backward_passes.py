"""Backward passes as torch runs them: the numbers in `.grad` and kept by `retain_grad()`, refusals, and the graph.

Every number here was in a `.grad`, every attribute is read from torch's own objects; nothing is added up by hand, and
nothing derived from the Program but the text next to a node.

    z = x*y     z.grad_fn is MulBackward0; its next_functions are the AccumulateGrad of x and that of y

Source: PyTorch, "Autograd mechanics", https://docs.pytorch.org/docs/stable/notes/autograd.html
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from gradcli import progress
from gradcli.autodiff._torch import torch
from gradcli.autodiff.backward_errors import backward_error, raise_of_backward
from gradcli.autodiff.devices import CPU
from gradcli.autodiff.run import Forward, Tensor, array_of, derivative_of, tensor_of, unshared
from gradcli.errors import printable
from gradcli.language.program.expansion import Expansion
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.snippet_result import Replay
from gradcli.results import Array, GraphEdge, GraphNode, GraphTensor

Node = torch.autograd.graph.Node
"""A node of torch's graph, such as a `MulBackward0`."""

Tensors = Mapping[str, Tensor]

Live = Callable[[Mapping[str, Array], Sequence[str]], tuple[Forward, Tensors]]
"""Function that runs a function that is no Program: from values and variables to its Forward and named tensors."""

MOST_IN_A_NODE = 36
"""Most elements of a value for its node to hold the value and its adjoint."""

MOST_NOTED = 2_000
"""Most results whose adjoints are noted while the backward pass runs."""

_SECOND_TIME = "second time"
"""Words of torch's error about a graph whose intermediate values are freed, and of no other error."""


def refused(replay: Replay, inputs: Mapping[str, Array], dtype: str) -> int | None:
    """Return the number of the pass that torch refuses as an earlier pass freed the graph; None if all of them run.

    Args:
        replay: The passes of a snippet.
        inputs: An array per variable.
        dtype: `float64` or `float32`.

    Raises:
        InputError: Torch refuses an operation.

    >>> import numpy as np
    >>> from gradcli.questions.text_reading import read
    >>> text = "x = torch.tensor(2., requires_grad=True); y = {}; y.backward(); y.backward()"
    >>> [refused(read(text.format(y)).frees_graph, {"x": np.array(2.0)}, "float64") for y in ("x**2", "x + 1")]
    [1, None]
    """
    ran, forward, tensors = unshared(replay.program, inputs, replay.requires, dtype)
    leaves = forward.leaves
    for number, one in enumerate(replay.passes):
        y = tensors.get(ran.renamed.get(one.output, one.output))
        if y is None or not y.requires_grad:
            continue
        only = [leaves[name] for name in one.inputs if name in leaves and leaves[name].requires_grad]
        try:
            if only:
                torch.autograd.grad(y, only, torch.ones_like(y), retain_graph=one.keeps_graph, allow_unused=True)
            else:
                y.backward(torch.ones_like(y), retain_graph=one.keeps_graph)
        except RuntimeError as error:
            if _SECOND_TIME in str(error):
                return number
            raise backward_error(error) from None
    return None


# -- the graph


@dataclass(frozen=True)
class Walked:
    """Result of a walk: tensors in the order asked for, nodes in breadth-first order from the output."""

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
    live: Live | None = None,
    device: str = CPU,
) -> Walked:
    """Run a Program in torch, walk its backward graph, and run the backward pass if there is a v.

    Args:
        program: The Program to run.
        inputs: An array per variable.
        wrt: The variables that require a gradient.
        dtype: `float64` or `float32`, of every tensor.
        named: The tensors to tell of besides the variables, by their names; numbers are left out unless one is the
            output.
        retained: Which of these names keep their gradients, by `retain_grad()`.
        v: The gradient vector, of y's shape; without it there is no backward pass.
        live: The function to run in place of the Program.
        device: Of every tensor.

    Raises:
        InputError: Torch refuses an operation or the backward pass.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> program = parse("x*y")
    >>> found = walk(program, {"x": np.ones(2), "y": np.ones(2)}, ("x",), "float64", named={"z": program.output})
    >>> [(node.name, node.line or node.variable) for node in found.nodes]
    [('MulBackward0', 'x*y'), ('AccumulateGrad', 'x')]
    >>> [(tensor.name, tensor.requires_grad, tensor.grad_fn) for tensor in found.tensors]
    [('x', True, None), ('y', False, None), ('z', True, 'MulBackward0')]
    """
    met: dict[Node, tuple[str, str]] = {}

    def walked() -> Walked:
        ran, forward, values = unshared(program, inputs, wrt, dtype, device)
        atoms = {name: ran.renamed.get(atom, atom) for name, atom in named.items()}
        if live is not None:
            forward, own = live(inputs, wrt)
            values = {atom: own[name] for name, atom in atoms.items() if name in own}
        y, leaves = forward.output, {name: forward.leaves[name] for name in program.names if name in forward.leaves}
        tensors = {**leaves, **{name: values[atom] for name, atom in atoms.items() if atom in values}}
        tensors |= {name: y for name, atom in named.items() if atom == program.output}
        for name in retained:
            if name in tensors and tensors[name].requires_grad:
                tensors[name].retain_grad()
        results = [t for t in (*values.values(), y) if isinstance(t, torch.Tensor) and t.numel() <= MOST_IN_A_NODE]
        adjoints: dict[int, Tensor] = {}
        for tensor in results[:MOST_NOTED]:
            if tensor.requires_grad and not tensor.is_leaf:
                tensor.register_hook(partial(adjoints.__setitem__, id(tensor)))
        if v is not None and y.requires_grad:
            try:
                y.backward(gradient=tensor_of(v, y.dtype, y.device))
            except BaseException as error:
                raise_of_backward(error, y)
        _meet(program, ran, values, met)
        numbers = {one.grad_fn: (one, adjoints.get(id(one))) for one in results if one.grad_fn is not None}
        nodes, edges = _graph(y, met, tensors, leaves, numbers)
        return Walked(tuple(_tensor(name, tensor) for name, tensor in tensors.items()), nodes, edges)

    with progress.collector_paused():
        try:
            return walked()
        finally:
            # A node that Python has seen is freed by a call inside the call that frees what leads to it, and a long
            # chain would overflow the stack. The tensors are gone by now: free the nodes one by one, the output first.
            while met:
                met.popitem()


def _meet(program: Program, ran: Expansion, values: Mapping[Atom, Tensor], met: dict[Node, tuple[str, str]]) -> None:
    """Note the text that each node comes from, and its rule: of the line whose value needed the node first."""
    excerpts = {line.symbol: (printable(program.excerpt(line)), line.call.op.rule) for line in program.lines}
    for part in ran.program.lines:
        text = excerpts[ran.owners[part.symbol]]
        waiting = [values[part.symbol].grad_fn] if part.symbol in values else []
        while waiting:
            node = waiting.pop()
            if node is not None and node not in met:
                # An AccumulateGrad belongs to a variable, not to the line that reads it first.
                met[node] = ("", "") if hasattr(node, "variable") else text
                waiting += (following for following, _ in node.next_functions)


def _graph(
    y: Tensor,
    lines: Mapping[Node, tuple[str, str]],
    tensors: Tensors,
    leaves: Tensors,
    numbers: Mapping[Node, tuple[Tensor, Tensor | None]],
) -> tuple[tuple[GraphNode, ...], tuple[GraphEdge, ...]]:
    """List the nodes breadth first from the output on, and the edges between them; nothing recurses, as in torch."""
    variables = {id(leaf): name for name, leaf in leaves.items()}
    names: dict[Node | None, list[str]] = {}
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
    nodes = []
    for node, n in order.items():
        variable = variables[id(node.variable)] if hasattr(node, "variable") else ""
        value, adjoint = numbers.get(node, (None, None))
        if variable and leaves[variable].numel() <= MOST_IN_A_NODE:
            value, adjoint = leaves[variable], leaves[variable].grad
        shown = None if value is None else array_of(value)
        derivative = None if adjoint is None else derivative_of(adjoint)
        line, rule = lines.get(node, ("", ""))
        nodes.append(GraphNode(n, _name(node), line, tuple(names.get(node, ())), variable, shown, derivative, rule))
    return tuple(nodes), tuple(edges)


def _name(node: Node) -> str:
    """Name a node as torch prints it, without the namespace that some have: `torch::autograd::AccumulateGrad`."""
    return str(node.name()).rpartition("::")[2]


def _tensor(name: str, tensor: Tensor) -> GraphTensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the .grad of a tensor that is no leaf is None
        grad = tensor.grad
    found = None if grad is None else derivative_of(grad)
    node = None if tensor.grad_fn is None else _name(tensor.grad_fn)
    facts = {fact: getattr(tensor, fact) for fact in ("requires_grad", "is_leaf", "retains_grad")}
    return GraphTensor(name=name, data=array_of(tensor), grad=found, grad_fn=node, **facts)

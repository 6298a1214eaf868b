"""What `graph` answers: the backward graph that torch built, and the tensors of the function as torch holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gradcli.results.answers import Answer
from gradcli.results.verdicts import Array

Drawing = Literal["", "tree", "table", "dot", "mermaid"]
"""What to draw of a graph for people: the tree and the table, one of them, or the source of a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTensor:
    """A tensor with the attributes that autograd gives it, as read from torch.

    Attributes:
        name: Of the variable, the statement or the output.
        data: Its numbers; a condition is boolean.
        requires_grad: Whether autograd records what is done with it.
        grad: Of its shape; None where torch holds none.
        grad_fn: The operation that made it; None for a leaf.
        is_leaf: Whether nothing that is recorded made it.
        retains_grad: Whether it keeps its gradient although it is no leaf.
    """

    name: str
    data: Array
    requires_grad: bool
    grad: Array | None
    grad_fn: str | None
    is_leaf: bool
    retains_grad: bool


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An operation of the backward pass.

    Attributes:
        id: Its number in breadth-first order from the output, which is 0.
        name: As torch has it, `MulBackward0`.
        line: The text that it comes from; empty for an `AccumulateGrad`.
        tensors: What the result of its forward operation is called; several names are one tensor.
        variable: Whose gradient an `AccumulateGrad` adds to.
    """

    id: int
    name: str
    line: str = ""
    tensors: tuple[str, ...] = ()
    variable: str = ""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """The gradient flows from one node to another.

    Attributes:
        source: The id of the node that it leaves.
        target: The id of the node that it reaches.
        input: Which input of the source's forward operation that is, from 0.
    """

    source: int
    target: int
    input: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BackwardGraph(Answer):
    """The backward graph, and the tensors after the backward pass if there was one.

    Attributes:
        v: The gradient vector of the backward pass; None if there was none.
        tensors: The variables, the named values and the output, in this order.
        nodes: In breadth-first order from the output.
        edges: In the order of their sources and inputs.
        notes: What to know of the tensors.
        drawing: How to draw it.
    """

    v: Array | None
    tensors: tuple[GraphTensor, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    notes: tuple[str, ...] = ()
    drawing: Drawing = ""

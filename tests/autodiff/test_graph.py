"""The backward graph: torch's own objects built by hand, and what every operation of the table leaves."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.autodiff._torch import torch
from gradcli.errors import GradcliError
from gradcli.language.ops import TABLE
from gradcli.report import Screen, rendered
from gradcli.results import BackwardGraph, Drawing

Edges = list[tuple[str, str, int]]


def _edges(graph: BackwardGraph) -> Edges:
    """By the names of the nodes, and of the variables for the leaves."""
    words = [node.variable or node.name for node in graph.nodes]
    return [(words[edge.source], words[edge.target], edge.input) for edge in graph.edges]


def _torch_edges(y: Any, leaves: dict[str, Any]) -> Edges:
    """The same by a walk of the test's own, from a tensor that torch made."""
    names = {id(leaf): name for name, leaf in leaves.items()}

    def word(node: Any) -> str:
        return names[id(node.variable)] if hasattr(node, "variable") else type(node).__name__

    queue, met, found = [y.grad_fn], [y.grad_fn], []
    while queue:
        node = queue.pop(0)
        for n, (following, _) in enumerate(node.next_functions):
            if following is not None:
                found.append((word(node), word(following), n))
                if following not in met:
                    met.append(following)
                    queue.append(following)
    return found


def _leaf(*values: Any) -> Any:
    return torch.tensor(values[0] if len(values) == 1 else values, dtype=torch.float64, requires_grad=True)


M = [[1.0, 2.0], [3.0, 4.5]]

WRITTEN_OUT: list[tuple[str, dict[str, Any], Callable[..., Any]]] = [
    ("x**2", {"x": [1.0, 2.0]}, lambda x: x**2),
    ("y = x**2; z = y**3", {"x": [1.0, 2.0]}, lambda x: (x**2) ** 3),
    ("x**2 + z**3", {"x": [2.0, 2.0], "z": [4.0, 4.0]}, lambda x, z: x**2 + z**3),
    ("3*a + 2*b*b + log(c)", {"a": 1.0, "b": 2.0, "c": 3.0}, lambda a, b, c: 3 * a + 2 * b * b + torch.log(c)),
    ("x*x + x*x", {"x": 3.0}, lambda x: x * x + x * x),
    ("1/x - 5 + (2 - x)", {"x": 3.0}, lambda x: 1 / x - 5 + (2 - x)),
    ("(x*x*w).sum(1)", {"x": M, "w": [1.0, 2.0]}, lambda x, w: (x * x * w).sum(1)),
    ("torch.stack([-x**3, 5*x])", {"x": 1.0}, lambda x: torch.stack([-(x**3), 5 * x])),
    (
        "torch.stack([x.sum(), (x**2).sum()])",
        {"x": [1.0, 2.0]},
        lambda x: torch.stack([x.sum(), (x**2).sum()]),
    ),
    (
        "torch.stack([x**i for i in range(6)]).view(3,2)",
        {"x": 1.0},
        lambda x: torch.stack([x**i for i in range(6)]).view(3, 2),
    ),
    ("softmax(A@x, dim=0)", {"A": M, "x": [1.0, 2.0]}, lambda A, x: torch.softmax(A @ x, dim=0)),
    ("where(x > 0, sqrt(x), 0*x)", {"x": [1.0, -2.0]}, lambda x: torch.where(x > 0, torch.sqrt(x), 0 * x)),
    ("x.T @ x.transpose(0, 1)", {"x": M}, lambda x: x.T @ x.transpose(0, 1)),
    ("x[0] + x[:, 1] + x[1:, None].mean()", {"x": M}, lambda x: x[0] + x[:, 1] + x[1:, None].mean()),
    ("relu(x).max() + x.prod() + x.std()", {"x": M}, lambda x: torch.relu(x).max() + x.prod() + x.std()),
    ("det(x) + inv(x).trace() + norm(x)", {"x": M}, lambda x: x.det() + x.inverse().trace() + x.norm()),
    ("x*x.detach()", {"x": 2.0}, lambda x: x * x.detach()),
]


@pytest.mark.parametrize(("text", "at", "build"), WRITTEN_OUT, ids=[row[0] for row in WRITTEN_OUT])
def test_the_graph_is_the_one_that_torch_builds(text: str, at: dict[str, Any], build: Callable[..., Any]) -> None:
    """Node by node, edge by edge, in the same order."""
    leaves = {name: _leaf(value) for name, value in at.items()}
    graph = Function(text).graph(at)
    y = build(**leaves)
    assert _edges(graph) == _torch_edges(y, leaves)
    assert graph.tensors[-1].grad_fn == type(y.grad_fn).__name__


def _tensors(graph: BackwardGraph) -> dict[str, tuple[Any, ...]]:
    return {
        t.name: (t.data.tolist(), t.requires_grad, None if t.grad is None else t.grad.tolist(), t.grad_fn, t.is_leaf)
        for t in graph.tensors
    }


def test_a_product_with_a_constant() -> None:
    """C1: the constant takes no part, and the product is no leaf."""
    graph = Function("z = x*y").graph({"x": 1, "y": 2}, wrt=["x"])
    assert _tensors(graph) == {
        "x": (1, True, 2, None, True),
        "y": (2, False, None, None, True),
        "z": (2, True, None, "MulBackward0", False),
    }
    assert _edges(graph) == [("MulBackward0", "x", 0)]


def test_an_intermediate_is_no_leaf_and_can_retain_its_gradient() -> None:
    """C5: dz/dy = 3*y**2 = 3, 48 for v = 1, 1."""
    function = Function("y = x**2; z = y**3")
    plain = _tensors(function.graph({"x": "1,2"}, "1,1"))
    assert plain["x"] == ([1, 2], True, [6, 192], None, True)
    assert plain["y"] == ([1, 4], True, None, "PowBackward0", False)
    graph = function.graph({"x": "1,2"}, "1,1", show=["y", "z"])
    shown = _tensors(graph)
    assert shown["y"] == ([1, 4], True, [3, 48], "PowBackward0", False)
    assert shown["z"] == ([1, 64], True, [1, 1], "PowBackward0", False)
    assert [tensor.retains_grad for tensor in graph.tensors] == [False, True, True]


def test_two_leaves() -> None:
    """C6."""
    found = _tensors(Function("x**2 + z**3").graph({"x": "2,2", "z": "4,4"}, "1,1"))
    assert found["x"][2] == [4, 4]
    assert found["z"][2] == [48, 48]
    assert found["y"][:2] == ([68, 68], True)


def test_without_v_there_is_no_backward_pass_of_several_elements() -> None:
    """And nothing holds a gradient."""
    graph = Function("x**2").graph({"x": "1,2"})
    assert graph.v is None
    assert all(tensor.grad is None for tensor in graph.tensors)
    assert "no backward pass" in graph.notes[0]


def test_v_is_the_same_as_of_vjp() -> None:
    """Components, expressions in y, and its shape."""
    function = Function("x**2")
    for v in ("ones", "e1", "2*y", "x", [3, 4]):
        graph = function.graph({"x": "1,2"}, v)
        expected = function.vjp({"x": "1,2"}, v, check=False).vjp["x"]
        np.testing.assert_array_equal(graph.tensors[0].grad, expected)
    with pytest.raises(GradcliError, match="v has shape"):
        function.graph({"x": "1,2"}, "1,2,3")


def test_a_snippet_says_v_and_what_requires_a_gradient() -> None:
    """As everywhere."""
    text = (
        "x = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor([3., 4.])\ny = w*x\ny.backward(torch.ones(2))"
    )
    found = _tensors(Function(text).graph())
    assert found["x"] == ([1, 2], True, [3, 4], None, True)
    assert found["w"] == ([3, 4], False, None, None, True)


def test_what_needs_no_gradient_has_no_graph() -> None:
    """A condition, a number, a constant, a detached tensor."""
    for text, at in (("x > 0", {"x": 1}), ("2", {}), ("zeros(2)", {}), ("detach(x)", {"x": 1})):
        graph = Function(text).graph(at)
        assert (graph.nodes, graph.edges) == ((), ())
        assert graph.tensors[-1].grad_fn is None
        assert not graph.tensors[-1].requires_grad
        assert "there is no graph" in graph.notes[0]


def test_the_output_may_be_a_leaf() -> None:
    """Then it is the variable itself, and backward() still gives it a gradient."""
    graph = Function("x").graph({"x": 3})
    assert graph.nodes == ()
    assert _tensors(graph)["y"] == (3, True, 1, None, True)
    assert "x and y are one tensor" in graph.notes


def test_names_of_one_operation_are_two_tensors() -> None:
    """For a = x*y; b = x*y; a*b at 2, 3: df/da = b = 6 alone."""
    graph = Function("a = x*y; b = x*y; f = a*b; f").graph({"x": 2, "y": 3}, show=["a"])
    found = _tensors(graph)
    assert found["a"][2] == 6
    assert found["b"][2] is None
    assert [node.tensors for node in graph.nodes if node.name == "MulBackward0"] == [("f",), ("a",), ("b",)]


def test_nodes_carry_the_text_that_made_them() -> None:
    """All the nodes of a line do: 1/x is a reciprocal and a product."""
    graph = Function("z = 1/x + relu(x)").graph({"x": 2})
    assert [(node.name, node.line) for node in graph.nodes] == [
        ("AddBackward0", "1/x + relu(x)"),
        ("MulBackward0", "1/x"),
        ("ReluBackward0", "relu(x)"),
        ("ReciprocalBackward0", "1/x"),
        ("AccumulateGrad", ""),
    ]


def test_a_condition_and_a_retained_constant() -> None:
    """A condition is boolean, and has no gradient to retain."""
    graph = Function("c = x > 0; where(c, x, 0)").graph({"x": "1,-2"}, "ones", show=["c"])
    assert _tensors(graph)["c"] == ([True, False], False, None, None, True)
    assert any("c has requires_grad=False" in note for note in graph.notes)


def test_a_variable_that_takes_no_part_has_no_gradient() -> None:
    """Where vjp says 0, torch says None."""
    graph = Function("x + 0*y.detach()").graph({"x": 1, "y": 2})
    assert _tensors(graph)["y"] == (2, True, None, None, True)
    assert any("does not depend on y" in note for note in graph.notes)


def test_float32_and_nan() -> None:
    """Numbers are what they are."""
    graph = Function("log(x)").graph({"x": -1}, dtype="float32")
    assert graph.tensors[-1].data.dtype == np.float32
    assert np.isnan(graph.value)
    assert graph.tensors[0].grad == -1


def test_every_operation_of_the_table_has_a_graph() -> None:
    """The examples of the catalog, in all formats."""
    for op in TABLE.values():
        text, at = op.worked_example
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = Function(text).graph(at)
        for form in ("table", "json", "plain"):
            rendered(graph, form, Screen())
        drawings: tuple[Drawing, ...] = ("dot", "mermaid")
        for drawing in drawings:
            rendered(replace(graph, drawing=drawing), "full", Screen())


def test_long_programs_do_not_recurse() -> None:
    """1,000 statements; and in a process of its own, as it may crash, a sum of 10,000 terms on a small stack."""
    text = "y0 = x; " + "; ".join(f"y{n + 1} = y{n}*1.001" for n in range(1_000))
    graph = Function(text).graph({"x": 1})
    assert len(graph.nodes) == 1_001
    assert graph.nodes[999].line == "y0*1.001"
    code = (
        "import threading\n"
        "from gradcli import Function\n"
        "def draw():\n"
        "    graph = Function('+'.join(['x']*10_000)).graph({'x': 1})\n"
        "    print(len(graph.nodes), graph.tensors[0].grad)\n"
        "threading.stack_size(2**20)\n"
        "drawing = threading.Thread(target=draw)\n"
        "drawing.start()\n"
        "drawing.join()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "10000 10000.0\n"

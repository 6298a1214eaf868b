"""The backward graph: torch's own objects built by hand, and what every operation of the table leaves."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.autodiff._torch import torch
from gradcli.errors import GradcliError, TooLargeError
from gradcli.language.ops import TABLE
from gradcli.report import Screen, rendered
from gradcli.results import Array, BackwardGraph, Drawing

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


M = [[1.0, 2.0], [3.0, 4.5]]

WRITTEN_OUT: dict[str, dict[str, Any]] = {
    "x**2": {"x": [1.0, 2.0]},
    "x**2 + z**3": {"x": [2.0, 2.0], "z": [4.0, 4.0]},
    "3*a + 2*b*b + torch.log(c)": {"a": 1.0, "b": 2.0, "c": 3.0},
    "x*x + x*x": {"x": 3.0},
    "1/x - 5 + (2 - x)": {"x": 3.0},
    "(x*x*w).sum(1)": {"x": M, "w": [1.0, 2.0]},
    "torch.stack([x.sum(), (x**2).sum()])": {"x": [1.0, 2.0]},
    "torch.stack([x**i for i in range(6)]).view(3,2)": {"x": 1.0},
    "torch.softmax(A@x, dim=0)": {"A": M, "x": [1.0, 2.0]},
    "torch.where(x > 0, torch.sqrt(x), 0*x)": {"x": [1.0, -2.0]},
    "x.T @ x.transpose(0, 1)": {"x": M},
    "x[0] + x[:, 1] + x[1:, None].mean()": {"x": M},
    "torch.relu(x).max() + x.prod() + x.std()": {"x": M},
    "torch.det(x) + torch.inverse(x).trace() + x.norm()": {"x": M},
    "x*x.detach()": {"x": 2.0},
}
"""Valid in Python, which evaluates the same text."""


@pytest.mark.parametrize("text", WRITTEN_OUT)
def test_the_graph_is_the_one_that_torch_builds(text: str) -> None:
    """Node by node, edge by edge, in the same order."""
    leaves = {name: torch.tensor(x, dtype=torch.float64, requires_grad=True) for name, x in WRITTEN_OUT[text].items()}
    graph = Function(text).graph(WRITTEN_OUT[text])
    y = eval(text, {"torch": torch, **leaves})
    assert _edges(graph) == _torch_edges(y, leaves)
    assert graph.tensors[-1].grad_fn == type(y.grad_fn).__name__


def _listed(array: Array | None) -> Any:
    return None if array is None else array.tolist()


def _tensors(graph: BackwardGraph) -> list[tuple[Any, ...]]:
    return [(t.name, t.data.tolist(), t.requires_grad, _listed(t.grad), t.grad_fn, t.is_leaf) for t in graph.tensors]


X, Z = ("x", [1, 2], True), ("z", [1, 64], True)
TENSORS: list[tuple[str, dict[str, Any], dict[str, Any], list[tuple[Any, ...]], str]] = [
    # name, data, requires_grad, grad, grad_fn, is_leaf
    (
        "z = x*y",
        {"x": 1, "y": 2},
        {"wrt": ["x"]},
        [
            ("x", 1, True, 2, None, True),
            ("y", 2, False, None, None, True),
            ("z", 2, True, None, "MulBackward0", False),
        ],
        "",
    ),
    (
        "y = x**2; z = y**3",
        {"x": "1,2"},
        {"v": "1,1"},
        [
            (*X, [6, 192], None, True),
            ("y", [1, 4], True, None, "PowBackward0", False),
            (*Z, None, "PowBackward0", False),
        ],
        "y and z are no leaves: torch leaves their .grad None; --show y,z retains them",
    ),
    (
        "y = x**2; z = y**3",
        {"x": "1,2"},
        {"v": "1,1", "show": ["y", "z"]},
        [
            (*X, [6, 192], None, True),
            ("y", [1, 4], True, [3, 48], "PowBackward0", False),
            (*Z, [1, 1], "PowBackward0", False),
        ],
        "",
    ),
    ("x**2", {"x": "1,2"}, {}, [(*X, None, None, True), ("y", [1, 4], True, None, "PowBackward0", False)],
     "there was no backward pass"),
    ("x", {"x": 3}, {}, [("x", 3, True, 1, None, True), ("y", 3, True, 1, None, True)], "x and y are one tensor"),
    (
        "c = x > 0; where(c, x, 0)",
        {"x": "1,-2"},
        {"v": "ones", "show": ["c"]},
        [
            ("x", [1, -2], True, [1, 0], None, True),
            ("c", [True, False], False, None, None, True),
            ("y", [1, 0], True, None, "WhereBackward0", False),
        ],
        "c has requires_grad=False",
    ),
    (
        "x + 0*y.detach()",
        {"x": 1, "y": 2},
        {},
        [
            ("x", 1, True, 1, None, True),
            ("y", 2, True, None, None, True),
            ("f", 1, True, None, "AddBackward0", False),
        ],
        "f does not depend on y: torch leaves the .grad None, where vjp says 0",
    ),
    *(
        (text, {"x": 1} if "x" in text else {}, {}, [(name, data, False, None, None, True)], "there is no graph")
        for text, name, data in (("x > 0", "y", 1), ("2", "y", 2), ("zeros(2)", "y", [0, 0]), ("detach(x)", "y", 1))
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at", "options", "tensors", "note"), TENSORS)
def test_a_tensor_knows_where_it_came_from(
    text: str, at: dict[str, Any], options: dict[str, Any], tensors: list[tuple[Any, ...]], note: str
) -> None:
    """What torch says of each, and in words why a gradient is missing; where all is known, no node is left out."""
    graph = Function(text).graph(at, **options)
    assert _tensors(graph)[-len(tensors) :] == tensors
    assert {t.name for t in graph.tensors if t.retains_grad} == {
        name for name in options.get("show", ()) if name != "c"
    }
    assert any(note in one for one in graph.notes) or not note
    assert bool(graph.nodes) == (tensors[-1][4] is not None)


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
    assert ("x", [1, 2], True, [3, 4], None, True) in found
    assert ("w", [3, 4], False, None, None, True) in found


def test_names_of_one_operation_are_two_tensors() -> None:
    """For a = x*y; b = x*y; a*b at 2, 3: df/da = b = 6 alone."""
    graph = Function("a = x*y; b = x*y; f = a*b; f").graph({"x": 2, "y": 3}, show=["a"])
    assert {t.name: _listed(t.grad) for t in graph.tensors if t.name in "ab"} == {"a": 6, "b": None}
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


def test_tensors_that_are_too_large_together_are_refused() -> None:
    """A hundred names of half a million elements each."""
    text = "y0 = x; " + "; ".join(f"y{n + 1} = y{n}*2" for n in range(100))
    with pytest.raises(TooLargeError, match="elements together; the limit is 33,554,432"):
        Function(text).graph({"x": "ones(500000)"})


def test_nodes_have_their_values_and_adjoints() -> None:
    """Of y = x**2, z = y**3 at 1, 2: what went forward, and what came back; before a pass nothing has."""
    function = Function("y = x**2; z = y**3")
    found = [
        (node.name, _listed(node.value), _listed(node.adjoint)) for node in function.graph({"x": "1,2"}, "1,1").nodes
    ]
    assert found == [
        ("PowBackward0", [1, 64], [1, 1]),
        ("PowBackward0", [1, 4], [3, 48]),
        ("AccumulateGrad", [1, 2], [6, 192]),
    ]
    assert {_listed(node.adjoint) is None for node in function.graph({"x": "1,2"}).nodes} == {True}


def test_an_adjoint_is_the_sum_over_all_uses_and_large_values_are_left_out() -> None:
    """Also where torch makes several nodes of one line; nothing changes which gradients are retained."""
    answer = Function("y = x*x; z = y + 3*y").graph({"x": 5}, 1)
    assert {node.tensors: _listed(node.adjoint) for node in answer.nodes if node.tensors} == {("z",): 1, ("y",): 4}
    assert [tensor.retains_grad for tensor in answer.tensors] == [False, False, False]
    large = Function("y = x**2; sum(y)").graph({"x": "ones(50)"})
    assert [_listed(node.value) for node in large.nodes] == [50, None, None]

"""The backward graph: torch's own objects built by hand, and what every operation of the table leaves."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradcli import Function
from gradcli.autodiff._torch import torch
from gradcli.errors import TooLargeError
from gradcli.language.ops import TABLE
from gradcli.report import Screen, rendered
from gradcli.results import Array, BackwardGraph, GraphTensor
from tests import warm
from tests.conftest import process
from tests.examples import part

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


def test_a_node_has_the_rule_of_its_line() -> None:
    """In drawings too; a leaf has none."""
    graph = Function("y = sin(x)**2; z = sum(y)").graph({"x": [1, 2]})
    assert [node.rule for node in graph.nodes] == ["sum rule", "power rule", "chain rule", ""]
    drawn = rendered(replace(graph, drawing="dot"), "table", Screen())
    assert "sin(x)\\nvalue" in drawn
    assert "\\nchain rule" in drawn


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


TENSORS: list[tuple[str, dict[str, Any], dict[str, Any], list[str], str]] = [
    ("z = x*y", {"x": 1, "y": 2}, {"wrt": ["x"]}, ["x = 1: leaf, grad 2", "y = 2", "z = 2: MulBackward0"], ""),
    (
        "y = x**2; z = y**3",
        {"x": "1,2"},
        {"v": "1,1"},
        ["x = [1, 2]: leaf, grad [6, 192]", "y = [1, 4]: PowBackward0", "z = [1, 64]: PowBackward0"],
        "y and z are no leaves: torch leaves their .grad None; --show y,z retains them",
    ),
    ("x", {"x": 3}, {}, ["x = 3: leaf, grad 1", "y = 3: leaf, grad 1"], "x and y are one tensor"),
    (
        "c = x > 0; where(c, x, 0)",
        {"x": "1,-2"},
        {"v": "ones", "show": ["c"]},
        ["x = [1, -2]: leaf, grad [1, 0]", "c = [True, False]", "y = [1, 0]: WhereBackward0"],
        "c has requires_grad=False",
    ),
    (
        "x + 0*y.detach()",
        {"x": 1, "y": 2},
        {},
        ["x = 1: leaf, grad 1", "y = 2: leaf", "f = 1: AddBackward0"],
        "f does not depend on y: torch leaves the .grad None, where vjp says 0",
    ),
    ("x > 0", {"x": 1}, {}, ["x = 1: leaf", "y = 1"], "there is no graph"),
    ("detach(x)", {"x": 1}, {}, ["x = 1: leaf", "y = 1"], "there is no graph"),
    (
        "x = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor([3., 4.])\ny = w*x\n"
        "y.backward(torch.ones(2))",
        {},
        {},
        ["x = [1, 2]: leaf, grad [3, 4]", "w = [3, 4]", "y = [3, 8]: MulBackward0"],
        "",
    ),
    # names of one operation are two tensors: df/da = b = 6 alone
    (
        "a = x*y; b = x*y; f = a*b; f",
        {"x": 2, "y": 3},
        {"show": ["a"]},
        [
            "x = 2: leaf, grad 36",
            "y = 3: leaf, grad 24",
            "a = 6: MulBackward0, retains grad 6",
            "b = 6: MulBackward0",
            "f = 36: MulBackward0",
        ],
        "b and f are no leaves: torch leaves their .grad None",
    ),
]


@pytest.mark.parametrize(("text", "at", "options", "tensors", "note"), TENSORS)
def test_a_tensor_knows_where_it_came_from(
    text: str, at: dict[str, Any], options: dict[str, Any], tensors: list[str], note: str
) -> None:
    """Facts of torch about each, and in words why a gradient is missing."""
    graph = Function(text).graph(at, **options)
    assert [_said(tensor) for tensor in graph.tensors] == tensors
    assert any(note in one for one in graph.notes) or not note
    assert bool(graph.nodes) == ("Backward" in tensors[-1])


def _said(tensor: GraphTensor) -> str:
    shown = f"{tensor.name} = {tensor.data.astype(object).tolist()}".replace(".0", "")
    grad = [] if tensor.grad is None else [f"{'retains ' * tensor.retains_grad}grad {tensor.grad.tolist()}"]
    facts = [tensor.grad_fn or ("leaf" if tensor.requires_grad else ""), *grad]
    assert tensor.is_leaf == (tensor.grad_fn is None)
    assert tensor.requires_grad or not grad
    return f"{shown}: {', '.join(facts)}".replace(".0", "").removesuffix(": ")


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


@pytest.mark.parametrize("turn", part(range(4), 0, of=4))
def test_every_operation_of_the_table_has_a_graph(turn: int) -> None:
    """The examples of the catalog, each fourth from this one on, in all formats."""
    for op in [*TABLE.values()][turn::4]:
        text, at = op.worked_example
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = Function(text).graph(at)
        for form in ("table", "json"):
            rendered(graph, form, Screen())
        rendered(replace(graph, drawing="dot"), "full", Screen())


def test_long_programs_do_not_recurse(tmp_path: Path) -> None:
    """1,000 statements; and in a process of its own, as it may crash, a sum of 4,000 terms on a small stack."""
    text = "y0 = x; " + "; ".join(f"y{n + 1} = y{n}*1.001" for n in range(1_000))
    graph = Function(text).graph({"x": 1})
    assert len(graph.nodes) == 1_001
    assert graph.nodes[999].line == "y0*1.001"
    code = (
        "import threading\n"
        "from gradcli import Function\n"
        "def draw():\n"
        "    graph = Function('+'.join(['x']*4_000)).graph({'x': 1})\n"
        "    print(len(graph.nodes), graph.tensors[0].grad)\n"
        "threading.stack_size(2**19)\n"
        "drawing = threading.Thread(target=draw)\n"
        "drawing.start()\n"
        "drawing.join()\n"
    )
    (tmp_path / "draw.py").write_text(code, encoding="utf-8")
    run = process(warm.runner(), str(tmp_path / "draw.py"))
    assert run.code == 0, run.err
    assert run.out == "4000 4000.0\n"


def test_tensors_that_are_too_large_together_are_refused() -> None:
    """A hundred names of half a million elements each."""
    text = "y0 = x; " + "; ".join(f"y{n + 1} = y{n}*2" for n in range(100))
    with pytest.raises(TooLargeError, match="elements together; the limit is 33,554,432"):
        Function(text).graph({"x": "ones(500000)"})


def test_nodes_have_their_values_and_adjoints() -> None:
    """Values that went forward, and sums that came back from all uses; none before a pass, and none that is large."""
    function = Function("y = x*x; z = y + 3*y")
    found = function.graph({"x": 5}, 1)
    assert [(node.name, _listed(node.value), _listed(node.adjoint)) for node in found.nodes if node.tensors] == [
        ("AddBackward0", 100, 1),
        ("MulBackward0", 25, 4),
    ]
    assert not any(tensor.retains_grad for tensor in found.tensors)
    assert {_listed(node.adjoint) is None for node in function.graph({"x": 5}).nodes} == {False}
    assert {_listed(node.adjoint) is None for node in Function("x**2").graph({"x": "1,2"}).nodes} == {True}
    large = Function("y = x**2; sum(y)").graph({"x": "ones(50)"})
    assert [_listed(node.value) for node in large.nodes] == [50, None, None]

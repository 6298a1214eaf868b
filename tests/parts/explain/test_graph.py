"""Backward graphs as trees, tables and DOT: hostile names, narrow screens, large graphs."""

import re
from dataclasses import replace

import pytest

from gradcli import Function
from gradcli.errors import TooLargeError
from gradcli.parts.explain.graph_document import MAX_TENSORS
from gradcli.report import Screen, rendered
from gradcli.report.drawings import MAX_LINES
from gradcli.report.wording import MAX_NODES
from gradcli.results import BackwardGraph, GraphEdge, GraphNode

HOSTILE = [
    'x["a"]',
    'ends in \\"',
    "a | b < c > d",
    "x[0] ] [ } {",
    '"); n9 -> n8 [label="',
    "`code` **bold** _it_ ~no~",
    "line\nbreak",
    "end",
    "[/b][red]x",
    "%% comment; n0 --> n1",
]


def _graph(nodes: list[GraphNode], edges: list[GraphEdge], tensors: int = 1) -> BackwardGraph:
    graph = Function("x + 1").graph({"x": 1.0})
    held = tuple(replace(graph.tensors[-1], name=f"y{n}") for n in range(tensors))
    return replace(graph, tensors=held, nodes=tuple(nodes), edges=tuple(edges))


def _labelled(words: str) -> BackwardGraph:
    nodes = [GraphNode(0, "MulBackward0", words, (words,)), GraphNode(1, "AccumulateGrad", variable=words)]
    return _graph(nodes, [GraphEdge(0, 1, 0), GraphEdge(0, 1, 1)])


def _chain(count: int) -> BackwardGraph:
    nodes = [GraphNode(n, "AddBackward0", f"y{n}") for n in range(count)]
    return _graph(nodes, [GraphEdge(n, n + 1, 0) for n in range(count - 1)])


def _ladder(count: int) -> BackwardGraph:
    """Each node leads to the next and to a leaf of its own."""
    nodes = [GraphNode(n, "AddBackward0", f"y{n}") for n in range(count)]
    leaves = [GraphNode(count + n, "AccumulateGrad", variable=f"x{n}") for n in range(count)]
    edges = [edge for n in range(count - 1) for edge in (GraphEdge(n, n + 1, 0), GraphEdge(n, count + n, 1))]
    return _graph([*nodes, *leaves], edges)


def _shown_by_graphviz(label: str) -> str:
    """Read a label, in which backslashes escape."""
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label, flags=re.DOTALL)


@pytest.mark.parametrize("words", HOSTILE)
def test_dot_quotes_what_the_user_wrote(words: str) -> None:
    """Two nodes and two edges, whatever the labels are; and they say what was written."""
    shown = rendered(replace(_labelled(words), drawing="dot"), "table", Screen())
    first, node, leaf, *edges = shown.split(";\n")
    assert first == "digraph backward {\n  node [shape=ellipse]"
    assert edges == ['  n0 -> n1 [label="0"]', '  n0 -> n1 [label="1"]', "}\n"]
    labels = (node, "", f"MulBackward0\n{words} = {words}"), (leaf, ", shape=box", f"AccumulateGrad\n{words}")
    for line, more, said in labels:
        found = re.fullmatch(rf'  n\d \[label="((?:[^"\\]|\\.)*)"{more}\]', line, re.DOTALL)
        assert found
        assert _shown_by_graphviz(found[1]) == said


@pytest.mark.parametrize("words", HOSTILE)
def test_trees_show_markup_as_text(words: str) -> None:
    """Rich reads no markup in it."""
    assert f"AccumulateGrad: {words}" in rendered(_labelled(words), "full", Screen())


def test_a_chain_goes_straight_down() -> None:
    """It never indents, and ends with how much is left."""
    lines = rendered(replace(_chain(5_000), drawing="tree"), "table", Screen(width=60)).splitlines()[1:]
    assert lines[1] == "↓ AddBackward0: y1"
    assert lines[MAX_LINES - 1] == f"↓ AddBackward0: y{MAX_LINES - 1}"
    assert lines[MAX_LINES:] == [f"… and {5_000 - MAX_LINES:,} more nodes"]


@pytest.mark.parametrize("width", [None, 20, 40, 80])
def test_branches_in_branches_stay_on_the_screen(width: int | None) -> None:
    """A part that is too deep is drawn below, under its number; every node is there once."""
    lines = rendered(replace(_ladder(100), drawing="tree"), "table", Screen(width=width)).splitlines()[1:]
    assert max(map(len, lines)) <= (width or 100)
    text = "\n".join(lines)
    assert " ".join(text.split()).count("↓ see below") > 5
    if width is None or width >= 80:
        for n in range(99):
            assert len(re.findall(rf"y{n}(?:  #{n})?$", text, re.MULTILINE)) == 1
            assert len(re.findall(rf"AccumulateGrad: x{n}$", text, re.MULTILINE)) == 1


def test_what_several_nodes_lead_to_is_drawn_once() -> None:
    """Of a chain of diamonds there is a line for each edge, for the output, and for each of the three parts below."""
    nodes = [GraphNode(n, "MulBackward0", f"y{n}") for n in range(50)]
    edges = [GraphEdge(n, n + 1, k) for n in range(49) for k in (0, 1)]
    text = rendered(replace(_graph(nodes, edges), drawing="tree"), "table", Screen())
    assert text.count("see above") + text.count("see below") == 98 + 1 + 3 - 50


def test_ascii_screens() -> None:
    """Nothing beyond ASCII is drawn."""
    for graph in (_ladder(40), _chain(500), Function("x**2 + x").graph({"x": "1,2"}, "ones")):
        assert rendered(graph, "full", Screen(ascii=True)).isascii()
    text = rendered(Function("x**2 + 1/x").graph({"x": 1}), "table", Screen(ascii=True))
    assert "|-0 PowBackward0: x**2\n|   -> AccumulateGrad: x\n`-1 MulBackward0: 1/x\n" in text
    assert "^ see above" in text


@pytest.mark.parametrize("width", [20, 30, 50])
def test_on_a_narrow_screen_each_tensor_is_a_paragraph(width: int) -> None:
    """And no digit is lost."""
    graph = Function("y = x**2; z = y**3").graph({"x": "1,2"}, "1,1", show=["y"])
    lines = rendered(graph, "full", Screen(width=width)).splitlines()
    assert max(map(len, lines)) <= width
    assert "y" in lines
    assert "  .grad 3, 48" in lines
    assert "  retains_grad True" in lines


def test_of_very_many_tensors_the_first_and_the_last_are_shown() -> None:
    """With a sign of those between."""
    graph = _graph([], [], tensors=5_000)
    text = rendered(replace(graph, drawing="table"), "full", Screen())
    assert text.count("AddBackward0") == MAX_TENSORS
    assert "│ … " in text
    assert "│ y4999 " in text


@pytest.mark.parametrize("form", ["dot", "json"])
@pytest.mark.one_in(2)
def test_a_graph_that_is_too_large_is_refused(form: str) -> None:
    """Formats that write it whole refuse it."""
    graph = _chain(MAX_NODES + 1)
    graph = replace(graph, drawing="dot") if form != "json" else graph
    with pytest.raises(TooLargeError, match=f"{MAX_NODES + 1:,} nodes") as caught:
        rendered(graph, "json" if form == "json" else "table", Screen())
    assert "--to tree" in (caught.value.in_shell.hint or "")
    assert rendered(_chain(MAX_NODES), "json", Screen())


def test_comments_in_the_text_reach_no_terminal() -> None:
    """An excerpt of several lines may hold one, with a control character in it."""
    graph = Function("(x + # \x07\n 1)*2").graph({"x": 1})
    assert all(node.line.isprintable() for node in graph.nodes)

"""The questions that started gradcli, as they were asked: each is one command with its numbers.

From a question-and-answer thread on the gradient argument (A), a post by examples (B), a notebook on backward() (C) and
an article on derivatives in PyTorch (D).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from gradcli.cli.app import _answer
from gradcli.cli.output import Output
from gradcli.options import ON_TERMINALS
from gradcli.report import rendered
from gradcli.report.document import Screen
from tests.conftest import Command

ABC = ["--at", "a=1,2,3", "--at", "b=3,4,5", "--at", "c=6,7,8"]
ONES = ["--at", "a=1", "--at", "b=1", "--at", "c=1"]

VJPS: list[tuple[str, list[str], dict[str, object]]] = [
    (
        "A1",
        ["3*a + 2*b*b + torch.log(c)", *ABC, "--v", "0.1,1,0.0001"],
        {"a": [0.3, 3, 0.0003], "b": [1.2, 16, 0.002], "c": [0.1 / 6, 1 / 7, 1.25e-5]},
    ),
    ("A2", ["3*a + 2*b*b + torch.log(c)", "--at", "a=.1", "--at", "b=1", "--at", "c=.1"], {"a": 3, "b": 4, "c": 10}),
    ("A5", ["3*a + 2*b*b + log(c)", *ONES], {"a": 3, "b": 4, "c": 1}),
    ("A6", ["2*x", "--at", "[[1,2,3,4]]", "--v", "[[1,0,0,0]]"], {"x": [[2, 0, 0, 0]]}),
    ("A7", ["2*x", "--at", "[[1,2,3,4]]", "--v", "e0_1"], {"x": [[0, 2, 0, 0]]}),
    ("A8", ["2*x", "--at", "[[1,2,3,4]]", "--v", "ones"], {"x": [[2, 2, 2, 2]]}),
    ("A9", ["z = 2*x; loss = z.sum(dim=1)", "--at", "[[1,2,3,4]]"], {"x": [[2, 2, 2, 2]]}),
    (
        "A10",
        ["[l1, l2, l3]", "--at", "l1=1", "--at", "l2=2", "--at", "l3=3", "--v", "-0.1,1,0.0001"],
        {"l1": -0.1, "l2": 1, "l3": 0.0001},
    ),
    ("B1", ["x**2", "--at", "1"], {"x": 2}),
    ("B2", ["x**2", "--at", "1", "--v", "100"], {"x": 200}),
    ("B3", ["sum(x)", "--at", "1,2"], {"x": [1, 1]}),
    ("B4", ["sum(x)", "--at", "1,2", "--v", "100"], {"x": [100, 100]}),
    ("C1", ["x*y", "--at", "x=1", "--at", "y=2", "--wrt", "x"], {"x": 2}),
    ("C2", ["x**3", "--at", "1"], {"x": 3}),
    ("C3", ["x**2", "--at", "1,2", "--v", "1,1"], {"x": [2, 4]}),
    ("C4", ["x**2", "--at", "1,2", "--v", "x"], {"x": [2, 8]}),
    ("C5", ["y = x**2; z = y**3", "--at", "1,2", "--v", "1,1"], {"x": [6, 192]}),
    ("C6", ["x**2 + z**3", "--at", "x=2,2", "--at", "z=4,4", "--v", "1,1"], {"x": [4, 4], "z": [48, 48]}),
    ("D1", ["x**2", "--at", "1"], {"x": 2}),
    ("D2", ["x**2", "--at", "linspace(-2,2,5)", "--v", "ones"], {"x": [-4, -2, 0, 2, 4]}),
    ("D3", ["(x**2).sum()", "--at", "linspace(-2,2,5)"], {"x": [-4, -2, 0, 2, 4]}),
    ("D4", ["(x*x*w).sum()", "--at", "w=3,5", "--at", "x=-1,2", "--wrt", "x"], {"x": [-6, 20]}),
    (
        "D5",
        ["(x*x*w).sum(1)", "--at", "w=-1,1", "--at", "x=arange(6).view(3,2)", "--v", "ones", "--wrt", "x"],
        {"x": [[0, 2], [-4, 6], [-8, 10]]},
    ),
    ("D6", ["[-x**3, 5*x]", "--at", "1", "--v", "1,0"], {"x": -3}),
    ("D6b", ["torch.stack([-x**3, 5*x])", "--at", "1", "--v", "0,1"], {"x": 5}),
    ("D7", ["[-x**3, 5*x]", "--at", "0,1,2", "--v", "e0"], {"x": [0, -3, -12]}),
    ("D7b", ["[-x**3, 5*x]", "--at", "0,1,2", "--v", "e1"], {"x": [5, 5, 5]}),
    ("D8", ["torch.stack([x.sum(), (x**2).sum()])", "--at", "arange(4)", "--v", "1,0"], {"x": [1, 1, 1, 1]}),
    ("D8b", ["[x.sum(), (x**2).sum()]", "--at", "arange(4)", "--v", "e1"], {"x": [0, 2, 4, 6]}),
    ("D9", ["[x.sum(1), (x**2).sum(1)]", "--at", "arange(12).view(3,4)", "--v", "e0"], {"x": np.ones((3, 4)).tolist()}),
    (
        "D9b",
        ["[x.sum(1), (x**2).sum(1)]", "--at", "arange(12).view(3,4)", "--v", "e1"],
        {"x": (2.0 * np.arange(12).reshape(3, 4)).tolist()},
    ),
    ("D11", ["(x**2).sum()", "--at", "arange(6).view(3,2)"], {"x": [[0, 2], [4, 6], [8, 10]]}),
    ("D12", ["x**2", "--at", "linspace(-2,2,5).view(-1,1)", "--v", "ones"], {"x": [[-4], [-2], [0], [2], [4]]}),
]


@pytest.mark.parametrize(("words", "expected"), [v[1:] for v in VJPS], ids=[v[0] for v in VJPS])
def test_a_question_gets_its_numbers(words: list[str], expected: dict[str, object], gradcli: Command) -> None:
    """As the discussions state them, with a verdict that they can be trusted."""
    run = gradcli("vjp", *words, "--json")
    assert run.code == 0, run.err
    answer = json.loads(run.out)
    for name, gradient in expected.items():
        np.testing.assert_allclose(answer["vjp"][name], np.asarray(gradient, dtype=float), rtol=1e-14)
    assert answer["check"]["verdict"] == "agree"


def test_every_one_hot_of_a_matrix_in_one_go(gradcli: Command) -> None:
    """D10: the comprehension as it stands; D13: a function at several points has a diagonal Jacobian."""
    text = "torch.stack([x**i for i in range(6)]).view(3,2)"
    answer = json.loads(gradcli("jacobian", text, "--at", "1", "--json").out)
    assert answer["jacobian"]["x"] == [[0, 1], [2, 3], [4, 5]]
    assert gradcli("jacobian", "x**2", "--at", "1,2,3", "--format", "plain").out == "2 0 0\n0 4 0\n0 0 6\n"


SNIPPET = """
import torch
a = torch.tensor([1., 2., 3.], requires_grad=True)
b = torch.tensor([3., 4., 5.], requires_grad=True)
c = torch.tensor([6., 7., 8.], requires_grad=True)
y = 3*a + 2*b*b + torch.log(c)
gradients = torch.FloatTensor([0.1, 1.0, 0.0001])
y.backward(gradients)
print(c.grad)
""".strip()


def test_a_whole_snippet_as_an_expression_and_from_a_file(gradcli: Command, tmp_path: Path) -> None:
    """Pasted as it stands, between quotes or in a file; its numbers are those of a FloatTensor."""
    (tmp_path / "snippet.py").write_text(SNIPPET, encoding="utf-8")
    for expression in (SNIPPET, f"@{tmp_path}/snippet.py", SNIPPET.replace("\n", "; ")):
        run = gradcli("vjp", expression, "--format", "plain")
        expected = "0.3 3 0.00029999999\n1.2 16 0.0019999999\n0.016666668 0.14285715 1.25e-05\n"
        assert (run.code, run.out) == (0, expected)


ASKED: list[list[str]] = [
    *(["vjp", *words] for _, words, _ in VJPS),
    ["vjp", "x**2 + z**3", "--at", "x=2,2", "--at", "z=4,4", *["--v", "1,1"] * 3, "--accumulate"],
    ["vjp", "3*a + 2*b*b + log(c)", "--at", "a=[0]", "--at", "b=[0]", "--at", "c=[0]", "--v", "[0.1]"],
    ["check", "3*a+2*b*b+log(c)", *ABC],
    ["jacobian", "torch.stack([x**i for i in range(6)]).view(3,2)", "--at", "1"],
    ["jacobian", "x**2", "--at", "linspace(-2,2,5)"],
    ["vjp", "x**2", "--at", "1,2", "--loss", "sum(y**2)"],
    ["explain", "z = 2*x; loss = z.sum(dim=1)", "--at", "[[1,2,3,4]]"],
    ["explain", "y = [x**2, 3*x]; z = y[0]*y[1]", "--at", "2"],
    ["explain", "x**2", "--at", "1,2", "--v", "1,1"],
    ["graph", "x*y", "--at", "x=1", "--at", "y=2", "--wrt", "x"],
]


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_a_question_is_answered_on_one_screen(words: list[str]) -> None:
    """Of 80 columns and 24 lines with the prompt below: the function, the numbers and the verdict."""
    found = _answer(words)
    assert isinstance(found, Output)
    shown = rendered(found.answer, "table", Screen(80), ON_TERMINALS).splitlines()
    assert len(shown) < 24, "\n".join(shown)
    assert max(map(cell_len, shown)) <= 80
    verdict = getattr(getattr(found.answer, "check", None), "verdict", "")
    assert verdict in "\n".join(shown).replace("✓ proven", "agree")

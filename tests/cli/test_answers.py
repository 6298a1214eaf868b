"""What the commands print: goldens of every format, and the numbers of the questions that started the project."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import Command

GOLDENS = Path(__file__).parent.parent / "goldens" / "answers"


@pytest.mark.parametrize("golden", sorted(GOLDENS.glob("*.txt")), ids=lambda path: path.stem)
def test_the_answer_is_as_recorded(golden: Path, gradcli: Command, request: pytest.FixtureRequest) -> None:
    """The first line is the command line, with its exit code if that is not 0; the rest is stdout, as in a pipe."""
    command, _, expected = golden.read_text(encoding="utf-8").partition("\n")
    words, _, code = command.partition("  # exit ")
    run = gradcli(*shlex.split(words.removeprefix("$ "))[1:])
    if request.config.getoption("--update-goldens"):
        golden.write_text(f"{command}\n{run.out}", encoding="utf-8")
        return
    assert run.out == expected
    assert run.code == int(code or 0)


ABC = ["--at", "a=1,2,3", "--at", "b=3,4,5", "--at", "c=6,7,8"]
SEEDS: list[tuple[str, list[str], str, dict[str, Any]]] = [
    (
        "A1",
        ["3*a + 2*b*b + log(c)", *ABC, "--v", "0.1,1,0.0001"],
        "vjp",
        {"a": [0.3, 3, 0.0003], "b": [1.2, 16, 0.002], "c": [0.1 / 6, 1 / 7, 1.25e-5]},
    ),
    (
        "A1 in torch",
        ["3*a + 2*b*b + torch.log(c)", *ABC, "--v", "0.1,1,0.0001"],
        "vjp",
        {"c": [0.1 / 6, 1 / 7, 1.25e-5]},
    ),
    ("A2", ["3*a + 2*b*b + log(c)", "--at", "a=.1", "--at", "b=1", "--at", "c=.1"], "vjp", {"a": 3, "b": 4, "c": 10}),
    (
        "A4",
        ["3*a + 2*b*b + log(c)", "--at", "a=[0]", "--at", "b=[0]", "--at", "c=[0]", "--v", "[0.1]"],
        "vjp",
        {"a": [0.3], "b": [0], "c": ["Infinity"]},
    ),
    ("A6", ["2*x", "--at", "[[1,2,3,4]]", "--v", "[[1,0,0,0]]"], "vjp", {"x": [[2, 0, 0, 0]]}),
    ("A7", ["2*x", "--at", "[[1,2,3,4]]", "--v", "[[0,1,0,0]]"], "vjp", {"x": [[0, 2, 0, 0]]}),
    ("A8", ["2*x", "--at", "[[1,2,3,4]]", "--v", "[[1,1,1,1]]"], "vjp", {"x": [[2, 2, 2, 2]]}),
    ("A9", ["z = 2*x; loss = z.sum(dim=1)", "--at", "[[1,2,3,4]]"], "vjp", {"x": [[2, 2, 2, 2]]}),
    ("A10", ["[x**2, 3*x, exp(x)]", "--at", "0", "--v", "-0.1,1,0.0001"], "vjp", {"x": 3.0001}),
    ("B1", ["x**2", "--at", "1"], "vjp", {"x": 2}),
    ("B2", ["x**2", "--at", "1", "--v", "100"], "vjp", {"x": 200}),
    ("B3", ["sum(x)", "--at", "1,2"], "vjp", {"x": [1, 1]}),
    ("B4", ["sum(x)", "--at", "1,2", "--v", "100"], "vjp", {"x": [100, 100]}),
    ("C1", ["x*y", "--at", "x=1", "--at", "y=2", "--wrt", "x"], "vjp", {"x": 2}),
    ("C2", ["x**3", "--at", "1"], "vjp", {"x": 3}),
    ("C3", ["x**2", "--at", "1,2", "--v", "1,1"], "vjp", {"x": [2, 4]}),
    ("C4", ["x**2", "--at", "1,2", "--v", "1,2"], "vjp", {"x": [2, 8]}),
    ("C5", ["y = x**2; z = y**3", "--at", "1,2", "--v", "1,1"], "vjp", {"x": [6, 192]}),
    ("C6", ["x**2 + z**3", "--at", "x=2,2", "--at", "z=4,4", "--v", "1,1"], "vjp", {"x": [4, 4], "z": [48, 48]}),
    ("D1", ["x**2", "--at", "1"], "vjp", {"x": 2}),
    ("D2", ["x**2", "--at", "linspace(-2,2,5)", "--v", "ones"], "vjp", {"x": [-4, -2, 0, 2, 4]}),
    ("D3", ["(x**2).sum()", "--at", "linspace(-2,2,5)"], "vjp", {"x": [-4, -2, 0, 2, 4]}),
    ("D4", ["(x*x*w).sum()", "--at", "x=-1,2", "--at", "w=3,5", "--wrt", "x"], "vjp", {"x": [-6, 20]}),
    (
        "D5",
        ["(x*x*w).sum(1)", "--at", "x=arange(6).view(3,2)", "--at", "w=-1,1", "--wrt", "x", "--v", "ones"],
        "vjp",
        {"x": [[0, 2], [-4, 6], [-8, 10]]},
    ),
    ("D6", ["[-x**3, 5*x]", "--at", "1", "--v", "1,0"], "vjp", {"x": -3}),
    ("D6 in torch", ["torch.stack([-x**3, 5*x])", "--at", "1", "--v", "e1"], "vjp", {"x": 5}),
    ("D7", ["[-x**3, 5*x]", "--at", "0,1,2", "--v", "e0"], "vjp", {"x": [0, -3, -12]}),
    ("D7 second", ["[-x**3, 5*x]", "--at", "0,1,2", "--v", "e1"], "vjp", {"x": [5, 5, 5]}),
    ("D8", ["[x.sum(), (x**2).sum()]", "--at", "arange(4)", "--v", "e0"], "vjp", {"x": [1, 1, 1, 1]}),
    (
        "D8 second",
        ["torch.stack([x.sum(), (x**2).sum()])", "--at", "arange(4)", "--v", "0,1"],
        "vjp",
        {"x": [0, 2, 4, 6]},
    ),
    (
        "D9",
        ["[x.sum(1), (x**2).sum(1)]", "--at", "arange(12).view(3,4)", "--v", "e1"],
        "vjp",
        {"x": (2 * np.arange(12).reshape(3, 4)).tolist()},
    ),
    ("D11", ["(x**2).sum()", "--at", "arange(6).view(3,2)"], "vjp", {"x": [[0, 2], [4, 6], [8, 10]]}),
    ("D12", ["x**2", "--at", "linspace(-2,2,5).view(-1,1)", "--v", "ones"], "vjp", {"x": [[-4], [-2], [0], [2], [4]]}),
]


@pytest.mark.parametrize(("name", "arguments", "key", "expected"), SEEDS, ids=[seed[0] for seed in SEEDS])
def test_the_questions_that_started_the_project(
    name: str, arguments: list[str], key: str, expected: dict[str, Any], gradcli: Command
) -> None:
    """Each is one natural command with the expected numbers."""
    run = gradcli("vjp", *arguments, "--json")
    assert run.code == 0, run.err
    answer = json.loads(run.out)
    for variable, numbers in expected.items():
        if numbers == ["Infinity"]:
            assert answer[key][variable] == numbers
            assert answer["check"]["verdict"] == "undefined"
        else:
            np.testing.assert_allclose(answer[key][variable], numbers, rtol=1e-14)


def test_json_is_exactly_as_designed(gradcli: Command) -> None:
    """Keys, order and values of the example in the design."""
    run = gradcli("vjp", "x**2", "--at", "1,2", "--v", "1,1", "--json")
    expected = {
        "schema": 1,
        "command": "vjp",
        "expression": "x**2",
        "dtype": "float64",
        "inputs": {"x": [1.0, 2.0]},
        "wrt": ["x"],
        "value": [1.0, 4.0],
        "v": [1.0, 1.0],
        "vjp": {"x": [2.0, 4.0]},
        "jacobian": {"x": [[2.0, 0.0], [0.0, 4.0]]},
        "symbolic": {"x": "2*x[i]*KroneckerDelta(i, j)"},
        "structure": {"x": "diagonal"},
        "check": {
            "verdict": "agree",
            "entries": 4,
            "checked": 4,
            "max_relative_error": 0.0,
            "findings": [],
            "proven": True,
            "sampled": False,
        },
    }
    assert run.out == json.dumps(expected) + "\n"


def _refuse(constant: str) -> float:
    raise AssertionError(f"{constant} is not JSON")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numbers_round_trip_through_json(dtype: str, gradcli: Command) -> None:
    """The shortest digits of their own precision; what is not finite is a string."""
    run = gradcli("eval", "[x, 1/x, log(x - 0.1)]", "--at", "0.1", "--dtype", dtype, "--json")
    x, inverse, infinite = json.loads(run.out, parse_constant=_refuse)["value"]
    kind = np.dtype(dtype).type
    assert (x, kind(inverse)) == (0.1, 1 / kind(0.1))
    assert infinite == "-Infinity" or dtype == "float32"


def test_json_leaves_out_what_does_not_apply(gradcli: Command) -> None:
    """`--no-check` has no check, `eval` no derivative, a large vjp says why it has no Jacobian."""
    assert "check" not in json.loads(gradcli("grad", "x**2", "--at", "1", "--no-check", "--json").out)
    assert list(json.loads(gradcli("eval", "x**2", "--at", "1", "--no-check", "--json").out)) == [
        "schema",
        "command",
        "expression",
        "dtype",
        "inputs",
        "value",
    ]
    large = json.loads(gradcli("vjp", "x**2", "--at", "linspace(0,1,200)", "--v", "ones", "--json").out)
    assert "jacobian" not in large
    assert "40,000 entries" in large["jacobian_omitted"]
    assert (large["check"]["checked"], large["check"]["entries"]) == (200, 200)


def test_a_million_elements_through_the_command(gradcli: Command) -> None:
    """The corners with the counts, no Jacobian, a verdict with its coverage."""
    run = gradcli("vjp", "x**2", "--at", "linspace(0,1,1000000)", "--v", "ones", "--full")
    assert run.code == 0
    assert "(1,000,000 elements)" in run.out
    assert "left out: 1,000,000,000,000 entries" in run.out
    assert "1,000,000 of 1,000,000" in run.out
    assert "2·x[i]·δ[i,j]" in run.out
    assert len(run.out) < 4_000


def test_warnings_go_to_stderr(gradcli: Command) -> None:
    """An unused name is remarked on; the answer is still the answer."""
    run = gradcli("eval", "a = x; x**2", "--at", "3", "--format", "plain")
    assert (run.code, run.out) == (0, "9\n")
    assert run.err == "warning: the name 'a' is assigned but never used\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["-x**2", "--at", "-1,2", "--v", "1,1"],
        ["--at", "-1,2", "--v", "1,1", "-x**2"],
        ["--at=-1,2", "--v=1,1", "--format", "plain", "--", "-x**2"],
        ["--v", "1,1", "-x**2", "--at", "x=-1,2"],
    ],
)
def test_expressions_and_values_may_begin_with_a_minus(arguments: list[str], gradcli: Command) -> None:
    """In any order of options and expression."""
    run = gradcli("vjp", *([] if "--" in arguments else ["--format", "plain"]), *arguments)
    assert (run.code, run.out) == (0, "2 -4\n")


def test_the_version_is_printed(gradcli: Command) -> None:
    """Alone on stdout."""
    import gradcli as package

    run = gradcli("--version")
    assert (run.code, run.out, run.err) == (0, f"gradcli {package.__version__}\n", "")

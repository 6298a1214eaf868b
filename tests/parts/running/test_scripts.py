"""Scripts that are run, and their backward passes."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

from gradcli import run
from tests.conftest import MODEL, Command
from tests.parts.running.model import Half

SCRIPT = """
import sys
import torch

print("arguments", sys.argv[1:])
x = torch.tensor([1.0, 2.0])
w = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    loss = ((x * w - 1) ** 2).sum()
    loss.backward()
    optimizer.step()
(g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
(g**2).sum().backward()
y = w * x
y.backward(torch.tensor([1.0, 10.0]))
if __name__ == "__main__":
    print("at the end")
"""


def test_each_pass_of_a_script_is_answered(folder: Path, gradcli: Command) -> None:
    """In a loop with an optimizer, with derivatives that are differentiated again, with a gradient vector."""
    (folder / "train.py").write_text(SCRIPT)
    run = gradcli("run", "train.py", "--json", "--strict", "--", "--epochs", "2")
    assert run.code == 0
    answers = [json.loads(line) for line in run.out.splitlines()]
    passes = ("pass 1 (train.py, line 12)", "pass 2 (train.py, line 12)", "pass 3 (train.py, line 15)")
    assert [answer["expression"] for answer in answers] == [*passes, "pass 4 (train.py, line 17)"]
    assert [answer["check"]["verdict"] for answer in answers] == ["agree"] * 4
    assert answers[0]["vjp"] == {"w": [-2, -4]}
    assert answers[0]["symbolic"] == {"w": "(2*w[j]*x[j] - 2)*x[j]"}
    assert answers[3]["v"] == [1, 10]
    assert answers[3]["vjp"] == {"w": [1, 20]}
    assert "arguments ['--epochs', '2']" in run.err
    assert "at the end" in run.err


START = "import torch\nx = torch.tensor([3.0, 4.0], requires_grad=True)\n"
ONE = START + "(x**2).sum().backward()\n"
NETS = (
    "import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))\n"
    "for p in net.parameters():\n    nn.init.constant_(p, 2.0)\nnet(torch.ones(1)).backward()\n"
)
"""Norms of whose gradients are told by module, the largest first; of one module the norm alone."""

LINE = "pass 1   own.py, line 3   by x   |grad| 10   ✓ agree (proven)"

SCRIPTS = [
    (ONE, 0, [LINE, "2·x[j]"], []),
    (ONE + "print('mine')\n", 0, [LINE], ["mine"]),
    (ONE + "1/0\n", 1, [LINE], ['own.py", line 4, in <module>', "ZeroDivisionError: division by zero"]),
    (ONE + "import sys\nsys.exit(3)\n", 3, [LINE], []),
    ("x = = 1\n", 1, [], ['own.py", line 1', "SyntaxError: invalid syntax"]),
    ("import torch\n", 2, [], ["error: own.py makes no backward pass", "gradcli vjp FILE.py::NAME --at VALUE"]),
    (
        START + "y = x\nwhile y.data.norm() < 1000:\n    y = y*2\ny.backward(torch.tensor([0.5, 1.0]))\n",
        *(0, ["own.py, line 6   by x   v = [0.5, 1]   |grad| 286.2   ✓ agree (proven)", "256·δ[i,j]"], []),
    ),
    (
        START + "y = (x**2).sum()\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError:\n    print('caught')\n",
        0,
        ["line 4   by x", "pass 2   own.py, line 6   not answered: torch refuses this pass: Trying to backward"],
        ["caught"],
    ),
    (
        START
        + "torch.autograd.backward([(x**2).sum(), x.sum()])\ny = x + 1\ny.sum().backward()\n(2*y).sum().backward()\n",
        2,
        [
            "line 3   not answered: a pass of several outputs at once",
            "line 5   by x   |grad| 1.4",
            "line 6   by x   |grad| 2.8",
        ],
        [],
    ),
    (
        START + "y = x**2\ny.sum().backward(retain_graph=True)\n(y*2).sum().backward()\n",
        *(0, ["pass 1   own.py, line 4   by x   |grad| 10", "pass 2   own.py, line 5   by x   |grad| 20"], []),
    ),
    (NETS, 0, ["|grad| 5 (net.layer_1 4.12, net.layer_0 2.83)"], []),
    (
        ONE + "x.detach().numpy()[0] = 1\n(x**3).sum().backward()\n",
        *(0, [LINE, "pass 2   own.py, line 5   by x   |grad| 48.09"], []),
    ),
]


@pytest.mark.parametrize(("text", "code", "out", "err"), SCRIPTS)
@pytest.mark.one_in(2)
def test_a_script_is_its_own(
    text: str, code: int, out: list[str], err: list[str], folder: Path, gradcli: Command
) -> None:
    """Its output, errors and exits are those that it has under Python, and each pass is a line."""
    (folder / "own.py").write_text(text)
    run = gradcli("run", "own.py")
    assert (run.code, [word for word in out if word not in run.out]) == (code, [])
    assert [word for word in err if word not in run.err] == []
    assert "gradcli/parts/running/recording" not in run.err
    assert out or not run.out


def test_a_script_may_be_a_text(folder: Path, gradcli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """As python has it, by -c or from standard input, with its arguments and its lines in a traceback."""
    run = gradcli("run", "-c", "import sys; print(sys.argv)\n" + ONE + "1/0", "--format", "plain", "--", "a", "b")
    assert (run.code, run.out) == (1, "6 8\n")
    assert "['-c', 'a', 'b']" in run.err
    assert '  File "-c", line 5, in <module>\n    1/0\n' in run.err
    (folder / "in").write_text(ONE)
    with open("in", encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert gradcli("run", "-", "--format", "plain").out == "6 8\n"
    assert gradcli("--run", "in", "--format", "plain").out == "6 8\n"  # as other tools have it
    assert "there is no script" in gradcli("run").err


def test_one_pass_and_some_leaves_may_be_wanted(folder: Path, gradcli: Command) -> None:
    """A pass or a leaf that does not exist is named."""
    (folder / "own.py").write_text(ONE + "w = torch.ones(2, requires_grad=True)\n(w*x).sum().backward()\n")
    assert gradcli("run", "own.py", "--pass", "2", "--format", "plain").out == "3 4\n1 1\n"
    assert "\n".join(gradcli("run", "own.py", "--pass", "2").out.splitlines()[:1]) == "y = pass 2 (own.py, line 5)"
    run = gradcli("run", "own.py", "--wrt", "w", "--format", "plain")
    assert (run.code, run.out) == (2, "3 4\n")
    assert "--wrt names 'w', and the leaves are x" in run.err
    assert "there is no pass 3: own.py makes 2" in gradcli("run", "own.py", "--pass", "3").err


@pytest.mark.thorough
def test_processes_and_threads_of_a_script_are_its_own(folder: Path, forked: Command) -> None:
    """A child answers nothing, threads come to their end, and a pool whose workers wait for more is left behind."""
    (folder / "own.py").write_text(
        "import os, sys, threading, time\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "if os.fork() == 0:\n    import torch\n    torch.ones(1, requires_grad=True).sum().backward()\n"
        "    sys.exit(5)\n"
        "print('child', os.waitstatus_to_exitcode(os.wait()[1]))\n" + ONE + "def late():\n    time.sleep(0.5)\n"
        "    print('late')\npool = ThreadPoolExecutor(1)\npool.submit(len, 'a').result()\n"
        "threading.Thread(target=late).start()\n"
    )
    run = forked("run", f"{folder}/own.py", "--format", "plain")
    assert (run.code, run.out) == (0, "6 8\n")
    assert "child 5" in run.err
    assert run.err.endswith("late\n")


def test_what_grad_holds_is_told_where_passes_add_up(gradcli: Command) -> None:
    """The product of a pass, and beside it the sum; not where a pass is the first since `.grad` was set to zero."""
    text = (
        START
        + "y = (x**2).sum()\ny.backward(retain_graph=True)\ny.backward(retain_graph=True)\nx.grad.zero_()\ny.backward()"
    )
    answers = [json.loads(line) for line in gradcli("run", "-c", text, "--json").out.splitlines()]
    assert [answer["vjp"]["x"] for answer in answers] == [[6, 8]] * 3
    said = ["passes add up: after this one x.grad holds [12., 16.]"]
    assert [answer.get("warnings", []) for answer in answers] == [[], said, []]
    shown = gradcli("run", "-c", text, "--pass", "2")
    assert "x.grad holds [12., 16.]" in shown.out + shown.err


LINES = [
    ("x.sum().backward()", 1),
    ("for n in range(3):\n    (x**2).sum().backward()", 3),
    ("(x*x.detach()).sum().backward()", 1),
    ("(x - 3).sqrt().sum().backward()", 1),
    ("(x**2).backward(torch.ones(2))", 1),
    ("x.log().sum().backward()\n(2*x).sum().backward()", 2),
    ("y = torch.nn.functional.linear(x, torch.eye(2))\ny.sum().backward()", 1),
    ("torch.autograd.grad(x.sum(), x)", 1),
    ("(x.half()*2).sum().backward()", 1),
    ("for n in range(2):\n    (x + n).prod().backward()", 2),
]
"""Passes, and how many there are."""


@pytest.mark.parametrize(("text", "count"), LINES)
@pytest.mark.one_in(4)
def test_a_pass_in_python_is_the_line_of_the_shell(text: str, count: int, gradcli: Command) -> None:
    """But for the seconds, which differ."""
    passes = run(START + text)
    assert len(passes) == count
    shown = _without_seconds(gradcli("run", "-c", START + text).out)
    for one in passes:
        assert repr(one) == str(one)
        assert repr(one).startswith(f"pass {one.number}   -c, line ")
        assert _without_seconds(repr(one)) in shown


def _without_seconds(text: str) -> str:
    """Write a text in one line, as Python has 100 columns and a pipe any."""
    return " ".join(re.sub(r"\d\S* s\b", "", text).split())


def test_what_a_pass_may_hold(gradcli: Command) -> None:
    """Gradients that are sparse, and numbers of fewer digits than are judged, which are not said to be wrong."""
    sparse = (
        "import torch\nweight = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)\n"
        "for _ in range(2):\n"
        "    torch.nn.functional.embedding(torch.tensor([1, 1]), weight, sparse=True).pow(2).sum().backward()\n"
    )
    answers = [json.loads(line) for line in gradcli("run", "-c", sparse, "--json").out.splitlines()]
    assert [one["vjp"]["weight"] for one in answers] == [[[0, 0], [12, 16]]] * 2
    assert "weight.grad holds" in answers[1]["warnings"][0]
    low = (
        "import torch\nw = torch.tensor([0.1, 0.3], requires_grad=True)\n"
        "(w.bfloat16() * 3).exp().float().sum().backward()\n"
    )
    answer = json.loads(gradcli("run", "-c", low, "--json").out)
    np.testing.assert_allclose(answer["vjp"]["w"], 3 * np.exp([0.3, 0.9]), rtol=2**-6)
    assert answer["check"]["verdict"] == "unchecked"
    assert "bfloat16 (-c, line 3), whose digits are not judged" in answer["check"]["findings"][0]["note"]


PASS_AFTER_PASS = [
    # the second pass of an adversarial network, through what was made before the first
    (
        "import torch\nfrom torch import nn\ntorch.manual_seed(0)\nG, D = nn.Linear(2, 2), nn.Linear(2, 1)\n"
        "steps = torch.optim.SGD(D.parameters(), 0.1)\nz = torch.randn(3, 2)\nfor _ in range(2):\n"
        "    fake = torch.tanh(G(z))\n    D.zero_grad()\n    G.zero_grad()\n"
        "    (D(fake.detach())**2).mean().backward()\n    {told}\n"
        "    steps.step()\n    for p in [*G.parameters(), *D.parameters()]:\n        p.grad = None\n"
        "    (1 - D(fake)).mean().backward()\n    {told}\n",
        "[*D.named_parameters('D'), *G.named_parameters('G')]",
        [["D.weight", "D.bias"], ["D.weight", "D.bias", "G.weight", "G.bias"]] * 2,
    ),
    # a value of before an update, which is still there when the names come again
    (
        "import torch\nw = torch.tensor([1.0, 2.0], requires_grad=True)\nkept = []\nfor n in range(3):\n"
        "    w.grad = None\n    (w**3).sum().backward()\n    {told}\n    kept.append((w**2).sum())\n"
        "    print(kept[-1].item())\n    with torch.no_grad():\n        w -= 0.1*w.grad\n",
        "[('w', w)]",
        [["w"]] * 3,
    ),
    # two losses of one input, of which nothing but that is shared; and a branch of before
    (
        "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\na = x.exp()\n"
        "b = x**2 if x.sum() > 0 else x\nm = torch.tensor([1.0, 0.5])\n(a*m).sum().backward()\n{told}\n"
        "x.grad = None\n(b*m).sum().backward()\n{told}\n",
        "[('x', x)]",
        [["x"]] * 2,
    ),
]


@pytest.mark.parametrize(("text", "named", "leaves"), PASS_AFTER_PASS, ids=["adversarial", "updated", "shared"])
@pytest.mark.one_in(2)
def test_a_pass_goes_through_what_earlier_ones_left(
    text: str, named: str, leaves: list[list[str]], gradcli: Command
) -> None:
    """The leaves have the same names in each pass, and the numbers are torch's."""
    tell = f"print('GRADS', {{name: t.grad.tolist() for name, t in {named} if t.grad is not None}})"
    run = gradcli("run", "-c", text.format(told=tell), "--json")
    assert run.code == 0
    answers = [json.loads(line) for line in run.out.splitlines()]
    told = map(ast.literal_eval, re.findall("GRADS (.*)", run.err))
    for answer, grads, names in zip(answers, told, leaves, strict=True):
        assert (answer["check"]["verdict"], {*answer["wrt"]}) == ("agree", {*names})
        assert answer["symbolic"].keys() == grads.keys() == set(answer["wrt"])
        for name, grad in grads.items():
            assert np.allclose(answer["vjp"][name], grad, rtol=1e-6)
        assert "warnings" not in answer or all(re.search("branch|item", said) for said in answer["warnings"])


WHERE_NAN_BEGINS = [
    (
        "class Block(torch.nn.Module):\n    def forward(self, x):\n        h = 2*x\n        return torch.log(h - 7)\n"
        "net = torch.nn.Sequential(torch.nn.Identity(), Block())\nnet(x).sum().backward()\n",
        ["NaN begins in log(h - 7) (own.py, line 6): h - 7 is from -1 to 1"],
    ),
    (
        "torch.where(x > 3.5, torch.sqrt(x - 3), x).sum().backward()\n",
        ["NaN begins in the backward pass of sqrt(x - 3) (own.py, line 3): x - 3 is from 0 to 1, the gradient is"],
    ),
    (
        "y = torch.exp(100*x)\n(y/y).sum().backward()\n",
        ["infinity begins in exp(x*100) (own.py, line 3)", "NaN begins in y/y (own.py, line 4): exp(x*100) is inf"],
    ),
    ("x.where(x > 3, -torch.inf).softmax(0)[1].backward()\n", []),
]


@pytest.mark.parametrize(("text", "told"), WHERE_NAN_BEGINS)
@pytest.mark.one_in(2)
def test_a_pass_says_where_nan_begins(text: str, told: list[str], folder: Path, gradcli: Command) -> None:
    """The first call that makes it of numbers, forward or else back, with its line."""
    (folder / "own.py").write_text(START + text)
    run = gradcli("run", "own.py")
    found = [line.strip() for line in run.out.splitlines() if line.startswith("         ")]
    assert len(found) == len(told), run.out
    assert all(line.startswith(word) for line, word in zip(found, told, strict=True)), found
    answer = json.loads(gradcli("run", "own.py", "--json").out)
    assert len([said for said in answer.get("warnings", []) if said in found]) == len(told)


def test_a_wrong_backward_in_a_script_is_blamed(gradcli: Command) -> None:
    """With the exit code of `--strict`."""
    imports = f"import sys\nsys.path.append({str(MODEL.parent)!r})\nfrom model import Half\n"
    run = gradcli("run", "-c", f"{imports}{START}Half.apply(x).sum().backward()", "--strict")
    line = Half.backward.__code__.co_firstlineno
    assert (run.code, f"Half.backward (model.py, line {line}) is wrong" in run.out) == (1, True)


def test_lost_digits_of_a_small_entry_are_not_what_a_script_is_stopped_at(folder: Path, gradcli: Command) -> None:
    """They pass in a check; a pass that does not is the one that follows in full."""
    small = "w = torch.tensor([1., 1e-6], requires_grad=True)\n(w[0]*1e3 + (w[1] + 1000.3 - 1000.2)**2).backward()\n"
    (folder / "own.py").write_text("import torch\n" + 2 * small)
    run = gradcli("run", "own.py")
    lines = [line[:8] for line in run.out.splitlines() if not line.startswith(" ")]
    assert (lines, run.out.count("≈ inaccurate")) == (["pass 1  ", "pass 2  "], 2)
    assert "; --pass 1 shows it" in run.out  # in a line of its own, with the reason
    (folder / "own.py").write_text("import torch\n" + small + small.replace("1e3", "0"))
    assert "= pass 2 (own.py, line 5)" in gradcli("run", "own.py").out


X = "import torch\nx = torch.tensor([1., 2., 3.], requires_grad=True)\n"

IN_ANY_CASE: list[tuple[str, bool, list[list[float]]]] = [
    # straight lines: the text is read as well
    (X + "y = x**2\ny.backward(torch.tensor([1., 1., 0.]))\nprint(x.grad)", True, [[2, 4, 0]]),
    (X + "y = 2*x\ny.backward(x, retain_graph=True)\nx.grad.zero_()\ny.backward(x**2)", True, [[2, 4, 6], [2, 8, 18]]),
    # code: the text is refused
    (X + "y = x*2\nwhile y.data.norm() < 1000:\n    y = y*2\ny.backward(torch.tensor([0.1, 1.0, 0.0001]))", False,
     [[51.2, 512, 0.0512]]),
    (X + "for k in range(2):\n    x.grad = None\n    (x**(k + 1)).sum().backward()", False, [[1, 1, 1], [2, 4, 6]]),
    (X + "class Cube(torch.nn.Module):\n    def forward(self, t):\n        return t**3\nCube()(x).sum().backward()",
     False, [[3, 12, 27]]),
    (X + "if x.sum() > 0:\n    y = x**2\nelse:\n    y = -x\ny.sum().backward()", False, [[2, 4, 6]]),
    (X + "g, = torch.autograd.grad((x**2).sum(), x, create_graph=True)\n(g**2).sum().backward()", False,
     [[8, 16, 24]]),
    (X + "with torch.no_grad():\n    w = x*1\n(w*x).sum().backward()", False, [[1, 2, 3]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "is_read", "gradients"), IN_ANY_CASE, ids=range(len(IN_ANY_CASE)))
def test_code_is_run_and_text_is_read(text: str, is_read: bool, gradients: list[list[float]], gradcli: Command) -> None:
    """With the numbers that each pass adds in torch; what is code is refused as that."""
    run = gradcli("run", "-c", text, "--json")
    assert run.code == 0
    expected = [pytest.approx(one, rel=1e-6) for one in gradients]
    assert [json.loads(line)["vjp"]["x"] for line in run.out.splitlines()] == expected
    read = gradcli("vjp", text, "--json")
    assert read.code == (0 if is_read else 2)
    if is_read:
        assert [json.loads(line)["vjp"]["x"] for line in read.out.splitlines()] == expected
    else:
        assert json.loads(read.err or read.out)["error"]["kind"] == "code"


ANSWERED = [
    ("torch.exp(1j*x).real.sum().backward()", [-np.sin(1), -np.sin(2), -np.sin(3)]),
    ("(x + 0j).abs().sum().backward()", [1, 1, 1]),
    (
        "from torch.nn.functional import multi_margin_loss\nmulti_margin_loss(x, torch.tensor(0)).backward()",
        [-2 / 3, 1 / 3, 1 / 3],
    ),
]


@pytest.mark.parametrize(("text", "gradient"), ANSWERED, ids=["complex", "length", "margin"])
def test_a_pass_is_answered_and_the_script_goes_on(text: str, gradient: list[float], gradcli: Command) -> None:
    """Numbers of Python's are no tensors."""
    run = gradcli("run", "-c", f"{X}{text}\nprint('at the end')", "--json")
    answer = json.loads(run.out)
    assert (run.code, answer["check"]["verdict"]) == (0, "agree"), answer
    assert answer["vjp"]["x"] == pytest.approx(gradient, rel=1e-6)
    assert "at the end" in run.err


LEAVES = """
import torch
a = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
p = (a*2).detach().requires_grad_()
(p**2).sum().backward()
h = a*2
q = h.detach().requires_grad_()
((q**2).sum() + h.sum() + q[0]*h[1]).backward()
w = torch.nn.Parameter(a.data)
(w*a).sum().backward()
"""

STACKED = """
import copy, torch
from torch.func import functional_call, stack_module_state, vmap
models = [torch.nn.Linear(3, 2).double() for _ in range(3)]
parameters, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")
x = torch.ones(4, 3, dtype=torch.float64)
y = vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))(parameters, buffers, x)
(y**2).sum().backward()
assert parameters["weight"].grad is not None
"""


def test_a_leaf_that_shares_memory_is_a_leaf_of_its_own(gradcli: Command) -> None:
    """What was computed before its detach() is none of its gradient."""
    done = gradcli("run", "-c", LEAVES, "--format", "json")
    assert done.code == 0
    found = [json.loads(line)["vjp"] for line in done.out.splitlines()]
    assert found == [{"p": [4, 8]}, {"a": [2, 6], "q": [8, 8]}, {"w": [1, 2], "a": [1, 2]}]
    assert gradcli("run", "-c", STACKED).code == 0


@pytest.mark.part("explain")
@pytest.mark.parametrize(("passes", "seconds", "runs"), [(1, 60, 1), (12, 60, 1), (3, 0, 1), (4, 0, 2)])
def test_a_script_of_few_passes_is_run_once_for_its_last(
    passes: int, seconds: float, runs: int, folder: Path, gradcli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One whose passes take longer than some seconds is run once more, which is said; what it prints is shown once."""
    monkeypatch.setattr("gradcli.parts.running.last_pass.SECONDS", seconds)
    loop = f"for n in range({passes}):\n    (n * x**2).sum().backward()\nprint('printed')\n"
    (folder / "s.py").write_text(START + "with open('runs', 'a') as f: f.write('.')\n" + loop)
    found = gradcli("explain", "s.py", "--format", "plain")
    assert (found.code, found.out) == (0, " ".join(f"{2 * (passes - 1) * x:g}" for x in (3, 4)) + "\n")
    assert (folder / "runs").read_text() == "." * runs
    assert found.err.count("printed") == 1
    assert ("s.py was run twice" in found.err) is (runs == 2)


def test_a_line_of_a_notebook_is_that_of_its_cell(folder: Path, gradcli: Command) -> None:
    """As Jupyter has it, of the cells with code: for passes, for what is said of them, and in tracebacks."""
    cells = [
        "import torch\n%matplotlib inline",
        "x = torch.tensor([0., 2.], requires_grad=True)",
        "\nx.sqrt().sum().backward()",
    ]
    cells += ["from __future__ import annotations", "def f(a: Missing): return (a**2).sum()", "1/0"]
    texts = [
        {"cell_type": "markdown", "source": ["# A title"]},
        *({"cell_type": "code", "source": [one]} for one in cells),
    ]
    (folder / "n.ipynb").write_text(json.dumps({"cells": texts}))
    found = gradcli("run", "n.ipynb")
    assert "pass 1   n.ipynb, cell 3, line 2" in found.out
    assert "NaN begins" not in found.out
    assert 'File "n.ipynb, cell 6", line 1, in <module>\n    1/0' in found.err
    assert "raised while n.ipynb is run (n.ipynb, cell 6, line 1)" in gradcli("check", "n.ipynb::f", "--at", "1,2").err


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("F.cross_entropy(x[None], torch.tensor([1]))", "target"),
        ("torch.nn.CrossEntropyLoss()(x[None], torch.tensor([1]))", "const_1"),  # of an instance that has no name
        ("(x * torch.arange(3.0)).sum()", "arange"),
        ("F.mse_loss(x, target=torch.tensor([1.0, 2.0, 4.0]))", "target"),
        ("(x * torch.tensor([1.0, 2.0, 4.0])).sum()", "const_1"),
    ],
)
def test_a_tensor_without_a_name_is_called_by_what_it_is_given_for(
    call: str, name: str, folder: Path, gradcli: Command
) -> None:
    """By the parameter, or by what makes it."""
    code = f"import torch\nimport torch.nn.functional as F\ndef f(x):\n    return {call}\n"
    (folder / "m.py").write_text(code)
    found = gradcli("grad", "m.py::f", "--at", "1,2,3")
    assert found.code == 0
    assert f"{name} = [" in found.out

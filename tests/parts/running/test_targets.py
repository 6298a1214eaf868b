"""Functions of files and modules, through the command line."""

import json
from pathlib import Path

import pytest

from tests.conftest import MODEL, Command


def test_a_module_is_named_by_a_colon(folder: Path, gradcli: Command) -> None:
    """It is found from the working directory, as by `python -m`."""
    (folder / "some_model.py").write_text("def f(x):\n    return (x**3).sum()\n")
    assert gradcli("grad", "some_model:f", "--at", "1,2", "--format", "plain").out == "3 12\n"


def test_rows_go_through_a_function_of_a_file(folder: Path, gradcli: Command) -> None:
    """Each in its own branch."""
    (folder / "rows.csv").write_text("x\n1\n-2\n")
    run = gradcli("map", f"{MODEL}::branched", "--points", "rows.csv", "--check")
    assert run.out == "y,dy_dx\n2.0,2.0\n-6.0,3.0\n"
    assert "agree" in run.err


def test_a_wrong_backward_is_blamed(gradcli: Command) -> None:
    """With its line, and the exit code of a check that did not pass."""
    run = gradcli("check", f"{MODEL}::uses_half", "--at", "1,2,3")
    assert run.code == 1
    assert "Half.backward (model.py, line" in run.out
    answer = json.loads(gradcli("check", f"{MODEL}::uses_large", "--at", "1,2,3", "--json").out)
    assert not answer["passed"]
    assert "from 100 on" in answer["elsewhere"][0]


def test_nothing_else_leads_to_code_of_the_user(folder: Path, gradcli: Command) -> None:
    """Neither a file of an expression, nor a request, nor a value."""
    (folder / "evil.py").write_text("import pathlib\npathlib.Path('ran').touch()\ndef f(x):\n    return x\n")
    (folder / "expression.txt").write_text("evil.py::f")
    (folder / "requests.txt").write_text('grad "evil.py::f" --at 1\n{"command":"grad","expression":"evil:f","at":1}\n')
    assert gradcli("grad", "@expression.txt", "--at", "1").code == 2
    assert gradcli("batch", "requests.txt").code == 2
    assert gradcli("grad", "x", "--at", "x=evil.py::f").code == 2
    assert gradcli("check", "x", "--at", "1", "--claim", "@expression.txt").code == 2
    assert gradcli("check", "x", "--at", "1", "--claim", "x=@expression.txt").code == 2
    assert not (folder / "ran").exists()


WRONG = [
    (
        "def f(x:\n    return x\n",
        "error: SyntaxError: '(' was never closed (own.py, line 1), raised while own.py is run",
    ),
    ("raise ValueError('no data')\n", "error: ValueError: no data, raised while own.py is run (own.py, line 1)"),
    ("import sys\nsys.exit(3)\n", "Python is left (sys.exit) while own.py is run"),
    ("def g(x):\n    return x\n", "own.py has no 'f'\nhint: it has g"),
    ("import torch\nf = torch.ones(2)\n", "own.py::f is no function, but of type Tensor\nhint: a tensor is a function"),
    ("def f(x, y):\n    return x\n", "no value for the parameter 'y' of own.py::f\nhint: give --at y=VALUE"),
    ("def f(x):\n    return {0: x}\n", "own.py::f gives back a value of type dict"),
    ("import torch\ndef f(x):\n    return torch.ones(2)[x.sum().long()]\n", "(own.py, line 3)"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_one_clear_error(text: str, message: str, folder: Path, gradcli: Command) -> None:
    """Exit code 2, nothing on standard output, no trace."""
    (folder / "own.py").write_text(text)
    run = gradcli("grad", "own.py::f", "--at", "x=1,2")
    assert run.code == 2
    assert run.out == ""
    assert message in run.err
    assert "Traceback" not in run.err


CALLED = """import torch
class Swish(torch.nn.Module): ...
class Half(torch.autograd.Function): ...
def f(x, beta=1): ...
"""
CALLS = {
    "Swish(beta=1.5)": "write swish = Swish(beta=1.5) in own.py, and ask for own.py::swish\n",
    "Swish()": "write swish = Swish() in own.py, and ask for own.py::swish\n",
    "f(x, beta=1.5)": "give its arguments as values: own.py::f --at beta=1.5\n",
    "f(x, 1.5)": "give its arguments as values: own.py::f --at NAME=VALUE\n",
    "f(x)": "write gradcli jacobian own.py::f --at x=1,-1\n",
    "Half(x)": "write gradcli jacobian own.py::Half --at x=1,-1\n",
}


@pytest.mark.parametrize(("call", "hint"), CALLS.items())
def test_a_call_of_what_a_file_has_is_told_how_it_is_asked_for(
    call: str, hint: str, folder: Path, gradcli: Command
) -> None:
    """An instance by a name in the file, a function with its arguments as values."""
    (folder / "own.py").write_text(CALLED)
    run = gradcli("jacobian", f"own.py::{call}", "--at", "x=1,-1")
    assert (run.code, run.err.endswith(hint)) == (2, True), run.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("own.py --epochs 2", "write gradcli run own.py -- --epochs 2\n"),
        ("--epochs 2 own.py", "write gradcli run own.py -- --epochs 2\n"),
        ("own.py --passes 3", "write gradcli run own.py --pass 3, or gradcli run own.py -- --passes 3\n"),
        ("own.py --passes=3", "write gradcli run own.py --pass=3, or gradcli run own.py -- --passes=3\n"),
        ("--passes 3 own.py", "write gradcli run --pass 3 own.py, or gradcli run own.py -- --passes 3\n"),
        ("own.py --nth 2", "write gradcli run own.py --pass 2, or gradcli run own.py -- --nth 2\n"),
        ("own.py --passes all", "write gradcli run own.py -- --passes all\n"),
        ("own.py --formt json", "write gradcli run own.py --format json, or gradcli run own.py -- --formt json\n"),
        ("own.py --quick", "write gradcli run own.py -- --quick, or gradcli run own.py\n"),
    ],
)
def test_options_of_a_script_are_handed_on_with_their_values(
    words: str, hint: str, folder: Path, gradcli: Command
) -> None:
    """A value without its option says nothing."""
    (folder / "own.py").write_text(CALLED)
    assert gradcli("run", *words.split()).err.endswith(hint)


@pytest.mark.parametrize(("imports", "warns"), [("numpy as np", True), ("numpy as np, torch", False), ("math", False)])
def test_a_file_with_numpy_alone_is_warned_of_torch(imports: str, warns: bool, folder: Path, gradcli: Command) -> None:
    """Its function is given tensors: the variance of 1, 2, 4 is 7/3 by torch, and 14/9 by NumPy."""
    (folder / "own.py").write_text(f"import {imports}\ndef f(x):\n    return x.var()\n")
    run = gradcli("eval", "own.py::f", "--at", "1,2,4")
    assert "y = 2.333333333333" in run.out
    assert ("imports NumPy and no torch" in run.out + run.err) == warns


@pytest.mark.thorough
def test_a_file_that_does_much_leaves_standard_output_clean(folder: Path, forked: Command) -> None:
    """It prints, starts programs and a thread and changes the working directory; the answer alone is on stdout."""
    (folder / "busy.py").write_text(
        "import os, threading, time\nprint('loading')\nos.system('echo from a shell')\nos.chdir('/')\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "def f(x):\n    print('called')\n    os.write(1, b'written')\n    return x**2\n"
    )
    run = forked("grad", f"{folder}/busy.py::f", "--at", "3", "--format", "plain", "-o", f"{folder}/out.txt")
    assert (run.code, run.out) == (0, "")
    assert (folder / "out.txt").read_text() == "6\n"
    assert all(word in run.err for word in ("loading", "from a shell", "called", "written"))

"""Scripts of `gradcli run` as processes: what Python does with their errors, exits and output is what happens."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Run, process
from tests.warm import runner

START = "import torch\nx = torch.tensor([3.0, 4.0], requires_grad=True)\n"
ONE = START + "(x**2).sum().backward()\n"

ENDS = {
    "an error": "def f():\n    return 1/0\nf()\n",
    "an error raised from another": "try:\n    1/0\nexcept Exception as error:\n    raise KeyError('a') from error\n",
    "an error of its own that is no Exception": "class Stop(BaseException):\n    pass\nraise Stop('here')\n",
    "a cancelled task": "import asyncio\nraise asyncio.CancelledError('late')\n",
    "a generator's exit": "raise GeneratorExit\n",
    "an interrupt": "raise KeyboardInterrupt\n",
    "an error after the folder was left": "import os\nos.makedirs('in')\nos.chdir('in')\nprint(__file__)\n1/0\n",
    "an exit with a list": "import sys\nsys.exit([1, 2])\n",
    "an exit with a word": "import sys\nsys.exit('enough')\n",
    "an exit with a number": "import sys\nsys.exit(3)\n",
    "an exit with an error": "raise SystemExit(ValueError('no'))\n",
    "an error that a hook tells of": (
        "import sys\ndef hook(kind, error, trace):\n"
        "    print('HOOK', kind.__name__, error, trace.tb_lineno, trace.tb_frame.f_code.co_name)\n"
        "sys.excepthook = hook\nraise ValueError('mine')\n"
    ),
    "a hook that fails": "import sys\ndef hook(*_):\n    1/0\nsys.excepthook = hook\nraise ValueError('mine')\n",
    "words at exit": "import atexit\natexit.register(print, 'bye')\nimport sys\nsys.exit(4)\n",
    "a mistake of syntax": "x = = 1\n",
    "the name that it is called by": "import sys\nprint(sys.argv, __name__, __file__, __spec__)\nsys.exit(1)\n",
    "workers that wait as it ends": (
        "import atexit, sys\nfrom concurrent.futures import ThreadPoolExecutor\natexit.register(print, 'bye')\n"
        "pool = ThreadPoolExecutor(1)\npool.submit(len, 'a').result()\nsys.exit(2)\n"
    ),
}
"""Scripts that end early, by how."""


def _forked(*words: str) -> Run:
    """`gradcli run` in a process of its own, which need not import torch anew."""
    return process(runner(), "run", "own.py", *words)


@pytest.mark.parametrize("text", ENDS.values(), ids=[name.replace(" ", "-") for name in ENDS])
@pytest.mark.one_in(2)
def test_a_script_ends_as_under_python(text: str, folder: Path) -> None:
    """With the same exit code, and with the same words, all of them on standard error."""
    Path("own.py").write_text(text)
    python = subprocess.run([sys.executable, "own.py"], capture_output=True, text=True, check=False)
    if Path("in").exists():
        Path("in").rmdir()
    run = _forked()
    code = python.returncode if python.returncode >= 0 else 128 - python.returncode
    assert (run.code, run.out) == (code, "")
    assert sorted(run.err.splitlines()) == sorted((python.stdout + python.stderr).splitlines())


def test_what_a_script_prints_at_exit_is_apart_from_the_answers(folder: Path) -> None:
    """It goes where the other output of the script goes."""
    Path("own.py").write_text("import atexit, os\natexit.register(os.system, 'echo bye')\n" + ONE)
    run = _forked("--format", "plain")
    assert (run.code, run.out, run.err) == (0, "6 8\n", "bye\n")


def test_an_interrupt_is_the_scripts(folder: Path) -> None:
    """It may catch one; where it does not, there is its traceback, and its `finally` has run."""
    Path("own.py").write_text(
        ONE + "import time\nprint('ready', flush=True)\ntry:\n    time.sleep(60)\nfinally:\n    print('after')\n"
    )
    words = [runner(), "run", "own.py", "--format", "plain"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "6 8\n")
    assert err.startswith("after\nTraceback (most recent call last):\n")
    assert err.endswith("KeyboardInterrupt\n")


@pytest.mark.thorough
def test_a_closed_standard_error_costs_no_answer(folder: Path) -> None:
    """What the script prints is lost, and the answers are not."""
    Path("own.py").write_text(ONE + "print('mine')\nopen('new', 'w').write('text')\n")
    words = runner()
    ran = subprocess.run(
        ["sh", "-c", f"{words} run own.py --format plain 2>&-"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, Path("new").read_text()) == (0, "6 8\n", "text")


COMPILED = [
    "@torch.compile\ndef f(x):\n    return (x**2).sum()\nf(x).backward()\n",
    "net = torch.nn.Linear(2, 1, bias=False)\ntorch.nn.init.ones_(net.weight)\nnet = torch.compile(net)\n"
    "(net(x)**2 - 14*x[0] + x[0]**2 + x[1]**2 - 14*x[1]).sum().backward()\n",
]


@pytest.mark.parametrize("text", COMPILED, ids=["function", "module"])
@pytest.mark.one_in(2)
def test_compiled_functions_are_run_as_written(text: str, folder: Path) -> None:
    """Without a word of the compiler's about files of gradcli."""
    Path("own.py").write_text(START + text)
    run = _forked("--wrt", "x", "--format", "plain")
    assert (run.code, run.out) == (0, "6 8\n"), run.err
    assert not re.search("dynamo|gradcli", run.err)


WARNS = (
    "import warnings\n"
    "def f():\n    warnings.warn('by hand', stacklevel=2)\n"
    "for _ in range(2):\n    f()\n"
    "torch.ones(2).to(torch.complex64).to(torch.float32)\n"
    "for _ in range(2):\n    torch.from_numpy(np.broadcast_to(np.ones(1), 2))\n"
)


def test_warnings_are_the_scripts(folder: Path) -> None:
    """Each once, with the line of the script that it comes from, whatever is recorded there."""
    Path("own.py").write_text("import numpy as np\n" + ONE + WARNS)
    run = _forked("--format", "plain")
    warned = [line for line in run.err.splitlines() if "Warning" in line]
    assert [re.findall(r"^\S*/own.py:(\d+): UserWarning", line) for line in warned] == [["9"], ["10"], ["12"]], run.err
    assert "gradcli" not in run.err

"""A warm answer is that of a cold start: the goldens, and what a start of the installed command prints, to the byte."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests import warm
from tests.cli.test_output import QUESTIONS

GOLDENS = Path(__file__).parent.parent / "goldens"


@pytest.mark.parametrize("first", "abcdefghijklmnopqrstuvwxyz")
def test_a_warm_answer_is_as_recorded(first: str) -> None:
    """Answers and errors, with their exit codes; the first line of a golden is its command line."""
    for kind in ("answers", "errors"):
        for golden in sorted((GOLDENS / kind).glob(f"{first}*.txt")):
            command, _, expected = golden.read_text(encoding="utf-8").partition("\n")
            words, _, code = command.partition("  # exit ")
            done = _run(warm.gradcli(), *shlex.split(words.removeprefix("$ "))[1:])
            if kind == "answers":
                assert (done.returncode, done.stdout.decode()) == (int(code or 0), expected), command
            else:
                assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", expected), command


def test_a_warm_answer_is_that_of_a_cold_start() -> None:
    """Through the installed command itself."""
    for command, form in (("vjp", "full"), ("hessian", "json"), ("check", "table")):
        words = [command, *QUESTIONS[command], "--format", form]
        cold, forked = (_run(program, *words) for program in (warm.INSTALLED, warm.gradcli()))
        assert (cold.returncode, cold.stdout, cold.stderr) == (forked.returncode, forked.stdout, forked.stderr)


FILE = """
import random
import numpy as np
import torch
drawn = torch.rand(1).item(), np.random.rand(), random.random()
calls = []
def f(x):
    calls.append(1)
    assert len(calls) < 50
    return (x * 2).sum()
def threads(x):
    return x.sum() * torch.get_num_threads()
def noise(x):
    return x * drawn[0]
def numpy(x):
    return x * drawn[1]
def python(x):
    return x * drawn[2]
"""


def test_a_function_that_is_run_starts_anew(tmp_path: Path) -> None:
    """With torch's threads and new random numbers, as at a start; nothing that one call leaves is seen by the next."""
    (tmp_path / "own.py").write_text(FILE, encoding="utf-8")
    words = ["grad", "own.py::threads", "--at", "1,2", "--format", "plain"]
    cold, forked = (_run(program, *words, cwd=tmp_path) for program in (warm.INSTALLED, warm.gradcli()))
    assert cold.returncode == 0, cold.stderr
    assert forked.stdout == cold.stdout
    path = tmp_path / "own.py"
    path.write_text(path.read_text(encoding="utf-8").replace("(x * 2)", "(x * 3)"), encoding="utf-8")
    done = _run(warm.gradcli(), "grad", "own.py::f", "--at", "1,2", "--format", "plain", cwd=tmp_path)
    assert done.stdout == b"3 3\n"
    for name in ("noise", "numpy", "python"):
        words = ["eval", f"own.py::{name}", "--at", "1", "--no-check", "--format", "plain"]
        assert len({_run(warm.gradcli(), *words, cwd=tmp_path).stdout for _ in range(3)}) > 1


def _run(program: str, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    return subprocess.run([program, *words], capture_output=True, cwd=cwd, env=environment, timeout=120, check=False)

"""A warm answer is that of a cold start: the goldens, and what a start of the installed command prints, to the byte."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import warm
from tests.command_lines import CommandLine, recorded, require
from tests.conftest import Command
from tests.examples import part

EXAMPLES = Path(__file__).parents[3] / "examples"


SOME = [*recorded("answers"), *recorded("errors")][::24]


@pytest.mark.parametrize("one", part(SOME, 0, of=16), ids=lambda one: one.line)
def test_a_warm_answer_is_as_recorded(one: CommandLine, forked: Command, updates: bool) -> None:
    """Of some of each kind: the same process answers them all."""
    require(one, forked, updates=updates)


FILES = {
    "leave": "if (child := os.fork()) == 0:\n    sys.exit(3)\nos.waitpid(child, 0)",
    "fork": "if (child := os.fork()) == 0:\n    os._exit(3)\nprint(os.waitpid(child, 0)[1])",
    "spawn": "if __name__ == '__main__':\n    print(multiprocessing.get_context('spawn').Pool(1).map(abs, [-1]))",
    "closed": "sys.stdout.close()",
    "warn": "warnings.warn('once')\nprint(os.getpgrp() == os.getpid(), sorted(os.environ), torch.get_num_threads())",
}
"""Scripts that could tell a forked process from one that is started, behind a backward pass."""

BACKWARD = (
    "import multiprocessing, os, sys, torch, warnings\nx = torch.ones(2, requires_grad=True)\n(x**2).sum().backward()\n"
)

GRAD = 'gradcli grad "x**2 + log(x - 1)" --at 1,2'

UNUSUAL = [
    "gradcli functions sin --format plain <&- >&- 2>&-",
    'mkdir gone; cd gone; rmdir ../gone; gradcli eval "sum(log(x))" --at 1,2 --full',
    f"PYTHONWARNINGS=error {GRAD}",
    *(f"gradcli run {name}.py --format plain" for name in FILES),  # a line a pass says how long it took
    *(f"{GRAD} {closed}" for closed in ("<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full")),
    *(f"{around} {GRAD}" for around in ("taskset -c 0", "nice -n 3", "PYTHONDEVMODE=1", "LC_ALL=C", "umask 077;")),
    f"ulimit -n 64; {GRAD} -o grad.txt",
    'echo "1;2" | gradcli map "x**2" --points - > map.csv',
    f"{GRAD} --format markdown 3</dev/null | head -n 2; echo ${{PIPESTATUS[@]}}",
    'echo "[[1,2]]" > p.json; gradcli jacobian "A@x" --at A=@p.json --at x=1,1 --json',
]


LINES = [pytest.param(line, marks=pytest.mark.thorough if k >= 2 else ()) for k, line in enumerate(UNUSUAL)]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.one_in(2)
def test_a_warm_answer_is_that_of_a_cold_start(line: str, tmp_path: Path) -> None:
    """Exit code, output, errors and files, to the byte."""
    found = []
    path = f"{os.path.dirname(warm.INSTALLED)}{os.pathsep}{os.environ['PATH']}"
    for word in ("0", ""):
        folder = tmp_path / "same"
        folder.mkdir()
        (folder / "examples").symlink_to(EXAMPLES)
        for name, text in FILES.items():
            (folder / f"{name}.py").write_text(BACKWARD + text, encoding="utf-8")
        environment = {
            "PATH": path,
            "GRADCLI_WARM": word,
            "XDG_RUNTIME_DIR": f"{os.path.dirname(warm.gradcli())}/.gradcli",
        }
        done = _run("bash", "-c", line, cwd=folder, **environment)
        files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        found.append((done.returncode, done.stdout, done.stderr, files))
        shutil.rmtree(folder)
    assert found[0] == found[1]


def _run(program: str, *words: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    own = os.environ | environment
    return subprocess.run([program, *words], capture_output=True, cwd=cwd, env=own, timeout=120, check=False)

"""Recorded mistakes: each hint, followed literally, can be read, or there is none."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.cli import app
from gradcli.cli.suggestions import tried_hints
from gradcli.cli.suggestions.typed_line import Words
from gradcli.errors import GradcliError
from tests.conftest import Command

MISTAKES = [
    line
    for line in (Path(__file__).parent / "mistakes.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]

FEWEST_HINTED = 0.85
"""Part of the mistakes that have a hint which spells a command line."""


def _spelled(hint: str) -> list[Words]:
    """The words of the command lines that a hint spells, after `gradcli`."""
    lines = re.split(r",? or (?=gradcli )", hint.removeprefix("write ")) if hint.startswith("write gradcli ") else []
    return [tuple(shlex.split(line)[1:]) for line in lines]


def _error_of(words: Words) -> GradcliError | None:
    return tried_hints.error_of(words, app.answer_words)


@pytest.fixture
def scripts(filled: Path) -> Path:
    """The folder of files with a script, which makes one pass."""
    (filled / "train.py").write_text(
        "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n(x**2).sum().backward()\n", encoding="utf-8"
    )
    return filled


@pytest.mark.part("claims", "closed_forms", "code", "explain", "improve", "pages", "paste", "plot", "running", "tables")
@pytest.mark.usefixtures("scripts")
def test_a_command_line_of_a_hint_can_be_read() -> None:
    """With its command, options and values; none is a form that nobody has tried."""
    hinted = 0
    for line in MISTAKES:
        words = tuple(shlex.split(line))
        error = _error_of(words)
        if error is None:
            hinted += 1
            continue
        tried_hints.advise(error, words, app.answer_words)
        hint = error.in_shell.hint or ""
        spelled = _spelled(hint)
        hinted += bool(spelled)
        assert not (hint.startswith("write ") and "..." in hint), line
        for other in spelled:
            assert _error_of(other) is None, (line, hint)
    assert hinted >= FEWEST_HINTED * len(MISTAKES)


@pytest.mark.thorough
@pytest.mark.parametrize("line", MISTAKES)
@pytest.mark.usefixtures("scripts")
def test_a_command_line_of_a_hint_is_answered(line: str, gradcli: Command) -> None:
    """When it is followed literally."""
    run = gradcli(*shlex.split(line))
    found = re.search(r"^hint: (.*)$", run.err, re.MULTILINE)
    for words in _spelled(found[1]) if run.code == 2 and found else []:
        if "-" not in words:
            assert gradcli(*words).code in (0, 1), (line, words)


@pytest.mark.part("claims", "running")
@pytest.mark.usefixtures("scripts")
def test_no_hint_imports_torch_or_runs_code() -> None:
    """The help of a wrong command line is as quick as its error."""
    code = (
        "import sys; from gradcli.cli import main\n"
        "for line in sys.argv[1:]: main(line.split())\n"
        "print(*{'torch', 'fn'} & {*sys.modules})"
    )
    lines = ["vjp x**2 --at 1 2 --v 1", "check x --clam 1", "check fn.py --at 1,2", "grad sinn(x) --at 1", "grda x"]
    run = subprocess.run([sys.executable, "-c", code, *lines], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_a_trial_sees_what_cannot_be_read() -> None:
    """Else each hint would pass."""
    for words in (
        ("grad", "sinn(x)", "--at", "1"),
        ("vjp", "x**2", "--at", "1,2", "--v", "1"),
        ("grad", "x", "--att", "1"),
    ):
        assert isinstance(_error_of(words), GradcliError)
    assert _error_of(("grad", "sin(x)", "--at", "1")) is None


def test_an_error_in_json_has_no_line_before_it(gradcli: Command) -> None:
    """Of a line that is read as another one, too, which a note says elsewhere."""
    words = ("jacobian", "x, dsplit(floor(x), sections=1)", "--at", "1,2")
    assert json.loads(gradcli(*words, "--json").err)["error"]["message"].startswith("torch refuses dsplit")
    assert gradcli(*words).err.startswith("note: read as gradcli jacobian ")


@pytest.mark.part("running")
@pytest.mark.usefixtures("scripts")
def test_no_script_is_run_for_a_line_that_does_not_name_run(gradcli: Command) -> None:
    """Capitals, another tool's name and a file in the place of an expression are hints alone."""
    for line in ("RUN train.py", "python train.py", "debug train.py", "grad train.py", "train.py --at x=1"):
        run = gradcli(*line.split())
        assert (run.code, run.out) == (2, ""), line
        assert "hint: write gradcli run train.py" in run.err, line

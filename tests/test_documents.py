"""The README and the examples are executed, and what they show is what happens."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gradcli.check.entry import TOLERANCE
from gradcli.check.rounding import RESIDUE
from gradcli.results import SEVERITY
from tests import command_reference, warm
from tests.conftest import Command, Run

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
GOLDENS = Path(__file__).parent / "goldens" / "examples"
INSTALLED = ("csv-gradients.sh", "snippet.py")
"""The examples that run with the installed command and a fresh Python, which start for two seconds each time."""


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def _commands() -> list[tuple[str, str]]:
    """Every `$ gradcli` line of the README with the output below it."""
    found = []
    for block in _blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if "gradcli" in (command.split()[0], command.rpartition("| ")[2].split()[0]):
                found.append((command, output))
    return found


def _run(line: str, gradcli: Command, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command line, before which `echo` or `printf '%s\\n'` may write lines to a pipe."""
    words = shlex.split(line)
    if "|" in words:
        start, end = {"echo": 1, "printf": 2}[words[0]], words.index("|")
        sent = "".join(f"{word}\n" for word in words[start:end])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent.encode())))
        words = words[end + 1 :]
    return gradcli(*words[1:])


def _listed(gradcli: Command) -> list[tuple[str, str]]:
    """The commands of the help, with what it says of them."""
    groups = gradcli("--help").out.partition("Options:")[2].split("\n\n")[1:]
    assert all(re.match(r"[A-Z][\w ]+:\n", group) for group in groups)
    assert not any(group.startswith("Others:") for group in groups)
    commands = re.findall(r"^  (\w+)  +(\S.*)$", "\n".join(groups), re.MULTILINE)
    assert commands[0][0] == "vjp"
    return commands


@pytest.mark.parametrize(("command", "output"), _commands(), ids=[command for command, _ in _commands()])
def test_a_command_of_the_readme_prints_what_the_readme_shows(
    command: str, output: str, gradcli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stdout, or the message of a mistake."""
    run = _run(command, gradcli, monkeypatch)
    assert run.out + run.err == output
    failed = run.out.rpartition("\n")[0].rpartition("\n")[2].startswith("did not pass")
    wrong = run.err.startswith("error: ") or '"error": ' in run.out
    assert run.code == (2 if wrong else int(failed))


def test_the_readme_opens_with_the_two_commands() -> None:
    """One runs the main job, one passes the tests; `.ci/run` executes both as they stand here."""
    assert _blocks("console")[0] == (
        "$ pip install . && gradcli vjp \"x**2\" --at 1,2 --v 1,1\n$ pip install -e '.[dev]' && pytest\n"
    )


def test_the_python_of_the_readme_runs() -> None:
    """As a doctest."""
    results = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert results.attempted
    assert not results.failed


def test_the_readme_mentions_every_command_and_option(gradcli: Command) -> None:
    """And each has help; commands are mentioned outside of the reference too."""
    before, reference, after = command_reference.split(README.read_text(encoding="utf-8"))
    text = before + after
    for name, summary in _listed(gradcli):
        assert f"gradcli {name}" in text
        assert summary
        help_text = gradcli(name, "--help").out
        assert "Examples:" in help_text
        for option, rest in re.findall(r"^  (?:-h, )?(--[\w-]+)(.*(?:\n {10,}.*)*)", help_text, re.MULTILINE):
            assert option in ("--help", "--version") or f"`{option}" in reference, option
            assert re.search(r"[a-z]{3}", rest), option


def test_the_command_reference_is_in_step() -> None:
    """`python -m tests.command_reference` renews it."""
    text = README.read_text(encoding="utf-8")
    assert text == command_reference.renewed(text)
    changed = text.replace(command_reference.BEGIN, f"{command_reference.BEGIN}stale")
    assert command_reference.renewed(changed) == text


def test_every_example_of_the_help_runs(gradcli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As printed."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("x,n\n1,2\n3,4\n", encoding="utf-8")
    np.savez("points.npz", x=np.ones((3, 2)))
    for name in ("--help", *(name for name, _ in _listed(gradcli))):
        shown = gradcli(*([name] if name == "--help" else [name, "--help"])).out
        examples = re.findall(r"^ +((?:echo .* \| )?gradcli .*)$", shown, re.MULTILINE)
        assert examples
        for example in examples:
            run = _run(example, gradcli, monkeypatch)
            assert run.code == 0, (example, run.err)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").iterdir()), ids=lambda path: path.name)
def test_an_example_prints_what_is_recorded(example: Path, request: pytest.FixtureRequest) -> None:
    """Scripts find the command on the PATH; Python examples the installed package."""
    folder = Path(sys.executable).parent if example.name in INSTALLED else warm.folder()
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    program = [f"{folder}/python"] if example.suffix == ".py" else ["sh"]
    done = subprocess.run(
        [*program, str(example)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    golden = GOLDENS / f"{example.name}.txt"
    if request.config.getoption("--update-goldens"):
        golden.write_text(done.stdout, encoding="utf-8")
    assert done.stdout == golden.read_text(encoding="utf-8")


def test_the_guide_says_what_each_verdict_promises() -> None:
    """One line for each, in the order of severity, with the tolerances that are in force."""
    page = (ROOT / "gradcli" / "guide" / "verdicts.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(SEVERITY)
    assert (TOLERANCE["float64"].rtol, TOLERANCE["float32"].rtol) == (2.0**-30, 2.0**-16)
    assert "2⁻³⁰·|truth| (2⁻¹⁶ in float32)" in page
    assert RESIDUE == 2

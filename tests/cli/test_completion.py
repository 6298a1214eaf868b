"""Completion: what is offered where, in the protocol of each shell and in the shells themselves."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gradcli.cli import completion
from gradcli.cli.completion import ASKED, LINE, WORD, Shell
from gradcli.language.lower.calls import SHADOWABLE
from gradcli.language.lower.libraries import PREFIXES
from gradcli.options import FORMATS
from tests.conftest import Command, Run, process

BIN = os.path.dirname(sys.executable)
WATCH = f"""
import os, sys
from gradcli.cli import main
for line in sys.argv[1:]:
    os.environ["{LINE}"] = line
    print("line")
    assert main([]) == 0
    assert not {{"torch", "sympy", "numpy", "flint", "rich"}} & set(sys.modules), line
"""


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(gradcli: Command) -> Offered:
    """What is offered at the end of a line: the protocol of the scripts, in this process."""

    def run(line: str, shell: Shell = Shell.fish, word: str | None = None) -> list[str]:
        found = gradcli(**{ASKED: shell, LINE: line} | ({} if word is None else {WORD: word}))
        assert (found.code, found.err) == (0, "")
        return [candidate.partition("\t")[0] for candidate in found.out.splitlines()]

    return run


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("gradcli hes", ["hessian"]),
        ("gradcli vjp x --form", ["--format"]),
        ("gradcli vjp --format ma", ["markdown"]),
        ("gradcli vjp --format=ma", ["--format=markdown"]),
        ("gradcli vjp x --dtype ", ["float64", "float32"]),
        ("gradcli vjp x --color a", ["auto", "always"]),
        ("gradcli code x --to l", ["latex"]),
        ("gradcli completion ", ["bash", "zsh", "fish"]),
        ("gradcli functions logs", ["logsigmoid", "logsumexp"]),
        ('gradcli vjp "x + softma', ["x + softmax("]),
        (r"gradcli vjp x\ +\ softma", ["x + softmax("]),
        ('gradcli vjp "torch.softma', ["torch.softmax("]),
        ('gradcli vjp "y = x**2; y.logsum', ["y = x**2; y.logsumexp("]),
        ('gradcli vjp "random + softmax(rando', ["random + softmax(random"]),
        ("gradcli vjp a*b --at ", ["a=", "b="]),
        ("gradcli vjp fc.weight@x.sum() --at ", ["fc.weight=", "x="]),
        ("gradcli vjp a*b --at b=linsp", ["b=linspace("]),
        ("gradcli vjp a*b --at b=1 --wrt a,", ["a,b"]),
        ('gradcli graph "y = x**2; z = y*x; exp(z)" --show y,', ["y,z"]),
        ("gradcli vjp x**2 --v o", ["ones", "one_hot(", "ones(", "ones_like(", "outer("]),
        ("gradcli vjp x**2 --v e", ["e0", "e1", "e0_0"]),
        ("gradcli jvp x --u x=on", ["x=ones", "x=one_hot(", "x=ones(", "x=ones_like("]),
        ("gradcli check x --allow kink,un", ["kink,unchecked", "kink,undefined"]),
        ("gradcli check x --expect ", ["x="]),
        ("gradcli vjp x --format json --format pl", ["plain"]),
        ("gradcli vjp --format", ["--format"]),
        ("gradcli nonsense --dt", []),
        ("gradcli vjp @fi", []),
        ("gradcli batch ", []),
        ("gradcli vjp x --rtol ", []),
    ],
)
def test_what_is_offered(line: str, wanted: list[str], offered: Offered) -> None:
    """Commands, options, words of options, and functions and variables inside of expressions."""
    found = offered(line)
    if "--v e" in line:
        found = [word for word in found if "(" not in word]
    assert found == wanted


def test_what_is_offered_is_explained(gradcli: Command) -> None:
    """Where the shell shows it; shortly, on one line."""
    for shell in Shell:
        lines = gradcli(**{ASKED: shell, LINE: "gradcli vjp x --"}).out.splitlines()
        assert all(line.startswith("--") and len(line) < 90 for line in lines)
        assert all(("\t" in line) == (shell is not Shell.bash) for line in lines)


@pytest.mark.parametrize(
    ("line", "word", "wanted"),
    [
        ("gradcli vjp x --format=ma", "ma", ["markdown"]),
        ("gradcli vjp x --format=", "", [*FORMATS]),
        ("gradcli vjp x --format=", "=", [*FORMATS]),
        ("gradcli vjp x --at x=linsp", "linsp", ["linspace("]),
        ("gradcli vjp x --at=x=linsp", "linsp", ["linspace("]),
        ('gradcli vjp "x + softma', "x + softma", ["x + softmax("]),
        ("gradcli hes", "hes", ["hessian"]),
    ],
)
def test_bash_is_given_what_it_replaces(line: str, word: str, wanted: list[str], offered: Offered) -> None:
    """It cuts words where others do not."""
    found = offered(line, Shell.bash, word)
    assert [text for text in found if text in wanted] == wanted
    assert wanted == found


def test_files_are_offered_behind_their_sign(offered: Offered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a value or an expression may be in one; hidden ones and those that need quotes are not."""
    monkeypatch.chdir(tmp_path)
    for name in ("data.csv", "dot.npy", ".data", "da ta.csv", "x.npz"):
        Path(name).touch()
    Path("sub").mkdir()
    Path("sub/deep.csv").touch()
    assert offered("gradcli eval x --at @d") == ["@data.csv", "@dot.npy"]
    assert offered("gradcli eval x --at @") == ["@data.csv", "@dot.npy", "@sub/", "@x.npz"]
    assert offered("gradcli eval x --at x=@sub/") == ["x=@sub/deep.csv"]
    assert offered("gradcli eval @x") == ["@x.npz"]
    assert offered("gradcli vjp x --v=@dot") == ["--v=@dot.npy"]
    assert offered("gradcli jvp x --u x=@dot") == ["x=@dot.npy"]
    assert offered("gradcli vjp x --v @dot", Shell.bash, "dot") == ["dot.npy"]
    assert offered("gradcli eval x --at @nowhere/") == []
    assert offered("gradcli eval x --at @@d") == []


def test_hostile_lines_are_answered_by_nothing(offered: Offered) -> None:
    """Nor do they print an answer or a version."""
    for line in (
        "",
        " ",
        '"',
        "\\",
        "gradcli 'vjp",
        "gradcli vjp x --at",
        "gradcli vjp " + "(" * 10_000,
        "gradcli\x00"[:7],
    ):
        assert all("\n" not in text for text in offered(line))
    assert "gradcli 0" not in "".join(offered("gradcli --version "))


def test_the_names_that_are_no_variables_are_those_of_the_language() -> None:
    """Copied, as reading them there brings SymPy."""
    assert completion.MODULES == PREFIXES
    assert SHADOWABLE | {"nan"} >= completion.CONSTANTS
    assert SHADOWABLE - PREFIXES <= completion.CONSTANTS


def test_completion_imports_nothing_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person is waiting."""
    lines = ["gradcli ", 'gradcli vjp "x + so', "gradcli functions so", "gradcli vjp a*b --wrt "]
    monkeypatch.setenv(ASKED, "zsh")
    run = process(sys.executable, "-c", WATCH, *lines)
    assert (run.code, run.err) == (0, "")
    answers = run.out.split("line\n")[1:]
    assert len(answers) == len(lines)
    assert all(answers)


@pytest.mark.parametrize("shell", list(Shell))
def test_the_script_is_printed_and_its_shell_accepts_it(shell: Shell, gradcli: Command) -> None:
    """Where the shell is installed; the variables are those that are read."""
    run = gradcli("completion", shell)
    assert (run.code, run.err) == (0, "")
    assert f"{ASKED}={shell} {LINE}=" in run.out
    if program := shutil.which(shell):
        assert process(program, "-n", given=run.out) == Run(0, "", "")


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh here")
def test_zsh_hands_on_an_expression_without_quotes() -> None:
    """On a terminal, as aliases are for those."""
    assert "\n6" in _typed("zsh", "gradcli grad x**2 --at [3] --format plain\n", "\n6")


PROMPTS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
SETUPS = {
    "bash": 'eval "$(gradcli completion bash)"; echo rea""dy\n',
    "zsh": 'autoload -Uz compinit; compinit -u -D; eval "$(gradcli completion zsh)"; echo rea""dy\n',
}


def _typed(shell: str, keys: str, wanted: str) -> str:
    """What is on the terminal of a shell after these keys, as soon as it ends with what is wanted."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", PS1="$ ", PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}")
        os.execvp(shell, PROMPTS[shell])

    def shown(end: str) -> str:
        text, deadline = "", time.monotonic() + 30
        while end not in (plain := re.sub(r"\x1b\[[?\d;]*[A-Za-z]|\x07", "", text)) and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                text += os.read(terminal, 65_536).decode(errors="replace")
        return plain

    try:
        shown("$ ")
        os.write(terminal, SETUPS[shell].encode())
        assert "\nready" in shown("\nready")
        os.write(terminal, keys.encode())
        return shown(wanted)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        ('gradcli vjp "x + softma\t', 'gradcli vjp "x + softmax('),
        ("gradcli vjp x --format=ma\t", "gradcli vjp x --format=markdown "),
        ("gradcli batch /etc/pass\t", "gradcli batch /etc/passwd"),
    ],
)
def test_a_tab_in_the_shell_completes(shell: str, keys: str, wanted: str) -> None:
    """Typed by hand, on a terminal."""
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    assert wanted in _typed(shell, keys, wanted)


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish here")
def test_fish_completes() -> None:
    """As it says itself."""
    for line, wanted in (('gradcli vjp "x + softma', "x + softmax("), ("gradcli hess", "hessian")):
        script = f"gradcli completion fish | source; complete -C'{line}'"
        run = process("fish", "--no-config", "-c", script, PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}")
        assert run.out.startswith(f"{wanted}\t")


@pytest.mark.parametrize(
    ("shell", "said"),
    [([], "error: missing argument 'SHELL'. Choose from: bash, zsh, fish\n"), (["tcsh"], "'bash', 'zsh', 'fish'")],
)
def test_a_shell_must_be_named(shell: list[str], said: str, gradcli: Command) -> None:
    """One that has a script."""
    run = gradcli("completion", *shell)
    assert (run.code, run.out, said in run.err) == (2, "", True)

"""Completion: what is offered where, and in the shells themselves."""

import os
import shutil
import sys

import pytest

from gradcli.cli.info_commands import COMPLETE
from tests.conftest import Command, Run, process
from tests.terminals import Terminal

OFFERED = [
    ("gradcli hes", ["hessian"]),
    ("gradcli vjp x --form", ["--format"]),
    pytest.param("gradcli vjp --format ma", ["markdown"], marks=pytest.mark.part("pages")),
    ("gradcli vjp x --dtype ", ["float64", "float32"]),
    ("gradcli vjp x --color a", ["auto", "always"]),
    pytest.param("gradcli code x --to n", ["numpy"], marks=pytest.mark.part("code")),
    ("gradcli vjp -x**2 --format json --format pl", ["plain"]),
    ("gradcli completion ", ["bash", "zsh", "fish"]),
    ("gradcli nonsense --dt", []),
    pytest.param("gradcli batch ", [], marks=pytest.mark.part("batch")),
    ("gradcli vjp x --rtol ", []),
    # hostile lines are answered by nothing
    ("gradcli vjp x --at", ["--at"]),
    ("gradcli vjp " + "(" * 10_000, []),
]


@pytest.mark.parametrize(("line", "wanted"), OFFERED)
def test_what_is_offered(line: str, wanted: list[str], gradcli: Command) -> None:
    """Commands, options, and words of options, in the protocol of bash."""
    asked = {COMPLETE: "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(max(0, len(line.split(" ")) - 1))}
    found = gradcli(**asked)
    assert (found.code, found.err) == (0, "")
    assert found.out.split() == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_and_its_shell_accepts_it(shell: str, gradcli: Command) -> None:
    """Ask the shell, if it is installed; zsh hands on an expression without quotes."""
    run = gradcli("completion", shell)
    assert (run.code, run.err) == (0, "")
    assert f"{COMPLETE}=complete_{shell}" in run.out
    assert ("noglob" in run.out) == (shell == "zsh")
    if program := shutil.which(shell):
        assert process(program, "-n", given=run.out) == Run(0, "", "")


PROMPTS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
SETUPS = {
    "bash": 'eval "$(gradcli completion bash)"; echo rea""dy\n',
    "zsh": 'autoload -Uz compinit; compinit -u -D; eval "$(gradcli completion zsh)"; echo rea""dy\n',
}


TYPED = [
    pytest.param("gradcli vjp x --format ma\t", "gradcli vjp x --format markdown ", marks=pytest.mark.part("pages")),
    pytest.param("gradcli batch /etc/pass\t", "gradcli batch /etc/passwd", marks=pytest.mark.part("batch")),
]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize(("keys", "wanted"), TYPED)
def test_a_tab_in_the_shell_completes(shell: str, keys: str, wanted: str) -> None:
    """Typed by hand, on a terminal."""
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    terminal = Terminal()
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    with terminal.start_program(*PROMPTS[shell], TERM="dumb", PS1="$ ", PATH=path) as program:
        terminal.wait_for("$ ", SETUPS[shell])
        terminal.wait_for("\nready", keys)
        terminal.wait_for(wanted)
        program.kill()

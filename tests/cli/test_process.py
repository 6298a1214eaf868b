"""The installed command as a process: pipes, closed pipes, terminals, encodings, signals, full disks, start-up."""

import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import gradcli
from gradcli.cli import main
from tests import warm
from tests.conftest import Command, Run, process
from tests.examples import in_turn
from tests.terminals import Terminal

GRADCLI = warm.INSTALLED
MAIN_JOB = ["vjp", "x**2", "--at", "1,2", "--v", "1,1"]


def test_the_command_as_it_is_installed() -> None:
    """The promise of the README, from its entry points; what is behind both is one function."""
    assert process(GRADCLI, *MAIN_JOB, "--format", "plain") == Run(0, "2 4\n", "")
    assert process(sys.executable, "-m", "gradcli", "--version") == Run(0, f"gradcli {gradcli.__version__}\n", "")


NO_UNICODE: list[Any] = [
    (["functions", "huber_loss", "cumsum", "det"], "", "ascii"),
    (["guide", "verdicts"], "<= atol + rtol*|truth|", "ascii"),
    (MAIN_JOB, "| 2*x[i]*KroneckerDelta(i, j) | + agree (proven) | 4 of 4  |", "latin-1"),
    pytest.param(["explain", "sin(x)", "--at", "1,2", "--v", "1,1"], "", "latin-1", marks=pytest.mark.part("explain")),
]


@pytest.mark.parametrize(("words", "said", "encoding"), NO_UNICODE, ids=lambda value: " ".join(value)[:30])
def test_without_unicode_our_own_words_are_in_ascii(
    words: list[str], said: str, encoding: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Frames in line, SymPy's notation; no escape stands in a formula, in which a square is not a 2."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    code = main(words)
    sys.stdout.flush()
    out = written.getvalue().decode(encoding)
    assert (code, capsys.readouterr().err, said in out) == (0, "", True)
    bare = re.sub(r"\x1b\[[\d;]*m", "", out) if words[0] != "guide" else ""  # which has more signs
    assert bare.isascii()
    assert not re.search(r"\\[ux]", bare)
    for rule, row in re.findall(r"^(\+[-+]+\+)\n(\|.*)$", bare, re.MULTILINE):
        assert len(rule) == len(row)


ASCII = [
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"PYTHONIOENCODING": "ascii"},
]


@pytest.mark.parametrize("environment", ASCII, ids=" ".join)
@pytest.mark.thorough
def test_a_real_start_in_ascii_has_an_answer_and_an_error(environment: dict[str, Any]) -> None:
    """Streams have that encoding from the first; typed text is shown with replacements, without a traceback."""
    run = process(GRADCLI, *MAIN_JOB, **environment)
    assert (run.code, run.err, run.out.isascii(), NO_UNICODE[2][1] in run.out) == (0, "", True, True)
    run = process(GRADCLI, "eval", "sine(é∂)", "--color", "always", **environment)
    assert (run.code, run.out, "Traceback" in run.err) == (2, "", False)
    assert run.err.startswith("\x1b[1;38;5;160merror:")


def test_the_list_of_commands_is_whole_at_80_columns(forked: Command) -> None:
    """No description is cut off, and derivatives stand together."""
    run = forked("--help", COLUMNS="80")
    commands = run.out.partition("Differentiate:")[2]
    assert "..." not in commands
    order = [line.split()[0] for line in commands.splitlines() if line.startswith("  ")]
    assert order[:7] == ["vjp", "jacobian", "grad", "jvp", "hessian", "hvp", "eval"]


def test_a_deleted_working_directory_is_said(tmp_path: Path) -> None:
    """One message in place of the mathematics library's own; what needs no torch is answered."""
    script = 'mkdir gone && cd gone && rmdir ../gone && "$0" "$@"'
    for words, code, message in (
        (MAIN_JOB, 2, "error: the working directory does not exist any more, and torch does not run without one\n"),
        (["--version"], 0, ""),
    ):
        run = process("sh", "-c", script, GRADCLI, *words, cwd=tmp_path)
        assert (run.code, run.err[: len(message)]) == (code, message)
        assert "MKL" not in run.err


def on_a_terminal(columns: int, *arguments: str, **environment: str) -> str:
    """Run the command on a terminal of this width; give its output without the line of progress."""
    return run_on_a_terminal(columns, *arguments, **environment).out


def run_on_a_terminal(columns: int, *arguments: str, **environment: str) -> Run:
    """Run it likewise, and give its exit code too."""
    terminal = Terminal()
    own = {"TERM": "xterm", **environment, "COLUMNS": str(columns)}
    code = terminal.start_program(warm.gradcli(), *arguments, **own).wait()
    shown = terminal.whole().replace("\r\n", "\n")
    return Run(code, shown.rpartition("\r\x1b[2K")[2], "")


BUG = """
import sys
from gradcli import Function
from gradcli.cli import main
Function.eval.answer = lambda *a: 1 / 0
sys.exit(main(["eval", "x", "--at", "1"]))
"""


def test_a_bug_of_ours_is_reported_as_such(tmp_path: Path) -> None:
    """Exit 70, one line and no traceback; the traceback on request."""
    (tmp_path / "bug.py").write_text(BUG, encoding="utf-8")
    run = process(warm.runner(), str(tmp_path / "bug.py"))
    assert (run.code, run.out) == (70, "")
    assert run.err.startswith("gradcli: internal error: ZeroDivisionError")
    assert "Traceback" not in run.err
    assert "Traceback" in process(warm.runner(), str(tmp_path / "bug.py"), GRADCLI_DEBUG="1").err


WARNING = """
import sys, warnings
from gradcli import cli
sys.argv = ["gradcli", "--version"]
cli.process()
for module in ("gradcli.crosscheck.curves", "users_own"):
    warnings.warn_explicit(f"overflow in {module}", RuntimeWarning, "file.py", 1, module=module)
"""


def test_a_warning_of_numpy_about_our_lines_is_not_shown() -> None:
    """One about a line of the user's code is."""
    run = process(sys.executable, "-c", WARNING)
    assert (run.code, run.err) == (0, "file.py:1: RuntimeWarning: overflow in users_own\n")


@pytest.mark.parametrize(
    ("arguments", "redirection", "code"),
    in_turn(["--help", "", "eval x --at 1"], (">/dev/full", 74), (">&-", 74), ("| true", 141)),
)
def test_whatever_is_written_fails_in_the_same_way(arguments: str, redirection: str, code: int) -> None:
    """Help and version too; at exit Python has nothing left to complain about."""
    program = warm.gradcli() if "eval" in arguments else GRADCLI
    script = f'(sleep 0.2; "{program}" {arguments}; echo $? >&3) {redirection}'
    run = process("bash", "-c", f"exec 3>&2; {script}")
    assert run.err.splitlines()[-1] == str(code)
    assert "Exception ignored" not in run.err
    assert "internal error" not in run.err

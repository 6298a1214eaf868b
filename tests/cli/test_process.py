"""The installed command as a process: pipes, closed pipes, terminals, encodings, signals, full disks, start-up."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests import warm
from tests.conftest import Command

GRADCLI = os.path.join(os.path.dirname(sys.executable), "gradcli")
MAIN_JOB = ["vjp", "x**2", "--at", "1,2", "--v", "1,1"]
CHAIN = ["y = x**2; z = y**3", "--at", "1,2"]
WATCH = """
import json, sys
from gradcli.cli import main
for words in json.loads(sys.argv[1]):
    code = main(words)
    print(f"\\n{code}", *(m for m in ("torch", "sympy", "numpy", "flint") if m in sys.modules), file=sys.stderr)
"""
BUG = """
import sys
import gradcli.function
from gradcli.cli import main
gradcli.function.Function.eval = lambda *a, **k: 1 / 0
sys.exit(main(["eval", "x", "--at", "1"]))
"""


def imported(commands: Sequence[Sequence[str]], folder: Path | None = None) -> Iterator[tuple[str, int, set[str]]]:
    """Command lines one after the other in one process: each, its exit code, and the heavy packages that are there."""
    done = subprocess.run(
        [sys.executable, "-c", WATCH, json.dumps(commands)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    ends = re.findall(r"^(\d+)((?: (?:torch|sympy|numpy|flint))*)$", done.stderr, re.MULTILINE)
    for words, (code, packages) in zip(commands, ends, strict=True):
        yield " ".join(words), int(code), set(packages.split())


def test_the_help_imports_neither_torch_nor_sympy() -> None:
    """Nor does the version, or a mistyped option."""
    commands = [
        ["--help"],
        ["--version"],
        ["vjp", "--help"],
        ["check", "--help"],
        ["hessian", "--help"],
        ["vpj"],
        ["vjp", "x", "--jsn"],
    ]
    for words, code, packages in imported(commands):
        assert (code, packages) == (2 if words in ("vpj", "vjp x --jsn") else 0, set()), words


def test_values_and_formulas_without_a_point_import_no_torch() -> None:
    """NumPy computes the first, and SymPy the second."""
    commands = [
        ["eval", "2*sin(0.3) + sum(inv([[1, 2], [3, 5]]))"],
        ["eval", "softmax(A@x)", "--at", "A=[[1,2],[3,4]]", "--at", "x=1,-1"],
        ["eval", "lgamma(x)*erf(x)", "--at", "0.5,2.5", "--no-check"],
        ["derivative", "x*sin(x)"],
        ["grad", "sum(x**2)"],
    ]
    for words, code, packages in imported(commands):
        assert (code, "torch" in packages) == (0, False), words


def test_input_errors_import_no_torch() -> None:
    """Whatever can be wrong is found before the two seconds are spent."""
    commands = [
        ["vjp", "sine(x)", "--at", "1"],
        ["vjp", "x +", "--at", "1"],
        ["vjp", "x**2", "--at", "1,2"],
        ["vjp", "x**2", "--at", "1,2", "--v", "1,2,3"],
        ["eval", "x**2"],
        ["vjp", "x**2", "--at", "x=1", "--at", "z=2"],
        ["vjp", "A@x", "--at", "A=[[1,2]]", "--at", "x=1,2,3"],
        ["vjp", "x**2", "--at", "[[1],[2,3]]"],
        ["vjp", "x**2", "--at", "1", "--wrt", "y"],
        ["grad", "x**2", "--at", "1,2"],
        ["jacobian", "x**2", "--at", "zeros(20000)"],
        ["check", "x**2", "--at", "zeros(20000)"],
        ["check", "x**2", "--at", "1", "--allow", "kinks"],
        ["check", "x**2", "--at", "1", "--claim", "y=2"],
        ["check", "x**2", "--at", "1", "--expect", "2,,3"],
        ["check", "x**2", "--random", "9", "--in", "1..0"],
        ["jvp", "x**2", "--at", "1,2"],
        ["jvp", "x", "--at", "1", "--v", "1"],
        ["hvp", "x**2", "--at", "1,2", "--u", "ones"],
        ["hvp", "x", "--at", "1", "--u", "z=1"],
        ["hessian", "sum(x)", "--at", "zeros(20000)"],
        *(
            ["vjp", *CHAIN, *more.split()]
            for more in ("--v 1,1 --show q", "--v 1", "--loss q", "--loss sum(z) --show q")
        ),
        *(["explain", "x**2", "--at", "1,2", *more.split()] for more in ("", "--v 1", "--v 1,1 --loss sum(y)")),
        *(["explain", "x**2", "--at", "1,2", "--loss", loss] for loss in ("y", "y**2", "sum(q)", "y +", "sum(y*q)")),
        *(["graph", *CHAIN, *more.split()] for more in ("--show hidden", "--show x", "--show ,", "--v 1,2,3")),
        *(["graph", *CHAIN, *more.split()] for more in ("--to dot --json", "--to svg", "--wrt w", "--strict")),
    ]
    for words, code, packages in imported(commands):
        assert (code, "torch" in packages) == (2, False), words


def test_the_list_of_functions_imports_neither_torch_nor_sympy() -> None:
    """It is the op table; only a page asks for more."""
    commands = [
        ["functions"],
        ["functions", "loss", "--json"],
        ["functions", "softmax", "--format", "plain"],
        ["functions", "sofmax"],
    ]
    for words, code, packages in imported(commands):
        assert code == (2 if "sofmax" in words else 0), words
        assert not packages & {"torch", "sympy", "flint"}, words


@pytest.mark.parametrize("columns", [80, 40])
def test_the_list_of_functions_fits_the_terminal(columns: int) -> None:
    """One list, whatever the width."""
    shown = on_a_terminal(columns, "functions", NO_COLOR="1")
    assert max(map(len, shown.splitlines())) <= columns
    assert "\x1b[" in on_a_terminal(columns, "functions", "exp")


@pytest.mark.parametrize("words", [[], ["huber_loss", "cumsum", "det"]])
def test_without_unicode_the_functions_are_in_ascii(words: list[str], forked: Command) -> None:
    """Frames, derivatives and labels."""
    run = forked("functions", *words, PYTHONIOENCODING="ascii")
    assert (run.code, run.err) == (0, "")
    assert run.out.isascii()
    assert "\\u" not in run.out


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["vjp", "--help"],
        ["code", "x**3", "--at", "1,2", "--v", "1,1", "--to", "numpy", "--format", "plain"],
        ["graph", "sum(x)*x", "--at", "1,2", "--v", "x"],
    ],
)
def test_without_unicode_our_own_words_are_in_ascii(words: list[str], forked: Command) -> None:
    """Helps, scripts and graphs; no escape stands in a formula, in which a square is not a 2."""
    run = forked(*words, PYTHONIOENCODING="ascii")
    assert (run.code, run.err) == (0, "")
    assert run.out.isascii()
    assert "\\u" not in run.out
    assert "\\x" not in run.out
    assert "code" not in words or "3*x[i]**2*KroneckerDelta(i, j)" in run.out


def test_the_list_of_commands_is_whole_at_80_columns(forked: Command) -> None:
    """No description is cut off, and derivatives stand together."""
    run = forked("--help", COLUMNS="80")
    commands = run.out.partition("Differentiate:")[2]
    assert "..." not in commands
    order = [line.split()[0] for line in commands.splitlines() if line.startswith("  ")]
    assert order[:7] == ["vjp", "jacobian", "grad", "jvp", "hessian", "hvp", "eval"]


def test_only_a_process_of_its_own_leaves_its_garbage() -> None:
    """Where `main` is called from Python, the collector stays as it is."""
    code = (
        "import atexit, gc; from gradcli.cli import {0}\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 0))\n{0}()"
    )
    for function, frozen in (("main", "False"), ("process", "True")):
        done = subprocess.run(
            [sys.executable, "-c", code.format(function), "--version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout.split()[-1] == frozen


def test_the_main_job_through_the_installed_command(installed: Command) -> None:
    """What the README promises, from the entry point."""
    run = installed(*MAIN_JOB)
    assert (run.code, run.err) == (0, "")
    assert "│     │ vᵀJ = x.grad │    2 │    4 │" in run.out
    assert "2·x[i]·δ[i,j]" in run.out
    assert "agree" in run.out


def test_python_m_gradcli_is_the_same() -> None:
    """`python -m gradcli`."""
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "functions", "exp", "--format", "plain"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "exp\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_without_unicode_the_tables_fall_back(encoding: str, forked: Command) -> None:
    """ASCII frames, SymPy's notation, aligned."""
    run = forked(*MAIN_JOB, PYTHONIOENCODING=encoding)
    assert run.code == 0
    assert run.out.isascii()
    assert "| 2*x[i]*KroneckerDelta(i, j) | + agree (proven) | 4 of 4  |" in run.out
    for rule, row in re.findall(r"^(\+[-+]+\+)\n(\|.*)$", run.out, re.MULTILINE):
        assert len(rule) == len(row)


def test_an_error_with_unicode_survives_ascii(forked: Command) -> None:
    """The text as typed is shown with replacements, not a traceback."""
    run = forked("eval", "x∂", "--at", "1", PYTHONIOENCODING="ascii")
    assert run.code == 2
    assert "Traceback" not in run.err


def test_a_reader_that_went_away_is_no_news() -> None:
    """Exit 141, and not a word."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([warm.gradcli(), *MAIN_JOB], stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_reported() -> None:
    """Exit 74 with a message."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [warm.gradcli(), *MAIN_JOB], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert done.returncode == 74
    assert done.stderr.startswith("error: the output could not be written")


def test_closed_output_is_reported() -> None:
    """`>&-` leaves no stdout at all."""
    done = subprocess.run(
        ["sh", "-c", f'"{warm.gradcli()}" eval x --at 1 >&-'], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 74
    assert "Traceback" not in done.stderr


def test_a_deleted_working_directory_is_said(tmp_path: Path) -> None:
    """One message in place of the mathematics library's own; what needs no torch is answered."""
    script = 'mkdir gone && cd gone && rmdir ../gone && "$0" "$@"'
    for words, code, message in (
        (MAIN_JOB, 2, "error: the working directory does not exist any more, and torch does not run without one\n"),
        (["--version"], 0, ""),
    ):
        done = subprocess.run(
            ["sh", "-c", script, GRADCLI, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr[: len(message)]) == (code, message)
        assert "MKL" not in done.stderr


def test_standard_input_is_left_alone() -> None:
    """A `while read` loop keeps its lines."""
    script = f'printf "1\\n2\\n3\\n" | while read n; do "{warm.gradcli()}" eval "x**2" --at "$n" --format plain; done'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "1\n4\n9\n"


def on_a_terminal(columns: int, *arguments: str, **environment: str) -> str:
    """What the command prints on a terminal of this width, without what it was doing until then."""
    program = warm.gradcli()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(environment, COLUMNS=str(columns), TERM=environment.get("TERM", "xterm"))
        os.execv(program, [program, *arguments])
    chunks = []
    while select.select([terminal], [], [], 60)[0]:
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.waitpid(pid, 0)
    shown = b"".join(chunks).decode().replace("\r\n", "\n")
    return shown.rpartition("\r\x1b[2K")[2]


@pytest.mark.parametrize("columns", [80, 50, 36])
def test_tables_fit_the_terminal_and_lose_no_digit(columns: int) -> None:
    """A wide Jacobian is cut into blocks of columns; a long cell folds."""
    shown = on_a_terminal(
        columns, "jacobian", "exp(x)/sum(exp(x))", "--at", "1,2,3,4,5", "--digits", "17", NO_COLOR="1"
    )
    assert max(map(len, shown.splitlines())) <= columns
    exact = json.loads(
        subprocess.run(
            [warm.gradcli(), "jacobian", "exp(x)/sum(exp(x))", "--at", "1,2,3,4,5", "--json"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
    )
    for row in exact["jacobian"]["x"]:
        for number in row:
            assert repr(number) in shown


def test_a_terminal_has_colours_unless_told_otherwise() -> None:
    """NO_COLOR and TERM=dumb are heeded."""
    assert "\x1b[" in on_a_terminal(80, *MAIN_JOB)
    assert "\x1b[" not in on_a_terminal(80, *MAIN_JOB, NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal(80, *MAIN_JOB, TERM="dumb")


def test_a_bug_of_ours_is_reported_as_such() -> None:
    """Exit 70, one line and no traceback; the traceback on request."""
    code = BUG
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.startswith("gradcli: internal error: ZeroDivisionError")
    assert "Traceback" not in done.stderr
    debugged = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"GRADCLI_DEBUG": "1"},
    )
    assert "Traceback" in debugged.stderr


@pytest.mark.parametrize("arguments", ["--help", "--version", "vjp --help", "", "eval x --at 1"])
@pytest.mark.parametrize(("redirection", "code"), [(">/dev/full", 74), (">&-", 74), ("| true", 141)])
def test_whatever_is_written_fails_in_the_same_way(arguments: str, redirection: str, code: int) -> None:
    """Help and version too; at exit Python has nothing left to complain about."""
    program = warm.gradcli() if "eval" in arguments else GRADCLI
    script = f'(sleep 0.2; "{program}" {arguments}; echo $? >&3) {redirection}'
    done = subprocess.run(
        ["bash", "-c", f"exec 3>&2; {script}"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == str(code)
    assert "Exception ignored" not in done.stderr
    assert "internal error" not in done.stderr

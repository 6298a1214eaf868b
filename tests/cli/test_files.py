"""Values and expressions from files and standard input, as the shell gives them: `@FILE`, `@-`, `@@`."""

from __future__ import annotations

import json
import os
import pty
from pathlib import Path

import numpy as np
import pytest

from tests import warm
from tests.conftest import Command, Run, process


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a value in each format."""
    np.save(tmp_path / "x.npy", [1.0, 2.0])
    np.savez(tmp_path / "both.npz", x=[1.0, 2.0], v=[1.0, 10.0])
    (tmp_path / "table.csv").write_text("x,v\n1,1\n2,10\n", encoding="utf-8")
    (tmp_path / "f.txt").write_text("y = x**2\nsum(y)\n", encoding="utf-8")
    (tmp_path / "loss.txt").write_text("sum(y**2)\n", encoding="utf-8")
    (tmp_path / "square.txt").write_text("x**2\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(script: str, folder: Path) -> Run:
    """What a script does, with the command as `gradcli`."""
    return process("bash", "-c", f'gradcli() {{ "{warm.gradcli()}" "$@"; }}; {script}', cwd=folder)


ANSWERS = [
    (["vjp", "x**2", "--at", "@x.npy", "--v", "@both.npz:v"], "2 40\n"),
    (["vjp", "x**2", "--at", "x=@table.csv:x", "--v", "@table.csv:v"], "2 40\n"),
    (["vjp", "x**2", "--at", "x = @table.csv:0", "--v", " @table.csv:1"], "2 40\n"),
    (["grad", "@f.txt", "--at", "@x.npy"], "2 4\n"),
    (["vjp", "x**2", "--at", "@x.npy", "--loss", "@loss.txt"], "4 32\n"),
    (["hvp", "sum(x**3)", "--at", "@x.npy", "--u", "x=@x.npy"], "6 24\n"),
    (["explain", "x", "--at", "2", "--loss", "@loss.txt"], "4\n"),
    (["jacobian", "@square.txt", "--at", "@x.npy"], "2 0\n0 4\n"),
    (["eval", "A@x", "--at", "A=@table.csv", "--at", "x=@x.npy"], "3 22\n"),
    (["eval", "@square.txt", "--at", "@both.npz:x", "--dtype", "float32"], "1 4\n"),
]


@pytest.mark.parametrize(("arguments", "expected"), ANSWERS)
@pytest.mark.usefixtures("folder")
def test_values_come_from_files(arguments: list[str], expected: str, gradcli: Command) -> None:
    """For --at with and without a name, for --v, and for the expression."""
    run = gradcli(*arguments, "--format", "plain")
    assert (run.code, run.err, run.out) == (0, "", expected)


def test_two_signs_are_one_that_is_not_a_file(folder: Path, gradcli: Command) -> None:
    """Whatever it then is to the language."""
    for word in ("@@x.npy", " @@x.npy"):
        run = gradcli("eval", "x", "--at", f"x={word}")
        assert run.code == 2
        assert "  @x.npy\n" in run.err
        assert "@x.npy" in gradcli("eval", word, "--at", "x=1").err
    (folder / "@x.csv").write_text("5", encoding="utf-8")
    assert gradcli("eval", "x", "--at", "@./@x.csv", "--format", "plain").out == "5\n"


def test_an_answer_is_read_back(folder: Path, gradcli: Command) -> None:
    """What --json and --format plain write, numbers that are not finite included."""
    arguments = ["vjp", "x*sqrt(x)", "--at", "[[1,0.1],[-1,0]]", "--v", "ones", "--no-check"]
    for name, option in (("answer.json", "--json"), ("answer.txt", "--format=plain")):
        (folder / name).write_text(gradcli(*arguments, option).out, encoding="utf-8")
    plain = gradcli(*arguments, "--format", "plain").out
    assert "nan" in plain
    for reference in ("answer.json:vjp.x", "answer.txt"):
        assert gradcli("eval", "x", "--at", f"@{reference}", "--format", "plain").out == plain


def test_standard_input_is_one_value(gradcli: Command) -> None:
    """Or the expression; the second to ask is told of the first, and each run has its own."""
    for _ in range(2):
        run = gradcli("vjp", "x**2", "--at", "@-", "--v", "ones", "--format", "plain", given="1 2\n")
        assert run.out == "2 4\n"
    assert gradcli("grad", "@-", "--at", "3", "--format", "plain", given="x**2\n").out == "6\n"
    run = gradcli("vjp", "x**2", "--at", "@-", "--v", "@-", given="1 2\n")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: standard input can be read once, and --at has read it (in --v)\n  @-\n   ^\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["eval", "x", "--at", "@tabel.csv"], "hint: did you mean 'table.csv'?"),
        (["eval", "x", "--at", "@table.csv:y"], "the columns are 'x', 'v'"),
        (["eval", "x*y", "--at", "@x.npy"], "hint: write --at x=VALUE --at y=VALUE"),
        (["eval", "x", "--at", "x=@x.npy", "--at", "x=@y.npy"], "gives 'x' two values: @x.npy and @y.npy"),
        (["eval", "@square.tx", "--at", "1"], "hint: did you mean 'square.txt'?"),
        (["eval", "@x.npy", "--at", "1"], "'x.npy' is not text in UTF-8, from byte 0 on"),
        (["eval", "x", "--at", "@"], "there is no path after @"),
        (["vjp", "x**2", "--at", "1,2", "--v", "@table.csv"], "v has shape (2, 2), and y has shape (2,)"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_wrong_is_marked(arguments: list[str], words: str, gradcli: Command) -> None:
    """In a message of the usual form, and as JSON with the position."""
    run = gradcli(*arguments)
    assert (run.code, run.out) == (2, "")
    assert words in run.err
    assert run.err.startswith("error: ")
    error = json.loads(gradcli(*arguments, "--json").err)["error"]
    assert error["kind"] in ("value", "shape")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            "gradcli eval 'x**2' --at 1,2,3 --format plain | gradcli vjp 'sqrt(x)' --at @- --v 2,4,6 --format plain",
            "1 1 1",
        ),
        ("gradcli vjp 'x**2' --at 3 --json | gradcli eval x --at @-:vjp.x --format plain", "6"),
        ("echo 'x**2' | gradcli grad @- --at 3 --format plain", "6"),
        ("gradcli eval x --at @- --format plain < x.npy", "1 2"),
        ("gradcli eval x --at @/dev/stdin:v --format plain < table.csv", "1 10"),
        ("gradcli eval 'x+y' --at x=@<(seq 3) --at y=@<(seq 3) --format plain", "2 4 6"),
        ("gradcli eval @<(echo x+1) --at 1 --format plain", "2"),
        ("seq 2 | while read n; do gradcli eval x --at @table.csv:$((n - 1)) --format plain; done", "1 2\n1 10"),
    ],
)
def test_real_pipes(script: str, expected: str, folder: Path) -> None:
    """From one gradcli to the next, from a file, from a process; and who does not ask for stdin leaves it alone."""
    run = shell(script, folder)
    assert (run.out, run.err) == (f"{expected}\n", "")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("yes | gradcli eval x --at @-", "standard input has more than 32 MiB of text"),
        ("gradcli eval x --at @- < /dev/zero", "standard input has more than 32 MiB of text"),
        ("gradcli eval @- --at 1 < /dev/zero", "standard input has more than 32 MiB of text"),
        ("gradcli eval x --at @- <&-", "standard input is closed"),
        ("gradcli eval x --at @- < /dev/null", "standard input holds no numbers"),
        ("gradcli eval x --at @/dev/fd/3 3< /dev/zero", "'/dev/fd/3' is a device or a socket"),
        ("head -c 100 /dev/urandom | gradcli eval x --at @-", "error: "),
    ],
)
def test_pipes_that_are_refused(script: str, words: str, folder: Path) -> None:
    """In bounded time, with one message."""
    run = shell(script, folder)
    assert (run.code, run.out) == (2, "")
    assert words in run.err
    assert run.err.startswith("error: ")
    assert "Traceback" not in run.err


def test_a_terminal_is_not_waited_for() -> None:
    """It would look like a gradcli that hangs."""
    ours, theirs = pty.openpty()
    run = process(warm.gradcli(), "eval", "x", "--at", "@-", given=theirs)
    os.close(ours)
    os.close(theirs)
    assert run.code == 2
    assert run.err.startswith("error: standard input is a terminal")

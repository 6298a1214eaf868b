"""Values and expressions from files and standard input, as the shell gives them: `@FILE`, `@-`, `@@`."""

import os
import pty
from pathlib import Path

import pytest

from tests import warm
from tests.conftest import Command, Run, process


def shell(script: str, folder: Path) -> Run:
    """Run a script of the shell, with the command as `gradcli`."""
    return process("bash", "-c", f'gradcli() {{ "{warm.gradcli()}" "$@"; }}; {script}', cwd=folder)


def test_two_signs_are_one_that_is_not_a_file(filled: Path, gradcli: Command) -> None:
    """The language sees one sign."""
    for word in ("@@x.npy", " @@x.npy"):
        run = gradcli("eval", "x", "--at", f"x={word}")
        assert run.code == 2
        assert "  @x.npy\n" in run.err
        assert "@x.npy" in gradcli("eval", word, "--at", "x=1").err
    (filled / "@x.csv").write_text("5", encoding="utf-8")
    assert gradcli("eval", "x", "--at", "@./@x.csv", "--format", "plain").out == "5\n"


def test_an_answer_is_read_back(filled: Path, gradcli: Command) -> None:
    """The output of --json and of --format plain, numbers that are not finite included."""
    arguments = ["vjp", "x*sqrt(x)", "--at", "[[1,0.1],[-1,0]]", "--v", "ones", "--no-check"]
    for name, option in (("answer.json", "--json"), ("answer.txt", "--format=plain")):
        (filled / name).write_text(gradcli(*arguments, option).out, encoding="utf-8")
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


PIPES = [
    ("gradcli eval 'x**2' --at 1,2,3 --format plain | gradcli vjp 'sqrt(x)' --at @- --v 2,4,6 --format plain", "1 1 1"),
    ("gradcli vjp 'x**2' --at 3 --json | gradcli eval x --at @-:vjp.x --format plain", "6"),
    ("echo 'x**2' | gradcli grad @- --at 3 --format plain", "6"),
    ("gradcli eval x --at @- --format plain < x.npy", "1 2"),
    ("gradcli eval x --at @/dev/stdin:v --format plain < table.csv", "1 10"),
    ("gradcli eval 'x+y' --at x=@<(seq 3) --at y=@<(seq 3) --format plain", "2 4 6"),
    pytest.param("gradcli eval @<(echo x+1) --at 1 --format plain", "2", marks=pytest.mark.thorough),
    ("seq 2 | while read n; do gradcli eval x --at @table.csv:$((n - 1)) --format plain; done", "1 2\n1 10"),
]


@pytest.mark.parametrize(("script", "expected"), PIPES)
@pytest.mark.one_in(2)
def test_real_pipes(script: str, expected: str, filled: Path) -> None:
    """From one gradcli to the next, from a file, from a process; and who does not ask for stdin leaves it alone."""
    run = shell(script, filled)
    assert (run.out, run.err) == (f"{expected}\n", "")


REFUSED = [
    ("yes | gradcli eval x --at @-", "standard input has more than 32 MiB of text"),
    ("gradcli eval x --at @- < /dev/zero", "standard input has more than 32 MiB of text"),
    ("gradcli eval @- --at 1 < /dev/zero", "standard input has more than 32 MiB of text"),
    ("gradcli eval x --at @- <&-", "standard input is closed"),
    ("gradcli eval x --at @- < /dev/null", "standard input holds no numbers"),
    ("gradcli eval x --at @/dev/fd/3 3< /dev/zero", "'/dev/fd/3' is a device or a socket"),
    ("head -c 100 /dev/urandom | gradcli eval x --at @-", "error: "),
]


@pytest.mark.parametrize(("script", "words"), REFUSED)
@pytest.mark.one_in(2)
def test_pipes_that_are_refused(script: str, words: str, filled: Path) -> None:
    """In bounded time, with one message."""
    run = shell(script, filled)
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

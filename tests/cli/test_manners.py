"""Every command as a real process: signals, full disks, closed pipes, standard input, encodings, terminals."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests import warm
from tests.cli.test_output import QUESTIONS
from tests.cli.test_process import on_a_terminal
from tests.conftest import Run, process
from tests.examples import all_but
from tests.terminals import PIPES, Program

READY = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from gradcli import cli, signals
signals.end_on_interrupt(cli.INTERRUPTED)
print(flush=True)
sys.exit(cli.process())
"""
"""The command as its entry point starts it, behind a sign that it can take an interrupt; what comes before is Python.

The background jobs of a shell ignore interrupts, and so would these tests there.
"""


@pytest.mark.parametrize("delay", all_but([0.02, 0.4, 1.2], 0, 2))
def test_an_interrupt_is_quiet_from_the_first_import_on(delay: float) -> None:
    """Exit 130, also in the middle of `import torch`."""
    words = [sys.executable, "-c", READY, "jacobian", "sin(x)*x", "--at", "linspace(0,1,6000)", "--json"]
    with Program(words, **PIPES, start_new_session=True) as child:  # and not of the terminal at which the tests run
        child.stdout.readline()
        time.sleep(delay)
        child.send_signal(signal.SIGINT)
        assert (*child.communicate(timeout=60), child.returncode) == (b"", b"", 130)


def test_a_full_disk_leaves_no_file() -> None:
    """A device is written to as it is; what it refuses is reported with its name."""
    run = process(warm.gradcli(), "eval", "x", "--at", "1", "--format", "csv", "-o", "/dev/full")
    assert run == Run(74, "", "error: '/dev/full' could not be written: No space left on device\n")
    assert Path("/dev/full").is_char_device()


def test_an_open_file_is_not_replaced(tmp_path: Path) -> None:
    """`-o /dev/stdout` adds to where stdout goes, between what others write there."""
    path = tmp_path / "log"
    script = f'(echo before; "{warm.gradcli()}" eval x --at 1 --format plain -o /dev/stdout; echo after) > "{path}"'
    process("sh", "-c", script)
    assert path.read_text(encoding="utf-8") == "before\n1\nafter\n"


def test_no_command_reads_standard_input_unasked(tmp_path: Path) -> None:
    """A `while read` loop keeps its lines; `@-` takes them."""
    given = tmp_path / "given"
    given.write_bytes(b"1\n2\n")
    asking = ["eval", "x**2", "--at", "@-", "--format", "plain"]
    for words in (*([command, *words] for command, words in QUESTIONS.items()), asking):
        with given.open("rb") as file:
            run = process(warm.gradcli(), *words, given=file.fileno())
            read = os.lseek(file.fileno(), 0, os.SEEK_CUR)
        assert (run.code, run.err, read) == (0, "", 4 if words is asking else 0), words
        assert run.out == "1 4\n" if words is asking else run.out


def test_colours_on_a_terminal() -> None:
    """As the terminal can, unless told otherwise; errors too."""
    words = ["eval", "x", "--at", "1"]
    assert "\x1b[" in on_a_terminal(80, *words)
    assert "\x1b[" not in on_a_terminal(80, *words, TERM="dumb")
    assert "\x1b[" not in on_a_terminal(80, *words, NO_COLOR="1")
    assert "\x1b[" in on_a_terminal(80, *words, NO_COLOR="1", FORCE_COLOR="1")
    assert "\x1b[" not in on_a_terminal(80, *words, FORCE_COLOR="0")
    assert "\x1b[" in on_a_terminal(80, *words, "--color", "always", TERM="dumb", NO_COLOR="1")
    assert "\x1b[1;38;5;160merror:" in on_a_terminal(80, "eval", "x +")
    assert "\x1b[" not in on_a_terminal(80, "eval", "x +", "--json")


@pytest.mark.parametrize("redirection", all_but(["2>&-", "2>/dev/full"], 1))
def test_an_answer_is_not_lost_with_its_remarks(redirection: str) -> None:
    """Stdout first; a stderr that is closed or full undoes nothing."""
    for arguments, code, out in ((["a = x; x**2"], 0, "9\n"), (["y +"], 2, "")):
        words = [warm.gradcli(), "eval", *arguments, "--at", "x=3", "--format", "plain"]
        run = process("sh", "-c", f'"$0" "$@" {redirection}', *words)
        assert (run.code, run.out) == (code, out)

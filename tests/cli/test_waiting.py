"""Commands that take long say so on a terminal, and leave no trace there."""

import errno
import io
import sys
import time
from typing import Any

import pytest

import gradcli.function
from gradcli import progress
from gradcli.cli import console
from gradcli.errors import InputError
from tests.cli.test_progress import on_a_terminal
from tests.conftest import Command, Run

GRAD = ["grad", "x**2", "--at", "3", "--format", "plain"]
CLEARED = "\r\x1b[2K"


def _run(
    patch: pytest.MonkeyPatch, words: list[str], *, seconds: float = 0.3, term: str = "xterm", fails: bool = False
) -> str:
    """Run a command that takes so long, and give what came to the terminal from a tenth of a second on."""
    method: Any = gradcli.function.Function.grad
    real = method.answer

    def slow(self: gradcli.function.Function, places: Any, options: Any) -> Any:
        found = real(self, places, options)
        for _ in progress.tracked("point", "ab", 2):
            progress.set_step("proving", 512, 1024)
            time.sleep(seconds / 2)
        if fails:
            raise InputError("no such luck")
        return found

    patch.setattr(method, "answer", slow)
    return on_a_terminal(patch, words, "stderr", term=term, wait=0.1 if seconds else 60.0, code=2 * fails)


def _screen(text: str) -> list[str]:
    """The lines that a terminal shows in the end, of texts with no signs but the one that clears a line."""
    lines = [""]
    for part in text.replace(CLEARED, "\0"):
        if part == "\0":
            lines[-1] = ""
        elif part == "\n":
            lines.append("")
        elif part != "\r":
            lines[-1] += part
    return lines


def test_a_slow_command_says_so_and_is_gone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last that it does is the last that is said, and nothing of it is left."""
    shown = _run(monkeypatch, GRAD)
    assert f"{CLEARED}point 1 of 2: proving 512 of 1,024, " in shown
    assert f"{CLEARED}point 2 of 2: proving 512 of 1,024, " in shown
    assert _screen(shown) == [""]
    assert capsys.readouterr().out == "6\n"


def test_an_unknown_terminal_is_told_nothing(monkeypatch: pytest.MonkeyPatch, gradcli: Command) -> None:
    """Streams of tests and of notebooks may say that they are one, and have no descriptor to write to."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert console.descriptor(sys.stderr) is None
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    assert gradcli(*GRAD, TERM="xterm") == Run(0, "6\n", "")


def test_what_cannot_be_written_says_why_where_there_is_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is that of writing, not that the stream has no number."""

    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(OSError, match="No space left"):
        console.send(["text"])


def test_an_error_stands_where_the_line_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written when that is cleared."""
    shown = _run(monkeypatch, [*GRAD, "--color", "never"], fails=True)
    assert CLEARED in shown
    assert _screen(shown) == ["error: no such luck", ""]


NOBODY_WAITS = [
    (GRAD, 0.0, "xterm"),
    (GRAD, 0.3, "dumb"),
    ([*GRAD, "--quiet"], 0.3, "xterm"),
    ([*GRAD, "-q"], 0.3, "xterm"),
]


@pytest.mark.parametrize(("words", "seconds", "term"), NOBODY_WAITS, ids=["quick", "dumb", "quiet", "q"])
def test_nothing_is_written_where_nobody_waits(
    words: list[str], seconds: float, term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even what clears a line."""
    assert _run(monkeypatch, words, seconds=seconds, term=term) == ""


def test_the_line_is_no_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or clearing it would leave the lines above it."""
    monkeypatch.setenv("COLUMNS", "20")
    shown = _run(monkeypatch, GRAD)
    assert max(map(len, shown.split(CLEARED))) == 19

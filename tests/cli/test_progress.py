"""Progress of `map`: on stderr, on a terminal, gone at the end, and never among the rows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.cli import console, main
from tests.terminals import Terminal

ROWS = 200_000
CLEARED = "\r\x1b[2K"


def on_a_terminal(
    patch: pytest.MonkeyPatch, words: list[str], *names: str, term: str = "xterm", wait: float = 0.001, code: int = 0
) -> str:
    """Run a command with a pseudo-terminal in place of streams of this process; give what came there."""
    found = Terminal()
    patch.setenv("TERM", term)
    with os.fdopen(found.there, "w", encoding="utf-8") as stream, patch.context() as own:
        for name in names:
            own.setattr(sys, name, stream)
        own.setattr(console, "PATIENCE", wait)
        own.setattr(console, "RENEWED", 0.001)
        assert main(words) == code
    return found.whole()


@pytest.fixture
def words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command for a file that takes some blocks, on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    (folder / "x.csv").write_text("x\n" + "1.25\n" * ROWS)
    return ["map", "sin(x)", "--points", "x.csv"]


@pytest.mark.part("tables")
def test_the_line_has_a_rate_and_is_gone_at_the_end(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of it is on stderr; what stays is one line with the time."""
    shown = on_a_terminal(monkeypatch, [*words, "-o", "y.csv"], "stderr")
    before, _, after = shown.rpartition(CLEARED)
    assert " rows, " in before
    assert " a second, " in before
    assert " %, " in before
    assert after.startswith(f"{ROWS:,} rows read, {ROWS:,} written in ")
    assert (after.count("\n"), "\x1b" in after, capsys.readouterr().out) == (1, False, "")


@pytest.mark.part("tables")
def test_a_folder_says_it_too(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Part by part."""
    shown = on_a_terminal(monkeypatch, [*words, "-o", "out/"], "stderr")
    before, _, after = shown.rpartition(CLEARED)
    assert before
    assert after.startswith(f"{ROWS:,} rows read, {ROWS:,} written in ")


@pytest.mark.part("tables")
def test_a_pipe_has_no_share(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows its size."""
    with subprocess.Popen(["cat", "x.csv"], stdout=subprocess.PIPE, encoding="utf-8") as sender:
        monkeypatch.setattr(sys, "stdin", sender.stdout)
        shown = on_a_terminal(monkeypatch, [*words[:-1], "-", "-o", "y.csv"], "stderr")
    assert " rows, " in shown
    assert "%" not in shown
    assert f"{ROWS:,} rows read" in shown


@pytest.mark.part("tables")
def test_rows_on_a_terminal_have_nothing_among_them(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """They themselves say how far it is."""
    Path("x.csv").write_text("x\n0\n")
    shown = on_a_terminal(monkeypatch, words, "stdout", "stderr")
    rows = shown.rpartition(CLEARED)[2]  # before them, what takes long may have been said
    assert rows.startswith("y,dy_dx\r\n0.0,1.0\r\n1 row read, 1 written in ")
    assert shown.count("\n") == 3


@pytest.mark.part("tables")
def test_a_dumb_terminal_has_no_such_line(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor an empty line in its place."""
    shown = on_a_terminal(monkeypatch, [*words, "-o", "y.csv"], "stderr", term="dumb")
    assert shown.startswith(f"{ROWS:,} rows read")

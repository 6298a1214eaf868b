"""Progress of `map`: on stderr, on a terminal, gone at the end, and never among the rows."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gradcli.cli import console, main
from tests.terminals import Terminal

ROWS = 200_000
CLEARED = "\r\x1b[2K"


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, *names: str) -> Iterator[Terminal]:
    """A pseudo-terminal in place of these streams of this process."""
    found = Terminal()
    with os.fdopen(found.there, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        for name in names:
            patch.setattr(sys, name, stream)
        yield found


def _shown(words: list[str], monkeypatch: pytest.MonkeyPatch, *names: str, term: str = "xterm") -> str:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(console, "PATIENCE", 0.001)
    monkeypatch.setattr(console, "RENEWED", 0.001)
    with terminal(monkeypatch, *names) as found:
        assert main(["map", "sin(x)", *words]) == 0
    return found.whole()


@pytest.fixture
def points(tmp_path: Path) -> str:
    """A file that takes some blocks."""
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "1.25\n" * ROWS)
    return str(path)


def test_the_line_has_a_rate_and_is_gone_at_the_end(
    points: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of it is on stderr; what stays is one line with the time."""
    shown = _shown(["--points", points, "-o", str(tmp_path / "y.csv")], monkeypatch, "stderr")
    before, _, after = shown.rpartition(CLEARED)
    assert " rows, " in before
    assert " a second, " in before
    assert " %, " in before
    assert after.startswith(f"{ROWS:,} rows read, {ROWS:,} written in ")
    assert (after.count("\n"), "\x1b" in after, capsys.readouterr().out) == (1, False, "")


def test_a_folder_says_it_too(points: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Part by part."""
    shown = _shown(["--points", points, "-o", f"{tmp_path}/out/"], monkeypatch, "stderr")
    before, _, after = shown.rpartition(CLEARED)
    assert before
    assert after.startswith(f"{ROWS:,} rows read, {ROWS:,} written in ")


def test_rows_on_a_terminal_have_nothing_among_them(points: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They themselves say how far it is."""
    Path(points).write_text("x\n0\n")
    shown = _shown(["--points", points], monkeypatch, "stdout", "stderr")
    rows = shown.rpartition(CLEARED)[2]  # before them, what takes long may have been said
    assert rows.startswith("y,dy_dx\r\n0.0,1.0\r\n1 row read, 1 written in ")
    assert shown.count("\n") == 3


def test_a_dumb_terminal_has_no_such_line(points: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor an empty line in its place."""
    shown = _shown(["--points", points, "-o", str(tmp_path / "y.csv")], monkeypatch, "stderr", term="dumb")
    assert shown.startswith(f"{ROWS:,} rows read")

"""The guide in the terminal: its list, a page through the pager, and the Markdown in a pipe."""

import pytest

from gradcli import guide
from tests.cli.test_process import GRADCLI, on_a_terminal
from tests.conftest import Command
from tests.terminals import Terminal

COLUMNS = 80


def test_pages_are_listed_with_their_titles(gradcli: Command) -> None:
    """All pages, a line each."""
    run = gradcli("guide")
    assert run.code == 0
    assert [line.split(maxsplit=1) for line in run.out.splitlines()] == [[p, guide.title(p)] for p in guide.PAGES]


@pytest.mark.parametrize("page", guide.PAGES)
def test_a_page_is_its_markdown_in_a_pipe(page: str, gradcli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where colours are forced and a pager is named, and in ASCII where the pipe has no more."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("PAGER", "false")
    run = gradcli("guide", page)
    assert (run.code, run.err) == (0, "")
    assert run.out == guide.text(page)
    assert run.out.startswith(f"# {guide.title(page)}\n")


def test_a_terminal_shows_a_page_through_the_pager() -> None:
    """As it is written."""
    shown = on_a_terminal(COLUMNS, "guide", "verdicts", PAGER="sed 's/^/: /'")
    assert [line.removeprefix(": ") for line in shown.splitlines()] == guide.text("verdicts").splitlines()
    assert all(line.startswith(": ") for line in shown.splitlines())


def test_an_interrupt_is_for_the_pager() -> None:
    """Else it would be left alone with the terminal, and fight for it with the shell."""
    pager = """sh -c 'trap "echo interrupted; exit" INT; echo ready; while :; do sleep 0.1; done'"""
    terminal = Terminal()
    program = terminal.start_program(GRADCLI, "guide", "verdicts", PAGER=pager)
    terminal.wait_for("ready", "\x03")
    assert program.wait() == 0
    assert "interrupted" in terminal.whole()

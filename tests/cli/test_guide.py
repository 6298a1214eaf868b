"""The guide in the terminal: its list, a page through the pager, and the Markdown in a pipe."""

import re

import pytest

from gradcli import guide
from gradcli.cli import guide_command
from gradcli.cli.output import Page
from gradcli.report.document import Screen
from gradcli.report.render import markdown_pages
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
    """Drawn at its width."""
    shown = on_a_terminal(COLUMNS, "guide", "verdicts", PAGER="sed 's/^/: /'", NO_COLOR="1")
    drawn = markdown_pages.drawn("# Title", Screen(COLUMNS, encoding="utf-8"))
    assert drawn == "Title\n"
    lines = [line.removeprefix(": ") for line in shown.splitlines()]
    assert lines[0] == guide.title("verdicts")
    assert max(map(len, lines)) <= COLUMNS
    assert all(line.startswith(": ") for line in shown.splitlines())


MARKDOWN = """# The *title*

Words `code` and a [page](verdicts.md#the-tolerance), [elsewhere](https://x.y), wrapped **here**.

| key | says |
| --- | --- |
| `a` | b |

```console
$ gradcli "x**2"
2
```
"""

DRAWN = """The title

Words code and a page (gradcli
guide verdicts), elsewhere
(https://x.y), wrapped here.

 key  says
 ─────────
 a    b

  $ gradcli "x**2"
  2
"""


def test_a_page_is_drawn_at_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links to pages are the commands that show them; code stays as it is; colours only where there are some."""
    for is_colored in (False, True):
        monkeypatch.setattr(guide, "text", lambda page: MARKDOWN)
        page = guide_command.guide(["verdicts"])
        assert isinstance(page, Page)
        drawn = page.draw(Screen(32, color=is_colored, encoding="utf-8"))
        assert re.sub(r"\x1b\[[\d;]*m", "", drawn) == DRAWN
        assert (drawn != DRAWN) == is_colored


@pytest.mark.parametrize(
    ("words", "start"),
    [
        ("exit codes", "## Exit codes\n"),
        ("Exit CODES", "## Exit codes\n"),
        ("verdicts the tolerance", "## The tolerance\n"),
        ("verdicts TOLERANCE", "## The tolerance\n"),
        (guide.title("warm"), f"# {guide.title('warm')}\n"),
    ],
)
def test_words_that_lead_to_one_section_show_it(words: str, start: str, gradcli: Command) -> None:
    """By its heading, or words of it; with the sections inside."""
    run = gradcli("guide", *words.split())
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith(start)


def test_words_that_lead_to_several_sections_list_them(gradcli: Command) -> None:
    """Each can be shown as it is listed; a word in no heading is looked for in the texts."""
    run = gradcli("guide", "padding_idx")
    *listed, last = run.out.splitlines()
    assert last == "gradcli guide PAGE HEADING shows one"
    assert len(listed) > 1
    for line in listed:
        page, heading = line.split(maxsplit=1)
        shown = gradcli("guide", page, *heading.split()).out
        assert heading in shown.partition("\n")[0]
        assert "padding_idx" in shown


@pytest.mark.parametrize(
    ("words", "hint"), [("tuor", "write gradcli guide tour"), ("qqq zzz", "gradcli guide lists the pages")]
)
def test_words_that_lead_nowhere_are_a_mistake(words: str, hint: str, gradcli: Command) -> None:
    """The nearest page or heading, else the list of the pages."""
    run = gradcli("guide", *words.split())
    assert run.code == 2
    assert f"hint: {hint}" in run.err


def test_sections_have_the_whole_of_a_page() -> None:
    """A sign in code is no heading."""
    for page in guide.PAGES:
        found = list(guide.sections(page))
        assert "".join(section.own for section in found) == guide.text(page) == found[0].text


def test_an_interrupt_is_for_the_pager() -> None:
    """Else it would be left alone with the terminal, and fight for it with the shell."""
    pager = """sh -c 'trap "echo interrupted; exit" INT; echo ready; while :; do sleep 0.1; done'"""
    terminal = Terminal()
    program = terminal.start_program(GRADCLI, "guide", "verdicts", PAGER=pager)
    terminal.wait_for("ready", "\x03")
    assert program.wait() == 0
    assert "interrupted" in terminal.whole()

"""The pager: which one, what comes through it, and that nothing is lost where there is none."""

import os

import pytest

from gradcli.cli.console import LESS
from tests.cli.test_process import on_a_terminal, run_on_a_terminal
from tests.conftest import Command

MARK = ": "
MARKING = f"sed 's/^/{MARK}/'"
LONG = ["functions", "--format", "plain"]
COLOURED = ["functions"]
SHORT = ["eval", "x", "--at", "1"]


def _is_paged(*words: str, **environment: str) -> bool:
    shown = on_a_terminal(80, *words, NO_COLOR="1", **environment).splitlines()
    marked = {line.startswith(MARK) for line in shown}
    assert len(marked) == 1, shown
    return marked.pop()


PAGED: list[tuple[list[str], dict[str, str], bool]] = [
    # what is longer than the screen: answers, helps and pages
    *((words, {}, True) for words in (LONG, COLOURED, ["functions", "--json"], ["--help"], ["vjp", "--help"])),
    *((words, {}, True) for words in (["guide", "tour"],)),
    # what fits it, unless it is lower than that
    *((words, {}, False) for words in (SHORT, ["--version"], ["guide"])),
    *((words, {"LINES": "4"}, True) for words in (SHORT, ["guide"])),
    # an option turns it off, before the command or behind it
    *((["--no-pager", *words], {}, False) for words in ([], LONG, ["vjp", "--help"], ["guide", "tour"])),
    *(([*words, "--no-pager"], {}, False) for words in (LONG, ["vjp", "--help"], ["guide", "tour"])),
    # the environment names it: ours first; an empty name and cat are none
    (LONG, {"GRADCLI_PAGER": MARKING, "PAGER": "cat"}, True),
    (LONG, {"GRADCLI_PAGER": "cat", "PAGER": MARKING}, False),
    (LONG, {"GRADCLI_PAGER": "", "PAGER": MARKING}, False),
    (LONG, {"PAGER": " cat "}, False),
    (LONG, {"PAGER": MARKING, "TERM": "dumb"}, True),
    (LONG, {"PAGER": f"LC_ALL=C {MARKING}"}, True),
]


@pytest.mark.parametrize(("words", "environment", "wanted"), PAGED)
@pytest.mark.one_in(8)
def test_what_comes_through_the_pager(words: list[str], environment: dict[str, str], wanted: bool) -> None:
    """Each line of it."""
    assert _is_paged(*words, **{"PAGER": MARKING, **environment}) == wanted


def test_less_ends_on_one_screen_and_shows_colours() -> None:
    """Unless its user has options of their own."""
    shows = "cat > /dev/null; echo LESS=$LESS"
    assert on_a_terminal(80, *LONG, PAGER=shows) == f"LESS={LESS}\n"
    assert on_a_terminal(80, *LONG, PAGER=shows, LESS="M") == "LESS=M\n"
    assert "\x1b[" in on_a_terminal(80, *COLOURED, PAGER=MARKING)


@pytest.mark.parametrize("words", [LONG, ["functions", "--json"]])
def test_a_pager_that_is_not_there_loses_nothing(words: list[str]) -> None:
    """It is said, and no error."""
    printed = on_a_terminal(80, *words, PAGER="cat")
    for pager in ("no-such-pager", "/dev/null", "no-such-pager | no-such-pager"):
        run = run_on_a_terminal(80, *words, PAGER=pager)
        said, _, shown = run.out.partition(printed[:20])
        assert (run.code, printed[:20] + shown) == (0, printed)
        assert pager.partition(" ")[0] in said


def test_a_reader_who_leaves_early_is_no_news() -> None:
    """As one that ends less with q; the exit code is the command's."""
    assert on_a_terminal(80, "functions", "--json", PAGER="true") == ""
    judged = ["eval", "(1-cos(x))/x**2", "--at", "1e-8", "--strict"]
    for pager in ("true", "false", "cat"):
        assert run_on_a_terminal(80, *judged, GRADCLI_PAGER=pager, LINES="3").code == 1
        assert run_on_a_terminal(80, *LONG, GRADCLI_PAGER=pager, LINES="3").code == 0


def test_a_pipe_has_no_pager(forked: Command) -> None:
    """Nor has a file."""
    run = forked(*LONG, PAGER=MARKING, GRADCLI_PAGER=MARKING, FORCE_COLOR="1")
    assert run.code == 0
    assert MARK not in run.out[:2]


def test_without_any_named_it_is_less_or_none(tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes less to be installed, and a terminal on which it works."""
    monkeypatch.delenv("PAGER")
    less = os.path.join(tmp_path, "less")
    with open(less, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n/bin/{MARKING}\n")
    os.chmod(less, 0o755)
    assert _is_paged(*LONG, PATH=f"{tmp_path}:/bin")
    assert not _is_paged(*LONG, PATH=f"{tmp_path}:/bin", TERM="dumb")
    assert not _is_paged(*LONG, PATH="/nowhere")

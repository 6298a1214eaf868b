"""Answers for Org mode: tables of as many cells in each row, on the screen and in a file."""

import pytest

from gradcli import Function
from gradcli.report import Screen, rendered
from tests.conftest import Command
from tests.report.test_every_format import ANSWERS


@pytest.mark.parametrize("name", ANSWERS)
def test_rows_of_tables_have_as_many_cells(name: str) -> None:
    """And blocks end."""
    text = rendered(ANSWERS[name](), "org", Screen())
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    for header, rule, *rows in tables:
        assert {row.count("|") for row in (header, *rows)} == {header.count("|")}
        assert rule == "|" + "+".join(["---"] * (header.count("|") - 1)) + "|"
    assert text.count("#+begin_example") == text.count("#+end_example")
    assert tables or "#+begin_example" in text


def test_a_file_is_what_the_shell_shows(gradcli: Command, folder: object) -> None:
    """By its suffix."""
    assert gradcli("vjp", "x**2", "--at", "1,2", "--v", "1,1", "-o", "a.org").code == 0
    shown = gradcli("vjp", "x**2", "--at", "1,2", "--v", "1,1", "--format", "org").out
    with open("a.org", encoding="utf-8") as file:
        assert file.read() == shown == f"{Function('x**2').vjp([1, 2], [1, 1]):org}\n"
    assert "| x | (2,) | [1, 2] |" in shown

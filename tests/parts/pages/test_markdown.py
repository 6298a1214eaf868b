"""Answers in Markdown: all words of the table, and no markup of what was typed."""

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from gradcli import Function
from gradcli.parts.pages import markdown
from gradcli.report import Screen, rendered
from tests.report.test_every_format import ANSWERS, SLOW


@pytest.mark.parametrize("name", ANSWERS)
def test_markdown_has_all_words_of_the_table(name: str) -> None:
    """In the same order, but for frames and signs."""
    answer = ANSWERS[name]()
    table, written = (
        re.sub(r"[^\w.]+", " ", text).split()
        for text in (rendered(answer, "full", Screen()), rendered(answer, "markdown", Screen()).replace("<br>", " "))
    )
    if name != "Functions":  # whose cells have lines
        rest = iter(written)
        assert all(word in rest for word in table)
    assert set(table) <= set(written)


@SLOW
@given(st.text())
def test_markdown_of_any_text_has_no_markup(words: str) -> None:
    """Every sign that would mean something is escaped, and taking the escapes away gives the text."""
    found = markdown.escaped(words)
    assert re.sub(r"\\([\\`*<>|~$_&\[#+=.)-])", r"\1", found) == words
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*<>|~$]", found)


def test_markdown_of_code_outlasts_its_backticks() -> None:
    """Within a line and in a block."""
    assert markdown.code("a`b``c") == "```a`b``c```"
    assert markdown.fenced("```\n", "python") == "````python\n```\n````\n"


def test_pipes_stay_in_their_cells() -> None:
    """In formulas and in words."""
    shown = rendered(Function("where((x > 0) | (x < -1), x, 0)").grad({"x": 1.0}), "markdown", Screen())
    for block in shown.split("\n\n"):
        lines = [line for line in block.split("\n") if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) <= 1

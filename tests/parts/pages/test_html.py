"""Pages of HTML: whole, of themselves alone, readable on any ground, with nothing in them that was typed as a tag."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gradcli import Function
from gradcli.parts.pages import html
from gradcli.report import Screen, rendered
from gradcli.report.document import Styled, Table, lines
from tests.conftest import Command
from tests.report.test_every_format import ANSWERS

VOID = {"meta", "br"}
HOSTILE = '<script>alert("1")</script>&amp;'


class Page(HTMLParser):
    """A page taken apart; one whose elements do not close fails."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    @property
    def rows(self) -> list[list[str]]:
        """Rows of all tables."""
        return [row for table in self.tables for row in table]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open += [tag] * (tag not in VOID)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("th", "td"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)
        if self.open and {"th", "td"} & {*self.open}:
            self.tables[-1][-1][-1] += data


@pytest.mark.parametrize("name", ANSWERS)
def test_a_page_is_whole_and_needs_nothing(name: str) -> None:
    """Every element is closed, there is a title, and nothing is fetched or run."""
    text = rendered(ANSWERS[name](), "html", Screen())
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>\n")
    assert {"html", "head", "title", "style", "body"} <= {tag for tag, _ in page.elements}
    tags = {tag for tag, _ in page.elements}
    assert tags.isdisjoint({"link", "img", "iframe", "object"})
    assert ("script" in tags) == (name == "Explanation")  # which shows its steps one after the other
    assert not {"src", "href", "onclick", "style"} & {key for _, attrs in page.elements for key in attrs}
    assert "url(" not in text.replace("url(#tip)", "")
    assert "@import" not in text


@pytest.mark.parametrize("name", sorted(set(ANSWERS) - {"Functions", "Explanation"}))
def test_a_page_has_all_words_of_the_full_screen(name: str) -> None:
    """In the same order, but for frames and signs."""
    answer = ANSWERS[name]()
    table = re.sub(r"[^\w.]+", " ", rendered(answer, "full", Screen())).split()
    page = Page(rendered(answer, "html", Screen()))
    rest = iter(re.sub(r"[^\w.]+", " ", " ".join(page.words)).split())
    assert all(word in rest for word in table)


@pytest.mark.part("claims")
def test_what_was_typed_is_no_markup() -> None:
    """In a cell, in the title, in a claim."""
    page = html.render((Table(lines(HOSTILE), (lines(Styled(HOSTILE, "code")),)),))
    assert Page(page).rows == [[HOSTILE], [HOSTILE]]
    for text in (
        rendered(Function("where(x < 1, x, 2*x)").grad(3), "html", Screen()),
        rendered(Function("x").check(3, claim={"": "1 + 0*(x<1)"}), "html", Screen()),
    ):
        assert "x &lt; 1" in text or "x&lt;1" in text
        assert "x < 1" in "".join(Page(text).words) or "x<1" in "".join(Page(text).words)


def test_numbers_of_a_matrix_stand_below_each_other_by_their_points() -> None:
    """As on a terminal: as many characters behind the point in each row."""
    text = Function("A@x").vjp({"A": [[1, 2], [3, 4.5]], "x": [5, 0.125]}, [1, 10], wrt=["x"])._repr_html_()
    column = [row[3] for row in Page(text).rows if len(row) == 4 and row[3] != "x[1]"]
    assert column == ["2\xa0\xa0", "4.5", "47\xa0\xa0"]


def test_all_rows_of_a_table_are_as_long_as_its_header() -> None:
    """Also rows in the place of many that are left out."""
    for answer in (Function("x**2").jacobian(list(range(300))), *(one() for one in ANSWERS.values())):
        page = Page(rendered(answer, "html", Screen()))
        assert all(len({len(row) for row in table}) == 1 for table in page.tables if table)
    assert "…" in Page(rendered(Function("x**2").jacobian([1] * 300), "html", Screen())).words


def test_the_shell_writes_pages(gradcli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the suffix, by the format and by the environment, the same each time."""
    words = ["vjp", "x**2", "--at", "1,2", "--v", "1,10"]
    for name in ("answer.html", "answer.HTM"):
        assert gradcli(*words, "-o", str(tmp_path / name)).code == 0
    told = gradcli(*words, "--format", "html").out
    monkeypatch.setenv("GRADCLI_FORMAT", "html")
    assert (
        gradcli(*words).out == told == (tmp_path / "answer.html").read_text() == (tmp_path / "answer.HTM").read_text()
    )
    assert "<title>y = x**2</title>" in told
    assert json.loads(gradcli(*words, "--json").out)["vjp"] == {"x": [2.0, 40.0]}

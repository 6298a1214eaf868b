"""Screens without Unicode: every character that an answer may have stands for others there."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradcli as package
from gradcli import Function
from gradcli.report import Screen, rendered
from gradcli.report.document import in_ascii
from tests.examples import part
from tests.recorded import COMMANDS, answer
from tests.sources import nodes

TABLES = [c for c in COMMANDS if c.isascii() and "--format" not in c and "--json" not in c]
OWN_SIGNS = (
    "tokens.py",
    "signs.py",
    "spelling.py",
    "contracting.py",
    "expression.py",
    "hints.py",
    "inputs.py",
    "drawings.py",
    "operations.py",
    "characters.py",
    "heat_maps.py",
    "explain_page.py",
)
"""Modules that read signs, or have signs for either screen."""

SOURCES = [
    source
    for source in sorted(Path(package.__file__).parent.rglob("*.py"))
    if {"printing", "notation"}.isdisjoint(source.parts) and source.name not in OWN_SIGNS
]


@pytest.mark.parametrize("command", part(TABLES, 0, of=6))
@pytest.mark.one_in(4)
def test_every_recorded_answer_has_an_ascii_form(command: str) -> None:
    """Nothing is left to be written as an escape."""
    output = answer(command)
    assert rendered(output.answer, output.options.form, Screen(ascii=True), output.options.digits).isascii()


def _words(source: Path) -> Iterator[str]:
    """The texts of a module that are no docstrings."""
    docs = {id(node.value) for node in nodes(source) if isinstance(node, ast.Expr)}
    for node in nodes(source):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def _is_of_hints(source: Path) -> bool:
    """Tell whether a module holds patterns of what people type, from which hints are made."""
    return source.parent.name == "suggestions" or source.name.startswith("respelled_")


def test_every_sign_in_our_own_words_has_an_ascii_form() -> None:
    """The words of answers, wherever they are written."""
    typed = (
        "spellings.py",
        "spelled_texts.py",
        "spelled_operators.py",
        "spelled_calls.py",
        "units.py",
        "greek.py",
        "juxtaposed_names.py",
        "given_masks.py",
        "written_derivatives.py",
        "dot_products.py",
        "no_variables.py",
        "divisors.py",
    )  # patterns of what is typed, besides those of hints
    for source in (source for source in SOURCES if source.name not in typed and not _is_of_hints(source)):
        for words in _words(source):
            assert in_ascii(words).isascii(), (source, words)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gb18030"])
def test_columns_are_in_line_around_escapes(encoding: str) -> None:
    """A name that the encoding has stays; else its escape is as wide as it is written."""
    answer = Function("λ*é").eval({"λ": 1.0, "é": 2.0})
    shown = rendered(answer, "full", Screen(ascii=True, encoding=encoding))
    assert shown.encode(encoding).decode(encoding) == shown
    assert ("é" in shown) == (encoding != "ascii")
    rows = [line for line in shown.splitlines() if line.startswith("| ")]
    assert len({line.index("|", 2) for line in rows[:4]}) == 1

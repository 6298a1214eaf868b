"""Options in messages: the shell and Python name each in its own way, from one text."""

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gradcli
from gradcli import Function, GradcliError
from gradcli.cli.signatures import KINDS_BY_VARIABLE, every_option
from gradcli.errors import InputError
from gradcli.option_words import (
    BY_VARIABLE as BY_VARIABLE_NAMES,
    FORMAT_SWITCHES,
    LISTS,
    NAMES,
    Words,
    command,
    in_python,
    in_shell,
    marked,
    method,
    option,
    source,
)
from tests import of_parts
from tests.conftest import Command
from tests.sources import nodes

PACKAGE = Path(gradcli.__file__).parent

SAID = [
    (option("v", "1,1"), "--v 1,1", "v=[1, 1]"),
    (option("v", "ones"), "--v ones", 'v="ones"'),
    (option("v", "e0"), "--v e0", 'v="e0"'),
    (option("u", "x=1,1"), "--u x=1,1", 'u={"x": [1, 1]}'),
    (option("at", "x=VALUE", "w=-1.5e3"), "--at x=VALUE --at w=-1.5e3", 'at={"x": VALUE, "w": -1.5e3}'),
    (option("at", "VALUE"), "--at VALUE", "at=VALUE"),
    (option("at", of="x"), "--at x", 'at["x"]'),
    (option("at"), "--at", "at"),
    (option("shape", "B=2,3"), "--shape B=2,3", 'shape={"B": (2, 3)}'),
    (option("shape", "A=m,n"), "--shape A=m,n", 'shape={"A": "m,n"}'),
    (option("in", '"x=0..1"'), '--in "x=0..1"', 'box={"x": "0..1"}'),
    (option("in", of="x"), "--in x", 'box["x"]'),
    (option("claim", '"2*x"'), '--claim "2*x"', 'claim="2*x"'),
    (option("rtol", "0.026"), "--rtol 0.026", "rtol=0.026"),
    (option("random", "20,000"), "--random 20,000", "random=20000"),
    (option("to", "torch"), "--to torch", 'to="torch"'),
    (option("wrt", "x,y"), "--wrt x,y", 'wrt=["x", "y"]'),
    (option("wrt"), "--wrt", "wrt"),
    (option("no-check"), "--no-check", "check=False"),
    (option("full"), "--full", 'f"{answer:full}"'),
    (command("graph", option("show", "y")), "gradcli graph --show y", 'graph(show=["y"])'),
    (method("jacobian"), "the jacobian command", "the method jacobian"),
    (source("--at x"), "--at x", 'at["x"]'),
    (source("--loss"), "--loss", "loss"),
    (source("EXPR"), "EXPR", "EXPR"),
    ("x - --y and a--b stay", "x - --y and a--b stay", "x - --y and a--b stay"),
]


@pytest.mark.parametrize(("text", "shell", "python"), SAID)
def test_an_option_is_named_as_it_is_written(text: str, shell: str, python: str) -> None:
    """Values as each writes them, in a sentence that goes on."""
    assert in_shell(f"give {text}, or not") == f"give {shell}, or not"
    assert in_python(f"give {text}, or not") == f"give {python}, or not"


@pytest.mark.part("claims", "closed_forms", "code", "explain", "improve", "plot", "tables")
def test_names_are_those_of_the_options() -> None:
    """What is told of some of them here is what their signatures say."""
    options = {one.flag.removeprefix("--"): one for _, one in every_option() if one.flag}
    for name, keyword in NAMES.items():
        assert options[name].name == keyword
    for name in (*BY_VARIABLE_NAMES, *LISTS, *FORMAT_SWITCHES):
        assert name in options
    by_variable = {name for name, one in options.items() if one.kind in KINDS_BY_VARIABLE}
    assert by_variable == {*BY_VARIABLE_NAMES}


SHELL = ("cli", "parts/warm", "parts/tables", "parts/batch")
"""Rooms whose messages only the shell shows."""

COMMAND_LINES = {
    ("errors.py", " --at VALUE"),
    ("language/lower/names.py", "::NAME --at VALUE asks of a function in it"),
    (
        "language/text/hints.py",
        "an autograd.Function is code, and is checked by its name: gradcli check FILE.py::NAME --at VALUE",
    ),
    (
        "language/text/hints.py",
        "gradcli has no such function; code that calls it is run: gradcli check FILE.py::NAME --at VALUE",
    ),
    ("language/text/source.py", "--"),
    ("language/text/source.py", 'options stand outside of the quotes: "..." --'),
    ("questions/functions.py", " --v "),
    ("report/render/array_files.py", "add --at, or write .txt"),
    ("report/wording.py", "; with --require-all that exits with 1"),
    *of_parts.rows("COMMAND_LINES"),
}
"""Commands of the shell, which are typed there, and what the shell alone says."""


def _texts(module: Path) -> Iterator[str]:
    """The texts of code that are no documentation."""
    documentation = {id(node.value) for node in nodes(module) if isinstance(node, ast.Expr)}
    for node in nodes(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def test_no_message_has_an_option_in_the_words_of_the_shell_alone() -> None:
    """A text with a flag is the source of a value, such as `--at x`, or a whole command."""
    found = set()
    for module in PACKAGE.rglob("*.py"):
        place = str(module.relative_to(PACKAGE))
        if place.startswith(SHELL) or module.name in ("shell.py", "option_words.py"):
            continue
        for text in _texts(module):
            if re.search(r"(?<![\w-])--[a-z]| --$|^--$", text) and not re.fullmatch(r"--[a-z]+ ?", text):
                found.add((place, text))
    assert {one for one in found if one[1] != "--" or one[0] == "language/text/source.py"} == COMMAND_LINES


WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("x**2", "vjp", {"at": {"x": [1, 2]}}, "v"),
    ("x*w", "eval", {"at": {"x": 1}}, "at"),
    ("x*w", "eval", {"at": [1, 2]}, "at"),
    ("x*w", "jvp", {"at": {"x": [1, 2], "w": 1}}, "u"),
    ("sum(x**2)", "hvp", {"at": [1, 2]}, "u"),
]


@pytest.mark.parametrize(("text", "method", "given", "keyword"), WRONG)
def test_a_hint_says_an_argument_that_mends_it(text: str, method: str, given: dict[str, Any], keyword: str) -> None:
    """As it stands there, with a number for VALUE."""
    with pytest.raises(GradcliError) as caught:
        getattr(Function(text), method)(**given)
    found = re.search(rf"\b{keyword}=(.*?)(?= sums| moves|,? or |;|$)", caught.value.hint or "")
    assert found is not None, caught.value.hint
    argument = ast.literal_eval(found[1].replace("VALUE", "3"))
    old = given.get(keyword)
    mended = {**old, **argument} if isinstance(old, dict) else argument
    assert getattr(Function(text), method)(**{**given, keyword: mended}).value is not None


def test_an_error_as_text_is_all_of_it() -> None:
    """The message, the place and, last, the hint; a pickle has it too."""
    with pytest.raises(GradcliError) as caught:
        Function("x**2").eval({"x": "1,,2"})
    error = caught.value
    assert str(error).startswith(f'{error.message} (in at["x"])\n  1,,2\n    ^')
    with pytest.raises(GradcliError) as caught:
        Function("x**2").vjp([1, 2])
    error = caught.value
    assert str(error).endswith("\nhint: v=[1, 1] sums the elements of y; e0 picks y[0]; jacobian needs no v")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "--v 1,1 sums" in error.render()


def test_what_was_typed_is_no_option() -> None:
    """Also where it has the signs that mark one."""
    error = InputError(f"there is no \ufdd0at\ufdd2 in {option('at')}")
    assert "\ufdd0" not in error.message + str(error) + error.render()


def test_a_long_message_is_cut_after_its_options_are_named() -> None:
    """No sign that marks one is left over."""
    error = InputError("x" * 199 + option("at", "x=VALUE") + "y" * 400)
    assert not re.search("[\ufdd0-\ufdd2]", error.render() + str(error))


def test_words_are_a_text_of_the_shell_that_knows_that_of_python() -> None:
    """A copy and a pickle too."""
    words = Words(f"{option('full')} shows them")
    assert (words, words.python) == ("--full shows them", 'f"{answer:full}" shows them')
    for one in (copy.deepcopy(words), pickle.loads(pickle.dumps(words)), Words(f"{marked(words)}")):
        assert (one, one.python) == (words, words.python)


def test_the_shell_keeps_its_own_words(gradcli: Command) -> None:
    """On stderr, and in JSON."""
    words = "--v 1,1 sums the elements of y; e0 picks y[0]; jacobian needs no v"
    assert f"hint: {words}\n" in gradcli("vjp", "x**2", "--at", "1,2").err
    assert f'"hint": "{words}"' in gradcli("vjp", "x**2", "--at", "1,2", "--json").err


@pytest.mark.part("pages")
def test_an_answer_is_shown_in_the_words_of_python() -> None:
    """The shell's screen names an option there; what was typed stays."""
    answer = Function("sqrt(x --y)").vjp({"x": [0.0] * 5, "y": 0}, "ones")
    assert "--full" not in str(answer)
    assert 'more; f"{answer:full}" shows them' in str(answer)
    assert "sqrt(x --y)" in str(answer)
    assert "sqrt(x --y)" in answer._repr_html_()
    assert len(f"{answer:full}") > len(str(answer))
    assert f"{answer:json}" == answer.to_json()
    assert f"{answer:html}".startswith("<!DOCTYPE html>")
    assert f"{answer}" == str(answer)
    with pytest.raises(ValueError, match="an answer has no format 'pdf'; known are table, full, json"):
        f"{answer:pdf}"


@pytest.mark.part("claims", "explain")
def test_remarks_of_an_answer_name_options_as_python_does() -> None:
    """Those that an answer holds, and says as text to JSON."""
    graph = Function("y = x**2; z = y**3").graph({"x": [1, 2]})
    assert any(note.endswith("needs --v") for note in graph.notes)
    assert "needs v" in str(graph)
    assert "--v" not in str(graph)
    refuted = Function("x**2/3").check({"x": 3}, claim={"x": "0.667*x"})
    assert "rtol=0.00051" in str(refuted)
    assert "--rtol" not in str(refuted)

"""Errors in Python: the message, the place and the hint in its words, by the rows of the options."""

import ast
import pickle
import re
from typing import Any

import pytest

from gradcli import Function, GradcliError
from gradcli.cli.signatures import every_option
from gradcli.keywords import in_python
from tests.conftest import Command
from tests.transcripts import recorded

OURS = re.compile(r"^(?:error|hint): (.*)", re.MULTILINE)


def test_no_error_leaves_an_option_of_the_shell() -> None:
    """From every recorded command line."""
    for one in recorded("errors"):
        for words in OURS.findall(one.printed):
            assert "--" not in in_python(words)
            assert in_python(in_python(words)) == in_python(words)


def test_every_option_is_said_by_its_keyword() -> None:
    """Also the next one."""
    for _, option in every_option():
        said = in_python(f"leave out {option.flag}, which is wrong")
        assert not option.help or ("--" not in said and (option.name in said or option.key in said)), option


SAID = [
    ("--v 1,1 sums", "v=[1, 1] sums"),
    ("--v ones sums", 'v="ones" sums'),
    ('--v "2*y" is', 'v="2*y" is'),
    ("--u x=1,1; else", 'u={"x": [1, 1]}; else'),
    ("give --at x=VALUE --at w=-1.5e3", 'give at={"x": VALUE, "w": -1.5e3}'),
    ("--at x is not a value", 'at["x"] is not a value'),
    ('a range: --in "x=0..1"', 'a range: box={"x": "0..1"}'),
    ("--rtol 0.026 would accept it", "rtol=0.026 would accept it"),
    ("--check-rows 20,000 is too many", "check_rows=20000 is too many"),
    ("--to torch has", 'to="torch" has'),
    ("--wrt x,y asks", 'wrt=["x", "y"] asks'),
    ("--wrt for fewer variables", "wrt for fewer variables"),
    ("with --no-check it is not", "with check=False it is not"),
    ("and 3 more; --full shows them", 'and 3 more; f"{answer:full}" shows them'),
    ("gradcli check --help shows the options", "help(gradcli.Function.check) shows the options"),
    ("the jacobian command has no limit", "the method jacobian has no limit"),
    ("x - --y and a--b stay", "x - y and a--b stay"),
]


@pytest.mark.parametrize(("shell", "python"), SAID)
def test_words_of_the_shell_are_those_of_python(shell: str, python: str) -> None:
    """Values as Python writes them, and sentences that go on."""
    assert in_python(shell) == python


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


def test_the_shell_keeps_its_own_words(gradcli: Command) -> None:
    """On stderr, and in JSON."""
    words = "--v 1,1 sums the elements of y; e0 picks y[0]; jacobian needs no v"
    assert f"hint: {words}\n" in gradcli("vjp", "x**2", "--at", "1,2").err
    assert f'"hint": "{words}"' in gradcli("vjp", "x**2", "--at", "1,2", "--json").err


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

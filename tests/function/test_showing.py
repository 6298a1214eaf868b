"""Answers in the hands of Python, which prints, copies and pickles it, writes JSON, shows it in a notebook."""

import copy
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from IPython.lib import pretty

import gradcli
from gradcli import Function
from gradcli.report import rendered
from gradcli.report.document import Screen
from tests.conftest import Command
from tests.report.test_every_format import ANSWERS

NAMES = sorted(set(ANSWERS) - {"Functions"})


def test_print_is_what_the_shell_prints(gradcli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal of that width."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    run = gradcli("vjp", "abs(x)/3", "--at", "0,-2,3", "--v", "1,1,1", "--color", "never")
    assert run.out == f"{Function('abs(x)/3').vjp([0, -2, 3], [1, 1, 1])}\n"


@pytest.mark.parametrize("name", NAMES)
def test_json_is_that_of_the_shell(name: str) -> None:
    """To the byte, but that several products are one object; the dict is what is in it."""
    answer = ANSWERS[name]()
    text = answer.to_json()
    assert "\n" not in text
    assert answer.to_dict() == json.loads(text)
    written = [json.loads(line) for line in rendered(answer, "json", Screen()).splitlines()]
    if name == "Products":
        assert answer.to_dict() == {"schema": 1, "command": "vjp", "answers": written}
    else:
        assert f"{text}\n" == rendered(answer, "json", Screen())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda one: pickle.loads(pickle.dumps(one))])
@pytest.mark.one_in(2)
def test_an_answer_is_copied_and_pickled_as_it_is(name: str, copied: Any) -> None:
    """Every text and number, and what is printed of it."""
    answer = ANSWERS[name]()
    other = copied(answer)
    assert str(other) == str(answer)
    assert other.to_json() == answer.to_json()


def test_a_pickle_is_shown_by_a_fresh_python() -> None:
    """A process that has not asked anything."""
    pickled = pickle.dumps(Function("x**2").vjp([1, 2], [1, 1]))
    script = f"import pickle; print(pickle.loads({pickled!r}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, encoding="utf-8")
    assert "2·x[i]·δ[i,j]" in run.stdout


@pytest.mark.part("pages")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("verdict", "it is answer.check.verdict"),
        ("ok", "it is answer.passed"),
        ("J", "it is answer.jacobian"),
        ("gradient", 'it is answer["x"]'),
        ("csv", 'it is f"{answer:csv}"'),
        ("plain", 'it is f"{answer:plain}"'),
        ("markdown", 'it is f"{answer:markdown}"'),
        ("formats", 'it is f"{answer:FORMAT}", with one of table, full, json'),
        ("save", 'it is pathlib.Path(FILE).write_text(f"{answer:FORMAT}"), with one of table, full, json'),
        ("passd", "did you mean 'passed'?"),
    ],
)
def test_an_attribute_of_another_name_is_named(name: str, said: str) -> None:
    """And what the hint names is there."""
    answer = gradcli.grad("x**2", 3)
    with pytest.raises(AttributeError, match=re.escape(said)):
        getattr(answer, name)
    assert not hasattr(answer, "__nothing__")
    assert answer.check
    assert (answer.check.verdict, answer.passed, float(answer["x"])) == ("agree", True, 6)


@pytest.mark.part("pages")
@pytest.mark.parametrize(
    "ask",
    [
        lambda: gradcli.grad("x**2", 3),
        lambda: gradcli.grad("a.T@inv(X)@b", wrt="X"),
        lambda: gradcli.vjp("x**2", [1, 2], v=[1, 1]),
        lambda: gradcli.jacobian("[x*y, x]", x=1, y=2),
        lambda: gradcli.hessian("x**3", 2),
        lambda: gradcli.eval("x**2", 3),
        lambda: gradcli.check("x**2", 3),
    ],
)
def test_an_answer_has_its_latex(ask: Callable[[], Any]) -> None:
    """With numbers or without, as a format has it."""
    answer = ask()
    assert answer.latex == f"{answer:latex}"
    assert "\\noindent" in answer.latex


@pytest.mark.parametrize("name", NAMES)
def test_what_an_answer_offers_is_its_own(name: str) -> None:
    """No attribute is a function of the package that takes other things than it says."""
    answer = ANSWERS[name]()
    assert {"write", "formats", "ask", "tensor", "in_a_line"}.isdisjoint(dir(answer))
    with pytest.raises(AttributeError, match=re.escape('pathlib.Path(FILE).write_text(f"{answer:FORMAT}")')):
        answer.write("answer.txt")


@pytest.mark.parametrize("command", ["grad", "vjp", "jacobian", "hessian", "eval", "check"])
def test_a_check_is_a_line(command: str) -> None:
    """With its verdict, and how much of the answer was compared."""
    answer = getattr(gradcli, command)("x**2", 3)
    assert repr(answer.check) == str(answer.check) == "✓ agree (proven)   1 of 1 entries"


@pytest.mark.parametrize(
    ("name", "said"), [("gradgradcheck", "gradcli.hessian is"), ("value_and_grad", "gradcli.grad is")]
)
def test_a_function_of_another_name_is_named(name: str, said: str) -> None:
    """As the shell does."""
    with pytest.raises(AttributeError, match=said):
        getattr(gradcli, name)
    assert vars(gradcli)["__getattr__"]("jacrev")("x**2", 3)["x"] == 6


@pytest.mark.part("pages")
def test_a_notebook_is_given_html_latex_and_text() -> None:
    """The compact screen, all in LaTeX without a remark on packages, and the screen as text."""
    answer = Function("abs(x)").vjp([0, 1], [1, 1])
    assert answer._repr_html_().startswith('<div class="gradcli">')
    assert "∧ kink" in answer._repr_html_()
    assert "\\begin{align*}" in answer._repr_latex_()
    assert "usepackage" not in answer._repr_latex_()
    shown: str = pretty.pretty(answer)  # type: ignore[no-untyped-call]
    assert shown == repr(answer) == str(answer)

"""What the core does with no part at all: a text and a point in, numbers, formula and verdict out."""

import json
import shlex

import pytest

from gradcli import Function, GradcliError
from tests.conftest import Command

PLAIN = [
    ('vjp "x**2" --at 1,2 --v 1,1', "2 4\n"),
    ('vjp "[x*y, x+y]" --at x=3 --at y=5 --v e0', "5\n3\n"),
    ('jacobian "[x*y, x+y]" --at x=3 --at y=5', "5 3\n1 1\n"),
    ('grad "sum(exp(x))" --at 0,0', "1 1\n"),
    ('jvp "x**2" --at 1,2 --u 1,0', "2 0\n"),
    ('hessian "x[0]**2*x[1]" --at 1,2', "4 2\n2 0\n"),
    ('hvp "sum(x**3)" --at 1,2 --u ones', "6 12\n"),
    ('eval "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6', "17 39\n"),
    ('"x**2" --at 3', "6\n"),
]
"""Command lines and their numbers, derived by hand."""


@pytest.mark.parametrize(("words", "numbers"), PLAIN, ids=[words for words, _ in PLAIN])
def test_each_command_prints_its_numbers(gradcli: Command, words: str, numbers: str) -> None:
    """Bare, in --format plain."""
    run = gradcli(*shlex.split(words), "--format", "plain")
    assert (run.code, run.out) == (0, numbers), run.err


VERDICTS = {
    "x**2": ("3", "agree"),
    "abs(x)": ("0", "kink"),
    "x**2/x": ("0", "removable"),
    "sqrt(x)": ("-1", "undefined"),
    "(1 - cos(x))/x**2": ("1e-8", "inaccurate"),
    "where(x > 0, x, 2*x)": ("0", "kink"),
    "x*detach(x)": ("2", "cut"),
}


@pytest.mark.parametrize("text", VERDICTS)
def test_the_verdict_is_proved(text: str) -> None:
    """By an enclosure, for one function of each kind."""
    at, verdict = VERDICTS[text]
    check = Function(text).grad(at).check
    assert check is not None
    assert check.verdict == verdict


def test_the_formula_is_confirmed() -> None:
    """In index notation."""
    answer = Function("x**2").jacobian([1, 2])
    assert answer.symbolic["x"].text == "2*x[i]*KroneckerDelta(i, j)"
    assert answer.check is not None
    assert answer.check.proven


def test_json_has_all_of_it(gradcli: Command) -> None:
    """A line, with the schema."""
    found = json.loads(gradcli("vjp", "x**2", "--at", "1,2", "--v", "1,1", "--json").out)
    assert found["vjp"] == {"x": [2.0, 4.0]}
    assert found["check"]["verdict"] == "agree"


@pytest.mark.parametrize("text", ["x**", "sin(", "unknown(x)", "x + y z"])
def test_a_mistake_has_one_message(gradcli: Command, text: str) -> None:
    """And exit code 2."""
    run = gradcli("vjp", text, "--at", "1")
    assert run.code == 2
    assert run.err.startswith("error: ")
    with pytest.raises(GradcliError):
        Function(text).grad(1)

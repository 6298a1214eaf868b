"""Requests at the rim of what is allowed are answered or refused; `python -m tests.requests.fuzz 100000` tries more."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest

from gradcli.errors import GradcliError, InternalError
from gradcli.language.snippets import read as read_text
from gradcli.questions.question import JACOBIAN_ENTRIES, Inquiry
from gradcli.requests import answer, read
from tests.examples import examples
from tests.requests.asking import ask
from tests.requests.fuzz import Rim, complaint


def _refused(command: str, expression: str, **request: Any) -> str:
    with pytest.raises(GradcliError) as caught:
        ask(command, expression, **request)
    assert not isinstance(caught.value, InternalError)
    return caught.value.message


@pytest.mark.parametrize(
    ("expression", "count", "rewritten"),
    [
        ("where(x==0, 0, sin(x)/x)", 101, "where(x==0, 0, sin(x)/where(x==0, 1, x))"),
        ("where(x>0, sqrt(x), 0)", 102, "where(x>0, sqrt(where(x>0, x, 1)), 0)"),
    ],
)
def test_a_large_jacobian_has_a_rewrite_too(expression: str, count: int, rewritten: str) -> None:
    """Of more entries than are shown beside a product; the rewritten text is tried by a product of its own."""
    found = ask("jacobian", expression, at={"x": f"linspace(-1,1,{count})"}).check
    assert found.entries > JACOBIAN_ENTRIES
    assert found.rewrite is not None
    assert found.rewrite.expression == rewritten


@pytest.mark.parametrize("values", ["einsum('i,i->', ones(2))", "einsum('i', ones(2), ones(2))", "einsum(',', 1)"])
def test_an_equation_is_of_as_many_operands_as_it_says(values: str) -> None:
    """In a value, in an expression, and in a definition."""
    assert "operand" in _refused("eval", "x", at={"x": values})
    assert _refused("eval", f"x + {values}", at={"x": 1})


@pytest.mark.parametrize(
    "snippet",
    [
        "z = y**2; torch.autograd.grad(z, x)",
        "z = 3; torch.autograd.grad(z, x)",
        "z = 3*x.detach(); w = y; torch.autograd.grad(w, [x, y])",
    ],
)
def test_what_torch_refuses_to_differentiate_by_is_refused(snippet: str) -> None:
    """A tensor that the output is not computed from."""
    leaves = "x = torch.tensor(1., requires_grad=True); y = torch.tensor(2., requires_grad=True); "
    assert "depend on x" in _refused("grad", leaves + snippet)


def test_a_formula_without_a_value_is_none() -> None:
    """0**x has the derivative 0**x*log(0), which SymPy cannot even write down beside another term."""
    found = ask("grad", "sum(where(x > 0, 0**x, -x))", at={"x": "[0.0]"})
    assert not found.symbolic
    assert "no value" in str(found.symbolic_omitted)


@pytest.mark.parametrize("sizes", [("zeros(0)", "1"), ("1", "zeros(0)"), ("zeros(0,2)", "zeros(2,0)"), ("[0.0]", "1")])
def test_a_hessian_may_have_no_rows(sizes: tuple[str, str]) -> None:
    """Of variables without elements beside others."""
    found = ask("hessian", "sum(y**2)+sum(x)", at=dict(zip("xy", sizes, strict=True)))
    assert found.check.verdict in ("agree", "unchecked")


def test_nothing_is_padded_by_nothing() -> None:
    """A plain number has no sides."""
    assert ask("explain", "pad(x, ())", at={"x": "1"}, v="ones").check.verdict == "agree"


@pytest.mark.parametrize(
    "expression",
    [
        "norm(x, p=10**30)",
        "var(x, correction=10**30)",
        "x*arange(10**30, 10**30+2*10**20, 10**20)",
        "x*linspace(10**30, 10**31, 2)",
        "x*full((2,), 10**300)",
        "elu(x, 10**18)",
        "elu(x, -10**18)",
        "threshold(x, 10**30, 10**30)",
        "leaky_relu(x, 2**1023)",
        "polygamma(10**18, x)",
        "huber_loss(x, x, delta=10**300)",
    ],
)
@pytest.mark.parametrize("command", ["jacobian", "explain", "code"])
def test_integers_of_more_than_64_bits_are_numbers(expression: str, command: str) -> None:
    """As a float holds them; neither torch nor NumPy takes them."""
    request = {"command": command, "expression": expression, "at": {"x": [1, 2]}}
    assert not complaint(request | ({} if command == "jacobian" else {"v": "ones"}))


@pytest.mark.parametrize("number", [1.79e308, -1.79e308, 1.7976931348623157e308, 5e-324, -5e-324, 1e-300])
@pytest.mark.parametrize("expression", ["x", "0*x", "x*1e-310", "1e308*x", "pi*x"])
def test_claims_next_to_the_largest_float_are_judged(number: float, expression: str) -> None:
    """And next to the smallest."""
    assert not ask("check", expression, at={"x": 1}, claim=repr(number)).passed
    assert not ask("check", expression, at={"x": 1}, expect=number).passed


def test_numbers_of_another_shape_are_never_compared() -> None:
    """That torch runs a function of another shape than it was read is a bug of ours, said as one."""
    question = Inquiry("x**2", read_text("x**2"), {"x": "1,2"}).question()
    wrong = replace(question, shapes=dict.fromkeys(question.shapes, ()))
    with pytest.raises(InternalError, match="has shape"):
        _ = wrong.forward


EACH = examples(100)


@pytest.mark.parametrize("block", range(6))
def test_random_requests_at_the_rim_are_answered_or_refused(block: int) -> None:
    """Over the op table; see `tests.requests.fuzz`."""
    for seed in range(block * EACH, block * EACH + EACH):
        request = Rim(seed).request()
        assert not (reason := complaint(request)), f"seed {seed}: {request}\n{reason}"


def test_the_generator_sees_what_it_is_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any exception but a refusal, and a refusal that says it is a bug of ours."""
    request = {"command": "eval", "expression": "x", "at": {"x": 1}}
    assert complaint(request) == ""
    assert complaint({"command": "eval", "expression": "x +"}) == ""
    monkeypatch.setattr("tests.requests.fuzz.answer", lambda _: {"y": 1}["x"])
    assert "KeyError" in complaint(request)


def test_a_good_part_is_answered() -> None:
    """Or nothing would be tried behind the reading."""
    answered = 0
    for seed in range(200):
        with contextlib.suppress(GradcliError):
            answer(read(json.dumps(Rim(seed).request()).encode()))
            answered += 1
    assert answered > 50

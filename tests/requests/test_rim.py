"""Requests at the rim of what is allowed are answered or refused; `python -m tests.requests.fuzz 100000` tries more."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli.errors import GradcliError, InternalError
from gradcli.language.snippets import read as read_text
from gradcli.options import FORMATS
from gradcli.questions.question import JACOBIAN_ENTRIES, Inquiry
from gradcli.requests import answer, read
from tests.conftest import Command
from tests.examples import examples
from tests.requests.asking import ask
from tests.requests.fuzz import Rim, Spliced, complaint


def test_sizes_that_do_not_go_together_are_refused_without_a_point() -> None:
    """Where the definition is written by them."""
    loss = "sum(multilabel_margin_loss(1e308, nan, reduction='sum'))"
    assert "does not fit" in _refused("hessian", loss, shape={})
    assert "does not fit" in _refused("jacobian", "sorted(x, dim=(0,))", shape={"x": [1000000]})
    assert "at most 1,048,576" in _refused("vjp", "svd(zeros(10**9, 10**9), some=True)", v="ones")
    assert "at most 1,024" in _refused("vjp", "svd(zeros(1025, 1000), some=True)", v="ones")


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
        "polygamma(1_000, x)",
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


@pytest.mark.parametrize(
    "expression",
    [
        *("torch.vander(x, 2**40)", "sum(x, dim=10**9)", "softmax(x, 10**18)", "x.unsqueeze(10**9)", "max(x, 10**9)"),
        *("round(x, decimals=2**40)", "x.diff(2**40)", "polygamma(10**7, x)", "combinations(x, 10**6)", "x[2**40]"),
        *("x.flip((0, 10**9))", "x.view(2, 10**9)", "tile(x, (2**40,))", "x.repeat(2**40)", "one_hot(x, 2**40)"),
        *("as_strided(x, (2**26, 10**6), (1, 1))", "adaptive_max_pool1d([x], output_size=2**26)"),
        *("sum(linspace(0, 1, 10**9).split(1)) + x", "ones(2**20).unbind()[0]*x", "sum(median(ones(2**26)))*x"),
        *("sum(vander(ones(2**26)))*x", "scatter(zeros(10**9), 0, [0], 1)[0]*x", "sort(ones(2**20))[0]*x"),
        *("combinations(arange(40), 12)*sum(x)", "avg_pool1d([x], kernel_size=2**40)", "repeat_interleave(x, 2**40)"),
    ],
)
@pytest.mark.parametrize("at", [{}, {"at": {"x": [1, 2]}}])
def test_whole_numbers_are_bounded_by_their_meaning(expression: str, at: dict[str, Any]) -> None:
    """Before memory or time is taken, at a point and without one."""
    began = time.process_time()
    with pytest.raises(GradcliError) as refused:
        ask("jacobian", expression, **at)
    assert time.process_time() - began < 3
    assert refused.value.kind in ("too-large", "shape")
    assert refused.value.hint


@pytest.mark.parametrize(
    ("command", "expression", "more"),
    [
        ("jvp", "mean((X@w - y)**1000)", {}),
        ("improve", "(1 - cos(x))*(x**2**31 + 1) - x", {"in": {"x": "-1e300..1e300"}}),
        ("improve", "addcmul(x*0, x*0, [x,y], [x,y])", {"at": {"x": "0", "y": "1.7976931348623157e308"}}),
        ("improve", "matrix_exp((1e308 + x*0))", {"at": {"x": "[[0.5,-0.5],[2,3]]"}}),
        (
            "improve",
            "outer(-x, where(-1 > y/x, y/x, csc(10**30)))",
            {"at": {"x": "-10**30,10**30", "y": "-inf,inf"}, "dtype": "float32"},
        ),
        ("hvp", "sum(mse_loss(ceil(x), ceil(x)))", {"at": {"x": "1e300"}, "u": {"x": "NaN"}}),
        ("hvp", "sum(x*1e308 // [x,y])", {"at": {"x": "10**30", "y": "1"}, "u": {"x": 1.79e308}, "dtype": "float32"}),
    ],
)
def test_what_is_large_is_no_trouble(command: str, expression: str, more: dict[str, Any]) -> None:
    """A power is written out neither where a formula is shortened nor where it is rewritten; no step overflows."""
    began = time.process_time()
    assert not complaint({"command": command, "expression": expression, **more})
    assert time.process_time() - began < 20


@pytest.mark.parametrize("expression", ["eye(1000)", "linspace(0, 1, 10**6)", "zeros(1000, 1000)*0"])
@pytest.mark.parametrize("command", ["jacobian", "improve", "explain"])
def test_no_row_of_no_columns_is_computed(command: str, expression: str) -> None:
    """A constant of a million elements has an empty Jacobian."""
    began = time.process_time()
    ask(command, expression, **({"v": "ones"} if command == "explain" else {}))
    assert time.process_time() - began < 8


@pytest.mark.parametrize("at", ["ones(4), (4,), (1,)", "ones(1000, 9), (1000, 9), (2**40, 2**38)", "x, (2,), (1,), -1"])
def test_no_memory_beyond_a_tensor_is_read(at: str) -> None:
    """Whatever the strides are, which once were those of NumPy."""
    strides = "needs a stride" if "-1" in at else "reaches beyond"
    assert strides in _refused("eval", f"as_strided_scatter(x, {at})", at={"x": [1, 2]})


def test_large_values_are_refused_before_their_check_fills_the_memory() -> None:
    """It holds some nine numbers for each element of y."""
    assert "are held" in _refused("eval", "arange(2**25)*x", at={"x": 1})
    assert "are held" in _refused("eval", "x.view(2**26, -1)", at={"x": "zeros(0)"})
    assert ask("jacobian", "arange(10**9)*x").expression


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("text", ["2", "[1,2]", "eye(2)", "zeros(0)"])
def test_a_constant_is_a_function(text: str, form: str, gradcli: Command) -> None:
    """Of no variables, also with what there is to say of one."""
    assert gradcli("vjp", text, "--v", "ones", "--accumulate", "--format", form).code == 0
    assert gradcli("explain", text, "--v", "ones", "--format", form).code == 0


LEAF = "x = torch.tensor([1., 2.], requires_grad=True); "


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("print(", "never closed"),
        ("print(x, (", "never closed"),
        ("tensordot(x, x, 2**40)", "tensordot"),
        ("H = torch.autograd.fdim=unctional.he(x)", "unexpected '='"),
        ("sum(qr(zeros(0, 2))[0])", 0.0),
        (LEAF + "v = inv_ex(eye(2)); z = x**2; z.backward(v)", "gives 2 tensors"),
        (LEAF + "v = sort(ones(2)); z = x**2; z.backward(v)", "gives 2 tensors"),
        (LEAF + "v = ones(2).split(1); z = x**2; z.backward(v)", "gives 2 tensors"),
        ("sum([1, x > 1, 0])", [1.0, 2.0]),
        ("masked_select(x, [True, False, (x < 3)])", None),
        ("prelu(2, [3.])", 2.0),
        ("multilabel_margin_loss(1e308, nan)", "needs scores"),
    ],
)
def test_what_is_empty_of_several_parts_or_of_another_shape(text: str, answer: Any) -> None:
    """It is answered, or refused by its name."""
    at = {} if "x = " in text or "x" not in text.replace("max", "") else {"at": {"x": [1, 2]}}
    if isinstance(answer, str):
        assert answer in _refused("eval", text, **at)
    elif answer is not None:
        np.testing.assert_array_equal(ask("eval", text, **at).value, answer)
    else:
        assert not complaint({"command": "eval", "expression": text, **at})


EACH = examples(100)


@pytest.mark.parametrize("block", range(6))
def test_random_requests_at_the_rim_are_answered_or_refused(block: int) -> None:
    """Over the op table; see `tests.requests.fuzz`."""
    for seed in range(block * EACH, block * EACH + EACH):
        request = Rim(seed).request()
        assert not (reason := complaint(request)), f"seed {seed}: {request}\n{reason}"


@pytest.mark.parametrize("block", range(2))
def test_spliced_command_lines_are_answered_or_refused(block: int) -> None:
    """Those of the documents, in numbers of all magnitudes."""
    for seed in range(block * EACH, block * EACH + EACH):
        request = Spliced(seed).request()
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

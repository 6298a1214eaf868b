"""Requests at the rim of what is allowed are answered or refused; `python -m tests.fuzz 20` tries more."""

import json
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli.errors import GradcliError, InternalError
from gradcli.parts.paste.texts import read as read_text
from gradcli.questions.bound_function import JACOBIAN_ENTRIES, FunctionWithValues
from gradcli.registry import formats
from tests.conftest import Command
from tests.parts.batch.asking import ask


def _refused(command: str, expression: str, **request: Any) -> GradcliError:
    with pytest.raises(GradcliError) as caught:
        ask(command, expression, **request)
    assert not isinstance(caught.value, InternalError)
    return caught.value


TWO = {"at": {"x": [1, 2]}}

REWRITTEN = [
    ("where(x>0, sqrt(x), 0)", 102, "where(x > 0, sqrt(where(x > 0, x, 1)), 0)"),
    ("where(x==0, 0, sin(x)/x)", 101, "where(x == 0, 0, sin(x)/where(x == 0, 1, x))"),
]


@pytest.mark.parametrize(("expression", "count", "rewritten"), REWRITTEN)
@pytest.mark.one_in(2)
def test_a_large_jacobian_has_a_rewrite_too(expression: str, count: int, rewritten: str) -> None:
    """Of more entries than are shown beside a product; the rewritten text is tried by a product of its own."""
    found = ask("jacobian", expression, at={"x": f"linspace(-1,1,{count})"}).check
    assert found.entries > JACOBIAN_ENTRIES
    assert found.rewrite.expression == rewritten


def test_a_formula_without_a_value_is_none() -> None:
    """0**x has the derivative 0**x*log(0), which SymPy cannot even write down beside another term."""
    found = ask("grad", "sum(where(x > 0, 0**x, -x))", at={"x": "[0.0]"})
    assert not found.symbolic
    assert "no value" in str(found.symbolic_omitted)


VALUES = [
    ("sum(qr(zeros(0, 2))[0])", 0.0),
    ("sum([1, x > 1, 0])", [1.0, 2.0]),
    ("masked_select(x, [True, False, (x < 3)])", [1.0, 2.0, 1.0, 2.0]),
    ("prelu(2, [3.])", 2.0),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_what_is_empty_or_of_another_shape_has_a_value(text: str, value: Any) -> None:
    """As in torch."""
    np.testing.assert_array_equal(ask("eval", text, **(TWO if "x" in text else {})).value, value)


@pytest.mark.parametrize("number", [1.79e308, -1.79e308, 1.7976931348623157e308, 5e-324, -5e-324, 1e-300])
@pytest.mark.parametrize("expression", ["x", "0*x", "x*1e-310", "1e308*x", "pi*x"])
def test_claims_next_to_the_largest_float_are_judged(number: float, expression: str) -> None:
    """And next to the smallest."""
    assert not ask("check", expression, at={"x": 1}, claim=repr(number)).passed
    assert not ask("check", expression, at={"x": 1}, expect=number).passed


def test_numbers_of_another_shape_are_never_compared() -> None:
    """A function that torch runs with another shape than it was read is a bug of ours, said as one."""
    bound = FunctionWithValues("x**2", read_text("x**2"), {"x": "1,2"}).bind()
    wrong = replace(bound, shapes=dict.fromkeys(bound.shapes, ()))
    with pytest.raises(InternalError, match="has shape"):
        _ = wrong.forward


HUGE = [
    *("torch.vander(x, 2**40)", "sum(x, dim=10**9)", "softmax(x, 10**18)", "x.unsqueeze(10**9)", "max(x, 10**9)"),
    *("round(x, decimals=2**40)", "x.diff(2**40)", "polygamma(10**7, x)", "x[2**40]"),
    *("x.flip((0, 10**9))", "x.view(2, 10**9)", "tile(x, (2**40,))", "x.repeat(2**40)", "one_hot(x, 2**40)"),
    *("as_strided(x, (2**26, 10**6), (1, 1))", "adaptive_max_pool1d([x], output_size=2**26)"),
    *("sum(linspace(0, 1, 10**9).split(1)) + x", "ones(2**20).unbind()[0]*x", "sum(median(ones(2**26)))*x"),
    *("sum(vander(ones(2**26)))*x", "scatter(zeros(10**9), 0, [0], 1)[0]*x", "sort(ones(2**20))[0]*x"),
    *("avg_pool1d([x], kernel_size=2**40)", "repeat_interleave(x, 2**40)"),
]


@pytest.mark.parametrize("expression", HUGE)
@pytest.mark.parametrize("at", [{}, TWO])
def test_whole_numbers_are_bounded_by_their_meaning(expression: str, at: dict[str, Any]) -> None:
    """Before memory or time is taken, at a point and without one."""
    began = time.process_time()
    refused = _refused("jacobian", expression, **at)
    assert time.process_time() - began < 3
    assert refused.kind in ("too-large", "shape")
    assert refused.hint or "is out of bounds for" in refused.message


WIDE = [
    *("norm(x, p=10**30)", "var(x, correction=10**30)", "x*arange(10**30, 10**30+2*10**20, 10**20)"),
    *("x*linspace(10**30, 10**31, 2)", "x*full((2,), 10**300)", "elu(x, 10**18)", "elu(x, -10**18)"),
    *("threshold(x, 10**30, 10**30)", "leaky_relu(x, 2**1023)", "polygamma(1_000, x)"),
    "huber_loss(x, x, delta=10**300)",
]
"""Integers of more than 64 bits, which neither torch nor NumPy takes."""

LARGE: list[Any] = [
    *(("jacobian", expression, TWO) for expression in WIDE),
    *((command, expression, TWO | {"v": "ones"}) for expression in WIDE for command in ("explain", "code")),
    # a power is written out neither where a formula is shortened nor where it is rewritten; no step overflows
    ("jvp", "mean((X@w - y)**1000)", {}),
    ("improve", "(1 - cos(x))*(x**2**31 + 1) - x", {"in": {"x": "-1e300..1e300"}}),
    ("improve", "addcmul(x*0, x*0, [x,y], [x,y])", {"at": {"x": "0", "y": "1.7976931348623157e308"}}),
    pytest.param(
        "improve", "matrix_exp((1e308 + x*0))", {"at": {"x": "[[0.5,-0.5],[2,3]]"}}, marks=pytest.mark.thorough
    ),
    (
        "improve",
        "outer(-x, where(-1 > y/x, y/x, csc(10**30)))",
        {"at": {"x": "-10**30,10**30", "y": "-inf,inf"}, "dtype": "float32"},
    ),
    ("hvp", "sum(x*1e308 // [x,y])", {"at": {"x": "10**30", "y": "1"}, "u": {"x": 1.79e308}, "dtype": "float32"}),
    # no row of no columns is computed: a constant of a million elements has an empty Jacobian
    *((command, "eye(1000)", {}) for command in ("jacobian", "improve")),
    # no elements, of variables beside others; nothing is padded by nothing
    *(
        ("hessian", "sum(y**2)+sum(x)", {"at": dict(zip("xy", sizes, strict=True))})
        for sizes in (("zeros(0)", "1"), ("1", "zeros(0)"), ("zeros(0,2)", "zeros(2,0)"), ("[0.0]", "1"))
    ),
    ("jacobian", "arange(10**9)*x", {}),
]


@pytest.mark.parametrize(("command", "expression", "more"), LARGE)
@pytest.mark.one_in(8)
def test_large_and_empty_are_no_trouble(command: str, expression: str, more: dict[str, Any], gradcli: Command) -> None:
    """It is answered or refused, soon."""
    began = time.process_time()
    run = gradcli("batch", given=json.dumps({"command": command, "expression": expression, **more}))
    assert (run.code in (0, 2), run.out.count("\n"), run.err) == (True, 1, ""), run
    json.loads(run.out, parse_constant=pytest.fail)
    assert time.process_time() - began < 20


@pytest.mark.parametrize("form", formats())
@pytest.mark.parametrize("text", ["2", "[1,2]", "eye(2)", "zeros(0)"])
def test_a_constant_is_a_function(text: str, form: str, gradcli: Command) -> None:
    """Of no variables, also with what there is to say of one."""
    assert gradcli("vjp", text, "--v", "ones", "--accumulate", "--format", form).code == 0
    assert gradcli("explain", text, "--v", "ones", "--format", form).code == 0

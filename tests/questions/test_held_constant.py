"""What a text holds constant is a cut where the derivative lacks it, as in a function of Python."""

import re
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import gradcli
from gradcli import Function
from gradcli.results import Block, RowSource
from tests.checks import check_of

HELD = [
    ("x*x.item()", 3.0, "cut", "x.item() is held constant: by x the gradient is 3, without that 6"),
    ("x*float(x)", 3.0, "cut", "float(x) is held constant: by x the gradient is 3, without that 6"),
    ("x*x.data", 3.0, "cut", "x.data is held constant: by x the gradient is 3, without that 6"),
    ("x*x.detach()", 3.0, "cut", "x.detach() is held constant: by x the gradient is 3, without that 6"),
    ("x*torch.tensor(x)", 3.0, "cut", "torch.tensor(x) is held constant: by x the gradient is 3, without that 6"),
    ("(x*torch.from_numpy(x.detach().numpy())).sum()", [1.0, 3.0], "cut", "by x[1] the gradient is 3, without that 6"),
    (
        "(x*x.detach()).sum()",
        [1.0, 3.0],
        "cut",
        "x.detach() is held constant: by x[1] the gradient is 3, without that 6",
    ),
    ("(x - x.max().detach()).exp().sum()*0 + x.sum()", [1.0, 3.0], "agree", ""),
    ("torch.log(torch.exp(x - x.max().detach()).sum()) + x.max().detach()", [1.0, 3.0], "agree", ""),
    ("(x*(x.detach() > 0)).sum()", [1.0, -3.0], "agree", ""),
    ("(x*x.detach().sign()).sum()", [1.0, -3.0], "agree", ""),
    ("x + x.detach().abs()", 0.0, "kink", "has a kink here"),
    ("x.detach()*0 + x", 2.0, "agree", ""),
    ("x**2 + 1e-7*x*x.detach()", 2.0, "cut", "by x the gradient is 4.0000002, without that 4.0000004"),
    ("x**2 + 1e-30*x*x.detach()", 2.0, "agree", ""),
    ("(x.detach() + torch.cos(x))**3", 0.5, "cut", "by x the gradient is -2.72947, without that 2.96374"),
    (
        "torch.nn.functional.embedding(torch.tensor([0, 1, 1]), x, padding_idx=1).sum()",
        [[1.0], [3.0]],
        "cut",
        "the row padding_idx of torch.nn",
    ),
    ("torch.nn.functional.embedding(torch.tensor([0, 0]), x, padding_idx=1).sum()", [[1.0], [3.0]], "agree", ""),
]

LEAVES_TORCH = re.compile("item|float|tensor|numpy")
"""What makes numbers of tensors in code, of which nothing is proven."""


@pytest.mark.part("running")
@pytest.mark.filterwarnings("ignore:.*torch.tensor", "ignore:Converting")
@pytest.mark.parametrize(("text", "x", "verdict", "words"), HELD, ids=[text for text, *_ in HELD])
@pytest.mark.one_in(2)
def test_text_and_code_say_the_same_of_what_is_held_constant(text: str, x: Any, verdict: str, words: str) -> None:
    """A part of the derivative is missing, or there is a kink, or it changes nothing."""
    check = check_of(Function(text).grad({"x": x}))
    assert check.verdict == verdict
    assert (words in check.findings[0].note) if words else not check.findings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        as_code = check_of(
            gradcli.record(eval(f"lambda x: {text}", {"torch": torch}), torch.tensor(x, dtype=torch.float64)).grad()
        )
    assert as_code.verdict == verdict
    if not LEAVES_TORCH.search(text):
        assert as_code.proven == check.proven
        parts = [f.note.partition(" is held constant: ")[2] for one in (check, as_code) for f in one.findings]
        assert verdict != "cut" or len({*filter(None, parts)}) == 1  # the entries that lack it follow


@pytest.mark.part("claims")
def test_a_text_of_a_number_alone_has_no_derivative_left() -> None:
    """It was 0, proven."""
    answer = Function("x.item()**2").grad({"x": 3})
    assert (float(answer.grad["x"]), check_of(answer).verdict) == (0, "cut")
    assert not Function("x.item()**2").check({"x": 3}).passed
    assert Function("x.item()**2").check({"x": 3}, allow=["cut"]).passed


@pytest.mark.parametrize(
    ("command", "more", "words"),
    [
        ("vjp", {"v": "ones"}, "by x[1] the gradient of y[1] is 4, without that 12"),
        ("jacobian", {}, "by x[1] the gradient of y[1] is 4, without that 12"),
        pytest.param(
            "check", {}, "by x[1] the gradient of y[1] is 4, without that 12", marks=pytest.mark.part("claims")
        ),
        pytest.param(
            "explain",
            {"v": "ones"},
            "by x[1] the gradient of y[1] is 4, without that 12",
            marks=pytest.mark.part("explain"),
        ),
        ("jvp", {"u": [1, 1]}, "the slope along u of y[1] is 4, without that 12"),
    ],
)
def test_each_command_says_what_its_derivative_lacks(command: str, more: dict[str, Any], words: str) -> None:
    """Of x*detach(x)**2 at 1, 2 the slopes are detach(x)**2, and not 3*x**2."""
    check = check_of(getattr(Function("x*detach(x)**2"), command)({"x": [1, 2]}, **more))
    assert (check.verdict, check.findings[0].note) == ("cut", f"detach(x) is held constant: {words}")


@pytest.mark.parametrize(("command", "more"), [("hessian", {}), ("hvp", {"u": 1})])
def test_second_derivatives_lack_what_is_held_constant_too(command: str, more: dict[str, Any]) -> None:
    """Of x**2*detach(x) at 2 the second derivative is 4, and not 6*x."""
    check = check_of(getattr(Function("x**2*detach(x)"), command)({"x": 2}, **more))
    assert check.verdict == "cut"
    assert check.findings[0].note.endswith("is 4, without that 12")


def test_the_value_that_matters_is_named() -> None:
    """A shift that changes nothing comes first, and a value of another variable second."""
    text = "sum(exp(x - detach(amax(x))))/sum(exp(x - detach(amax(x)))) + y*detach(y) + z"
    check = check_of(Function(text).grad({"x": [1, 2], "y": 3, "z": 1}))
    assert check.findings[0].note == "detach(y) is held constant: by y the gradient is 3, without that 6"
    assert check_of(Function(text).grad({"x": [1, 2], "y": 3, "z": 1}, wrt=["x", "z"])).verdict == "agree"


def test_zeros_of_the_same_shape_are_constants_whatever_is_let_go() -> None:
    """zeros_like and ones_like are no values that are held."""
    assert check_of(Function("x*ones_like(x) + zeros_like(x)*x").grad({"x": 3})).verdict == "agree"
    check = check_of(Function("x*ones_like(x)*detach(x)").grad({"x": 3}))
    assert check.findings[0].note.endswith("by x the gradient is 3, without that 6")


@pytest.mark.part("closed_forms")
@pytest.mark.parametrize(
    ("command", "text", "verdict"),
    [
        ("grad", "x.item()**2", "cut"),
        ("jacobian", "x*detach(x)", "cut"),
        ("vjp", "x*x.data", "cut"),
        ("hessian", "x**2*detach(x)", "cut"),
        ("hvp", "x**2*detach(x)", "cut"),
        ("jvp", "x*detach(x)", "cut"),
        ("grad", "x**2*sign(detach(x))", "agree"),
        ("grad", "exp(x - detach(x))*exp(detach(x))", "agree"),
    ],
)
def test_a_formula_without_values_says_what_it_lacks(command: str, text: str, verdict: str) -> None:
    """It is compared with the derivative in which nothing is held constant, at random points."""
    answer = getattr(Function(text), command)()
    assert check_of(answer).verdict == verdict
    notes = [finding.note for finding in check_of(answer).findings]
    assert all("is held constant, and without that the derivative is another one" in note for note in notes)
    assert len(notes) == (verdict == "cut")


@pytest.mark.part("tables")
def test_rows_of_a_stream_are_cut_too() -> None:
    """The check of some rows is that of an answer."""
    stream = Function("x*detach(x)").stream(RowSource("the rows", {"x": ()}), check=True)
    list(stream.over([Block(np.arange(3), {"x": np.array([1.0, 2.0, 3.0])}, {})]))
    assert check_of(stream.passage()).verdict == "cut"

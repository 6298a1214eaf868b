"""Better forms where torch gives NaN: at kinks, at ends of a domain, for NaN in the input, in second derivatives."""

from typing import Any

import numpy as np
import pytest
import torch

import gradcli
from gradcli import Function
from tests.checks import check_of

ANGLE = "2*atan2(norm(u*norm(w) - w*norm(u)), norm(u*norm(w) + w*norm(u)))"

CASES = [
    ("sqrt(sum(x**2))", {"x": [0, 0]}, "norm(x)", "kink"),
    ("sqrt(x@x)", {"x": [0, 0]}, "norm(x)", "kink"),
    ("sum(sqrt(sum(x**2, dim=0)))", {"x": [[0, 1], [0, 2]]}, "sum(norm(x, dim=0))", "kink"),
    ("sqrt(x**2)", {"x": 0}, "abs(x)", "kink"),
    ("p*log(p)", {"p": 0}, "-entr(p)", "undefined"),
    ("-sum(p*log(p))", {"p": [0, 1]}, "sum(entr(p))", "undefined"),
    ("t*log(p)", {"t": 0, "p": 0}, "t*log(where(t == 0, 1, p))", "agree"),
    (
        "-(t*log(p)+(1-t)*log(1-p))",
        {"t": 1, "p": 1},
        "-(t*log(where(t == 0, 1, p)) + (1 - t)*log(where(1 - t == 0, 1, 1 - p)))",
        "agree",
    ),
    (
        "p = sigmoid(z); -mean(t*log(p)+(1-t)*log(1-p))",
        {"t": [1, 0, 1], "z": [0.5, -800, 40]},
        "-mean(t*logsigmoid(z) + (1 - t)*logsigmoid(-z))",
        "agree",
    ),
    ("x**(1/3)", {"x": -8}, "cbrt(x)", "agree"),
    ("acos(u@w/(norm(u)*norm(w)))", {"u": [1, 0], "w": [2, 0]}, ANGLE, "kink"),
    ("mean(x)", {"x": [1, np.nan, 3]}, "nanmean(x)", "agree"),
    ("sum(x)", {"x": [1, np.nan, 3]}, "nansum(x)", "agree"),
    ("softmax(m)@w", {"m": [-np.inf, -np.inf], "w": [1, 2]}, "softmax(maximum(m, -1e+30))@w", "agree"),
    (
        "sum(log_softmax(x + t, 1)**2)",
        {"x": [[1, 2], [3, 4]], "t": [[-np.inf, -np.inf], [0, 0]]},
        "sum(log_softmax(maximum(x + t, -1e+30), dim=1)**2)",
        "agree",
    ),
    ("log(1-sigmoid(x))", {"x": 40}, "logsigmoid(-x)", "agree"),
]


@pytest.mark.parametrize(("text", "at", "better", "verdict"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.one_in(4)
def test_a_form_has_a_number_where_the_typed_one_has_nan(
    text: str, at: dict[str, Any], better: str, verdict: str
) -> None:
    wrt = [name for name in at if name != "t"]
    rewrite = check_of(Function(text).grad(at, wrt=wrt)).rewrite
    assert rewrite is not None
    assert (rewrite.expression, rewrite.verdict) == (better, verdict)
    again = Function(better).grad(at, wrt=wrt)
    assert not any(np.isnan(gradient).any() for gradient in again.grad.values())


@pytest.mark.parametrize(
    ("text", "at"), [("mean(x**2)", {"x": [1, np.nan]}), ("sum(softmin(x + [1, 2]))", {"x": [np.inf, np.inf]})]
)
def test_a_number_whose_gradient_is_nan_is_no_better(text: str, at: dict[str, Any]) -> None:
    """A sum without the NaN has a value; torch still multiplies its slope of 0 by NaN."""
    assert check_of(Function(text).grad(at)).rewrite is None


@pytest.mark.parametrize("text", ["sqrt(x)", "acos(x-1)", "x**(1/3)", "log(x)", "norm(x)", "x*entr(x)"])
def test_what_is_truly_infinite_or_has_a_number_has_no_other_form(text: str) -> None:
    assert check_of(Function(text).grad({"x": 0})).rewrite is None


@pytest.mark.parametrize(
    ("text", "at", "better"),
    [
        ("where(x>0, sqrt(x), 0)", -1, "where(x > 0, sqrt(where(x > 0, x, 1)), 0)"),
        ("norm(x)**2", [0, 0], "sum(x**2)"),
    ],
)
def test_second_derivatives_have_better_forms_too(text: str, at: Any, better: str) -> None:
    direction = np.ones_like(np.asarray(at, dtype=float))
    for answer in (Function(text).hessian({"x": at}), Function(text).hvp({"x": at}, u={"x": direction})):
        rewrite = check_of(answer).rewrite
        assert rewrite is not None
        assert (rewrite.expression, rewrite.verdict) == (better, "agree")


def test_code_has_them_too() -> None:
    def length(x: torch.Tensor) -> torch.Tensor:
        return torch.sqrt((x**2).sum())

    rewrite = check_of(gradcli.grad(length, torch.zeros(2, dtype=torch.float64))).rewrite
    assert rewrite is not None
    assert rewrite.expression.endswith("norm(x)")


@pytest.mark.parametrize(
    ("text", "x", "said"),
    [
        ("exp(x)", 100, "y and the derivative would be NaN or infinite: --dtype float32"),
        ("atan(exp(x))", 100, "the derivative would be NaN"),
        ("exp(x)", 10, ""),
        ("exp(x)", 1000, ""),  # nor in float64
    ],
)
def test_what_fails_in_float32_alone_is_remarked(text: str, x: float, said: str) -> None:
    notes = [str(note) for note in check_of(Function(text).grad({"x": x})).notes if "float32" in note]
    assert bool(notes) == bool(said)
    assert said in "".join(notes)
    assert not any("float32" in note for note in check_of(Function(text).grad({"x": x}, dtype="float32")).notes)

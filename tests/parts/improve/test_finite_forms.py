"""Better forms where torch gives NaN: at kinks, at ends of a domain, for NaN in the input, in second derivatives."""

from typing import Any

import numpy as np
import pytest
import torch

import gradcli
from gradcli import Function
from tests.checks import check_of

ANGLE = "2*atan2(norm(u*norm(w) - w*norm(u)), norm(u*norm(w) + w*norm(u)))"

OF_ROWS = (
    "2*atan2(norm(u*norm(w, dim=1, keepdim=True) - w*norm(u, dim=1, keepdim=True), dim=1), "
    "norm(u*norm(w, dim=1, keepdim=True) + w*norm(u, dim=1, keepdim=True), dim=1))"
)
ANGLES = [
    "acos(u@w/(norm(u)*norm(w)))",
    "acos(dot(u, w)/(norm(u)*norm(w)))",
    "acos(sum(u*w)/norm(u)/norm(w))",
    "acos(clamp(u@w/(norm(u)*norm(w)), -1, 1))",
    "acos(sum(u*w)/sqrt(sum(u**2)*sum(w**2)))",
]
CUT = "-(t*log(maximum({0}, exp(-100))) + (1 - t)*log(maximum(1 - {0}, exp(-100))))"

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
    ("x**(2/3)", {"x": -8}, "cbrt(x)**2", "agree"),
    ("sqrt(x**2 + y**2)", {"x": 0, "y": 0}, "norm(stack([x, y]), dim=0)", "kink"),
    ("hypot(x, y)", {"x": 0, "y": 0}, "norm(stack([x, y]), dim=0)", "kink"),
    ("sqrt(x**2 + y**2 + z**2)", {"x": 0, "y": 0, "z": 0}, "norm(stack([x, y, z]), dim=0)", "kink"),
    ("sqrt(var(x))", {"x": [1, 1, 1]}, "std(x)", "kink"),
    ("p*(log(p) - log(q))", {"p": 0, "q": 0.5}, "-entr(p) - p*log(q)", "undefined"),
    *((text, {"u": [1, 0], "w": [2, 0]}, ANGLE, "kink") for text in ANGLES),
    (
        "acos(sum(u*w, dim=1)/(norm(u, dim=1)*norm(w, dim=1)))[0]",
        {"u": [[1, 0], [1, 2]], "w": [[2, 0], [2, 1]]},
        f"({OF_ROWS})[0]",
        "kink",
    ),
    ("binary_cross_entropy(p, t)", {"p": 1, "t": 1}, CUT.format("p"), "agree"),
    ("F.binary_cross_entropy(p, t)", {"p": [0, 0.5], "t": [1, 1]}, f"mean({CUT.format('p')})", "agree"),
    ("bce(p, t, reduction='sum')", {"p": [1, 0.5], "t": [1, 1]}, f"sum({CUT.format('p')})", "agree"),
    ("BCELoss(sigmoid(x), t)", {"x": 50, "t": 0}, "binary_cross_entropy_with_logits(x, t)", "agree"),
    (
        "F.binary_cross_entropy(sigmoid(x), t, weight=2)",
        {"x": [50, 1], "t": [0, 1]},
        "mean(2*binary_cross_entropy_with_logits(x, t, reduction='none'))",
        "agree",
    ),
    ("mean(x)", {"x": [1, np.nan, 3]}, "nanmean(x)", "agree"),
    ("sum(x)", {"x": [1, np.nan, 3]}, "nansum(x)", "agree"),
    ("softmax(m)@w", {"m": [-np.inf, -np.inf], "w": [1, 2]}, "softmax(maximum(m, -1e+30)) @ w", "agree"),
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


NONE: list[Any] = [
    ("sqrt(x)", 0, "sqrt(x + 1e-12), in which sqrt(x) changes by at most 1e-6"),
    ("sum(sqrt(x))", [0, 1], "sum(sqrt(x + 1e-12)), in which sqrt(x) changes by at most 1e-6"),
    ("acos(x)", 1, "acos(x*(1 - 1e-06)), in which acos(x) changes by at most 2e-3"),
    ("x**(1/3)", 0, "x/cbrt(x**2 + 1e-18), in which x**(1/3) changes by at most 4e-4"),
    ("x*log(x)", 0, "x*log(x + 1e-12), in which x*log(x) changes by at most 1e-12"),
    ("log(x)", 0, ""),
    ("1/x", 0, ""),
    ("norm(x)", [0, 0], ""),
    ("x**(1/3)", -8, ""),  # which has a form of its own
]


@pytest.mark.parametrize(("text", "x", "said"), NONE)
def test_where_no_form_has_a_finite_slope_another_function_near_is_named(text: str, x: Any, said: str) -> None:
    """It is no better form: it is not the same function, and says by how much."""
    notes = [note for note in check_of(Function(text).grad({"x": x})).notes if "another function" in note]
    assert notes == ([f"another function has a finite derivative here: {said}"] if said else [])
    if said:
        near = Function(said.partition(", in which")[0])
        assert check_of(near.grad({"x": x})).verdict == "agree"
        changed, bound = said.partition(", in which ")[2].split(" changes by at most ")
        points = {"x": np.concatenate([[0.0, 1.0], np.geomspace(1e-30, 1, 200)])}
        values = (Function(one).eval(points, check=False).value for one in (changed, near.expression))
        assert text != changed or np.nanmax(np.abs(np.subtract(*values))) <= 1.001 * float(bound)


def _length(x: torch.Tensor) -> torch.Tensor:
    return torch.sqrt((x**2).sum())


def _entropy(x: torch.Tensor) -> torch.Tensor:
    return -(x * torch.log(x)).sum()


def _angle(x: torch.Tensor) -> torch.Tensor:
    other = torch.tensor([2.0, 0.0], dtype=x.dtype)
    return torch.acos(torch.dot(x, other) / (torch.linalg.norm(x) * other.norm()))


def _root(x: torch.Tensor) -> torch.Tensor:
    return x ** (1 / 3)


def _guarded(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, torch.sqrt(x), torch.tensor(0.0, dtype=x.dtype))


def _tail(x: torch.Tensor) -> torch.Tensor:
    return torch.log(1 - torch.sigmoid(x))


def _loss(x: torch.Tensor) -> torch.Tensor:
    t = torch.tensor([1.0, 0.0], dtype=x.dtype)
    return torch.nn.functional.binary_cross_entropy(x, t)


CODE = [
    (_length, [0.0, 0.0], "norm(x)"),
    (_entropy, [0.0, 1.0], "sum(entr(x))"),
    (_angle, [1.0, 0.0], "atan2("),
    (_root, -8.0, "cbrt(x)"),
    (_guarded, -1.0, "where(x > 0, sqrt(where(x > 0, x, 1)), 0"),
    (_tail, 40.0, "logsigmoid(-x)"),
    (_loss, [1.0, 0.5], "maximum(x, exp(-100))"),
]


@pytest.mark.parametrize(("function", "x", "better"), CODE, ids=[function.__name__ for function, *_ in CODE])
@pytest.mark.one_in(3)
def test_code_has_them_too(function: Any, x: Any, better: str) -> None:
    rewrite = check_of(gradcli.grad(function, torch.tensor(x, dtype=torch.float64))).rewrite
    assert rewrite is not None
    assert better in rewrite.expression


PASTED = [
    ("[0., 1.]", "-(x*torch.log(x)).sum()", "sum(entr(x))"),
    ("[0., 0.]", "torch.sqrt((x**2).sum())", "norm(x)"),
    ("-8.0", "x**(1/3)", "cbrt(x)"),
    ("-1.0", "torch.where(x > 0, torch.sqrt(x), torch.tensor(0.))", "where(x > 0, sqrt(where(x > 0, x, 1)), 0.0)"),
    ("40.0", "torch.log(1 - torch.sigmoid(x))", "logsigmoid(-x)"),
    ("1.0", "F.binary_cross_entropy(x, torch.tensor(1.))", "-(1.0*log(maximum(x, exp(-100))) + (1 - 1.0)*log("),
    ("50.0", "F.binary_cross_entropy(torch.sigmoid(x), torch.tensor(0.))", "binary_cross_entropy_with_logits(x, 0.0)"),
]


@pytest.mark.part("paste")
@pytest.mark.parametrize(("x", "y", "better"), PASTED)
@pytest.mark.one_in(3)
def test_pasted_lines_have_them_too(x: str, y: str, better: str) -> None:
    """As a text of the function alone."""
    snippet = Function(f"x = torch.tensor({x}, requires_grad=True)\ny = {y}\ny.backward()")
    rewrite = check_of(snippet.vjp()).rewrite
    assert rewrite is not None
    assert rewrite.expression.startswith(better)


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

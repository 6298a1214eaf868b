"""Values from other libraries, and values that name no variable: taken exactly, or refused with what to do."""

from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.errors import InputError
from gradcli.language.foreign import numbers

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
WHOLES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


@pytest.mark.parametrize("dtype", [*FLOATS, *WHOLES, torch.bool], ids=str)
def test_a_tensor_of_any_real_dtype_is_taken_exactly(dtype: torch.dtype) -> None:
    """Float64 holds each of its numbers."""
    given = torch.tensor([0.0, 1.0, 3.1]).to(dtype)
    found = numbers(given)
    assert found.dtype == np.float64
    assert found.tolist() == given.to(torch.float64).tolist()


def test_a_tensor_may_require_grad_and_be_a_view_or_a_result() -> None:
    """It is taken off its graph, which has no part in this."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    for given in (x, x.T, x * 2, torch.nn.Parameter(x.detach())):
        answer = Function("sum(x**2)").grad({"x": given})
        np.testing.assert_array_equal(answer.grad["x"], 2 * given.detach().numpy())
    assert x.grad is None


@pytest.mark.part("claims", "code", "tables")
def test_tensors_stand_wherever_a_value_does() -> None:
    """In v, in u, in what is expected, in lists, and in the comment of a script."""
    f, x = Function("x**2"), torch.tensor([1.0, 2.0], requires_grad=True)
    assert f.vjp(x, torch.tensor([1.0, 10.0], requires_grad=True)).vjp["x"].tolist() == [2.0, 40.0]
    assert f.vjps(x, [x, x.detach()]).answers[1].vjp["x"].tolist() == [2.0, 8.0]
    assert f.jvp(x, x).jvp.tolist() == [2.0, 8.0]
    assert f.check(x, x, expect={"": x.detach() * 2 * x}).passed
    assert f.eval([x[0], x[1], 3]).value.tolist() == [1.0, 4.0, 9.0]
    assert f.eval([[x[0], torch.tensor(2.0, dtype=torch.bfloat16)]]).value.tolist() == [[1.0, 4.0]]
    assert f.code(x, x).source.splitlines()[0] == '# gradcli code "x**2" --at "[1.0,2.0]" --v "[1.0,2.0]" --to torch'
    assert f.map({"x": x})["y"].tolist() == [1.0, 4.0]


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (np.array(["1"]), "without quotes"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), "time since a date"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "fill them"),
        (torch.tensor([1j]), "complex"),
        (torch.eye(2).to_sparse(), ""),
        (torch.empty(2, device="meta"), ""),
        ([torch.tensor([1.0, 2.0]), torch.tensor([1.0])], "equal lengths"),
        (object(), ""),
        (None, ""),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_holds_no_real_numbers_is_refused(value: Any, hint: str) -> None:
    """By an error of ours that names the value and says what to do."""
    with pytest.raises(InputError, match="not an array of real numbers") as caught:
        Function("x**2").eval({"x": value})
    assert caught.value.hint
    assert hint in caught.value.hint


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_tensor_may_be_on_any_device() -> None:
    """It is copied from there."""
    assert Function("x**2").grad(torch.tensor(3.0, device="cuda", requires_grad=True)).grad["x"].item() == 6.0


def test_a_value_alone_is_that_of_the_only_variable() -> None:
    """Any kind of it, in every method."""
    f = Function("x**2")
    for given in (3, 3.0, np.float32(3), "3", torch.tensor(3), "sqrt(9)"):
        assert f.grad(given).grad["x"].item() == 6.0
        assert f.eval(given).inputs.keys() == {"x"}
    assert f.vjp([1, 2], [1, 1]).vjp["x"].tolist() == [2.0, 4.0]
    assert f.vjp(np.array([1, 2]), "ones").vjp["x"].tolist() == [2.0, 4.0]


@pytest.mark.part("explain")
def test_a_value_alone_is_explained_too() -> None:
    """By the methods of the part."""
    f = Function("x**2")
    assert f.explain(3).vjp["x"].item() == f.graph(3).tensors[0].grad == 6.0


@pytest.mark.parametrize(
    ("expression", "message"), [("x*w", "the variables x, w"), ("1 + 1", "no variables"), ("k^x", "the variables k, x")]
)
def test_a_value_alone_is_refused_where_there_is_not_one_variable(expression: str, message: str) -> None:
    """And the hint says how to name it."""
    with pytest.raises(InputError, match=f"a value alone names no variable, and the expression has {message}"):
        Function(expression).eval([1, 2])

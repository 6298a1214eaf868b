"""`gradcli.check` in low precision, and what it says where it fails."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradcli import GradcliError
from gradcli.parts.running.plain_functions import check, record
from tests.checks import check_of


def _softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def _by_hand(x: torch.Tensor) -> torch.Tensor:
    e = torch.exp(x - x.amax(-1, keepdim=True).detach())
    return torch.div(e, e.sum(-1, keepdim=True))


def _in_steps(x: torch.Tensor) -> torch.Tensor:
    """Adds up what was rounded eight times as coarsely."""
    return _softmax((x * 8).round() / 8)


class _HalfBackward(torch.autograd.Function):
    """Softmax, without the second term of its derivative."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = torch.softmax(x, -1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
        (y,) = ctx.saved_tensors
        return torch.mul(v, y)


def _not_a_number(x: torch.Tensor) -> torch.Tensor:
    return _softmax(x) + (x - x) / (x - x)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        (_softmax, []),
        (_by_hand, []),
        (_in_steps, ["y", "x.grad"]),
        (_HalfBackward.apply, ["x.grad"]),
        (_not_a_number, ["y", "x.grad"]),
    ],
    ids=["itself", "by_hand", "coarse", "wrong_backward", "nan"],
)
@pytest.mark.one_in(2)
def test_an_implementation_is_as_accurate_as_another(
    function: Callable[..., Any], wrong: list[str], dtype: torch.dtype
) -> None:
    """Within twice its errors: of y, and of each gradient."""
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(0)).to(dtype)
    if wrong:
        with pytest.raises(AssertionError, match="is less accurate than _softmax") as raised:
            check(function, x, versus=_softmax)
        found = str(raised.value).splitlines()[1:]
        assert [line.partition(":")[0] for line in found if "did not pass" in line] == wrong
    else:
        of_y, of_x = check(function, x, versus=_softmax).remarks
        assert re.fullmatch(r"y: passed, error \S+, of the baseline \S+, at most \S+ \(32 entries\)", of_y)
        assert of_x.startswith("x.grad: passed, error ")


def test_k_is_how_many_times_the_error_passes() -> None:
    """Rounding to eighths is less than a thousand times as coarse as bfloat16, though its slope is 0."""
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(0)).bfloat16()
    assert check(_in_steps, x, versus=_softmax, k=1e3).passed


def test_a_module_is_compared_in_its_own_precision() -> None:
    """Its weights are those of both; the truth is that of their exact numbers."""
    layer = torch.nn.Linear(8, 3).bfloat16()
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(0)).bfloat16()
    found = check(lambda x: x @ layer.weight.T + layer.bias, x, versus=layer)
    assert [remark.partition(":")[0] for remark in found.remarks] == ["y", "input.grad"]


def test_low_precision_alone_is_refused_with_both_ways_out() -> None:
    """Float64 would answer another question."""
    with pytest.raises(GradcliError, match="bfloat16") as raised:
        check(torch.sin, torch.ones(2).bfloat16())
    assert "versus=g" in str(raised.value)
    assert "x.double()" in str(raised.value)


@pytest.mark.parametrize("kind", ["bfloat16", "half"])
def test_low_precision_in_between_is_not_said_to_be_wrong(kind: str) -> None:
    """The truth stands beside it; at the end it is refused by its name."""
    x = torch.tensor([0.1, 0.3], dtype=torch.float64)
    answer = record(lambda x: (getattr(x, kind)() * 3).exp().to(x.dtype).sum(), x).grad()
    assert (check_of(answer).verdict, check_of(answer).proven) == ("unchecked", False)
    truths = [finding.reference for finding in check_of(answer).findings]
    assert any(one == pytest.approx(3 * math.exp(0.9)) for one in truths)
    with pytest.raises(GradcliError, match="float16"):
        record(lambda x: getattr(x, kind)(), torch.ones(2)).jacobian()


@pytest.mark.parametrize(
    ("function", "at", "said"),
    [
        (torch.abs, 0.0, "not right (allow=['kink'] lets pass what is meant; atol= and rtol= let known errors pass)"),
        (_HalfBackward.apply, 0.5, "not right (atol= and rtol= let known errors pass; backward_of=g"),
    ],
)
def test_an_error_says_what_would_pass(function: Callable[..., Any], at: float, said: str) -> None:
    """Nothing allows a backward that is wrong."""
    with pytest.raises(AssertionError) as raised:
        check(function, torch.tensor([at, 1.0], dtype=torch.float64))
    assert said in str(raised.value)

"""Masks, casts and the like that autograd does not follow jump: their boundaries are kinks, as those of branches."""

from collections.abc import Callable

import pytest
import torch

from gradcli import record
from tests.checks import check_of
from tests.examples import all_but, in_turn

Function = Callable[[torch.Tensor], torch.Tensor]


def column(*numbers: float) -> torch.Tensor:
    """A vector in float64."""
    return torch.tensor(numbers, dtype=torch.float64)


def without_grad(x: torch.Tensor) -> torch.Tensor:
    """A mask of numbers, made where nothing is recorded."""
    with torch.no_grad():
        mask = (x > 0).to(x.dtype)
    return x * mask


def condition_without_grad(x: torch.Tensor) -> torch.Tensor:
    """A mask of truth values, made where nothing is recorded."""
    with torch.no_grad():
        mask = x > 0
    return x * mask


SQUARES = column(0.0, 1.0, 4.0, 9.0, 16.0)


def interpolated(x: torch.Tensor) -> torch.Tensor:
    """Interpolation of a table by hand."""
    left = x.detach().floor()
    weight, place = x - left, left.long()
    return SQUARES[place] * (1 - weight) + SQUARES[place + 1] * weight


def masked_mean(x: torch.Tensor) -> torch.Tensor:
    """The mean of the positive elements."""
    mask = (x > 0).to(x.dtype)
    return (x * mask).sum() / mask.sum()


def masked_in_place(x: torch.Tensor) -> torch.Tensor:
    """A product in place."""
    y = x.clone()
    y.mul_((x > 0).to(x.dtype))
    return y


def branch_by_all(x: torch.Tensor) -> torch.Tensor:
    """A branch of Python by all elements."""
    return x * 2 if (x == 0).all() else x * 3


def branch_by_any(x: torch.Tensor) -> torch.Tensor:
    """A branch of Python by any element."""
    return x * 2 if (x == 0).any() else x * 3


AT_ZERO, BESIDE_ZERO = column(-1.0, 0.0, 2.0), column(-1.0, 0.5, 2.0)

JUMPS: dict[str, tuple[Function, torch.Tensor, torch.Tensor]] = {
    "added": (lambda x: x + (x > 0).to(x.dtype), AT_ZERO, BESIDE_ZERO),
    "a relu by hand": (lambda x: x * (x > 0).to(x.dtype), AT_ZERO, BESIDE_ZERO),
    "float": (lambda x: x * (x > 0).float(), AT_ZERO, BESIDE_ZERO),
    "double": (lambda x: x * (x > 0).double(), AT_ZERO, BESIDE_ZERO),
    "type_as": (lambda x: x * (x > 0).type_as(x), AT_ZERO, BESIDE_ZERO),
    "bool": (lambda x: (x + 1) * x.bool().to(x.dtype), AT_ZERO, BESIDE_ZERO),
    "no_grad": (without_grad, AT_ZERO, BESIDE_ZERO),
    "no_grad, truth values": (condition_without_grad, AT_ZERO, BESIDE_ZERO),
    "sign": (lambda x: x * x.sign().detach(), AT_ZERO, BESIDE_ZERO),
    "floor": (interpolated, column(1.0, 2.5), column(1.5, 2.5)),
    "round": (lambda x: x * x.detach().round(), column(0.5, 2.0), column(0.4, 2.1)),
    "trunc": (lambda x: x * x.detach().trunc(), column(1.0, 2.5), column(0.4, 2.1)),
    "a cast to whole numbers": (lambda x: x * x.detach().long().to(x.dtype), column(1.0, 2.5), column(0.4, 2.1)),
    "where": (lambda x: torch.where(x.detach() > 0, x, 0.1 * x), AT_ZERO, BESIDE_ZERO),
    "pruning": (lambda x: x * (x.abs() > 0.5).to(x.dtype), column(0.5, 2.0), column(0.4, 2.0)),
    "pruning, detached": (lambda x: x * (x.detach().abs() > 0.5), column(0.5, 2.0), column(0.4, 2.0)),
    "a masked mean": (masked_mean, AT_ZERO, BESIDE_ZERO),
    "heaviside": (lambda x: x * torch.heaviside(x.detach(), torch.zeros_like(x)), AT_ZERO, BESIDE_ZERO),
    "mul_": (masked_in_place, AT_ZERO, BESIDE_ZERO),
    "einsum": (lambda x: torch.einsum("i,i->", x, (x > 0).to(x.dtype)), AT_ZERO, BESIDE_ZERO),
    "matmul": (lambda x: x @ (x > 0).to(x.dtype), AT_ZERO, BESIDE_ZERO),
    "topk": (lambda x: x * (x >= x.topk(1).values), column(1.0, 1.0, 0.0), column(1.0, 1.5, 0.0)),
    "topk, detached": (
        lambda x: x * (x.detach() >= x.detach().topk(1).values).to(x.dtype),
        column(1.0, 1.0, 0.0),
        column(1.0, 1.5, 0.0),
    ),
    "all": (lambda x: x * (1 + (x == 0).all().to(x.dtype)), column(0.0, 0.0), column(0.0, 1.0)),
    "where, all": (lambda x: torch.where((x == 0).all(), 3 * x, x), column(0.0, 0.0), column(0.0, 1.0)),
    "where, a factor": (lambda x: x * torch.where(x == 0, 3.0, 1.0), AT_ZERO, BESIDE_ZERO),
    "a branch by all": (branch_by_all, column(0.0, 0.0), column(0.0, 1.0)),
    "a branch by any": (branch_by_any, column(0.0, 0.0), column(0.5, 1.0)),
    "a held kink": (lambda x: (x + x.detach().relu()).sum(), column(0.0, -1.0), column(-0.5, -1.0)),
}


@pytest.mark.parametrize(("name", "dtype"), in_turn(JUMPS, torch.float64, torch.float32))
@pytest.mark.one_in(4)
def test_a_boundary_of_a_held_value_is_a_kink(name: str, dtype: torch.dtype) -> None:
    """And away from it the gradient is that of the function."""
    function, at, beside = JUMPS[name]
    assert check_of(record(function, at.to(dtype)).check()).verdict == "kink"
    assert check_of(record(function, beside.to(dtype)).check()).verdict == "agree"


def huber(x: torch.Tensor) -> torch.Tensor:
    """A Huber loss by masks."""
    mask = (x.detach().abs() <= 1).to(x.dtype)
    return (mask * 0.5 * x**2 + (1 - mask) * (x.abs() - 0.5)).sum()


def softmax(x: torch.Tensor) -> torch.Tensor:
    """A softmax, whose shift has a kink where the largest tie, and changes nothing."""
    e = (x - x.detach().max()).exp()
    return e / e.sum()


SMOOTH: dict[str, tuple[Function, torch.Tensor]] = {
    "a parabola": (lambda x: x**2 * (x > 0).to(x.dtype), AT_ZERO),
    "a Huber loss at its knots": (huber, column(1.0, -1.0, 0.3)),
    "where, detached": (lambda x: torch.where(x.detach() > 0, x**2, 0.0), AT_ZERO),
    "the shift of a softmax": (softmax, column(1.0, 1.0, 0.0)),
    "decided by another element": (lambda x: x * (1 + (x == 0).all().to(x.dtype)), column(0.0, 0.5)),
    "a branch decided by another element": (branch_by_all, column(0.0, 0.5)),
}


@pytest.mark.parametrize(("name", "dtype"), in_turn(SMOOTH, torch.float64, torch.float32))
def test_what_is_smooth_at_a_boundary_agrees(name: str, dtype: torch.dtype) -> None:
    """The mask changes, and the function and its slope do not."""
    function, at = SMOOTH[name]
    assert check_of(record(function, at.to(dtype)).check()).verdict == "agree"


WIDE = torch.linspace(0.1, 2, 4_999, dtype=torch.float64)

WIDE_JUMPS: dict[str, Function] = {
    "a mask": lambda x: (x * (x > 0).to(x.dtype)).sum(),
    "a sign": lambda x: (x * x.sign().detach()).sum(),
    "a branch": lambda x: branch_by_any(x).sum(),
}


@pytest.mark.parametrize("name", all_but(WIDE_JUMPS, 1))
def test_one_zero_among_thousands_is_found(name: str) -> None:
    """At whatever place it is."""
    with_zero = torch.cat([WIDE[:1_234], column(0.0), WIDE[1_234:]])
    assert check_of(record(WIDE_JUMPS[name], with_zero).check()).verdict == "kink"
    assert check_of(record(WIDE_JUMPS[name], WIDE).check()).verdict == "agree"


def of_themselves(x: torch.Tensor) -> torch.Tensor:
    """Numbers that are tested for NaN, as torch.distributions does."""
    same = x
    assert (x == same).all()
    assert not (x != same).any()
    return (x * (x == same).to(x.dtype)).sum()


@pytest.mark.parametrize("size", [1, 7, 5_000])
def test_a_comparison_of_a_value_with_itself_is_decided(size: int) -> None:
    """At any width."""
    x = torch.linspace(0.5, 1, size, dtype=torch.float64)
    assert check_of(record(of_themselves, x).check()).verdict == "agree"


def test_a_branch_by_all_elements_is_named_as_it_was_written() -> None:
    """Whatever the recording makes of it."""
    answer = record(branch_by_all, column(0.0, 0.0, 0.0)).check()
    assert "beside the point, all(x == 0) (test_held_steps.py, line" in check_of(answer).findings[0].note

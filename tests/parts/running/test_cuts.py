"""Gradients of functions with something held constant: torch.autograd.gradcheck refuses them, and so does a check."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import gradcli
from gradcli import record
from gradcli.errors import WrongGradientsError
from tests.checks import check_of

X = torch.tensor([0.5, 1.25, -2.0], dtype=torch.float64)


def without_grad(x: torch.Tensor) -> torch.Tensor:
    """A weight that is computed where nothing is recorded."""
    with torch.no_grad():
        w = x**2
    return (x * w).sum()


def behind_a_shift(x: torch.Tensor) -> torch.Tensor:
    """A shift that changes nothing, and then a cut."""
    e = (x - x.max().detach()).exp()
    p = e / e.sum()
    return (p * x.detach()).sum()


CUT: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "detach": (lambda x: (x * x.detach()).sum(), "by x[2] the gradient is -2, without that -4"),
    "detach_": (lambda x: (x * (1 * x).detach_()).sum(), "by x[2] the gradient is -2, without that -4"),
    "no_grad": (without_grad, "by x[2] the gradient is 4, without that 12"),
    "behind a shift": (behind_a_shift, f"({Path(__file__).name}, line {behind_a_shift.__code__.co_firstlineno + 4})"),
    "cancelling": (
        lambda x: torch.stack([x * x.detach(), -x * x.detach()]),
        "by x[2] the gradient of y[0, 2] is -2, without that -4",
    ),
    "item": (lambda x: (x * x.sum().item()).sum(), "numbers leave torch by item() (test_cuts.py, line"),
    "float": (lambda x: x.sum() * float(x.detach()[0]), "numbers leave torch by item() (test_cuts.py, line"),
    "math": (lambda x: x.sum() * math.cos(x.detach()[0]), "numbers leave torch by item() (test_cuts.py, line"),
    "math of a tensor": (lambda x: x.sum() * math.sin(x[0]), "numbers leave torch by item() (test_cuts.py, line"),
    "what torch has not": (lambda x: x.sum() * math.gamma(x[1]), "numbers leave torch by item() (test_cuts.py, line"),
    "numpy": (lambda x: (x * torch.from_numpy(np.sin(x.detach().numpy()))).sum(), "numbers leave torch by numpy()"),
}


@pytest.mark.filterwarnings("ignore:Converting a tensor")  # of torch, which says so itself
@pytest.mark.parametrize("name", CUT)
@pytest.mark.one_in(4)
def test_a_cut_is_a_finding_with_its_line_and_both_numbers(name: str) -> None:
    """gradcheck refuses it; so does a check, unless it is meant."""
    function, words = CUT[name]
    x = X.clone().requires_grad_()
    assert not torch.autograd.gradcheck(function, x, raise_exception=False)
    check = check_of(record(function, X).vjp(v="ones"))
    assert check.verdict == "cut"
    assert words in check.findings[0].note
    with pytest.raises(WrongGradientsError, match="cut"):
        gradcli.check(function, x)
    assert gradcli.check(function, x, allow=["cut"]).passed


def by_largest(x: torch.Tensor) -> torch.Tensor:
    """A softmax whose shift changes nothing."""
    e = (x - x.max().detach()).exp()
    return (e / e.sum() * torch.arange(3.0, dtype=x.dtype)).sum()


def masked(x: torch.Tensor) -> torch.Tensor:
    """A mask, which jumps where it changes and is flat elsewhere."""
    with torch.no_grad():
        mask = (x > 0).to(x.dtype)
    return (x * mask).sum()


def changed_unseen(x: torch.Tensor) -> torch.Tensor:
    """A change in place of which autograd does not know."""
    y = x * 2
    with torch.no_grad():
        y.mul_(x > 0.5)
        y[0] = 3
    return y.sum()


def test_a_change_that_autograd_does_not_see_is_a_cut() -> None:
    """The gradient is 2, and by each element that is replaced that of the function is 0."""
    found = record(changed_unseen, torch.tensor([0.7, 0.1, 0.9], dtype=torch.float64)).vjp()
    check = check_of(found)
    assert found.vjp["x"].tolist() == [2, 2, 2]
    assert check.verdict == "cut", check
    assert any(
        "is held constant: by x[" in entry.note and "is 2, without that 0" in entry.note for entry in check.findings
    )


def test_a_cut_is_named_by_the_element_that_lacks_something() -> None:
    """And not by the first one: a rounding that is passed over gives a factor 2*x where the function is flat."""

    def straight_through(x: torch.Tensor) -> torch.Tensor:
        return ((x.round() - x).detach() + x) ** 2

    check = check_of(record(straight_through, torch.tensor([0.3, 1.7], dtype=torch.float64)).jacobian())
    (found,) = (entry for entry in check.findings if entry.verdict == "cut" and entry.kind == "value")
    assert (found.row, found.torch) == ((1,), 4.0)
    assert "by x[1] the gradient of y[1] is 4, without that 0" in found.note


def test_gradients_of_weights_are_left_as_one_call_leaves_them() -> None:
    """However many v a question is of, and however often it calls a function that goes back itself."""
    w, x = torch.ones(2, dtype=torch.float64, requires_grad=True), torch.tensor([2.0, 3.0], dtype=torch.float64)

    def function(x: torch.Tensor) -> torch.Tensor:
        torch.autograd.backward((w * x.detach()).sum())
        return w * x**2

    made = record(function, x)
    made.jacobian()
    assert w.grad is not None
    assert w.grad.tolist() == [2, 3]
    made.vjp(v=[1.0, 2.0])
    assert w.grad.tolist() == [4, 6]


WHOLE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a shift": by_largest,
    "a mask": masked,
    "steep": lambda x: (1e3 * x).sin().sum(),
    "large numbers inside": lambda x: ((x + 1e8) - 1e8).sum(),
    "a kink nearby": lambda x: torch.relu(x - 0.4999).sum(),
    "noise": lambda x: (x * torch.randn(3, dtype=x.dtype)).sum(),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.one_in(2)
def test_what_changes_no_derivative_is_no_cut(name: str) -> None:
    """Hard as its differences are to compute."""
    for x in (X, X.float(), X * 1e-8):
        check = check_of(record(WHOLE[name], x).vjp())
        assert check.verdict in ("agree", "inaccurate"), check

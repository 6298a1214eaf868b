"""`math` and NumPy are read as torch's in a function of one's own, where they are given tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gradcli.errors import GradcliError
from gradcli.running.calling import name_of
from gradcli.running.plain_functions import record
from tests.checks import check_of
from tests.recording import numpy_pieces
from tests.recording.numpy_pieces import NUMPY

X = torch.tensor([0.7, 1.3, -2.1], dtype=torch.float64)
STEP = 1e-6


def is_as_it_was() -> bool:
    """Whether the modules and torch's tensors are their own."""
    own = vars(numpy_pieces)
    modules = own["np"] is np and own["math"] is math and own["exp"] is math.exp and own["cos"] is np.cos
    return modules and not hasattr(torch.Tensor, "__array_ufunc__") and not hasattr(torch.Tensor, "__array_function__")


@pytest.mark.parametrize(("function", "read", "args"), NUMPY, ids=[name_of(one[0]) for one in NUMPY])
def test_a_function_of_numpy_has_its_numbers_and_gradients(
    function: Callable[..., Any], read: str, args: tuple[Any, ...]
) -> None:
    """The value is NumPy's own, and each gradient that of differences of it; the answer says what was read."""
    asked = record(function, *args)
    answer = asked.vjp(v="ones")
    np.testing.assert_allclose(answer.value, function(*args), rtol=1e-12)
    assert check_of(answer).verdict == "agree", check_of(answer)
    assert any(read in warning and "read as torch's" in warning for warning in answer.warnings)
    for n, (name, arg) in enumerate(zip(asked.parameters, args, strict=False)):
        for place in np.ndindex(arg.shape):
            step = np.zeros(arg.shape)
            step[place] = STEP
            sides = [np.sum(function(*args[:n], arg + h, *args[n + 1 :])) for h in (step, -step)]
            assert answer.vjp[name][place] == pytest.approx((sides[0] - sides[1]) / (2 * STEP), rel=1e-5, abs=1e-7)
    assert is_as_it_was()


def with_numbers(x: torch.Tensor) -> Any:
    """Of numbers and arrays alone."""
    assert isinstance(math.sqrt(2.0), float)
    assert isinstance(np.sin(0.5), np.float64)
    assert isinstance(np.array([1.0, 2.0]), np.ndarray)
    assert isinstance(np.asarray([1.0]), np.ndarray)
    assert math.log(8, 2) == 3.0
    return x * np.sqrt(2) + np.float64(2) * x + x * math.pi


def with_detached(x: torch.Tensor) -> torch.Tensor:
    """Weights that are Python's own numbers."""
    return x * torch.from_numpy(np.exp(x.detach().numpy())) * math.cos(x.detach()[0])


def test_numbers_arrays_and_detached_tensors_are_pythons_own() -> None:
    """Nothing is said of them, and a cut stays one."""
    answer = record(with_numbers, X).vjp(v="ones")
    assert answer.warnings == ()
    check = check_of(record(with_detached, X).vjp(v="ones"))
    assert check.verdict == "cut"
    assert "numbers leave torch by numpy()" in check.findings[0].note


def by_float(x: torch.Tensor) -> torch.Tensor:
    """Through a number of Python's."""
    return x * math.sin(float(x[0]))


def rounded_up(x: torch.Tensor) -> torch.Tensor:
    """Through a function that torch does not have."""
    return x * math.gamma(x[1])


@pytest.mark.parametrize("function", [by_float, rounded_up])
def test_what_has_no_counterpart_stays_a_cut_with_its_line(function: Callable[..., Any]) -> None:
    """As of any number that leaves torch."""
    check = check_of(record(function, X).vjp(v="ones"))
    assert check.verdict == "cut"
    line = function.__code__.co_firstlineno + 2
    assert f"numbers leave torch by item() ({Path(__file__).name}, line {line})" in check.findings[0].note


def outside_of_the_domain(x: torch.Tensor) -> Any:
    """A square root of a negative number."""
    return math.sqrt(x[2])


def many_elements(x: torch.Tensor) -> Any:
    """A function of numbers, given three."""
    return math.sin(x)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (outside_of_the_domain, "ValueError: math domain error, raised while outside_of_the_domain is called"),
        (many_elements, "raised while many_elements is called"),
    ],
)
def test_what_python_refuses_is_refused(function: Callable[..., Any], message: str) -> None:
    """And everything is put back all the same."""
    with pytest.raises(GradcliError) as caught:
        record(function, X).vjp(v="ones")
    assert message in caught.value.message
    assert is_as_it_was()
    assert function.__globals__["math"] is math


def spread(x: torch.Tensor) -> Any:
    """A method that means something else of an array."""
    return math.exp(x[0]) * x.std()


def test_methods_are_torchs_where_torch_is_imported() -> None:
    """And NumPy's in a file of NumPy alone, as the pieces have it."""
    answer = record(spread, X).vjp()
    assert answer.value == pytest.approx(math.exp(0.7) * X.std().item(), rel=1e-14)
    assert not any("methods" in warning for warning in answer.warnings)


class Squares(torch.autograd.Function):
    """A custom function whose forward is of NumPy, and whose backward is wrong."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> Any:
        ctx.save_for_backward(x)
        return np.square(x)

    @staticmethod
    def backward(ctx: Any, *g: Any) -> Any:
        return g[0] * ctx.saved_tensors[0]


def test_a_custom_function_is_held_to_its_forward_of_numpy() -> None:
    """Which is read as torch's there too."""
    check = check_of(record(Squares.apply, X).vjp(v="ones"))
    assert check.verdict == "disagree"
    assert "gives 0.5 times the gradient" in check.findings[0].note


def weighted(x: torch.Tensor) -> Any:
    """With a constant array."""
    w = np.array([1.0, 2.0, 3.0])
    return np.dot(w, x)


def test_constant_arrays_are_constants() -> None:
    """No derivative is by them, as each call makes them anew."""
    f = record(weighted, X)
    (name,) = set(f.vjp().inputs) - {"x"}
    with pytest.raises(GradcliError, match="is made anew by each call"):
        f.vjp(wrt=[name])

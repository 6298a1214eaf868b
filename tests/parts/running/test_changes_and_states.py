"""Functions that change what they are given or made of, and branch on numbers: left as they were, and judged."""

import random

import numpy as np
import pytest
import torch

from gradcli.parts.running.plain_functions import record
from tests.checks import check_of
from tests.parts.running import model_of_changes as own
from tests.parts.running.running import run_by_python

X = torch.tensor([0.7, 1.3, 2.1], dtype=torch.float64)
M = torch.tensor([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]], dtype=torch.float64)


def test_numbers_outside_of_a_function_are_left_as_they_were() -> None:
    """A running average, which each call moves, and which is no function of x."""
    answer = record(own.averaged, X).vjp(v="ones")
    assert not own.AVERAGE.any()
    np.testing.assert_array_equal(answer.value, run_by_python(own.averaged, X)[0].detach().numpy())
    np.testing.assert_array_equal(answer.vjp["x"], own.AVERAGE.numpy())
    own.AVERAGE.zero_()
    assert check_of(answer).verdict == "cut"


def test_a_function_that_gives_no_argument_back_is_run_with_it() -> None:
    """Its derivative is 0."""
    assert record(lambda x: M[0] * 2, X).vjp(v="ones").value.tolist() == [4.0, 0.6, 0.2]


class _Clamped(torch.nn.Module):
    """A module that puts other numbers into its weight, in memory of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.weight.data = self.weight.data.clamp(-10, 10)
        return self.weight * x


def test_weights_that_a_question_moved_have_their_numbers_again() -> None:
    """Also where the module puts them into other memory."""
    module = _Clamped()
    record(module, X).check(v="ones", random=3, box={"weight": "5..6"})
    assert module.weight.tolist() == [1.0, 1.0, 1.0]
    assert module.weight.requires_grad


BY_NUMBERS = ("by_number", "by_difference", "by_truth")


def test_compiled_functions_are_run_as_they_are_written() -> None:
    """The code that `torch.compile` makes of them cannot be seen."""
    compiled = torch.compile(lambda x: x.sin() * 2, backend="eager")
    answer = record(lambda x: compiled(x) * x, X).vjp(v="ones")
    assert check_of(answer).verdict == "agree"


@pytest.mark.parametrize(
    "name", "all_large none_small masked counted largest by_place by_order by_number by_difference by_truth".split()
)
@pytest.mark.one_in(2)
def test_a_condition_at_its_boundary_is_no_agreement_however_it_is_asked(name: str) -> None:
    """Over all elements, by a mask, by a count, or by a number that left torch; none where other elements decide."""
    at, beside = (torch.tensor([n, 2.0], dtype=torch.float64) for n in (-1.0, -0.5))
    for x, verdict in ((at, "kink"), (beside, "agree")):
        check = check_of(record(getattr(own, name), x).vjp(v="ones"))
        assert check.verdict == verdict, check
        assert not (check.proven and name in BY_NUMBERS)
    check = check_of(record(own.all_large, torch.tensor([-1.0, -2.0], dtype=torch.float64)).vjp(v="ones"))
    assert check.verdict == "agree"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("at", "verdict"), [(0.5, "kink"), (0.75, "inaccurate"), (0.25, "agree"), (2.0**40, "agree")])
def test_a_boundary_is_found_however_many_digits_cancel(at: float, verdict: str, dtype: torch.dtype) -> None:
    """Rounding leaves 0 of the first three; in exact numbers the second takes the other branch."""

    def f(x: torch.Tensor) -> torch.Tensor:
        far = 2.0**60
        return x**2 if (x + far) - far > 0.5 else x

    check = check_of(record(f, torch.tensor(at, dtype=dtype)).vjp())
    assert check.verdict == verdict, check
    said = {"kink": "beside the point, ", "inaccurate": "without rounding, "}.get(verdict)
    assert [one.note.startswith(said or "") for one in check.findings] == [True] * (said is not None), check


def test_a_condition_on_what_is_held_constant_is_no_kink() -> None:
    """A label is compared with itself exactly, and does not move."""
    x, label = torch.tensor([0.5, 2.0], dtype=torch.float64), torch.tensor([1.0, 0.0], dtype=torch.float64)
    check = check_of(record(own.labelled, x, label).vjp(v="ones", wrt=["x"]))
    assert check.verdict == "agree"


def test_a_module_is_left_as_it_was() -> None:
    """Its own numbers, and what requires a gradient, behind a question at other numbers."""
    layer = torch.nn.Linear(3, 1).double()
    layer.bias.requires_grad_(False)
    before = layer.bias.detach().clone()
    answer = record(layer, X).vjp({"bias": [5.0]}, wrt=["weight", "bias"], v="ones", check=False)
    np.testing.assert_allclose(answer.value, (layer.weight @ X).detach() + 5)
    assert torch.equal(layer.bias, before)
    assert not layer.bias.requires_grad


@pytest.mark.parametrize("before", [0, 1, 2])
def test_generators_are_left_as_they_were(before: int) -> None:
    """Also where NumPy keeps the second of two normal numbers, next to the words of its state."""

    def noisy(x: torch.Tensor) -> torch.Tensor:
        return x * float(np.random.standard_normal()) * random.random() + torch.rand(3, dtype=x.dtype)

    def numbers() -> list[float]:
        return [float(np.random.standard_normal()), random.random(), float(torch.rand(1))]

    def seed() -> None:
        np.random.seed(before)
        random.seed(before)
        torch.manual_seed(before)
        for _ in range(before):
            np.random.standard_normal()

    seed()
    expected = [numbers(), numbers()]
    seed()
    assert record(noisy, X).vjp(v="ones").check is not None
    assert [numbers(), numbers()] == expected

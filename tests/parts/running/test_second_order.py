"""Second derivatives through `create_graph`: those of vᵀJ by x and by v, held to the gradient of the gradient."""

from pathlib import Path
from typing import Any

import pytest
import torch

from gradcli import Function, hessian
from gradcli.parts.running.plain_functions import check, record
from tests.checks import check_of
from tests.conftest import Command
from tests.examples import all_but
from tests.parts.running import functions_differentiated_twice
from tests.parts.running.functions_differentiated_twice import RIGHT, WRONG, Attribute, under_attribute
from tests.parts.running.wrong_backwards import W, X


@pytest.mark.parametrize(("function", "given"), all_but(RIGHT, 3, 5, 8, 10), ids=range(len(RIGHT)))
@pytest.mark.one_in(4)
def test_a_right_backward_can_be_differentiated(function: Any, given: tuple[Any, ...]) -> None:
    """By its arguments and by v: of several outputs, in place, of views, and through another function."""
    answer = check(function, *given, order=2)
    mode = answer.modes[-1]
    assert (mode.name, mode.check.verdict, mode.faults) == ("second order", "agree", ())
    assert {one.kind for one in mode.opinions} >= {"jacobian", "hessian", "gradient"}


@pytest.mark.parametrize(
    ("function", "given", "words"), all_but(WRONG, 1, 3, 6, 8, 11), ids=[one.__name__ for one, *_ in WRONG]
)
@pytest.mark.one_in(4)
def test_a_wrong_second_derivative_is_found(function: Any, given: tuple[Any, ...], words: str) -> None:
    """By name, with the line of the backward, which gives right gradients."""
    before = record(function.apply, *given).check()
    assert (check_of(before).verdict, before.elsewhere) == ("agree", ())
    with pytest.raises(AssertionError, match="are not right") as raised:
        check(function.apply, *given, order=2)
    said = " ".join(str(raised.value).split())
    called = f"{function.__name__}.backward (functions_differentiated_twice.py, line"
    assert words in said.partition(called)[2]
    assert "disagree (second order)" in said.partition("did not pass: ")[2]


def test_a_hessian_says_which_function_is_wrong() -> None:
    """In all of the code around it."""
    answer = hessian(under_attribute, {"x": X, "w": W})
    assert check_of(answer).verdict == "disagree"
    noted = [one.note for one in check_of(answer).findings]
    assert all(one.startswith("Attribute.backward (functions_differentiated_twice.py, line") for one in noted)
    assert all("ctx.foo is computed in its forward, and has no graph" in one for one in noted)


def test_many_elements_are_checked_along_a_direction() -> None:
    """And a text is checked as code is."""
    answer = Function("sin(x)*x").check({"x": list(range(1, 101))}, order=2)
    (mode,) = answer.modes
    assert (answer.passed, mode.check.verdict, mode.check.sampled) == (True, "agree", True)
    assert mode.check.notes[0] == "along one random direction u, as x has 100 elements"
    many = record(Attribute.apply, torch.linspace(0.1, 2, 100, dtype=torch.float64)).check(order=2)
    assert (many.passed, many.modes[0].check.verdict) == (False, "disagree")
    assert any("Attribute.backward" in one.note for one in many.modes[0].check.findings)


def test_a_kink_of_the_gradient_is_no_mistake() -> None:
    """Neither of torch's functions, nor of a custom one."""
    x = torch.tensor([0.0, 1.0], dtype=torch.float64)
    answer = record(lambda x: torch.relu(x) ** 2, x).check(order=2)
    assert [mode.check.verdict for mode in answer.modes] == ["kink"]
    assert answer.failing == ("kink",)


def test_weights_that_are_found_elsewhere_are_variables() -> None:
    """Of a layer, by its own names."""
    layer = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh()).double()
    answer = record(layer, X[:2]).check(order=2, wrt=["layer_0.weight", "input"])
    assert (answer.passed, answer.modes[0].check.entries) == (True, 12)


def test_the_gradient_of_a_layer_in_training_moves_as_its_second_derivatives_say() -> None:
    """Where weights and running means are changed in place and restored before the gradient is asked for."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.BatchNorm1d(2)).double()
    x = torch.randn(3, 2, dtype=torch.float64)
    answer = record(net, x).check(order=2, wrt=["layer_0.weight", "input"])
    assert (answer.passed, answer.modes[0].check.verdict) == (True, "agree")


def test_what_rounding_leaves_of_terms_that_cancel_is_no_mistake() -> None:
    """A second derivative that is 0 comes out as 1e-17, next to others of 1."""
    answer = Function("cumprod(x)").check({"x": [0.3, 1.7, -2.3, 0.9, 1.1]}, order=2)
    assert (answer.passed, answer.modes[0].check.verdict) == (True, "agree")
    off = [one.torch for one in answer.modes[0].opinions if one.reference == 0 and one.torch]
    assert all(abs(one or 0.0) < 1e-13 for one in off)


def test_there_may_be_nothing_to_check() -> None:
    """In each of the ways."""
    answer = record(torch.sin, torch.zeros(0, dtype=torch.float64)).check(forward=True, order=2, batched=True)
    assert [mode.check.notes[0] for mode in answer.modes] == ["there are no entries to check"] * 3


def test_a_backward_that_is_meant_to_be_another_functions_is_held_to_that() -> None:
    """In each of the ways too."""

    class Rounded(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.round()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t * 1

    answer = check(Rounded.apply, X, backward_of=lambda x: x * 1, forward=True, order=2, batched=True)
    assert [mode.check.verdict for mode in answer.modes] == ["agree"] * 3


def test_commands(folder: Path, gradcli: Command) -> None:
    """Of a text and of a file."""
    Path("own.py").write_text(Path(functions_differentiated_twice.__file__).read_text())
    run = gradcli("check", "own.py::Attribute.apply", "--at", "1,2", "--order", "2")
    assert (run.code, "did not pass: disagree (second order)" in run.out) == (1, True)
    plain = gradcli("check", "own.py::Attribute.apply", "--at", "1,2", "--order", "2", "--format", "plain").out
    assert "disagree second-order:d2vTy/dx[0]2 0 " in plain
    assert "second order   ✓ agree (proven)" in gradcli("check", "[x**3, sin(x)]", "--at", "2", "--order", "2").out
    assert gradcli("check", "x**3", "--at", "2", "--order", "3").code == 2

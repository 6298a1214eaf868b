"""Forward mode: torch's numbers and a `jvp` of one's own are held to the enclosure that a backward pass is held to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function, jvp
from gradcli.errors import InputError
from gradcli.parts.running.plain_functions import check, record
from tests.checks import check_of
from tests.conftest import Command
from tests.examples import all_but
from tests.parts.running import functions_with_jvp
from tests.parts.running.functions_with_jvp import (
    ELSEWHERE,
    RIGHT,
    WRONG,
    Scaled,
    Square,
    Tripled,
    differentiated_inside,
)
from tests.parts.running.wrong_backwards import Square as WithoutJvp, W, X


def _applied(function: Any) -> Any:
    return (lambda x, k: function.apply(x * 1, k)) if issubclass(function, Scaled) else function.apply


@pytest.mark.parametrize(("function", "given"), all_but(RIGHT, 1, 3, 5, 8), ids=range(len(RIGHT)))
@pytest.mark.one_in(2)
def test_a_right_jvp_passes(function: Any, given: tuple[Any, ...]) -> None:
    """It is tried without being asked for, in views, in place, and with several outputs."""
    answer = check(function, *given)
    (mode,) = answer.modes
    assert (mode.name, mode.check.verdict, mode.check.checked) == ("forward mode", "agree", mode.check.entries)
    assert any(".jvp (functions_with_jvp.py, line" in note for note in mode.check.notes)


@pytest.mark.parametrize(
    ("function", "given", "words"),
    all_but(WRONG, 1, 3, 4, 5, 7, 9, 10),
    ids=[one.__name__ for one, *_ in WRONG],
)
@pytest.mark.one_in(4)
def test_a_wrong_jvp_is_found(function: Any, given: tuple[Any, ...], words: str) -> None:
    """By name, with its line, though its backward is right."""
    with pytest.raises(AssertionError, match=r"are not right|could not be checked") as raised:
        check(_applied(function), *given, forward=True)
    said = " ".join(str(raised.value).split())
    assert f"{function.__name__}.jvp (functions_with_jvp.py, line" in said or "functions_with_jvp.py, line" in said
    assert words in said
    assert "(forward mode)" in said.partition("did not pass: ")[2]


def test_a_function_that_means_something_else_in_each_shape_is_tried_in_several() -> None:
    """Sorting is exchanges of so many elements: the recording of three is not taken for that of seven."""
    ((function, given, _),) = (row for row in WRONG if row[0].__name__ == "Unsorted")
    with pytest.raises(AssertionError, match=r"Unsorted\.jvp"):
        check(function.apply, *given, forward=True)


@pytest.mark.parametrize(
    ("function", "given", "words"), all_but(ELSEWHERE, 1), ids=[one.__name__ for one, *_ in ELSEWHERE]
)
def test_a_jvp_that_is_wrong_elsewhere_is_found(function: Any, given: tuple[Any, ...], words: str) -> None:
    """Its numbers here agree, and the check does not pass."""
    answer = record(function.apply, *given).check()
    (mode,) = answer.modes
    assert (answer.passed, check_of(answer).verdict, mode.check.verdict) == (False, "agree", "agree")
    assert mode.faults[0].startswith(f"{function.__name__}.jvp (functions_with_jvp.py, line")
    assert words in mode.faults[0]


def test_a_function_without_jvp_is_named_where_forward_mode_is_asked_for() -> None:
    """With its line; and without that nothing is tried."""
    assert check(WithoutJvp.apply, X).modes == ()
    with pytest.raises(AssertionError, match=r"Square.forward \(wrong_backwards.py, line \d+\) has no jvp"):
        check(WithoutJvp.apply, X, forward=True)
    with pytest.raises(InputError, match=r"Square.forward \(wrong_backwards.py, line \d+\) has no jvp"):
        jvp(WithoutJvp.apply, X, u=X, forward=True)


def test_what_is_only_tried_may_have_no_forward_mode() -> None:
    """Then the answer says so, and passes."""
    answer = check(lambda x: WithoutJvp.apply(Square.apply(x)), X)  # type: ignore[no-untyped-call]
    assert [(mode.check.verdict, mode.failing) for mode in answer.modes] == [("unchecked", ())]


def test_the_forward_mode_of_torch_is_found_to_be_wrong() -> None:
    """That of `cholesky_inverse` in torch 2.13, in a text and in code."""
    at, u = {"x": [[2.0, 0.0], [0.3, 1.0]]}, {"x": [[1.0, 0.0], [0.4, 1.0]]}
    f = Function("cholesky_inverse(x)")
    assert check_of(f.jvp(at, u)).verdict == "agree"
    assert check_of(f.jvp(at, u, forward=True)).verdict == "disagree"
    assert f.check(at).failing == ()
    assert f.check(at, forward=True).failing == ("disagree",)
    with pytest.raises(AssertionError, match=r"disagree \(forward mode\)"):
        check(torch.cholesky_inverse, torch.tensor(at["x"], dtype=torch.float64), forward=True)


def test_weights_that_are_found_elsewhere_move_too() -> None:
    """And are as they were, with the graphs that hold them."""
    layer = torch.nn.Linear(3, 2).double()
    before = layer.weight.detach().clone()
    y = layer(X).sum()
    answer = record(layer, X).check(forward=True, wrt=["weight", "bias", "input"])
    (mode,) = answer.modes
    assert (answer.passed, mode.check.checked, mode.check.proven) == (True, 22, True)
    y.backward()
    assert torch.equal(layer.weight, before)


def test_a_large_jacobian_is_checked_along_a_direction() -> None:
    """And says so."""
    answer = Function("x**2").check({"x": list(range(1, 101))}, forward=True)
    (mode,) = answer.modes
    assert (answer.passed, mode.check.verdict, mode.check.sampled) == (True, "agree", True)
    assert mode.check.notes[0].startswith("along one random direction u, as J takes a run for each of 100 elements")
    strict = Function("x**2").check({"x": list(range(1, 101))}, forward=True, require_all=True)
    assert not strict.passed
    wrong = record(Tripled.apply, torch.arange(1.0, 101, dtype=torch.float64)).check(forward=True)
    assert "Tripled.jvp (functions_with_jvp.py, line" in wrong.modes[0].check.findings[0].note


def test_a_derivative_inside_of_a_function_is_read() -> None:
    """By `torch.func.jvp` of a custom function; forward mode of that is not nested by torch."""
    answer = record(differentiated_inside, X).jacobian()
    assert check_of(answer).verdict == "agree"
    assert np.allclose(np.diagonal(answer.of_kind("jacobian")[0].numbers), 2 * X.cos())
    assert check(differentiated_inside, X).modes[0].check.notes[0].startswith("it computes forward mode itself")


def test_a_kink_is_one_in_forward_mode_too() -> None:
    """And is allowed for both."""
    x = torch.tensor([0.0, 1.0], dtype=torch.float64)
    answer = check(torch.relu, x, forward=True, allow=["kink"])
    assert [mode.check.verdict for mode in answer.modes] == ["kink"]


def test_a_parameter_that_is_called_like_an_option_is_an_argument() -> None:
    """Of the function, which then has no such option."""

    def power(x: Any, order: int = 2, k: float = 1.0, *, forward: bool = False) -> Any:
        return k * x**order if forward else x

    answer = check(power, X, order=3, k=5.0, forward=True)  # type: ignore[arg-type]
    assert (answer.modes, answer.value.tolist()) == ((), (5 * X**3).tolist())
    answer = check(lambda x, strict: x * strict, X, strict=W)  # type: ignore[arg-type]
    assert answer.value.tolist() == (X * W).tolist()


def test_commands(folder: Path, gradcli: Command) -> None:
    """Of a text and of a file, in words, in JSON and plain."""
    Path("own.py").write_text(Path(functions_with_jvp.__file__).read_text())
    run = gradcli("check", "own.py::Tripled.apply", "--at", "1,2")
    assert (run.code, "did not pass: disagree (forward mode)" in run.out) == (1, True)
    assert "forward mode   ✗ disagree (proven) at 2 of 4 entries\n" in run.out
    plain = gradcli("check", "own.py::Tripled.apply", "--at", "1,2", "--format", "plain").out
    assert "disagree forward-mode:dy[0]/dx[0] 3 2\n" in plain
    rows = gradcli("check", "x**2", "--at", "1,2", "--forward", "--format", "csv").out
    assert "forward mode dy[1]/dx[1]" in rows
    assert gradcli("check", "x**2", "--at", "1,2", "--forward").out.count("forward mode   ✓ agree") == 1
    assert "forward mode" not in gradcli("check", "x**2", "--at", "1,2").out
    assert gradcli("jvp", "own.py::Tripled.apply", "--at", "1,2", "--u", "1,1", "--format", "plain").out == "2 4\n"
    run = gradcli("jvp", "own.py::Tripled.apply", "--at", "1,2", "--u", "1,1", "--format", "plain", "--forward")
    assert (run.code, run.out) == (0, "3 6\n")

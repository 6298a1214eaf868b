"""Several v at once: the rows of J that vmap gives are held to the same enclosure, and rules for vmap are tried."""

from pathlib import Path
from typing import Any

import pytest
import torch

from gradcli import Function
from gradcli.parts.running.plain_functions import check, record
from tests.conftest import Command
from tests.examples import all_but
from tests.parts.running import functions_with_vmap
from tests.parts.running.functions_with_jvp import Turned
from tests.parts.running.functions_with_vmap import RIGHT, WRONG_BACKWARDS, WRONG_RULES
from tests.parts.running.wrong_backwards import Square as WithoutRule, W, X


@pytest.mark.parametrize(("function", "given"), all_but(RIGHT, 2, 3, 5), ids=range(len(RIGHT)))
@pytest.mark.one_in(4)
def test_right_ones_pass(function: Any, given: tuple[Any, ...]) -> None:
    """With a rule, with a generated one, and without."""
    answer = check(function, *given, batched=True)
    mode = answer.modes[-1]
    assert (mode.name, mode.check.verdict, mode.faults) == ("batched", "agree", ())
    is_without = function in (WithoutRule.apply, Turned.apply)
    assert any("has no vmap rule" in note for note in mode.check.notes) >= is_without


@pytest.mark.parametrize(("function", "words"), all_but(WRONG_RULES, 1), ids=[one.__name__ for one, _ in WRONG_RULES])
@pytest.mark.one_in(2)
def test_a_wrong_rule_is_found(function: Any, words: str) -> None:
    """By name, with its line, though nothing is wrong without vmap."""
    assert check(function.apply, X, W).modes == ()
    answer = record(function.apply, X, W).check(batched=True)
    (mode,) = answer.modes
    assert (answer.passed, mode.check.verdict) == (False, "agree")
    assert mode.faults[0].startswith(f"{function.__name__}.vmap (functions_with_vmap.py, line")
    assert words in mode.faults[0]


@pytest.mark.parametrize(("function", "words"), WRONG_BACKWARDS, ids=range(len(WRONG_BACKWARDS)))
@pytest.mark.one_in(2)
def test_a_backward_that_is_wrong_for_several_v_is_found(function: Any, words: str) -> None:
    """By name, with its line, though it is right for each v."""
    assert record(function.apply, X).check().passed or function.__name__ == "Branches"
    with pytest.raises(AssertionError, match=r"are not right|could not be checked") as raised:
        check(function.apply, X, batched=True)
    said = " ".join(str(raised.value).split())
    assert words in said
    assert f"{function.__name__}.backward (functions_with_vmap.py, line" in said
    assert "(batched)" in said.partition("did not pass: ")[2]


def test_many_rows_are_checked_for_a_random_v() -> None:
    """And the answer says so."""
    answer = Function("x**2").check({"x": list(range(1, 101))}, batched=True)
    (mode,) = answer.modes
    assert (answer.passed, mode.check.verdict, mode.check.sampled) == (True, "agree", True)
    assert mode.check.notes[0] == "for two random v at once, as y has 100 elements"


def test_v_at_once_by_vmap_are_read_inside_of_code() -> None:
    """Of `torch.func`, in a function."""

    def rows(x: Any) -> Any:
        back = torch.func.vjp(lambda z: z**3, x)[1]
        return torch.func.vmap(back)(torch.eye(3, dtype=x.dtype))[0].diagonal()

    assert record(rows, X).jacobian(check=True).check.verdict == "agree"  # type: ignore[union-attr]


def test_commands(folder: Path, gradcli: Command) -> None:
    """Of a text and of a file."""
    Path("own.py").write_text(Path(functions_with_vmap.__file__).read_text())
    run = gradcli("check", "own.py::Branches.apply", "--at", "1,2", "--batched")
    assert (run.code, "batched   ? unchecked" in run.out) == (1, True)
    assert "batched   ✓ agree (proven)" in gradcli("check", "x**3", "--at", "1,2", "--batched").out
    assert (
        "agree batched:dy[0]/dx[0] 3 3\n"
        in gradcli("check", "x**3", "--at", "1,2", "--batched", "--format", "plain").out
    )

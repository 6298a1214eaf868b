"""Custom functions asked alone: where mistakes hide they are found, and what is right is not blamed."""

from typing import Any

import pytest
import torch

from gradcli.running.blaming import trials
from gradcli.running.plain_functions import check, record
from tests.recording.wrong_backwards import RIGHT, WRONG, Product, Sigmoid, X

NAMED = {custom.__name__: custom for custom, _ in WRONG}

FOUND: dict[str, str] = {
    "NegativeX": "is wrong, only where x is small: from about -",
    "AtZero": "is wrong, only where x is near 0: from about 0 on",
    "AtNegativeZero": "such as x = -0",
    "TinyX": "is wrong, only where x is near 0: from 1e-05 on",
    "HugeX": "is wrong, only where x is far from 0: from 1e+06 on",
    "Large": "is wrong, only where x is large: from 100 on",
    "OnePiece": "only where x is large: from 3 on",
    "Overflows": "such as x = -",
    "EqualElements": "only where elements are equal",
    "ClippedToHundred": "only where v is large",
    "StridesOfV": "where v is one number, stretched",
    "OverwritesV": "changes the gradient vector that it is given",
    "Swapped": "is wrong for x",
    "Missing": "is wrong for w",
    "Summed": "is wrong for b",
    "Shifted": "is wrong for w, only with requires_grad of w alone",
    "AllOrNone": "is wrong for x, only with requires_grad of x alone",
    "WithTheFirst": "is wrong for w, with requires_grad of w alone",
}
"""Words on each where they are more than that it is wrong."""


@pytest.mark.parametrize(("custom", "given"), WRONG, ids=[custom.__name__ for custom, _ in WRONG])
def test_every_wrong_backward_is_found(custom: Any, given: tuple[Any, ...]) -> None:
    """By name, with the line of its backward and where it is wrong; and no test passes with it."""
    (trial,) = trials(record(custom.apply, *given).recorded())
    assert FOUND.get(custom.__name__, "is wrong") in trial.fault
    called = f"{custom.__name__}.backward (wrong_backwards.py, line "
    assert trial.fault.startswith(called)
    with pytest.raises(AssertionError, match="are not right") as raised:
        check(custom.apply, *given)
    said = " ".join(str(raised.value).partition("did not pass: ")[2].split())
    assert said.startswith("disagree") or called in said


def test_what_is_wrong_far_away_is_found_in_float32_too() -> None:
    """The rounding that is allowed for is relative to y/x."""
    with pytest.raises(AssertionError, match="elsewhere HugeX"):
        check(NAMED["HugeX"].apply, X.float())


@pytest.mark.parametrize(("custom", "given"), RIGHT, ids=[custom.__name__ for custom, _ in RIGHT])
def test_no_right_backward_is_blamed(custom: Any, given: tuple[Any, ...]) -> None:
    """Neither conventions at kinks, nor digits that forward or backward lose."""
    answer = check(lambda x: custom.apply(x * 1, *given[1:]), *given[:1])  # a leaf cannot be changed in place
    assert answer.passed
    assert f"{custom.__name__}.backward (wrong_backwards.py, line" in answer.remarks[0]


def test_what_was_tried_is_said() -> None:
    """In one remark a class, with what fits the function alone."""
    (said,) = check(Product.apply, X, X + 1).remarks
    assert "was tried at 57 other points of sizes " in said
    assert said.endswith("with v of each sign, large v, v as sum() gives it, some inputs alone, ±0, equal elements")


def test_a_function_without_custom_functions_has_no_such_remark() -> None:
    """There is nothing to try."""
    assert check(torch.sin, X).remarks == ()


def test_digits_that_a_backward_loses_are_not_blamed() -> None:
    """Of `y*(1 - y)` none is left where y is almost 1: that is rounding, relative to y."""
    (trial,) = trials(record(Sigmoid.apply, torch.tensor([25.0, 30.0, 36.0])).recorded())
    assert not trial.fault

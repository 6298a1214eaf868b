"""Values that are true and false, in an index and where positions stand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function, GradcliError

X = [1.0, 2.0, 3.0]

SPELLED = [
    "True,False,True",
    "torch.tensor([True,False,True])",
    "[3,1,2] > 1",
    "torch.tensor([1,0,1], dtype=torch.bool)",
    [True, False, True],
    np.array([True, False, True]),
    torch.tensor([True, False, True]),
]
"""One mask."""


@pytest.mark.parametrize("mask", SPELLED, ids=str)
def test_a_mask_in_an_index_chooses_elements(mask: Any) -> None:
    """It is none of 1 and 0 for positions, however it is given, as torch reads it."""
    x = torch.tensor(X, requires_grad=True)
    y = (x[torch.tensor([True, False, True])] ** 2).sum()
    y.backward()  # type: ignore[no-untyped-call]
    answer = Function("sum(x[mask]**2)").grad({"x": X, "mask": mask})
    assert answer.grad["x"].tolist() == x.grad.tolist() == [2, 0, 6]  # type: ignore[union-attr]
    assert (float(answer.value), answer.check and answer.check.verdict) == (float(y), "agree")


@pytest.mark.parametrize(
    ("text", "at", "of_torch"),
    [
        ("sum(x[m]*x[m]) + sum(m*x)", [True, False, True], lambda x, m: (x[m] * x[m]).sum() + (m * x).sum()),
        ("sum(x[m]**2)", [False, False, False], lambda x, m: (x[m] ** 2).sum()),
        ("sum(outer(x,x)[m,1])", [False, True, True], lambda x, m: torch.outer(x, x)[m, 1].sum()),
        ("sum(outer(x,x)[:,m])", [False, True, True], lambda x, m: torch.outer(x, x)[:, m].sum()),
        ("sum(outer(x,x)[m])", np.eye(3, dtype=bool), lambda x, m: torch.outer(x, x)[m].sum()),
    ],
)
def test_masks_choose_as_in_torch(text: str, at: Any, of_torch: Callable[..., torch.Tensor]) -> None:
    """In any dimension, in several, beside other indices, and where its numbers are factors, too."""
    x = torch.tensor(X, requires_grad=True)
    of_torch(x, torch.tensor(at)).backward()  # type: ignore[no-untyped-call]
    assert Function(text).grad({"x": X, "m": at}).grad["x"].tolist() == x.grad.tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize("at", ["1,0,1", [1, 0, 1], "torch.tensor([1,0,1])", "where([1,-1,1] > 0, 1, 0)"])
def test_whole_numbers_stay_positions(at: Any) -> None:
    """Only true and false are masks."""
    assert Function("sum(x[i]**2)").grad({"x": X, "i": at}).grad["x"].tolist() == [2, 8, 0]


@pytest.mark.parametrize("text", ["sum(take(x,m))", "sum(gather(x,0,m))", "sum(index_select(x,0,m))"])
def test_positions_are_no_masks(text: str) -> None:
    """What takes positions refuses true and false, as torch does, and says which they are."""
    with pytest.raises(GradcliError, match="'m' is given as true and false") as caught:
        Function(text).grad({"x": X, "m": "True,False,True"})
    assert 'at={"m": [0, 2]}' in str(caught.value)
    assert Function(text).grad({"x": X, "m": "0,2"}).grad["x"].tolist() == [1, 0, 1]

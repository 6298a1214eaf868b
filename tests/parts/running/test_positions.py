"""Elements at positions in code: one operation each, in passes that are differentiated again too."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from gradcli.parts.running.plain_functions import record
from tests.checks import check_of

X = np.linspace(0.5, 1.6, 12)
ROWS = torch.tensor([2, 0, 2, 1])
COLUMNS = torch.tensor([[1, 0], [2, 2], [0, 1], [1, 1]])
LONG = torch.arange(40) * 7 % 12

TAKEN: dict[str, Callable[[Any], Any]] = {
    "index": lambda x: x.view(4, 3)[ROWS],
    "of several dimensions": lambda x: x.view(4, 3)[ROWS, torch.tensor([0, 0, 2, 1])],
    "index_select": lambda x: x.view(4, 3).index_select(1, ROWS),
    "gather": lambda x: x.view(4, 3).gather(1, COLUMNS),
    "take": lambda x: x.view(4, 3).take(torch.tensor([11, 0, 11])),
    "take_along_dim": lambda x: torch.take_along_dim(x.view(4, 3), COLUMNS, 1),
    "embedding": lambda x: functional.embedding(ROWS, x.view(4, 3)),
    "index_add": lambda x: torch.zeros(5, dtype=x.dtype).index_add(0, torch.arange(12) % 5, x),
    "scatter_add": lambda x: torch.zeros(4, 4, dtype=x.dtype).scatter_add(1, COLUMNS, x.view(4, 3)[:, :2]),
    "index_put": lambda x: x.view(4, 3).index_put((ROWS,), x[:3], accumulate=True),
    "long": lambda x: x[LONG],
    "long of several dimensions": lambda x: torch.outer(x, x)[LONG, LONG.flip(0)],
}
"""Functions that take elements at positions, or add them up there, by what they call."""


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.one_in(4)
def test_passes_back_through_positions_are_recorded(name: str) -> None:
    """The gradient of the sum of the squares of a gradient: all entries are proved."""

    def penalty(x: torch.Tensor) -> torch.Tensor:
        (slope,) = torch.autograd.grad(TAKEN[name](x).pow(3).sum(), x, create_graph=True)
        return (slope**2).sum()

    check = check_of(record(penalty, X).grad({"x": X}))
    assert (check.verdict, check.proven, check.checked) == ("agree", True, 12)


def test_long_positions_of_several_dimensions_stand_in_the_text() -> None:
    """Their stack, which has no name, is at the place of both."""
    asked = record(lambda x: torch.outer(x, x)[LONG, LONG.flip(0)].sum(), X)
    assert "*x)[[0, 7, 2, ..., 9], [9, 2, 7, ..., 0]]" in asked.recorded().program.text
    assert check_of(asked.grad({"x": X})).verdict == "agree"


@pytest.mark.parametrize(("i", "said"), [([2, 0], "x[i[j]]"), ([-1, 0], "x[2 - 2*i]")])
def test_positions_that_are_arguments(i: list[int], said: str) -> None:
    """By their name, or where they count from the end as numbers."""
    answer = record(lambda x, i: x[i] ** 2, torch.tensor([1.0, 2, 3]), torch.tensor(i)).vjp(v="ones")
    assert (check_of(answer).verdict, answer.vjp["x"].tolist()) == ("agree", [2, 0, 6])
    assert said in answer.symbolic["x"].text

"""Time to measure the slopes of a call that cannot be read, over that of gradcheck on the same numbers.

`pytest -m benchmark tests/benchmarks/test_measuring.py -s -n 0` prints it.
"""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from gradcli.parts.running.plain_functions import record
from gradcli.recording.repeated_calls import OpaqueCall, Repeatable, repeatable
from tests.benchmarks.conftest import ratio
from tests.parts.running import opaque_functions as own

MOST = 2.0
"""Largest ratio."""


def _slow(x: torch.Tensor) -> torch.Tensor:
    """Take as long as a small solver does."""
    found = x.detach().numpy()
    for _ in range(200):
        found = found - (found + found**3 - 1 - x.detach().numpy()) / (1 + 3 * found**2)
    return torch.from_numpy(np.asarray(found))


def _slope(x: torch.Tensor) -> torch.Tensor:
    return 1 / (1 + 3 * _slow(x) ** 2)


def _all_at_once(x: torch.Tensor) -> torch.Tensor:
    return _slow(x).sum()


SOLVED = own.with_slope(_slow, _slope)
SUMMED = own.with_slope(_all_at_once, _slope)

CASES: dict[str, tuple[Callable[..., torch.Tensor], int]] = {
    "4 by 4": (SOLVED, 4),
    "16 by 16": (SOLVED, 16),
    "32 by 32": (SOLVED, 32),
    "16 to 1": (SUMMED, 16),
    "32 to 1": (SUMMED, 32),
}


@pytest.mark.parametrize("name", CASES)
def test_measuring_takes_at_most_twice_as_long_as_gradcheck(name: str) -> None:
    """Whatever is measured one by one."""
    function, count = CASES[name]
    x = torch.linspace(0.3, 1.7, count, dtype=torch.float64, requires_grad=True)
    kept: Repeatable = repeatable(function, [x], {})
    value = function(x).detach()

    def measured() -> None:
        call = OpaqueCall(name, kept.again, [x.detach()], [True], [value])
        (slopes,) = call.slopes(0)
        assert slopes is not None
        assert not slopes.unknown

    measured()  # imports SciPy
    found = ratio(measured, lambda: torch.autograd.gradcheck(function, (x,)))
    print(f"{name}: {found:.2f} times gradcheck")
    assert found <= MOST


def test_a_large_call_takes_less() -> None:
    """It is moved along some directions, and gradcheck moves each number."""
    x = torch.linspace(0.3, 1.7, 1000, dtype=torch.float64, requires_grad=True)
    found = ratio(lambda: record(SUMMED, x).check(), lambda: torch.autograd.gradcheck(SUMMED, (x,)), repeats=3)
    print(f"1000 to 1, the whole check: {found:.2f} times gradcheck")
    assert found <= MOST

"""Processor time of `gradcli.check` on functions of few elements, over that of one eager pass forward and back.

`pytest -m benchmark tests/benchmarks/test_checks_of_code.py -s -n 0` prints it, with `gradcheck` of the same beside it.
"""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

import gradcli

MOST: dict[int, float] = {9: 200, 100: 600}
"""Largest median of the ratios, by the elements of x: with a hundred, some have a Jacobian of 10,000 numbers."""


class Square(torch.autograd.Function):
    """x**2 with a backward of its own."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *v: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        found: torch.Tensor = 2 * x * v[0]
        return found


def _cases(count: int) -> dict[str, tuple[Callable[..., torch.Tensor], torch.Tensor]]:
    """Functions of so many elements, a square number."""
    n = math.isqrt(count)
    x = torch.linspace(0.3, 1.7, count, dtype=torch.float64, requires_grad=True)
    rows = x.detach().reshape(n, n).requires_grad_()
    weights = torch.linspace(-1, 1, count, dtype=torch.float64)
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(n, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    return {
        "sin(x)*x**2": (lambda x: torch.sin(x) * x**2, x),
        "sum of a chain": (lambda x: torch.log1p(torch.exp(torch.sin(x)) * x).sqrt().sum(), x),
        "softmax": (lambda x: torch.softmax(x, 0), x),
        "logsumexp": (lambda x: torch.logsumexp(x * weights, 0), x),
        "norm": (lambda x: torch.linalg.norm(x - weights), x),
        "matmul": (lambda x: x @ weights.reshape(n, n), rows),
        "cross entropy": (lambda x: torch.nn.functional.cross_entropy(x, torch.arange(n)), rows),
        "layer norm": (lambda x: torch.nn.functional.layer_norm(x, (n,)).exp().mean(), rows),
        "module": (network, rows),
        "custom function": (lambda x: Square.apply(x).sum(), x),  # type: ignore[no-untyped-call]
    }


def _seconds(function: Callable[[], object], repeats: int) -> float:
    """Processor time of a call, the median of some."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def _eager(function: Callable[..., torch.Tensor], x: torch.Tensor, wrt: Sequence[torch.Tensor]) -> None:
    for _ in range(100):
        y = function(x)
        torch.autograd.grad(y, wrt, torch.ones_like(y))


@pytest.mark.parametrize("count", MOST)
def test_a_check_takes_some_hundred_passes(count: int) -> None:
    """After the first of each, which imports, derives and compiles; gradcheck moves each element twice."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        ratios = {name: _ratios(*case) for name, case in _cases(count).items()}
    finally:
        torch.set_num_threads(threads)
    ratios["median"] = tuple(statistics.median(column) for column in zip(*ratios.values(), strict=True))
    width = max(map(len, ratios))
    print(f"\n{count:<{width}}  check  first  gradcheck, in eager passes")
    for name, found in ratios.items():
        print(f"{name:{width}}", *(f"{one:6.0f}" for one in found))
    assert ratios["median"][0] < MOST[count]


def _ratios(function: Callable[..., torch.Tensor], x: torch.Tensor) -> tuple[float, ...]:
    """A check, the first check of the function, and gradcheck, each over an eager pass."""
    first = _seconds(lambda: gradcli.check(function, x), 1)
    wrt = [x, *function.parameters()] if isinstance(function, torch.nn.Module) else [x]
    _eager(function, x, wrt)
    checked = _seconds(lambda: gradcli.check(function, x), 7)
    other = _seconds(lambda: torch.autograd.gradcheck(function, (x,)), 3)
    eager = _seconds(lambda: _eager(function, x, wrt), 7) / 100
    return checked / eager, first / eager, other / eager

"""Time of `gradcli.check` on functions of a hundred elements, over that of one eager pass forward and back.

`pytest -m benchmark tests/benchmarks/test_checks_of_code.py -s -n 0` prints it, with `gradcheck` of the same beside it.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

import gradcli

MOST = 200
"""Largest median of the ratios."""

COUNT = 100
"""Elements of x."""


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


def _network() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = torch.nn.Linear(10, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
    return torch.nn.Sequential(*layers).double()


def _cases() -> dict[str, tuple[Callable[..., torch.Tensor], torch.Tensor]]:
    x = torch.linspace(0.3, 1.7, COUNT, dtype=torch.float64, requires_grad=True)
    rows = x.detach().reshape(10, 10).requires_grad_()
    weights = torch.linspace(-1, 1, COUNT, dtype=torch.float64)
    square = torch.linspace(-1, 1, COUNT, dtype=torch.float64).reshape(10, 10)
    return {
        "sin(x)*x**2": (lambda x: torch.sin(x) * x**2, x),
        "sum of a chain": (lambda x: torch.log1p(torch.exp(torch.sin(x)) * x).sqrt().sum(), x),
        "softmax": (lambda x: torch.softmax(x, 0), x),
        "logsumexp": (lambda x: torch.logsumexp(x * weights, 0), x),
        "norm": (lambda x: torch.linalg.norm(x - weights), x),
        "matmul": (lambda x: x @ square, rows),
        "cross entropy": (lambda x: torch.nn.functional.cross_entropy(x, torch.arange(10)), rows),
        "layer norm": (lambda x: torch.nn.functional.layer_norm(x, (10,)).exp().mean(), rows),
        "module": (_network(), rows),
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


def test_a_check_of_a_hundred_elements_takes_less_than_two_hundred_passes() -> None:
    """After a first check of each, which imports and compiles; gradcheck moves each element twice."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        ratios = {name: _ratios(*case) for name, case in _cases().items()}
    finally:
        torch.set_num_threads(threads)
    width = max(map(len, ratios))
    print(f"\n{'':{width}}  check  gradcheck, in eager passes")
    for name, (checked, other) in ratios.items():
        print(f"{name:{width}} {checked:6.0f} {other:10.0f}")
    medians = [statistics.median(column) for column in zip(*ratios.values(), strict=True)]
    print(f"{'median':{width}} {medians[0]:6.0f} {medians[1]:10.0f}")
    assert medians[0] < MOST


def _ratios(function: Callable[..., torch.Tensor], x: torch.Tensor) -> tuple[float, float]:
    """A check over an eager pass, and gradcheck over one."""
    assert gradcli.check(function, x)
    wrt = [x, *function.parameters()] if isinstance(function, torch.nn.Module) else [x]
    _eager(function, x, wrt)
    checked = _seconds(lambda: gradcli.check(function, x), 5)
    other = _seconds(lambda: torch.autograd.gradcheck(function, (x,)), 3)
    eager = _seconds(lambda: _eager(function, x, wrt), 7) / 100
    return checked / eager, other / eager

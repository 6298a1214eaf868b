"""Functions of Python whose tensors are on another device: they run there, and are judged by the truth of the CPU.

`tests/autodiff/test_devices.py` runs these tests on a device made in Python.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

import gradcli
from gradcli.autodiff import devices
from gradcli.errors import InputError, UsageError, WrongGradientsError
from tests.fake_device import DEVICES, require_device, require_fake_device, wrong_kernel


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Any:
    """A device made in Python, and each that this machine has."""
    return require_device(request.param)


def _x(device: str) -> torch.Tensor:
    return torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64).to(device).requires_grad_()


def _function(x: torch.Tensor) -> torch.Tensor:
    return (torch.sin(x) * x).sum()


class _Scaled(torch.nn.Module):
    w: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("w", torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (torch.tanh(x) * self.w).softmax(0)


class _Square(torch.autograd.Function):
    factor = 2

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *v: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        found: torch.Tensor = _Square.factor * x * v[0]
        return found


def test_functions_of_python_run_where_their_tensors_are(device: Any) -> None:
    """Arguments and buffers are there, also of whole numbers, and custom functions are tried there."""
    x = _x(device)
    seen = []

    def looked(x: torch.Tensor) -> torch.Tensor:
        seen.append(str(x.device.type))
        return _function(x)

    for function, more in (
        (looked, ()),
        (_Scaled().to(device), ()),
        (_Square.apply, ()),
        (lambda x, i: (x[i] ** 2).cumsum(0), (torch.tensor([2, 0]).to(device),)),
        (lambda x: (torch.where(x > 1.5, x, -x) * x.new_tensor([1.0, 2.0, 3.0])).logsumexp(0), ()),
    ):
        found: Any = gradcli.check(function, x, *more)
        assert found.check.verdict == "agree"
        assert found.device.startswith(device)
    assert set(seen) == {device}


def test_a_wrong_backward_is_blamed_on_another_device_too(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the custom function's name."""
    monkeypatch.setattr(_Square, "factor", 3)
    x = _x(device)
    with pytest.raises(WrongGradientsError, match="_Square"):
        gradcli.check(_Square.apply, x)


def test_a_device_that_is_asked_for_moves_a_copy_of_a_module(device: Any) -> None:
    """The module stays where it was; numbers that are given go there."""
    net = _Scaled()
    found: Any = gradcli.record(net, [1.0, 2.0, 3.0]).jacobian(device=device)
    assert found.check.verdict == "agree"
    assert found.device == device
    assert net.w.is_cpu


def test_a_wrong_kernel_is_found_in_code() -> None:
    """In the backward pass by the verdict, and in the forward one as a recording that is not the function."""
    x = _x(require_fake_device())
    with wrong_kernel("cos"), pytest.raises(WrongGradientsError, match="disagree"):
        gradcli.check(_function, x)
    with wrong_kernel("sin"), pytest.raises(InputError, match=r"replayed on the CPU, it gives 3\.08.*on fake:0 3\.11"):
        gradcli.check(_function, x)


def test_a_device_without_float64_runs_code_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless float64 was asked for, which is refused."""
    fake: Any = require_fake_device()
    monkeypatch.setattr(devices, "_WITHOUT_FLOAT64", (fake,))
    made = gradcli.record(_function, [1.0, 2.0, 3.0])
    assert made.grad(device=fake).dtype == "float32"
    with pytest.raises(InputError, match="fake has no float64"):
        made.grad(device=fake, dtype="float64")


def test_an_argument_without_numbers_is_refused() -> None:
    """In a sentence that says why."""
    with pytest.raises(UsageError, match="meta device"):
        gradcli.check(_function, torch.ones(3, device="meta"))

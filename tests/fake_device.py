"""A device of torch's, made in Python: it computes on the CPU, and holds numbers that no tensor of the CPU has.

Torch has a key for a backend of another package, PrivateUse1. Every call on it is run on the tensors of the CPU behind
its tensors. Each of them counts as contiguous; a view shares the memory of a tensor that is. Torch takes a new device
only before its first backward pass, so all tests on it are run by one process of their own: `require_own_process`.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from gradcli.autodiff import devices
from tests.conftest import process

NAME = "fake"

_VARIABLE = "TEST_FAKE_DEVICE"
"""Variable of the environment of a process that has the device."""

_READING = ("aten::_local_scalar_dense", "aten::equal", "aten::is_nonzero")
"""Calls that give numbers of Python."""

REAL = [name for name in devices.ACCELERATORS if devices.is_there(name)]
"""Devices of this machine."""

DEVICES = (NAME, *REAL)
"""Devices to test with."""

_wrong: dict[str, float] = {}
_numbers: dict[int, torch.Tensor] = {}
_libraries: list[torch.library.Library] = []


@functools.cache
def require_fake_device() -> str:
    """The name of the device, which is there from the first call on; skip the test where torch has no such key."""
    if _VARIABLE not in os.environ:
        pytest.skip("in a process of its own")
    backend = pytest.importorskip("torch.utils.backend_registration")
    if not hasattr(backend, "_setup_privateuseone_for_python_backend"):
        pytest.skip("this torch takes no backend made in Python")

    class Module(backend._DummyBackendModule):  # type: ignore[name-defined, misc]
        """What torch asks in other tests of the process, in which the device is not to be seen."""

        def is_available(self) -> bool:
            return False

        def get_amp_supported_dtype(self) -> list[torch.dtype]:
            return [torch.float16, torch.bfloat16]

        def get_rng_state(self, device: object = None) -> torch.Tensor:
            return torch.zeros(0, dtype=torch.uint8)

        def set_rng_state(self, state: torch.Tensor, device: object = None) -> None:
            pass

    backend._setup_privateuseone_for_python_backend(NAME, Module())
    every, own = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    every.fallback(_called, "PrivateUse1")
    for name, function in _OWN.items():
        own.impl(name, function, "PrivateUse1")
    _libraries.extend((every, own))
    return NAME


def require_own_process() -> None:
    """Run the tests of all files on devices once more, in a process that has the device."""
    if _VARIABLE in os.environ:
        pytest.skip("it is this process")
    options = "-q", "-n", "0", "-p", "no:cacheprovider"
    files = sorted(map(str, Path(__file__).parent.rglob("test_devices*.py")))
    run = process(sys.executable, "-m", "pytest", *options, *files, TEST_FAKE_DEVICE="1")
    assert run.code == 0, run.out


def require_device(name: str) -> str:
    """The name of one of `DEVICES`, which is there then."""
    return require_fake_device() if name == NAME else name


@contextmanager
def wrong_kernel(name: str, factor: float = 1.01) -> Iterator[None]:
    """Let the kernel of an operation give wrong numbers on the device, within a block."""
    _wrong[name] = factor
    try:
        yield
    finally:
        del _wrong[name]


def _is_here(one: object) -> bool:
    return isinstance(one, torch.Tensor) and one.device.type == NAME


def _held(numbers: torch.Tensor) -> Any:
    """A tensor of the device with these numbers."""
    found: torch.Tensor = torch._C._acc.create_empty_tensor(tuple(numbers.shape), numbers.dtype)
    _numbers[_memory(found)] = numbers.detach()
    return found


def _memory(tensor: torch.Tensor) -> int:
    """The name of the memory of a tensor, which copies that autograd keeps share."""
    return int(tensor.untyped_storage()._cdata)


def _on_cpu(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _numbers[_memory(value)] if _is_here(value) else value
    if isinstance(value, torch.device):
        return torch.device("cpu")
    return type(value)(map(_on_cpu, value)) if isinstance(value, list | tuple) else value


def _on_device(value: Any, given: tuple[Any, ...]) -> Any:
    """Give results as tensors of the device; one that was written to is itself, in its new shape."""
    if isinstance(value, torch.Tensor):
        written = [one for one in given if _is_here(one) and _on_cpu(one) is value]
        if written and written[0].shape != value.shape:
            written[0].data = _held(value)
        return written[0] if written else _held(value)
    return type(value)(_on_device(one, given) for one in value) if isinstance(value, list | tuple) else value


def _as_tensor(value: Any) -> torch.Tensor:
    """Give the number of a tensor as one again, which torch gives as that of Python."""
    return value if isinstance(value, torch.Tensor) else torch.tensor(value)


def _called(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Run any call on the CPU."""
    of_schema = zip(operation._schema.arguments, args, strict=False)
    args = tuple(_as_tensor(one) if str(argument.type) == "Tensor" else one for argument, one in of_schema)
    found = operation(*map(_on_cpu, args), **{name: _on_cpu(one) for name, one in kwargs.items()})
    factor = _wrong.get(operation._schema.name.removeprefix("aten::"))
    if factor is not None:
        found.mul_(factor)
    if operation._schema.name in _READING:
        return found
    return _on_device(found, (*args, *kwargs.values()))


def _copied(source: Any, target: Any, non_blocking: bool = False) -> Any:
    _on_cpu(target).copy_(_on_cpu(source))
    return target


def _strided(numbers: torch.Tensor, size: Any, stride: Any, offset: int) -> torch.Tensor:
    numbers = numbers.contiguous()
    return numbers.as_strided(size, stride, numbers.storage_offset() + offset)


def _made(function: Callable[..., torch.Tensor], *how: Any, dtype: Any = None, **others: Any) -> Any:
    return _held(function(*how, dtype=dtype))


_OWN: dict[str, Callable[..., Any]] = {
    "_copy_from": _copied,
    "empty.memory_format": functools.partial(_made, torch.empty),
    "empty_strided": functools.partial(_made, torch.empty_strided),
    **{name: functools.partial(_made, torch.arange) for name in ("arange", "arange.start", "arange.start_step")},
    "as_strided": lambda tensor, size, stride, offset=0: _held(_strided(_on_cpu(tensor), size, stride, offset or 0)),
    "view": lambda tensor, size: _held(_on_cpu(tensor).reshape(size)),
    "alias": lambda tensor: _held(_on_cpu(tensor)),
    "detach": lambda tensor: _held(_on_cpu(tensor)),
}
"""Calls that make tensors, or are run by torch itself before all others are."""

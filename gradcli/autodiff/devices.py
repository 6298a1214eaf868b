"""Devices of torch: the one that is asked for is chosen here, and one that is not there is refused.

Torch's reading of a text may run on any of them, as a backend has kernels of its own; the formula and the enclosure
never do.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

from gradcli.autodiff._torch import torch
from gradcli.errors import InputError
from gradcli.option_words import option

Dtype = Literal["float64", "float32"]

CPU = "cpu"
"""Name of the device that is always there."""

ACCELERATORS = ("cuda", "mps", "xpu")
"""Devices that `auto` looks for, in this order."""

_WITHOUT_FLOAT64 = ("mps",)
"""Devices that have no numbers of 64 bits."""

NO_NUMBERS = "a tensor on the meta device has a shape and no numbers, so nothing can be computed"
"""Refusal of the device `meta`."""


def chosen(name: str) -> str:
    """Choose the device that a name means; `auto` is the first that is there, and else the CPU.

    Raises:
        InputError: It is not there, or holds no numbers.

    >>> chosen("cpu")
    'cpu'
    """
    if name == CPU:
        return CPU
    if name == "auto":
        return next((one for one in ACCELERATORS if is_there(one)), CPU)
    kind = name.partition(":")[0]
    if kind == "meta":
        raise InputError(NO_NUMBERS, hint=f"{option('device', CPU)} computes")
    if not is_there(name):
        there = ", ".join((CPU, *filter(is_there, ACCELERATORS)))
        raise InputError(f"torch has no device '{name}' here", hint=f"it has {there}")
    return name


def is_there(name: str) -> bool:
    """Tell whether torch can make a tensor on a device, and read it."""
    try:
        torch.ones(1, device=name).cpu()
    except (RuntimeError, AssertionError, ImportError, ValueError):
        return False
    return True


def device_name(tensor: torch.Tensor) -> str:
    """Name the device of a tensor."""
    return CPU if tensor.is_cpu else str(tensor.device)


def has_tf32(device: str) -> bool:
    """Tell whether a device may round the factors of products in float32 to three digits."""
    backends = torch.backends
    return device.startswith("cuda") and (backends.cuda.matmul.allow_tf32 or backends.cudnn.allow_tf32)


def dtype_there(device: str, dtype: Dtype, *, is_asked: bool) -> tuple[Dtype, tuple[str, ...]]:
    """Choose the dtype of a computation on a device; say so if that is another one.

    Args:
        device: The device.
        dtype: The usual one.
        is_asked: Whether it was asked for.

    Raises:
        InputError: The device has not the dtype that was asked for.

    >>> dtype_there("mps", "float64", is_asked=False)
    ('float32', ('mps has no float64, so torch computes in float32',))
    """
    if dtype == "float32" or device.partition(":")[0] not in _WITHOUT_FLOAT64:
        return dtype, ()
    if is_asked:
        raise InputError(f"{device} has no float64", hint=f"leave out {option('dtype')}, or give float32")
    return "float32", (f"{device} has no float64, so torch computes in float32",)


def on_device_of(tensors: Iterable[torch.Tensor]) -> AbstractContextManager[object]:
    """Make tensors on the device of the first of some that is not on the CPU, within a block."""
    return next((one.device for one in tensors if not one.is_cpu), nullcontext())

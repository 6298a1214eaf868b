"""Memory that code writes to which is not torch's, as a kernel in C++ does: no call of ATen tells of it.

    auto y = torch::empty_like(x);                          y is a constant, which is seen
    kernel(x.data_ptr<double>(), y.data_ptr<double>());     it is none any more, which is not seen

What such code writes to is mostly a buffer that a call has filled with one number.  Where that holds other numbers when
it is used, and no call has written to it, they are not those of a constant.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.recording.aten_calls import is_wrapped
from gradcli.recording.memory import memory

_FILLED = frozenset("zeros ones full new_zeros new_ones new_full zeros_like ones_like full_like".split())
"""Operations whose result is one number everywhere."""

_EMPTY = ("empty", "new_empty")
"""Beginnings of the names of operations whose result holds no numbers, and zeros where it is recorded."""

MOST_BUFFERS = 4096
"""Most buffers that are remembered at once."""


class UnseenCodeError(InputError):
    """Error of a value that code has made which cannot be seen.

    Attributes:
        function: The `autograd.Function` in whose forward it runs; None outside of any.
    """

    def __init__(self, message: str, *, hint: str | None = None, function: type | None = None) -> None:
        super().__init__(message, hint=hint)
        self.function = function


class _Buffer(NamedTuple):
    """Memory that was filled; while the weak reference is held, no other memory has its identity."""

    alive: torch.multiprocessing.reductions.StorageWeakRef
    number: float
    is_empty: bool


class Buffers:
    """Tensors that calls have filled with one number, by their memory, until a call writes to them."""

    def __init__(self) -> None:
        self._filled: dict[int, _Buffer] = {}
        self._written: dict[int, float] = {}  # by the present call, with the number that was there before

    def fill(self, name: str, tensor: Tensor) -> None:
        """Note a tensor that an operation has made, if it is one number everywhere; one without numbers is made 0."""
        if is_empty := name.startswith(_EMPTY):
            tensor.zero_()
        if not (is_empty or name in _FILLED) or not tensor.is_floating_point() or is_wrapped(tensor) or tensor.is_meta:
            return
        if len(self._filled) >= MOST_BUFFERS:
            self._filled = {key: one for key, one in self._filled.items() if not one.alive.expired()}
        if tensor.numel() and len(self._filled) < MOST_BUFFERS:
            with torch_internals.without_functions():
                number = float(tensor.flatten()[0])
            if not math.isnan(number):  # which is no number to compare with
                alive = torch.multiprocessing.reductions.StorageWeakRef(tensor.untyped_storage())
                self._filled[memory(tensor)] = _Buffer(alive, number, is_empty)

    def forget(self, tensor: Tensor) -> float | None:
        """Remember a buffer no more; give the number that it was filled with, if it was one."""
        if not self._filled or is_wrapped(tensor):
            return None
        found = self._filled.pop(memory(tensor), None)
        return None if found is None else found.number

    def write(self, changed: Sequence[Tensor]) -> None:
        """Note the tensors that the present call is to write to."""
        numbers = {memory(one): self.forget(one) for one in changed if not is_wrapped(one)} if changed else {}
        self._written = {key: number for key, number in numbers.items() if number is not None}

    def number_before(self, tensor: Tensor) -> float | None:
        """Give the one number that a tensor held before the present call wrote to it; None if it is not known."""
        return self._written.get(memory(tensor))

    def is_foreign(self, tensor: Tensor, *, is_result: bool = False) -> bool:
        """Tell whether code that is not torch's has written to a tensor.

        Args:
            tensor: The tensor.
            is_result: Whether it is what code gives back, which is no memory that nothing was written to.
        """
        if not self._filled or is_wrapped(tensor):
            return False
        buffer = self._filled.get(memory(tensor))
        if buffer is None or buffer.alive.expired() or not tensor.is_floating_point():
            return False
        if is_result and buffer.is_empty:
            return True
        with torch_internals.without_dispatch(), torch_internals.without_functions(), torch.no_grad():
            return bool((tensor.detach() != buffer.number).any())

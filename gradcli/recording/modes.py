"""Modes that see the calls of code while it runs: one below autograd, which records, and one above it.

The one above shows backward passes, composites, and arrays of tensors as they are written.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.errors import InputError
from gradcli.recording.aten_calls import Argument, is_wrapped, tensors_in

PASSES = (torch.Tensor.backward, torch.autograd.grad, torch.autograd.backward)
"""Functions of torch that run a backward pass."""

_READS = {getattr(torch.Tensor, name): name for name in "tolist numpy __array__".split()}
"""Names of the methods that read numbers without a call of ATen."""

_READS_OF_ONE = {getattr(torch.Tensor, f"__{name}__"): name for name in "float int index complex".split()}
"""Names of the methods that read one number, often without a call of ATen."""

_MAKERS = {torch.tensor: "torch.tensor", torch.as_tensor: "torch.as_tensor", torch.asarray: "torch.asarray"}
"""Names of the functions that make a tensor of numbers, also of those that lists of tensors hold."""


_DATA = torch.Tensor.data.__get__  # type: ignore[attr-defined]
"""Getter of `.data`, a tensor of the same memory that autograd does not follow."""


class TimeLimit(torch_internals.DispatchMode):
    """Mode that ends code that takes too long: a loop until a number is small may not end at other points.

    Args:
        called: What the code is, for the message.
        seconds: The processor time that it has.
    """

    def __init__(self, called: str, seconds: float) -> None:
        super().__init__()
        self.called, self.seconds = called, seconds
        self.end = time.thread_time() + seconds

    def dispatch(self, function: TorchFunction, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Argument:
        """Run a call, if there is time.

        Raises:
            InputError: There is none.
        """
        if time.thread_time() > self.end:
            raise InputError(f"{self.called} takes longer than {self.seconds:.3g} s at another point")
        return super().dispatch(function, args, kwargs)


class Surface(torch.overrides.TorchFunctionMode):
    """Mode above autograd that shows a recorder the calls it must see as they are written.

    Attributes:
        calls: How many calls of torch the user's code has made.
    """

    def __init__(self, recorder: Any) -> None:
        super().__init__()
        self.recorder = recorder
        self.calls = 0

    def __torch_function__(
        self,
        function: TorchFunction,
        types: object,
        args: Sequence[Argument] = (),
        kwargs: Mapping[str, Argument] | None = None,
    ) -> Argument:
        """Run a call."""
        kwargs, self.calls = kwargs or {}, self.calls + 1
        if self.recorder.is_one_call:
            return function(*args, **kwargs)
        if function in PASSES:
            return self.recorder.run_backward(function.__name__, function, args, kwargs)
        if function is torch.nn.functional.linear and not kwargs:
            return self.recorder.run_whole(torch.ops.aten.linear.default, args)
        if function is torch.einsum and isinstance(args[0], str) and len(args) <= 3:
            operands = [*args[1:]] if isinstance(args[1], torch.Tensor) else [*args[1]]
            return self.recorder.run_whole(torch.ops.aten.einsum.default, (args[0], operands))
        if function == _DATA:
            self.recorder.aliased(args[0])
        decisions = self.recorder.decisions
        if function in _READS:
            decisions.note_numbers_leaving(_READS[function], tensors_in(args), self.recorder.places.find())
        if function in _MAKERS and isinstance(args[0] if args else None, list | tuple):
            decisions.note_numbers_leaving(_MAKERS[function], tensors_in(args), self.recorder.places.find())
        known = len(decisions.lost)
        found = function(*args, **kwargs)
        if function in _READS_OF_ONE and len(decisions.lost) == known:
            decisions.note_numbers_leaving(_READS_OF_ONE[function], tensors_in(args), self.recorder.places.find())
        return found


class RecordingMode(torch_internals.DispatchMode):
    """Mode below autograd, with one above it, that can be paused, and entered again within a call.

    Attributes:
        is_one_call: Whether the code that runs is recorded as one call, whatever it does.
    """

    is_one_call = False

    def __init__(self) -> None:
        super().__init__()
        self._surface = Surface(self)
        self._pauses = self._inside = 0

    def __enter__(self) -> Self:
        """See calls from here on."""
        self._surface.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *raised: Argument) -> None:
        """See no more."""
        super().__exit__(*raised)
        self._surface.__exit__(*raised)

    @property
    def is_paused(self) -> bool:
        """Tell whether calls are not seen."""
        return self._pauses > 0

    def run_whole(self, function: TorchFunction, args: Sequence[Argument]) -> Argument:
        """Run a call and see it as a whole, as it has a row, unless a transform of torch.func wraps its tensors."""
        is_seen = not any(map(is_wrapped, tensors_in(args)))
        return self.dispatch(function, args, {}) if is_seen else function(*args)

    def aliased(self, tensor: Argument) -> None:
        """Note that the code takes a tensor of the same memory that autograd does not follow."""

    def numbers_left(self, remark: str, tensors: Sequence[Argument]) -> None:
        """Note that the numbers of tensors left torch, as a remark says."""

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Run a block whose calls are not seen."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    @contextlib.contextmanager
    def recording_nested(self) -> Iterator[None]:
        """See the calls of a block that runs within a call."""
        super().__enter__()
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            super().__exit__(None, None, None)

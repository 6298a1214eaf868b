"""Modes that see the calls of ATen below autograd; and above it backward passes, composites, and arrays of tensors."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from gradcli.autodiff._torch import torch
from gradcli.errors import GradcliError
from gradcli.recording.aten_calls import is_wrapped, tensors_in

PASSES = (torch.Tensor.backward, torch.autograd.grad, torch.autograd.backward)
"""Functions of torch that run a backward pass."""

_READS = {getattr(torch.Tensor, name): name for name in "tolist numpy __array__".split()}
"""Names of the methods that read numbers without a call of ATen."""


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
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run a call."""
        kwargs, self.calls = kwargs or {}, self.calls + 1
        if function in PASSES:
            return self.recorder.passed(function.__name__, function, args, kwargs)
        if function is torch.nn.functional.linear and not kwargs:
            return self.recorder.composite(torch.ops.aten.linear.default, args)
        if function is torch.einsum and isinstance(args[0], str) and len(args) <= 3:
            operands = [*args[1:]] if isinstance(args[1], torch.Tensor) else [*args[1]]
            return self.recorder.composite(torch.ops.aten.einsum.default, (args[0], operands))
        if function in _READS:
            try:
                self.recorder.decisions.left(_READS[function], tensors_in(args), self.recorder.places.find())
            except GradcliError as error:
                self.recorder.lose(error)
        return function(*args, **kwargs)


class DispatchMode(torch.utils._python_dispatch.TorchDispatchMode):
    """Mode that sees the calls of ATen while it is entered, and through its `Surface` some calls above autograd."""

    def __init__(self) -> None:
        super().__init__()
        self._surface = Surface(self)
        self._pauses = self._inside = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first call imports torch._dynamo, which takes a second

    def __enter__(self) -> Self:
        """See calls from here on."""
        self._surface.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        """See no more."""
        super().__exit__(*raised)
        self._surface.__exit__(*raised)

    def run(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run a call for its numbers."""
        with self.paused():
            return function(*args, **kwargs)

    def composite(self, function: Any, args: Sequence[Any]) -> Any:
        """Run a call and see it as a whole, as it has a row, unless a transform of torch.func wraps its tensors."""
        is_seen = not any(map(is_wrapped, tensors_in(args)))
        return self.__torch_dispatch__(function, (), args) if is_seen else function(*args)

    def lose(self, error: Exception) -> None:
        """Take an error of recording.

        Raises:
            Exception: The error itself, as the function is not answered.
        """
        raise error

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Run a block whose calls are not seen."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """See the calls of a block that runs within a call."""
        super().__enter__()
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            super().__exit__(None, None, None)

"""Mode above autograd, which sees backward passes, composites, and arrays of tensors."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.recording.aten_calls import tensors_in

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
            self.recorder.decisions.left(_READS[function], tensors_in(args), self.recorder.places.find())
        return function(*args, **kwargs)

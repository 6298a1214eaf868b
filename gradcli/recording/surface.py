"""What a recording has to see above autograd: backward passes, composites, and arrays that Python takes of tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.autodiff._torch import torch
from gradcli.errors import GradcliError
from gradcli.recording.values import tensors_in

if TYPE_CHECKING:
    from gradcli.recording.recorder import Recorder

PASSES = frozenset(["torch.Tensor.backward", "torch.autograd.grad", "torch.autograd.backward"])
"""What goes back through the graph."""

_READS = frozenset(f"torch.Tensor.{name}" for name in "tolist numpy __array__".split())
"""What gives numbers that no call shows."""


class Surface(torch.overrides.TorchFunctionMode):
    """Sees the calls that a recorder must see as they are written.

    Attributes:
        calls: How many calls of torch the user's code has made.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self.calls = 0

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run a call."""
        kwargs, self.calls = kwargs or {}, self.calls + 1
        path = path_of(function)
        if path in PASSES:
            return self.recorder.passed(path, function, args, kwargs)
        if path == "torch.nn.functional.linear" and not kwargs:
            return self.recorder.composite("linear", function, args, *args)
        if path == "torch.functional.einsum" and not kwargs and isinstance(args[0], str):
            operands = args[1] if isinstance(args[1], list | tuple) else args[1:]
            return self.recorder.composite("einsum", function, args, args[0], [*operands])
        if path in _READS:
            try:
                self.recorder.decisions.left(path.rpartition(".")[2], tensors_in(args), self.recorder.places.find())
            except GradcliError as error:
                self.recorder.lose(error)
        return function(*args, **kwargs)


@functools.lru_cache(maxsize=4096)
def path_of(function: Callable[..., Any]) -> str:
    """Name a function of torch as it is typed: `torch.Tensor.sum`; empty if it has no name."""
    if getattr(function, "__module__", "") == "torch.autograd":
        return f"torch.autograd.{function.__name__}"
    return str(torch.overrides.resolve_name(function) or getattr(function, "__name__", ""))

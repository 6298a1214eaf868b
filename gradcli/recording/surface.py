"""What a recording has to see above autograd: backward passes, and numbers that Python takes from tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import GradcliError
from gradcli.recording.items import Item
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
        reading: The tensor whose number is taken as one that remembers where it is from.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self.reading: Tensor | None = None

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run a call."""
        kwargs = kwargs or {}
        path = path_of(function)
        if path in PASSES:
            return self.recorder.passed(path, function, args, kwargs)
        if path == "torch.Tensor.item" and args[0].is_floating_point():
            self.reading = args[0]
            try:
                found = function(*args, **kwargs)
            finally:
                self.reading = None
            return Item(found, args[0]) if self._is_seen("item", args[0]) else found
        if path == "torch.nn.functional.linear" and not kwargs:
            return self.recorder.composite("linear", function, args, *args)
        if path == "torch.functional.einsum" and not kwargs and isinstance(args[0], str):
            operands = args[1] if isinstance(args[1], list | tuple) else args[1:]
            return self.recorder.composite("einsum", function, args, args[0], [*operands])
        if path in _READS:
            for one in tensors_in(args):
                self._is_seen(path.rpartition(".")[2], one)
        return function(*args, **kwargs)

    def _is_seen(self, called: str, tensor: Tensor) -> bool:
        """Note numbers that leave torch, and tell whether they follow from what is recorded."""
        if not self.recorder.knows(tensor):
            return False
        try:
            self.recorder.decisions.left(called, tensor, self.recorder.places.find())
        except GradcliError as error:
            self.recorder.lose(error)
        return True


@functools.lru_cache(maxsize=4096)
def path_of(function: Callable[..., Any]) -> str:
    """Name a function of torch as it is typed: `torch.Tensor.sum`; empty if it has no name."""
    if getattr(function, "__module__", "") == "torch.autograd":
        return f"torch.autograd.{function.__name__}"
    return str(torch.overrides.resolve_name(function) or getattr(function, "__name__", ""))

"""What a recording has to see above autograd: backward passes, and numbers that Python takes from tensors.

What Python decides by a number that left a tensor by `.item()` is a condition on the tensor.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
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
        reading: The tensor whose number is taken as one that remembers where it is from.
        calls: How many calls of torch the user's code has made.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self.reading: Tensor | None = None
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
        if hasattr(kwargs.get("options"), "allow_retain_graph"):  # each pass is asked for more than once
            kwargs = {**kwargs, "options": replace(kwargs["options"], allow_retain_graph=True)}
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


class Item(float):
    """A float that knows which tensor it is the number of, as long as that stays as it was."""

    tensor: Tensor
    version: int

    def __new__(cls, value: float, tensor: Tensor) -> Self:
        """The number of a tensor of one element."""
        self = super().__new__(cls, value)
        self.tensor, self.version = tensor, tensor._version
        return self

    def __bool__(self) -> bool:
        """Whether it is not 0, which is seen as Python sees it."""
        return bool(operator.ne(self, 0.0))

    __hash__ = float.__hash__

    @property
    def _own(self) -> Any:
        """The tensor, or the number alone where the tensor has changed."""
        return self.tensor if self.tensor._version == self.version else float(self)


def _followed(name: str) -> Callable[..., Any]:
    """A method of float that is made of the tensors as well: a comparison is seen, a sum is the number of a tensor."""
    own, of_tensors = getattr(float, f"__{name}__"), getattr(operator, f"__{name.removeprefix('r')}__")

    def method(self: Item, *others: Any) -> Any:
        found = own(self, *others)
        given = [one._own if isinstance(one, Item) else one for one in (self, *others)]
        if found is NotImplemented or isinstance(given[0], float):
            return found
        made = of_tensors(*(given[::-1] if name.startswith("r") else given))
        return bool(made) and found if isinstance(found, bool) else Item(found, made)

    return method


for _name in "lt le gt ge eq ne neg abs add sub mul truediv radd rsub rmul rtruediv".split():
    setattr(Item, f"__{_name}__", _followed(_name))
Item.__name__ = "float"  # as which it is shown to the user

"""What a function is run again with: the same random numbers, and its own lines where `torch.compile` has others."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor


@dataclass(frozen=True, slots=True)
class Random:
    """The states of the generators of random numbers that everybody shares.

    Attributes:
        of_torch: Of `torch.rand`.
        of_numpy: Of `numpy.random.rand`.
        of_python: Of `random.random`.

    >>> state = Random.now()
    >>> first = torch.rand(1)
    >>> state.set()
    >>> bool(first == torch.rand(1))
    True
    """

    of_torch: Tensor
    of_numpy: Any
    of_python: Any

    @classmethod
    def now(cls) -> Self:
        """As they are."""
        return cls(torch.get_rng_state(), np.random.get_state(), random.getstate())

    def set(self) -> None:
        """Give the generators these states."""
        torch.set_rng_state(self.of_torch)
        np.random.set_state(self.of_numpy)
        random.setstate(self.of_python)


@dataclass
class Borrowed:
    """Tensors of the user's that hold other numbers while a question is answered, with what they held before."""

    _before: dict[int, tuple[Tensor, Tensor, bool]] = field(default_factory=dict)

    def take(self, tensor: Tensor) -> None:
        """Remember what a tensor holds, the first time."""
        self._before.setdefault(id(tensor), (tensor, tensor.detach().clone(), tensor.requires_grad))

    def give_back(self) -> None:
        """Give all of them what they held, and whether they require a gradient."""
        for tensor, value, requires_grad in self._before.values():
            if not torch.equal(tensor, value):
                tensor.data.copy_(value)
            if tensor.is_leaf:
                tensor.requires_grad_(requires_grad)
        self._before.clear()


def kept(changed: Sequence[Tensor]) -> contextlib.AbstractContextManager[Any]:
    """Keep for the backward pass what tensors hold that a function changes, whose numbers come back before it."""
    if not changed:
        return contextlib.nullcontext()
    places = {tensor.untyped_storage()._cdata for tensor in changed}

    def pack(tensor: Tensor) -> Tensor:
        return tensor if tensor.requires_grad or tensor.untyped_storage()._cdata not in places else tensor.clone()

    return torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)


def uncompiled() -> contextlib.AbstractContextManager[Any]:
    """Run functions that `torch.compile` took as they are written, as compiled code cannot be seen."""
    if "torch._dynamo" not in sys.modules:  # nothing was compiled
        return contextlib.nullcontext()
    stance: contextlib.AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
    return stance

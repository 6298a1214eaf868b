"""What a function is run again with: the same random numbers, and its own lines where `torch.compile` has others."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor

_GENERATORS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (torch.get_rng_state, torch.set_rng_state),
    (np.random.get_state, np.random.set_state),
    (random.getstate, random.setstate),
)
"""Of random numbers, which everybody shares: torch's, NumPy's, and Python's."""


def random_states() -> tuple[Any, ...]:
    """The states of the generators of random numbers."""
    return tuple(get() for get, _ in _GENERATORS)


@contextlib.contextmanager
def drawing_from(states: Sequence[Any]) -> Iterator[None]:
    """Draw from these states within a block, and leave the generators as they were.

    >>> states = random_states()
    >>> first = torch.rand(1)
    >>> with drawing_from(states):
    ...     bool(first == torch.rand(1))
    True
    """
    with contextlib.ExitStack() as after:
        for (get, put), state in zip(_GENERATORS, states, strict=True):
            after.callback(put, get())
            put(state)
        yield


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

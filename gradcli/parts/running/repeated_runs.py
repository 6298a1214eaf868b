"""State that a second run of a function shares with the first: random numbers, tensors kept for the way back.

A second run has the random numbers of the first, and leaves the generators as they were.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor

_Generator = tuple[Callable[[], object], Callable[[Any], object]]

_GENERATORS: tuple[_Generator, ...] = (
    (torch.get_rng_state, torch.set_rng_state),
    (np.random.get_state, np.random.set_state),
    (random.getstate, random.setstate),
)
"""Shared generators of random numbers (torch's, NumPy's, Python's), as functions to get and to set the state."""


@dataclass(frozen=True)
class RandomState:
    """State of a generator of random numbers.

    Attributes:
        get: Gets the state.
        put: Sets it.
        state: The state.
    """

    get: Callable[[], object]
    put: Callable[[Any], object]
    state: object


def _generators() -> Iterator[_Generator]:
    """Give the shared generators of the CPU, and those of the devices in use."""
    yield from _GENERATORS
    for module in (torch.cuda, torch.xpu):
        if module.is_available() and module.is_initialized():
            yield module.get_rng_state_all, module.set_rng_state_all
    if torch.backends.mps.is_available():
        yield torch.mps.get_rng_state, torch.mps.set_rng_state


def random_states() -> tuple[RandomState, ...]:
    """Get the states of the generators of random numbers."""
    return tuple(RandomState(get, put, get()) for get, put in _generators())


@contextlib.contextmanager
def drawing_from(states: Sequence[RandomState]) -> Iterator[None]:
    """Draw from these states within a block, and leave the generators as they were.

    >>> states = random_states()
    >>> first = torch.rand(1)
    >>> with drawing_from(states):
    ...     bool(first == torch.rand(1))
    True
    """
    with contextlib.ExitStack() as after:
        for one in states:
            after.callback(one.put, one.get())
            one.put(one.state)
        yield


def clone_saved_tensors(changed: Sequence[Tensor], *, is_last: bool = False) -> contextlib.AbstractContextManager[Any]:
    """Keep the numbers of tensors that a function changes for the backward pass, as they are restored before it.

    Args:
        changed: The tensors.
        is_last: Whether the pass is not differentiated again, so that leaves of autograd may be copied too.
    """
    if not changed:
        return contextlib.nullcontext()
    places = {torch_internals.storage_number(tensor) for tensor in changed}

    def pack(tensor: Tensor) -> Tensor:
        is_changed = (is_last or not tensor.requires_grad) and torch_internals.storage_number(tensor) in places
        return tensor.detach().clone() if is_changed else tensor

    return torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)


@contextlib.contextmanager
def keeping_gradients(tensors: Iterable[Tensor]) -> Iterator[None]:
    """Leave `.grad` of tensors as it was before a block, as the first run left it."""
    copies = [(tensor, None if tensor.grad is None else tensor.grad.clone()) for tensor in tensors]
    try:
        yield
    finally:
        for tensor, grad in copies:
            tensor.grad = grad


def eager() -> contextlib.AbstractContextManager[object]:
    """Run functions that `torch.compile` took as they are written, as compiled code cannot be seen."""
    if not torch_internals.is_dynamo_loaded():  # nothing was compiled
        return contextlib.nullcontext()
    stance: contextlib.AbstractContextManager[object] = torch.compiler.set_stance("force_eager")
    return stance

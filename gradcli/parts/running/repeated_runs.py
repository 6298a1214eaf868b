"""State that a second run of a function shares with the first: random numbers, tensors kept for the way back.

A second run has the random numbers of the first, and leaves the generators as they were.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.arrays import Array, are_same
from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, array_of, tensor_of
from gradcli.parts.running.checkpoints import without_reentrance
from gradcli.parts.running.targets import guarded, input_error, output_to_errors


@dataclass(frozen=True)
class _Generator:
    """Shared generator of random numbers.

    Attributes:
        get: Gets its state.
        put: Sets it.
        mark: Gives what differs between two states, far faster than the states, or None where only these tell.
    """

    get: Callable[[], object]
    put: Callable[[Any], object]
    mark: Callable[[], bytes | None] = lambda: None


_WORDS_OF_MERSENNE = 625
"""Words of the state of a Mersenne Twister: its numbers, and the place among them."""


def _mark_of_numpy() -> bytes | None:
    """Copy the state of NumPy's generator as it lies in memory; NumPy takes 40 µs to make an array of it.

    Next to the same words a spare normal number is kept, or is not; who draws one cannot come back to the words.
    """
    generator = np.random.mtrand.get_bit_generator()
    if type(generator) is not np.random.MT19937:
        return None
    return ctypes.string_at(generator.ctypes.state_address, _WORDS_OF_MERSENNE * 4)


_GENERATORS = (
    _Generator(torch.get_rng_state, torch.set_rng_state),
    _Generator(np.random.get_state, np.random.set_state, _mark_of_numpy),
    _Generator(random.getstate, random.setstate),
)
"""Torch's, NumPy's and Python's."""


@dataclass(frozen=True)
class RandomState:
    """State of a generator of random numbers.

    Attributes:
        generator: The generator.
        state: The state.
        mark: What tells it from others.
    """

    generator: _Generator
    state: object
    mark: bytes | None

    @classmethod
    def now(cls, generator: _Generator) -> RandomState:
        """Get the state in which a generator is."""
        return cls(generator, generator.get(), generator.mark())

    @property
    def is_there(self) -> bool:
        """Tell whether the generator certainly is in this state."""
        return self.mark is not None and self.generator.mark() == self.mark and not _has_spare(self.state)

    @property
    def is_past(self) -> bool:
        """Tell whether NumPy's or Python's generator certainly has drawn numbers since."""
        if self.mark is not None:
            return self.generator.mark() != self.mark
        return self.generator.get is random.getstate and random.getstate() != self.state

    def put(self) -> None:
        """Put the generator into this state."""
        if not self.is_there:
            self.generator.put(self.state)


def _has_spare(state: object) -> bool:
    """Tell whether NumPy's generator keeps the second of two normal numbers, which is not among those in memory."""
    return isinstance(state, tuple) and bool(state[3])


def _generators() -> Iterator[_Generator]:
    """Give the shared generators of the CPU, and those of the devices in use."""
    yield from _GENERATORS
    for module in (torch.cuda, torch.xpu):
        if module.is_available() and module.is_initialized():
            yield _Generator(module.get_rng_state_all, module.set_rng_state_all)
    if torch.backends.mps.is_available():
        yield _Generator(torch.mps.get_rng_state, torch.mps.set_rng_state)


def random_states() -> tuple[RandomState, ...]:
    """Get the states of the generators of random numbers."""
    return tuple(map(RandomState.now, _generators()))


@contextlib.contextmanager
def drawing_from(states: Sequence[RandomState]) -> Iterator[None]:
    """Draw from these states within a block, and leave the generators as they were.

    >>> states = random_states()
    >>> first = torch.rand(1)
    >>> with drawing_from(states):
    ...     bool(first == torch.rand(1))
    True
    """
    before: list[RandomState] = []
    try:
        for one in states:
            is_there = one.is_there
            before.append(one if is_there else RandomState.now(one.generator))
            if not is_there:
                one.generator.put(one.state)
        yield
    finally:
        for one in before:
            one.put()


class Surroundings:
    """What is set up around code of the user's, for each run alone, or once for all runs within a block.

    That are its output, its warnings and checkpoints, and the random numbers, which are those of the first run.

    Attributes:
        are_shared: Whether they are set up for all runs within a block.
    """

    def __init__(self) -> None:
        self._random, self.are_shared = random_states(), False

    @contextlib.contextmanager
    def shared(self, *, is_silent: bool = False) -> Iterator[None]:
        """Set them up for all runs within a block.

        Args:
            is_silent: Whether what the runs print is dropped, in place of being sent to standard error.
        """
        with silenced() if is_silent else contextlib.nullcontext(), output_to_errors(), self._set_up():
            before, self.are_shared = self.are_shared, True
            try:
                yield
            finally:
                self.are_shared = before

    def running(self, what: str) -> contextlib.AbstractContextManager[object]:
        """Set them up for a run, and make an error of the input of all that it may raise.

        Args:
            what: The activity in words, for messages.
        """
        return _SharedRun(self._random, what) if self.are_shared else self._run_alone(what)

    def guarded(self, what: str) -> contextlib.AbstractContextManager[None]:
        """Send the output of other code of the user's to standard error, and make an error of what it may raise.

        Args:
            what: The activity in words, for messages.
        """
        return guarded(what, contextlib.nullcontext if self.are_shared else output_to_errors)

    @contextlib.contextmanager
    def _run_alone(self, what: str) -> Iterator[None]:
        with guarded(what), self._set_up():
            yield

    @contextlib.contextmanager
    def _set_up(self) -> Iterator[None]:
        with (
            drawing_from(self._random),
            warnings.catch_warnings(action="ignore"),
            without_reentrance(),
            torch.inference_mode(False),
            torch.enable_grad(),
            eager(),
        ):
            yield


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Drop what Python prints within a block."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


class _SharedRun:
    """Run of code of the user's within surroundings that it shares with others, which it leaves as they are.

    Args:
        states: The random numbers.
        what: The activity in words, for messages.
    """

    def __init__(self, states: Sequence[RandomState], what: str) -> None:
        self._states, self._what = states, what
        self._warnings = warnings.catch_warnings(action="ignore")

    def __enter__(self) -> None:
        self._folder = os.getcwd()
        for one in self._states:
            one.put()
        torch.set_grad_enabled(True)
        self._warnings.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._warnings.__exit__(None, None, None)
        os.chdir(self._folder)
        if isinstance(error, Exception | SystemExit) and (found := input_error(error, self._what)) is not error:
            raise found from found.__cause__


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


def give(
    constants: Mapping[str, Tensor],
    arrays: Mapping[str, Array],
    wrt: Sequence[str],
    borrowed: dict[int, tuple[Tensor, Tensor, bool]],
) -> None:
    """Give tensors that a function finds elsewhere these values, and have their gradients recorded.

    The tensors keep these values until the question is answered, as the backward pass reads them.

    Args:
        constants: The tensors, by name.
        arrays: The values.
        wrt: The names to differentiate by.
        borrowed: Takes the tensors that are changed, with what they were before.
    """
    for name, tensor in constants.items():
        is_moved = name in arrays and not are_same(array_of(tensor), arrays[name])
        if is_moved or (name in wrt and not tensor.requires_grad):
            borrowed.setdefault(id(tensor), (tensor, tensor.detach().clone(), tensor.requires_grad))
        if is_moved:
            tensor.data.copy_(tensor_of(arrays[name], tensor.dtype, tensor.device))
        tensor.requires_grad_(tensor.requires_grad or name in wrt)


def eager() -> contextlib.AbstractContextManager[object]:
    """Run functions that `torch.compile` took as they are written, as compiled code cannot be seen."""
    if not torch_internals.is_dynamo_loaded():  # nothing was compiled
        return contextlib.nullcontext()
    stance: contextlib.AbstractContextManager[object] = torch.compiler.set_stance("force_eager")
    return stance

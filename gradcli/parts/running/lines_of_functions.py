"""A function of Python along a line through its point: a function of t, which is given start + t*direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import numpy as np

from gradcli.arrays import Array
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.parts.running.calling import Called, Signature

Recorded_co = TypeVar("Recorded_co", covariant=True)


class MovableCall(Protocol[Recorded_co]):
    """A function with the values that it is called with: see `recorded.FunctionCall`."""

    @property
    def function(self) -> Called:
        """The function."""

    @property
    def called(self) -> str:
        """Its name in messages."""

    @property
    def taken(self) -> Signature:
        """Its parameters."""

    @property
    def given(self) -> Mapping[str, Array]:
        """Values by parameter."""

    @property
    def dtype(self) -> str:
        """Dtype of the floating-point arguments."""

    def of_another(self, function: Called, given: Mapping[str, Array], *, taken: Signature) -> MovableCall[Recorded_co]:
        """Return the call of another function, with these parameters and values."""

    def recorded(self) -> Recorded_co:
        """Run the function once, and record it."""


class MovableFunction(Protocol[Recorded_co]):
    """A function at a point, with its recording: see `recorded.Recorded`."""

    @property
    def call(self) -> MovableCall[Recorded_co]:
        """The function and its arguments."""


class LineFunction:
    """Function that calls another one at the points of a line.

    Args:
        function: The function.
        taken: Its parameters.
        start: The values of those that move, where t is 0.
        direction: How they move.
        name: The name of t.
    """

    def __init__(
        self,
        function: Called,
        taken: Signature,
        start: Mapping[str, Array],
        direction: Mapping[str, Array],
        name: str,
    ) -> None:
        self._function, self._taken, self._name = function, taken, name
        self._start, self._direction = start, direction
        self.__self__ = getattr(function, "__self__", None) or function  # whose tensors are named

    def __call__(self, **given: Tensor) -> object:
        """Call the function."""
        t = given.pop(self._name)
        moved = {name: _like(t, self._start[name]) + t * _like(t, along) for name, along in self._direction.items()}
        values = {**given, **moved}
        return self._taken.call(self._function, {name: values[name] for name in self._taken.kinds if name in values})


def _like(t: Tensor, array: Array) -> Tensor:
    return torch.tensor(array.tolist(), dtype=t.dtype, device=t.device)


def recorded_on_line(
    recorded: MovableFunction[Recorded_co],
    start: Mapping[str, Array],
    direction: Mapping[str, Array],
    name: str,
    at: float,
) -> Recorded_co:
    """Record a function along a line through a point.

    Args:
        recorded: The function, recorded at a point.
        start: The values of the variables that move, where t is 0.
        direction: How they move.
        name: The name of t.
        at: The value of t.

    Raises:
        InputError: What moves is no argument of it, or there it cannot be recorded.
    """
    call = recorded.call
    others = [one for one in direction if one not in call.taken.kinds]
    if others:
        message = f"{others[0]} is no argument of {call.called}, and its arguments alone move along a line"
        raise InputError(message, hint="make it an argument of the function")
    kept = {one: kind for one, kind in call.taken.kinds.items() if one in call.given and one not in direction}
    taken = Signature({name: None, **kept}, keyword_only=frozenset((name, *kept)))
    given = {name: np.asarray(at, call.dtype), **{one: call.given[one] for one in kept}}
    function = LineFunction(call.function, call.taken, start, direction, name)
    return call.of_another(function, given, taken=taken).recorded()

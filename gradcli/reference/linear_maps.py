"""Linear maps of small changes through an operation on whole arrays with bounds, and their transposes.

The first axis of every array counts rows of adjoints, directions, or points, and stays as it is.  A map knows two ways:
`there` brings changes of an operand to the result, and `back` adjoints of the result to the operand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gradcli.language.program.wengert import Atom, Shape
from gradcli.reference.bounds import (
    Array,
    Bounds,
    Mask,
    add,
    exact,
    multiply,
    product,
    stacked,
    summed,
    terms,
    unknown,
    zeros,
)


@dataclass(frozen=True, slots=True)
class Flow:
    """Changes or adjoints: their bounds, and where something reaches them at all; elsewhere they are 0."""

    bounds: Bounds
    reached: Mask

    def routed(self, change: Callable[[Any], Any], terms: int = 1) -> Flow:
        """Apply a linear change of zeros and ones, each result of which is a sum of so many elements at most."""
        return Flow(self.bounds.routed(change, terms), change(self.reached) != 0)

    def __neg__(self) -> Flow:
        return Flow(-self.bounds, self.reached)

    def plus(self, other: Flow) -> Flow:
        """Add another flow."""
        return Flow(add(self.bounds, other.bounds), self.reached | other.reached)

    def times(self, slope: Bounds, *, is_choice: bool = False) -> Flow:
        """Multiply by slopes, where the flow is not 0 anyway; nothing goes on to an operand that is not chosen."""
        bounds = multiply(self.bounds, slope)
        reached = np.broadcast_to(self.reached & ~slope.is_zero if is_choice else self.reached, bounds.middle.shape)
        return Flow(bounds.where(reached, exact(np.zeros(bounds.middle.shape))), reached)

    def part(self, axis: int, n: int) -> Flow:
        """Take the elements at a place of an axis."""
        return self.routed(lambda x: np.take(x, n, axis))


Routable = TypeVar("Routable", Bounds, Flow)

Moving = Mapping[Atom, Flow]
"""Changes of lines and variables; the others do not move."""

Change = Callable[[Moving], Flow | None]
"""Change of the numbers of a map as lines and variables change; None where it stays."""


def stays(moving: Moving) -> None:
    """Give the change of numbers that stay, whatever moves."""


@dataclass(frozen=True)
class Routing:
    """Elements put elsewhere, and sums of them: two changes of arrays, and how many terms a sum of each has at most."""

    forward: Callable[[Any], Any]
    backward: Callable[[Any], Any]
    forward_terms: int = 1
    backward_terms: int = 1

    def there(self, flow: Routable, /) -> Routable:
        """Bring values or changes of the operand to the result."""
        return flow.routed(self.forward, self.forward_terms)

    def back(self, flow: Flow, /) -> Flow:
        """Bring adjoints of the result to the operand."""
        return flow.routed(self.backward, self.backward_terms)

    @property
    def transpose(self) -> Routing:
        """Routing the other way round."""
        return Routing(self.backward, self.forward, self.backward_terms, self.forward_terms)


def spread(own: Shape, shape: Shape, lifted: Shape | None = None) -> Routing:
    """Broadcast an array of a shape to another, seen as of the shape `lifted`, which has as many dimensions."""
    seen = (*(1,) * (len(shape) - len(own)), *own) if lifted is None else lifted
    axes = tuple(d for d, (a, b) in enumerate(zip(seen, shape, strict=True), 1) if a != b)

    def gather(x: Array) -> Array:
        whole = x.reshape(len(x), *shape)
        return (summed(whole, axes) if axes else whole).reshape(len(x), *own)

    count = terms(math.prod(shape[d - 1] for d in axes))
    return Routing(lambda x: np.broadcast_to(x.reshape(len(x), *seen), (len(x), *shape)), gather, 1, count)


def permuted(order: Sequence[int]) -> Routing:
    """Put the dimensions in another order."""
    forward = (0, *(d + 1 for d in order))
    backward = tuple(int(d) for d in np.argsort(forward))
    return Routing(lambda x: np.transpose(x, forward), lambda x: np.transpose(x, backward))


def gathered(source: npt.NDArray[np.intp], own: Shape) -> Routing:
    """Gather the elements at flat places of an array of this shape; 0 where the place is -1."""
    size, kept = math.prod(own), np.flatnonzero(source.ravel() >= 0)
    places = source.ravel()[kept]
    most = int(np.bincount(places, minlength=1).max())

    def forward(x: Any) -> Any:
        found = zeros((len(x), source.size), x.dtype)
        found[:, kept] = x.reshape(len(x), size)[:, places]
        return found.reshape(len(x), *source.shape)

    def backward(x: Any) -> Any:
        found = zeros((len(x), size), x.dtype)
        for row, entering in zip(found, x.reshape(len(x), source.size)[:, kept], strict=True):
            np.add.at(row, places, entering)
        return found.reshape(len(x), *own)

    return Routing(forward, backward, 1, most)


def placed(place: tuple[Any, ...], shape: Shape) -> Routing:
    """Place an array in a larger one, which is 0 elsewhere."""

    def forward(x: Any) -> Any:
        found = zeros((len(x), *shape), x.dtype)
        found[place] = x
        return found

    return Routing(forward, lambda x: x[place])


def running_sum(axis: int, count: int) -> Routing:
    """Sum up to each of so many elements along an axis."""
    backward = lambda x: np.flip(np.flip(x, axis).cumsum(axis), axis)  # noqa: E731
    return Routing(lambda x: x.cumsum(axis), backward, max(2, count), max(2, count))


@dataclass(frozen=True)
class Scaled:
    """Product of each element with a slope, which may choose whether it goes on at all."""

    slope: Bounds
    is_choice: bool = False
    change: Change = stays

    def there(self, flow: Flow, /) -> Flow:
        """Multiply, on the way there as on the way back."""
        return flow.times(self.slope, is_choice=self.is_choice)

    back = there

    def bend(self, moving: Moving) -> Scaled | None:
        """Give the change of the map, not known where the slope is not; None where it stays."""
        found, is_known = self.change(moving), self.slope.is_known
        if found is None and is_known.all():
            return None
        bend = exact(np.zeros(self.slope.middle.shape)) if found is None else found.bounds
        return Scaled(bend.where(is_known, unknown(bend.middle)))


@dataclass(frozen=True)
class MatrixProduct:
    """Product of matrices with known matrices, to their right or to their left."""

    matrix: Bounds
    is_right: bool
    change: Change = stays

    def there(self, flow: Flow, /) -> Flow:
        """Multiply by the known matrices."""
        return self._times(flow, self.matrix)

    def back(self, flow: Flow, /) -> Flow:
        """Multiply by the transposed matrices."""
        return self._times(flow, self.matrix.mapped(lambda x: np.swapaxes(x, -1, -2)))

    def bend(self, moving: Moving) -> MatrixProduct | None:
        """Give the change of the map; None where it stays."""
        found = self.change(moving)
        return None if found is None else MatrixProduct(found.bounds, self.is_right)

    def _times(self, flow: Flow, matrix: Bounds) -> Flow:
        found = product(flow.bounds, matrix) if self.is_right else product(matrix, flow.bounds)
        reached = flow.reached.any(axis=-1 if self.is_right else -2, keepdims=True)
        return Flow(found, np.broadcast_to(reached, found.middle.shape))


@dataclass(frozen=True)
class Recurrence:
    """Recurrence along an axis: a result is its own element times a slope, plus the result before it times another."""

    axis: int
    own: Sequence[Bounds]
    before: Sequence[Bounds]
    is_choice: bool

    def there(self, flow: Flow, /) -> Flow:
        """Go step by step from the start."""
        parts = self._parts(flow)
        for n, (own, before) in enumerate(zip(self.own, self.before, strict=True), 1):
            moved = parts[n - 1].times(before, is_choice=self.is_choice)
            parts[n] = parts[n].times(own, is_choice=self.is_choice).plus(moved)
        return self._joined(parts)

    def back(self, flow: Flow, /) -> Flow:
        """Go step by step from the end."""
        parts = self._parts(flow)
        for n in range(len(self.own), 0, -1):
            parts[n - 1] = parts[n - 1].plus(parts[n].times(self.before[n - 1], is_choice=self.is_choice))
            parts[n] = parts[n].times(self.own[n - 1], is_choice=self.is_choice)
        return self._joined(parts)

    @property
    def is_known(self) -> bool:
        """Tell whether all slopes are known."""
        return all(bool(slope.is_known.all()) for slope in (*self.own, *self.before))

    def _parts(self, flow: Flow) -> list[Flow]:
        return [flow.part(self.axis, n) for n in range(flow.reached.shape[self.axis])]

    def _joined(self, parts: Sequence[Flow]) -> Flow:
        return Flow(stacked([p.bounds for p in parts], self.axis), np.stack([p.reached for p in parts], self.axis))


Map = Routing | Scaled | MatrixProduct | Recurrence
"""One linear map."""

"""Index sets of elements that depend on few inputs each: layers, arrays with one input for each element.

A stencil of five points is five layers, each a movement of the array of all inputs; lines join layers without a look at
their numbers, and entries are sorted and counted once at the end.  What does not fit, such as the sum of a long vector,
has a sparse matrix instead, at some ten times the price.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradcli.language.program.movement import moved
from gradcli.language.program.wengert import Call, Shape
from gradcli.reference.dependencies import Flat

Inputs = npt.NDArray[np.int32]
"""For each element of a line one plus the number of an input; 0 where there is none."""

MOST_LAYERS = 16


@dataclass(frozen=True)
class Layers:
    """Index sets; an input may be in several layers of an element.

    Attributes:
        parts: The layers, none of which is another.
        size: The number of elements.
    """

    parts: tuple[Inputs, ...]
    size: int

    @classmethod
    def of_variable(cls, size: int, first: int) -> Layers:
        """Return the sets of a variable itself, whose inputs are numbered from some number on."""
        return cls((np.arange(first + 1, first + size + 1, dtype=np.int32),), size)

    @property
    def is_few(self) -> bool:
        """Tell whether there are few layers."""
        return len(self.parts) <= MOST_LAYERS

    def moved(self, call: Call, shape: Shape) -> Layers:
        """Move elements, of an operand of a shape."""
        parts = tuple(moved(call, one.reshape(shape), 0).reshape(-1) for one in self.parts)
        return Layers(parts, len(parts[0]) if parts else 0)

    def joined(self, other: Layers) -> Layers:
        """Join the sets of each element."""
        new = [one for one in other.parts if not any(one is own or np.array_equal(one, own) for own in self.parts)]
        return Layers((*self.parts, *new), self.size)

    def taken(self, position: Flat, source: Flat, size: int) -> Layers | None:
        """Put the sets of elements where they are used; None where some places use more elements than others.

        Args:
            position: The places.
            source: The element that each place uses.
            size: The number of places.
        """
        if len(position) and (np.diff(position) <= 0).any():
            several = len(position) // size
            places = (
                position.reshape(-1, several) if several <= MOST_LAYERS and several * size == len(position) else None
            )
            if places is None or (places != np.arange(size)[:, None]).any():
                return None
            return Layers(tuple(one[source[k::several]] for one in self.parts for k in range(several)), size)
        return Layers(tuple(_put(np.zeros(size, np.int32), position, one[source]) for one in self.parts), size)

    def entries(self) -> tuple[Inputs, Inputs]:
        """List the elements and inputs, each pair once and in order."""
        if not self.parts:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        table = np.empty((self.size, len(self.parts)), np.int32)
        for k, one in enumerate(_sorted(self.parts)):
            table[:, k] = one
        is_new = table > 0
        is_new[:, 1:] &= table[:, 1:] != table[:, :-1]
        elements = np.repeat(np.arange(self.size, dtype=np.int32), is_new.sum(axis=1))
        inputs = table.reshape(-1)
        if len(elements) < len(inputs):
            inputs = inputs[np.flatnonzero(is_new)]
        inputs -= 1
        return elements, inputs


def listed(parts: Sequence[tuple[Layers, Flat, Flat]], size: int) -> Layers:
    """Put the sets of several arrays into one, each at its own places: the sets, places and sources of each."""
    found = [np.zeros(size, np.int32) for _ in range(max((len(known.parts) for known, _, _ in parts), default=0))]
    for known, position, source in parts:
        for own, one in zip(found, known.parts, strict=False):
            own[position] = one[source]
    return Layers(tuple(found), size)


def _put(found: Inputs, position: Flat, inputs: Inputs) -> Inputs:
    found[position] = inputs
    return found


def _sorted(parts: Sequence[Inputs]) -> list[Inputs]:
    """Sort the inputs of each element, by comparing and exchanging whole layers."""
    found = list(parts)
    for last in range(len(found) - 1, 0, -1):
        for k in range(last):
            found[k], found[k + 1] = np.minimum(found[k], found[k + 1]), np.maximum(found[k], found[k + 1])
    return found

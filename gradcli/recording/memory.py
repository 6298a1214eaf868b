"""Values by the memory that holds them: tensors of the same elements are one value, and writing to it is a new one."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.language.program.wengert import Atom

ASSIGNED = frozenset("copy_ fill_ zero_".split())
"""Operations in place whose result does not depend on what was there."""

SHAPED = frozenset(
    "empty_like new_empty new_empty_strided new_zeros new_ones new_full zeros_like ones_like full_like "
    "_new_zeros_with_same_feature_meta".split()
)
"""Operations that take of a tensor its shape alone."""

Geometry = tuple[int, tuple[int, ...], tuple[int, ...], Any]
"""Which elements of a memory a tensor holds."""


@dataclass
class Known:
    """A value in memory.

    Attributes:
        atom: The value.
        is_base: Whether other values of the memory are parts of it.
    """

    atom: Atom
    is_base: bool


@dataclass
class _Storage:
    """The values in one memory, which lives as long as somebody else holds it."""

    alive: Any  # a weak reference: while it is held, no other memory has its identity
    values: dict[Geometry, Known] = field(default_factory=dict)


class Memory:
    """The values of a recording, which holds none of their memory.

    Args:
        picked: Makes the value of the elements of another one at flat places.
        merged: Makes the value of the elements of a new one at flat places, and of that before where there is none.
    """

    def __init__(self, picked: Callable[[Atom, Tensor], Atom], merged: Callable[[Atom, Atom, Tensor], Atom]) -> None:
        self._picked, self._merged = picked, merged
        self._known: dict[int, _Storage] = {}

    def __contains__(self, tensor: Tensor) -> bool:
        """Tell whether some value is known of the memory of a tensor."""
        return memory(tensor) in self._known

    def _values(self, tensor: Tensor) -> dict[Geometry, Known]:
        known = self._known.get(memory(tensor))
        return {} if known is None else known.values

    def find(self, tensor: Tensor) -> Known | None:
        """Find the value of just the elements of a tensor, if it is known."""
        return self._values(tensor).get(geometry(tensor))

    def part(self, tensor: Tensor) -> Atom | None:
        """Find the value of a tensor, or make it of one that its elements are a part of."""
        known = self.find(tensor)
        if known is not None:
            return known.atom
        for key, one in self._values(tensor).items():
            if one.is_base:
                places = places_in(key, geometry(tensor), _count(tensor))
                if places is not None and bool((places >= 0).all()):
                    atom = self._picked(one.atom, places)
                    self.put(tensor, atom)
                    return atom
        return None

    def put(self, tensor: Tensor, atom: Atom) -> None:
        """Note the value that a tensor holds, if there is none: a view of all elements is what it is a view of."""
        if memory(tensor) not in self._known:
            self._known[memory(tensor)] = _Storage(
                torch.multiprocessing.reductions.StorageWeakRef(tensor.untyped_storage())
            )
        values, key = self._values(tensor), geometry(tensor)
        if key not in values:
            values[key] = Known(atom, not values)

    def write(self, tensor: Tensor, atom: Atom) -> None:
        """Note a value that was written to a tensor, and so to all that shares its memory."""
        values, own = self._values(tensor), geometry(tensor)
        for key, one in list(values.items()):
            places = None if key == own else places_in(own, key, _count(tensor))
            if key == own:
                one.atom = atom
            elif places is not None and one.is_base:
                one.atom = self._merged(atom, one.atom, places)
            elif places is not None:
                del values[key]
        self.put(tensor, atom)

    def forget(self, tensor: Tensor) -> None:
        """Drop the values of what a tensor shares its memory with."""
        known, own = self._known.get(memory(tensor)), geometry(tensor)
        if known is not None:
            count = _count(tensor)
            kept = {key: one for key, one in known.values.items() if places_in(own, key, count) is None}
            if kept:
                known.values = kept
            else:
                del self._known[memory(tensor)]

    def held(self) -> set[Atom]:
        """List the values of the memory that somebody holds, and drop the others."""
        self._known = {key: one for key, one in self._known.items() if not one.alive.expired()}
        return {one.atom for storage in self._known.values() for one in storage.values.values()}

    def keep(self, atoms: Container[Atom]) -> None:
        """Drop all other values, and those in the memory of a larger one that is dropped."""
        for key, storage in list(self._known.items()):
            storage.values = {at: one for at, one in storage.values.items() if one.atom in atoms}
            if not any(one.is_base for one in storage.values.values()):
                del self._known[key]


def memory(tensor: Tensor) -> int:
    """Name the memory of a tensor."""
    return int(tensor.untyped_storage()._cdata)


def alias(tensor: Tensor) -> Tensor:
    """Hold the memory of a tensor, whatever else the tensor is given by `tensor.data = …`."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return tensor.detach()


def as_real(tensor: Tensor) -> Tensor:
    """See complex numbers as their two parts in a last dimension, in the same memory; real ones as they are."""
    if not tensor.is_complex():
        return tensor
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
        return torch.view_as_real(tensor.resolve_conj())


def geometry(tensor: Tensor) -> Geometry:
    """Name the elements of its memory that a tensor holds."""
    return tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype


def _count(tensor: Tensor) -> int:
    """Count the elements that fit into the memory of a tensor."""
    return int(tensor.untyped_storage().nbytes() // tensor.element_size())


def places_in(own: Geometry, other: Geometry, count: int) -> Tensor | None:
    """Find where the elements of one tensor are in another one of the same memory.

    Args:
        own: The one whose places are counted, flat.
        other: The one whose elements are looked for.
        count: Elements of the memory.

    Returns:
        For each element of `other` its place in `own`, or -1; None if they have no element in common.

    >>> y = torch.zeros(2, 3)
    >>> places_in(geometry(y[1]), geometry(y), 6).tolist(), places_in(geometry(y[0]), geometry(y[1]), 6)
    ([[-1, -1, -1], [0, 1, 2]], None)
    """
    (first, shape, strides, dtype), (other_first, other_shape, other_strides, other_dtype) = own, other
    if dtype is not other_dtype or 0 in shape or 0 in other_shape:
        return None
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
        flat = torch.arange(count).as_strided(shape, strides, first).reshape(-1)
        places = torch.full((count,), -1, dtype=torch.int64).index_put((flat,), torch.arange(flat.numel()))
        found = places.as_strided(other_shape, other_strides, other_first).clone()
        return found if bool((found >= 0).any()) else None

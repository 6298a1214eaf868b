"""Values by the memory that holds them: tensors of the same elements are one value, and writing to it is a new one."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Callable, Container
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


class Memory:
    """The values of a recording, which holds none of their memory: the first one there has the others as parts.

    Args:
        picked: Makes the value of the elements of another one at flat places.
        merged: Makes the value of the elements of a new one at flat places, and of that before where there is none.
    """

    def __init__(self, picked: Callable[[Atom, Tensor], Atom], merged: Callable[[Atom, Atom, Tensor], Atom]) -> None:
        self._picked, self._merged = picked, merged
        # with a weak reference: while that is held, no other memory has its identity
        self._known: dict[int, tuple[Any, dict[Geometry, Atom]]] = {}

    def __contains__(self, tensor: Tensor) -> bool:
        """Tell whether some value is known of the memory of a tensor."""
        return memory(tensor) in self._known

    def _values(self, tensor: Tensor) -> dict[Geometry, Atom]:
        return self._known[memory(tensor)][1] if tensor in self else {}

    def find(self, tensor: Tensor) -> Atom | None:
        """Find the value of just the elements of a tensor, if it is known."""
        return self._values(tensor).get(geometry(tensor))

    def part(self, tensor: Tensor) -> Atom | None:
        """Find the value of a tensor, or make it of the one that its elements are a part of."""
        found = self.find(tensor)
        for key, whole in [*self._values(tensor).items()][: found is None]:
            places = places_in(key, geometry(tensor), _count(tensor))
            if places is not None and bool((places >= 0).all()):
                found = self._picked(whole, places)
                self.put(tensor, found)
        return found

    def put(self, tensor: Tensor, atom: Atom) -> None:
        """Note the value that a tensor holds, if there is none: a view of all elements is what it is a view of."""
        if tensor not in self:
            alive = torch.multiprocessing.reductions.StorageWeakRef(tensor.untyped_storage())
            self._known[memory(tensor)] = alive, {}
        self._values(tensor).setdefault(geometry(tensor), atom)

    def write(self, tensor: Tensor, atom: Atom) -> None:
        """Note a value that was written to a tensor, and so to all that shares its memory."""
        values, own = self._values(tensor), geometry(tensor)
        for n, (key, before) in enumerate([*values.items()]):
            places = None if key == own else places_in(own, key, _count(tensor))
            if places is not None and n == 0:
                values[key] = self._merged(atom, before, places)
            elif places is not None:
                del values[key]
        self.put(tensor, atom)
        self._values(tensor)[own] = atom

    def forget(self, tensor: Tensor) -> None:
        """Drop the values of what a tensor shares its memory with."""
        values, own, count = self._values(tensor), geometry(tensor), _count(tensor)
        for key in [key for key in values if places_in(own, key, count) is not None]:
            del values[key]
        if not values:
            self._known.pop(memory(tensor), None)

    def held(self) -> set[Atom]:
        """List the values of the memory that somebody holds, and drop the others."""
        self._known = {key: (alive, values) for key, (alive, values) in self._known.items() if not alive.expired()}
        return {atom for _, values in self._known.values() for atom in values.values()}

    def keep(self, atoms: Container[Atom]) -> None:
        """Drop all other values, and those in the memory of a larger one that is dropped."""
        for key, (alive, values) in [*self._known.items()]:
            if next(iter(values.values())) in atoms:
                self._known[key] = alive, {place: atom for place, atom in values.items() if atom in atoms}
            else:
                del self._known[key]


def memory(tensor: Tensor) -> int:
    """Name the memory of a tensor."""
    return int(tensor.untyped_storage()._cdata)


def alias(tensor: Tensor) -> Tensor:
    """Hold the memory of a tensor, whatever else the tensor is given by `tensor.data = …`."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return tensor.detach()


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

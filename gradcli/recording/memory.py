"""Values by the memory that holds them: tensors of the same elements are one value, and writing to it is a new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.language.program.wengert import Atom

Geometry = tuple[int, tuple[int, ...], tuple[int, ...], Any]
"""Which elements of a memory a tensor holds."""


@dataclass
class Known:
    """A value in memory.

    Attributes:
        tensor: What holds it, kept so that nothing else takes its memory.
        atom: The value.
        is_base: Whether other values of the memory are parts of it.
    """

    tensor: Tensor
    atom: Atom
    is_base: bool


class Memory:
    """The values of a recording.

    Args:
        picked: Makes the value of the elements of another one at flat places.
        merged: Makes the value of the elements of a new one at flat places, and of that before where there is none.
    """

    def __init__(self, picked: Callable[[Atom, Tensor], Atom], merged: Callable[[Atom, Atom, Tensor], Atom]) -> None:
        self._picked, self._merged = picked, merged
        self._known: dict[int, dict[Geometry, Known]] = {}

    def __contains__(self, tensor: Tensor) -> bool:
        """Tell whether some value is known of the memory of a tensor."""
        return memory(tensor) in self._known

    def find(self, tensor: Tensor) -> Known | None:
        """Find the value of just the elements of a tensor, if it is known."""
        return self._known.get(memory(tensor), {}).get(geometry(tensor))

    def part(self, tensor: Tensor) -> Atom | None:
        """Find the value of a tensor, or make it of one that its elements are a part of."""
        known = self.find(tensor)
        if known is not None:
            return known.atom
        for one in self._known.get(memory(tensor), {}).values():
            if one.is_base and (places := places_in(one.tensor, tensor)) is not None and bool((places >= 0).all()):
                atom = self._picked(one.atom, places)
                self.put(tensor, atom)
                return atom
        return None

    def put(self, tensor: Tensor, atom: Atom) -> None:
        """Note the value that a tensor holds, if there is none: a view of all elements is what it is a view of."""
        known = self._known.setdefault(memory(tensor), {})
        if geometry(tensor) not in known:
            known[geometry(tensor)] = Known(alias(tensor), atom, not known)

    def write(self, tensor: Tensor, atom: Atom) -> None:
        """Note a value that was written to a tensor, and so to all that shares its memory."""
        known = self._known.setdefault(memory(tensor), {})
        for key, one in list(known.items()):
            places = None if key == geometry(tensor) else places_in(tensor, one.tensor)
            if key == geometry(tensor):
                one.atom = atom
            elif places is not None and one.is_base:
                one.atom = self._merged(atom, one.atom, places)
            elif places is not None:
                del known[key]
        self.put(tensor, atom)

    def forget(self, tensor: Tensor) -> None:
        """Drop the values of what a tensor shares its memory with."""
        known = self._known.pop(memory(tensor), {})
        kept = {key: one for key, one in known.items() if places_in(tensor, one.tensor) is None}
        if kept:
            self._known[memory(tensor)] = kept


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


def places_in(tensor: Tensor, other: Tensor) -> Tensor | None:
    """Find where the elements of one tensor are in another one of the same memory.

    Args:
        tensor: The one whose places are counted, flat.
        other: The one whose elements are looked for.

    Returns:
        For each element of `other` its place in `tensor`, or -1; None if they have no element in common.

    >>> y = torch.zeros(2, 3)
    >>> places_in(y[1], y).tolist(), places_in(y[0], y[1])
    ([[-1, -1, -1], [0, 1, 2]], None)
    """
    if tensor.dtype is not other.dtype or not tensor.numel() or not other.numel():
        return None
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
        size = tensor.untyped_storage().nbytes() // tensor.element_size()
        flat = torch.arange(size).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).reshape(-1)
        places = torch.full((size,), -1, dtype=torch.int64).index_put((flat,), torch.arange(tensor.numel()))
        found = places.as_strided(other.shape, other.stride(), other.storage_offset()).clone()
        return found if bool((found >= 0).any()) else None

"""Values by the memory that holds them: tensors of the same elements are one value, and writing makes a new one."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.language.program.wengert import Atom
from gradcli.recording.aten_lowering import AtenLowering
from gradcli.recording.places import CallPlace, Places

ASSIGNED = frozenset("copy_ fill_ zero_".split())
"""Operations in place whose result does not depend on the old numbers."""

SHAPED = frozenset(
    "empty_like new_empty new_empty_strided new_zeros new_ones new_full zeros_like ones_like full_like "
    "_new_zeros_with_same_feature_meta".split()
)
"""Operations that use only the shape of a tensor."""

Geometry = tuple[int, tuple[int, ...], tuple[int, ...], Any]
"""Elements of a memory that a tensor holds: offset, shape, strides, dtype."""


class Memory:
    """Values of a recording by memory, which it does not keep alive; the first value of a memory contains the others.

    Args:
        lines: To which the lines of parts are appended.
        propagate: Notes that a value follows from others, and returns it.
    """

    def __init__(self, lines: AtenLowering, propagate: Callable[..., Atom]) -> None:
        self._lines, self._propagate = lines, propagate
        # with a weak reference: while that is held, no other memory has its identity
        self._known: dict[int, tuple[Any, dict[Geometry, Atom]]] = {}
        self._overwritten: dict[int, tuple[Any, dict[Geometry, Atom]]] = {}  # the last value before the present one
        self._apart = torch.utils.weak.WeakTensorKeyDictionary()  # names of their own for the memory of some tensors

    def __contains__(self, tensor: Tensor) -> bool:
        """Tell whether some value is known for the memory of a tensor."""
        return self._memory(tensor) in self._known

    def _values(self, tensor: Tensor) -> dict[Geometry, Atom]:
        known = self._known.get(self._memory(tensor))
        return {} if known is None else known[1]

    def _memory(self, tensor: Tensor) -> int:
        """Name the memory of a tensor, by itself where it, or the tensor that it is a view of, was set apart."""
        root = torch_internals.base_of(tensor)
        return int(self._apart.get(root, memory(tensor))) if self._apart else memory(tensor)

    def set_apart(self, tensor: Tensor) -> None:
        """Take a tensor for one with other values than those that share its memory, as autograd does of a new leaf.

        It does so of `p` in `h = a*2; p = h.detach().requires_grad_()`.
        """
        self._apart[tensor] = -1 - len(self._apart)

    def is_apart(self, tensor: Tensor) -> bool:
        """Tell whether a tensor was set apart from those that share its memory."""
        return tensor in self._apart

    def find(self, tensor: Tensor) -> Atom | None:
        """Find the value of exactly the elements of a tensor; None if it is not known."""
        values = self._values(tensor)
        return values.get(geometry(tensor)) if values else None

    def part(self, tensor: Tensor) -> Atom | None:
        """Find the value of a tensor, or make it from the value that contains its elements."""
        found = self.find(tensor)
        for key, whole in [*self._values(tensor).items()][: found is None]:
            places = places_in(key, geometry(tensor), _count(tensor))
            if places is not None and bool((places >= 0).all()):
                found = self._propagate(
                    self._lines.picked(whole, places.flatten().tolist(), tuple(places.shape)), whole
                )
                self.put(tensor, found)
        return found

    def put(self, tensor: Tensor, atom: Atom) -> None:
        """Note the value of a tensor unless there is one: a view of all elements has the value of its base."""
        if tensor not in self:
            alive = torch.multiprocessing.reductions.StorageWeakRef(tensor.untyped_storage())
            self._known[self._memory(tensor)] = alive, {}
        self._values(tensor).setdefault(geometry(tensor), atom)

    def write(self, tensor: Tensor, atom: Atom) -> None:
        """Note a value written to a tensor, and so to all tensors that share its memory."""
        values, own = self._values(tensor), geometry(tensor)
        if own in values:
            self._overwritten[self._memory(tensor)] = self._known[self._memory(tensor)][0], {own: values[own]}
        for n, (key, before) in enumerate([*values.items()]):
            places = None if key == own else places_in(own, key, _count(tensor))
            if places is not None and n == 0:
                merged = self._lines.merged(atom, before, places.flatten().tolist(), tuple(places.shape))
                values[key] = self._propagate(merged, atom, before)
            elif places is not None:
                del values[key]
        self.put(tensor, atom)
        self._values(tensor)[own] = atom

    def overwritten(self, tensor: Tensor) -> Atom | None:
        """Find the value of a tensor before the last one that was written to all of its elements."""
        _, values = self._overwritten.get(self._memory(tensor), (None, dict[Geometry, Atom]()))
        return values.get(geometry(tensor))

    def forget(self, tensor: Tensor) -> None:
        """Drop the values of all tensors that share elements with a tensor."""
        values, own, count = self._values(tensor), geometry(tensor), _count(tensor)
        for key in [key for key in values if places_in(own, key, count) is not None]:
            del values[key]
        if not values:
            self._known.pop(self._memory(tensor), None)

    def held(self) -> set[Atom]:
        """List the values whose memory is still alive, and drop the others."""
        self._known = {key: (alive, values) for key, (alive, values) in self._known.items() if not alive.expired()}
        self._overwritten = {key: one for key, one in self._overwritten.items() if not one[0].expired()}
        known = *self._known.values(), *self._overwritten.values()
        return {atom for _, values in known for atom in values.values()}

    def keep(self, atoms: Container[Atom]) -> None:
        """Drop all values except these, and all values of a memory whose first value is dropped."""
        self._known, self._overwritten = (
            {
                key: (alive, {place: atom for place, atom in values.items() if atom in atoms})
                for key, (alive, values) in known.items()
                if next(iter(values.values())) in atoms
            }
            for known in (self._known, self._overwritten)
        )


def memory(tensor: Tensor) -> int:
    """Name the memory of a tensor.

    Raises:
        InputError: It is sparse, and has none.
    """
    try:
        return torch_internals.storage_number(tensor)
    except NotImplementedError:
        if tensor.layout is torch.strided:
            raise
        raise refusal_of_layout(tensor, Places().find()) from None


def refusal_of_layout(tensor: Tensor, place: CallPlace) -> InputError:
    """Make the error of a tensor that is not dense, which no memory has element by element."""
    message = f"a tensor of layout {tensor.layout} is used{place}, and only dense ones are recorded"
    hint = "give the function A.to_dense() for a sparse A, and make its own tensors dense, as index_add does"
    return InputError(message, hint=hint)


def alias(tensor: Tensor) -> Tensor:
    """Hold the memory of a tensor, even if `tensor.data = …` gives the tensor another one."""
    with torch_internals.without_dispatch(), torch_internals.without_functions():
        return tensor.detach()


def as_real(tensor: Tensor) -> Tensor:
    """View complex numbers as two parts in a last dimension, in the same memory; give real ones as they are."""
    if not tensor.is_complex():
        return tensor
    with torch_internals.without_dispatch(), torch_internals.without_functions(), torch.no_grad():
        return torch.view_as_real(tensor.resolve_conj())


def geometry(tensor: Tensor) -> Geometry:
    """Name the elements of its memory that a tensor holds."""
    return int(tensor.storage_offset()), tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype


def _count(tensor: Tensor) -> int:
    """Count the elements that fit into the memory of a tensor."""
    return int(tensor.untyped_storage().nbytes() // tensor.element_size())


def places_in(own: Geometry, other: Geometry, count: int) -> Tensor | None:
    """Find where the elements of one tensor are in another one of the same memory.

    Args:
        own: The tensor whose places are counted, flat.
        other: The tensor whose elements are looked for.
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
    with torch_internals.without_dispatch(), torch_internals.without_functions(), torch.no_grad():
        flat = torch.arange(count).as_strided(shape, strides, first).reshape(-1)
        places = torch.full((count,), -1, dtype=torch.int64).index_put((flat,), torch.arange(flat.numel()))
        found = places.as_strided(other_shape, other_strides, other_first).clone()
        return found if bool((found >= 0).any()) else None

"""Tensors that share memory: which elements of one are elements of another, and what a change of one is to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.values import Ref

_GETITEM = "torch.Tensor.__getitem__"

NOWHERE = -1
"""The place of an element that is none of the other tensor's."""


def places_in(tensor: Tensor, other: Tensor) -> Tensor | None:
    """Where the elements of one tensor are in another one that shares its memory.

    Args:
        tensor: The one whose places are counted, flat.
        other: The one whose elements are looked for.

    Returns:
        For each element of `other` its place in `tensor`, or `NOWHERE`; None if they have no element in common.

    >>> y = torch.zeros(2, 3)
    >>> places_in(y[1], y).tolist(), places_in(y[0], y[1])
    ([[-1, -1, -1], [0, 1, 2]], None)
    """
    if other.layout is not torch.strided or memory(tensor) != memory(other) or tensor.dtype is not other.dtype:
        return None
    size = tensor.untyped_storage().nbytes() // tensor.element_size()
    places = torch.full((size,), NOWHERE, dtype=torch.int64)
    count = torch.arange(tensor.numel()).reshape(tensor.shape)
    places.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).copy_(count)
    found = places.as_strided(other.shape, other.stride(), other.storage_offset()).clone()
    return found if bool((found != NOWHERE).any()) else None


def box_of(places: Tensor, shape: Sequence[int]) -> tuple[slice, ...] | None:
    """The slices of a tensor of a shape that are the elements at flat places, in their order; None if none are.

    >>> box_of(torch.tensor([4, 5]), (2, 3)), box_of(torch.tensor([2, 0]), (3,))
    ((slice(1, None, None), slice(1, None, None)), None)
    """
    if not shape or not places.numel():
        return None
    ends = [(int(one.min()), int(one.max()) + 1) for one in torch.unravel_index(places.reshape(-1), tuple(shape))]
    box = tuple(
        slice(start or None, None if stop == size else stop) for (start, stop), size in zip(ends, shape, strict=True)
    )
    inside = torch.arange(math.prod(shape)).reshape(tuple(shape))[box].reshape(-1)
    return box if torch.equal(inside, places.reshape(-1)) else None


def merged(
    ref: Ref,
    shape: Sequence[int],
    places: Tensor,
    before: Ref,
    step: Callable[..., Ref],
    constant: Callable[[str, Tensor], Ref],
) -> Ref:
    """The elements of a value at some places of it, and those of another value where there is no place, as calls.

    Args:
        ref: The value.
        shape: Its shape.
        places: For each element of the result its flat place in the value, or `NOWHERE`.
        before: The other value, of the result's shape.
        step: What adds a call by its path and arguments.
        constant: What adds a constant by the name that it should have.
    """

    def shaped(ref: Ref, own: Sequence[int], wanted: Sequence[int]) -> Ref:
        return ref if tuple(own) == tuple(wanted) else step("torch.Tensor.reshape", ref, tuple(wanted))

    is_new = places != NOWHERE
    box = None if bool(is_new.all()) else box_of(is_new.reshape(-1).nonzero(), places.shape)
    if box is not None and torch.equal(places[box].reshape(-1), torch.arange(math.prod(shape))):
        ends = [one.indices(n)[:2] for one, n in zip(box, places.shape, strict=True)]
        pads = [(start, n - stop) for (start, stop), n in zip(ends, places.shape, strict=True)]
        inner = shaped(ref, shape, [stop - start for start, stop in ends])
        ref = step("torch.nn.functional.pad", inner, [n for pair in reversed(pads) for n in pair])
    elif not places.ndim:
        ref = step(_GETITEM, shaped(ref, shape, (math.prod(shape),)), int(places))
    elif (box := box_of(places.clamp(min=0), shape)) is not None:
        size = torch.empty(tuple(shape), device="meta")[box].shape
        ref = shaped(ref if tuple(size) == tuple(shape) else step(_GETITEM, ref, box), size, places.shape)
    else:
        flat = shaped(ref, shape, (math.prod(shape),))
        ref = step(_GETITEM, flat, constant("place", places.clamp(min=0)))
    return ref if bool(is_new.all()) else step("torch.where", constant("is_new", is_new), ref, before)


def memory(tensor: Tensor) -> int:
    """What tensors that share memory have in common; 0 of those that hold none of their own."""
    return int(tensor.untyped_storage().data_ptr()) if tensor.layout is torch.strided else 0


def are_followed(tensor: Tensor, other: Tensor) -> bool:
    """Whether autograd knows that a change of one tensor is one of the other, as of views, or follows neither."""
    return _base(tensor) is _base(other) or not (tensor.requires_grad or other.requires_grad)


def is_same_place(tensor: Tensor, other: Tensor) -> bool:
    """Whether two tensors are the same elements of the same memory."""
    return (
        memory(tensor) == memory(other) != 0
        and tensor.dtype is other.dtype
        and tensor.shape == other.shape
        and tensor.stride() == other.stride()
        and tensor.storage_offset() == other.storage_offset()
    )


def version(tensor: Tensor) -> int:
    """How often a tensor was changed in place; 0 where torch does not count."""
    return 0 if tensor.is_inference() else int(tensor._version)


def is_own(tensor: Tensor, key: Any, given: Any) -> bool:
    """Whether `tensor[key] = given` assigns elements to themselves, as Python does behind `tensor[key] += 1`."""
    if not isinstance(given, torch.Tensor) or memory(given) != memory(tensor):
        return False
    with torch.no_grad():
        return is_same_place(tensor[key], given)


def _base(tensor: Tensor) -> Tensor:
    return tensor if tensor._base is None else tensor._base

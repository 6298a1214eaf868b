"""Calls of a script that autograd does not follow, kept by the memory of their results until a pass is judged.

    with torch.no_grad():
        mask = (w.abs() > t).double()
    (w*mask).sum().backward()

Nothing is recorded when such a call runs, as most are of evaluations and never reach a pass.  Where a result does, the
calls that it is made of are run again, on the tensors that they were given, and recorded then.  A call is kept as long
as the memory of its result is alive; its own results are not, and of what it was given only what no kept call made.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.recording.aten_calls import Argument, changed_by, copied, replaced, tensors_in, within
from gradcli.recording.memory import Geometry, alias, geometry, memory

MOST_DEEP = 500
"""Longest chain of calls; sums over a whole evaluation are longer, and are constants."""

MOST_UNTRACKED_CALLS = 1000
"""Most calls that are run again for one tensor."""

MOST_MEMORIES = 4096
"""Most results that are alive at once."""

MOST_BYTES = 2**27
"""Most bytes that calls are given and that are kept for them."""

MOST_COPIED = 2**20
"""Most bytes of a constant that is copied before a call writes to it."""

CALLS_BETWEEN, BYTES_BETWEEN = 256, 2**24
"""Calls, and bytes given to them, after which those are dropped whose results are gone."""


class NotRepeatableError(Exception):
    """Signal that calls cannot be run again as they ran."""


class StaleError(NotRepeatableError):
    """Signal that a leaf has changed since: what was made of it is a constant now."""


@dataclass(eq=False, slots=True)
class Given:
    """Tensor that no kept call made.

    Attributes:
        tensor: The tensor; of one that autograd follows and that is no leaf, an alias without its graph.
        version: Its version when it was given.
        is_moving: Whether it is a leaf, or follows from leaves.
        is_copy: Whether it is a copy of what a call was about to write to.
    """

    tensor: Tensor
    version: int
    is_moving: bool
    is_copy: bool = False


@dataclass(eq=False, slots=True)
class UntrackedCall:
    """Call with its operands, in which parts of memories stand for tensors.

    Attributes:
        number: Its place in the order of calls.
        function: The operation of ATen.
        given: Its arguments, and those by keyword.
        where: The line of the user's code.
        depth: The length of the longest chain of calls up to this one.
        total: Counter of the bytes that all calls keep alive.
        size: Bytes that this call keeps alive.
    """

    number: int
    function: TorchFunction
    given: Argument
    where: Argument
    depth: int
    total: list[int]
    size: int

    def __del__(self) -> None:
        """Count its bytes no more."""
        self.total[0] -= self.size


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """First tensor of a memory: a result of a call, by its place among the results, or what was there before."""

    made_by: UntrackedCall | Given
    place: int
    geometry: Geometry


@dataclass(frozen=True, slots=True, eq=False)
class MemoryView:
    """Tensor of a memory that calls made or wrote to.

    Attributes:
        root: The first tensor of the memory; None if it is not known how it was made.
        geometry: The elements of the memory that it holds.
        written: The last call that wrote to the memory.
    """

    root: Root | None
    geometry: Geometry
    written: UntrackedCall | None = None


@dataclass(slots=True)
class _MadeMemory:
    """Memory with a weak reference: while that is there, no other memory has its identity."""

    alive: Argument
    root: Root | None
    written: UntrackedCall | None = None


@dataclass
class UntrackedCalls:
    """Calls that autograd does not follow, by the memory of their results.

    Args:
        is_moving: Tells whether a tensor that no kept call made is a leaf, or follows from leaves.

    Attributes:
        is_over: Whether there were too many: some results may be made of leaves all the same.
    """

    is_moving: Callable[[Tensor], bool]
    is_over: bool = False
    _made: dict[int, _MadeMemory] = field(default_factory=dict)
    _bytes: list[int] = field(default_factory=lambda: [0])
    _count: int = 0
    _last_count: int = 0
    _last_bytes: int = 0

    def clear(self) -> None:
        """Forget all calls: what they gave is constant from now on, as the leaves have changed."""
        self._made.clear()
        self.is_over = False

    def part(self, tensor: Tensor) -> MemoryView | None:
        """Find what calls a tensor is made of; None for one that follows from no leaf."""
        if not self._made or tensor.layout is not torch.strided:
            return None
        made = self._made.get(memory(tensor))
        return None if made is None else MemoryView(made.root, geometry(tensor), made.written)

    # -- noting

    def before(self, function: TorchFunction, given: Argument) -> dict[int, Given]:
        """Copy the constants that a call is about to write what follows from leaves to, by their memory."""
        found: dict[int, Given] = {}
        changed = changed_by(function, *given)
        if changed and any(self._is_of_leaves(one) for one in tensors_in(given)):
            for one in changed:
                is_known = one.layout is not torch.strided or one.requires_grad or self.part(one) is not None
                if not is_known and one.untyped_storage().nbytes() <= MOST_COPIED:
                    found[memory(one)] = Given(copied(_whole(one)), 0, is_moving=False, is_copy=True)
        return found

    def note(
        self,
        function: TorchFunction,
        given: Argument,
        found: Sequence[Tensor],
        copies: Mapping[int, Given],
        where: Callable[[], str],
    ) -> None:
        """Keep a call, if it was given what follows from leaves.

        Args:
            function: The operation of ATen.
            given: Its arguments, and those by keyword.
            found: Its results that are not recorded.
            copies: What it wrote to, as that was before.
            where: Finds the line of the user's code that made it.
        """
        operands = tensors_in(given)
        if not any(self._is_of_leaves(one) for one in operands):
            return
        changed = changed_by(function, *given)
        if any(self.part(one) is None and self.is_moving(one) for one in changed):  # a leaf, which has a new value
            return
        is_drawn = torch.Tag.nondeterministic_seeded in function.tags
        is_known = all(one.layout is torch.strided and self._has_before(one, copies) for one in changed)
        call = self._call(function, given, copies, where) if is_known and not is_drawn else None
        for one in changed:
            self._write(one, call, copies)
        others = {memory(one) for one in (*operands, *changed) if one.layout is torch.strided}
        for place, one in enumerate(found):
            if one.layout is torch.strided and memory(one) not in others:
                root = None if call is None else Root(call, place, geometry(one))
                self._made[memory(one)] = _MadeMemory(_alive(one), root)
        self._drop()

    def _has_before(self, tensor: Tensor, copies: Mapping[int, Given]) -> bool:
        """Tell whether it is known what a tensor held before a call wrote to it."""
        return self.part(tensor) is not None or memory(tensor) in copies

    def forget(self, tensor: Tensor) -> None:
        """Forget what made the memory of a tensor."""
        if tensor.layout is torch.strided:
            self._made.pop(memory(tensor), None)

    def _write(self, tensor: Tensor, call: UntrackedCall | None, copies: Mapping[int, Given]) -> None:
        if tensor.layout is not torch.strided:
            return
        key = memory(tensor)
        if key not in self._made:
            before = copies.get(key)
            root = None if before is None else Root(before, 0, geometry(before.tensor))
            self._made[key] = _MadeMemory(_alive(tensor), root)
        made = self._made[key]
        made.written = call
        if call is None:
            made.root = None

    def _is_of_leaves(self, tensor: Tensor) -> bool:
        return self.part(tensor) is not None or self.is_moving(tensor)

    def _call(
        self, function: object, given: object, copies: Mapping[int, Given], where: Callable[[], str]
    ) -> UntrackedCall | None:
        """Make the call that is kept; None if it cannot be run again."""
        parts: list[MemoryView | Given] = []

        def operand(tensor: Tensor) -> MemoryView | Given:
            found: MemoryView | Given | None = self.part(tensor)
            if found is None and copies and tensor.layout is torch.strided and memory(tensor) in copies:
                copy = copies[memory(tensor)]
                found = MemoryView(Root(copy, 0, geometry(copy.tensor)), geometry(tensor))
            if found is None:
                kept = tensor if tensor.is_leaf or not tensor.requires_grad else alias(tensor)
                found = Given(kept, _version(tensor), self.is_moving(tensor))
            parts.append(found)
            return found

        with_parts = replaced(given, torch.Tensor, operand)
        depth = 1
        for part in parts:
            if isinstance(part, MemoryView):
                if part.root is None:
                    return None
                depth = max([depth, *(1 + call.depth for call in _calls_of(part))])
        if depth > MOST_DEEP:
            return None
        size = sum(_size(one.tensor) for one in parts if isinstance(one, Given) and not one.tensor.requires_grad)
        self._count += 1
        self._bytes[0] += size
        return UntrackedCall(self._count, function, with_parts, where(), depth, self._bytes, size)

    def _drop(self) -> None:
        """Drop the calls whose results are gone, from time to time; all of them if they are too many."""
        if self._count < self._last_count + CALLS_BETWEEN and self._bytes[0] < self._last_bytes + BYTES_BETWEEN:
            return
        self._made = {key: one for key, one in self._made.items() if not one.alive.expired()}
        if len(self._made) > MOST_MEMORIES or self._bytes[0] > MOST_BYTES:
            self._made.clear()
            self.is_over = True
        self._last_count, self._last_bytes = self._count, self._bytes[0]


# -- running again


def calls_behind(part: MemoryView) -> list[UntrackedCall]:
    """List the calls that a tensor is made of, in their order.

    Raises:
        NotRepeatableError: They are too many, or some are not known.
    """
    found: dict[int, UntrackedCall] = {}
    waiting = [part]
    while waiting:
        one = waiting.pop()
        if one.root is None:
            raise NotRepeatableError
        for call in _calls_of(one):
            if call.number not in found:
                found[call.number] = call
                waiting += [other for other in _operands(call) if isinstance(other, MemoryView)]
        if len(found) > MOST_UNTRACKED_CALLS:
            raise NotRepeatableError
    return [found[number] for number in sorted(found)]


def given_to(calls: Sequence[UntrackedCall]) -> Iterator[Given]:
    """Yield what calls were given that follows from leaves and that no kept call made.

    Raises:
        StaleError: A leaf has changed since.
        NotRepeatableError: Something else has.
    """
    for call in calls:
        for one in _operands(call):
            if isinstance(one, Given):
                if _version(one.tensor) != one.version and not one.is_copy:
                    raise StaleError if one.tensor.requires_grad else NotRepeatableError
                if one.is_moving:
                    yield one


def repeated(part: MemoryView, calls: Sequence[UntrackedCall], run: Callable[[UntrackedCall, Any, Any], Any]) -> Tensor:
    """Run the calls that a tensor is made of again, and give the tensor.

    Args:
        part: The tensor.
        calls: The calls, in their order.
        run: Runs a call with these arguments, and these by keyword.

    Raises:
        NotRepeatableError: A result has another shape or other strides than it had.
    """
    results: dict[int, Sequence[Tensor]] = {}
    copies: dict[int, Tensor] = {}

    def tensor_of(one: MemoryView | Given) -> Tensor:
        if isinstance(one, Given):
            return one.tensor
        assert one.root is not None  # noqa: S101
        made_by = one.root.made_by
        if isinstance(made_by, Given):
            if id(made_by) not in copies:
                copies[id(made_by)] = copied(made_by.tensor)
            found = copies[id(made_by)]
        else:
            found = results[made_by.number][one.root.place]
        if geometry(found) != one.root.geometry or one.geometry[3] is not found.dtype:
            raise NotRepeatableError
        if one.geometry == one.root.geometry:
            return found
        first, shape, strides, _ = one.geometry
        return found.as_strided(shape, strides, first)

    for call in calls:
        args, kwargs = replaced(call.given, (MemoryView, Given), tensor_of)
        results[call.number] = tensors_in(run(call, args, kwargs))
    return tensor_of(part)


def _operands(call: UntrackedCall) -> list[MemoryView | Given]:
    return within(call.given, (MemoryView, Given))


def _calls_of(part: MemoryView) -> list[UntrackedCall]:
    """List the calls that made and last wrote to the memory of a tensor."""
    made_by = None if part.root is None else part.root.made_by
    return [one for one in (made_by, part.written) if isinstance(one, UntrackedCall)]


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else torch_internals.version_of(tensor)


def _size(tensor: Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


def _whole(tensor: Tensor) -> Tensor:
    """View all elements of the memory of a tensor."""
    with torch_internals.without_dispatch(), torch_internals.without_functions(), torch.no_grad():
        count = tensor.untyped_storage().nbytes() // tensor.element_size()
        return tensor.detach().as_strided((count,), (1,), 0)


def _alive(tensor: Tensor) -> object:
    return torch.multiprocessing.reductions.StorageWeakRef(tensor.untyped_storage())

"""Recorder that finds out late how a constant was made: when a pass is made of it that goes back to the same leaves.

What a script computes where autograd follows nothing is a constant at first, with the calls that it is made of put off.
If these were given what a pass is by, they are run again and recorded, and the constant is a value held constant.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.language.program.wengert import Atom
from gradcli.parts.running.untracked_calls import (
    Given,
    MemoryView,
    NotRepeatableError,
    StaleError,
    UntrackedCall,
    UntrackedCalls,
    calls_behind,
    given_to,
    repeated,
)
from gradcli.recording.aten_calls import Argument, DecidedValue, Leaf
from gradcli.recording.memory import memory
from gradcli.recording.places import CallPlace, Places, TensorNames
from gradcli.recording.recorder import Recorder

MOST_OF_BRANCH = 64
"""Most calls that make the condition of a branch that is looked at."""

MOST_BRANCHES = 8
"""Most branches by what autograd does not follow that are kept, the last ones."""


class _OnePlace(Places):
    """Finder that gives one place, for a call that is run again."""

    def __init__(self, place: CallPlace) -> None:
        super().__init__()
        self.place = place

    def find(self) -> CallPlace:
        """Give the place."""
        return self.place


class LateRecorder(Recorder):
    """Recorder of a script, which records what autograd does not follow where a pass turns out to be made of it.

    Args:
        names: Names for the tensors.

    Attributes:
        untracked: The calls that autograd does not follow.
        is_late: Whether calls are run again that were not recorded when they ran.
        is_over: Whether a pass has ended, and none has begun since.
        lost: The first error of recording since the last pass.
    """

    def __init__(self, names: TensorNames) -> None:
        super().__init__(names, None, "the script")
        self.is_late = self.is_over = False
        self.lost: Exception | None = None
        self.untracked = UntrackedCalls(self._is_moving)
        self._aliases: dict[int, Any] = {}  # leaves whose memory other tensors have too, by that memory
        self._read_leaves: dict[str, tuple[Any, int]] = {}  # whose numbers left torch since a pass, by remark
        self._put_off: dict[str, MemoryView] = {}  # constants by name, with what is known of how they were made
        self._branches: list[tuple[MemoryView, int, CallPlace]] = []  # by truth values and positions among these

    # -- while the script runs

    def on_error(self, error: Exception) -> None:
        """Keep the first error for the next pass.

        Raises:
            Exception: The error itself, where calls are run again.
        """
        if self.is_late:
            raise error
        self.lost = self.lost or error

    @contextlib.contextmanager
    def keeping_errors(self) -> Iterator[None]:
        """Keep the error of a block, which the script is not to see."""
        try:
            yield
        except Exception as error:
            self.on_error(error)

    def aliased(self, tensor: Tensor) -> None:
        """Note a leaf of whose memory the script takes a tensor that autograd does not follow."""
        if tensor.requires_grad and tensor.is_leaf and tensor.layout is torch.strided:
            self._aliases[memory(tensor)] = torch.utils.weak.TensorWeakRef(tensor)

    def numbers_left(self, remark: str, tensors: Sequence[Tensor]) -> None:
        """Note that the numbers of a leaf left torch: a pass that begins after this may have them as constants."""
        self._read_leaves.pop(remark, None)
        for leaf in map(self.leaf_of, tensors if self.is_over else ()):
            if leaf is not None:
                self._read_leaves[remark] = torch.utils.weak.TensorWeakRef(leaf), torch_internals.version_of(leaf)

    def has_other_numbers(self, remark: str) -> bool:
        """Tell whether a remark is on numbers that left torch since the last pass, and that their leaf has no more."""
        ref, version = self._read_leaves.get(remark, (None, 0))
        leaf = None if ref is None else ref()
        return ref is not None and (leaf is None or torch_internals.version_of(leaf) != version)

    def leaf_of(self, tensor: Tensor) -> Tensor | None:
        """Find the leaf that a tensor is a view of, or has the memory of; None if there is none."""
        base = torch_internals.base_of(tensor)
        if base.requires_grad and base.is_leaf:
            return base
        found = self._aliases.get(memory(tensor)) if tensor.layout is torch.strided else None
        leaf = None if found is None else found()
        return leaf if leaf is not None and memory(leaf) == memory(tensor) else None

    def _is_moving(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is a leaf, or may follow from one by recorded calls."""
        if tensor.requires_grad or tensor.layout is not torch.strided:
            return bool(tensor.requires_grad)
        return tensor in self._values or self.leaf_of(tensor) is not None

    def note_untracked(
        self,
        function: TorchFunction,
        given: Argument,
        found: Sequence[Tensor],
        copies: Mapping[int, Given],
        find: Callable[[], Any],
    ) -> None:
        """Keep a call of whose results no value is known.

        Args:
            function: The operation of ATen.
            given: Its arguments, and those by keyword.
            found: The tensors that it gave.
            copies: What it wrote to, as that was before.
            find: Finds the line of the user's code that made it.
        """
        with contextlib.suppress(Exception):  # of tensors without a memory
            unknown = [one for one in found if not (one.requires_grad or one in self._values)]
            for one in found:
                if one in self._values:
                    self.untracked.forget(one)
            if unknown:
                self.untracked.note(function, given, unknown, copies, find)

    def note_read(self, tensor: Tensor, number: Argument) -> None:
        """Note that Python reads a number that is not recorded, and may branch on a truth value or a position."""
        place, part = self.places.find(), self.untracked.part(tensor)
        if not isinstance(number, float | complex):
            if part is not None:
                self._branches = [*self._branches, (part, number, place)][-MOST_BRANCHES:]
        elif self._is_untracked(place) or part is not None:
            self.decisions.note_numbers_leaving("item", [tensor], place)

    def forget_untracked(self) -> None:
        """Forget how constants were made, as a leaf has changed: they are no function of what it is now."""
        self.untracked.clear()
        self._put_off.clear()
        self._branches.clear()

    def may_follow(self, tensor: Tensor) -> bool:
        """Tell whether a tensor may hold a value that follows from leaves, by calls that are not recorded too."""
        return self.is_known(tensor) or self.untracked.part(tensor) is not None or self.leaf_of(tensor) is not None

    def _is_deferred(self, tensor: Tensor) -> bool:
        return self.untracked.part(tensor) is not None

    def _leaf(self, name: str, tensor: Tensor, *, is_argument: bool = False, is_made: bool = False) -> Atom:
        if not tensor.requires_grad and (part := self.untracked.part(tensor)) is not None:
            self._put_off[name] = part
        return super()._leaf(name, tensor, is_argument=is_argument, is_made=is_made)

    # -- when a pass is judged

    def record_late(self, output: Atom, moving: Collection[Atom]) -> list[str]:
        """Record how constants are made that follow from what a pass is by, and hold them constant, as autograd does.

        Args:
            output: The value that the pass begins at.
            moving: The values that it is by.

        Returns:
            The names of constants that may follow from these values, but cannot be recorded.
        """
        self.lines.instead.clear()
        for part, number, place in self._branches:
            with contextlib.suppress(Exception):  # whatever a call raises on its second run, or its recording
                self._record_branch(part, number, place, moving)
        unseen, done = list[str](), set[str]()
        conditions = [guard.condition for guard in self.decisions.guards]
        while names := [one for one in self._constants_of([*conditions, output]) if one not in done]:
            done.update(names)
            unseen += [name for name in names if not self._is_recorded(name, moving)]
        return unseen

    def _constants_of(self, atoms: Sequence[Atom]) -> list[str]:
        """List the constants that values are made of and that were made by calls which were put off."""
        return [name for name in self.lines.program(atoms).names if name in self._put_off] if self._put_off else []

    def _is_recorded(self, name: str, moving: Collection[Atom]) -> bool:
        """Record how a constant is made, if it follows from some values; tell whether that is known."""
        with contextlib.suppress(Exception):  # whatever a call raises on its second run, or its recording
            part = self._put_off[name]
            try:
                calls = calls_behind(part)
                if self._follows_from(calls, moving):
                    self._hold(name, self._run_again(part, calls), calls[-1].where)
            except StaleError:
                pass
            return True
        return False

    def _record_branch(self, part: MemoryView, number: int, place: CallPlace, moving: Collection[Atom]) -> None:
        """Record the decision by a number, if a few calls make it."""
        calls = calls_behind(part)
        if len(calls) <= MOST_OF_BRANCH and self._follows_from(calls, moving):
            found = self._run_again(part, calls)
            if isinstance(number, bool) and found in self._values:
                condition = self._value(found, place)
                self.decisions.guards.append(DecidedValue(condition, str(place), branch=number, is_late=True))

    def _follows_from(self, calls: Sequence[UntrackedCall], moving: Collection[Atom]) -> bool:
        """Tell whether calls were given what follows from some values."""
        atoms, place = list[Atom](), self.places.find()
        for given in given_to(calls):
            leaf = self.leaf_of(given.tensor)
            if leaf is None and given.tensor not in self._values:
                raise NotRepeatableError
            atoms.append(self._value(given.tensor if leaf is None else leaf, place))
        _, reached = self.lines.context.builder.backward_slice(*atoms, known=moving)
        return not reached.isdisjoint(moving)

    def _run_again(self, part: MemoryView, calls: Sequence[UntrackedCall]) -> Tensor:
        """Run the calls that a tensor is made of again, and record them.

        Raises:
            NotRepeatableError: They make whole numbers in a way that is not known.
        """
        here, lost = self.places.find(), [*self.decisions.lost]

        def run(call: UntrackedCall, args: Argument, kwargs: Argument) -> Argument:
            self.places = _OnePlace(replace(here, where=call.where.where))
            return Recorder.dispatch(self, call.function, args, kwargs or {})

        with self._recording_late():
            found = repeated(part, calls, run)
        if len(self.decisions.lost) > len(lost):
            self.decisions.lost = lost
            raise NotRepeatableError
        return found

    def _hold(self, name: str, found: Tensor, place: CallPlace) -> None:
        """Put the value of a tensor, held constant, in the place of a constant.

        Raises:
            NotRepeatableError: The tensor holds other numbers than the constant.
        """
        leaf = self.leaves[name]
        _require_same(found, leaf)
        if found not in self._values:
            return
        atom, variable = self._value(found, place), self.lines.variables[name]
        self.named[atom] = name, leaf.tensor
        if found.is_floating_point():
            held = self._hold_constant(self.lines.number(atom), place)
            self.named[held] = name, leaf.tensor
            self.lines.instead[variable] = held
        else:  # the variable is a number, and its value is a condition on it
            self.lines.instead[self.lines.emit("ne", [variable, 0])] = atom

    @contextlib.contextmanager
    def _recording_late(self) -> Iterator[None]:
        """Record the calls of a block, although a pass is judged, and raise what is wrong with them."""
        places, pauses, self._pauses, self.is_late = self.places, self._pauses, 0, True
        try:
            with torch.inference_mode(False), torch.no_grad():
                yield
        finally:
            self.places, self._pauses, self.is_late = places, pauses, False

    def operand(self, tensor: Tensor, place: CallPlace) -> Atom:
        """Give the value that a tensor holds; of calls that are run again, only what they give is held constant."""
        return self._value(tensor, place) if self.is_late else super().operand(tensor, place)

    def follows(self, tensor: Tensor) -> bool:
        """Tell whether a tensor holds a value that follows from leaves, among calls that are run again."""
        return self.is_late and tensor in self._values


def _require_same(found: Tensor, leaf: Leaf) -> None:
    with torch_internals.without_dispatch(), torch_internals.without_functions():
        is_same = found.shape == leaf.value.shape and found.dtype is leaf.value.dtype
        if not (is_same and torch.allclose(found, leaf.value, equal_nan=True)):
            raise NotRepeatableError

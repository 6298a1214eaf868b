"""Every call of torch while a function runs, and what becomes of its tensors.

A tensor is known by its identity.  What no recorded call made was there before (weights, data), or came from outside
of torch: it is a constant of the recording.  A call that changes a tensor in place makes a new value of it, and of each
view that shares its memory; what autograd does not know to share it is out of date from then on, and may not be used.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.recording import call_kinds
from gradcli.recording.items import Item
from gradcli.recording.loading import is_of_user
from gradcli.recording.memory import NOWHERE, are_followed, is_own, memory, merged, places_in, version
from gradcli.recording.positions import distinct
from gradcli.recording.spelling import last, path_of
from gradcli.recording.tensor_names import Names
from gradcli.recording.values import Application, Guard, Leaf, Ref, Step, Where, copied, replaced, tensors_in, within

MOST_STEPS = 100_000
"""Calls of one recording."""


@dataclass
class _Known:
    """What is known of a tensor: its value, its version then, and where it became out of date."""

    tensor: Tensor  # held, so that no other tensor has its identity
    ref: Ref
    version: int
    changed: Where | None = None


class Recorder(torch.overrides.TorchFunctionMode):
    """Records while it is entered.

    Args:
        names: What names the tensors that it is not given.
        dtype: Of its floating-point arguments; None of a script, which has none.

    Attributes:
        values: Leaves and steps, by their numbers.
        guards: What Python decided by.
        masks: What decided which elements were taken or counted.
        applications: Of `autograd.Function`.
        remarks: What to know of the recording.
        changed: Tensors found elsewhere that the function changes.
    """

    def __init__(self, names: Names, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype
        self.names = names
        self.values: list[Leaf | Step] = []
        self.guards: list[Guard] = []
        self.masks: list[Guard] = []
        self.applications: list[Application] = []
        self.remarks: dict[str, None] = {}
        self._known: dict[int, _Known] = {}
        self._new: dict[int, tuple[Tensor, tuple[str, Any, Any] | None]] = {}
        self._frames: dict[int, tuple[FrameType, int]] = {}  # held, so that no other has its identity
        self._of_arguments: set[int] = set()
        self._generators: dict[int, tuple[torch.Generator, Tensor]] = {}
        self._positions: dict[int, tuple[Tensor, str, Sequence[Any], Mapping[str, Any]]] = {}
        self._first_node = call_kinds.next_node()
        self.changed: list[Tensor] = []

    def give(self, arguments: Mapping[str, Tensor]) -> None:
        """The tensors that the function is given, by name."""
        for name, tensor in arguments.items():
            self._hold(tensor, Leaf(name, tensor, copied(tensor), is_argument=True))

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run a call, and record it if it made a tensor from tensors."""
        kwargs = kwargs or {}
        path = path_of(function)
        tensors = list(tensors_in((args, kwargs)))
        if path in call_kinds.PASSES:
            return self._passed(path, function, args, kwargs)
        for generator in within((args, dict(kwargs)), torch.Generator):
            self._generators.setdefault(id(generator), (generator, generator.get_state()))
        name = last(path)
        if not tensors or name in call_kinds.OF_SIZES:
            found = self._made(function(*args, **kwargs), (path, args, kwargs) if path in call_kinds.SOURCES else None)
            return found.zero_() if name in call_kinds.UNFILLED and isinstance(found, torch.Tensor) else found
        if path.endswith((".grad.__get__", ".grad.__set__", "._backward_hooks.__set__")):
            return self._made(function(*args, **kwargs))
        frame, where, custom = self._frame()
        self._learn_names(frame)
        for tensor in tensors:
            self._decide_by(tensor, where)
        before = None
        if path.endswith(("requires_grad.__set__", "requires_grad_")):
            was_constant, found = not tensors[0].requires_grad, function(*args, **kwargs)
            if was_constant and custom is None and tensors[0].requires_grad:
                self._began(tensors[0], frame)
            return found
        if path.rpartition(".")[2] in call_kinds.READS or name in ("bool", "is_nonzero"):
            found = function(*args, **kwargs)
            for tensor in tensors:
                if self.ref(tensor) is not None:  # else a constant, wherever it goes
                    self._read(path.rpartition(".")[2], self._ref(tensor, frame, where, custom), found, where, custom)
            return Item(found, tensors[0]) if path.endswith(".item") and isinstance(found, float) else found
        leaves = call_kinds.updated_leaves(path, args)
        if leaves:
            for leaf in leaves:
                self._known.pop(id(leaf), None)
            return function(*args, **kwargs)
        changed = call_kinds.changed_by(path, args, kwargs, where)
        if changed is not None or call_kinds.may_give_tensors(path):
            for tensor in tensors:
                self._ref(tensor, frame, where, custom)  # as it is before the call
            before = {id(tensor): self._known[id(tensor)].ref for tensor in tensors}
        state = torch.get_rng_state() if name in call_kinds.DROPOUTS and kwargs.get("training", True) else None
        found = function(*args, **kwargs)
        if before is None:
            if any(True for _ in tensors_in(found)):
                raise AssertionError(f"{path} gives tensors")
            return found
        if custom is not None and (name == "detach" or path.endswith(".data.__get__")):
            self._known[id(found)] = _Known(found, before[id(tensors[0])], version(found))  # nothing is followed here
            return found
        if state is not None:
            self._dropped(function, args, kwargs, state, found, where, custom)
        else:
            self._record(path, args, kwargs, found, changed, where, custom, before)
        return found

    def _passed(self, path: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A backward pass inside of the function: gradients that are differentiated again are recorded, others not."""
        found = function(*args, **kwargs)
        if kwargs.get("create_graph") and path.endswith(".grad"):
            frame, where, custom = self._frame()
            before = {id(tensor): self._ref(tensor, frame, where, custom) for tensor in tensors_in((args, kwargs))}
            self._record("torch.autograd.grad", args, kwargs, found, None, where, custom, before)
            return found
        return self._made(found)

    def _made(self, found: Any, call: tuple[str, Any, Any] | None = None) -> Any:
        """What a call made from no tensors: a constant where it is used, and made anew in each run."""
        for tensor in tensors_in(found):
            self._new[id(tensor)] = tensor, call
        return found

    # -- what is asked of the recording

    def ref(self, tensor: Tensor) -> Ref | None:
        """The value that a tensor holds; None if no recorded call made it."""
        return self._known[id(tensor)].ref if id(tensor) in self._known else None

    def restore(self, but: Container[str]) -> None:
        """Give what the function found elsewhere the numbers that it had, such as running means, and generators too."""
        for generator, state in self._generators.values():
            generator.set_state(state)
        for value in self.values:
            is_found = isinstance(value, Leaf) and not value.is_argument and not value.is_made
            if isinstance(value, Leaf) and is_found and value.name not in but and value.put_back():
                self.changed.append(value.tensor)

    def forget(self) -> None:
        """Begin anew: every tensor is a constant from here on."""
        self.values, self.guards, self.masks, self.applications, self.remarks = [], [], [], [], {}
        self._known, self._new, self._frames, self._positions, self._of_arguments = {}, {}, {}, {}, set()
        self._first_node = call_kinds.next_node()
        self.names = Names(self.names.function, ())

    def tensors(self) -> dict[int, Tensor]:
        """The tensors that hold values, by the numbers of these."""
        return {known.ref.number: known.tensor for known in self._known.values()}

    def leaves(self) -> Iterator[tuple[Ref, Leaf]]:
        """The values that no step made."""
        return ((Ref(n), value) for n, value in enumerate(self.values) if isinstance(value, Leaf))

    # -- recording

    def _record(
        self,
        path: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        found: Any,
        changed: Tensor | None,
        where: Where | None,
        custom: int | None,
        before: Mapping[int, Ref],
    ) -> None:
        def held(value: Any) -> Any:
            return replaced(value, torch.Tensor, lambda tensor: before[id(tensor)])

        result = found if changed is None else changed
        parts: list[tuple[int | None, Tensor]] = []
        if isinstance(result, torch.Tensor):
            parts.append((None, result))
        elif isinstance(result, tuple | list):
            parts += [(n, one) for n, one in enumerate(result) if isinstance(one, torch.Tensor)]
        inputs = [ref.number for ref in before.values()]
        is_of_arguments = not self._of_arguments.isdisjoint(inputs)
        made = [one for _, one in parts]
        masks = [one for one in tensors_in((args, kwargs)) if one.dtype is torch.bool]
        is_of_arguments &= len(masks) < len(before)  # a mask has the numbers 0 and 1 in any dtype
        is_alone = all(self._is_made(n) for n in inputs)
        if not is_alone and call_kinds.is_in_other_dtype(self.dtype, made, is_of_arguments=is_of_arguments):
            is_alone = True
            self._decided(masks, where)
        if last(path) in call_kinds.RANDOM or is_alone:
            self._made(found)
            if changed is not None:
                self._known.pop(id(changed), None)
            return
        if changed is not None and custom is None:
            call_kinds.require_followed(changed, where)
        assigned = call_kinds.assignment(path, args, kwargs, found)
        if assigned is not None:
            given = assigned.given
            if is_own(assigned.tensor, assigned.key, given):
                self._count(assigned.tensor)  # as Python does behind `y[0] += 1`
            else:
                before_it = before[id(args[0])]
                self._assigned(assigned.tensor, assigned.key, held(given), before_it, where, custom)
            return
        if last(path) in ("getitem", "masked_select"):
            path, args = "torch.Tensor.__getitem__", [args[0], self._without_masks(args[1], where)]
        recorded = torch.is_grad_enabled() or custom is not None
        before = {**before, **{id(one): self._known[id(one)].ref for one in tensors_in(args)}}
        arguments, keywords = held(tuple(args)), {key: held(value) for key, value in kwargs.items() if key != "out"}
        for part, tensor in parts:
            is_known = id(tensor) in before and changed is None
            if not (is_known or tensor.dtype.is_floating_point or tensor.dtype is torch.bool):
                self._decided(masks, where)  # as of (x > 0).sum()
                self._positions[id(tensor)] = tensor, last(path), args, kwargs
            if is_known or not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype is torch.bool):
                continue  # the tensor itself, or whole numbers, which are constants where they are used
            step = Step(path, arguments, keywords, part, not recorded, where, copied(tensor), custom=custom)
            self._hold(tensor, step, stale=where if changed is not None else None)

    def _is_made(self, number: int) -> bool:
        """Whether a value is a constant that the function made itself."""
        value = self.values[number]
        return value.is_made if isinstance(value, Leaf) else value.path in call_kinds.SOURCES

    def _assigned(
        self, changed: Tensor, key: Any, given: Any, before: Ref, where: Where | None, custom: int | None
    ) -> None:
        """`y[key] = given`: the new elements at these places, and those of before elsewhere."""
        shape = tuple(changed.shape)
        if isinstance(given, Ref) and self.values[given.number].value.numel() > 1:
            places = torch.full(shape, NOWHERE, dtype=torch.int64)
            size = tuple(places[key].shape)
            places[key] = torch.arange(math.prod(size)).reshape(size)
            value = self.values[given.number].value.expand(size)
            step = Step("torch.Tensor.expand", (given, *size), {}, None, False, where, value, custom=custom)
            is_part = bool((places == NOWHERE).any())
            wide = given if is_part and self.values[given.number].value.shape == size else self._hold(value, step)
            ref = self._from_places(wide, places, before, where, custom)
            self._hold_again(changed, ref, where, custom)
            return
        is_new = torch.zeros(shape, dtype=torch.bool)
        is_new[key] = True
        path, arguments = "torch.where", (self._constant("is_new", is_new), given, before)
        if isinstance(given, Ref) and bool(is_new.all()):
            path, arguments = "torch.Tensor.expand", (given, *shape)
        step = Step(path, arguments, {}, None, False, where, copied(changed), custom=custom)
        self._hold(changed, step, stale=where)

    def _hold_again(self, changed: Tensor, ref: Ref, where: Where | None, custom: int | None) -> None:
        """A tensor that was changed in place holds a value that there is already."""
        self._known[id(changed)] = _Known(changed, ref, version(changed))
        self._spread(changed, ref, where, custom)

    def _without_masks(self, key: Any, where: Where | None) -> Any:
        """An index with the places in place of each mask, which is decided here, and of each tensor of one number."""
        items = key if isinstance(key, tuple) else (key,)
        found: list[Any] = []
        for item in items:
            if isinstance(item, torch.Tensor) and item.dtype is torch.bool:
                places = item.nonzero(as_tuple=True)
                for place in places:
                    self._constant("place", place)
                found += places
                at = "" if where is None else f" ({where})"
                taken = f"{int(item.sum())} of {item.numel()} elements"
                self.remarks.setdefault(f"a mask took {taken}{at}; the answer is of these")
                self._decided([item], where)
            else:
                found.append(int(item) if isinstance(item, torch.Tensor) and not item.ndim else item)
        return tuple(found) if len(found) > 1 or isinstance(key, tuple) else found[0]

    def _decided(self, masks: Sequence[Tensor], where: Where | None, shown: str = "") -> None:
        """Masks that something depends on which is a constant of the recording."""
        self.masks += [Guard(self._known[id(m)].ref, True, where, shown) for m in masks if id(m) in self._known]

    def _decide_by(self, tensor: Tensor, where: Where | None) -> None:
        """What is used as positions, such as those of argmax, which are others where values tie."""
        if (chosen := self._positions.pop(id(tensor), None)) is not None:
            with self:
                values_differ = distinct(*chosen[1:])
            self._decided([] if values_differ is None else [values_differ], where, f"what {chosen[1]}() gives")

    def _constant(self, name: str, tensor: Tensor) -> Ref:
        """A tensor that the recording needs beside those of the function."""
        return self._hold(tensor, Leaf(self.names.free(name), tensor, tensor, is_argument=False, is_made=True))

    def _dropped(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        state: Tensor,
        found: Tensor,
        where: Where | None,
        custom: int | None,
    ) -> None:
        """Dropout as a product with what it drew: ones go through it with the same random state."""
        ref = self._constant("dropped", call_kinds.drawn(function, args, kwargs, state))
        self.remarks.setdefault("what dropout drew is a constant of the recording")
        step = Step(
            "torch.Tensor.mul", (self._known[id(args[0])].ref, ref), {}, None, False, where, copied(found), "", custom
        )
        self._hold(found, step)

    def _hold(self, tensor: Tensor, value: Leaf | Step, *, stale: Where | None = None) -> Ref:
        inside = [value.arguments, dict(value.keywords)] if isinstance(value, Step) else []
        if (isinstance(value, Leaf) and value.is_argument) or any(
            ref.number in self._of_arguments for ref in within(inside, Ref)
        ):
            self._of_arguments.add(len(self.values))
        if len(self.values) >= MOST_STEPS:
            raise InputError(f"the function makes more than {MOST_STEPS:,} calls of torch", hint="record a part of it")
        ref = Ref(len(self.values))
        self.values.append(value)
        self._known[id(tensor)] = _Known(tensor, ref, version(tensor))
        if stale is not None:
            self._spread(tensor, ref, stale, value.custom if isinstance(value, Step) else None)
        return ref

    def _count(self, changed: Tensor) -> None:
        """A tensor was changed, and holds what is known of it all the same."""
        for known in self._known.values():
            if memory(known.tensor) == memory(changed):
                known.version = version(known.tensor)

    def _spread(self, changed: Tensor, ref: Ref, where: Where | None, custom: int | None) -> None:
        """Change what shares memory with a tensor that was changed in place."""
        self._count(changed)
        for known in list(self._known.values()):
            other = known.tensor
            if other is changed or memory(other) != memory(changed):
                continue
            places = places_in(changed, other)
            if places is None and other.dtype is changed.dtype:
                continue
            if other.is_leaf and other.requires_grad:
                del self._known[id(other)]  # a new value from now on, as after the step of an optimizer
            elif places is None or (custom is None and not are_followed(changed, other)):
                known.changed = where or Where("", 0)
            else:
                known.ref = self._from_places(ref, places, known.ref, where, custom)

    def _from_places(self, ref: Ref, places: Tensor, before: Ref, where: Where | None, custom: int | None) -> Ref:
        """The elements of a value at some flat places of it, and those of before where there is no place."""

        def step(path: str, *arguments: Any) -> Ref:
            given = [self.values[one.number].value if isinstance(one, Ref) else one for one in arguments]
            value = call_kinds.called(path, given)
            return self._hold(value, Step(path, arguments, {}, None, False, where, value, custom=custom))

        shape = tuple(self.values[ref.number].value.shape)
        return merged(ref, shape, places, before, step, self._constant)

    def _began(self, tensor: Tensor, frame: FrameType | None) -> None:
        """A tensor that autograd follows from here on, as a leaf of its graph: a constant of the recording."""
        if id(tensor) in self._known:
            name = self.names.of(tensor, frame)
            self._hold(tensor, Leaf(name, tensor, copied(tensor), is_argument=False, is_made=True))

    def _ref(self, tensor: Tensor, frame: FrameType | None, where: Where | None, custom: int | None = None) -> Ref:
        known = self._known.get(id(tensor))
        if known is not None and known.changed is None and known.version != version(tensor):
            value = self.values[known.ref.number]  # a call that is not seen changed it, or it was marked dirty
            if isinstance(value, Step) and value.custom is not None and custom is None:
                known.version = version(tensor)
            elif not tensor.is_leaf:
                raise InputError(f"a tensor is used ({where}) that was changed in place by what is not recorded")
            else:
                del self._known[id(tensor)]
                known = None
        if known is not None and known.changed is not None:
            raise InputError(
                f"a tensor is used ({where}) whose memory another one changed in place ({known.changed})",
                hint="record it with .clone() before what changes it",
            )
        if known is None:
            call_kinds.require_outside_of_func(tensor, where)
            is_new = id(tensor) in self._new
            if not is_new:
                self.require_seen(tensor, where)
            is_made = is_new and (tensor.grad_fn is not None or not tensor.requires_grad)
            source = self._new[id(tensor)][1] if is_made else None
            if source is not None and tensor.is_floating_point() and not tensor._version:
                path, args, kwargs = source
                return self._hold(tensor, Step(path, tuple(args), kwargs, None, False, where, copied(tensor)))
            leaf = Leaf(self.names.of(tensor, frame), tensor, copied(tensor), is_argument=False, is_made=is_made)
            return self._hold(tensor, leaf)
        return self._as_outside(known, custom)

    def require_seen(self, tensor: Tensor, where: Where | None = None) -> None:
        """Refuse a tensor that autograd follows and that was made meanwhile by no recorded call."""
        call_kinds.require_made_before(tensor, self._first_node, where)

    def _as_outside(self, known: _Known, custom: int | None) -> Ref:
        """A value; of what the forward of a custom function marks as non-differentiable, a constant outside of it."""
        value = self.values[known.ref.number]
        if (
            custom is not None
            or not isinstance(value, Step)
            or value.custom is None
            or known.tensor.requires_grad
            or not known.tensor.is_floating_point()
            or not torch.is_grad_enabled()
            or not any(one.requires_grad for one in self.applications[value.custom].tensors)
        ):
            return known.ref
        known.ref = self._hold(known.tensor, replace(value, is_detached=True, name="", custom=None))
        return known.ref

    def _read(self, name: str, ref: Ref, found: Any, where: Where | None, custom: int | None) -> None:
        value = self.values[ref.number]
        if name in ("__bool__", "is_nonzero"):
            self.guards.append(Guard(ref, bool(found), where))
        elif isinstance(value, Step) or value.is_argument:
            at, called = "" if where is None else f" ({where})", name.strip("_")
            if custom is not None and name not in call_kinds.WHOLE and value.value.is_floating_point():
                raise InputError(
                    f"numbers leave torch by {called}(){at} in a forward of an autograd.Function: "
                    "its derivative is not known",
                    hint="compute with functions of torch there",
                )
            self.remarks.setdefault(
                f"numbers leave torch by {called}(){at}: what is computed from them is a constant, as for autograd"
            )

    # -- where a call comes from

    def _frame(self) -> tuple[FrameType | None, Where | None, int | None]:
        """The line of the user's that makes a call, and the `autograd.Function` in whose forward it is."""
        frame: FrameType | None = sys._getframe(2)
        own: FrameType | None = None
        custom = None
        while frame is not None:
            if own is None and is_of_user(frame.f_code.co_filename):
                own = frame
            if frame.f_code is _APPLY and custom is None:
                custom = self._application(frame)
            frame = frame.f_back
        return own, _where(own), custom

    def _application(self, frame: FrameType) -> int:
        if id(frame) not in self._frames:
            outer = frame.f_back
            while outer is not None and not is_of_user(outer.f_code.co_filename):
                outer = outer.f_back
            where = _where(outer)
            given = frame.f_locals["args"]
            tensors = tuple(tensors_in(given))
            arguments = replaced(given, torch.Tensor, lambda tensor: self._ref(tensor, outer, where))
            self._frames[id(frame)] = frame, len(self.applications)
            self.applications.append(Application(frame.f_locals["cls"], tuple(arguments), where, tensors))
        return self._frames[id(frame)][1]

    def _learn_names(self, frame: FrameType | None) -> None:
        """Remember what the user's code calls the values that are there."""
        for name, value in () if frame is None else frame.f_locals.items():
            known = self._known.get(id(value)) if isinstance(value, torch.Tensor) else None
            step = None if known is None else self.values[known.ref.number]
            if isinstance(step, Step) and not step.name and name.isidentifier():
                step.name = self.names.free(name)


_APPLY = torch.autograd.Function.apply.__func__.__code__  # type: ignore[attr-defined]
"""What runs while a custom function is applied; a name for it may have been taken before, as `f = F.apply`."""


def _where(frame: FrameType | None) -> Where | None:
    return None if frame is None else Where(frame.f_code.co_filename, frame.f_lineno)

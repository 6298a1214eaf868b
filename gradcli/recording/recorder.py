"""Every call of torch while a function runs, and what becomes of its tensors.

A tensor is known by its identity.  What no recorded call made was there before (weights, data), or came from outside
of torch: it is a constant of the recording.  A call that changes a tensor in place makes a new value of it; what shares
its memory is out of date from then on, and may not be used.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.recording.loading import is_of_user
from gradcli.recording.spelling import last, path_of
from gradcli.recording.tensor_names import Names
from gradcli.recording.values import Application, Guard, Leaf, Ref, Step, Where, replaced, within

MOST_STEPS = 100_000
"""Calls of one recording."""

_READS = frozenset("float int index complex item tolist numpy array".split())
"""Methods that give numbers, which autograd does not follow."""

_RANDOM = frozenset("rand_like randn_like randint_like bernoulli multinomial normal poisson".split())
"""Functions of tensors whose result is drawn, and a constant to autograd."""

_PASSES = frozenset(["torch.Tensor.backward", "torch.autograd.grad", "torch.autograd.backward"])
"""What goes back through the graph."""

_SOURCES = frozenset(f"torch.{name}" for name in "zeros ones eye full".split())
"""Functions of sizes that the language has, with the same numbers."""

_DROPOUTS = frozenset(
    "dropout alpha_dropout feature_dropout feature_alpha_dropout dropout1d dropout2d dropout3d".split()
)

_IN_PLACE = {"iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "div", "ipow": "pow", "imatmul": "matmul"}


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
        applications: Of `autograd.Function`.
        remarks: What to know of the recording.
    """

    def __init__(self, names: Names, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype
        self.names = names
        self.values: list[Leaf | Step] = []
        self.guards: list[Guard] = []
        self.applications: list[Application] = []
        self.remarks: dict[str, None] = {}
        self._known: dict[int, _Known] = {}
        self._new: dict[int, tuple[Tensor, tuple[str, Any, Any] | None]] = {}
        self._frames: dict[int, tuple[FrameType, int]] = {}  # held, so that no other has its identity
        self._of_arguments: set[int] = set()

    def give(self, arguments: Mapping[str, Tensor]) -> None:
        """The tensors that the function is given, by name."""
        for name, tensor in arguments.items():
            self._hold(tensor, Leaf(name, tensor, _copied(tensor), is_argument=True))

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
        tensors = list(_tensors((args, kwargs)))
        if path in _PASSES:
            return self._passed(path, function, args, kwargs)
        if not tensors:
            return self._made(function(*args, **kwargs), (path, args, kwargs) if path in _SOURCES else None)
        name = last(path)
        if path.endswith(("grad.__get__", "grad.__set__", "requires_grad.__set__")):
            return self._made(function(*args, **kwargs))
        frame, custom = self._frame()
        where = None if frame is None else Where(frame.f_code.co_filename, frame.f_lineno)
        self._learn_names(frame)
        before = None
        if name in _READS or name == "bool":
            found = function(*args, **kwargs)
            if self.ref(tensors[0]) is not None:  # else a constant, wherever it goes
                self._read(name, self._ref(tensors[0], frame, where), found, where)
            return found
        if self._updates_leaves(path, args):
            return function(*args, **kwargs)
        changed = self._changed(path, args, kwargs)
        if changed is not None or self._may_give_tensors(path):
            for tensor in tensors:
                self._ref(tensor, frame, where)  # as it is before the call
            before = {id(tensor): self._known[id(tensor)].ref for tensor in tensors}
        state = torch.get_rng_state() if name in _DROPOUTS and kwargs.get("training", True) else None
        found = function(*args, **kwargs)
        if before is None:
            if any(True for _ in _tensors(found)):
                raise AssertionError(f"{path} gives tensors")
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
            frame, custom = self._frame()
            where = None if frame is None else Where(frame.f_code.co_filename, frame.f_lineno)
            before = {id(tensor): self._ref(tensor, frame, where) for tensor in _tensors((args, kwargs))}
            self._record("torch.autograd.grad", args, kwargs, found, None, where, custom, before)
            return found
        return self._made(found)

    def _made(self, found: Any, call: tuple[str, Any, Any] | None = None) -> Any:
        """What a call made from no tensors: a constant where it is used, and made anew in each run."""
        for tensor in _tensors(found):
            self._new[id(tensor)] = tensor, call
        return found

    # -- what is asked of the recording

    def ref(self, tensor: Tensor) -> Ref | None:
        """The value that a tensor holds; None if no recorded call made it."""
        known = self._known.get(id(tensor))
        return None if known is None else known.ref

    def restore(self, but: Container[str]) -> None:
        """Give what the function found elsewhere the numbers that it had, such as running means."""
        for value in self.values:
            is_found = isinstance(value, Leaf) and not value.is_argument and not value.is_made
            if isinstance(value, Leaf) and is_found and value.name not in but:
                value.put_back()

    def forget(self) -> None:
        """Begin anew: every tensor is a constant from here on."""
        self.values, self.guards, self.applications, self.remarks = [], [], [], {}
        self._known, self._new, self._frames, self._of_arguments = {}, {}, {}, set()
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

        results = [found] if changed is None else [changed]
        parts: list[tuple[int | None, Tensor]] = []
        for result in results:
            if isinstance(result, torch.Tensor):
                parts.append((None, result))
            elif isinstance(result, tuple | list):
                parts += [(n, one) for n, one in enumerate(result) if isinstance(one, torch.Tensor)]
        inputs = [ref.number for ref in before.values()]
        is_of_arguments = not self._of_arguments.isdisjoint(inputs)
        is_alone = all(_is_made(self.values[n]) for n in inputs) or self._is_in_other_dtype(parts, is_of_arguments)
        if last(path) in _RANDOM or is_alone:
            self._made(found)
            if changed is not None:
                self._known.pop(id(changed), None)
            return
        if changed is not None and last(path) == "setitem":
            self._assigned(changed, args[1], held(args[2]), before[id(changed)], where, custom)
            return
        if last(path) in ("getitem", "masked_select"):
            path, args = "torch.Tensor.__getitem__", [args[0], self._without_masks(args[1], where)]
        recorded = torch.is_grad_enabled() or custom is not None
        before = {**before, **{id(one): self._known[id(one)].ref for one in _tensors(args)}}
        arguments, keywords = held(tuple(args)), {key: held(value) for key, value in kwargs.items() if key != "out"}
        for part, tensor in parts:
            is_known = id(tensor) in before and changed is None
            if is_known or not (tensor.is_floating_point() or tensor.dtype is torch.bool):
                continue  # the tensor itself, or whole numbers, which are constants where they are used
            step = Step(path, arguments, keywords, part, not recorded, where, _copied(tensor), custom=custom)
            self._hold(tensor, step, stale=where if changed is not None else None)

    def _is_in_other_dtype(self, parts: Sequence[tuple[int | None, Tensor]], is_of_arguments: bool) -> bool:
        """Whether numbers are computed in another dtype than the arguments have: if not from these, they are constants.

        Raises:
            WrongDtypeError: They are computed from the arguments.
        """
        for _, tensor in parts:
            if self.dtype is not None and tensor.is_floating_point() and tensor.dtype is not self.dtype:
                if is_of_arguments:
                    raise WrongDtypeError(str(tensor.dtype).removeprefix("torch."))
                return True
        return False

    def _assigned(
        self, changed: Tensor, key: Any, given: Any, before: Ref, where: Where | None, custom: int | None
    ) -> None:
        """`y[key] = given`: the new elements at these places, and those of before elsewhere."""
        shape = tuple(changed.shape)
        is_new = torch.zeros(shape, dtype=torch.bool)
        is_new[key] = True
        ref = self._constant("is_new", is_new)
        if isinstance(given, Ref) and self.values[given.number].value.numel() > 1:
            places = torch.zeros(shape, dtype=torch.int64)
            size = tuple(places[key].shape)
            places[key] = torch.arange(math.prod(size)).reshape(size)
            from_value = self._constant("place", places)
            for name, others in (("expand", size), ("reshape", (-1,)), ("__getitem__", (from_value,))):
                operands = [places if one is from_value else one for one in others]
                value = getattr(torch.Tensor, name)(self.values[given.number].value, *operands)
                step = Step(f"torch.Tensor.{name}", (given, *others), {}, None, False, where, value, custom=custom)
                given = self._hold(value, step)
        step = Step("torch.where", (ref, given, before), {}, None, False, where, _copied(changed), custom=custom)
        self._hold(changed, step, stale=where)

    def _without_masks(self, key: Any, where: Where | None) -> Any:
        """An index with the places in place of each mask, which is decided here."""
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
            else:
                found.append(item)
        return tuple(found) if len(found) > 1 or isinstance(key, tuple) else found[0]

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
        x, *rest = args
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        with torch.no_grad():
            mask = function(torch.ones_like(x), *rest, **{**kwargs, "inplace": False})
        torch.set_rng_state(after)
        ref = self._constant("dropped", mask)
        self.remarks.setdefault("what dropout drew is a constant of the recording")
        step = Step(
            "torch.Tensor.mul", (self._known[id(x)].ref, ref), {}, None, False, where, _copied(found), "", custom
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
        if stale is not None:
            place = _memory(tensor)
            for known in self._known.values():
                if known.tensor is not tensor and _memory(known.tensor) == place:
                    known.changed = stale
        self._known[id(tensor)] = _Known(tensor, ref, tensor._version)
        return ref

    def _ref(self, tensor: Tensor, frame: FrameType | None, where: Where | None) -> Ref:
        known = self._known.get(id(tensor))
        if known is not None and known.changed is not None and isinstance(self.values[known.ref.number], Step | Leaf):
            raise InputError(
                f"a tensor is used ({where}) whose memory another one changed in place ({known.changed})",
                hint="record it with .clone() before what changes it",
            )
        if known is None:
            is_made = id(tensor) in self._new and not tensor.requires_grad
            source = self._new[id(tensor)][1] if is_made else None
            if source is not None and tensor.is_floating_point() and not tensor._version:
                path, args, kwargs = source
                return self._hold(tensor, Step(path, tuple(args), kwargs, None, False, where, _copied(tensor)))
            leaf = Leaf(self.names.of(tensor, frame), tensor, _copied(tensor), is_argument=False, is_made=is_made)
            return self._hold(tensor, leaf)
        return known.ref

    def _read(self, name: str, ref: Ref, found: Any, where: Where | None) -> None:
        value = self.values[ref.number]
        if name == "bool":
            self.guards.append(Guard(ref, bool(found), where))
        elif isinstance(value, Step) or value.is_argument:
            at = "" if where is None else f" ({where})"
            self.remarks.setdefault(
                f"numbers leave torch by {name}(){at}: what is computed from them is a constant, as for autograd"
            )

    def _changed(self, path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor | None:
        """The tensor that a call changes in place."""
        name = path.rpartition(".")[2]
        is_of_itself = (name.endswith("_") and not name.endswith("__")) or name == "__setitem__"
        if isinstance(kwargs.get("out"), torch.Tensor):
            return kwargs["out"]
        is_in_place = kwargs.get("inplace") is True or is_of_itself or name.strip("_") in _IN_PLACE
        if path.endswith(".__set__"):
            raise InputError(f"a tensor's .{path.split('.')[-2]} is set, which is not recorded")
        return (
            args[0] if is_in_place and args and isinstance(args[0], torch.Tensor) and name != "requires_grad_" else None
        )

    def _updates_leaves(self, path: str, args: Sequence[Any]) -> bool:
        """Whether a call changes leaves of the graph in place, as optimizers do: they are new values from then on."""
        name = path.rpartition(".")[2]
        leaves = [one for one in _tensors(args[:1]) if one.is_leaf and one.requires_grad]
        is_in_place = (name.endswith("_") and not name.endswith("__")) or path.endswith("data.__set__")
        if not leaves or not is_in_place or (torch.is_grad_enabled() and not path.endswith("data.__set__")):
            return False
        for leaf in leaves:
            self._known.pop(id(leaf), None)
        return True

    def _may_give_tensors(self, path: str) -> bool:
        name = path.removesuffix(".__get__").rpartition(".")[2]
        return not path.endswith("__get__") or name in ("T", "mT", "H", "mH", "data", "real")

    # -- where a call comes from

    def _frame(self) -> tuple[FrameType | None, int | None]:
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
        return own, custom

    def _application(self, frame: FrameType) -> int:
        if id(frame) not in self._frames:
            outer = frame.f_back
            while outer is not None and not is_of_user(outer.f_code.co_filename):
                outer = outer.f_back
            where = None if outer is None else Where(outer.f_code.co_filename, outer.f_lineno)
            given = frame.f_locals["args"]
            tensors = tuple(_tensors(given))
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


class WrongDtypeError(InputError):
    """A function computes in another dtype than that of its arguments.

    Attributes:
        dtype: The one that it computes in.
    """

    def __init__(self, dtype: str) -> None:
        super().__init__(f"the function computes in {dtype}", hint=f"add --dtype {dtype}")
        self.dtype = dtype


def _is_made(value: Leaf | Step) -> bool:
    """Whether a value is a constant that the function made itself."""
    return value.is_made if isinstance(value, Leaf) else value.path in _SOURCES


def _copied(tensor: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.Tensor.clone(torch.Tensor.detach(tensor))


def _memory(tensor: Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _tensors(value: Any) -> Iterator[Tensor]:
    return within(value, torch.Tensor)

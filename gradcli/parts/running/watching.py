"""Watch over all passes of a script: NaN in weights, gradients that are NaN or 0, parameters that are never trained.

Each look costs a few sums over the leaves of a pass, and over the parameters of an optimizer that takes a step.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any, NamedTuple, Self

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.parts.running.adding_passes import AddingLeaf, holds_gradient, summed, uncleared
from gradcli.parts.running.backward_calls import dense, kinds_in
from gradcli.recording.aten_calls import Argument
from gradcli.recording.places import CallPlace, Places, TensorNames, user_frames
from gradcli.recording.tracking import leaves_of_graph

MOST_NAMES = 10
"""Most tensors that a line names."""


_AS_ADJECTIVE = {"infinity": "infinite", "NaN": "NaN", "0": "0"}


class Since(NamedTuple):
    """The time since when a tensor holds infinity, or NaN.

    Attributes:
        number: The number of the last pass before.
        place: The line that wrote it; empty where an optimizer did, or it is not known.
    """

    number: int
    place: str

    def __str__(self) -> str:
        """Say it after what it is about."""
        return (f"since pass {self.number}" if self.number else "from the start") + self.place


@dataclass
class WatchedTensor:
    """Leaf of passes, or a parameter of an optimizer.

    Attributes:
        name: Its name, as of where it was first seen.
        is_trained: Whether an optimizer has it.
        is_cut_off: Whether a pass began at what is computed from it, and autograd did not go back to it.
        has_gradient: Whether some pass had a gradient by it.
        is_nonzero: Whether some gradient by it was not 0 throughout.
        since: For infinity and for NaN, the last pass before it held some, and the line that wrote it, if it is known.
        adding: What passes add to its `.grad`; None before the first that does.
    """

    name: str
    is_trained: bool = False
    is_cut_off: bool = False
    has_gradient: bool = False
    is_nonzero: bool = False
    since: dict[str, Since] = field(default_factory=dict)
    adding: AddingLeaf | None = None


class Watch:
    """Watch over the leaves of passes and over the parameters of optimizers, while it is entered.

    Attributes:
        passes: How many passes there were.
        inner: How many calls there were that keep a graph to go back through, which are no passes of their own.
        is_stepping: Whether an optimizer takes a step.
    """

    def __init__(self) -> None:
        self.passes = self.inner = 0
        self.is_stepping = False
        self._known = torch.utils.weak.WeakTensorKeyDictionary()
        self._named: list[WatchedTensor] = []  # what is told at the end, which tensors need not reach
        self._adding: list[AddingLeaf] = []
        self._data: dict[str, str] = {}
        self._said = set[str]()
        self._results: dict[int, str] = {}  # names of what is computed from leaves without a name

    def __enter__(self) -> Self:
        """See the steps of all optimizers from here on."""
        optimizers = sys.modules[torch.optim.Optimizer.__module__]
        self._hooks = [
            optimizers.register_optimizer_step_pre_hook(lambda one, *_: self._before_step(one)),
            optimizers.register_optimizer_step_post_hook(lambda one, *_: self._after_step(one)),
        ]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """See no more."""
        for hook in self._hooks:
            hook.remove()
        for one in self._adding:
            with unrecorded():
                one.end()

    # -- optimizers

    def _before_step(self, optimizer: Argument) -> None:
        """Note the gradients that an optimizer is given, whatever made them."""
        self.is_stepping = True
        with unrecorded():
            for name, tensor in self._parameters(optimizer):
                one = self._watched(tensor, name)
                if not one.is_trained:
                    one.is_trained = True
                    self._named.append(one)
                if tensor.grad is not None:
                    one.has_gradient = True
                    one.is_nonzero = one.is_nonzero or bool(dense(tensor.grad).any())

    def _after_step(self, optimizer: Argument) -> None:
        self.is_stepping = False
        with unrecorded():
            for name, tensor in self._parameters(optimizer):
                self._look_for_kinds(tensor, self._watched(tensor, name))

    def _parameters(self, optimizer: Argument) -> Iterator[tuple[Any, Tensor]]:
        naming = _NamesAround(Places().find().frame)
        for group in optimizer.param_groups:
            yield from ((naming, one) for one in group["params"] if one.requires_grad)

    # -- passes

    def leaves(self, output: Argument, inputs: Argument, frame: FrameType | None, *, is_adding: bool) -> list[Tensor]:
        """List the leaves of a pass, and look at their numbers before it.

        Args:
            output: The tensors that the pass begins at.
            inputs: The tensors that it is by; None for all leaves.
            frame: The frame of the user's that makes the pass.
            is_adding: Whether the pass adds to the `.grad` of its leaves.
        """
        found = _listed(inputs) if inputs is not None else list(leaves_of_graph(_listed(output)))
        naming = _NamesAround(frame)
        for one in found:
            watched = self._watched(one, naming)
            self._look_for_kinds(one, watched)
            if is_adding and one.is_leaf:
                if watched.adding is None:
                    watched.adding = AddingLeaf(watched.name)
                    self._adding.append(watched.adding)
                with suppress(RuntimeError, TypeError):  # of tensors without such sums
                    watched.adding.before(one)
        if is_adding and inputs is None and frame is not None:
            self._look_for_results(found, _listed(output), frame)
        return found

    def _look_for_results(self, leaves: Sequence[Tensor], y: Sequence[Tensor], frame: FrameType) -> None:
        """Note what the script calls by a name and is computed from a leaf that has none: it gets no `.grad`."""
        naming = _NamesAround(frame)
        unnamed = [one for one in leaves if one.is_leaf and not naming.is_named(one)]
        for name, tensor in {**frame.f_globals, **frame.f_locals}.items() if unnamed else ():
            if not isinstance(tensor, torch.Tensor) or tensor.grad_fn is None or any(tensor is one for one in y):
                continue
            (leaf, *others) = [*leaves_of_graph([tensor]), None]
            if len(others) != 1 or leaf is None or tensor.retains_grad or tensor.shape != leaf.shape:
                continue
            if any(leaf is one for one in unnamed):
                self._results.setdefault(id(leaf), name)

    def see_cut_off(self, used: Mapping[str, Tensor], y: Sequence[Tensor]) -> None:
        """Note the weights that a pass begins at functions of, and that autograd does not go back to.

        Args:
            used: The tensors that y is computed from, by name.
            y: What the pass begins at.
        """
        reached = {id(one) for one in leaves_of_graph(y)}
        for name, tensor in used.items():
            if tensor.requires_grad and tensor.is_leaf and id(tensor) not in reached:
                one = self._known.get(tensor)
                if one is None:
                    one = self._known[tensor] = WatchedTensor(name)
                if not (one.is_trained or one.is_cut_off):
                    self._named.append(one)
                one.is_cut_off = True

    def look(self, y: Sequence[Tensor], leaves: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> Iterator[str]:
        """Look at a pass that is over: yield what is new in it, in words.

        Args:
            y: What the pass began at.
            leaves: The leaves of the pass.
            gradients: A gradient for each.
        """
        if kinds := self.new(kinds_in(y), "y"):
            yield f"y is {' and '.join(_AS_ADJECTIVE[kind] for kind in kinds)}"
        changes: dict[str, list[str]] = {}
        for leaf, gradient in zip(leaves, gradients, strict=True):
            if gradient is None:
                continue
            one = self._watched(leaf, _NamesAround(None))
            is_zero = not bool(dense(gradient).any())
            if is_zero and one.is_nonzero:
                changes.setdefault("0", []).extend(self.new([one.name], "zero"))
            for kind in kinds_in([gradient]) if not is_zero else ():
                changes.setdefault(kind, []).extend(self.new([one.name], kind))
            one.has_gradient, one.is_nonzero = True, one.is_nonzero or not is_zero
            if one.adding is not None:
                one.adding.held = holds_gradient(leaf)
        for kind, names in changes.items():
            if names:
                yield f"the gradient of {listed(names)} is {_AS_ADJECTIVE[kind]}"

    def new(self, words: Iterable[str], about: str = "") -> list[str]:
        """Give those of some words that were not said before."""
        fresh = [word for word in words if f"{about} {word}" not in self._said]
        self._said.update(f"{about} {word}" for word in fresh)
        return fresh

    def _watched(self, tensor: Tensor, naming: _NamesAround) -> WatchedTensor:
        found: WatchedTensor | None = self._known.get(tensor)
        if found is None:
            found = self._known[tensor] = WatchedTensor(naming.name_of(tensor))
        return found

    def see_changes(self, tensors: Sequence[Tensor], find: Callable[[], CallPlace]) -> None:
        """Look at the leaves among tensors that a line of the script has written to."""
        for tensor in tensors:
            one = self._known.get(tensor)
            if one is not None:
                with unrecorded():
                    self._look_for_kinds(tensor, one, find)

    def _look_for_kinds(self, tensor: Tensor, one: WatchedTensor, find: Callable[[], CallPlace] | None = None) -> None:
        for kind in kinds_in([tensor]):
            if kind not in one.since:
                one.since[kind] = Since(self.passes, "" if find is None else str(find()))
                self._named.append(one)

    def since(self, tensor: Tensor, kind: str) -> str:
        """Say since when a leaf holds infinity, or NaN; empty of one that is not watched."""
        one = self._known.get(tensor)
        return f" {one.since[kind]}" if one is not None and kind in one.since else ""

    # -- data

    def look_at_data(self, tensors: Mapping[str, Tensor], place: CallPlace) -> list[str]:
        """Note the tensors of data that hold NaN, each name once; give the new ones in words."""
        found = []
        for name, tensor in tensors.items():
            if name not in self._data and not tensor.requires_grad and "NaN" in kinds_in([tensor]):
                self._data[name] = f"in pass {self.passes + 1}{place}"
                found.append(f"{name} holds NaN")
        return found

    def data_around(self, frame: FrameType | None) -> dict[str, Tensor]:
        """List the tensors by name that the user's code has around a line, without those that torch computed."""
        found: dict[str, Tensor] = {}
        for one in user_frames(frame):
            for name, value in {**one.f_globals, **one.f_locals}.items():
                if isinstance(value, torch.Tensor) and value.grad_fn is None and not value.requires_grad:
                    found.setdefault(name, value)
        return found

    # -- at the end

    def summary(self) -> Iterator[str]:
        """Say, in a line each, what is wrong with the whole script."""
        trained = [one for one in self._named if one.is_trained]
        some, each = (
            (f"any of the {self.passes} passes", f"each of the {self.passes} passes")
            if self.passes != 1
            else ("the only pass", "the only pass")
        )
        without = [one for one in self._named if not one.has_gradient]
        cut_off = ", as detach() or the like cuts the way back"
        lines = [
            (f"no gradient in {some}", [one for one in without if not one.is_cut_off], ""),
            (f"no gradient in {some}", [one for one in without if one.is_cut_off], cut_off),
            (
                f"a gradient of exactly 0 in {each}",
                [one for one in trained if one.has_gradient and not one.is_nonzero],
                "",
            ),
        ]
        for said, found, why in lines if self.passes else ():
            if names := list(dict.fromkeys(one.name for one in found if one.is_trained or one.is_cut_off)):
                yield f"{said}: {listed(names)}{why}"
        for name in dict.fromkeys(self._results.values()):
            yield (
                f"{name} is not a leaf, and {name}.grad stays None: the gradient is that of the tensor that {name} is"
                f" computed from; {name} = {name}.detach().requires_grad_() makes it one"
            )
        if names := list(uncleared(self._adding)):
            adds, them, also = ("adds", "it", f" or {names[0]}.grad = None") if len(names) == 1 else ("add", "them", "")
            missing = f"zero_grad(){also} is missing before a pass"
            yield f"{listed(names, '.grad')} {adds} up over all passes, since nothing clears {them}: {missing}"
        sums: dict[int, list[str]] = {}
        for most, name in summed(self._adding):
            sums.setdefault(most, []).append(name)
        for most, names in sums.items():
            was, them = ("was", "it") if len(names) == 1 else ("were each", "them")
            yield f"{listed(names, '.grad')} {was} the sum of {most} passes, since nothing cleared {them} in between"
        since: dict[tuple[Since, str], list[str]] = {}
        for one in self._named:
            for kind, when in one.since.items():
                since.setdefault((when, kind), []).append(one.name)
        for (when, kind), held in sorted(since.items(), key=lambda pair: pair[0][0].number):
            names = list(dict.fromkeys(held))
            yield f"{listed(names)} {'is' if len(names) == 1 else 'are'} {_AS_ADJECTIVE[kind]} {when}"
        yield from (f"{name} holds NaN {where}" for name, where in self._data.items())


class _NamesAround:
    """Names of tensors as seen from a line, found when the first is asked for."""

    def __init__(self, frame: FrameType | None) -> None:
        self.frame = frame

    @functools.cached_property
    def _names(self) -> TensorNames:
        return TensorNames(listed, ())

    def is_named(self, tensor: Tensor) -> bool:
        """Tell whether the user's code has a name for a tensor here."""
        return bool(self._names.known_name(tensor, self.frame))

    def name_of(self, tensor: Tensor) -> str:
        """Give the name of a tensor, or its shape where it has none."""
        found = self._names.known_name(tensor, self.frame)
        return found or f"a tensor of shape {list(tensor.shape)}"


def listed(names: Sequence[str], attribute: str = "") -> str:
    """Join the first of several names, with an attribute of each, and count the others."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(f'{name}{attribute}' for name in names[:MOST_NAMES])}{more}"


def _listed(value: Argument) -> list[Tensor]:
    return [one for one in (value if isinstance(value, tuple | list) else [value]) if isinstance(one, torch.Tensor)]


@contextmanager
def unrecorded() -> Iterator[None]:
    """Compute in a block what no recorder sees, and what must not end a script: some tensors have no numbers."""
    with torch_internals.without_dispatch(), torch_internals.without_functions(), torch.no_grad(), suppress(Exception):
        yield

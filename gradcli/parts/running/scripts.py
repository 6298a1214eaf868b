"""Recording of a whole script below autograd, with an answer to each of its backward passes.

After a pass, only the values that the script still holds are kept.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import functools
import inspect
import itertools
import math
import os
import runpy
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Self, cast

import numpy as np
import sympy

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.devices import device_name
from gradcli.autodiff.run import Forward, Tensor, array_of, dtype_name
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.crosscheck.formulas import Derived, Formulas
from gradcli.errors import GradcliError, InputError, InternalError
from gradcli.language.program.opaque import opaque_outputs
from gradcli.language.program.wengert import Atom
from gradcli.language.snippet_result import Snippet
from gradcli.option_words import option
from gradcli.parts.running.adding_passes import holds_gradient, with_held
from gradcli.parts.running.backward_calls import BackwardCalls
from gradcli.parts.running.calling import Signature
from gradcli.parts.running.late_recording import LateRecorder
from gradcli.parts.running.nonfinite import beginnings
from gradcli.parts.running.opaque_functions import apply_in_script
from gradcli.parts.running.pass_arguments import output_and_vectors, require_plain, unbatched
from gradcli.parts.running.recorded import FunctionCall, Recorded
from gradcli.parts.running.refusals import RefusalNotes
from gradcli.parts.running.replays import require_same
from gradcli.parts.running.watching import Watch, unrecorded
from gradcli.progress import budget
from gradcli.questions.bound_function import Dtype, FunctionWithValues
from gradcli.questions.commands.vjp import answered
from gradcli.recording.aten_calls import Argument, Leaf, changed_by, copied, name_of, numbers_of, tensors_in
from gradcli.recording.decisions import NUMBERS_LEAVE
from gradcli.recording.memory import alias
from gradcli.recording.opaque_calls import OpaqueCalls
from gradcli.recording.places import CallPlace, Places, TensorNames
from gradcli.results import Array, Pass

MOST_PASSES = 100
"""Most passes to answer; after them the script goes on without being recorded, and is watched."""


Tell = Callable[[Pass], None]
"""Function that takes each pass when it is over."""


# -- recording


_READING = frozenset("_local_scalar_dense lift_fresh detach alias".split())
"""Operations by which a script reads the results of a pass."""


class NothingToAnswerError(InputError):
    """A pass by nothing that its output depends on, which is no error of the script."""


class ScriptRecorder(LateRecorder):
    """Recorder of a script, which never sees an error of recording; after a pass, values no longer held are forgotten.

    Args:
        tell: Takes each pass when it is over.
        check: Whether to compare with the reference.
        seconds: That the check of each pass may take; None for as many as usual.
        wrt: The leaves to differentiate by; all if there is none.
        only: The number of the one pass to answer; None for the first ones.

    Attributes:
        watch: The watch over all passes.
        is_over: Whether a pass was answered, until the next call that is recorded.
    """

    def __init__(
        self, tell: Tell, *, check: bool, seconds: float | None, wrt: Sequence[str], only: int | None = None
    ) -> None:
        super().__init__(TensorNames(runpy.run_path, ()))
        self.tell, self.check, self.seconds, self.wrt, self.only = tell, check, seconds, wrt, only
        self.watch = Watch()
        self.opaque = OpaqueCalls()
        self._process, self._thread, self._entered = os.getpid(), threading.get_ident(), ExitStack()
        self._formulas: dict[
            object, dict[tuple[str, ...], tuple[Formulas, Derived]]
        ] = {}  # of equal passes, which are confirmed once
        self._is_changed = False  # whether a leaf was, as by an optimizer, since values were last forgotten
        self._notes = RefusalNotes()
        self._backward_calls: BackwardCalls | None = None  # while a pass runs
        # The last pass with create_graph, which is answered where no pass goes back through what it made.
        self._kept: tuple[Mapping[str, Argument], CallPlace] | None = None

    def __enter__(self) -> Self:
        """See calls, and steps of optimizers, from here on."""
        self.watch.__enter__()
        self._entered.enter_context(torch_internals.applying(self._applied))
        return super().__enter__()

    def __exit__(self, *raised: Argument) -> None:
        """See no more; of a script whose passes all have create_graph, answer the last one first."""
        kept, self._kept = self._kept, None
        if kept is not None and os.getpid() == self._process:
            given, place = kept
            told = Pass(1, place.where, 0.0, is_judged=self._is_recording)
            self.tell(self._answer(told, given, place) if told.is_judged else told)
            self.watch.passes = 1
        super().__exit__(*raised)
        self._entered.close()
        self.watch.__exit__(*raised)

    def is_asked(self, number: int) -> bool:
        """Tell whether a pass is to be answered, by its number."""
        return self.only in (None, number)

    def _applied(self, function: TorchFunction, args: Sequence[Argument], apply: Callable[..., Argument]) -> Argument:
        """Apply a custom function, and record it while there may be answers."""
        is_own = self._is_recording and threading.get_ident() == self._thread
        if not is_own or self.is_paused or self._inside or self.is_late or self._backward_calls is not None:
            return apply(*args)
        self.begin()
        return apply_in_script(self, function, args, apply)

    @property
    def _is_recording(self) -> bool:
        """Tell whether there may be answers: not in a child, and not after the last pass that is answered."""
        return os.getpid() == self._process and self.watch.passes < (self.only or MOST_PASSES)

    def dispatch(self, function: TorchFunction, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Argument:
        """Run a call, and record it while there may be answers."""
        if self._backward_calls is not None:
            return self._backward_calls.run(function, args, kwargs)
        if not self._is_recording:
            return function(*args, **kwargs)
        if (name := name_of(function)) not in _READING:
            self.begin()
        elif name == "detach":
            self.aliased(args[0])
        if self._pauses or self._inside or self.is_late:
            return super().dispatch(function, args, kwargs)
        copies = {} if self.watch.is_stepping else self.untracked.before(function, (args, kwargs))
        found = super().dispatch(function, args, kwargs)
        find = functools.cache(self.places.find)
        with suppress(Exception):  # of tensors without a memory, such as sparse ones
            self._notes.note(function, (args, kwargs), found, find)
        if not self.watch.is_stepping:
            self.note_untracked(function, (args, kwargs), tensors_in(found), copies, find)
            self.watch.see_changes(changed_by(function, args, kwargs), find)
        if name == "_local_scalar_dense":
            self.note_read(args[0], found)
        return found

    def _advance(self, *of_call: Argument) -> None:
        with self.keeping_errors():
            super()._advance(*of_call)

    def begin(self) -> None:
        """Forget the values of the last pass, before the first call that may belong to the next one."""
        is_due = (self._is_changed or self.is_over) and not (self._inside or self._pauses or self.is_late)
        if is_due and (torch.is_grad_enabled() or self.places.find().custom is not None):
            self._collect()

    def _collect(self) -> None:
        """Forget all values except the differentiable ones that the script still holds."""
        if self.is_over:
            self.lost, self.decisions.lost, self._count = None, [], 0
            self.decisions.remarks = dict.fromkeys(self._read_leaves)
            self._notes.forget()
            self._aliases = {key: one for key, one in self._aliases.items() if one() is not None}
        self.is_over, self._is_changed, self.decisions.low, self.decisions.ordered = False, False, "", {}
        weak = {name: torch.utils.weak.TensorWeakRef(leaf.tensor) for name, leaf in self.leaves.items()}
        self.leaves = {name: replace(leaf, tensor=leaf.value) for name, leaf in self.leaves.items()}
        self.places, self.named = Places(), {}  # and with them the last tensors that only the recording holds
        tensors = {name: one for name, ref in weak.items() if (one := ref()) is not None}
        changed = [name for name, one in tensors.items() if self._values.find(one) is None]
        conditions = [guard.condition for guard in self.decisions.guards]
        kept = self.lines.retain(self._values.held(), conditions, changed)
        self._values.keep(kept)
        self._followed &= kept
        self.origins = {atom: origin for atom, origin in self.origins.items() if atom in kept}
        self.decisions.guards = [guard for guard in self.decisions.guards if guard.condition in kept]
        left = {name: leaf for name, leaf in self.leaves.items() if name in self.lines.variables}
        self.leaves = {name: replace(one, tensor=tensors.get(name, one.value)) for name, one in left.items()}
        self._put_off = {name: part for name, part in self._put_off.items() if name in self.leaves}
        self.lines.instead.clear()
        self.names = TensorNames(runpy.run_path, {*self.leaves, *map(str, kept)})

    def _is_constant(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is a constant: made by the script or read, which is not told apart."""
        if tensor.requires_grad or tensor in self._values:
            return False
        leaf = self.leaf_of(tensor)
        is_current = torch.is_grad_enabled() and not (self.is_over or self._is_changed)
        if leaf is None or not is_current:
            return True
        self._value(leaf, self.places.find())
        return False

    def _written_constant(self, tensor: Tensor) -> Tensor | None:
        base = torch_internals.base_of(tensor)
        return None if base.requires_grad else alias(base)

    def _note_constants(self, *found: object) -> None:
        for tensor in tensors_in(found):
            self._is_changed |= tensor in self._values and not self.is_late
            if self._values.find(tensor) in self._followed and not self.is_late:  # what was made of a leaf is constant
                self.forget_untracked()
            self._values.forget(tensor)

    def _is_untracked(self, place: CallPlace, changed: Sequence[Tensor] = ()) -> bool:
        """Tell whether autograd does not track a call, such as the arithmetic of an optimizer under no_grad.

        One that writes to what autograd follows is recorded all the same.
        """
        if place.custom is not None or torch.is_grad_enabled() or self._inside or self.is_late:
            return False
        return all(one.grad_fn is None for one in changed)

    def _unbound_functions(self, y: Tensor, inputs: object, called: str) -> Iterator[FunctionWithValues]:
        """Make functions of a tensor, with values: by the leaves, and by each other tensor, which depends on these."""
        given = tensors_in(inputs)
        others = [one for one in given if not one.is_leaf]
        if len(others) < len(given) or not given:
            yield self._unbound(y, [one for one in given if one.is_leaf], called)
        yield from (self._unbound(y, [one], called) for one in others)

    def unbound_function_of(self, y: Tensor, called: str) -> FunctionWithValues:
        """Make the function of a tensor, with values, that the script holds, by all its leaves.

        Raises:
            GradcliError: It cannot be recorded.
        """
        if isinstance(self.lost, GradcliError):
            raise self.lost
        return self._unbound(y, [], called)

    def _unbound(self, y: Tensor, inputs: Sequence[Tensor], called: str) -> FunctionWithValues:
        """Make the function of a tensor, with values,, with its recording.

        Args:
            y: The tensor.
            inputs: The leaves, or the one other tensor, to differentiate by; all that require a gradient if none.
            called: Its name in messages.

        Raises:
            InputError: It is of another dtype than is judged, was made by code that cannot be recorded, or is no
                function of a leaf that is asked for.
        """
        dtype = dtype_name(y.dtype)
        if dtype not in ("float64", "float32"):
            raise InputError(f"{called} is of {dtype}, and float64 and float32 are judged")
        output = self.atom(y)
        if output is None:
            raise InputError(f"{called} is of a tensor that no call of torch made which was seen")
        others = self._not_leaves(inputs)
        if output in others:
            raise NothingToAnswerError(f"{called} is by its output itself")
        leaves = {**self.leaves, **{name: Leaf(one, copied(one), is_argument=False) for name, one in others.values()}}
        builder = self.lines.context.builder
        _, reached = builder.backward_slice(output, stop=lambda call: call.op.is_detached, known=others)
        followed = {others[one][0] if one in others else str(one): one for one in reached}
        free = {name: leaves[name].tensor for name in followed if name in leaves and leaves[name].tensor.requires_grad}
        chosen = {*map(id, inputs or free.values())}
        moving = {name: followed[name] for name, tensor in free.items() if id(tensor) in chosen}
        if not moving:
            raise NothingToAnswerError("it is by no tensor that y depends on")
        if name := next((name for name in moving if leaves[name].tensor.is_complex()), ""):
            raise InputError(f"{called} is by {name}, whose numbers are complex, and gradients by real ones are judged")
        conditions = [*self.decisions.guards]
        unseen = self.record_late(output, moving.values())
        if self.untracked.is_over:
            unseen += [name for name, leaf in self.leaves.items() if self._notes.held(leaf.tensor)]
        bind = functools.partial(self._bound, y, output, others, moving, called)
        try:
            return bind(unseen)
        except GradcliError:
            if not self.lines.instead:
                raise
            self.lines.instead.clear()
            self.decisions.guards = conditions
            return bind([*unseen, *self._put_off])

    def _bound(
        self,
        y: Tensor,
        output: Atom,
        others: Mapping[Atom, tuple[str, Tensor]],
        moving: Collection[str],
        called: str,
        unseen: Collection[str],
    ) -> FunctionWithValues:
        """Make the function of a tensor, with values, by some values.

        Args:
            y: The tensor.
            output: Its value.
            others: Values that are no leaves and are to be variables, with their names and tensors.
            moving: The names of the leaves, or of the other value, to differentiate by.
            called: Its name in messages.
            unseen: The names of constants that may follow from these values.
        """
        dtype = dtype_name(y.dtype)
        program = self.program(output, {atom: name for atom, (name, _) in others.items()})
        leaves = {**self.leaves, **{name: Leaf(one, copied(one), is_argument=False) for name, one in others.values()}}
        leaves = {name: leaves[name] for name in program.names}
        wrt = tuple(name for name in program.names if name in moving)
        arrays = {name: numbers_of(leaf.value) for name, leaf in leaves.items()}
        call = FunctionCall(lambda: y, called, Signature({}), arrays, cast(Dtype, dtype), device=device_name(y))
        held = [name for name in program.names if name in unseen]
        reasons = {name: self._notes.held(leaves[name].tensor) or "too many calls make it" for name in held}
        constants = (f"{name} is a constant, as for autograd: {why}" for name, why in reasons.items())
        said = (
            *itertools.filterfalse(self.has_other_numbers, self.decisions.remarks_on(program)),
            *constants,
        )
        has_left = any(one.startswith(NUMBERS_LEAVE) for one in said)
        unread = tuple(output.called for _, output in opaque_outputs(program))
        same = program.text, tuple(array.shape for array in arrays.values()), dtype, unread
        known = self._formulas.setdefault(same, {})
        ran = Forward({name: leaf.tensor for name, leaf in leaves.items()}, y)
        found = Recorded(call, program, arrays, tuple(arrays), said, self, array_of(y), known, ran)
        replayed = require_same(found, y)
        found = replace(found, largest=replayed.largest, fault=replayed.fault, has_unseen=bool(held) or has_left)
        if unknown := next((name for name in self.wrt if name not in wrt), ""):
            raise InputError(f"{option('wrt')} names '{unknown}', and the leaves are {', '.join(wrt)}")
        snippet = Snippet(program, values={n: array.astype(np.float64) for n, array in arrays.items()}, wrt=wrt)
        return FunctionWithValues(
            program.text, snippet, {}, [*(self.wrt or wrt)], call.dtype, self.check, recording=found
        )

    def _not_leaves(self, tensors: Sequence[Tensor]) -> dict[Atom, tuple[str, Tensor]]:
        """Find the values of tensors that are no leaves, with names for them as variables."""
        found: dict[Atom, tuple[str, Tensor]] = {}
        for tensor in tensors:
            atom = None if tensor.is_leaf else self.atom(tensor)
            if isinstance(atom, sympy.Dummy):
                name, _ = self.named.get(atom) or (self.names.free("h"), tensor)
                found[atom] = name, tensor
        return found

    # -- answering

    def run_backward(
        self, path: str, function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Argument:
        """Answer a pass before it frees its graph, or only look at it; let it go on, and tell of it."""
        if self._backward_calls is not None or os.getpid() != self._process:  # within another pass
            return function(*args, **kwargs)
        self.watch.is_stepping = False
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        self.begin()
        place, number = self.places.find(), self.watch.passes + 1
        if self._is_recording:
            self._learn_names(place.frame)
        if given.get("create_graph"):
            self.watch.inner += 1
            self._kept = None if self.watch.passes else (given, place)
            return (
                super().run_backward(path, function, args, kwargs) if self._is_recording else function(*args, **kwargs)
            )
        self._kept = None
        y = tensors_in(next(iter(given.values())))
        leaves: list[Tensor] = []
        with unrecorded():
            leaves = self.watch.leaves(y, given.get("inputs"), place.frame, is_adding=path.endswith("backward"))
        added, told = [], Pass(number, place.where, 0.0, is_judged=False)
        if self._is_recording and self.is_asked(number):
            with torch.autograd.set_detect_anomaly(mode=False):
                added, told = self._added(path), self._answer(replace(told, is_judged=True), given, place)
            with unrecorded():
                used = (name for one in told.answers for name in one.inputs if name in self.leaves)
                self.watch.see_cut_off({name: self.leaves[name].tensor for name in used}, y)
        self._backward_calls = BackwardCalls(ScriptRecorder.run_backward.__code__)
        try:
            found = super().run_backward(path, function, args, kwargs)
            with unrecorded():
                gradients = tensors_in(found) if found is not None else [one.grad for one in leaves]
                gradients = [None if one is None else unbatched(one) for one in gradients]
                told = self._noticed(told, y, leaves, gradients, place)
        except RuntimeError as error:
            if not (torch.is_anomaly_enabled() and "returned nan values" in str(error)):
                named = {self.names.known_name(one, place.frame) or f"output {n}": one for n, one in enumerate(y, 1)}
                reason = f"torch refuses this pass: {self._notes.reason(error, named, self.decisions.lost, path)}"
                told = replace(told, answers=(), refusal=InputError(reason), is_excused=True, is_judged=True)
            raise
        finally:
            self._backward_calls, self.watch.passes, self.is_over = None, number, True
            self._read_leaves.clear()
            self.tell(self._with_held(told, added))
        return found

    def _noticed(
        self,
        told: Pass,
        y: Sequence[Tensor],
        leaves: Sequence[Tensor],
        gradients: Sequence[Tensor | None],
        place: CallPlace,
    ) -> Pass:
        """Add to a pass that is over what is seen of its numbers."""
        assert self._backward_calls is not None  # noqa: S101
        new = [*self.watch.look(y, leaves, gradients)] if len(leaves) == len(gradients) else []
        begins = self.watch.new(self._backward_calls.found.values())
        if told.is_judged:
            self.watch.look_at_data({name: leaf.value for name, leaf in self._data()}, place)
            answers = tuple(replace(one, warnings=(*one.warnings, *begins)) for one in told.answers)
            return replace(told, answers=answers, nonfinite=(*told.nonfinite, *begins))
        holds = self.watch.look_at_data(self.watch.data_around(place.frame), place) if new else []
        return replace(told, noticed=(*new, *begins, *holds))

    def _data(self) -> list[tuple[str, Leaf]]:
        """List the leaves that no gradient is by."""
        return [(name, leaf) for name, leaf in self.leaves.items() if not leaf.tensor.requires_grad]

    def _added(self, path: str) -> list[str]:
        """List the leaves to whose `.grad` a pass adds, as earlier passes left something there."""
        leaves = self.leaves.items() if path.endswith("backward") else ()
        with self.paused():
            return [name for name, leaf in leaves if holds_gradient(leaf.tensor)]

    def _with_held(self, told: Pass, added: Sequence[str]) -> Pass:
        """Add to a pass that added to the results of earlier ones what `.grad` holds after it."""
        with self.paused():
            return with_held(told, {name: self.leaves[name].tensor for name in added})

    def _answer(self, told: Pass, given: Mapping[str, object], place: CallPlace) -> Pass:
        began = time.perf_counter()
        try:
            require_plain(given, place)
            outside = torch_internals.without_transforms()
            with budget(self.seconds), self.paused(), warnings.catch_warnings(action="ignore"), outside:
                told = self._answered(told, given, place)
        except NothingToAnswerError as error:
            told = replace(told, refusal=error, is_excused=True)
        except GradcliError as error:
            told = replace(told, refusal=self.lost if isinstance(self.lost, GradcliError) else error)
        except Exception as error:
            told = replace(told, refusal=InternalError(f"{type(error).__name__}: {error}"))
        return replace(told, seconds=time.perf_counter() - began)

    def _answered(self, told: Pass, given: Mapping[str, Argument], place: CallPlace) -> Pass:
        y, vs = output_and_vectors(given)
        norms = defaultdict[str, list[float]](list)
        found: list[str] = []
        called = f"pass {told.number}{place}"
        answers = [
            (live, one)
            for unbound in self._unbound_functions(y, given.get("inputs"), called)
            if isinstance(live := unbound.recording, Recorded)
            for one in answered(unbound, vs)[1]
        ]
        for live, answer in answers:
            for name, array in answer.vjp.items():
                norms[name.rpartition(".")[0]].append(norm(array))
            if not all(np.isfinite(array).all() for array in (answer.value, *answer.vjp.values())):
                found += beginnings(live, answer, lambda name, kind: self.watch.since(self.leaves[name].tensor, kind))
            live.forget()
        begins = tuple(dict.fromkeys(found))
        return replace(
            told,
            answers=tuple(replace(one, warnings=(*one.warnings, *begins)) for _, one in answers),
            norms={name: math.hypot(*sizes) for name, sizes in norms.items()},
            nonfinite=begins,
        )


def norm(array: Array) -> float:
    """Compute the Euclidean norm in float64, of sizes too whose squares are beyond its range.

    >>> bool(norm(np.array([3e22, 4e22], dtype=np.float32)) == np.float32(5e22))
    True
    """
    sizes = np.abs(array, dtype=np.float64)
    largest = float(sizes.max(initial=0.0))
    return largest * float(np.linalg.norm(sizes / largest)) if 0 < largest < math.inf else largest

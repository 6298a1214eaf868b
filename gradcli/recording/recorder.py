"""Every call of ATen while a function runs, below autograd, as lines of a Program.

A value is known by the memory that holds it.  A tensor that no call made was there before (weights, data) and is
a variable with a name; a tensor that was drawn, or made from no tensors, is a constant.  Where autograd does not follow
a tensor that the lines do, as after `detach()`, `.data` and `no_grad`, the lines hold it constant too.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from types import FrameType, MappingProxyType
from typing import Any

import sympy

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.devices import on_device_of
from gradcli.autodiff.run import Tensor, dtype_name
from gradcli.errors import GradcliError, InputError, Span
from gradcli.language.program.program_text import OUTPUTS, as_written
from gradcli.language.program.wengert import Atom, Program, cut
from gradcli.recording import aten_calls as calls, draws, tracking
from gradcli.recording.aten_calls import Argument, Leaf, Overload, WrongDtypeError
from gradcli.recording.aten_lowering import MOST_LITERAL, AtenLowering, as_atom, have_one_value
from gradcli.recording.aten_rules import INDEXED, RULES, complex_call
from gradcli.recording.decisions import FOLDS, ORDERED, RecordedDecisions
from gradcli.recording.decompositions import decomposed, is_unread
from gradcli.recording.foreign_memory import Buffers
from gradcli.recording.memory import ASSIGNED, SHAPED, Memory, alias, as_real, geometry, memory, refusal_of_layout
from gradcli.recording.modes import RecordingMode
from gradcli.recording.opaque_calls import OpaqueCalls, record_unread
from gradcli.recording.places import UNNAMED, CallPlace, Places, TensorNames, next_node, tensors_of
from gradcli.recording.steps import with_live_steps
from gradcli.recording.torch_meanings import ask

MOST_CALLS = 100_000
"""Most calls of one recording."""

_Recording = Generator[None, Any, None]
"""Recording of a call, which is sent the result."""


class Recorder(RecordingMode):
    """Mode that records calls of ATen while it is entered.

    Args:
        names: Names for the tensors that it is not given.
        dtype: Dtype of the floating-point arguments; None for a script, which has none.
        called: Name of the recorded function, for messages.
        records_meaning: Whether it records torch's own computation of a call, with constants written out.

    Attributes:
        opaque: Records calls that cannot be read as they are; None to refuse them.
        leaves: Arguments, and tensors found elsewhere, by name.
        decisions: Record of the decisions that values made.
        buffers: Tensors that were filled and not written to.
        places: Finder of the places that calls come from.
        named: The names that the user's code has for values, with their tensors.
        changed: Tensors found elsewhere that the function changes.
        origins: Places of the calls that gave values.
        of_arguments: The values that follow from the arguments of the function.
        takes_gradients: Whether the function goes back through a graph itself.
    """

    opaque: OpaqueCalls | None = None
    _needs_decomposition, _decompose = staticmethod(is_unread), staticmethod(decomposed)

    def __init__(self, names: TensorNames, dtype: Any, called: str = "", *, records_meaning: bool = False) -> None:
        super().__init__()
        self._count = 0
        self.names, self.dtype, self.called, self.records_meaning = names, dtype, called, records_meaning
        self.takes_gradients = False
        self._first_node = next_node()
        self.changed: list[Tensor] = []
        self.lines = AtenLowering(called, RULES, functools.partial(ask, Recorder), records_meaning=records_meaning)
        self.leaves: dict[str, Leaf] = {}
        self.decisions = RecordedDecisions(self)
        self.named: dict[Atom, tuple[str, Tensor]] = {}
        self._values = Memory(self.lines, self._propagate)
        self._constants: dict[int, Tensor] = {}
        self.buffers = Buffers()
        self._python_numbers = set[int]()  # memories of numbers that Python has
        self._followed, self.of_arguments = set[Atom](), set[Atom]()
        self._given_in_call = torch.utils.weak.WeakTensorKeyDictionary()  # number of the user's call that gave a tensor
        self.origins: dict[Atom, CallPlace] = {}
        self.places = Places()

    def on_error(self, error: Exception) -> None:
        """Raise an error of recording, as the function is not answered."""
        raise error

    # -- questions to a recording

    def give(self, arguments: Mapping[str, Tensor]) -> None:
        """Take tensors as the arguments of the function, by name."""
        for name, tensor in arguments.items():
            self.of_arguments.add(self._leaf(name, tensor, is_argument=True))

    def number(self, tensor: Tensor) -> Atom:
        """Find the value that a tensor holds, or write out its numbers if no recorded call made it."""
        atom = self.atom(tensor)
        return self.lines.number(self.lines.literal(tensor) if atom is None else atom)

    def atom(self, tensor: Tensor) -> Atom | None:
        """Find the value that a tensor holds; None if no recorded call made it."""
        tracking.note_use(self, "", [tensor])
        return self.operand(tensor, CallPlace()) if self.is_known(tensor) else None

    def is_known(self, tensor: Tensor) -> bool:
        """Tell whether a tensor holds a value that follows from arguments or from tensors found elsewhere."""
        return tensor in self._values or tensor.requires_grad

    def may_follow(self, tensor: Tensor) -> bool:
        """Tell whether a tensor may hold a value that follows from others, by calls that are not recorded too."""
        return self.is_known(tensor)

    def follows(self, tensor: Tensor) -> bool:
        """Tell whether a tensor holds a value that follows from arguments of the function."""
        return self._values.find(tensor) in self.of_arguments

    def program(self, output: Atom, variables: Mapping[Atom, str] = MappingProxyType({})) -> Program:
        """Give the Program that computes a value, with its text.

        Args:
            output: The value.
            variables: Other values that it is to be a function of, with their names as variables.
        """
        program = self.lines.program([self.lines.number(output)])
        for atom, name in variables.items():
            program = cut(program, atom, name)
        found = with_live_steps(program)
        program = found.program
        self.origins |= {copy: self.origins[one] for copy, one in found.copies.items() if one in self.origins}
        inside = {line.symbol for line in program.lines}
        named = {name: atom for atom, (name, _) in self.named.items() if atom in inside}
        last = next((name for name, atom in named.items() if atom == program.output), "")
        return as_written(program, named, self.names.free, last or self.names.first(OUTPUTS))

    def places_of(self, program: Program) -> dict[Span, CallPlace]:
        """Find the place of each line of a recorded Program by its span; the lines that make up a call have its."""
        found, place = dict[Span, CallPlace](), CallPlace()
        for line in reversed(program.lines):
            place = found[line.span] = self.origins.get(line.symbol, place)
        return found

    def restore(self, but: Mapping[str, Argument] | Sequence[str] = ()) -> None:
        """Give tensors found elsewhere, such as running means, the numbers that they had before."""
        for name, leaf in self.leaves.items():
            is_found = not (leaf.is_argument or leaf.is_made) and name not in but
            if is_found and not torch.equal(leaf.tensor, leaf.value):
                leaf.tensor.data.copy_(leaf.value)
                self.changed.append(leaf.tensor)

    # -- calls

    def dispatch(self, function: Overload, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Argument:
        """Run a call, and record it: its operands before it runs, its results after that."""
        function = torch_internals.without_laziness(function, args)
        recording = self._recorded(function, args, kwargs)
        self._advance(recording)
        with self.paused():
            found = function(*args, **kwargs)
        self._advance(recording, found)
        return found

    def _advance(self, recording: _Recording, found: Argument = None) -> None:
        """Go on with the recording of a call, before it runs or with its result."""
        with contextlib.suppress(StopIteration):
            recording.send(found)

    def _recorded(self, function: Overload, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> _Recording:
        """Record a call, unless no operand follows from arguments or from tensors found elsewhere."""
        tensors = calls.tensors_in((args, dict(kwargs)))
        if self._pauses or not torch_internals.has_result(function) or any(one.is_meta for one in tensors):
            return
        name, changed = calls.name_of(function), calls.changed_by(function, args, kwargs)
        is_drawn = torch.Tag.nondeterministic_seeded in function.tags and "dropout_p" not in calls.parameters(function)
        is_alone = all(self._is_constant(one) for one in tensors)
        is_unasked = self.records_meaning and name == "isnan"
        self.decisions.use(tensors)
        tracking.note_use(self, name, tensors, changed)
        if name == "lift_fresh" and self.decisions.lost:
            self.decisions.note_creation(tensors[0], self.places.find())
        is_lost = name == "rrelu_with_noise_" or (self.records_meaning and name in draws.FOLLOWED)
        if is_drawn and is_lost and not is_alone:
            raise InputError(f"{self.called} calls {name}, whose random numbers are not seen")
        if is_drawn:
            self.decisions.drawn.setdefault(str(self.places.find()))
        if is_drawn and not (is_alone or self.records_meaning):
            yield from draws.recorded(self, name, calls.bound(function, args, kwargs), changed)
            return
        if is_drawn or is_alone or is_unasked or name in SHAPED:
            self._note_constants((found := (yield)), *changed)
            self.buffers.fill(name, found)
            return
        place = self.places.find()
        self._learn_names(place.frame)
        if self._is_untracked(place, changed):
            self._note_constants((yield), *changed)
        elif name == "_local_scalar_dense":
            self.decisions.read(tensors[0], (yield), place)
        elif name == "lift_fresh":  # makes a tensor of numbers that Python has
            self._python_numbers.add(memory(tensors[0]))
        elif name not in ("detach", "alias", "set_"):
            given = calls.bound(function, args, kwargs)
            is_norm = "running_mean" in given  # it changes them, which the schema does not say
            if changed and not is_norm:
                yield from self._changed(function, given, changed, place)
                return
            is_view = name in ("as_strided", "view_as_complex") or (function.is_view and tensors[0].is_complex())
            tuple(self._value(one, place) for one in tensors if is_view or is_norm)
            before = self.opaque.copies(name, given) if self.opaque else {}
            found = yield
            if self.opaque and before:
                self.opaque.note_custom(name, function, before, given, place)
            if not is_view or self._values.part(as_real(found)) is None:  # else the memory knows what it is made of
                self._record_made(function, given, found, place)

    def _hold_constant(self, atom: Atom, place: CallPlace) -> Atom:
        """Hold a value constant."""
        held = self._propagate(self.lines.emit("detach", [atom]), atom, is_held=True)
        self.origins.setdefault(held, replace(place, frame=None))
        return held

    def _changed(
        self, function: Overload, given: dict[str, Argument], changed: Sequence[Tensor], place: CallPlace
    ) -> _Recording:
        """Record a call that writes to tensors."""
        results, inputs = self._lowered(function, given, changed, place)
        base = torch_internals.base_of(changed[0])
        if base.grad_fn is not None and place.custom is None and not torch.is_grad_enabled():
            self.decisions.change_unseen(place)
            results = [tracking.change_unseen(self, one, results[0], place) for one in changed[:1]]
        if torch.is_grad_enabled() and changed[0].requires_grad and self._followed.isdisjoint(inputs):
            inputs = [self.lines.row("mul", 0, self.operand(changed[0], place))]  # a term whose gradient is 0
            results = [self.lines.row("add", *inputs, results[0])]
            self._followed.update(inputs)
        yield
        self._require_dtype(changed, inputs)
        for output, result in zip(changed, results, strict=False):
            self._note_result(output, result, inputs, place, is_written=True)

    def _record_made(self, function: Overload, given: dict[str, Argument], found: Argument, place: CallPlace) -> None:
        """Record a call that makes tensors."""
        name, outputs = calls.name_of(function), list(found) if isinstance(found, tuple | list) else [found]
        known = [self._values.find(one) for one in calls.tensors_in(given) if one.is_floating_point()]
        is_other = bool(self._other_dtypes(outputs)) and self.of_arguments.isdisjoint(known)
        if is_other or not any(calls.can_be_recorded(one) for one in outputs):
            if not (is_other and name in ORDERED):  # the order of constants stays the same
                self.decisions.of_whole_numbers(name, given, found, place)
            if self.records_meaning and not function.is_view:  # positions, whose numbers are arbitrary
                self.decisions.lost += [name for one in calls.tensors_in(given) if self.is_of_argument(one)]
            if not function.is_view:  # else the memory knows what it is made of
                self._note_constants(found)
            return
        results, inputs = self._lowered(function, given, outputs, place)
        self._require_dtype(outputs, inputs)
        if name in FOLDS and results[0] is not None:
            self.decisions.folded[results[0]] = FOLDS[name], inputs[0]
        for output, result in itertools.zip_longest(outputs, results[: len(outputs)]):
            if isinstance(output, torch.Tensor):
                self._note_result(output, result, inputs, place)
                if not calls.can_be_recorded(output) and name in ORDERED:
                    self.decisions.defer(output, name, given, place)

    def _lowered(
        self, function: Overload, given: dict[str, Argument], outputs: Sequence[Argument], place: CallPlace
    ) -> tuple[list[Atom | None], list[Atom]]:
        """Lower one call of ATen: give the atoms of its results and of its operands."""
        name, self._count = calls.name_of(function), self._count + 1
        if self._count > MOST_CALLS:
            raise InputError(f"{self.called} makes more than {MOST_CALLS:,} calls of torch", hint="record a part of it")
        if given.get("dropout_p"):
            raise InputError(f"{self.called} calls {name}, whose random numbers are not seen")
        if name in INDEXED:
            given["indices"] = self.decisions.positions(name, given["indices"], place)

        def held(value: Argument) -> Argument:
            return calls.replaced(value, torch.Tensor, lambda one: self.operand(one, place))

        if name in ASSIGNED:
            atom = as_atom(held(given.get("src", given.get("value", 0))))
            return [self.lines.expanded(atom, tuple(outputs[0].shape))], [atom]
        plain = calls.functional(function) or function
        atoms = {key: held(value) for key, value in given.items()}
        inputs = calls.within(atoms, sympy.Basic)
        is_complex = any(one.is_complex() for one in calls.tensors_in([given, outputs]))
        refused: GradcliError | None = None
        found: Argument = NotImplemented
        try:
            if not self._needs_decomposition(plain, given):
                found = complex_call(self.lines, plain, given, atoms) if is_complex else self.lines.call(plain, atoms)
        except GradcliError as error:
            refused = error
        if found is NotImplemented:
            found = self._decomposed(plain, given, place)
        if found is NotImplemented:
            found = record_unread(self, plain, given, outputs, place, refused)
        return found if isinstance(found, list) else [found], inputs

    def _decomposed(self, function: Overload, given: Mapping[str, Argument], place: CallPlace) -> Argument:
        """Record the decomposition of a call, from torch's tables or ours, in its place; give its results."""
        with self.recording_nested(), on_device_of(calls.tensors_in(given)):
            parts = self._decompose(function, given)
        if parts is NotImplemented and (parts := tracking.of_constants(self, function, given, place)) is NotImplemented:
            return parts
        parts = parts if isinstance(parts, tuple | list) else [parts]
        return [self._value(one, place) if calls.can_be_recorded(one) else None for one in parts]

    def _note_result(
        self, output: Tensor, result: Atom | None, inputs: Sequence[Atom], place: CallPlace, *, is_written: bool = False
    ) -> None:
        """Note the result of a call; whole numbers are constants, whatever they follow from."""
        if result is None or not calls.can_be_recorded(output):
            is_constant = is_written or not calls.can_be_recorded(output)
            if is_constant:  # else a result that no line gives, which may not be used
                self._note_constants(output)
            return
        if output.dtype in calls.LOW and not self.decisions.low:
            self.decisions.low = f"{dtype_name(output.dtype)}{place}"
        output = as_real(output)
        if output.numel() == 1 and self.lines.shape(result) != output.shape:  # a number that was taken as a row
            result = self.lines.row("reshape", result, tuple(output.shape))
        self._propagate(result, *inputs)
        self.origins.setdefault(result, replace(place, frame=None))
        if not is_written:
            self._values.put(output, result)
            if torch.is_grad_enabled():
                self._given_in_call[output] = self._surface.calls
            return
        base = self._written_constant(output)
        if base is not None and output not in self._values and base.dtype is output.dtype:
            number = self.buffers.number_before(base)
            before = None if number is None else self.lines.row("full", tuple(base.shape), number)
            self._values.put(base, self._constant_value(base, CallPlace()) if before is None else before)
        self._values.write(output, result)

    def _written_constant(self, tensor: Tensor) -> Tensor | None:
        """Give all of a constant tensor, of which a part is written for the first time; None if it is none."""
        return self._constants.pop(memory(tensor), None)

    def is_of_argument(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is a view of an argument of the function."""
        return memory(tensor) in {memory(leaf.tensor) for leaf in self.leaves.values() if leaf.is_argument}

    def _other_dtypes(self, outputs: Sequence[Argument]) -> set[Argument]:
        return set() if self.dtype is None else calls.floating_dtypes(outputs) - {self.dtype}

    def _require_dtype(self, outputs: Sequence[Argument], inputs: Sequence[Atom]) -> None:
        """Refuse results in another dtype that follow from the arguments; a condition is 0 and 1 in any dtype."""
        others = self._other_dtypes(outputs) - {*calls.LOW}
        if others and any(one in self.of_arguments and not self.lines.is_condition(one) for one in inputs):
            raise WrongDtypeError(dtype_name(others.pop()))

    # -- values

    def is_argument(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is an argument of the function, or a view of all its elements."""
        leaf = self.leaves.get(str(self._values.find(tensor)))
        return leaf is not None and leaf.is_argument

    def _is_untracked(self, place: CallPlace, changed: Sequence[Tensor] = ()) -> bool:
        """Tell whether to pass over a call, which writes to some tensors, as autograd does not track it."""
        return False

    def _is_deferred(self, tensor: Tensor) -> bool:
        """Tell whether a constant may be found out to follow from others."""
        return False

    def _is_constant(self, tensor: Tensor) -> bool:
        """Tell whether the function made a tensor from neither arguments nor tensors found elsewhere."""
        return memory(tensor) in self._constants and tensor not in self._values and not tensor.requires_grad

    def _note_constants(self, *found: Argument) -> None:
        """Note tensors made or changed by a call that follow from no value."""
        for tensor in map(as_real, calls.tensors_in(found)):
            if self.records_meaning and self.is_of_argument(tensor):
                continue
            self._values.forget(tensor)
            if tensor not in self._values:
                self._constants.setdefault(memory(tensor), alias(tensor))

    def run_backward(
        self, path: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Run a backward pass: one whose gradients are differentiated again is recorded as it runs, others are not."""
        self.takes_gradients = True
        if kwargs.get("create_graph"):
            return function(*args, **kwargs)
        place = self.places.find()
        if self.dtype is not None and place.custom is None:  # in a script each pass has its own answer
            self.decisions.note_numbers_leaving(path, calls.tensors_in(args[:1] or kwargs), place)
        with self.paused():
            found = function(*args, **kwargs)
        self._note_constants(*(one for one in calls.tensors_in(found) if torch_internals.batch_of(one) is None))
        return found

    def _leaf(self, name: str, tensor: Tensor, *, is_argument: bool = False, is_made: bool = False) -> Atom:
        atom = self.lines.variable(name, tuple(tensor.shape))
        is_made = is_made or memory(tensor) in self._python_numbers
        self.leaves[name] = Leaf(tensor, calls.copied(tensor), is_argument, is_made)
        if tensor.requires_grad:
            self._followed.add(atom)
        if tensor.dtype is torch.bool:
            atom = self.lines.emit("ne", [atom, 0])
        self._values.put(tensor, atom)
        return atom

    def operand(self, tensor: Tensor, place: CallPlace) -> Atom:
        """Give the value that a tensor holds, held constant where autograd does not follow it."""
        atom = self._value(tensor, place)
        if not (tensor.is_floating_point() or tensor.is_complex()) or self._inside or place.custom is not None:
            return atom
        is_tracked = tracking.is_tracked_by_autograd(tensor)
        if not is_tracked and atom in self._followed:
            if self._given_in_call.get(tensor) == self._surface.calls:  # after that call autograd follows it
                return atom
            return self._hold_constant(atom, place)
        if is_tracked and tensor.is_leaf and not self._is_leaf_of(tensor, atom):
            return self._new_leaf(tensor, atom, place)
        is_dual = torch_internals.is_within_dual_level()  # autograd follows its zeros, and no line does
        if is_tracked and atom not in self._followed and not is_dual:
            return tracking.followed_again(self, tensor, atom, place)
        return atom

    def _is_leaf_of(self, tensor: Tensor, atom: Atom) -> bool:
        """Tell whether a value came from this very leaf of autograd's."""
        leaf = self.leaves.get(str(atom))
        is_own = self._values.is_apart(tensor) or (leaf is not None and leaf.tensor is tensor)
        return atom in self._followed and is_own

    def _new_leaf(self, tensor: Tensor, atom: Atom, place: CallPlace) -> Atom:
        """Take a tensor for a new leaf of autograd's, whose value is held constant if it follows from arguments."""
        name, called = self.named.get(atom, ("", None))
        if called is tensor:
            del self.named[atom]
        if atom in self._followed or atom in self.of_arguments:  # it may share the memory of what it is no view of
            self._values.set_apart(tensor)
        self._values.forget(tensor)
        if atom not in self.of_arguments:
            name = name if called is tensor else self.names.name_of(tensor, place.frame)
            return self._leaf(name, tensor, is_made=True)
        held = self._hold_constant(atom, place) if atom in self._followed else atom
        self._followed.add(held)
        self._values.put(tensor, held)
        return held

    def _value(self, tensor: Tensor, place: CallPlace) -> Atom:
        if tensor.layout is not torch.strided:
            raise refusal_of_layout(tensor, place)
        tensor = as_real(tensor)
        atom = self._values.part(tensor)
        if atom is not None:
            return atom
        base = self._constants.get(memory(tensor))
        base = tensor if base is not None and geometry(base) == geometry(tensor) else base
        if base is not None and base.dtype is tensor.dtype and tensor not in self._values:
            self._values.put(base, self._constant_value(base, place))
            return self._value(tensor, place)
        if base is not None:
            return self._constant_value(tensor, place)
        tracking.require_seen(self, tensor, place)
        name = self.names.name_of(tensor, place.frame)
        is_number = not (tensor.ndim or tensor.requires_grad or self._is_deferred(tensor))
        if is_number and name.startswith(UNNAMED):  # a number of Python's
            with self.paused():
                return as_atom(tensor.item())
        return self.lines.literal(tensor) if self.records_meaning else self._leaf(name, tensor)

    def _constant_value(self, tensor: Tensor, place: CallPlace) -> Atom:
        """Give the value of a tensor made by the function: equal or whole numbers as such, or a named constant."""
        with self.paused():
            is_short = self.records_meaning or (not tensor.is_floating_point() and tensor.numel() <= MOST_LITERAL)
            if not tensor.requires_grad and (is_short or have_one_value(tensor)):
                return self.lines.literal(tensor)
        return self._leaf(self.names.name_of(tensor, place.frame), tensor, is_made=True)

    def _propagate(self, found: Atom, *atoms: Atom, is_held: bool = False) -> Atom:
        """Propagate "follows from an argument" and, unless held constant, "followed by autograd" to a result."""
        for kind in (self.of_arguments, self._followed)[: 1 if is_held else 2]:
            if not kind.isdisjoint(atoms):
                kind.add(found)
        return found

    def _learn_names(self, frame: FrameType | None) -> None:
        """Remember the names that the user's code has for values."""
        for name, value in tensors_of(frame):
            atom = self._values.find(value)
            if isinstance(atom, sympy.Dummy) and atom not in self.named:
                self.named[atom] = self.names.free(name), value

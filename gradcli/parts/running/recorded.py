"""Recording that is believed: its text replayed gives the function's own value, but for rounding.

The numbers of an answer come from the function itself, which is run again for them; the formula and the enclosure
come from the text.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from gradcli.arrays import are_same
from gradcli.autodiff._torch import torch
from gradcli.autodiff.devices import CPU
from gradcli.autodiff.forward_mode import NOTHING_MOVES, Direction, dual, move_in_place
from gradcli.autodiff.run import Forward, Tensor, array_of, dtype_name, run, tensor_of
from gradcli.crosscheck.boundaries import Boundary, at_boundaries
from gradcli.crosscheck.formulas import Derived, Formulas
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Numbers
from gradcli.errors import InputError
from gradcli.language.program.expansion import holds_constant, is_padded, without_detach
from gradcli.language.program.opaque import opaque_outputs
from gradcli.language.program.passes import shared, symbol_of
from gradcli.language.program.wengert import Atom, Guard, Program, needed
from gradcli.parts.running import backward_calls
from gradcli.parts.running.blaming import Trial, blamed, said_if_meant, trials
from gradcli.parts.running.calling import Signature, WeightedFunction, argument, nearest_values, one_tensor
from gradcli.parts.running.code_lines import with_lines_of_code
from gradcli.parts.running.cuts import SLACK, HeldConstant, cut_of, in_short, is_close, largest
from gradcli.parts.running.forward_refusals import has_own, tangent_by
from gradcli.parts.running.function_slopes import CALLING_SECONDS, MovedFunction
from gradcli.parts.running.last_judge import judged
from gradcli.parts.running.lines_of_functions import recorded_on_line
from gradcli.parts.running.moved_function import LOW_DIGITS, Movement, movement, rounding_of
from gradcli.parts.running.numpy_arrays import made_of_tensors, numpy_of_tensor, remarks_on_numpy, tensor_of_numpy
from gradcli.parts.running.opaque_functions import applications_seen_by, recorded_as_it_can_be, seen_by
from gradcli.parts.running.operation_rules import broken_rules
from gradcli.parts.running.own_passes import own_passes
from gradcli.parts.running.repeated_runs import Surroundings, clone_saved_tensors, give, keeping_gradients, silenced
from gradcli.parts.running.replays import require_same
from gradcli.progress import budget_factor
from gradcli.questions.bound_function import BoundFunction, Dtype
from gradcli.questions.parsed_text import ArgumentStructure
from gradcli.questions.recorded_protocol import Released
from gradcli.recording.aten_calls import Application, Argument, WrongDtypeError, numbers_of
from gradcli.recording.modes import TimeLimit
from gradcli.recording.opaque_calls import OpaqueCalls
from gradcli.recording.places import TensorNames
from gradcli.recording.recorder import Recorder
from gradcli.results import Array, Mode, Verdict


@dataclass(frozen=True)
class Recorded:
    """Run of a function, as a Program that computes the same.

    Attributes:
        call: The function with its arguments.
        program: The Program of the text.
        arrays: The value of every variable: of the arguments, and of the tensors that were found elsewhere.
        constants: The names of the tensors found elsewhere.
        remarks: Remarks on the recording.
        recorder: The recorder of the run.
        value: The value of the function.
        formulas: The formulas, confirmed and before that, by the variables to differentiate by.
        ran: The graph of a tensor that a script made; None for a function.
        largest: For each number of the value, the largest one that it is a sum of, and so is rounded with.
        has_unseen: Whether constants of a script follow from leaves, in a way that stands in no line.
        fault: A device on which the function has another value than on the CPU, in words; empty if there is none.
    """

    call: FunctionCall
    program: Program
    arrays: Mapping[str, Array]
    constants: tuple[str, ...]
    remarks: tuple[str, ...]
    recorder: Recorder
    value: Array
    formulas: dict[tuple[str, ...], tuple[Formulas, Derived]] = field(default_factory=dict, repr=False, compare=False)
    ran: Forward | None = None
    largest: Array = field(default_factory=lambda: np.zeros(()), repr=False, compare=False)
    has_unseen: bool = False
    fault: str = ""
    _known_cuts: dict[tuple[str, ...], HeldConstant | None] = field(default_factory=dict, repr=False, compare=False)
    _trials: dict[str, list[Trial]] = field(default_factory=dict, repr=False, compare=False)
    _movements: dict[object, MovedFunction] = field(default_factory=dict, repr=False, compare=False)

    @property
    def arguments(self) -> list[str]:
        """List the arguments that may be differentiated by, in order."""
        taken, known = self.call.taken.tensors, self.arrays.keys() - {*self.constants} - self.call.whole
        return [name for name in taken if name in known]

    @property
    def trained(self) -> list[str]:
        """List the parameters of modules among the tensors found elsewhere, in order of appearance."""
        found = {name: self.recorder.leaves[name].tensor for name in self.constants}
        return [name for name, one in found.items() if isinstance(one, torch.nn.Parameter) and one.requires_grad]

    def forward(
        self, arrays: Mapping[str, Array], wrt: Sequence[str], *, recorder: Recorder | None = None, once: bool = False
    ) -> Forward:
        """Run the function again, with a graph for the variables to differentiate by."""
        if self.ran is not None:
            return self.ran
        for name in wrt:
            if name in self.constants and self.recorder.leaves[name].is_made:
                message = f"{name} is made anew by each call of {self.call.called}, and no derivative is by it"
                raise InputError(message, hint="make it an argument of the function")
        if self.recorder.takes_gradients or not wrt:  # as when it was recorded
            wrt = [*wrt, *self.call.given]
        return self._run(arrays, wrt, recorder, NOTHING_MOVES, once=once)

    def tangent(self, arrays: Mapping[str, Array], u: Direction) -> Array:
        """Compute Ju by forward mode: its arguments require a gradient if it goes back itself, or fails without.

        Raises:
            InputError: It is a tensor of a script, or something in it has no forward mode.
        """
        if self.ran is not None:
            raise InputError(f"{self.call.called} is no function that could be run again, as forward mode does")
        ways = [[*self.call.given]] if self.recorder.takes_gradients else [[], [*self.call.given]]
        return tangent_by(lambda wrt: self._run(arrays, wrt, None, u, once=False).output, ways)

    def _run(
        self, arrays: Mapping[str, Array], wrt: Sequence[str], recorder: Recorder | None, u: Direction, *, once: bool
    ) -> Forward:
        arrays = {**self.call.given, **self.arrays, **arrays}
        constants = self._found
        moved = [name for name in constants if not are_same(arrays[name], self.arrays[name])]
        changed = [*self.recorder.changed, *(constants.values() if once else ())]
        kept = keeping_gradients(self._left) if self.recorder.takes_gradients else nullcontext()
        try:
            with clone_saved_tensors(changed, is_last=once), kept:
                forward = self.call.forward(arrays, wrt, constants, recorder, u)
        finally:
            self.recorder.restore(but=moved)
        if all(are_same(arrays[name], array) for name, array in self.arrays.items()):
            self._require_repeated(array_of(forward.output))
        return forward

    @cached_property
    def _found(self) -> Mapping[str, Tensor]:
        """The tensors that it finds elsewhere, by name, without those that each call makes anew."""
        found = ((name, self.recorder.leaves[name]) for name in self.constants)
        return {name: leaf.tensor for name, leaf in found if not leaf.is_made}

    @property
    def _left(self) -> Iterator[Tensor]:
        """The tensors found elsewhere whose `.grad` is to stay, as the function goes back itself."""
        return (one.tensor for one in self.recorder.leaves.values() if not one.is_argument and one.tensor.is_leaf)

    def tensors(self, arrays: Mapping[str, Array], wrt: Sequence[str]) -> tuple[Forward, Mapping[str, Tensor]]:
        """Run the function as `forward`; give also the tensors that the text has names for, made in the same order."""
        recorder = self.call.recorder(self.recorder.opaque)
        forward = self.forward(arrays, wrt, recorder=recorder)
        made = {name: tensor for name, tensor in recorder.named.values() if name in self.program.named}
        return forward, {**made, **forward.leaves, self.program.output_name: forward.output}

    def _require_repeated(self, found: Array) -> None:
        """Refuse a function whose value changes when it is called again with the same arguments."""
        if not is_close(found, self.value, SLACK[self.call.dtype] * largest(self.value)):
            values = f"{in_short(self.value)}, then {in_short(found)}"
            hint = "draw random numbers from torch, and leave what is outside of the function as it is"
            raise InputError(f"{self.call.called} gives another value when it is called again: {values}", hint=hint)

    def judged(self, found: Released, numbers: Numbers, bound: BoundFunction) -> Judgement:
        """Join to a judgement of torch's numbers what else is known of the function, which is their last judge."""
        return with_lines_of_code(judged(self, found, numbers, bound), self)

    def moved(self, bound: BoundFunction, numbers: Numbers) -> Movement | None:
        """Prepare the calls of the function next to its point; of a script, replays of its recording."""
        is_second = numbers.order == 2
        key = (bound.wrt, is_second)
        digits = max(float(np.finfo(self.call.dtype).eps), self.recorder.decisions.digits)

        def values(arrays: Mapping[str, Array]) -> Forward:
            at = self.called_at if self.ran is None else self.replayed_at
            return at(arrays, bound.wrt if is_second else ())

        found = movement(
            values,
            numbers,
            bound.forward,
            {name: self.arrays[name] for name in bound.wrt},
            digits=LOW_DIGITS if self.recorder.decisions.low else digits,
            largest=self.largest,
            rounding=lambda weights: rounding_of(self, weights, bound.wrt),
            is_lost=bool(self.recorder.decisions.lost),
            together=partial(self.call.surroundings.shared, is_silent=True) if self.ran is None else nullcontext,
            known=self._movements.get(key),
        )
        if found is None:
            return None
        self._movements[key] = found.function
        return found if self.ran is None else replace(found, witness="the recording, replayed")

    passes = own_passes
    nonfinite_in_backward = backward_calls.nonfinite_in_backward
    on_line = recorded_on_line

    def forget(self) -> None:
        """Drop the values next to the point, with the graph that they hold, which may be large in a script."""
        self._movements.clear()

    def called_at(self, arrays: Mapping[str, Array], wrt: Sequence[str]) -> Forward:
        """Call the function at another point, in silence; all that it finds elsewhere is then as it was."""
        seconds = CALLING_SECONDS * budget_factor()
        limit = TimeLimit(self.call.called, seconds) if self.is_of_point else nullcontext()  # else as at the point
        with nullcontext() if self.call.surroundings.are_shared else silenced(), limit:
            try:
                return self.forward({**self.arrays, **arrays}, wrt, once=bool(wrt))
            finally:  # the others are as they were
                moved = {name: one for name, one in self._found.items() if name in arrays}
                give(moved, self.arrays, (), self.call.borrowed)

    def replayed_at(self, arrays: Mapping[str, Array], wrt: Sequence[str]) -> Forward:
        """Run the recording at another point, with nothing held constant: of a script, in place of the function."""
        return run(self._without_detach, {**self.arrays, **arrays}, tuple(wrt), self.call.dtype)

    @cached_property
    def _without_detach(self) -> Program:
        return without_detach(self.program)[0]

    def cut(self, wrt: tuple[str, ...]) -> HeldConstant | None:
        """Find out whether the gradient is one with a value held constant; once."""
        if wrt not in self._known_cuts:
            self._known_cuts[wrt] = None if self.doubt else cut_of(self, wrt)
        return self._known_cuts[wrt]

    @cached_property
    def held_values(self) -> Mapping[Atom, str]:
        """Name the values of the Program that are held constant and have a place in the code."""
        places = self.recorder.places_of(self.program)
        held = (line for line in self.program.lines if holds_constant(line.call))
        nouns = ((line, "the row padding_idx of an embedding" if is_padded(line.call) else "a value") for line in held)
        return {line.symbol: f"{noun}{places[line.span]}" for line, noun in nouns if places[line.span].where}

    @property
    def doubt(self) -> str:
        """Reason not to call a number wrong that the text contradicts; empty where there is none."""
        decisions = self.recorder.decisions
        if decisions.low:
            return f"some of it is computed in {decisions.low}, whose digits are not judged"
        return self.implicit_draw

    @property
    def implicit_draw(self) -> str:
        """Reason why the gradient of a draw that the value is made of is not its slope; empty where there is none."""
        for drawn in map(self.recorder.decisions.implicit.get, (line.symbol for line in self.program.lines)):
            if drawn is not None:
                return f"the gradient of what {drawn} is implicit: the distribution moves by it, and no single draw"
        return ""

    @property
    def is_of_point(self) -> bool:
        """Tell whether Python decided by values, or computed with them: elsewhere the function may be another one."""
        return bool(self.recorder.decisions.lost or self.recorder.decisions.guards) or any(opaque_outputs(self.program))

    def boundaries(self, wrt: Sequence[str]) -> Iterator[Boundary]:
        """Find the conditions that are decided otherwise next to the point."""
        guards = self.recorder.decisions.conditions(self.program)
        if not guards.conditions:
            return iter(())
        shapes = {symbol: tuple(self.recorder.leaves[symbol.name].value.shape) for symbol in guards.program.variables}
        inputs = {symbol.name: numbers_of(self.recorder.leaves[symbol.name].value) for symbol in shapes}
        return at_boundaries(guards, shapes, inputs, wrt)

    def condition_at(self, condition: Guard, arrays: Mapping[str, Array]) -> Array:
        """Evaluate a condition in floats, where some variables have other numbers."""
        program = self.recorder.decisions.conditions(self.program).program
        lines = tuple(needed(program.lines, condition.condition))
        program, leaves = replace(program, lines=lines, output=condition.condition), self.recorder.leaves
        numbers = {symbol: numbers_of(leaves[symbol.name].value).astype(np.float64) for symbol in program.variables}
        moved = {symbol.name: np.asarray(arrays.get(symbol.name, one), np.float64) for symbol, one in numbers.items()}
        return array_of(run(program, moved, (), "float64").output)

    @property
    def applications(self) -> Sequence[Application]:
        """Applications of custom functions; in a script, only the ones that the value is made of."""
        own = {origin.custom for line in self.program.lines if (origin := self.recorder.origins.get(line.symbol))}
        return [one for n, one in enumerate(self.recorder.places.applications) if n in own or not self.ran]

    @property
    def customs(self) -> tuple[str, ...]:
        """Names of the custom functions that it applies."""
        return tuple(dict.fromkeys(one.function.__name__ for one in self.applications))

    @property
    def has_jvp(self) -> bool:
        """Tell whether a custom function that it applies has a forward mode of its own."""
        return any(has_own(one.function, "jvp") for one in self.applications)

    def blamed(self, wrt: Sequence[str], mode: Mode | Literal[""] = "") -> str:
        """Say which custom function or hook makes a gradient wrong here; empty if none does."""
        return blamed(self, self.trials(mode), wrt, mode)

    def is_blame_measured(self, mode: Mode | Literal[""] = "") -> bool:
        """Tell whether a custom function is wrong next to its forward, which the recording does not follow."""
        return any(one.is_here and one.is_measured for one in self.trials(mode))

    def trials(self, mode: Mode | Literal[""] = "") -> list[Trial]:
        """Try each custom function by itself, once."""
        if mode not in self._trials:
            self._trials[mode] = trials(self, mode)
        return self._trials[mode]

    def trials_told(self, verdict: Verdict, mode: Mode | Literal[""] = "") -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Say which functions and operations are wrong, unless the verdict says so, and all that was tried."""
        found, rules = self.trials(mode), () if mode else broken_rules(self.recorder.opaque)
        wrong = (one for one in found if one.fault and not (one.is_here and verdict == "disagree"))
        meant = said_if_meant(self.call.function, [] if mode else found)
        return (*(one.fault for one in wrong), *rules), (*filter(None, (one.tried for one in found)), *meant)

    def weighted(self, v: Array) -> Recorded:
        """Record the sum of its outputs with these weights."""
        return replace(self.call, function=WeightedFunction(self.call.function, self.call.called, v)).recorded()

    def of_call(self, call: FunctionCall) -> Recorded:
        """Take the recording for that of another call of the function, with the value that it has there.

        Raises:
            InputError: It has none, as the shapes are others.
        """
        arrays = {name: call.given.get(name, array) for name, array in self.arrays.items()}
        value = array_of(run(self.program, arrays, (), call.dtype).output)
        return Recorded(call, self.program, arrays, self.constants, self.remarks, self.recorder, value)

    def with_values(self, arrays: Mapping[str, Array]) -> Recorded:
        """Record the same function at another point, where it may take other branches."""
        given = {name: array for name, array in arrays.items() if name not in self.constants}
        other = replace(self.call, given={**self.call.given, **given}).recorded()
        if other.program.names != self.program.names:
            message = f"{self.call.called} is another function at another point: it is made of other tensors there"
            raise InputError(message, hint="ask for each point by itself")
        return other


@dataclass(frozen=True)
class FunctionCall:
    """Function with the values that it is called with.

    Attributes:
        function: The function.
        called: Its name in messages.
        taken: Its parameters.
        given: Values by parameter, or by the name of a tensor that is found elsewhere.
        dtype: Dtype of the floating-point arguments.
        whole: The parameters that are given as whole numbers.
        maybe_whole: Others whose values are whole numbers, and were not given as floating-point ones by their type.
        borrowed: Gives back, when the question is over, the values of tensors found elsewhere that are given others.
        is_numpy: Whether it is a function of NumPy, to which tensors are given as arrays.
        makes_tensors: Whether such a function makes arrays of tensors, by `np.zeros(3)`.
        measures: Whether calls that cannot be read are kept as they are, and measured.
        structures: The structures of arguments, of which the function is given the nearest values.
        device: The device of the arguments.
        devices: That of single arguments, where it is another one.
        surroundings: What is set up around each run, also of its backward pass.
    """

    function: Callable[..., Any]
    called: str
    taken: Signature
    given: Mapping[str, Array]
    dtype: Dtype
    whole: frozenset[str] = frozenset()
    maybe_whole: frozenset[str] = frozenset()
    borrowed: dict[int, tuple[Tensor, Tensor, bool]] = field(default_factory=dict, repr=False)
    is_numpy: bool = False
    makes_tensors: bool = True
    measures: bool = True
    structures: Mapping[str, ArgumentStructure] = field(default_factory=dict)
    device: str = CPU
    devices: Mapping[str, str] = field(default_factory=dict)
    surroundings: Surroundings = field(default_factory=Surroundings, repr=False, compare=False)

    def of_another(self, function: Callable[..., Any], given: Mapping[str, Array], **other: Any) -> FunctionCall:
        """Return the call of another function, with these values; `other` are fields of the call."""
        return replace(self, function=function, given=given, **other)

    def recorded(
        self, constants: Mapping[str, Any] = MappingProxyType({}), numbers: Mapping[str, Array] = MappingProxyType({})
    ) -> Recorded:
        """Run the function once, and record it; with a custom function that cannot be read, again, as one call.

        Args:
            constants: Tensors that it finds elsewhere.
            numbers: The numbers that these are to hold.

        Raises:
            InputError: It fails, gives no tensor, cannot be recorded, or its recording gives another value.
        """
        return recorded_as_it_can_be(self.recorder, lambda one: self._recorded(one, constants, numbers), self.measures)

    def _recorded(self, recorder: Recorder, constants: Mapping[str, Any], numbers: Mapping[str, Array]) -> Recorded:
        try:
            ran = self.forward({**self.given, **numbers}, [*self.given], constants, recorder)
        finally:
            recorder.restore(but=constants)
        if ran.output.dtype is not getattr(torch, self.dtype):
            raise WrongDtypeError(dtype_name(ran.output.dtype))
        program = shared(self._with_arguments(recorder.program(recorder.number(ran.output)), recorder))
        arrays = {name: numbers_of(recorder.leaves[name].value) for name in program.names}
        found_elsewhere = tuple(name for name in program.names if not recorder.leaves[name].is_argument)
        said = (*recorder.decisions.remarks_on(program), *(() if self.is_numpy else remarks_on_numpy(self.function)))
        made = Recorded(self, program, arrays, found_elsewhere, said, recorder, array_of(ran.output))

        def on_cpu() -> Tensor:
            return replace(self, device=CPU, devices={}).forward(made.arrays, (), {}, None).output

        with contextlib.redirect_stdout(io.StringIO()):
            same = require_same(made, ran.output, on_cpu)
        return replace(made, largest=same.largest, fault=same.fault)

    def _with_arguments(self, program: Program, recorder: Recorder) -> Program:
        """Add the arguments that y does not follow to the variables: by these, its derivative is 0.

        One that may be of whole numbers is none of them if it decides something, as an index does, next to others.
        """
        given = [name for name in self.taken.tensors if name in self.given and name not in self.whole]
        lost = [name for name in given if name not in program.names]
        if len(lost) < len(given):
            deciding = recorder.decisions.conditions(program).program.names
            lost = [name for name in lost if name not in self.maybe_whole or name not in deciding]
        recorder.decisions.require_reason(lost, program.output_name)
        variables = tuple(recorder.lines.variables[name] for name in lost)
        return replace(program, variables=(*program.variables, *variables)) if lost else program

    def recorder(self, unread: OpaqueCalls | None = None) -> Recorder:
        """Make the recorder of a run, in which some custom functions are not read."""
        names = TensorNames(self.function, [name for name in self.taken.tensors if name in self.given])
        found = Recorder(names, getattr(torch, self.dtype), self.called)
        found.lines.context.builder.symbol = symbol_of
        if self.measures:
            found.opaque = OpaqueCalls() if unread is None else replace(unread, custom=[])
        return found

    def forward(
        self,
        arrays: Mapping[str, Array],
        wrt: Sequence[str],
        constants: Mapping[str, Any],
        recorder: Recorder | None,
        u: Direction = NOTHING_MOVES,
    ) -> Forward:
        """Run the function with a graph, and with the random numbers of the first run.

        Args:
            arrays: Values of the parameters and constants.
            wrt: The names to differentiate by.
            constants: The tensors that the function finds elsewhere, by name.
            recorder: The recorder of the run, if it is to be recorded.
            u: The direction in which names move, within a level of dual numbers.
        """
        values = {name: self._argument(name, arrays, wrt) for name in self.taken.kinds if name in self.given}
        tensors = {name: one for name, one in values.items() if isinstance(one, torch.Tensor)}
        if recorder is not None:
            recorder.give(tensors)
        give(constants, arrays, wrt, self.borrowed)
        if u:
            move_in_place(constants, u)
            values |= {name: dual(one, u[name]) for name, one in tensors.items() if name in u}
        if self.is_numpy:
            values |= {name: numpy_of_tensor(tensor) for name, tensor in tensors.items()}
        with (
            self.surroundings.running(f"{self.called} is called"),
            applications_seen_by(recorder),
            made_of_tensors() if self.is_numpy and self.makes_tensors else nullcontext(),
            recorder or nullcontext(),
        ):
            values = nearest_values(values, self.structures)
            called = seen_by(recorder, self.called, self._called)
            y = self.taken.call(lambda *args, **by_name: called(args, by_name), values)
        return Forward({**constants, **tensors}, y)

    def _called(self, args: Sequence[Argument], by_name: Mapping[str, Argument]) -> Tensor:
        """Call the function; give its results as one tensor."""
        found = self.function(*args, **by_name)
        return one_tensor(tensor_of_numpy(found) if self.is_numpy else found, self.called)

    def _argument(self, name: str, arrays: Mapping[str, Array], wrt: Sequence[str]) -> object:
        """Make a tensor, or a plain number or a word of Python, of the value of a parameter."""
        kind, is_whole = self.taken.kinds[name], name in self.whole
        if kind is not None or (is_whole and not self.given[name].ndim):
            return argument(kind or int, self.given[name], name)
        tensor = tensor_of(
            arrays[name],
            torch.int64 if is_whole else getattr(torch, self.dtype),
            self.devices.get(name, self.device),
        )
        return tensor.requires_grad_(name in wrt and not is_whole)

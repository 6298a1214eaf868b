"""`Function` that is a function of Python: run for its numbers, recorded for its formula and its enclosure.

Two implementations of one function have the same truth: is the error of one at most k times that of the other?
The question of authors of kernels in low precision, where neither has all digits.  The truth is the enclosure of
the baseline, recorded in float64 at the very numbers that both are given.

Source: the tests of FlashAttention, T. Dao et al., which allow twice the error of PyTorch in the same precision.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Unpack

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.devices import chosen, device_name, dtype_there
from gradcli.errors import InputError, UsageError, WrongGradientsError
from gradcli.language.inputs import Value, read_range, read_value
from gradcli.language.program.shape_readings import GivenShape
from gradcli.language.program.wengert import Shape
from gradcli.language.snippet_result import Snippet
from gradcli.option_words import option
from gradcli.parts import is_listed
from gradcli.parts.running.calling import (
    ArrayResultError,
    Called,
    advising_on_words,
    argument,
    give_values,
    module_of,
    name_of,
    require_constants,
    require_names,
    signature,
)
from gradcli.parts.running.numpy_arrays import is_of_numpy
from gradcli.parts.running.recorded import FunctionCall, Recorded
from gradcli.parts.running.stated_gradients import StatedGradient
from gradcli.parts.running.targets import Target, load
from gradcli.parts.running.whole_numbers import asks_for_index, sets_to_try
from gradcli.questions.bound_function import BoundFunction, Device, Dtype, FunctionWithValues
from gradcli.questions.likely_shapes import WithShapes, drawn_values
from gradcli.questions.naming import Inputs, with_name
from gradcli.questions.parsed_text import ArgumentStructure, JudgedOptions
from gradcli.recording.aten_calls import Argument, WrongDtypeError
from gradcli.results import Array, Checking, ClosedForm

if TYPE_CHECKING:
    from gradcli.parts.typed_function import TypedFunction as Function
else:
    from gradcli.function import Function


class PythonFunction(Function):
    """A function of Python with named parameters.

    Args:
        function: A callable of tensors: a function, a module, the `apply` of an `autograd.Function`.
        called: Its name in messages.
        tensors: Values of its first parameters, which `at` need not repeat.
        named: Values of parameters by name.

    Raises:
        InputError: Its parameters have no names.
        UsageError: They are fewer than the tensors.
    """

    def __init__(self, function: Called, called: str, tensors: Sequence[Argument] = (), /, **named: Argument) -> None:
        self.expression, self.function = called, function
        self.borrowed: dict[int, tuple[torch.Tensor, torch.Tensor, bool]] = {}
        self.structures: Mapping[str, ArgumentStructure] = {}
        taken = signature(function, called, len(tensors))
        if len(tensors) > len(taken.kinds):
            several = f"{len(taken.kinds)} argument{'s' * (len(taken.kinds) != 1)}"
            names = ", ".join(f"x{n}" for n in range(len(tensors)))
            function_name = called if called.replace(".", "").isidentifier() else "f"
            hint = f"one that takes a tuple of tensors: lambda {names}: {function_name}(({names}))"
            raise UsageError(f"{called} takes {several}, and {len(tensors)} are given", hint=hint)
        self._given: dict[str, Argument] = {**dict(zip(taken.kinds, tensors, strict=False)), **named}
        self._taken = taken.fixed(self._given)
        self._known: Recorded | None = None
        module = module_of(function)
        weights = () if module is None else module.parameters()
        known = [*self._given.values(), *weights]
        self._dtype, self._devices = _dtype_of(known), _devices_of(self._given)
        self._device = next((device_name(one) for one in known if isinstance(one, torch.Tensor)), "cpu")

    @property
    def variables(self) -> tuple[str, ...]:
        """The parameters that need a value, or all if each has one."""
        left = tuple(name for name in self._taken.kinds if name not in self._given)
        return tuple(name for name in left if name not in self._taken.optional) or left or self.parameters

    @property
    def parameters(self) -> tuple[str, ...]:
        """All parameters, in order."""
        return tuple(self._taken.kinds)

    @property
    def needed(self) -> tuple[str, ...]:
        """The parameters that need a value, or all if each has one."""
        return self.variables

    @property
    def places(self) -> tuple[str, ...]:
        """The parameters without a value, in order."""
        return tuple(name for name in self._taken.kinds if name not in self._given)

    @property
    def takes_others(self) -> bool:
        """Tell whether names may have a value that are found when it is run: weights, and data elsewhere."""
        return True

    @property
    def values_given(self) -> Sequence[object]:
        """The values that it has already."""
        return tuple(self._given.values())

    @property
    def has_values(self) -> bool:
        """Tell whether it can be called without further values."""
        return not [name for name in self._taken.kinds if name not in {*self._given, *self._taken.optional}]

    @property
    def has_passes(self) -> bool:
        """Tell whether it has backward passes of its own: it takes the question's."""
        return False

    @property
    def has_v(self) -> bool:
        """Tell whether it has a gradient vector of its own: it takes the question's."""
        return False

    def closed_form(self, *args: Argument, **options: Argument) -> ClosedForm:
        """Refuse, as a function of Python is recorded where it is called.

        Raises:
            InputError: Always.
        """
        hint = give_values(self.variables)
        raise InputError(f"{self.expression} is recorded at a point, and none is given", hint=hint)

    def _starting(
        self, at: Inputs | None, box: Mapping[str, str] | None, assume: Mapping[str, str] | None
    ) -> Inputs | None:
        """Return the values at which it is recorded for a check: without a point, the corner of its box."""
        values = self._by_name(at)
        boxes = with_name(box, self.variables, "--in")
        for name, text in boxes.items():
            if name not in values:
                values[name] = read_range(str(text), f"--in {name}")[0]
        for name, structure in self._structures(assume).items():
            if name in boxes and name in values:
                values[name] = structure.member(read_value(values[name], f"--at {name}"))
        return values

    def _structures(self, assume: Mapping[str, str] | None) -> Mapping[str, ArgumentStructure]:
        """Read the structures that are assumed of parameters."""
        if is_listed("claims"):
            from gradcli.parts.claims import structures_of_variables

            return structures_of_variables(assume, self.variables if len(self.variables) == 1 else self.parameters)
        return {}

    def _assuming(
        self, assume: Mapping[str, str] | None, at: Inputs | None, wrt: Sequence[str] | None
    ) -> PythonFunction:
        structures = self._structures(assume)
        for name, value in self._by_name(at).items():
            if name in structures:
                array, is_moved = read_value(value, f"--at {name}"), wrt is None or name in wrt
                structures[name].require(name, array, self._dtype or "float64", is_moved=is_moved)
        if not structures:
            return self
        function = copy.copy(self)
        function.structures = structures
        return function

    def _next_to(self, claims: Mapping[str, object]) -> PythonFunction:
        """Return the function: a text next to code does not change what it means."""
        return self

    def _require_valued(self, names: Container[str]) -> None:
        """Pass over the names of parameters, which have no other meaning."""

    def _asked_at_shapes(
        self, at: Inputs | None, shape: Mapping[str, GivenShape] | None, **options: Unpack[JudgedOptions]
    ) -> WithShapes:
        """Ask as for any function, recorded at random values, unless values decide what is recorded."""
        given, shape = self._by_name(at), shape or {}
        names = with_name(dict.fromkeys(shape, 0), self.variables, "--shape", self.expression)
        drawn = drawn_values(dict(zip(names, shape.values(), strict=True)), given)
        found = self._asked({**given, **drawn}, **options)
        if drawn and found.recording is not None and found.recording.is_of_point:
            message = f"values decide what {self.expression} computes, so that no shape tells its pattern"
            raise InputError(message, hint=give_values([*drawn]))
        unknown = {name: np.full(array.shape, np.nan) for name, array in drawn.items()}
        return WithShapes(replace(found, at={**found.at, **unknown}), frozenset(unknown))

    def _asked_at_rows(
        self,
        at: Inputs | None,
        wrt: Sequence[str] | None,
        dtype: Dtype | None,
        device: Device | None,
        shapes: Callable[[Sequence[str]], Mapping[str, Shape]],
    ) -> FunctionWithValues:
        """Ask as for any function, recorded at zeros, as only the shapes of columns count."""
        given = self._by_name(at)
        zeros = {
            name: np.zeros(shape) for name, shape in shapes([n for n in self.parameters if n not in given]).items()
        }
        unbound = self._asked({**given, **zeros}, wrt or list(zeros), dtype, device)
        return replace(unbound, at={name: value for name, value in unbound.at.items() if name not in zeros})

    def _undo_changes(self) -> None:
        """Give tensors found elsewhere their numbers back."""
        for tensor, before, requires_grad in self.borrowed.values():
            tensor.data.copy_(before)
            if tensor.is_leaf:
                tensor.requires_grad_(requires_grad)
        self.borrowed.clear()

    # -- recorded

    def _asked(
        self,
        at: Inputs | None,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        device: Device | None = None,
        check: bool = True,
    ) -> FunctionWithValues:
        made = self._recorded(self._by_name(at), dtype, frozenset(wrt or ()), device)
        constants = {name: made.arrays[name].astype(np.float64) for name in made.constants}
        own = {name: array for name, array in made.arrays.items() if name not in constants}
        wrt = made.arguments if wrt is None else wrt
        snippet = Snippet(made.program, values=constants, wrt=None)
        return FunctionWithValues(made.program.text, snippet, own, wrt, made.call.dtype, check, made)

    def stated(self, given: Mapping[str, Argument], variable: str, wrt: Sequence[str]) -> StatedGradient:
        """State that it gives the derivatives of another function."""
        return stated_gradient(self.function, self.expression, given, variable, wrt)

    def _argument_values(self, at: Inputs | None, bound: BoundFunction) -> Mapping[str, Argument]:
        """Return the arguments by name and in order: as they were given, or as their texts are read."""
        values: dict[str, Argument] = {**self._by_name(at)}
        for name, kind in self._taken.kinds.items():
            if isinstance(values.get(name), str):
                read = self._value(name, values[name])
                values[name] = read if kind is None else argument(kind, read, name)
        return {name: values[name] for name in self._taken.kinds if name in values}

    def _by_name(self, at: Inputs | None) -> dict[str, Value]:
        return {**self._given, **with_name(at, self.variables, whose=self.expression)}

    def _value(self, name: str, value: Value) -> Argument:
        """Read the numbers of a value, or the word of a parameter that takes one."""
        if self._taken.kinds.get(name) is str:
            return str(value)
        with advising_on_words(name, value):
            return read_value(value, f"--at {name}")

    def recorded(self, at: Inputs | None = None) -> Recorded:
        """Record the function at a point."""
        return self._recorded(self._by_name(at), None, frozenset(), None)

    def with_recording(self, made: Recorded) -> PythonFunction:
        """Return the function with its recording at the values that it was given, which need not be made again."""
        function = copy.copy(self)
        function._known = made
        return function

    def _recorded(
        self, given: Mapping[str, Argument], dtype: Dtype | None, wrt: frozenset[str], asked_device: str | None
    ) -> Recorded:
        """Record the function with arguments of the types that it takes.

        Tensors are of the dtype asked for, else of its own parameters, else float64; where it then meets another
        dtype, or torch asks for an index, it is called again with those.  They are on the device asked for, else each
        where it was given, or where its own parameters are.
        """
        is_as_given = given.keys() == self._given.keys() and all(
            given[name] is one for name, one in self._given.items()
        )
        if self._known is not None and is_as_given and dtype is None and asked_device is None and not self.structures:
            return self._known
        function, own = self.function, self._dtype
        if dtype is not None and own is not None and own != dtype and isinstance(function, torch.nn.Module):
            function = copy.deepcopy(function).to(getattr(torch, dtype))
        device, devices = self._device, self._devices | _devices_of(given)
        if asked_device is not None:
            device, devices = chosen(asked_device), {}
            if device != self._device and isinstance(function, torch.nn.Module):
                function = copy.deepcopy(function).to(device)
        device = next(iter(devices.values()), device)
        arrays = {name: self._value(name, value) for name, value in given.items()}
        known = {name: array for name, array in arrays.items() if name in self._taken.kinds}
        require_names(self._taken, tuple(given), self.expression)
        maybe = frozenset(
            name for name in self._taken.tensors
            if name in known and name not in wrt and not _is_of_floats(given[name]) and _is_whole(known[name])
        )  # fmt: skip
        kinds: list[Dtype] = [dtype] if dtype is not None else list(dict.fromkeys((own or "float64", *_DTYPES)))
        kinds = list(dict.fromkeys(dtype_there(device, kind, is_asked=dtype is not None)[0] for kind in kinds))
        first: InputError | None = None  # of types; another one, with whole numbers, is of the code
        other: InputError | None = None
        asks, sets = False, [*self._whole_sets(given, known, wrt)]
        for whole in (frozenset[str](), *sets):
            for kind in kinds if asks or not whole else ():
                call = FunctionCall(
                    function, self.expression, self._taken, known, kind, whole, maybe, self.borrowed,
                    structures=self.structures, device=device, devices=devices,
                )  # fmt: skip
                try:
                    return self._with_constants(call, {name: arrays[name] for name in arrays if name not in known})
                except InputError as error:
                    is_of_types = isinstance(error, WrongDtypeError) or isinstance(error.__cause__, _OF_TYPES)
                    if not (is_of_types or whole):
                        raise
                    asks |= error.__cause__ is not None and asks_for_index(error.__cause__)
                    first, other = first or error, other or (None if is_of_types else error)
        assert first is not None  # noqa: S101
        if asks and not sets:
            first.add(f"whole numbers have no derivative: {option('wrt')} names a tensor elsewhere to differentiate by")
        raise other or first

    def _with_constants(self, call: FunctionCall, others: Mapping[str, Array]) -> Recorded:
        """Record a call, and once more if tensors that it finds elsewhere are given values."""
        made = _recorded(call)
        require_constants(tuple(others), made.constants, self._taken, self.expression)
        constants = {name: made.recorder.leaves[name].tensor for name in others}
        return made.call.recorded(constants, others) if others else made

    def _whole_sets(
        self, given: Mapping[str, Argument], known: Mapping[str, Array], wrt: frozenset[str]
    ) -> Iterator[frozenset[str]]:
        """Give the sets of arguments that may be whole numbers: a floating-point one to differentiate by is left.

        None is needed where a tensor elsewhere is differentiated by, or where the whole numbers were given as such.
        """
        tensors = [name for name in self._taken.tensors if name in known]
        candidates = [one for one in tensors if one not in wrt and _is_whole(known[one])]
        floating = {name for name in tensors if not _is_of_integers(given[name])}
        for whole in sets_to_try(candidates):
            if floating - whole or not floating or wrt - {*tensors}:
                yield whole


def _recorded(call: FunctionCall) -> Recorded:
    """Record a call; of a function of NumPy with arrays in place of tensors, of which it makes others if it can."""
    try:
        return call.recorded()
    except InputError as error:
        if not (isinstance(error, ArrayResultError) or is_of_numpy(error.__cause__)):
            raise
        for makes_tensors in (True, False):
            with suppress(InputError):
                return replace(call, is_numpy=True, makes_tensors=makes_tensors).recorded()
        raise error from error.__cause__


def stated_gradient(
    function: Called, called: str, given: Mapping[str, Argument], variable: str, wrt: Sequence[str]
) -> StatedGradient:
    """State that a function gives the derivatives of another, as `StatedGradient` takes it."""

    def record(of_names: Called, values: Sequence[Argument]) -> Recorded:
        return PythonFunction(of_names, called, values).recorded()

    return StatedGradient(function, called, record, given, variable, wrt)


def _dtype_of(values: Sequence[Argument]) -> Dtype | None:
    """Find the dtype of the first tensor of floating-point numbers; None if questions do not have it."""
    kinds = (one.dtype for one in values if isinstance(one, torch.Tensor) and one.is_floating_point())
    known: dict[torch.dtype | None, Dtype] = {torch.float64: "float64", torch.float32: "float32"}
    return known.get(next(kinds, None))


def _devices_of(values: Mapping[str, Argument]) -> dict[str, str]:
    """Name the device of each tensor, by its name."""
    return {name: device_name(one) for name, one in values.items() if isinstance(one, torch.Tensor)}


def _is_of_integers(value: Argument) -> bool:
    """Tell whether a value was given as whole numbers by its type: a tensor of an index."""
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point()
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "iub"


def _is_of_floats(value: Argument) -> bool:
    """Tell whether a value was given as floating-point numbers by its type."""
    return isinstance(value, torch.Tensor | np.ndarray | np.generic) and not _is_of_integers(value)


def _is_whole(array: Array) -> bool:
    """Tell whether all numbers are whole."""
    return bool(np.all(array == np.round(array)))


_DTYPES: tuple[Dtype, ...] = ("float64", "float32")

_OF_TYPES = (TypeError, RuntimeError, IndexError)
"""Errors that torch raises where an argument should be of another type."""


def named(target: Target) -> Function:
    """Load the function that a target names, in its file or module.

    Raises:
        InputError: There is none, or it fails when it is run.
    """
    called = f"{PurePath(target.file).name}::{target.name}" if target.file else target.text
    return PythonFunction(load(target), called)


# -- two implementations

SEED = 0
"""Seed of the random gradient vector."""


def compare(
    function: Called, baseline: Called, tensors: Sequence[Argument], named: Mapping[str, Argument], k: float
) -> Checking:
    """Compare the errors of y and each gradient, for one random gradient vector, with `k` times those of the baseline.

    Args:
        function: The implementation to compare.
        baseline: The implementation to compare it with.
        tensors: The arguments of both, in order.
        named: The arguments of both by name.
        k: How many times the error of the baseline passes.

    Returns:
        The check of the baseline in float64, with a remark for y and for each gradient.

    Raises:
        WrongGradientsError: An error is larger than that and one rounding, or no truth is known.
        InputError: They give no tensors of one shape, or the baseline cannot be recorded.
    """
    exact = copy.deepcopy(baseline).double().cpu() if isinstance(baseline, torch.nn.Module) else baseline
    known = {name: _double(one) for name, one in named.items()}
    asked = PythonFunction(exact, name_of(exact), [*map(_double, tensors)], **known)
    given = dict(zip(asked.parameters, tensors, strict=False)) | dict(named)
    floats = [name for name, one in given.items() if isinstance(one, torch.Tensor) and one.is_floating_point()]
    wrt = [name for name in floats if given[name].requires_grad] or floats
    if not wrt:
        raise InputError("there is no tensor of floating-point numbers to differentiate by")
    v, *theirs = _ran(baseline, given, len(tensors), wrt)
    own, *mine = _ran(function, given, len(tensors), wrt)
    if own.shape != v.shape:
        raise InputError(f"the function gives a tensor of shape {tuple(own.shape)}, the baseline {tuple(v.shape)}")
    answer: Checking = asked.check(v=v.double().numpy(), wrt=wrt, dtype="float64")
    remarks, is_good = [], True
    for name, kind, *arrays in zip((None, *wrt), (own, *(given[name] for name in wrt)), mine, theirs, strict=True):
        entries = [one for one in answer.opinions if one.variable == name and one.reference is not None]
        truth = np.array([one.reference for one in entries], dtype=np.float64)
        places = [(one.row if name is None else one.column) or () for one in entries]
        error, other = (_largest(np.array([array[place] for place in places]) - truth) for array in arrays)
        allowed = k * other + torch.finfo(kind.dtype).eps * _largest(truth)
        passes = bool(entries) and error <= allowed
        is_good &= passes
        said = f"error {error:.2g}, of the baseline {other:.2g}, at most {allowed:.2g} ({len(entries)} entries)"
        called = f"{name}.grad" if name else answer.output
        remarks.append(f"{called}: {'passed' if passes else 'did not pass'}, {said}")
    if not is_good:
        less = f"{name_of(function)} is less accurate than {name_of(baseline)}"
        raise WrongGradientsError("\n".join([less, *remarks]))
    return replace(answer, remarks=(*answer.remarks, *remarks), passed=True)


def _largest(errors: Array) -> float:
    """Give the largest magnitude; infinity if an error is not finite."""
    return float(np.where(np.isfinite(errors), np.abs(errors), math.inf).max(initial=0.0))


def _double(one: Argument) -> Argument:
    return one.detach().cpu().double() if isinstance(one, torch.Tensor) and one.is_floating_point() else one


def _ran(function: Called, given: Mapping[str, Argument], positional: int, wrt: Sequence[str]) -> list[Argument]:
    """Run a function; give the gradient vector, then y and the gradients in float64."""
    values = {name: one.detach().clone().requires_grad_() if name in wrt else one for name, one in given.items()}
    items = list(values.items())
    y = function(*(one for _, one in items[:positional]), **dict(items[positional:]))
    if not isinstance(y, torch.Tensor):
        raise InputError(f"a function that is compared gives one tensor, and this gives a {type(y).__name__}")
    v = torch.randn(y.shape, generator=torch.Generator().manual_seed(SEED)).to(y.dtype)
    grads = torch.autograd.grad(y, [values[name] for name in wrt], v.to(y.device), materialize_grads=True)
    return [v, *(one.detach().cpu().double().numpy() for one in (y, *grads))]

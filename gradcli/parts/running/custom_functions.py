"""An `autograd.Function` tried by itself: the result of its `backward` in a variant, next to its forward's truth.

The truth is the derivative of the recorded forward.  A difference is wrong only if the forward itself, moved a little,
does not have the slope of the `backward`, and if the enclosure of the truth, where there is time for one, says so too:
at a kink the backward may follow a convention, and a forward may lose digits that its backward keeps.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import gradients, vjp
from gradcli.autodiff.run import Forward, Tensor, array_of, derivative_of, run, tensor_of
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.crosscheck.judge import judge
from gradcli.crosscheck.point import FunctionAtPoint, Numbers
from gradcli.errors import GradcliError, InputError, TooLargeError
from gradcli.language.program.shapes import infer
from gradcli.parts.running.calling import Signature, signature
from gradcli.parts.running.cuts import is_close, largest
from gradcli.parts.running.measured_slopes import SlopeOfNumber, slope_of_sum
from gradcli.parts.running.recorded_function import RecordedFunction, RepeatableCall
from gradcli.parts.running.variants import TriedArguments, Variant
from gradcli.progress import SECONDS, budget
from gradcli.questions.parsed_text import ArgumentStructure
from gradcli.recording.aten_calls import Application, Argument
from gradcli.recording.modes import TimeLimit
from gradcli.recording.pass_recorder import record
from gradcli.results import Array

MOST_ARGUMENT_ELEMENTS = 100_000
"""Most elements of the arguments of one function."""

CLOSE = {"float64": 1e-8, "float32": 1e-3}
"""Largest relative difference of gradients that count as the same."""

ROUNDINGS = 2**12
"""Largest error of a gradient relative to v and y/x, in units of the dtype, as a backward may compute from y."""

LEAST_SECONDS = 0.2
"""Seconds that one enclosure may take, though the time is nearly over."""

MORE_SECONDS = 1.0
"""Seconds beyond its time after which a forward at another point is ended: a loop may not end there."""


@dataclass(frozen=True)
class VariantResult:
    """Result of a variant: the gradients by `backward`, the true ones, and the arguments by which they are wrong.

    Attributes:
        variant: The variant.
        v: The gradient vector.
        y: The value.
        found: The gradients by `backward`.
        truth: The true ones.
        error: A fault besides wrong numbers: `backward` fails, or changes v.
        wrong: The arguments by which it is wrong.
        made: The recorded forward.
        ratios: By argument, the slope of the backward relative to that of the forward, where this is another one than
            that of the backward and of the recording.
    """

    variant: Variant
    v: Array
    y: Array
    found: Mapping[str, Array]
    truth: Mapping[str, Array]
    error: str
    wrong: Set[str]
    made: RecordedFunction = field(repr=False)
    ratios: dict[str, float] = field(default_factory=dict)


class _Replay(NamedTuple):
    """Recording that was run, with the values at which it was."""

    made: RecordedFunction
    arrays: Mapping[str, Array]
    forward: Forward


@dataclass
class CustomFunction:
    """Application of an `autograd.Function`, tried by itself; arguments that are no tensors stay as they were.

    Attributes:
        call: The call of the function with the tensors among its arguments.
        given: All arguments.
        arguments: The floating-point arguments.
        end: The processor time after which nothing is asked any more.
        most_variants: How many more variants may be tried.
        is_fully_recorded: Whether the recording follows the forward: that of a bisection may hold constant what moves.
    """

    call: RepeatableCall
    given: Mapping[str, Any]
    arguments: TriedArguments
    end: float = math.inf
    most_variants: float = math.inf
    is_fully_recorded: bool = True
    _made: dict[Any, RecordedFunction] = field(default_factory=dict, repr=False)
    _taken: set[tuple[tuple[int, ...], ...]] = field(default_factory=set, repr=False)
    """Shapes of the arguments that its backward has taken."""
    _last: _Replay | None = field(default=None, repr=False)

    method: ClassVar[str] = "backward"
    """The static method that is tried."""

    says_tried: ClassVar[bool] = True
    """Whether a remark says at which points it was tried."""

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments to differentiate by."""
        return self.arguments.names

    def takes(self, variant: Variant) -> bool:
        """Tell whether what is tried may come out otherwise in a variant."""
        return True

    def worded(self, fault: str) -> str:
        """Write the words for a fault, which are those on a `backward`, for what is tried."""
        return fault

    def try_variant(self, variant: Variant) -> VariantResult | None:
        """Ask once; None where the function has no value or no finite derivative, or cannot be recorded, or in time."""
        is_over = time.thread_time() > self.end or self.most_variants <= 0
        if is_over or not self.takes(variant) or (variant.is_far and not self.is_fully_recorded):
            return None
        self.most_variants -= 1
        dtype, generator = self.call.dtype, self.arguments.generator
        try:
            made = self.recorded(variant)
            arrays = {**made.arrays, **variant.arrays}
            forward = made.forward(arrays, variant.needs or self.names)
            y = array_of(self._replayed(made, variant).output)
            weights = variant.v(tensor_of(generator.normal(size=y.shape), forward.output.dtype, forward.output.device))
            truth = self._true(made, variant, array_of(weights))
            if variant.is_repeated:
                made.forward({**arrays, **{name: 0.9 * arrays[name] for name in self.names}}, self.names)
        except GradcliError:
            return None
        is_finite = all(np.isfinite(one).all() for one in (*truth.values(), y))
        is_same = is_close(array_of(forward.output), y, _digits(y, dtype))
        if not (is_finite and is_same and forward.output.requires_grad):
            return None
        found, error = self._tried(variant, made, forward, weights)
        shapes = tuple(array.shape for array in variant.arrays.values())
        if error.startswith("fails") and variant.is_reshaped and shapes not in self._taken:  # it may refuse a shape
            return None
        self._taken.add(shapes)
        result = VariantResult(variant, array_of(weights), y, {**truth, **found}, truth, error, set(), made)
        return replace(result, wrong=self._wrong(result))

    def _true(self, made: RecordedFunction, variant: Variant, v: Array) -> dict[str, Array]:
        """Compute the true gradients by the recording."""
        found = vjp(self._replayed(made, variant), v, self._inside(made))
        return {name: np.zeros_like(variant.arrays[name]) for name in self.names} | found

    def _inside(self, made: RecordedFunction) -> tuple[str, ...]:
        """Name the arguments that the value follows from."""
        return tuple(name for name in self.names if name in made.program.names)

    def _replayed(self, made: RecordedFunction, variant: Variant) -> Forward:
        """Run the recording at the values of a variant, once for all variants in a row that have the same."""
        if self._last is None or self._last.made is not made or self._last.arrays is not variant.arrays:
            forward = run(made.program, {**made.arrays, **variant.arrays}, self._inside(made), self.call.dtype)
            self._last = _Replay(made, variant.arrays, forward)
        return self._last.forward

    def believed(self, results: list[VariantResult]) -> list[VariantResult]:
        """Give the results that may show a fault."""
        return results

    def _tried(
        self, variant: Variant, made: RecordedFunction, forward: Forward, weights: Tensor
    ) -> tuple[dict[str, Array], str]:
        """Run the backward pass; give the gradients, and what is wrong with them besides their numbers."""
        names, before = variant.needs or self.names, weights.clone()
        try:
            with self.call.surroundings.guarded("its backward runs"):
                for _ in range(1 + variant.is_repeated):
                    own = gradients(forward.output, [forward.leaves[name] for name in names], weights)
        except GradcliError as raised:
            return {}, f"fails: {raised.message}"
        changes = "" if torch.equal(weights, before) else "changes the gradient vector that it is given"
        return dict(zip(names, map(derivative_of, own), strict=True)), changes

    def backward(self, result: VariantResult, v: Array) -> dict[str, Array]:
        """Run the backward pass of a variant with another gradient vector.

        Raises:
            GradcliError: It fails.
        """
        names = result.variant.needs or self.names
        forward = result.made.forward({**result.made.arrays, **result.variant.arrays}, names)
        weights = tensor_of(v, forward.output.dtype, forward.output.device)
        own = gradients(forward.output, [forward.leaves[name] for name in names], weights)
        return dict(zip(names, map(derivative_of, own), strict=True))

    def products(self, result: VariantResult, name: str) -> tuple[Array, ...]:
        """Compute the gradient by an argument for the gradient vector, its double, another one, and the sum of both.

        Raises:
            GradcliError: The backward pass fails.
        """
        w = self.arguments.generator.normal(size=result.v.shape).astype(result.v.dtype)
        twice, other, both = (self.backward(result, one)[name] for one in (2 * result.v, w, result.v + w))
        return result.found[name], twice, other, both

    def truth(self, result: VariantResult, name: str, v: Array) -> Array:
        """Compute the true gradient by an argument with another gradient vector."""
        return self._true(result.made, result.variant, v)[name]

    def is_same(self, result: VariantResult, name: str, found: Array, likely: Array) -> bool:
        """Tell whether two gradients by an argument are the same, but for rounding."""
        return is_close(found, likely, self.rounding(result, name) + _digits(likely, self.call.dtype))

    def rounding(self, result: VariantResult, name: str) -> float:
        """Give the error that rounding may leave in a gradient by an argument."""
        unit = ROUNDINGS * float(np.finfo(self.call.dtype).eps) * largest(result.v) * largest(result.y)
        return unit / max(1.0, largest(result.variant.arrays[name]))

    def _wrong(self, result: VariantResult) -> set[str]:
        """Name the arguments by which a gradient is wrong."""
        inside, names = self._inside(result.made), set(result.variant.needs or self.names)
        if result.error:
            return names
        wrong = {name for name in names if not self.is_same(result, name, result.found[name], result.truth[name])}
        is_near = not result.variant.is_far  # far away a function may turn many times within a step
        if is_near and self._may_be_unfollowed(result):
            wrong |= {name for name in names if self._slope(result, name).kind == "other"}
        slopes = {name: self._slope(result, name).kind for name in wrong}
        if is_near and not {"first", "other"}.isdisjoint(slopes.values()):
            self.is_fully_recorded = False
        cleared = ("first", "kink", "jump") if is_near else ()
        suspects = {name for name, slope in slopes.items() if slope not in cleared}
        certain = {name for name in suspects if is_near and slopes[name] == "other"}
        certain |= {name for name in suspects - {*inside} if slopes[name] in ("second", "other")}
        open_ones = (suspects & {*inside}) - certain
        if not (open_ones and self.is_fully_recorded):  # else the enclosure is of another function
            return certain
        arrays = {**result.made.arrays, **result.variant.arrays}
        found = {name: result.found[name] for name in names}
        with budget(max(LEAST_SECONDS, min(self.end - time.thread_time(), SECONDS))):
            contradicted, undecided = _enclosed(result, arrays, found, self.call.dtype)
        undecided &= {name for name, slope in slopes.items() if slope == "second"}
        return certain | (open_ones & (contradicted | undecided))

    def _may_be_unfollowed(self, result: VariantResult) -> bool:
        """Tell whether the recording of a forward may have a gradient that the forward has not, as of a bisection."""
        is_first = result.variant.arrays is self.arguments.values and not result.variant.tried
        operations = (line.call.op for line in result.made.program.lines)
        is_in_pieces = result.made.is_of_point or any(op.is_condition or op.is_step for op in operations)
        return (is_first or not self.is_fully_recorded) and is_in_pieces

    def _slope(self, result: VariantResult, name: str) -> SlopeOfNumber:
        """Find out whether the forward, moved by one argument, has the slope of the backward, or of its recording.

        Where both are one, the other slope is that of a constant.
        """
        arrays = {**result.made.arrays, **result.variant.arrays}

        def values(moved: Mapping[str, Array]) -> Array:
            return array_of(result.made.forward({**arrays, **moved}, ()).output)

        digits, truth = float(np.finfo(self.call.dtype).eps), result.truth[name]
        other = np.zeros_like(truth) if self.is_same(result, name, result.found[name], truth) else truth
        gradients_by = ({name: result.found[name]}, {name: other})
        found = slope_of_sum(values, {name: arrays[name]}, result.y, result.v, gradients_by, digits)
        if found.kind == "other":
            result.ratios[name] = found.ratio
        return found

    def recorded(self, variant: Variant) -> RecordedFunction:
        """Record it in the shapes and the layout of a variant, once, or at each point if values decide the text.

        Raises:
            InputError: It cannot be.
        """
        key = (*(array.shape for array in variant.arrays.values()), variant.layout, variant.output)
        if key not in self._made or self._made[key].is_of_point:
            call = self.call.of_another(lambda **given: self._applied(variant, given), variant.arrays, measures=False)
            self._made[key] = self._as_applied(call, variant) or call.recorded()
        return self._made[key]

    def _as_applied(self, call: RepeatableCall, variant: Variant) -> RecordedFunction | None:
        """Take the recording of the application for that of a variant, whose forward has to have its value.

        It is another function where shapes or the layout decide what the forward does, or stand in its text.
        """
        first = next(iter(self._made.values()), None)
        if first is None or first.is_of_point or first.constants or variant.output is not None:
            return None
        if variant.is_reshaped and any(line.call.op.of_shapes for line in first.program.lines):  # as a sort is
            return None
        try:
            made = first.of_call(call)
            made.forward(variant.arrays, ())  # which refuses another value
        except GradcliError:
            return None
        return made

    def _applied(self, variant: Variant, given: Mapping[str, Tensor]) -> Argument:
        """Apply the function to copies, as a forward may write to its arguments."""
        copies = {name: (variant.layout if name in self.names else torch.clone)(one) for name, one in given.items()}
        has_loops = any(made.is_of_point for made in self._made.values())
        with self._limit() if has_loops else contextlib.nullcontext():
            found = self.call.function(*{**self.given, **copies}.values())
        self.arguments.outputs = len(found) if isinstance(found, tuple | list) else 1
        return found if variant.output is None else found[variant.output]

    def _limit(self) -> TimeLimit:
        """Give a forward the time that is left, and a little more."""
        left = MORE_SECONDS + min(MORE_SECONDS, max(0.0, self.end - time.thread_time()))
        return TimeLimit(self.call.called, left)


Tried = TypeVar("Tried", bound=CustomFunction)


def alone(recorded: RecordedFunction, application: Application, kind: type[Tried]) -> Tried:
    """Take a function and its arguments out of a recording.

    Args:
        recorded: The recording.
        application: The application of the function.
        kind: What of the function is to be tried.

    Raises:
        GradcliError: Its parameters cannot be known, it was applied to too much, or cannot be recorded or judged.
    """
    function: TorchFunction = application.function
    names_of = signature(function.apply, "", len(application.arguments)).kinds
    given = dict(zip(names_of, application.arguments, strict=False))
    tensors = {name: one for name, one in given.items() if isinstance(one, torch.Tensor)}
    names = tuple(name for name, tensor in tensors.items() if tensor.is_floating_point())
    if sum(tensors[name].numel() for name in names) > MOST_ARGUMENT_ELEMENTS:
        raise TooLargeError("a custom function is applied to too much to be tried by itself")
    taken = Signature(dict.fromkeys(tensors), keyword_only=frozenset(tensors))
    arrays, whole = {name: array_of(one) for name, one in tensors.items()}, frozenset(tensors) - set(names)
    structures = {name: one for name in names if (one := _structure_of(arrays[name], recorded)) is not None}
    call = recorded.call.of_another(function.apply, arrays, taken=taken, whole=whole, structures=structures)
    found = kind(call, given, TriedArguments(arrays, names))
    made = found.recorded(Variant(arrays))
    if made.doubt:
        raise InputError(made.doubt)
    shapes = infer(made.program, {symbol: made.arrays[str(symbol)].shape for symbol in made.program.variables})
    most = max(2, sum(array.size for array in arrays.values())) ** 2
    found.arguments.is_steep = max(map(math.prod, shapes.values()), default=0) > most
    return found


def _structure_of(array: Array, recorded: RecordedFunction) -> ArgumentStructure | None:
    """Return the structure among those that are assumed of the whole that an argument of a part has, too."""
    for one in recorded.call.structures.values():
        with contextlib.suppress(InputError):
            one.require("", array, recorded.call.dtype)
            return one
    return None


class _Enclosed(NamedTuple):
    """Comparison of gradients with the enclosure of the truth: the arguments by which they are wrong, or undecided."""

    contradicted: set[str]
    undecided: set[str]


def _enclosed(result: VariantResult, arrays: Mapping[str, Array], found: Mapping[str, Array], dtype: str) -> _Enclosed:
    """Compare gradients with the enclosure of the truth, within the time that is left."""
    made = result.made
    program, names = made.program, tuple(name for name in found if name in made.program.names)
    if any(made.boundaries(names)):
        return _Enclosed(set(), set())
    shapes = infer(program, {symbol: arrays[str(symbol)].shape for symbol in program.variables})
    point = FunctionAtPoint.from_inputs(program, shapes, {name: arrays[name] for name in program.names}, record)
    entries = judge(point, Numbers.of_first_order(dtype, result.y, None, result.v, {**found}), names).entries
    decided = {str(entry.variable) for entry in entries if entry.verdict != "unchecked"}
    wrong = {str(entry.variable) for entry in entries if entry.verdict in ("disagree", "nan-trap")}
    return _Enclosed(wrong, {*names} - decided)


def _digits(array: Array, dtype: str) -> float:
    """Give the largest difference that counts as none, relative to the largest number."""
    return CLOSE[dtype] * max(largest(array), float(np.finfo(np.float64).tiny))

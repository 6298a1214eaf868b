"""Calls that a recorder cannot read: of operations of others, kernels, and functions that leave torch.

Each is kept with what it was given, so that it can be called again: by torch, where the recording runs once more, and
to measure its slopes, which is done when an enclosure first asks for them.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import io
import itertools
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, array_of, dtype_name, tensor_of
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.errors import GradcliError, InputError
from gradcli.language.ops.structure import OPAQUE
from gradcli.language.program.opaque import LocalMeaning, MeasuredSlopes
from gradcli.language.program.wengert import AskedMeaning, Atom
from gradcli.recording.aten_calls import (
    LOW,
    Argument,
    Overload,
    copied,
    name_of,
    replaced,
    tensors_in,
    unbound,
    writes,
)
from gradcli.recording.aten_lowering import AtenLowering
from gradcli.recording.call_recorder import CallRecorder
from gradcli.recording.memory import as_real
from gradcli.recording.places import CallPlace
from gradcli.recording.slope_measurement import Floats, Measurement, measure
from gradcli.recording.tracking import leaves_of_graph, require_seen_results

MOST_COLUMNS = 32
"""Most numbers that a call is moved by one by one; a larger one is moved along random directions."""

MOST_SLOPES = 2**12
"""Most slopes of one result of a call that are measured one by one."""

OF_CODE = (RuntimeError, ValueError, TypeError, ArithmeticError, LookupError, AssertionError, AttributeError, OSError)
"""Errors that a call may raise next to its point."""

SAME = 64
"""Roundings of the dtype of a call by which what it gives in float64 may be off, to be measured in float64."""


@dataclass(eq=False)
class OpaqueCall:
    """Call with what it was given.

    Attributes:
        called: Name of the function.
        function: Calls it with other tensors in the place of those that move; gives all tensors of its result.
        given: Its tensors of floating-point numbers, as they were.
        moves: Which of them may move.
        values: The tensors that it gave.
    """

    called: str
    function: Callable[[Sequence[Tensor]], Sequence[Tensor]] = field(repr=False)
    given: Sequence[Tensor] = field(repr=False)
    moves: Sequence[bool] = field(repr=False)
    values: Sequence[Tensor] = field(repr=False)
    _measured: dict[int, Sequence[MeasuredSlopes | None]] = field(default_factory=dict, repr=False)

    @cached_property
    def _moving(self) -> list[Tensor]:
        return [one for one, moves in zip(self.given, self.moves, strict=True) if moves]

    @cached_property
    def _x(self) -> Floats:
        return np.concatenate([np.empty(0), *(array_of(one).astype(np.float64).ravel() for one in self._moving)])

    def call(self, x: Floats, kind: torch.dtype) -> list[Floats | None]:
        """Call it in a dtype, with other numbers that move; give the numbers of each tensor of floating point, flat."""
        tensors, start = list[Tensor](), 0
        for one, moves in zip(self.given, self.moves, strict=True):
            if not moves:
                tensors.append(one.detach().to(kind))
                continue
            tensors.append(tensor_of(x[start : start + one.numel()].reshape(tuple(one.shape)), kind))
            start += one.numel()
        with torch_internals.without_modes(), torch.no_grad():
            found = self.function(tensors)
        return [array_of(one).astype(np.float64).ravel() if one.is_floating_point() else None for one in found]

    def large(self, n: int) -> str:
        """Say that the slopes of a result are too many to be measured one by one; empty if they are not."""
        count, rows = sum(one.numel() for one in self._moving), self.values[n].numel()
        is_large = count > MOST_COLUMNS or count * rows > MOST_SLOPES
        return f"{self.called} has {count * rows:,} slopes, which are not measured one by one" if is_large else ""

    def slopes(self, n: int) -> Sequence[MeasuredSlopes | None]:
        """Measure the slopes of a result by each tensor, once; None by one that does not move."""
        if n not in self._measured:
            found = iter(self._slopes(n))
            self._measured[n] = [next(found) if moves else None for moves in self.moves]
        return self._measured[n]

    def _slopes(self, n: int) -> Sequence[MeasuredSlopes]:
        sizes = [one.numel() for one in self._moving]
        y = array_of(self.values[n]).astype(np.float64).ravel()
        if reason := self.large(n):
            return [MeasuredSlopes(np.zeros(()), np.zeros(()), unknown=reason)] * len(sizes)
        try:
            with _undisturbed():
                kind, found = self._measure(n, y)
        except (GradcliError, *OF_CODE) as error:
            why = error.message if isinstance(error, GradcliError) else " ".join(str(error).split())
            hint = getattr(error, "hint", None)
            reason = f"the slopes of {self.called} are not known: {why}" + f" ({hint})" * bool(hint)
            return [MeasuredSlopes(np.zeros(()), np.zeros(()), unknown=reason)] * len(sizes)
        ends = np.cumsum(sizes)[:-1]
        parts = zip(np.split(found.slopes, ends, axis=1), np.split(found.errors, ends, axis=1), strict=True)
        noted = self._noted(found, kind)
        return [MeasuredSlopes(slopes, errors, noted=noted) for slopes, errors in parts]

    def _measure(self, n: int, y: Floats) -> tuple[torch.dtype, Measurement]:
        """Measure in float64 if the call takes it and gives the same then, else in its own dtype."""
        own = self.values[n].dtype

        def values(kind: torch.dtype) -> Callable[[Floats], Floats]:
            def function(x: Floats) -> Floats:
                found = self.call(x, kind)[n]
                if found is None or found.shape != y.shape:
                    raise InputError("next to its point it gives tensors of another shape")
                return found

            return function

        kind, here = own, values(own)(self._x)
        allowed = SAME * torch.finfo(own).eps * float(np.abs(y).max(initial=0.0))
        if not np.allclose(here, y, rtol=0, atol=allowed, equal_nan=True):
            raise InputError("it gives other numbers when it is called again")
        if own is not torch.float64:
            try:
                exact = self.call(self._x, torch.float64)[n]
            except (RuntimeError, ValueError, TypeError):
                exact = None
            if exact is not None and exact.shape == y.shape and (np.abs(exact - y) <= allowed).all():
                kind, here = torch.float64, exact
        return kind, measure(values(kind), self._x, here, float(torch.finfo(kind).eps))

    def _noted(self, found: Measurement, kind: torch.dtype) -> str:
        if found.kink is not None:
            slopes = f"its slope is {found.kink.before:.6g} before the point and {found.kink.after:.6g} after it"
            return f"{self.called} has a kink here: along {self._place(found.kink.column)} {slopes}"
        noise = f"the numbers of {self.called} are known to {found.noise:.0e}, which hides their slopes"
        if kind is torch.float64:
            return f"{noise}: compute in float64 inside of it, or compare it with another implementation, versus="
        way = "check it in float64, or against another implementation, versus="
        return f"{noise} in {dtype_name(kind)}: {way}"

    def _place(self, column: int) -> str:
        for n, one in enumerate(self._moving):
            if column < one.numel():
                index = [int(i) for i in np.unravel_index(column, tuple(one.shape))] if one.ndim else ""
                return f"argument {n + 1}{index}".replace(", ", ",")
            column -= one.numel()
        return ""


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Call in silence, and leave the generators of random numbers as they are."""
    of_numpy = np.random.get_state()
    with (
        torch.random.fork_rng(devices=()),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            yield
        finally:
            np.random.set_state(of_numpy)


@dataclass(frozen=True, eq=False)
class OpaqueResult:
    """One tensor that an opaque call gives: see `language.program.opaque.OpaqueOutput`.

    Attributes:
        call: The call.
        number: The place of the tensor among all that it gives.
    """

    call: OpaqueCall
    number: int

    @property
    def called(self) -> str:
        """Name of the function that is called."""
        return self.call.called

    @property
    def name(self) -> str:
        """A name of the function for texts, without its place."""
        return re.sub(r"\W+", "_", self.call.called.partition(" (")[0])

    @property
    def large(self) -> str:
        """The reason why its slopes are not measured one by one; empty if they are."""
        return self.call.large(self.number)

    @property
    def value(self) -> Floats:
        """What it gave at the point."""
        return array_of(self.call.values[self.number]).astype(np.float64)

    def run(self, operands: Sequence[Tensor]) -> Tensor:
        """Call it with other tensors."""
        with _undisturbed():
            return self.call.function(operands)[self.number]

    def slopes(self) -> Sequence[MeasuredSlopes | None]:
        """Measure its slopes by each operand."""
        return self.call.slopes(self.number)


@dataclass(frozen=True)
class Repeatable:
    """Call that can be made again with other tensors; complex numbers are two parts in a last dimension there.

    Attributes:
        tensors: Those of floating-point or complex numbers that it was made with, as they were given.
        again: Makes the call with others, and gives all tensors of its result.
    """

    tensors: Sequence[Tensor]
    again: Callable[[Sequence[Tensor]], list[Tensor]]

    def with_found(self, outputs: Sequence[Tensor]) -> Repeatable:
        """Give also the leaves that the call finds elsewhere, such as weights, which hold other numbers meanwhile."""
        given = {id(one) for one in leaves_of_graph(self.tensors)}
        found = [one for one in leaves_of_graph(outputs) if id(one) not in given and not one.is_complex()]
        count = len(self.tensors)

        def again(tensors: Sequence[Tensor]) -> list[Tensor]:
            before = [copied(one) for one in found]
            try:
                _set_numbers(found, tensors[count:])
                return self.again(tensors[:count])
            finally:
                _set_numbers(found, before)

        return replace(self, tensors=[*self.tensors, *found], again=again) if found else self


def _set_numbers(tensors: Sequence[Tensor], numbers: Sequence[Tensor]) -> None:
    with torch.no_grad():
        for one, other in zip(tensors, numbers, strict=True):
            one.data.copy_(other)


def repeatable(function: TorchFunction, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Repeatable:
    """Keep a call, with copies of all tensors that do not move."""
    given = tensors_in((list(args), dict(kwargs)))
    kept = {n: copied(one) for n, one in enumerate(given) if not can_move(one)}
    moving = [one for one in given if can_move(one)]

    def again(tensors: Sequence[Tensor]) -> list[Tensor]:
        numbers, others = itertools.count(), iter(tensors)

        def other(one: Tensor) -> Tensor:
            n = next(numbers)
            if n in kept:
                return kept[n]
            found = next(others)
            return torch.view_as_complex(found.contiguous()) if one.is_complex() else found

        by_position, by_name = replaced((list(args), dict(kwargs)), torch.Tensor, other)
        found = tensors_in(function(*by_position, **by_name))
        return [torch.view_as_real(one.resolve_conj()) if one.is_complex() else one for one in found]

    return Repeatable(moving, again)


def can_move(tensor: Tensor) -> bool:
    """Tell whether a tensor is of numbers with derivatives."""
    return tensor.is_floating_point() or tensor.is_complex()


def append(lines: AtenLowering, call: OpaqueCall, number: int, operands: Sequence[Atom]) -> Atom:
    """Append the line of a result of a call, with its tensors as operands."""
    shapes = tuple(lines.shape(one) for one in operands)
    output = OpaqueResult(call, number)
    shape = tuple(call.values[number].shape)
    meaning = AskedMeaning(shapes, (None,) * len(shapes), shape, LocalMeaning(output, shapes))
    return lines.context.builder.emit(OPAQUE, tuple(operands), lines.span, (output, meaning))


@dataclass(frozen=True)
class CustomCall:
    """Call of an operation that is not torch's.

    Attributes:
        name: Its name, with its namespace.
        function: The operation.
        given: Its arguments by name, with copies of the tensors.
    """

    name: str
    function: Overload
    given: Mapping[str, Argument]


class BrokenRuleError(InputError):
    """Error of an operation that does what its schema does not say."""


@dataclass
class OpaqueCalls:
    """Recorder of the calls of one recording that cannot be read.

    Attributes:
        functions: The names of subclasses of `autograd.Function` whose applications are recorded as a whole.
        is_whole: Whether all that runs is recorded as one call.
        custom: The calls of operations that are not torch's.
    """

    functions: tuple[str, ...] = ()
    is_whole: bool = False
    custom: list[CustomCall] = field(default_factory=list)

    def copies(self, name: str, given: Mapping[str, Argument]) -> dict[str, Argument]:
        """Copy the arguments of an operation that is not torch's, before it runs; nothing of another."""
        found: dict[str, Argument] = replaced(dict(given), torch.Tensor, copied) if "::" in name else {}
        return found

    def note_custom(
        self,
        name: str,
        function: Overload,
        before: Mapping[str, Argument],
        given: Mapping[str, Argument],
        place: CallPlace,
    ) -> None:
        """Note a call of an operation that is not torch's.

        Raises:
            BrokenRuleError: It has changed an argument, which its schema does not say.
        """
        for key, one in given.items():
            if _are_changed(one, before[key]):
                message = f"{name}{place} changes its argument {key}, and its schema does not say so"
                raise BrokenRuleError(message, hint=f"mutates_args=('{key}',) says it, or change a .clone() of it")
        self.custom.append(CustomCall(name, function, before))

    def apply(
        self, recorder: CallRecorder, function: TorchFunction, args: Sequence[Argument], apply: Callable[..., Argument]
    ) -> Argument:
        """Apply an `autograd.Function`; of one whose `forward` cannot be read, record the application as a whole.

        Raises:
            UnseenCodeError: It gives back what code has written that cannot be seen.
            InputError: It cannot be recorded as a whole.
        """
        if recorder.is_one_call or recorder.is_paused or not tensors_in(args):
            return apply(*args)
        if full_name(function) not in self.functions:
            found = apply(*args)
            require_seen_results(recorder, function, tensors_in(args), tensors_in(found))
            return found
        place = replace(recorder.places.find(), custom=None)
        recorder._learn_names(place.frame)
        repeated = repeatable(function.apply, args, {})
        return call_as_one(recorder, function.__name__, repeated, args, apply, place)


def call_as_one(
    recorder: CallRecorder,
    called: str,
    repeated: Repeatable,
    args: Sequence[Argument],
    function: Callable[..., Argument],
    place: CallPlace,
    *,
    finds_others: bool = False,
) -> Argument:
    """Call a function, whatever it does, and record that as one call.

    Args:
        recorder: The recorder.
        called: The name of the function.
        repeated: The same call, to be made again.
        args: The arguments.
        function: The function.
        place: Where it is called.
        finds_others: Whether autograd may follow it from other tensors than its arguments, such as weights.

    Raises:
        BrokenRuleError: It changes its arguments.
        InputError: It gives them back, or nothing that has slopes.
    """
    before = [copied(one) for one in tensors_in(args)]
    recorder.is_one_call = True
    try:
        with recorder.paused():
            found = function(*args)
    finally:
        recorder.is_one_call = False
    outputs = tensors_in(found)
    if any(one is other for one in outputs for other in tensors_in(args)) or not _has_slopes(args, outputs):
        raise InputError(f"{called} gives back its arguments{place}, or no numbers to measure")
    if _are_changed(args, before):
        message = f"{called} changes its arguments{place}, and does not say so"
        raise BrokenRuleError(message, hint="ctx.mark_dirty says it, or change a .clone()")
    repeated = repeated.with_found(outputs) if finds_others else repeated
    atoms = _recorded(recorder, called, repeated, outputs, place)
    inputs = [recorder.operand(one, place) for one in repeated.tensors]
    for output, atom in zip(outputs, atoms, strict=True):
        recorder._note_result(output, atom, inputs, place)
    return found


def _are_changed(given: object, before: object) -> bool:
    """Tell whether tensors have other numbers than their copies."""
    pairs = zip(tensors_in(given), tensors_in(before), strict=True)
    with torch_internals.without_dispatch(), torch_internals.without_functions():
        return any(not np.array_equal(array_of(a), array_of(b), equal_nan=can_move(a)) for a, b in pairs)


def full_name(function: type) -> str:
    """Name a class, which code may make anew in each of its runs."""
    return f"{function.__module__}.{function.__qualname__}"


def record_unread(
    recorder: CallRecorder,
    function: Overload,
    given: Mapping[str, Argument],
    outputs: Sequence[Argument],
    place: CallPlace,
    refused: GradcliError | None,
) -> list[Atom | None]:
    """Record a call that cannot be read as one line for each tensor of numbers that it gives.

    Raises:
        InputError: It cannot be called again, or has no slopes.
    """
    if recorder.opaque is not None and not writes(function) and _has_slopes(given, outputs):
        repeated = repeatable(function, *unbound(function, given))
        return _recorded(recorder, name_of(function).lstrip("_"), repeated, outputs, place)
    why = "which has no meaning here" if refused is None else f"which is not read: {refused.message}"
    of = " of complex numbers" * any(one.is_complex() for one in tensors_in(given))
    hint = None if refused is None else refused.hint
    raise InputError(f"{recorder.called} calls {function}{of}{place}, {why}", hint=hint)


def _recorded(
    recorder: CallRecorder, called: str, repeated: Repeatable, outputs: object, place: CallPlace
) -> list[Atom | None]:
    lines = recorder.lines
    operands = [lines.number(recorder.operand(one, place)) for one in repeated.tensors]
    given = [copied(as_real(one)) for one in repeated.tensors]
    moves = [one.requires_grad for one in repeated.tensors]
    values = [copied(as_real(one)) for one in tensors_in(outputs)]
    call = OpaqueCall(f"{called}{place}", repeated.again, given, moves, values)
    return [append(lines, call, n, operands) if one.is_floating_point() else None for n, one in enumerate(values)]


def _has_slopes(given: object, outputs: object) -> bool:
    """Tell whether some result of a call is of numbers, and none is of few digits."""
    is_low = any(one.dtype in LOW for one in tensors_in([given, outputs]))
    return not is_low and any(map(can_move, tensors_in(outputs)))

"""A call that can be made again with other tensors: by torch, where a recording runs once more, and to measure slopes.

The slopes are measured when an enclosure first asks for them.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gradcli.arrays import told_apart
from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, array_of, dtype_name, tensor_of
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.errors import GradcliError, InputError
from gradcli.language.ops.structure import OPAQUE
from gradcli.language.program.opaque import LocalMeaning, MeasuredSlopes
from gradcli.language.program.wengert import AskedMeaning, Atom
from gradcli.recording.aten_calls import Argument, copied, replaced, tensors_in
from gradcli.recording.aten_lowering import AtenLowering
from gradcli.recording.slope_measurement import Floats, Measurement, measure
from gradcli.recording.tracking import leaves_of_graph

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
        if not np.isfinite(y).all():
            raise InputError(f"its value is {y[~np.isfinite(y)][0]} here, next to which no slope can be measured")

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
            except OF_CODE:  # it may be of its own dtype alone
                exact = None
            if exact is not None and exact.shape == y.shape and (np.abs(exact - y) <= allowed).all():
                kind, here = torch.float64, exact
        return kind, measure(values(kind), self._x, here, float(torch.finfo(kind).eps))

    def _noted(self, found: Measurement, kind: torch.dtype) -> str:
        if found.kink is not None:
            before, after = told_apart(found.kink.before, found.kink.after)
            slopes = f"its slope is {before} before the point and {after} after it"
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


@dataclass(frozen=True)
class _Moving:
    """Place of a tensor that moves among the arguments of a call."""

    is_complex: bool


def repeatable(function: TorchFunction, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Repeatable:
    """Keep a call, with copies of all tensors that do not move; those that do are not kept alive by it."""
    moving: list[Tensor] = []

    def kept(one: Tensor) -> Argument:
        if not can_move(one):
            return copied(one)
        moving.append(one)
        return _Moving(one.is_complex())

    by_place, by_name = replaced((list(args), dict(kwargs)), torch.Tensor, kept)

    def again(tensors: Sequence[Tensor]) -> list[Tensor]:
        others = iter(tensors)

        def other(one: _Moving) -> Tensor:
            found = next(others)
            return torch.view_as_complex(found.contiguous()) if one.is_complex else found

        given, named = replaced((by_place, by_name), _Moving, other)
        found = tensors_in(function(*given, **named))
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

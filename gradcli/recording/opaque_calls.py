"""Calls that a recorder cannot read: of operations of others, kernels, and functions that leave torch.

Each is one line, with what it was given, so that it can be called again: see `repeated_calls`.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, array_of
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.errors import GradcliError, InputError
from gradcli.language.program.wengert import Atom
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
from gradcli.recording.call_recorder import CallRecorder
from gradcli.recording.memory import as_real
from gradcli.recording.places import CallPlace
from gradcli.recording.repeated_calls import OpaqueCall, Repeatable, append, can_move, repeatable
from gradcli.recording.tracking import require_seen_results


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
        custom: The first call of each operation that is not torch's.
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
        if name not in (one.name for one in self.custom):
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
    repeated = repeated.with_found(tensors_in(found)) if finds_others else repeated
    record_as_one(recorder, called, repeated, args, before, found, place)
    return found


def record_as_one(
    recorder: CallRecorder,
    called: str,
    repeated: Repeatable,
    args: Sequence[Argument],
    before: Sequence[Tensor],
    found: Argument,
    place: CallPlace,
) -> None:
    """Record a call that was made as one, whatever it did.

    Args:
        recorder: The recorder.
        called: The name of the function.
        repeated: The same call, to be made again.
        args: The arguments.
        before: Copies of the tensors among them, as they were before.
        found: What it gave.
        place: Where it was called.

    Raises:
        BrokenRuleError: It changed its arguments.
        InputError: It gave them back, or nothing that has slopes.
    """
    outputs = tensors_in(found)
    if any(one is other for one in outputs for other in tensors_in(args)) or not _has_slopes(args, outputs):
        raise InputError(f"{called} gives back its arguments{place}, or no numbers to measure")
    if _are_changed(args, before):
        message = f"{called} changes its arguments{place}, and does not say so"
        raise BrokenRuleError(message, hint="ctx.mark_dirty says it, or change a .clone()")
    atoms = _recorded(recorder, called, repeated, outputs, place)
    for output in outputs:
        recorder.buffers.forget(output)
    inputs = [recorder.operand(one, place) for one in repeated.tensors]
    for output, atom in zip(outputs, atoms, strict=True):
        recorder._note_result(output, atom, inputs, place)


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

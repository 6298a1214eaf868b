"""Custom functions whose forward cannot be read: the run that meets one is repeated, and records it as one call.

What is bound to Python without such a function, as one of C++ with its own backward, makes all of the run one call.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from gradcli.autodiff import torch_internals
from gradcli.autodiff.run import Tensor
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.errors import GradcliError, InputError
from gradcli.parts.running.late_recording import LateRecorder
from gradcli.recording.aten_calls import Argument, WrongDtypeError, tensors_in
from gradcli.recording.foreign_memory import UnseenCodeError
from gradcli.recording.memory import memory
from gradcli.recording.opaque_calls import BrokenRuleError, OpaqueCalls, call_as_one, full_name, record_as_one
from gradcli.recording.places import CallPlace
from gradcli.recording.recorder import Recorder
from gradcli.recording.repeated_calls import repeatable
from gradcli.recording.tracking import require_seen_results

Recording = TypeVar("Recording")


def recorded_as_it_can_be(
    make_recorder: Callable[[OpaqueCalls], Recorder], record: Callable[[Recorder], Recording], measures: bool
) -> Recording:
    """Record a run; where that fails, once more, with the custom functions that were met last as one call each.

    Where code made a value that cannot be seen, and there is no such function, all of the run is one call.

    Args:
        make_recorder: Makes the recorder of a run, with what is not read in it.
        record: Runs and records.
        measures: Whether anything may be left unread.

    Raises:
        InputError: It cannot be recorded; the first reason.
    """
    functions, is_whole, first = tuple[str, ...](), False, None
    while True:
        recorder = make_recorder(OpaqueCalls(functions, is_whole))
        try:
            return record(recorder)
        except (WrongDtypeError, BrokenRuleError):
            raise
        except InputError as error:
            first = first or error
            is_of_code = not isinstance(error.__cause__, GradcliError | None)  # which would raise it again
            if is_of_code or is_whole or not measures:
                raise first from first.__cause__
            applied = [name for name in map(full_name, _met(recorder, error)) if name not in functions]
            if not (applied or isinstance(error, UnseenCodeError)):
                raise first from first.__cause__
            functions, is_whole = (*functions, *applied[-1:]), not applied


def _met(recorder: Recorder, error: InputError) -> list[type]:
    """List the custom functions in which recording may have ended, the likeliest last."""
    if isinstance(error, UnseenCodeError) and error.function is not None:
        return [error.function]
    return [one.function for one in recorder.places.applications]  # mostly it is in the forward of the last


def applications_seen_by(recorder: Recorder | None) -> contextlib.AbstractContextManager[None]:
    """Have a recorder see in a block where custom functions are applied."""
    if recorder is None:
        return contextlib.nullcontext()
    return torch_internals.applying(functools.partial((recorder.opaque or OpaqueCalls()).apply, recorder))


def apply_in_script(
    recorder: LateRecorder, function: TorchFunction, args: Sequence[Argument], apply: Callable[..., Argument]
) -> Argument:
    """Apply a custom function in a script, which runs once; record one whose forward cannot be read as one call."""
    place = recorder.places.find()
    if place.custom is None or not tensors_in(args):  # a transform wraps its tensors
        return apply(*args)
    earlier, recorder.lost, forget = recorder.lost, None, recorder.decisions.until_now()
    try:
        found = apply(*args)
        with recorder.keeping_errors():
            require_seen_results(recorder, function, tensors_in(args), tensors_in(found))
        unread = recorder.lost
        if unread is not None and not isinstance(unread, BrokenRuleError):
            forget()
            recorder.lost = None
            with recorder.keeping_errors():
                _record_application(recorder, function, args, found, place)
            recorder.lost = recorder.lost and unread  # the first reason
    finally:
        recorder.lost = earlier or recorder.lost
    return found


def _record_application(
    recorder: LateRecorder, function: TorchFunction, args: Sequence[Argument], found: Argument, place: CallPlace
) -> None:
    """Record an application that is over as one call, in the place of what was recorded of it."""
    assert place.custom is not None  # noqa: S101
    before = tensors_in(recorder.places.applications[place.custom].arguments)
    of_arguments = {memory(one) for one in tensors_in(args)}
    if any(memory(one) in of_arguments for one in tensors_in(found)):
        raise InputError(f"{function.__name__} gives back its arguments{place}")
    for one in tensors_in(found):
        recorder._values.forget(one)
    repeated = repeatable(function.apply, args, {})
    record_as_one(recorder, function.__name__, repeated, args, before, found, replace(place, custom=None))


def seen_by(recorder: Recorder | None, called: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Have a recorder see a function as one call, if all that runs is to be one.

    Args:
        recorder: The recorder; None without any.
        called: The name of the function.
        function: Gives one tensor, of a list of arguments and a dictionary of others.
    """
    if recorder is None or recorder.opaque is None or not recorder.opaque.is_whole:
        return function

    def as_one(*args: Argument) -> Tensor:
        repeated = repeatable(function, args, {})
        found: Tensor = call_as_one(recorder, called, repeated, args, function, CallPlace(), finds_others=True)
        return found

    return as_one

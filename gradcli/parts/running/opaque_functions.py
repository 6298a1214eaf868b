"""Custom functions whose forward cannot be read: the run that meets one is repeated, and records it as one call."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import TypeVar

from gradcli.autodiff import torch_internals
from gradcli.errors import GradcliError, InputError
from gradcli.recording.aten_calls import WrongDtypeError
from gradcli.recording.opaque_calls import BrokenRuleError, full_name
from gradcli.recording.recorder import Recorder

Recording = TypeVar("Recording")


def recorded_as_it_can_be(
    make_recorder: Callable[[tuple[str, ...]], Recorder], record: Callable[[Recorder], Recording], measures: bool
) -> Recording:
    """Record a run; where that fails, once more, with the custom functions that were met last as one call each.

    Args:
        make_recorder: Makes the recorder of a run in which some custom functions are not read.
        record: Runs and records.
        measures: Whether there may be such functions.

    Raises:
        InputError: It cannot be recorded; the first reason.
    """
    opaque, first = tuple[str, ...](), None
    while True:
        recorder = make_recorder(opaque)
        try:
            return record(recorder)
        except (WrongDtypeError, BrokenRuleError):
            raise
        except InputError as error:
            names = (full_name(one.function) for one in recorder.places.applications)
            applied = [name for name in names if name not in opaque]
            first = first or error
            is_of_code = not isinstance(error.__cause__, GradcliError | None)  # which would raise it again
            if is_of_code or not (measures and applied):
                raise first from first.__cause__
            opaque = (*opaque, applied[-1])  # mostly it is in its forward that recording ended


def applications_seen_by(recorder: Recorder | None) -> contextlib.AbstractContextManager[None]:
    """Have a recorder see in a block where custom functions are applied."""
    if recorder is None or recorder.opaque is None:
        return contextlib.nullcontext()
    return torch_internals.applying(functools.partial(recorder.opaque.apply, recorder))

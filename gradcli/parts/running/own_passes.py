"""Torch's passes of a function itself, forward and back, with all that values decide in them: for whole boxes.

What a function does at other points is known where each of its decisions is the same there.  What it does besides, such
as drawing random numbers, is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType

from gradcli.autodiff._torch import torch
from gradcli.autodiff.devices import CPU
from gradcli.autodiff.jacobians import gradients
from gradcli.errors import InputError
from gradcli.language.program.opaque import opaque_outputs
from gradcli.language.program.torch_passes import TorchPasses
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.parts.running.repeated_runs import random_states
from gradcli.recording.pass_recorder import PassRecorder, passes_of_code
from gradcli.recording.places import TensorNames

_TORCH, _PYTHON = os.path.dirname(torch.__file__) + os.sep, os.path.dirname(os.__file__) + os.sep

UNLIKE_RECORDED = ("prod",)
"""Operations that go back in another way while they are recorded."""

REGISTER_HOOKS = frozenset(
    "register_hook register_prehook register_post_accumulate_grad_hook _push_saved_tensors_default_hooks".split()
)
"""Functions of torch that register a hook on the way back: of a tensor, of a node, of what a node keeps."""


def own_passes(made: RecordedFunction, wrt: Sequence[str]) -> TorchPasses:
    """Record the passes of a function at its point, below autograd, with those of its own custom functions.

    Args:
        made: The function at a point, with its recording.
        wrt: The arguments to go back to; none for the way to y alone.

    Raises:
        InputError: The function does what is not known at other points, or a call cannot be recorded.
    """
    _require_known(made, wrt)
    call = made.call
    recorder = PassRecorder(TensorNames(call.function, [*call.given]), getattr(torch, call.dtype), is_sound=False)
    recorder.called = call.called
    with call.surroundings.shared(is_silent=True):
        states = random_states()
        ran = made.forward(made.arrays, wrt, recorder=recorder)
        found = passes_of_code(recorder, ran.output, {name: ran.leaves[name] for name in wrt}, call.called)
        has_drawn = any(one.is_past for one in states)
        is_of_user = bool(wrt) and _runs_code(made, wrt)
    decisions = recorder.decisions
    if has_drawn or decisions.drawn:
        hint = "draw them outside, and give them as an argument"
        where = next(iter(decisions.drawn), " by Python or NumPy")
        raise InputError(f"random numbers are drawn{where}", hint=hint)
    if decisions.lost or decisions.low:
        lost = [*decisions.lost, f"some of it is computed in {decisions.low}"]
        raise InputError(lost[0], hint="compute in one dtype, by functions of torch")
    return replace(found, is_of_user=is_of_user)


def _runs_code(made: RecordedFunction, wrt: Sequence[str]) -> bool:
    """Tell whether code that is not torch's runs on the way back, or any hook.

    A call of C code, such as the hook `functools.partial(torch.clamp, max=1)`, has no frame; its registration is seen.
    """
    found = list[str]()

    def note(frame: FrameType, event: str, called: object) -> None:
        file, caller = frame.f_code.co_filename, frame.f_back
        is_called = event == "call" and caller is not None and _is_of_library(caller.f_code.co_filename)
        if is_called and not _is_of_library(file) and not file.startswith("<frozen"):
            found.append(file)

    def note_hook(frame: FrameType, event: str, called: object) -> None:
        name = frame.f_code.co_name if event == "call" else getattr(called, "__name__", "")
        if event in ("call", "c_call") and name in REGISTER_HOOKS:
            found.append(name)

    before = sys.getprofile()
    try:
        sys.setprofile(note_hook)
        forward = made.forward(made.arrays, wrt)
        leaves, seed = [forward.leaves[name] for name in wrt], torch.ones_like(forward.output)
        sys.setprofile(note)
        _ = gradients(forward.output, leaves, seed)
    finally:
        sys.setprofile(before)
    return bool(found)


def _is_of_library(file: str) -> bool:
    """Tell whether a file is torch's or Python's own."""
    return file.startswith(_TORCH) or (file.startswith(_PYTHON) and "-packages" not in file)


def _require_known(made: RecordedFunction, wrt: Sequence[str]) -> None:
    """Refuse what no recording of another point tells.

    Raises:
        InputError: It is so.
    """
    call = made.call
    if made.ran is not None:
        message = f"{call.called} is a tensor of a script, which has run once"
        raise InputError(message, hint="write a function, FILE.py::NAME")
    if call.device != CPU:
        message = f"it runs on {call.device}, and rounding is known on the CPU alone"
        raise InputError(message, hint="give tensors of the CPU")
    if names := [name for name in wrt if name in call.whole]:
        raise InputError(f"{', '.join(names)} is taken as whole numbers", hint="give another variable a range")
    if any(opaque_outputs(made.program)):
        message = "a part of it cannot be read, and is measured at points"
        raise InputError(message, hint="compute it by functions of torch")
    if wrt and (name := next((o for line in made.program.lines if (o := line.call.op.name) in UNLIKE_RECORDED), "")):
        raise InputError(f"torch's {name} goes back in another way while it is recorded", hint="write the product by *")

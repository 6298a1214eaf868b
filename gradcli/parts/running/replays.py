"""Recordings that are believed: replayed on the CPU, they give the value that the function gave where it ran.

On another device the value may be another one as a kernel of that device is wrong.  Then the recording is the function
all the same, if there it gives that value too, or if the function gives its value on the CPU.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from gradcli.autodiff.devices import CPU, has_tf32
from gradcli.autodiff.run import Tensor, apply, array_of, calls_in, evaluate, leaves_of
from gradcli.errors import GradcliError, InputError
from gradcli.language.program.library_calls import TorchCalls
from gradcli.language.program.passes import for_torch
from gradcli.language.program.wengert import Atom, Call
from gradcli.parts.running.cuts import LOW_SLACK, SLACK, in_short, is_close, largest, replay
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.results import Array

TF32_SLACK = 2.0**-8
"""Largest error of a value that is computed in TF32, a float32 of three digits."""


class CheckedReplay(NamedTuple):
    """Recording that was replayed, and gave the value of its function.

    Attributes:
        largest: For each number of the value, the largest one that it is a sum of.
        fault: A device on which the function has another value than on the CPU, with the line; empty if there is none.
    """

    largest: Array
    fault: str = ""


def require_same(made: RecordedFunction, y: Tensor, on_cpu: Callable[[], Tensor] | None = None) -> CheckedReplay:
    """Refuse a recording that is not the function.

    Args:
        made: The recording.
        y: The value that the function gave.
        on_cpu: Calls the function with tensors of the CPU; None if it cannot be called.

    Raises:
        InputError: Its value is another one.
    """
    call = made.call
    # With the graph that the function had: torch takes other digits of singular values where it keeps one.
    wrt = tuple(name for name in made.program.names if name in call.given and name not in call.whole)
    (found, terms), own = replay(made.program, made.arrays, wrt, call.dtype), array_of(y)
    slack = LOW_SLACK if made.recorder.decisions.low else SLACK[call.dtype]
    room = slack * max(largest(own), largest(terms))
    if is_close(found, own, room):
        return CheckedReplay(terms)
    where = ("", "") if call.device == CPU else (" on the CPU", f" on {call.device}")
    values = f"replayed{where[0]}, it gives {in_short(found)}, and the function{where[1]} {in_short(own)}"
    if call.dtype == "float32" and has_tf32(call.device) and is_close(found, own, TF32_SLACK * room / slack):
        made.recorder.decisions.low = f"TF32 on {call.device}, which torch.backends.cudnn.allow_tf32 allows"
        return CheckedReplay(terms)
    if call.device != CPU:
        replayed = _value(lambda: replay(made.program, made.arrays, wrt, call.dtype, call.device).value)
        there = _value(lambda: array_of(on_cpu())) if on_cpu is not None else None
        is_own = replayed is not None and is_close(replayed, own, room)
        if is_own or (there is not None and is_close(there, found, room)):
            fault = _line_at_fault(made, slack) or f"{call.called} {_gives(own, found, call.device)}"
            return CheckedReplay(terms, fault)
    raise InputError(f"the recording of {call.called} is not the function: {values}")


def _value(compute: Callable[[], Array]) -> Array | None:
    """Compute a value; None if that fails, as of a function whose weights are on another device."""
    with contextlib.suppress(GradcliError, RuntimeError, ValueError, TypeError):
        return compute()
    return None


def _gives(there: Array, here: Array, device: str) -> str:
    """Say which number is off most."""
    with np.errstate(all="ignore"):
        n = int(np.nan_to_num(np.abs(there - here), nan=np.inf).argmax()) if there.shape == here.shape else 0
    one, other = (float(array.ravel()[n]) for array in (there, here))
    return f"gives {one!r} on {device}, and {other!r} on the CPU"


def _applied(call: Call, operands: Mapping[Atom, Tensor], calls: TorchCalls) -> Array:
    return array_of(calls.tensor(apply(call, operands, calls)))


def _line_at_fault(made: RecordedFunction, slack: float) -> str:
    """Find the first operation of a recording that gives other numbers on the device, of the same operands."""
    program, dtype, device = for_torch(made.program), made.call.dtype, made.call.device
    places, calls = made.recorder.places_of(made.program), calls_in(dtype, device)
    values = evaluate(program, leaves_of(program, made.arrays, (), dtype), dtype)
    for line in program.lines:
        own = values[line.symbol]
        if not own.is_floating_point():
            continue
        operands = {atom: values[atom].to(device) for atom in line.call.operands if atom in values}
        found = _value(partial(_applied, line.call, operands, calls))
        room = slack * max(largest(array_of(own)), *(largest(array_of(one)) for one in operands.values()), 0.0)
        if found is not None and not is_close(found, array_of(own), room):
            return f"{line.call.op.name}{places.get(line.span, '')} {_gives(found, array_of(own), device)}"
    return ""

"""Recordings that are believed: replayed on the CPU, they give the value that the function gave where it ran."""

from __future__ import annotations

from gradcli.autodiff.run import Tensor, array_of
from gradcli.errors import InputError
from gradcli.parts.running.cuts import LOW_SLACK, SLACK, in_short, is_close, largest, replay
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.results import Array


def require_same(made: RecordedFunction, y: Tensor) -> Array:
    """Refuse a recording that is not the function.

    Returns:
        For each number of its value, the largest one that it is a sum of.

    Raises:
        InputError: Its value is another one.
    """
    dtype, program = made.call.dtype, made.program
    # With the graph that the function had: torch takes other digits of singular values where it keeps one.
    wrt = tuple(name for name in program.names if name in made.call.given and name not in made.call.whole)
    (found, terms), own = replay(program, made.arrays, wrt, dtype), array_of(y)
    slack = LOW_SLACK if made.recorder.decisions.low else SLACK[dtype]
    if is_close(found, own, slack * max(largest(own), largest(terms))):
        return terms
    where = ("", "") if made.call.device == "cpu" else (" on the CPU", f" on {made.call.device}")
    values = f"replayed{where[0]}, it gives {in_short(found)}, and the function{where[1]} {in_short(own)}"
    raise InputError(f"the recording of {made.call.called} is not the function: {values}")

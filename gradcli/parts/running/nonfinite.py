"""First places of infinity and NaN in a recorded pass: a call that makes them of other numbers, forward or back.

Calls that code of the user makes while torch goes back, in a custom `backward` or in a hook, stand in no Program: they
are seen as they run.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, Trace, trace as traced
from gradcli.errors import GradcliError
from gradcli.language.program.wengert import Line, number
from gradcli.parts.running.recorded import Recorded
from gradcli.recording.aten_calls import name_of, tensors_in
from gradcli.recording.places import CallPlace
from gradcli.recording.user_files import is_of_user, line_of_file
from gradcli.results import VJP, Array

_NOT_FINITE: Mapping[str, Callable[[Array], object]] = {"infinity": np.isinf, "NaN": np.isnan}
"""Test for each, by name; where one leads to the other, infinity is the first."""

_OF_TORCH: Mapping[str, Callable[[Tensor], Tensor]] = {"infinity": torch.isinf, "NaN": torch.isnan}


def beginnings(made: Recorded, answer: VJP) -> tuple[str, ...]:
    """Say where infinity and NaN begin: the first call that makes them of other numbers, forward, else back."""
    trace = traced(made.program, made.arrays, tuple(answer.wrt), made.call.dtype, answer.v)
    program, places = trace.program, made.recorder.places_of(made.program)
    found = [f"{one.name} holds NaN" for one in program.variables if np.isnan(trace.values[one]).any()]
    ways = ("", program.lines, _forward), ("the backward pass of ", program.lines[::-1], _back)
    for way, lines, begins in ways:
        for kind, has in () if way and found else _NOT_FINITE.items():
            first = next((line for line in lines if begins(trace, line, has)), None)
            if first is not None:
                where, numbers = places.get(first.span, CallPlace()), _ranges(trace, first, is_back=bool(way))
                found.append(f"{kind} begins in {way}{program.excerpt(first)}{where}{numbers}")
    return tuple(found)


def _forward(trace: Trace, line: Line, has: Callable[[Array], Any]) -> bool:
    given = (trace.values[one] if one in trace.values else np.array(number(one)) for one in line.call.operands)
    return bool(has(trace.values[line.symbol]).any()) and not any(has(one).any() for one in given)


def _back(trace: Trace, line: Line, has: Callable[[Array], Any]) -> bool:
    given = trace.adjoints.get(line.symbol)
    if given is None or has(given).any():
        return False
    try:
        return any(has(one).any() for one in trace.contributions(line).values())
    except GradcliError:
        return False


def _ranges(trace: Trace, line: Line, *, is_back: bool) -> str:
    """Say between which numbers the operands of a line are, and the gradient that it is given in a backward pass."""
    program = trace.program
    lines = {one.symbol: one for one in program.lines}
    given = {atom: program.excerpt(lines[atom]) if atom in lines else str(atom) for atom in line.call.operands}
    named = {name: trace.values[atom] for atom, name in given.items() if atom in trace.values}
    if is_back:
        named["the gradient"] = trace.adjoints[line.symbol]
    said = []
    for name, array in named.items():
        known = array[~np.isnan(array)]
        if known.size:
            low, high = f"{known.min():.4g}", f"{known.max():.4g}"
            said.append(f"{name} is {low}" if low == high else f"{name} is from {low} to {high}")
    return ": " * bool(said) + ", ".join(said)


def dense(tensor: Tensor) -> Tensor:
    """Give the numbers of a tensor, without the zeros of a sparse one."""
    return tensor.detach().coalesce().values() if tensor.is_sparse else tensor.detach()


def kinds_in(tensors: Sequence[Tensor | None]) -> list[str]:
    """Name what is not finite in tensors: infinity, NaN."""
    known = [dense(one) for one in tensors if one is not None and (one.is_floating_point() or one.is_complex())]
    return [kind for kind, has in _OF_TORCH.items() if any(bool(has(one).any()) for one in known)]


class CallsOnTheWayBack:
    """Look at the calls that code of the user makes during a backward pass, for the first that is not finite.

    Args:
        start: The code that runs the pass: frames outside of it are not of the pass.

    Attributes:
        found: Where infinity and NaN begin, by kind.
    """

    def __init__(self, start: CodeType) -> None:
        self.start = start
        self.found: dict[str, str] = {}

    def see(self, function: object, given: object, result: object) -> None:
        """Look at a call: its operands and its result."""
        frame = self._frame()
        if frame is None:
            return
        operands, before = tensors_in(given), None
        for kind in kinds_in(tensors_in(result)):
            before = kinds_in(operands) if before is None else before
            if kind not in before and kind not in self.found:
                where = line_of_file(frame.f_code.co_filename, frame.f_lineno)
                self.found[kind] = f"{kind} begins in {name_of(function)}, in {frame.f_code.co_qualname} ({where})"

    def _frame(self) -> FrameType | None:
        """Find the user's frame that makes the present call; None where torch makes it."""
        for frame, _ in traceback.walk_stack(sys._getframe(2)):
            if frame.f_code is self.start:
                return None
            if is_of_user(frame.f_code.co_filename):
                return frame
        return None

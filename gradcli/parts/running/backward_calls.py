"""Calls that code of the user makes while torch goes back, in a custom `backward` or in a hook.

They stand in no Program: they are seen as they run, and the first is named that makes infinity or NaN.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import vjp
from gradcli.autodiff.run import Tensor
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.errors import GradcliError
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.recording.aten_calls import Argument, name_of, tensors_in
from gradcli.recording.user_files import is_of_user, line_of_file
from gradcli.results import Array

_OF_TORCH: Mapping[str, Callable[[Tensor], Tensor]] = {"infinity": torch.isinf, "NaN": torch.isnan}


def dense(tensor: Tensor) -> Tensor:
    """Give the numbers of a tensor, without the zeros of a sparse one."""
    return tensor.detach().coalesce().values() if tensor.is_sparse else tensor.detach()


def kinds_in(tensors: Sequence[Tensor | None]) -> list[str]:
    """Name what is not finite in tensors: infinity, NaN."""
    known = [dense(one) for one in tensors if one is not None and (one.is_floating_point() or one.is_complex())]
    return [kind for kind, has in _OF_TORCH.items() if any(bool(has(one).any()) for one in known)]


class BackwardCalls:
    """Look at the calls that code of the user makes during a backward pass, for the first that is not finite.

    Args:
        start: The code that runs the pass: frames outside of it are not of the pass.

    Attributes:
        found: Where infinity and NaN begin, by kind.
        made_of_finite: The kinds that begin in a call which is given finite numbers alone.
    """

    def __init__(self, start: CodeType) -> None:
        self.start = start
        self.found: dict[str, str] = {}
        self.made_of_finite = set[str]()

    def run(self, function: TorchFunction, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Argument:
        """Run a call, and look at it."""
        found = function(*args, **kwargs)
        self._look(function, (args, kwargs), found)
        return found

    def _look(self, function: object, given: object, result: object) -> None:
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
                self.made_of_finite |= {kind} if not before else set()

    def _frame(self) -> FrameType | None:
        """Find the user's frame that makes the present call; None where torch makes it."""
        for frame, _ in traceback.walk_stack(sys._getframe(3)):
            if frame.f_code is self.start:
                return None
            if is_of_user(frame.f_code.co_filename):
                return frame
        return None


class _BackwardMode(torch_internals.DispatchMode):
    """Mode that runs each call as `BackwardCalls` does, which looks at those of the user's code."""

    def __init__(self, calls: BackwardCalls) -> None:
        super().__init__()
        self.calls = calls

    def dispatch(self, function: TorchFunction, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Argument:
        """Run a call, and look at it."""
        return self.calls.run(function, args, kwargs)


def nonfinite_in_backward(recorded: RecordedFunction, wrt: Sequence[str], v: Array | None) -> str:
    """Say where the user's code makes NaN, else infinity, of finite numbers while torch goes back; empty if nowhere.

    Args:
        recorded: The function, or the tensor of a script.
        wrt: The variables to differentiate by.
        v: The gradient vector; None for ones.
    """
    calls = BackwardCalls(nonfinite_in_backward.__code__)
    try:
        forward = recorded.forward(recorded.arrays, wrt)
        with _BackwardMode(calls):
            vjp(forward, np.ones_like(recorded.value) if v is None else v, tuple(wrt))
    except GradcliError:
        return ""
    return next((calls.found[kind] for kind in ("NaN", "infinity") if kind in calls.made_of_finite), "")

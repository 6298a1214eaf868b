"""Hooks of the user that change gradients: of a tensor, a node of the graph or a module, found while they run.

A hook is called by torch's engine, or by torch's own hooks for modules.  It changes a gradient if it gives back another
one, or writes to the one that it is given.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import CodeType, FrameType

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import vjp
from gradcli.autodiff.run import Tensor
from gradcli.errors import GradcliError
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.recording.aten_calls import copied, tensors_in
from gradcli.recording.user_files import is_of_user, line_of_file

_CALLERS = ("torch/autograd/graph.py", "torch/utils/hooks.py", "torch/nn/modules/module.py")
"""Files of torch that call hooks: the engine, and hooks of modules."""


def changing_hooks(recorded: RecordedFunction, wrt: Sequence[str]) -> list[str]:
    """Name the hooks that change a gradient on the way back, each with its line.

    Args:
        recorded: The function, or the tensor of a script.
        wrt: The variables to differentiate by.
    """
    found: dict[str, None] = {}
    given: dict[int, list[tuple[Tensor, Tensor]]] = {}

    def noted(frame: FrameType, event: str, result: object) -> None:
        if event == "call" and _is_hook(frame):
            given[id(frame)] = [(one, copied(one)) for one in _tensors(list(frame.f_locals.values()))]
        elif event == "return" and id(frame) in given and _changes(given.pop(id(frame)), result):
            found[_name(frame.f_code)] = None

    before = sys.getprofile()
    try:
        forward = recorded.forward(recorded.arrays, wrt)
        sys.setprofile(noted)
        vjp(forward, np.ones_like(recorded.value), tuple(wrt))
    except GradcliError:
        return []
    finally:
        sys.setprofile(before)
    return list(found)


def _is_hook(frame: FrameType) -> bool:
    """Tell whether a frame is one of the user's that torch calls as a hook."""
    caller = frame.f_back
    if caller is None or not is_of_user(frame.f_code.co_filename):
        return False
    return caller.f_code.co_filename.replace("\\", "/").endswith(_CALLERS)


def _tensors(values: object) -> list[Tensor]:
    return [one for one in tensors_in(values) if type(one) is torch.Tensor]


def _changes(given: Sequence[tuple[Tensor, Tensor]], result: object) -> bool:
    """Tell whether a hook wrote to a gradient, or gives back one that it was not given."""
    if any(not torch.equal(now, before) for now, before in given):
        return True
    return any(not any(_is_same(one, before) for _, before in given) for one in _tensors(result))


def _is_same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and torch.equal(a, b)


def _name(code: CodeType) -> str:
    return f"{code.co_qualname.rpartition('<locals>.')[2]} ({line_of_file(code.co_filename, code.co_firstlineno)})"

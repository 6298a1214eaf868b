"""Where in the user's code a call comes from: its line, and the `autograd.Function` in whose forward it is."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.user_files import is_of_user, line_of_file
from gradcli.recording.values import Application, replaced

_APPLY = torch.autograd.Function.apply.__func__.__code__  # type: ignore[attr-defined]
"""What runs while a custom function is applied."""


@dataclass(frozen=True)
class CallPlace:
    """Where a call comes from.

    Attributes:
        frame: Of the user's line that makes it.
        where: That line; empty where there is none.
        custom: The number of the application of an `autograd.Function` in whose forward it is.
    """

    frame: FrameType | None = None
    where: str = ""
    custom: int | None = None

    def __str__(self) -> str:
        """The line behind a message."""
        return f" ({self.where})" * bool(self.where)


class Places:
    """Finds where calls come from.

    Args:
        copied: Copies the arguments of a custom function.

    Attributes:
        applications: Of `autograd.Function`, in whose forward there were calls.
    """

    def __init__(self, copied: Callable[[Tensor], Tensor]) -> None:
        self.applications: list[Application] = []
        self._copied = copied
        self._frames: dict[int, tuple[FrameType, int]] = {}  # held, so that no other has its identity

    def find(self) -> CallPlace:
        """Find the place of the present call."""
        own: FrameType | None = None
        custom: int | None = None
        for frame, _ in traceback.walk_stack(sys._getframe(2)):
            if own is None and is_of_user(frame.f_code.co_filename):
                own = frame
            if frame.f_code is _APPLY and custom is None:
                custom = self._application(frame)
        where = "" if own is None else line_of_file(own.f_code.co_filename, own.f_lineno)
        return CallPlace(own, where, custom)

    def _application(self, frame: FrameType) -> int:
        if id(frame) not in self._frames:
            arguments = replaced(frame.f_locals["args"], torch.Tensor, self._copied)
            self._frames[id(frame)] = frame, len(self.applications)
            self.applications.append(Application(frame.f_locals["cls"], tuple(arguments)))
        return self._frames[id(frame)][1]


def next_node() -> int:
    """Give the number of a node that autograd makes now; what is made later has larger ones."""
    with torch.inference_mode(False), torch.enable_grad(), torch._C.DisableTorchFunction():
        node = torch.ones((), requires_grad=True).clone().grad_fn
        return 0 if node is None else int(node._sequence_nr())

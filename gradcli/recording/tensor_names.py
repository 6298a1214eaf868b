"""Names of tensors that a function finds elsewhere: those of parameters, of `self`, of the code around it."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.user_files import is_of_user

UNNAMED = "const"
"""What a tensor without a name is called, with a number behind it."""


_NUMBERS = re.compile(r"(?:^|\.)(\d+)")
"""The layers of a `Sequential`, whose names are numbers: `layers.0.weight` is `layers_0.weight` here."""


class TensorNames:
    """Hands out names that no other value has.

    Args:
        function: Whose tensors are named.
        taken: Names of its arguments.
    """

    def __init__(self, function: Callable[..., Any], taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}  # the next one of a name
        self._in_modules: dict[int, dict[int, str]] = {}  # names by tensor, by module
        self._of_owner = dict(_of_module(getattr(function, "__self__", None) or function))

    def of(self, tensor: Tensor, frame: FrameType | None) -> str:
        """The best name of a tensor that no recorded call made, as seen from a line of the user's."""
        found = self._of_owner.get(id(tensor)) or next(self._around(tensor, frame), "")
        return self.free(found or UNNAMED, numbered=not found)

    def _around(self, tensor: Tensor, frame: FrameType | None) -> Iterator[str]:
        """What a tensor is called where it is used: its path in a module, a name of the file, a local name."""
        if frame is None:
            return
        for name, module in modules_around(frame):
            if id(module) not in self._in_modules:
                self._in_modules[id(module)] = dict(_of_module(module))
            if own := self._in_modules[id(module)].get(id(tensor)):
                yield own if name == "self" else f"{name}.{own}"
        attributes = getattr(frame.f_locals.get("self", frame.f_globals.get("self")), "__dict__", {})
        scopes: list[tuple[str, Any]] = [("", frame.f_globals), ("", frame.f_locals), ("self.", attributes)]
        for before, scope in scopes:
            yield from (before + name for name, value in scope.items() if value is tensor and name.isidentifier())

    def first(self, names: Sequence[str]) -> str:
        """The first of some names that nothing has, or the last with a number."""
        return self.free(next((name for name in names if name not in self._taken), names[-1]))

    def free(self, name: str, *, numbered: bool = False) -> str:
        """A name as wished for, with a number behind it if that is taken."""
        name = ".".join(_readable(part) for part in name.split("."))
        found = name
        while numbered or found in self._taken:
            number = self._numbers.setdefault(name, 2 - numbered)
            found, self._numbers[name], numbered = f"{name}_{number}", number + 1, False
        self._taken.add(found)
        return found


def _readable(name: str) -> str:
    """A part of a name as the language reads it: `__h` is `h`, and the layer `a-b` of a `ModuleDict` is `a_b`."""
    found = re.sub(r"\W", "_", name)
    found = found.strip("_") or UNNAMED if found.startswith("__") else found
    return found if found.isidentifier() else f"{UNNAMED}_{found}"


def _of_module(owner: Any) -> Iterator[tuple[int, str]]:
    """Parameters and buffers of a module, by the identity of their tensors."""
    if isinstance(owner, torch.nn.Module):
        for name, tensor in (*owner.named_parameters(), *owner.named_buffers()):
            yield id(tensor), _NUMBERS.sub(lambda number: f"{'_' if number.start() else 'layer_'}{number[1]}", name)


def modules_around(frame: FrameType | None) -> Iterator[tuple[str, torch.nn.Module]]:
    """The modules that have a name where a line runs, those of the outermost caller first, and `self` last."""
    found: list[tuple[str, torch.nn.Module]] = []
    for one, _ in () if frame is None else traceback.walk_stack(frame):
        if is_of_user(one.f_code.co_filename):
            scopes = (one.f_locals, one.f_globals)
            named = {name: one for scope in scopes for name, one in scope.items() if isinstance(one, torch.nn.Module)}
            found += sorted(named.items(), key=lambda item: item[0] != "self")
    return reversed(found)

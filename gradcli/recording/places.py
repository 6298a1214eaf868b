"""The user's code around a call: its line, the `autograd.Function` in whose forward it is, and names of tensors."""

from __future__ import annotations

import ast
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.aten_calls import Application, copied, is_plain, replaced, tensors_in
from gradcli.recording.made_operands import assigned_name, expression_at, made_operand
from gradcli.recording.user_files import is_of_user, line_of_file


@dataclass(frozen=True)
class CallPlace:
    """Place in the user's code that a call comes from.

    Attributes:
        frame: Frame of the user's line that makes the call.
        where: File and number of that line; empty where there is none.
        custom: The number of the application of an `autograd.Function` in whose forward it is.
    """

    frame: FrameType | None = None
    where: str = ""
    custom: int | None = None

    def __str__(self) -> str:
        """Give the line in parentheses, to put after a message."""
        return f" ({self.where})" * bool(self.where)


class Places:
    """Finder of the places that calls come from.

    Attributes:
        applications: Applications of an `autograd.Function`, in whose forward there were calls.
    """

    def __init__(self) -> None:
        self.applications: list[Application] = []
        self._frames: dict[int, tuple[FrameType, int]] = {}  # held, so that no other has its identity

    def find(self) -> CallPlace:
        """Find the place of the present call."""
        own: FrameType | None = None
        custom: int | None = None
        for frame, _ in traceback.walk_stack(sys._getframe(2)):
            if own is None and is_of_user(frame.f_code.co_filename):
                own = frame
            if frame.f_code is torch_internals.APPLY and custom is None:
                custom = self._application(frame)
        where = "" if own is None else line_of_file(own.f_code.co_filename, own.f_lineno)
        return CallPlace(own, where, custom)

    def _application(self, frame: FrameType) -> int | None:
        """Number an application; None of one to tensors that a transform wraps, which applies it once more inside."""
        if id(frame) not in self._frames:
            if any(map(torch_internals.is_transformed, tensors_in(frame.f_locals["args"]))):
                return None
            arguments = replaced(frame.f_locals["args"], torch.Tensor, copied)
            self._frames[id(frame)] = frame, len(self.applications)
            self.applications.append(Application(frame.f_locals["cls"], tuple(arguments)))
        return self._frames[id(frame)][1]


def called_at(frame: FrameType | None) -> str:
    """Write the function that a line of code calls at this moment, as it is written there; empty if it is not known.

    >>> called_at(None)
    ''
    """
    node = expression_at(frame)
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def next_node() -> int:
    """Give the number of a node that autograd makes now; later nodes have larger numbers."""
    with torch.inference_mode(False), torch.enable_grad(), torch_internals.without_functions():
        node = torch.ones((), requires_grad=True).clone().grad_fn
        return 0 if node is None else torch_internals.number_of(node)


def tensors_of(frame: FrameType | None) -> Iterator[tuple[str, Tensor]]:
    """Generate the tensors that a function of the user's code has names for."""
    for name, value in () if frame is None else frame.f_locals.items():
        if isinstance(value, torch.Tensor) and is_plain(value) and name.isidentifier():
            yield name, value


# -- names of tensors that a function finds elsewhere: of parameters, of `self`, of the code around it

UNNAMED = "const"
"""Name of a tensor without a name, with a number after it."""


_NUMBERS = re.compile(r"(?:^|\.)(\d+)")
"""Numbers that are names of layers, as in a `Sequential`: `layers.0.weight` is `layers_0.weight` here."""


class TensorNames:
    """Names for tensors, each of them different from all others.

    Args:
        function: The function whose tensors are named.
        taken: Names of its arguments.
    """

    def __init__(self, function: Callable[..., object], taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}  # the next number after a name
        self._in_modules: dict[int, dict[int, str]] = {}  # names by tensor, by module
        self._of_owner = dict(_of_module(getattr(function, "__self__", None) or function))

    def name_of(self, tensor: Tensor, frame: FrameType | None) -> str:
        """Choose the best name for a tensor that no recorded call made, as seen from a line of the user's."""
        found = self._of_owner.get(id(tensor)) or next(self._around(tensor, frame), "")
        # Of weights, the script knows what it makes of them: w = torch.randn(3, requires_grad=True)*0.1
        is_trained = tensor.requires_grad and tensor.is_leaf and not found
        found = found or (f"{name}_leaf" if is_trained and (name := assigned_name(frame)) else made_operand(frame))
        return self.free(found or UNNAMED, numbered=not found)

    def known_name(self, tensor: Tensor, frame: FrameType | None) -> str:
        """Find the name that the user's code has for a tensor, which may be taken; empty if there is none."""
        return next(self._around(tensor, frame), "")

    def _around(self, tensor: Tensor, frame: FrameType | None) -> Iterator[str]:
        """Find the names of a tensor where it is used: its path in a module, a name of the file, a local name."""
        if frame is None:
            return
        for name, module in _modules_around(frame):
            if id(module) not in self._in_modules:
                self._in_modules[id(module)] = dict(_of_module(module))
            if own := self._in_modules[id(module)].get(id(tensor)):
                yield own if name == "self" else f"{name}.{own}"
        attributes = getattr(frame.f_locals.get("self", frame.f_globals.get("self")), "__dict__", {})
        scopes: list[tuple[str, Any]] = [("", frame.f_globals), ("", frame.f_locals), ("self.", attributes)]
        for before, scope in scopes:
            yield from (before + name for name, value in scope.items() if value is tensor and name.isidentifier())

    def first(self, names: Sequence[str]) -> str:
        """Take the first free one of some names, or the last with a number."""
        return self.free(next((name for name in names if name not in self._taken), names[-1]))

    def free(self, name: str, *, numbered: bool = False) -> str:
        """Take a name as wished for, with a number after it if it is taken."""
        name = ".".join(_readable(part) for part in name.split("."))
        found = name
        while numbered or found in self._taken:
            number = self._numbers.setdefault(name, 2 - numbered)
            found, self._numbers[name], numbered = f"{name}_{number}", number + 1, False
        self._taken.add(found)
        return found


def _readable(name: str) -> str:
    """Spell a part of a name as the language reads it: `__h` is `h`, and the layer `a-b` of a `ModuleDict` is `a_b`."""
    found = re.sub(r"\W", "_", name)
    found = found.strip("_") or UNNAMED if found.startswith("__") else found
    return found if found.isidentifier() else f"{UNNAMED}_{found}"


def _of_module(owner: object) -> Iterator[tuple[int, str]]:
    """Give the identity and the name of each parameter and buffer of a module."""
    if isinstance(owner, torch.nn.Module):
        for name, tensor in (*owner.named_parameters(), *owner.named_buffers()):
            yield id(tensor), _NUMBERS.sub(lambda number: f"{'_' if number.start() else 'layer_'}{number[1]}", name)


def user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """List the frames of the user's code from one outwards."""
    stack = () if frame is None else traceback.walk_stack(frame)
    return (one for one, _ in stack if is_of_user(one.f_code.co_filename))


def _modules_around(frame: FrameType) -> Iterator[tuple[str, torch.nn.Module]]:
    """List the modules that have a name where a line runs, the outermost caller's first, and `self` last."""
    found: list[tuple[str, torch.nn.Module]] = []
    for one in user_frames(frame):
        scopes = (one.f_locals, one.f_globals)
        named = {name: one for scope in scopes for name, one in scope.items() if isinstance(one, torch.nn.Module)}
        found += sorted(named.items(), key=lambda item: item[0] != "self")
    return reversed(found)

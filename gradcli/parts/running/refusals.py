"""Passes that torch refuses: the line of the script that is the reason, and what mends it.

Noted while a script runs, by the memory of tensors: where one was changed in place, and where autograd lost one, as by
`detach()`, `no_grad`, whole numbers such as those of `argmax`, or numbers that left torch.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.autodiff.torch_internals import TorchFunction
from gradcli.recording.aten_calls import Argument, can_be_recorded, changed_by, name_of, tensors_in
from gradcli.recording.memory import memory
from gradcli.recording.places import CallPlace

MOST_CHANGES = 8
"""Most changes in place that are kept of one memory, the last ones."""

_CHANGED = re.compile(
    r"modified by an inplace operation: \[\S+ \[(?P<shape>.*?)\]\].*expected version (?P<version>\d+)"
)


@dataclass(frozen=True)
class _Change:
    """Change of a tensor in place.

    Attributes:
        version: The version of the tensor after it.
        shape: The shape of the tensor.
        by: The operation with its line.
    """

    version: int
    shape: tuple[int, ...]
    by: str


class RefusalNotes:
    """Notes on the calls after which torch may refuse a pass."""

    def __init__(self) -> None:
        # with a weak reference: while that is held, no other memory has its identity
        self._changes: dict[int, tuple[Any, list[_Change]]] = {}
        self._lost: dict[int, tuple[Any, str]] = {}

    def note(self, function: TorchFunction, given: Argument, result: object, find: Callable[[], CallPlace]) -> None:
        """Note a call that changes tensors in place, or whose result autograd does not follow.

        Args:
            function: The operation of ATen.
            given: Its arguments, and those by keyword.
            result: What it gave.
            find: Finds the line of the user's code that made it.
        """
        name = name_of(function)
        for tensor in changed_by(function, *given):
            if not tensor.is_inference():
                _, changes = self._changes.setdefault(memory(tensor), (_alive(tensor), []))
                # The version is raised after this call.
                changes.append(_Change(torch_internals.version_of(tensor) + 1, tuple(tensor.shape), f"{name}{find()}"))
                del changes[:-MOST_CHANGES]
        operands = tensors_in(given)
        reason = next((found[1] for one in operands if (found := self._lost.get(memory(one))) is not None), "")
        if any(one.requires_grad for one in operands):
            reason = self._reason(name, tensors_in(result), find)
        for tensor in tensors_in(result) if reason else ():
            self._lost[memory(tensor)] = _alive(tensor), reason

    def _reason(self, name: str, results: Sequence[Tensor], find: Callable[[], CallPlace]) -> str:
        """Say why autograd does not follow a call on tensors that it follows; empty where it does."""
        if name == "detach":
            return f"detach(){find()}"
        if torch.is_inference_mode_enabled():
            return f"inference_mode{find()}"
        if not torch.is_grad_enabled():
            place = find()
            return "" if place.custom is not None else f"no_grad{place}"
        if results and not any(can_be_recorded(one) and one.dtype is not torch.bool for one in results):
            what = "truth values" if results[0].dtype is torch.bool else "whole numbers"
            return f"{name}() gives {what}{find()}"
        return ""

    def forget(self) -> None:
        """Drop the notes on memory that is gone."""
        self._changes = {key: one for key, one in self._changes.items() if not one[0].expired()}
        self._lost = {key: one for key, one in self._lost.items() if not one[0].expired()}

    def held(self, tensor: Tensor) -> str:
        """Say what made a tensor a constant that follows from tensors that autograd follows; empty of any other."""
        is_known = tensor.layout is torch.strided and not tensor.requires_grad
        return self._lost.get(memory(tensor), (None, ""))[1] if is_known else ""

    def reason(self, error: RuntimeError, outputs: Mapping[str, Tensor], left: Sequence[str], path: str) -> str:
        """Say why torch refuses a pass, with the line and what to do.

        Args:
            error: What torch raised.
            outputs: The tensors that the pass begins at, by their names in the script.
            left: Places where numbers left torch, in words.
            path: The name of the function that begins the pass.
        """
        said = " ".join(str(error).split())
        if "does not require grad" in said:
            return f"it follows from no tensor that requires a gradient: {self._why_lost([*outputs.values()], left)}"
        if "created only for scalar outputs" in said:
            large = next(((name, one) for name, one in outputs.items() if one.numel() != 1), None)
            return said if large is None else f"{said}: {_with_weights(*large, path)}"
        if "backward through the graph a second time" in said:
            return f"{said.partition(' (')[0]}; write retain_graph=True in the first pass"
        if found := _CHANGED.search(said):
            shape = tuple(map(int, filter(None, found["shape"].split(", "))))
            by = self._change(shape, int(found["version"]))
            what = f"a tensor of shape {[*shape]} that the pass needs was changed in place{by} after it was used"
            return f"{what}: give the result another name, or change a .clone() of it"
        return said.partition(". ")[0]

    def _why_lost(self, outputs: Sequence[Tensor], left: Sequence[str]) -> str:
        for one in outputs:
            if not one.requires_grad and (found := self._lost.get(memory(one))) is not None:
                return f"{found[1]} holds it constant; leave that out, or compute it by functions with a derivative"
        if left:
            return f"{left[-1]}, and what is computed from them is a constant; compute with tensors of torch there"
        return "set requires_grad=True on a tensor that it is computed from, before that"

    def _change(self, shape: tuple[int, ...], version: int) -> str:
        """Find the change of a tensor of some shape that followed a version, the latest of several."""
        changes = [one for _, changes in self._changes.values() for one in changes if one.shape == shape]
        found = [one for one in changes if one.version == version + 1] or changes
        return f" by {found[-1].by}" if found else ""


def _with_weights(name: str, output: Tensor, path: str) -> str:
    """Write the call that begins a pass at an output of several elements: with weights for them, or at their sum."""
    ones = f"torch.ones({', '.join(map(str, output.shape))})"
    if not path.endswith("backward"):
        return f"{name} has {output.numel():,} elements; write grad_outputs={ones}, or {name}.sum() for {name}"
    return f"{name} has {output.numel():,} elements; write {name}.backward(gradient={ones}), or {name}.sum().backward()"


def _alive(tensor: Tensor) -> object:
    return torch.multiprocessing.reductions.StorageWeakRef(tensor.untyped_storage())

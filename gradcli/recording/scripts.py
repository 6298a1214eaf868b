"""A whole script that is run, and an answer to each of its backward passes."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Forward, Tensor, array_of
from gradcli.errors import GradcliError, InputError
from gradcli.language.snippets.asked import Snippet
from gradcli.progress import budget
from gradcli.questions.products import ProductOptions, vjp
from gradcli.questions.question import Dtype, Inquiry
from gradcli.recording.branches import remarks
from gradcli.recording.calling import Signature
from gradcli.recording.loading import guarded
from gradcli.recording.recorded import Call, Recorded, parsed, require_same
from gradcli.recording.recorder import Recorder
from gradcli.recording.tensor_names import Names
from gradcli.recording.values import Leaf, Where, numbers_of
from gradcli.recording.writing import written
from gradcli.results import VJP, Array

MOST_PASSES = 100
"""Passes that are answered; the script goes on without being recorded."""


@dataclass(frozen=True)
class Pass:
    """A backward pass of a script.

    Attributes:
        called: Its number, what it calls, and the line.
        answer: What came out, whether it is right, and the formula.
        refusal: Why there is no answer.
    """

    called: str
    answer: VJP | None = None
    refusal: GradcliError | None = None


def passes(
    path: str, arguments: Sequence[str], *, check: bool = True, seconds: float | None = None
) -> tuple[list[Pass], GradcliError | None]:
    """Run a script as Python does, and answer its backward passes.

    Args:
        path: Of the file.
        arguments: Of its command line.
        check: Whether to compare with the reference.
        seconds: That the check of each pass may take; None for as many as usual.

    Returns:
        The passes, in order, and what ended the script early, if anything did.

    Raises:
        InputError: There is no such file.
    """
    if not Path(path).is_file():
        raise InputError(f"there is no file {path}")
    seen = _Script(path, check=check, seconds=seconds)
    before, folder = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [path, *arguments], str(Path(path).resolve().parent)
    try:
        with guarded(f"{path} is run"), seen:
            runpy.run_path(path, run_name="__main__")
    except InputError as error:
        return seen.passes, error
    finally:
        sys.argv, sys.path[0] = before, folder
    return seen.passes, None


class _Script(Recorder):
    """Records a script, pass after pass: what a pass frees is forgotten."""

    def __init__(self, path: str, *, check: bool, seconds: float | None) -> None:
        super().__init__(Names(runpy.run_path, ()), None)
        self.path, self.check, self.seconds = path, check, seconds
        self.passes: list[Pass] = []

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run a call, and record it while there may be answers."""
        if len(self.passes) >= MOST_PASSES:
            return function(*args, **(kwargs or {}))
        return super().__torch_function__(function, types, args, kwargs)

    def _passed(self, path: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Answer a pass before it frees its graph, and let it go on."""
        names = ("outputs", "inputs", "grad_outputs") if path.endswith(".grad") else ("self", "gradient")
        if path == "torch.autograd.backward":
            names = ("tensors", "grad_tensors")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        frame, where, _ = self._frame()
        self._learn_names(frame)
        is_outside = self._depth == 0
        if is_outside and not kwargs.get("create_graph"):
            self._answer(given, names, where)
        self._depth += 1
        try:
            found = super()._passed(path, function, args, kwargs)
        finally:
            self._depth -= 1
        if is_outside and not (given.get("retain_graph") or given.get("create_graph")):
            self.forget()
        return found

    _depth = 0

    def _answer(self, given: Mapping[str, Any], names: Sequence[str], where: Where | None) -> None:
        number = len(self.passes) + 1
        outputs, v = (_only(given.get(name)) for name in (names[0], names[-1]))
        called = f"pass {number}" + ("" if where is None else f" ({where})")
        try:
            if isinstance(outputs, tuple):
                raise InputError("a pass of several outputs at once is not answered")
            inputs = given.get("inputs")
            wanted = None if inputs is None else [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
            with budget(self.seconds):
                self.passes.append(Pass(called, self._answered(outputs, v, wanted, called)))
        except GradcliError as error:
            self.passes.append(Pass(called, refusal=error))

    def _answered(self, y: Tensor, v: Tensor | None, wanted: Sequence[Tensor] | None, called: str) -> VJP:
        dtype = str(y.dtype).removeprefix("torch.")
        if dtype not in ("float64", "float32"):
            raise InputError(f"{called} is of {dtype}, and float64 and float32 are judged")
        ref = self._ref(y, None, None)
        text = written(self, ref)
        program = parsed(text, self, called)
        leaves = {leaf.name: leaf for _, leaf in self.leaves() if leaf.name in program.names}
        wrt = [name for name, leaf in leaves.items() if leaf.tensor.requires_grad and _is_wanted(leaf, wanted)]
        arrays = {name: numbers_of(leaf.value) for name, leaf in leaves.items()}
        call = Call(lambda: y, called, Signature(()), arrays, cast(Dtype, dtype))
        said = (*remarks(self, text), *self.remarks)
        made = _OfPass(call, program, arrays, tuple(arrays), said, text, self, array_of(y))
        require_same(made, y)
        object.__setattr__(made, "ran", Forward({name: leaf.tensor for name, leaf in leaves.items()}, y))
        values = {name: array.astype(np.float64) for name, array in arrays.items()}
        snippet = Snippet(program, values=values)
        asked = Inquiry(text.text, snippet, {}, wrt, cast(Dtype, dtype), self.check, live=made)
        given: tuple[Array, ...] = () if v is None else (array_of(v),)
        return vjp(asked, ProductOptions(given))


class _OfPass(Recorded):
    """What was recorded up to a backward pass, whose graph is there."""

    ran: Forward

    def forward(self, arrays: Mapping[str, Array], wrt: Sequence[str], *, twice: bool = False) -> Forward:
        """The graph of the script itself."""
        return self.ran

    def at(self, arrays: Mapping[str, Array]) -> Recorded:
        """Refused: a script is run once."""
        raise InputError("a script is run at one point")


def _is_wanted(leaf: Leaf, wanted: Sequence[Tensor] | None) -> bool:
    return wanted is None or any(leaf.tensor is tensor for tensor in wanted)


def _only(value: Any) -> Any:
    """The only one of several."""
    return value[0] if isinstance(value, tuple | list) and len(value) == 1 else value

"""A whole script that is run, and an answer to each of its backward passes."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import inspect
import math
import runpy
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.thread import _threads_queues
from dataclasses import dataclass, replace
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor, array_of, trace
from gradcli.errors import GradcliError, InputError, InternalError, Span
from gradcli.language.program.wengert import Program
from gradcli.progress import budget
from gradcli.questions.products import vjp
from gradcli.recording.places import Place
from gradcli.recording.tensor_names import submodules_around
from gradcli.recording.values import numbers_of
from gradcli.results import VJP, Array, Pass
from gradcli.running.nonfinite import beginnings
from gradcli.running.script_recorder import ScriptRecorder

MOST_PASSES = 100
"""Passes that are answered; the script goes on without being recorded."""


Tell = Callable[[Pass], None]
"""Takes each pass when it is over."""


@dataclass(frozen=True)
class Script:
    """A script as Python is given it.

    Attributes:
        name: The path of the file; `-c` or `-` of a text.
        arguments: Of its command line.
        text: None for that of the file.
    """

    name: str
    arguments: Sequence[str] = ()
    text: str | None = None

    def run(self) -> None:
        """Run it as the main module, with its own command line and import path."""
        before, folder, main = sys.argv, sys.path[0], sys.modules["__main__"]
        sys.argv = [self.name, *self.arguments]
        sys.path[0] = "" if self.text is not None else str(Path(self.name).resolve().parent)
        try:
            if self.text is None:
                runpy.run_path(self.name, run_name="__main__")
            else:
                loader = _TextLoader(self.name, self.text)
                module = module_from_spec(ModuleSpec("__main__", loader))
                sys.modules["__main__"] = module
                loader.exec_module(module)
        finally:
            sys.argv, sys.path[0], sys.modules["__main__"] = before, folder, main


class _TextLoader(InspectLoader):
    """Load a module from a text, whose lines tracebacks then show."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text

    def get_source(self, fullname: str) -> str:
        """Return the text, which tracebacks quote."""
        return self.text

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text."""
        return self.source_to_code(self.text, self.name)


def answer_passes(
    script: Script,
    tell: Tell,
    *,
    check: bool = True,
    seconds: float | None = None,
    wrt: Sequence[str] = (),
) -> BaseException | None:
    """Run a script as Python does, and answer its backward passes as they happen.

    Args:
        script: What to run.
        tell: Takes each pass when it is over.
        check: Whether to compare with the reference.
        seconds: That the check of each pass may take; None for as many as usual.
        wrt: The leaves to differentiate by; all if there is none.

    Returns:
        The error or the `SystemExit` that ended it early; None if it came to its end.
    """
    others = {threading.main_thread(), *threading.enumerate()}
    with torch.enable_grad(), _Answering(tell, check=check, seconds=seconds, wrt=wrt):
        try:
            script.run()
        except (Exception, SystemExit) as error:
            return error
        finally:
            for thread in set(threading.enumerate()) - others:
                # Workers of a pool wait for more until Python ends.
                if not thread.daemon and thread not in _threads_queues:
                    thread.join()
    return None


def own_traceback(error: BaseException) -> str:
    """Format an error of a script as Python would, without the frames of what runs the script."""
    told = traceback.TracebackException.from_exception(error)
    waiting = [told]
    for one in waiting:
        one.stack[:] = [frame for frame in one.stack if not frame.filename.startswith(_RUNNING)]
        waiting += [other for other in (one.__cause__, one.__context__) if other is not None and other not in waiting]
    return "".join(told.format())


_RUNNING = (str(Path(__file__).parents[1]), "<frozen ", torch.overrides.__file__)
"""Prefixes of the files whose frames run and record a script."""


class _Answering(ScriptRecorder):
    """Answers the passes of a script."""

    def __init__(self, tell: Tell, *, check: bool, seconds: float | None, wrt: Sequence[str]) -> None:
        super().__init__()
        self.tell, self.check, self.seconds, self.wrt = tell, check, seconds, wrt
        self.count = 0

    def passed(self, path: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Answer a pass before it frees its graph, let it go on, and tell of it."""
        if not self.is_on:
            return function(*args, **kwargs)
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        self.begin()
        place = self.places.find()
        self._learn_names(place.frame)
        if given.get("create_graph"):
            return super().passed(path, function, args, kwargs)
        added, told = self._added(path), self._answer(given, place)
        try:
            found = super().passed(path, function, args, kwargs)
        except RuntimeError as error:
            reason = " ".join(str(error).split()).partition(". ")[0]
            told = replace(told, answer=None, refusal=InputError(f"torch refuses this pass: {reason}"))
            raise
        finally:
            self.count, self.is_on, self.is_over = told.number, told.number < MOST_PASSES, True
            self.tell(self._with_held(told, added))
        return found

    def _added(self, path: str) -> list[str]:
        """The leaves to whose `.grad` a pass adds, as earlier passes left something there."""
        grads = {name: leaf.tensor.grad for name, leaf in self.leaves.items()} if path.endswith("backward") else {}
        with self.paused():
            return [name for name, grad in grads.items() if grad is not None and numbers_of(grad).any()]

    def _with_held(self, told: Pass, added: Sequence[str]) -> Pass:
        """Say what `.grad` holds after a pass that added to what earlier ones left there."""
        if told.answer is None or not (names := [name for name in added if name in told.answer.wrt]):
            return told
        with self.paused():
            held = {name: numbers_of(self.leaves[name].tensor.grad) for name in names[:3]}
        shown = [f"{name}.grad holds {np.array2string(one, threshold=9, separator=', ')}" for name, one in held.items()]
        said = f"passes add up: after this one {', '.join(shown)}{', ...' * (len(names) > 3)}"
        return replace(told, answer=replace(told.answer, warnings=(*told.answer.warnings, said)))

    def _answer(self, given: Mapping[str, Any], place: Place) -> Pass:
        began, outputs = time.perf_counter(), _only(next(iter(given.values())))
        v = _only(next((one for name, one in given.items() if name in _VECTORS), None))
        told = Pass(self.count + 1, place.where, 0.0)
        try:
            if isinstance(outputs, tuple):
                raise InputError("a pass of several outputs at once is not answered")
            inputs = given.get("inputs")
            wanted = None if inputs is None else [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
            with budget(self.seconds), self.paused():
                answer, begun = self._answered(outputs, v, wanted, _called(told), place)
            norms: dict[str, list[float]] = {}
            for name, array in answer.vjp.items():
                norms.setdefault(name.rpartition(".")[0], []).append(float(np.linalg.norm(array)))
            by_module = {name: math.hypot(*some) for name, some in norms.items()}
            told = replace(told, answer=answer, norms=by_module, nonfinite=begun)
        except GradcliError as error:
            told = replace(told, refusal=self._lost if isinstance(self._lost, GradcliError) else error)
        except Exception as error:
            told = replace(told, refusal=InternalError(f"{type(error).__name__}: {error}"))
        return replace(told, seconds=time.perf_counter() - began)

    def _answered(
        self, y: Tensor, v: Tensor | None, wanted: Sequence[Tensor] | None, called: str, place: Place
    ) -> tuple[VJP, tuple[str, ...]]:
        made = self.made(y, wanted, called)
        given: tuple[Array, ...] = () if v is None else (array_of(v),)
        answer = vjp(made.inquiry(self.wrt, check=self.check), given)
        if all(bool(np.isfinite(array).all()) for array in (answer.value, *answer.vjp.values())):
            return answer, ()
        paths = {id(one): name for name, one in submodules_around(place.frame)}
        ran = trace(made.program, made.arrays, tuple(answer.wrt), made.call.dtype, answer.v)
        found = tuple(beginnings(ran, self._origins_in(made.program), paths))
        return replace(answer, warnings=(*answer.warnings, *found)), found

    def _origins_in(self, program: Program) -> dict[Span, Place]:
        """Where lines come from, by their place in the text; what a call is made of comes from where it does."""
        origins, last = {}, Place()
        for line in reversed(program.lines):
            last = origins[line.span] = self.origins.get(line.symbol, last)
        return origins


_VECTORS = frozenset("gradient grad_outputs grad_tensors".split())
"""What passes call the gradient vector."""


def _only(value: Any) -> Any:
    """The only one of several."""
    return value[0] if isinstance(value, tuple | list) and len(value) == 1 else value


def _called(one: Pass) -> str:
    return f"pass {one.number}" + (f" ({one.where})" if one.where else "")

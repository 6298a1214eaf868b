"""Recording of a whole script below autograd, with an answer to each of its backward passes.

After a pass, only the values that the script still holds are kept.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import inspect
import math
import os
import runpy
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Forward, Tensor, Trace, array_of, dtype_name, trace as traced
from gradcli.crosscheck.formulas import Formulas
from gradcli.errors import GradcliError, InputError, InternalError
from gradcli.language.program.wengert import Line, number
from gradcli.language.snippets.snippet_result import Snippet
from gradcli.progress import budget
from gradcli.questions.commands.vjp import answered
from gradcli.questions.question import Dtype, Inquiry
from gradcli.recording.aten_calls import name_of, numbers_of, tensors_in
from gradcli.recording.places import CallPlace, Places, TensorNames
from gradcli.recording.recorder import Recorder
from gradcli.results import VJP, Array, Pass
from gradcli.running.calling import Signature
from gradcli.running.recorded import FunctionCall, Recorded, require_same

MOST_PASSES = 100
"""Most passes to answer; after them the script goes on without being recorded."""


Tell = Callable[[Pass], None]
"""Function that takes each pass when it is over."""


# -- recording


_READING = frozenset("_local_scalar_dense lift_fresh detach alias".split())
"""Operations by which a script reads the results of a pass."""


class ScriptRecorder(Recorder):
    """Recorder of a script, which never sees an error of recording; after a pass, values no longer held are forgotten.

    Args:
        tell: Takes each pass when it is over.
        check: Whether to compare with the reference.
        seconds: That the check of each pass may take; None for as many as usual.
        wrt: The leaves to differentiate by; all if there is none.

    Attributes:
        count: How many passes were answered.
        is_over: Whether a pass was answered, until the next call that is recorded.
    """

    def __init__(self, tell: Tell, *, check: bool, seconds: float | None, wrt: Sequence[str]) -> None:
        super().__init__(TensorNames(runpy.run_path, ()), None)
        self.tell, self.check, self.seconds, self.wrt = tell, check, seconds, wrt
        self.count = 0
        self.is_over = False
        self._process = os.getpid()
        self._lost: Exception | None = None
        self._formulas: dict[Any, dict[tuple[str, ...], Formulas]] = {}  # of equal passes, which are confirmed once
        self._is_changed = False  # whether a leaf was, as by an optimizer, since values were last forgotten

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run a call, and record it while there may be answers."""
        if self.count == MOST_PASSES or os.getpid() != self._process:
            return function(*args, **(kwargs or {}))
        if name_of(function) not in _READING:
            self.begin()
        return super().__torch_dispatch__(function, types, args, kwargs)

    def _advance(self, *of_call: Any) -> None:
        try:
            super()._advance(*of_call)
        except Exception as error:
            self.lose(error)

    def lose(self, error: Exception) -> None:
        """Keep the first error for the next pass."""
        self._lost = self._lost or error

    def begin(self) -> None:
        """Forget the values of the last pass, before the first call that may belong to the next one."""
        is_due = (self._is_changed or self.is_over) and not (self._inside or self._pauses)
        if is_due and (torch.is_grad_enabled() or self.places.find().custom is not None):
            self._collect()

    def _collect(self) -> None:
        """Forget all values except the differentiable ones that the script still holds."""
        if self.is_over:
            self._lost, self.decisions.lost, self.decisions.remarks = None, [], {}
        self.is_over, self._is_changed, self.decisions.low, self.decisions.ordered = False, False, "", {}
        weak = {name: torch.utils.weak.TensorWeakRef(leaf.tensor) for name, leaf in self.leaves.items()}
        self.leaves = {name: replace(leaf, tensor=leaf.value) for name, leaf in self.leaves.items()}
        self.places, self.named = Places(), {}  # and with them the last tensors that only the recording holds
        tensors = {name: one for name, ref in weak.items() if (one := ref()) is not None}
        changed = [name for name, one in tensors.items() if self._values.find(one) is None]
        conditions = [guard.condition for guard in self.decisions.guards]
        kept = self.lines.retain(self._values.held(), conditions, changed)
        self._values.keep(kept)
        self._followed &= kept
        self.origins = {atom: origin for atom, origin in self.origins.items() if atom in kept}
        self.decisions.guards = [guard for guard in self.decisions.guards if guard.condition in kept]
        left = {name: leaf for name, leaf in self.leaves.items() if name in self.lines.variables}
        self.leaves = {name: replace(one, tensor=tensors.get(name, one.value)) for name, one in left.items()}
        self.names = TensorNames(runpy.run_path, {*self.leaves, *map(str, kept)})

    def _is_made(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is a constant: made by the script or read, which is not told apart."""
        return not (tensor.requires_grad or tensor in self._values)

    def _constant(self, *found: Any) -> None:
        for tensor in tensors_in(found):
            self._is_changed |= tensor in self._values
            self._values.forget(tensor)

    def _is_untracked(self, place: CallPlace) -> bool:
        """Tell whether autograd does not track a call, such as the arithmetic of an optimizer under no_grad."""
        return place.custom is None and not torch.is_grad_enabled() and not self._inside

    def _inquiry(self, y: Tensor, inputs: Any, called: str) -> Inquiry:
        """Make the inquiry about a tensor, whose recording is its `live`.

        Args:
            y: The tensor.
            inputs: The leaves to differentiate by; all that require a gradient if None.
            called: Its name in messages.

        Raises:
            InputError: It is of another dtype than is judged, was made by code that cannot be recorded, or is no
                function of a leaf that is asked for.
        """
        dtype = dtype_name(y.dtype)
        if dtype not in ("float64", "float32"):
            raise InputError(f"{called} is of {dtype}, and float64 and float32 are judged")
        output = self.atom(y)
        if output is None:
            raise InputError(f"{called} is of a tensor that no call of torch made which was seen")
        program = self.program(output)
        leaves = {name: self.leaves[name] for name in program.names}
        _, reached = self.lines.lowering.builder.made_of(output, stop=lambda call: call.op.is_detached)
        free = {str(one): leaves[str(one)].tensor for one in program.variables if one in reached}
        chosen = {*map(id, tensors_in(inputs) or free.values())}
        wrt = tuple(name for name, tensor in free.items() if tensor.requires_grad and id(tensor) in chosen)
        arrays = {name: numbers_of(leaf.value) for name, leaf in leaves.items()}
        call = FunctionCall(lambda: y, called, Signature({}), arrays, cast(Dtype, dtype))
        said = tuple(self.decisions.told(program))
        same = program.text, tuple(array.shape for array in arrays.values()), dtype
        known = self._formulas.setdefault(same, {})
        ran = Forward({name: leaf.tensor for name, leaf in leaves.items()}, y)
        found = Recorded(call, program, arrays, tuple(arrays), said, self, array_of(y), known, ran)
        require_same(found, y)
        if unknown := next((name for name in self.wrt if name not in wrt), ""):
            raise InputError(f"--wrt names '{unknown}', and the leaves are {', '.join(wrt)}")
        snippet = Snippet(program, values={n: array.astype(np.float64) for n, array in arrays.items()}, wrt=wrt)
        return Inquiry(program.text, snippet, {}, [*(self.wrt or wrt)], call.dtype, self.check, live=found)

    # -- answering

    def passed(self, path: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Answer a pass before it frees its graph, let it go on, and tell of it."""
        if self.count == MOST_PASSES:
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
            self.count, self.is_over = told.number, True
            self.tell(self._with_held(told, added))
        return found

    def _added(self, path: str) -> list[str]:
        """List the leaves to whose `.grad` a pass adds, as earlier passes left something there."""
        grads = {name: leaf.tensor.grad for name, leaf in self.leaves.items()} if path.endswith("backward") else {}
        with self.paused():
            return [name for name, grad in grads.items() if grad is not None and numbers_of(grad).any()]

    def _with_held(self, told: Pass, added: Sequence[str]) -> Pass:
        """Add a warning with the numbers in `.grad` after a pass that added to the results of earlier ones."""
        if told.answer is None or not (names := [name for name in added if name in told.answer.wrt]):
            return told
        with self.paused():
            held = {name: numbers_of(self.leaves[name].tensor.grad) for name in names[:3]}
        shown = [f"{name}.grad holds {np.array2string(one, threshold=9, separator=', ')}" for name, one in held.items()]
        said = f"passes add up: after this one {', '.join(shown)}{', ...' * (len(names) > 3)}"
        return replace(told, answer=replace(told.answer, warnings=(*told.answer.warnings, said)))

    def _answer(self, given: Mapping[str, Any], place: CallPlace) -> Pass:
        began, told = time.perf_counter(), Pass(self.count + 1, place.where, 0.0)
        try:
            with budget(self.seconds), self.paused():
                told = self._answered(told, given, place)
        except GradcliError as error:
            told = replace(told, refusal=self._lost if isinstance(self._lost, GradcliError) else error)
        except Exception as error:
            told = replace(told, refusal=InternalError(f"{type(error).__name__}: {error}"))
        return replace(told, seconds=time.perf_counter() - began)

    def _answered(self, told: Pass, given: Mapping[str, Any], place: CallPlace) -> Pass:
        y = _only(next(iter(given.values())))
        v = _only(next((one for name, one in given.items() if name in _VECTORS), None))
        if not isinstance(y, torch.Tensor):
            raise InputError("a pass of several outputs at once is not answered")
        inquiry = self._inquiry(y, given.get("inputs"), f"pass {told.number}{place}")
        answer = answered(inquiry, () if v is None else (array_of(v),))[1][0]
        norms = defaultdict[str, float](float)
        for name, array in answer.vjp.items():
            module = name.rpartition(".")[0]
            norms[module] = math.hypot(norms[module], np.linalg.norm(array))
        is_finite = all(np.isfinite(array).all() for array in (answer.value, *answer.vjp.values()))
        found = () if is_finite else self._beginnings(inquiry.live, answer)
        answer = replace(answer, warnings=(*answer.warnings, *found))
        return replace(told, answer=answer, norms=norms, nonfinite=found)

    def _beginnings(self, made: Recorded, answer: VJP) -> tuple[str, ...]:
        """Say where infinity and NaN begin: the first call that makes them of other numbers, forward, else back."""
        trace = traced(made.program, made.arrays, tuple(answer.wrt), made.call.dtype, answer.v)
        program, places = trace.program, self.places_of(made.program)
        found = [f"{one.name} holds NaN" for one in program.variables if np.isnan(trace.values[one]).any()]
        ways = ("", program.lines, _forward), ("the backward pass of ", program.lines[::-1], _back)
        for way, lines, begins in ways:
            for kind, has in () if way and found else _NOT_FINITE.items():
                first = next((line for line in lines if begins(trace, line, has)), None)
                if first is not None:
                    where = places.get(first.span, CallPlace())
                    found.append(f"{kind} begins in {way}{program.excerpt(first)}{where}")
        return tuple(found)


_NOT_FINITE: Mapping[str, Callable[[Array], Any]] = {"infinity": np.isinf, "NaN": np.isnan}
"""Test for each, by name; where one leads to the other, infinity is the first."""


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


_VECTORS = frozenset("gradient grad_outputs grad_tensors".split())
"""Names of the gradient vector among the arguments of passes."""


def _only(value: Any) -> Any:
    """Unwrap a list or tuple of one value; give anything else as it is."""
    return value[0] if isinstance(value, tuple | list) and len(value) == 1 else value

"""The last backward pass of a script, explained.

Nobody knows which pass is the last before the script is over, and by then its graph is gone: each of the first ones is
explained, for as long as that takes a few seconds in all, and a script that goes on after that is run once more for its
last one.  It runs as Python runs it.  Its output is shown the first time, on standard error, and not the second time.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from gradcli.errors import InputError, MissingPassError
from gradcli.parts.running.pass_arguments import output_and_vectors
from gradcli.parts.running.script_process import INTERRUPTED, UserScript, answer_passes
from gradcli.parts.running.script_tensors import ScriptTensor
from gradcli.parts.running.scripts import ScriptRecorder
from gradcli.parts.running.targets import away_from_output
from gradcli.recording.aten_calls import Argument
from gradcli.recording.places import CallPlace
from gradcli.results import Answer, Pass, Result

FEW = 3
"""Passes that are explained in any case."""

SECONDS = 6.0
"""Seconds of processor time after which no further pass is explained while a script runs."""


def answer_on_last_pass(
    script: UserScript, command: str, given: Mapping[str, object], *, budget: float | None = None
) -> Result:
    """Answer a command on the last backward pass of a script.

    Args:
        script: The script.
        command: The name of a method of `Function`.
        given: Its options by name; a gradient vector or a loss is taken in the place of that of the pass.
        budget: Seconds that a check may take.

    Raises:
        InputError: The script makes no pass, ends by an error, or the pass cannot be recorded.
    """
    name = PurePath(script.name).name
    recorder = _AskedRecorder(None, name, command, given, budget)
    with away_from_output():
        ended = answer_passes(script, recorder)
    if ended == INTERRUPTED:
        raise KeyboardInterrupt
    last, remarks = recorder.last, script.remarks
    if last is not None and last.refusal is not None:
        raise last.refusal
    if ended:
        hint = f"gradcli run {script.name} answers the passes before that"
        raise InputError(f"{name} ends by an error, with the exit code {ended}", hint=hint)
    if last is None:
        raise MissingPassError(f"{name} makes no backward pass", hint=f"name a function of it: {script.name}::NAME")
    if recorder.answered != last.number:
        recorder = _AskedRecorder(last.number, name, command, given, budget)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            answer_passes(script, recorder)
        remarks = (*remarks, f"{name} was run twice: to count its {last.number:,} passes, and to explain the last one")
    answer = recorder.found()
    if isinstance(answer, Answer):
        answer = replace(answer, warnings=(*answer.warnings, *remarks))
    return answer


class _AskedRecorder(ScriptRecorder):
    """Recorder of a script that answers a command on one pass, or on the first ones, while the graph of each is there.

    Attributes:
        last: The last pass so far.
        answered: The number of the last pass that was answered, or refused.
    """

    def __init__(
        self, number: int | None, name: str, command: str, given: Mapping[str, object], budget: float | None
    ) -> None:
        super().__init__(self._note, check=True, seconds=budget, wrt=(), only=number)
        self.asked_number, self.name, self.command, self.given = number, name, command, given
        self.last: Pass | None = None
        self.answered = 0
        self._spent = 0.0
        self._answer_found: Result | None = None

    def is_asked(self, number: int) -> bool:
        """Tell whether a pass is to be answered, by its number."""
        self._answer_found = None  # of a pass before it
        if self.asked_number is not None:
            return number == self.asked_number
        if number > FEW and self._spent > SECONDS:
            self.only = number - 1  # nothing is recorded any more
            return False
        return True

    def found(self) -> Result:
        """Return the answer on the last pass.

        Raises:
            GradcliError: There is none, for this reason.
        """
        if self.last is not None and self.last.refusal is not None:
            raise self.last.refusal
        if self._answer_found is None:
            hint = f"gradcli run {self.name} answers each pass as it happens"
            raise InputError(f"{self.name} makes fewer passes when it is run once more", hint=hint)
        return self._answer_found

    def _note(self, told: Pass) -> None:
        is_further = (
            self.asked_number is not None and told.number > self.asked_number
        )  # than the one that was the last before
        self.last = self.last if is_further else told
        self.answered = told.number if told.is_judged else self.answered

    def _answered(self, told: Pass, given: Mapping[str, Argument], place: CallPlace) -> Pass:
        began = time.process_time()
        try:
            return self._asked_of(told, given, place)
        finally:
            self._spent += time.process_time() - began

    def _asked_of(self, told: Pass, given: Mapping[str, Argument], place: CallPlace) -> Pass:
        y, vs = output_and_vectors(given)
        if len(vs) > 1:
            raise InputError("a pass of several gradient vectors at once is not explained")
        called = f"pass {told.number}{place}"
        unbound = next(iter(self._unbound_functions(y, given.get("inputs"), called)))
        options = {**self.given}
        if vs and options.keys().isdisjoint(("v", "vs", "loss")):
            options["v"] = vs[0]
        self._answer_found = ScriptTensor(called, unbound).ask(self.command, options)
        return told

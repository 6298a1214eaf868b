"""The last backward pass of a script, explained: the script is run to count its passes, and once more to explain one.

The script runs as Python runs it.  Its output is shown the first time, on standard error, and not the second time.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from gradcli.errors import InputError
from gradcli.parts.running.pass_arguments import output_and_vectors
from gradcli.parts.running.script_process import INTERRUPTED, UserScript, answer_passes
from gradcli.parts.running.script_tensors import ScriptTensor
from gradcli.parts.running.scripts import ScriptRecorder
from gradcli.parts.running.targets import away_from_output
from gradcli.recording.aten_calls import Argument
from gradcli.recording.places import CallPlace
from gradcli.results import Answer, Pass, Result

NONE_RECORDED = -1
"""Number of no pass: none is recorded, and all are counted."""


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
    told: list[Pass] = []
    counting = ScriptRecorder(told.append, check=False, seconds=None, wrt=(), only=NONE_RECORDED)
    with away_from_output():
        ended = answer_passes(script, counting)
    if ended == INTERRUPTED:
        raise KeyboardInterrupt
    name = PurePath(script.name).name
    if told and told[-1].refusal is not None:
        raise told[-1].refusal
    if ended:
        hint = f"gradcli run {script.name} answers the passes before that"
        raise InputError(f"{name} ends by an error, with the exit code {ended}", hint=hint)
    if not told:
        raise InputError(f"{name} makes no backward pass", hint=f"name a function of it: {script.name}::NAME")
    recorder = _AskedRecorder(told[-1].number, name, command, given, budget)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        answer_passes(script, recorder)
    answer = recorder.found()
    if isinstance(answer, Answer):
        answer = replace(answer, warnings=(*answer.warnings, *script.remarks))
    return answer


class _AskedRecorder(ScriptRecorder):
    """Recorder of a script that answers a command on one pass, while its graph is there."""

    def __init__(self, number: int, name: str, command: str, given: Mapping[str, object], budget: float | None) -> None:
        super().__init__(self._note, check=True, seconds=budget, wrt=(), only=number)
        self.name, self.command, self.given = name, command, given
        self._told: Pass | None = None
        self._answer_found: Result | None = None

    def found(self) -> Result:
        """Return the answer.

        Raises:
            GradcliError: There is none, for this reason.
        """
        if self._told is not None and self._told.refusal is not None:
            raise self._told.refusal
        if self._answer_found is None:
            hint = f"gradcli run {self.name} answers each pass as it happens"
            raise InputError(f"{self.name} makes fewer passes when it is run once more", hint=hint)
        return self._answer_found

    def _note(self, told: Pass) -> None:
        if told.number == self.only:
            self._told = told

    def _answered(self, told: Pass, given: Mapping[str, Argument], place: CallPlace) -> Pass:
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

"""The last backward pass of a script, explained.

Nobody knows which pass is the last before the script is over, and by then its graph is gone: each of the first few is
explained, and a script with more of them is run once more for its last one.  It runs as Python runs it.  Its output is
shown the first time, on standard error, and not the second time.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
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
"""Most passes of a script that is run once."""


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
    recorder = _AskedRecorder(range(1, FEW + 1), name, command, given, budget)
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
    if last.number > FEW:
        recorder = _AskedRecorder([last.number], name, command, given, budget)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            answer_passes(script, recorder)
        remarks = (*remarks, f"{name} was run twice: to count its {last.number:,} passes, and to explain the last one")
    answer = recorder.found()
    if isinstance(answer, Answer):
        answer = replace(answer, warnings=(*answer.warnings, *remarks))
    return answer


class _AskedRecorder(ScriptRecorder):
    """Recorder of a script that answers a command on some passes, while the graph of each is there.

    Attributes:
        last: The last pass so far.
    """

    def __init__(
        self, numbers: Sequence[int], name: str, command: str, given: Mapping[str, object], budget: float | None
    ) -> None:
        super().__init__(self._note, check=True, seconds=budget, wrt=(), only=numbers[-1])
        self.numbers, self.name, self.command, self.given = numbers, name, command, given
        self.last: Pass | None = None
        self._answer_found: Result | None = None

    def is_asked(self, number: int) -> bool:
        """Tell whether a pass is to be answered, by its number."""
        self._answer_found = None  # of a pass before it
        return number in self.numbers

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
        is_further = told.number > self.numbers[-1] and self.numbers[0] > 1  # than the one that was the last before
        self.last = self.last if is_further else told

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

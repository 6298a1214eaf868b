"""A check of further modes of differentiation in torch: forward mode, twice, and for several v at once.

Their numbers are compared with the enclosure of the same question, each in a section of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gradcli import results
from gradcli.crosscheck import formulas
from gradcli.crosscheck.compare import Tolerance, known_truth, number_of
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Numbers
from gradcli.crosscheck.summary import joined
from gradcli.errors import GradcliError, listed_names
from gradcli.option_words import Words
from gradcli.progress import each_with_time
from gradcli.questions import derivative_modes, judging
from gradcli.questions.bound_function import BoundFunction

RESIDUES = 2**6
"""Roundings of the largest number of a kind that may be left of terms that cancel."""

Failing = Callable[[Judgement, results.Check], set[results.Verdict]]
"""Function that collects the verdicts that do not pass, of a judgement and its check."""


@dataclass(frozen=True)
class AskedModes:
    """The modes to check.

    Attributes:
        forward: Whether forward mode was asked for; it is tried anyway where a custom function has a `jvp`.
        order: 2 if second derivatives are to be checked.
        batched: Whether rows of J are to be checked that are computed at once.
    """

    forward: bool = False
    order: int = 1
    batched: bool = False

    def are_checked(self, own: BoundFunction) -> bool:
        """Tell whether a mode is asked for, or tried on a function: forward mode, where there is a `jvp`."""
        return self != AskedModes() or (own.recording is not None and own.recording.has_jvp)


def with_modes(
    answer: results.Checking,
    bound: BoundFunction,
    own: BoundFunction,
    asked: AskedModes,
    tolerance: Tolerance,
    failing: Failing,
) -> results.Checking:
    """Add to an answer the checks of each mode that is asked for, or tried.

    Args:
        answer: The answer.
        bound: The function at its point.
        own: The function whose numbers are taken: the same, unless they are meant to be another one's derivatives.
        asked: The modes.
        tolerance: How far a number may be from the truth.
        failing: Collects the verdicts that do not pass.
    """
    if own is not bound and answer.sampling is not None:
        own = own.with_values(bound.arrays)
    modes = tuple(_checks(asked, _Judge(bound, own, tolerance, failing)))
    found = {*answer.failing, *(verdict for mode in modes for verdict in mode.failing)}
    is_whole = all(mode.check.is_whole for mode in modes)
    is_right = not any(mode.failing or mode.faults for mode in modes)
    return replace(
        answer,
        modes=modes,
        failing=tuple(verdict for verdict in results.SEVERITY if verdict in found),
        passed=answer.passed and is_right and (is_whole or not answer.requires_all),
    )


def _checks(asked: AskedModes, judge: _Judge) -> Iterator[results.ModeCheck]:
    recording = judge.own.recording
    if asked.forward or (recording is not None and recording.has_jvp):
        yield judge.checked("forward mode", _forward_mode, is_asked=asked.forward)
    if asked.order == 2:
        yield judge.checked("second order", derivative_modes.second_order)
    if asked.batched:
        yield judge.checked("batched", _batched)


def _forward_mode(own: BoundFunction, bound: BoundFunction) -> Iterator[derivative_modes.Asked]:
    count, names = sum(own.arrays[name].size for name in own.wrt), listed_names(own.wrt)
    sample = f"along one random direction u, as J takes a run for each of {count:,} elements of {names}"
    found = derivative_modes.forward_numbers(own)
    for numbers in found:
        yield bound, numbers, "" if numbers.is_of_rows or len(found) > 1 else sample


def _batched(own: BoundFunction, bound: BoundFunction) -> Iterator[derivative_modes.Asked]:
    for numbers, sample in derivative_modes.batched(own):
        yield bound, numbers, sample


@dataclass(frozen=True)
class _Judge:
    """Judge of the numbers of one function, as derivatives of another one or of the same."""

    bound: BoundFunction
    own: BoundFunction
    tolerance: Tolerance
    failing: Failing

    def checked(
        self,
        name: results.Mode,
        ask: Callable[[BoundFunction, BoundFunction], Iterator[derivative_modes.Asked]],
        *,
        is_asked: bool = True,
    ) -> results.ModeCheck:
        """Check the numbers of one mode; each of them has its question, and says how it is a sample."""
        bound, recording = self.bound, self.bound.recording
        found: list[tuple[BoundFunction, Judgement, results.Check]] = []
        refusal = ""
        with each_with_time():
            try:
                for asked, numbers, sample in ask(self.own, bound):
                    judgement = _without_residues(judging.compare_numbers(asked, numbers, self.tolerance), numbers)
                    check = judgement.check
                    if sample:
                        check = replace(check, sampled=True, proven=False, notes=(sample, *check.notes))
                    found.append((asked, judgement, check))
            except GradcliError as error:
                refusal = Words(error.text.message)
        if refusal:
            check = results.Check("unchecked", bound.jacobian_entries, 0, None, notes=(refusal,), sampled=True)
            found.append((bound, Judgement(check, (), None, ()), check))
        check = joined([one for _, _, one in found])
        failing = {verdict for _, one, own in found for verdict in self.failing(one, own)}
        if refusal and not is_asked:
            failing -= {"unchecked"}
        opinions = [one for asked, judgement, _ in found for one in _opinions(asked, judgement)]
        faults, tried = ((), ()) if recording is None else recording.trials_told(check.verdict, name)
        return results.ModeCheck(
            name,
            replace(check, notes=(*check.notes, *tried)),
            tuple(formulas.worst_first(opinions)[: formulas.MAX_OPINIONS]),
            sum(len(judgement.entries) for _, judgement, _ in found),
            tuple(verdict for verdict in results.SEVERITY if verdict in failing),
            faults,
        )


def _without_residues(judgement: Judgement, numbers: Numbers) -> Judgement:
    """Let entries agree that are 0 in truth, and what rounding leaves next to the largest number of their kind.

    Nothing records the passes of these modes, which would show the terms that cancel.
    """
    unit = RESIDUES * float(np.finfo(numbers.dtype).eps)
    rooms = {
        kind: unit * max((float(np.abs(one[np.isfinite(one)]).max(initial=0.0)) for one in found.values()), default=0.0)
        for kind, found in numbers.derivatives.items()
    }

    def without(entry: results.Entry) -> results.Entry:
        is_zero = entry.truth is not None and known_truth(entry.truth) == 0
        if entry.verdict == "disagree" and is_zero and abs(number_of(entry)) <= rooms.get(entry.kind, 0.0):
            return entry.judged(verdict="agree", note="")
        return entry

    return judgement.changed(without)


def _opinions(bound: BoundFunction, judgement: Judgement) -> tuple[results.Entry, ...]:
    entries = formulas.worst_first(judgement.entries)
    return formulas.opinions(entries, None, {}, bound.dtype)

"""A search for a better form of a function: best first, one identity after the other, each form measured.

What is looked for next is what the best forms so far can be written as.  The search ends where a form loses nothing
that a check would see, and at bounds of forms and of time.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradcli.diagnose.candidates import Candidate, again, is_sound, steps, tidy
from gradcli.diagnose.identities import IDENTITIES
from gradcli.diagnose.measuring import Loss, Measure
from gradcli.diagnose.occurrences import Reading
from gradcli.diagnose.patterns import RULES, Rule

MOST_EXPANDED = 40
"""Forms that the identities are applied to."""

MOST_MEASURED = 300
"""Forms that are run."""

MOST_STEPS = 6
"""Identities one after the other."""

SECONDS = 1.5
"""Of the processor's time for this thread."""

GAIN = 1.0
"""Bits that a form must lose less than what is typed."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a function, what it avoids, and what it loses."""

    text: str
    reasons: tuple[str, ...]
    loss: Loss

    @property
    def candidate(self) -> Candidate:
        """As a candidate."""
        return Candidate(self.text.strip(), "; ".join(self.reasons))

    @property
    def rank(self) -> tuple[int, int]:
        """Bits lost, then length: forms that lose the same within a bit are told apart by how short they are."""
        return round(self.loss.total), len(self.text)


def explored(original: Reading, measure: Measure, rules: Sequence[Rule] = (*RULES, *IDENTITIES)) -> list[Form]:
    """The forms that lose less than what is typed, the best first.

    Args:
        original: As typed.
        measure: What a form loses.
        rules: The identities.
    """
    loss = measure.of(original.program)
    if loss is None:
        return []
    end = time.thread_time() + SECONDS
    start = Form(original.text, (), loss)
    forms, counter = {start.text: start}, itertools.count()
    waiting = [(start.rank, next(counter), start)]
    for _ in range(MOST_EXPANDED):
        if not waiting:
            break
        _, _, form = heapq.heappop(waiting)
        for text, reason in _neighbours(original, form, rules):
            if text in forms or len(forms) > MOST_MEASURED or time.thread_time() > end:
                continue
            reading = again(original, text)
            loss = None if reading is None or not is_sound(original, text) else measure.of(reading.program)
            if loss is None:
                continue
            found = Form(text, tuple(dict.fromkeys((*form.reasons, reason))), loss)
            forms[text] = found
            heapq.heappush(waiting, (found.rank, next(counter), found))
        best = min(forms.values(), key=lambda one: one.rank)
        if measure.agrees(best.loss) or time.thread_time() > end:
            break
    better = [form for form in forms.values() if form.loss.total < start.loss.total - GAIN]
    return sorted(better, key=lambda one: one.rank)


def _neighbours(original: Reading, form: Form, rules: Sequence[Rule]) -> Iterator[tuple[str, str]]:
    """What a form can be written as by one identity."""
    reading = again(original, form.text)
    if reading is None or len(form.reasons) >= MOST_STEPS:
        return
    for rule in rules:
        for text, reason in steps(reading, rule):
            yield tidy(original, text), reason

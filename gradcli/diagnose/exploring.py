"""A search for a better form of a function: best first, one identity after the other, each form measured.

What is looked for next is what the best forms so far can be written as.  The search ends where a form loses nothing
that a check would see, and at bounds of forms and of time.  Only where nothing found is enough, SymPy is asked, too.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from gradcli.diagnose.candidates import Candidate
from gradcli.diagnose.expansions import Known, expansions
from gradcli.diagnose.forms import Form
from gradcli.diagnose.identities import RULES
from gradcli.diagnose.measuring import ENOUGH, Loss, Measure
from gradcli.diagnose.simplifying import simplified
from gradcli.reference.deadline import OverTimeError, part_limit, require_time

MOST_EXPANDED = 40
"""Forms that the identities are applied to."""

MOST_MEASURED = 300
"""Forms that are run."""

MOST_STEPS = 6
"""Identities one after the other."""

SECONDS = 1.5
"""Of a search, within the time of its question."""

MOST_SIMPLIFIED = 4
"""Forms that SymPy simplifies, the best first, where nothing else is good enough: it is slow."""

SHARE = 0.4
"""Of the time of a search, which that takes beside it."""

GAIN = 1.0
"""Bits that a form must lose less than what is typed."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A form of a function, what it avoids, what it loses, and what it was before series were put in."""

    form: Form
    reasons: tuple[str, ...]
    loss: Loss
    basis: Form | None = None

    @property
    def text(self) -> str:
        """Of the form."""
        return self.form.text

    @property
    def same(self) -> Form:
        """The form that is the function beyond float64 too."""
        return self.basis or self.form

    @property
    def candidate(self) -> Candidate:
        """As a candidate."""
        return Candidate(self.form, "; ".join(self.reasons), self.basis)

    @property
    def rank(self) -> tuple[int, bool, int]:
        """Bits lost beyond a few, whether it has series, then length."""
        return round(self.loss.beyond(ENOUGH)), self.basis is not None, len(self.text)


def explored(original: Form, measure: Measure) -> list[Measured]:
    """The forms that lose less than what is typed, the best first.

    Args:
        original: As typed.
        measure: What a form loses.
    """
    forms = searched(original, measure)
    better = [one for one in forms if one.loss.beyond(0) < forms[0].loss.beyond(0) - GAIN]
    return sorted(better, key=lambda one: one.rank)


def searched(original: Form, measure: Measure, seconds: float = SECONDS) -> list[Measured]:
    """All forms that were measured, what is typed first; none where that cannot be measured.

    Args:
        original: As typed.
        measure: What a form loses.
        seconds: How long that may take.
    """
    loss = measure.of(original.program)
    if loss is None:
        return []
    start = Measured(original, (), loss)
    series: Known = {}
    forms, counter = {start.text: start}, itertools.count()
    waiting = [(start.rank, next(counter), start)]

    def add(one: Measured, found: Iterable[tuple[Form, str]], basis: Form | None = None) -> None:
        """Measure what a form can be written as."""
        for form, reason in found:
            require_time()
            is_new = form.text not in forms and len(forms) <= MOST_MEASURED
            loss = measure.of(form.program) if is_new else None
            if loss is not None:
                new = Measured(form, tuple(dict.fromkeys((*one.reasons, reason))), loss, basis)
                forms[form.text] = new
                heapq.heappush(waiting, (new.rank, next(counter), new))

    def best() -> list[Measured]:
        return heapq.nsmallest(MOST_SIMPLIFIED, forms.values(), key=lambda one: one.rank)

    with suppress(OverTimeError), part_limit(seconds):
        for _ in range(MOST_EXPANDED):
            if not waiting:
                break
            _, _, one = heapq.heappop(waiting)
            if len(one.reasons) < MOST_STEPS:
                if one.basis is None:  # identities are of the function itself: they come before series
                    add(one, _by_identities(one.form))
                add(one, expansions(one.form, series), one.same)
            if measure.agrees(best()[0].loss):
                break
    simple = [] if measure.agrees(best()[0].loss) else [start, *(one for one in best() if one is not start)]
    with suppress(OverTimeError), part_limit(SHARE * seconds):
        for one in simple:
            require_time()
            if one.basis is None:
                add(one, simplified(one.form))
    return list(forms.values())


def _by_identities(form: Form) -> Iterator[tuple[Form, str]]:
    for rule in RULES:
        yield from rule.once(form)

"""A search for a better form of a function: best first, one identity after the other, each form measured.

What is looked for next is what the best forms so far can be written as.  The search ends where a form loses nothing
that a check would see, and at bounds of forms and of time.  Only where nothing found is enough, SymPy is asked, too.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from gradcli.diagnose.candidates import Candidate, again, inlined, is_alike, steps, tidy
from gradcli.diagnose.expansions import Known, expansions
from gradcli.diagnose.identities import IDENTITIES
from gradcli.diagnose.joining import joined_fractions
from gradcli.diagnose.measuring import ENOUGH, Loss, Measure
from gradcli.diagnose.occurrences import Reading
from gradcli.diagnose.patterns import RULES, Rule
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


NAMES = "names are written out, so that what cancels stands together"
"""Why a form has none."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a function, what it avoids, what it loses, what it was before series were put in, and its places."""

    text: str
    reasons: tuple[str, ...]
    loss: Loss
    basis: str
    reading: Reading

    @property
    def candidate(self) -> Candidate:
        """As a candidate."""
        return Candidate(self.text.strip(), "; ".join(self.reasons), self.basis.strip())

    @property
    def rank(self) -> tuple[int, bool, int]:
        """Bits lost beyond a few, whether it has series, then length."""
        return round(self.loss.beyond(ENOUGH)), bool(self.basis), len(self.text)


def explored(original: Reading, measure: Measure, rules: Sequence[Rule] = (*RULES, *IDENTITIES)) -> list[Form]:
    """The forms that lose less than what is typed, the best first.

    Args:
        original: As typed.
        measure: What a form loses.
        rules: The identities.
    """
    forms = searched(original, measure, rules)
    better = [form for form in forms if form.loss.beyond(0) < forms[0].loss.beyond(0) - GAIN]
    return sorted(better, key=lambda one: one.rank)


def searched(
    original: Reading, measure: Measure, rules: Sequence[Rule] = (*RULES, *IDENTITIES), seconds: float = SECONDS
) -> list[Form]:
    """All forms that were measured, what is typed first; none where that cannot be measured.

    Args:
        original: As typed.
        measure: What a form loses.
        rules: The identities.
        seconds: How long that may take.
    """
    loss = measure.of(original.program)
    if loss is None:
        return []
    start = Form(original.text, (), loss, "", original)
    series: Known = {}
    forms, counter = {start.text: start}, itertools.count()
    waiting = [(start.rank, next(counter), start)]

    def add(form: Form, found: Iterable[tuple[str, str, str]]) -> None:
        """Measure what a form can be written as."""
        for text, reason, basis in found:
            require_time()
            if text in forms or len(forms) > MOST_MEASURED:
                continue
            reading = again(original, text)
            loss = None if reading is None or not is_alike(original, reading) else measure.of(reading.program)
            if reading is None or loss is None:
                continue
            new = Form(text, tuple(dict.fromkeys((*form.reasons, reason))), loss, basis, reading)
            forms[text] = new
            heapq.heappush(waiting, (new.rank, next(counter), new))

    def best() -> list[Form]:
        return heapq.nsmallest(MOST_SIMPLIFIED, forms.values(), key=lambda one: one.rank)

    with suppress(OverTimeError), part_limit(seconds):
        for _ in range(MOST_EXPANDED):
            if not waiting:
                break
            _, _, form = heapq.heappop(waiting)
            add(form, _neighbours(original, form, rules, series))
            if measure.agrees(best()[0].loss):
                break
    simple = [] if measure.agrees(best()[0].loss) else [start, *(form for form in best() if form is not start)]
    with suppress(OverTimeError), part_limit(SHARE * seconds):
        for form in simple:
            require_time()
            if not form.basis:
                add(form, ((tidy(original, text), reason, "") for text, reason in simplified(form.reading)))
    return list(forms.values())


def _neighbours(original: Reading, form: Form, rules: Sequence[Rule], series: Known) -> Iterator[tuple[str, str, str]]:
    """What a form can be written as by one identity, or with one part in series, why, and without series.

    Identities are of the function itself: they come before series.
    """
    reading = form.reading
    if len(form.reasons) >= MOST_STEPS:
        return
    text = "" if form.basis else inlined(reading)
    if text:
        yield text, NAMES, ""
    for rule in () if form.basis else rules:
        for text, reason in steps(reading, rule):
            yield tidy(original, text), reason, ""
    for text, reason in () if form.basis else joined_fractions(reading):
        yield tidy(original, text), reason, ""
    for found in expansions(reading, series):
        yield found.text, found.reason, form.basis or form.text

"""Other forms of a function whose numbers are bad: the best known forms first, then a search.

A candidate is the same function in exact arithmetic wherever the original has a value and a derivative.  Whether it is
better at a point is for the judge to say.  The search is best first, one identity after the other, each form measured.

The search goes on from the best forms so far.  It ends where a form loses nothing that a check would see, and at bounds
of forms and of time.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from gradcli.errors import Span
from gradcli.language.program.wengert import Program, Shape
from gradcli.parts.improve.expansions import Known, expansions
from gradcli.parts.improve.forms import MOST_LINES, MOST_TEXT, Form
from gradcli.parts.improve.guards import guarded
from gradcli.parts.improve.identities import FINITE, KNOWN, MISSING, RULES
from gradcli.parts.improve.measuring import ENOUGH, LostBits, Measure
from gradcli.reference.deadline import OverTimeError, part_limit, require_time

MOST_OPERATIONS = 60
"""Most operations of a function whose other forms are searched; known cures are tried for any function."""

MOST_EXPANDED = 40
"""Most forms that the identities are applied to."""

MOST_MEASURED = 300
"""Most forms that are run."""

MOST_STEPS = 6
"""Most identities one after the other."""

EXPLORING_SECONDS = 1.5
"""Longest time of a search, within the time of its question."""

GAIN = 1.0
"""Bits fewer that a form must lose than the form as typed."""

MOST_CANDIDATES = 20
"""Most candidates for one function."""


@dataclass(frozen=True)
class Side:
    """A form, and the points where it serves."""

    one: Measured
    places: Sequence[int]


@dataclass(frozen=True)
class Measured:
    """A form, and the bits that it loses.

    Attributes:
        form: The form.
        loss: The bits that it loses at each point.
        condition: The condition where the first of two forms serves, such as `abs(x) < 1e-4`; empty for one form.
        sides: The two forms that it is made of.
    """

    form: Form
    loss: LostBits
    condition: str = ""
    sides: tuple[Side, ...] = ()

    @property
    def rank(self) -> tuple[int, bool, int]:
        """The order of forms: by bits lost beyond a few, then forms without series, then length."""
        return round(self.loss.beyond(ENOUGH)), self.form.basis is not None, len(self.form.text)


def best_of(forms: Iterable[Measured]) -> Measured:
    """Choose the form that loses least."""
    return min(forms, key=lambda one: one.rank)


def better(forms: Sequence[Measured]) -> list[Measured]:
    """List the forms that lose less than the first one, the best first."""
    found = [one for one in forms if one.loss.beyond(0) < forms[0].loss.beyond(0) - GAIN]
    return sorted(found, key=lambda one: one.rank)


def readable(program: Program, shapes: Mapping[str, Shape]) -> Form | None:
    """Make a form of a Program, or of the function in a snippet; None if it is too long, or depends on values."""
    is_long = len(program.lines) > MOST_LINES or len(program.text) > MOST_TEXT
    if program.needs_values or is_long or not program.output.is_Symbol:
        return None
    form = Form(program, shapes)
    return form.without_snippet() if program.shown else form


def candidates(original: Form, culprit: Span | None = None) -> Iterator[Form]:
    """Yield other forms of a function, the most likely to help first.

    Args:
        original: The function as typed.
        culprit: The place of the operation that made the number bad: it is guarded where it stands in a branch.

    >>> from gradcli.language.parsing import parse
    >>> next(candidates(Form(parse("(1 - cos(x))/x")))).text
    '2*sin(x/2)**2/x'
    """
    seen: set[str] = set()
    for form in _proposed(original, culprit):
        if form is not None and form.text not in seen:
            seen.add(form.text)
            yield form
        if len(seen) >= MOST_CANDIDATES:
            return


def _proposed(original: Form, culprit: Span | None) -> Iterator[Form | None]:
    """Yield the forms with the culprit's branch guarded, by each rule, with all branches guarded, and by all rules."""
    blamed = [line.symbol for line in original.program.lines if line.span == culprit]
    for atom in blamed[-1:]:
        yield guarded(original, atom)
    fitting = []
    for rule in KNOWN:
        found = rule.everywhere(original)
        fitting += [rule] if found is not None else []
        yield found
    yield guarded(original, None)
    together = original
    for rule in (*fitting, *KNOWN) if fitting else ():  # the result of one rule may fit another rule
        together = rule.everywhere(together) or together
    yield together if fitting else None


def finite_candidates(original: Form, *, misses_values: bool = False) -> Iterator[Form]:
    """Yield other forms of a function that may have a number where it gives NaN, each rule alone, then all.

    Args:
        original: The function as typed.
        misses_values: Whether NaN is in the data, so that leaving it out is no loss.

    >>> from gradcli.language.parsing import parse
    >>> [form.text for form in finite_candidates(Form(parse("sqrt(sum(x**2))")))]
    ['norm(x)']
    """
    together, seen = original, set[str]()
    for rule in (*FINITE, *MISSING) if misses_values else FINITE:
        if (found := rule.everywhere(original, 1)) is not None:
            yield found
            seen.add(found.text)
            together = rule.everywhere(together, 1) or together
    if seen and together.text not in seen:
        yield together


def searched(original: Form, measure: Measure, seconds: float = EXPLORING_SECONDS) -> list[Measured]:
    """Search and measure forms: the form as typed, known cures, then others; none where it cannot be measured.

    Args:
        original: The function as typed.
        measure: Measures the bits that a form loses.
        seconds: The longest time of the search.
    """
    loss = measure.lost_bits(original.program)
    if loss is None:
        return []
    start, is_small = Measured(original, loss), len(original.program.lines) <= MOST_OPERATIONS
    series: Known = {}
    forms, counter = {original.text: start}, itertools.count()
    waiting = [((-1, False, 0), next(counter), start)]  # the form as typed comes before its cures

    def add(found: Iterable[Form | None]) -> None:
        """Measure other ways to write a form."""
        for form in found:
            require_time()
            if form is None or form.text in forms or len(forms) > MOST_MEASURED:
                continue
            if (loss := measure.lost_bits(form.program)) is not None:
                new = forms[form.text] = Measured(form, loss)
                heapq.heappush(waiting, (new.rank, next(counter), new))

    with suppress(OverTimeError), part_limit(seconds):
        add(candidates(original))
        for _ in range(MOST_EXPANDED):
            if not (waiting and is_small) or measure.agrees(best_of(forms.values()).loss):
                break
            form = heapq.heappop(waiting)[2].form
            if len(form.reasons) < MOST_STEPS:
                if form.basis is None:  # identities are of the function itself: they come before series
                    add(found for rule in RULES for found in rule.once(form))
                add(expansions(form, series))
    return list(forms.values())

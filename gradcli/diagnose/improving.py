"""The best form of a function at points or over a range: searched, measured, and compared before it is offered.

First over all points at once; where the best form leaves digits lost at some of them, once more for these alone, and
forms that serve on different sides of a number are joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from gradcli.diagnose.advice import is_same_at
from gradcli.diagnose.candidates import again, candidates, is_alike, readable
from gradcli.diagnose.exploring import SECONDS, Form, searched
from gradcli.diagnose.measuring import ENOUGH, Loss, Measure
from gradcli.diagnose.occurrences import Reading
from gradcli.diagnose.switching import MeasureAt, Side, Switch, switched
from gradcli.language.program.wengert import Program
from gradcli.progress import doing, patience
from gradcli.reference.deadline import OverTimeError
from gradcli.results import Array

MOST_OPERATIONS = 60
"""Of a function that other forms are searched for; known cures are tried for any."""

MOST_TRIED = 6
"""Forms that are compared with the function, the best first."""

MOST_SWITCHES = 2
"""Numbers at which one form takes over from another."""

MOST_COMPARED = 8
"""Points at which a form is compared with the function."""

GAIN = 1.0
"""Bits, over all points, that a form must lose less than what is typed."""


@dataclass(frozen=True)
class Found:
    """A form of a function that loses less.

    Attributes:
        text: Of the form.
        reasons: What it avoids.
        loss: What it loses, at the points that are measured.
        bases: The forms that it is made of, without series: each is the function.
        has_series: Whether it is the function to float64 only.
        switches: Where one form takes over from another.
        compared: Points at which it was compared.
    """

    text: str
    reasons: tuple[str, ...]
    loss: Loss
    bases: tuple[str, ...]
    has_series: bool
    switches: tuple[Switch, ...]
    compared: int


def improved(
    program: Program, measure: Measure, measure_at: MeasureAt, beside: Sequence[Mapping[str, Array]] = ()
) -> Found | None:
    """A form that loses less than what is typed and is the same function wherever it was compared; None if none is.

    Args:
        program: As typed.
        measure: What forms lose at the points; those must be known.
        measure_at: What forms lose at another point.
        beside: More points at which a form is compared with the function.
    """
    shapes = {name: array.shape for name, array in measure.points[0].items()}
    original = readable(program, shapes)
    typed = None if original is None else measure.of(original.program)
    if original is None or typed is None:
        return None
    forms = list(_forms(original, measure))
    found: dict[str, Switch] = {}
    refused: set[str] = set()
    for _ in range(MOST_SWITCHES):
        usable = [form for form in forms if form.text not in refused]
        if _is_enough(usable, measure):
            break
        doing("joining two forms")
        switch = switched(original, usable, measure, measure_at)
        if switch is None:
            break
        first, second = (side.form for side in switch.sides)
        forms.append(Form(switch.text, _once((*first.reasons, *second.reasons)), switch.loss, "", switch.reading))
        found[switch.text] = switch
    better = (form for form in forms if form.loss.beyond(0) < typed.beyond(0) - GAIN and form.text != original.text)
    with suppress(OverTimeError):
        for form in sorted(better, key=lambda one: one.rank)[:MOST_TRIED]:
            doing("comparing the forms")
            parts = list(_parts(form, tuple(range(len(measure.points))), found))
            if all(_is_same(program, part, measure.points, beside) for part in parts):
                return _as_found(form, parts, found)
    return None


def _as_found(form: Form, parts: Sequence[Side], found: Mapping[str, Switch]) -> Found:
    bases = _once(part.form.basis or part.form.text for part in parts)
    has_series = any(part.form.basis for part in parts)
    compared = len({place for part in parts for place in _some(part.places)})
    return Found(form.text.strip(), form.reasons, form.loss, bases, has_series, tuple(_switches(form, found)), compared)


def _switches(form: Form, found: Mapping[str, Switch]) -> Iterator[Switch]:
    """Where forms take over within a form, the outermost first."""
    switch = found.get(form.text)
    if switch is not None:
        yield switch
        for side in switch.sides:
            yield from _switches(side.form, found)


def _parts(form: Form, places: tuple[int, ...], found: Mapping[str, Switch]) -> Iterator[Side]:
    """The forms that a form is made of, each with the points where it serves."""
    switch = found.get(form.text)
    if switch is None:
        yield Side(form, places)
        return
    for side in switch.sides:
        yield from _parts(side.form, tuple(place for place in side.places if place in places), found)


def _is_same(
    program: Program, part: Side, points: Sequence[Mapping[str, Array]], beside: Sequence[Mapping[str, Array]]
) -> bool:
    text = part.form.basis or part.form.text
    compared = [*(points[place] for place in _some(part.places)), *beside]
    return text == program.text or is_same_at(program, text, compared)


def _some(places: Sequence[int]) -> Sequence[int]:
    """A few of many, from one end to the other."""
    if len(places) <= MOST_COMPARED:
        return places
    return [places[n] for n in np.linspace(0, len(places) - 1, MOST_COMPARED).astype(int).tolist()]


def _once(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reasons))


# -- which forms there are


def _forms(original: Reading, measure: Measure) -> Iterator[Form]:
    """What is typed, known cures, and what a search finds for all points, and for those where digits are still lost."""
    doing("looking for other ways to write it")
    seen: dict[str, Form] = {}
    for form in _known(original, measure):
        seen.setdefault(form.text, form)
    is_short = len(original.program.lines) <= MOST_OPERATIONS
    for share in (1.0, 0.5) if is_short and not _is_enough(seen.values(), measure) else ():
        best = min(seen.values(), key=lambda form: form.rank)
        lost = [n for n, bits in enumerate(best.loss.bits) if bits > ENOUGH]
        part = measure if share == 1.0 or measure.asked else measure.part(lost)
        for form in searched(original, part, seconds=SECONDS * share * patience()):
            if form.text not in seen and (loss := measure.of(form.reading.program)) is not None:
                seen[form.text] = Form(form.text, form.reasons, loss, form.basis, form.reading)
        if measure.asked or _is_enough(seen.values(), measure):
            break
    yield from seen.values()


def _known(original: Reading, measure: Measure) -> Iterator[Form]:
    texts: list[tuple[str, tuple[str, ...]]] = [(original.text, ())]
    texts += [(one.expression, (one.reason,)) for one in candidates(original.program, original.sizes)]
    for text, reasons in texts:
        reading = again(original, text)
        loss = None if reading is None or not is_alike(original, reading) else measure.of(reading.program)
        if reading is not None and loss is not None:
            yield Form(text, reasons, loss, "", reading)


def _is_enough(forms: Iterable[Form], measure: Measure) -> bool:
    return any(measure.agrees(form.loss) for form in forms)

"""The best form of a function at points or over a range: searched, measured, and compared before it is offered.

First over all points at once; where the best form leaves digits lost at some of them, once more for these alone, and
forms that serve on different sides of a number are joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from gradcli.crosscheck.compare import spaced
from gradcli.diagnose.advice import is_same_at
from gradcli.diagnose.candidates import readable
from gradcli.diagnose.exploring import SECONDS, Measured, Side, best_of, better, searched
from gradcli.diagnose.forms import Form
from gradcli.diagnose.measuring import ENOUGH, Measure
from gradcli.diagnose.switching import MeasureAt, switched
from gradcli.language.program.wengert import Program
from gradcli.progress import doing, patience
from gradcli.reference.deadline import OverTimeError
from gradcli.results import Array

MOST_TRIED = 6
"""Most forms that are compared with the function, the best first."""

MOST_COMPARED = 8
"""Most points at which a form is compared with the function."""


@dataclass(frozen=True)
class BetterForm:
    """A form of a function that loses less.

    Attributes:
        one: The form, measured at the points.
        parts: The forms that it is made of, with the points where each serves.
        compared: The number of points at which it was compared.
    """

    one: Measured
    parts: Sequence[Side]
    compared: int

    @property
    def bases(self) -> Sequence[str]:
        """The forms that it is made of, without series: each is the function."""
        return list(dict.fromkeys(part.one.form.same.text for part in self.parts))

    @property
    def has_series(self) -> bool:
        """The presence of series, with which it is the function to float64 only."""
        return any(part.one.form.basis for part in self.parts)


def improved(
    program: Program, measure: Measure, measure_at: MeasureAt, beside: Sequence[Mapping[str, Array]] = ()
) -> BetterForm | None:
    """Find a form that loses less than the typed one and is the same function wherever compared; None if none does.

    Args:
        program: The function as typed.
        measure: The measure of forms at the points, of which one at least must be known.
        measure_at: Makes the measure of forms at another point.
        beside: More points at which a form is compared with the function.
    """
    shapes = {name: array.shape for name, array in measure.points[0].items()}
    original = readable(program, shapes)
    forms = [] if original is None else list(_forms(original, measure))
    if original is None or not forms:
        return None
    if not measure.agrees(best_of(forms).loss):
        doing("joining two forms")
        forms += switched(original, forms, measure, measure_at)
    with suppress(OverTimeError):
        for one in better(forms)[:MOST_TRIED]:
            doing("comparing the forms")
            parts = one.sides or (Side(one, range(len(measure.points))),)
            if all(_is_same(program, part, measure.points, beside) for part in parts):
                return BetterForm(
                    one, parts, len({place for part in parts for place in spaced(part.places, MOST_COMPARED)})
                )
    return None


def _is_same(
    program: Program, part: Side, points: Sequence[Mapping[str, Array]], beside: Sequence[Mapping[str, Array]]
) -> bool:
    compared = [*(points[place] for place in spaced(part.places, MOST_COMPARED)), *beside]
    return part.one.form.same.program is program or is_same_at(program, part.one.form.same.text, compared)


def _forms(original: Form, measure: Measure) -> Iterator[Measured]:
    """Yield the typed form, then the finds of a search for all points, and for the points that still lose digits."""
    doing("looking for other ways to write it")
    found = searched(original, measure, SECONDS * patience())
    yield from found
    if not found or measure.asked or measure.agrees(best_of(found).loss):
        return
    part = measure.part([n for n, bits in enumerate(best_of(found).loss.bits) if bits > ENOUGH])
    known = {one.form.text for one in found}
    for one in searched(original, part, SECONDS * patience() / 2):
        if one.form.text not in known and (loss := measure.of(one.form.program)) is not None:
            yield replace(one, loss=loss)

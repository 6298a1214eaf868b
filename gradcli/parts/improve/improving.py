"""The best form of a function at points or over a range: searched, measured, and compared before it is offered.

First over all points at once; where the best form leaves digits lost at some of them, once more for these alone, and
forms that serve on different sides of a number are joined: `where(x < 0, sqrt(x**2 + 1) - x, 1/(...))`.

The bits that each form loses at each point say which two forms to join, and by which variable and between which two
points to switch; the number between these is found by bisection over magnitudes.  Both branches are computed, so that
a branch that would be NaN where it is not taken is given the number of the switch there in place of the variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.crosscheck.compare import spaced
from gradcli.language.program.wengert import Program
from gradcli.parts.improve.advice import is_same_at
from gradcli.parts.improve.exploring import EXPLORING_SECONDS, GAIN, Measured, Side, best_of, better, readable, searched
from gradcli.parts.improve.forms import Form, FormWriter
from gradcli.parts.improve.measuring import ENOUGH, Measure
from gradcli.progress import budget_factor, set_step
from gradcli.reference.deadline import OverTimeError
from gradcli.results import Array

MOST_TRIED = 6
"""Most forms that are compared with the function, the best first."""

MOST_COMPARED = 8
"""Most points at which a form is compared with the function."""

STEPS = 12
"""Most points at which the switch is looked for, between two measured points."""

NARROW = 1.1
"""Largest ratio of the ends of an interval in which any number may be the switch."""

PLATEAU = 1.0
"""Bits of all points together that do not matter for the place of the switch."""

SHARE = 0.5
"""Largest share of the bits lost by the best form alone that two forms may lose, to be worth a switch."""

SHORT = 0.5
"""Largest length of a form next to that of the best one, to be named as the simpler one."""

MeasureAt = Callable[[Mapping[str, Array]], Measure]
"""Function that makes the measure of forms at one more point."""


@dataclass(frozen=True)
class BetterForm:
    """A form of a function that loses less.

    Attributes:
        one: The form, measured at the points.
        parts: The forms that it is made of, with the points where each serves.
        compared: The number of points at which it was compared.
        simpler: A form of at most half its length that loses no more than a check lets pass, if there is one.
    """

    one: Measured
    parts: Sequence[Side]
    compared: int
    simpler: Measured | None = None

    @property
    def bases(self) -> Sequence[str]:
        """The forms that it is made of, without series: each is the function."""
        return list(dict.fromkeys(part.one.form.same.text for part in self.parts))

    @property
    def has_series(self) -> bool:
        """Tell whether it has a series, which equals the function to the precision of float64 only."""
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
        set_step("joining two forms")
        forms += switched(original, forms, measure, measure_at)
    with suppress(OverTimeError):
        gaining = [one for one in better(forms) if one.loss.gains_over(forms[0].loss, GAIN)]
        for one in gaining[:MOST_TRIED]:
            set_step("comparing the forms")
            parts = one.sides or (Side(one, range(len(measure.points))),)
            if all(_is_same(program, part, measure.points, beside) for part in parts):
                count = len({place for part in parts for place in spaced(part.places, MOST_COMPARED)})
                return BetterForm(one, parts, count, _simpler(program, one, gaining, measure, beside))
    return None


def _simpler(
    program: Program,
    best: Measured,
    gaining: Sequence[Measured],
    measure: Measure,
    beside: Sequence[Mapping[str, Array]],
) -> Measured | None:
    """Find a much shorter form than the best one whose numbers a check lets pass, the one that loses least first."""
    for one in gaining:
        is_short = len(one.form.text) <= SHORT * len(best.form.text) and one.form.basis is None and not one.sides
        side = Side(one, range(len(measure.points)))
        if is_short and one.loss.worst <= measure.agreeing and _is_same(program, side, measure.points, beside):
            return one
    return None


def _is_same(
    program: Program, part: Side, points: Sequence[Mapping[str, Array]], beside: Sequence[Mapping[str, Array]]
) -> bool:
    compared = [*(points[place] for place in spaced(part.places, MOST_COMPARED)), *beside]
    return part.one.form.same.program is program or is_same_at(program, part.one.form.same.text, compared)


def _forms(original: Form, measure: Measure) -> Iterator[Measured]:
    """Yield the typed form, then the finds of a search for all points, and for the points that still lose digits."""
    set_step("looking for other ways to write it")
    found = searched(original, measure, EXPLORING_SECONDS * budget_factor())
    yield from found
    if not found or measure.asked or measure.agrees(best_of(found).loss):
        return
    part = measure.part([n for n, bits in enumerate(best_of(found).loss.bits) if bits > ENOUGH])
    known = {one.form.text for one in found}
    for one in searched(original, part, EXPLORING_SECONDS * budget_factor() / 2):
        if one.form.text not in known and (loss := measure.lost_bits(one.form.program)) is not None:
            yield replace(one, loss=loss)


# -- two forms joined where neither serves everywhere


@dataclass(frozen=True)
class _Split:
    """Split of the points by a variable, and the form that is taken on either side."""

    name: str
    is_absolute: bool
    first: Measured
    second: Measured
    order: npt.NDArray[np.intp]
    count: int
    beyond: float

    def condition(self, name: str, number: str) -> str:
        """Write the condition where the first form is taken."""
        return f"{f'abs({name})' if self.is_absolute else name} < {number}"

    def key(self, points: Sequence[Mapping[str, Array]], place: int) -> float:
        """Return the value that is compared with the switch."""
        value = float(points[self.order[place]][self.name])
        return abs(value) if self.is_absolute else value


def switched(original: Form, forms: Sequence[Measured], measure: Measure, measure_at: MeasureAt) -> Sequence[Measured]:
    """Join the best two forms; give nothing where that is no better than one form alone.

    Args:
        original: The function as typed.
        forms: All forms, measured.
        measure: The measure of forms at the points of a range.
        measure_at: Makes the measure of forms at another point.
    """
    points = measure.points
    worth = SHARE * min(form.loss.beyond(ENOUGH) for form in forms)
    names = [name for name in points[0] if points[0][name].ndim == 0]
    found = (_split(name, is_absolute, points, forms) for name in names for is_absolute in (False, True))
    split = min((one for one in found if one is not None), key=lambda one: one.beyond, default=None)
    if split is None or split.beyond > worth:
        return []
    number = _number(split, points, measure_at)
    first, second = np.split(split.order, [split.count])
    sides = Side(split.first, first.tolist()), Side(split.second, second.tolist())
    reasons = tuple(dict.fromkeys((*split.first.form.reasons, *split.second.form.reasons)))
    best: list[Measured] = []
    for form in _joined(original, split, number):
        loss = None if form is None else measure.lost_bits(form.program)
        if form is None or loss is None or loss.beyond(ENOUGH) > worth:
            continue
        if not best or loss.beyond(ENOUGH) < best[0].loss.beyond(ENOUGH) - PLATEAU:
            condition = split.condition(split.name, number)
            best = [Measured(replace(form, reasons=reasons), loss, condition, sides)]
    return best


# -- the two forms, and the place of the switch


def _split(
    name: str, is_absolute: bool, points: Sequence[Mapping[str, Array]], forms: Sequence[Measured]
) -> _Split | None:
    """Find the best split by a variable, or by its size: the forms before and after it, and the points before it."""
    keys = np.array([float(point[name]) for point in points])
    keys = np.abs(keys) if is_absolute else keys
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    beyond = np.maximum(np.array([form.loss.bits for form in forms]) - ENOUGH, 0.0)[:, order]
    lengths = np.array([len(one.form.text) for one in forms])[:, None] * 1e-6  # of equals, the shorter
    before = np.cumsum(beyond, axis=1)[:, :-1] + lengths
    behind = np.cumsum(beyond[:, ::-1], axis=1)[:, ::-1][:, 1:] + lengths
    totals = before.min(axis=0) + behind.min(axis=0)
    totals[keys[1:] == keys[:-1]] = np.inf
    if not np.isfinite(totals).any():
        return None
    best = int(totals.argmin())
    first, second = int(before[:, best].argmin()), int(behind[:, best].argmin())
    # Of equally good places, take the change of sign, or else the one in the middle: there both forms serve.
    alike = np.flatnonzero(before[first] + behind[second] <= totals[best] + PLATEAU)
    alike = alike[keys[alike + 1] > keys[alike]]
    signs = alike[(keys[alike] < 0) & (keys[alike + 1] >= 0)]
    place = int(signs[0] if len(signs) else alike[len(alike) // 2])
    lost = float(before[first, place] + behind[second, place])
    return _Split(name, is_absolute, forms[first], forms[second], order, place + 1, lost)


def _number(split: _Split, points: Sequence[Mapping[str, Array]], measure_at: MeasureAt) -> str:
    """Find the number of the switch, with as few digits as the interval allows."""
    low, high = split.key(points, split.count - 1), split.key(points, split.count)
    if low <= 0 <= high and not split.is_absolute:
        return "0"
    others = points[split.order[split.count - 1]]
    for _ in range(STEPS):
        if abs(high) <= NARROW * abs(low) and abs(low) <= NARROW * abs(high):
            break
        middle = between(low, high)
        at = measure_at({**others, split.name: np.asarray(middle, others[split.name].dtype)})
        first, second = (at.lost_bits(one.form.program) for one in (split.first, split.second))
        if first is None or second is None or first.beyond(ENOUGH) == second.beyond(ENOUGH):
            break  # both serve, or nothing is known there
        low, high = (middle, high) if first.beyond(ENOUGH) < second.beyond(ENOUGH) else (low, middle)
    middle = between(low, high)
    rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return repr(next((number for number in rounded if low < number <= high), high)).removesuffix(".0")


def between(low: float, high: float) -> float:
    """Return the middle by magnitude of two numbers of one sign; a 0 counts as the other number times 2**-52."""
    low, high = low or high * 2.0**-52, high or low * 2.0**-52
    return float(np.copysign(np.sqrt(abs(low)) * np.sqrt(abs(high)), high))


# -- as one form


def _joined(original: Form, split: _Split, number: str) -> Iterator[Form | None]:
    """Yield the two forms joined: as they are, then with one or both kept from numbers for which they are not taken."""
    variable = sympy.Symbol(split.name, real=True)
    condition, safe = split.condition("x", number), "1" if number == "0" else number
    below = f"-{safe}" if number == "0" else safe
    kept = f"z = where({condition}, x, {below})", f"z = where({condition}, {safe}, x)"
    for is_kept in ((False, False), (False, True), (True, False), (True, True)):
        writer = FormWriter(original)
        sides = {"x": variable}
        for name, one, is_guarded, guard in zip("uw", (split.first, split.second), is_kept, kept, strict=True):
            program = one.form.program
            values = {variable: writer.fill(guard, {"x": variable}) if is_guarded else variable}
            writer.copy(program.lines, values)
            writer.keep_names(program, values)
            sides[name] = values.get(program.output, program.output)
        yield writer.form(writer.fill(f"where({condition}, u, w)", sides))

"""The form of a function that loses the fewest digits: the method `improve`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np

from gradcli.errors import GradcliError, InputError
from gradcli.language.inputs import read_range
from gradcli.language.lower.names import shadowed
from gradcli.language.ops import Kind
from gradcli.language.parsing import parse
from gradcli.language.program.positions import position_names
from gradcli.language.program.wengert import Program
from gradcli.option_words import option
from gradcli.parts import is_listed
from gradcli.parts.improve.magnitudes import Spread, spread
from gradcli.progress import set_step
from gradcli.questions.bound_function import BoundFunction, FunctionWithValues, rounded
from gradcli.questions.judging import judge_numbers
from gradcli.questions.parsed_text import CommonOptions, Inputs, ParsedText
from gradcli.questions.text_reading import read_whole
from gradcli.reference.deadline import is_over_time, time_limit
from gradcli.report.numbers import in_a_line
from gradcli.results import Array, BitsLost, Check, Improvement, Rewrite, Strip

if TYPE_CHECKING:
    from gradcli.parts.improve.exploring import Measured
    from gradcli.parts.improve.measuring import LostBits, Measure

MOST_POINTS = 64
"""Elements of an array that are points of their own to an elementwise function; a longer array is one point."""

ELEMENTS = 64
"""Elements of a variable that may have a range."""

BOUNDED_MORE = 8
"""Bits more than are measured at points from which down a bound of all points is low enough."""

WHEREVER, IN_WHOLE_RANGE = "wherever both have a value", "at every point of the range"
"""Where a form is proved to be the same function, without and with a value of it everywhere."""

WITHOUT_DERIVATIVE, WRONG = ("undefined", "kink"), ("inaccurate", "nan-trap", "disagree")
"""Verdicts where a form may have a value that the typed one lacks, and those with which digits stay lost."""

SEED = 0
"""Seed of the order in which values of several variables are combined."""

Point = Mapping[str, Array]


@dataclass(frozen=True)
class _Shown:
    """Magnitudes of a variable, or labels of points, with the indices of the points around each."""

    variable: str
    places: tuple[float | str, ...]
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Sample:
    """The points at which forms are measured.

    Attributes:
        program: The function at one point.
        points: Values of its variables.
        asked: The number of points, from the first, that are the question's; 0 for a range.
        shown: The groups of points that are shown.
        ends: The lower and the upper ends of the variables of a range.
    """

    program: Program
    points: Sequence[Point]
    asked: int
    shown: tuple[_Shown, ...]
    ends: tuple[Point, Point] | None = None


def improve(
    self: ParsedText,
    at: Inputs | None = None,
    *,
    box: Mapping[str, str] | None = None,
    **options: Unpack[CommonOptions],
) -> Improvement:
    """Find the form that loses the fewest digits at the point, or by magnitude over the `box` of each variable.

    The elements of an elementwise function's values are points each.

    Raises:
        GradcliError: There is neither a value nor a range, or a range makes no sense.

    >>> from gradcli import Function
    >>> Function("sqrt(x**2 + 4) - x").improve(box={"x": "1..1e300"}).form
    '4/(hypot(x, 2) + x)'
    """
    return improved(self._asked(at, **options), box or {})


def improved(unbound: FunctionWithValues, ranges: Mapping[str, str]) -> Improvement:
    """Find the form that loses the fewest digits at the point, at each of the points, or over the ranges.

    Raises:
        GradcliError: A value is missing, surplus or malformed, or there is neither a value nor a range.
    """
    if ranges:
        unbound.require_fixed()
    unbound, ranges = unbound.within(ranges)
    read = {name: read_range(text, f"--in {name}") for name, text in ranges.items()}
    names = unbound.snippet.program.names
    if names and not (unbound.at or unbound.snippet.values):
        message = "improve needs a point, or a range: where digits are lost depends on it"
        hint = (
            f"give a point, {option('at', f'{names[0]}=1e-8')}, or a range, {option('in', f'{names[0]}=1e-300..1e300')}"
        )
        raise InputError(message, hint=hint)
    bound = unbound.bind()
    sample = _over(bound, read) if ranges else _at(bound)
    with time_limit():
        found = _improved(bound, ranges, sample)
        return _everywhere(found, unbound, ranges) if ranges and found.outcome != "none" else found


def _everywhere(answer: Improvement, unbound: FunctionWithValues, ranges: Mapping[str, str]) -> Improvement:
    """Say what is proved of the form at every point of the ranges: that it has a value, and the bits that it loses."""
    if answer.before is None:
        return answer
    if is_listed("everywhere"):
        from gradcli.parts.everywhere import has_values_in_box, lost_bits_in_box

        set_step("proving it everywhere")
        asked = replace(unbound, expression=answer.form, snippet=read_whole(answer.form))
        lost = answer.before if answer.after is None else answer.after
        bits = lost_bits_in_box(asked, ranges, lost.worst + BOUNDED_MORE)
        is_same = answer.same == "proved" and has_values_in_box(asked, ranges)
        domain = answer.domain.replace(WHEREVER, IN_WHOLE_RANGE) if is_same else answer.domain
        return replace(answer, domain=domain, proved_bits=bits)
    return answer


def _improved(bound: BoundFunction, ranges: Mapping[str, str], sample: _Sample) -> Improvement:
    from gradcli.parts.improve.measuring import ENOUGH, Measure

    set_step("finding out what is lost")
    program = sample.program

    def measured(points: Sequence[Point], asked: int) -> Measure:
        return Measure(program, points, bound.wrt, bound.dtype, asked=asked, enough=ENOUGH)

    measure = measured(sample.points, sample.asked)
    bits, unknown = measure.digits, tuple(_unknown(sample, measure))
    given = {name: array for name, array in bound.arrays.items() if name not in ranges}
    common = bound.common | {"inputs": given, "form": bound.program.expression.strip()}
    answer = Improvement(command="improve", ranges=ranges, outcome="none", bits=bits, points=0, **common)
    typed = measure.lost_bits(program) if measure.has_point else None
    if typed is None:
        return replace(answer, notes=unknown) if measure.untried else _judged(bound, sample, answer)
    answer = replace(answer, points=len(measure.points), before=_lost(typed, bits), notes=unknown)
    if measure.agrees(typed):
        answer = replace(answer, outcome="fine", strips=tuple(_strips(sample, measure, typed, None)))
        return _with_value_everywhere(bound, sample, measure, typed, answer)
    from gradcli.parts.improve.advice import beside
    from gradcli.parts.improve.improving import improved
    from gradcli.parts.improve.remaining import still_lost

    around = list(beside(sample.points[0], position_names(program)))[1:] if sample.asked else []
    found = improved(program, measure, lambda point: measured([point], 0), around)
    after = None if found is None else found.one.loss
    answer = replace(answer, strips=tuple(_strips(sample, measure, typed, after)))
    if found is None or after is None:
        return replace(answer, notes=(*unknown, _none_found()))
    is_proved = _is_proved(program, found.bases, sample.points[0], sample.ends)
    where = "this point and others" if sample.asked else f"{found.compared} points of the range"
    answer = replace(answer, switches=tuple(filter(None, (found.one.condition,))), after=_lost(after, bits))
    form, moving = found.one.form, tuple(ranges) or tuple(filter(None, (sample.shown[0].variable,)))
    lost = still_lost(form.program, after, measure, lambda point: measured([point], 0), moving)
    answer = replace(answer, still_lost=lost, notes=(*unknown, *_simpler(found.simpler, bits)))
    return _better(answer, form.value_text, form.reasons, where, is_proved=is_proved, has_series=found.has_series)


# -- the points


def _over(bound: BoundFunction, read: Mapping[str, tuple[Array, Array]]) -> _Sample:
    """Sample the ranges by magnitude; values of several variables are combined at random.

    Raises:
        InputError: A bound is beyond the dtype, or a range is of too many numbers.
    """
    columns: dict[str, list[Spread]] = {}
    for name, bounds in read.items():
        low, high = (rounded(end, bound.dtype) for end in bound.bounds(name, bounds))
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise InputError(
                f"the bounds of {option('in', of=name)} are beyond {bound.dtype}",
                hint=f"leave out {option('dtype')}",
            )
        if not low.size:
            raise InputError(f"{option('in', of=name)} is of no numbers", hint="leave it out")
        if low.size > ELEMENTS:
            raise InputError(f"{option('in', of=name)} is of {low.size:,} numbers, and at most {ELEMENTS} are drawn")
        pairs = zip(low.ravel().tolist(), high.ravel().tolist(), strict=True)
        columns[name] = [spread(a, b, bound.dtype, is_only=len(read) == 1) for a, b in pairs]
    generator = np.random.default_rng(SEED)
    count = max((len(one.values) for column in columns.values() for one in column), default=1)
    is_alone = sum(map(len, columns.values())) == 1
    drawn: dict[str, Array] = {}
    shown = []
    for name, column in columns.items():
        orders = [np.resize(np.arange(len(one.values)), count) for one in column]
        orders = orders if is_alone else [generator.permutation(order) for order in orders]
        values = np.stack([one.values[order] for one, order in zip(column, orders, strict=True)], axis=1)
        drawn[name] = rounded(values.reshape(count, *bound.arrays[name].shape), bound.dtype)
        if len(column) == 1:
            groups = column[0].groups[orders[0]]
            places = tuple(tuple(np.flatnonzero(groups == n).tolist()) for n in range(len(column[0].shown)))
            shown.append(_Shown(name, column[0].shown, places))
    points = [{**bound.arrays, **{name: array[n] for name, array in drawn.items()}} for n in range(count)]
    shown = shown or [_Shown("", ("all of the range",), (tuple(range(count)),))]
    sides = {name: bound.bounds(name, pair) for name, pair in read.items()}
    lower = {**bound.arrays, **{name: pair[0] for name, pair in sides.items()}}
    upper = {**bound.arrays, **{name: pair[1] for name, pair in sides.items()}}
    return _Sample(bound.program, points, 0, tuple(shown), (lower, upper))


def _at(bound: BoundFunction) -> _Sample:
    """Sample the given point, or the several points of an elementwise function; and others around each."""
    from gradcli.parts.improve.measuring import STEPS, around

    program, points = bound.program, [bound.arrays]
    labels: list[float | str] = ["here", "around it"]
    variable = ""
    scalar = _of_one_element(bound)
    if scalar is not None:
        program = scalar
        values, count = bound.arrays.items(), bound.shape[0]
        points = [{name: x if x.ndim == 0 else np.asarray(x[n]) for name, x in values} for n in range(count)]
        moving = [name for name, x in values if x.ndim]
        variable = moving[0] if len(moving) == 1 else ""
        labels = [float(p[variable]) if variable else f"point {n}" for n, p in enumerate(points)]
    every = list(points)
    groups = [[n] for n in range(len(points))]
    for n, point in enumerate(points):
        more = around(point, bound.dtype, still=position_names(program))[1:]
        groups[n] += range(len(every), len(every) + len(more))
        every += more
    if len(points) == 1:
        groups = [groups[0][:1], groups[0][1 : len(STEPS)]]
    shown = _Shown(variable, tuple(labels), tuple(map(tuple, groups)))
    return _Sample(program, every, len(points), (shown,))


def _of_one_element(bound: BoundFunction) -> Program | None:
    """Return the Program of an elementwise function that is given several numbers; None for any other."""
    program, shapes = bound.program, {x.shape for x in bound.arrays.values() if x.ndim}
    is_elementwise = all(line.call.op.kind is Kind.ELEMENTWISE for line in program.lines)
    if len(shapes) != 1 or not is_elementwise or program.shown or program.needs_shapes:
        return None
    (shape,) = shapes
    if len(shape) != 1 or not 1 < shape[0] <= MOST_POINTS or bound.shape != shape:
        return None
    return program


# -- the answer


def _better(
    answer: Improvement, form: str, reasons: tuple[str, ...], where: str, *, is_proved: bool, has_series: bool
) -> Improvement:
    """Answer by a form, and describe the points at which it is known to equal the original."""
    series = "; series leave out less than half a rounding of value and derivative" if has_series else ""
    domain = f"{WHEREVER if is_proved else f'enclosures of both at {where} overlap'}{series}"
    same: Literal["proved", "enclosed"] = "proved" if is_proved else "enclosed"
    return replace(answer, outcome="better", form=form, reasons=reasons, domain=domain, same=same)


def _judged(bound: BoundFunction, sample: _Sample, answer: Improvement) -> Improvement:
    """Answer by a check where nothing can be measured: for a point without a value, and for large arrays."""
    at = replace(bound, arrays={**bound.arrays, **sample.points[0]}) if answer.ranges else bound
    check = _checked(at)
    if check.verdict == "agree":
        return replace(answer, outcome="fine", notes=("torch's numbers agree with the truth",))
    if check.rewrite is None:
        where = "some point" if answer.ranges else "the point"
        return replace(answer, notes=(f"the verdict of a check at {where} is {check.verdict}",))
    return _as_checked(bound.program, at.arrays, check, check.rewrite, answer)


def _with_value_everywhere(
    bound: BoundFunction, sample: _Sample, measure: Measure, typed: LostBits, answer: Improvement
) -> Improvement:
    """Answer by the form that a check names at a point where the function has no value, if it loses as little."""
    known = {*measure.places}
    missing = None if measure.untried else next((n for n in range(len(sample.points)) if n not in known), None)
    if missing is None or (sample.asked and missing >= sample.asked):
        return answer
    at = replace(bound, arrays={**bound.arrays, **sample.points[missing]}) if answer.ranges else bound
    shapes = {name: array.shape for name, array in sample.points[0].items()}
    loss, check = None, None
    with suppress(GradcliError):  # as at a value that is no number of the function
        check = _checked(at)
        if check.rewrite is not None:
            form = parse(check.rewrite.expression, given=shadowed(sample.program.names), shapes=shapes)
            loss = measure.lost_bits(form)
    if check is None or check.rewrite is None or loss is None or not measure.agrees(loss):
        return answer
    strips = tuple(_strips(sample, measure, typed, loss))
    answer = replace(answer, after=_lost(loss, answer.bits), strips=strips)
    return _as_checked(bound.program, at.arrays, check, check.rewrite, answer)


def _checked(at: BoundFunction) -> Check:
    return judge_numbers(at, at.first_derivatives(), BoundFunction.first_derivatives).check


def _as_checked(program: Program, point: Point, check: Check, rewrite: Rewrite, answer: Improvement) -> Improvement:
    """Answer by the form that a check names."""
    is_proved = _is_proved(program, (rewrite.basis or rewrite.expression,), point)
    where = "the point" if not answer.ranges else ", ".join(f"{name} = {in_a_line(x)}" for name, x in point.items())
    said = f"the verdict of a check at {where} is {check.verdict}, and {rewrite.verdict} with this form"
    said += f": {rewrite.reason}" if check.verdict in WITHOUT_DERIVATIVE else ""
    lost = f"digits at {where}" if rewrite.verdict in WRONG else ""
    told = replace(answer, notes=(*answer.notes, said), still_lost=lost)
    where, has_series = "this point and others", bool(rewrite.basis)
    return _better(told, rewrite.expression, (rewrite.reason,), where, is_proved=is_proved, has_series=has_series)


def _lost(loss: LostBits, bits: int) -> BitsLost:
    found = [min(one, float(bits)) for one in loss.bits]
    return BitsLost(round(max(found)), round(math.fsum(found) / len(found), 1))


def _strips(sample: _Sample, measure: Measure, typed: LostBits, after: LostBits | None) -> Iterator[Strip]:
    known = {place: n for n, place in enumerate(measure.places)}
    for shown in sample.shown:
        before, behind = (
            () if loss is None else tuple(_worst(loss, group, known, measure.digits) for group in shown.groups)
            for loss in (typed, after)
        )
        yield Strip(shown.variable, shown.places, before, behind)


def _worst(loss: LostBits, group: Sequence[int], known: Mapping[int, int], bits: int) -> int | None:
    found = [loss.bits[known[place]] for place in group if place in known]
    return round(min(max(found), bits)) if found else None


def _unknown(sample: _Sample, measure: Measure) -> Iterator[str]:
    """Count the points that were not looked at or have no known value."""
    unknown = len(sample.points) - len(measure.places) - measure.untried
    if measure.untried:
        yield f"{measure.untried} of {len(sample.points)} points were not looked at within the budget"
    if unknown:
        has, count = ("has", "counts") if unknown == 1 else ("have", "count")
        yield f"{unknown} of {len(sample.points)} points {has} no known value or derivative, and {count} for nothing"


def _none_found() -> str:
    """Say why there is no better form."""
    if is_over_time():
        return "the search was not finished within the budget"
    return "known cures, identities, series, and two forms joined were tried: none loses less and is the same function"


def _simpler(one: Measured | None, bits: int) -> Iterator[str]:
    """Name a form that is much shorter than the best one, and good enough for a check."""
    if one is not None:
        lost = f"loses at most {round(one.loss.worst)} of {bits} bits"
        yield f"simpler, and good enough for a check: {one.form.value_text}, which {lost}"


# -- how it is known


def _is_proved(program: Program, forms: Sequence[str], point: Point, ends: tuple[Point, Point] | None = None) -> bool:
    """Tell whether all these forms, on which the answer rests, are proved to equal the function, between two ends."""
    set_step("proving that they are the same")
    shapes = {name: array.shape for name, array in point.items()}
    try:
        others = [parse(text, given=shadowed(program.names), shapes=shapes) for text in forms]
    except GradcliError:
        return False
    if is_listed("claims"):
        from gradcli.parts.claims import are_same

        return all(are_same(program, other, shapes) or are_same(program, other, shapes, ends) for other in others)
    return False

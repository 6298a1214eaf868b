"""A function and its derivative as curves, with kinks and poles: the method `plot`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradcli.crosscheck import curve_places, curves
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.errors import InputError, TooLargeError
from gradcli.language.inputs import Value, read_range, read_value
from gradcli.language.lower.names import shadowed
from gradcli.language.program.wengert import show
from gradcli.option_words import option
from gradcli.parts.plot.drawn_curves import is_drawn, named_curves, short_formula
from gradcli.parts.plot.moving_function import MovingFunction
from gradcli.parts.plot.proved_places import proved_of
from gradcli.progress import set_step
from gradcli.questions.bound_function import BoundFunction, Device, Dtype
from gradcli.questions.naming import no_such_variable, with_name
from gradcli.questions.parsed_text import Directions, Inputs, ParsedText
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import Mark, MarkedRange, Plot, PlotMap, Tangent

MOST_CURVES = 8
"""Most elements of y that are drawn."""

GRID, CELLS = 121, 161
"""Points along each axis of a map, and cells in which kinks are looked for."""

PARAMETER = "t"
"""Name of the way along a direction."""

MISSING_PLACES = "kinks, poles and other places are not marked: the search for them"
"""Beginning of the warning where there was no time to look for places."""

MISSING_ERRORS = "lost digits are not marked: the search for them"
"""The same where the places were found."""


def plot(
    self: ParsedText,
    at: Inputs | None = None,
    *,
    box: Mapping[str, str] | None = None,
    along: Directions = None,
    order: int = 1,
    wrt: Sequence[str] | None = None,
    dtype: Dtype | None = None,
    device: Device | None = None,
    **ranges: tuple[float, float] | str,
) -> Plot | PlotMap:
    """Compute y and its derivatives along a line, with the places where they break.

    `box` has the range of the variable, `"-3..3"`, or a keyword has it, `x=(-3, 3)`; two ranges are those of a map.
    The other variables stay at their values; with a value of its own the variable has a tangent there.  `along` is a
    direction by variable: the line goes from the values along it.

    Raises:
        GradcliError: There is no single variable, or y has too many elements.

    >>> from gradcli import Function
    >>> answer = Function("abs(x - 1)").plot(x=(-3, 3))
    >>> [(mark.kind, mark.place, mark.slope) for mark in answer.marks]
    [('kink', 1.0, (-1.0, 1.0))]
    """
    if order not in (1, 2):
        hint = "1 draws y and its derivative, 2 the second one too"
        raise InputError(f"{option('order', str(order))} is not drawn", hint=hint)
    texts = {name: ends if isinstance(ends, str) else "..".join(map(str, ends)) for name, ends in ranges.items()}
    given = _given_ranges(self, {**texts, **(box or {})}, is_directed=along is not None)
    asked = _Asked(self, with_name(at, self.variables), order, dtype, device)
    self._require_valued({*asked.values, *given})
    if along is not None:
        return _of_line(*_directed(asked, at, given, along))
    ends = {name: _ends(name, text) for name, text in given.items()}
    _require_parameters(self, ends, wrt or ())
    if len(ends) == 2:
        return _of_two(_in_plane(asked, ends), ends)
    return _of_line(*_on_line(asked, ends, wrt))


class _Asked(NamedTuple):
    """What is asked of a function, but for the ranges.

    Attributes:
        text: The function.
        values: The values that are given.
        order: The highest derivative.
        dtype: The dtype of torch's inputs, if not the usual one.
        device: The device, if not the CPU.
    """

    text: ParsedText
    values: Mapping[str, Value]
    order: int
    dtype: Dtype | None
    device: Device | None

    def bind(self, values: Mapping[str, Value], wrt: tuple[str, ...]) -> BoundFunction:
        """Ask for the derivative by some variables at values."""
        return self.text._asked(values, wrt, self.dtype, self.device).bind()


class _DrawnLine(NamedTuple):
    """A line to draw: the question that moves, the ends if they are given, and the place of the tangent."""

    moving: MovingFunction
    ends: tuple[float, float] | None
    touched: float | None


def _given_ranges(text: ParsedText, ranges: Mapping[str, str], *, is_directed: bool) -> dict[str, str]:
    """Name the ranges by their variables.

    Raises:
        InputError: There are more than the picture has axes.
    """
    given = {name: str(ends) for name, ends in with_name(ranges, text.variables, "--in").items()}
    if len(given) > (1 if is_directed else 2):
        most = f"{option('along')} has one" if is_directed else "a map has two"
        message = f"{option('in')} gives {len(given)} ranges, and {most}"
        raise InputError(message, hint=f"the other variables have a value: {option('at', 'NAME=VALUE')}")
    return given


def _require_parameters(text: ParsedText, ends: Iterable[str], wrt: Iterable[str]) -> None:
    """Refuse names that are no variables of the function."""
    for given, names in (("--in", ends), ("--wrt", wrt)):
        for name in names:
            if name not in text.parameters and not shadowed([name]):
                raise no_such_variable(given, name, text.parameters)


def _in_plane(asked: _Asked, ends: Mapping[str, tuple[float, float]]) -> BoundFunction:
    """Ask for a map over two variables, neither of which has a value.

    Raises:
        InputError: One has, or a second derivative is asked for.
    """
    if asked.order > 1 or not asked.values.keys().isdisjoint(ends):
        held = ", ".join(name for name in ends if name in asked.values)
        what = option("order") if asked.order > 1 else option("at", of=held)
        raise InputError("a map has y and its gradient, over two variables", hint=f"leave out {what}")
    starts = {name: low for name, (low, _) in ends.items()}
    return asked.bind({**starts, **asked.values}, tuple(ends))


def _on_line(asked: _Asked, ends: Mapping[str, tuple[float, float]], wrt: Sequence[str] | None) -> _DrawnLine:
    """Ask for curves over one variable; with a value of its own, it has a tangent there.

    Raises:
        InputError: There are several variables, or a tensor.
    """
    values = dict(asked.values)
    name = next(iter(ends), "") or next(iter(wrt or ()), "") or _only(asked.text, values)
    if wrt is not None and tuple(wrt) != (name,):
        message = f"{option('wrt')} names {', '.join(wrt)}, and the range is of {name}"
        hint = f"a plot has the derivative by the variable of its range; leave out {option('wrt')}"
        raise InputError(message, hint=hint)
    own, span = values.pop(name, None), ends.get(name)
    bound = asked.bind({**values, name: 0.5 if span is None else span[0]}, (name,))
    line = MovingFunction.over(bound, (name,), asked.order)
    touched = None if own is None else read_value(own, f"--at {name}")
    if touched is not None and touched.shape:
        message = f"'{name}' has shape {show(touched.shape)}, and a plot is over a number"
        raise InputError(message, hint=f"a tensor moves along a direction: {option('along', 'ones')}")
    return _DrawnLine(line, span, None if touched is None else float(touched))


def _ends(name: str, text: str) -> tuple[float, float]:
    """Read a range of a number.

    Raises:
        InputError: It is one of tensors, or empty.
    """
    low, high = read_range(text, f"--in {name}")
    if low.shape or not is_drawn(float(low), float(high)):
        hint = (
            f"a tensor moves along a direction: {option('along')}"
            if low.shape
            else f"write {option('in', f'{name}=-1..1')}"
        )
        raise InputError(f"{option('in', f'{name}={text}')} is no range that is drawn", hint=hint)
    return float(low), float(high)


def _only(text: ParsedText, values: Mapping[str, Value]) -> str:
    """Choose the variable of a plot without a range: the one without a value, or the only one.

    Raises:
        InputError: There are several, or there is none.
    """
    names = text.variables
    free = [name for name in names if name not in values]
    if len(names) == 1 or len(free) == 1:
        return (free or names)[0]
    known = f"has the variables {', '.join(names)}" if names else "has no variable"
    hint = (
        f"write {option('in', f'{(free or names)[0]}=-3..3')}, and {option('at', 'NAME=VALUE')} for the others"
        if names
        else None
    )
    raise InputError(f"a plot is over one variable, and the expression {known}", hint=hint)


def _directed(asked: _Asked, at: Inputs | None, box: Mapping[str, str], along: Directions) -> _DrawnLine:
    """Read the direction from the values of the tensors; t = 0 is the point itself."""
    bound = asked.text._asked(at, None, asked.dtype, asked.device).bind()
    direction = bound.directions(along, "plot")
    bound = replace(bound, wrt=tuple(direction))
    start = {name: bound.arrays[name].astype(np.float64) for name in direction}
    ends = _ends(PARAMETER, next(iter(box.values()), "-1..1"))
    return _DrawnLine(MovingFunction(bound, start, [direction], PARAMETER, asked.order), ends, 0.0)


@np.errstate(all="ignore")  # what is beyond float64 is infinite, and not drawn
def _of_line(line: MovingFunction, ends: tuple[float, float] | None, touched: float | None) -> Plot:
    """Compute the curves, the places and the tangents."""
    bound = line.bound
    if bound.recording is not None and line.order > 1:
        raise InputError(
            "of a function of Python, the second derivative is not drawn", hint=f"leave out {option('order')}"
        )
    if not 0 < (count := math.prod(bound.shape)) <= MOST_CURVES:
        shape, name = show(bound.shape), bound.program.output_name
        message = f"{name} has shape {shape}, and 1 to {MOST_CURVES} elements are drawn"
        raise TooLargeError(message, hint=f"plot one of the {count:,}: {name} = ...; {name}[0]")
    marks, spans, lost, common = list[Mark](), list[MarkedRange](), None, bound.common
    missing = ""
    with time_limit():
        low, high = line.shown_range() if ends is None else ends
        set_step("looking for kinks and poles")
        proved = proved_of(line, low, high)
        try:
            places = line.places(low, high) if proved.places is None else proved.places
            marks, spans = curve_places.classify_places(line.subject, places, low, high)
        except OverTimeError as error:
            missing = f"{MISSING_PLACES} was {error}"
        set_step("drawing")
        points, numbers = curves.sample(line.subject, marks, spans, low, high)
        shown = curves.windows(points, numbers, marks, spans)
        try:
            lost = curves.lost_digits(line.subject, points, numbers, shown)
        except OverTimeError as error:
            missing = missing or f"{MISSING_ERRORS} was {error}"
    # Of a function of Python no branch is left out.
    warnings = () if bound.recording is not None else common["warnings"]
    return Plot(
        command="plot",
        variable=line.name,
        u=line.directions[0] if line.name == PARAMETER else None,
        points=points,
        curves=tuple(named_curves(line, numbers, shown, lost)),
        marks=tuple(marks),
        spans=(*spans, *proved.named(curves.broken_ranges(points, numbers, lost))),
        stretches=proved.stretches,
        rtol=TOLERANCE[bound.dtype].rtol if proved.stretches else None,
        tangents=() if touched is None else tuple(_tangents(line, touched)),
        formula=short_formula(bound),
        **common | {"warnings": (*warnings, *filter(None, [missing]))},
    )


@np.errstate(all="ignore")
def _of_two(bound: BoundFunction, ends: Mapping[str, tuple[float, float]]) -> PlotMap:
    """Compute y and its gradient over a grid of two variables, the first of which is the horizontal one.

    Raises:
        InputError: y has several elements.
    """
    bound.require_one_element("grad")
    plane = MovingFunction.over(bound, tuple(ends))
    axes, edges = ([np.linspace(*pair, count) for pair in ends.values()] for count in (GRID, CELLS + 1))
    y, *slopes = plane.evaluate(np.stack(np.meshgrid(*axes)).reshape(2, -1)).reshape(3, GRID, GRID)
    common = bound.common
    cells = curve_places.SingularCells(np.zeros((0, 2)), np.zeros(0, bool))
    try:
        with time_limit():
            cells = curve_places.cells_with_places(plane.moving, edges, plane.evaluate)
    except OverTimeError as error:
        common["warnings"] += (f"{MISSING_PLACES} was {error}",)
    return PlotMap(
        command="plot",
        axes=dict(zip(ends, axes, strict=True)),
        values=y,
        gradient={name: np.where(np.isnan(y), np.nan, slope) for name, slope in zip(ends, slopes, strict=True)},
        formula=short_formula(bound),
        singular=cells.middles,
        kinks=cells.middles[cells.is_kink],
        **common,
    )


def _tangents(line: MovingFunction, place: float) -> Iterator[Tangent]:
    """Yield the tangent of each element of y at a place, where torch has one."""
    values, slopes, *_ = line.evaluate(np.array([place]))[:, 0]
    for element, (value, slope) in enumerate(zip(values, slopes, strict=True)):
        if np.isfinite([value, slope]).all():
            yield Tangent(place, element, float(value), float(slope))

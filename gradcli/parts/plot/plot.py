"""A function and its derivative as curves, with kinks and poles: the method `plot`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gradcli.crosscheck import curves
from gradcli.errors import InputError, TooLargeError
from gradcli.language.inputs import Value, read_range, read_value
from gradcli.language.lower.names import shadowed
from gradcli.language.program.wengert import show
from gradcli.notation import PARTIAL, Element, Named, Notation, second
from gradcli.option_words import option
from gradcli.progress import set_step
from gradcli.questions.naming import no_such_variable, with_name
from gradcli.questions.parsed_text import Directions, Inputs, ParsedText
from gradcli.questions.question import Device, Dtype, Question, rounded
from gradcli.reference.bounds import Mask
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.singular_places import MovingProgram, SingularRange, singular_places
from gradcli.results import Array, Curve, Mark, MarkedRange, Plot, PlotMap, Tangent
from gradcli.symbolic.printing import formula

MOST_CURVES = 8
"""Most elements of y that are drawn."""

GRID, CELLS = 121, 161
"""Points along each axis of a map, and cells in which kinks are looked for."""

MOST_LETTERS = 80
"""Most letters of a function that is the title of a plot as a formula."""

FARTHEST, NARROWEST = 1e100, 2.0**-36
"""The longest range; the narrowest, in parts of its ends."""

LIVE_POINTS = 201
"""Points at which a function of Python is called to find its branches."""

PARAMETER = "t"
"""Name of the way along a direction."""

USUAL, FAR = 5.0, (10.0, 1e3, 1e6)
"""The range of a function without kinks, poles and zeros; ranges in which they are looked for, until y exists."""

MISSING_PLACES = "kinks, poles and other places are not marked: the search for them"
"""Beginning of the warning where there was no time to look for places."""

MISSING_ERRORS = "lost digits are not marked: the search for them"
"""The same where the places were found."""

MOST_FEATURES = 5
"""Most kinks, poles and zeros, those next to 0, that a range is chosen to show."""


@dataclass(frozen=True)
class _MovingQuestion:
    """A question whose values move along a line, or in the plane of two variables.

    Attributes:
        question: The function at some values.
        start: The values that move, where the parameters are 0.
        directions: A direction by variable for each parameter.
        name: The name of the parameter of a line.
        order: The highest derivative.
    """

    question: Question
    start: Mapping[str, npt.NDArray[np.float64]]
    directions: Sequence[Mapping[str, Array]]
    name: str
    order: int = 1

    @classmethod
    def over(cls, question: Question, names: Sequence[str], order: int = 1) -> _MovingQuestion:
        """Move one or two numbers, each of which is its parameter."""
        directions = [{name: np.ones(())} for name in names]
        return cls(question, dict.fromkeys(names, np.zeros(())), directions, names[0], order)

    @property
    def moving(self) -> MovingProgram:
        """The Program and its values in the form that the reference reads."""
        point = self.question.point
        return MovingProgram(point.program, point.shapes, {**point.inputs, **self.start}, self.directions)

    def inputs_at(self, parameters: Array) -> dict[str, Array]:
        """Return the values that move, as the dtype has them."""
        moved = self.moving.inputs_at(parameters)
        return {name: rounded(array, self.question.dtype) for name, array in moved.items()}

    def evaluate(self, parameters: Array, *, is_recorded: bool = False) -> Array:
        """Ask torch for y and its derivatives; of a function of Python, run it, or the Program recorded from it."""
        from gradcli.autodiff.batched import along

        batch, moved = self.question.batch(tuple(self.start)), self.inputs_at(parameters)
        live = None if is_recorded else batch.live
        batch = replace(batch, inputs={**batch.inputs, **moved}, points=parameters.shape[-1], live=live)
        return along(batch, self.directions, self.order)

    @property
    def subject(self) -> curves.PlottedFunction:
        """The readings of the function."""
        return curves.PlottedFunction(self.moving, self.evaluate, self.question.dtype, self.question.recording is None)

    def places(self, low: float, high: float) -> list[SingularRange]:
        """List the places where there may be no derivative; a function of Python is recorded again where it branches.

        From where its numbers are others than those of its recording, another branch is taken.
        """
        found = singular_places(self.moving, low, high)
        if self.question.recording is None:
            return found

        def is_other(parameter: Array) -> Mask:
            both = self.evaluate(parameter)[0], self.evaluate(parameter, is_recorded=True)[0]
            same: Mask = np.isclose(*both, rtol=1e-6, atol=0, equal_nan=True).all(axis=1)
            return ~same

        grid = np.linspace(low, high, LIVE_POINTS)
        others = np.flatnonzero(is_other(grid))
        if not len(others) or others[0] == 0:
            return found
        before, after = grid[others[0] - 1], grid[others[0]]
        while (middle := (before + after) / 2) not in (before, after):
            before, after = (before, middle) if is_other(np.array([middle]))[0] else (middle, after)
        at = {name: array[0] for name, array in self.inputs_at(np.array([after])).items()}
        rest = replace(self, question=self.question.with_values(at)).places(after, high)
        return [*(one for one in found if one.high < before), SingularRange(before, after), *rest]

    def shown_range(self) -> tuple[float, float]:
        """Choose a range that shows the function: its kinks, poles and zeros next to 0, else the usual one."""
        count = 1_001 if self.question.recording is None else LIVE_POINTS
        for far in FAR:
            grid = np.linspace(-far, far, count)
            y = self.evaluate(grid)[0]
            if np.isfinite(y).any():
                break
        with np.errstate(invalid="ignore"):
            crossed = (np.sign(y[:-1]) * np.sign(y[1:]) <= 0) & (abs(y[:-1]) > 0)
        zeros, places = grid[1:][crossed.any(axis=1)], list[SingularRange]()
        with suppress(OverTimeError):  # what is marked is looked for again
            places = self.places(-far, far)
        found = sorted([*zeros, *(place.low for place in places)], key=abs)[:MOST_FEATURES]
        if not found:
            return (-USUAL, USUAL) if far == FAR[0] else (-far, far)
        low, high = min(found), max(found)
        low, high = (min(low, 0.0), max(high, 0.0)) if abs(found[0]) <= high - low else (low, high)
        rest = max((high - low) / 4, USUAL / 5, abs(low) / 8)
        step = 10.0 ** math.floor(math.log10(high - low + 2 * rest)) / 2
        return math.floor((low - rest) / step) * step, math.ceil((high + rest) / step) * step


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
        raise InputError(
            f"{option('order', str(order))} is not drawn", hint="1 draws y and its derivative, 2 the second one too"
        )
    texts = {name: ends if isinstance(ends, str) else "..".join(map(str, ends)) for name, ends in ranges.items()}
    given = with_name({**texts, **(box or {})}, self.variables, "--in")
    if len(given) > (most := 2 if along is None else 1):
        message = f"{option('in')} gives {len(given)} ranges, and "
        message += "a map has two" if most == 2 else f"{option('along')} has one"
        raise InputError(message, hint=f"the other variables have a value: {option('at', 'NAME=VALUE')}")
    if along is not None:
        return _of_line(*_directed(self, at, given, along, order, dtype, device))
    ends = {name: _ends(name, str(text)) for name, text in given.items()}
    for name in (*ends, *(wrt or ())):
        if name not in self.parameters and not shadowed([name]):
            raise no_such_variable("--in" if name in ends else "--wrt", name, self.parameters)
    values = with_name(at, self.variables)
    if len(ends) == 2:
        if order > 1 or not values.keys().isdisjoint(ends):
            held = ", ".join(name for name in ends if name in values)
            what = option("order") if order > 1 else option("at", of=held)
            raise InputError("a map has y and its gradient, over two variables", hint=f"leave out {what}")
        starts = {name: low for name, (low, _) in ends.items()}
        return _of_two(self._asked({**starts, **values}, tuple(ends), dtype, device).question(), ends)
    name = next(iter(ends), "") or next(iter(wrt or ()), "") or _only(self, values)
    if wrt is not None and tuple(wrt) != (name,):
        message = f"{option('wrt')} names {', '.join(wrt)}, and the range is of {name}"
        raise InputError(
            message, hint=f"a plot has the derivative by the variable of its range; leave out {option('wrt')}"
        )
    own, span = values.pop(name, None), ends.get(name)
    start = 0.5 if span is None else span[0]
    question = self._asked({**values, name: start}, (name,), dtype, device).question()
    line = _MovingQuestion.over(question, (name,), order)
    touched = None if own is None else read_value(own, f"--at {name}")
    if touched is not None and touched.shape:
        message = f"'{name}' has shape {show(touched.shape)}, and a plot is over a number"
        raise InputError(message, hint=f"a tensor moves along a direction: {option('along', 'ones')}")
    return _of_line(line, span, None if touched is None else float(touched))


def _ends(name: str, text: str) -> tuple[float, float]:
    """Read a range of a number.

    Raises:
        InputError: It is one of tensors, or empty.
    """
    low, high = read_range(text, f"--in {name}")
    least = max(1 / FARTHEST, NARROWEST * float(np.max(np.abs([low, high]))))
    if low.shape or not least <= float(high) - float(low) <= FARTHEST:
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


def _directed(
    text: ParsedText,
    at: Inputs | None,
    box: Mapping[str, Value],
    along: Directions,
    order: int,
    dtype: Dtype | None,
    device: Device | None,
) -> tuple[_MovingQuestion, tuple[float, float], float]:
    """Read the direction from the values of the tensors; t = 0 is the point itself."""
    question = text._asked(at, None, dtype, device).question()
    direction = question.directions(along, "plot")
    question = replace(question, wrt=tuple(direction))
    start = {name: question.arrays[name].astype(np.float64) for name in direction}
    ends = _ends(PARAMETER, str(next(iter(box.values()), "-1..1")))
    return _MovingQuestion(question, start, [direction], PARAMETER, order), ends, 0.0


@np.errstate(all="ignore")  # what is beyond float64 is infinite, and not drawn
def _of_line(line: _MovingQuestion, ends: tuple[float, float] | None, touched: float | None) -> Plot:
    """Compute the curves, the places and the tangents."""
    question = line.question
    if question.recording is not None and line.order > 1:
        raise InputError(
            "of a function of Python, the second derivative is not drawn", hint=f"leave out {option('order')}"
        )
    if not 0 < (count := math.prod(question.shape)) <= MOST_CURVES:
        shape, name = show(question.shape), question.program.output_name
        message = f"{name} has shape {shape}, and 1 to {MOST_CURVES} elements are drawn"
        raise TooLargeError(message, hint=f"plot one of the {count:,}: {name} = ...; {name}[0]")
    marks, spans, errors, common = list[Mark](), list[MarkedRange](), None, question.common
    missing = ""
    with time_limit():
        low, high = line.shown_range() if ends is None else ends
        set_step("looking for kinks and poles")
        try:
            marks, spans = curves.classify_places(line.subject, line.places(low, high), low, high)
        except OverTimeError as error:
            missing = f"{MISSING_PLACES} was {error}"
        set_step("drawing")
        points, numbers = curves.sample(line.subject, marks, spans, low, high)
        shown = curves.windows(points, numbers, marks, spans)
        try:
            errors = curves.lost_digits(line.subject, points, numbers, shown)
        except OverTimeError as error:
            missing = missing or f"{MISSING_ERRORS} was {error}"
    # Of a function of Python no branch is left out.
    warnings = () if question.recording is not None else common["warnings"]
    return Plot(
        command="plot",
        variable=line.name,
        u=line.directions[0] if line.name == PARAMETER else None,
        points=points,
        curves=tuple(_curves(line, numbers, shown, errors)),
        marks=tuple(marks),
        spans=(*spans, *curves.broken_ranges(points, numbers, errors)),
        tangents=() if touched is None else tuple(_tangents(line, touched)),
        formula=_formula(question),
        **common | {"warnings": (*warnings, *filter(None, [missing]))},
    )


@np.errstate(all="ignore")
def _of_two(question: Question, ends: Mapping[str, tuple[float, float]]) -> PlotMap:
    """Compute y and its gradient over a grid of two variables, the first of which is the horizontal one.

    Raises:
        InputError: y has several elements.
    """
    question.require_one_element("grad")
    plane = _MovingQuestion.over(question, tuple(ends))
    axes, edges = ([np.linspace(*pair, count) for pair in ends.values()] for count in (GRID, CELLS + 1))
    y, *slopes = plane.evaluate(np.stack(np.meshgrid(*axes)).reshape(2, -1)).reshape(3, GRID, GRID)
    common = question.common
    singular: Array = np.zeros((0, 2))
    try:
        with time_limit():
            singular = curves.singular_middles(plane.moving, edges, plane.evaluate)
    except OverTimeError as error:
        common["warnings"] += (f"{MISSING_PLACES} was {error}",)
    return PlotMap(
        command="plot",
        axes=dict(zip(ends, axes, strict=True)),
        values=y,
        gradient={name: np.where(np.isnan(y), np.nan, slope) for name, slope in zip(ends, slopes, strict=True)},
        formula=_formula(question),
        singular=singular,
        **common,
    )


def _curves(line: _MovingQuestion, numbers: Array, shown: Array, errors: Array | None) -> Iterator[Curve]:
    """Name the rows of numbers."""
    shape, name = line.question.shape, line.question.program.output_name
    for element in range(numbers.shape[-1]):
        index = tuple(int(i) for i in np.unravel_index(element, shape))
        y, x = Element(name, index) if shape else Named(name), Named(line.name)
        labels: Sequence[Notation] = (y, PARTIAL(y, x), second(y, x, x))
        for order, values in enumerate(numbers[..., element]):
            error = None if errors is None or order > 1 else errors[order, :, element]
            low, high = shown[order, element].tolist()
            yield Curve(labels[order], order, element, values, (low, high), error)


def _formula(question: Question) -> Notation | None:
    """Return y as a formula, where it is a number and the formula is short."""
    block = next(iter(question.derived.blocks.values()), "")
    if question.shape or isinstance(block, str) or question.recording is not None:
        return None
    found = formula(block, question.program).function
    return None if found is None or len(found[1].text) > MOST_LETTERS else found[1]


def _tangents(line: _MovingQuestion, place: float) -> Iterator[Tangent]:
    """Yield the tangent of each element of y at a place, where torch has one."""
    values, slopes, *_ = line.evaluate(np.array([place]))[:, 0]
    for element, (value, slope) in enumerate(zip(values, slopes, strict=True)):
        if np.isfinite([value, slope]).all():
            yield Tangent(place, element, float(value), float(slope))

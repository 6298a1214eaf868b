"""Code in a box: whether what was recorded of it at one point is the function at every point of the box.

A recording knows the values by which code decides: the branches of Python, masks, positions, and numbers that Python
reads.  Those that follow from what moves are bounded in the box, with torch's rounding; where one may be another, the
code is refused, with its place.  Then the code is run and recorded at points of the box, where it has to do the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gradcli.arrays import Array, are_same
from gradcli.crosscheck.rounding import SLACK
from gradcli.errors import GradcliError, LanguageError
from gradcli.language.program.shape_readings import GivenShape
from gradcli.language.program.torch_passes import TorchPasses
from gradcli.language.program.wengert import Atom, Program, needed
from gradcli.option_words import option
from gradcli.parts.everywhere.box_sets import BoxSet, first_grid, halves, is_narrow, middle_of
from gradcli.parts.everywhere.intervals import Interval, point
from gradcli.parts.everywhere.moving_box import (
    MOST_MOVING,
    AskedBox,
    MovingBox,
    asked_box,
    box_along,
    require_few,
)
from gradcli.parts.everywhere.rounded_passes import RoundedPasses, lines_of, signature
from gradcli.questions.bound_function import BoundFunction, FunctionWithValues, rounded
from gradcli.questions.naming import Directions
from gradcli.questions.recorded_protocol import Recording
from gradcli.reference.bounds import NoRuleError

RANDOM_POINTS, SEED = 6, 0
"""Random points of a box at which code is run, besides its ends and its middle, and their seed."""

MOST_CELLS, LEVELS = 4096, 40
"""Most cells, and halvings, in which it is asked whether code decides as at the point where it was recorded."""

BISECTIONS = 60
"""Steps to the place where code decides otherwise."""

ZERO = 2.0**-40
"""Part of a box from which down a number is shown as 0."""


def known_box(unbound: FunctionWithValues, ranges: Mapping[str, str], along: Directions = None) -> MovingBox:
    """Read a question on a box of few numbers, or on a line; of code, one in which its recording is the function.

    Raises:
        InputError: There is no range, y has several elements, or too many numbers move.
        GradcliError: A value is missing, a range makes no sense, or the code may do something else in the box.
    """
    if along is not None:
        return known_line(unbound, ranges, along)
    asked = asked_box(unbound, ranges)
    require_few(asked)
    require_recorded(asked)
    return asked.moving()


def known_ranges(
    unbound: FunctionWithValues, ranges: Mapping[str, str], shapes: Mapping[str, GivenShape] | None = None
) -> AskedBox:
    """Read the ranges of a question, as `asked_box`; of code, those in which its recording is the function.

    Raises:
        GradcliError: There is no range, a value is missing, or the code may do something else in the box.
    """
    asked = asked_box(unbound, ranges, shapes)
    require_recorded(asked)
    return asked


def known_line(unbound: FunctionWithValues, ranges: Mapping[str, str], along: Directions) -> MovingBox:
    """Read a line through the point of a question; of code, one on which its recording is the function.

    Raises:
        GradcliError: A range makes no sense, or the code may do something else on the line.
    """
    box = box_along(unbound, ranges, along)
    require_recorded(AskedBox(box.bound_function, box.ranges, dict.fromkeys(box.ranges, (box.low, box.high))))
    return box


def require_numbers(box: MovingBox, parts: Sequence[tuple[MovingBox, RoundedPasses]]) -> None:
    """Run code at points of a box, where its value and its derivatives are to be what its recorded passes say.

    Raises:
        LanguageError: One is not.
    """
    if box.bound_function.recording is None:
        return
    for at in points_in(box.low, box.high):
        there = box.question_at(at)
        slopes = there.product(np.ones(there.shape))
        numbers = np.concatenate([there.value.ravel(), *(slopes[name].ravel() for name in box.program.variables)])
        own = np.concatenate([there.arrays[name].ravel().astype(float) for name in box.program.variables])
        for part, passes in parts:
            if not ((part.low <= own) & (own <= part.high)).all():
                continue
            for number, known in zip(numbers, passes.run(point(own[:, None])), strict=True):
                error = SLACK * known.error[0]
                is_within = known.exact.low[0] - error <= number <= known.exact.high[0] + error
                if not (known.is_bad[0] or is_within):
                    raise _other_code(box.by_name(own))


def without_edges(box: MovingBox) -> tuple[MovingBox, BoxSet]:
    """Leave out the sides of a box at which code decides otherwise next to it: there it may have no derivative.

    Returns:
        What is left of the box, less the last float of each such side, and these sides.
    """
    low, high, count = box.low.copy(), box.high.copy(), len(box.low)
    lows, highs = list[Array](), list[Array]()
    passes = None if box.bound_function.recording is None else _forward(box.bound_function)
    decisions = [] if passes is None else _moving_decisions(passes, box.ranges)
    if passes is not None and decisions:
        rounded_passes = RoundedPasses(box, _of_decisions(passes, decisions))
        kind = np.dtype(box.bound_function.dtype).type
        for n, (ends, inner, way) in itertools.product(range(count), ((box.low, low, -1), (box.high, high, 1))):
            outer, side_low, side_high = np.nextafter(ends[n], way * np.inf), box.low.copy(), box.high.copy()
            side_low[n], side_high[n] = min(outer, ends[n]), max(outer, ends[n])
            if rounded_passes.are_recorded(Interval(side_low[:, None], side_high[:, None]))[0]:
                continue
            side_low[n] = side_high[n] = ends[n]
            lows.append(side_low)
            highs.append(side_high)
            inner[n] = float(np.nextafter(kind(ends[n]), kind(-way * np.inf)))
    if not lows or not (low <= high).all():
        return box, BoxSet(np.zeros((count, 0)), np.zeros((count, 0)), np.zeros(0))
    return box.part(low, high), BoxSet(np.stack(lows, 1), np.stack(highs, 1), np.zeros(len(lows)))


def require_recorded(asked: AskedBox) -> None:
    """Require of code that its recording is the function in the whole box."""
    bound_function = asked.bound_function
    if bound_function.recording is None:
        return
    passes = _forward(bound_function)
    decisions = _moving_decisions(passes, asked.ends)
    if decisions and asked.count > MOST_MOVING:
        raise _undecided(passes.decided[decisions[0]], "in the box")
    if decisions:
        _require_decided(asked.moving(), passes, decisions)
    ends = [np.concatenate([np.ravel(pair[k]).astype(float) for pair in asked.ends.values()]) for k in (0, 1)]
    points = [_arrays(asked, at) for at in points_in(*ends)]
    _require_same(bound_function, passes, points)


def _arrays(asked: AskedBox, numbers: Array) -> dict[str, Array]:
    """Return the values of the variables that move, in their shapes."""
    found, first = {}, 0
    for name, (low, _) in asked.ends.items():
        found[name] = numbers[first : first + low.size].reshape(low.shape)
        first += low.size
    return found


def points_in(low: Array, high: Array) -> Iterator[Array]:
    """Yield points of a box: its ends, its middle, and random ones."""
    yield from (low, high, low / 2 + high / 2)
    draw = np.random.default_rng(SEED)
    yield from (low + draw.random(len(low)) * (high / 2 - low / 2) * 2 for _ in range(RANDOM_POINTS))


def _forward(bound_function: BoundFunction) -> TorchPasses:
    """Record the way of code to y, with what it decides by."""
    recording = bound_function.recording
    assert recording is not None, "it is code"  # noqa: S101
    return passes_in_box(recording, ())


def passes_in_box(recording: Recording[BoundFunction], wrt: Sequence[str]) -> TorchPasses:
    """Record the passes of code.

    Raises:
        LanguageError: They do what is not known at other points.
    """
    try:
        return recording.passes(wrt)
    except GradcliError as error:
        hint = f"check points of it: {option('random', '100')}"
        if error.text.hint:
            hint = f"{error.text.hint}; or check points: {option('random', '100')}"
        raise LanguageError(f"what this code computes is not known in a box: {error.text.message}", hint=hint) from None


# -- decisions


def _moving_decisions(passes: TorchPasses, moving: Mapping[str, object]) -> list[Atom]:
    """List the conditions that follow from what moves."""
    symbols = {symbol for symbol in passes.program.variables if str(symbol) in moving}
    found = []
    for one in passes.decided:
        lines = needed(passes.program.lines, one)
        if not symbols.isdisjoint({one, *(operand for line in lines for operand in line.call.operands)}):
            found.append(one)
    return found


def _require_decided(box: MovingBox, passes: TorchPasses, decisions: Sequence[Atom]) -> None:
    """Require that code decides in all of a box as it does where it was recorded.

    Raises:
        LanguageError: It may decide otherwise.
    """
    try:
        rounded_passes = RoundedPasses(box, _of_decisions(passes, decisions))
    except NoRuleError as error:
        raise _undecided(passes.decided[decisions[0]], f"in the box: {error}") from None
    cells = first_grid(box.low, box.high)
    for _ in range(LEVELS):
        cells = cells.take(~rounded_passes.are_recorded(cells.sides))
        if not len(cells):
            return
        middles = middle_of(cells.low, cells.high)
        others = np.flatnonzero(~rounded_passes.are_recorded(point(middles)))
        if len(others) or 2 * len(cells) > MOST_CELLS or is_narrow(cells).all():
            break
        cells = halves(cells, np.argmax(cells.parts_of(box.low, box.high), axis=0))
    other = middles[:, others[0]] if len(others) else cells.low[:, 0]
    decision, place = _first_change(box, passes, decisions, other)
    raise _undecided(decision, "in the box", place)


def _of_decisions(passes: TorchPasses, decisions: Sequence[Atom]) -> TorchPasses:
    """Leave of passes what conditions are made of."""
    lines = tuple(needed(passes.program.lines, *decisions))
    program = replace(passes.program, lines=lines, output=decisions[0])
    return replace(passes, program=program, results={}, value=decisions[0], conditions=tuple(decisions))


def _first_change(box: MovingBox, passes: TorchPasses, decisions: Sequence[Atom], other: Array) -> tuple[str, str]:
    """Find the decision that is another one at a point, and where it changes on the way there."""
    start, end = box.numbers_of_question(), other
    for one in decisions:
        alone = RoundedPasses(box, _of_decisions(passes, [one]))
        if alone.are_recorded(point(other[:, None]))[0]:
            continue
        for _ in range(BISECTIONS):
            middle = start / 2 + end / 2
            if alone.are_recorded(point(middle[:, None]))[0]:
                start = middle
            else:
                end = middle
        end = np.where(abs(end) < ZERO * (box.high - box.low), 0.0, end)
        return passes.decided[one], place_of(box.by_name(end))
    return passes.decided[decisions[0]], ""


def _undecided(decision: str, where: str, place: str = "") -> LanguageError:
    near = f", near {place}" if place else ""
    side = f" of {place}" if place else ""
    points = option("random", "100")
    hint = f"give a part of the box on one side{side}, or write the choice by where; or check points: {points}"
    return LanguageError(f"the code decides by values, and {decision} may change {where}{near}", hint=hint)


# -- runs at points


def _require_same(bound_function: BoundFunction, passes: TorchPasses, points: Sequence[Mapping[str, Array]]) -> None:
    """Require that code is recorded alike at points.

    Raises:
        LanguageError: It is not.
    """
    own = _known_of(bound_function, passes)
    for arrays in points:
        values = {name: rounded(array, bound_function.dtype) for name, array in arrays.items()}
        there = bound_function.with_values(values)
        if _known_of(there, _forward(there)) != own or not _has_same_constants(bound_function, there, but=arrays):
            raise _other_code(arrays)


def _known_of(bound_function: BoundFunction, passes: TorchPasses) -> tuple[str, str]:
    program: Program = bound_function.program
    return lines_of(program, (program.output,)), signature(passes)


def _has_same_constants(one: BoundFunction, other: BoundFunction, but: Container[str]) -> bool:
    """Tell whether code finds the same numbers elsewhere, but for those that move, as a parameter of a module may."""
    assert one.recording is not None, "it is code"  # noqa: S101
    names = one.recording.constants
    return all(are_same(one.arrays[name], other.arrays[name]) for name in names if name not in but)


def _other_code(at: Mapping[str, object]) -> LanguageError:
    message = f"the code does something else at {place_of(at)}, by nothing that could be seen"
    return LanguageError(message, hint=f"check points of it: {option('random', '100')}")


def place_of(at: Mapping[str, object]) -> str:
    """Write a point."""
    arrays = {name: np.asarray(one, float) for name, one in at.items()}
    shown = {
        name: np.array2string(one, precision=6, threshold=4) if one.shape else f"{float(one):.6g}"
        for name, one in arrays.items()
    }
    return ", ".join(f"{name} = {text}" for name, text in shown.items())

"""Functions of one number on a range: where they are convex or concave, also across kinks and without composition.

A continuous function is convex where it is so between some places, and its slope does not fall at any of them.  Between
the places the second slope tells, in small boxes.  Two values of which one is larger, and which meet at the end of a
box alone, have one order inside of it: so a choice by them has no kink there, and the place itself is looked at from
both sides.
Source: R. T. Rockafellar, "Convex Analysis", 1970, theorem 24.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.language.program.wengert import Atom, Line
from gradcli.parts.everywhere.box_kinds import BROKEN
from gradcli.parts.everywhere.box_sets import BoxSet, first_grid, halves, middle_of
from gradcli.parts.everywhere.intervals import Interval, down, is_known, point, subtract, up
from gradcli.parts.everywhere.jets import Evaluator, Jet, constant
from gradcli.parts.everywhere.scalars import ScalarProgram

PIECES = 128
"""Pieces of the range at first."""

MOST_LEVELS, MOST_BOXES = 24, 4096
"""Most halvings of a piece, and most boxes that are halved at once."""

BISECTIONS = 80
"""Steps to the place of a kink."""


@dataclass(frozen=True)
class Bend:
    """How a function of one number curves on a range.

    Attributes:
        is_convex: Whether it is certainly convex.
        is_concave: Whether it is certainly concave.
        slopes: Bounds of its slopes.
    """

    is_convex: bool
    is_concave: bool
    slopes: Interval


class InteriorEvaluator(Evaluator):
    """Evaluator of a function of one number in the inside of boxes, without their ends."""

    def jet_of_line(self, line: Line, operands: Sequence[Jet], *, is_second: bool = True) -> Jet:
        """Apply the operation of a line to jets."""
        call, found = line.call, super().jet_of_line(line, operands, is_second=is_second)
        if call.op.name != "abs" and not (call.op.sense or call.op.is_extreme):
            return found
        first, other = (*operands, constant(point(0.0)))[:2]
        apart = _apart(first, other)
        if apart is first:
            return found
        inside = super().jet_of_line(line, [apart, *operands[1:]], is_second=is_second)
        return inside if call.op.sense else replace(inside, value=found.value)


def _apart(a: Jet, b: Jet) -> Jet:
    """Leave out of a value the end at which alone it is equal to another one, as their difference rises or falls."""
    slope = subtract(a.slope(0), b.slope(0))
    is_strict = ((slope.low > 0) | (slope.high < 0)) & a.is_continuous & b.is_continuous
    is_above, is_below = is_strict & (a.value.low == b.value.high), is_strict & (a.value.high == b.value.low)
    if is_known(a.value) or not (is_above | is_below).any():
        return a
    low, high = np.where(is_above, up(a.value.low), a.value.low), np.where(is_below, down(a.value.high), a.value.high)
    return replace(a, value=Interval(low, high))


@np.errstate(all="ignore")
def bend_of(
    lines: Sequence[Line], output: Atom, of: sympy.Symbol, constants: Mapping[Atom, float], low: float, high: float
) -> Bend | None:
    """Find how a function of one number curves on a range; None if it may jump there, or lack a value.

    Args:
        lines: Its lines.
        output: Its value.
        of: The number.
        constants: The numbers that stand in the lines.
        low: The lower end of the range.
        high: The upper end.
    """
    program = ScalarProgram(lines, np.array([output], object), {"u": np.array(of, object)}, constants)
    function, inside = Evaluator(program), InteriorEvaluator(program)
    grid = first_grid(np.array([low]), np.array([high]), PIECES)
    (jet,) = function.run(grid.sides)
    if not (low < high and np.isfinite(high - low)) or (jet.kinds & BROKEN).any():
        return None
    kinked = grid.take(np.broadcast_to(~jet.is_smooth, (len(grid),)))
    ends = np.unique([*grid.low[0], high, *_places(function, kinked)])
    boxes = BoxSet(ends[None, :-1], ends[None, 1:], np.full(len(ends) - 1, -np.inf))
    convex, concave, slopes = _between(inside, boxes)
    (at_ends,) = function.run(point(ends[None]))
    corners = ends[1:-1][np.broadcast_to(~at_ends.is_smooth, ends.shape)[1:-1]]
    if len(corners):
        before, after = (
            inside.run(Interval(np.minimum(corners, other)[None], np.maximum(corners, other)[None]))[0].slope(0)
            for other in (down(corners), up(corners))
        )
        convex = convex and bool((before.high <= after.low).all())
        concave = concave and bool((before.low >= after.high).all())
    return Bend(convex, concave, slopes)


def _between(inside: InteriorEvaluator, boxes: BoxSet) -> tuple[bool, bool, Interval]:
    """Tell whether a function is convex, and concave, inside of all boxes; and bound its slopes there."""
    convex, concave, low, high = True, True, np.inf, -np.inf
    for level in range(MOST_LEVELS + 1):
        jet = inside.run(boxes.sides)[0]
        size = (len(boxes),)
        slope, second = jet.slope(0).spread(size), jet.second_slope(0, 0).spread(size)
        smooth = np.broadcast_to(jet.is_smooth, size)
        convex = convex and not (smooth & (second.high < 0)).any()
        concave = concave and not (smooth & (second.low > 0)).any()
        is_open = ~smooth | (convex & (second.low < 0)) | (concave & (second.high > 0))
        is_last = level == MOST_LEVELS or 2 * int(is_open.sum()) > MOST_BOXES or not (convex or concave)
        if is_last or not is_open.any():
            convex = convex and not (~smooth | (second.low < 0)).any()
            concave = concave and not (~smooth | (second.high > 0)).any()
        done = np.full(size, True) if is_last else ~is_open
        low, high = min(low, slope.low[done].min(initial=np.inf)), max(high, slope.high[done].max(initial=-np.inf))
        if done.all():
            break
        boxes = halves(boxes.take(~done), np.zeros(int((~done).sum()), np.intp))
    return convex, concave, Interval(np.asarray(low), np.asarray(high))


def _places(function: Evaluator, boxes: BoxSet) -> list[float]:
    """Find the floats in boxes at which two values that a choice is by are exactly equal."""
    found: list[float] = []
    if not len(boxes):
        return found
    for line in function.lines:
        op = line.call.op
        if op.name == "abs" or op.sense or op.is_extreme:
            found += _zeros(function, line, boxes.low[0], boxes.high[0])
    return found


def _zeros(function: Evaluator, line: Line, low: Array, high: Array) -> list[float]:
    """Find where the difference of two operands is exactly 0, by bisection where it changes its sign."""

    def difference(at: Array) -> Interval:
        known = function.known(function.seeds(point(at[None]), is_second=False), is_second=False)
        a, b = (*function.operands_of(line, known), constant(point(0.0)))[:2]
        return subtract(a.value, b.value).spread(at.shape)

    first, last = difference(low), difference(high)
    found = [*low[first.is_zero], *high[last.is_zero]]
    zero = difference(np.zeros(1))
    found += [0.0] if zero.is_zero[0] and ((low < 0) & (high > 0)).any() else []
    sides = np.sign(first.middle)
    some = sides * np.sign(last.middle) < 0
    low, high, sides = low[some], high[some], sides[some]
    for _ in range(BISECTIONS if len(low) else 0):
        middle = middle_of(low, high)
        there = difference(middle)
        found += [*middle[there.is_zero]]
        is_first = np.sign(there.middle) == sides
        low, high = np.where(is_first, middle, low), np.where(is_first, high, middle)
    return [float(one) for one in found]

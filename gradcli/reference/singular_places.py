"""Places on a line where a Program may have no value or no derivative: cells that bounds do not clear, bisected.

The inputs move along a direction.  The line is cut into cells, and the Program of primitives is evaluated with bounds
on all cells at once.  A cell stays where an operation may be at a kink, at an edge of its domain or at a pole; cells
are halved until they are as narrow as rounding allows; those of a plane are not.  The places found are candidates: one
may be smooth after all.  No other place is singular, but for operations without bounds, which are not looked at, and
ends of ranges in which the numbers overflow.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.reference.array_values import Values, is_apart
from gradcli.reference.near_kinks import nearness, ties
from gradcli.reference.rules import rule_of

CELLS = 256
"""Cells at the beginning."""

OUTSIDE, BREAK, HOLE = 1, 2, 3
"""What a cell may hold: no point of the domain, a place without a derivative, a place without a value; 0 is nothing."""

VISIBLE, NOISE = 2.0**-20, 2.0**-46
"""Gaps between two cells of one place: of cells without a value in parts of the line, as nearer poles cannot be told
apart in a picture; of others in parts of the parameter, as rounding may have cleared the cells between."""

MOST_CELLS, LONGEST_RUN = 1_024, 16
"""Most cells that are halved again: of more, those with so many next to each other are left as ranges."""


class SingularRange(NamedTuple):
    """A range of the parameter that holds a place, or several next to each other.

    Attributes:
        low: Its beginning.
        high: Its end.
        is_hole: Whether some operation may have no value there, so that not only a derivative may be missing.
    """

    low: float
    high: float
    is_hole: bool = False


class MovingProgram(NamedTuple):
    """A Program of primitives whose inputs move, by one parameter on a line or by two on a plane.

    Attributes:
        program: The function.
        shapes: The shapes of its symbols at one point.
        start: The values of its variables where the parameters are 0.
        directions: What a parameter of 1 adds to some variables, for each parameter.
    """

    program: Program
    shapes: Mapping[Atom, Shape]
    start: Mapping[str, npt.NDArray[np.float64]]
    directions: Sequence[Mapping[str, Array]]

    def inputs_at(self, parameters: Array) -> dict[str, Array]:
        """Return the variables that move, of shape (N, *x.shape), at parameters of shape (parameters, N), or (N,)."""
        found: dict[str, Array] = {}
        for parameter, direction in zip(np.atleast_2d(parameters), self.directions, strict=True):
            for name, u in direction.items():
                found[name] = found.get(name, self.start[name]) + parameter.reshape(-1, *(1,) * u.ndim) * u
        return found


def singular_places(function: MovingProgram, low: float, high: float) -> list[SingularRange]:
    """List the places of a line where a Program of primitives may have no value or no derivative, in order.

    Args:
        function: The function of one parameter.
        low: The parameter at one end.
        high: The parameter at the other end.

    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.expansion import in_primitives
    >>> program = in_primitives(parse("abs(x**2 - 2)"))
    >>> shapes = {symbol: () for symbol in (*program.variables, *(line.symbol for line in program.lines))}
    >>> function = MovingProgram(program, shapes, {"x": np.array(0.0)}, [{"x": np.array(1.0)}])
    >>> [round(place.low, 9) for place in singular_places(function, -3, 3)]
    [-1.414213562, 1.414213562]
    """
    ends = np.linspace(low, high, CELLS + 1)
    lows, highs, finest = ends[:-1], ends[1:], 8 * np.spacing(max(abs(low), abs(high)))
    aside, lacks = [], np.zeros(0, int)
    for level in itertools.count():
        parents, lacks = lacks, uncleared(function, lows[None], highs[None])
        if level:  # rounding may hide both ends of a domain within a cell: it is a place as a whole
            is_lost = (lacks.reshape(-1, 2).max(axis=1) == OUTSIDE) & (parents == HOLE)
            aside.append((lows[::2][is_lost], highs[1::2][is_lost], parents[is_lost]))
        kept = lacks > OUTSIDE
        lows, highs, lacks = lows[kept], highs[kept], lacks[kept]
        if len(lows) > MOST_CELLS:  # long runs may hold many places
            runs = np.cumsum(np.append(0, lows[1:] != highs[:-1]))
            is_long = np.bincount(runs)[runs] > LONGEST_RUN
            aside.append((lows[is_long], highs[is_long], lacks[is_long]))
            lows, highs, lacks = lows[~is_long], highs[~is_long], lacks[~is_long]
        if not len(lows) or len(lows) > MOST_CELLS or highs[0] - lows[0] <= finest:
            break
        middles = (lows + highs) / 2
        lows, highs = np.stack([lows, middles], 1).ravel(), np.stack([middles, highs], 1).ravel()
    lows, highs, lacks = (np.concatenate(parts) for parts in zip((lows, highs, lacks), *aside, strict=True))
    return joined_places(lows, highs, lacks, (low, high))


def joined_places(
    lows: Array, highs: Array, lacks: npt.NDArray[np.int_], line: tuple[float, float]
) -> list[SingularRange]:
    """Join cells that are next to each other to places, in order.

    Args:
        lows: The lower ends of the cells.
        highs: Their upper ends.
        lacks: What each may hold, `BREAK` or `HOLE`.
        line: The two ends of the line.
    """
    order, (low, high) = np.argsort(lows), line
    lows, highs, lacks = lows[order], np.maximum.accumulate(highs[order]), lacks[order]
    noise = NOISE * max(abs(low), abs(high))
    apart = np.where(np.minimum(lacks[1:], lacks[:-1]) == HOLE, VISIBLE * (high - low), noise)
    gaps = np.flatnonzero(lows[1:] - highs[:-1] > apart) + 1
    groups = zip(*(np.split(part, gaps) for part in (lows, highs, lacks)), strict=True) if len(lows) else ()
    return [SingularRange(float(first[0]), float(last[-1]), max(worst) == HOLE) for first, last, worst in groups]


def singular_cells(function: MovingProgram, edges: Sequence[Array]) -> tuple[Array, Array]:
    """List the cells of a grid over a plane that may hold a place where a Program has no value or no derivative.

    Args:
        function: The function of two parameters.
        edges: The edges of the cells along each, ascending.

    Returns:
        The parameters at the lower and at the upper ends of the N cells, of shape (2, N) each.
    """
    below, above = [edge[:-1] for edge in edges], [edge[1:] for edge in edges]
    lows, highs = (np.stack(np.meshgrid(*ends, indexing="ij")).reshape(2, -1) for ends in (below, above))
    kept = uncleared(function, lows, highs) > OUTSIDE
    return lows[:, kept], highs[:, kept]


def uncleared(function: MovingProgram, lows: Array, highs: Array) -> npt.NDArray[np.int_]:
    """Tell what each cell may hold: 0, `OUTSIDE`, `BREAK` or `HOLE`, the largest of what its operations say.

    The corners of the cells are evaluated too: where an operation has no bounds on a cell, and none at any corner, the
    cell is outside of its domain.

    Args:
        function: The function.
        lows: The lower ends of the cells, of shape (parameters, N).
        highs: Their upper ends.
    """
    corners = [np.stack(corner) for corner in itertools.product(*zip(lows, highs, strict=True))]
    count, parts = lows.shape[1], 1 + len(corners)
    moved = function.inputs_at(np.concatenate([(lows + highs) / 2, *corners], axis=1))
    radii = {name: np.zeros_like(array) for name, array in moved.items()}
    for name, array in moved.items():  # the last corner is the highest one
        reach = abs(array[-count:] - array[:count]) + 2 * np.spacing(abs(array[-count:]))
        radii[name][:count] = np.where(array[-count:] == array[:count], 0, reach)
    found = np.zeros(count, int)

    def note(lacks: npt.NDArray[np.int_]) -> None:
        worst = lacks.reshape(len(lacks), -1).max(axis=1, initial=0)
        np.maximum(found, worst if len(worst) == 1 else worst[:count], out=found)

    def see(values: Values, line: Line) -> None:
        call, value = line.call, values.bounds_of(line.symbol)
        if line.symbol in values.missing or len(value.middle) == 1:
            return
        is_known = value.is_known
        if call.op.kind is Kind.REDUCTION and call.op.is_extreme:
            note(BREAK * ties(values, line))
        elif call.op.kind is Kind.MATRIX:
            note(HOLE * ~is_known if call.op.keeps_shape else BREAK * ~is_apart(value))
        elif call.op.kind is Kind.ELEMENTWISE:
            is_near, operands_known, moves = nearness(values, line)
            note(BREAK * (is_near & operands_known & moves))
            if call.op.domain and not any(rule_of(call).edges):  # a pole, or an end of the domain without a value
                known = np.broadcast_to(operands_known, is_known.shape)[:count]
                has_corner = is_known.reshape(parts, count, -1)[1:].any(axis=0).reshape(is_known[:count].shape)
                note(np.where(~is_known[:count] & known, np.where(has_corner, HOLE, OUTSIDE), 0))

    program, shapes, given = function.program, function.shapes, {**function.start, **moved}
    Values(program, shapes, given, program.variables, mapped=tuple(moved), radii=radii, seen=see)
    return found

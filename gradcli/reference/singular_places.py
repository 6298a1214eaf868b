"""Places on a line where a Program may have no value or no derivative: cells that bounds do not clear, bisected.

The inputs move along a direction.  The line is cut into cells, and the Program of primitives is evaluated with bounds
on all cells at once.  A cell stays where an operation may be at a kink, at an edge of its domain or at a pole; cells
are halved until they are as narrow as rounding allows.  The places found are candidates: one may be smooth after all.
No other place is singular, but for operations without bounds, which are not looked at, and ends of ranges in which
the numbers overflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.reference.array_values import Values, is_apart
from gradcli.reference.bounds import Array, Mask
from gradcli.reference.near_kinks import nearness, ties
from gradcli.reference.rules import rule_of

CELLS = 256
"""Cells at the beginning."""

LEVELS = 44
"""Most bisections: a cell is then narrower than the rounding of its ends."""

MOST_CELLS = 1_024
"""Most cells that are halved again: a function with more places has them marked as ranges."""


class SingularRange(NamedTuple):
    """A range of the parameter that holds a place, or several next to each other."""

    low: float
    high: float


class StraightLine(NamedTuple):
    """Straight line of inputs: `start` + t·`direction` by variable; the other variables stay."""

    start: Mapping[str, Array]
    direction: Mapping[str, Array]

    def inputs_at(self, parameter: Array) -> dict[str, Array]:
        """Return the moving inputs at each value of the parameter, of shape (N, *x.shape)."""
        return {
            name: self.start[name] + parameter.reshape(-1, *(1,) * u.ndim) * u for name, u in self.direction.items()
        }


class MovedProgram(NamedTuple):
    """A Program of primitives, the shapes of its symbols at one point, and the values of its variables."""

    program: Program
    shapes: Mapping[Atom, Shape]
    inputs: Mapping[str, npt.NDArray[np.float64]]


def singular_places(function: MovedProgram, path: StraightLine, low: float, high: float) -> list[SingularRange]:
    """List the places of a line where a Program of primitives may have no value or no derivative, in order.

    Args:
        function: The function.
        path: The line.
        low: The parameter at one end.
        high: The parameter at the other end.

    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.expansion import in_primitives
    >>> program = in_primitives(parse("abs(x**2 - 2)"))
    >>> shapes = {symbol: () for symbol in (*program.variables, *(line.symbol for line in program.lines))}
    >>> path = StraightLine({"x": np.array(0.0)}, {"x": np.array(1.0)})
    >>> function = MovedProgram(program, shapes, {"x": np.array(0.0)})
    >>> [round(place.low, 9) for place in singular_places(function, path, -3, 3)]
    [-1.414213562, 1.414213562]
    """
    ends = np.linspace(low, high, CELLS + 1)
    lows, highs = ends[:-1], ends[1:]
    for level in range(LEVELS):
        reach = np.nextafter((highs - lows) / 2, np.inf)
        radii = {name: reach.reshape(-1, *(1,) * u.ndim) * abs(u) for name, u in path.direction.items()}
        kept = uncleared(
            function, path.inputs_at((lows + highs) / 2), radii, [path.inputs_at(lows), path.inputs_at(highs)]
        )
        lows, highs = lows[kept], highs[kept]
        if not len(lows) or len(lows) > MOST_CELLS or level == LEVELS - 1:
            break
        middles = (lows + highs) / 2
        lows, highs = np.stack([lows, middles], 1).ravel(), np.stack([middles, highs], 1).ravel()
    gaps = np.flatnonzero(lows[1:] > highs[:-1]) + 1
    groups = zip(np.split(lows, gaps), np.split(highs, gaps), strict=True) if len(lows) else ()
    return [SingularRange(float(first[0]), float(last[-1])) for first, last in groups]


def singular_cells(function: MovedProgram, rows: Array, columns: Array, names: tuple[str, str]) -> Mask:
    """Tell which cells of a grid over two numbers may hold a place where a Program has no value or no derivative.

    Args:
        function: The function.
        rows: The edges of the cells along the first variable, ascending.
        columns: Those along the second one.
        names: The two variables.

    Returns:
        A mask of shape (len(rows) - 1, len(columns) - 1).
    """
    a, b = np.meshgrid(rows, columns, indexing="ij")
    corners = [{names[0]: x.ravel(), names[1]: y.ravel()} for x, y in _corners(a, b)]
    first, last = corners[0], corners[-1]
    middles = {name: (first[name] + last[name]) / 2 for name in names}
    reach = {name: np.nextafter((last[name] - first[name]) / 2, np.inf) for name in names}
    return uncleared(function, middles, reach, corners).reshape(len(rows) - 1, len(columns) - 1)


def _corners(a: Array, b: Array) -> list[tuple[Array, Array]]:
    """List the coordinates of the corners of all cells, the lowest first and the highest last."""
    parts = ((slice(None, -1), slice(1, None)),) * 2
    return [(a[rows, columns], b[rows, columns]) for rows in parts[0] for columns in parts[1]]


def uncleared(
    function: MovedProgram,
    middles: Mapping[str, Array],
    reach: Mapping[str, Array],
    corners: Sequence[Mapping[str, Array]],
) -> Mask:
    """Tell which cells may hold a place.

    The corners of the cells are evaluated too: where an operation has no bounds on a cell, and none at any corner, the
    cell is outside of its domain.

    Args:
        function: The function.
        middles: The moving variables at the middles of the cells, of shape (N, *x.shape).
        reach: The half widths of the cells.
        corners: The moving variables at corners of the cells.
    """
    count, parts = len(next(iter(middles.values()))), 1 + len(corners)
    moved = {name: np.concatenate([middles[name], *(one[name] for one in corners)]) for name in middles}
    radii = {name: np.concatenate([reach[name], *[np.zeros_like(reach[name])] * len(corners)]) for name in middles}
    found = np.zeros(count, bool)

    def by_cell(mask: Mask) -> Mask:
        every = np.asarray(mask.reshape(len(mask), -1).any(axis=1))
        return np.broadcast_to(every, parts * count)[:count] if len(every) == 1 else every[:count]

    def see(values: Values, line: Line) -> None:
        nonlocal found
        call, value = line.call, values.bounds_of(line.symbol)
        if line.symbol in values.missing or len(value.middle) == 1:
            return
        is_known = value.is_known
        if call.op.kind is Kind.REDUCTION and call.op.is_extreme:
            found = found | by_cell(ties(values, line))
        elif call.op.kind is Kind.MATRIX:
            found = found | by_cell(~is_known if call.op.keeps_shape else ~is_apart(value))
        elif call.op.kind is Kind.ELEMENTWISE:
            is_near, operands_known = nearness(values, line)
            found = found | by_cell(is_near & operands_known)
            if call.op.domain and not any(rule_of(call).edges):  # a pole, or an end of the domain without a value
                known = np.broadcast_to(operands_known, is_known.shape)[:count]
                has_corner = is_known.reshape(parts, count, -1)[1:].any(axis=0).reshape(is_known[:count].shape)
                found = found | by_cell(~is_known[:count] & known & has_corner)

    given = {**function.inputs, **moved}
    variables = function.program.variables
    Values(function.program, function.shapes, given, variables, mapped=tuple(moved), radii=radii, seen=see)
    return found

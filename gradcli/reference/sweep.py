"""Derivatives swept through a Program on whole arrays, with bounds: back for rows of y, or forward for directions.

An adjoint or a tangent is known where every operation on the way has a derivative for certain: no kink, no edge of a
domain and no tie within the bounds.  An unknown value stays unknown, and makes all that it flows
into unknown.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import sympy

from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.array_values import Values
from gradcli.reference.bounds import Array, NoRuleError, exact
from gradcli.reference.deadline import require_time
from gradcli.reference.linear_maps import Flow, Map

MOST_ELEMENTS = 2**25
"""Most elements of the largest line of a sweep, times its rows."""


def adjoints(values: Values, v: Array) -> dict[Atom, Flow]:
    """Compute the adjoints of the variables that move, for rows of weights of y.

    Args:
        values: The values of a Program, at one point.
        v: The weights, of shape (rows, *y.shape), exactly.

    Raises:
        NoRuleError: An operation has no rule, or it is too much at once.
    """
    _require_room(values, len(v))
    flows = {values.program.output: Flow(exact(v, values.kind), v != 0)}
    with np.errstate(all="ignore"):
        for line in reversed(values.program.lines):
            flow = flows.pop(line.symbol, None)
            if flow is None or line.symbol not in values.moves or not flow.reached.any():
                continue
            require_time()
            for k, operand in enumerate(line.call.operands):
                if operand in values.moves:
                    add(flows, operand, back(way(values, line, k), flow))
    return of_variables(values, flows, len(v))


def tangents(values: Values, u: Mapping[sympy.Symbol, Array]) -> Flow:
    """Compute the tangents of y, for several directions at a time; see `changes`."""
    count = len(next(iter(u.values())))
    nothing = np.zeros((count, *values.shapes.get(values.program.output, ())))
    return changes(values, u).get(values.program.output, Flow(exact(nothing), nothing != 0))


def changes(values: Values, u: Mapping[sympy.Symbol, Array]) -> dict[Atom, Flow]:
    """Compute the tangents of all lines that move.

    Args:
        values: The values of a Program, at one point.
        u: The directions by variable, of shape (directions, *x.shape), exactly; the others do not move.

    Raises:
        NoRuleError: An operation has no rule, or it is too much at once.
    """
    _require_room(values, len(next(iter(u.values()))))
    flows: dict[Atom, Flow] = {symbol: Flow(exact(own, values.kind), own != 0) for symbol, own in u.items()}
    with np.errstate(all="ignore"):
        for line in values.program.lines:
            if line.symbol in values.moves:
                require_time()
                for k, operand in enumerate(line.call.operands):
                    if operand in flows:
                        maps = way(values, line, k)
                        add(
                            flows,
                            line.symbol,
                            functools.reduce(lambda flow, one: one.there(flow), maps, flows[operand]),
                        )
    return flows


def way(values: Values, line: Line, k: int) -> list[Map]:
    """Return the maps that changes of operand k go through."""
    if line.symbol not in values.ways:
        raise NoRuleError
    return [*values.ways[line.symbol](k)]


def back(maps: Sequence[Map], flow: Flow) -> Flow:
    """Bring adjoints of a line to an operand."""
    return functools.reduce(lambda found, one: one.back(found), reversed(maps), flow)


def add(flows: dict[Atom, Flow], atom: Atom, flow: Flow) -> None:
    """Add changes or adjoints to those that are known of a line or variable."""
    flows[atom] = flows[atom].plus(flow) if atom in flows else flow


def of_variables(values: Values, flows: Mapping[Atom, Flow], rows: int) -> dict[Atom, Flow]:
    """Pick the adjoints of the variables that move, with zeros where nothing came back."""
    zeros = {s: np.zeros((rows, *values.shapes[s])) for s in values.program.variables if s in values.moves}
    return {s: flows[s] if s in flows else Flow(exact(zero), zero != 0) for s, zero in zeros.items()}


def _require_room(values: Values, rows: int) -> None:
    if rows * max(map(math.prod, values.shapes.values()), default=1) > MOST_ELEMENTS:
        raise NoRuleError

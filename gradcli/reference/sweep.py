"""Derivatives swept through a Program on whole arrays, with bounds: back for rows of y, or forward for directions.

An adjoint or a tangent is known where every operation on the way has a derivative for certain: no kink, no edge of a
domain and no tie within the bounds.  What is not known stays so, and spoils what it flows into.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import numpy as np
import sympy

from gradcli.language.program.wengert import Atom
from gradcli.reference.array_values import Values
from gradcli.reference.bounds import Array, NoRuleError, exact
from gradcli.reference.deadline import require_time
from gradcli.reference.linear_maps import Flow, Map

MOST_ELEMENTS = 2**25
"""Elements of all lines of a sweep, with those of its rows."""


def adjoints(values: Values, v: Array) -> dict[Atom, Flow]:
    """The adjoints of the variables that move, for rows of weights of y.

    Args:
        values: Of a Program, at one point.
        v: Of shape (rows, *y.shape), exactly.

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
                    way = _way(values, line.symbol, k)
                    entering = functools.reduce(lambda found, one: one.back(found), reversed(way), flow)
                    flows[operand] = flows[operand].plus(entering) if operand in flows else entering
    nothing = {s: np.zeros((len(v), *values.shapes[s])) for s in values.program.variables if s in values.moves}
    return {s: flows[s] if s in flows else Flow(exact(zero), zero != 0) for s, zero in nothing.items()}


def tangents(values: Values, u: Mapping[sympy.Symbol, Array]) -> Flow:
    """The tangents of y, for several directions at a time.

    Args:
        values: Of a Program, at one point.
        u: By variable, of shape (directions, *x.shape), exactly; the others do not move.

    Raises:
        NoRuleError: An operation has no rule, or it is too much at once.
    """
    count = len(next(iter(u.values())))
    _require_room(values, count)
    flows: dict[Atom, Flow] = {symbol: Flow(exact(way, values.kind), way != 0) for symbol, way in u.items()}
    with np.errstate(all="ignore"):
        for line in values.program.lines:
            if line.symbol in values.moves:
                require_time()
                ways = [
                    (flows[a], _way(values, line.symbol, k)) for k, a in enumerate(line.call.operands) if a in flows
                ]
                parts = [functools.reduce(lambda found, one: one.there(found), way, flow) for flow, way in ways]
                if parts:
                    flows[line.symbol] = functools.reduce(Flow.plus, parts)
    nothing = np.zeros((count, *values.shapes.get(values.program.output, ())))
    return flows.get(values.program.output, Flow(exact(nothing), nothing != 0))


def _way(values: Values, symbol: Atom, k: int) -> list[Map]:
    if symbol not in values.ways:
        raise NoRuleError
    return [*values.ways[symbol](k)]


def _require_room(values: Values, rows: int) -> None:
    if rows * max(map(math.prod, values.shapes.values()), default=1) > MOST_ELEMENTS:
        raise NoRuleError

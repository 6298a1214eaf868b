"""Derivatives swept through a Program on whole arrays, with bounds: back for rows of y, or forward for directions.

Products of the Hessian of a y of one element with a direction go forward over reverse.

An adjoint or a tangent is known where every operation on the way has a derivative for certain: no kink, no edge of a
domain and no tie within the bounds.  An unknown value stays unknown, and makes all that it flows
into unknown.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import sympy

from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.array_values import Values
from gradcli.reference.bounds import Array, NoRuleError, exact
from gradcli.reference.deadline import require_time
from gradcli.reference.linear_maps import Flow, Map, MatrixProduct, Moving, Recurrence, Scaled

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
    return _of_variables(values, _swept_back(values, v, {})[0], len(v))


def hessian_product(values: Values, u: Mapping[sympy.Symbol, Array]) -> dict[Atom, Flow]:
    """Compute the elements of Hu of the variables that move, of a y of one element: forward over reverse.

    As in `gradcli.reference.second_order`, each adjoint has a tangent; the maps that adjoints go back through change
    ("bend") with their operands.  Where a slope is not known, because a kink may be there, its bend is not known
    either.

    Args:
        values: The values of a Program, at one point.
        u: The direction by variable, of shape (1, *x.shape), exactly; the others do not move.

    Raises:
        NoRuleError: An operation has no rule.
    """
    one = np.ones((1, *values.shapes.get(values.program.output, ())))
    return _of_variables(values, _swept_back(values, one, changes(values, u))[1], 1)


def _swept_back(values: Values, v: Array, moving: Moving) -> tuple[dict[Atom, Flow], dict[Atom, Flow]]:
    """Compute the adjoints of the variables, and their tangents as the values change by `moving`."""
    adjoints, found = {values.program.output: Flow(values.exact(v), v != 0)}, dict[Atom, Flow]()
    with np.errstate(all="ignore"):
        for line in reversed(values.program.lines):
            own, moved = adjoints.pop(line.symbol, None), found.pop(line.symbol, None)
            is_reached = any(flow is not None and flow.reached.any() for flow in (own, moved))
            if line.symbol not in values.moves or not is_reached:
                continue
            require_time()
            for k, operand in enumerate(line.call.operands):
                if operand not in values.moves:
                    continue
                maps = _way(values, line, k)
                if moved is not None:
                    _add(found, operand, _through(maps, moved))
                if own is not None:
                    for bent in _bends(line, maps, moving) if moving else ():
                        _add(found, operand, _through(bent, own))
                    _add(adjoints, operand, _through(maps, own))
    return adjoints, found


def tangents(values: Values, u: Mapping[sympy.Symbol, Array]) -> Flow:
    """Compute the tangents of y, for several directions at a time; see `changes`."""
    count = len(next(iter(u.values())))
    nothing = np.zeros((count, *values.shapes.get(values.program.output, ())))
    return changes(values, u).get(values.program.output, Flow(values.exact(nothing), nothing != 0))


def changes(values: Values, u: Mapping[sympy.Symbol, Array]) -> dict[Atom, Flow]:
    """Compute the tangents of all lines that move.

    Args:
        values: The values of a Program, at one point.
        u: The directions by variable, of shape (directions, *x.shape), exactly; the others do not move.

    Raises:
        NoRuleError: An operation has no rule, or it is too much at once.
    """
    _require_room(values, len(next(iter(u.values()))))
    flows: dict[Atom, Flow] = {symbol: Flow(values.exact(own), own != 0) for symbol, own in u.items()}
    with np.errstate(all="ignore"):
        for line in values.program.lines:
            if line.symbol in values.moves:
                require_time()
                for k, operand in enumerate(line.call.operands):
                    if operand in flows:
                        flow = flows[operand]
                        for one in _way(values, line, k):
                            flow = one.there(flow)
                        _add(flows, line.symbol, flow)
    return flows


def _way(values: Values, line: Line, k: int) -> list[Map]:
    """Return the maps that changes of operand k go through."""
    if line.symbol not in values.ways:
        raise NoRuleError
    return [*values.ways[line.symbol](k)]


def _through(maps: Sequence[Map], flow: Flow) -> Flow:
    """Bring adjoints of a line back to an operand."""
    return functools.reduce(lambda found, one: one.back(found), reversed(maps), flow)


def _add(flows: dict[Atom, Flow], atom: Atom, flow: Flow) -> None:
    flows[atom] = flows[atom].plus(flow) if atom in flows else flow


def _of_variables(values: Values, flows: Mapping[Atom, Flow], rows: int) -> dict[Atom, Flow]:
    """Pick the adjoints of the variables that move, with zeros where nothing came back."""
    zeros = {s: np.zeros((rows, *values.shapes[s])) for s in values.program.variables if s in values.moves}
    return {s: flows[s] if s in flows else Flow(exact(zero), zero != 0) for s, zero in zeros.items()}


def _require_room(values: Values, rows: int) -> None:
    if rows * max(map(math.prod, values.shapes.values()), default=1) > MOST_ELEMENTS:
        raise NoRuleError


def _bends(line: Line, maps: Sequence[Map], moving: Moving) -> Iterator[Sequence[Map]]:
    """Yield the ways whose sum is the change of a way as its operands change: in each, one map is its own change.

    Raises:
        NoRuleError: The change of a map is not known.
    """
    op = line.call.op
    has_rule = op.kind not in (Kind.SPECTRAL, Kind.DEFINED) and (op.kind is not Kind.MATRIX or op.keeps_shape)
    steps = [one for one in maps if isinstance(one, Recurrence)]
    is_known = has_rule and all(one.is_choice for one in steps)
    if not all(one.is_known for one in steps) or not (is_known or moving.keys().isdisjoint(line.call.operands)):
        raise NoRuleError
    for n, one in enumerate(maps):
        if isinstance(one, Scaled | MatrixProduct) and (change := one.bend(moving)) is not None:
            yield [*maps[:n], change, *maps[n + 1 :]]

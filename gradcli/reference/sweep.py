"""Derivatives swept through a Program on whole arrays, with bounds: back for rows of y, or forward for directions.

Products of the Hessian of a y of one element with a direction go forward over reverse.

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

from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.array_functions import compile_bounds
from gradcli.reference.array_values import Values, is_apart, named
from gradcli.reference.bounds import Array, Bounds, NoRuleError, exact, unknown
from gradcli.reference.deadline import require_time
from gradcli.reference.linear_maps import Flow, Map, MatrixProduct, Recurrence, Scaled, spread
from gradcli.reference.rules import rule_of, second_slope

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


def _swept_back(values: Values, v: Array, moving: Mapping[Atom, Flow]) -> tuple[dict[Atom, Flow], dict[Atom, Flow]]:
    """Compute the adjoints of the variables, and their tangents as the values change by `moving`."""
    adjoints, found = {values.program.output: Flow(exact(v, values.kind), v != 0)}, dict[Atom, Flow]()
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
                    for bent in _bends(values, line, k, maps, moving) if moving else ():
                        _add(found, operand, _through(bent, own))
                    _add(adjoints, operand, _through(maps, own))
    return adjoints, found


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


def _bends(values: Values, line: Line, k: int, maps: Sequence[Map], moving: Mapping[Atom, Flow]) -> list[Sequence[Map]]:
    """Return the ways whose sum is the change of a way as its operands change: in each, one map is its own change."""
    op, operands, found = line.call.op, line.call.operands, list[Sequence[Map]]()
    is_changing = any(a in moving for a in operands)
    for n, one in enumerate(maps):
        change: Map | None = None
        if isinstance(one, Scaled):
            change = _bend_of_slope(values, line, k, one, moving)
        elif isinstance(one, MatrixProduct) and is_changing:
            change = _bend_of_product(line, k, n, one, moving, values)
        elif isinstance(one, Recurrence) and ((is_changing and not one.is_choice) or not _is_known(one)):
            raise NoRuleError
        if change is not None:
            found.append([*maps[:n], change, *maps[n + 1 :]])
    if is_changing and (op.kind in (Kind.SPECTRAL, Kind.DEFINED) or (op.kind is Kind.MATRIX and not op.keeps_shape)):
        raise NoRuleError
    return found


def _is_known(steps: Recurrence) -> bool:
    return all(bool(slope.is_known.all()) for slope in (*steps.own, *steps.before))


def _bend_of_slope(values: Values, line: Line, k: int, own: Scaled, moving: Mapping[Atom, Flow]) -> Scaled | None:
    """Return the change of a slope, not known where the slope is not; None where the slope is constant."""
    call, shape = line.call, values.shapes[line.symbol]
    lost = None if own.slope.is_known.all() else own.slope.is_known
    total: Flow | None = None
    if call.op.kind is Kind.ELEMENTWISE and not (call.op.coefficients or call.op.is_branch or call.op.is_extreme):
        rule = rule_of(call)
        routes = [spread(values.shapes.get(a, ()), shape) for a in call.operands]
        environment = named(
            call, [route.there(values.bounds_of(a)) for route, a in zip(routes, call.operands, strict=True)]
        )
        for m in range(len(rule.parameters)):
            second = second_slope(rule, k, m)
            if second != 0 and call.operands[m] in moving:
                term = routes[m].there(moving[call.operands[m]]).times(compile_bounds(second)(environment))
                total = term if total is None else total.plus(term)
        for distance in (*rule.kinks, *rule.edges[k]):
            apart = is_apart(compile_bounds(distance)(environment))
            lost = apart if lost is None else lost & apart
    if total is None and (lost is None or lost.all()):
        return None
    bend = exact(np.zeros(own.slope.middle.shape)) if total is None else total.bounds
    return Scaled(bend if lost is None else bend.where(lost, unknown(bend.middle)))


def _bend_of_product(
    line: Line, k: int, n: int, own: MatrixProduct, moving: Mapping[Atom, Flow], values: Values
) -> MatrixProduct | None:
    """Return the change of the matrix of a product: of the other operand, or of an inverse."""
    call = line.call
    if call.op.kind is Kind.CONTRACTION:
        other = call.operands[1 - k]
        if other not in moving:
            return None
        inside = values.shapes[other]
        matrix = inside if len(inside) > 1 else (1, *inside) if k == 1 else (*inside, 1)
        batch = own.matrix.middle.shape[1:-2]
        lifted = (*(1,) * (len(batch) + 2 - len(matrix)), *matrix)
        return MatrixProduct(spread(inside, (*batch, *matrix[-2:]), lifted).there(moving[other]).bounds, own.is_right)
    if call.op.kind is Kind.MATRIX and call.op.keeps_shape and line.symbol in moving:
        change: Bounds = moving[line.symbol].bounds
        return MatrixProduct(-change if n == 0 else change, own.is_right)
    raise NoRuleError

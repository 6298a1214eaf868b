"""Elements at which a Program may have no derivative: at a kink, a jump, a pole or an edge of a domain.

A Program of primitives is evaluated with bounds, at many points together.  An element is critical where a distance from
a kink or from the edge of a domain, which the op table has of its operation, may be 0 within the bounds, where the
largest elements tie, and where a value is not known that has known operands.  Nothing is proven: the elements found are
the ones that a sample must not leave out.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy
from sympy import Expr, Pow

from gradcli.arrays import Array
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program.movement import axes_of
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.reference.array_functions import compile_bounds
from gradcli.reference.array_values import Values, is_apart, is_self_comparison, spread, winners
from gradcli.reference.bounds import Bounds, Mask
from gradcli.reference.dependencies import Flat
from gradcli.reference.rules import rule_of

MOST_SQUARES = 64
"""Lines that a sum of squares is followed through."""

MOST_SPOTS = 4_096
"""Critical elements of one operation whose places are kept; of more, every so many."""


@dataclass(frozen=True)
class Spots:
    """Critical elements of one operation.

    Attributes:
        name: The name of the operation.
        atom: The line or the operand that they are elements of.
        points: The number of the point of each.
        elements: Its flat position there.
        count: The number of all of them.
    """

    name: str
    atom: Atom
    points: Flat
    elements: Flat
    count: int


@dataclass(frozen=True)
class Critical:
    """Critical elements found, in the order of the lines, and the operations that could not be looked at."""

    spots: tuple[Spots, ...]
    unknown: tuple[str, ...] = ()


def critical(
    program: Program,
    shapes: Mapping[Atom, Shape],
    inputs: Mapping[str, Array],
    mapped: Sequence[str] = (),
) -> Critical:
    """Find the critical elements of a Program of primitives.

    Args:
        program: The function.
        shapes: The shapes of its symbols at one point.
        inputs: The values of its variables.
        mapped: The variables whose first axis counts points.

    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.expansion import in_primitives
    >>> program = in_primitives(parse("relu(x) + x**2"))
    >>> x = np.array([-1.0, 0.0, 3.0])
    >>> shapes = {symbol: (3,) for symbol in (*program.variables, *(line.symbol for line in program.lines))}
    >>> found = critical(program, shapes, {"x": x})
    >>> [(spots.name, spots.elements.tolist()) for spots in found.spots]
    [('maximum', [1])]
    """
    found: list[Spots] = []

    def see(values: Values, line: Line) -> None:
        atom, mask = critical_elements(values, line)
        places = np.flatnonzero(mask)
        if len(places):
            kept = places[:: 1 + len(places) // MOST_SPOTS]
            points, elements = np.divmod(kept, max(1, math.prod(shapes.get(atom, ()))))
            found.append(Spots(line.call.op.name, atom, points, elements, len(places)))

    values = Values(program, shapes, inputs, program.variables, mapped=mapped, seen=see)
    return Critical(tuple(found), tuple(dict.fromkeys(values.missing.values())))


def critical_elements(values: Values, line: Line) -> tuple[Atom, Mask]:
    """Find the critical elements of a line by point; for an extreme, those of its operand."""
    call, op, shape = line.call, line.call.op, values.shapes[line.symbol]
    operands, value = [values.bounds_of(a) for a in call.operands], values.bounds_of(line.symbol)
    if op.kind is Kind.REDUCTION and op.is_extreme:
        return call.operands[0], ties(values, line)
    mask = np.full(value.middle.shape, False) if line.symbol in values.missing else ~value.is_known
    if op.kind is Kind.ELEMENTWISE:
        is_near, are_known, _ = nearness(values, line)
        return line.symbol, np.asarray((mask | is_near) & are_known)
    if op.kind is Kind.MATRIX and not op.keeps_shape:  # where its slopes are not known
        mask = mask | ~is_apart(value)
    for operand in operands:
        is_known = operand.is_known.reshape(len(operand.middle), -1).all(axis=1)
        mask = mask & is_known.reshape(-1, *(1,) * len(shape))
    return line.symbol, mask if operands else np.full_like(mask, False)


def kinks_and_others(values: Values, line: Line) -> tuple[Atom, Mask, Mask]:
    """Find the critical elements of a line where it bends or jumps, and the others: at poles and edges."""
    atom, mask = critical_elements(values, line)
    op = line.call.op
    if op.kind is Kind.REDUCTION and op.is_extreme:
        return atom, mask, np.zeros_like(mask)
    if op.kind is not Kind.ELEMENTWISE or is_self_comparison(line.call):
        return atom, np.zeros_like(mask), mask
    if _is_length(values.program, line):  # a square is on no other side of 0
        return atom, mask, np.zeros_like(mask)
    bends = mask & _is_near(_operands(values, line), line, rule_of(line.call).kinks)
    return atom, bends, mask & ~bends


def _is_length(program: Program, line: Line) -> bool:
    """Tell whether a line is the root of a square, or of a sum of squares, which bends at 0 as the absolute value does.

    >>> from gradcli.language.parsing import parse
    >>> [_is_length(program, program.lines[-1]) for program in map(parse, ["sqrt(x**2 + y*y)", "sqrt(x**2 + y)"])]
    [True, False]
    """
    if not _is_power(line, sympy.S.Half):
        return False
    lines = {one.symbol: one for one in program.lines}
    terms, count = [line.call.operands[0]], 0
    while terms:
        one, count = lines.get(terms.pop()), count + 1
        if one is None or count > MOST_SQUARES:
            return False
        if not _is_power(one, sympy.Integer(2)):
            if not _is_sum(one):
                return False
            terms += one.call.operands
    return True


def _is_power(line: Line, exponent: Expr) -> bool:
    """Tell whether a line raises its operand to a power, or is a product of the operand with itself for a square."""
    if line.call.op.kind is not Kind.ELEMENTWISE:
        return False
    rule, operands = rule_of(line.call), line.call.operands
    parameters = [one for one in rule.parameters if one is not None]
    if exponent == 2 and len(operands) == 2 and operands[0] == operands[1]:
        return bool(rule.expression == sympy.Mul(*parameters))
    return len(parameters) == 1 and bool(rule.expression == Pow(parameters[0], exponent))


def _is_sum(line: Line) -> bool:
    """Tell whether each element of a line is one of an operand, or a sum of such."""
    if line.call.op.kind is Kind.ELEMENTWISE:
        rule = rule_of(line.call)
        return bool(rule.expression == sympy.Add(*(one for one in rule.parameters if one is not None)))
    return line.call.op.kind is Kind.MOVEMENT or line.call.op.folds_by is Monoid.SUM


def ties(values: Values, line: Line) -> Mask:
    """Tell which elements of the operand of an extreme may tie for the largest, or smallest."""
    operand, call = values.bounds_of(line.call.operands[0]), line.call
    won, lost = winners(operand, axes_of(values.shapes[call.operands[0]], call.statics[0]), call.op.folds_by)
    return ~(won | lost) & operand.is_known


def nearness(values: Values, line: Line) -> tuple[Mask, Mask, Mask]:
    """Tell where an operation on known numbers may be at a kink or an edge of its domain."""
    operands, rule = _operands(values, line), rule_of(line.call)
    distances = () if is_self_comparison(line.call) else {*rule.kinks, *itertools.chain(*rule.edges)}
    is_near = _is_near(operands, line, distances)
    are_known = functools.reduce(np.logical_and, (a.is_known for a in operands))
    return is_near, are_known, functools.reduce(np.logical_or, (a.radius > 0 for a in operands))


def _operands(values: Values, line: Line) -> list[Bounds]:
    """Return the operands of an elementwise operation, in the dimensions of its result."""
    call, shape = line.call, values.shapes[line.symbol]
    inside = (values.shapes.get(a, ()) for a in call.operands)
    return [spread(values.bounds_of(a), own, shape) for own, a in zip(inside, call.operands, strict=True)]


def _is_near(operands: Sequence[Bounds], line: Line, distances: Collection[Expr]) -> Mask:
    """Tell where one of some distances may be 0."""
    found: Mask = np.zeros((1,) * operands[0].middle.ndim, bool)
    for distance in distances:
        found = found | ~is_apart(compile_bounds(distance)(rule_of(line.call).environment(operands)))
    return found

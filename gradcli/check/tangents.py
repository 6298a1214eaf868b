"""Programs whose first derivatives are the products with a direction u, and the second derivatives, of another.

    Ju         the derivative of g(t) = f(x + t*u) by t, at 0
    Hu         the gradient by x of the tangent dy(x, u)         `gradcli.reference.tangent`
    row i      of H: the same for u = e_i

So the judge of Jacobians judges them too, and at a kink the one-sided derivatives of g are those of f along u and
against it.  Some of their entries can also be enclosed without torch, to confirm formulas.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy
from flint import arb

from gradcli.check.compare import Block, Truths
from gradcli.check.point import Point, unravel
from gradcli.errors import Span
from gradcli.language.program.wengert import Atom, Builder
from gradcli.reference.balls import Ball
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.program_writer import NoTangentError
from gradcli.reference.rules import Undefined
from gradcli.reference.running import Direction
from gradcli.reference.tangent import Tangent, direction_name, tangent
from gradcli.results import Array, Index

STEP = "step along u"
"""The name of t: no name of the language has a space."""

KNOWN = 3
"""Elements of each variable that give the rows and columns at which formulas of second derivatives are compared."""


def along(point: Point, u: Mapping[str, Array]) -> Point:
    """The Program of g at t = 0, in the variables of f, their directions, and t.

    Args:
        point: f and x.
        u: A direction of x's shape for each variable that moves.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> point = Point.of(program, {program.variables[0]: (2,)}, {"x": np.array([1.0, 2.0])})
    >>> line = along(point, {"x": np.array([1.0, 0.0])})
    >>> line.program.names, [one.call.op.name for one in line.program.lines]
    (('x', 'u of x', 'step along u'), ['mul', 'add', 'pow'])
    """
    typed, start = point.source or point.typed, Span(0, 0)
    step = sympy.Symbol(STEP, real=True)
    moving = {s: sympy.Symbol(direction_name(str(s)), real=True) for s in typed.variables if str(s) in u}
    builder = Builder(typed.text, typed.source)
    renamed: dict[Atom, Atom] = {}
    for symbol, direction in moving.items():
        moved = builder.emit("mul", (step, direction), start)
        renamed[symbol] = builder.emit("add", (symbol, moved), start)
    for line in typed.lines:
        operands = tuple(renamed.get(a, a) for a in line.call.operands)
        renamed[line.symbol] = builder.emit(line.call.op.name, operands, line.span, line.call.statics)
    program = replace(
        typed,
        variables=(*typed.variables, *moving.values(), step),
        lines=tuple(builder.lines),
        output=renamed.get(typed.output, typed.output),
    )
    shapes = {symbol: point.shapes[symbol] for symbol in typed.variables}
    shapes |= {direction: shapes[symbol] for symbol, direction in moving.items()} | {step: ()}
    directions = {str(direction): u[str(symbol)] for symbol, direction in moving.items()}
    return Point.of(program, shapes, {**point.inputs, **directions, STEP: np.zeros(())})


@dataclass(frozen=True)
class Slopes:
    """dy(x, u) as a Program, and the same as torch computes it, whose rounding is to explain torch's numbers."""

    dy: Tangent
    typed: Tangent

    @classmethod
    def of(cls, point: Point, moving: Collection[str]) -> Slopes:
        """For the variables that have a direction.

        Raises:
            NoTangentError: There is no such Program.
        """
        dy = tangent(point.program, point.shapes, moving)
        try:
            # As typed where possible: its rounding is that of the operations that torch ran.
            return cls(dy, tangent(point.typed, point.typed_shapes, moving, as_torch=True))
        except NoTangentError:
            return cls(dy, dy)

    def at(self, point: Point, u: Mapping[str, Array]) -> Point:
        """The point of dy at x along u: its Program, and the same as torch computes it."""
        inputs = {**point.inputs, **{self.dy.directions[name]: array.astype(np.float64) for name, array in u.items()}}
        dy, typed = self.dy, self.typed
        return Point(typed.program, typed.shapes, dy.program, dy.shapes, inputs, tangent_of=(point, u))


def truths_of_jvp(point: Point, u: Mapping[str, Array], bits: int) -> Truths:
    """Some elements of Ju, without torch; none where that is over the budget or there are none.

    Args:
        point: The Program and its inputs.
        u: The direction of each variable that moves.
        bits: Of the balls.
    """
    step = sympy.Symbol(STEP, real=True)
    found = _columns(along(point, u), [(step, 0)], _few(point.rows), bits)
    known: dict[tuple[Index, Index], Ball] = {(unravel(row, point.shape), ()): ball for (_, row), ball in found.items()}
    return Truths({("", ""): known}, bits)


def truths_of_hvp(point: Point, u: Mapping[str, Array], wrt: Sequence[str], bits: int) -> Truths:
    """Some elements of Hu for each variable; see `truths_of_jvp`."""
    try:
        return Truths(_row(point, Slopes.of(point, u), u, wrt, bits), bits)
    except NoTangentError:
        return Truths({}, bits)


def truths_of_hessian(point: Point, wrt: Sequence[str], bits: int) -> Truths:
    """Some elements of the Hessian, in few rows and columns of each pair of variables; see `truths_of_jvp`."""
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for name in wrt:
        shape = point.shape_of(name)
        try:
            slopes = Slopes.of(point, (name,))
        except NoTangentError:
            continue
        for i in _few(math.prod(shape)):
            unit = np.zeros(shape)
            unit.reshape(-1)[i] = 1.0
            for (_, column), found in _row(point, slopes, {name: unit}, wrt, bits, unravel(i, shape)).items():
                known.setdefault((name, column), {}).update(found)
    return Truths(known, bits)


def _row(
    point: Point, slopes: Slopes, u: Mapping[str, Array], wrt: Sequence[str], bits: int, row: Index = ()
) -> dict[Block, dict[tuple[Index, Index], Ball]]:
    """Some elements of the product of the Hessian with a direction."""
    symbols = [sympy.Symbol(name, real=True) for name in wrt]
    columns = [(symbol, j) for symbol in symbols for j in _few(math.prod(point.shapes[symbol]))]
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for (d, _), ball in _columns(slopes.at(point, u), columns, None, bits).items():
        symbol, j = columns[d]
        known.setdefault(("", str(symbol)), {})[row, unravel(j, point.shapes[symbol])] = ball
    return known


def _few(size: int) -> list[int]:
    """A few flat positions below `size`, evenly spaced from the first to the last."""
    return sorted(set(np.linspace(0, size - 1, KNOWN).astype(int).tolist())) if size else []


def _columns(
    point: Point, directions: Sequence[Direction], rows: Sequence[int] | None, bits: int
) -> dict[tuple[int, int], Ball]:
    """The derivatives that exist, by (position of the direction, row of y); where no path leads they are exactly 0."""
    reference = Reference(point.program, point.shapes, point.inputs)
    try:
        with time_limit():
            found = reference.plan(directions, None if rows is None else np.array(rows, dtype=np.int64)).run(bits)
    except (OverBudgetError, OverTimeError):
        return {}
    known: dict[tuple[int, int], Ball] = {}
    for d in range(len(directions)):
        for row in range(point.rows) if rows is None else rows:
            value = found.values.get(row)
            outcome = found.columns.get((d, row), value if isinstance(value, Undefined) else arb(0))
            if not isinstance(outcome, Undefined):
                known[d, row] = outcome
    return known

"""Programs whose first derivatives are the products with a direction u, and the second derivatives, of another.

    Ju         the derivative of g(t) = f(x + t*u) by t, at 0
    Hu         the gradient by x of the tangent dy(x, u)         `gradcli.reference.tangent`
    row i      of H: the same for u = e_i

So the judge of Jacobians judges them too, and at a kink the one-sided derivatives of g are those of f along u and
against it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import sympy

from gradcli.check.point import Point
from gradcli.errors import Span
from gradcli.language.program.wengert import Atom, Builder
from gradcli.reference.program_writer import NoTangentError
from gradcli.reference.tangent import Tangent, direction_name, tangent
from gradcli.results import Array

STEP = "step along u"
"""The name of t: no name of the language has a space."""


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

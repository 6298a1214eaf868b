"""A function on the line through a point: g(t) = f(x + t*u), whose derivative at t = 0 is the Jacobian-vector product.

So the judge of Jacobians judges Ju too, and at a kink its one-sided derivatives are those of f along u and against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import sympy

from gradcli.check.context import Point
from gradcli.errors import Span
from gradcli.language.program.wengert import Atom, Builder
from gradcli.reference.tangent import direction_name
from gradcli.results import Array

STEP = "step along u"
"""The name of t: no name of the language has a space."""


def along(point: Point, u: Mapping[str, Array]) -> Point:
    """The Program of g at t = 0, in the variables of f, their directions, and t.

    Args:
        point: f and x.
        u: A direction of x's shape for each variable that moves.

    >>> from gradcli.language.grammar import parse
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

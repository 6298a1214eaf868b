"""A quotient that is 0/0 at one point, with its limit put in: `where(x == 0, 1 + 0.5*x, n/where(x == 0, 1, d))`.

The value and the first derivative at the point are those of the limit; everywhere else nothing changes.  Only a
quotient that is made of one variable element by element has one limit for all of its elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
import sympy

from gradcli.diagnose.rewriting.candidates import Candidate, is_sound, readable
from gradcli.diagnose.rewriting.splicing import decimal, filled
from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.program import numeric
from gradcli.language.program.wengert import Atom, Line, Program, Shape


def quotients(program: Program, variable: str, point: float) -> tuple[Line, ...]:
    """The quotients of one variable, element by element, that are 0/0 at a point.

    >>> from gradcli.language.parsing import parse
    >>> [str(line.call) for line in quotients(parse("y*(exp(x) - 1)/x + sin(x)/x + 1/x"), "x", 0.0)]
    ['div(_t4, x)']
    """
    lines = {line.symbol: line for line in program.lines}
    of_x: dict[Atom, bool] = {symbol: str(symbol) == variable for symbol in program.variables}
    found = []
    for line in program.lines:
        is_plain = line.call.op.kind is Kind.ELEMENTWISE
        of_x[line.symbol] = is_plain and all(of_x.get(a, not isinstance(a, sympy.Symbol)) for a in line.call.operands)
        if line.call.op.name == "div" and of_x[line.symbol]:
            above, below = line.call.operands
            if isinstance(below, sympy.Symbol) and all(
                _value(program, lines, a, variable, point) == 0 for a in (above, below)
            ):
                found.append(line)
    return tuple(found)


def _value(program: Program, lines: Mapping[Atom, Line], atom: Atom, variable: str, point: float) -> float | None:
    """A part of a Program of one variable at a point; None if NumPy cannot say."""
    needed: list[Line] = []
    waiting, known = [atom], set[Atom]()
    while waiting:
        line = lines.get(waiting.pop())
        if line is not None and line.symbol not in known:
            known.add(line.symbol)
            needed.append(line)
            waiting += line.call.operands
    kept = tuple(line for line in program.lines if line.symbol in known)
    symbol = sympy.Symbol(variable, real=True)
    try:
        return float(numeric.run(Program(program.text, (), kept, atom), {symbol: np.asarray(point)}))
    except GradcliError:
        return None


def removable_candidates(
    program: Program,
    line: Line,
    variable: str,
    point: float,
    limit: float,
    slope: float,
    shapes: Mapping[str, Shape] = MappingProxyType({}),
) -> Iterator[Candidate]:
    """The function with the limit of a quotient put in; nothing if its text cannot be changed.

    Args:
        program: As typed.
        line: One of `quotients`, with the same variable and point.
        variable: The name that the quotient is made of.
        point: Where it is 0/0.
        limit: Of the quotient there.
        slope: The limit of its derivative there.
        shapes: Of the variables by name, where they are known.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("(exp(x) - 1)/x")
    >>> (line,) = quotients(program, "x", 0.0)
    >>> next(removable_candidates(program, line, "x", 0.0, 1.0, 0.5)).expression
    'where(x == 0, 1 + 0.5*x, (exp(x) - 1)/where(x == 0, 1, x))'
    """
    reading = readable(program, shapes) if all(map(math.isfinite, (point, limit, slope))) else None
    atom = None if reading is None else reading.operations.get(line.span)
    if reading is None or atom is None or reading.nodes[atom].op != "div":
        return
    above, below = reading.nodes[atom].operands
    template = template_at(variable, point, limit, slope)
    edits = {}
    for span in reading.places(atom):
        texts = {"n": reading.shown(above, span), "d": reading.shown(below, span)}
        if None not in texts.values():
            edits[span] = filled(template, {name: text or "" for name, text in texts.items()})
    text = reading.edited(edits)
    if edits and is_sound(reading, text):
        at = f"{variable} = {decimal(point)}"
        yield Candidate(text.strip(), f"the quotient is 0/0 at {at}, where its limit is {decimal(limit)}")


def template_at(variable: str, point: float, limit: float, slope: float) -> str:
    """The quotient of n and d with its limit, and the slope of its limit, put in at a point.

    >>> template_at("x", -1.0, 0.0, -0.25)
    'where(x == -1, -0.25*(x + 1), n/where(x == -1, 1, d))'
    """
    distance = variable if point == 0 else f"({variable} {'-' if point > 0 else '+'} {decimal(abs(point))})"
    size = decimal(abs(slope))
    product = distance if size == "1" else f"{size}*{distance}"
    sign = "-" if slope < 0 else "+"
    if slope == 0:
        tangent = decimal(limit)
    elif limit == 0:
        tangent = product if slope > 0 else f"-{product}"
    else:
        tangent = f"{decimal(limit)} {sign} {product}"
    at = f"{variable} == {decimal(point)}"
    return f"where({at}, {tangent}, n/where({at}, 1, d))"

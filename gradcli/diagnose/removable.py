"""Quotients that are 0/0 at one point, with the limit put in: `where(x == 0, 1 + 0.5*x, n/where(x == 0, 1, d))`.

The value and the first derivative at the point are those of the limit; everywhere else nothing changes.  Only a
quotient that is made of one variable element by element has one limit for all of its elements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import sympy

from gradcli.crosscheck.compare import EXACT, Case, Singular, to_float
from gradcli.crosscheck.point import Point
from gradcli.crosscheck.singular import classify_singularities
from gradcli.diagnose.forms import Edit, Form, decimal, filled
from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.program import numeric
from gradcli.language.program.wengert import Atom, Line, Program, needed
from gradcli.reference.duals import Reference
from gradcli.reference.rules import Undefined
from gradcli.results import Array, Entry

MOST_VALUES = 4
"""Values of a variable at which a quotient may be 0/0, and quotients of one form."""


def with_limits(form: Form, inputs: Mapping[str, Array]) -> tuple[Form, tuple[str, ...]] | None:
    """The form with the limits of quotients that are 0/0 at a value of their variable put in, and why; None if none is.

    Args:
        form: The function.
        inputs: Values of its variables.

    >>> from gradcli.language.parsing import parse
    >>> found, why = with_limits(Form(parse("(exp(x) - 1)/x")), {"x": np.array(0.0)})
    >>> found.text
    'where(x == 0, 1 + 0.5*x, (exp(x) - 1)/where(x == 0, 1, x))'
    """
    reasons: list[str] = []
    for name in form.program.names:
        for point in np.unique(inputs[name].astype(np.float64))[:MOST_VALUES].tolist():
            edits: dict[Atom, Edit] = {}
            for line in quotients(form.program, name, point)[:MOST_VALUES]:
                limits = _limits(form.program, line, name, point)
                if limits is not None and all(map(math.isfinite, (point, *limits))):
                    above, below = line.call.operands
                    names = {"x": sympy.Symbol(name, real=True), "n": above, "d": below}
                    edits[line.symbol] = filled(_template(point, *limits), names)
                    why = f"the quotient is 0/0 at {name} = {decimal(point)}, where its limit is {decimal(limits[0])}"
                    reasons.append(why)
            form = (form.rewritten(edits) if edits else None) or form
    return (form, tuple(dict.fromkeys(reasons))) if reasons else None


def quotients(program: Program, variable: str, point: float) -> tuple[Line, ...]:
    """The quotients of one variable, element by element, that are 0/0 at a point.

    >>> from gradcli.language.parsing import parse
    >>> [str(line.call) for line in quotients(parse("y*(exp(x) - 1)/x + sin(x)/x + 1/x"), "x", 0.0)]
    ['div(_t4, x)']
    """
    of_x: dict[Atom, bool] = {symbol: str(symbol) == variable for symbol in program.variables}
    found = []
    for line in program.lines:
        is_plain = line.call.op.kind is Kind.ELEMENTWISE
        of_x[line.symbol] = is_plain and all(of_x.get(a, not isinstance(a, sympy.Symbol)) for a in line.call.operands)
        is_quotient = (
            line.call.op.name == "div" and of_x[line.symbol] and isinstance(line.call.operands[1], sympy.Symbol)
        )
        if is_quotient and all(_value(program, atom, variable, point) == 0 for atom in line.call.operands):
            found.append(line)
    return tuple(found)


def _value(program: Program, atom: Atom, variable: str, point: float) -> float | None:
    """A part of a Program of one variable at a point; None if NumPy cannot say."""
    part = Program(program.text, (), tuple(needed(program.lines, atom)), atom)
    try:
        return float(numeric.run(part, {sympy.Symbol(variable, real=True): np.asarray(point)}))
    except GradcliError:
        return None


def _template(point: float, limit: float, slope: float) -> str:
    """The quotient of n and d with its limit, and the slope of its limit, put in at a point.

    >>> _template(-1.0, 0.0, -0.25)
    'where(x == -1, -0.25*(x + 1), n/where(x == -1, 1, d))'
    """
    distance = "x" if point == 0 else f"(x {'-' if point > 0 else '+'} {decimal(abs(point))})"
    product = distance if abs(slope) == 1 else f"{decimal(abs(slope))}*{distance}"
    if slope == 0:
        tangent = decimal(limit)
    elif limit == 0:
        tangent = product if slope > 0 else f"-{product}"
    else:
        tangent = f"{decimal(limit)} {'-' if slope < 0 else '+'} {product}"
    at = f"x == {decimal(point)}"
    return f"where({at}, {tangent}, n/where({at}, 1, d))"


def _limits(program: Program, line: Line, name: str, point: float) -> tuple[float, float] | None:
    """What a quotient of one variable and its derivative tend to at a point, if that is so from both sides."""
    symbol = sympy.Symbol(name, real=True)
    part = replace(program, variables=(symbol,), lines=tuple(needed(program.lines, line.symbol)), output=line.symbol)
    here = Point.of(part, {symbol: ()}, {name: np.array(point)})
    case, cause = Case(Reference(here.program, here.shapes, here.inputs), EXACT), Undefined("domain", "", decided=True)
    asked = [Entry(None, (), None, "unchecked", math.nan), Entry(name, (), (), "unchecked", math.nan)]
    found = classify_singularities(case, [Singular(entry, cause, frozenset((0,))) for entry in asked])
    truths = {entry.variable: entry.truth for entry in found if entry.verdict == "removable"}
    return (to_float(truths[None]), to_float(truths[name])) if len(truths) == len(asked) else None

"""Adjoints of the operands of elementwise operations, of choices, and of conditions."""

from __future__ import annotations

import sympy

from gradcli.adjoint.slopes import as_program, partials_of
from gradcli.adjoint.writing import HALF, ONE, ZERO, LineWriter
from gradcli.language.ops import Monoid
from gradcli.language.program.wengert import Atom, Call


def pulled_back(writer: LineWriter, call: Call, k: int, g: Atom) -> Atom:
    """Return the adjoint of operand k, of the shape of the result, of an operation that has a slope."""
    if call.op.coefficients:
        factor = sympy.Integer(call.op.coefficients[k])
        return g if factor == 1 else writer.write("neg", g) if factor == -1 else writer.times(factor, g)
    return writer.times(g, slope(writer, call, k))


def slope(writer: LineWriter, call: Call, k: int) -> Atom:
    """Append the partial derivative by operand k.

    Raises:
        NoAdjointError: It is no Program.
    """
    found = partials_of(call)
    return writer.inline(as_program(found.slopes[k], found.parameters), call.operands)


def distances(writer: LineWriter, call: Call, k: int) -> list[Atom]:
    """Append what vanishes where operand k has no slope: kinks, and edges of the domain."""
    found = partials_of(call)
    is_of_itself = len(set(call.operands)) < len(call.operands)  # maximum(x, x) is x, and smooth
    kinks = () if is_of_itself else found.kinks
    pairs = zip(found.parameters, call.operands, strict=True)
    numbers = {p: a for p, a in pairs if p is not None and a.is_Rational}  # x - 0 is x
    every = (one.xreplace(numbers) for one in (*kinks, *found.edges[k]))
    return [writer.inline(as_program(one, found.parameters), call.operands) for one in every]


def taken(writer: LineWriter, call: Call, k: int) -> Atom | None:
    """Return the condition under which a choice takes operand k: 1 or 0 where it always or never does.

    None of the condition itself.
    """
    if call.op.is_branch:
        condition, a, b = call.operands
        if k == 0:
            return None
        if a == b:
            return ONE if k == 1 else ZERO
        return condition if k == 1 else writer.holds(writer.choose(condition, ZERO, ONE))
    a, b = call.operands
    if a == b:
        return ONE if k == 0 else ZERO
    sense = "gt" if call.op.folds_by is Monoid.LARGEST else "lt"
    return writer.write(sense, *((a, b) if k == 0 else (b, a)))


def is_guard(call: Call) -> bool:
    """Tell whether an operation has no value, nan, where a condition fails."""
    return call.op.is_branch and sympy.nan in call.operands[1:]


def may_be_taken(writer: LineWriter, call: Call, k: int, condition: Atom) -> Atom:
    """Return the condition under which a choice takes operand k: at a tie both, and the one beside nan everywhere."""
    if is_guard(call):
        return ONE
    if call.op.is_branch or condition in (ONE, ZERO):
        return condition
    a, b = call.operands
    sense = "ge" if call.op.folds_by is Monoid.LARGEST else "le"
    return writer.write(sense, *((a, b) if k == 0 else (b, a)))


def chosen(writer: LineWriter, call: Call, k: int, g: Atom, condition: Atom, *, halves_ties: bool) -> Atom:
    """Return the adjoint of operand k of a choice.

    Args:
        writer: Of the lines.
        call: The choice.
        k: The number of the operand.
        g: The adjoint of the result.
        condition: Under which the operand is taken.
        halves_ties: Whether each of two equal operands of an extreme gets one half, as in torch; else neither.
    """
    if call.op.is_branch:
        if condition in (ONE, ZERO):
            return writer.choose(condition, g, ZERO)
        refused = sympy.nan if is_guard(call) else ZERO  # no derivative where there is no value
        return writer.choose(call.operands[0], *((g, refused) if k == 1 else (refused, g)))
    other = ZERO
    if halves_ties and condition not in (ONE, ZERO):
        is_tie = writer.write("eq", *call.operands)
        other = writer.choose(is_tie, writer.write("mul", HALF, g), ZERO)
    return writer.choose(condition, g, other)

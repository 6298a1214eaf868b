"""Simplify a gradient Program at known values of the function: its masks and guards are decided once, for all weights.

A guard is nan where an operation has no derivative; a mask makes an adjoint 0 where nothing comes back, whatever the
slope is there.  Where bounds tell that an operation has a derivative everywhere and that its slope is a number, neither
says anything: 0 times a number is 0.  Masks are half of all work where elements are taken at positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy

from gradcli.adjoint.gradient import GradientProgram
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Call, Line
from gradcli.reference.array_values import Values
from gradcli.reference.bounds import decided
from gradcli.reference.rules import rule_of


def simplified(gradient: GradientProgram, values: Values, weights: Sequence[sympy.Symbol]) -> GradientProgram:
    """Leave out choices that are the same for all weights, and those that make a 0 of what is 0 anyway.

    Args:
        gradient: The gradient of a function, whose own lines have no weights in them.
        values: The bounds of its lines that no weight moves.
        weights: The variables that stand for v.
    """
    moved, same, products = set[Atom](weights), dict[Atom, Atom](), set[Atom]()
    lines = list[Line]()
    for line in gradient.program.lines:
        call = line.call
        operands = tuple(same.get(atom, atom) for atom in call.operands)
        rewritten = replace(line, call=Call(call.op.name, operands, call.statics))
        if moved.isdisjoint(operands):
            lines.append(rewritten)
            continue
        kept = _kept(operands, values, moved, products) if call.op.is_branch else None
        if kept is not None and gradient.shapes.get(kept, ()) == gradient.shapes[line.symbol]:
            same[line.symbol] = kept
            continue
        moved.add(line.symbol)
        if _is_product(rewritten) and any(_is_number(atom, values, moved) for atom in operands):
            products.add(line.symbol)
        lines.append(rewritten)
    of = {symbol: same.get(atom, atom) for symbol, atom in gradient.of.items()}
    return replace(gradient, program=replace(gradient.program, lines=tuple(lines)), of=of)


def _kept(operands: Sequence[Atom], values: Values, moved: set[Atom], products: set[Atom]) -> Atom | None:
    """Return the operand that a choice takes everywhere, or that is 0 wherever it does not; None if there is none."""
    condition, first, second = operands
    if condition in moved:  # a mask of weights, as the function has none
        return first if second == 0 and first in products else None
    if condition not in values.values:
        return None
    holds, fails = decided(values.values[condition])
    return first if holds.all() else second if fails.all() else None


def _is_product(line: Line) -> bool:
    """Tell whether a line multiplies its operands element by element."""
    if line.call.op.kind is not Kind.ELEMENTWISE or len(line.call.operands) != 2:
        return False
    meaning = rule_of(line.call).expression
    return bool(meaning.is_Mul) and all(factor.is_Symbol for factor in meaning.args)


def _is_number(atom: Atom, values: Values, moved: set[Atom]) -> bool:
    """Tell whether a factor has a bound at all elements, and is the same for all weights."""
    is_fixed = atom in values.values or not atom.is_Symbol  # a line that nothing needs has no value
    return is_fixed and atom not in moved and bool(values.bounds_of(atom).is_known.all())

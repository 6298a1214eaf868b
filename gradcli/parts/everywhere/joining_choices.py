"""Choices that join: their two values are certainly equal where the condition changes, so that nothing jumps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import arb

from gradcli.language.program.wengert import Atom, Call, Line, needed
from gradcli.parts.everywhere.wholes import whole_of
from gradcli.reference.balls import precision
from gradcli.reference.compiling import compile_ball
from gradcli.reference.rules import rule_of

EXACT_BITS = 4096
"""Precision at which numbers that are exact are."""


def has_row_rule(call: Call) -> bool:
    """Tell whether an operation has the rule of its row, and none of its own."""
    op = call.op
    return whole_of(call) is None and not (op.sense or op.is_branch)


def joins(line: Line, lines: Sequence[Line], constants: Mapping[Atom, float]) -> bool:
    """Tell whether a choice certainly has one value on both sides where its condition changes.

    It is known where the condition compares a value with a constant, and both branches depend on that value alone, or
    on the number that it is the size of: at the constant, they are exactly equal.
    """
    if not line.call.op.is_branch:
        return False
    by_symbol = {one.symbol: one for one in lines}
    condition = by_symbol.get(line.call.operands[0])
    if condition is None or not condition.call.op.sense:
        return False
    a, b = condition.call.operands
    place, value = (a, b) if _number_of(b, constants) is not None else (b, a)
    number = _number_of(value, constants)
    if number is None or _number_of(place, constants) is not None:
        return False
    size = by_symbol.get(place)
    places = [{place: number}]
    if size is not None and size.call.op.name == "abs":
        places = [{place: number, size.call.operands[0]: end} for end in (number, -number)]
    return all(_is_one_value(line.call.operands[1:], known, by_symbol, constants) for known in places)


def _is_one_value(
    atoms: Sequence[Atom],
    known: Mapping[Atom, arb],
    by_symbol: Mapping[Atom, Line],
    constants: Mapping[Atom, float],
) -> bool:
    with precision(EXACT_BITS):
        ends = [_at_place(atom, known, by_symbol, constants) for atom in atoms]
        return all(end is not None and end.is_exact() and end.is_finite() for end in ends) and bool(ends[0] == ends[1])


def _number_of(atom: Atom, constants: Mapping[Atom, float]) -> arb | None:
    if atom in constants:
        return arb(constants[atom])
    if not atom.is_number:
        return None
    with precision(EXACT_BITS):
        found = compile_ball(atom)({})
    return found if found.is_exact() and found.is_finite() else None


def _at_place(
    atom: Atom, places: Mapping[Atom, arb], by_symbol: Mapping[Atom, Line], constants: Mapping[Atom, float]
) -> arb | None:
    """Evaluate a value where others are numbers; None if it depends on more."""
    known = dict(places)
    lines = needed([one for one in by_symbol.values() if one.symbol not in places], atom)
    for line in lines:
        operands = []
        for a in line.call.operands:
            own = known.get(a)
            own = _number_of(a, constants) if own is None else own
            if own is None:
                return None
            operands.append(own)
        if not has_row_rule(line.call):
            return None
        rule = rule_of(line.call)
        known[line.symbol] = compile_ball(rule.expression)(rule.environment(operands))
    return known.get(atom) if atom in known else _number_of(atom, constants)

"""Numbers that a function puts in the place of NaN and of infinities, and the gradient that is passed on there.

`nan_to_num(x/y)`, and `where(isnan(r), 0, r)` for r = x/y, have a value where x/y has none.  Torch passes the gradient
0 on to x/y there, and x/y multiplies it by a slope, which may be infinite or NaN: then the product is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from gradcli.crosscheck.limits import shown_number
from gradcli.errors import GradcliError
from gradcli.language.program import numeric
from gradcli.language.program.wengert import Atom, Line, Program, needed
from gradcli.results import Array

_REPLACING = ("nan_to_num", "nansum", "nanmean")
"""Operations that have a value where their operand has none."""

_TESTS = ("isnan", "isinf", "isfinite", "ne", "eq")
"""Conditions that are of one value alone, by which a choice leaves it out where it is no number."""


def replaced_values(program: Program, inputs: Mapping[str, Array], *, is_nan: bool) -> Iterator[str]:
    """Say of each operation that replaces what is no number at a point what it puts there, and its gradient.

    Args:
        program: The function.
        inputs: The values of its variables.
        is_nan: Whether a derivative of torch's is NaN.

    >>> from gradcli.language.parsing import parse
    >>> inputs = {"x": np.array(0.0), "y": np.array(0.0)}
    >>> [*replaced_values(parse("nan_to_num(x/y)"), inputs, is_nan=False)]
    ['nan_to_num(x/y) puts 0 in the place of nan, and passes the gradient 0 on to x/y there']
    """
    lines = {line.symbol: line for line in program.lines}
    for line in program.lines:
        operand = _replaced(line, lines)
        if operand is None or operand not in lines:
            continue
        try:
            before, after = (_numbers(program, atom, inputs) for atom in (operand, line.symbol))
        except GradcliError:
            continue
        is_lost = ~np.isfinite(before)
        if not is_lost.any() or (before.shape == after.shape and not np.isfinite(after[is_lost]).all()):
            continue
        what, inner = program.excerpt(line), program.excerpt(lines[operand])
        lost = " and ".join(dict.fromkeys(map(shown_number, before[is_lost].tolist())))
        put = (
            ", ".join(dict.fromkeys(map(shown_number, after[is_lost].tolist())))
            if before.shape == after.shape
            else "nothing"
        )
        said = f"{what} puts {put} in the place of {lost}, and passes the gradient 0 on to {inner} there"
        yield said + (", which multiplies it by a slope that is infinite or nan: in torch 0 times that is nan" * is_nan)


def _replaced(line: Line, lines: Mapping[Atom, Line]) -> Atom | None:
    """Return the value in whose place an operation puts others where it is no number; None if it does not."""
    operands = line.call.operands
    if line.call.op.name in _REPLACING:
        return operands[0]
    condition = lines.get(operands[0]) if line.call.op.is_branch else None
    while condition is not None and condition.call.op.name not in _TESTS:  # a constant one is made of nothing
        condition = lines.get(condition.call.operands[0]) if condition.call.op.is_condition else None
    if condition is None or condition.call.op.name not in _TESTS:
        return None
    tested = {one for one in condition.call.operands if one.is_Symbol}
    return next((one for one in operands[1:] if tested == {one}), None)


def _numbers(program: Program, atom: Atom, inputs: Mapping[str, Array]) -> Array:
    """Compute a value of a function at a point."""
    part = replace(program, lines=tuple(needed(program.lines, atom)), output=atom)
    return numeric.run(part, {symbol: inputs[str(symbol)] for symbol in part.variables})

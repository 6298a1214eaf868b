"""Parts of a Program: the lines that a value is made of, and what is behind a value, as a function of it.

The adjoint of a value is the derivative of what is behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy

from gradcli.language.program.wengert import Atom, Call, Line, Program


def needed(lines: Sequence[Line], *outputs: Atom) -> list[Line]:
    """The lines that some values are made of, in order.

    >>> from gradcli.language.parsing import parse
    >>> whole = parse("y = x**2; z = exp(x); y + 1")
    >>> [line.call.op.name for line in needed(whole.lines, whole.output)]
    ['pow', 'add']
    """
    wanted = set(outputs)
    found = []
    for line in reversed(lines):
        if line.symbol in wanted:
            found.append(line)
            wanted.update(line.call.operands)
    return found[::-1]


def cut(program: Program, atom: Atom, name: str) -> Program:
    """The function of what a line holds that the lines after it compute; the variables before it stay beside it.

    Args:
        program: The whole.
        atom: A line, which becomes a variable, the last; or a variable, which stays one.
        name: Of the new variable, which no other has.

    >>> from gradcli.language.parsing import parse
    >>> whole = parse("y = x**2; z = w*y**3")
    >>> rest = cut(whole, whole.lines[0].symbol, "y")
    >>> rest.names, [str(line.call.op.name) for line in rest.lines]
    (('w', 'y'), ['pow', 'mul'])
    """
    if atom in program.variables:
        return program
    new = sympy.Symbol(name, real=True)
    lines = needed([line for line in program.lines if line.symbol != atom], program.output)
    used = {program.output, *(operand for line in lines for operand in line.call.operands)}
    kept = []
    for line in lines:
        operands = tuple(new if a == atom else a for a in line.call.operands)
        kept.append(replace(line, call=Call(line.call.op.name, operands, line.call.statics)))
    variables = (*(symbol for symbol in program.variables if symbol in used), new)
    output = new if program.output == atom else program.output
    return replace(program, variables=variables, lines=tuple(kept), output=output, warnings=())

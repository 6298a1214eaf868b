"""The rest of a Program behind one of its values, as a function of that value: what the adjoint of the value is of."""

from __future__ import annotations

from dataclasses import replace

import sympy

from gradcli.language.program import Atom, Call, Program


def cut(program: Program, atom: Atom, name: str) -> Program:
    """The function of what a line holds that the lines after it compute; the variables before it stay beside it.

    Args:
        program: The whole.
        atom: A line, which becomes a variable, the last; or a variable, which stays one.
        name: Of the new variable, which no other has.

    >>> from gradcli.language.grammar import parse
    >>> whole = parse("y = x**2; z = w*y**3")
    >>> rest = cut(whole, whole.lines[0].symbol, "y")
    >>> rest.names, [str(line.call.op.name) for line in rest.lines]
    (('w', 'y'), ['pow', 'mul'])
    """
    if atom in program.variables:
        return program
    new = sympy.Symbol(name, real=True)
    needed = {program.output}
    kept = []
    for line in reversed(program.lines):
        if line.symbol in needed and line.symbol != atom:
            needed.update(line.call.operands)
            operands = tuple(new if a == atom else a for a in line.call.operands)
            kept.append(replace(line, call=Call(line.call.op.name, operands, line.call.statics)))
    variables = (*(symbol for symbol in program.variables if symbol in needed), new)
    output = new if program.output == atom else program.output
    return replace(program, variables=variables, lines=tuple(reversed(kept)), output=output, warnings=())

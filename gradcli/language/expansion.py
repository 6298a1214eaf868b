"""Defined operations replaced by their meanings: a Program of primitives only.

The symbolic and the reference reading see this Program, torch the one as typed: so a defined operation is checked
against its definition.  A line keeps the range of the text of the call it came from.
A meaning is written in primitives (a test holds the table to it), so one pass is enough.
"""

from __future__ import annotations

from collections.abc import Callable

from gradcli.language.grammar import parse_meaning
from gradcli.language.ops import Op
from gradcli.language.program import Atom, Builder, Program


def expand(program: Program, keep: Callable[[Op], bool] = lambda op: not op.meaning) -> Program:
    """The same function in primitives, or in the operations to `keep`.

    >>> from gradcli.language.grammar import parse
    >>> [line.call.op.name for line in expand(parse("relu(x)")).lines]
    ['maximum']
    """
    if all(keep(line.call.op) for line in program.lines):
        return program
    builder = Builder(program.text, program.source)
    renamed: dict[Atom, Atom] = {}
    for line in program.lines:
        operands = tuple(renamed.get(a, a) for a in line.call.operands)
        if not keep(line.call.op):
            renamed[line.symbol] = parse_meaning(line.call.op, builder, operands, line.span)
        else:
            renamed[line.symbol] = builder.emit(line.call.op.name, operands, line.span, line.call.statics)
    output = renamed.get(program.output, program.output)
    return Program(program.text, program.variables, tuple(builder.lines), output, program.source)

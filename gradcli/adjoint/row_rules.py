"""Adjoints as torch has them, by the rows of the op table: defined operations that stay one line.

The gradient of a meaning may overflow where torch does not, and at a kink torch takes a derivative of its own choice.
A row says what its operation adds to the adjoints of its operands there; smooth elementwise operations are
differentiated as they are, and others by their meanings, in the form for floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from gradcli.adjoint.matrix_rules import OWN_ADJOINTS
from gradcli.adjoint.writing import LineWriter
from gradcli.language.lower.programs import parse_meaning
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import adjoint_meanings, expansion, in_floats
from gradcli.language.program.library_calls import is_in_torch
from gradcli.language.program.movement import axes_of
from gradcli.language.program.wengert import Atom, Call, Line, Program


def in_torch_form(program: Program) -> Program:
    """Rewrite a function in operations whose adjoints are torch's: primitives, and those that have their own."""
    return program if all(map(_stays, (line.call for line in program.lines))) else _rewritten(program)


def _rewritten(program: Program) -> Program:
    return expansion(program, keep=_stays, define=_in_floats).program


@lru_cache(maxsize=512)
def _in_floats(name: str, statics: tuple[Hashable, ...], count: int) -> Program:
    return in_torch_form(in_floats(name, statics, count))


def _stays(call: Call) -> bool:
    op = call.op
    return op.is_primitive or op.is_condition or op.name in OWN_ADJOINTS or has_own_adjoint(call) or _is_smooth(call)


def has_own_adjoint(call: Call) -> bool:
    """Tell whether the row says what an operation adds to the adjoint of each operand that may have one."""
    known = adjoint_meanings(call.op, call.constants)
    operands = dict(zip(call.op.operands, call.operands, strict=False))
    moving = [name for name, operand in operands.items() if operand.is_Symbol]
    if not is_in_torch(call) or not known.keys() >= set(moving):
        return False
    return not call.op.is_primitive or len(moving) == len(operands)


def _is_smooth(call: Call) -> bool:
    """Tell whether an elementwise operation has derivatives wherever it has a value, by its meaning alone."""
    op = call.op
    if op.kind is not Kind.ELEMENTWISE or op.kinks or op.is_branch or op.is_locally_constant or op.is_detached:
        return False
    if op.is_primitive:
        return not has_own_adjoint(call)
    is_of_meaning = not (op.in_floats or op.torch_convention or op.written or op.adjoints)
    return is_of_meaning and all(
        _is_smooth(line.call) for line in _meaning_of(op.name, call.statics, len(call.operands))
    )


@lru_cache(maxsize=512)
def _meaning_of(name: str, statics: tuple[Hashable, ...], count: int) -> tuple[Line, ...]:
    return in_floats(name, statics, count).lines


def own_adjoint(writer: LineWriter, call: Call, symbol: Atom, k: int, g: Atom) -> Atom:
    """Return what an operation adds to the adjoint of an operand, by its row.

    Args:
        writer: Of the lines.
        call: The operation.
        symbol: Of its line.
        k: The number of the operand.
        g: The adjoint of the line.
    """
    op, result = call.op, symbol
    if "keepdim" in op.statics:
        inside = writer.shape(call.operands[0])
        dropped = axes_of(inside, call.constants["dim"])
        kept = tuple(1 if d in dropped else size for d, size in enumerate(inside))
        g, result = writer.reshape(writer.expand(g, writer.shape(symbol)), kept), writer.reshape(symbol, kept)
    elif op.kind is Kind.MATRIX and not op.keeps_shape and writer.shape(symbol):  # numbers of several matrices
        g, result = (writer.reshape(one, (*writer.shape(symbol), 1, 1)) for one in (g, symbol))
    names = (*op.operands[: len(call.operands)], "grad", "result")
    found = _meaning(op.name, op.operands[k], names, call.statics)
    return writer.inline(found, (*call.operands, g, result))


@lru_cache(maxsize=512)
def _meaning(name: str, operand: str, names: tuple[str, ...], statics: tuple[Hashable, ...]) -> Program:
    call = Call(name, (), statics)
    return in_torch_form(parse_meaning(adjoint_meanings(call.op, call.constants)[operand], names, call.constants))

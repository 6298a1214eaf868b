"""Dimensions of operands, as they are known or likely, and the vectors among them that were transposed."""

from __future__ import annotations

from typing import NamedTuple

import sympy

from gradcli.errors import Span
from gradcli.language.lower.context import Context, Operand
from gradcli.language.lower.sizes import needed_shape
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Line, Shape

_NUMBERS = frozenset("trace norm dot logdet vector_norm mse_loss det cosine_similarity".split())
"""Defined operations whose result is likely a number."""


class RowVector(NamedTuple):
    """Operand that is a vector, transposed."""

    atom: Atom
    span: Span


class ArrayRow(RowVector):
    """Transposed vector as arrays write it, `x.T`, which `@` takes for a vector."""

    __slots__ = ()


def with_span(operand: Operand, span: Span) -> Operand:
    """Return an operand with another range of the text; a row stays one."""
    return operand._replace(span=span) if isinstance(operand, RowVector) else (operand[0], span)


def is_likely_number(atom: Atom) -> bool:
    """Tell whether a variable of unknown shape is called as numbers are: c, k, lam, but not x."""
    return isinstance(atom, sympy.Symbol) and not isinstance(atom, sympy.Dummy) and atom.name not in [*"abghpqruvwxyz"]


def is_number_called_as_vector(context: Context, atom: Atom) -> bool:
    """Tell whether a variable has the shape of a number, and a name that vectors have."""
    is_variable = isinstance(atom, sympy.Symbol) and context.findings.shapes.get(atom.name) == ()
    return is_variable and not is_likely_number(atom)


def rank(context: Context, atom: Atom) -> int:
    """Count the dimensions of a value; likely ones, for a shape that is not known, and the text is read again."""
    if not isinstance(context.findings.first_part(atom), sympy.Symbol):
        return 0
    shape = needed_shape(context, atom)
    return likely_rank(context, atom) if shape is None else len(shape)


def likely_rank(context: Context, atom: Atom) -> int:
    """Guess the dimensions of a value: capital letters are matrices, small Greek ones numbers, others vectors."""
    known = context.findings.likely_ranks
    for line in context.builder.backward_slice(atom, known=known)[0]:
        known[line.symbol] = _of_line(line, [_of_leaf(context, a) for a in line.call.operands])
    return _of_leaf(context, atom)


def _of_leaf(context: Context, atom: Atom) -> int:
    atom = context.findings.first_part(atom)
    if atom in context.findings.likely_ranks or not isinstance(atom, sympy.Symbol):
        return context.findings.likely_ranks.get(atom, 0)
    if (shape := context.findings.shapes.get(atom.name)) is not None:
        return len(shape)
    if context.is_of_numbers or atom.name in context.source.capital_divisors:
        return 0
    first = atom.name.rpartition(".")[2][:1]
    return 2 if first.isupper() else int(first.isascii())


def _of_line(line: Line, operands: list[int]) -> int:
    op, most = line.call.op, max(operands, default=0)
    match op.kind:
        case Kind.CONTRACTION:
            return max(sum(operands) - 2, 0)
        case Kind.MATRIX:
            return 2 if op.keeps_shape else 0
        case Kind.REDUCTION | Kind.COUNT:
            return 0 if line.call.statics[0] is None else max(most - 1, 0)
        case Kind.MOVEMENT if op.name in ("diag", "diagonal"):
            return 2 if most == 1 else 1
        case Kind.DEFINED if op.name in _NUMBERS:
            return 0
        case Kind.DEFINED if op.name in ("outer", "solve"):
            return 2 if op.name == "outer" else operands[1]
    return most


def shapes_of(context: Context, *atoms: Atom) -> list[Shape] | None:
    """Infer the shapes of values; None, and the text is read again, where one is not known."""
    found = [needed_shape(context, atom) for atom in atoms]
    return None if None in found else [shape for shape in found if shape is not None]

"""Lines of the Program that is being made, and its values that are true or false.

Conditions stay true or false only where that is asked for: in arithmetic one is 1 or 0, by a `where` of its
own, so that no reading meets a boolean among numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

import sympy

from gradcli.errors import GradcliError, Place, Span
from gradcli.language import ops
from gradcli.language.lower.context import Context, Operand
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom

_T = TypeVar("_T")

_SIGNS: Mapping[str, tuple[str, str]] = {
    "logical_and": ("&", " and "),
    "logical_or": ("|", " or "),
    "logical_not": ("~", "not "),
    "where": ("where", " if "),
}
"""Spelling of the functions of conditions: the sign, and the word."""


def emit_two(context: Context, op: str, left: Operand, right: Operand) -> Operand:
    """Append a line of two operands."""
    return emit(context, op, [left[0], right[0]], left[1].to(right[1]))


def emit(context: Context, op: str, operands: list[Atom], span: Span, statics: tuple[Hashable, ...] = ()) -> Operand:
    """Append one line; a condition as an operand is 1 or 0, but where the operation takes conditions."""
    if context.findings.several or context.findings.objects:
        operands = [require_tensor(context, a, span) for a in operands]
    if context.known.is_meaning:
        return context.builder.emit(op, tuple(operands), span, statics), span
    row = ops.TABLE[op]
    held = [a in context.findings.conditions for a in operands]
    for parameter, is_condition in zip(row.operands, held, strict=False):
        if parameter in row.conditions and not is_condition:
            if op not in _OF_MASKS:
                raise _not_a_condition(context, op, span)
            n = row.operands.index(parameter)
            operands, held[n] = [*operands], True
            operands[n] = _as_condition(context, operands[n], span, op)
    keeps = all(held) and (row.kind in (Kind.MOVEMENT, Kind.LIST) or op == "where")
    if op == "add" and all(held):
        hint = "write a | b for either, or where(a, 1, 0) + where(b, 1, 0) to count"
        raise context.source.error("the sum of two conditions is ambiguous", span, hint=hint)
    if not keeps and any(held):
        plain = [p not in row.conditions for p in row.operands] + [True] * len(operands)
        operands = [as_number(context, a, span) if p else a for a, p in zip(operands, plain, strict=False)]
    result = context.builder.emit(op, tuple(operands), span, statics)
    if keeps or row.is_condition:
        context.findings.conditions.add(result)
    return result, span


def with_place(context: Context, span: Span, compute: Callable[[], _T]) -> _T:
    """Compute, and give an error that is raised the place of a call."""
    try:
        return compute()
    except GradcliError as error:
        error.place = error.place or Place(context.source.text, span, context.source.name)
        raise


def require_tensor(context: Context, atom: Atom, span: Span) -> Atom:
    """Require a value to be one tensor, and return it.

    Raises:
        LanguageError: The value is several tensors, or stands for something that is none.
    """
    if (held := context.findings.object_of(atom)) is not None:
        raise held.refusal(context.source, span)
    if (atom := context.findings.first_part(atom)) in context.findings.objects:
        raise context.source.code("a computation with positions", span)
    several = context.findings.several.get(atom)
    if several is None:
        return atom
    if several.is_provisional:
        return several.parts[0][0]
    names = f" ({', '.join(several.names)})" if several.names else ""
    hint = f"take one of them, {several.call}(...)[0]" + ("" if names else ", or torch.stack all of them")
    raise context.source.error(f"{several.call} gives {len(several.parts)} tensors{names}", span, hint=hint)


def as_number(context: Context, atom: Atom, span: Span) -> Atom:
    """Return a condition as 1 or 0; anything else as it is."""
    atom = require_tensor(context, atom, span)
    if atom not in context.findings.conditions:
        return atom
    return context.builder.emit("where", (atom, sympy.Integer(1), sympy.Integer(0)), span)


_OF_MASKS = ("where", "masked_fill")
"""Operations whose condition is often a mask of 0 and 1."""


def _as_condition(context: Context, atom: Atom, span: Span, op: str) -> Atom:
    """Return that a number is not 0, which NumPy and Python take for true, with a remark."""
    said = f"the mask of {op} has numbers, of which all but 0 are taken for true; torch needs a comparison, mask != 0"
    if said not in context.findings.warnings:
        context.findings.warnings.append(said)
    return emit(context, "ne", [atom, sympy.Integer(0)], span)[0]


def _not_a_condition(context: Context, op: str, span: Span) -> GradcliError:
    """Make the error for a number where a comparison must stand."""
    sign, word = _SIGNS.get(op, (op, ""))
    if word and word in context.source.excerpt(span):
        message = f"'{word.strip()}' needs conditions, such as x > 0"
        return context.source.error(message, span, hint="compare with 0: x != 0")
    hint = f"{sign} binds more tightly than comparisons: write (x > 0) {sign} (y > 0)"
    hint = {"~": "write ~(x > 0)", op: "write where(x > 0, a, b)"}.get(sign, hint)
    return context.source.error(f"'{sign}' needs a condition, such as x > 0", span, hint=hint)

"""Wengert lines as a tree is lowered: conditions stay true or false only where that is asked for.

In arithmetic a condition is 1 or 0, by a `where` of its own, so that no reading meets a boolean among numbers.
"""

from __future__ import annotations

import sympy

from gradcli.errors import GradcliError, LanguageError, Span
from gradcli.language import ops
from gradcli.language.lower.hooks import Hooks, Operand
from gradcli.language.ops import Default, Kind
from gradcli.language.program.wengert import Atom, Builder
from gradcli.language.text.source import Source


class Lines:
    """The lines so far.

    Attributes:
        source: The text.
        hooks: What else listens.
        builder: Appends the lines.
        conditions: The values that are true or false.
        looping: How many loops are being written out, one inside the other.
    """

    def __init__(self, source: Source, hooks: Hooks, *, is_meaning: bool, shares: bool) -> None:
        self.source, self.hooks = source, hooks
        self.is_meaning = is_meaning
        self.builder = Builder(source.text, source.name, shares)
        self.conditions: set[Atom] = set()
        self.looping = 0

    def joined(self, op: str, left: Operand, right: Operand) -> Operand:
        """A line of two operands."""
        operand = self.emit(op, [left[0], right[0]], left[1].to(right[1]))
        self.hooks.joined(operand, left, right)
        return operand

    def emit(self, op: str, operands: list[Atom], span: Span, statics: tuple[Default, ...] = ()) -> Operand:
        """One line; conditions stay conditions only where that is asked for, and are 1 or 0 in arithmetic."""
        if self.is_meaning:
            return self.builder.emit(op, tuple(operands), span, statics), span
        self.hooks.emitting(operands, span)
        row = ops.TABLE[op]
        held = [a in self.conditions for a in operands]
        for parameter, is_condition in zip(row.operands, held, strict=False):
            if parameter in row.conditions and not is_condition:
                raise self._not_a_condition(op, span)
        keeps = (row.kind in (Kind.MOVEMENT, Kind.LIST) and all(held)) or (op == "where" and all(held))
        if op == "add" and all(held):
            hint = "write a | b for either, or where(a, 1, 0) + where(b, 1, 0) to count"
            raise self.source.error(LanguageError, "the sum of two conditions is ambiguous", span, hint=hint)
        if not keeps and any(held):
            plain = [p not in row.conditions for p in row.operands] + [True] * len(operands)
            operands = [self.as_number(a, span) if p else a for a, p in zip(operands, plain, strict=False)]
        result = self.builder.emit(op, tuple(operands), span, statics)
        if keeps or row.is_condition:
            self.conditions.add(result)
        self.hooks.emitted(result, span)
        return result, span

    def as_number(self, atom: Atom, span: Span) -> Atom:
        """A condition as 1 or 0; anything else as it is."""
        if atom not in self.conditions:
            return atom
        return self.builder.emit("where", (atom, sympy.Integer(1), sympy.Integer(0)), span)

    def _not_a_condition(self, op: str, span: Span) -> GradcliError:
        """The error for a number where a comparison must stand."""
        sign = {"logical_and": "&", "logical_or": "|", "logical_not": "~"}.get(op)
        word = {"logical_and": " and ", "logical_or": " or ", "logical_not": "not ", "where": " if "}.get(op)
        if word and word in self.source.excerpt(span):
            message = f"'{word.strip()}' needs conditions, such as x > 0"
            return self.source.error(LanguageError, message, span, hint="compare with 0: x != 0")
        hint = "write where(x > 0, a, b)"
        if sign:
            hint = f"{sign} binds more tightly than comparisons: write (x > 0) {sign} (y > 0)"
            hint = "write ~(x > 0)" if sign == "~" else hint
        what = f"'{sign or op}' needs a condition, such as x > 0"
        return self.source.error(LanguageError, what, span, hint=hint)

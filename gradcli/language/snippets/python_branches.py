"""Conditions of branches and loops: decided where they are constant, else both branches with a `where` between them.

Where values decide how often a loop runs, they decide at the point.

    if x.sum() > 0: y = x**2
    else: y = -x                     y = where(x.sum() > 0, x**2, -x)

As in Python the condition is one number, and what was not assigned in a branch is there what it was before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import numpy as np
import sympy

from gradcli.errors import GradcliError, Span
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Dictionary, Listed, Nothing, Operand, Text
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.python_values import Objects, Sizes
from gradcli.language.text import nodes


class Branches:
    """Decides conditions, and joins what branches that depend on values give.

    Attributes:
        forks: How many branches that values decide are being read, both of each.
    """

    def __init__(self, lowering: Lowering, objects: Objects) -> None:
        self.source, self.scope, self.lines = lowering.source, lowering.scope, lowering.lines
        self.lower, self.constants, self.objects = lowering.lower, lowering.constants, objects
        self.builder, self.decisions = lowering.lines.builder, lowering.decisions
        self.forks = 0

    # -- conditions

    def truth(self, node: nodes.Node) -> bool | Atom:
        """Whether a condition holds; where that depends on values, the condition itself."""
        match node:
            case nodes.Group(inner=inner):
                return self.truth(inner)
            case nodes.Word(token=word) if node.is_operand:
                return word.text == "True"
            case nodes.Unary(sign=sign, operand=operand) if sign.text == "not":
                found = self.truth(operand)
                if isinstance(found, bool):
                    return not found
                return self.lines.emit("logical_not", [found], node.span)[0]
            case nodes.Chain(first=first, steps=steps) if {step.sign.text for step in steps} in ({"and"}, {"or"}):
                return self._joined(steps[0].sign.text, [first, *(step.operand for step in steps)], node.span)
        atom, span = self.lower(node)
        return self.of_value(atom, span)

    def _joined(self, word: str, parts: list[nodes.Node], span: Span) -> bool | Atom:
        """`a and b`, of which the second is read where the first does not decide."""
        result: bool | Atom = word == "and"
        for part in parts:
            found = self.truth(part)
            if isinstance(found, bool):
                if found != (word == "and"):
                    return found
            elif isinstance(result, bool):
                result = found
            else:
                result = self.lines.emit(f"logical_{word}", [result, found], span)[0]
        return result

    def of_value(self, atom: Atom, span: Span) -> bool | Atom:
        """Whether a value is true; where that depends on values, the condition."""
        value = self.objects.of(atom)
        if value is not None:
            return self._of_object(value)
        known = self.decisions.known
        _, leaves = self.builder.made_of(atom, stop=lambda call: call.op.kind is Kind.COUNT, known=known)
        if leaves.isdisjoint(self.scope.variables.values()) and leaves.isdisjoint(known):
            if (shape := self.objects.sizes.of(atom)) and math.prod(shape) == 1:  # torch.rand(1) < 0.5
                atom = self.lines.emit("reshape", [atom], span, ((),))[0]
            return bool(self.constants.value_of(atom, span, "a condition is one number"))
        shape = self.objects.shape(atom)
        if shape is not None and math.prod(shape) != 1:
            hint = "write where(c, a, b), or c.all() or c.any()"
            message = f"a condition of shape {tuple(shape)} is neither true nor false, as in torch"
            raise self.source.error(message, span, hint=hint)
        return atom if atom in self.lines.conditions else self.lines.emit("ne", [atom, sympy.Integer(0)], span)[0]

    def taken(self, condition: nodes.Node) -> bool | Atom:
        """Which branch is taken, as `truth`; it is said where the values of the variables are to decide."""
        found = self.truth(condition)
        if isinstance(found, bool):
            return found
        if not self.scope.values or not self.scope.takes:
            self.scope.branches = True
            return found
        holds = bool(np.any(self.decisions.value(found)))
        shown = self.source.shown(condition.span)
        self.scope.remark(f"the branch {shown if holds else f'not ({shown})'} was taken; torch ran that alone")
        return holds

    def decided(self, condition: nodes.Node, word: str, changes: str) -> bool | None:
        """Whether a condition holds that nothing else can stand for; None where the values are still to come.

        Raises:
            LanguageError: Values decide, and are never known here.
        """
        found = self.truth(condition)
        if isinstance(found, bool):
            return found
        if not self.decisions.are_made:
            raise self._undecided(condition, word)
        value = self.decisions.decided(found, condition.span, changes)
        return None if value is None else bool(np.any(value))

    def _of_object(self, value: object) -> bool:
        match value:
            case Listed() | Dictionary():
                return bool(value.items)
            case Text(text=text):
                return bool(text)
            case Nothing():
                return False
        return not isinstance(value, Sizes) or True

    def _undecided(self, node: nodes.Node, word: str) -> GradcliError:
        """The error for a loop whose condition depends on values."""
        message = f"this '{word}' depends on the values of a tensor, which are not known here"
        return self.source.error(message, node.span, hint="write for ... in range(n) with as many steps as it takes")

    def counted(self, loop: nodes.While, steps: int) -> None:
        """Say how often a loop ran."""
        times = f"{steps} time{'s' * (steps != 1)}"
        self.scope.remark(
            f"'while {self.source.shown(loop.condition.span)}' ran {times}: the answer is of so many steps"
        )

    # -- what branches give

    def state(self) -> dict[str, Atom]:
        """What names stand for now, in the present function."""
        return dict(self._own)

    @property
    def _own(self) -> dict[str, Atom]:
        return cast("dict[str, Atom]", self.scope.names.maps[0])  # type: ignore[attr-defined]

    def switch(self, start: Mapping[str, Atom]) -> dict[str, Atom]:
        """Go back to what names stood for; what they stand for now is handed out."""
        then = dict(self._own)
        self._own.clear()
        self._own.update(start)
        return then

    def merge(
        self,
        condition: Atom,
        then: Mapping[str, Atom],
        first: Operand | None,
        second: Operand | None,
        span: Span,
    ) -> Operand | None:
        """Names take what the branch gives that is taken; the output, too."""
        own = self._own
        for name in [*then, *(name for name in own if name not in then)]:
            outer = self.scope.names.get(name)
            a, b = then.get(name, outer), own.get(name, outer)
            if a is None or b is None:
                own.pop(name, None)
            elif a != b:
                own[name] = self.chosen(condition, (a, span), (b, span), span)[0]
        if first is None or second is None or first[0] == second[0]:
            return second or first
        same = next((name for name, atom in then.items() if atom == first[0]), "")
        return (own[same], span) if same in own else self.chosen(condition, first, second, span)

    def chosen(self, condition: Atom, first: Operand, second: Operand, span: Span) -> Operand:
        """One of two values by a condition.

        Raises:
            LanguageError: They are of different kinds.
        """
        a, b = self.objects.of(first[0]), self.objects.of(second[0])
        if a is None and b is None:
            return self.lines.emit("where", [condition, first[0], second[0]], span)
        if isinstance(a, Listed) and isinstance(b, Listed) and len(a.items) == len(b.items):
            items = [self.chosen(condition, x, y, span) for x, y in zip(a.items, b.items, strict=True)]
            return self.objects.new_list(items, span, a.kind)
        if isinstance(a, Dictionary) and isinstance(b, Dictionary) and list(a.items) == list(b.items):
            joined = {key: self.chosen(condition, one, b.items[key], span) for key, one in a.items.items()}
            return self.objects.new(Dictionary(joined)), span
        if a == b:
            return first
        message = "the branches give values of different kinds, and which is taken depends on the values of a tensor"
        raise self.source.error(message, span)

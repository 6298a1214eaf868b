"""What values of variables decide about a text: which elements a mask takes.

A text that asks for such values and is read without any is read for its variables alone; it is read again at a point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import Span, TooLargeError
from gradcli.language.lower.scope import Array, Lines
from gradcli.language.lower.sizes import Sizes
from gradcli.language.program.wengert import Atom, Guard, Guards, Program, number

MOST_KEPT = 2**24
"""Elements of all values that are kept: of more, only those that names stand for."""

MOST_WORK = 2**28
"""Elements that are computed to decide."""

MOST_DECIDED = 1_000
"""Conditions of a text that values decide."""


class Decisions:
    """Evaluates at the point what decides, each line once, and keeps it as a guard.

    Attributes:
        known: What was evaluated.
    """

    def __init__(self, lines: Lines, sizes: Sizes) -> None:
        self.sizes, self.source, self.scope, self.builder = sizes, lines.source, lines.scope, lines.builder
        self.known: dict[Atom, Any] = {}
        self._kept = self._work = 0

    @property
    def are_made(self) -> bool:
        """Whether values may decide: else the text is refused."""
        return self.scope.values is not None

    def value(self, atom: Atom) -> Array | None:
        """The numbers of a value at the point; None where there is no point, which the text then asks for."""
        for name, value in (self.scope.values or {}).items():
            if name in self.scope.variables:
                self.known.setdefault(self.scope.variables[name], np.asarray(value))
        lines, leaves = self.builder.made_of(atom, known=self.known)
        if not leaves.isdisjoint({*self.scope.variables.values()} - {*self.known}):
            self.scope.needs_values = True
            return None
        for line in lines:
            held = {one: self.known[one] for one in line.call.operands if one in self.known}
            alone = Program(self.source.text, (), (line,), line.symbol, self.source.name)
            self.known[line.symbol] = found = self.sizes.evaluation.run(alone, held)
            self._kept += found.size
            self._work += found.size
        if self._kept > MOST_KEPT:
            named = {*self.scope.names.values(), *self.scope.variables.values(), atom}
            self.known, self._kept = {one: value for one, value in self.known.items() if one in named}, 0
        return np.asarray(self.known[atom] if atom in self.known else number(atom), dtype=np.float64)

    def decided(self, condition: Atom, span: Span, changes: str) -> Array | None:
        """The numbers of a condition, as `value`, where what they change at the point is to be known."""
        found = self.value(condition)
        if found is not None:
            self.scope.needs_values = True
            self.scope.guards.append(Guard(condition, self.source.shown(span), changes))
            if len(self.scope.guards) > MOST_DECIDED or self._work > MOST_WORK:
                message = "values decide too much here: there are too many masks, or too large ones"
                raise self.source.error(message, span, hint="fewer masks, or smaller tensors", kind=TooLargeError)
        return found

    def guards(self) -> Guards | None:
        """All that was decided."""
        if not self.scope.guards:
            return None
        first, *others = (guard.condition for guard in self.scope.guards)
        return Guards(self.builder.program(first, self.scope.variables.values(), *others), tuple(self.scope.guards))

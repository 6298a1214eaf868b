"""Calls whose lines are other operations: of functions that torch is asked for, and of indices with positions in them.

While a shape is not known the first operand stands for the result, and the text is read again when it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import Span, TooLargeError
from gradcli.language.lower.arguments import Bindings
from gradcli.language.lower.constants import UNKNOWN_SIZE, Constants
from gradcli.language.lower.scope import Operand, Several
from gradcli.language.program.movement import Positions, indexed
from gradcli.language.program.wengert import Atom, Call, Guard, Guards, Program, number

MOST_WORK = 2**26
"""Largest number of elements that are computed for decisions."""

MOST_DECIDED = 1_000
"""Largest number of conditions of a text that values decide."""


class UnknownShapeError(Exception):
    """Unknown shape of an operand, or an unknown value that decides."""


class Decisions(Constants):
    """Lowering that evaluates conditions at the point, each line once, and keeps them as guards."""

    _work = 0

    def value_at_point(self, atom: Atom) -> Array:
        """Evaluate a value at the point, for which the text asks.

        Raises:
            UnknownShapeError: There is no point yet.
        """
        known, variables = self.known_values, self.scope.variables
        known |= {variables[n]: np.asarray(value) for n, value in (self.scope.values or {}).items() if n in variables}
        lines, leaves = self.builder.made_of(atom, known=known)
        self.scope.needs_values = True
        if not leaves.isdisjoint({*variables.values()} - {*known}):
            raise UnknownShapeError
        for line in lines:
            held = {one: known[one] for one in line.call.operands if one in known}
            alone = Program(self.source.text, (), (line,), line.symbol, self.source.name)
            known[line.symbol] = found = self.evaluation.run(alone, held)
            self._work += found.size
        return np.asarray(known[atom] if atom in known else number(atom), dtype=np.float64)

    def guards(self) -> Guards:
        """Return all conditions that values decided, as guards."""
        first, *others = (guard.condition for guard in self.scope.guards)
        return Guards(self.builder.program(first, self.scope.variables.values(), *others), tuple(self.scope.guards))


class Inlining(Decisions):
    """Lowering of calls whose lines are other operations."""

    def inlined_call(self, bound: Bindings, span: Span) -> Operand:
        """Lower a call that torch is asked for; its value stands for several tensors where it gives several.

        Args:
            bound: Its arguments.
            span: Of the call.

        Raises:
            GradcliError: Torch refuses it, or is not there to be asked.
        """
        op, scope = bound.op, self.scope
        given = [(name, *bound.operands[name]) for name in op.operands if name in bound.operands]
        given += [("", *one) for one in bound.extra]
        atoms = [self.require_tensor(atom, span) for _, atom, _ in given]
        mark, names = len(self.builder.lines), () if op.parts == ("...",) else op.parts
        try:
            fixed = tuple(
                self._fixed(bound, name, atom, where) for (name, _, where), atom in zip(given, atoms, strict=True)
            )
            if (shapes := self.needed_shapes(atoms)) is None:
                raise UnknownShapeError
        except UnknownShapeError:
            scope.needs_shapes = True
            placeholders = ((atoms[0], span),) * (len(names) or UNKNOWN_SIZE)
            whole = scope.pack(Several(op.name, placeholders, names, is_provisional=True)) if op.parts else atoms[0]
            return whole, span
        if scope.ask is None:
            raise self.source.error(f"what {op.name} computes is asked of torch, which is not done here", span)
        atoms = [self.as_number(atom, span) for atom in atoms]
        asked = Call(op.name, tuple(atoms), bound.constants)
        parts = self.placed(span, lambda: scope.ask(asked, shapes, fixed))  # type: ignore[misc]
        programs = (None if one is None else one.record() for one in parts)
        found = tuple(
            (scope.placeholder(None) if one is None else self.builder.inline(one, atoms, span, self.fitted), span)
            for one in programs
        )
        if len(parts) == 1 and len(names) != 1 and op.parts != ("...",):  # as a median of all elements
            return found[0]
        if bound.library and sum(one is not None for one in parts) == 1:  # as in np.sort
            return found[0]
        scope.spent.update(line.symbol for line in self.builder.lines[mark:])
        return scope.pack(Several(op.name, found, names)), span

    def _fixed(self, bound: Bindings, name: str, atom: Atom, where: Span) -> Array | None:
        """Return the numbers of an operand that the call depends on: positions, a mask, a share."""
        op = bound.op
        if name in op.conditions:
            return self._decided(self.as_number(atom, where), where, "x", self.source.single_line(where))
        if name not in (*op.whole, *op.numbers):
            return None
        found = self.numbers(atom)
        if found is None and name in op.numbers:
            message = f"{op.name} needs numbers that are constant for {name}"
            raise self.source.error(message, where, hint="write them as numbers")
        return found

    def index_with_tensors(self, operand: Operand, items: Sequence[Any], span: Span) -> Operand:
        """Lower `x[key]` with tensors of positions among the items, each an operand; conditions are masks."""
        tensors = [item for item in items if isinstance(item, tuple)]
        read: list[Any] = []
        try:
            for item in items:
                read += self._places_in(item, operand, tensors) if isinstance(item, tuple) else [item]
            if (shapes := self.needed_shapes([a for a, _ in (operand, *tensors)])) is None:
                raise UnknownShapeError
        except UnknownShapeError:
            self.scope.needs_shapes = True
            return operand[0], span
        text = self.placed(span, lambda: indexed("x", shapes[0], read))
        names = ["x", *(f"i{n}" for n in range(len(tensors)))]
        atoms = [self.as_number(a, span) for a, _ in (operand, *tensors)]
        return self.inlined(text, dict(zip(names, atoms, strict=True)), span), span

    def _places_in(self, item: Operand, operand: Operand, tensors: Sequence[Operand]) -> list[Positions]:
        """Return the positions of a tensor in an index; of a mask, one tensor for each of its dimensions."""
        atom, where = item
        shape = self.shape_of(atom)
        number = self.as_number(atom, where)
        if atom not in self.conditions:
            return [Positions(f"i{tensors.index(item)}", shape or (), self.numbers(number))]
        found = self._decided(number, where, self.source.excerpt(operand[1]), self.source.excerpt(where))
        if not found.ndim:
            raise self.source.error("a condition of one number is no mask here", where, hint="write where(c, x, 0)")
        return [Positions("", axis.shape, axis) for axis in np.nonzero(found)]

    def _decided(self, mask: Atom, where: Span, x: str, shown: str) -> Array:
        """Return the numbers of a mask: of a constant, or those that values decide at the point.

        Raises:
            LanguageError: Values decide, and are not known here.
            UnknownShapeError: There is no point yet.
        """
        found = self.numbers(mask)
        if found is not None:
            return found
        if self.scope.values is None:
            message = "the values of variables decide how many elements this mask takes"
            hint = f"where({shown}, {x}, 0) keeps the shape, with 0 for the others; a sum of it is the same"
            raise self.source.error(message, where, hint=hint)
        self.scope.warnings.append(f"values decided which elements {shown} takes: the answer is of those")
        found = self.value_at_point(mask)
        self.scope.guards.append(Guard(mask, self.source.single_line(where), "other elements are taken"))
        if len(self.scope.guards) > MOST_DECIDED or self._work > MOST_WORK:
            message = "values decide too much here: there are too many masks, or too large ones"
            raise self.source.error(message, where, hint="fewer masks, or smaller tensors", kind=TooLargeError)
        return found

"""Rows of kind written: what they are in other operations, by the shapes of their operands, as text of the language.

given         what a rule is handed: shapes, constants, the numbers of operands that are constant
pieces        tensors that are cut, joined and repeated
rearranging   dimensions and elements put elsewhere
scattering    what is put or added at positions
sampling      order and statistics
recurrent     cells of recurrent networks, and a layer before its loss
matrix_products  products, powers, factors and norms of matrices
at_positions  elements at the positions that tensors of whole numbers name

Functions that give several tensors give a text for each.  While a shape is not known the first operand stands for the
result, and the text is read again when it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from gradcli.errors import GradcliError, Place, Span
from gradcli.language.lower.arguments import Bound, usage
from gradcli.language.lower.constants import UNKNOWN_SIZE, Constants
from gradcli.language.lower.deciding import Decisions
from gradcli.language.lower.scope import Array, Lines, Operand, Several
from gradcli.language.lower.sizes import Sizes
from gradcli.language.lower.written import (
    at_positions,
    matrix_products,
    pieces,
    rearranging,
    recurrent,
    sampling,
    scattering,
)
from gradcli.language.lower.written.given import Given, Text, UnknownShapeError
from gradcli.language.lower.written.scattering import Places
from gradcli.language.program.wengert import Atom, Program, Shape, show

RULES: Mapping[str, Callable[[Given], Text]] = {
    **pieces.RULES,
    **at_positions.RULES,
    **rearranging.RULES,
    **scattering.RULES,
    **sampling.RULES,
    **matrix_products.RULES,
    **recurrent.RULES,
}
"""What each written row is."""

Meaning = Callable[[str, Sequence[str], Mapping[str, Any]], Program]
"""A text of the language as a Program in operands of these names, with constants by name."""


class Writing:
    """Writes calls of such rows in other operations.

    Attributes:
        copies: What shares no memory with what it is made of, though it has its elements.
    """

    def __init__(
        self, lines: Lines, constants: Constants, decisions: Decisions, sizes: Sizes, meaning: Meaning
    ) -> None:
        self.lines, self.constants, self.sizes, self.meaning = lines, constants, sizes, meaning
        self.decisions = decisions
        self.scope, self.source = lines.scope, lines.source
        self.copies: set[Atom] = set()

    def call(self, bound: Bound, span: Span) -> Operand:
        """The value of a call; what stands for several, where it gives several.

        Args:
            bound: Its arguments.
            span: Of the call.
        """
        op = bound.op
        names, atoms = self._operands(bound, span)
        known = dict(zip(names, atoms, strict=True))
        given = Given(
            op=op,
            names=tuple(names),
            statics=bound.statics,
            library=bound.library,
            is_method=bound.is_method,
            known=lambda name: self._shape(known[name]),
            numbers=lambda name: self.numbers(known[name]),
            decided=lambda name: self._decided(known[name], span, "x", self.source.shown(span)),
            refuse=partial(self._refused, span),
        )
        mark = len(self.lines.builder.lines)
        try:
            text = RULES[op.name](given)
        except UnknownShapeError:
            return self._provisional(bound, atoms[0], span), span
        except (IndexError, TypeError, ValueError, ArithmeticError):  # of sizes that do not go together
            known_shapes = [shape for shape in map(self._shape, atoms) if shape is not None]
            shapes = " and ".join(map(show, known_shapes)) or "and constants that it is given"
            raise self.source.error(f"{usage(op)} does not fit the shapes {shapes}", span) from None
        except GradcliError as error:
            error.place = error.place or Place(self.source.text, span, self.source.name)
            raise
        if isinstance(text, str):
            return self._written(text, given, atoms, span), span
        texts = list(text.values()) if isinstance(text, dict) else text
        found = tuple((self._written(one, given, atoms, span), span) for one in texts)
        self.scope.spent.update(line.symbol for line in self.lines.builder.lines[mark:])
        names_of = tuple(text) if isinstance(text, dict) else ()
        return self.scope.together(Several(op.name, found, names_of)), span

    def index(self, operand: Operand, items: Sequence[Any], span: Span) -> Operand:
        """`x[key]` with tensors of positions among the items, each an operand; conditions are masks."""
        tensors = [item for item in items if isinstance(item, tuple)]
        read: list[Any] = []
        try:
            for item in items:
                read += self._positions(item, operand, tensors) if isinstance(item, tuple) else [item]
            shape = self.sizes.of(operand[0])
            if shape is None or None in (self.sizes.of(atom) for atom, _ in tensors):
                raise UnknownShapeError
        except UnknownShapeError:
            self.scope.needs_shapes = True
            return operand[0], span
        try:
            text = at_positions.indexed("x", shape, read)
        except GradcliError as error:
            error.place = error.place or Place(self.source.text, span, self.source.name)
            raise
        names = ["x", *(f"i{n}" for n in range(len(tensors)))]
        program = self.meaning(text, names, {})
        atoms = [self.lines.as_number(a, span) for a in (operand[0], *(a for a, _ in tensors))]
        found = self._inlined(program, atoms, span)
        self.copies.add(found)
        return found, span

    def _positions(self, item: Operand, operand: Operand, tensors: Sequence[Operand]) -> list[at_positions.Positions]:
        """A tensor in an index; a mask as one tensor for each of its dimensions."""
        atom, where = item
        shape = self.sizes.of(atom)
        number = self.lines.as_number(atom, where)
        if atom not in self.lines.conditions:
            return [at_positions.Positions(f"i{tensors.index(item)}", shape or (), self.numbers(number))]
        found = self._decided(number, where, self.source.excerpt(operand[1]), self.source.excerpt(where))
        if found is None:
            raise UnknownShapeError
        if not found.ndim:
            raise self._refused(where, "a condition of one number is no mask here", "write where(c, x, 0)")
        return [at_positions.Positions("", axis.shape, axis) for axis in at_positions.of_mask(found)]

    def places(self, operand: Operand, items: Sequence[Any], span: Span) -> Places | None:
        """The places among the flattened elements that an index with tensors of positions names.

        None while shapes or values are not known, with which the text is to be read again.
        """
        tensors = [item for item in items if isinstance(item, tuple)]
        shape = self.sizes.of(operand[0])
        try:
            if shape is None or None in (self.sizes.of(atom) for atom, _ in tensors):
                raise UnknownShapeError
            found: list[Any] = []
            for item in items:
                parts = self._positions(item, operand, tensors) if isinstance(item, tuple) else [item]
                for part in parts:
                    is_tensor = isinstance(part, at_positions.Positions)
                    found.append(self._fixed(part, item[0], item[1]) if is_tensor else part)
            return scattering.places(shape, found)
        except UnknownShapeError:
            self.scope.needs_shapes |= not self.scope.needs_values
            return None
        except GradcliError as error:
            error.place = error.place or Place(self.source.text, span, self.source.name)
            raise

    def _fixed(self, positions: at_positions.Positions, atom: Atom, where: Span) -> Array:
        """The numbers of positions; values decide those of variables.

        Raises:
            UnknownShapeError: The values are still to come.
            LanguageError: They are not known here.
        """
        if positions.numbers is not None:
            return positions.numbers
        shown = self.source.excerpt(where)
        if not self.decisions.are_made:
            message = "the values of variables decide which elements are changed here"
            raise self.source.error(message, where, hint=f"write numbers in place of {shown}")
        found = self.decisions.value(atom)
        if found is None:
            raise UnknownShapeError
        self.scope.remark(f"values decided which elements {shown} names: the answer is of those")
        text = f"where(sum(where(i == {at_positions.written(found)}, 0, 1)) == 0, 1, 0)"
        self.decisions.decided(self.inlined(text, {"i": atom}, where), where, "other elements are changed")
        return found

    def _decided(self, mask: Atom, where: Span, x: str, shown: str) -> Array | None:
        """The numbers of a mask: of a constant, or those that values decide at the point; None without one.

        Raises:
            LanguageError: Values decide, and are not known here.
        """
        found = self.numbers(mask)
        if found is not None or self.decisions.are_made:
            if found is None:
                self.scope.remark(f"values decided which elements {shown} takes: the answer is of those")
                found = self.decisions.decided(mask, where, "other elements are taken")
            return found
        message = "the values of variables decide how many elements this mask takes"
        hint = f"where({shown}, {x}, 0) keeps the shape, with 0 for the others; a sum of it is the same"
        raise self.source.error(message, where, hint=hint)

    def numbers(self, atom: Atom) -> Array | None:
        """The numbers of a value that is made of constants and sizes alone; its lines are needed no more."""
        lines, _ = self.lines.builder.made_of(atom)
        program = self.lines.builder.program(atom, self.scope.variables.values())
        if program.variables:
            return None
        self.scope.spent.update(line.symbol for line in lines)
        return np.asarray(self.constants.evaluation.run(program, {}))

    def _operands(self, bound: Bound, span: Span) -> tuple[list[str], list[Atom]]:
        names = [name for name in bound.op.operands if name in bound.operands]
        names += [f"x{n}" for n in range(len(bound.extra))]
        atoms = [self.lines.as_number(self.lines.one(a, span), span) for a, _ in bound.values]
        return names, atoms

    def _shape(self, atom: Atom) -> Shape | None:
        return self.sizes.of(atom)

    def _written(self, text: str, given: Given, atoms: Sequence[Atom], span: Span) -> Atom:
        try:
            program = self.meaning(text, given.names, given.held)
        except GradcliError as error:
            error.place = Place(self.source.text, span, self.source.name)
            raise
        return self._inlined(program, atoms, span)

    def inlined(self, text: str, operands: Mapping[str, Atom], span: Span, **held: Any) -> Atom:
        """The value of a text of the language in operands of these names, and constants of others."""
        return self._inlined(self.meaning(text, tuple(operands), held), tuple(operands.values()), span)

    def _inlined(self, program: Program, atoms: Sequence[Atom], span: Span) -> Atom:
        """What holds the value of a Program of these operands; the shapes that its operations depend on are known."""
        inside: dict[Atom, Atom] = dict(zip(program.variables, atoms, strict=True))
        for line in program.lines:
            parts = tuple(inside.get(a, a) for a in line.call.operands)
            statics = line.call.statics
            if line.call.op.of_shapes:
                shapes = tuple(self.sizes.of(a) for a in parts)
                self.scope.needs_shapes |= None in shapes
                known = None if None in shapes else cast("tuple[Shape, ...]", shapes)
                statics = (*statics[:-1], self.scope.behind(line.call.op, parts, statics, known))
            inside[line.symbol] = self.lines.builder.emit(line.call.op.name, parts, span, statics)
        return inside.get(program.output, program.output)

    def _provisional(self, bound: Bound, atom: Atom, span: Span) -> Atom:
        """What stands for the result until the shapes are known."""
        self.scope.needs_shapes = True
        if not bound.op.parts:
            return atom
        names = () if bound.op.parts == ("...",) else bound.op.parts
        found = ((atom, span),) * (len(names) or UNKNOWN_SIZE)
        return self.scope.together(Several(bound.op.name, found, names, is_provisional=True))

    def _refused(self, span: Span, message: str, hint: str | None) -> GradcliError:
        return self.source.error(message, span, hint=hint)

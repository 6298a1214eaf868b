"""Python's own `sum`, `max` and `min`, of generators, lists and tensors: term by term, or row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy

from gradcli.errors import Span
from gradcli.language.lower.arguments import EXTREMES, Binder
from gradcli.language.lower.constants import Constants
from gradcli.language.lower.scope import Lines, Operand
from gradcli.language.lower.sizes import Sizes
from gradcli.language.ops import Default, Op
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Arguments, Loop

_FOLDS = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
"""What Python makes of a generator, `sum(f(i) for i in range(n))`: term by term."""

_WORDS = {"max": "largest", "min": "smallest"}

Made = Callable[[Op, list[Operand], tuple[Default, ...], Span], Operand]
"""Writes the line of a call."""


class Folds:
    """Reads calls of them."""

    def __init__(self, lines: Lines, constants: Constants, binder: Binder, sizes: Sizes, made: Made) -> None:
        self.lines, self.constants, self.binder, self.sizes, self.made = lines, constants, binder, sizes, made
        self.source, self.scope, self.lower = lines.source, lines.scope, binder.lower

    def generated(self, op: Op, arguments: Arguments, loop: Loop, span: Span) -> Operand:
        """A generator's terms added up (or multiplied, or compared), as Python does."""
        found = self.constants.generated(arguments, loop)
        terms = [(self.lines.as_number(a, s) if op.name == "sum" else a, s) for a, s in found]
        if op.name in ("stack", "cat"):
            return self.made(op, terms, (0,), span)
        if op.name not in _FOLDS:
            message, hint = f"{op.name} does not take a generator", f"write {op.name}([... for ...])"
            raise self.source.error(message, arguments.opening.span, hint=hint)
        return self._folded(op, [a for a, _ in terms], span), span

    def _folded(self, op: Op, terms: Sequence[Atom], span: Span) -> Atom:
        if not terms and op.name in EXTREMES:
            raise self.source.error(f"{op.name} of an empty list has no value", span)
        result = terms[0] if terms else sympy.Integer(op.name == "prod")
        for term in terms[1:]:
            result = self.lines.emit(_FOLDS[op.name], [result, term], span)[0]
        return result

    def of_list(self, op: Op, arguments: Arguments, span: Span) -> Operand | None:
        """Python's sum of a list, and what it begins with: term by term, as of a generator; None of anything else."""
        terms = self.constants.listed(arguments, has_start=op.name == "sum")
        if terms is None:
            return None
        atoms = [self.lines.as_number(a, s) for a, s in terms]
        if len(arguments.items) > 1:
            atoms.insert(0, self.lower(arguments.items[1].value)[0])
        if len(arguments.items) > 2:
            position = arguments.items[1].stop
            raise self.source.unexpected(position, " where ')' was expected", is_inside=True)
        self.binder.require_closed(arguments)
        return self._folded(op, atoms, span), span

    def of_tensors(self, op: Op, arguments: Arguments, span: Span) -> Operand | None:
        """Python's function of tensors: the sum of rows, the larger of two; None where it is the table's.

        Raises:
            LanguageError: Python compares the rows of a matrix, which raises an error.
        """
        items = arguments.items
        if not items or any(one.name is not None or one.fault is not None for one in items):
            return None
        first = self.lower(items[0].value)
        if op.name in EXTREMES and len(items) > 1:
            terms = [first[0], *(self.lower(one.value)[0] for one in items[1:])]
            self.binder.require_closed(arguments)
            shapes = [self.sizes.of(self.lines.one(atom, span)) for atom in terms]
            self.scope.needs_shapes |= None in shapes
            if any(shapes) and not self.scope.needs_shapes:
                name = f"{op.name} compares one number with another, and raises an error of a tensor with more"
                self.scope.remark(f"Python's {name}; {EXTREMES[op.name]} is taken, element by element")
            return self._folded(op, terms, span), span
        shape = self.sizes.of(self.lines.one(*first))
        self.scope.needs_shapes |= shape is None
        is_matrix = shape is not None and len(shape) > 1
        if not is_matrix and len(items) == 1:
            return None
        if op.name in EXTREMES:
            message = f"Python's {op.name} compares the rows of a matrix, which raises an error"
            raise self.source.error(message, span, hint=f"write x.{op.name}() for the {_WORDS[op.name]} element")
        atoms = [self.made(op, [first], (0 if is_matrix else None, False), span)[0]]
        if len(items) > 1:
            atoms.insert(0, self.lower(items[1].value)[0])
        self.binder.require_closed(arguments)
        return self._folded(op, atoms, span), span

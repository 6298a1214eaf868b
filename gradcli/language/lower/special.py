"""Calls that have no row in the op table: `Piecewise`, `len`, `Rational`."""

from __future__ import annotations

import sympy

from gradcli.errors import LanguageError, Span
from gradcli.language.lower.hooks import Lower, Operand
from gradcli.language.lower.lines import Lines
from gradcli.language.lower.tensors import Tensors
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Arguments, Group, Items, Node, Word, leading
from gradcli.language.text.source import require_sound
from gradcli.language.text.tokens import Token

SPECIAL = frozenset(["Piecewise", "len", "Rational", "complex"])
"""What they are called."""


class Special:
    """Reads them."""

    def __init__(self, lines: Lines, lower: Lower, tensors: Tensors) -> None:
        self.lines, self.lower, self.tensors = lines, lower, tensors
        self.source = lines.source

    def call(self, name: Token, span: Span, arguments: Arguments) -> Operand:
        """One of them; `span` is of its name."""
        items, read = arguments.items, 1
        self.lines.hooks.special(span, span.to(arguments.span))
        match name.text:
            case "Piecewise":
                value, read = self._piecewise(span, arguments), len(items)
            case "len":
                value = self.lines.emit("count", [self.lower(self.tensors.only(arguments))[0]], span, (0,))[0]
            case "Rational":
                above = self.lower(self.tensors.only(arguments))[0]
                below = self.lower(items[1].value)[0] if len(items) > 1 else sympy.Integer(1)
                value, read = self.lines.emit("div", [above, below], span)[0], 2
            case _:
                raise self.source.error(LanguageError, "complex numbers are not read", name.span)
        self.tensors.require_closed(arguments)
        if len(items) > read:
            raise self.source.unexpected(items[read - 1].stop, " where ')' was expected", is_inside=True)
        return value, span.to(arguments.span)

    def _piecewise(self, span: Span, arguments: Arguments) -> Atom:
        """`Piecewise((value, condition), ..., (value, True))` as branches inside one another."""
        pairs: list[tuple[Atom, Atom | None]] = []
        for argument in arguments.items:
            node = argument.value
            if argument.name is not None or self.source.tokens[argument.start].text != "(":
                break
            pairs.append(self._pair(node))
            if argument.fault is not None:
                break
        if not pairs or pairs[-1][1] is not None:
            hint = "write Piecewise((x**2, x > 0), (0, True))"
            raise self.source.error(
                LanguageError, "Piecewise needs a last pair with the condition True", span, hint=hint
            )
        result = pairs[-1][0]
        for value, condition in reversed(pairs[:-1]):
            result = value if condition is None else self.lines.emit("where", [condition, value, result], span)[0]
        self.lines.hooks.pieces(arguments, result)
        return result

    def _pair(self, node: Node) -> tuple[Atom, Atom | None]:
        """A value and its condition; none for True."""
        first = leading(node)
        inside = first.items if isinstance(first, Items) and first.opening.text == "(" else ()
        if len(inside) < 2:
            value = self.lower(inside[0] if inside else first.inner if isinstance(first, Group) else node)
            position = self.source.position(value[1].stop)
            raise self.source.unexpected(position, " where ', condition' was expected", is_inside=True)
        value, condition = self.lower(inside[0]), inside[1]
        is_rest = isinstance(condition, Word) and condition.token.text == "True"
        pair = value[0], None if is_rest else self.lower(condition)[0]
        if isinstance(first, Items):
            require_sound(first.fault)
        if len(inside) > 2 or first is not node:
            position = self.source.position((condition if len(inside) > 2 else first).span.stop)
            raise self.source.unexpected(position, " where ')' was expected", is_inside=True)
        return pair

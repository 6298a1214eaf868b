"""Python's own functions: those that make lists, count, and say nothing about the function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import sympy

from gradcli.errors import Span
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Operand
from gradcli.language.snippets.definitions import Callee
from gradcli.language.snippets.python_values import Objects, Opaque
from gradcli.language.text import nodes
from gradcli.language.text.source import require_sound

_PASSED = frozenset("print input display".split())
"""What says nothing about the function, whatever it is called with."""

_MODULES = frozenset("plt sns logging warnings tqdm time sys".split())
"""Modules that say nothing about it."""


class Builtins:
    """Reads calls of them."""

    def __init__(
        self,
        lowering: Lowering,
        objects: Objects,
        elements: Callable[[nodes.Node], list[Operand]],
        passed_over: Callable[[Span], None],
    ) -> None:
        self.source, self.scope, self.lines = lowering.source, lowering.scope, lowering.lines
        self.lower, self.constants = lowering.lower, lowering.constants
        self.objects, self.elements, self.passed_over = objects, elements, passed_over

    def called(self, name: nodes.Name) -> Operand | None:
        """A call of one; None of anything else."""
        arguments = name.arguments
        if arguments is None:
            is_module = name.token.text in _MODULES
            return (self.objects.new(Opaque(name.token.text)), name.span) if is_module else None
        if name.token.text in _PASSED:
            self.passed_over(arguments.span)
            return self.objects.nothing(name.span)
        if name.token.text == "super":
            return self.objects.new(Opaque("super()")), name.span
        rule = self._RULES.get(name.token.text)
        if rule is None:
            return None
        found = rule(self, arguments, name)
        for one in arguments.items if found is not None else ():
            require_sound(one.fault)
        if found is not None:
            require_sound(arguments.unclosed)
        return found

    def _items(self, arguments: nodes.Arguments) -> list[nodes.Node]:
        return [one.value for one in arguments.items if one.name is None]

    def _loop(self, arguments: nodes.Arguments) -> list[Operand] | None:
        """The terms of a generator, if that is what stands between the parentheses."""
        values = self._items(arguments)
        return self.constants.comprehended(values[0]) if values and isinstance(values[0], nodes.Loop) else None

    def _only(self, arguments: nodes.Arguments) -> list[Operand]:
        generated = self._loop(arguments)
        if generated is not None:
            return generated
        values = self._items(arguments)
        return self.elements(values[0]) if values else []

    def _range(self, arguments: nodes.Arguments, name: nodes.Name) -> Operand:
        numbers = self.constants.range(arguments, name.token)
        return self.objects.new_list([(sympy.Integer(n), name.span) for n in numbers], name.span, "tuple")

    def _list(self, arguments: nodes.Arguments, name: nodes.Name) -> Operand:
        return self.objects.new_list(self._only(arguments), name.span, name.token.text)

    def _reversed(self, arguments: nodes.Arguments, name: nodes.Name) -> Operand:
        return self.objects.new_list(self._only(arguments)[::-1], name.span)

    def _enumerate(self, arguments: nodes.Arguments, name: nodes.Name) -> Operand:
        start = arguments.items[1].value if len(arguments.items) > 1 else None
        first = 0 if start is None else self.constants.integer(start)
        parts = self._only(arguments)
        pairs = [self._tuple([(sympy.Integer(n), name.span), one], name.span) for n, one in enumerate(parts, first)]
        return self.objects.new_list(pairs, name.span)

    def _zip(self, arguments: nodes.Arguments, name: nodes.Name) -> Operand:
        columns: list[list[Operand]] = []
        for value in self._items(arguments):
            if isinstance(value, nodes.Starred):
                columns += [self.objects.parts(*one) for one in self.elements(value.value)]
            else:
                columns.append(self.elements(value))
        rows = [self._tuple(row, name.span) for row in zip(*columns, strict=False)]
        return self.objects.new_list(rows, name.span)

    def _tuple(self, items: Sequence[Operand], span: Span) -> Operand:
        return self.objects.new_list(items, span, "tuple")

    def _map(self, arguments: nodes.Arguments, name: nodes.Name) -> Operand | None:
        values = self._items(arguments)
        if len(values) != 2:
            return None
        callee = self.objects.of(self.lower(values[0])[0])
        if not isinstance(callee, Callee):
            return None
        found = [callee.value([one], name.span) for one in self.elements(values[1])]
        return self.objects.new_list(found, name.span)

    def _len(self, arguments: nodes.Arguments, name: nodes.Name) -> Operand | None:
        values = self._items(arguments)
        if len(values) != 1:
            return None
        atom, _ = self.lower(values[0])
        return self.objects.length(atom, name.span) if self.objects.of(atom) is not None else None

    def _int(self, arguments: nodes.Arguments, name: nodes.Name) -> Operand | None:
        values = self._items(arguments)
        if len(values) != 1:
            return None
        return sympy.Integer(int(self.constants.constant(values[0], "int() is read of a constant")[0])), name.span

    def _isinstance(self, arguments: nodes.Arguments, name: nodes.Name) -> Operand | None:
        values = self._items(arguments)
        if len(values) != 2:
            return None
        value = self.objects.of(self.lower(values[0])[0])
        words = {token.text for token in self.source.within(values[1].span)}
        return self.objects.truth((value is None) == bool(words & {"Tensor", "float", "int", "ndarray"}), name.span)

    _RULES: ClassVar[Mapping[str, Callable[[Builtins, nodes.Arguments, nodes.Name], Operand | None]]] = {
        "range": _range,
        "list": _list,
        "tuple": _list,
        "reversed": _reversed,
        "enumerate": _enumerate,
        "zip": _zip,
        "map": _map,
        "len": _len,
        "int": _int,
        "isinstance": _isinstance,
    }
    """The rule of each."""

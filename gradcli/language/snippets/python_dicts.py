"""Dicts of Python with constant keys: words, whole numbers, None.

params = {"w": w, "b": b}; params["w"]*x + params["b"]
"""

from __future__ import annotations

from collections.abc import Callable

import sympy

from gradcli.errors import GradcliError, Span, did_you_mean
from gradcli.language.lower.scope import Dictionary, Key, Nothing, Operand, Text
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.python_values import Objects
from gradcli.language.text import nodes
from gradcli.language.text.source import require_sound


class Dicts:
    """Makes dicts, and reads what is done with them."""

    def __init__(self, objects: Objects) -> None:
        self.objects, self.source, self.lower = objects, objects.source, objects.lower

    def new(self, items: dict[Key, Operand], span: Span) -> Operand:
        """A dict as a value."""
        return self.objects.new(Dictionary(items)), span

    def written(self, node: nodes.Pairs) -> Operand:
        """`{"w": w, **others}`."""
        found: dict[Key, Operand] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            operand = self.lower(value)
            if key is None:
                found |= self.of(operand).items
            else:
                found[self.key(self.lower(key))] = operand
        require_sound(node.fault)
        return self.new(found, node.span)

    def called(self, arguments: nodes.Arguments, span: Span) -> Operand:
        """`dict(w=w)`, of another dict, or of pairs."""
        found: dict[Key, Operand] = {}
        for one in arguments.items:
            operand = self.lower(one.value.value if isinstance(one.value, nodes.Starred) else one.value)
            if one.name is not None:
                found[one.name.text] = operand
            elif isinstance(self.objects.of(operand[0]), Dictionary):
                found |= self.of(operand).items
            else:
                for pair, where in self.objects.parts(*operand):
                    key, value = self.objects.parts(pair, where, 2)
                    found[self.key(key)] = value
        return self.new(found, span.to(arguments.span))

    def of(self, operand: Operand) -> Dictionary:
        """The dict that a value is.

        Raises:
            LanguageError: It is none.
        """
        found = self.objects.of(operand[0])
        if not isinstance(found, Dictionary):
            raise self.source.error("a dict must stand here", operand[1])
        return found

    def key(self, operand: Operand) -> Key:
        """A value as a key.

        Raises:
            LanguageError: It is no constant.
        """
        match self.objects.of(operand[0]):
            case Text(text=text):
                return text
            case Nothing():
                return None
            case None if isinstance(operand[0], sympy.Integer):
                return int(operand[0])
        raise self.source.error("a key of a dict is a word in quotes or a whole number", operand[1])

    def indexed(self, value: Dictionary, subscript: nodes.Subscript, span: Span) -> Operand:
        """`params["w"]`."""
        key = self._only_key(subscript)
        if key not in value.items:
            raise self.missing(value, key, subscript.span)
        return value.items[key][0], span

    def _only_key(self, subscript: nodes.Subscript) -> Key:
        parts = [part for bound in subscript.items for part in bound.parts]
        require_sound(subscript.fault)
        if len(parts) != 1 or parts[0] is None:
            raise self.source.error("a key of a dict is a word in quotes or a whole number", subscript.span)
        return self.key(self.lower(parts[0]))

    def missing(self, value: Dictionary, key: Key, span: Span) -> GradcliError:
        """The error that a dict has no such key."""
        known = [str(one) for one in value.items]
        hint = did_you_mean(str(key), known) or f"its keys are {', '.join(map(repr, value.items)) or 'none'}"
        return self.source.error(f"this dict has no key {key!r}", span, hint=hint)

    def store(self, value: Dictionary, subscript: nodes.Subscript, change: Callable[[Atom], Atom], span: Span) -> None:
        """`params["w"] = w`, and `params["w"] -= step`."""
        self.objects.require_changeable(value, span)
        key = self._only_key(subscript)
        before = value.items.get(key)
        value.items[key] = change(self.objects.nothing(span)[0] if before is None else before[0]), span

    def member(self, value: Dictionary, name: str, given: nodes.Arguments, span: Span) -> Operand | None:
        """`params.items()` and the like; None of what is not read."""
        operands = [self.lower(one.value) for one in given.items]
        match name, operands:
            case "keys", []:
                return self.objects.new_list(self.objects.keys(value, span), span)
            case "values", []:
                return self.objects.new_list(list(value.items.values()), span)
            case "items", []:
                pairs = [list(pair) for pair in zip(self.objects.keys(value, span), value.items.values(), strict=True)]
                return self.objects.new_list([self.objects.new_list(pair, span, "tuple") for pair in pairs], span)
            case "copy", []:
                return self.new(dict(value.items), span)
            case "get", [key, *default]:
                found = value.items.get(self.key(key), default[0] if default else None)
                return self.objects.nothing(span) if found is None else (found[0], span)
            case "pop", [key, *default]:
                self.objects.require_changeable(value, span)
                found = value.items.pop(self.key(key), default[0] if default else None)
                if found is None:
                    raise self.missing(value, self.key(key), span)
                return found[0], span
            case "update", _:
                self.objects.require_changeable(value, span)
                value.items.update(self.of(self.called(given, span)).items)
                return self.objects.nothing(span)
        return None

"""Lists, and loops in them that are written out: `[x**i for i in range(6)]`.

A loop's term is lowered again for every value of its name, so what it may cost is counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from gradcli.errors import GradcliError, LanguageError, TooLargeError
from gradcli.language.lower.constants import Constants
from gradcli.language.lower.hooks import Lower, Operand
from gradcli.language.lower.lines import Lines
from gradcli.language.lower.scope import Scope
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Argument, Arguments, Clause, Group, Items, Loop, Name, leading
from gradcli.language.text.source import require_sound
from gradcli.language.text.tokens import Token

MAX_UNROLLED = 10_000
"""Terms of all loops of a text together."""

MAX_REPEATED = 1_000_000
"""Tokens that loops may read again."""


class Loops:
    """Reads what is between the brackets of a list."""

    def __init__(self, lines: Lines, scope: Scope, lower: Lower, constants: Constants) -> None:
        self.lines, self.scope, self.lower, self.constants = lines, scope, lower, constants
        self.source = lines.source
        self.unrolled = self.repeated = 0

    def items(self, node: Items | Group) -> list[Operand]:
        """The elements of a list or of a loop."""
        if isinstance(node, Group):
            found = [self.lower(node.inner)]
        elif not node.items and node.fault is None:
            raise self.source.error(LanguageError, "an empty list has no value", node.span, hint="write [a, b]")
        elif node.items and isinstance(loop := node.items[0], Loop):
            found = self.terms(loop, node.opening)
        else:
            found = [self.lower(item) for item in node.items]
        require_sound(node.fault)
        return found

    def terms(self, loop: Loop, opening: Token) -> list[Operand]:
        """The terms of a loop behind a bracket."""
        self.lines.looping += 1
        found = list(self._unrolled(loop, 0))
        self.lines.looping -= 1
        if not found and self.scope.needs_shapes:
            return [(sympy.Integer(0), opening.span)]
        if not found:
            end = self.source.tokens[self._end(loop)]
            raise self.source.error(LanguageError, "this loop has no terms", opening.span.to(end.span))
        return found

    def _end(self, loop: Loop) -> int:
        """The position of the bracket behind a loop."""
        start = self.source.position(loop.clauses[0].word.span.start)
        return next((n for n, depth in self.source.levels(start) if depth < 0), len(self.source.tokens) - 1)

    def listed(self, arguments: Arguments, *, has_start: bool) -> list[Operand] | None:
        """The elements of a list, a tuple or the name of a list, if that is the only argument, or before a start.

        A list of lists is a matrix: Python adds up no such thing.
        """
        items = arguments.items
        if not items or items[0].name is not None or items[0].fault is not None or arguments.unclosed is not None:
            return None
        if len(items) > 1 and not (has_start and items[1].name is None):
            return None
        node = items[0].value
        if isinstance(node, Name) and node.arguments is None and node.token.text in self.scope.lists:
            self.scope.unused.pop(node.token.text, None)
            return self.scope.lists[node.token.text]
        if not isinstance(node, Items) or not (node.opening.text == "[" or node.has_comma):
            return None
        if self.source.tokens[items[0].start + 1].text == "[":
            return None
        return self.items(node)

    def generator(self, arguments: Arguments) -> Argument | None:
        """The argument that is a loop, if one is."""
        return next((one for one in arguments.items if isinstance(one.value, Loop)), None)

    def generated(self, arguments: Arguments, loop: Loop) -> list[Operand]:
        """The terms of a loop that is the only argument."""
        first = arguments.items[0]
        if first.value is not loop:
            self.lower(first.value)
            raise self.source.unexpected(first.stop, " where 'for' was expected", is_inside=True)
        terms = self.terms(loop, arguments.opening)
        behind = first.fault or arguments.unclosed
        if behind is None and len(arguments.items) > 1:
            behind = self.source.unexpected(first.stop, " where ')' was expected", is_inside=True)
        require_sound(behind)
        return terms

    def _unrolled(self, loop: Loop, level: int) -> Iterator[Operand]:
        """The body for every value of the loops from a level on."""
        clause = loop.clauses[level]
        require_sound(clause.fault)
        name, names = clause.name.text, self.scope.names
        values = self._values(clause)
        shadowed = names.get(name)
        for value in values:
            names[name] = value
            self.require_few(loop.width, clause.word)
            if not self._is_wanted(clause):
                continue
            if level + 1 < len(loop.clauses):
                yield from self._unrolled(loop, level + 1)
                continue
            require_sound(loop.fault)
            yield self.lower(loop.body)
            require_sound(loop.body_fault)
        if shadowed is None:
            names.pop(name, None)
        else:
            names[name] = shadowed

    def _is_wanted(self, clause: Clause) -> bool:
        """Whether the `if` behind a loop holds for the present values of its names, which are constants."""
        if clause.condition is None:
            return True
        return bool(self.constants.constant(clause.condition, "the condition of a loop must be constant")[0])

    def _values(self, clause: Clause) -> list[Atom]:
        """What a loop runs over: a range of whole numbers, or a list of constants."""
        node, behind = leading(clause.values), clause.position
        values: list[Atom] | None = None
        if isinstance(node, Name) and node.token.text == "range" and node.arguments is not None:
            values = [sympy.Integer(n) for n in self._range(node.arguments, clause.word)]
        elif isinstance(node, Items | Group):
            values = [a for a, _ in self.items(node)]
            behind = self.source.position(node.span.stop)
        if values is None or not all(a.is_number for a in values):
            span = clause.word.span.to(self.source.tokens[behind].span)
            message = "a loop runs over range(...) or a list of numbers"
            raise self.source.error(LanguageError, message, span)
        if node is not clause.values:
            position = self.source.position(node.span.stop)
            raise self.source.unexpected(position, " behind a loop", is_inside=True)
        return values

    def _range(self, arguments: Arguments, word: Token) -> range:
        """The whole numbers of a range."""
        bounds: list[int] = []
        for argument in arguments.items[:3]:
            bounds.append(self.constants.integer(argument.value))
            require_sound(argument.fault)
        require_sound(arguments.unclosed)
        if not bounds or len(arguments.items) > 3:
            position = arguments.items[3].start if bounds else arguments.position + 1
            raise self.source.unexpected(position, " where ')' was expected" if bounds else "", is_inside=True)
        if bounds[2:] == [0]:
            raise self.source.error(LanguageError, "the step of a range is not 0", arguments.span)
        chosen = range(*bounds)
        if len(chosen) > MAX_UNROLLED:
            raise self._too_many(word)
        return chosen

    def require_few(self, tokens: int, word: Token) -> None:
        """Refuse loops that take too long.

        Raises:
            TooLargeError: They repeat too many tokens, or have too many terms.
        """
        self.unrolled += 1
        self.repeated += tokens
        if self.unrolled > MAX_UNROLLED or self.repeated > MAX_REPEATED:
            raise self._too_many(word)

    def _too_many(self, word: Token) -> GradcliError:
        message = f"loops make more than {MAX_UNROLLED:,} terms, or repeat too long a text"
        return self.source.error(TooLargeError, message, word.span, hint="use arange(n) and an operation on tensors")

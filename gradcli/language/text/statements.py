"""Words to the statements of a text, or to one value.

    program    : statement ((";" | newline) statement)*
    statement  : NAME "=" expression | expression
    value      : expression ("," expression)* [","]

Knows where lines begin and end; what an expression is, the grammar knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gradcli.errors import GradcliError, LanguageError
from gradcli.language.text.grammar import Grammar
from gradcli.language.text.nodes import Line, Node, Statement, Value
from gradcli.language.text.precedence import LEVELS, POWERS
from gradcli.language.text.source import Source

AnyLine = TypeVar("AnyLine", bound=Line)

_SIGNS = frozenset([*LEVELS, *POWERS])
"""What stands between two operands."""

_IN_PLACE = frozenset(["+=", "-=", "*=", "/=", "//=", "**="])


def parse(source: Source) -> tuple[Statement, ...]:
    """The statements of a text, up to the first that cannot be read.

    >>> [statement.targets[0].text for statement in parse(Source("y = x**2; z = 2y", "EXPR"))]
    ['y', 'z']
    """
    statements = Statements(Grammar(source))
    return statements.each(statements.statement)


def parse_value(source: Source) -> Value:
    """A text as one value; a comma at the top makes a vector.

    >>> len(parse_value(Source("1, 2", "--at")).items)
    2
    """
    return Statements(Grammar(source)).value()


class Statements:
    """Reads the statements of a text, one after the other."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.indent = 0  # of the first statement, counted from 1

    def each(self, line: Callable[[], AnyLine]) -> tuple[AnyLine | Statement, ...]:
        """What a rule reads of each line, up to the first that cannot follow the one before."""
        grammar, found = self.grammar, list[AnyLine | Statement]()
        while True:
            while grammar.accept(";") or grammar.accept("\n"):
                pass
            if grammar.at_end:
                return tuple(found)
            error = self._beginning()
            found.append(line() if error is None else self.broken(error))

    def statement(self) -> Statement:
        """An assignment or an expression, and what is wrong behind it."""
        grammar = self.grammar
        start, name = grammar.position, grammar.token
        after = grammar.tokens[start + 1]
        if name.kind == "name" and after.text in _IN_PLACE:
            hint = f"write a new name: {name.text}2 = {name.text} {after.text[:-1]} ..."
            message = f"'{after.text}' changes a tensor in place, which is not read"
            return self.broken(grammar.source.error(LanguageError, message, name.span.to(after.span), hint=hint))
        targets = (name,) if name.kind == "name" and after.text == "=" else ()
        grammar.position += 2 * len(targets)
        value_at = grammar.position
        value = grammar.expression()
        span, stop = name.span.to(grammar.behind().span), grammar.position
        return Statement(span, start, value_at, stop, targets, False, value, self.ending())

    def ending(self) -> GradcliError | None:
        """What is wrong behind a statement, which ends its line."""
        grammar = self.grammar
        if grammar.token.text in (";", "\n") or grammar.at_end:
            return None
        error = grammar.unexpected()
        grammar.fail(error)
        return error

    def broken(self, error: GradcliError) -> Statement:
        """A line that cannot be read."""
        start = self.grammar.position
        broken = self.grammar.fail(error)
        return Statement(broken.span, start, start, start + 1, (), False, broken, None)

    def value(self) -> Value:
        """The whole text as one value."""
        grammar = self.grammar
        while grammar.accept("\n"):
            pass
        if grammar.at_end:
            hint = "write a number, or 1,2"
            error = grammar.source.error(LanguageError, "there is no value", grammar.token.span, hint=hint)
            return Value((grammar.fail(error),), False, None)
        items: list[Node] = [grammar.expression()]
        is_vector = False
        while grammar.accept(","):
            is_vector = True
            if grammar.at_end:
                break
            items.append(grammar.expression())
        self.indent = 1
        fault = None
        while grammar.accept("\n"):
            if not grammar.at_end and grammar.token.text != "\n":
                fault = fault or self._beginning()
        if not grammar.at_end:
            fault = fault or grammar.unexpected()
        return Value(tuple(items), is_vector, fault)

    def _beginning(self) -> GradcliError | None:
        """What is wrong with a line that seems to go on with the one before, which ended there.

        It is indented more than the first, or begins with a sign that stands between two operands.
        """
        grammar = self.grammar
        token, before = grammar.token, grammar.tokens[grammar.position - 1] if grammar.position else None
        if before is not None and before.text != "\n":
            return None
        indent = token.span.start - grammar.source.text.rfind("\n", 0, token.span.start)
        is_sign = token.text in _SIGNS and token.kind in ("operator", "keyword")
        if self.indent and (is_sign or indent > self.indent):
            what = "begins with an operator" if is_sign else "is indented"
            message = f"a line that {what} does not continue the one before"
            hint = "put parentheses around the whole expression"
            return grammar.source.error(LanguageError, message, token.span, hint=hint)
        self.indent = self.indent or indent
        return None

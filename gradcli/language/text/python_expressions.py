"""Words to the expressions that only Python has: functions as values, stars, `in` and `is`, several targets of a loop.

atom       : "lambda" parameters ":" expression         beside those of the grammar
           | "{" [pair ("," pair)* [","]] "}"           pair: expression ":" expression, or "**" expression
postfix    : arguments arguments                        `grad(f)(x)`
operator   : "in" | "not" "in" | "is" ["not"]
unary      : ("*" | "**") expression                    among arguments and targets
target     : postfix ("," postfix)* [","]               of a loop or an assignment
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from gradcli.errors import GradcliError, Span
from gradcli.language.text import nodes
from gradcli.language.text.grammar import Grammar
from gradcli.language.text.source import ENDS, Source
from gradcli.language.text.tokens import COMPARISON, LEVELS, STRING_PREFIX, Token

Result = TypeVar("Result")


class PythonExpressions(Grammar):
    """The grammar with functions as values, and calls of what a call gives."""

    max_depth = 60  # as a level may be the call of a function, which takes more of Python's frames
    levels: Mapping[str, int] = {**LEVELS, "in": COMPARISON, "is": COMPARISON}

    def __init__(self, source: Source) -> None:
        self.reached: list[Token] = []
        self._floor = 0
        super().__init__(source)

    @property
    def depth(self) -> int:
        """How many levels of nesting are around this place."""
        return self._depth

    @depth.setter
    def depth(self, depth: int) -> None:
        self._depth = depth
        if depth - self._floor > len(self.reached):
            self.reached.append(self.tokens[self.position - 1])

    def measured(self, read: Callable[[], Result]) -> tuple[Result, tuple[Token, ...]]:
        """What a rule reads, and the first token at each level of nesting in it."""
        before, self.reached, self._floor = (self.reached, self._floor), [], self.depth
        result, reached = read(), tuple(self.reached)
        outer, self._floor = before
        self.reached = [*outer, *reached[max(0, len(outer) - self.depth + self._floor) :]]
        return result, reached

    def is_compared(self) -> bool:
        """`"weight" in name`."""
        behind = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        return self.token.text in ("in", "==", "!=") or (self.token.text, behind.text) == ("not", "in")

    # -- operands

    def unary(self) -> nodes.Node:
        """As in the language, and what is taken apart by a star."""
        star = self.token
        if star.kind != "operator" or star.text not in ("*", "**"):
            return super().unary()
        if self.depth >= self.max_depth:
            return self.too_deep(star, self.max_depth)
        self.advance()
        self.depth += 1
        value = self.expression(COMPARISON)
        self.depth -= 1
        return nodes.Starred(star.span.to(value.span), star, value)

    def atom(self) -> nodes.Node:
        """As in the language, a lambda, and a word in quotes with letters before it."""
        if self.at_word("lambda"):
            return self._lambda()
        if self.token.text == "{" and self.token.kind == "operator":
            return self._pairs()
        prefix = self.token
        is_before = prefix.kind == "name" and self.tokens[self.position + 1].kind == "string"
        if is_before and STRING_PREFIX.fullmatch(prefix.text):
            self.advance()
            return self.word()
        return super().atom()

    def _pairs(self) -> nodes.Node:
        """Values by key."""
        opening = self.token
        if self.depth >= self.max_depth:
            return self.too_deep(opening, self.max_depth)
        self.position += 1
        self.depth += 1
        outer, self.closing = self.closing, ""
        keys: list[nodes.Node | None] = []
        values: list[nodes.Node] = []
        while self.token.text != "}" and not self.has_failed:
            if self.token.text == "**":
                keys.append(None)
                self.advance()
            else:
                keys.append(self.expression())
                if not self.accept(":"):
                    hint = "write a list, [a, b]" if self.token.text in (",", "}") else None
                    is_set = self.token.text in (",", "}")
                    unread = self.source.error("a set is not read", opening.span, hint=hint)
                    self.fail(unread if is_set else self.unexpected(" where ':' was expected"))
                    break
            values.append(self.expression())
            if self.at_word("for"):
                hint = "write d = {}, and d[key] = value in a loop"
                self.fail(self.source.error("a loop in braces is not read", self.token.span, hint=hint))
            if not self.accept(","):
                break
        fault = self.close("}", opening)
        self.closing = outer
        self.depth -= 1
        if self.has_failed:
            return self.broken
        return nodes.Pairs(opening.span.to(self.behind().span), tuple(keys), tuple(values), fault)

    def trailer(self, before: nodes.Node | nodes.Trailer) -> nodes.Trailer | None:
        """As in the language, and a call of what a call or an index gives."""
        is_call = isinstance(before, nodes.Name | nodes.Member) and before.arguments is not None
        if self.token.text == "(" and (is_call or isinstance(before, nodes.Arguments | nodes.Subscript | nodes.Group)):
            return self.arguments()
        return super().trailer(before)

    def _lambda(self) -> nodes.Node:
        """`lambda x: ...`; where it is assigned, its name is part of it."""
        start, word = self.position, self.token
        if self.indices >= self.max_depth:
            return self.too_deep(word, self.max_depth)
        is_named = start > 1 and self.tokens[start - 1].text == "=" and self.tokens[start - 2].kind == "name"
        first = self.tokens[start - 2] if is_named else word
        self.position += 1
        parameters, fault = self.parameters(":")
        colon = self.advance()
        if fault is None and colon.text != ":":
            fault = self.source.error("a function is lambda x: ...", word.span.to(colon.span))
        body, end = self.position, self._end_of_expression()
        self.indices += 1
        value, reached = self.measured(self.expression if fault is None else lambda: self.fail(fault))
        self.indices -= 1
        behind = None
        if not self.has_failed and self.position < end and self.token.text not in ("\n", ";"):
            behind = self.unexpected(" in a function")
        self.position = end
        result = nodes.Return(value.span, value, behind)
        span, name = first.span.to(self.tokens[end - 1].span), first.text if is_named else ""
        first = self.tokens[body]
        return nodes.Function(span, start, name, parameters, (result,), first, end - body, self.depth, reached, fault)

    def _end_of_expression(self) -> int:
        """The position of the comma, bracket or line end behind the body of a lambda."""
        previous = 0
        for position, depth in self.source.levels(self.position) if not self.has_failed else ():
            text = self.tokens[position].text
            if depth < 0 or (previous == 0 and text in (",", *ENDS)):
                return position
            previous = depth
        return len(self.source.tokens) - 1

    def parameters(self, closing: str) -> tuple[tuple[nodes.Parameter, ...], GradcliError | None]:
        """Names with their defaults, the types passed over; and what is wrong with them."""
        found: list[nodes.Parameter] = []
        is_behind_star = False
        while self.token.text != closing and not self.at_end:
            if self.accept("/") or (self.token.text == "*" and self.tokens[self.position + 1].text == ","):
                is_behind_star |= self.accept("*")
                self.accept(",")
                continue
            stars = self.advance().text if self.token.text in ("*", "**") else ""
            name = self.advance()
            if name.kind != "name":
                return tuple(found), self.source.error(f"unexpected '{name.text}' among the parameters", name.span)
            if closing == ")" and self.accept(":"):
                while self.token.text not in (",", "=", ")", "\n", ""):
                    self.pass_over()
            default = self.expression() if self.accept("=") else None
            is_late = default is None and not stars and not is_behind_star
            if is_late and found and found[-1].default is not None:
                message = "a parameter without a default follows one that has one"
                return tuple(found), self.source.error(message, name.span)
            found.append(nodes.Parameter(name.text, default, stars))
            is_behind_star |= stars == "*"
            if not self.accept(","):
                break
        return tuple(found), None

    def pass_over(self) -> None:
        """Take a token, or all up to the bracket that closes it."""
        is_opening = self.advance().text in ("(", "[", "{")
        for position, depth in self.source.levels(self.position) if is_opening else ():
            self.position = position
            if depth < 0:
                self.advance()
                return

    # -- several at once

    def target(self) -> nodes.Node:
        """What takes values: an operand, or several with commas."""
        return self._several(self._taker)

    def _taker(self) -> nodes.Node:
        return self.unary() if self.token.text == "*" else self.postfix()

    def listed(self) -> nodes.Node:
        """A value, or a tuple without parentheses."""
        return self._several(self.expression)

    def _several(self, read: Callable[[], nodes.Node]) -> nodes.Node:
        first = read()
        if self.token.text != "," or self.has_failed:
            return first
        items = [first]
        while self.accept(",") and self.token.text not in ("=", ":", "in", *ENDS):
            items.append(read())
        opening = Token("operator", "(", Span(first.span.start, first.span.start))
        return nodes.Items(first.span.to(items[-1].span), opening, tuple(items), True, None)

    def clause(self) -> nodes.Clause:
        """`for a, b in values if condition`."""
        word, position = self.advance(), self.position
        target = self.target()
        name, start = self.tokens[position], self.position + 1
        if not self.at_word("in"):
            fault = self.source.error("a loop is for NAME in range(...)", word.span.to(name.span))
            return nodes.Clause(word, name, start, self.fail(fault), None, fault)
        self.position += 1
        values = self.expression(1)
        condition = None
        if self.at_word("if"):
            self.position += 1
            condition = self.expression(1)
        is_name = isinstance(target, nodes.Name) and target.arguments is None
        return nodes.Clause(word, name, start, values, condition, None, None if is_name else target)

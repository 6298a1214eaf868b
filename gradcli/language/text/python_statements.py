"""Words to the statements that only Python has: imports, definitions, assignments to several names.

    statement  : "import" ... | "from" ... | "def" NAME "(" parameters ")" ":" block
               | targets "=" expression ("," expression)* | expression
    targets    : NAME ("," NAME)* [","]                     in brackets or not
    atom       : "lambda" parameters ":" expression         beside those of the grammar
    postfix    : arguments arguments                        `grad(f)(x)`

What a line says nothing about the function with may be anything: behind an error, the next line is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gradcli.errors import GradcliError
from gradcli.language.text import nodes
from gradcli.language.text.grammar import Grammar
from gradcli.language.text.source import Source
from gradcli.language.text.tokens import Token

_BLOCKS = frozenset(["for", "while", "if", "class", "with", "try", "return", "assert", "del", "lambda", "global"])

Result = TypeVar("Result")

_ENDS = (";", "\n", "")
"""What a line ends with."""


def parse_python(source: Source) -> tuple[nodes.Line, ...]:
    """The statements of a snippet.

    >>> type(parse_python(Source("import torch", "EXPR"))[0]).__name__
    'Import'
    """
    grammar = PythonGrammar(source)
    return grammar.each(grammar.line)


class PythonGrammar(Grammar):
    """The grammar with functions as values, and calls of what a call gives."""

    max_depth = 60  # as a level may be the call of a function, which takes more of Python's frames

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

    def atom(self) -> nodes.Node:
        """As in the language, and a lambda."""
        return self._lambda() if self.at_word("lambda") else super().atom()

    def trailer(self, before: nodes.Node | nodes.Trailer) -> nodes.Trailer | None:
        """As in the language, and a call of what a call gives."""
        is_call = isinstance(before, nodes.Name | nodes.Member) and before.arguments is not None
        if self.token.text == "(" and (is_call or isinstance(before, nodes.Arguments)):
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
            if depth < 0 or (previous == 0 and text in (",", *_ENDS)):
                return position
            previous = depth
        return len(self.source.tokens) - 1

    def parameters(self, closing: str) -> tuple[tuple[nodes.Parameter, ...], GradcliError | None]:
        """Names with their defaults, the types passed over; and what is wrong with them."""
        found: list[nodes.Parameter] = []
        while self.token.text != closing and not self.at_end:
            name = self.advance()
            if name.kind != "name":
                return tuple(found), self.source.error(f"unexpected '{name.text}' among the parameters", name.span)
            if closing == ")" and self.accept(":"):
                while self.token.text not in (",", "=", ")", "\n", ""):
                    self._pass_over()
            default = self.expression() if self.accept("=") else None
            if default is None and found and found[-1].default is not None:
                message = "a parameter without a default follows one that has one"
                return tuple(found), self.source.error(message, name.span)
            found.append(nodes.Parameter(name.text, default))
            if not self.accept(","):
                break
        return tuple(found), None

    def _pass_over(self) -> None:
        """Take a token, or all up to the bracket that closes it."""
        is_opening = self.advance().text in ("(", "[")
        for position, depth in self.source.levels(self.position) if is_opening else ():
            self.position = position
            if depth < 0:
                self.advance()
                return

    # -- statements

    def line(self) -> nodes.Line:
        """One statement; behind one that cannot be read, the next line is."""
        first, start = self.token, self.position
        found: nodes.Line
        if first.kind == "keyword" and first.text in ("import", "from"):
            found = self._import()
        elif first.kind == "keyword" and first.text == "def":
            found = self._definition()
        elif first.kind == "keyword" and first.text in _BLOCKS:
            hint = "a snippet is a list of assignments, functions, backward() and print()"
            message = f"a '{first.text}' statement is not read"
            found = self.broken_line(self.source.error(message, first.span, hint=hint))
        else:
            found = self._assignment()
        if self.has_failed:
            self.position = start
            while self.token.text not in _ENDS:
                self.position += 1
        return found

    def _assignment(self) -> nodes.Statement:
        """Names for a value, or a value alone."""
        start, first = self.position, self.token
        value_at = self._behind_targets()
        if value_at == start:
            return self.statement()
        targets = tuple(token for token in self.tokens[start : value_at - 1] if token.kind == "name")
        self.position = value_at
        value = self.expression()
        stop, span = self.position, first.span.to(self.behind().span)
        others: list[nodes.Node] = []
        while self.accept(","):
            others.append(self.expression())
        return nodes.Statement(
            span, start, value_at, stop, targets, value_at - start > 2, value, self.ending(), tuple(others)
        )

    def _behind_targets(self) -> int:
        """Where the value begins behind `g =`, `g, h =` or `(g,) =`; where the statement does if there is no such."""
        tokens, position = self.tokens, self.position
        bracket = tokens[position].text in ("(", "[")
        position += bracket
        while tokens[position].kind == "name" and tokens[position + 1].text in (",", "=", ")", "]"):
            position += 1
            position += tokens[position].text == ","
            position += bracket and tokens[position].text in (")", "]")
            if tokens[position].text == "=":
                return position + 1
        return self.position

    def _import(self) -> nodes.Import:
        """An import, of which the names are remembered."""
        word = self.advance()
        module = self._dotted_name() if word.text == "from" else ""
        if word.text == "from":
            self.advance()
        bracket = self.accept("(")
        found: list[tuple[str, str]] = []
        while self.token.kind == "name":
            path = self._dotted_name()
            name = path.partition(".")[0] if word.text == "import" else path
            whole = f"{module}.{path}" if module else path
            if self.token.text == "as":
                self.advance()
                name = self.advance().text
            elif not module:
                whole = name
            found.append((name, whole))
            if not self.accept(","):
                break
        if bracket:
            self.accept(")")
        while self.token.text not in _ENDS:
            self.advance()
        return nodes.Import(word.span.to(self.behind().span), tuple(found))

    def _dotted_name(self) -> str:
        words = [self.advance().text]
        while self.token.text == "." and self.tokens[self.position + 1].kind == "name":
            self.advance()
            words.append(self.advance().text)
        return ".".join(words)

    # -- definitions

    def _definition(self) -> nodes.Line:
        """`def f(x): ...` with its body, which may be wrong where nothing calls it."""
        source = self.source
        position, start = self.position, self.advance()
        name, opening = self.advance(), self.advance()
        if name.kind != "name" or opening.text != "(":
            return self.broken_line(source.error("a definition is def NAME(x): ...", start.span.to(opening.span)))
        parameters, fault = self.parameters(")")
        if fault is None:
            fault = self.close(")", opening)
        while self.token.text not in (":", *_ENDS) and not self.at_end:
            self.advance()  # -> torch.Tensor
        colon = self.advance()
        if fault is None and not self.has_failed and colon.text != ":":
            fault = source.error("a definition is def NAME(x): ...", start.span.to(name.span))
        if fault is not None:
            self.fail(fault)
        if self.has_failed:
            return nodes.Function(start.span, position, name.text, parameters, (), start, 0, 0, (), fault)
        body, end = self.position, self._end_of_block(self._column(start))
        lines, reached = self.measured(lambda: self._body(end))
        self.position = end
        span = start.span.to(self.tokens[end - 1].span)
        return nodes.Function(
            span, position, name.text, parameters, tuple(lines), self.tokens[body], end - body, 0, reached, None
        )

    def _body(self, end: int) -> list[nodes.Statement | nodes.Return]:
        """The statements of a definition up to its return, or to what cannot be read."""
        found = list[nodes.Statement | nodes.Return]()
        while self.position < end and not self.has_failed:
            if self.accept("\n") or self.accept(";"):
                continue
            start, word = self.position, self.token
            if self.at_word("return"):
                self.advance()
                value = self.expression()
                is_whole = self.position >= end or self.token.text in ("\n", ";")
                fault = None if is_whole else self.unexpected(" in a function")
                return [*found, nodes.Return(word.span.to(value.span), value, fault)]
            if word.kind != "name" or self.tokens[start + 1].text != "=":
                hint, message = "a function is assignments and a return", f"unexpected '{word.text}' in a function"
                found.append(self.broken_line(self.source.error(message, word.span, hint=hint)))
                break
            self.position += 2
            value = self.expression()
            span = word.span.to(self.behind().span)
            found.append(nodes.Statement(span, start, start + 2, self.position, (word,), False, value, None))
        return found

    def _column(self, token: Token) -> int:
        return token.span.start - self.source.text.rfind("\n", 0, token.span.start) - 1

    def _end_of_block(self, column: int) -> int:
        """The position behind the body of a definition: the rest of the line, or the lines that stand further in."""
        tokens, position = self.tokens, self.position
        if tokens[position].text != "\n":
            while tokens[position].text not in ("\n", ""):
                position += 1
            return position
        end = position
        while tokens[position].text == "\n":
            position += 1
            if tokens[position].text == "\n":
                continue
            if tokens[position].kind == "end" or self._column(tokens[position]) <= column:
                break
            while tokens[position].text != "\n" and tokens[position].kind != "end":
                position += 1
            end = position
        return end

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

from gradcli.errors import GradcliError, LanguageError
from gradcli.language.text import nodes
from gradcli.language.text.grammar import Grammar, Statements
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
    blocks = Blocks(PythonGrammar(source))
    return blocks.each(blocks.line)


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
            fault = self.source.error(LanguageError, "a function is lambda x: ...", word.span.to(colon.span))
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
                message = f"unexpected '{name.text}' among the parameters"
                return tuple(found), self.source.error(LanguageError, message, name.span)
            if closing == ")" and self.accept(":"):
                while self.token.text not in (",", "=", ")", "\n", ""):
                    self._pass_over()
            default = self.expression() if self.accept("=") else None
            if default is None and found and found[-1].default is not None:
                message = "a parameter without a default follows one that has one"
                return tuple(found), self.source.error(LanguageError, message, name.span)
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


class Blocks(Statements):
    """Reads the statements of a snippet, one after the other."""

    grammar: PythonGrammar

    def line(self) -> nodes.Line:
        """One statement; behind one that cannot be read, the next line is."""
        grammar = self.grammar
        first, start = grammar.token, grammar.position
        found: nodes.Line
        if first.kind == "keyword" and first.text in ("import", "from"):
            found = self._import()
        elif first.kind == "keyword" and first.text == "def":
            found = self._definition()
        elif first.kind == "keyword" and first.text in _BLOCKS:
            hint = "a snippet is a list of assignments, functions, backward() and print()"
            message = f"a '{first.text}' statement is not read"
            found = self.broken(grammar.source.error(LanguageError, message, first.span, hint=hint))
        else:
            found = self._assignment()
        if grammar.has_failed:
            grammar.position = start
            while grammar.token.text not in _ENDS:
                grammar.position += 1
        return found

    def _assignment(self) -> nodes.Statement:
        """Names for a value, or a value alone."""
        grammar = self.grammar
        start, first = grammar.position, grammar.token
        value_at = self._behind_targets()
        if value_at == start:
            return self.statement()
        targets = tuple(token for token in grammar.tokens[start : value_at - 1] if token.kind == "name")
        grammar.position = value_at
        value = grammar.expression()
        stop, span = grammar.position, first.span.to(grammar.behind().span)
        others: list[nodes.Node] = []
        while grammar.accept(","):
            others.append(grammar.expression())
        return nodes.Statement(
            span, start, value_at, stop, targets, value_at - start > 2, value, self.ending(), tuple(others)
        )

    def _behind_targets(self) -> int:
        """Where the value begins behind `g =`, `g, h =` or `(g,) =`; where the statement does if there is no such."""
        tokens, position = self.grammar.tokens, self.grammar.position
        bracket = tokens[position].text in ("(", "[")
        position += bracket
        while tokens[position].kind == "name" and tokens[position + 1].text in (",", "=", ")", "]"):
            position += 1
            position += tokens[position].text == ","
            position += bracket and tokens[position].text in (")", "]")
            if tokens[position].text == "=":
                return position + 1
        return self.grammar.position

    def _import(self) -> nodes.Import:
        """An import, of which the names are remembered."""
        grammar = self.grammar
        word = grammar.advance()
        module = self._dotted_name() if word.text == "from" else ""
        if word.text == "from":
            grammar.advance()
        bracket = grammar.accept("(")
        found: list[tuple[str, str]] = []
        while grammar.token.kind == "name":
            path = self._dotted_name()
            name = path.partition(".")[0] if word.text == "import" else path
            whole = f"{module}.{path}" if module else path
            if grammar.token.text == "as":
                grammar.advance()
                name = grammar.advance().text
            elif not module:
                whole = name
            found.append((name, whole))
            if not grammar.accept(","):
                break
        if bracket:
            grammar.accept(")")
        while grammar.token.text not in _ENDS:
            grammar.advance()
        return nodes.Import(word.span.to(grammar.behind().span), tuple(found))

    def _dotted_name(self) -> str:
        grammar = self.grammar
        words = [grammar.advance().text]
        while grammar.token.text == "." and grammar.tokens[grammar.position + 1].kind == "name":
            grammar.advance()
            words.append(grammar.advance().text)
        return ".".join(words)

    # -- definitions

    def _definition(self) -> nodes.Line:
        """`def f(x): ...` with its body, which may be wrong where nothing calls it."""
        grammar, source = self.grammar, self.grammar.source
        position, start = grammar.position, grammar.advance()
        name, opening = grammar.advance(), grammar.advance()
        if name.kind != "name" or opening.text != "(":
            message = "a definition is def NAME(x): ..."
            return self.broken(source.error(LanguageError, message, start.span.to(opening.span)))
        parameters, fault = grammar.parameters(")")
        if fault is None:
            fault = grammar.close(")", opening)
        while grammar.token.text not in (":", *_ENDS):
            grammar.advance()  # -> torch.Tensor
        colon = grammar.advance()
        if fault is None and not grammar.has_failed and colon.text != ":":
            fault = source.error(LanguageError, "a definition is def NAME(x): ...", start.span.to(name.span))
        if fault is not None or grammar.has_failed:
            if not grammar.has_failed:
                grammar.fail(fault or source.error(LanguageError, "", start.span))
            return nodes.Function(start.span, position, name.text, parameters, (), start, 0, 0, (), fault)
        body, end = grammar.position, self._end_of_block(self._column(start))
        lines, reached = grammar.measured(lambda: self._body(end))
        grammar.position = end
        span = start.span.to(grammar.tokens[end - 1].span)
        return nodes.Function(
            span, position, name.text, parameters, tuple(lines), grammar.tokens[body], end - body, 0, reached, None
        )

    def _body(self, end: int) -> list[nodes.Statement | nodes.Return]:
        """The statements of a definition up to its return, or to what cannot be read."""
        grammar, found = self.grammar, list[nodes.Statement | nodes.Return]()
        while grammar.position < end and not grammar.has_failed:
            if grammar.accept("\n") or grammar.accept(";"):
                continue
            start, word = grammar.position, grammar.token
            if grammar.at_word("return"):
                grammar.advance()
                value = grammar.expression()
                is_whole = grammar.position >= end or grammar.token.text in ("\n", ";")
                fault = None if is_whole else grammar.unexpected(" in a function")
                return [*found, nodes.Return(word.span.to(value.span), value, fault)]
            if word.kind != "name" or grammar.tokens[start + 1].text != "=":
                hint, message = "a function is assignments and a return", f"unexpected '{word.text}' in a function"
                found.append(self.broken(grammar.source.error(LanguageError, message, word.span, hint=hint)))
                break
            grammar.position += 2
            value = grammar.expression()
            span = word.span.to(grammar.behind().span)
            found.append(nodes.Statement(span, start, start + 2, grammar.position, (word,), False, value, None))
        return found

    def _column(self, token: Token) -> int:
        return token.span.start - self.grammar.source.text.rfind("\n", 0, token.span.start) - 1

    def _end_of_block(self, column: int) -> int:
        """The position behind the body of a definition: the rest of the line, or the lines that stand further in."""
        tokens, position = self.grammar.tokens, self.grammar.position
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

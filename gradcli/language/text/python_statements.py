"""Words to the statements that a text may have beside expressions: definitions, several names at once, imports.

    line       : "import" ... | "from" ...
               | "def" NAME "(" parameters ")" [...] ":" block
               | NAME "(" parameters ")" [":"] "=" expression               as mathematics defines functions
               | "return" values                                            in a definition
               | (NAME "=")+ values | names "=" values | NAME ":" type "=" values
               | operand "." NAME "=" expression | expression
    block      : statements on the same line | lines that stand further in
    parameters : [NAME [":" type] ["=" expression] ("," ...)*]
    atom       : "lambda" parameters ":" expression                         beside those of the grammar

Every other statement of Python is code: it is refused at its place, with the command that runs it.  Behind a line that
cannot be read the next one is, as one that says nothing about the function may be anything.
"""

from __future__ import annotations

import re

from gradcli.errors import GradcliError
from gradcli.language.text import nodes
from gradcli.language.text.grammar import IN_PLACE, Grammar
from gradcli.language.text.source import ENDS, Source
from gradcli.language.text.tokens import STRING_PREFIX, Token

_SEVERAL = re.compile(r"\((,+)\)|\[(,+)\]|,+")
"""The signs around and between several names."""


def parse_python(source: Source) -> tuple[nodes.Line, ...]:
    """The statements of a text.

    >>> type(parse_python(Source("import torch", "EXPR"))[0]).__name__
    'Import'
    """
    grammar = PythonGrammar(source)
    return grammar.each(grammar.line)


class PythonGrammar(Grammar):
    """Reads statements, and the bodies of definitions."""

    def __init__(self, source: Source) -> None:
        self.functions = 0  # how many definitions are around this place
        super().__init__(source)

    def line(self) -> nodes.Line:
        """One statement; behind one that cannot be read, the next line is."""
        start = self.position
        found = self._line()
        if self.has_failed:
            self.position = start
            self._rest()
        return found

    def _line(self) -> nodes.Line:
        first = self.token
        if first.text == "@" and first.kind == "operator":
            return self._code("a decorator", first)
        if first.kind != "keyword" or first.text in ("lambda", "not", "True", "False", "None"):
            return self._equation() or self._assignment()
        match first.text:
            case "import" | "from":
                return self._import()
            case "def":
                return self._definition()
            case "return" if self.functions:
                return self._return()
            case "return":
                hint = "write the expression alone; the last one is the output"
                return self.broken_line(self.source.error("unexpected 'return'", first.span, hint=hint))
        article = "an" if first.text[0] in "aei" else "a"
        return self._code(
            f"{article} '{first.text}' {'loop' if first.text in ('for', 'while') else 'statement'}", first
        )

    def _code(self, what: str, token: Token) -> nodes.Statement:
        return self.broken_line(self.source.code(what, token.span))

    @property
    def at_end_of_line(self) -> bool:
        """Whether nothing is left of the line, or nothing can be read any more."""
        return self.at_end or (self.token.kind == "operator" and self.token.text in ENDS)

    def _rest(self) -> None:
        """Go to the end of the line."""
        while not self.at_end_of_line:
            self.advance()

    def _return(self) -> nodes.Return | nodes.Statement:
        word = self.advance()
        if self.at_end_of_line:
            return self._code("a 'return' without a value", word)
        value = self.listed()
        return nodes.Return(word.span.to(value.span), value, self.ending())

    # -- assignments

    def _assignment(self) -> nodes.Statement | nodes.Assignment:
        """Names for a value, a member for one, or a value alone."""
        start, first = self.position, self.token
        signs = self._signs()
        if first.kind == "name" and self.tokens[start + 1].text == ":" and signs:
            return self._named(start, signs[0] + 1, (first,), is_tuple=False)
        if not signs:
            return self.statement()
        sign = self.tokens[signs[0]]
        if sign.text != "=":
            return self.broken_line(self.in_place(first, sign))
        targets = self.tokens[start : signs[-1]]
        names = tuple(token for token in targets if token.kind == "name")
        others = "".join(token.text for token in targets if token.kind != "name")
        if others == "=" * (len(signs) - 1) and len(names) == len(signs):
            return self._named(start, signs[-1] + 1, names, is_tuple=False)
        if names and _SEVERAL.fullmatch(others) and len(names) <= others.count(",") + 1:
            return self._named(start, signs[0] + 1, names, is_tuple=True)
        if "*" in others:
            return self._code("unpacking by a star", first)
        target = self.postfix()
        *trailers, last = target.trailers if isinstance(target, nodes.Postfix) else (None,)
        if isinstance(last, nodes.Member) and last.arguments is None and self.position == signs[0]:
            self.advance()
            value, owner = self.expression(), target.operand  # type: ignore[union-attr]
            if trailers:
                owner = nodes.Postfix(first.span.to(trailers[-1].span), owner, tuple(trailers))
            return nodes.Assignment(first.span.to(value.span), owner, last, value, self.ending())
        if isinstance(last, nodes.Subscript) and self.position == signs[0]:
            return self._code("an element that is assigned", first)
        hint = "an assignment is NAME = expression; statements are separated by ';'"
        found = self.tokens[self.position]
        return self.broken_line(self.source.error(f"unexpected '{found.text}'", found.span, hint=hint))

    def _signs(self) -> list[int]:
        """Where the signs of assignments are on this line, outside of brackets and functions."""
        found: list[int] = []
        for position, depth in self.source.levels(self.position):
            token = self.tokens[position]
            if depth == 0 and (token.text in ENDS or (token.kind == "keyword" and token.text == "lambda")):
                break
            if depth == 0 and token.kind == "operator" and (token.text == "=" or token.text in IN_PLACE):
                found.append(position)
        return found

    def _named(self, start: int, value_at: int, targets: tuple[Token, ...], *, is_tuple: bool) -> nodes.Statement:
        """Names for a value."""
        self.position = value_at
        value = self.listed()
        stop, span = self.position, self.tokens[start].span.to(self.behind().span)
        return nodes.Statement(span, start, value_at, stop, targets, is_tuple, value, self.ending())

    def listed(self) -> nodes.Node:
        """A value, or a tuple without parentheses."""
        first = self.expression()
        if self.token.text != "," or self.has_failed:
            return first
        items = [first]
        while self.accept(",") and not self.at_end_of_line:
            items.append(self.expression())
        opening = Token("operator", "(", first.span)
        return nodes.Items(first.span.to(items[-1].span), opening, tuple(items), True, None)

    def _import(self) -> nodes.Import:
        """An import, of which the names are remembered."""
        word = self.advance()
        module = self._dotted_name() if word.text == "from" else ""
        if word.text == "from":
            self.advance()
        bracket = self.accept("(")
        found: list[tuple[str, str]] = [("*", module)] if self.token.text == "*" else []
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
        self._rest()
        return nodes.Import(word.span.to(self.behind().span), tuple(found))

    def _dotted_name(self) -> str:
        words = [self.advance().text]
        while self.token.text == "." and self.tokens[self.position + 1].kind == "name":
            self.advance()
            words.append(self.advance().text)
        return ".".join(words)

    # -- definitions

    def _equation(self) -> nodes.Function | None:
        """`f(x, y) = x*y` and `f(x) := x**2`; None where the line is something else."""
        if self.token.kind != "name" or self.tokens[self.position + 1].text != "(":
            return None
        start = self.position
        closing = next((n for n, depth in self.source.levels(start + 1) if depth == 0), start)
        colon = closing + 2 < len(self.tokens) and self.tokens[closing + 1].text == ":"
        if closing == start or self.tokens[closing + 1 + colon].text != "=":
            return None
        name = self.advance()
        self.advance()
        parameters, fault = self.parameters(")")
        if fault is not None or self.position != closing or not parameters:
            self.position = start
            return None
        self.position = body = closing + 2 + colon
        value = self.expression()
        returned = nodes.Return(value.span, value, self.ending())
        width = max(self.position - body, 1)
        return nodes.Function(name.span.to(value.span), start, name.text, parameters, (returned,), width, None)

    def _definition(self) -> nodes.Line:
        """`def f(x): ...` with its body, which may be wrong where nothing calls it."""
        source, position, start = self.source, self.position, self.advance()
        name, opening = self.advance(), self.advance()
        wanted = source.error("a definition is def NAME(x): ...", start.span.to(name.span))
        if name.kind != "name" or opening.text != "(":
            return self.broken_line(wanted)
        parameters, fault = self.parameters(")")
        fault = fault or self.close(")", opening)
        while self.token.text != ":" and not self.at_end_of_line:
            self.advance()  # -> torch.Tensor
        if fault is None and not self.accept(":"):
            fault = wanted
        if fault is not None:
            self.fail(fault)
            return nodes.Function(start.span, position, name.text, parameters, (), 0, fault)
        if self.depth >= self.max_depth:
            return self.broken_line(self.too_deep(start, self.max_depth).error)
        body = self.position
        self.functions += 1
        self.depth += 1
        lines = self._block(start)
        self.depth -= 1
        self.functions -= 1
        span, width = start.span.to(self.tokens[max(self.position, body + 1) - 1].span), max(self.position - body, 1)
        return nodes.Function(span, position, name.text, parameters, lines, width, None)

    def _block(self, word: Token) -> tuple[nodes.Line, ...]:
        """The statements behind the colon of a definition that begins with a word."""
        is_inline = self.token.text != "\n"
        end = len(self.source.tokens) if is_inline else self._end_of_block(self._column(word))
        found: list[nodes.Line] = []
        while self.position < end and not self.at_end:
            if self.accept(";") or (not is_inline and self.accept("\n")):
                continue
            if is_inline and self.token.text == "\n":
                break
            found.append(self.line())
            if is_inline and isinstance(found[-1], nodes.Return):
                break  # what follows `return ...;` on the same line is a statement of the text
        if not is_inline:
            self.position = end
        return tuple(found)

    def _column(self, token: Token) -> int:
        line = self.source.text.rfind("\n", 0, token.span.start) + 1
        first = next((t for t in self.tokens[self.source.position(line) :] if t.text != "\n"), token)
        return min(first.span.start, token.span.start) - line

    def _end_of_block(self, column: int) -> int:
        """The position behind the lines that stand further in, from the end of the line before them."""
        tokens, position = self.tokens, self.position
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

    # -- functions as values

    def atom(self) -> nodes.Node:
        """As in the language, a lambda, and a word in quotes with letters before it."""
        token = self.token
        if self.at_word("lambda"):
            return self._lambda()
        if token.text == "{" and token.kind == "operator":
            return self.fail(self.source.code("a dict or a set", token.span))
        if token.text in ("*", "**") and token.kind == "operator":
            return self.fail(self.source.code("unpacking by a star", token.span))
        is_before = token.kind == "name" and self.tokens[self.position + 1].kind == "string"
        if is_before and STRING_PREFIX.fullmatch(token.text):
            self.advance()
            return self.word()
        return super().atom()

    def _lambda(self) -> nodes.Node:
        """`lambda x: ...`; where it is assigned, its name is part of it."""
        start, word = self.position, self.token
        if self.indices >= self.max_depth:
            return self.too_deep(word, self.max_depth)
        is_named = start > 1 and self.tokens[start - 1].text == "=" and self.tokens[start - 2].kind == "name"
        first = self.tokens[start - 2] if is_named else word
        self.position += 1
        parameters, fault = self.parameters(":")
        if fault is None and not self.accept(":"):
            fault = self.source.error("a function is lambda x: ...", word.span)
        body, end = self.position, self._end_of_expression()
        self.indices += 1
        value = self.expression() if fault is None else self.fail(fault)
        self.indices -= 1
        behind = None
        if not self.has_failed and self.position < end and self.token.text not in ("\n", ";"):
            behind = self.unexpected(" in a function")
        self.position = end
        result = nodes.Return(value.span, value, behind)
        span, name = first.span.to(self.tokens[end - 1].span), first.text if is_named else ""
        return nodes.Function(span, start, name, parameters, (result,), max(end - body, 1), fault)

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
        while self.token.text != closing and not self.at_end:
            name = self.advance()
            if name.text in ("*", "**", "/"):
                return tuple(found), self.source.code("a parameter with a star or a slash", name.span)
            if name.kind != "name":
                return tuple(found), self.source.error(f"unexpected '{name.text}' among the parameters", name.span)
            if closing == ")" and self.accept(":"):
                self._pass_over_type()
            default = self.expression() if self.accept("=") else None
            if default is None and found and found[-1].default is not None:
                message = "a parameter without a default follows one that has one"
                return tuple(found), self.source.error(message, name.span)
            found.append(nodes.Parameter(name.text, default))
            if not self.accept(","):
                break
        return tuple(found), None

    def _pass_over_type(self) -> None:
        """Go to the comma, sign or bracket behind the type of a parameter."""
        for position, depth in self.source.levels(self.position):
            self.position = position
            if depth < 0 or (depth == 0 and self.token.text in (",", "=", *ENDS)):
                return

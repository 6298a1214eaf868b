"""Words to the statements of Python: definitions, loops, branches, assignments of every kind.

    statement  : "import" ... | "from" ... | "def" NAME "(" parameters ")" ":" block
               | NAME "(" parameters ")" [":"] "=" expression               as mathematics defines functions
               | "class" NAME ["(" expressions ")"] ":" block
               | "for" target "in" values ":" block ["else" ":" block] | "while" expression ":" block ...
               | "if" expression ":" block ("elif" expression ":" block)* ["else" ":" block]
               | "with" expression ["as" target] ("," ...)* ":" block
               | "return" [values] | "pass" | "break" | "continue" | "assert" ... | "del" ... | "raise" ...
               | (target "=")* values | target sign "=" values | NAME ":" type ["=" values] | expression
    block      : statements on the same line | lines that stand further in

What a line says nothing about the function with may be anything: behind an error, the next line is read.
"""

from __future__ import annotations

from collections.abc import Callable

from gradcli.errors import GradcliError
from gradcli.language.text import nodes
from gradcli.language.text.grammar import IN_PLACE
from gradcli.language.text.python_expressions import PythonExpressions
from gradcli.language.text.source import ENDS, Source
from gradcli.language.text.tokens import Token

_UNREAD = frozenset(["async", "await", "yield", "except", "finally"])

_WORDS = frozenset(["pass", "break", "continue", "assert", "del", "global", "nonlocal", "raise"])

_DECORATORS = frozenset(
    "no_grad enable_grad script staticmethod property compile jit njit wraps checkpoint overload".split()
)
"""What stands before a definition and changes none of its numbers, or only how it is called, or differentiated."""


def parse_python(source: Source) -> tuple[nodes.Line, ...]:
    """The statements of a snippet.

    >>> type(parse_python(Source("import torch", "EXPR"))[0]).__name__
    'Import'
    """
    grammar = PythonGrammar(source)
    return grammar.each(grammar.line)


class PythonGrammar(PythonExpressions):
    """Reads statements, and those that stand further in behind some of them."""

    def __init__(self, source: Source) -> None:
        self.functions = 0  # how many definitions are around this place
        super().__init__(source)

    def line(self) -> nodes.Line:
        """One statement; behind one that cannot be read, the next line is."""
        start = self.position
        found = self._line()
        if self.has_failed:
            self.position = start
            while self.token.text not in ENDS:
                self.position += 1
        return found

    def _line(self) -> nodes.Line:
        first = self.token
        if first.text == "@" and first.kind == "operator":
            return self._decorator()
        if first.kind != "keyword":
            return self._equation() or self._assignment()
        if first.text in _UNREAD:
            return self._unread(first)
        if first.text in _WORDS:
            return self._keyword()
        match first.text:
            case "import" | "from":
                return self._import()
            case "def":
                return self._definition()
            case "return":
                return self._return()
            case "class" | "for" | "while" | "if" | "with" | "try":
                return self._compound(first)
        return self._assignment()

    def _unread(self, word: Token) -> nodes.Line:
        return self.broken_line(self.source.error(f"a '{word.text}' statement is not read", word.span))

    def _rest(self) -> None:
        """Go to the end of the line."""
        while self.token.text not in ENDS:
            self.advance()

    def _keyword(self) -> nodes.Keyword:
        """`pass` and the like, with what is behind it."""
        word = self.advance()
        self._rest()
        return nodes.Keyword(word.span.to(self.behind().span), word)

    def _decorator(self) -> nodes.Line:
        """`@torch.no_grad()`, which stands on a line of its own."""
        sign, start = self.advance(), self.position
        self._rest()
        words = [token for token in self.tokens[start : self.position] if token.kind == "name"]
        if not any(word.text in _DECORATORS for word in words):
            return self.broken_line(self.source.error("this decorator is not read", sign.span.to(self.behind().span)))
        return nodes.Keyword(sign.span.to(self.behind().span), sign)

    def _return(self) -> nodes.Return | nodes.Statement:
        word = self.advance()
        if not self.functions:
            message, hint = (
                "unexpected 'return'",
                "write the expression alone; the last one is the output",
            )
            return self.broken_line(self.source.error(message, word.span, hint=hint))
        if self.token.text in ENDS:
            return nodes.Return(word.span, None, None)
        value = self.listed()
        fault = None if self.token.text in ENDS or self.has_failed else self.unexpected(" in a function")
        if fault is not None:
            self._rest()
        return nodes.Return(word.span.to(value.span), value, fault)

    # -- assignments

    def _assignment(self) -> nodes.Statement | nodes.Assignment:
        """Names for a value, or a value alone."""
        start, first = self.position, self.token
        signs = self._signs()
        if first.kind == "name" and self.tokens[start + 1].text == ":":
            return self._annotated(signs)
        if len(signs) == 1 and self.tokens[signs[0]].text == "=":
            value_at = self._behind_targets()
            if value_at > start:
                return self._named(start, value_at)
        elif not signs:
            return self.statement()
        targets = []
        for position in signs:
            targets.append(self.target())
            if self.token.text == ":" and len(signs) == 1 and not self.has_failed:
                self.position = position  # behind a type, which is passed over: self.k: int = 3
            if self.position != position and not self.has_failed:
                hint = "an assignment is NAME = expression; statements are separated by ';'"
                self.fail(self.source.error(f"unexpected '{self.token.text}'", self.token.span, hint=hint))
            sign = self.tokens[position]
            if self.has_failed:
                break
            self.advance()
        value = self.broken if self.has_failed else self.listed()
        span = first.span.to(self.behind().span)
        return nodes.Assignment(span, tuple(targets), sign, value, self.ending())

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

    def _annotated(self, signs: list[int]) -> nodes.Statement:
        """`x: torch.Tensor = value`; the type is passed over."""
        start, name = self.position, self.token
        if not signs:
            self._rest()
            return self.broken_line(self.source.unexpected(start + 1))
        return self._named(start, signs[0] + 1, (name,))

    def _named(self, start: int, value_at: int, targets: tuple[Token, ...] = ()) -> nodes.Statement:
        """Names alone for a value."""
        first = self.tokens[start]
        is_tuple = not targets and value_at - start > 2
        targets = targets or tuple(token for token in self.tokens[start : value_at - 1] if token.kind == "name")
        self.position = value_at
        value = self.listed()
        stop, span = self.position, first.span.to(self.behind().span)
        return nodes.Statement(span, start, value_at, stop, targets, is_tuple, value, self.ending())

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
        value, reached = self.measured(self.expression)
        returned = nodes.Return(value.span, value, self.ending())
        span, first = name.span.to(value.span), self.source.tokens[min(body, len(self.source.tokens) - 1)]
        width = max(self.position - body, 1)
        return nodes.Function(span, start, name.text, parameters, (returned,), first, width, 0, reached, None)

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
        while self.token.text not in (":", *ENDS) and not self.at_end:
            self.advance()  # -> torch.Tensor
        colon = self.advance()
        if fault is None and not self.has_failed and colon.text != ":":
            fault = source.error("a definition is def NAME(x): ...", start.span.to(name.span))
        if fault is not None:
            self.fail(fault)
        if self.has_failed:
            return nodes.Function(start.span, position, name.text, parameters, (), start, 0, 0, (), fault)
        if self.depth >= self.max_depth:
            return self.broken_line(self.too_deep(start, self.max_depth).error)
        body = self.position
        self.functions += 1
        self.depth += 1
        block, reached = self.measured(lambda: self._block(start))
        self.depth -= 1
        self.functions -= 1
        span = start.span.to(self.tokens[max(self.position, body + 1) - 1].span)
        first = self.tokens[body]
        depth = self.depth + 1
        return nodes.Function(
            span, position, name.text, parameters, block.lines, first, block.width, depth, reached, None
        )

    # -- blocks

    def _compound(self, word: Token) -> nodes.Line:
        """A statement with a block behind its colon."""
        if self.depth >= self.max_depth:
            broken = self.too_deep(word, self.max_depth)
            return self.broken_line(broken.error)
        if self.position and self.tokens[self.position - 1].text == ";":
            message = f"'{word.text}' begins a line of its own, as in Python"
            return self.broken_line(self.source.error(message, word.span))
        self.depth += 1
        read: dict[str, Callable[[Token], nodes.Line]] = {
            "for": self._for,
            "while": self._while,
            "if": self._if,
            "with": self._with,
            "class": self._class,
            "try": self._try,
        }
        found = read[word.text](word)
        self.depth -= 1
        return found

    def _headed(self, word: Token) -> nodes.Block:
        """The block behind a colon; nothing of it is read where what stands before the colon cannot be."""
        fault: GradcliError | None = None
        if self.has_failed:
            fault = self.broken.error
        elif self.token.text != ":":
            is_end = self.token.text in ("\n", "")
            message = f"':' is missing behind this '{word.text}'"
            fault = self.source.error(message, word.span) if is_end else self.unexpected(" where ':' was expected")
        if fault is not None:
            self.position = self.source.position(word.span.start)
            while self.token.text not in ("\n", "") or self.token.kind == "string":
                self.position += 1
            self.position = self._end_of_block(self._column(word))
            broken = nodes.Broken(word.span, fault)
            return nodes.Block((nodes.Statement(word.span, 0, 0, 1, (), False, broken, None),), 1)
        self.advance()
        return self._block(word)

    def _for(self, word: Token) -> nodes.Line:
        self.advance()
        target = self.target()
        values: nodes.Node
        if self.at_word("in"):
            self.advance()
            values = self.listed()
        else:
            values = self.fail(self.source.error("a loop is for NAME in range(...)", word.span.to(target.span)))
        body = self._headed(word)
        return nodes.For(word.span.to(values.span), word, target, values, body, self._else(word))

    def _while(self, word: Token) -> nodes.Line:
        self.advance()
        condition = self.expression()
        body = self._headed(word)
        return nodes.While(word.span.to(condition.span), word, condition, body, self._else(word))

    def _if(self, word: Token) -> nodes.Line:
        self.advance()
        condition = self.expression()
        body = self._headed(word)
        if self._continues(word, "elif"):
            behind = self.token
            start, deeper = self.position, self._compound_branch(behind, word)
            other = nodes.Block((deeper,), self.position - start)
        else:
            other = self._else(word)
        return nodes.If(word.span.to(condition.span), word, condition, body, other)

    def _compound_branch(self, word: Token, outer: Token) -> nodes.Line:
        """`elif`, a level further in: one that is too deep is refused as brackets are."""
        if self.depth >= self.max_depth:
            return self.broken_line(self.too_deep(word, self.max_depth).error)
        self.depth += 1
        found = self._if(word)
        self.depth -= 1
        return found

    def _with(self, word: Token) -> nodes.Line:
        self.advance()
        managers: list[tuple[nodes.Node, nodes.Node | None]] = []
        while True:
            manager = self.expression()
            target = None
            if self.token.text == "as" and not self.has_failed:
                self.advance()
                target = self.postfix()
            managers.append((manager, target))
            if not self.accept(","):
                break
        return nodes.With(word.span.to(self.behind().span), tuple(managers), self._headed(word))

    def _try(self, word: Token) -> nodes.Line:
        """What runs where no error is raised; what stands behind `except` is not read."""
        self.advance()
        blocks = [self._headed(word)]
        is_caught = False
        while self._continues(word, "except"):
            is_caught = True
            self.position = self._end_of_line()
            self.position = self._end_of_block(self._column(word))
        for other in ("else", "finally"):
            if self._continues(word, other):
                blocks.append(self._headed(self.advance()))
                is_caught |= other == "finally"
        if not is_caught and not self.has_failed:
            return self.broken_line(self.source.error("'except' is missing behind this 'try'", word.span))
        lines = tuple(line for block in blocks for line in block.lines)
        return nodes.Try(word.span, nodes.Block(lines, sum(block.width for block in blocks)))

    def _end_of_line(self) -> int:
        position = self.position
        while self.tokens[position].text != "\n" and self.tokens[position].kind != "end":
            position += 1
        return position

    def _class(self, word: Token) -> nodes.Line:
        self.advance()
        name, bases = self.advance(), list[nodes.Node]()
        if self.accept("("):
            while self.token.text != ")" and not self.at_end:
                bases.append(self.expression())
                if not self.accept(","):
                    break
            if not self.accept(")") and not self.has_failed:
                self.fail(self.unexpected(" where ')' was expected"))
        return nodes.Class(word.span.to(name.span), name, tuple(bases), self._headed(word))

    def _continues(self, word: Token, other: str) -> bool:
        """Whether a statement goes on with this word, in the column of its first one."""
        position = self.position
        while self.tokens[position].text in ("\n", ";") and self.tokens[position].kind == "operator":
            position += 1
        token = self.tokens[position]
        is_it = token.kind == "keyword" and token.text == other and self._column(token) == self._column(word)
        if is_it:
            self.position = position
        return is_it

    def _else(self, word: Token) -> nodes.Block:
        if not self._continues(word, "else"):
            return nodes.Block((), 0)
        behind = self.advance()
        return self._headed(behind)

    def _block(self, word: Token) -> nodes.Block:
        """The statements behind the colon of a statement that begins with a word."""
        start = self.position
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
        return nodes.Block(tuple(found), max(self.position - start, 1))

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

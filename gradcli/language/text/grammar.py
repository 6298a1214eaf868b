"""Words to the tree of an expression, by precedence climbing, and to the statements of a text, or to one value.

    program    : statement ((";" | newline) statement)*
    statement  : NAME "=" expression | expression
    value      : expression ("," expression)* [","]
    expression : operation ["if" operation "else" expression]
    operation  : unary (operator unary)*                                    by precedence, from the left
    operator   : "or" | "and" | comparison | "|" | "&" | "+" | "-" | product | nothing
    product    : "*" | "/" | "//" | "%" | "@" | ".*" | "./" | "\\" | "×" | "⊗"
    unary      : ("+" | "-" | "~") unary | "not" comparison | power
    power      : postfix (("**" | "^" | ".^") ("T" | unary))?               from the right
    postfix    : atom ("[" bound ("," bound)* "]" | "." NAME [arguments] | "'" | ".'")*
    atom       : NUMBER | NAME [arguments] | STRING | "None" | "True" | "False" | "(" items ")" | "[" items "]"
               | what formulas have, as they are printed: see `mathematics`
    items      : [row (";" row)* | loop]                                    rows are those of a matrix in brackets
    row        : expression (("," | nothing) expression)*                   nothing before a number in brackets
    loop       : expression ("for" NAME "in" operation ["if" operation])+
    arguments  : "(" [argument ("," argument)*] ")"        argument : [NAME "="] (expression | loop)
    bound      : "..." | [expression] [":" [expression] [":" [expression]]]

Nothing between two operands is a product (`2x`, `3(x+1)`, `A x`); it binds like `*`, so `1/2x` is x/2.  As in Python,
`&` and `|` bind more tightly than comparisons.  Chains of operators loop and only nesting recurses, at most `MAX_DEPTH`
deep.

The first thing in a line that cannot be read is its error: the line is then a `Broken` one, and the lines after it are
read, as a line that says nothing about the function may be anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gradcli.errors import GradcliError, Span
from gradcli.language.text import mathematics, nodes
from gradcli.language.text.source import LEVELS_OF_INDEX, MAX_DEPTH, SourceText
from gradcli.language.text.tokens import (
    CLOSING,
    COMPARISON,
    JUXTAPOSED,
    LEVELS,
    POWERS,
    PRODUCT,
    Token,
    is_position,
)

AnyLine = TypeVar("AnyLine", bound=nodes.LineNode)

_SIGNS = frozenset([*LEVELS, *POWERS])
"""Signs that stand between two operands."""

_OPENING = ("(", "‖", "⟨")
"""Signs with which a factor may begin that stands after another one."""

IN_PLACE = frozenset(["+=", "-=", "*=", "/=", "//=", "**=", "@=", "%="])
"""Signs that change the name before them."""


def parse(source: SourceText) -> tuple[nodes.Statement, ...]:
    """Parse the statements of a text.

    >>> [statement.targets[0].text for statement in parse(SourceText("y = x**2; z = 2y", "EXPR"))]
    ['y', 'z']
    """
    grammar = Grammar(source)
    return grammar.lines(grammar.statement)


def parse_value(source: SourceText) -> nodes.Value:
    """Parse a text as one value; a comma at the top makes a vector.

    >>> len(parse_value(SourceText("1, 2", "--at")).items)
    2
    """
    grammar = Grammar(source)
    found = grammar.tried(grammar.value)
    return nodes.Value((found,), False) if isinstance(found, nodes.Broken) else found


def parse_equations(source: SourceText) -> tuple[nodes.EquationNode, ...]:
    """Parse a text as formulas, each with its left-hand side if it has one; a comma at the top ends the last.

    >>> [equation.value.text for equation in parse_equations(SourceText("dy[0]/dx = 1; dy[1]/dx = 2", "--claim"))]
    ['1', '2']
    """
    grammar = Grammar(source)
    found: list[nodes.EquationNode] = []
    while not grammar.at_end:
        if not (grammar.accept(";") or grammar.accept("\n")):
            found.append(mathematics.equation(grammar))
    return tuple(found)


class Grammar(mathematics.ExpressionReader):
    """Reader of expressions, and of the statements of a text, one after the other."""

    indent = 0  # of the first statement, counted from 1
    juxtaposes = True  # whether names side by side are a product, as in mathematics

    # -- operators

    def expression(self, minimum: int = 0) -> nodes.Node:
        """Read operators that bind at least this tightly, and at 0 a choice."""
        first = self.unary()
        steps: list[nodes.StepNode] = []
        while True:
            sign = self.tokens[self.position]
            if sign.text == self.closing:
                break
            text = "==" if self.cases and sign.text == "=" else sign.text
            is_implicit = text not in LEVELS or sign.kind not in ("operator", "keyword")
            if is_implicit:
                if not self.juxtaposed():
                    break
                text = JUXTAPOSED
            if (level := PRODUCT if is_implicit else LEVELS[text]) < minimum:
                break
            self.position += not is_implicit
            steps.append(nodes.StepNode(text, self.expression(level + 1)))
        whole = first.span.to(steps[-1].operand.span) if steps else first.span
        node = nodes.Chain(whole, first, tuple(steps)) if steps else first
        return self._choice(node) if minimum == 0 and self.at_word("if") else node

    def juxtaposed(self) -> bool:
        """Tell whether a factor stands here directly after another one."""
        before, token = self.tokens[self.position - 1 : self.position + 1]
        if token.kind != "name" and not (token.kind == "operator" and token.text in _OPENING):
            return False
        if before.kind == "number" or before.text == ")":
            return True
        is_operand = before.kind == "name" or (before.kind == "operator" and before.text in (*CLOSING, "‖"))
        return self.juxtaposes and is_operand and not self._is_option()

    def _is_option(self) -> bool:
        """Tell whether the word before this place is an option of the shell, as in `x**2 --wrt x`."""
        first, second, word = (self.tokens[max(self.position - n, 0)] for n in (3, 2, 1))
        is_joined = first.span.stop == second.span.start and second.span.stop == word.span.start
        return first.text == second.text == "-" and is_joined

    def _choice(self, chosen: nodes.Node) -> nodes.Node:
        """Read `a if condition else b`."""
        self.advance()
        with self.nested():
            condition = self.expression(1)
            self.require("else")
            other = self.expression()
        return nodes.Choice(chosen.span.to(other.span), chosen, condition, other)

    def unary(self) -> nodes.Node:
        """Read signs and negations before a power, which is a base and its exponent."""
        sign = self.tokens[self.position]
        is_not = sign.text == "not" and sign.kind == "keyword"
        is_sign = is_not or (sign.kind == "operator" and sign.text in ("-", "+", "~"))
        base = None if is_sign else self.postfix()
        if base is not None:
            sign = self.tokens[self.position]
            if sign.kind != "operator" or sign.text not in POWERS:
                return base
        self.position += 1
        with self.nested():
            operand = self.expression(COMPARISON) if is_not else self._transpose() if base is not None else None
            operand = operand or self.unary()
        if base is None:
            return nodes.Unary(sign.span.to(operand.span), sign, operand)
        return nodes.Power(base.span.to(operand.span), sign, base, operand)

    def _transpose(self) -> nodes.Node | None:
        """Read the T, or -T, of an exponent, after which factors may stand, `x^T(y)`; None for any other exponent."""
        signs = 1 if self.token.text == "-" else 0
        sign, name = self.token, self.tokens[self.position + signs]
        if (name.kind, name.text) != ("name", "T") or self.behind().text != "^":
            return None
        self.position += 1 + signs
        node = nodes.NameNode(name.span, name, None)
        return nodes.Unary(sign.span.to(name.span), sign, node) if signs else node

    # -- operands

    def postfix(self) -> nodes.Node:
        """Read an atom with the indices and members after it."""
        operand = self.atom()
        trailers: list[nodes.Trailer] = []
        while (trailer := self.trailer()) is not None:
            trailers.append(trailer)
        return nodes.Postfix(operand.span.to(trailers[-1].span), operand, tuple(trailers)) if trailers else operand

    def trailer(self) -> nodes.Trailer | None:
        """Read an index or a member after an operand."""
        token = self.tokens[self.position]
        if token.kind == "number":
            return self._position()
        if token.kind != "operator" or token.text not in ("[", ".", "'", ".'"):
            return None
        if token.text in ("'", ".'"):
            return nodes.TransposeMark(self.advance().span)
        return self._subscript() if token.text == "[" else self._member()

    def atom(self) -> nodes.Node:
        """Read a number, a name, a word, or an expression in brackets."""
        token = self.tokens[self.position]
        match token.kind:
            case "number":
                self.position += 1
                if "_" in token.text:
                    mathematics.require_power(self.source, self.tokens[self.position - 2], token)
                return nodes.NumberNode(token.span, token.text)
            case "name" if token.text in mathematics.SIGNS and mathematics.has_ranges(self.tokens, self.position + 1):
                return mathematics.ranged(self)
            case "name" if token.text in mathematics.PREFIXES and self._at_prefix():
                return mathematics.prefixed(self)
            case "name" if token.text != self.closing:
                self.position += 1
                if self.tokens[self.position].text != "(" or token.text in self.source.factors:
                    return nodes.NameNode(token.span, token, None)
                arguments = self.arguments()
                return nodes.NameNode(token.span.to(arguments.span), token, arguments)
            case "operator" if token.text in ("(", "["):
                is_ranged = token.text == "[" and mathematics.has_ranges(self.tokens, self.position)
                return mathematics.ranged(self) if is_ranged else self._brackets()
            case "operator" if token.text == "|":
                return mathematics.bars(self)
            case "operator" if token.text == "‖":
                return mathematics.norm(self)
            case "operator" if token.text in ("<", "⟨"):
                return mathematics.inner_product(self)
            case "brace" if token.text == "{":
                return mathematics.cases(self)
        if token.kind == "string" or (token.kind == "keyword" and token.text in ("True", "False", "None")):
            return self.word()
        raise self.unexpected()

    def _at_prefix(self) -> bool:
        """Tell whether a word of mathematics stands here before its argument: a name, another word, or a norm."""
        after, then = self.tokens[self.position + 1 : self.position + 3]
        is_name = after.kind == "name" and then.text != "="
        has_bars = after.text == "|" and self.token.text in mathematics.LOGARITHMS
        is_sign = after.kind == "operator" and (has_bars or after.text in ("‖", "⟨"))
        return self.juxtaposes and (is_name or is_sign)

    def word(self) -> nodes.Word:
        """Read a word that is no operand of its own."""
        token = self.advance()
        return nodes.Word(token.span, token)

    def _brackets(self) -> nodes.Node:
        """Read an expression in parentheses, a tuple, a list, or a loop in brackets."""
        opening = self.advance()
        closing = ")" if opening.text == "(" else "]"
        items: list[nodes.Node] = []
        rows: list[nodes.Items] = []
        has_comma = False
        with self.nested(""):
            while self.token.text != closing and (not items or has_comma):
                items.append(self.looped())
                has_comma = self.accept(",") or (closing == "]" and self.token.kind == "number")
                if closing == "]" and self.token.text == ";" and self.accept(";"):
                    rows.append(nodes.Items(opening.span, opening, tuple(items)))
                    items, has_comma = [], True
                elif not has_comma:
                    break
            self.close(closing, opening)
        if rows:
            last = [nodes.Items(opening.span, opening, tuple(items))] if items else []
            return mathematics.matrix(self, opening, [*rows, *last])
        span = opening.span.to(self.behind().span)
        if closing == ")" and len(items) == 1 and not has_comma and not isinstance(items[0], nodes.Loop):
            return nodes.GroupNode(span, items[0])
        return nodes.Items(span, opening, tuple(items))

    def looped(self) -> nodes.Node:
        """Read an expression, and the loops after it."""
        body = self.expression()
        clauses: list[nodes.Clause] = []
        while self.at_word("for"):
            word, name = self.advance(), self.advance()
            if name.kind != "name" or not self.at_word("in"):
                raise self.source.error("a loop is for NAME in range(...)", word.span.to(name.span))
            self.advance()
            values, condition = self.expression(1), None
            if self.at_word("if"):
                self.advance()
                condition = self.expression(1)
            clauses.append(nodes.Clause(word, name, values, condition))
        if not clauses:
            return body
        if self.token.text not in (")", "]") and not self.at_end:
            raise self.unexpected(" behind a loop")
        return nodes.Loop(body.span.to(self.behind().span), body, tuple(clauses))

    # -- indices, members and arguments after operands

    def arguments(self) -> nodes.Arguments:
        """Read the arguments of a call, with their parentheses."""
        opening = self.advance()
        items: list[nodes.Argument] = []
        with self.nested(""):
            while self.token.text != ")":
                name = self.advance() if self.at_keyword else None
                self.position += name is not None
                items.append(nodes.Argument(name, self.looped()))
                if not self.accept(","):
                    break
            self.close(")", opening)
        return nodes.Arguments(opening.span.to(self.behind().span), opening, tuple(items))

    @property
    def at_keyword(self) -> bool:
        """Tell whether a name and `=` follow, as before an argument."""
        return self.token.kind == "name" and self.tokens[self.position + 1].text == "="

    def _subscript(self) -> nodes.Subscript:
        """Read an index, with its brackets."""
        opening = self.advance()
        with self.nested("", LEVELS_OF_INDEX):
            items = [self._bound()]
            while self.accept(",") and self.token.text != "]":
                items.append(self._bound())
            self.close("]", opening)
        return nodes.Subscript(opening.span.to(self.behind().span), tuple(items))

    def _bound(self) -> nodes.SliceNode:
        """Read one item of an index: expressions and colons, up to the comma or bracket after it."""
        first = self.token
        if first.text == "...":
            return nodes.SliceNode(first.span, (self.word(),))
        parts: list[nodes.Node | None] = [None]
        while self.token.text not in (",", "]") and len(parts) <= 3 and not self.at_end:
            if self.accept(":"):
                parts.append(None)
            elif parts[-1] is None:
                parts[-1] = self.expression()
            else:
                break
        span = first.span if parts == [None] else first.span.to(self.behind().span)
        return nodes.SliceNode(span, tuple(parts))

    def _member(self) -> nodes.Member:
        """Read `.name`, with its arguments."""
        dot, name = self.advance(), self.token
        if name.kind != "name":
            raise self.source.error("a method name must follow the dot", dot.span)
        self.advance()
        arguments = self.arguments() if self.token.text == "(" else None
        return nodes.Member(dot.span.to(arguments.span if arguments else name.span), name, arguments)

    def _position(self) -> nodes.Member | None:
        """Read the `.0` of `net.0.weight`; None where no name follows, and the number is one next to an operand."""
        position, most = self.position, self.position + MAX_DEPTH
        while 0 < position < most and is_position(self.tokens[position - 1], self.tokens[position]):
            position += 1
        if position == self.position or [t.kind for t in self.tokens[position : position + 2]] != ["operator", "name"]:
            return None
        if self.tokens[position].text != "." or self.tokens[position].span.start != self.tokens[position - 1].span.stop:
            return None
        start, stop = (token := self.advance()).span.start, token.span.stop
        return nodes.Member(token.span, Token("number", token.text[1:], Span(start + 1, stop)), None)

    # -- statements

    def lines(self, line: Callable[[], AnyLine]) -> tuple[AnyLine | nodes.Statement, ...]:
        """Read each line by a rule."""
        found = list[AnyLine | nodes.Statement]()
        while True:
            while self.accept(";") or self.accept("\n"):
                pass
            if self.at_end:
                return tuple(found)
            found.append(self.whole_line(line))

    def whole_line(self, read: Callable[[], AnyLine]) -> AnyLine | nodes.Statement:
        """Read a line by a rule; a line that cannot be read is a statement with the error."""
        found = self.tried(read)
        return nodes.Statement(found.span, (), False, found) if isinstance(found, nodes.Broken) else found

    def tried(self, read: Callable[[], mathematics.Read]) -> mathematics.Read | nodes.Broken:
        """Read by a rule; on an error, skip the rest of the line and return the error as a node."""
        start = self.position
        try:
            return read()
        except GradcliError as error:
            self.position, self.cases = start, 0
            while not self.at_end_of_line:
                self.advance()
            return nodes.Broken(self.tokens[start].span.to(self.behind().span), error)

    def statement(self) -> nodes.Statement:
        """Read an assignment or an expression."""
        self.require_beginning()
        name, after = self.tokens[self.position : self.position + 2]
        if name.kind == "name" and after.text in IN_PLACE:
            raise self.in_place(name, after)
        targets = (name,) if name.kind == "name" and after.text == "=" else ()
        self.position += 2 * len(targets)
        return self.stated(name, targets, self.expression())

    def stated(
        self, first: Token, targets: tuple[Token, ...], value: nodes.Node, *, is_tuple: bool = False
    ) -> nodes.Statement:
        """Make the node of a statement that was read from this word on, after which its line ends."""
        span = first.span.to(self.behind().span)
        self.end_line()
        return nodes.Statement(span, targets, is_tuple, value)

    def expression_alone(self) -> nodes.Node:
        """Read an expression, after which its line ends."""
        value = self.expression()
        self.end_line()
        return value

    def in_place(self, name: Token, sign: Token) -> GradcliError:
        """Make the error for `y += 1`."""
        instead = f"write a new name: {name.text}2 = {name.text} {sign.text[:-1]} ..." if name.kind == "name" else ""
        return self.source.code(f"'{sign.text}'", sign.span, instead)

    def end_line(self) -> None:
        """Refuse further words on the line of a statement."""
        if not self.at_end_of_line:
            raise self.unexpected()

    def value(self) -> nodes.Value:
        """Read the whole text as one value."""
        while self.accept("\n"):
            pass
        if self.at_end:
            raise self.source.error("there is no value", self.token.span, hint="write a number, or 1,2")
        items: list[nodes.Node] = [self.expression()]
        is_vector = False
        while self.accept(","):
            is_vector = True
            if self.at_end:
                break
            items.append(self.expression())
        self.indent = 1
        while self.accept("\n"):
            if not self.at_end and self.token.text != "\n":
                self.require_beginning()
        if not self.at_end:
            raise self.unexpected()
        return nodes.Value(tuple(items), is_vector)

    def require_beginning(self) -> None:
        """Refuse a line that seems to go on with the one before, which ended there.

        It is indented more than the first, or begins with a sign that stands between two operands.
        """
        token = self.token
        if self.depth or (self.position and self.behind().text != "\n"):
            return
        indent = token.span.start - self.source.text.rfind("\n", 0, token.span.start)
        is_decorator = token.text == "@" and self.tokens[self.position + 1].span.start == token.span.stop
        is_sign = token.text in _SIGNS and token.kind in ("operator", "keyword") and not is_decorator
        if self.indent and (is_sign or indent > self.indent):
            what = "begins with an operator" if is_sign else "is indented"
            message = f"a line that {what} does not continue the one before"
            raise self.source.error(message, token.span, hint="put parentheses around the whole expression")
        self.indent = self.indent or indent

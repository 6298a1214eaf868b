"""Words to the tree of an expression, by precedence climbing, and to the statements of a text, or to one value.

    program    : statement ((";" | newline) statement)*
    statement  : NAME "=" expression | expression
    value      : expression ("," expression)* [","]
    expression : operation ["if" operation "else" expression]
    operation  : unary (operator unary)*                                    by precedence, from the left
    operator   : "or" | "and" | comparison | "|" | "&" | "+" | "-" | product | nothing
    product    : "*" | "/" | "//" | "%" | "@" | ".*" | "./"
    unary      : ("+" | "-" | "~") unary | "not" comparison | power
    power      : postfix (("**" | "^" | ".^") unary)?                       from the right
    postfix    : atom ("[" bound ("," bound)* "]" | "." NAME [arguments] | "'" | ".'")*
    atom       : NUMBER | NAME [arguments] | STRING | "None" | "True" | "False" | "(" items ")" | "[" items "]"
               | what formulas have, as they are printed: see `mathematics`
    items      : [expression ("," expression)* | loop]
    loop       : expression ("for" NAME "in" operation ["if" operation])+
    arguments  : "(" [argument ("," argument)*] ")"        argument : [NAME "="] (expression | loop)
    bound      : "..." | [expression] [":" [expression] [":" [expression]]]

Nothing between two operands is a product when the first ends in a number or a closing parenthesis (`2x`, `3(x+1)`);
it binds like `*`, so `1/2x` is x/2.  As in Python, `&` and `|` bind more tightly than comparisons.  Chains of operators
loop and only nesting recurses, at most `MAX_DEPTH` deep.

No error is raised here: what cannot be read is a `Broken` node, or the fault of the node that it ends, so that what
stands before it may be found to be wrong first.  Behind it nothing is read, but for the next argument of a call: some
calls look at the words of their arguments alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from gradcli.errors import GradcliError, Span
from gradcli.language.text import mathematics, nodes
from gradcli.language.text.source import MAX_INDICES, Cursor, Source
from gradcli.language.text.tokens import COMPARISON, LEVELS, POWERS, PRODUCT, Token, is_position

AnyLine = TypeVar("AnyLine", bound=nodes.Line)

_SIGNS = frozenset([*LEVELS, *POWERS])
"""What stands between two operands."""

IN_PLACE = frozenset(["+=", "-=", "*=", "/=", "//=", "**=", "@=", "%="])
"""Signs that change what stands before them."""


def parse(source: Source) -> tuple[nodes.Statement, ...]:
    """The statements of a text, up to the first that cannot be read.

    >>> [statement.targets[0].text for statement in parse(Source("y = x**2; z = 2y", "EXPR"))]
    ['y', 'z']
    """
    grammar = Grammar(source)
    return grammar.each(grammar.statement)


def parse_value(source: Source) -> nodes.Value:
    """A text as one value; a comma at the top makes a vector.

    >>> len(parse_value(Source("1, 2", "--at")).items)
    2
    """
    return Grammar(source).value()


def parse_equations(source: Source) -> tuple[nodes.Equation, ...]:
    """A text as formulas, each with its left-hand side if it has one; a comma at the top ends the last.

    >>> [equation.value.text for equation in parse_equations(Source("dy[0]/dx = 1; dy[1]/dx = 2", "--claim"))]
    ['1', '2']
    """
    grammar = Grammar(source)
    found: list[nodes.Equation] = []
    while not grammar.at_end:
        if not (grammar.accept(";") or grammar.accept("\n")):
            found.append(mathematics.equation(grammar))
    return tuple(found)


class Grammar(Cursor):
    """Reads expressions, and the statements of a text, one after the other."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.indent = 0  # of the first statement, counted from 1
        self.closing = ""  # the sign or word that ends an operand here, which elsewhere stands between two
        self.cases = 0  # how many braces are around this place: "=" compares there

    # -- operators

    def expression(self, minimum: int = 0) -> nodes.Node:
        """Operators that bind at least this tightly, and at 0 a choice."""
        first = self.unary()
        if isinstance(first, nodes.Word) and not first.is_operand:
            return self._choice(first) if minimum == 0 and self.at_word("if") else first
        steps: list[nodes.Step] = []
        while True:
            sign = self.tokens[self.position]
            if sign.text == self.closing:
                break
            is_implicit = False
            level = LEVELS.get(sign.text) if sign.kind in ("operator", "keyword") else None
            if level is None and self.cases and sign.text == "=":
                sign, level = replace(sign, text="=="), COMPARISON
            if level is None:
                if sign.kind != "name" and sign.text != "(":
                    break
                before = self.tokens[self.position - 1]
                if before.kind != "number" and before.text != ")":
                    break
                level, is_implicit = PRODUCT, True
            if level < minimum:
                break
            self.position += not is_implicit
            steps.append(nodes.Step(sign, level, is_implicit, self.expression(level + 1)))
        whole = first.span.to(steps[-1].operand.span) if steps else first.span
        node = nodes.Chain(whole, first, tuple(steps)) if steps else first
        return self._choice(node) if minimum == 0 and self.at_word("if") else node

    def _choice(self, chosen: nodes.Node) -> nodes.Node:
        """`a if condition else b`."""
        word = self.token
        if self.depth >= self.max_depth:
            broken = self.too_deep(word, self.max_depth)
            return nodes.Choice(chosen.span.to(word.span), chosen, broken, broken)
        self.position += 1
        self.depth += 1
        expected, self.expected = self.expected, " where 'else' was expected"
        condition = self.expression(1)
        self.expected = expected
        other: nodes.Node
        if self.at_word("else") or self.has_failed:
            self.advance()
            other = self.expression()
        else:
            other = self.fail(self.unexpected(" where 'else' was expected"))
        self.depth -= 1
        return nodes.Choice(chosen.span.to(other.span), chosen, condition, other)

    def unary(self) -> nodes.Node:
        """Signs and negations before a power, which is a base and its exponent."""
        sign = self.tokens[self.position]
        is_not = sign.text == "not" and sign.kind == "keyword"
        is_sign = is_not or (sign.kind == "operator" and sign.text in ("-", "+", "~"))
        base = None if is_sign else self.postfix()
        if base is not None:
            sign = self.tokens[self.position]
            if sign.kind != "operator" or sign.text not in POWERS:
                return base
        operand: nodes.Node
        if self.depth >= self.max_depth:
            operand = self.too_deep(sign, self.max_depth)
        else:
            self.position += 1
            self.depth += 1
            operand = self.expression(COMPARISON) if is_not else self.unary()
            self.depth -= 1
        if base is None:
            return nodes.Unary(sign.span.to(operand.span), sign, operand)
        return nodes.Power(base.span.to(operand.span), sign, base, operand)

    # -- operands

    def postfix(self) -> nodes.Node:
        """An atom with what stands behind it."""
        operand = self.atom()
        if isinstance(operand, nodes.Word) and not operand.is_operand:
            return operand
        trailers: list[nodes.Trailer] = []
        while (trailer := self.trailer()) is not None:
            trailers.append(trailer)
        return nodes.Postfix(operand.span.to(trailers[-1].span), operand, tuple(trailers)) if trailers else operand

    def trailer(self) -> nodes.Trailer | None:
        """An index, a member or a mark behind an operand."""
        token = self.tokens[self.position]
        if token.kind == "number":
            return self._position()
        if token.kind != "operator":
            return None
        match token.text:
            case "[":
                return self._subscript()
            case ".":
                return self._member()
        return None

    def atom(self) -> nodes.Node:
        """A number, a name, a word, or what is in brackets."""
        token = self.tokens[self.position]
        match token.kind:
            case "number":
                self.position += 1
                return nodes.Number(token.span, token.text)
            case "name" if token.text in mathematics.SIGNS and mathematics.has_ranges(self.tokens, self.position + 1):
                return mathematics.ranged(self)
            case "name" if token.text != self.closing:
                self.position += 1
                if self.tokens[self.position].text != "(":
                    return nodes.Name(token.span, token, None)
                arguments = self.arguments()
                return nodes.Name(token.span.to(arguments.span), token, arguments)
            case "operator" if token.text in ("(", "["):
                is_ranged = token.text == "[" and mathematics.has_ranges(self.tokens, self.position)
                return mathematics.ranged(self) if is_ranged else self._brackets()
            case "operator" if token.text == "|":
                return mathematics.bars(self)
            case "brace" if token.text == "{":
                return mathematics.cases(self)
            case "string":
                return self.word()
            case "keyword" if token.text in ("True", "False", "None"):
                return self.word()
        return self.broken if self.has_failed else self.fail(self.unexpected())

    def word(self) -> nodes.Word:
        """A word that is no operand of its own."""
        position, token = self.position, self.advance()
        return nodes.Word(token.span, token, position)

    def _brackets(self) -> nodes.Node:
        """An expression in parentheses, a tuple, a list, or a loop in brackets."""
        opening = self.token
        closing = ")" if opening.text == "(" else "]"
        if self.depth >= self.max_depth:
            return self.too_deep(opening, self.max_depth)
        self.position += 1
        self.depth += 1
        expected, self.expected = self.expected, f" where '{closing}' was expected"
        outer, self.closing = self.closing, ""
        items: list[nodes.Node] = []
        has_comma = False
        behind_first = self.position
        while self.token.text != closing and (not items or has_comma):
            items.append(self.expression())
            behind_first = behind_first if has_comma else self.position
            if self.at_word("for") or self._at_loop(opening.span.stop):
                items = [self._loop(items[0], opening.span.stop, behind_first)]
                break
            if not self.accept(","):
                break
            has_comma = True
        fault = self.close(closing, opening)
        self.expected, self.closing = expected, outer
        self.depth -= 1
        span = opening.span.to(self.behind().span)
        is_group = closing == ")" and len(items) == 1 and not has_comma and not isinstance(items[0], nodes.Loop)
        if is_group:
            return nodes.Group(span, items[0], fault)
        return nodes.Items(span, opening, tuple(items), has_comma, fault)

    def _at_loop(self, start: int) -> bool:
        """Go on with a loop behind a body that cannot be read: without values, it is not even looked at."""
        if not self.has_failed:
            return False
        position = self.source.loop_from(self.source.position(start))
        if position is not None:
            self.position = position
        return position is not None

    def _loop(self, body: nodes.Node, start: int, end: int) -> nodes.Loop:
        """An expression, which begins behind a character and ends before a position, and the loops behind it."""
        body_fault = None
        if self.position != end and not self.is_stop(end):
            body_fault = self.source.unexpected(end, " where 'for' was expected", is_inside=self.depth > 0)
        width = self.position - self.source.position(start)
        clauses: list[nodes.Clause] = []
        while self.at_word("for"):
            clauses.append(self.clause())
        fault = None
        if self.token.text not in (")", "]") and not self.at_end:
            fault = self.unexpected(" behind a loop")
            self.fail(fault)
        return nodes.Loop(body.span.to(self.behind().span), body, tuple(clauses), width, body_fault, fault)

    def clause(self) -> nodes.Clause:
        """`for name in values if condition`."""
        word, name = self.advance(), self.advance()
        position = self.position + 1
        if name.kind != "name" or self.token.text != "in":
            fault = self.source.error("a loop is for NAME in range(...)", word.span.to(name.span))
            return nodes.Clause(word, name, position, self.fail(fault), None, fault)
        self.position += 1
        values = self.expression(1)
        condition = None
        if self.at_word("if"):
            self.position += 1
            condition = self.expression(1)
        return nodes.Clause(word, name, position, values, condition, None)

    # -- what stands behind operands

    def arguments(self) -> nodes.Arguments:
        """What is between the parentheses of a call."""
        start, opening = self.position, self.token
        expected = self.expected
        if self.depth >= self.max_depth:
            broken = nodes.Argument(None, self.too_deep(opening, self.max_depth), start + 1, start + 1, None)
            return nodes.Arguments(opening.span, opening, start, self.depth, (broken,), None, expected)
        self.position += 1
        self.depth += 1
        self.expected = " where ')' was expected"
        outer, self.closing = self.closing, ""
        items: list[nodes.Argument] = []
        while self.token.text != ")":
            items.append(self._argument())
            if not self.accept(","):
                break
        unclosed = self.unclosed(")", opening) if self.has_failed else self.close(")", opening)
        self.expected, self.closing = expected, outer
        self.depth -= 1
        span = opening.span.to(self.behind().span)
        return nodes.Arguments(span, opening, start, self.depth, tuple(items), unclosed, expected)

    @property
    def at_keyword(self) -> bool:
        """Whether a name and `=` follow, as before an argument."""
        return self.token.kind == "name" and self.tokens[self.position + 1].text == "="

    def _argument(self) -> nodes.Argument:
        """One argument, up to the comma or parenthesis behind it."""
        name = self.token if self.at_keyword else None
        self.position += 2 * (name is not None)
        start = self.position
        value = self.expression()
        if self.at_word("for") or self._at_loop(self.tokens[start].span.start):
            value = self._loop(value, self.tokens[start].span.start, self.position)
        fault = None
        if not self.at_end and self.token.text not in (",", ")"):
            fault = self.unexpected(f" where '{self.expected_at(')')}' was expected")
            self.fail(fault)
        position = self.source.stop_from(start) if self.has_failed else None
        if position is not None and self.tokens[position].text in (",", ")"):
            self.position = position  # behind an argument that cannot be read
        return nodes.Argument(name, value, start, self.position, fault)

    def _subscript(self) -> nodes.Subscript:
        """What is between the brackets of an index."""
        opening = self.token
        if self.indices >= MAX_INDICES:
            return nodes.Subscript(
                opening.span, (nodes.Bound(opening.span, (self.too_deep(opening, MAX_INDICES),), None),), None
            )
        self.position += 1
        self.indices += 1
        expected, self.expected = self.expected, ""
        outer, self.closing = self.closing, ""
        items = [self._bound()]
        while self.accept(",") and self.token.text != "]":
            items.append(self._bound())
        fault = self.close("]", opening)
        self.expected, self.closing = expected, outer
        self.indices -= 1
        return nodes.Subscript(opening.span.to(self.behind().span), tuple(items), fault)

    def _bound(self) -> nodes.Bound:
        """One item of an index: expressions and colons, up to the comma or bracket behind it."""
        first = self.token
        if first.text in ("...", "None") and first.kind != "string":
            return nodes.Bound(first.span, (self.word(),), None)
        parts: list[nodes.Node | None] = []
        fault = None
        while self.token.text not in (",", "]") and parts.count(None) < 3 and not self.at_end:
            if self.accept(":"):
                parts.append(None)
            elif not parts or parts[-1] is None:
                parts.append(self.expression())
            else:
                fault = self.unexpected()
                self.fail(fault)
        return nodes.Bound(first.span.to(self.behind().span) if parts else first.span, tuple(parts), fault)

    def _member(self) -> nodes.Member:
        """`.name`, with its arguments; what is no name is refused where the tree is read."""
        dot, name = self.advance(), self.token
        arguments = None
        if name.kind != "name":
            self.fail(self.unexpected())
        elif self.advance() and self.token.text == "(":
            arguments = self.arguments()
        return nodes.Member(dot.span.to(arguments.span if arguments else name.span), dot, name, arguments)

    def _position(self) -> nodes.Member | None:
        """The `.0` of `net.0.weight`; None where no name follows, and the number is one beside an operand."""
        position, most = self.position, self.position + self.max_depth
        while 0 < position < most and is_position(self.tokens[position - 1], self.tokens[position]):
            position += 1
        if position == self.position or [t.kind for t in self.tokens[position : position + 2]] != ["operator", "name"]:
            return None
        if self.tokens[position].text != "." or self.tokens[position].span.start != self.tokens[position - 1].span.stop:
            return None
        start, stop = (token := self.advance()).span.start, token.span.stop
        dot = Token("operator", ".", Span(start, start + 1))
        return nodes.Member(token.span, dot, Token("number", token.text[1:], Span(start + 1, stop)), None)

    # -- statements

    def each(self, line: Callable[[], AnyLine]) -> tuple[AnyLine | nodes.Statement, ...]:
        """What a rule reads of each line, up to the first that cannot follow the one before."""
        found = list[AnyLine | nodes.Statement]()
        while True:
            while self.accept(";") or self.accept("\n"):
                pass
            if self.at_end:
                return tuple(found)
            error = self._beginning()
            found.append(line() if error is None else self.broken_line(error))

    def statement(self) -> nodes.Statement:
        """An assignment or an expression, and what is wrong behind it."""
        start, name = self.position, self.token
        after = self.tokens[start + 1]
        if name.kind == "name" and after.text in IN_PLACE:
            return self.broken_line(self.in_place(name, after))
        targets = (name,) if name.kind == "name" and after.text == "=" else ()
        self.position += 2 * len(targets)
        value_at = self.position
        value = self.expression()
        span, stop = name.span.to(self.behind().span), self.position
        return nodes.Statement(span, start, value_at, stop, targets, False, value, self.ending())

    def in_place(self, name: Token, sign: Token) -> GradcliError:
        """The error for `y += 1`."""
        instead = f"write a new name: {name.text}2 = {name.text} {sign.text[:-1]} ..." if name.kind == "name" else ""
        return self.source.code(f"'{sign.text}'", sign.span, instead)

    def ending(self) -> GradcliError | None:
        """What is wrong behind a statement, which ends its line."""
        if self.token.text in (";", "\n") or self.at_end:
            return None
        error = self.unexpected()
        self.fail(error)
        return error

    def broken_line(self, error: GradcliError) -> nodes.Statement:
        """A line that cannot be read."""
        start, broken = min(self.position, len(self.source.tokens) - 1), self.fail(error)
        return nodes.Statement(broken.span, start, start, start + 1, (), False, broken, None)

    def value(self) -> nodes.Value:
        """The whole text as one value."""
        while self.accept("\n"):
            pass
        if self.at_end:
            error = self.source.error("there is no value", self.token.span, hint="write a number, or 1,2")
            return nodes.Value((self.fail(error),), False, None)
        items: list[nodes.Node] = [self.expression()]
        is_vector = False
        while self.accept(","):
            is_vector = True
            if self.at_end:
                break
            items.append(self.expression())
        self.indent = 1
        fault = None
        while self.accept("\n"):
            if not self.at_end and self.token.text != "\n":
                fault = fault or self._beginning()
        if not self.at_end:
            fault = fault or self.unexpected()
        return nodes.Value(tuple(items), is_vector, fault)

    def _beginning(self) -> GradcliError | None:
        """What is wrong with a line that seems to go on with the one before, which ended there.

        It is indented more than the first, or begins with a sign that stands between two operands.
        """
        token, before = self.token, self.tokens[self.position - 1] if self.position else None
        if before is not None and before.text != "\n":
            return None
        indent = token.span.start - self.source.text.rfind("\n", 0, token.span.start)
        is_decorator = token.text == "@" and self.tokens[self.position + 1].span.start == token.span.stop
        is_sign = token.text in _SIGNS and token.kind in ("operator", "keyword") and not is_decorator
        if self.indent and (is_sign or indent > self.indent):
            what = "begins with an operator" if is_sign else "is indented"
            message = f"a line that {what} does not continue the one before"
            return self.source.error(message, token.span, hint="put parentheses around the whole expression")
        self.indent = self.indent or indent
        return None

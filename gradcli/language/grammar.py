"""Tokens to a Program: an allow-list grammar, read by precedence climbing, that emits Wengert lines as it goes.

    program    : statement ((";" | newline) statement)*
    statement  : NAME "=" expression | expression
    expression : operation ["if" operation "else" expression]
    operation  : unary (operator unary)*                                    by precedence, from the left
    operator   : "or" | "and" | comparison | "|" | "&" | "+" | "-" | product | nothing
    product    : "*" | "/" | "//" | "%" | "@" | ".*" | "./"
    unary      : ("+" | "-" | "~") unary | "not" comparison | power
    power      : postfix (("**" | "^" | ".^") unary)?                       from the right
    postfix    : atom ("[" item ("," item)* "]" | "." NAME [arguments] | "'" | ".'")*
    atom       : NUMBER | NAME [arguments] | "(" expression ")" | "[" items "]" | "(" expression "," items ")"
    items      : expression ("," expression)* | expression loop+
    loop       : "for" NAME "in" values ["if" constant]
    values     : "range" "(" integer ["," integer ["," integer]] ")" | "[" items "]" | "(" items ")"
    arguments  : "(" [argument ("," argument)*] ")"        argument : [NAME "="] (expression | static)
    item       : integer | [integer] ":" [integer] [":" [integer]] | "..." | None

Nothing between two operands is a product when the first ends in a number or a closing parenthesis (`2x`, `3(x+1)`);
it binds like `*`, so `1/2x` is x/2.  As in Python, `&` and `|` bind more tightly than comparisons, and `a < b < c` is
both.  Chains of operators loop and only nesting recurses, at most `MAX_DEPTH` deep.  The text is never evaluated; what
is not in this grammar is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import sympy

from gradcli import collector
from gradcli.errors import LanguageError
from gradcli.language import ops
from gradcli.language.lines import Operand
from gradcli.language.operators import BINARY, BY_ELEMENTS, COMPARISON, POWERS, PRODUCT, TRANSPOSES
from gradcli.language.program.indexing import Shape
from gradcli.language.program.wengert import Atom, Line, Program
from gradcli.language.statements import Statements
from gradcli.language.tokens import Token

IN_PLACE = frozenset(["+=", "-=", "*=", "/=", "//=", "**="])


def parse(
    text: str,
    *,
    given: frozenset[str] = frozenset(),
    shapes: Mapping[str, Shape] = MappingProxyType({}),
    shares: bool = True,
) -> Program:
    """The Program of a function's text.

    Args:
        text: As typed.
        given: Names that are variables even if they are also constants (`E`).
        shapes: Of variables, where they are known: sizes may stand in constants, `eye(x.shape[0])`.
        shares: Whether operations that compute the same become one line; Python, and so torch, runs each.

    Raises:
        LanguageError: the text is not in the language.
        UnknownFunctionError: a call of something that is not in the op table.
        TooLargeError: too long, too deep or with constants too large.

    >>> parse("x**2 + y").names
    ('x', 'y')
    """
    with collector.paused():
        parser = Parser(text, "EXPR", given)
        parser.shapes, parser.builder.shares = dict(shapes), shares
        return parser.program()


def parse_value(text: str, source: str) -> Program:
    """The Program of a value: the same language without free names; a comma at the top makes a vector."""
    return Parser(text, source, frozenset(), is_value=True).value()


def parse_cotangent(text: str, source: str, shapes: Mapping[str, Shape]) -> Program:
    """The Program of a gradient vector: a value that may name y and the variables, of these shapes."""
    parser = Parser(text, source, frozenset(shapes))
    parser.shapes = dict(shapes)
    return parser.value()


def parse_formula(text: str, source: str, names: frozenset[str], shapes: Mapping[str, Shape]) -> Program:
    """The Program of a formula in these variables: statements, or one value, in which a comma makes a vector."""
    parser = Parser(text, source, names)
    parser.shapes = dict(shapes)
    if parser.at_end:
        hint = f"write one in terms of {', '.join(sorted(names))}" if len(names) <= 8 else "write one"
        raise parser.error(LanguageError, "there is no formula", parser.token.span, hint=hint)
    first, second = (*parser.tokens, parser.tokens[-1])[:2]
    return parser.program() if first.kind == "name" and second.text == "=" else parser.value()


def parse_meaning(text: str, operands: tuple[str, ...], constants: Mapping[str, Any]) -> Program:
    """The Program of a meaning of the op table, its operands being the variables in this order.

    Args:
        text: Of the table; conditions among the operands are numbers, 1 or 0.
        operands: Names of the variables.
        constants: Values of the other names, for constant arguments and, if numbers, for arithmetic.
    """
    parser = Parser(text, f"a meaning, {text}", frozenset(operands), is_meaning=True)
    parser.constants = constants
    parser.variables = {name: sympy.Symbol(name, real=True) for name in operands}
    for name, value in constants.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            parser.names[name] = sympy.Integer(value) if isinstance(value, int) else sympy.Float(value, precision=53)
    return parser.program()


class Parser(Statements):
    """Reads one text."""

    def __init__(
        self, text: str, source: str, given: frozenset[str], *, is_value: bool = False, is_meaning: bool = False
    ) -> None:
        super().__init__(text, source, is_meaning=is_meaning)
        self.given, self.is_value = given, is_value
        self.constants: Mapping[str, Any] = {}
        self.shapes: dict[str, Shape] = {}
        self.names: dict[str, Atom] = {}
        self.pairs: set[str] = set()
        self.lists: dict[str, list[Operand]] = {}
        self.last_list = None
        self.unused: dict[str, None] = {}
        self.warnings: list[str] = []
        self.last_name = ""
        self.variables: dict[str, sympy.Symbol] = {}
        self.has_loops = any(token.kind == "keyword" and token.text == "for" for token in self.tokens)

    # -- statements

    def program(self) -> Program:
        """The whole text as statements."""
        output = self.last_value()
        if output is None:
            raise self.error(LanguageError, "there is no expression", self.token.span, hint='write one, such as "x**2"')
        return self.finish(output)

    def statement(self) -> Operand:
        """An assignment or an expression."""
        name, after = self.token, self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if name.kind == "name" and after.text in IN_PLACE:
            raise self.error(
                LanguageError,
                f"'{after.text}' changes a tensor in place, which is not read",
                name.span.to(after.span),
                hint=f"write a new name: {name.text}2 = {name.text} {after.text[:-1]} ...",
            )
        if not (name.kind == "name" and after.text == "="):
            is_name = name.text in self.names and after.text in (";", "\n", "")
            self.last_name = name.text if is_name else ""
            return self.expression()
        self.require_assignable(name)
        self.position += 2
        self.is_pair = False
        value, span = self.expression()
        self.assign(name.text, value)
        return value, name.span.to(span)

    def require_assignable(self, name: Token) -> None:
        """Refuse a name that means something else.

        Raises:
            LanguageError: a function, or a variable that was used before.
        """
        if ops.find(name.text) is not None:
            raise self.error(
                LanguageError,
                f"'{name.text}' is a function and cannot be assigned",
                name.span,
                hint="choose another name",
            )
        if name.text in self.variables:
            raise self.error(
                LanguageError,
                f"'{name.text}' is used as a variable before it is assigned",
                name.span,
                hint="assign it first, or choose another name",
            )

    def assign(self, name: str, value: Atom) -> None:
        """Give a value a name."""
        self.names[name] = value
        self.unused[name] = None
        self.last_name = name
        self.lists.pop(name, None)
        if self.last_list is not None and self.last_list[:2] == (value, self.position):
            self.lists[name] = self.last_list[2]
        self.pairs.discard(name)
        if self.is_pair:
            self.pairs.add(name)

    def value(self) -> Program:
        """The whole text as one value; a comma at the top makes a vector."""
        while self.accept("\n"):
            pass
        if self.at_end:
            raise self.error(LanguageError, "there is no value", self.token.span, hint="write a number, or 1,2")
        first = self.expression()
        items, span = [first[0]], first[1]
        is_vector = False
        while self.accept(","):
            is_vector = True
            if self.at_end:
                break
            item, end = self.expression()
            items.append(item)
            span = span.to(end)
        self.indent = 1
        while self.accept("\n"):
            if not self.at_end and self.token.text != "\n":
                self.require_beginning()
        if not self.at_end:
            raise self.unexpected()
        return self.finish(self.emit("stack", items, span, (0,)) if is_vector else first)

    def finish(self, output: Operand) -> Program:
        """The Program of the lines so far; conditions come out as 1 and 0."""
        atom, span = output
        atom = self.as_number(atom, span)
        names = {value: name for name, value in self.names.items()}
        lines = tuple(
            Line(line.symbol, line.call, line.span, names.get(line.symbol, "")) for line in self.builder.lines
        )
        unused = (f"the name '{name}' is assigned but never used" for name in self.unused if name != self.last_name)
        warnings = tuple(dict.fromkeys((*self.warnings, *unused)))
        assigned = (*(name for name in self.names if name != self.last_name), self.last_name)
        variables = tuple(self.variables.values())
        named = {name: self.names[name] for name in assigned if name in self.names}
        program = Program(self.text, variables, lines, atom, self.source, assigned, named, warnings)
        return replace(program, needs_shapes=self.needs_shapes)

    # -- expressions

    def expression(self, minimum: int = 0) -> Operand:
        """Operators that bind at least this tightly, and at 0 a choice."""
        left = self.unary()
        compared: Operand | None = None
        while (operator := self.operator()) and operator[0] >= minimum:
            level, op, width = operator
            sign = self.token
            self.position += width
            right = self.expression(level + 1)
            if level == COMPARISON and compared is not None:
                left = self.joined("logical_and", left, self.binary(sign, op, compared, right))
            else:
                left = self.binary(sign, op, left, right)
            compared = right if level == COMPARISON else None
        if minimum == 0 and self.token.kind == "keyword" and self.token.text == "if":
            left = self.choice(left)
        return left

    def choice(self, chosen: Operand) -> Operand:
        """`a if condition else b`."""
        word = self.advance()
        with self.nested(word):
            condition = self.expression(1)
            if self.token.text != "else":
                raise self.unexpected(" where 'else' was expected")
            self.position += 1
            other = self.expression()
        return self.emit("where", [condition[0], chosen[0], other[0]], chosen[1].to(other[1]))

    def operator(self) -> tuple[int, str, int] | None:
        """The level, operation and width of the operator that is next, if one is."""
        token, before = self.token, self.tokens[self.position - 1]
        if token.kind in ("operator", "keyword") and (found := BINARY.get(token.text) or BY_ELEMENTS.get(token.text)):
            return (*found, 1)
        starts_factor = token.kind == "name" or token.text == "("
        if starts_factor and (before.kind == "number" or before.text == ")"):
            return PRODUCT, "mul", 0
        return None

    def unary(self) -> Operand:
        """Signs and negations before a power."""
        sign = self.token
        if sign.text == "not" and sign.kind == "keyword":
            self.position += 1
            with self.nested(sign):
                operand, span = self.expression(COMPARISON)
            return self.emit("logical_not", [operand], sign.span.to(span))
        if sign.text not in ("-", "+", "~") or sign.kind != "operator":
            return self.power()
        self.position += 1
        with self.nested(sign):
            operand, span = self.unary()
        span = sign.span.to(span)
        if sign.text == "+":
            return operand, span
        if sign.text == "~":
            return self.emit("logical_not", [operand], span)
        if (isinstance(operand, sympy.Float) and not operand.is_zero) or operand == sympy.oo:
            return -operand, span  # SymPy's 0.0 has no sign
        return self.emit("neg", [operand], span)

    def power(self) -> Operand:
        """A postfix expression and its exponent."""
        base = self.postfix()
        if self.token.text not in POWERS or self.token.kind != "operator":
            return base
        sign = self.advance()
        with self.nested(sign):
            return self.binary(sign, "pow", base, self.unary())

    def postfix(self) -> Operand:
        """An atom with its indices and methods."""
        self.is_pair = False
        operand = self.atom()
        while self.token.kind == "operator" and self.token.text in ("[", ".", *TRANSPOSES):
            match self.token.text:
                case "[":
                    operand = self.indexed(operand)
                case ".":
                    operand = self.method(operand)
                case _:
                    operand = self.transposed(operand)
        return operand

    def atom(self) -> Operand:
        """A number, a name, a call, a bracket or a list."""
        start, token = self.position, self.advance()
        match token.kind, token.text:
            case "number", word:
                return _constant(word), token.span
            case "name", _:
                return self.named(token)
            case "keyword", ("True" | "False"):
                one = sympy.Integer(1)
                return self.emit("eq" if token.text == "True" else "ne", [one, one], token.span)
            case "operator", "(":
                with self.nested(token):
                    operand, _ = self.expression()
                    if self.token.text == ",":
                        return self.tuple_of(operand, token)
                    return operand, token.span.to(self.expect(")", token).span)
            case "operator", "[" if self.accept("]"):
                return self.emit("zeros", [], token.span.to(self.tokens[self.position - 1].span), ((0,),))
            case "operator", "[":
                with self.nested(token):
                    is_nested, items = self.token.text == "[", self.items(token, "]")
                stacked = self.emit(
                    "stack", [a for a, _ in items], token.span.to(self.tokens[self.position - 1].span), (0,)
                )
                self.last_list = (stacked[0], self.position, items) if not is_nested else None
                return stacked
        self.position = start
        raise self.unexpected()

    def tuple_of(self, first: Atom, opening: Token) -> Operand:
        """`(1, 2)`, which is a list where a tensor is wanted."""
        atoms = [first]
        while self.accept(",") and self.token.text != ")":
            atoms.append(self.expression()[0])
        return self.emit("stack", atoms, opening.span.to(self.expect(")", opening).span), (0,))

    # -- indices

    def indexed(self, operand: Operand) -> Operand:
        """`x[key]`; `[0]` takes the values of torch's pair of values and positions."""
        is_pair, self.is_pair = self.is_pair, False
        opening = self.advance()
        items: list[Any] = [self.item()]
        while self.accept(",") and self.token.text != "]":
            items.append(self.item())
        span = operand[1].to(self.expect("]", opening).span)
        if is_pair and items == [0]:
            return operand[0], span
        if is_pair and items == [1]:
            raise self.error(LanguageError, "the positions of a maximum have no derivative and are not read", span)
        key: Any = tuple(items)
        return self.emit("index", [operand[0]], span, (key,))


def _constant(word: str) -> Atom:
    """The exact number typed, if an integer; else the float64 nearest to it, as Python reads it."""
    plain = word.replace("_", "")
    return sympy.Integer(plain) if plain.isdecimal() else sympy.Float(float(plain), precision=53)

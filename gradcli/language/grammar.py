"""Tokens to a Program: an allow-list grammar, read by precedence climbing, that emits Wengert lines as it goes.

    program    : statement ((";" | newline) statement)*
    statement  : NAME "=" expression | expression
    expression : unary (("+" | "-" | "*" | "/" | "@" | nothing) unary)*     by precedence, from the left
    unary      : ("+" | "-") unary | power
    power      : postfix (("**" | "^") unary)?                              from the right
    postfix    : atom ("[" item ("," item)* "]" | "." NAME [arguments])*
    atom       : NUMBER | NAME [arguments] | "(" expression ")" | "[" expression ("," expression)* "]"
    arguments  : "(" [argument ("," argument)*] ")"        argument : [NAME "="] (expression | static)
    item       : integer | [integer] ":" [integer] [":" [integer]] | "..." | None

Nothing between two operands is a product when the first ends in a number or a closing parenthesis (`2x`, `3(x+1)`);
it binds like `*`, so `1/2x` is x/2.  Chains of operators loop and only nesting recurses, at most `MAX_DEPTH` deep.
The text is never evaluated; what is not in this grammar is refused.
"""

from __future__ import annotations

import sympy

from gradcli import collector
from gradcli.errors import LanguageError, Span, UnknownFunctionError, did_you_mean
from gradcli.language import ops
from gradcli.language.constants import Constants
from gradcli.language.ops import REQUIRED, Kind, Op
from gradcli.language.program import CONSTANTS, Atom, Builder, Line, Program
from gradcli.language.tokens import Token

_BINARY = {"+": (1, "add"), "-": (1, "sub"), "*": (2, "mul"), "/": (2, "div"), "@": (2, "matmul")}

_PREFIXES = frozenset(["torch", "np", "numpy", "math", "F", "nn", "functional", "special", "linalg", "sympy", "sp"])
"""Module names that may stand before a function: `torch.special.i0(x)` is `i0(x)`."""

_NOT_YET = frozenset(["<", ">", "<=", ">=", "==", "!=", "&", "|", "~", "%", "//"])

Operand = tuple[Atom, Span]


def parse(text: str, *, given: frozenset[str] = frozenset()) -> Program:
    """The Program of a function's text; a name in `given` is a variable even if it is also a constant (`E`).

    Raises:
        LanguageError: the text is not in the language.
        UnknownFunctionError: a call of something that is not in the op table.
        TooLargeError: too long, too deep or with constants too large.

    >>> parse("x**2 + y").names
    ('x', 'y')
    """
    with collector.paused():
        return _Parser(text, "EXPR", given).program()


def parse_value(text: str, source: str) -> Program:
    """The Program of a value: the same language without free names; a comma at the top makes a vector."""
    return _Parser(text, source, frozenset(), is_value=True).value()


def parse_meaning(op: Op, builder: Builder, operands: tuple[Atom, ...], span: Span) -> Atom:
    """Emit the lines of a defined operation's meaning into `builder`, all with the range of the call."""
    parser = _Parser(op.meaning, f"the meaning of {op.name}", frozenset())
    parser.builder, parser.at = builder, span
    parser.names = dict(zip(op.operands, operands, strict=True))
    return parser.expression()[0]


class _Parser(Constants):
    def __init__(self, text: str, source: str, given: frozenset[str], *, is_value: bool = False) -> None:
        super().__init__(text, source)
        self.given, self.is_value = given, is_value
        self.builder = Builder(text, source)
        self.names: dict[str, Atom] = {}
        self.unused: dict[str, None] = {}
        self.last_name = ""
        self.variables: dict[str, sympy.Symbol] = {}
        self.at: Span | None = None

    # -- statements

    def program(self) -> Program:
        output: Operand | None = None
        while True:
            while self.accept(";") or self.accept("\n"):
                pass
            if self.at_end:
                break
            output = self.statement()
            if self.token.text not in (";", "\n", ""):
                raise self.unexpected()
        if output is None:
            raise self.error(LanguageError, "there is no expression", self.token.span, hint='write one, such as "x**2"')
        return self.finish(output[0])

    def statement(self) -> Operand:
        name = self.token
        if not (name.kind == "name" and self.tokens[self.position + 1].text == "="):
            self.last_name = ""
            return self.expression()
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
        self.position += 2
        value, span = self.expression()
        self.names[name.text] = value
        self.unused[name.text] = None
        self.last_name = name.text
        return value, name.span.to(span)

    def value(self) -> Program:
        if self.at_end:
            raise self.error(LanguageError, "there is no value", self.token.span, hint="write a number, or 1,2")
        first, span = self.expression()
        items = [first]
        is_vector = False
        while self.accept(","):
            is_vector = True
            if self.at_end:
                break
            item, end = self.expression()
            items.append(item)
            span = span.to(end)
        if not self.at_end:
            raise self.unexpected()
        return self.finish(self.builder.emit("stack", tuple(items), span) if is_vector else first)

    def finish(self, output: Atom) -> Program:
        named = {value: name for name, value in self.names.items()}
        lines = tuple(
            Line(line.symbol, line.call, line.span, named.get(line.symbol, "")) for line in self.builder.lines
        )
        warnings = tuple(
            f"the name '{name}' is assigned but never used" for name in self.unused if name != self.last_name
        )
        assigned = (*(name for name in self.names if name != self.last_name), self.last_name)
        return Program(self.text, tuple(self.variables.values()), lines, output, self.source, assigned, warnings)

    # -- expressions

    def expression(self, minimum: int = 1) -> Operand:
        left = self.unary()
        while (operator := self.operator()) and operator[0] >= minimum:
            level, op, width = operator
            self.position += width
            right = self.expression(level + 1)
            left = self.emit(op, [left, right])
        return left

    def operator(self) -> tuple[int, str, int] | None:
        """Precedence, op and token count of the binary operator here; a product may have no token at all."""
        token, before = self.token, self.tokens[self.position - 1]
        if token.text in _BINARY:
            return *_BINARY[token.text], 1
        if token.text in _NOT_YET:
            hint = "maximum(a, b), relu(x) and clamp(x, a, b) choose without a comparison"
            raise self.error(LanguageError, f"the operator '{token.text}' is not read", token.span, hint=hint)
        starts_factor = token.kind == "name" or token.text == "("
        if starts_factor and (before.kind == "number" or before.text == ")"):
            return 2, "mul", 0
        return None

    def unary(self) -> Operand:
        sign = self.token
        if sign.text not in ("-", "+"):
            return self.power()
        self.position += 1
        with self.nested(sign):
            operand, span = self.unary()
        span = sign.span.to(span)
        if sign.text == "+":
            return operand, span
        if isinstance(operand, sympy.Float) or operand == sympy.oo:
            return -operand, span
        return self.builder.emit("neg", (operand,), self.at or span), span

    def power(self) -> Operand:
        base = self.postfix()
        if self.token.text not in ("**", "^"):
            return base
        with self.nested(self.advance()):
            return self.emit("pow", [base, self.unary()])

    def postfix(self) -> Operand:
        operand = self.atom()
        while self.token.text in ("[", "."):
            operand = self.indexed(operand) if self.token.text == "[" else self.method(operand)
        return operand

    def atom(self) -> Operand:
        start, token = self.position, self.advance()
        match token.kind, token.text:
            case "number", word:
                return _constant(word), token.span
            case "name", _:
                return self.named(token)
            case "operator", "(":
                with self.nested(token):
                    operand, _ = self.expression()
                    return operand, token.span.to(self.expect(")", token).span)
            case "operator", "[":
                with self.nested(token):
                    return self.listed(token)
        self.position = start
        raise self.unexpected()

    def named(self, token: Token) -> Operand:
        name = token
        while name.text in _PREFIXES and self.token.text == "." and name.text not in self.names:
            self.advance()
            name = self.advance()
            if name.kind != "name":
                raise self.error(LanguageError, "a function name must follow the dot", name.span)
        span = token.span.to(name.span)
        if self.token.text == "(" and name.text not in self.names and name.text not in self.variables:
            return self.call(name, span, [])
        if name.text in self.names:
            self.unused.pop(name.text, None)
            return self.names[name.text], span
        if self.token.text == "(":
            raise self.error(
                UnknownFunctionError,
                f"'{name.text}' is a variable, not a function",
                span,
                hint=f"write {name.text}*(...) for a product",
            )
        if name.text in CONSTANTS and name.text not in self.given:
            return CONSTANTS[name.text], span
        if name is not token or name.text in ("True", "False", "None"):
            raise self.error(LanguageError, f"'{self.text[span.start : span.stop]}' is not part of the language", span)
        if ops.find(name.text) is not None and name.text not in self.given:
            raise self.error(LanguageError, f"'{name.text}' is a function", span, hint=f"write {name.text}(...)")
        if self.is_value:
            raise self.error(
                LanguageError, f"a value cannot use the name '{name.text}'", span, hint="a value holds numbers only"
            )
        symbol = self.variables.setdefault(name.text, sympy.Symbol(name.text, real=True))
        return symbol, span

    def listed(self, opening: Token) -> Operand:
        if self.token.text == "]":
            raise self.error(
                LanguageError, "an empty list has no value", opening.span.to(self.token.span), hint="write [a, b]"
            )
        items = [self.expression()[0]]
        while self.accept(",") and self.token.text != "]":
            items.append(self.expression()[0])
        span = opening.span.to(self.expect("]", opening).span)
        return self.builder.emit("stack", tuple(items), self.at or span), span

    # -- calls

    def method(self, operand: Operand) -> Operand:
        dot, name = self.advance(), self.advance()
        if name.kind != "name":
            raise self.error(LanguageError, "a method name must follow the dot", dot.span)
        if self.token.text == "(":
            return self.call(name, operand[1].to(name.span), [operand])
        if name.text == "T":
            span = operand[1].to(name.span)
            return self.builder.emit("transpose", (operand[0],), self.at or span, (None, None)), span
        raise self.error(
            LanguageError,
            f"'.{name.text}' is not part of the language",
            dot.span.to(name.span),
            hint="only .T and methods such as .sum()",
        )

    def call(self, name: Token, span: Span, given: list[Operand]) -> Operand:
        op = ops.find(name.text)
        if op is None or op.name == "index":
            raise self.error(
                UnknownFunctionError,
                f"unknown function '{name.text}'",
                name.span,
                hint=did_you_mean(name.text, ops.names()) or self._not_a_function(name.text),
            )
        if op.kind is Kind.SOURCE and not self.is_value:
            raise self.error(
                LanguageError,
                f"'{name.text}' makes a value, and belongs in --at or --v",
                name.span,
                hint="use a variable here",
            )
        opening = self.advance()
        with self.nested(opening):
            operands, statics = self.arguments(op, name, given)
            span = span.to(self.expect(")", opening).span)
        if op.name == "stack":
            return operands[0][0], span
        if op.variadic and op.kind is Kind.ELEMENTWISE:
            result: Operand = operands[0][0], span
            for operand in operands[1:]:
                result = self.builder.emit(op.name, (result[0], operand[0]), self.at or span), span
            return result
        return self.builder.emit(op.name, tuple(a for a, _ in operands), self.at or span, statics), span

    def _not_a_function(self, name: str) -> str:
        if len(name) == 1 or name in CONSTANTS:
            return f"write {name}*(...) for a product"
        return "the functions are those that torch and SymPy share, sum and mean"

    def arguments(self, op: Op, name: Token, given: list[Operand]) -> tuple[list[Operand], tuple[ops.Default, ...]]:
        """Bind the arguments up to the closing parenthesis to the op's signature."""
        bound: dict[str, Operand] = {}
        statics: dict[str, ops.Default] = dict(op.statics)
        extra: list[Operand] = []
        waiting = list(op.signature)
        if given:
            bound[next(p for p in waiting if p not in op.statics)] = given[0]
            waiting.remove(next(iter(bound)))
        while self.token.text != ")":
            start = self.token
            parameter = self.keyword(op, waiting) or (waiting[0] if waiting else "")
            if parameter:
                waiting.remove(parameter)
            if parameter in op.statics:
                statics[parameter] = self.static(gather=parameter == "shape")
            elif parameter:
                bound[parameter] = self.expression()
            elif (op.variadic and op.name != "stack") or op.kind is Kind.SOURCE:
                extra.append(self.expression())
            else:
                raise self.error(LanguageError, f"too many arguments for {_usage(op)}", start.span)
            if not self.accept(","):
                break
        if op.name == "polygamma" and not (isinstance(statics["n"], int) and statics["n"] >= 0):
            raise self.error(LanguageError, f"{_usage(op)} needs a whole number n from 0 on", name.span)
        absent = [p for p in op.operands if p not in bound] if op.kind is not Kind.SOURCE else []
        absent += [p for p, value in statics.items() if value is REQUIRED]
        if absent or (op.kind is Kind.SOURCE and not bound):
            raise self.error(
                LanguageError, f"{_usage(op)} needs the argument '{(absent or op.operands)[0]}'", name.span
            )
        return [bound[p] for p in op.operands if p in bound] + extra, tuple(
            statics[p] for p in op.signature if p in statics
        )

    def keyword(self, op: Op, waiting: list[str]) -> str | None:
        token = self.token
        if token.kind != "name" or self.tokens[self.position + 1].text != "=":
            return None
        parameter = {"axis": "dim", "keepdims": "keepdim"}.get(token.text, token.text)
        if parameter not in waiting:
            known = parameter in op.signature
            problem = f"'{token.text}' is given twice" if known else f"{_usage(op)} has no argument '{token.text}'"
            raise self.error(
                LanguageError, problem, token.span, hint=None if known else did_you_mean(token.text, op.signature)
            )
        self.position += 2
        return parameter

    def emit(self, op: str, operands: list[Operand]) -> Operand:
        span = operands[0][1].to(operands[-1][1])
        return self.builder.emit(op, tuple(a for a, _ in operands), self.at or span), span

    # -- indices

    def indexed(self, operand: Operand) -> Operand:
        opening = self.advance()
        items = [self.item()]
        while self.accept(",") and self.token.text != "]":
            items.append(self.item())
        span = operand[1].to(self.expect("]", opening).span)
        return self.builder.emit("index", (operand[0],), self.at or span, (tuple(items),)), span


def _constant(word: str) -> Atom:
    """The exact number typed, if an integer; else the float64 nearest to it, as Python reads it."""
    plain = word.replace("_", "")
    return sympy.Integer(plain) if plain.isdecimal() else sympy.Float(float(plain), precision=53)


def _usage(op: Op) -> str:
    return f"{op.name}({', '.join(op.signature)})"

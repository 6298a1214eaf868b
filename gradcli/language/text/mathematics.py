"""Notation of formulas: sums over indices, cases in braces, bars, norms, inner products, rows, left-hand sides.

    atom      : sign ranges product | "|" expression "|" | "{" (case ";")* value "otherwise" "}"
              | "‖" expression "‖" ["_" order] | ("<" | "⟨") expression "," expression (">" | "⟩") | word power
    sign      : "Σ" | "Π" | "max" | "min" | nothing, for the elements of a matrix
    ranges    : "[" range ("," (range | condition))* "]"
    range : NAME "=" expression ".." expression
    case      : value "if" condition              in braces, "=" compares
    equations : equation ((";" | newline) equation)*
    equation  : [derivative "="] expression       derivative : NAME [indices] "/" NAME [indices]

A body reaches as far as a product does, so `Σ[k=0..2] x[k]*y[k] + 1` adds 1 to the sum.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

from gradcli.language.text import nodes
from gradcli.language.text.source import Cursor, SourceText
from gradcli.language.text.tokens import COMPARISON, JUXTAPOSED, OTHERWISE, POWERS, PRODUCT, Token, is_position

Read = TypeVar("Read")

_THOUSANDS = re.compile(r"\d{1,3}(?:_\d{3})+")

PREFIXES = frozenset(
    "log ln det logdet tr trace exp sin cos tan sec csc cot sinh cosh tanh asin acos atan arcsin arccos arctan".split()
)
"""Words that mathematics writes without parentheses, `log det X`."""

LOGARITHMS = ("log", "ln")
"""Words before a determinant in bars, `log|X|`."""

SIGNS = ("Σ", "Π", "max", "min")
"""Signs that may stand before ranges."""


class ExpressionReader(Cursor):
    """Reader of the expressions that stand inside the notation of formulas: what the grammar offers to it."""

    cases = 0  # number of braces around this place: "=" compares there

    @abstractmethod
    def expression(self, minimum: int = 0) -> nodes.Node:
        """Read an expression of operators that bind at least so tightly."""

    @abstractmethod
    def unary(self) -> nodes.Node:
        """Read a power, with the signs before it."""

    @abstractmethod
    def juxtaposed(self) -> bool:
        """Tell whether a factor stands here directly after another one."""

    @abstractmethod
    def expression_alone(self) -> nodes.Node:
        """Read an expression that ends its line."""

    @abstractmethod
    def tried(self, read: Callable[[], Read]) -> Read | nodes.Broken:
        """Read a line, or what is wrong with it."""

    @property
    @abstractmethod
    def at_keyword(self) -> bool:
        """Tell whether `NAME =` stands here."""


def has_ranges(tokens: Sequence[Token], position: int) -> bool:
    """Tell whether `[NAME = ...` stands here; without a sign before it, a range NAME=WORD.. must follow."""
    if tokens[position].text != "[" or tokens[position + 1].kind != "name" or tokens[position + 2].text != "=":
        return False
    is_behind_sign = position > 0 and tokens[position - 1].text in SIGNS
    return is_behind_sign or (position + 4 < len(tokens) and tokens[position + 4].text == "..")


def ranged(grammar: ExpressionReader) -> nodes.Node:
    """Read `Σ[k=0..2] x[k]`, `Π[k=0..2, k≠j] x[k]`, and `[k=0..1, l=0..1] x[k]*x[l]`."""
    first = grammar.token
    sign = "" if first.text == "[" else grammar.advance().text
    opening = grammar.advance()
    ranges: list[nodes.Range] = []
    conditions: list[nodes.Node] = []
    with grammar.nested(""):
        while not ranges or grammar.accept(","):
            if ranges and not grammar.at_keyword:
                conditions.append(grammar.expression(1))
                continue
            name, equals = grammar.advance(), grammar.advance()
            if name.kind != "name" or equals.text != "=":
                message, span = "a range is NAME=FIRST..LAST, as in Σ[k=0..2] x[k]", name.span.to(equals.span)
                raise grammar.source.error(message, span)
            start = grammar.expression()
            grammar.require("..")
            ranges.append(nodes.Range(name, start, grammar.expression()))
        grammar.close("]", opening)
    with grammar.nested():
        body = grammar.expression(PRODUCT)
    return nodes.Ranged(first.span.to(body.span), sign, tuple(ranges), body, tuple(conditions))


def bars(grammar: ExpressionReader, *, is_in_log: bool = False) -> nodes.Node:
    """Read `|x|`: between operands the sign is another."""
    opening = grammar.advance()
    with grammar.nested("|"):
        inner = grammar.expression()
    grammar.close("|", opening)
    return nodes.BarsNode(opening.span.to(grammar.behind().span), inner, is_in_log)


def prefixed(grammar: ExpressionReader) -> nodes.Node:
    """Read `log det X`: a word and its argument, which is one factor."""
    word = grammar.advance()
    with grammar.nested():
        is_in_log = word.text in LOGARITHMS and grammar.token.text == "|"
        argument = bars(grammar, is_in_log=True) if is_in_log else grammar.unary()
    if grammar.juxtaposed() and grammar.token.text not in PREFIXES:
        factors = grammar.source.single_line(argument.span), grammar.source.single_line(grammar.unary().span)
        message = f"'{word.text} {' '.join(factors)}' may be {word.text} of the first factor, or of the product"
        hint = f"write {word.text}({factors[0]}) {factors[1]}, or {word.text}({' '.join(factors)})"
        raise grammar.source.error(message, word.span.to(grammar.behind().span), hint=hint)
    arguments = nodes.Arguments(argument.span, word, (nodes.Argument(None, argument),))
    return nodes.NameNode(word.span.to(argument.span), word, arguments)


def require_power(source: SourceText, sign: Token, number: Token) -> None:
    """Refuse `x^2_1`, where Python reads the number 21, and paper the power 2 of x_1.

    Raises:
        LanguageError: The number is a power, and has an underscore that parts no thousands.
    """
    if sign.text in POWERS and not _THOUSANDS.fullmatch(number.text):
        plain = number.text.replace("_", "")
        raise source.error(f"'{number.text}' may be the number {plain}, or a power before an index", number.span)


def norm(grammar: ExpressionReader) -> nodes.Node:
    """Read `‖x‖`, and what stands below its second bar."""
    opening = grammar.advance()
    with grammar.nested("‖"):
        inner = grammar.expression()
    grammar.close("‖", opening)
    closing, order = grammar.behind(), ""
    if grammar.token.kind == "name" and grammar.token.text[0] == "_" and grammar.token.span.start == closing.span.stop:
        order = grammar.advance().text[1:]
        if not order and grammar.token.text in ("*", "("):
            is_group = grammar.accept("(")
            order = grammar.advance().text
            if is_group:
                grammar.require(")")
    return nodes.NormNode(opening.span.to(grammar.behind().span), inner, order)


def inner_product(grammar: ExpressionReader) -> nodes.Node:
    """Read `<x, y>` or `⟨x, y⟩`."""
    opening = grammar.advance()
    with grammar.nested(""):
        left = grammar.expression(COMPARISON + 1)
        grammar.require(",")
        right = grammar.expression(COMPARISON + 1)
        grammar.close(">" if opening.text == "<" else "⟩", opening)
    return nodes.InnerProduct(opening.span.to(grammar.behind().span), left, right)


def matrix(grammar: ExpressionReader, opening: Token, rows: Sequence[nodes.Items]) -> nodes.Node:
    """Make a matrix of MATLAB's, `[1, 2; 3, 4]`, of its rows, which are read; one of a single column is a vector."""
    span, counts = opening.span.to(grammar.behind().span), [len(row.items) for row in rows]
    for item in (item for row in rows for item in row.items):
        _require_one(grammar, item)
    if len({*counts}) > 1:
        message = f"the rows of a matrix have {', '.join(map(str, counts))} elements"
        raise grammar.source.error(message, span, hint="write as many in each: [1, 2; 3, 4]")
    return nodes.Items(span, opening, tuple(row.items[0] if counts[0] == 1 else row for row in rows))


def _require_one(grammar: ExpressionReader, item: nodes.Node) -> None:
    """Refuse an element that a blank makes two in MATLAB: `1 -2`, `a b`."""
    if not isinstance(item, nodes.Chain):
        return
    before = item.first.span.stop
    for step in item.steps:
        between = grammar.source.text[before : step.operand.span.start]
        is_sign = step.sign in ("+", "-") and between[:1].isspace() and not between[-1:].isspace()
        if is_sign or (step.sign == JUXTAPOSED and between.isspace()):
            message = f"'{grammar.source.single_line(item.span)}' may be one element of a matrix, or several"
            raise grammar.source.error(message, item.span, hint="write commas between elements, and no blanks inside")
        before = step.operand.span.stop


def cases(grammar: ExpressionReader) -> nodes.Node:
    """Read `{x if x > 0; 0 otherwise}`."""
    opening = grammar.advance()
    branches: list[tuple[nodes.Node, nodes.Node]] = []
    with grammar.nested(OTHERWISE):
        grammar.cases += 1
        value = grammar.expression(1)
        while grammar.at_word("if"):
            grammar.advance()
            branches.append((value, grammar.expression(1)))
            grammar.require(";")
            value = grammar.expression(1)
        if grammar.token.text != OTHERWISE:
            raise grammar.unexpected(f" where 'if' or '{OTHERWISE}' was expected")
        grammar.advance()
        grammar.close("}", opening)
        grammar.cases -= 1
    span, result = opening.span.to(grammar.behind().span), value
    for chosen, condition in reversed(branches):
        result = nodes.Choice(span, chosen, condition, result)
    return result if branches else nodes.GroupNode(span, value)


def equation(grammar: ExpressionReader) -> nodes.EquationNode:
    """Read `dy[i]/dx[j] = 2*x[i]`, or the right-hand side alone."""
    start = grammar.token
    position, above = _differential(grammar.tokens, grammar.position)
    below: tuple[Token, ...] = ()
    if above and grammar.tokens[position].text == "/":
        position, below = _differential(grammar.tokens, position + 1)
    if not below or grammar.tokens[position].text != "=":
        position, above, below = grammar.position, (), ()
    span = start.span.to(grammar.tokens[position].span) if above else start.span
    grammar.position = position + bool(above)
    value = grammar.tried(grammar.expression_alone)
    return nodes.EquationNode(span, above, below, value)


def _differential(tokens: Sequence[Token], position: int) -> tuple[int, tuple[Token, ...]]:
    """Read the name after a `d`, with its indices, and the position after them; nothing where it is another word."""
    name = tokens[position]
    if name.kind != "name" or name.text[:1] != "d" or len(name.text) == 1:
        return position, ()
    position += 1
    while (tokens[position].text == "." and tokens[position + 1].kind == "name") or is_position(name, tokens[position]):
        last = tokens[position + (tokens[position].text == ".")]
        name = Token("name", f"{name.text}.{last.text.lstrip('.')}", name.span.to(last.span))
        position += 1 + (tokens[position].text == ".")
    found = [name]
    if tokens[position].text == "[":
        while tokens[position].text in ("[", ",") and tokens[position + 1].kind in ("name", "number"):
            found.append(tokens[position + 1])
            position += 2
        if tokens[position].text != "]":
            return position, ()
        position += 1
    return position, tuple(found)

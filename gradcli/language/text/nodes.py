"""What a tree is made of: expressions and statements as they are written, each with its range of the text.

Chains of operators are one node with a list of steps, so that no tree is deeper than its brackets.  Where the grammar
is left, a node `Broken` stands in place of what could not be read, or a node keeps the `fault` of how it ends: the
parts before it are in the tree, and are found to be wrong first if they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradcli.errors import GradcliError, Span
from gradcli.language.text.tokens import Token


@dataclass(frozen=True, slots=True)
class Broken:
    """What could not be read, and why."""

    span: Span
    error: GradcliError


@dataclass(frozen=True, slots=True)
class Number:
    """A number as typed."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """`True`, `False`, `None`, `...` or a word in quotes; at a position among the tokens."""

    span: Span
    token: Token
    position: int

    @property
    def is_operand(self) -> bool:
        """Whether it may be calculated with: `True` and `False`."""
        return self.token.kind == "keyword" and self.token.text != "None"


@dataclass(frozen=True, slots=True)
class Name:
    """A name, with its arguments if it is called."""

    span: Span
    token: Token
    arguments: Arguments | None


@dataclass(frozen=True, slots=True)
class Group:
    """An expression in parentheses."""

    span: Span
    inner: Node
    fault: GradcliError | None


@dataclass(frozen=True, slots=True)
class Items:
    """What is between brackets, with commas: `[a, b]`, `(a, b)`, or the terms of a loop.

    Attributes:
        span: With the brackets.
        opening: The bracket that opens it.
        items: The expressions, or one loop.
        has_comma: Whether a comma makes it more than an expression in brackets.
        fault: How it ends, where that is wrong.
    """

    span: Span
    opening: Token
    items: tuple[Node, ...]
    has_comma: bool
    fault: GradcliError | None


@dataclass(frozen=True, slots=True)
class Clause:
    """`for name in values if condition`.

    Attributes:
        word: The word `for`.
        name: What takes the values.
        position: Of the first token of the values.
        values: What it runs over; its parts are expressions.
        condition: What must hold, if that is said.
        fault: Why it is no loop.
    """

    word: Token
    name: Token
    position: int
    values: Node
    condition: Node | None
    fault: GradcliError | None


@dataclass(frozen=True, slots=True)
class Loop:
    """An expression for every value of some loops: `x**i for i in range(3)`.

    Attributes:
        span: The whole of it.
        body: The expression.
        clauses: The loops, outer ones first.
        width: The tokens of the body.
        body_fault: What stands between the body and the first loop.
        fault: What stands behind the last loop.
    """

    span: Span
    body: Node
    clauses: tuple[Clause, ...]
    width: int
    body_fault: GradcliError | None
    fault: GradcliError | None


@dataclass(frozen=True, slots=True)
class Unary:
    """A sign or `not` before an operand."""

    span: Span
    sign: Token
    operand: Node


@dataclass(frozen=True, slots=True)
class Power:
    """A base and its exponent."""

    span: Span
    sign: Token
    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Step:
    """What follows an operand: a sign and the next operand; without a sign, a product, and the sign is what follows."""

    sign: Token
    level: int
    is_implicit: bool
    operand: Node


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands joined from the left, one step after the other."""

    span: Span
    first: Node
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """`chosen if condition else other`; without `other` where the text ends before."""

    span: Span
    chosen: Node
    condition: Node
    other: Node


@dataclass(frozen=True, slots=True)
class Bound:
    """The parts of a slice, `start:stop:step`, as they are written: a node for each, or a colon.

    Attributes:
        span: Of what is written; empty before the token that ends it where nothing is.
        parts: The expressions, None for a colon.
        fault: How it ends, where that is wrong.
    """

    span: Span
    parts: tuple[Node | None, ...]
    fault: GradcliError | None


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call.

    Attributes:
        name: Of the parameter, as in `dim=0`.
        value: An expression, or a loop.
        start: The position of its first token, that of the value.
        stop: The position behind its last one.
        fault: What follows it, where that is neither a comma nor the end.
    """

    name: Token | None
    value: Node
    start: int
    stop: int
    fault: GradcliError | None


@dataclass(frozen=True, slots=True)
class Arguments:
    """What is between the parentheses of a call.

    Attributes:
        span: With the parentheses.
        opening: The parenthesis that opens it.
        position: Of that among the tokens.
        depth: How many levels of nesting are around it.
        items: The arguments.
        unclosed: The error that no parenthesis closes it.
        expected: What an error says of the place where it stands: " where ')' was expected".
    """

    span: Span
    opening: Token
    position: int
    depth: int
    items: tuple[Argument, ...]
    unclosed: GradcliError | None
    expected: str


@dataclass(frozen=True, slots=True)
class Subscript:
    """`[item, item]` behind an operand."""

    span: Span
    items: tuple[Bound, ...]
    fault: GradcliError | None


@dataclass(frozen=True, slots=True)
class Member:
    """`.name` behind an operand, with its arguments if it is called; the name may be any token, which is refused."""

    span: Span
    dot: Token
    name: Token
    arguments: Arguments | None


@dataclass(frozen=True, slots=True)
class Transposed:
    """MATLAB's mark behind an operand."""

    span: Span


@dataclass(frozen=True, slots=True)
class Postfix:
    """An operand with what stands behind it."""

    span: Span
    operand: Node
    trailers: tuple[Trailer, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function, with its default."""

    name: str
    default: Node | None


@dataclass(frozen=True, slots=True)
class Function:
    """`lambda x: ...` or `def f(x): ...`.

    Attributes:
        span: The whole of it, with the name that it is given.
        position: Of its first word among the tokens.
        name: What it is called; empty for a lambda without a name.
        parameters: In order.
        body: Its statements, or the expression of a lambda.
        first: The token that the body begins with.
        width: The tokens of the body.
        depth: How many levels of nesting are around the body.
        reached: The first token at each level of nesting in it.
        fault: What is wrong before the body.
    """

    span: Span
    position: int
    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement | Return, ...]
    first: Token
    width: int
    depth: int
    reached: tuple[Token, ...]
    fault: GradcliError | None


@dataclass(frozen=True, slots=True)
class Statement:
    """`name = value`, or a value alone.

    Attributes:
        span: From its first word to its last.
        start: The position of its first token.
        value_at: The position of the first token of its value.
        stop: The position behind its last one.
        targets: The names before the sign; several in Python alone.
        is_tuple: Whether they are several, or in brackets.
        value: What is assigned or shown.
        fault: What stands behind it, where that is no end of a line.
        others: What follows the value behind commas, in Python alone.
    """

    span: Span
    start: int
    value_at: int
    stop: int
    targets: tuple[Token, ...]
    is_tuple: bool
    value: Node
    fault: GradcliError | None
    others: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Return:
    """`return value` in a function."""

    span: Span
    value: Node
    fault: GradcliError | None


@dataclass(frozen=True, slots=True)
class Import:
    """The names that an import gives, each with the whole name of what it stands for."""

    span: Span
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A text that is one value.

    Attributes:
        items: The expressions between commas.
        is_vector: Whether there is a comma.
        fault: What is wrong behind them.
    """

    items: tuple[Node, ...]
    is_vector: bool
    fault: GradcliError | None


Trailer = Subscript | Member | Transposed | Arguments
"""What may stand behind an operand; arguments in Python alone, behind other arguments."""

Node = Broken | Number | Word | Name | Group | Items | Loop | Unary | Power | Chain | Choice | Postfix | Function
"""An expression."""

Line = Statement | Function | Import
"""What stands on a line."""


def leading(node: Node) -> Node:
    """The first operand of an expression, with nothing behind it."""
    while True:
        match node:
            case Chain(first=first) | Power(base=first) | Postfix(operand=first) | Choice(chosen=first):
                node = first
            case _:
                return node

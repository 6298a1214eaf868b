"""What a tree is made of: expressions and statements as they are written, each with its range of the text.

Chains of operators are one node with a list of steps, so that no tree is deeper than its brackets.  Where the grammar
is left, a node `Broken` stands in place of what could not be read, or a node keeps the `fault` of how it ends: the
parts before it are in the tree, and are found to be wrong first if they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradcli.errors import GradcliError, Span
from gradcli.language.text.tokens import Token


@dataclass(frozen=True, slots=True, eq=False)
class Broken:
    """What could not be read, and why."""

    span: Span
    error: GradcliError


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number as typed."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """`True`, `False`, `None`, `...` or a word in quotes; at a position among the tokens."""

    span: Span
    token: Token
    position: int

    @property
    def is_operand(self) -> bool:
        """Whether it may be calculated with: `True` and `False`."""
        return self.token.kind == "keyword" and self.token.text != "None"


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A name, with its arguments if it is called."""

    span: Span
    token: Token
    arguments: Arguments | None


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """An expression in parentheses."""

    span: Span
    inner: Node
    fault: GradcliError | None


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """What is between brackets, with commas: `[a, b]`, `(a, b)`, or the terms of a loop."""

    span: Span  # with the brackets
    opening: Token  # the bracket that opens it
    items: tuple[Node, ...]  # the expressions, or one loop
    has_comma: bool  # whether a comma makes it more than an expression in brackets
    fault: GradcliError | None  # how it ends, where that is wrong


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """`for name in values if condition`."""

    word: Token  # the word `for`
    name: Token  # what takes the values
    position: int  # of the first token of the values
    values: Node  # what it runs over; its parts are expressions
    condition: Node | None  # what must hold, if that is said
    fault: GradcliError | None  # why it is no loop


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """An expression for every value of some loops: `x**i for i in range(3)`."""

    span: Span  # the whole of it
    body: Node  # the expression
    clauses: tuple[Clause, ...]  # the loops, outer ones first
    width: int  # the tokens of the body
    body_fault: GradcliError | None  # what stands between the body and the first loop
    fault: GradcliError | None  # what stands behind the last loop


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    """A sign or `not` before an operand."""

    span: Span
    sign: Token
    operand: Node


@dataclass(frozen=True, slots=True, eq=False)
class Power:
    """A base and its exponent."""

    span: Span
    sign: Token
    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What follows an operand: a sign and the next operand; without a sign, a product, and the sign is what follows."""

    sign: Token
    level: int
    is_implicit: bool
    operand: Node


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Operands joined from the left, one step after the other."""

    span: Span
    first: Node
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """`chosen if condition else other`; without `other` where the text ends before."""

    span: Span
    chosen: Node
    condition: Node
    other: Node


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """`k=first..last`: the whole numbers that an index takes."""

    name: Token  # of the index
    first: Node
    last: Node


@dataclass(frozen=True, slots=True, eq=False)
class Ranged:
    """`Σ[k=0..2] body`, the sum of a body over indices; without a sign, a matrix of the body's values."""

    span: Span
    sign: str  # what is made of the values: Σ, Π, max, min, or nothing
    ranges: tuple[Range, ...]
    body: Node
    fault: GradcliError | None  # how the brackets end, where that is wrong
    conditions: tuple[Node, ...] = ()  # on the indices: values are left out where one does not hold


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """`{value if condition; value otherwise}`."""

    span: Span  # with the braces
    branches: tuple[tuple[Node, Node], ...]  # values with their conditions
    rest: Node  # the value where no condition holds
    fault: GradcliError | None  # how it ends, where that is wrong


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """`|x|`."""

    span: Span  # with the bars
    inner: Node
    fault: GradcliError | None  # how it ends, where that is wrong


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    """`dy[i]/dx[j] = value`, or a value alone."""

    span: Span  # of what stands before the value
    above: tuple[Token, ...]  # what is differentiated, and its indices; empty without a left-hand side
    below: tuple[Token, ...]  # what it is differentiated by, and its indices
    value: Node
    fault: GradcliError | None  # what stands behind it


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """The parts of a slice, `start:stop:step`, as they are written: a node for each, or a colon."""

    span: Span  # of what is written; empty before the token that ends it where nothing is
    parts: tuple[Node | None, ...]  # the expressions, None for a colon
    fault: GradcliError | None  # how it ends, where that is wrong


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """One argument of a call."""

    name: Token | None  # of the parameter, as in `dim=0`
    value: Node  # an expression, or a loop
    start: int  # the position of its first token, that of the value
    stop: int  # the position behind its last one
    fault: GradcliError | None  # what follows it, where that is neither a comma nor the end


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """What is between the parentheses of a call."""

    span: Span  # with the parentheses
    opening: Token  # the parenthesis that opens it
    position: int  # of that among the tokens
    depth: int  # how many levels of nesting are around it
    items: tuple[Argument, ...]  # the arguments
    unclosed: GradcliError | None  # the error that no parenthesis closes it
    expected: str  # what an error says of the place where it stands: " where ')' was expected"


@dataclass(frozen=True, slots=True, eq=False)
class Subscript:
    """`[item, item]` behind an operand."""

    span: Span
    items: tuple[Bound, ...]
    fault: GradcliError | None


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """`.name` behind an operand, with its arguments if it is called; the name may be any token, which is refused."""

    span: Span
    dot: Token
    name: Token
    arguments: Arguments | None


@dataclass(frozen=True, slots=True, eq=False)
class Postfix:
    """An operand with what stands behind it."""

    span: Span
    operand: Node
    trailers: tuple[Trailer, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter of a function, with its default."""

    name: str
    default: Node | None


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """`lambda x: ...` or `def f(x): ...`."""

    span: Span  # the whole of it, with the name that it is given
    position: int  # of its first word among the tokens
    name: str  # what it is called; empty for a lambda without a name
    parameters: tuple[Parameter, ...]  # in order
    body: tuple[Line, ...]  # its statements, or the expression of a lambda
    width: int  # the tokens of the body
    fault: GradcliError | None  # what is wrong before the body


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """`name = value`, or a value alone."""

    span: Span  # from its first word to its last
    start: int  # the position of its first token
    value_at: int  # the position of the first token of its value
    stop: int  # the position behind its last one
    targets: tuple[Token, ...]  # the names before the sign; several in Python alone
    is_tuple: bool  # whether they are several, or in brackets
    value: Node  # what is assigned or shown
    fault: GradcliError | None  # what stands behind it, where that is no end of a line


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """`x.requires_grad = value`: a member for a value."""

    span: Span
    owner: Node  # what the member is of
    member: Member
    value: Node
    fault: GradcliError | None


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    """`return value` in a function."""

    span: Span
    value: Node
    fault: GradcliError | None


@dataclass(frozen=True, slots=True, eq=False)
class Import:
    """The names that an import gives, each with the whole name of what it stands for."""

    span: Span
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A text that is one value."""

    items: tuple[Node, ...]  # the expressions between commas
    is_vector: bool  # whether there is a comma
    fault: GradcliError | None  # what is wrong behind them


Trailer = Subscript | Member
"""What may stand behind an operand."""

Node = (
    Broken
    | Number
    | Word
    | Name
    | Group
    | Items
    | Loop
    | Unary
    | Power
    | Chain
    | Choice
    | Postfix
    | Function
    | Ranged
    | Cases
    | Bars
)
"""An expression."""

Line = Statement | Assignment | Function | Import | Return
"""What stands on a line."""


def leading(node: Node) -> Node:
    """The first operand of an expression, with nothing behind it."""
    while True:
        match node:
            case Chain(first=first) | Power(base=first) | Postfix(operand=first) | Choice(chosen=first):
                node = first
            case _:
                return node


def call_arguments(node: Node) -> Arguments | None:
    """The arguments of the call that an expression is; None of anything else."""
    last = node.trailers[-1] if isinstance(node, Postfix) else node
    return last.arguments if isinstance(last, Name | Member) else None


def definition_of(line: Line) -> Function | None:
    """The definition that a line is; None of anything else."""
    if isinstance(line, Function):
        return line
    is_named = isinstance(line, Statement) and isinstance(line.value, Function) and not line.is_tuple
    return line.value if is_named else None  # type: ignore[union-attr,return-value]

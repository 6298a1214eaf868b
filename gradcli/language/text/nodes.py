"""What a tree is made of: expressions and statements as they are written, each with its range of the text.

Chains of operators are one node with a list of steps, so that no tree is deeper than its brackets.  A line in which the
grammar is left is a node `Broken` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import dataclass_transform

from gradcli.errors import GradcliError, Span
from gradcli.language.text.tokens import Token


@dataclass_transform(frozen_default=True, eq_default=False)
class SyntaxNode:
    """A part of a tree."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)


class Spanned(SyntaxNode):
    """What is written at a range of a text, from its first word or bracket to its last."""

    span: Span


class Node(Spanned):
    """An expression."""


class LineNode(Spanned):
    """What stands on a line."""


class Broken(Node):
    """What could not be read, and why."""

    error: GradcliError


class NumberNode(Node):
    """A number as typed."""

    text: str


class Word(Node):
    """`True`, `False`, `None`, `...` or a word in quotes; at a position among the tokens."""

    token: Token
    position: int

    @property
    def is_operand(self) -> bool:
        """Whether it may be calculated with: `True` and `False`."""
        return self.token.kind == "keyword" and self.token.text != "None"


class NameNode(Node):
    """A name, with its arguments if it is called."""

    token: Token
    arguments: Arguments | None


class GroupNode(Node):
    """An expression in parentheses."""

    inner: Node


class Items(Node):
    """What is between brackets, with commas: `[a, b]`, `(a, b)`, or the terms of a loop."""

    opening: Token  # the bracket that opens it
    items: tuple[Node, ...]  # the expressions, or one loop
    has_comma: bool  # whether a comma makes it more than an expression in brackets


class Clause(SyntaxNode):
    """`for name in values if condition`."""

    word: Token  # the word `for`
    name: Token  # what takes the values
    position: int  # of the first token of the values
    values: Node  # what it runs over; its parts are expressions
    condition: Node | None  # what must hold, if that is said


class Loop(Node):
    """An expression for every value of some loops: `x**i for i in range(3)`."""

    body: Node  # the expression
    clauses: tuple[Clause, ...]  # the loops, outer ones first
    width: int  # the tokens of the body


class Unary(Node):
    """A sign or `not` before an operand."""

    sign: Token
    operand: Node


class Power(Node):
    """A base and its exponent."""

    sign: Token
    base: Node
    exponent: Node


class StepNode(SyntaxNode):
    """What follows an operand: a sign and the next operand; without a sign, a product, and the sign is what follows."""

    sign: Token
    level: int
    is_implicit: bool
    operand: Node


class Chain(Node):
    """Operands joined from the left, one step after the other."""

    first: Node
    steps: tuple[StepNode, ...]


class Choice(Node):
    """`chosen if condition else other`; without `other` where the text ends before."""

    chosen: Node
    condition: Node
    other: Node


class Range(SyntaxNode):
    """`k=first..last`: the whole numbers that an index takes."""

    name: Token  # of the index
    first: Node
    last: Node


class Ranged(Node):
    """`Σ[k=0..2] body`, the sum of a body over indices."""

    sign: str  # what is made of the values: Σ, Π, max or min
    ranges: tuple[Range, ...]
    body: Node
    conditions: tuple[Node, ...] = ()  # on the indices: values are left out where one does not hold


class EquationNode(Spanned):
    """`dy[i]/dx[j] = value`, or a value alone."""

    above: tuple[Token, ...]  # what is differentiated, and its indices; empty without a left-hand side
    below: tuple[Token, ...]  # what it is differentiated by, and its indices
    value: Node


class SliceNode(Spanned):
    """The parts of a slice, `start:stop:step`, as they are written: a node for each, or a colon."""

    parts: tuple[Node | None, ...]  # the expressions, None for a colon


class Argument(SyntaxNode):
    """One argument of a call."""

    name: Token | None  # of the parameter, as in `dim=0`
    value: Node  # an expression, or a loop
    start: int  # the position of its first token, that of the value
    stop: int  # the position behind its last one


class Arguments(Spanned):
    """What is between the parentheses of a call."""

    opening: Token  # the parenthesis that opens it
    position: int  # of that among the tokens
    items: tuple[Argument, ...]  # the arguments


class Subscript(Spanned):
    """`[item, item]` behind an operand."""

    items: tuple[SliceNode, ...]


class Member(Spanned):
    """`.name` behind an operand, with its arguments if it is called; the name may be any token, which is refused."""

    dot: Token
    name: Token
    arguments: Arguments | None


class Postfix(Node):
    """An operand with what stands behind it."""

    operand: Node
    trailers: tuple[Trailer, ...]


class ParameterNode(SyntaxNode):
    """A parameter of a function, with its default."""

    name: str
    default: Node | None


class FunctionNode(Node, LineNode):
    """`lambda x: ...` or `def f(x): ...`."""

    position: int  # of its first word among the tokens
    name: str  # what it is called; empty for a lambda without a name
    parameters: tuple[ParameterNode, ...]  # in order
    body: tuple[LineNode, ...]  # its statements, or the expression of a lambda
    width: int  # the tokens of the body


class Statement(LineNode):
    """`name = value`, or a value alone."""

    start: int  # the position of its first token
    value_at: int  # the position of the first token of its value
    stop: int  # the position behind its last one
    targets: tuple[Token, ...]  # the names before the sign; several in Python alone
    is_tuple: bool  # whether they are several, or in brackets
    value: Node  # what is assigned or shown


class Assignment(LineNode):
    """`x.requires_grad = value`: a member for a value."""

    owner: Node  # what the member is of
    member: Member
    value: Node


class Return(LineNode):
    """`return value` in a function."""

    value: Node


class Import(LineNode):
    """The names that an import gives, each with the whole name of what it stands for."""

    names: tuple[tuple[str, str], ...]


class Value(SyntaxNode):
    """A text that is one value."""

    items: tuple[Node, ...]  # the expressions between commas
    is_vector: bool  # whether there is a comma


Trailer = Subscript | Member
"""What may stand behind an operand."""


def call_arguments(node: Node) -> Arguments | None:
    """The arguments of the call that an expression is; None of anything else."""
    last = node.trailers[-1] if isinstance(node, Postfix) else node
    return last.arguments if isinstance(last, NameNode | Member) else None


def definition_of(line: LineNode) -> FunctionNode | None:
    """The definition that a line is; None of anything else."""
    if isinstance(line, FunctionNode):
        return line
    is_named = isinstance(line, Statement) and isinstance(line.value, FunctionNode) and not line.is_tuple
    return line.value if is_named else None  # type: ignore[attr-defined]

"""Nodes of a tree: expressions and statements as they are written, each with its range of the text.

Chains of operators are one node with a list of steps, so that no tree is deeper than its brackets.  A line that the
grammar cannot read is a node `Broken` alone.
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
    """Node with its range of the text, from its first word or bracket to its last."""

    span: Span


class Node(Spanned):
    """An expression."""


class LineNode(Spanned):
    """Node of a line."""


class Broken(Node):
    """Text that could not be read, with the error."""

    error: GradcliError


class NumberNode(Node):
    """A number as typed."""

    text: str


class Word(Node):
    """Word `True`, `False`, `None`, `...` or a word in quotes."""

    token: Token

    @property
    def is_operand(self) -> bool:
        """Tell whether it may be calculated with: `True` and `False`."""
        return self.token.kind == "keyword" and self.token.text != "None"


class NameNode(Node):
    """A name, with its arguments if it is called."""

    token: Token
    arguments: Arguments | None


class GroupNode(Node):
    """An expression in parentheses."""

    inner: Node


class Items(Node):
    """Items between brackets, with commas: `[a, b]`, `(a, b)`, or the terms of a loop."""

    opening: Token  # the bracket that opens it
    items: tuple[Node, ...]  # the expressions, or one loop


class Clause(SyntaxNode):
    """Clause `for name in values if condition` of a loop."""

    word: Token  # the word `for`
    name: Token  # the name that takes the values
    values: Node  # the values, whose parts are expressions
    condition: Node | None  # the condition after `if`, if there is one


class Loop(Node):
    """An expression for every value of some loops: `x**i for i in range(3)`."""

    body: Node  # the expression
    clauses: tuple[Clause, ...]  # the loops, outer ones first


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
    """Step of a chain: a sign, empty where factors stand side by side, and the next operand."""

    sign: str
    operand: Node


class Chain(Node):
    """Operands joined from the left, one step after the other."""

    first: Node
    steps: tuple[StepNode, ...]


class Choice(Node):
    """Choice `chosen if condition else other`."""

    chosen: Node
    condition: Node
    other: Node


class Range(SyntaxNode):
    """Range `k=first..last`: the whole numbers that an index takes."""

    name: Token  # of the index
    first: Node
    last: Node


class Ranged(Node):
    """Sum `Σ[k=0..2] body` of a body over indices; without a sign, a matrix of the body's values."""

    sign: str  # the reduction of the values: Σ, Π, max, min, or nothing
    ranges: tuple[Range, ...]
    body: Node
    conditions: tuple[Node, ...] = ()  # on the indices: values are left out where one does not hold


class BarsNode(Node):
    """Absolute value `|x|` of an expression, or the determinant of a matrix, `log|X|`."""

    inner: Node
    is_in_log: bool  # directly after a logarithm, without parentheses


class NormNode(Node):
    """Norm `‖x‖_2` of an expression."""

    inner: Node
    order: str  # what is written below the bars: a number, F, *, inf; empty without one


class InnerProduct(Node):
    """Inner product `<x, y>`."""

    left: Node
    right: Node


class EquationNode(Spanned):
    """Equation `dy[i]/dx[j] = value`, or a value alone."""

    above: tuple[Token, ...]  # the name that is differentiated, and its indices; empty without a left-hand side
    below: tuple[Token, ...]  # the name that it is differentiated by, and its indices
    value: Node


class SliceNode(Spanned):
    """The parts of a slice, `start:stop:step`, as they are written: a node for each, None where nothing stands."""

    parts: tuple[Node | None, ...]

    @property
    def only(self) -> Node | None:
        """Expression that is the whole item; None where there are colons, or nothing."""
        return self.parts[0] if len(self.parts) == 1 else None


class Argument(SyntaxNode):
    """One argument of a call."""

    name: Token | None  # of the parameter, as in `dim=0`
    value: Node  # an expression, or a loop


class Arguments(Spanned):
    """Arguments between the parentheses of a call."""

    opening: Token  # the parenthesis that opens it
    items: tuple[Argument, ...]  # the arguments


class Subscript(Spanned):
    """Index `[item, item]` after an operand."""

    items: tuple[SliceNode, ...]


class Member(Spanned):
    """Member `.name` after an operand, with its arguments if it is called; any token may be the name, to be refused."""

    name: Token
    arguments: Arguments | None


class TransposeMark(Spanned):
    """Mark `'` after an operand."""


class Postfix(Node):
    """Operand with the indices, members and marks after it."""

    operand: Node
    trailers: tuple[Trailer, ...]


class ParameterNode(SyntaxNode):
    """A parameter of a function, with its default."""

    name: str
    default: Node | None


class FunctionNode(Node, LineNode):
    """Function `lambda x: ...` or `def f(x): ...`."""

    position: int  # of its first word among the tokens
    name: str  # its name; empty for a lambda without one
    parameters: tuple[ParameterNode, ...]  # in order
    body: tuple[LineNode, ...]  # its statements, or the expression of a lambda


class Statement(LineNode):
    """Statement `name = value`, or a value alone."""

    targets: tuple[Token, ...]  # the names before the sign; several in Python alone
    is_tuple: bool  # true if they are several, or in brackets
    value: Node  # the value that is assigned or shown


class Assignment(LineNode):
    """Assignment of a value to a member: `x.requires_grad = value`."""

    owner: Node  # the object that has the member
    member: Member
    value: Node


class Return(LineNode):
    """Statement `return value` in a function."""

    value: Node


class Import(LineNode):
    """Names that an import gives, each with the whole name of the object it stands for."""

    names: tuple[tuple[str, str], ...]


class Value(SyntaxNode):
    """A text that is one value."""

    items: tuple[Node, ...]  # the expressions between commas
    is_vector: bool  # true if there is a comma


Trailer = Subscript | Member | TransposeMark
"""Node that may stand after an operand."""


def call_arguments(node: Node) -> Arguments | None:
    """Return the arguments of an expression that is a call; None of anything else."""
    last = node.trailers[-1] if isinstance(node, Postfix) else node
    return last.arguments if isinstance(last, NameNode | Member) else None


def name_alone(node: Node | None) -> str:
    """Return the name that an expression is, without arguments; empty for any other expression."""
    return node.token.text if isinstance(node, NameNode) and node.arguments is None else ""


def is_word(node: Node, text: str) -> bool:
    """Tell whether an expression is this word of Python, as `None` is."""
    return isinstance(node, Word) and node.token.text == text


def definition_of(line: LineNode) -> FunctionNode | None:
    """Return the definition on a line; None of anything else."""
    if isinstance(line, FunctionNode):
        return line
    is_named = isinstance(line, Statement) and isinstance(line.value, FunctionNode) and not line.is_tuple
    return line.value if is_named else None  # type: ignore[attr-defined]

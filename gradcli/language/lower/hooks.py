"""What may listen while a tree is lowered, and read what only a snippet has; by default nothing does.

The language itself is whole without it: a hook that gives None leaves what it is asked for to the language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradcli.errors import Span
from gradcli.language.ops import Op
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Arguments, Choice, Member, Name, Node, Statement, Subscript, Trailer
from gradcli.language.text.tokens import Token

Operand = tuple[Atom, Span]
"""What an expression is: its value in the Program, and its range of the text."""

Lower = Callable[[Node], Operand]
"""Gives the value of an expression."""


class Hooks:
    """Listens to nothing."""

    def stated(self, statement: Statement, result: Operand) -> None:
        """A statement of the language was read."""

    def emitting(self, operands: Sequence[Atom], span: Span) -> None:
        """A line is about to be written; it may be refused."""

    def emitted(self, result: Atom, span: Span) -> None:
        """A line was written."""

    def joined(self, result: Operand, left: Operand, right: Operand) -> None:
        """A line of two operands was written."""

    def made(self, op: Op, operands: Sequence[Operand], result: Operand) -> None:
        """A call was written."""

    def was_leaf(self, result: Operand) -> None:
        """A number or a name was read."""

    def chosen(self, node: Choice, result: Operand) -> None:
        """`a if c else b` was written."""

    def special(self, name: Span, whole: Span) -> None:
        """A call is about to be read whose lines have the range of its name."""

    def pieces(self, arguments: Arguments, result: Atom) -> None:
        """The pairs of a Piecewise were written."""

    def raised(self, sign: Token) -> None:
        """A power was written."""

    def held(self, keyword: Token, value: str) -> None:
        """A keyword says how a tensor is held."""

    def library(self, words: Sequence[str]) -> Sequence[str]:
        """The modules before a name, as an import has them."""
        return words

    def renamed(self, name: Token, *, is_module: bool, is_called: bool) -> Token:
        """The name that an import gave another one."""
        return name

    def named(self, name: Name, trailers: Sequence[Trailer]) -> tuple[Operand, int] | None:
        """A name with some of what stands behind it, and how much of that."""
        return None

    def was_named(self, name: Name, *, is_call: bool) -> None:
        """A name was read, and called if it is a function."""

    def member(self, operand: Operand, member: Member) -> Operand | None:
        """A member that only a snippet has."""
        return None

    def was_member(self, member: Member) -> None:
        """A member was read."""

    def indexed(self, operand: Operand, subscript: Subscript) -> Operand | None:
        """An index of what is no tensor."""
        return None

    def constructed(self, name: Token, span: Span, arguments: Arguments) -> Operand | None:
        """A constructor that only a snippet has."""
        return None

    def constructing(self) -> str:
        """A constructor is about to be read; what is given here is handed back behind it."""
        return ""

    def was_constructed(self, name: Token, span: Span, arguments: Arguments, result: Operand, before: str) -> None:
        """A constructor was read."""

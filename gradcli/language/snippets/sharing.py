"""What may be changed in place, a tensor that no other name shares memory with; and the names that a text changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy

from gradcli.errors import Span
from gradcli.language.lower.programs import Lowering
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom
from gradcli.language.text import nodes
from gradcli.language.text.tokens import Token

_COPYING = frozenset("clone copy array tensor".split())
"""What gives a tensor of its own."""


class Sharing:
    """Knows which names stand for one tensor, and which for a view of another."""

    def __init__(self, lowering: Lowering) -> None:
        self.source, self.scope, self.builder = lowering.source, lowering.scope, lowering.lines.builder
        self._copies: dict[str, Atom] = {}

    def require_own(self, atom: Atom, target: nodes.Node, sign: Token | Span) -> None:
        """Refuse to change what other names see too.

        Raises:
            LanguageError: It is a variable, or a view shares its memory.
        """
        if not isinstance(atom, sympy.Symbol):
            return
        span = target.span.to(sign.span if isinstance(sign, Token) else sign)
        name = self.source.excerpt(nodes.leading(target).span)
        if self._copies.get(name) == atom:
            return
        shown = sign.text if isinstance(sign, Token) else "an element"
        if atom in self.scope.variables.values():
            message = f"'{shown}' changes the variable '{name}' in place, which torch refuses where it has a gradient"
            hint = (
                f"write {name} = {name} {shown[:-1]} ..."
                if isinstance(sign, Token)
                else f"write {name} = {name}.clone()"
            )
            raise self.source.error(message, span, hint=hint)
        base = self._base(atom)
        for other, value in self.scope.names.items():
            if other != name and value not in self.scope.objects and self._base(value) == base:
                message = f"'{shown}' changes '{name}' in place, and '{other}' shares its memory"
                raise self.source.error(message, span, hint=f"write {name} = {name}.clone() before")

    def own(self, name: str, atom: Atom, node: nodes.Node) -> None:
        """Note that a name stands for a copy, if it does: `y = x.clone()`."""
        last = node.trailers[-1] if isinstance(node, nodes.Postfix) else node
        called = last.name if isinstance(last, nodes.Member) else last.token if isinstance(last, nodes.Name) else None
        self._copies.pop(name, None)
        if called is not None and called.text in _COPYING:
            self._copies[name] = atom

    def _base(self, atom: Atom) -> Atom:
        """The tensor that a value is a view of, or itself."""
        while (line := self.builder.line_of(atom)) is not None and line.call.op.kind is Kind.MOVEMENT:
            if not line.call.operands:
                break
            atom = line.call.operands[0]
        return atom


def changed_names(lines: Sequence[nodes.Line]) -> frozenset[str]:
    """The names that statements assign more than once, or change the elements of."""
    seen, changed = set[str](), set[str]()
    for line in each_line(lines):
        if isinstance(line, nodes.Assignment):
            changed |= {_named(one) for one in line.targets if line.sign.text != "=" or _is_indexed(one)}
        names = assigned_names(line)
        changed |= names & seen
        seen |= names
    return frozenset(changed)


def assigned_names(line: nodes.Line) -> set[str]:
    """The names that a statement gives a value."""
    match line:
        case nodes.Statement(targets=targets):
            return {one.text for one in targets}
        case nodes.Assignment(targets=targets):
            return {_named(one) for one in targets if isinstance(one, nodes.Name)}
    return set()


def _is_indexed(target: nodes.Node) -> bool:
    return isinstance(target, nodes.Postfix) and isinstance(target.trailers[-1], nodes.Subscript)


def _named(target: nodes.Node) -> str:
    first = nodes.leading(target)
    return first.token.text if isinstance(first, nodes.Name) else ""


def each_line(lines: Sequence[nodes.Line]) -> Iterator[nodes.Line]:
    """All statements, those of blocks too, but not those of functions."""
    for line in lines:
        yield line
        if isinstance(line, nodes.For | nodes.While | nodes.If):
            yield from each_line(line.body.lines)
            yield from each_line(line.other.lines)
        elif isinstance(line, nodes.With | nodes.Try):
            yield from each_line(line.body.lines)

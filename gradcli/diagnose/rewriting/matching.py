"""Patterns written in the language, found in a Program: `1 - cos(u)` is found in `1 - torch.cos(2*x)`, u being 2*x.

Names of a pattern stand for any value, the same one each time; a name that the pattern assigns stands for that part.
Sums and products are found in either order, and what is the same operation in other words is found too: x*x as u**2,
`-1 + exp(x)` as exp(u) - 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy

from gradcli.diagnose.rewriting.occurrences import Node, exact
from gradcli.language.ops import Kind
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Atom

_TWO, _MINUS_ONE = sympy.Integer(2), sympy.Integer(-1)

OTHER_WORDS: Mapping[str, tuple[str, ...]] = {
    "add": ("add", "sub"),
    "sub": ("sub",),
    "mul": ("mul", "pow"),
    "square": ("pow",),
    "pow": ("pow", "sqrt", "exp"),
    "reciprocal": ("div",),
}
"""What an operation may be found as, if not only as itself."""


@dataclass(frozen=True)
class Match:
    """What the names of a pattern stand for, and the constant arguments of its reductions, by operation."""

    names: Mapping[str, Atom] = field(default_factory=dict)
    statics: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def with_name(self, name: str, atom: Atom) -> Match:
        """One more name."""
        return Match({**self.names, name: atom}, self.statics)


@dataclass(frozen=True)
class Pattern:
    """A text of the language as a pattern."""

    nodes: Mapping[Atom, Node]
    named: Mapping[Atom, str]
    output: Atom
    root: str

    def matches(self, nodes: Mapping[Atom, Node], atom: Atom) -> Iterator[Match]:
        """The ways in which a value has the form of the pattern; `nodes` are the operations of its Program."""
        if self.root in OTHER_WORDS.get(nodes[atom].op, (nodes[atom].op,)):
            yield from self._found(self.output, nodes, atom, Match())

    def _found(self, part: Atom, nodes: Mapping[Atom, Node], atom: Atom, match: Match) -> Iterator[Match]:
        """Ways to continue a match with a part of the pattern standing for a value."""
        wanted = self.nodes.get(part)
        if wanted is None:
            if not isinstance(part, sympy.Symbol):
                if part == atom or (exact(part) is not None and exact(part) == exact(atom)):
                    yield match
                return
            known = match.names.get(str(part))
            if known is None:
                yield match.with_name(str(part), atom)
            elif known == atom:
                yield match
            return
        for op, operands, statics in _forms(nodes, atom):
            if op != wanted.op or len(operands) != len(wanted.operands):
                continue
            below = match
            if wanted.kind in (Kind.REDUCTION, Kind.DEFINED):
                below = Match(match.names, {**match.statics, op: statics})
            elif statics != wanted.statics:
                continue
            for found in self._all(wanted.operands, nodes, operands, below):
                name = self.named.get(part, "")
                yield found.with_name(name, atom) if name else found

    def _all(
        self, parts: tuple[Atom, ...], nodes: Mapping[Atom, Node], atoms: tuple[Atom, ...], match: Match
    ) -> Iterator[Match]:
        if not parts:
            yield match
            return
        for found in self._found(parts[0], nodes, atoms[0], match):
            yield from self._all(parts[1:], nodes, atoms[1:], found)


_Form = tuple[str, tuple[Atom, ...], tuple[Any, ...]]


def _forms(nodes: Mapping[Atom, Node], atom: Atom) -> Iterator[_Form]:
    """A value's operation, and the same in other words."""
    node = nodes.get(atom)
    if node is None:
        return
    yield node.op, node.operands, node.statics
    match node.op, node.operands:
        case "add", (a, b):
            yield "add", (b, a), ()
            for left, right in ((a, b), (b, a)):
                taken = _negated(nodes, right)
                if taken is not None:
                    yield "sub", (left, taken), ()
        case "mul", (a, b):
            yield "mul", (b, a), ()
            if a == b:
                yield "pow", (a, _TWO), ()
        case "square", (a,):
            yield "pow", (a, _TWO), ()
        case "reciprocal", (a,):
            yield "div", (sympy.Integer(1), a), ()
        case "pow", (a, b):
            if exact(b) == Fraction(1, 2):
                yield "sqrt", (a,), ()
            if a == sympy.E:
                yield "exp", (b,), ()


def _negated(nodes: Mapping[Atom, Node], atom: Atom) -> Atom | None:
    """What a value is the negative of, if it is written as a negative."""
    node = nodes.get(atom)
    if node is not None:
        return node.operands[0] if node.op == "neg" else None
    value = exact(atom)
    return -atom if value is not None and value < 0 else None


@lru_cache(maxsize=256)
def pattern(text: str) -> Pattern:
    """The pattern that a text of the language is.

    >>> from gradcli.diagnose.rewriting.recording import read_places
    >>> reading = read_places("torch.cos(2*x) + y*(-1 + exp(x))")
    >>> [str(m.names["u"]) for atom in reading.nodes for m in pattern("exp(u) - 1").matches(reading.nodes, atom)]
    ['x']
    """
    program = parse(text)
    nodes = {
        line.symbol: Node(line.call.op.name, line.call.operands, line.call.statics, line.call.op.kind)
        for line in program.lines
    }
    named = {line.symbol: line.name for line in program.lines if line.name}
    return Pattern(nodes, named, program.output, nodes[program.output].op)

"""Texts of the language as patterns, found in a Program by their operations: `1 - cos(u)` in `1 - torch.cos(2*x)`.

Names of a pattern stand for any value, the same one each time: but `k` and `h` for numbers, and `n` for one above 0.
A name that the pattern assigns stands for that part.  Sums and products are found in either order, a difference also
the other way round, and the same operation in other words is found too: x*x as u**2, `-1 + exp(x)` as
exp(u) - 1, and m**2*c**4 as u**2 where m*c**2 is a value of the Program too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy

from gradcli.language.ops import Kind
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Atom, Call

Words = Mapping[Atom, Sequence[tuple[str, tuple[Atom, ...], tuple[Any, ...]]]]
"""The operation of each value and the same in other words: its name, its operands, its constants."""


def exact(atom: Atom) -> Fraction | None:
    """Return the value of a finite rational constant; None for anything else."""
    match atom:
        case sympy.Rational():
            return Fraction(int(atom.p), int(atom.q))
        case sympy.Float():
            return Fraction(float(atom))
    return None


@dataclass(frozen=True)
class Match:
    """Values that the names of a pattern stand for, and the constant arguments of its reductions, by operation.

    Attributes:
        names: The values, by the names.
        statics: The constant arguments, by the operations.
        is_negative: Whether the pattern is found the other way round.
    """

    names: Mapping[str, Atom] = field(default_factory=dict)
    statics: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    is_negative: bool = False

    def with_name(self, name: str, atom: Atom) -> Match:
        """Return the match with one more name."""
        return Match({**self.names, name: atom}, self.statics, self.is_negative)


@dataclass(frozen=True)
class Pattern:
    """A text of the language as a pattern."""

    nodes: Mapping[Atom, Call]
    named: Mapping[Atom, str]
    output: Atom

    def matches(self, words: Words, atom: Atom) -> Iterator[Match]:
        """Yield the ways in which a value of a Program has the form of the pattern."""
        yield from self._found(self.output, words, atom, Match())
        root = self.nodes[self.output]
        for op, operands, _ in words.get(atom, ()) if root.op.name == "sub" else ():
            if op == "sub":
                yield from self._all(root.operands, words, operands[::-1], Match(is_negative=True))

    def _found(self, part: Atom, words: Words, atom: Atom, match: Match) -> Iterator[Match]:
        """Yield the ways to continue a match with a part of the pattern standing for a value."""
        wanted = self.nodes.get(part)
        if wanted is None:
            if not isinstance(part, sympy.Symbol):
                if part == atom or (exact(part) is not None and exact(part) == exact(atom)):
                    yield match
            elif match.names.get(str(part), atom) == atom and _may_be(str(part), atom):
                yield match.with_name(str(part), atom)
            return
        for op, operands, statics in words.get(atom, ()):
            if op != wanted.op.name or len(operands) != len(wanted.operands):
                continue
            below = match
            if wanted.op.kind in (Kind.REDUCTION, Kind.DEFINED):
                if match.statics.get(op, statics) != statics:  # mean(x**2, dim=0) and mean(x) are of different axes
                    continue
                below = Match(match.names, {**match.statics, op: statics}, match.is_negative)
            elif statics != wanted.statics:
                continue
            for found in self._all(wanted.operands, words, operands, below):
                name = self.named.get(part, "")
                yield found.with_name(name, atom) if name else found

    def _all(self, parts: tuple[Atom, ...], words: Words, atoms: tuple[Atom, ...], match: Match) -> Iterator[Match]:
        if not parts:
            yield match
            return
        for found in self._found(parts[0], words, atoms[0], match):
            yield from self._all(parts[1:], words, atoms[1:], found)


def _may_be(name: str, atom: Atom) -> bool:
    """Tell whether a name may stand for a value."""
    if name not in ("k", "h", "n"):
        return True
    value = exact(atom)
    return value is not None and (value > 0 if name == "n" else value != 0)


def in_other_words(nodes: Mapping[Atom, Call]) -> Words:
    """List the operations of a Program, each also in other words."""
    roots = _roots(nodes)
    squares = {atom: (("pow", (root, sympy.Integer(2)), ()),) for atom, root in roots.items()}
    return {atom: (*_words(nodes, node), *squares.get(atom, ())) for atom, node in nodes.items()}


def _roots(nodes: Mapping[Atom, Call]) -> dict[Atom, Atom]:
    """Find the products that are the square of another one: m**2*c**4 of m*c**2, 4*x**2 of 2*x."""
    known: dict[Atom, _Monomial] = {}
    for atom, node in nodes.items():
        if (found := _monomial(known, node)) is not None:
            known[atom] = found
    by_monomial = {one: atom for atom, one in reversed(known.items())}
    roots = {atom: by_monomial.get(one.root) for atom, one in known.items() if one.root is not None}
    return {atom: root for atom, root in roots.items() if root is not None}


@dataclass(frozen=True)
class _Monomial:
    """A number times powers of values."""

    number: Fraction
    powers: frozenset[tuple[Atom, int]]

    @property
    def root(self) -> _Monomial | None:
        """The product whose square this is, if it has one with a number above 0."""
        number = sympy.sqrt(sympy.Rational(self.number.numerator, self.number.denominator))
        if not number.is_Rational or self.number <= 0 or any(power % 2 for _, power in self.powers):
            return None
        return _Monomial(Fraction(int(number.p), int(number.q)), frozenset((a, n // 2) for a, n in self.powers))


MOST_FACTORS = 8
"""Most values in a product that is looked at as a square."""


def _monomial(known: Mapping[Atom, _Monomial], node: Call) -> _Monomial | None:
    """Write an operation as a number times powers of values; None for a sum, and for too many values."""

    def read(atom: Atom) -> _Monomial:
        value = exact(atom)
        if value is not None:
            return _Monomial(value, frozenset())
        return known.get(atom) or _Monomial(Fraction(1), frozenset(((atom, 1),)))

    match node.op.name, node.operands:
        case "mul", (a, b):
            first, second = read(a), read(b)
            powers = Counter(dict(first.powers))
            powers.update(dict(second.powers))
            found = _Monomial(first.number * second.number, frozenset(powers.items()))
        case "div", (a, b) if exact(b):
            found = replace(read(a), number=read(a).number / read(b).number)
        case "square", (a,):
            found = _power(read(a), 2)
        case "pow", (a, b) if (value := exact(b)) is not None and value.denominator == 1 and 0 < value <= MOST_FACTORS:
            found = _power(read(a), int(value))
        case _:
            return None
    return found if len(found.powers) <= MOST_FACTORS else None


def _power(product: _Monomial, exponent: int) -> _Monomial:
    powers = frozenset((atom, power * exponent) for atom, power in product.powers)
    return _Monomial(product.number**exponent, powers)


def _words(nodes: Mapping[Atom, Call], node: Call) -> Iterator[tuple[str, tuple[Atom, ...], tuple[object, ...]]]:
    yield node.op.name, node.operands, node.statics
    match node.op.name, node.operands:
        case "add", (a, b):
            yield "add", (b, a), ()
            for left, right in ((a, b), (b, a)):
                taken = _negated(nodes, right)
                if taken is not None:
                    yield "sub", (left, taken), ()
        case "mul", (a, b):
            yield "mul", (b, a), ()
            if a == b:
                yield "pow", (a, sympy.Integer(2)), ()
        case "square", (a,):
            yield "pow", (a, sympy.Integer(2)), ()
        case "dot", (a, b):
            yield "matmul", (a, b), ()
        case "acos", (a,) if a in nodes and nodes[a].op.name == "clamp" and nodes[a].operands[1:] == (-1, 1):
            yield "acos", nodes[a].operands[:1], ()  # which has no other values
        case "reciprocal", (a,):
            yield "div", (sympy.Integer(1), a), ()
        case "pow", (a, b):
            if exact(b) == Fraction(1, 2):
                yield "sqrt", (a,), ()
            if a == sympy.E:
                yield "exp", (b,), ()


def _negated(nodes: Mapping[Atom, Call], atom: Atom) -> Atom | None:
    """Return the value without its minus sign, if it is written as a negative."""
    node = nodes.get(atom)
    if node is not None:
        return node.operands[0] if node.op.name == "neg" else None
    value = exact(atom)
    return -atom if value is not None and value < 0 else None


@lru_cache(maxsize=256)
def pattern(text: str) -> Pattern:
    """Read a text of the language as a pattern.

    >>> words = in_other_words({line.symbol: line.call for line in parse("torch.cos(2*x) + y*(-1 + exp(x))").lines})
    >>> [str(match.names["u"]) for atom in words for match in pattern("exp(u) - 1").matches(words, atom)]
    ['x']
    """
    program = parse(text)
    nodes = {line.symbol: line.call for line in program.lines}
    return Pattern(nodes, {line.symbol: line.name for line in program.lines if line.name}, program.output)

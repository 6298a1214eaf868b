"""Lines of a Program to statements: what is used once is put inside, with the parentheses it needs.

The script evaluates in the order of the Program, so that a backward pass adds its contributions up in the same order
and the last digit is the same: an expression is put inside another one only where that keeps the order.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import sympy

from gradcli.codegen.identifiers import Names
from gradcli.codegen.layout import WIDTH, laid_out
from gradcli.codegen.literals import decimal
from gradcli.language.operators import BINARY, POWERS, SIGNS
from gradcli.language.program.indexing import NEW, Shape
from gradcli.language.program.torch_calls import plain
from gradcli.language.program.wengert import Atom, Line

SIGN, POWER, ATOM = 9, 10, 11
"""How tightly bind signs, powers, and what needs no parentheses."""

MOST_INSIDE = WIDTH - 16
"""Characters of an expression that is put inside another one."""

_EXACT = 2**53
"""Up to this, Python divides whole numbers as floats of the same value."""

_SIGN_OF: Mapping[str, str] = {name: sign for sign, name in SIGNS.items() if sign not in ("&", "|", "^")}
_LEVELS: Mapping[str, int] = {sign: level for sign, (level, _) in BINARY.items()}
_SIMPLE = re.compile(r"-?(?:[^\W\d]\w*(?:\.[^\W\d]\w*)*|[\d.]+(?:e-?\d+)?)")


@dataclass(frozen=True, slots=True)
class Piece:
    """An expression as text, and how tightly its loosest operator binds."""

    text: str
    level: int = ATOM

    def at(self, level: int) -> str:
        """The text as it stands where operators of this level are around it."""
        return self.text if self.level >= level else f"({self.text})"


def sign_of(name: str) -> str:
    """The operator that Python has for an operation of two operands; empty if none.

    >>> sign_of("pow"), sign_of("exp")
    ('**', '')
    """
    return _SIGN_OF.get(name, "")


def joined(sign: str, a: Piece, b: Piece) -> Piece:
    """Two operands around an operator.

    >>> joined("*", joined("+", Piece("a"), Piece("b")), Piece("c")).text
    '(a + b) * c'
    """
    if sign in POWERS:
        left, right = a.at(ATOM), b.at(SIGN)
        is_simple = _SIMPLE.fullmatch(left) and (_SIMPLE.fullmatch(right) or (b.level == POWER and " " not in right))
        return Piece(f"{left}**{right}" if is_simple else f"{left} ** {right}", POWER)
    level = _LEVELS[sign]
    is_comparison = level == _LEVELS["<"]  # which Python would chain
    return Piece(f"{a.at(level + is_comparison)} {sign} {b.at(level + 1)}", level)


def negated(a: Piece) -> Piece:
    """Minus an operand; around a power there are parentheses, as a formatter has them."""
    return Piece(f"-{a.text if a.level != POWER and a.level >= SIGN else f'({a.text})'}", SIGN)


def called(function: str, *arguments: str) -> Piece:
    """A call.

    >>> called("torch.sin", "x").text
    'torch.sin(x)'
    """
    return Piece(f"{function}({', '.join(argument for argument in arguments if argument)})")


def constant(value: Atom | float, module: str) -> Piece:
    """A number; `module` has the names of those that are no literals.

    >>> constant(sympy.Rational(-1, 3), "np").text, constant(sympy.pi, "np").text, constant(-sympy.oo, "np").text
    ('-1 / 3', 'np.pi', '-np.inf')
    """
    match value:
        case sympy.Rational(p=p, q=q) if q != 1 and max(abs(p), q) <= _EXACT:
            return Piece(f"{p} / {q}", BINARY["/"][0])
        case sympy.core.numbers.Pi():
            return Piece(f"{module}.pi")
        case sympy.core.numbers.Exp1():
            return Piece(f"{module}.e")
    text = decimal(plain(value) if isinstance(value, sympy.Basic) else value, f"{module}.inf", f"{module}.nan")
    return Piece(text, SIGN if text.startswith("-") else ATOM)


def key(index: Hashable) -> str:
    """An index between its brackets.

    >>> from gradcli.language.program.indexing import Slice
    >>> key((0, Slice(1, None), NEW))
    '0, 1:, None'
    """
    items = index if isinstance(index, tuple) else (index,)
    return ", ".join("None" if item == NEW else str(item) for item in items) or "()"


class Spelling(ABC):
    """Expressions of a library for the lines of a Program.

    Args:
        dtype: Of every array.
        pieces: What stands for each value; filled by whoever writes the lines.
        shapes: Of every value.

    Attributes:
        imports: What the expressions so far need beyond the library.
        counts: The values so far that are numbers of Python: sizes of arrays.
    """

    module: ClassVar[str]
    """What the script calls the library."""

    def __init__(self, dtype: str, pieces: Mapping[Atom, Piece], shapes: Mapping[Atom, Shape]) -> None:
        self.dtype, self.pieces, self.shapes = dtype, pieces, shapes
        self.imports: set[str] = set()
        self.counts: set[Atom] = set()

    def operand(self, atom: Atom) -> Piece:
        """A value as it stands in an expression: a name, a number, or the size of an array."""
        return self.pieces[atom] if atom in self.pieces else constant(atom, self.module)

    def is_array(self, atom: Atom) -> bool:
        """Whether it is an array of the library, and neither a literal nor a size."""
        return atom in self.pieces and atom not in self.counts

    def speller(self, line: Line) -> Callable[[Sequence[Piece]], Piece]:
        """From the operands of a line to its expression."""
        return lambda pieces: self._spelled(line, pieces)

    @abstractmethod
    def _spelled(self, line: Line, pieces: Sequence[Piece]) -> Piece:
        """The expression of a line with these operands."""


@dataclass
class Statements:
    """Statements as they are written.

    Attributes:
        names: Where names come from.
        uses: How often each value is used.
        named: The names of values that have one of the user's.
        written: The statements so far.
        pieces: What stands for each value.
    """

    names: Names
    uses: Mapping[Atom, int]
    named: Mapping[Atom, str]
    written: list[str] = field(default_factory=list)
    pieces: dict[Atom, Piece] = field(default_factory=dict)
    _waiting: list[Atom] = field(default_factory=list)

    def add(self, line: Line, spell: Callable[[Sequence[Piece]], Piece], operand: Callable[[Atom], Piece]) -> None:
        """Write a line, or keep it for the one that uses it.

        Args:
            line: The line.
            spell: From the operands to the expression.
            operand: What stands for a value or a number.
        """
        atoms = line.call.operands
        inside = [a for a in atoms if a in self._waiting]
        if self._waiting[len(self._waiting) - len(inside) :] != inside:
            self.flush()
        piece = spell([operand(a) for a in atoms])
        if len(piece.text) > MOST_INSIDE and self._waiting:
            self.flush()
            piece = spell([operand(a) for a in atoms])
        self._waiting = [a for a in self._waiting if a not in atoms]
        self.pieces[line.symbol] = piece
        if line.symbol in self.named or self.uses.get(line.symbol, 0) > 1:
            self.flush()
            self._write(line.symbol)
        else:
            self._waiting.append(line.symbol)

    def flush(self) -> None:
        """Write what waits to be used, in order."""
        waiting, self._waiting = self._waiting, []
        for symbol in waiting:
            self._write(symbol)

    def _write(self, symbol: Atom) -> None:
        name = self.named.get(symbol) or self.names.temporary()
        self.assign(name, self.pieces[symbol].text)
        self.pieces[symbol] = Piece(name)

    def assign(self, name: str, text: str) -> None:
        """A statement."""
        self.written.append(laid_out(f"{name} = {text}"))


def uses_of(lines: Iterable[Line]) -> dict[Atom, int]:
    """How often each value is an operand."""
    uses: dict[Atom, int] = {}
    for line in lines:
        for operand in line.call.operands:
            uses[operand] = uses.get(operand, 0) + 1
    return uses

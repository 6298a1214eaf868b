"""Program as text of the language, which reads back as the same lines; of a recorded one, with their places.

A value without a name in the user's code that is used once is written where it is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import sympy

from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.ops import REQUIRED, Kind
from gradcli.language.ops.row import SHAPES
from gradcli.language.ops.structure import OPAQUE
from gradcli.language.program.wengert import Atom, Call, Line, Program, number

OUTPUTS = ("y", "f", "out", "output")
"""Names of a function's value, where the user's code gives none: the first that is free."""

MOST_INLINE = 60
"""Largest number of characters of a call that is written inside of another."""

_TIGHT = {"pow": 4, "neg": 3, "mul": 2, "div": 2, "matmul": 2, "add": 1, "sub": 1}
"""Binding strength of operators; comparisons and conditions are written in parentheses."""

_SIGNS = {row: f" {sign} " for sign, row in ops.SIGNS.items()} | {"pow": "**", "mul": "*", "div": "/"}

_ALONE = 5


class TextPiece:
    """Text made of parts, which may be operations, with its binding strength."""

    def __init__(
        self, text: str = "", tight: int = _ALONE, parts: Sequence[tuple[int, TextPiece]] = (), atom: Atom | None = None
    ) -> None:
        self.text, self.tight, self.parts, self.atom = text, tight, parts, atom

    def __add__(self, other: TextPiece | str) -> TextPiece:
        right = TextPiece(other) if isinstance(other, str) else other
        return TextPiece(self.text + right.text, self.tight, ((0, self), (len(self.text), right)))

    def within(self, tight: int) -> TextPiece:
        """Return the text as an operand of an operator that binds so tightly."""
        return self if self.tight >= tight else TextPiece("(") + self + ")"

    def places(self) -> Iterator[tuple[int, int, Atom]]:
        """Generate the ranges of its operations."""
        waiting: list[tuple[int, TextPiece]] = [(0, self)]
        while waiting:
            start, piece = waiting.pop()
            if piece.atom is not None:
                yield start, start + len(piece.text), piece.atom
            waiting += [(start + offset, part) for offset, part in piece.parts]


LARGEST_INTEGER = 10**22
"""Least integer that is written as a float, whose nearest float it is for what torch computes."""


class ProgramText:
    """Writer of the values of a Program, without recursion where they are asked for in order.

    Args:
        lines: Of the Program.
        named: Values that have names.
    """

    def __init__(self, lines: Sequence[Line], named: dict[Atom, str]) -> None:
        self.calls = {line.symbol: line.call for line in lines}
        self.named = named
        self._known: dict[Atom, TextPiece] = {}

    def expression(self, atom: Atom, *, is_whole: bool = False) -> TextPiece:
        """Write a value: its name, a number, or its call with unnamed values written inside."""
        if atom not in self.calls or (atom in self.named and not is_whole):
            return _number(atom) if not isinstance(atom, sympy.Symbol) else TextPiece(self.named.get(atom, atom.name))
        if atom not in self._known:
            found = self._call(self.calls[atom])
            self._known[atom] = TextPiece(found.text, found.tight, ((0, found),), atom)
        return self._known[atom]

    def statements(
        self, lines: Iterable[Line], is_inner: Callable[[Line], bool], free: Callable[[Atom], str]
    ) -> Iterator[TextPiece]:
        """Generate the statements of some lines, and name each that has no name and is no inner part of others.

        Args:
            lines: In order.
            is_inner: Tells of a line without a name whether it is written where it is used.
            free: Gives a value a name that is not taken.
        """
        for line in lines:
            own = self.named.get(line.symbol)
            if own is not None or not is_inner(line):
                value = self.expression(line.symbol, is_whole=True)
                self.named[line.symbol] = own = own or free(line.symbol)
                yield TextPiece(f"{own} = ") + value

    def _call(self, call: Call) -> TextPiece:
        name, parts = call.op.name, [self.expression(one) for one in _said(call)]
        if name in ("neg", "logical_not"):
            sign, tight = ("-", _TIGHT["neg"]) if name == "neg" else ("~", _ALONE)
            return _tight(TextPiece(sign) + parts[0].within(tight), _TIGHT["neg"])
        if name in _SIGNS and len(parts) == 2:
            own = _TIGHT.get(name, 0)
            left = parts[0].within(own + (name == "pow" or not own))
            right = parts[1].within(_ALONE if own == 1 and parts[1].text.startswith("-") else own + (name != "pow"))
            return _tight(left + _SIGNS[name] + right, own)
        if name == "index":
            return parts[0].within(_ALONE) + f"[{_key(call.statics[0])}]"
        if name == "elements_at" and call.statics[0] >= 0 and (found := self._positions(call)) is not None:
            return parts[0].within(_ALONE) + f"[{':, ' * call.statics[0]}" + found + "]"
        if name == "drawn":
            return TextPiece(call.statics[1].shown)
        if name == OPAQUE:
            return TextPiece(f"{call.statics[0].name}(") + _joined(parts) + ")"
        if call.op.kind is Kind.LIST or call.op.operands[:1] == ("tensors",):
            parts = [TextPiece("[") + _joined(parts) + "]"]
        others = [one for one in call.op.signature if one in call.op.statics and one != SHAPES]
        for parameter, value in zip(others, call.typed, strict=False):
            default = call.op.statics[parameter]
            if value != default or default is REQUIRED:
                is_first = parameter == call.op.signature[0] and bool(call.op.operands)
                is_plain = is_first or (not parts and call.op.kind is Kind.SOURCE)
                piece = TextPiece(f"{parameter}=" * (not is_plain) + _static(value))
                parts.insert(0 if is_first else len(parts), piece)
        return TextPiece(f"{name}(") + _joined(parts) + ")"

    def _positions(self, call: Call) -> TextPiece | None:
        """Write the positions of a gather, one for each dimension; None where their stack is a value of its own."""
        index, count = call.operands[1], call.statics[1]
        if count == 1:
            return self.expression(index)
        stack = None if index in self.named else self.calls.get(index)
        if stack is None or not stack.op.adds_dimension:
            return None
        found = _joined([self.expression(one) for one in stack.operands])
        return TextPiece(found.text, found.tight, ((0, found),), index)


def as_written(program: Program, named: Mapping[str, Atom], free: Callable[..., str], output_name: str) -> Program:
    """Return the Program with its text, in which each line has a place.

    Args:
        program: The lines that its output needs.
        named: Some of the values, by their names in the user's code.
        free: Gives a name that is not taken.
        output_name: The name of the output.
    """
    names = {atom: name for name, atom in named.items()}
    uses = Counter(one for line in program.lines for one in line.call.operands)
    text = ProgramText(program.lines, names)
    if is_computed := program.output in text.calls:
        names[program.output] = output_name

    def is_inner(line: Line) -> bool:
        return uses[line.symbol] == 1 and len(text.expression(line.symbol).text) <= MOST_INLINE

    statements = [*text.statements(program.lines, is_inner, lambda _: free("t", numbered=True))]
    if not is_computed:
        statements.append(TextPiece(f"{output_name} = ") + text.expression(program.output))
    whole = _joined(statements, "\n")
    spans = {atom: Span(start, stop) for start, stop, atom in whole.places()}
    lines = tuple(replace(line, span=spans[line.symbol], name=names.get(line.symbol, "")) for line in program.lines)
    values = {name: atom for atom, name in names.items() if name != output_name} | {output_name: program.output}
    return replace(program, text=whole.text, lines=lines, assigned=tuple(values), named=values)


def _said(call: Call) -> Sequence[Atom]:
    """List the operands of a call but for the last ones that are what they are when they are left out."""
    found, names, defaults = [*call.operands], call.op.operands, call.op.defaults
    if len(names) == len(found):
        while found and not found[-1].is_Symbol and number(found[-1]) == defaults.get(names[len(found) - 1]):
            found.pop()
    return found


def _tight(piece: TextPiece, tight: int) -> TextPiece:
    return TextPiece(piece.text, tight, ((0, piece),))


def _joined(parts: Sequence[TextPiece], between: str = ", ") -> TextPiece:
    found = TextPiece()
    for n, part in enumerate(parts):
        found = found + (between if n else "") + part
    return found


def _number(atom: Atom) -> TextPiece:
    is_exact = isinstance(atom, sympy.Rational) or atom in (sympy.pi, sympy.E)
    is_long = isinstance(atom, sympy.Integer) and abs(atom) >= LARGEST_INTEGER
    value = atom if is_exact and not is_long else number(atom)
    tight = _TIGHT["div"] if "/" in str(value) else _TIGHT["neg"] if value < 0 else _ALONE
    return TextPiece(str(value), tight=tight)


def _static(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_static, value))}{',' * (len(value) == 1)})"
    return repr(value)


def _key(key: object) -> str:
    items = key if isinstance(key, tuple) else (key,)
    return ", ".join(str([*one]) if isinstance(one, tuple) else str(one) for one in items)

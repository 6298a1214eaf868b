"""A text read again for its places: the grammar reads it as always, and what stands where is noted.

What is inside of a loop is read many times for one text, and has no place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from gradcli import collector
from gradcli.diagnose.rewriting.occurrences import Branch, Reading, Statement, closing
from gradcli.errors import Span
from gradcli.language.grammar import Parser
from gradcli.language.lines import Operand
from gradcli.language.names import PREFIXES
from gradcli.language.ops import Default, Op
from gradcli.language.program.indexing import Shape
from gradcli.language.program.wengert import CONSTANTS, Atom
from gradcli.language.tokens import Token

_OF_PARTS = frozenset(["Piecewise", "len", "Rational"])
"""Calls whose operation is noted at the name alone."""


def read_places(text: str, names: Sequence[str] = (), sizes: Mapping[str, Shape] = MappingProxyType({})) -> Reading:
    """A text with its places.

    Args:
        text: A Program's, not a snippet's.
        names: Names that are variables even if they are also constants or modules.
        sizes: Shapes of the variables, where they are known.

    Raises:
        GradcliError: As for `parse`.

    >>> reading = read_places("(x + 1)*(x + 1)")
    >>> [(span.start, span.stop) for span in reading.operations]
    [(1, 6), (9, 14), (0, 15)]
    """
    given = frozenset(names) & (frozenset(CONSTANTS) | PREFIXES)
    with collector.paused():
        recorder = _Recorder(text, "EXPR", given)
        recorder.shapes = dict(sizes)
        return recorder.reading(sizes)


class _Recorder(Parser):
    """Reads a text as the grammar does, and notes what stands where."""

    def __init__(self, text: str, source: str, given: frozenset[str]) -> None:
        super().__init__(text, source, given)
        self.looping = 0
        self.operations: dict[Span, Atom] = {}
        self.leaves: dict[Span, Atom] = {}
        self.parts: dict[Span, tuple[Span, ...]] = {}
        self.branches: list[Branch] = []
        self.pieces: list[tuple[Atom, int, int]] = []
        self.statements: list[Statement] = []

    def reading(self, sizes: Mapping[str, Shape]) -> Reading:
        """The whole text."""
        program = self.program()
        self._read_pieces()
        return Reading(
            program,
            self.tokens,
            self.operations,
            self.leaves,
            self.parts,
            self.branches,
            self.statements,
            [name for name in self.unused if name != self.last_name],
            sizes,
        )

    def statement(self) -> Operand:
        """As in the language."""
        first = self.token
        has_name = first.kind == "name" and self.tokens[self.position + 1].text == "="
        operand = super().statement()
        span = first.span.to(self.tokens[self.position - 1].span)
        self.statements.append(Statement(first.text if has_name else "", span, operand[0]))
        return operand

    def atom(self) -> Operand:
        """As in the language."""
        first = self.token
        operand = super().atom()
        is_plain = first.kind in ("number", "name") and self.tokens[self.position - 1].text != ")"
        if is_plain and not self.looping:
            self.leaves[operand[1]] = operand[0]
        return operand

    def emit(self, op: str, operands: list[Atom], span: Span, statics: tuple[Default, ...] = ()) -> Operand:
        """As in the language; the last operation at a range is what the range computes."""
        operand = super().emit(op, operands, span, statics)
        if not self.looping:
            self.operations[self._whole(span)] = operand[0]
        return operand

    def _whole(self, span: Span) -> Span:
        """The range of a call that was noted at its name."""
        if self.text[span.start : span.stop].rpartition(".")[2].strip() not in _OF_PARTS:
            return span
        position = next(n for n, token in enumerate(self.tokens) if token.span.start >= span.stop)
        return span.to(self.tokens[closing(self.tokens, position)].span)

    def joined(self, op: str, left: Operand, right: Operand) -> Operand:
        """As in the language."""
        operand = super().joined(op, left, right)
        if not self.looping:
            self.parts[operand[1]] = (left[1], right[1])
        return operand

    def made(self, op: Op, operands: list[Operand], statics: tuple[Default, ...], span: Span) -> Operand:
        """As in the language."""
        operand = super().made(op, operands, statics, span)
        if not self.looping:
            self.parts[span] = spans = tuple(part for _, part in operands)
            if op.branches is not None:
                of = dict(zip(op.operands, spans, strict=True))
                places = of[op.branches.condition], of[op.branches.first], of[op.branches.second]
                self.branches.append(Branch(operand[0], *places))
        return operand

    def choice(self, chosen: Operand) -> Operand:
        """As in the language."""
        first = self.position + 1
        operand = super().choice(chosen)
        if not self.looping:
            condition, other, *_ = _split(self.tokens, first, self.position, "else")
            self.branches.append(Branch(operand[0], condition, chosen[1], other.to(operand[1])))
        return operand

    def _special(self, name: Token, span: Span) -> Operand:
        opening = self.position
        operand = super()._special(name, span)
        if name.text == "Piecewise" and not self.looping:
            self.pieces.append((operand[0], opening + 1, self.position - 1))
        return operand

    def _read_pieces(self) -> None:
        """The choices of every `Piecewise((value, condition), ..., (value, True))`."""
        calls = {line.symbol: line.call for line in self.builder.lines}
        for value, first, last in self.pieces:
            atom, pairs = value, _split(self.tokens, first, last, ",")
            for n, pair in enumerate(pairs[:-1]):
                position = bisect_left(self.tokens, pair.start, key=lambda token: token.span.start)
                parts = _split(self.tokens, position + 1, closing(self.tokens, position), ",")
                if len(parts) == 2 and self.text[parts[1].start : parts[1].stop] != "True" and atom in calls:
                    rest = pairs[n + 1].to(pairs[-1])
                    self.branches.append(Branch(atom, parts[1], parts[0], rest))
                    atom = calls[atom].operands[2]

    def unrolled_terms(self, start: int, loop: int) -> Iterator[Operand]:
        """As in the language, without a note."""
        self.looping += 1
        yield from super().unrolled_terms(start, loop)
        self.looping -= 1


def _split(tokens: Sequence[Token], first: int, last: int, word: str) -> list[Span]:
    """The ranges between the words of this kind that are in no bracket of their own."""
    spans, depth, start = [], 0, first
    for position in range(first, last + 1):
        token = tokens[position]
        if position == last or (depth == 0 and token.text == word and token.kind != "string"):
            if position > start:
                spans.append(tokens[start].span.to(tokens[position - 1].span))
            start = position + 1
        elif token.kind == "operator":
            depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
    return spans

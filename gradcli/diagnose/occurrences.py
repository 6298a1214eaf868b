"""A Program with the places of everything in its text: each occurrence of each value, operand and statement.

The Program holds equal operations once, with the range of the first; to change a text, all its ranges must be known.
So its tree is lowered once more, and what stands where is noted; what is inside of a loop is lowered many times for one
text, and has no place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

import sympy

from gradcli import collector
from gradcli.diagnose.splicing import joined, placed, widened
from gradcli.errors import GradcliError, Span
from gradcli.language.lower.calls import shadowed
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Hooks, Operand, Scope
from gradcli.language.ops import Op
from gradcli.language.parsing import EVALUATION
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import CONSTANTS, Atom, Call, Program, Shape
from gradcli.language.text import nodes
from gradcli.language.text.grammar import parse
from gradcli.language.text.source import Source
from gradcli.language.text.tokens import Token


@dataclass(frozen=True, slots=True)
class Statement:
    """`name = value` or a value alone (the name is empty), and its range."""

    name: str
    span: Span
    value: Atom


@dataclass(frozen=True, slots=True)
class Branch:
    """A choice in the text: its value, and the ranges of its condition, of what holds then and of what holds else."""

    atom: Atom
    condition: Span
    first: Span
    second: Span


@dataclass(frozen=True)
class Reading:
    """A Program with its places.

    Attributes:
        program: As the grammar reads it.
        tokens: Of the text.
        operations: What each range computes, by range.
        leaves: The number, variable or name that stands at a range.
        parts: The ranges of the operands of the operation at a range, parentheses included.
        branches: The choices, inner ones first.
        statements: In order.
        unused: Names that are assigned for nothing.
        sizes: Shapes of the variables, as far as they are known.
    """

    program: Program
    tokens: Sequence[Token]
    operations: Mapping[Span, Atom]
    leaves: Mapping[Span, Atom]
    parts: Mapping[Span, tuple[Span, ...]]
    branches: Sequence[Branch]
    statements: Sequence[Statement]
    unused: Sequence[str]
    sizes: Mapping[str, Shape]

    @property
    def text(self) -> str:
        """As typed."""
        return self.program.text

    @cached_property
    def nodes(self) -> dict[Atom, Call]:
        """The operations by their values, in order."""
        return {line.symbol: line.call for line in self.program.lines}

    @cached_property
    def shapes(self) -> dict[Atom, Shape]:
        """Shapes of all values; empty where those of the variables are not known."""
        known = {s: self.sizes[str(s)] for s in self.program.variables if str(s) in self.sizes}
        if len(known) < len(self.program.variables):
            return {}
        try:
            return infer(self.program, known)
        except GradcliError:
            return {}

    def shape(self, atom: Atom) -> Shape | None:
        """Of a value; None if it is not known."""
        return self.shapes.get(atom) if isinstance(atom, sympy.Symbol) else ()

    @cached_property
    def _written(self) -> dict[Atom, list[Span]]:
        found: dict[Atom, list[Span]] = {}
        for span, atom in (*self.operations.items(), *self.leaves.items()):
            found.setdefault(atom, []).append(span)
        return {atom: sorted(spans, key=lambda s: s.start) for atom, spans in found.items()}

    @cached_property
    def _operations(self) -> list[tuple[Span, Atom]]:
        return sorted(self.operations.items(), key=_start)

    @cached_property
    def _leaves(self) -> list[tuple[Span, Atom]]:
        return sorted(self.leaves.items(), key=_start)

    @cached_property
    def _starts(self) -> list[int]:
        return [token.span.start for token in self.tokens]

    def places(self, atom: Atom) -> list[Span]:
        """The ranges at which an operation is computed, from the left."""
        return [span for span in self._written.get(atom, ()) if self.operations.get(span) == atom]

    def inside(self, span: Span, *, leaves: bool = False) -> Iterator[tuple[Span, Atom]]:
        """The operations in a range, or its numbers, variables and names."""
        found = self._leaves if leaves else self._operations
        for n in range(bisect_left(found, span.start, key=_start), bisect_left(found, span.stop, key=_start)):
            if found[n][0].stop <= span.stop:
                yield found[n]

    def ends(self, span: Span) -> tuple[int, int]:
        """The first token of a range, and the first after it."""
        return bisect_left(self._starts, span.start), bisect_left(self._starts, span.stop)

    def clean(self, span: Span) -> str:
        """The text of a range on one line, without parentheses around the whole of it."""
        return joined(self.text, self._bare(span))

    def value_at(self, span: Span) -> Atom | None:
        """What is written at a range, parentheses around it or not."""
        tokens = self._bare(span)
        bare = tokens[0].span.to(tokens[-1].span)
        return self.operations.get(bare, self.leaves.get(bare))

    def _bare(self, span: Span) -> Sequence[Token]:
        first, last = self.ends(span)
        while self.tokens[first].text == "(" and closing(self.tokens, first) == last - 1:
            first, last = first + 1, last - 1
        return self.tokens[first:last]

    def named(self, name: str, position: int) -> Atom | None:
        """What a name stands for at a position of the text; None if nothing is assigned to it before."""
        found = None
        for statement in self.statements:
            if statement.name == name and statement.span.stop <= position:
                found = statement.value
        return found

    def shown(self, atom: Atom, span: Span) -> str | None:
        """The text of a value for use at a range: from there, else a name of it, else what defines it.

        None if no text has the same meaning there.
        """
        places = self._written.get(atom, ())
        for place in places:
            if within(place, span):
                return self.clean(place)
        if not isinstance(atom, sympy.Symbol):
            return written(atom, self.program.names)
        if atom in self.program.variables:
            return str(atom)
        for statement in self.statements:
            if statement.name and statement.value == atom and self.named(statement.name, span.start) == atom:
                return statement.name
        return next((self.clean(place) for place in places if self.is_same_at(place, span.start)), None)

    def is_same_at(self, span: Span, position: int) -> bool:
        """Whether the names in a range mean the same at a position."""
        first, last = self.ends(span)
        names = {token.text for token in self.tokens[first:last] if token.kind == "name"}
        return all(self.named(name, span.start) == self.named(name, position) for name in names)

    def edited(self, edits: Mapping[Span, str]) -> str:
        """The text with other texts at some ranges; of ranges inside one another, the outer one counts."""
        pieces: list[str] = []
        done = 0
        for span in sorted(edits, key=lambda s: (s.start, -s.stop)):
            if span.start < done:
                continue
            first, last = widened(self.tokens, *self.ends(span))
            start, stop = self.tokens[first].span.start, self.tokens[last - 1].span.stop
            if start < done:
                continue
            pieces += [self.text[done:start], placed(self.tokens, first, last, edits[span])]
            done = stop
        return "".join([*pieces, self.text[done:]])

    def without_unused(self, kept: Sequence[str]) -> str:
        """The text without the statements that nothing uses, but for the names to keep."""
        dropped = [
            max((n for n, s in enumerate(self.statements) if s.name == name), default=len(self.statements))
            for name in self.unused
            if name not in kept
        ]
        spans = [
            (self.statements[n].span.start, self.statements[n + 1].span.start)
            for n in dropped
            if n + 1 < len(self.statements)
        ]
        text = self.text
        for start, stop in sorted(spans, reverse=True):
            text = text[:start] + text[stop:]
        return text


def _start(placed: tuple[Span, Atom]) -> int:
    return placed[0].start


def within(inner: Span, outer: Span) -> bool:
    """Whether a range lies in another."""
    return outer.start <= inner.start and inner.stop <= outer.stop


def exact(atom: Atom) -> Fraction | None:
    """The value of a finite rational constant; None for anything else."""
    match atom:
        case sympy.Rational():
            return Fraction(int(atom.p), int(atom.q))
        case sympy.Float():
            return Fraction(float(atom))
    return None


def written(atom: Atom, taken: Sequence[str]) -> str | None:
    """A constant as text; None for a named one whose name is a variable."""
    value = exact(atom)
    if value is not None:
        return repr(float(atom)) if isinstance(atom, sympy.Float) else str(value)
    names = {constant: name for name, constant in CONSTANTS.items()}
    name = names.get(atom)
    return None if name is None or name in taken else name


def closing(tokens: Sequence[Token], opening: int) -> int:
    """The bracket that closes the one at a position."""
    depth = 0
    for position in range(opening, len(tokens)):
        if tokens[position].kind == "operator":
            depth += (tokens[position].text in ("(", "[")) - (tokens[position].text in (")", "]"))
        if depth == 0:
            return position
    return len(tokens) - 1


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
    with collector.paused():
        source, recorder = Source(text, "EXPR"), _Recorder()
        scope = Scope(shadowed(names), shapes=dict(sizes))
        recorder.lowering = lowering = Lowering(source, scope, EVALUATION, recorder)
        program = lowering.program(parse(source))
        recorder.note_pieces()
        unused = [name for name in scope.unused if name != scope.last_name]
        return Reading(
            program,
            source.tokens,
            recorder.operations,
            recorder.leaves,
            recorder.parts,
            recorder.branches,
            recorder.statements,
            unused,
            sizes,
        )


class _Recorder(Hooks):
    """Notes what stands where."""

    lowering: Lowering

    def __init__(self) -> None:
        self.operations: dict[Span, Atom] = {}
        self.leaves: dict[Span, Atom] = {}
        self.parts: dict[Span, tuple[Span, ...]] = {}
        self.branches: list[Branch] = []
        self.statements: list[Statement] = []
        self._whole: dict[Span, Span] = {}
        self._pieces: list[tuple[Atom, nodes.Arguments]] = []

    @property
    def is_looping(self) -> bool:
        """Whether a loop is being written out."""
        return self.lowering.lines.looping > 0

    def stated(self, statement: nodes.Statement, result: Operand) -> None:
        """What it is called, and its value."""
        name = statement.targets[0].text if statement.targets else ""
        self.statements.append(Statement(name, statement.span, result[0]))

    def was_leaf(self, result: Operand) -> None:
        """A number, a variable or a name."""
        if not self.is_looping:
            self.leaves[result[1]] = result[0]

    def emitted(self, result: Atom, span: Span) -> None:
        """The last operation at a range is what the range computes."""
        if not self.is_looping:
            self.operations[self._whole.get(span, span)] = result

    def joined(self, result: Operand, left: Operand, right: Operand) -> None:
        """Where its operands stand."""
        if not self.is_looping:
            self.parts[result[1]] = (left[1], right[1])

    def made(self, op: Op, operands: Sequence[Operand], result: Operand) -> None:
        """Where its operands stand, and its branches if it chooses."""
        if self.is_looping:
            return
        self.parts[result[1]] = spans = tuple(part for _, part in operands)
        if op.branches is not None:
            of = dict(zip(op.operands, spans, strict=True))
            places = of[op.branches.condition], of[op.branches.first], of[op.branches.second]
            self.branches.append(Branch(result[0], *places))

    def chosen(self, node: nodes.Choice, result: Operand) -> None:
        """Its branches."""
        if not self.is_looping:
            self.branches.append(Branch(result[0], node.condition.span, node.chosen.span, node.other.span))

    def special(self, name: Span, whole: Span) -> None:
        """The range of the whole call."""
        self._whole[name] = whole

    def pieces(self, arguments: nodes.Arguments, result: Atom) -> None:
        """The pairs, which are branches inside one another."""
        if not self.is_looping:
            self._pieces.append((result, arguments))

    def note_pieces(self) -> None:
        """The branches of every `Piecewise((value, condition), ..., (value, True))`, behind all others."""
        for result, arguments in self._pieces:
            atom = result
            pairs = [argument.value for argument in arguments.items]
            for n, pair in enumerate(pairs[:-1]):
                line = self.lowering.lines.builder.line_of(atom)
                if not isinstance(pair, nodes.Items) or isinstance(pair.items[1], nodes.Word) or line is None:
                    continue
                value, condition = pair.items
                rest = pairs[n + 1].span.to(pairs[-1].span)
                self.branches.append(Branch(atom, condition.span, value.span, rest))
                atom = line.call.operands[2]

"""A text read again for its places: its tree is lowered as always, and what stands where is noted.

What is inside of a loop is lowered many times for one text, and has no place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from gradcli import collector
from gradcli.diagnose.rewriting.occurrences import Branch, Reading, Statement
from gradcli.errors import Span
from gradcli.language.lower.hooks import Hooks, Operand
from gradcli.language.lower.names import SHADOWABLE
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Scope
from gradcli.language.ops import Op
from gradcli.language.parsing import EVALUATION
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.text import nodes
from gradcli.language.text.source import Source
from gradcli.language.text.statements import parse


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
        scope = Scope(frozenset(names) & SHADOWABLE, shapes=dict(sizes))
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

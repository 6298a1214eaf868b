"""What the rules of lowering are handed: a text, the names in it, the lines so far, and the rules themselves.

A `Context` is the place of an expression: the names and the indices around it.  Where names are bound, in a loop, in a
function of the text, in a sum over indices, what is inside is lowered in a Context of its own.  `Known` is what is
known before a text is read, `Findings` is what is found while it is.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import sympy

from gradcli.arrays import AnyArray, Array
from gradcli.errors import GradcliError, Span
from gradcli.language.lower.libraries import Libraries
from gradcli.language.ops import Default
from gradcli.language.program.wengert import AskedMeaning, Atom, Builder, Call, Guard, Program, Shape
from gradcli.language.text import nodes
from gradcli.language.text.source import SourceText
from gradcli.language.text.tokens import Token

Operand = tuple[Atom, Span]
"""Value of an expression in the Program, and its range of the text."""


@dataclass(frozen=True)
class Several:
    """Result of a function that gives several tensors, as `x.chunk(3)` and `torch.sort(x)` do.

    Attributes:
        call: The function.
        parts: The tensors; placeholders for them where `is_provisional`.
        names: Their names in torch, `values` and `indices`; empty for a list.
        is_provisional: Whether the text is to be read again with shapes, which may give another number of parts.
        is_pair: Whether it is torch's pair of values and positions, which stands for the values in arithmetic.
    """

    call: str
    parts: tuple[Operand, ...]
    names: tuple[str, ...] = ()
    is_provisional: bool = False
    is_pair: bool = False


class Uncomputed(Protocol):
    """Object that a value stands for, and that nothing is computed from, such as a function of the text."""

    def refusal(self, source: SourceText, span: Span) -> GradcliError:
        """Make the error of a computation with it."""


@dataclass(frozen=True)
class ConstantEvaluation:
    """Evaluation by NumPy and by the rules of shapes.

    Attributes:
        run: The value of a Program at values of its variables.
        shape_of: The shape of a call's result, from those of its operands.
        count_of: The size of a shape along a dimension.
    """

    run: Callable[[Program, Mapping[Atom, Array]], Array]
    shape_of: Callable[[Call, list[Shape]], Shape]
    count_of: Callable[[Shape, object], int]


Ask = Callable[[Call, tuple[Shape, ...], Sequence[Array | None]], Sequence[AskedMeaning | None]]
"""Request to torch for the operations that a call consists of: the meaning of each tensor of the result, None of whole
numbers; of a call in operands of its own, the shapes of these, and the numbers of those that the call depends on."""


@dataclass(frozen=True, slots=True)
class Index:
    """Index of a formula: its dimension, counted from the last one, and the values that it takes."""

    place: int
    first: int
    last: int

    @property
    def size(self) -> int:
        """Number of values."""
        return self.last - self.first + 1


class NeighbourFunction(NamedTuple):
    """Function that a text defines, as a text next to it may call it: its parameters, and what reads its Program."""

    parameters: tuple[str, ...]
    read: Callable[[], Program]


@dataclass(frozen=True, slots=True)
class Known:
    """Facts known before a text is read.

    Attributes:
        variables: Names that are variables although they mean something else, `E`.
        shapes: Of variables, where they are known.
        values: Of variables, where the text is read at a point; None where it cannot be.
        ask: Asks torch for the meaning of rows that have none; None leaves them without.
        is_value: Whether there may be no variables.
        is_formula: Whether names are those of formulas, where `max` of two is the larger of them.
        is_of_matrices: Whether `*` is of matrices, as a text next to this one is in their notation.
        constants: Values of constant arguments by name, of a meaning of the op table.
        calls: The functions of the text that this one is next to.
        evaluation: Evaluates constants; None in a meaning of the op table, whose constants are names.
    """

    variables: frozenset[str] = frozenset()
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    values: Mapping[str, AnyArray] | None = None
    ask: Ask | None = None
    is_value: bool = False
    is_formula: bool = False
    is_of_matrices: bool = False
    constants: Mapping[str, Default] = field(default_factory=dict)
    calls: Mapping[str, NeighbourFunction] = field(default_factory=dict)
    evaluation: ConstantEvaluation | None = None

    @property
    def names(self) -> frozenset[str]:
        """Names that are known to be those of variables."""
        return self.variables | {*self.shapes}

    @property
    def is_meaning(self) -> bool:
        """Tell whether the text is a meaning of the op table."""
        return self.evaluation is None


@dataclass(slots=True)
class Findings:
    """Facts found while a text is read.

    Attributes:
        shapes: Of variables: those that are given, and those of tensors in the text.
        variables: The free names in order of appearance.
        line_shapes: The shapes of lines; None of one that depends on a shape that is not known.
        likely_ranks: The numbers of dimensions of lines, as they are likely while shapes are not known.
        conditions: The values that are true or false.
        objects: The values that are no tensors; None of positions, which have no more to them.
        several: The values that stand for several tensors of one function: no operation takes them as operands.
        known_values: The values that were evaluated at the point.
        guards: The conditions that they decided.
        needs_shapes: Whether a size stood for one that is not known: the text is to be lowered again with shapes.
        needs_values: Whether values decide which lines there are: without them the text is to be lowered again.
        spent: The lines that served a constant: where nothing else needs them, they are left out.
        unused: The names that nothing has used.
        unused_value: That of the last statement, if it was an expression without a name.
        warnings: Remarks for the user.
        joined: The names that were cut into several though nothing names these, with their readings.
        doubtful_numbers: How many numbers were transposed, or asked for their length, as one does with vectors.
        terms: The number of terms of all loops.
        repeated: The number of tokens that loops have read again.
        decided: The number of elements that were computed for decisions.
    """

    shapes: dict[str, Shape]
    variables: dict[str, sympy.Symbol] = field(default_factory=dict)
    line_shapes: dict[Atom, Shape | None] = field(default_factory=dict)
    likely_ranks: dict[Atom, int] = field(default_factory=dict)
    conditions: set[Atom] = field(default_factory=set)
    objects: dict[Atom, Uncomputed | None] = field(default_factory=dict)
    several: dict[Atom, Several] = field(default_factory=dict)
    known_values: dict[Atom, Array] = field(default_factory=dict)
    guards: list[Guard] = field(default_factory=list)
    needs_shapes: bool = False
    needs_values: bool = False
    spent: set[Atom] = field(default_factory=set)
    unused: dict[str, None] = field(default_factory=dict)
    unused_value: Operand | None = None
    warnings: list[str] = field(default_factory=list)
    joined: Mapping[str, str] = field(default_factory=dict)
    doubtful_numbers: int = 0
    terms: int = 0
    repeated: int = 0
    decided: int = 0

    def variable(self, name: str) -> sympy.Symbol:
        """Return the variable with a name, from here on if there was none."""
        return self.variables.setdefault(name, sympy.Symbol(name, real=True))

    def parts_of(self, atom: Atom) -> list[Operand] | None:
        """Return the tensors that a placeholder packs; None for a pair or one tensor."""
        return list(self.several[atom].parts) if self.first_part(atom) in self.several else None

    def first_part(self, atom: Atom) -> Atom:
        """Return a value; of a pair (values, indices), the values."""
        several = self.several.get(atom)
        return several.parts[0][0] if several is not None and several.is_pair else atom

    def object_of(self, atom: Atom) -> Uncomputed | None:
        """Return the object that a value, or the first of several, stands for; None of what is computed with."""
        several = self.several.get(atom)
        return self.objects.get(several.parts[0][0] if several is not None and several.parts else atom)

    def placeholder(self, value: Uncomputed | None, name: str = "positions") -> Atom:
        """Make a placeholder for an object that no operation takes, such as whole numbers that a function gives."""
        self.objects[found := sympy.Dummy(name, real=True)] = value
        return found

    def pack(self, several: Several) -> Atom:
        """Pack several tensors into one placeholder."""
        whole = sympy.Dummy(several.call, real=True)
        self.several[whole] = several
        return whole


@dataclass(slots=True)
class Names:
    """Names that are assigned in a text, or in a function of it.

    Attributes:
        values: The value of each, with those around a function or a loop behind its own.
        lists: The elements of the names that stand for a list.
        rows: The names that stand for a vector that was transposed.
        last: The name of the last statement.
    """

    values: MutableMapping[str, Atom] = field(default_factory=dict)
    lists: dict[str, list[Operand]] = field(default_factory=dict)
    last: str = ""
    rows: set[str] = field(default_factory=set)


class NameRead(NamedTuple):
    """Value of a name, and how many of the members after it are part of the name, as in `torch.special.i0(x)`."""

    operand: Operand
    used: int


ExpressionRule = Callable[["Context", Any], Operand]
"""Rule of one kind of expression."""

TrailerRule = Callable[["Context", Operand, Any], Operand]
"""Rule of a member or an index after an operand."""


@dataclass(frozen=True)
class Rules:
    """Rules of lowering: a function for each kind of node.

    Attributes:
        expressions: For a node of an expression.
        trailers: For a member or an index after an operand.
        name: For a name with the members after it, of which some belong to it.
        meaning: Parses a text of the language in operands of these names, with constants by name.
        note_types: Is told words that name the type of a tensor, and whether they are those of a method.
    """

    expressions: Mapping[type[nodes.Node], ExpressionRule]
    trailers: Mapping[type[nodes.Trailer], TrailerRule]
    name: Callable[[Context, nodes.NameNode, Sequence[nodes.Trailer]], NameRead]
    meaning: Callable[[str, Sequence[str], Mapping[str, object]], Program]
    note_types: Callable[[Sequence[Token], bool], None] = lambda words, is_cast: None


@dataclass(frozen=True, slots=True)
class Context:
    """Place of an expression in a text.

    Attributes:
        source: The text.
        known: What is known before it is read.
        rules: The rules by which it is lowered.
        libraries: The libraries that its words name.
        builder: Appends the lines.
        findings: What is found while it is read.
        names: The assigned names around this place.
        indices: The indices around this place, by name.
        depth: The number of dimensions that indices have so far.
        is_guarded: Whether cases may leave out elements outside of a tensor.
        is_formula: Whether `max` of two is the larger of them.
    """

    source: SourceText
    known: Known
    rules: Rules
    libraries: Libraries
    builder: Builder
    findings: Findings
    names: Names
    indices: Mapping[str, Index]
    depth: int
    is_guarded: bool
    is_formula: bool

    @property
    def is_of_numbers(self) -> bool:
        """Tell whether a variable divides, so that capitals are numbers, and no shape says otherwise."""
        is_other = self.known.is_of_matrices or any(self.known.shapes.values())
        return self.source.is_of_numbers and not is_other

    @property
    def is_of_matrices(self) -> bool:
        """Tell whether the text is in the notation of matrices."""
        if self.known.is_of_matrices or self.source.matrix_mark:
            return not self.is_of_numbers
        return bool(self.known.shapes) and self.source.has_inverse

    def is_taken(self, name: str) -> bool:
        """Tell whether a name stands for a value of the text, or is given as that of a variable."""
        return name in self.names.values or name in self.findings.variables or name in self.known.variables

    def list_of(self, node: nodes.Node) -> list[Operand] | None:
        """Return the elements of the list that a name stands for, and note that the name is used."""
        if (name := nodes.name_alone(node)) in self.names.lists:
            self.findings.unused.pop(name, None)
        return self.names.lists.get(name)

    def in_loop(self, name: str, value: Atom) -> Context:
        """Return the Context of a loop's body, in which a name has this value."""
        outer = self.names
        return replace(self, names=Names(ChainMap({name: value}, outer.values), outer.lists, outer.last))

    def in_function(self, parameters: Mapping[str, Atom], around: MutableMapping[str, Atom]) -> Context:
        """Return the Context of a function's body, in which its parameters stand before the names around it."""
        others = around.maps if isinstance(around, ChainMap) else [around]
        return replace(self, names=Names(ChainMap({**parameters}, *others), dict(self.names.lists), self.names.last))

    def with_indices(self, indices: Mapping[str, Index], depth: int) -> Context:
        """Return the Context of an expression with these indices in place of those around it."""
        return replace(self, indices=indices, depth=depth)

    def of_cases(self) -> Context:
        """Return the Context of cases, which may leave out elements outside of a tensor."""
        return replace(self, is_guarded=True)


def start(
    source: SourceText, known: Known, rules: Rules, *, shares: bool = True, libraries: Libraries | None = None
) -> Context:
    """Make the Context of the beginning of a text.

    Args:
        source: The text.
        known: What is known of it.
        rules: The rules by which it is lowered.
        shares: Whether equal lines are one.
        libraries: The libraries that its words name; by default those that an expression has.
    """
    builder = Builder(source.typed, source.name, shares)
    findings, names = Findings(dict(known.shapes)), Names()
    named = Libraries(source) if libraries is None else libraries
    return Context(source, known, rules, named, builder, findings, names, {}, 0, False, known.is_formula)


def lower(context: Context, node: nodes.Node) -> Operand:
    """Lower an expression by the rule of its node.

    Raises:
        GradcliError: It, or a part of it, is not in the language.
    """
    return context.rules.expressions[type(node)](context, node)

"""State shared by the rules of lowering: meanings of names, the lines so far, and the evaluation of lines.

Conditions stay true or false only where that is asked for: in arithmetic one is 1 or 0, by a `where` of its
own, so that no reading meets a boolean among numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy

from gradcli.arrays import Array
from gradcli.errors import GradcliError, Place, Span
from gradcli.language import ops
from gradcli.language.ops import Default, Kind
from gradcli.language.program.wengert import AskedMeaning, Atom, Builder, Call, Guard, Program, Shape
from gradcli.language.text import nodes
from gradcli.language.text.source import SourceText

Operand = tuple[Atom, Span]
"""Value of an expression in the Program, and its range of the text."""


_SIGNS: Mapping[str, tuple[str, str]] = {
    "logical_and": ("&", " and "),
    "logical_or": ("|", " or "),
    "logical_not": ("~", "not "),
    "where": ("where", " if "),
}
"""Spelling of the functions of conditions: the sign, and the word."""


@dataclass(frozen=True)
class Several:
    """Result of a function that gives several tensors, as `x.chunk(3)` and `torch.sort(x)` do.

    Attributes:
        call: The function.
        parts: The tensors; stand-ins for them where `is_provisional`.
        names: Their names in torch, `values` and `indices`; empty for a list.
        is_provisional: Whether the text is to be read again with shapes, which may give another number of parts.
        is_pair: Whether it is torch's pair of values and positions, which stands for the values in arithmetic.
    """

    call: str
    parts: tuple[Operand, ...]
    names: tuple[str, ...] = ()
    is_provisional: bool = False
    is_pair: bool = False


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
    count_of: Callable[[Shape, Any], int]


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


@dataclass
class Scope:
    """Names of a text.

    Attributes:
        given: Names that are variables although they mean something else, `E`.
        is_value: Whether there may be no variables.
        constants: Values of constant arguments by name, of a meaning of the op table.
        shapes: Of variables, where they are known.
        values: Of variables, where the text is read at a point; None where it cannot be.
        variables: The free names in order of appearance.
        names: The assigned names with their values.
        objects: The values that are no tensors: functions, positions, results that nothing is computed from.
        lists: The elements of the names that stand for a list.
        several: The values that stand for several tensors of one function: no operation takes them as operands.
        spent: The lines that served a constant: where nothing else needs them, they are left out.
        unused: The names that nothing has used.
        last_name: The name of the last statement.
        warnings: Remarks for the user.
        indices: The names of the indices around this place.
        is_formula: Whether names are those of formulas, where `max` of two is the larger of them.
        needs_shapes: Whether a size stood for one that is not known: the text is to be lowered again with shapes.
        needs_values: Whether values decide which lines there are: without them the text is to be lowered again.
        guards: The conditions that they decided.
        ask: Asks torch for the meaning of rows that have none; None leaves them without.
    """

    given: frozenset[str] = frozenset()
    is_value: bool = False
    constants: Mapping[str, Any] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    values: Mapping[str, Any] | None = None
    variables: dict[str, sympy.Symbol] = field(default_factory=dict)
    names: MutableMapping[str, Atom] = field(default_factory=dict)
    objects: dict[Atom, Any] = field(default_factory=dict)
    lists: dict[str, list[Operand]] = field(default_factory=dict)
    several: dict[Atom, Several] = field(default_factory=dict)
    spent: set[Atom] = field(default_factory=set)
    unused: dict[str, None] = field(default_factory=dict)
    last_name: str = ""
    warnings: list[str] = field(default_factory=list)
    indices: dict[str, Index] = field(default_factory=dict)
    is_formula: bool = False
    needs_shapes: bool = False
    needs_values: bool = False
    guards: list[Guard] = field(default_factory=list)
    ask: Ask | None = None

    def is_taken(self, name: str) -> bool:
        """Tell whether a name stands for a value of the text, or is given as that of a variable."""
        return name in self.names or name in self.variables or name in self.given

    def variable(self, name: str) -> sympy.Symbol:
        """Return the variable with a name, from here on if there was none."""
        return self.variables.setdefault(name, sympy.Symbol(name, real=True))

    def list_of(self, node: nodes.Node) -> list[Operand] | None:
        """Return the elements of the list that a name stands for, and note that the name is used."""
        if (name := nodes.name_alone(node)) in self.lists:
            self.unused.pop(name, None)
        return self.lists.get(name)

    def parts_of(self, atom: Atom) -> list[Operand] | None:
        """Return the tensors that a placeholder packs; None for a pair or one tensor."""
        return list(self.several[atom].parts) if self.first_part(atom) in self.several else None

    def first_part(self, atom: Atom) -> Atom:
        """Return a value; of a pair (values, indices), the values."""
        several = self.several.get(atom)
        return several.parts[0][0] if several is not None and several.is_pair else atom

    def placeholder(self, value: object, name: str = "positions") -> Atom:
        """Make a placeholder for an object that no operation takes, such as whole numbers that a function gives."""
        self.objects[found := sympy.Dummy(name, real=True)] = value
        return found

    def pack(self, several: Several) -> Atom:
        """Pack several tensors into one placeholder."""
        whole = sympy.Dummy(several.call, real=True)
        self.several[whole] = several
        return whole


class Lines:
    """Lowering of lines: the first layer, which the others extend.

    Attributes:
        source: The text.
        scope: Its names.
        is_meaning: Whether it is a meaning of the op table.
        builder: Appends the lines.
        conditions: The values that are true or false.
        known_values: The values that were evaluated at the point.
        is_code: Whether the text is Python's, whose own functions have no module.
    """

    is_code = False

    def __init__(self, source: SourceText, scope: Scope, *, is_meaning: bool = False, shares: bool = True) -> None:
        self.source, self.scope, self.is_meaning = source, scope, is_meaning
        self.builder = Builder(source.text, source.name, shares)
        self.conditions: set[Atom] = set()
        self._known: dict[Atom, Shape | None] = {}
        self.known_values: dict[Atom, Array] = {}

    def lower(self, node: nodes.Node) -> Operand:
        """Lower an expression to its value.

        Raises:
            GradcliError: It, or a part of it, is not in the language.
        """
        raise NotImplementedError

    def joined(self, op: str, left: Operand, right: Operand) -> Operand:
        """Append a line of two operands."""
        return self.emit(op, [left[0], right[0]], left[1].to(right[1]))

    def emit(self, op: str, operands: list[Atom], span: Span, statics: tuple[Default, ...] = ()) -> Operand:
        """Append one line; a condition as an operand is 1 or 0, but where the operation takes conditions."""
        if self.scope.several or self.scope.objects:
            operands = [self.require_tensor(a, span) for a in operands]
        if self.is_meaning:
            return self.builder.emit(op, tuple(operands), span, statics), span
        row = ops.TABLE[op]
        held = [a in self.conditions for a in operands]
        for parameter, is_condition in zip(row.operands, held, strict=False):
            if parameter in row.conditions and not is_condition:
                raise self._not_a_condition(op, span)
        keeps = all(held) and (row.kind in (Kind.MOVEMENT, Kind.LIST) or op == "where")
        if op == "add" and all(held):
            hint = "write a | b for either, or where(a, 1, 0) + where(b, 1, 0) to count"
            raise self.source.error("the sum of two conditions is ambiguous", span, hint=hint)
        if not keeps and any(held):
            plain = [p not in row.conditions for p in row.operands] + [True] * len(operands)
            operands = [self.as_number(a, span) if p else a for a, p in zip(operands, plain, strict=False)]
        result = self.builder.emit(op, tuple(operands), span, statics)
        if keeps or row.is_condition:
            self.conditions.add(result)
        return result, span

    def placed(self, span: Span, compute: Callable[[], Any]) -> Any:
        """Compute, and give an error that is raised the place of a call."""
        try:
            return compute()
        except GradcliError as error:
            error.place = error.place or Place(self.source.text, span, self.source.name)
            raise

    def require_tensor(self, atom: Atom, span: Span) -> Atom:
        """Require a value to be one tensor, and return it.

        Raises:
            LanguageError: The value is several tensors.
        """
        if (atom := self.scope.first_part(atom)) in self.scope.objects:
            raise self.source.code("a computation with positions", span)
        several = self.scope.several.get(atom)
        if several is None:
            return atom
        if several.is_provisional:
            return several.parts[0][0]
        names = f" ({', '.join(several.names)})" if several.names else ""
        hint = f"take one of them, {several.call}(...)[0]" + ("" if names else ", or torch.stack all of them")
        raise self.source.error(f"{several.call} gives {len(several.parts)} tensors{names}", span, hint=hint)

    def as_number(self, atom: Atom, span: Span) -> Atom:
        """Return a condition as 1 or 0; anything else as it is."""
        atom = self.require_tensor(atom, span)
        if atom not in self.conditions:
            return atom
        return self.builder.emit("where", (atom, sympy.Integer(1), sympy.Integer(0)), span)

    def _not_a_condition(self, op: str, span: Span) -> GradcliError:
        """Make the error for a number where a comparison must stand."""
        sign, word = _SIGNS.get(op, (op, ""))
        if word and word in self.source.excerpt(span):
            message = f"'{word.strip()}' needs conditions, such as x > 0"
            return self.source.error(message, span, hint="compare with 0: x != 0")
        hint = f"{sign} binds more tightly than comparisons: write (x > 0) {sign} (y > 0)"
        hint = {"~": "write ~(x > 0)", op: "write where(x > 0, a, b)"}.get(sign, hint)
        return self.source.error(f"'{sign}' needs a condition, such as x > 0", span, hint=hint)

"""What a row of the op table holds, how it is written, and which facts a row needs by its kind.

A reading that asks for a fact finds it: the test of the table names those that a new row forgets.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from typing import Any, Literal


class Monoid(Enum):
    """An associative operation of two with its identity: what a reduction or a scan folds its elements by."""

    SUM = "add", 0.0
    PRODUCT = "mul", 1.0
    LARGEST = "maximum", -math.inf
    SMALLEST = "minimum", math.inf

    def __init__(self, operation: str, identity: float) -> None:
        self.operation = operation
        self.identity = identity

    @property
    def is_extreme(self) -> bool:
        """Whether it takes one of the two and leaves the other."""
        return self in (Monoid.LARGEST, Monoid.SMALLEST)


@dataclass(frozen=True)
class Branches:
    """The operands of a choice by a condition, by their names.

    Attributes:
        condition: What decides.
        first: What is taken where it holds.
        second: What is taken elsewhere.
    """

    condition: str
    first: str
    second: str


class Kind(Enum):
    """How the operation moves elements: each reading has one rule a kind, or one a name inside it.

    No reading meets an `inlined` one: the lowering puts what torch makes of the call in its place.
    """

    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    SCAN = "scan"
    CONTRACTION = "contraction"
    LIST = "list"
    MOVEMENT = "movement"
    MATRIX = "matrix"
    SPECTRAL = "spectral"
    COUNT = "count"
    SOURCE = "source"
    DEFINED = "defined"
    INLINED = "inlined"


class Required(Enum):
    """Marks a static parameter without a default."""

    REQUIRED = "required"


REQUIRED = Required.REQUIRED

Default = int | float | bool | str | None | tuple[int, ...] | Required

Constants = Mapping[str, Any]
"""Constant arguments by name."""

Shapes = tuple[tuple[int, ...], ...]
"""One of each operand."""

SHAPES = "shapes"
"""What a call holds behind its constants where its meaning depends on the shapes of its operands."""


_COMPARED = {">": operator.gt, ">=": operator.ge}


def _marked(mark: str) -> cached_property[tuple[str, ...]]:
    return cached_property(lambda op: tuple(one for one in op.operands if mark in op.marks.get(one, "")))


@dataclass(frozen=True)
class Notes:
    """What the documentation says of an operation.

    Attributes:
        caveat: What to know beyond the doc line: a rule of torch that surprises, a formula by cases.
        rule_name: The rule of differentiation by its name in the textbooks, where it is not that of its kind.
        notation: Ways to write it that are no call, method or sign, such as `x.T`.
        example: An expression and its values, `softmax(x) at x=1,2,3`; empty for the obvious one.
    """

    caveat: str = ""
    rule_name: str = ""
    notation: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True)
class Op:
    """One operation: one row of the table.

    >>> Op("exp", ("x",), "the exponential").worked_example
    ('exp(x)', {'x': '0.5'})

    Attributes:
        name: The name in the Program, and in the language.
        signature: Parameter names in torch's order; those in `statics` take constants, the others operands.
        doc: One line of what it computes.
        meaning: Its definition in the language itself, in terms of the signature; empty for a primitive, which has
            a rule of its own in each reading.
        written: Writes the definition where it depends on constant arguments, or on the shapes of the operands: from
            both. The meaning then says in short what it is.
        total: The same with what torch gives where that has no value, as of 0*log(0) and of nan: what balls and NumPy
            take; empty where there is no more.
        in_floats: The same written so that it neither overflows nor cancels, as torch's function does not: what NumPy
            runs for values; empty where the meaning will do.
        aliases: Other names in the language (SymPy's, NumPy's, Python's).
        qualified: Names that are read after a dot only, as in `x.t()` or `torch.mm(A, B)`; before a parenthesis alone
            they are too likely a variable.
        operator: Name in Python's module `operator` of the sign that torch has for it, and NumPy but for logic.
        torch: Path below `torch` of the function that computes it; empty where only the meaning does.
        torch_keywords: What torch calls static parameters that have another name there.
        torch_dim: How torch's reduction takes `dim`: any, left out for all dimensions; `one` at a time, or left out;
            or it is `needed`.
        torch_part: The part of torch's result along a dimension that is the value, where it gives several.
        numpy: Name below `numpy` of the function for values; empty where the meaning or another rule serves.
        math: Name of the function of one number in Python's `math`, where NumPy has none.
        scipy: Name in `scipy.special` of the function, where NumPy has none and Python's is not as good or none.
        arb: Of a primitive, Arb's method for values on balls, with operands and constants: `gamma_lower(x, a, 1)`.
        slopes: Its derivatives by its operands, in the language; with `arb`, no reading needs a rule for it.
        kind: How it moves elements.
        notes: What the documentation says of an operation.
        statics: Static parameters with their defaults.
        defaults: Operands that may be left out, with the numbers that stand for them.
        marks: What else operands are, by their names, a sign each.  `#`: torch's function takes it as a plain number
            only; where it is none, the meaning is run.  `?`: it takes it as a tensor or not at all; the default says
            what stands for it, but where the kind is `written`.  `~`: it has no derivative by it; where one is asked
            for, the meaning is run; torch refuses
            that of a primitive.  `%`: it is no parameter: not differentiated by unless that is asked for.  `^`: it
            must be a symmetric matrix, of which torch reads one triangle and derives by both.  `!`: it is a whole
            number, as a position is, and has no derivative; with `<`, only where it has fewer dimensions than the
            first operand.  `&`: it must be true or false, as a comparison is.  `*`: more may follow, which are folded
            from the left, two at a time.
        places: How many places there are for these positions, by the shapes of the operands and the constants.
        ranks: Dimensions that an operand must have.
        equal_shapes: Of operands that do not broadcast, what is needed, for the message, and the hint.
        is_condition: Whether the result is true or false.
        sense: Of a comparison, the signs of a - b with which it holds.
        branches: Of a choice by a condition, which operands it is between.
        monoid: What a reduction or a scan folds by; of an operation of two, what it is itself.
        coefficients: Of a linear operation on numbers, those of its operands.
        adds_terms: Whether it adds up terms, which may cancel.
        is_detached: Whether the result is a constant to derivatives, and torch keeps no graph of it.
        is_exact: Whether floats hold the result exactly; of a constant tensor, those that the user meant.
        keeps_order: Of a movement, whether the elements stay in row-major order.
        keeps_shape: Of a function of a matrix, whether the result is one too, and no number or list of eigenvalues.
        parts: Of a function that gives several tensors, what torch calls them; `...` alone for a list.
        kernel: How torch's kernel rounds more than its result: as if the last operand were off by so many units in its
            last place, and then the result by this part of itself.
        domain: Where the value is real, as a condition on the operands; empty for everywhere.  With `arb` it is read:
            `x > 1, q > 0`.
        edges: Expressions of the operands that vanish where the domain ends at a point that has a value, and at poles
            of what is evaluated one by one.
        kinks: Expressions of the operands that vanish where the derivative jumps.
        is_step: Whether the value jumps there too.
        overflows: Whether it exists everywhere and yet gives infinities, or NaN for a slope.
        guarded: The operand that must stay inside the domain, if not the first.
        harmless: Operands, as texts, at which value and slope are finite, if not 1 and 0.
        elsewhere: What the name means behind the prefix of another library: other values of parameters that are left
            out, or a definition in the language, for a call without constant arguments.
        spans_all: Of a reduction, whether an empty `dim` stands for all dimensions, as torch has it in some; the others
            refuse it, or give no gradient, as var and std.
    """

    name: str
    signature: tuple[str, ...]
    doc: str
    meaning: str = ""
    written: Callable[[Mapping[str, Any], Shapes], str] | None = field(default=None, repr=False)
    total: str = ""
    in_floats: str = ""
    aliases: tuple[str, ...] = ()
    qualified: tuple[str, ...] = ()
    operator: str = ""
    torch: str = ""
    torch_keywords: Mapping[str, str] = field(default_factory=dict)
    torch_dim: Literal["any", "one", "needed"] = "any"
    torch_part: str = ""
    numpy: str = ""
    math: str = ""
    scipy: str = ""
    arb: str = ""
    slopes: Mapping[str, str] = field(default_factory=dict)
    kind: Kind = Kind.ELEMENTWISE
    notes: Notes = Notes()
    statics: Mapping[str, Default] = field(default_factory=dict)
    defaults: Mapping[str, float] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    places: Callable[[Shapes, Mapping[str, Any]], int] | None = field(default=None, repr=False)
    ranks: Mapping[str, int] = field(default_factory=dict)
    equal_shapes: tuple[str, str] | None = None
    is_condition: bool = False
    sense: tuple[int, ...] = ()
    branches: Branches | None = None
    monoid: Monoid | None = None
    coefficients: tuple[int, ...] = ()
    adds_terms: bool = False
    is_detached: bool = False
    is_exact: bool = False
    keeps_order: bool | None = None
    keeps_shape: bool | None = None
    parts: tuple[str, ...] = ()
    kernel: tuple[int, float] = (0, 0.0)
    domain: str = ""
    edges: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    is_step: bool = False
    overflows: bool = False
    guarded: str = ""
    harmless: tuple[str, ...] = ()
    elsewhere: Mapping[str, Mapping[str, Default] | str] = field(default_factory=dict)
    spans_all: bool = False

    numbers, optional, undifferentiated, buffers = map(_marked, "#?~%")
    symmetric, whole, whole_if_fewer, conditions = map(_marked, "^!<&")

    @cached_property
    def variadic(self) -> bool:
        """Whether more operands than named are a list, or folded from the left, two at a time."""
        return self.operands[:1] in (("tensors",), ("operands",)) or any("*" in one for one in self.marks.values())

    @property
    def of_shapes(self) -> bool:
        """Whether its meaning depends on the shapes of its operands, which the text is read for."""
        return SHAPES in self.statics

    @property
    def adds_dimension(self) -> bool:
        """Whether it lays the parts of a list along a new dimension."""
        return self.name == "stack"

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """The parameters that take expressions."""
        return tuple(name for name in self.signature if name not in self.statics)

    @property
    def worked_example(self) -> tuple[str, dict[str, str]]:
        """An expression with this operation, and a value for each of its variables."""
        values = dict(zip(self.operands, ("1.5", "0.5", "2"), strict=False))
        text = f"{self.name}({', '.join(self.operands)})"
        if len(self.operands) == 1:
            values = {self.operands[0]: "0.5"}
        if self.notes.example:
            text, _, at = self.notes.example.partition(" at ")
            values = dict(word.split("=", 1) for word in at.split())
        return text, values

    def on_balls(self, *operands: Any) -> Any:
        """The value that Arb's method gives; None where balls may be outside of the domain."""
        given = dict(zip(self.operands, operands, strict=True))
        limits = map(str.split, filter(None, self.domain.split(", ")))
        if not all(_COMPARED[sign](given[name], int(bound)) for name, sign, bound in limits):
            return None
        method, *words = re.findall(r"\w+", self.arb)
        first, *rest = (given[word] if word in given else int(word) for word in words)
        return getattr(first, method)(*rest)

    @property
    def is_primitive(self) -> bool:
        """Whether each reading has a rule of its own for it."""
        return not self.meaning

    @property
    def is_recorded(self) -> bool:
        """Whether its meaning is recorded from torch, for operands of certain shapes."""
        return self.of_shapes and self.written is None

    @property
    def has_one_dim(self) -> bool:
        """Whether its `dim` is one dimension, which may be left out where there is only one."""
        return next(iter(self.statics), "") == "dim" and "keepdim" not in self.statics

    def positions(self, ranks: Sequence[int]) -> tuple[str, ...]:
        """The operands that are whole numbers, where the operands have these numbers of dimensions.

        >>> from gradcli.language.ops import TABLE
        >>> [TABLE["cross_entropy"].positions(ranks) for ranks in [(2, 1, 0), (2, 2, 0)]]
        [('target',), ()]
        """
        if not self.whole_if_fewer:
            return self.whole
        of = dict(zip(self.operands, ranks, strict=False))
        return tuple(name for name in self.whole if of[name] < ranks[0])

    @property
    def is_by_name(self) -> bool:
        """Whether torch's function is handed what follows its first constant, or an operand left out, by name."""
        last = max(map(self.signature.index, self.operands))
        return bool(self.optional or self.whole) or any(name in self.statics for name in self.signature[1:last])

    @property
    def has_equation(self) -> bool:
        """Whether an equation of letters says what it computes."""
        return "equation" in self.statics

    @property
    def is_written_for(self) -> str:
        """What the definition is written anew for: each equation, or each shape of the operands."""
        return "equation" if self.has_equation else "shape"

    @property
    def is_branch(self) -> bool:
        """Whether it is the primitive choice by a condition."""
        return self.branches is not None and self.is_primitive

    @property
    def is_extreme(self) -> bool:
        """Whether it takes the largest or smallest of two operands, or of the elements of one."""
        return self.monoid is not None and self.monoid.is_extreme

    @property
    def is_nonlinear_fold(self) -> bool:
        """Whether its elements are products or extremes of those of its operand."""
        return self.kind in (Kind.REDUCTION, Kind.SCAN) and self.monoid is not Monoid.SUM

    @property
    def folds_by(self) -> Monoid:
        """The monoid of a reduction or a scan, which has one."""
        if self.monoid is None:
            raise ValueError(f"the row of {self.name} lacks its monoid")
        return self.monoid

    @property
    def is_sum(self) -> bool:
        """Whether it adds up the elements of its operand."""
        return self.kind is Kind.REDUCTION and self.monoid is Monoid.SUM

    @property
    def rule(self) -> str:
        """The rule of differentiation by which its adjoint reaches an operand, in the words of textbooks.

        >>> Op("exp", ("x",), "the exponential").rule
        'chain rule'
        """
        if self.notes.rule_name:
            return self.notes.rule_name
        if self.branches is not None:
            return "rule of the branch taken"
        if self.kind is Kind.ELEMENTWISE and self.coefficients:
            return "sum rule"
        if self.monoid is not None:
            return _FOLDED[self.monoid]
        return _RULES.get(self.kind, "chain rule")

    @property
    def is_linear(self) -> bool:
        """Whether the derivative needs no values of the operands."""
        if self.kind in (Kind.REDUCTION, Kind.SCAN):
            return self.monoid is Monoid.SUM
        return bool(self.coefficients) or self.kind in (Kind.LIST, Kind.MOVEMENT)


_RULES: Mapping[Kind, str] = {
    Kind.CONTRACTION: "product rule",
    Kind.LIST: "rule of parts",
    Kind.MOVEMENT: "rule of moved elements",
}
_FOLDED: Mapping[Monoid, str] = {
    Monoid.SUM: "sum rule",
    Monoid.PRODUCT: "product rule",
    Monoid.LARGEST: "rule of the element taken",
    Monoid.SMALLEST: "rule of the element taken",
}
"""The rule of differentiation of a kind, and of what folds elements, where it is not the chain rule."""

_PARAMETER = re.compile(r"(\w*)(\W*?)(?:([=:])(.*))?$")

_WORDS: Mapping[str, Default] = {"": REQUIRED, "None": None, "False": False, "True": True}


def row(signature: str, doc: str, meaning: str = "", **facts: object) -> Op:
    """A row from its signature as it is written: names, operands, and constant arguments with their defaults.

    Args:
        signature: `name|alias(operand, marked?:default, constant=default, required=)`.
        doc: One line of what it computes.
        meaning: Its definition in the language; empty for a primitive.
        facts: Further fields of `Op`, and of its `notes`.

    >>> op = row("norm|vector_norm(x, p=2, dim=None)", "the p-norm of the elements", "sqrt(sum(x**2, dim=dim))")
    >>> op.name, op.aliases, op.signature, op.statics
    ('norm', ('vector_norm',), ('x', 'p', 'dim'), {'p': 2, 'dim': None})
    """
    names, _, inside = signature.rstrip(")").partition("(")
    name, *aliases = names.split("|")
    parameters = [_PARAMETER.match(parameter).groups() for parameter in inside.split(", ")]  # type: ignore[union-attr]
    statics = {word: _default(text) for word, _, sign, text in parameters if sign == "="}
    if facts.pop("of_shapes", False):
        statics[SHAPES] = None
    defaults = {word: _default(text) for word, _, sign, text in parameters if sign == ":"}
    marks = {word: signs for word, signs, _, _ in parameters if signs}
    given: dict[str, Any] = {"aliases": tuple(aliases), "statics": statics, "defaults": defaults, "marks": marks}
    given |= facts
    given["notes"] = Notes(**{one.name: given.pop(one.name) for one in fields(Notes) if one.name in given})
    return Op(name, tuple(word for word, *_ in parameters), doc, meaning, **given)


def _default(text: str) -> Default:
    if text in _WORDS:
        return _WORDS[text]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def known(signature: str, doc: str, meaning: str = "", **facts: object) -> Op:
    """A row of what torch has by the same name, unless another one is given."""
    name = signature.partition("(")[0].partition("|")[0]
    return row(signature, doc, meaning, **{"torch": name, **facts})


# -- which facts a row needs

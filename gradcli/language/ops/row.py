"""Row of the op table: its fields, and the facts that follow from them.

Each reading asks a row for its facts; the test of the table names the facts that a new row lacks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from inspect import signature as parameters_of
from typing import Any

from gradcli.language.ops.signature import REQUIRED, Constant, Default, Operand


class Monoid(Enum):
    """Associative operation of two operands with its identity, by which a reduction or a scan folds its elements."""

    SUM = "add", 0.0
    PRODUCT = "mul", 1.0
    LARGEST = "maximum", -math.inf
    SMALLEST = "minimum", math.inf

    def __init__(self, operation: str, identity: float) -> None:
        self.operation = operation
        self.identity = identity

    @property
    def is_extreme(self) -> bool:
        """Tell whether it takes one of the two operands and leaves the other."""
        return self in (Monoid.LARGEST, Monoid.SMALLEST)


class Kind(Enum):
    """Way in which an operation moves elements: each reading has one rule for a kind, or one for a name inside it.

    No reading meets an `inlined` one: the lowering puts the operations that torch makes of the call in its place.
    """

    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    SCAN = "scan"
    CONTRACTION = "contraction"
    LIST = "list"
    MOVEMENT = "movement"
    GATHER = "gather"
    SCATTER = "scatter"
    MATRIX = "matrix"
    SPECTRAL = "spectral"
    COUNT = "count"
    SOURCE = "source"
    DEFINED = "defined"
    INLINED = "inlined"


class Meaning(Enum):
    """Source of the definition of an operation."""

    PRIMITIVE = "a rule in each reading"
    TEXT = "a text of the language"
    TORCH_CALL = "what torch makes of its call, for the shapes of the operands; the call stays in the Program"
    TORCH_INLINE = "what torch makes of its call, in place of which that stands in the Program"


BY_TORCH = "what torch makes of it"
"""Meaning of an operation whose definition torch is asked for."""

SHAPES = "shapes"
"""The last constant of a call whose meaning depends on the shapes of its operands."""

LARGEST_ORDER = 2**40
"""Largest operand without a derivative for which Arb is asked: of larger ones it takes long, for nothing."""


@dataclass(frozen=True)
class Op:
    """Operation: one row of the table.

    >>> Op("exp", ("x",), "the exponential", torch="exp").worked_example
    ('exp(x)', {'x': '0.5'})

    Attributes:
        name: Its name in the Program, and in the language.
        parameters: Its parameters in torch's order: an operand without marks is its name alone.
        doc: One line on its value.
        aliases: Other names in the language: those of SymPy, NumPy, Python, and further ones of torch.
        after_dot: Names that are read after a dot only, as in `x.t()`: before a parenthesis alone, they are too likely
            variables.
        parts: Names that torch gives the results of a function with several tensors; `...` alone for a list.
        kind: The way in which it moves elements.
        meaning: Its definition in the language itself, in terms of the signature; empty for a primitive, which has
            a rule of its own in each reading; `BY_TORCH` where torch is asked for it.
        written: Writes the definition from constant arguments by name, and, if it takes two, from the shapes of the
            operands.  The meaning is then a short form of it.
        torch_convention: The same with torch's value where that has none, as of 0*log(0) and of nan: the form that
            balls and NumPy take; empty where there is no more.
        in_floats: The same written so that it neither overflows nor cancels, as in torch: the form that NumPy
            runs for values; empty where the meaning will do.
        torch: Path below `torch` of the function that computes it; empty where only the meaning does.
        arb: Of a primitive, its value on balls by a method of Arb; None where they may be outside of the domain.
        slopes: Its derivatives by its operands, in the language; with `arb`, no reading needs a rule for it.
        adjoints: What it adds to the adjoints of its operands in torch, at kinks too, where the gradient of the meaning
            is other; `grad` is its own adjoint and `result` its value, with the dimensions that a reduction drops.
        kernel: Extra rounding by torch's kernel: as if the last operand were off by so many units in its last place,
            and then the result by this part of itself.
        monoid: Operation that a reduction or a scan folds by; of an operation of two, itself.
        sense: Of a comparison, the signs of a - b with which it holds.
        coefficients: Of a linear operation on numbers, those of its operands.
        adds_terms: Whether it adds up terms, which may cancel.
        of_square: Whether it is meant of square matrices, though torch takes others.
        rule_name: The rule of differentiation by its name in the textbooks, where it is not that of its kind.
        domain: Where the value is real, as a condition on the operands; empty for everywhere.
        edges: Expressions of the operands that vanish where the domain ends at a point that has a value, and at poles
            of functions that are evaluated one by one.
        kinks: Expressions of the operands that vanish where the derivative jumps.
        caveat: Facts beyond the doc line: a rule of torch that surprises, a formula by cases.
        notation: Ways to write it that are no call, method or sign, such as `x.T`.
        example: An expression with the operation; empty for the obvious one.
        at: Values for the variables of the example, as they are typed: `{"x": "1,2,3"}`.
    """

    name: str
    parameters: tuple[str | Operand | Constant, ...]
    doc: str
    aliases: tuple[str, ...] = ()
    after_dot: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    kind: Kind = Kind.ELEMENTWISE
    meaning: str = ""
    written: Callable[..., str] | None = field(default=None, repr=False)
    torch_convention: str = ""
    in_floats: str = ""
    torch: str = ""
    arb: Callable[..., Any] | None = field(default=None, repr=False)
    slopes: Mapping[str, str] = field(default_factory=dict)
    adjoints: Mapping[str, str] = field(default_factory=dict)
    kernel: tuple[int, float] = (0, 0.0)
    monoid: Monoid | None = None
    sense: tuple[int, ...] = ()
    coefficients: tuple[int, ...] = ()
    adds_terms: bool = False
    of_square: bool = False
    rule_name: str = ""
    domain: str = ""
    edges: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    caveat: str = ""
    notation: tuple[str, ...] = ()
    example: str = ""
    at: Mapping[str, str] = field(default_factory=dict)

    # -- the parameters

    @cached_property
    def signature(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(one if isinstance(one, str) else one.name for one in self.parameters)

    @cached_property
    def statics(self) -> Mapping[str, Default]:
        """Parameters that take constants, with their defaults; shapes are one where the meaning depends on them."""
        found = {one.name: one.default for one in self.parameters if isinstance(one, Constant)}
        return found | ({SHAPES: None} if self.of_shapes else {})

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """Parameters that take expressions."""
        return tuple(one.name for one in self._operands)

    @cached_property
    def _operands(self) -> tuple[Operand, ...]:
        marked = (Operand(one) if isinstance(one, str) else one for one in self.parameters)
        return tuple(one for one in marked if isinstance(one, Operand))

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """Operands that may be left out, with the numbers that stand for them."""
        return {one.name: one.default for one in self._operands if one.default is not REQUIRED}

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Operands that torch's function takes as plain numbers only."""
        return tuple(one.name for one in self._operands if one.number_only)

    @cached_property
    def optional(self) -> tuple[str, ...]:
        """Operands that torch's function takes as tensors or not at all."""
        return tuple(one.name for one in self._operands if one.tensor_or_none)

    @cached_property
    def undifferentiated(self) -> tuple[str, ...]:
        """Operands by which it has no derivative."""
        return tuple(one.name for one in self._operands if one.no_derivative)

    @cached_property
    def buffers(self) -> tuple[str, ...]:
        """Operands that are not differentiated by unless that is asked for."""
        return tuple(one.name for one in self._operands if one.buffer)

    @cached_property
    def symmetric(self) -> tuple[str, ...]:
        """Operands that must be symmetric matrices."""
        return tuple(one.name for one in self._operands if one.symmetric)

    @cached_property
    def whole(self) -> tuple[str, ...]:
        """Operands that are whole numbers, at least where they have few dimensions."""
        return tuple(one.name for one in self._operands if one.whole_number or one.whole_if_fewer_dimensions)

    @cached_property
    def whole_if_fewer(self) -> tuple[str, ...]:
        """Operands that are whole numbers only where they have fewer dimensions than the first operand."""
        return tuple(one.name for one in self._operands if one.whole_if_fewer_dimensions)

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """Operands that must be true or false."""
        return tuple(one.name for one in self._operands if one.condition)

    # -- the meaning

    @cached_property
    def is_primitive(self) -> bool:
        """Tell whether each reading has a rule of its own for it."""
        return not self.meaning

    @cached_property
    def defined_by(self) -> Meaning:
        """Source of the definition.

        >>> Op("relu", ("x",), "max(x, 0)", meaning="maximum(x, 0)").defined_by
        <Meaning.TEXT: 'a text of the language'>
        """
        if self.is_primitive:
            return Meaning.PRIMITIVE
        if self.meaning != BY_TORCH:
            return Meaning.TEXT
        return Meaning.TORCH_INLINE if self.kind is Kind.INLINED else Meaning.TORCH_CALL

    @cached_property
    def is_defined_by_torch(self) -> bool:
        """Tell whether torch says what it is made of, and which values its constants may take."""
        return self.defined_by in (Meaning.TORCH_CALL, Meaning.TORCH_INLINE)

    @cached_property
    def of_shapes(self) -> bool:
        """Tell whether its meaning depends on the shapes of its operands, which the text is read for."""
        is_of_shapes = self.written is not None and len(parameters_of(self.written).parameters) > 1
        return is_of_shapes or self.defined_by is Meaning.TORCH_CALL

    # -- facts that follow from the others

    @cached_property
    def variadic(self) -> bool:
        """Tell whether further operands are a list, or folded from the left, two at a time."""
        is_list = self.operands[:1] in (("tensors",), ("operands",))
        return is_list or any(one.repeats for one in self._operands)

    @cached_property
    def adds_dimension(self) -> bool:
        """Tell whether it lays the parts of a list along a new dimension."""
        return self.name == "stack"

    @cached_property
    def is_condition(self) -> bool:
        """Tell whether the result is true or false."""
        return bool(self.sense) or self.name.startswith(("is", "logical_"))

    @cached_property
    def is_step(self) -> bool:
        """Tell whether the value jumps where there is a kink."""
        return bool(self.kinks) and self.name != "abs" and not self.is_extreme

    @cached_property
    def is_locally_constant(self) -> bool:
        """Tell whether the value changes in jumps alone, so that the derivative is 0 wherever there is one."""
        return self.is_condition or self.name in ("sign", "floor", "ceil", "trunc", "round")

    @cached_property
    def is_detached(self) -> bool:
        """Tell whether the result is a constant to derivatives, of which torch keeps no graph."""
        return self.name in ("zeros_like", "ones_like", "detach")

    @cached_property
    def is_held(self) -> bool:
        """Tell whether the result is its operand, held constant."""
        return self.name == "detach"

    @cached_property
    def is_choice(self) -> bool:
        """True for where, maximum and minimum."""
        return self.kind is Kind.ELEMENTWISE and bool(self.is_branch or self.is_extreme)

    @cached_property
    def is_aggregate(self) -> bool:
        """True if an element of the result depends on many of the operand, and not linearly."""
        return self.is_nonlinear_fold or self.kind in (Kind.MATRIX, Kind.SPECTRAL)

    @cached_property
    def only_moves(self) -> bool:
        """Tell whether each element of the result is one of the operand, or a constant, and is not rounded."""
        return self.kind in (Kind.MOVEMENT, Kind.GATHER)

    @cached_property
    def is_at_positions(self) -> bool:
        """Tell whether the last operand says where elements come from, or go to."""
        return self.kind in (Kind.GATHER, Kind.SCATTER)

    @cached_property
    def keeps_order(self) -> bool:
        """Tell whether the elements of a movement stay in row-major order."""
        return self.name in ("reshape", "flatten", "squeeze", "unsqueeze")

    @cached_property
    def keeps_shape(self) -> bool:
        """Tell whether a function of a matrix gives a matrix, rather than a number or a list of eigenvalues."""
        return self.name in ("inv", "matrix_exp")

    @cached_property
    def branches(self) -> tuple[str, ...]:
        """Operands of a choice: the condition, the one taken where it holds, and the other one; empty for others."""
        words = self.operands if self.name == "where" else tuple(re.findall(r"\w+", self.meaning))[1:]
        is_choice = self.meaning in ("", f"where({', '.join(words)})") and set(words) == set(self.operands)
        return words if is_choice and self.conditions == words[:1] else ()

    @cached_property
    def guarded(self) -> str:
        """Operand that must stay inside the domain, if not the first."""
        named = [word for word in re.findall(r"\w+", self.domain) if word in self.operands]
        return "" if named[:1] == list(self.operands[:1]) else "".join(named[:1])

    @cached_property
    def worked_example(self) -> tuple[str, dict[str, str]]:
        """Expression with this operation, and a value for each of its variables."""
        is_list, others = self.operands[:1] in (("tensors",), ("operands",)), {"x": "0.5"}
        needed = ["[x, x**2]"] if is_list else [name for name in self.operands if name not in self.defaults]
        text = self.example or f"{self.name}({', '.join(needed)})"
        if len(self.operands) > 1:
            others = dict(zip(self.operands, ("1.5", "0.5", "2"), strict=False))
        given = self.at or others
        return text, {name: value for name, value in given.items() if name in re.findall(r"\w+", text)}

    def has_large_order(self, *operands: Any) -> bool:
        """Tell whether an operand without a derivative is, or may be, above `LARGEST_ORDER`."""
        pairs = zip(self.operands, operands, strict=True)
        return any(not abs(ball) <= LARGEST_ORDER for name, ball in pairs if name in self.undifferentiated)

    def positions(self, ranks: Sequence[int]) -> tuple[str, ...]:
        """List the operands that are whole numbers, where the operands have these numbers of dimensions; none unknown.

        >>> from gradcli.language.ops import TABLE
        >>> [TABLE["cross_entropy"].positions(ranks) for ranks in [(2, 1, 0), (2, 2, 0)]]
        [('target',), ()]
        """
        if not self.whole_if_fewer:
            return self.whole
        of = dict(zip(self.operands, ranks, strict=False))
        return tuple(name for name in self.whole if name in of and of[name] < ranks[0])

    @cached_property
    def has_equation(self) -> bool:
        """Tell whether an equation of letters defines its value."""
        return "equation" in self.statics

    @cached_property
    def is_branch(self) -> bool:
        """Tell whether it is the primitive choice by a condition."""
        return self.name == "where"

    @cached_property
    def is_extreme(self) -> bool:
        """Tell whether it takes the largest or smallest of two operands, or of the elements of one."""
        return self.monoid is not None and self.monoid.is_extreme

    @cached_property
    def is_nonlinear_fold(self) -> bool:
        """True for prod, amax, amin, cumprod, cummax and cummin."""
        return self.kind in (Kind.REDUCTION, Kind.SCAN) and self.monoid is not Monoid.SUM

    @cached_property
    def folds_by(self) -> Monoid:
        """Monoid of a reduction or a scan, which has one."""
        if self.monoid is None:
            raise ValueError(f"the row of {self.name} lacks its monoid")
        return self.monoid

    @cached_property
    def is_sum(self) -> bool:
        """Tell whether it adds up the elements of its operand."""
        return self.kind is Kind.REDUCTION and self.monoid is Monoid.SUM

    @cached_property
    def rule(self) -> str:
        """Rule of differentiation by which its adjoint reaches an operand, in the words of textbooks.

        >>> Op("exp", ("x",), "the exponential").rule
        'chain rule'
        """
        if self.rule_name:
            return self.rule_name
        if self.branches:
            return "rule of the branch taken"
        if self.kind is Kind.ELEMENTWISE and self.coefficients:
            return "sum rule"
        return _RULES.get(self.monoid or self.kind, "chain rule")

    @cached_property
    def is_linear(self) -> bool:
        """Tell whether the derivative needs no values of the operands."""
        is_fold, is_sum = self.kind in (Kind.REDUCTION, Kind.SCAN), self.monoid is Monoid.SUM
        is_moved = self.kind in (Kind.LIST, Kind.MOVEMENT, Kind.GATHER, Kind.SCATTER)
        return is_sum if is_fold else bool(self.coefficients) or is_moved


_RULES: Mapping[Kind | Monoid, str] = {
    Kind.CONTRACTION: "product rule",
    Kind.LIST: "rule of parts",
    **dict.fromkeys((Kind.MOVEMENT, Kind.GATHER), "rule of moved elements"),
    Kind.SCATTER: "sum rule",
    Monoid.SUM: "sum rule",
    Monoid.PRODUCT: "product rule",
    **dict.fromkeys((Monoid.LARGEST, Monoid.SMALLEST), "rule of the element taken"),
}
"""Rule of differentiation of a kind or a monoid, where it is not the chain rule."""

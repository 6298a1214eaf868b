"""What a row of the op table holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Literal


class Kind(Enum):
    """How the operation moves elements: each reading has one rule a kind, or one a name inside it."""

    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    SCAN = "scan"
    CONTRACTION = "contraction"
    LIST = "list"
    MOVEMENT = "movement"
    MATRIX = "matrix"
    COUNT = "count"
    SOURCE = "source"
    DEFINED = "defined"
    DERIVATIVE = "derivative"


class Required(Enum):
    """Marks a static parameter without a default."""

    REQUIRED = "required"


REQUIRED = Required.REQUIRED

Default = int | float | bool | str | None | tuple[int, ...] | Required


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
        kind: How it moves elements.
        statics: Static parameters with their defaults.
        defaults: Operands that may be left out, with the numbers that stand for them.
        numbers: Operands that torch's function takes as plain numbers only; where they are not, the meaning is run.
        ranks: Dimensions that an operand must have.
        conditions: Operands that must be true or false, as comparisons are.
        is_condition: Whether the result is true or false.
        is_detached: Whether the result is a constant to derivatives, and torch keeps no graph of it.
        variadic: Whether more operands than named are folded from the left, two at a time.
        domain: Where the value is real, as a condition on the operands; empty for everywhere.
        edges: Expressions of the operands that vanish where the domain ends at a point that has a value.
        kinks: Expressions of the operands that vanish where the derivative jumps.
        is_step: Whether the value jumps there too.
        critical: Expressions of the operands that vanish at every kink, jump, pole and edge of the domain, and go there
            continuously: what tells in floats that one is near. By default kinks and edges.
        elsewhere: What the name means behind the prefix of another library: other values of parameters that are left
            out, or a definition in the language, for a call without constant arguments.
        spans_all: Of a reduction, whether an empty `dim` stands for all dimensions, as torch has it in some; the others
            refuse it, or give no gradient, as var and std.
        slopes: The derivative by each operand as torch's backward pass computes it, from the operands and the `result`,
            of a reduction also from the `size` and the `center`, the mean, of what it takes in; empty where the
            derivative of the meaning loses the same digits.
        computed: The definition as torch computes it, where the meaning would overflow or lose other digits.
        computed_along: The same where torch goes back through its backward pass along a direction; of a second
            derivative, what the slope by another operand adds, as torch's mixed slopes may differ. Empty if the same.
        error: Relative error of torch's derivative, where it is more than that of a few roundings.
        fault: Why that is so, or what else torch's derivative is known to do.
        caveat: What to know beyond the doc line: a rule of torch that surprises, a formula by cases.
        example: An expression and its values, `softmax(x) at x=1,2,3`; empty for the obvious one.
    """

    name: str
    signature: tuple[str, ...]
    doc: str
    meaning: str = ""
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
    kind: Kind = Kind.ELEMENTWISE
    statics: Mapping[str, Default] = field(default_factory=dict)
    defaults: Mapping[str, float] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    is_condition: bool = False
    is_detached: bool = False
    variadic: bool = False
    domain: str = ""
    edges: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    is_step: bool = False
    critical: tuple[str, ...] = ()
    elsewhere: Mapping[str, Mapping[str, Default] | str] = field(default_factory=dict)
    spans_all: bool = False
    slopes: tuple[str, ...] = ()
    computed: str = ""
    computed_along: str = ""
    error: float = 0.0
    fault: str = ""
    caveat: str = ""
    example: str = ""

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
        if self.example:
            text, _, at = self.example.partition(" at ")
            values = dict(word.split("=", 1) for word in at.split())
        return text, values

    @property
    def is_primitive(self) -> bool:
        """Whether each reading has a rule of its own for it."""
        return not self.meaning


def one(name: str, doc: str, *aliases: str, torch: str = "", numpy: str = "", **more: object) -> Op:
    """A primitive of one operand; torch and NumPy know most by the same name."""
    return Op(name, ("x",), doc, aliases=aliases, torch=torch or name, numpy=numpy, **more)  # type: ignore[arg-type]


def defined(name: str, signature: str, meaning: str, doc: str, *aliases: str, **more: object) -> Op:
    """An operation that is written in the language itself."""
    return Op(name, tuple(signature.split(", ")), doc, meaning, aliases=aliases, **more)  # type: ignore[arg-type]

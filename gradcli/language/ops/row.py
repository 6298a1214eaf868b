"""What a row of the op table holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """How the operation moves elements; the shape rule follows from it or from the op's name."""

    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    CONTRACTION = "contraction"
    STRUCTURE = "structure"
    SOURCE = "source"


class Required(Enum):
    """Marks a static parameter without a default."""

    REQUIRED = "required"


REQUIRED = Required.REQUIRED

Default = int | bool | None | tuple[int, ...] | Required


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: one row of the table.

    Attributes:
        name: The name in the Program, and in the language.
        signature: Parameter names in order; those in `statics` take constants, the others operands.
        doc: One line of what it computes.
        meaning: Its definition in the language itself, in terms of the signature; empty for a primitive, which has
            a rule of its own in each reading.
        aliases: Other names in the language (SymPy's, NumPy's, Python's).
        torch: Path below `torch` of the function that computes it; empty where only the meaning does.
        numpy: Name below `numpy` of the function for values; empty where values cannot use it.
        kind: How it moves elements.
        statics: Static parameters with their defaults.
        variadic: Whether more operands than named are folded from the left, two at a time.
        domain: Where the value is real, as a condition on the operands; empty for everywhere.
        kinks: Expressions of the operands that vanish where the derivative jumps.
        is_step: Whether the value jumps there too.
    """

    name: str
    signature: tuple[str, ...]
    doc: str
    meaning: str = ""
    aliases: tuple[str, ...] = ()
    torch: str = ""
    numpy: str = ""
    kind: Kind = Kind.ELEMENTWISE
    statics: Mapping[str, Default] = field(default_factory=dict)
    variadic: bool = False
    domain: str = ""
    kinks: tuple[str, ...] = ()
    is_step: bool = False

    @property
    def operands(self) -> tuple[str, ...]:
        """The parameters that take expressions."""
        return tuple(name for name in self.signature if name not in self.statics)

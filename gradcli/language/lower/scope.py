"""What names stand for while a tree is lowered, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy

from gradcli.language.lower.hooks import Operand
from gradcli.language.program.wengert import Atom, Shape


@dataclass
class Scope:
    """The names of a text.

    Attributes:
        given: Names that are variables although they mean something else, `E`.
        is_value: Whether there may be no variables.
        constants: Values of constant arguments by name, of a meaning of the op table.
        shapes: Of variables, where they are known.
        variables: The free names in order of appearance.
        names: What was assigned.
        lists: The elements of the names that stand for a list.
        pairs: The names that stand for torch's pair of values and positions.
        unused: The names that nothing has used.
        last_name: The name of the last statement.
        warnings: Remarks for the user.
        needs_shapes: Whether a size stood for one that is not known: the text is to be lowered again with shapes.
    """

    given: frozenset[str] = frozenset()
    is_value: bool = False
    constants: Mapping[str, Any] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    variables: dict[str, sympy.Symbol] = field(default_factory=dict)
    names: dict[str, Atom] = field(default_factory=dict)
    lists: dict[str, list[Operand]] = field(default_factory=dict)
    pairs: set[str] = field(default_factory=set)
    unused: dict[str, None] = field(default_factory=dict)
    last_name: str = ""
    warnings: list[str] = field(default_factory=list)
    needs_shapes: bool = False

    @property
    def known_shapes(self) -> dict[Atom, Shape]:
        """The shapes of the variables that are known, by symbol."""
        return {symbol: self.shapes[name] for name, symbol in self.variables.items() if name in self.shapes}

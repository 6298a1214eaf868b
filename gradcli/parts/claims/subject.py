"""The subject of a claim: a function, as typed, and one of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import sympy

from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Program, Shape
from gradcli.parts.claims.structures import Assumed
from gradcli.questions.text_reading import read_whole

if TYPE_CHECKING:
    from gradcli.language.lower.called_values import CallableNames
from gradcli.results import Array

V = "v"
"""What a claim calls the gradient vector."""

VECTOR = sympy.Symbol(V, real=True)


@dataclass(frozen=True)
class Subject:
    """Subject of a claim: a function, as typed, and one of its variables.

    Attributes:
        program: The function.
        shapes: Of its variables.
        variable: The x.
        y: The shape of its value.
        v: The gradient vector that is given, if one is.
        assumed: The structures of variables, of whose nearest members the function is.
    """

    program: Program
    shapes: Mapping[sympy.Symbol, Shape]
    variable: sympy.Symbol
    y: Shape
    v: Array | None
    assumed: Assumed = field(default_factory=dict)

    @classmethod
    def from_program(
        cls,
        program: Program,
        shapes: Mapping[Atom, Shape],
        variable: str,
        v: Array | None,
        assumed: Assumed = MappingProxyType({}),
    ) -> Subject:
        """Make the subject of a Program, the shapes of its variables at least, and the name of one of them."""
        symbol = next(s for s in program.variables if str(s) == variable)
        own = {s: shapes[s] for s in program.variables}
        y = infer(program, own, bounded=False).get(program.output, ())
        return cls(program, own, symbol, y, v, assumed)

    @property
    def x(self) -> Shape:
        """The shape of the variable."""
        return self.shapes[self.variable]

    @property
    def known(self) -> Mapping[sympy.Symbol, Shape]:
        """The shapes of all that a claim may name: the variables, and v, which may be one of them."""
        return {**self.shapes, VECTOR: self.shapes.get(VECTOR, self.y)}

    @cached_property
    def named(self) -> Mapping[str, Atom]:
        """What a claim may name besides variables: what statements of the function assign, and the output as shown."""
        return {**self.program.named, self.program.output_name: self.program.output}

    @cached_property
    def assigned(self) -> Mapping[str, Shape]:
        """The shapes of what the statements of the function assign, and of its output, by name."""
        if not self.program.named:
            return {self.program.output_name: self.y}
        shapes = infer(self.program, self.shapes, bounded=False)
        return {name: shapes.get(atom, ()) for name, atom in self.named.items()}

    @cached_property
    def callable_names(self) -> CallableNames:
        """What a claim may write with arguments: `f(x)` is the value, `f(2*x)` the function there."""
        from gradcli.language.lower.called_values import callable_names  # which a claim without calls does not need

        return callable_names(self.program, lambda text: read_whole(text).program)

    @property
    def has_vector(self) -> bool:
        """Tell whether the name v is free for the gradient vector."""
        return V not in self.program.names

    @property
    def weights(self) -> Array:
        """The gradient vector that is given, or ones."""
        return np.ones(self.y) if self.v is None else self.v

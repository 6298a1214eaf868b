"""A function at a point as torch runs it, each of its lines laid beside the primitives that it stands for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradcli.language.program.expansion import Expansion, expansion
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.reference.duals import Reference
from gradcli.reference.lowering import lowering
from gradcli.results import Array

MOST_LINES = 1_000
"""Operations of a function that is looked into."""

MOST_VALUES = 1_000_000
"""Elements of all its lines together, which torch's run keeps."""


@dataclass(frozen=True)
class DiagnosisContext:
    """A function at a point, for every finding about it.

    Attributes:
        program: As torch runs it.
        shapes: Of its symbols.
        inputs: The value of every variable, of the dtype.
        wrt: The variables of the derivatives.
        dtype: `float64` or `float32`.
    """

    program: Program
    shapes: Mapping[Atom, Shape]
    inputs: Mapping[str, Array]
    wrt: tuple[str, ...]
    dtype: str

    @classmethod
    def of(
        cls,
        program: Program,
        shapes: Mapping[Atom, Shape],
        inputs: Mapping[str, Array],
        wrt: tuple[str, ...],
        dtype: str,
    ) -> DiagnosisContext:
        """The context of a Program as typed, with the shapes of its variables at least."""
        from gradcli.autodiff.run import prepared

        ran = prepared(program)
        variables = {symbol: shapes[symbol] for symbol in ran.variables}
        return cls(ran, infer(ran, variables, bounded=False), inputs, wrt, dtype)

    @property
    def is_within_budget(self) -> bool:
        """Whether it is small enough to be looked into."""
        return len(self.program.lines) <= MOST_LINES and self.values <= MOST_VALUES

    @property
    def values(self) -> int:
        """How many numbers torch computes on the way to y."""
        return sum(math.prod(self.shapes[line.symbol]) for line in self.program.lines)

    @property
    def largest(self) -> float:
        """The largest number of the dtype."""
        return float(np.finfo(self.dtype).max)

    @property
    def smallest(self) -> float:
        """The smallest number of the dtype with all its digits."""
        return float(np.finfo(self.dtype).smallest_normal)

    @property
    def rounding(self) -> float:
        """The relative error of rounding once."""
        return float(np.finfo(self.dtype).eps) / 2

    @cached_property
    def meaning(self) -> Expansion:
        """The same in primitives, every line's apart from those of others."""
        found = expansion(self.program, shares=False)
        variables = {symbol: self.shapes[symbol] for symbol in self.program.variables}
        return found.then(lowering(found.program, infer(found.program, variables, bounded=False), shares=False))

    @cached_property
    def reference(self) -> Reference:
        """The reference reading of it."""
        variables = {symbol: self.shapes[symbol] for symbol in self.program.variables}
        shapes = infer(self.meaning.program, variables, bounded=False)
        exact = {name: array.astype(np.float64) for name, array in self.inputs.items()}
        return Reference(self.meaning.program, shapes, exact)

    @cached_property
    def line_of(self) -> Mapping[Atom, Line]:
        """The lines by their symbols."""
        return {line.symbol: line for line in self.program.lines}

    @cached_property
    def users(self) -> Mapping[Atom, tuple[Line, ...]]:
        """The lines that use a value, each once."""
        found: dict[Atom, list[Line]] = {}
        for line in self.program.lines:
            for operand in dict.fromkeys(line.call.operands):
                found.setdefault(operand, []).append(line)
        return {atom: tuple(lines) for atom, lines in found.items()}

    @cached_property
    def parts(self) -> Mapping[Atom, tuple[Line, ...]]:
        """The primitives that each line stands for, by its symbol."""
        found: dict[Atom, list[Line]] = {}
        for part in self.meaning.program.lines:
            found.setdefault(self.meaning.owners[part.symbol], []).append(part)
        return {owner: tuple(lines) for owner, lines in found.items()}

    @cached_property
    def by_meaning(self) -> Mapping[Atom, Atom]:
        """The variable or line that a value of the meaning is that of."""
        known: dict[Atom, Atom] = {symbol: symbol for symbol in self.program.variables}
        for line in self.program.lines:
            known.setdefault(self.held(line.symbol), line.symbol)
        return known

    def held(self, atom: Atom) -> Atom:
        """What holds the value of a line in the meaning."""
        return self.meaning.renamed.get(atom, atom)

    def excerpt(self, atom: Atom) -> str:
        """The text of a variable or line."""
        line = self.line_of.get(atom)
        return str(atom) if line is None else self.program.excerpt(line)

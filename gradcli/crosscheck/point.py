"""Subject of a check: a Program at a point, and torch's numbers there."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.language.program.expansion import rewritten
from gradcli.language.program.passes import for_enclosures, for_formulas
from gradcli.language.program.shapes import count_of, infer, shapes_in
from gradcli.language.program.torch_passes import RecordPasses
from gradcli.language.program.wengert import Atom, Builder, Line, Program, Shape
from gradcli.results import Array, Entry, Index, NumberKind, Position

if TYPE_CHECKING:
    from gradcli.reference.near_kinks import Critical

MOST_ELEMENTS = 2**21
"""Most elements of a line in a search for kinks: a tenth of a second a line, and 16 MiB an array."""

STEP = "step along u"
"""Name of t, the step along u: no name of the language has a space."""


@dataclass(frozen=True)
class Point:
    """Program at a point, and the same in primitives with the shapes of all its symbols.

    `inputs` holds the float64 values of the variables, which are the exact values in either precision.
    `source` is the function in all operations of torch.  `passes` records the passes of torch: without it, nobody knows
    whether rounding explains a number.
    """

    source: Program
    program: Program
    shapes: Mapping[Atom, Shape]
    inputs: Mapping[str, npt.NDArray[np.float64]]
    passes: RecordPasses | None = None

    @classmethod
    def from_inputs(
        cls,
        typed: Program,
        shapes: Mapping[Atom, Shape],
        inputs: Mapping[str, Array],
        passes: RecordPasses | None = None,
    ) -> Point:
        """Make the point of a Program as typed, shapes of its symbols (at least of the variables) and its inputs."""
        source = _as_in_torch(typed, {symbol: shapes[symbol] for symbol in typed.variables})
        exact = {name: array.astype(np.float64) for name, array in inputs.items()}
        primitive = for_enclosures(source)
        return cls(source, primitive, shapes_in(primitive, shapes), exact, passes=passes)

    @cached_property
    def in_formulas(self) -> tuple[Program, Mapping[Atom, Shape]]:
        """Program in primitives, and its shapes, that formulas are derived from: without the cases only for balls."""
        program = for_formulas(self.source)
        return program, self.shapes if program is self.program else shapes_in(program, self.shapes)

    @cached_property
    def critical(self) -> Critical | None:
        """Elements where there may be no derivative; None where a line has too many elements to look at."""
        from gradcli.reference.near_kinks import critical

        largest = max((math.prod(shape) for shape in self.shapes.values()), default=0)
        return critical(self.program, self.shapes, self.inputs) if largest <= MOST_ELEMENTS else None

    @property
    def may_be_singular(self) -> bool:
        """True if there may be no derivative somewhere, as far as bounds tell."""
        return self.critical is None or bool(self.critical.spots or self.critical.unknown)

    @property
    def shape(self) -> Shape:
        """Shape of y."""
        return self.shapes.get(self.program.output, ())

    @property
    def rows(self) -> int:
        """Number of elements of y."""
        return math.prod(self.shape)

    def shape_of(self, variable: str) -> Shape:
        """Return the shape of a variable."""
        return self.shapes[sympy.Symbol(variable, real=True)]

    def directions(self, names: Collection[str]) -> list[tuple[sympy.Symbol, int]]:
        """List all elements of these variables, as directions of the reference."""
        chosen = [symbol for symbol in self.program.variables if str(symbol) in names]
        return [(symbol, j) for symbol in chosen for j in range(math.prod(self.shapes[symbol]))]

    def entry(self, variable: str | None, row: int | None, column: int, number: SupportsFloat) -> Entry:
        """Make an undecided entry of torch's number at flat positions; without a variable an element of y."""
        y = None if row is None else unravel(row, self.shape)
        if variable is None:
            return Entry(Position("value", row=y), float(number))
        kind: NumberKind = "vjp" if row is None else "jacobian"
        return Entry(Position(kind, variable, y, unravel(column, self.shape_of(variable))), float(number))


def _as_in_torch(program: Program, variables: Mapping[Atom, Shape]) -> Program:
    """Limit the correction of each variance to its number of elements: torch divides by max(0, count - correction)."""
    if not any("correction" in line.call.op.statics for line in program.lines):
        return program
    shapes = infer(program, variables, bounded=False)

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        statics = line.call.constants
        if "correction" in statics:
            count = count_of(shapes.get(line.call.operands[0], ()), statics["dim"])
            statics["correction"] = min(statics["correction"], count)
        return builder.emit(line.call.op.name, operands, line.span, tuple(statics.values()))

    return rewritten(program, write, shares=True).program


@dataclass(frozen=True)
class Torch:
    """Torch's numbers: y, and its Jacobian or a vector-Jacobian product.

    Attributes:
        dtype: `float64` or `float32`.
        value: The output y.
        jacobian: Blocks of shape y.shape + x.shape by variable, if they were computed.
        v: The gradient vector, of y's shape, if there is a vector-Jacobian product.
        vjp: The vector-Jacobian product by variable, of x's shape.
        passes: The gradient vectors of several passes that were added up in `vjp`, of which v is the sum.
        judges_value: True if the numbers of y are to be judged; else only the shape of y matters.
    """

    dtype: str
    value: Array
    jacobian: Mapping[str, Array] | None
    v: Array | None = None
    vjp: Mapping[str, Array] | None = None
    passes: Sequence[Array] = ()
    judges_value: bool = True

    @property
    def rows(self) -> int:
        """Number of rows of the derivatives: one of vᵀJ."""
        return 1 if self.jacobian is None else self.value.size

    def block(self, name: str) -> Array:
        """Return the derivatives by a variable, with the columns on the second axis."""
        found = (self.vjp or {})[name] if self.jacobian is None else self.jacobian[name]
        return found.reshape(self.rows, math.prod(found.shape[0 if self.jacobian is None else self.value.ndim :]))


@dataclass(frozen=True)
class JacobianVectorProduct:
    """Torch's y and Ju, of y's shape, along the direction u of each variable that moves."""

    dtype: str
    value: Array
    jvp: Array
    u: Mapping[str, Array]


@dataclass(frozen=True)
class HessianVectorProduct:
    """Torch's Hu by variable, of x's shape, and u·∇f, for a y of one element, whose value is NaN if it is not known."""

    dtype: str
    slope: float
    hvp: Mapping[str, Array]
    u: Mapping[str, Array]
    value: float = math.nan


@dataclass(frozen=True)
class SecondDerivatives:
    """Torch's gradient, and its Hessian by the variables of row and column, for a y of one element.

    Its value is NaN if it is not known.
    """

    dtype: str
    gradient: Mapping[str, Array]
    hessian: Mapping[str, Mapping[str, Array]]
    value: float = math.nan


Numbers = Torch | JacobianVectorProduct | HessianVectorProduct | SecondDerivatives
"""Torch's numbers that are judged together."""


def way(u: Mapping[str, Array]) -> dict[tuple[sympy.Symbol, int], float]:
    """Map the elements of the direction u that are not 0 to their values."""
    return {
        (sympy.Symbol(name, real=True), int(j)): float(array.ravel()[j])
        for name, array in u.items()
        for j in np.flatnonzero(array)
    }


def unravel(position: int, shape: Shape) -> Index:
    """Return the index of a flat row-major position.

    >>> unravel(5, (2, 3))
    (1, 2)
    """
    index = []
    for size in reversed(shape):
        position, n = divmod(position, size)
        index.append(n)
    return tuple(reversed(index))


def flat(index: Index, shape: Shape) -> int:
    """Return the flat row-major position of an index.

    >>> flat((1, 2), (2, 3))
    5
    """
    position = 0
    for n, size in zip(index, shape, strict=True):
        position = position * size + n
    return position

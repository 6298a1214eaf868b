"""Subject of a check: a Program at a point, and torch's numbers there."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, SupportsFloat

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.language.program.expansion import rewritten
from gradcli.language.program.passes import for_enclosures, for_formulas
from gradcli.language.program.shapes import count_of, infer, shapes_in
from gradcli.language.program.torch_passes import RecordPasses
from gradcli.language.program.wengert import Atom, Builder, Line, Program, Shape
from gradcli.results import Array, BlockNames, Entry, Index, Mode, NumberKind, Position, by_name
from gradcli.results.verdicts import entry_of

if TYPE_CHECKING:
    from gradcli.reference.near_kinks import Critical

MOST_ELEMENTS = 2**21
"""Most elements of a line in a search for kinks: a tenth of a second a line, and 16 MiB an array."""

STEP = "step along u"
"""Name of t, the step along u: no name of the language has a space."""


@dataclass(frozen=True)
class FunctionAtPoint:
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
    ) -> FunctionAtPoint:
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

    @cached_property
    def shape(self) -> Shape:
        """Shape of y."""
        return self.shapes.get(self.program.output, ())

    @property
    def rows(self) -> int:
        """Number of elements of y."""
        return math.prod(self.shape)

    def shape_of(self, variable: str) -> Shape:
        """Return the shape of a variable."""
        return self._shapes_by_name[variable]

    @cached_property
    def _shapes_by_name(self) -> Mapping[str, Shape]:
        """Shapes of the variables by name, as each entry asks for them."""
        return {symbol.name: self.shapes[symbol] for symbol in self.program.variables}

    def directions(self, names: Collection[str]) -> list[tuple[sympy.Symbol, int]]:
        """List all elements of these variables, as directions of the reference."""
        chosen = [symbol for symbol in self.program.variables if str(symbol) in names]
        return [(symbol, j) for symbol in chosen for j in range(math.prod(self.shapes[symbol]))]

    def entry(self, variable: str | None, row: int | None, column: int, number: SupportsFloat) -> Entry:
        """Make an undecided entry of torch's number at flat positions; without a variable an element of y."""
        own = () if variable is None else self._shapes_by_name[variable]
        return entry_of(_position(variable, row, column, self.shape, own), float(number))


@lru_cache(maxsize=4096)
def _position(variable: str | None, row: int | None, column: int, shape: Shape, own: Shape) -> Position:
    """Name an entry by its flat positions in y and in the variable, of these shapes; without one an element of y."""
    y = None if row is None else unravel(row, shape)
    if variable is None:
        return Position("value", row=y)
    return Position("vjp" if row is None else "jacobian", variable, y, unravel(column, own))


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
class Numbers:
    """Torch's numbers that are judged together: y, and derivatives of it.

    Attributes:
        dtype: `float64` or `float32`.
        value: The output y; its elements are NaN where only its shape is known.
        derivatives: The arrays by kind, and by the variables of row and column, as quantities have them: J of shape
            y.shape + x.shape, vᵀJ and Hu of x's shape, Ju of y's shape.
        v: The gradient vector of vᵀJ, of y's shape.
        u: The direction of each variable that moves, of Ju and Hu.
        passes: The gradient vectors of several passes that were added up in vᵀJ, of which v is the sum.
        judges_value: True if the numbers of y are to be judged; else only the shape of y matters.
        mode: The mode of differentiation in which torch computed them, if not one backward pass for each v.
    """

    dtype: str
    value: Array
    derivatives: Mapping[NumberKind, Mapping[BlockNames, Array]] = field(default_factory=dict)
    v: Array | None = None
    u: Mapping[str, Array] = field(default_factory=dict)
    passes: Sequence[Array] = ()
    judges_value: bool = True
    mode: Mode | Literal[""] = ""

    @classmethod
    def of_first_order(
        cls,
        dtype: str,
        value: Array,
        jacobian: Mapping[str, Array] | None = None,
        v: Array | None = None,
        vjp: Mapping[str, Array] | None = None,
        *,
        passes: Sequence[Array] = (),
        judges_value: bool = True,
    ) -> Numbers:
        """Make the numbers of J and vᵀJ, of those that are given, by variable."""
        given: dict[NumberKind, Mapping[str, Array] | None] = {"vjp": vjp, "jacobian": jacobian}
        found = {kind: by_name(arrays) for kind, arrays in given.items() if arrays is not None}
        return cls(dtype, value, found, v, passes=passes, judges_value=judges_value)

    def without(self, kind: NumberKind) -> Numbers:
        """Leave out the derivatives of a kind."""
        return replace(self, derivatives={one: found for one, found in self.derivatives.items() if one != kind})

    @property
    def order(self) -> Literal[0, 1, 2]:
        """The order of the derivatives; 0 where there are none."""
        return 2 if {"hvp", "hessian"} & set(self.derivatives) else 1 if self.derivatives else 0

    @property
    def differentiation(self) -> Mode | Literal[""]:
        """The mode of differentiation: that of Ju, Hu and a Hessian is second order, unless it is another."""
        return self.mode or ("" if self.is_of_rows else "second order")

    @property
    def is_of_rows(self) -> bool:
        """Tell whether they are y, J or vᵀJ, which the judge of first order compares row by row."""
        return not {"jvp", "hvp", "hessian"} & set(self.derivatives)

    @property
    def rows(self) -> int:
        """Number of rows of the derivatives: one of vᵀJ."""
        return self.value.size if "jacobian" in self.derivatives else 1

    def block(self, name: str) -> Array:
        """Return J or vᵀJ by a variable, with the columns on the second axis."""
        is_matrix = "jacobian" in self.derivatives
        found = self.derivatives["jacobian" if is_matrix else "vjp"]["", name]
        return found.reshape(self.rows, math.prod(found.shape[self.value.ndim if is_matrix else 0 :]))


def nonzero_directions(u: Mapping[str, Array]) -> dict[tuple[sympy.Symbol, int], float]:
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
    return (position,) if len(shape) == 1 else _unraveled(position, shape)


@lru_cache(maxsize=4096)
def _unraveled(position: int, shape: Shape) -> Index:
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
    return index[0] if len(shape) == 1 else _flattened(index, shape)


@lru_cache(maxsize=4096)
def _flattened(index: Index, shape: Shape) -> int:
    position = 0
    for n, size in zip(index, shape, strict=True):
        position = position * size + n
    return position

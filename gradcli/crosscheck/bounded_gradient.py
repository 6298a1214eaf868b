"""Bounds of derivatives on whole arrays: the gradient Program of a function, evaluated like any other.

    vᵀJ    the gradient, for rows of weights v
    J @ u  the derivative of vᵀJ by v, along u

An adjoint is known where every operation it came through has a derivative for certain: no kink, no edge of a domain and
no tie within the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy

from gradcli.adjoint.gradient import GradientProgram, gradient
from gradcli.arrays import Array
from gradcli.crosscheck.known_slopes import simplified
from gradcli.language.program.wengert import Atom, Program, Shape, needed
from gradcli.reference.array_values import Values
from gradcli.reference.bounds import Bounds, NoRuleError, exact

MOST_ADJOINT_ELEMENTS = 2**25
"""Most elements of the largest line, times the rows of weights at once."""

_V = sympy.Symbol("v of y", real=True)
"""Weights of y; no name of the language has a space."""


@dataclass(frozen=True)
class GradientBounds:
    """Bounds of the derivatives of a function.

    Args:
        function: In operations that have a rule on whole arrays.
        shapes: Of its symbols.
        variables: To differentiate by.
        simplifies: Whether the gradient is evaluated so often that it is simplified by the values first.
    """

    function: Program
    shapes: Mapping[Atom, Shape]
    variables: Sequence[sympy.Symbol]
    simplifies: bool = False

    def weighted(self, values: Values, v: Array) -> dict[sympy.Symbol, Bounds]:
        """Bound vᵀJ by variable, of shape (rows, *x.shape).

        Args:
            values: Of the function.
            v: The weights, of shape (rows, *y.shape), exactly.

        Raises:
            NoRuleError: It is too much at once.
            NoAdjointError: An operation has no derivative that is a Program.
        """
        return dict(self._evaluated(values, self._gradient, {_V: v}))

    def along(self, values: Values, symbol: sympy.Symbol, u: Array) -> Bounds:
        """Bound J @ u, of shape (directions, *y.shape), for directions of a variable, of shape (directions, *x.shape).

        Raises:
            NoRuleError: It is too much at once.
            NoAdjointError: An operation has no derivative that is a Program.
        """
        ones = np.ones((1, *self.shapes.get(self.function.output, ())))
        ((_, found),) = self._evaluated(values, self._along(symbol), {_V: ones, _direction(symbol): u})
        return found

    def taken(self, along: Sequence[sympy.Symbol] = ()) -> set[Atom]:
        """List the values of the function that derivatives are computed from, and y: all that `Values` must keep.

        Args:
            along: The variables in whose directions J @ u is asked for.

        Raises:
            NoAdjointError: An operation has no derivative that is a Program.
        """
        own = {line.symbol for line in self.function.lines}
        found = {self.function.output, *self.function.variables}
        for program in (self._gradient, *map(self._along, along)):
            lines = [line for line in program.program.lines if line.symbol not in own]
            found.update(program.of.values(), *(line.call.operands for line in lines))
        return found

    @cached_property
    def _gradient(self) -> GradientProgram:
        output = self.function.output
        shapes = {**self.shapes, _V: self.shapes.get(output, ())}
        return gradient(
            self.function, shapes, self.variables, {output: _V}, masks=True, guards=True, keeps_defined=True
        )

    def _along(self, symbol: sympy.Symbol) -> GradientProgram:
        """Differentiate vᵀJ by v, along a direction of a variable."""
        if symbol not in self._second:
            self._second[symbol] = self._derived_along(symbol)
        return self._second[symbol]

    @cached_property
    def _second(self) -> dict[sympy.Symbol, GradientProgram]:
        """The derivatives of vᵀJ by v that were asked for."""
        return {}

    def _derived_along(self, symbol: sympy.Symbol) -> GradientProgram:
        first, u = self._gradient, _direction(symbol)
        seeds = {first.of[symbol]: u} if first.of[symbol].is_Symbol else {}
        shapes = {**first.shapes, u: self.shapes[symbol]}
        return gradient(first.program, shapes, [_V], seeds, masks=True, guards=True, keeps_defined=True)

    def _evaluated(
        self, values: Values, program: GradientProgram, mapped: Mapping[sympy.Symbol, Array]
    ) -> Iterator[tuple[sympy.Symbol, Bounds]]:
        """Yield the bounds of the adjoints of a Program, for rows of weights or directions."""
        rows = max(map(len, mapped.values()))
        if rows * max(map(math.prod, self.shapes.values()), default=1) > MOST_ADJOINT_ELEMENTS:
            raise NoRuleError
        numbers = {str(symbol): array for symbol, array in mapped.items()}
        known, program = self._without(values, program, list(mapped))
        found = known.extended(program.program, program.shapes, numbers, list(program.of.values()))
        for symbol, atom in program.of.items():
            shape = (rows, *program.shapes[symbol])
            yield symbol, exact(np.zeros(shape)) if atom == 0 else found.bounds_of(atom).spread(shape)

    def _without(
        self, values: Values, program: GradientProgram, mapped: Sequence[sympy.Symbol]
    ) -> tuple[Values, GradientProgram]:
        """Extend values by the lines of a Program that no weight or direction moves, once; and return the rest."""
        known = self._fixed.get(id(program))
        if known is None or known[0] is not values:
            lines = needed(
                [one for one in program.program.lines if one.symbol not in values.values], *program.of.values()
            )
            moved, ends = set[Atom](mapped), {*program.of.values()}
            for line in lines:
                if not moved.isdisjoint(line.call.operands):
                    moved.add(line.symbol)
                    ends.update(line.call.operands)
            still = [line.symbol for line in lines if line.symbol in ends - moved]
            found = values.extended(program.program, program.shapes, {}, still)
            own = simplified(program, found, mapped) if self.simplifies and program is self._gradient else program
            known = self._fixed[id(program)] = values, found, own
        return known[1], known[2]

    @cached_property
    def _fixed(self) -> dict[int, tuple[Values, Values, GradientProgram]]:
        """The values that a Program was last evaluated with, the same with lines that do not change, and the rest."""
        return {}


def _direction(symbol: sympy.Symbol) -> sympy.Symbol:
    """Return the variable of a Program that stands for a direction of another."""
    return sympy.Symbol(f"u of {symbol}", real=True)

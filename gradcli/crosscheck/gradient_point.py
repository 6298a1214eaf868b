"""The gradient of a y of one element as a function of its own, whose Jacobian is the Hessian.

It is the Program of the adjoints, nan where an operation has no derivative; its rows are the elements of the gradient.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import sympy

from gradcli.adjoint.gradient import gradient
from gradcli.adjoint.slopes import NoAdjointError
from gradcli.crosscheck.point import FunctionAtPoint, unravel
from gradcli.language.program.opaque import measured_slopes
from gradcli.language.program.shapes import shapes_in
from gradcli.reference.enclosure_pass import Direction
from gradcli.results import Index


@dataclass(frozen=True)
class GradientPoint:
    """The gradient of a function at a point.

    Attributes:
        function: The function, of one element, at its point.
        variables: The variables of the gradient, in the order of its rows.
        point: The gradient at the point, in all variables of the function.
    """

    function: FunctionAtPoint
    variables: tuple[sympy.Symbol, ...]
    point: FunctionAtPoint

    @classmethod
    def from_function(cls, function: FunctionAtPoint, wrt: Sequence[str]) -> GradientPoint:
        """Differentiate.

        Raises:
            NoAdjointError: An operation has no adjoint that is a Program.

        >>> import numpy as np
        >>> from gradcli.language.parsing import parse
        >>> program = parse("sum(x**3)")
        >>> shapes, inputs = {program.variables[0]: (2,)}, {"x": np.array([1.0, 2.0])}
        >>> found = GradientPoint.from_function(FunctionAtPoint.from_inputs(program, shapes, inputs), ["x"])
        >>> [line.call.op.name for line in found.point.program.lines], found.element(1)
        (['reshape', 'expand', 'pow', 'mul', 'mul'], ('x', (1,)))
        """
        program = function.program
        for _, measured in measured_slopes(program):
            raise NoAdjointError(f"the slopes of {measured.called} are measured, and second derivatives are not")
        variables = tuple(sympy.Symbol(name, real=True) for name in wrt)
        seeds = {program.output: sympy.S.One} if program.output.is_Symbol else {}
        found = gradient(program, function.shapes, variables, seeds, masks=True, guards=True)
        slopes = replace(found.function(*variables), variables=program.variables)
        shapes = shapes_in(slopes, {symbol: function.shapes[symbol] for symbol in program.variables})
        return cls(function, variables, FunctionAtPoint(slopes, slopes, shapes, function.inputs))

    @cached_property
    def _starts(self) -> dict[sympy.Symbol, int]:
        sizes = [math.prod(self.function.shapes[symbol]) for symbol in self.variables]
        return dict(zip(self.variables, itertools.accumulate(sizes, initial=0), strict=False))

    def direction(self, row: int) -> Direction:
        """Return the element of a variable that a row is the derivative by."""
        symbol = next(symbol for symbol in reversed(self.variables) if self._starts[symbol] <= row)
        return symbol, row - self._starts[symbol]

    def element(self, row: int) -> tuple[str, Index]:
        """Return the variable and the index of the element that a row is the derivative by."""
        if row not in self._elements:
            symbol, j = self.direction(row)
            self._elements[row] = str(symbol), unravel(j, self.function.shapes[symbol])
        return self._elements[row]

    @cached_property
    def _elements(self) -> dict[int, tuple[str, Index]]:
        """Elements that were asked for, as each row of a Hessian asks for its own many times."""
        return {}

    def row(self, direction: Direction) -> int:
        """Return the row of the derivative by an element."""
        symbol, j = direction
        return self._starts[symbol] + j

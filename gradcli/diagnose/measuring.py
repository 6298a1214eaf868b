"""How many bits a form of a function loses: torch's numbers beside the truth, at a point and around it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from gradcli.autodiff.jacobians import jacobian, value
from gradcli.autodiff.run import run
from gradcli.check.point import Point
from gradcli.errors import GradcliError
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program
from gradcli.reference.balls import precision
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.rules import Undefined
from gradcli.results import Array

DIGITS: Mapping[str, int] = {"float64": 53, "float32": 24}
"""Bits of a number of each dtype."""

BITS = (128, 512, 4_608)
"""Precisions of the truth, one after the other until it is known."""

KNOWN = 60
"""Relative bits of a truth that is known."""

MOST_NUMBERS = 64
"""Entries of y and of its Jacobian that are looked at together; of more, nothing is measured."""

STEPS = (1.0, 1 + 2.0**-10, 1 - 2.0**-8, 0.75, 1.5)
"""The point, and what its variables are multiplied by for points around it."""

AGREES = 23
"""Bits of float64 that may be lost by a number that agrees: what is left is the tolerance of a check."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Bits lost by each form's numbers.

    Attributes:
        here: The most that one number at the point loses.
        around: The most at each point around it.
    """

    here: float
    around: tuple[float, ...]

    def beyond(self, few: float) -> float:
        """Bits lost beyond a few at each point; that of the question counts as much as all around it."""
        around = [max(0.0, bits - few) for bits in self.around]
        return max(0.0, self.here - few) * max(1, len(around)) + math.fsum(around)


@dataclass(frozen=True)
class _Known:
    """A point with its true numbers: of y, and by variable of its Jacobian."""

    inputs: Mapping[str, Array]
    numbers: Sequence[float]


class Measure:
    """What forms of one function lose.

    Args:
        program: The function, which says what is true.
        inputs: Values of its variables.
        wrt: The variables that it is differentiated by.
        dtype: What torch computes in.
        steps: What the point is multiplied by; the first is the point itself.
    """

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Array],
        wrt: Sequence[str],
        dtype: str,
        steps: Sequence[float] = STEPS,
    ) -> None:
        self.wrt, self.dtype = tuple(wrt), dtype
        self.digits = DIGITS[dtype]
        self.points: list[_Known] = []
        self.has_point = False
        for n, step in enumerate(steps):
            with np.errstate(over="ignore", under="ignore"):
                moved = {name: (x * np.asarray(step, x.dtype)).astype(dtype) for name, x in inputs.items()}
            numbers = list(self._truth(program, moved))
            if numbers:
                self.points.append(_Known(moved, numbers))
                self.has_point = self.has_point or n == 0

    def of(self, program: Program) -> Loss | None:
        """What a form loses; None if it cannot be run, or the truth at the point is not known.

        Args:
            program: Of the same variables.
        """
        if not self.has_point:
            return None
        try:
            here, *around = (self._lost(program, point) for point in self.points)
        except GradcliError:
            return None
        return Loss(here, tuple(around))

    def agrees(self, loss: Loss) -> bool:
        """Whether every number at every point is as good as a check asks for."""
        return max(loss.here, *loss.around, 0.0) <= self.digits * AGREES / DIGITS["float64"]

    def _lost(self, program: Program, point: _Known) -> float:
        forward = run(program, {name: point.inputs[name] for name in program.names}, self.wrt, self.dtype)
        blocks = jacobian(forward, self.wrt)
        found = np.concatenate([np.ravel(value(forward)), *(np.ravel(blocks[name]) for name in self.wrt)])
        if found.size != len(point.numbers):
            return float(self.digits)
        return max(map(self._bits, found.tolist(), point.numbers), default=0.0)

    def _bits(self, number: float, truth: float) -> float:
        if number == truth:
            return 0.0
        if not math.isfinite(number):
            return self.digits + 1.0
        least = math.ulp(0.0) if self.dtype == "float64" else 2.0**-149
        error = abs(number - truth) / max(abs(truth), least) if abs(number - truth) > least else 0.0
        return min(max(0.0, math.log2(error) + self.digits), float(self.digits)) if error else 0.0

    def _truth(self, program: Program, inputs: Mapping[str, Array]) -> Iterator[float]:
        """The true numbers at a point; none if one is not known, or no number of the dtype."""
        shapes = {symbol: inputs[str(symbol)].shape for symbol in program.variables}
        try:
            point = Point.of(program, infer(program, shapes), inputs)
            columns = [(symbol, j) for symbol in program.variables if str(symbol) in self.wrt
                       for j in range(inputs[str(symbol)].size)]  # fmt: skip
            if point.rows * (len(columns) + 1) > MOST_NUMBERS:
                return
            plan = Reference(point.program, point.shapes, point.inputs).plan(columns)
            for bits in BITS:
                found = plan.run(bits)
                rows = range(point.rows)
                places = {direction: n for n, direction in enumerate(plan.directions)}
                numbers = [found.values.get(row, arb(0)) for row in rows]
                for name in self.wrt:
                    ours = [n for n, column in enumerate(columns) if str(column[0]) == name]
                    numbers += [found.columns.get((places[columns[n]], row), arb(0)) for row in rows for n in ours]
                if any(isinstance(number, Undefined) and number.decided for number in numbers):
                    return
                with precision(bits):
                    if all(isinstance(ball, arb) and _is_known(ball) for ball in numbers):
                        yield from (float(ball) for ball in numbers if isinstance(ball, arb))
                        return
        except (GradcliError, OverBudgetError):
            return


def _is_known(ball: arb) -> bool:
    return bool(ball.is_exact() or ball.rel_accuracy_bits() >= KNOWN)

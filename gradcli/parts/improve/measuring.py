"""Bits that a form of a function loses: torch's numbers next to the truth, at a point and around it, or at many."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass

import numpy as np
from flint import arb

from gradcli.autodiff.batched import Batch, block
from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.errors import GradcliError
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program
from gradcli.progress import SECONDS, budget_factor
from gradcli.reference.balls import Ball
from gradcli.reference.deadline import OverTimeError, part_limit
from gradcli.reference.dependencies import Flat, OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import Array

MEASURED_BITS = (128, 512, 4_608)
"""Precisions of the truth, one after the other until it is known."""

KNOWN = 60
"""Fewest relative bits of a truth that is known."""

MOST_NUMBERS = 64
"""Most entries of y and of its Jacobian that are measured; with more, nothing is."""

STEPS = (1.0, 1 + 2.0**-10, 1 - 2.0**-8, 0.75, 1.5)
"""Factors of the variables of a point: 1 for the point itself, the others for points around it."""

AGREES = 23
"""Bits of float64 that may be lost by a number that agrees: the bits left are the tolerance of a check."""


ENOUGH = 4.0
"""Bits that may be lost without harm: of forms that lose no more than these, the shorter is better."""

SHARE = 0.5
"""Share of the time of a question that finding the truth at its points may take."""

SPREAD = 16
"""Stride between the points around the question's that are looked at first; the points next to them come after."""


@dataclass(frozen=True, slots=True)
class LostBits:
    """Bits lost by each form's numbers.

    Attributes:
        bits: The most that one number loses at each point.
        asked: The number of points of the question, which come first: each counts as much as all others together.
    """

    bits: tuple[float, ...]
    asked: int = 0

    @property
    def worst(self) -> float:
        """The most that one number at one point loses."""
        return max(self.bits, default=0.0)

    def gains_over(self, other: LostBits, least: float) -> bool:
        """Tell whether less is lost at a point that counts: at one of the question's, or of a range at any.

        >>> LostBits((9.0, 3.0), asked=1).gains_over(LostBits((9.0, 40.0), asked=1), 1.0)
        False
        >>> LostBits((9.0, 3.0)).gains_over(LostBits((9.0, 40.0)), 1.0)
        True
        """
        count = self.asked or len(self.bits)
        pairs = zip(self.bits[:count], other.bits[:count], strict=True)
        return any(theirs - ours > least for ours, theirs in pairs)

    def beyond(self, few: float) -> float:
        """Sum the bits lost beyond a few over the points.

        >>> LostBits((10.0, 3.0, 6.0), asked=1).beyond(4.0), LostBits((10.0, 3.0, 6.0)).beyond(4.0)
        (14.0, 8.0)
        """
        beyond = [max(0.0, bits - few) for bits in self.bits]
        asked, around = beyond[: self.asked], beyond[self.asked :]
        return math.fsum(asked) * max(1, len(around)) + math.fsum(around)


_Known = tuple[Mapping[str, Array], Array]
"""A point with its true numbers: of y, then of its Jacobian by each variable."""


def around(
    inputs: Mapping[str, Array],
    dtype: str,
    steps: Sequence[float] = STEPS,
    still: Collection[str] = (),
) -> list[Mapping[str, Array]]:
    """List a point and others around it.

    Args:
        inputs: Values of its variables.
        dtype: The dtype that torch computes in.
        steps: The factors of the point; the first gives the point itself.
        still: Names of variables that stay what they are.

    >>> [float(point["x"]) for point in around({"x": np.array(2.0)}, "float64", (1.0, 1.5))]
    [2.0, 3.0]
    """
    with np.errstate(over="ignore", under="ignore"):
        moved = (
            {name: x if name in still else x * np.asarray(step, x.dtype) for name, x in inputs.items()}
            for step in steps
        )
        return [{name: x.astype(dtype) for name, x in point.items()} for point in moved]


class Measure:
    """Measure of the bits that forms of one function lose.

    Args:
        program: The function, which defines the truth.
        points: Values of its variables, of one shape at all points.
        wrt: The variables that it is differentiated by.
        dtype: The dtype that torch computes in.
        asked: The number of points of the question, which come first; 0 where all points count alike.
        enough: Bits that a form may lose at each point for a search to end with it; by default as for a check.

    Attributes:
        places: The positions of the points whose truth is known: these are measured, in their order.
        untried: The number of points that there was no time to look at.
        asked: The number of measured points that are points of the question.
    """

    def __init__(
        self,
        program: Program,
        points: Sequence[Mapping[str, Array]],
        wrt: Sequence[str],
        dtype: str,
        *,
        asked: int = 1,
        enough: float | None = None,
    ) -> None:
        self.wrt, self.dtype = tuple(wrt), dtype
        self.digits = np.finfo(dtype).nmant + 1
        self.agreeing = AGREES * self.digits / (np.finfo(np.float64).nmant + 1)
        self.enough = self.agreeing if enough is None else enough
        known: dict[int, _Known] = {}
        order = sorted(range(len(points)), key=lambda n: (n >= asked, (n - asked) % SPREAD if n >= asked else 0, n))
        self.untried = len(points)
        with suppress(OverTimeError), part_limit(SHARE * SECONDS * budget_factor()):
            for n in order:
                numbers = self._truth(program, points[n])
                self.untried -= 1
                if numbers is not None:
                    known[n] = points[n], numbers
        self.places = sorted(known)
        self._points = [known[n] for n in self.places]
        self.asked = sum(place < asked for place in self.places)
        self.has_point = bool(self.asked if asked else self._points)

    @property
    def points(self) -> Sequence[Mapping[str, Array]]:
        """The points that are measured."""
        return [inputs for inputs, _ in self._points]

    def part(self, places: Sequence[int]) -> Measure:
        """Return the measure at some of the measured points, all of which count alike."""
        other = copy(self)
        other._points = [self._points[n] for n in places]
        other.places = [self.places[n] for n in places]
        other.asked, other.has_point = 0, bool(places)
        return other

    def lost_bits(self, program: Program) -> LostBits | None:
        """Measure the bits that a form loses; None if it cannot be run, or the truth at the point is not known.

        Args:
            program: A Program of the same variables.
        """
        if not self.has_point:
            return None
        try:
            return LostBits(tuple(self._lost(program)), self.asked)
        except GradcliError:
            return None

    def agrees(self, loss: LostBits) -> bool:
        """Tell whether every number is as good as asked; at points around the question's, as good as for a check."""
        around = max(self.enough, self.agreeing) if loss.asked else self.enough
        asked, others = LostBits(loss.bits[: loss.asked]), LostBits(loss.bits[loss.asked :])
        return asked.worst <= self.enough and others.worst <= around

    def _lost(self, program: Program) -> list[float]:
        """Compute the bits lost at each point, with all points run at once."""
        count = len(self._points)
        columns = {name: np.stack([inputs[name] for inputs in self.points]) for name in program.names}
        shapes = {name: array.shape[1:] for name, array in columns.items()}
        shape = infer(program, {symbol: shapes[str(symbol)] for symbol in program.variables}).get(program.output, ())
        sizes = [(), *(shapes[name] for name in self.wrt)]
        arrays = [np.empty((count, *shape, *size), self.dtype) for size in sizes]
        block(Batch(program, columns, tuple(columns), self.wrt, self.dtype, count, shape), arrays)
        found = np.concatenate([array.reshape(count, -1) for array in arrays], axis=1)
        lost: list[float] = self._bits(found, np.stack([numbers for _, numbers in self._points])).tolist()
        return lost

    def _bits(self, numbers: Array, truths: Array) -> Array:
        """Compute the most bits that one number of each row loses."""
        if numbers.shape != truths.shape:
            return np.full(len(truths), float(self.digits))
        least = float(np.finfo(self.dtype).smallest_normal)  # errors of smaller numbers are relative to this
        with np.errstate(all="ignore"):
            error = np.abs(numbers - truths) / np.maximum(np.abs(truths), least)
            bits = np.clip(np.log2(error) + self.digits, 0.0, float(self.digits))
        bits = np.where(np.isfinite(numbers) & ~np.isnan(bits), bits, self.digits + 1.0)
        found: Array = np.where(numbers == truths, 0.0, bits).max(axis=1, initial=0.0)
        return found

    def _truth(self, program: Program, inputs: Mapping[str, Array]) -> Array | None:
        """Compute the true numbers at a point; None if one is not known, or there are too many."""
        columns = [(x, j) for x in program.variables if str(x) in self.wrt for j in range(inputs[str(x)].size)]
        try:
            point = point_of(program, inputs)
            if point.rows * (len(columns) + 1) > MOST_NUMBERS:
                return None
            found = enclosed(point, columns, np.arange(point.rows), _is_known)
        except (GradcliError, OverBudgetError):
            return None
        known = [float(one) for one in found if not isinstance(one, Undefined) and _is_known(one)]
        if len(known) < point.rows * (len(columns) + 1):
            return None
        value, *slopes = np.reshape(known, (1 + len(columns), point.rows))
        own = ([s for (x, _), s in zip(columns, slopes, strict=True) if str(x) == name] for name in self.wrt)
        return np.concatenate([value, *(np.ravel(part, "F") for part in own)])


def point_of(program: Program, inputs: Mapping[str, Array]) -> FunctionAtPoint:
    """Make the point of a Program at these values of its variables.

    Raises:
        GradcliError: Their shapes do not go together.
    """
    shapes = {symbol: inputs[str(symbol)].shape for symbol in program.variables}
    return FunctionAtPoint.from_inputs(program, infer(program, shapes), inputs)


def enclosed(
    point: FunctionAtPoint, columns: Sequence[Direction], rows: Flat, is_known: Callable[[Ball], bool]
) -> Sequence[Outcome]:
    """Enclose elements of y, unless they are too many, then their derivatives column by column.

    Args:
        point: The function at a point.
        columns: The directions that y is differentiated by.
        rows: The positions of the elements.
        is_known: Tells whether a number is known well enough, without more bits.

    Raises:
        OverBudgetError: They are too many.
    """
    plan = Reference(point.program, point.shapes, point.inputs).plan(columns, rows)
    found: list[Outcome] = []
    for bits in MEASURED_BITS:
        run, every = plan.run(bits), rows.tolist()
        found = [run.values.get(row, arb(0)) for row in every] if plan.judges_value else []
        found += [run.columns.get(one, {}).get(row, arb(0)) for one in columns for row in every]
        if all(one.decided if isinstance(one, Undefined) else is_known(one) for one in found):
            break
    return found


def _is_known(ball: Ball) -> bool:
    return bool(ball.is_exact() or ball.rel_accuracy_bits() >= KNOWN)

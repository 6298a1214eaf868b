"""A question whose values move along a line or in a plane: torch's numbers there, places, and a range that shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gradcli.crosscheck.curves import PlottedFunction
from gradcli.questions.bound_function import BoundFunction, rounded
from gradcli.reference.bounds import Mask
from gradcli.reference.deadline import OverTimeError
from gradcli.reference.singular_places import MovingProgram, SingularRange, singular_places
from gradcli.results import Array

LIVE_POINTS = 201
"""Points at which a function of Python is called to find its branches."""

USUAL, FAR = 5.0, (10.0, 1e3, 1e6)
"""The range of a function without kinks, poles and zeros; ranges in which they are looked for, until y exists."""

MOST_FEATURES = 5
"""Most kinks, poles and zeros, those next to 0, that a range is chosen to show."""


@dataclass(frozen=True)
class MovingFunction:
    """A question whose values move along a line, or in the plane of two variables.

    Attributes:
        bound: The function at some values.
        start: The values that move, where the parameters are 0.
        directions: A direction by variable for each parameter.
        name: The name of the parameter of a line.
        order: The highest derivative.
    """

    bound: BoundFunction
    start: Mapping[str, npt.NDArray[np.float64]]
    directions: Sequence[Mapping[str, Array]]
    name: str
    order: int = 1

    @classmethod
    def over(cls, bound: BoundFunction, names: Sequence[str], order: int = 1) -> MovingFunction:
        """Move one or two numbers, each of which is its parameter."""
        directions = [{name: np.ones(())} for name in names]
        return cls(bound, dict.fromkeys(names, np.zeros(())), directions, names[0], order)

    @property
    def moving(self) -> MovingProgram:
        """The Program and its values in the form that the reference reads."""
        point = self.bound.point
        return MovingProgram(point.program, point.shapes, {**point.inputs, **self.start}, self.directions)

    def inputs_at(self, parameters: Array) -> dict[str, Array]:
        """Return the values that move, as the dtype has them."""
        moved = self.moving.inputs_at(parameters)
        return {name: rounded(array, self.bound.dtype) for name, array in moved.items()}

    def evaluate(self, parameters: Array, *, is_recorded: bool = False) -> Array:
        """Ask torch for y and its derivatives; of a function of Python, run it, or the Program recorded from it."""
        from gradcli.autodiff.batched import along

        batch, moved = self.bound.batch(tuple(self.start)), self.inputs_at(parameters)
        live = None if is_recorded else batch.live
        batch = replace(batch, inputs={**batch.inputs, **moved}, points=parameters.shape[-1], live=live)
        return along(batch, self.directions, self.order)

    @property
    def subject(self) -> PlottedFunction:
        """The readings of the function."""
        is_fixed = self.bound.recording is None
        return PlottedFunction(self.moving, self.evaluate, self.bound.dtype, is_fixed, self.order)

    def places(self, low: float, high: float) -> list[SingularRange]:
        """List the places where there may be no derivative; a function of Python is recorded again where it branches.

        From where its numbers are others than those of its recording, another branch is taken.
        """
        found = singular_places(self.moving, low, high)
        if self.bound.recording is None:
            return found

        def is_other(parameter: Array) -> Mask:
            both = self.evaluate(parameter)[0], self.evaluate(parameter, is_recorded=True)[0]
            same: Mask = np.isclose(*both, rtol=1e-6, atol=0, equal_nan=True).all(axis=1)
            return ~same

        grid = np.linspace(low, high, LIVE_POINTS)
        others = np.flatnonzero(is_other(grid))
        if not len(others) or others[0] == 0:
            return found
        before, after = grid[others[0] - 1], grid[others[0]]
        while (middle := (before + after) / 2) not in (before, after):
            before, after = (before, middle) if is_other(np.array([middle]))[0] else (middle, after)
        at = {name: array[0] for name, array in self.inputs_at(np.array([after])).items()}
        rest = replace(self, bound=self.bound.with_values(at)).places(after, high)
        return [*(one for one in found if one.high < before), SingularRange(before, after), *rest]

    def shown_range(self) -> tuple[float, float]:
        """Choose a range that shows the function: its kinks, poles and zeros next to 0, else the usual one."""
        count = 1_001 if self.bound.recording is None else LIVE_POINTS
        for far in FAR:
            grid = np.linspace(-far, far, count)
            y = self.evaluate(grid)[0]
            if np.isfinite(y).any():
                break
        with np.errstate(invalid="ignore"):
            crossed = (np.sign(y[:-1]) * np.sign(y[1:]) <= 0) & (abs(y[:-1]) > 0)
        zeros, places = grid[1:][crossed.any(axis=1)], list[SingularRange]()
        with suppress(OverTimeError):  # what is marked is looked for again
            places = self.places(-far, far)
        found = sorted([*zeros, *(place.low for place in places)], key=abs)[:MOST_FEATURES]
        if not found:
            return (-USUAL, USUAL) if far == FAR[0] else (-far, far)
        low, high = min(found), max(found)
        low, high = (min(low, 0.0), max(high, 0.0)) if abs(found[0]) <= high - low else (low, high)
        rest = max((high - low) / 4, USUAL / 5, abs(low) / 8)
        step = 10.0 ** math.floor(math.log10(high - low + 2 * rest)) / 2
        return math.floor((low - rest) / step) * step, math.ceil((high + rest) / step) * step

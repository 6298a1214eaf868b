"""One-sided slopes of a function along random directions, to compare with torch's product: does the function agree?

A recording may miss what a function does, and then formula and enclosure are those of another function.  The function
itself cannot: it is called at x ± h·u and at x ± 2h·u, along two random directions u.  The slope of each number of y on
each side is extrapolated from its two differences, whose distance bounds the error.  Where the slopes contradict torch
or each other, two more calls, as near to x as rounding allows, tell a kink at x from one next to it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcli.errors import GradcliError
from gradcli.parts.running.measured_slopes import SEED, is_constant, one_sided, random_direction
from gradcli.progress import budget_factor
from gradcli.results import Array

DIRECTIONS = 2
"""Random directions, each with two calls of the function on either side."""

STEP = 4.0
"""Length of the first step, in units of the square root of the machine epsilon: both errors of a slope, of rounding and
of the curvature, are then of one size."""

LONGEST_STEP = 0.05
"""Longest first step, relative to x, in low precision."""

ROUNDINGS = 4
"""Roundings of its largest number that a value of the function is off by."""

MARGIN = 32
"""Ratio of what contradicts to the noise at the shortest step."""

NEAREST = 64
"""Length of the shortest step in roundings of x: the elements of x then move by u to a hundredth."""

RELATIVE = 1e-7
"""Largest relative error of a slope that is not seen in the difference of its two estimates."""

CONFIRMED = 0.25
"""Largest relative change of what contradicts, at the shortest step, with which it is still there."""

FINEST = 0.02
"""Coarsest error, relative to the terms of the product, of a slope that may confirm torch's."""

SMALL = 1e-3
"""Largest effect of an element on y, relative to the largest one, that others may hide by their curvature."""

SMALL_STEPS = 16
"""The same in units of the first step, which is longer in low precision."""

MOST_CALLS_AROUND = 10
"""Most calls of a function next to its point: four along each direction, and two from near by."""

CALLING_SECONDS = 20.0
"""Seconds after which a function that takes long is called no more."""

LARGEST = float(np.finfo(np.float64).max)
"""Largest finite number."""

Side = Literal[-1, 1]

ContradictionKind = Literal["jump", "kink", "slope"]
"""Kind of a contradiction: y jumps, the sides differ, or both have one slope that is not torch's."""


@dataclass(frozen=True)
class KnownDerivative:
    """Derivative that torch computed, of each number of y or of their sum with weights.

    Attributes:
        blocks: Derivatives by variable, of shape (numbers of y, elements of x), or of one row for a weighted sum;
            empty if nothing is known, and only the sides are compared.
        weights: The weight of each number of y in the sum; None for each number by itself.
    """

    blocks: Mapping[str, Array]
    weights: Array | None = None

    def along(self, moved: Mapping[str, Array], rows: int) -> Array:
        """Multiply by a displacement: one number for each number of y, or one for their sum; NaN if it is unknown."""
        if not self.blocks:
            return np.full(rows if self.weights is None else 1, np.nan)
        return np.asarray(sum(block @ moved[name].ravel() for name, block in self.blocks.items()), np.float64)

    def terms(self, moved: Mapping[str, Array], rows: int) -> Array:
        """Sum the magnitudes of the terms of the product with a displacement."""
        sizes = {name: np.abs(block) for name, block in self.blocks.items()}
        return KnownDerivative(sizes, self.weights).along({n: np.abs(one) for n, one in moved.items()}, rows)

    def of_values(self, values: Array) -> Array:
        """Take the numbers that the derivative is of out of the values of y."""
        return values if self.weights is None else np.atleast_1d(self.weights @ values)

    def noise(self, sizes: Array) -> Array:
        """Combine the errors of the numbers of y, which are independent in a sum."""
        return sizes if self.weights is None else np.atleast_1d(np.linalg.norm(self.weights * sizes))


class Slopes(NamedTuple):
    """Slopes of numbers on both sides of a point, along one direction, for a step of length 1.

    Attributes:
        left: The slope before the point.
        right: The slope after it.
        left_error: Estimated error of the slope before the point.
        right_error: Estimated error of the slope after it.
        product: Torch's derivative times the direction; NaN where it is not known.
        terms: The sum of the magnitudes of the terms of this product.
    """

    left: Array
    right: Array
    left_error: Array
    right_error: Array
    product: Array
    terms: Array

    def agrees(self) -> NDArray[np.bool_]:
        """Tell for which numbers both sides have torch's slope, within the error of each."""
        is_left = np.abs(self.left - self.product) <= self.left_error
        return is_left & (np.abs(self.right - self.product) <= self.right_error)

    def error(self) -> Array:
        """Return the error of the worse side."""
        return np.maximum(self.left_error, self.right_error)


@dataclass(frozen=True)
class Contradiction:
    """Numbers of a function that contradict torch, or each other, next to a point.

    Attributes:
        kind: `jump` of the value, `kink` where the sides differ, `slope` where both have one that is not torch's.
        row: Flat position of the number of y; None of a sum of them with random weights.
        left: The slope before the point; of a jump the change of the value there, beyond torch's slope; NaN where the
            function has no value.
        right: The same after it.
        product: Torch's slope, NaN if none is known.
        u: The direction.
        within: The length of the shortest step with which it was seen, relative to u: it may be so far from the point.
        is_near: Whether this is no more than the usual first step, so that it counts as at the point.
    """

    kind: ContradictionKind
    row: int | None
    left: float
    right: float
    product: float
    u: Mapping[str, Array]
    within: float = 0.0
    is_near: bool = True


@dataclass
class Direction:
    """Values of a function along one direction, by the signed number of steps; NaN where it has none.

    Attributes:
        u: The direction.
        step: The length of a step.
        values: The values.
        moved: The displacements, as they are rounded.
        nearest: The number of steps to the point from which what contradicts is looked at.
    """

    u: Mapping[str, Array]
    step: float
    values: dict[float, Array] = field(default_factory=dict)
    moved: dict[float, Mapping[str, Array]] = field(default_factory=dict)
    nearest: float | None = None


class MovedFunction:
    """A function at a point, and its values next to it.

    Args:
        values: Calls the function where the variables have other numbers; gives its values, flat.
        here: The numbers of the variables that move.
        value: The values at the point, flat.
        digits: The machine epsilon of what computes them.
        largest: The largest number that each value is a sum of, and so is rounded with.
        rounding: Estimates the rounding error of the sum of the values with some weights; it is asked where something
            contradicts.
        effects: How much each element of the variables moves y by torch's derivative, relative to the rounding of y;
            NaN for one that counts as small.  The second direction moves the small ones alone, if there are any.
        together: Sets up what several calls share.

    Attributes:
        is_complete: Whether the function was called at all points next to this one: it may take too long.
    """

    def __init__(
        self,
        values: Callable[[Mapping[str, Array]], Array],
        here: Mapping[str, Array],
        value: Array,
        digits: float,
        largest: Array | float = 0.0,
        rounding: Callable[[Array], float] | None = None,
        effects: Mapping[str, Array] | None = None,
        together: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
    ) -> None:
        self.values, self.here, self.value, self.digits = values, here, value.astype(np.float64), digits
        self.sizes = np.maximum(np.abs(self.value), largest)
        self.rounding, self.effects, self.together = rounding, effects or {}, together
        self.step = min(LONGEST_STEP, STEP * digits**0.5)
        self.is_complete = True
        self._calls, self._seconds = 0, 0.0

    @cached_property
    def directions(self) -> list[Direction]:
        """The directions, with the values of the function along each."""
        generator = np.random.default_rng(SEED)
        found = [Direction(self._direction(generator), self.step) for _ in range(DIRECTIONS)]
        if self._small:
            found[-1] = self._of_small(found[-1])
        with self.together():
            for direction in found:
                for steps in (1.0, -1.0, 2.0, -2.0):
                    self._call(direction, steps)
        return found

    @cached_property
    def is_seen(self) -> bool:
        """True if the function has a value at some point next to this one: it may fail at each."""
        return any(np.isfinite(value).any() for one in self.directions for value in one.values.values())

    def points(self) -> Iterator[Mapping[str, Array]]:
        """Yield the points next to this one at which the function was called."""
        for direction in self.directions:
            for moved in direction.moved.values():
                yield {name: (x + moved[name]).astype(x.dtype) for name, x in self.here.items()}

    def _direction(self, generator: np.random.Generator) -> dict[str, Array]:
        """Draw a direction; the only element moves to the right."""
        is_only = sum(x.size for x in self.here.values()) == 1
        return {name: random_direction(x, generator, is_only=is_only) for name, x in self.here.items()}

    @cached_property
    def _small(self) -> Mapping[str, NDArray[np.bool_]]:
        """The elements whose effect on y others may hide; empty if there are none."""
        largest = max((float(np.nan_to_num(one).max(initial=0.0)) for one in self.effects.values()), default=0.0)
        limit = max(SMALL, SMALL_STEPS * self.step)
        found = {name: np.isnan(one) | ((one > 0) & (one <= limit * largest)) for name, one in self.effects.items()}
        return found if largest > 0 and any(one.any() for one in found.values()) else {}

    def _of_small(self, direction: Direction) -> Direction:
        """Restrict a direction to small elements, with a step by which they move y beyond its rounding."""
        u = {name: np.where(self._small[name], one, 0.0) for name, one in direction.u.items()}
        largest, most_of_small = 0.0, 0.0
        for name, one in self.effects.items():
            known = np.nan_to_num(one)
            largest = max(largest, float(known.max(initial=0.0)))
            most_of_small = max(most_of_small, float(known[self._small[name]].max(initial=0.0)))
        step = self.step * (largest / most_of_small) ** 0.5 if most_of_small else LONGEST_STEP
        return Direction(u, min(LONGEST_STEP, step))

    def _call(self, direction: Direction, steps: float) -> Array:
        """Call the function so many steps away; NaN where it fails or gives another number of values."""
        if steps not in direction.values:
            length, u = steps * direction.step, direction.u
            x = {name: (one + length * u[name]).astype(one.dtype, copy=False) for name, one in self.here.items()}
            direction.moved[steps] = {
                name: one.astype(np.float64, copy=False) - self.here[name] for name, one in x.items()
            }
            began, found = time.monotonic(), np.empty(0)
            if self._calls < MOST_CALLS_AROUND and self._seconds < CALLING_SECONDS * budget_factor():
                self._calls += 1
                with contextlib.suppress(GradcliError):  # it may fail there
                    found = self.values(x).astype(np.float64, copy=False)
            elif self._calls < MOST_CALLS_AROUND:
                self.is_complete = False
            self._seconds += time.monotonic() - began
            is_same = found.shape == self.value.shape
            direction.values[steps] = found if is_same else np.full(self.value.shape, np.nan)
        return direction.values[steps]

    # -- slopes

    def slopes(self, known: KnownDerivative, errors: Array | float = 0.0) -> list[Slopes]:
        """Find the slopes on both sides along each direction.

        Args:
            known: Torch's derivative.
            errors: Errors of the values that are known, beyond those of rounding.
        """
        return [self._slopes(direction, known, errors) for direction in self.directions]

    def _slopes(self, direction: Direction, known: KnownDerivative, errors: Array | float) -> Slopes:
        left, left_error = self._one_sided(direction, known, errors, -1)
        right, right_error = self._one_sided(direction, known, errors, 1)
        with np.errstate(all="ignore"):
            moved = direction.moved[1.0]
            product, terms = (
                one / direction.step
                for one in (known.along(moved, self.value.size), known.terms(moved, self.value.size))
            )
            # The gradient of a number that is 0 and stays so may be the rounding of others.
            is_still = (left == 0) & (right == 0) & (known.of_values(self.value) == 0)
            sizes = np.where(is_still, np.nanmax(terms, initial=0.0), terms)
            rounded = 2 * self.digits / direction.step * sizes
        return Slopes(left, right, left_error + rounded, right_error + rounded, product, terms)

    def _one_sided(
        self, direction: Direction, known: KnownDerivative, errors: Array | float, side: Side
    ) -> tuple[Array, Array]:
        """Extrapolate the slope on one side from two differences; give its error too."""
        with np.errstate(all="ignore"):
            once, twice = (self._change(direction, known, n * side) for n in (1, 2))
            noise = known.noise(ROUNDINGS * self.digits * self.sizes + 4 * np.asarray(errors))
            found = one_sided(once, twice, side * direction.step, noise)
            return found.slope, found.error + RELATIVE * np.abs(once / direction.step)

    def _change(self, direction: Direction, known: KnownDerivative, steps: float) -> Array:
        with np.errstate(all="ignore"):
            return known.of_values(self._call(direction, steps) - self.value)

    # -- contradictions

    def contradiction(self, known: KnownDerivative, errors: Array | float = 0.0) -> Contradiction | None:
        """Find what contradicts torch's derivative most; None if nothing does.

        Args:
            known: Torch's derivative.
            errors: Errors of the values that are known, beyond those of rounding.
        """
        for direction in self.directions:
            found = self._slopes(direction, known, errors)
            for kind, excess in self._suspicions(direction, known, found).items():
                if excess.max(initial=0.0) > 1:
                    one = self._suspect(direction, known, found, kind, int(excess.argmax()))
                    if self._is_there(direction, known, one):
                        within = (direction.nearest or 0.0) * direction.step
                        return replace(one, within=within, is_near=within <= self.step)
        return None

    def _suspicions(
        self, direction: Direction, known: KnownDerivative, found: Slopes
    ) -> dict[ContradictionKind, Array]:
        """Compare each kind of contradiction with its error, number by number; above 1 it may be there."""
        changes = {steps: self._change(direction, known, steps) for steps in (-2.0, -1.0, 1.0, 2.0)}
        with np.errstate(all="ignore"):
            slope = self._slope_of(found)
            noise = known.noise(ROUNDINGS * self.digits * self.sizes) + RELATIVE * np.abs(slope) * direction.step
            jumps = []
            for side in (-1.0, 1.0):
                once, twice = (changes[n * side] - n * side * direction.step * slope for n in (1, 2))
                jumps.append(np.where(is_constant(once, twice), np.abs(once), 0.0))
            left, right = np.abs(found.left - found.product), np.abs(found.right - found.product)
            suspicions: dict[ContradictionKind, Array] = {
                "jump": np.fmax(*jumps) / (8 * noise),
                "kink": np.abs(found.right - found.left) / (found.left_error + found.right_error),
                "slope": np.fmin(left / found.left_error, right / found.right_error),
            }
        return {
            kind: np.where(np.isnan(excess), 0.0, np.minimum(excess, LARGEST)) for kind, excess in suspicions.items()
        }

    @staticmethod
    def _slope_of(found: Slopes) -> Array:
        """Return torch's slope, which is no part of a jump; 0 where it is not known."""
        return np.where(np.isfinite(found.product), found.product, 0.0)

    def _suspect(
        self, direction: Direction, known: KnownDerivative, found: Slopes, kind: ContradictionKind, number: int
    ) -> Contradiction:
        """Describe what may contradict torch's derivative of a number."""
        row = number if known.weights is None or self.value.size == 1 else None
        left, right, product = (float(one[number]) for one in (found.left, found.right, found.product))
        if kind == "jump":
            slope = float(self._slope_of(found)[number]) * direction.step
            left, right = (float(self._change(direction, known, n)[number]) - n * slope for n in (-1.0, 1.0))
        return Contradiction(kind, row, left, right, product, direction.u)

    def _is_there(self, direction: Direction, known: KnownDerivative, suspect: Contradiction) -> bool:
        """Look as near to the point as rounding allows, where what contradicts must still be there."""
        number = suspect.row if suspect.row is not None and known.weights is None else 0
        left, right, product = suspect.left, suspect.right, suspect.product
        gap = {
            "jump": float(np.fmax(abs(left), abs(right))) / direction.step,
            "kink": abs(right - left),
            "slope": float(np.fmin(abs(left - product), abs(right - product))),
        }[suspect.kind]
        if direction.nearest is None:
            shortest = max(NEAREST * self.digits, MARGIN * ROUNDINGS * self._noise(known, number) / gap)
            direction.nearest = min(shortest / direction.step, CONFIRMED)
        nearest = direction.nearest
        before, after = (float(self._change(direction, known, side * nearest)[number]) for side in (-1.0, 1.0))
        if suspect.kind == "jump":
            slope = nearest * direction.step * (product if np.isfinite(product) else 0.0)
            is_left = not abs(left) <= abs(right) and np.isfinite(left)
            near, far = (before + slope, left) if is_left else (after - slope, right)
            is_more = abs(far) > MARGIN * self._noise(known, number)
            return bool(is_more and abs(near - far) <= CONFIRMED * abs(far))
        left_slope, right_slope = -before / (nearest * direction.step), after / (nearest * direction.step)
        if suspect.kind == "kink":
            return bool(abs((right_slope - left_slope) - (right - left)) <= CONFIRMED * gap)
        return bool(np.fmax(abs(left_slope - left), abs(right_slope - right)) <= CONFIRMED * gap)

    def _noise(self, known: KnownDerivative, row: int) -> float:
        """Estimate the rounding error of a number."""
        noise = float(known.noise(self.digits * self.sizes)[row])
        if self.rounding is None:
            return noise
        weights = np.eye(1, self.value.size, row)[0] if known.weights is None else known.weights
        return max(noise, self.rounding(weights))

    # -- agreement

    def resolves(self, known: KnownDerivative, effects: Sequence[Array | float] | None = None) -> bool:
        """Tell whether the function has torch's slope on both sides, and a change of the derivative would be seen.

        Args:
            known: Torch's derivative.
            effects: By direction, how much the slopes would differ, for each number of y; None for a difference of a
                part of an average term.
        """
        count, is_seen = sum(x.size for x in self.here.values()), False
        for n, found in enumerate(self.slopes(known)):
            sizes = np.maximum(found.terms, known.noise(self.sizes))
            least = min(FINEST, 1 / (8 * max(1, count))) * sizes + 16 * self.step
            room = least if effects is None else np.abs(np.asarray(effects[n])) / 4
            counts = np.ones(found.left.shape, bool) if effects is None else room > 0
            if not np.where(counts, found.agrees() & (found.error() <= room), True).all():
                return False
            is_seen |= bool(counts.any())
        return is_seen

    @property
    def hidden(self) -> str:
        """The variable of a small element by which y moves less, by torch's derivative, than its rounding shows."""
        for name, small in (self._small or {}).items():
            moves = self.effects[name][small] * self.directions[-1].step
            if ((moves > 0) & (moves < MARGIN * self.digits)).any():
                return name
        return ""

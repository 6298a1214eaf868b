"""Derivatives of a gradient along a direction, from either side, where operations have no derivative or no value.

Series of the gradient on rays into the point say what it tends to and how it moves.  On a ray along which an operation
stays at a kink, the gradient exists if the slopes of the function on both sides of the ray are the same all along it.
They are seen on two curves next to the ray, on which the element that the slope is by moves by +-t**`NEXT_TO` besides:
terms that vanish on the ray have exponents with the denominator of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from gradcli.crosscheck.compare import Case
from gradcli.crosscheck.limits import Limit
from gradcli.crosscheck.singular import RAYS_ROOM, RaySeries, may_jump
from gradcli.reference.balls import Ball, exists, is_nothing, precision
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.directional_series import CurveOfElement, Element, Rays
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Plan, Reference
from gradcli.reference.rules import Undefined
from gradcli.reference.series import Absent, Nan, Power, Series, exact

NEXT_TO = Fraction(9887, 1009)
"""Exponent of the distance from a ray, about 9.8: no exponent of t itself has a denominator that this prime divides."""

LEAST_REST: Power = (6, 0)
"""Power up to which two series must be the same, to count as the same."""


@dataclass(frozen=True)
class GradientSide:
    """A gradient next to the point on one side of a direction.

    Attributes:
        limit: What a row tends to.
        slope: Its derivative along the direction, also where it tends to another number than at the point.
    """

    limit: Limit
    slope: Limit


UNKNOWN = GradientSide(Limit("unknown"), Limit("unknown"))


class GradientSides:
    """Rows of a gradient on both sides of directions.

    Args:
        case: The gradient at the point.
        function: The function.
        moved_by: Gives the elements of the inputs of the function that a direction moves, with their weights.
        plan: The directions, those that the rows are derivatives by, and the rows.
        bits: The precision of the series.
    """

    def __init__(
        self,
        case: Case,
        function: Reference,
        moved_by: Callable[[Direction], Mapping[Direction, float]],
        plan: Plan,
        bits: int,
    ) -> None:
        self.series, self.function, self.moved_by, self.bits = (
            RaySeries(case, plan, bits),
            function,
            moved_by,
            bits,
        )
        self._known: dict[tuple[Direction, ...], Rays | None] = {}

    def value(self, row: int) -> Ball | None:
        """Return the gradient at the point; None where an operation has no derivative."""
        found = self.series.at_point.values.get(row)
        return None if found is None or isinstance(found, Undefined) or not exists(found) else found

    def side(self, row: int, direction: Direction, sign: int, by: Direction) -> GradientSide:
        """Follow a row to one side.

        Args:
            row: The row.
            direction: The direction.
            sign: The side.
            by: The element that the row is the derivative by.
        """
        with precision(self.bits):
            element = self.series.along_input(direction, sign).get(row)
            if isinstance(element, Nan):
                element = self._by_function(row, direction, sign, by)
            if element is None:
                return UNKNOWN
            limit = Limit.from_element(element)
            slope = (
                Limit.of_slope(element).times(sign) if isinstance(element, Series) and limit.ball is not None else limit
            )
            return GradientSide(limit, slope)

    def slope(self, by: Direction) -> Ball | None:
        """Return the slope of the function by an element, on its right side; None if it has none or is not known."""
        rays = self._rays((by,))
        with precision(self.bits):
            series = rays.on({by: 1.0}).get(0) if rays else None
            return Limit.of_slope(series).ball if isinstance(series, Series) and series.is_bounded else None

    def leaves_domain(self, direction: Direction, by: Direction) -> bool:
        """Tell whether the function certainly has no value on one side."""
        return any(isinstance(side, Absent) for side, _ in self._function(direction, by))

    def is_of_point_alone(self, direction: Direction, by: Direction) -> bool:
        """Tell whether conditions or steps have other values on both sides than at the point."""
        sides = list(self._function(direction, by))
        return len(sides) == 2 and all(is_left for _, is_left in sides)

    def _function(self, direction: Direction, by: Direction) -> Iterator[tuple[Element | None, bool]]:
        """Follow the function to both sides: its series there, and whether a condition changes at once."""
        moving = self.moved_by(direction)
        if (rays := self._rays(tuple(dict.fromkeys((*moving, by))))) is not None:
            with precision(self.bits):
                for sign in (-1, 1):
                    found = rays.on({one: sign * u for one, u in moving.items()}).get(0)
                    yield found, bool(rays.left)

    # -- rays along which an operation stays at a kink

    def _by_function(self, row: int, direction: Direction, sign: int, by: Direction) -> Element | None:
        """Return the gradient on a ray along which an operation has no derivative, by the function next to it.

        `Absent` where the slopes on both sides of the ray certainly differ, or the function has no value.
        """
        moving = {one: weight * sign for one, weight in self.moved_by(direction).items()}
        if self.series.is_over or (rays := self._rays(tuple(dict.fromkeys((*moving, by))))) is None:
            return None
        left, on, right = (rays.on(moving, self._next_to(by, side)).get(0) for side in (-1, 0, 1))
        if any(isinstance(one, Absent) for one in (left, on, right)):
            return Absent()
        if moving.keys() == {by}:
            return _slope(on, moving[by]) if isinstance(on, Series) else None
        across = [_common(side, on) for side in (left, right)] if may_jump(self.function.program) else []
        if not all(isinstance(one, Series) for one in across):
            return next((one for one in across if isinstance(one, Absent)), None)
        if (rays_of_row := self._rays_of_row(row, direction, by)) is None:
            return None
        return _common(
            *(rays_of_row.on({direction: float(sign)}, self._next_to(by, side)).get(row) for side in (-1, 1))
        )

    def _rays_of_row(self, row: int, direction: Direction, by: Direction) -> Rays | None:
        """Return the rays of one row of the gradient, along a direction and next to it."""
        reference = self.series.case.reference
        try:
            plan = reference.admitting(reference.budget * RAYS_ROOM).plan([direction, by], np.array([row]))
        except OverBudgetError:
            return None
        return Rays(plan, self.bits)

    def _next_to(self, by: Direction, side: int) -> CurveOfElement | None:
        return CurveOfElement(by, float(side), NEXT_TO) if side else None

    def _rays(self, directions: tuple[Direction, ...]) -> Rays | None:
        if directions not in self._known:
            try:
                plan = self.function.admitting(self.function.budget * RAYS_ROOM).plan(directions, np.array([0]))
                self._known[directions] = Rays(plan, self.bits)
            except OverBudgetError:
                self._known[directions] = None
        return self._known[directions]


def _common(a: Element | None, b: Element | None) -> Element | None:
    """Return the common series on a ray of two series next to it; `Absent` where they differ, None if not known."""
    if not isinstance(a, Series) or not isinstance(b, Series):
        missing = b if isinstance(a, Series) else a
        return missing if isinstance(missing, Absent) and not isinstance(missing, Nan) else None
    first, second = (dict(_on_ray(one)) for one in (a, b))
    rest = min((one.rest for one in (a, b) if one.rest is not None), default=None)
    for power in sorted({*first, *second}):
        if rest is not None and power >= rest:
            break
        distance = first.get(power, arb(0)) - second.get(power, arb(0))
        if not distance.contains(0):
            return Absent()
        if not (distance == 0 or is_nothing(distance)):
            return None
    if rest is not None and rest < LEAST_REST:
        return None
    return Series(tuple(sorted(first.items())), rest, is_continuous=False)


def _on_ray(series: Series) -> list[tuple[Power, Ball]]:
    """Leave out the terms that vanish on the ray."""
    return [(power, c) for power, c in series.terms if power[0].denominator % NEXT_TO.denominator]


def _slope(series: Series, weight: float) -> Series | None:
    """Return the derivative of a series by an element that moves by weight*t; None where it has logarithms."""
    moving = [(power, c) for power, c in series.terms if power[0] != 0]
    if any(m for (_, m), _ in moving) or (series.rest is not None and series.rest[1]):
        return None
    terms = tuple(((e - 1, 0), c * exact(e) / arb(weight)) for (e, _), c in moving)
    return Series(terms, None if series.rest is None else (series.rest[0] - 1, 0), is_continuous=False)

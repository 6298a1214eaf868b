"""Series of a function on rays and curves into a point: its rows, and their slopes, weighted as an entry has them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from flint import arb

from gradcli.crosscheck.compare import Case, Singular
from gradcli.crosscheck.limits import Limit
from gradcli.crosscheck.sample import SEED
from gradcli.language.program.wengert import Atom
from gradcli.reference.balls import Ball
from gradcli.reference.directional_series import CurveOfElement, Element, Rays
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Plan
from gradcli.reference.rules import Undefined
from gradcli.reference.series import Series, Undecided

MORE_LINES, SPREAD = 8, 8
"""Lines beside the first three, on which steps are 2**-SPREAD to 2**SPREAD: a kink may lie in a narrow cone."""

MOST_MEMBERS = 100_000
"""Most members of the operations on all rays, which take some twenty microseconds each."""

_Curve = tuple[tuple[tuple[Direction, float], ...], CurveOfElement | None]


@dataclass
class SeriesOnRays:
    """Series of the function of a plan on rays into the point, for the entries of the plan.

    Attributes:
        case: The function, with the weights of its rows.
        plan: The inputs that move, and the rows.
        bits: The precision.
    """

    case: Case
    plan: Plan
    bits: int

    def __post_init__(self) -> None:
        self._seen: dict[tuple[int | None, int | None, int], Mapping[int, Element]] = {}
        self._left: dict[int, dict[int, frozenset[tuple[Atom, int]]]] = {}
        self._left_on_lines: dict[tuple[int, int], frozenset[tuple[Atom, int]]] = {}
        self._on_curves: dict[
            tuple[tuple[tuple[Direction, float], ...], CurveOfElement | None], Mapping[int, Element]
        ] = {}
        self._followed: dict[tuple[int, int], Mapping[Atom, Mapping[int, Element]]] = {}
        self.rays = Rays(self.plan, self.bits)
        self.at_point = self.plan.run(self.bits)
        self.groups = self._independent()
        self.group_of = {d: n for n, group in enumerate(self.groups) for d in group}
        generator = np.random.default_rng(SEED)
        count = len(self.plan.directions)
        drawn = (1 + generator.integers(1, 64, (2, count)) / 64) * generator.choice([-1.0, 1.0], (2, count))
        drawn = np.stack([*drawn, drawn[0] + 2 * drawn[1]])  # which is never 0, as they are between 1 and 2
        sizes = np.exp2(np.round(generator.uniform(-SPREAD, SPREAD, (MORE_LINES, count)), 3))
        drawn = np.concatenate([drawn, sizes * generator.choice([-1.0, 1.0], sizes.shape)])
        self.generic_directions = [dict(zip(self.plan.directions, weights.tolist(), strict=True)) for weights in drawn]

    def _independent(self) -> list[tuple[Direction, ...]]:
        """Group directions so that no row of y depends on two of a group: one ray serves the whole group."""
        groups: list[tuple[list[Direction], set[int]]] = []
        for direction in self.plan.directions:
            rows = set(self.at_point.columns.get(direction, {}))
            members, taken = next((group for group in groups if not group[1] & rows), ([], set()))
            if not members:
                groups.append((members, taken))
            members.append(direction)
            taken |= rows
        return [tuple(members) for members, _ in groups]

    @property
    def is_over(self) -> bool:
        """Tell whether the rays so far took all the work that is admitted."""
        return self.rays.work > MOST_MEMBERS

    def _ray(self, n: int | None, group: int | None, sign: int) -> Mapping[int, Element]:
        """Return the rows of y while all inputs move along direction n and a group is reversed, if there is one.

        Without a direction the group moves alone.  There are none once the work is too much.
        """
        if (n, group, sign) not in self._seen:
            own = () if group is None else self.groups[group]
            moving = dict.fromkeys(own, float(sign))
            if n is not None:
                others = {d: weight * sign for d, weight in self.generic_directions[n].items()}
                moving = others | {d: -others[d] for d in own}
            if n is None and len(moving) == 1 < len(self.plan.directions):
                self._seen[n, group, sign] = {} if self.is_over else self.rays.along(next(iter(moving)), sign)
            else:
                self._seen[n, group, sign] = {} if self.is_over else self.rays.on(moving)
            if n is None and group is not None and not self.is_over:
                self._left.setdefault(group, {})[sign] = self.rays.left
                self._followed[group, sign] = self.rays.known
            if n is not None and group is None and not self.is_over:
                self._left_on_lines[n, sign] = self.rays.left
        return self._seen[n, group, sign]

    def along_input(self, direction: Direction, sign: int) -> Mapping[int, Element]:
        """Return the rows of y while one input moves to one side; empty where the work is too much."""
        return self._ray(None, self.group_of[direction], sign)

    def followed(self, direction: Direction, sign: int) -> Mapping[Atom, Mapping[int, Element]]:
        """Return the elements of all lines while one input moves to one side; empty where the work is too much."""
        self.along_input(direction, sign)
        return self._followed.get((self.group_of[direction], sign), {})

    def along(self, n: int, sign: int, flipped: Direction | None = None) -> Mapping[int, Element]:
        """Return the rows of y while all inputs move, one perhaps reversed; empty where the work is too much."""
        if flipped is not None and len(self.groups) == 1:
            return self.along(n, -sign)
        return self._ray(n, None if flipped is None else self.group_of[flipped], sign)

    def curve(self, moving: Mapping[Direction, float], near: CurveOfElement | None) -> Mapping[int, Element]:
        """Return the rows of y while inputs move by multiples of t, and one perhaps by a power of it besides."""
        key = tuple(moving.items()), near
        if key not in self._on_curves:
            self._on_curves[key] = {} if self.is_over else self.rays.on(moving, near)
        return self._on_curves[key]

    def slopes_along(self, one: Singular) -> list[Limit]:
        """Return the slopes along a direction, its reverse, another, and the first plus twice the other."""
        return [self.slope(one, self.along(*chosen)) for chosen in ((0, 1), (0, -1), (1, 1), (2, 1))]

    def partial(self, one: Singular, direction: Direction, n: int, sign: int) -> Limit:
        """Return half the difference of the slopes along a line and with one input reversed, over its weight."""
        limits = [self.slope(one, self.along(n, sign, flipped)) for flipped in (None, direction)]
        first, second = limits
        if first.ball is None or second.ball is None:
            return first if first.ball is None else second
        return Limit("finite", (first.ball - second.ball) / (2 * sign * arb(self.generic_directions[n][direction])))

    def slope(self, one: Singular, elements: Mapping[int, Element]) -> Limit:
        """Return the slope along a ray of the rows of an entry, weighted and summed up."""
        total = self.total(one, elements)
        return Limit.of_slope(total) if isinstance(total, Series) else Limit.from_element(total)

    def total(self, one: Singular, elements: Mapping[int, Element]) -> Element:
        """Sum up the rows of an entry along a ray, weighted; the first that has no series, if there is one."""
        total = Series(())
        for row in one.rows:
            element, weight = elements.get(row, Undecided()), self.case.weight(one.entry, row)
            if not isinstance(element, Series) or not math.isfinite(weight):
                return Undecided() if isinstance(element, Series) else element
            total += element.scaled(arb(weight))
        return total

    def tangent(self, one: Singular, direction: Direction) -> Ball | None:
        """Return the derivative of the rows of an entry by an input, weighted; None where one has none."""
        total, column = arb(0), self.at_point.columns.get(direction, {})
        for row in one.rows:
            outcome = column.get(row, arb(0))
            if isinstance(outcome, Undefined):
                return None
            total += outcome * self.case.weight(one.entry, row)
        return total

    def moving(self, rows: Collection[int]) -> list[Direction]:
        """List the inputs that move one of these rows."""
        return [d for d in self.plan.directions if any(row in self.at_point.columns.get(d, ()) for row in rows)]

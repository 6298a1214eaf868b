"""Lines and curves into a point, on which limits and slopes of a function of several inputs are compared.

A function may have the same limit on all lines, and another along a parabola; it may have the slopes that its partial
derivatives add up to on most lines, and others in a narrow cone.  What differs on two paths has no limit, or no
derivative.  What is the same on all of them may have one: that is no proof.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from flint import arb

from gradcli.crosscheck.compare import Singular, noun
from gradcli.crosscheck.limits import Limit
from gradcli.crosscheck.ray_series import SeriesOnRays
from gradcli.reference.balls import Ball
from gradcli.reference.directional_series import CurveOfElement, Element
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.series import Power, Series, Undecided

MOST_INPUTS = 4
"""Most inputs of which each moves along curves of its own; of more these first ones do."""

EXPONENTS = tuple(map(Fraction, ("2", "3", "3/2", "4", "5/2")))
"""Powers of t by which one input moves, where the others move along a line."""

BENDS = (Fraction(2), Fraction(3))
"""Powers of t by which one input leaves a line on which all move by equal steps."""

MOST_PARTIALS = 64
"""Most inputs that move along more than a few lines in general position."""

LARGER = Fraction(887, 1009)
"""Power of t by which an input moves that is infinitely larger than the others: no product of it is one of t itself."""

_FIRST: Power = (Fraction(1), 0)


class PathToPoint(NamedTuple):
    """A line, or a curve on which one input moves by a power of t besides.

    Attributes:
        words: How the inputs move.
        moving: The inputs that move by a multiple of t.
        near: The input that moves by a power of t besides.
    """

    words: str
    moving: Mapping[Direction, float]
    near: CurveOfElement | None = None


class PathsToPoint:
    """Paths into the point of rays, for one entry.

    Args:
        series: The series on rays.
        one: The entry.
        rows: The rows of y that it is about.
    """

    def __init__(self, series: SeriesOnRays, one: Singular, rows: Sequence[int]) -> None:
        self.series, self.one, self.rows = series, one, rows
        self.directions = series.moving(rows)
        self.lines, self.curves = 2, 0

    @property
    def _is_of_several(self) -> bool:
        return len(self.directions) > 1

    @cached_property
    def _paths(self) -> Sequence[PathToPoint]:
        """The paths besides the lines in general position; none where one input moves, as there are only two sides."""
        return [*self._straight(), *self._bent()] if self._is_of_several else []

    def _straight(self) -> Iterator[PathToPoint]:
        """Move each input alone, and all by equal steps."""
        for direction in self.directions[:MOST_INPUTS]:
            yield PathToPoint(f"where {direction[0]} moves alone", {direction: 1.0})
        for moving in self._equal_steps():
            yield PathToPoint("where all inputs move by equal steps", moving)

    def _bent(self) -> Iterator[PathToPoint]:
        generic = {d: self.series.generic_directions[0][d] for d in self.directions}
        for direction in self.directions[:MOST_INPUTS]:
            others = {d: weight for d, weight in generic.items() if d != direction}
            for exponent in EXPONENTS:
                words = f"where {direction[0]} moves by t^{exponent} while the others move by t"
                yield PathToPoint(words, others, CurveOfElement(direction, generic[direction], exponent))
        for moving in self._equal_steps():
            last = self.directions[-1]
            for exponent in BENDS:
                words = f"where all inputs move by t, or by -t, and {last[0]} by t^{exponent} besides"
                yield PathToPoint(words, moving, CurveOfElement(last, 1.0, exponent))

    def _equal_steps(self) -> Iterator[Mapping[Direction, float]]:
        """Move all inputs by t or by -t, the first by t: all signs of few inputs, two choices of more."""
        count = len(self.directions)
        signs = itertools.product((1.0, -1.0), repeat=min(count, MOST_INPUTS - 1) - 1)
        for some in signs if count < MOST_INPUTS else ((1.0,), (-1.0,)):
            yield dict(zip(self.directions, itertools.cycle((1.0, *some)), strict=False))

    def _on(self, path: PathToPoint) -> Mapping[int, Element]:
        return self.series.curve(path.moving, path.near)

    def without_limit(self, limits: Sequence[Limit]) -> str:
        """Say why y has no limit, though it has one on lines in general position; empty where no reason is found.

        Args:
            limits: The limit of each row on these lines.
        """
        for path in self._paths:
            elements = self._on(path)
            found = [Limit.from_element(elements.get(row, Undecided())) for row in self.rows]
            kind = "a curve" if path.near else "a line"
            if any(one.kind == "infinite" for one in found):
                return f"it grows without bound along {kind}: {path.words}"
            if any(one.kind == "finite" and not one.meets(own) for one, own in zip(found, limits, strict=True)):
                return f"no limit: along lines it tends to one number, along {kind} to another, as {path.words}"
            if all(one.kind == "finite" for one in found):
                self.lines, self.curves = self.lines + (not path.near), self.curves + bool(path.near)
        return ""

    def without_slope(self, partials: Mapping[Direction, Ball]) -> str:
        """Say why y has no derivative, though slopes on lines in general position are linear; empty without a reason.

        Args:
            partials: The derivatives by the inputs that move.
        """
        for path in self._paths:
            total = self.series.total(self.one, self._on(path))
            if not isinstance(total, Series) or not total.is_bounded:
                continue
            slope = Limit.of_slope(total)
            linear = sum((arb(weight) * partials[d] for d, weight in path.moving.items()), arb(0))
            if slope.kind == "infinite":
                return f"its slope grows without bound {path.words}"
            if slope.ball is not None and not slope.ball.overlaps(linear):
                return f"its slope has no limit: it is another one {path.words}"
        return ""

    def found(self) -> str:
        """Say what was found: one input has a limit; of several all paths have the same one, which is no proof."""
        word = noun(self.one.entry)
        if not self._is_of_several:
            return f"the limit of the {word} exists"
        return f"the {word} has the same limit along {self.lines} lines and {self.curves} curves, which is no proof"

    def limit_partials(self) -> Mapping[Direction, Ball] | None:
        """Return what the slopes by each input tend to on one line; None of many inputs, and where one is not known."""
        if not self._is_of_several or len(self.directions) > MOST_INPUTS:
            return None
        found = {d: self.series.partial(self.one, d, 0, 1).ball for d in self.directions}
        known = {d: ball for d, ball in found.items() if ball is not None}
        return known if len(known) == len(found) else None


def differs_from_partials(series: SeriesOnRays, one: Singular) -> bool:
    """Tell whether a function with partial derivatives certainly has no derivative: another slope on some path."""
    rows = sorted(one.rows)
    paths = PathsToPoint(series, one, rows)
    if len(paths.directions) < 2:
        return False
    partials: dict[Direction, Ball] = {}
    for direction in paths.directions:
        known = series.tangent(one, direction)
        if known is None:
            below, above = (series.slope(one, series.along_input(direction, sign)).times(sign) for sign in (-1, 1))
            if below.ball is None or above.ball is None:
                return False
            if not below.meets(above):
                return True
            known = above.ball
        partials[direction] = known
    is_small = len(paths.directions) <= MOST_PARTIALS
    for n, weights in enumerate(series.generic_directions if is_small else series.generic_directions[:2]):
        linear = sum((arb(weights[d]) * partial for d, partial in partials.items()), arb(0))
        slopes = [series.slope(one, series.along(n, sign)).times(sign) for sign in (1, -1)]
        if any(slope.ball is not None and not slope.ball.overlaps(linear) for slope in slopes):
            return True
    return is_small and (_differs_in_a_cone(series, one, partials) or bool(paths.without_slope(partials)))


def _differs_in_a_cone(series: SeriesOnRays, one: Singular, partials: Mapping[Direction, Ball]) -> bool:
    """Tell whether slopes differ where one input moves infinitely further than the others."""
    weights = series.generic_directions[0]
    for direction in list(partials)[:MOST_INPUTS]:
        for sign, turned in itertools.product((1, -1), repeat=2):
            others = {d: sign * weights[d] for d in partials if d != direction}
            own = sign * turned * weights[direction]
            total = series.total(one, series.curve(others, CurveOfElement(direction, own, LARGER)))
            if not isinstance(total, Series) or (total.rest is not None and total.rest <= _FIRST):
                continue
            linear = sum((arb(weight) * partials[d] for d, weight in others.items()), arb(0))
            terms = dict(total.terms)
            for power, expected in (((LARGER, 0), arb(own) * partials[direction]), (_FIRST, linear)):
                if not terms.get(power, arb(0)).overlaps(expected):
                    return True
    return False

"""Points where a claim may fail: where branches may meet, simple numbers, then seeded random ones, of the given shapes.

Where the function or the claim has no value, or the function a kink, a point tells nothing and does not count.

Branches meet at numbers that the texts name, at their quotients, and at 0: these places, a number in each gap between
them and powers of ten are put in for one variable after the other, and for all elements at random.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gradcli.crosscheck.confirming import BOXES
from gradcli.errors import GradcliError
from gradcli.language.program.expansion import expand
from gradcli.language.program.positions import position_names
from gradcli.language.program.wengert import Call, Shape
from gradcli.parts.claims.evaluation import ClaimComparison, InputArrays, Look
from gradcli.parts.claims.proof_boxes import ClaimBox
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import Array

SIMPLE = (0.0, 1.0, 2.0, -1.0, 0.5)
"""Numbers that are tried first, in all variables at once."""

RANGES = (*BOXES, (-3.0, 3.0), (0.1, 10.0))
"""Where random numbers are drawn from, in turn."""

FEWEST_SHORT = 12
"""Random points that are tried with short numbers first."""

POINTS = 100
"""Points at which a claim that is not proved is compared, next to the one that is given."""

FEWEST_RANDOM = 15
"""Points without a pattern, of these, at which a claim is compared before it may be proved."""

TRIES = 6
"""Tries for each point that counts, at most."""

MOST_NAMED = 8
"""Numbers of the texts that are tried, too, each with its neighbours."""

MOST_BREAKPOINTS = 250
"""Points at which one variable is where branches may meet, or between two such places."""

MOST_MIXED = 128
"""Points at which each element is at a place of its own."""

MOST_SINGULAR = 16
"""Points without a slope of an operation at which the check is asked whether the whole has one."""

DECADES = (1e-3, 1e-2, 1e-1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6)
"""Distances from 0 that are tried beside the numbers of the texts."""

MOST_WORK = 400_000
"""Ball operations of all tries together: one or two seconds."""

MOST_ANEW = 30
"""Points of a function that is read, or run, anew at each."""

FEWEST = 5
"""Points that are tried however long they take."""


class Compared(NamedTuple):
    """A claim next to the truth at random points.

    Attributes:
        points: How many of them say something.
        entries: The number of entries that are the same at all of them.
        is_refuted: Whether one is proved to differ.
    """

    points: int
    entries: int
    is_refuted: bool


class Search:
    """The search for a point at which one claim is false; variables that are fixed keep their values."""

    def __init__(
        self,
        comparison: ClaimComparison,
        given: InputArrays,
        seed: int,
        dtype: str,
        anew: Callable[[InputArrays], ClaimComparison | None] | None = None,
        fixed: InputArrays = MappingProxyType({}),
        points: int = POINTS,
        box: ClaimBox | None = None,
    ) -> None:
        self.most, self.fixed, function, self.box = points, fixed, comparison.subject.program, box
        if len(function.differentiable) < len(function.names):  # positions stay where they are
            self.fixed = {name: given[name] for name in position_names(function) if name in given} | {**fixed}
        self.comparison, self.given, self.seed, self.dtype, self.anew = comparison, given, seed, dtype, anew
        self.shapes: Mapping[str, Shape] = {name: array.shape for name, array in given.items()}
        self._counted = self._met = self._singular = 0
        self._hidden: Look | None = None

    def begin(self) -> tuple[int, Look | None]:
        """Compare where branches may meet, and at enough points for a claim that is then proved; as `run` does."""
        return self.run(min(self.most, len(self._simple()) + FEWEST_RANDOM))

    def run(self, points: int | None = None) -> tuple[int, Look | None]:
        """Compare from where it stopped on, until a point refutes visibly, enough count, or work or time is used up.

        Args:
            points: How many are to count in all, besides those where branches may meet; by default the most.

        Returns:
            The number of points that counted in all, and the first that refutes the claim.
        """
        points = self.most if points is None else points
        with suppress(OverTimeError), time_limit():
            while self._counted < points and (following := next(self._walk, None)) is not None:
                is_met, (inputs, v) = following
                look = self.look(inputs, v)
                if look is None:
                    continue
                if is_met and look.missing and self._singular < MOST_SINGULAR:
                    look, self._singular = self.comparison.with_limits(look), self._singular + 1
                if look.shows:
                    return self._counted + self._met + 1, look
                if self._hidden is None and look.worst is not None:
                    self._hidden = look
                self._met += bool(look.seen) and is_met
                self._counted += bool(look.seen) and not is_met
        return self._counted + self._met, self._hidden

    @cached_property
    def _walk(self) -> Iterator[tuple[bool, tuple[InputArrays, Array]]]:
        """All points that may be tried: first those where branches meet, which random ones never hit, each told."""
        most = max(FEWEST, MOST_WORK // self.comparison.work)
        met_most, most = min(most // 2, MOST_BREAKPOINTS + MOST_MIXED), min(most, TRIES * self.most)
        met_most, most = (met_most, most) if self.anew is None else (0, MOST_ANEW)
        tried, around = itertools.islice(self.breakpoints(), met_most), itertools.islice(self.points(), most)
        first = () if self.box is None else map(self._point, self.box.short)
        return ((is_met, at) for is_met, walk in ((False, first), (True, tried), (False, around)) for at in walk)

    def suspected(self) -> Look | None:
        """Compare at the points at which bounds refute the claim; the first that does so."""
        suspects = () if self.box is None else self.box.suspects()
        looks = (self.look(*self._point(at)) for at in suspects)
        return next((look for look in looks if look is not None and look.worst is not None), None)

    def anew_from_start(self) -> Search:
        """Return the same search from its beginning."""
        found = copy.copy(self)
        found.__dict__.pop("_walk", None)
        found._counted = found._met = found._singular = 0
        found._hidden = None
        return found

    def farthest(self, first: Look) -> Look:
        """Compare at all points, refuted or not; return the one, or the first, with the largest relative difference."""
        farthest, largest, counted = first, max(one.distance for one in first.seen if one.is_apart), 0
        with suppress(OverTimeError), time_limit():
            for is_met, point in self._walk:
                look = self.look(*point)
                if look is not None and (worst := look.worst) is not None and worst.distance > largest:
                    farthest, largest = look, worst.distance
                counted += look is not None and bool(look.seen) and not is_met
                if counted == self.most:
                    break
        return farthest

    def compared(self, points: int) -> Compared:
        """Compare at so many random points, or as many as there are within the work and the time."""
        counted = entries = tried = 0
        most = min(TRIES * points, MOST_WORK // self.comparison.work) if self.comparison.entries else 0
        with suppress(OverTimeError), time_limit():
            for inputs, v in itertools.islice(self.generic(), most):
                look = self.comparison.look(inputs, v)
                if look.worst is not None:
                    return Compared(counted, entries, is_refuted=True)
                counted, entries = counted + bool(look.seen), entries + len(look.seen)
                tried += 1
                if counted == points or (not counted and tried == FEWEST):  # as of the inverse of what has none
                    break
        return Compared(counted, entries, is_refuted=False)

    def look(self, inputs: InputArrays, v: Array) -> Look | None:
        """Compare the claim at a point; None where the function is read again, and has no value or derivative there."""
        if self.anew is None:
            return self.comparison.look(inputs, v)
        try:
            there = self.anew(inputs)
        except GradcliError:
            return None
        return None if there is None else there.look(inputs, v)

    def points(self) -> Iterator[tuple[InputArrays, Array]]:
        """Generate points: the same number everywhere, then numbers that count up, then random ones."""
        for number in self._simple() if self.box is None else ():
            yield self._point({name: np.full(shape, number) for name, shape in self.shapes.items()}, SIMPLE[1])
        for sign in (1, -1):
            yield self._point({n: sign**k * _counting(s) for k, (n, s) in enumerate(self.shapes.items())}, None)
        yield from self.generic()

    def _simple(self) -> tuple[float, ...]:
        """Simple numbers, and what is near to a number of the texts, or a simple multiple of it, with both signs."""
        near = (s * m for n in self._named for m in (n, n + 1, n - 1, 2 * n, n / 2) for s in (1, -1))
        return tuple(dict.fromkeys((*SIMPLE, *near)))

    def generic(self) -> Iterator[tuple[InputArrays, Array]]:
        """Draw random points: in turn from one box for all variables, from a box for each, and near the given point."""
        generator = np.random.default_rng(self.seed)
        for n in itertools.count():
            boxes = {name: RANGES[n // 3 % len(RANGES)] for name in self.shapes}
            if n % 3 == 1:
                # A box for each variable: some mistakes cancel where all variables are of one size or sign.
                boxes = {name: RANGES[int(generator.integers(len(RANGES)))] for name in self.shapes}
            drawn: dict[str, Array] = {x: generator.uniform(*boxes[x], shape) for x, shape in self.shapes.items()}
            if self.box is not None:
                drawn |= self.box.drawn(generator)
            elif n % 3 == 2:
                with np.errstate(over="ignore", invalid="ignore"):
                    drawn = {
                        x: at.astype(float) * generator.uniform(0.5, 1.5, at.shape) for x, at in self.given.items()
                    }
            elif n < FEWEST_SHORT or n % 2:
                # Sixteenths are exact in binary and short to read in a counterexample.
                drawn = {name: np.round(array * 16) / 16 for name, array in drawn.items()}
            yield self._point(drawn, None, generator)

    def breakpoints(self) -> Iterator[tuple[InputArrays, Array]]:
        """Generate points where branches of the function or the claim may meet, from the given point."""
        if not any(call.op.kinks or call.op.sense or call.op.is_extreme or call.op.is_step for call in self._calls):
            return
        given = {name: np.asarray(array, dtype=np.float64) for name, array in self.given.items()}
        for number in self._places[: MOST_BREAKPOINTS // max(1, len(self.shapes))]:
            for name, shape in self.shapes.items():
                if self.box is None or self.box.holds(name, number):
                    yield self._point({**given, name: np.full(shape, number)}, None)
        generator = np.random.default_rng(self.seed)
        for _ in range(MOST_MIXED):
            yield self._point({n: generator.choice(self._places, shape) for n, shape in self.shapes.items()}, None)

    @cached_property
    def _calls(self) -> list[Call]:
        """The operations of the claim if it is a formula, and of the function."""
        programs = (self.comparison.reading.program, self.comparison.subject.program)
        return [line.call for program in programs if program is not None for line in expand(program).lines]

    @cached_property
    def _places(self) -> list[float]:
        """Places where branches may meet, and a number in each gap between them; those near to a named number first."""
        named = {abs(n) for n in self._named} | {1.0}
        ends = {0.0, *named, *(m / n for m in named for n in named if n)}
        ends |= {-end for end in ends}
        gaps = {(a + b) / 2 for a, b in itertools.pairwise(sorted(ends))}
        far = {s * n for n in (*DECADES, 2 * max(ends)) for s in (1, -1)}
        found = sorted(ends | gaps | far, key=lambda n: (min(abs(abs(n) - m) for m in (0.0, *named)), abs(n)))
        return [n for n in found if math.isfinite(n)]

    @cached_property
    def _named(self) -> list[float]:
        """The first numbers that the function and the claim name, each once."""
        atoms = (float(a) for call in self._calls for a in call.operands if a.is_number and a.is_real)
        statics = (a for call in self._calls for a in call.statics if isinstance(a, float))
        return list(dict.fromkeys(n for n in (*atoms, *statics) if math.isfinite(n)))[:MOST_NAMED]

    def _point(
        self, inputs: Mapping[str, Array], weight: float | None = None, generator: np.random.Generator | None = None
    ) -> tuple[InputArrays, Array]:
        """Add the given v to inputs, or a random one if the claim is for every v."""
        v, shape = self.comparison.subject.weights, self.comparison.subject.y
        if self.comparison.reading.names_vector:
            v = _counting(shape) if weight is None else np.full(shape, weight)
            if generator is not None:
                v = np.round(generator.uniform(-2, 2, shape) * 16) / 16
        assumed = self.comparison.subject.assumed
        members = {name: assumed[name].member(one) if name in assumed else one for name, one in inputs.items()}
        with np.errstate(over="ignore"):
            rounded = {name: np.asarray(array).astype(self.dtype) for name, array in members.items()}
            if self.box is not None:
                rounded = {name: self.box.inside(name, one) for name, one in rounded.items()}
            return {**rounded, **self.fixed}, v.astype(self.dtype)


def _counting(shape: Shape) -> Array:
    return np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape)

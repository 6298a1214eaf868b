"""Points where a claim may fail: simple numbers first, then seeded random ones, all of the shapes that are given.

Where the function or the claim has no value, or the function a kink, a point tells nothing and does not count.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gradcli.check.confirming import BOXES
from gradcli.claims.breakpoints import Breakpoints, numbers_of
from gradcli.claims.evaluation import Comparison, Inputs, Look
from gradcli.claims.subject import VECTOR
from gradcli.language.program.wengert import Program, Shape
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import Array

SIMPLE = (0.0, 1.0, 2.0, -1.0, 0.5)
"""Numbers that are tried first, in all variables at once."""

RANGES = (*BOXES, (-3.0, 3.0), (0.1, 10.0))
"""Where random numbers are drawn from, in turn."""

GRIDS = (1.0, 0.5, 0.25, 0.125)
"""Steps of simple numbers, that random ones are rounded to if the claim still fails there."""

TRIES = 6
"""Tries for each point that counts, at most."""

MOST_NAMED = 8
"""Numbers of the texts that are tried, too, each with its neighbours."""

MOST_BREAKPOINTS = 200
"""Points where branches meet, and beside them."""

MOST_WORK = 400_000
"""Ball operations of all tries together: one or two seconds."""

FEWEST = 5
"""Points that are tried however long they take."""

MOST_SHRINKING = 40
"""Tries to make a counterexample simpler."""

Generic = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """What a search found: how many points counted, and the first that refutes."""

    points: int
    counterexample: Look | None


class Search:
    """The search for a point at which one claim is false."""

    def __init__(self, comparison: Comparison, given: Inputs, seed: int, dtype: str) -> None:
        self.comparison, self.given, self.seed, self.dtype = comparison, given, seed, dtype
        self.shapes: Mapping[str, Shape] = {name: array.shape for name, array in given.items()}
        self.free_vector = comparison.reading.names_vector
        self.weights = comparison.subject.weights

    def run(self, points: int, *, only: str = "") -> Found:
        """Look at points until one refutes that shows it, `points` of them count, or the work or the time is done.

        Args:
            points: How many.
            only: The one variable that is moved, if not all are.
        """
        counted = met = 0
        hidden: Look | None = None
        most = max(FEWEST, MOST_WORK // self.comparison.work)
        tried = itertools.islice(self.breakpoints(), min(most // 2, MOST_BREAKPOINTS))
        around = itertools.islice(self.points(), min(most, TRIES * points))
        with suppress(OverTimeError), time_limit():
            # First where branches meet: claims are wrong there most often, and random points never hit them.
            for is_met, (inputs, v) in itertools.chain(
                zip(itertools.repeat(1), tried), zip(itertools.repeat(0), around)
            ):
                look = self.comparison.look({**self.given, only: inputs[only]} if only else inputs, v)
                if look.shows:
                    return Found(counted + met + 1, self._simpler(look))
                hidden = look if hidden is None and look.worst is not None else hidden
                if look.seen and is_met:
                    met += 1
                elif look.seen:
                    counted += 1
                if counted >= points:
                    break
        return Found(counted + met, hidden)

    def points(self) -> Iterator[tuple[Inputs, Array]]:
        """The same number everywhere, then numbers that count up, then random ones."""
        for number in dict.fromkeys((*SIMPLE, *self._neighbours())):
            yield self._point({name: np.full(shape, number) for name, shape in self.shapes.items()}, SIMPLE[1])
        for sign in (1, -1):
            yield self._point({n: sign**k * _counting(s) for k, (n, s) in enumerate(self.shapes.items())}, None)
        yield from self.generic()

    def generic(self) -> Iterator[tuple[Inputs, Array]]:
        """Random points: one after the other from a box for all, from a box for each variable, or near the given."""
        generator = np.random.default_rng(self.seed)
        for n in itertools.count():
            boxes = {name: RANGES[n // 3 % len(RANGES)] for name in self.shapes}
            if n % 3 == 1:
                # A box for each variable: some mistakes cancel where all variables are of one size or sign.
                boxes = {name: RANGES[int(generator.integers(len(RANGES)))] for name in self.shapes}
            drawn = {name: generator.uniform(*boxes[name], shape) for name, shape in self.shapes.items()}
            if n % 3 == 2:
                drawn = {name: self._near(name, generator) for name in self.shapes}
            elif n % 2:
                # Sixteenths are exact in binary and short to read in a counterexample.
                drawn = {name: np.round(array * 16) / 16 for name, array in drawn.items()}
            yield self._point(drawn, None, generator)

    def breakpoints(self) -> Iterator[tuple[Inputs, Array]]:
        """Where branches of the function or the claim meet, from the point that is given."""
        for point in self._breakpoints.points(list(self.shapes)):
            inputs = {name: array for name, array in point.items() if name in self.shapes}
            yield self._point(inputs, None)

    @cached_property
    def _breakpoints(self) -> Breakpoints:
        comparison = self.comparison
        own = {str(VECTOR): self.weights} if comparison.subject.has_vector else {}
        given = {name: np.asarray(array, dtype=np.float64) for name, array in {**own, **self.given}.items()}
        return Breakpoints(self._programs, given, self._named, self.dtype)

    @property
    def _programs(self) -> list[Program]:
        """The Programs whose branches may meet: the function, and the claim if it is a formula."""
        programs = (self.comparison.subject.program, self.comparison.reading.program)
        return [program for program in programs if program is not None]

    @cached_property
    def _named(self) -> list[float]:
        """Numbers that the function and the claim name, where their branches may meet."""
        return numbers_of(self._programs)[:MOST_NAMED]

    def _neighbours(self) -> Iterator[float]:
        """These numbers with both signs, and what is near or a simple multiple."""
        for n in self._named:
            yield from (s * m for m in (n, n + 1, n - 1, 2 * n, n / 2) for s in (1, -1))

    def _near(self, name: str, generator: np.random.Generator) -> Generic:
        given = np.asarray(self.given[name], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            return given * generator.uniform(0.5, 1.5, given.shape)

    def _point(
        self, inputs: Mapping[str, Generic], weight: float | None, generator: np.random.Generator | None = None
    ) -> tuple[Inputs, Array]:
        """With the v that is given, or one of its own if the claim is for every v."""
        v = self.weights
        if self.free_vector:
            shape = self.comparison.subject.y
            v = _counting(shape) if weight is None else np.full(shape, weight)
            if generator is not None:
                v = np.round(generator.uniform(-2, 2, shape) * 16) / 16
        with np.errstate(over="ignore"):
            rounded = {name: np.asarray(array).astype(self.dtype) for name, array in inputs.items()}
            return rounded, v.astype(self.dtype)

    # -- simpler

    def _simpler(self, look: Look) -> Look:
        """The counterexample with simpler numbers: on a coarse grid, then element by element 0 or 1."""
        if all(_is_simple(array) for array in (*look.inputs.values(), look.v)):
            return look
        best = look
        for grid in GRIDS:
            inputs = {name: _on_grid(array, grid, self.dtype) for name, array in look.inputs.items()}
            v = _on_grid(look.v, grid, self.dtype) if self.free_vector else look.v
            tried = self.comparison.look(inputs, v)
            if tried.shows:
                best = tried
                break
        budget = min(MOST_SHRINKING, max(FEWEST, MOST_WORK // 2 // self.comparison.work))
        for name, position, number in itertools.islice(self._changes(best), budget):
            best = self._with(best, name, position, number) or best
        return best

    def _changes(self, look: Look) -> Iterator[tuple[str, int, float]]:
        for name, array in look.inputs.items():
            for position in range(array.size):
                for number in (0.0, 1.0):
                    yield name, position, number

    def _with(self, look: Look, name: str, position: int, number: float) -> Look | None:
        """The look with one element changed, if it still refutes and is simpler."""
        old = float(look.inputs[name].flat[position])
        if _cost(number) >= _cost(old):
            return None
        changed = look.inputs[name].copy()
        changed.flat[position] = number
        tried = self.comparison.look({**look.inputs, name: changed}, look.v)
        return tried if tried.shows else None


def _counting(shape: Shape) -> Generic:
    return np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape)


def _is_simple(array: Array) -> bool:
    return all(number in SIMPLE for number in np.unique(array).tolist())


def _on_grid(array: Array, grid: float, dtype: str) -> Array:
    return (np.round(np.asarray(array, dtype=np.float64) / grid) * grid + 0.0).astype(dtype)


def _cost(number: float) -> int:
    """How long a number is to write; 0 is the shortest."""
    return 0 if number == 0 else len(f"{number:g}")

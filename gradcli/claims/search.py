"""Points where a claim may fail: where branches meet, simple numbers, then seeded random ones, all of the given shapes.

Where the function or the claim has no value, or the function a kink, a point tells nothing and does not count.

What chooses a branch is a number that changes its sign there (`a - b` of a comparison, the operand of `abs`, the
distance from the largest element), or a step that changes its value (`floor`).  Along a line through a point these
numbers are taken in float64 on a wide grid; where one changes between two points of it, the place is found by bisection
down to neighbouring floats.  A place between two points of the grid that is passed twice, there and back, is not found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.claims.evaluation import Comparison, Inputs, Look
from gradcli.claims.subject import VECTOR
from gradcli.crosscheck.confirming import BOXES
from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.program import numeric
from gradcli.language.program.expansion import expand
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, needed
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import Array

GRID = tuple(m * 10.0**e for e in range(-3, 7) for m in (1.0, 3.0))
"""Distances from 0 on a line, on both sides, beside 0 itself and the numbers of the text."""

BESIDE = (2.0**-6, 2.0**-20)
"""How far beside a place is looked, relative to it, beyond the floats next to it."""

MOST_LINES = 8
"""Lines that are followed."""

MOST_ELEMENTS = 3
"""Elements of one variable that are moved alone."""

MOST_PLACES = 8
"""Places on one line."""

MOST_NUMBERS = 20_000_000
"""Elements of all operations, at all points of all lines together: about a second."""

MOST_MIXED = 48
"""Combinations of values for several variables."""

Numbers = npt.NDArray[np.float64]
Point = Mapping[str, Numbers]


@dataclass(frozen=True)
class _CoordinateLine:
    """A line through a point: one variable of it, or one element of that."""

    name: str
    position: int | None

    def at(self, point: Point, number: float) -> Point:
        """The point on the line where this has the value."""
        moved = np.array(point[self.name], dtype=np.float64)
        if self.position is None:
            moved[...] = number
        else:
            moved.flat[self.position] = number
        return {**point, self.name: moved}


@dataclass(frozen=True, eq=False)
class _State:
    """The numbers that choose, by their signs or, those that are steps, by their values."""

    numbers: Numbers
    is_step: npt.NDArray[np.bool_]


class Breakpoints:
    """Places where branches of some programs meet, for one choice of what stays.

    Args:
        programs: The function, and the claim.
        given: The point that lines go through; it has a value for every variable of either.
        numbers: That the programs name.
        dtype: Whose neighbouring numbers are taken.
    """

    def __init__(self, programs: Sequence[Program], given: Point, numbers: Sequence[float], dtype: str) -> None:
        self.given = given
        self.dtype = np.dtype(dtype)
        found = [(_choices(p, is_step=is_step), is_step) for is_step in (False, True) for p in programs]
        self.choices = [(choice, is_step) for choice, is_step in found if choice is not None]
        grid = {0.0, *(s * n for n in (*GRID, *map(abs, numbers)) for s in (1, -1))}
        self.grid = sorted(n for n in grid if math.isfinite(n))

    def points(self, names: Sequence[str]) -> Iterator[Point]:
        """Points between, beside and at the places on lines along these variables, and combinations of them."""
        if not self.choices or not self._is_affordable:
            return
        between: dict[str, list[float]] = {name: [] for name in names}
        for way in itertools.islice(self._ways(names), MOST_LINES):
            places = self._places(way)
            inside = _between(places)
            if way.position is None:
                between[way.name] += inside
            yield from (way.at(self.given, number) for number in (*inside, *self._at(places)))
        yield from self._mixed({name: numbers for name, numbers in between.items() if numbers})

    @property
    def _is_affordable(self) -> bool:
        sizes = sum(np.size(array) for array in self.given.values()) + 1
        lines = sum(len(choice.lines) for choice, _ in self.choices)
        return sizes * lines * len(self.grid) * MOST_LINES <= MOST_NUMBERS

    def _ways(self, names: Sequence[str]) -> Iterator[_CoordinateLine]:
        yield from (_CoordinateLine(name, None) for name in names)
        for n in range(MOST_ELEMENTS):
            for name in names:
                size = np.size(self.given[name])
                if np.ndim(self.given[name]) and n < min(size, MOST_ELEMENTS):
                    yield _CoordinateLine(name, (0, size - 1, size // 2)[n])

    def _mixed(self, between: Mapping[str, Sequence[float]]) -> Iterator[Point]:
        """Values of several variables at once."""
        if len(between) < 2:
            return
        combinations = list(itertools.islice(itertools.product(*between.values()), 100 * MOST_MIXED))
        for numbers in combinations[:: 1 + len(combinations) // MOST_MIXED]:
            point = self.given
            for name, number in zip(between, numbers, strict=True):
                point = _CoordinateLine(name, None).at(point, number)
            yield point

    # -- places on a line

    def _places(self, way: _CoordinateLine) -> list[float]:
        """Where a choice changes on a line, in order."""
        states = [self._state(way, t) for t in self.grid]
        found: set[float] = set()
        for (a, before), (b, behind) in itertools.pairwise(zip(self.grid, states, strict=True)):
            if before is None or behind is None:
                continue
            with np.errstate(invalid="ignore", over="ignore"):
                middle = np.where(before.is_step, (before.numbers + behind.numbers) / 2, 0.0)
                changed = np.flatnonzero(np.sign(before.numbers - middle) != np.sign(behind.numbers - middle))
            for n in changed[:: 1 + len(changed) // MOST_PLACES]:
                place = self._place(partial(self._number, way, int(n), float(middle[n])), (a, b))
                found |= set() if place is None else {place}
        return sorted(sorted(found, key=abs)[:MOST_PLACES])  # those nearest to 0: a function of steps has many

    def _number(self, way: _CoordinateLine, n: int, middle: float, t: float) -> float:
        """What makes one choice by its sign, at one point of a line."""
        state = self._state(way, t)
        with np.errstate(invalid="ignore"):  # beyond all numbers on both sides
            return math.nan if state is None else float(state.numbers[n] - middle)

    def _place(self, number: Callable[[float], float], ends: tuple[float, float]) -> float | None:
        """Where a number changes its sign between two points: a float where it is 0, or the last one before."""
        a, b = ends
        before = np.sign(number(a))
        if math.isnan(before) or math.isnan(number(b)):
            return None
        while a < (middle := _middle(a, b)) < b:
            here = number(middle)
            if math.isnan(here):
                return None
            a, b = (middle, b) if np.sign(here) == before else (a, middle)
        return b if number(b) == 0 else a

    def _at(self, places: Sequence[float]) -> Iterator[float]:
        """Each place, the floats next to it, and a little beside it."""
        for place in places:
            here = self.dtype.type(place)
            for share in BESIDE:
                step = share * max(abs(place), share)
                yield from (place + step, place - step)
            yield float(here)
            # Neighbours in the dtype of the check: those of float64 would round back to the place in float32.
            yield from (float(np.nextafter(here, self.dtype.type(end))) for end in (-np.inf, np.inf))

    def _state(self, way: _CoordinateLine, t: float) -> _State | None:
        """What chooses, at one point of a line; None where a value cannot be computed."""
        point = {sympy.Symbol(name, real=True): array for name, array in way.at(self.given, t).items()}
        try:
            found = [(np.ravel(numeric.run(choice, point)), is_step) for choice, is_step in self.choices]
        except GradcliError:
            return None
        numbers = np.concatenate([numbers for numbers, _ in found])
        return _State(numbers, np.concatenate([np.full(len(numbers), is_step) for numbers, is_step in found]))


def _middle(a: float, b: float) -> float:
    """The float that has as many floats on either side, between two that are not on different sides of 0."""
    ranks = [int(np.float64(abs(end)).view(np.int64)) for end in (a, b)]
    return math.copysign(float(np.int64(sum(ranks) // 2).view(np.float64)), a or b)


def numbers_of(programs: Sequence[Program]) -> list[float]:
    """The numbers that some texts name, each once."""
    found: dict[float, None] = {}
    for program in programs:
        for line in program.lines:
            atoms = [float(a) for a in line.call.operands if a.is_number and a.is_real]
            statics = [float(a) for a in line.call.statics if isinstance(a, float)]
            found |= dict.fromkeys(n for n in (*atoms, *statics) if math.isfinite(n))
    return list(found)


def _between(places: Sequence[float]) -> list[float]:
    """A number in each gap between places, and before and behind all."""
    if not places:
        return []
    inside = [(a + b) / 2 for a, b in itertools.pairwise(places)]
    first, last = places[0], places[-1]
    return [*inside, first - max(1.0, abs(first)), last + max(1.0, abs(last))]


def _choices(program: Program, *, is_step: bool) -> Program | None:
    """The program of all numbers by whose signs, or of all steps by whose values, a branch is chosen; None without any.

    They come one after the other, as one vector; those that no variable moves, as an index beside another, are none.
    """
    whole = expand(program)
    lines = list(whole.lines)
    chosen = [atom for line in whole.lines for atom in _chosen(line, lines, is_step=is_step)]
    moving: set[Atom] = {*whole.variables}
    for line in lines:
        if not moving.isdisjoint(line.call.operands):
            moving.add(line.symbol)
    chosen = [atom for atom in chosen if atom in moving]
    if not chosen:
        return None
    first = whole.lines[0]
    flat = tuple(_appended(lines, Call("flatten", (atom,), (0, -1)), first) for atom in chosen)
    output = _appended(lines, Call("cat", flat, (0,)), first)
    return replace(whole, lines=tuple(needed(lines, output)), output=output)


def _chosen(line: Line, lines: list[Line], *, is_step: bool) -> list[Atom]:
    """What one operation chooses by, appended to the lines."""
    call, op = line.call, line.call.op
    if op.kinks and op.kinks == op.operands:  # the sign of the one operand, as of abs
        return [] if is_step else [call.operands[0]]
    if is_step:
        return [line.symbol] if op.is_step and len(op.operands) == 1 else []
    if op.sense or (op.is_extreme and op.kind is Kind.ELEMENTWISE):
        return [_appended(lines, Call("sub", call.operands), line)]
    if op.is_extreme:
        extreme = _appended(lines, Call(op.name, call.operands, (call.statics[0], True)), line)
        return [_appended(lines, Call("sub", (call.operands[0], extreme)), line)]
    return []


def _appended(lines: list[Line], call: Call, owner: Line) -> Atom:
    """The symbol of one more line."""
    symbol = sympy.Dummy("choice", real=True)
    lines.append(Line(symbol, call, owner.span))
    return symbol


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
            for is_met, (inputs, v) in itertools.chain(((True, at) for at in tried), ((False, at) for at in around)):
                look = self.comparison.look({**self.given, only: inputs[only]} if only else inputs, v)
                if look.shows:
                    return Found(counted + met + 1, self._simpler(look))
                hidden = look if hidden is None and look.worst is not None else hidden
                met += bool(look.seen) and is_met
                counted += bool(look.seen) and not is_met
                if counted >= points:
                    break
        return Found(counted + met, hidden)

    def points(self) -> Iterator[tuple[Inputs, Array]]:
        """The same number everywhere, then numbers that count up, then random ones."""
        # What is near to a number of the texts, or a simple multiple of it, with both signs.
        near = (s * m for n in self._named for m in (n, n + 1, n - 1, 2 * n, n / 2) for s in (1, -1))
        for number in dict.fromkeys((*SIMPLE, *near)):
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

    def _near(self, name: str, generator: np.random.Generator) -> Numbers:
        given = np.asarray(self.given[name], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            return given * generator.uniform(0.5, 1.5, given.shape)

    def _point(
        self, inputs: Mapping[str, Numbers], weight: float | None, generator: np.random.Generator | None = None
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
        if all(np.isin(array, SIMPLE).all() for array in (*look.inputs.values(), look.v)):
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


def _counting(shape: Shape) -> Numbers:
    return np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape)


def _on_grid(array: Array, grid: float, dtype: str) -> Array:
    return (np.round(np.asarray(array, dtype=np.float64) / grid) * grid + 0.0).astype(dtype)


def _cost(number: float) -> int:
    """How long a number is to write; 0 is the shortest."""
    return 0 if number == 0 else len(f"{number:g}")

"""Whether two texts are the same function, as far as balls can tell at a point and at some points around it.

No proof: a rewrite is the same function by its rule, and this is the net below.  Each rewrite is compared in values and
in derivatives, by the reference reading alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np
from flint import arb

from gradcli.check.point import Point
from gradcli.errors import GradcliError
from gradcli.language.lower.names import SHADOWABLE
from gradcli.language.parsing import parse
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program
from gradcli.reference.balls import Ball, precision
from gradcli.reference.duals import OverBudgetError, Reference
from gradcli.reference.footprint import Flat
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.running import Direction
from gradcli.results import Array

BOXES = ((-2.0, 2.0), (0.1, 0.9), (1.1, 3.0), (-1.0, -0.1))
"""Where the random points are, besides around the given one: both signs, inside and outside of the unit interval."""

NEARNESS = 2.0**-10
"""How far from the given point, relatively, the points around it are."""

SEED = 0
"""Of the random points."""

MOST_COMPARED = 8
"""Elements of y, and of the variables, that are looked at."""

FIRST_BITS, LAST_BITS = 128, 2_048
"""Precision starts at the first and is quadrupled until the balls are tight, at most to the last."""

TIGHT_BITS = 40
"""Relative bits of a ball that is known well enough for a comparison to say something."""

_Numbers = Mapping[tuple[int, int], Outcome]


def is_same(original: Program, text: str, inputs: Mapping[str, Array]) -> bool:
    """Whether a text is the function of a Program wherever they were compared, and they could be compared.

    Args:
        original: As typed.
        text: Of the same variables.
        inputs: Values of the variables; the point itself is compared if both exist there.

    >>> is_same(parse("1 - cos(x)"), "2*sin(x/2)**2", {"x": np.array(0.0)})
    True
    >>> is_same(parse("1 - cos(x)"), "x**2/2", {"x": np.array(0.0)})
    False
    """
    shapes = {name: array.shape for name, array in inputs.items()}
    try:
        other = parse(text, given=frozenset(original.names) & SHADOWABLE, shapes=shapes)
        if set(other.names) != set(original.names):
            return False
        pairs = [(_points(original, at), _points(other, at)) for at in _around(inputs)]
    except GradcliError:
        return False
    if pairs[0][0].shapes.get(pairs[0][0].program.output) != pairs[0][1].shapes.get(pairs[0][1].program.output):
        return False
    found = [_compared(first, second) for first, second in pairs]
    return None not in found and any(found)


def _points(program: Program, inputs: Mapping[str, Array]) -> Point:
    shapes = {symbol: inputs[str(symbol)].shape for symbol in program.variables}
    return Point.of(program, infer(program, shapes), inputs)


def _around(inputs: Mapping[str, Array]) -> Iterator[Mapping[str, Array]]:
    """The given point, one beside it, and one in each box."""
    generator = np.random.default_rng(SEED)
    given = {name: array.astype(np.float64) for name, array in inputs.items()}
    yield given
    yield {
        name: x + NEARNESS * (np.abs(x) + (x == 0)) * generator.uniform(0.5, 1, x.shape) for name, x in given.items()
    }
    for low, high in BOXES:
        yield {name: np.asarray(generator.uniform(low, high, x.shape)) for name, x in given.items()}


def _compared(first: Point, second: Point) -> int | None:
    """How many numbers are known and the same; None if two differ, or the second has none where the first has."""
    generator = np.random.default_rng(SEED)
    rows = _some(first.rows, generator)
    directions = [
        (symbol, int(j)) for symbol in first.program.variables for j in _some(first.inputs[str(symbol)].size, generator)
    ]
    bits = FIRST_BITS
    while True:
        try:
            ours, theirs = (_numbers(point, directions, rows, bits) for point in (first, second))
        except OverBudgetError:
            return 0
        with precision(bits):
            found = [_agree(ours.get(k, arb(0)), theirs.get(k, arb(0)), bits) for k in ours.keys() | theirs.keys()]
        if "different" in found:
            return None
        if "unknown" not in found or bits >= LAST_BITS:
            return found.count("same")
        bits *= 4


def _some(size: int, generator: np.random.Generator) -> Flat:
    """A few positions among this many."""
    if size <= MOST_COMPARED:
        return np.arange(size)
    return np.unique(generator.choice(size, MOST_COMPARED, replace=False))


def _numbers(point: Point, directions: list[Direction], rows: Flat, bits: int) -> _Numbers:
    """Values, as direction -1, and derivatives at some rows of y."""
    reference = Reference(point.program, point.shapes, point.inputs)
    found = reference.plan(directions, rows).run(bits)
    return {**found.columns, **{(-1, row): value for row, value in found.values.items()}}


def _agree(ours: Outcome, theirs: Outcome, bits: int) -> Literal["same", "different", "unknown", "apart"]:
    """Whether two numbers are the same; unknown if more bits may tell, and apart where the first does not exist."""
    if isinstance(ours, Undefined):
        return "apart" if ours.decided else "unknown"
    if isinstance(theirs, Undefined):
        return "different" if theirs.decided else "unknown"
    if not ours.overlaps(theirs):
        return "different"
    return "same" if _is_tight(ours, bits) and _is_tight(theirs, bits) else "unknown"


def _is_tight(ball: Ball, bits: int) -> bool:
    """Whether a ball is known relatively, or is that of a 0 which only more and more bits show."""
    if ball.is_exact() or ball.rel_accuracy_bits() >= TIGHT_BITS:
        return True
    return bits > FIRST_BITS and bool(ball.rad() < arb(2) ** (-bits // 2))

"""The truth of a derivative: by one-sided series with many digits, confirmed with more, or by rationals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mp

from tests.crosscheck import crossings
from tests.crosscheck.drawing import Question
from tests.crosscheck.one_sided import Decisions, NotKnownError, NoValueError, Series, number
from tests.crosscheck.trees import Point, Tree

DIGITS = (400, 1000, 2500)
"""Of the truth, of what it must be confirmed with, and of what is tried where it is not."""


@dataclass(frozen=True)
class Truth:
    """A derivative: whether it exists (None: not known), what it is, and the size of its terms.

    A tie is where a condition is met exactly: torch picks a subgradient, which may be wrong of a smooth whole.
    """

    exists: bool | None
    value: Any = None
    size: Any = 0
    why: str = ""
    is_tie: bool = False


def _leaves(question: Question, direction: Mapping[tuple[str, int], float], side: int) -> dict[str, Any]:
    """The variables along a direction, from one side; at the point itself for side 0."""

    def leaf(name: str, index: int, value: float) -> Series:
        step = side * mp.mpf(direction.get((name, index), 0))
        return Series((mp.mpf(value), step), True, abs(step)) if step else number(value)

    found: dict[str, Any] = {}
    for name, value in question.at.items():
        if np.ndim(value):
            found[name] = [leaf(name, index, float(one)) for index, one in enumerate(value)]
        else:
            found[name] = leaf(name, 0, float(value))
    return found


def _ran(tree: Tree, question: Question, direction: Mapping[tuple[str, int], float], side: int) -> Any:
    """The elements of y, or why there are none; and what was decided."""
    decided = Decisions()
    try:
        found = tree.run(Point(_leaves(question, direction, side), decided))
    except (NoValueError, NotKnownError) as error:
        return error, decided
    except (ArithmeticError, ValueError, MemoryError) as error:
        return NotKnownError(str(error)), decided
    return found if isinstance(found, list) else [found], decided


def _near(a: Any, b: Any, size: Any = 0) -> bool:
    return bool(abs(a - b) <= mp.mpf(10) ** (-mp.dps // 2) * max(abs(a), abs(b), abs(size)))


def _existing(here: Series, right: Series, left: Series) -> Truth:
    """The derivative of one element from what it is at the point and on both sides."""
    if not (_near(here[0], right[0]) and _near(here[0], left[0])):
        return Truth(False, why="no derivative: a jump")
    try:
        ahead, behind = right.slope(), -left.slope()
    except NotKnownError as error:
        return Truth(None, why=str(error))
    size = max(abs(right.size), abs(left.size))
    if not _near(ahead, behind, size):
        return Truth(
            False, why=f"no derivative: {mp.nstr(behind, 8)} from the left, {mp.nstr(ahead, 8)} from the right"
        )
    return Truth(True, ahead, size)


def _along(tree: Tree, question: Question, direction: Mapping[tuple[str, int], float]) -> tuple[list[Truth], list[Any]]:
    """The derivative of each element of y along a direction, and the numbers that decided."""
    runs = [_ran(tree, question, direction, side) for side in (0, 1, -1)]
    numbers = [one for _, decided in runs for one in decided.numbers]
    values = [values for values, _ in runs]
    if isinstance(values[0], NoValueError):
        return [Truth(False, why=f"no value: {values[0]}")], numbers
    for side in values[1:]:
        if isinstance(side, NoValueError) and not isinstance(values[0], Exception) and len(values[0]) == 1:
            return [Truth(False, why=f"no derivative: no value beside the point: {side}")], numbers
    for side in values:
        if isinstance(side, Exception):
            return [Truth(None, why=str(side))], numbers
    is_tie = any(decided.at_zero for _, decided in runs)
    return [replace(_existing(*three), is_tie=is_tie) for three in zip(*values, strict=True)], numbers


def _settled(rough: tuple[list[Truth], list[Any]], fine: tuple[list[Truth], list[Any]], digits: int) -> list[Truth]:
    """The truths that more digits confirm; what is left of their size in so many digits alone is 0."""
    (coarse, decided), (sharp, decided_too) = rough, fine
    unknown = Truth(None, why="more digits decide otherwise")
    if len(coarse) != len(sharp) or len(decided) != len(decided_too):
        return [unknown for _ in sharp]
    if not all(abs(a - b) <= mp.mpf(10) ** -30 * abs(b) for a, b in zip(decided, decided_too, strict=True)):
        return [unknown for _ in sharp]
    found = []
    for a, b in zip(coarse, sharp, strict=True):
        if a.exists is not b.exists:
            found.append(unknown)
        elif not b.exists or abs(a.value - b.value) <= mp.mpf(10) ** -30 * abs(b.value):
            found.append(b)
        elif abs(b.value) <= mp.mpf(10) ** (-digits * 4 // 5) * abs(b.size):
            found.append(replace(b, value=mp.zero))
        else:
            found.append(unknown)
    return found


def derivatives(tree: Tree, question: Question, direction: Mapping[tuple[str, int], float]) -> list[Truth]:
    """The derivative of each element of y along a direction, confirmed."""
    found: list[tuple[list[Truth], list[Any]]] = []
    truths: list[Truth] = []
    for digits in DIGITS:
        with mp.workdps(digits):
            found.append(_along(tree, question, direction))
            if len(found) > 1:
                truths = _settled(found[-2], found[-1], digits)
        if truths and all(truth.exists is not None for truth in truths):
            break
    return truths


def weighted(truths: list[Truth], v: list[float]) -> Truth:
    """∑ v[i]·∂y[i], which exists where all of them do."""
    for truth in truths:
        if not truth.exists:
            return truth
    pairs = list(zip(v, truths, strict=True))
    total = mp.fsum(mp.mpf(one) * truth.value for one, truth in pairs)
    size = mp.fsum(abs(mp.mpf(one)) * truth.size for one, truth in pairs)
    total = total if abs(total) > mp.mpf(10) ** (-DIGITS[1] * 4 // 5) * size else mp.zero
    return Truth(True, total, size, is_tie=any(truth.is_tie for truth in truths))


def slope(question: Question, name: str, index: int) -> Truth:
    """The derivative of a scalar by an element of a variable."""
    if question.piecewise:
        return _rational(crossings.first(question.piecewise, question.at, name))
    return derivatives(question.tree, question, {(name, index): 1.0})[0]


def _rational(found: tuple[Fraction | None, str]) -> Truth:
    value, why = found
    if value is None:
        return Truth(False, why=why)
    return Truth(True, mp.mpf(value.numerator) / value.denominator, mp.one, is_tie=True)


def curved(question: Question, a: tuple[str, int], b: tuple[str, int]) -> Truth:
    """∂²f/∂a∂b of what is smooth around the point, by the second coefficients along a, b and a + b; or exactly."""
    if question.piecewise:
        return _rational(crossings.second(question.piecewise, question.at, a[0], b[0]))
    found = []
    for digits in DIGITS[1:]:
        with mp.workdps(digits):
            ways: list[dict[tuple[str, int], float]] = [{a: 2.0}] if a == b else [{a: 1.0, b: 1.0}, {a: 1.0}, {b: 1.0}]
            second, sizes = [], []
            for way in ways:
                values, decided = _ran(question.tree, question, way, 1)
                if isinstance(values, Exception) or decided.at_zero or values[0].length < 3:
                    return Truth(None, why="not smooth, or not known")
                second.append(values[0][2])
                sizes.append(values[0].size)
            # Terms of a slope that goes as |x| have curvatures of its size over x, which cancel: hypot(x, x).
            near = min(abs(float(np.ravel(question.at[name])[index])) for name, index in (a, b))
            size = mp.fsum([*map(abs, second), max(sizes) / near if near else 0])
            found.append(Truth(True, second[0] / 2 if a == b else second[0] - second[1] - second[2], size))
    return _settled(([found[0]], []), ([found[1]], []), DIGITS[-1])[0]

"""Points of a range by magnitude: as many around 1e-300 as around 1e-100 or 1, on both sides of 0.

Numbers lose digits at one magnitude and not at another, which points drawn evenly from 0..1e300 never show.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array

MOST_SHOWN = 9
"""Magnitudes of a variable that are shown next to each other, as many as fit on a screen."""

FEWER_SHOWN = 4
"""Magnitudes shown on each side of 0, and of one of several variables."""

BESIDE = 6
"""Points around each magnitude, besides itself."""

NEAR = 2.0
"""Exponents of 10 within which magnitudes stand evenly; farther from 1 they stand farther and farther apart."""

SEED = 0
"""Seed of the points around each magnitude."""

_LEAST = {"float64": 1e-307, "float32": 1e-37}
"""The smallest magnitude besides 0: below it numbers have fewer bits."""


@dataclass(frozen=True)
class Spread:
    """Points of a range.

    Attributes:
        shown: Some magnitudes of the range, from the lowest number to the highest.
        values: All points.
        groups: For each point, the position in `shown` of the magnitude that it is around.
    """

    shown: tuple[float, ...]
    values: Array
    groups: npt.NDArray[np.intp]


def spread(low: float, high: float, dtype: str = "float64", *, is_only: bool = True) -> Spread:
    """Choose points from `low` to `high`, ends included, by magnitude.

    Args:
        low: The lower end, finite.
        high: The upper end, finite.
        dtype: The dtype of the numbers.
        is_only: Whether no other variable is shown.

    >>> [float(x) for x in spread(1e-300, 1e300).shown]
    [1e-300, 1e-84, 1e-23, 1e-05, 1.0, 100000.0, 1e+23, 1e+84, 1e+300]
    >>> [float(x) for x in spread(-1.0, 2.0).shown]
    [-1.0, -1e-09, -1e-56, -1e-307, 0.0, 1e-307, 1e-53, 1e-08, 2.0]
    """
    least = _LEAST[dtype]
    sides = [(sign, max(first, least), last) for sign, first, last in ((-1, -high, -low), (1, low, high)) if last > 0]
    sides = [(sign, min(first, last), last) for sign, first, last in sides]
    count = MOST_SHOWN if is_only and len(sides) == 1 else FEWER_SHOWN
    generator = np.random.default_rng(SEED)
    groups: dict[float, list[float]] = {0.0: [0.0]} if low <= 0 <= high else {}
    for sign, first, last in sides:
        places = np.linspace(_even(first), _even(last), count if first < last else 1)
        ends = [places[0], *((places[1:] + places[:-1]) / 2).tolist(), places[-1]]
        magnitudes = _rounded([first, *map(_magnitude, places[1:-1].tolist()), last]) if first < last else [first]
        for n, magnitude in enumerate(magnitudes):
            drawn = map(_magnitude, generator.uniform(ends[n], ends[n + 1], BESIDE * (first < last)).tolist())
            around = [min(max(value, first), last) for value in drawn]
            groups[sign * magnitude] = [sign * value for value in (magnitude, *around)]
    shown = sorted(groups)
    values = np.array([value for place in shown for value in groups[place]])
    return Spread(tuple(shown), values, np.repeat(np.arange(len(shown)), [len(groups[place]) for place in shown]))


def _even(magnitude: float) -> float:
    """Place a magnitude on a scale: evenly near 1, closer and closer together far from it."""
    exponent = math.log10(magnitude)
    return math.copysign(math.log1p(abs(exponent) / NEAR), exponent)


def _magnitude(place: float) -> float:
    with np.errstate(over="ignore"):  # beyond the largest number, which the last of a range may be
        return float(np.float64(10.0) ** math.copysign(math.expm1(abs(place)) * NEAR, place))


def _rounded(magnitudes: Sequence[float]) -> list[float]:
    """Round all magnitudes between the ends to as few digits as tell them apart, to powers of ten where these do."""
    first, *between, last = magnitudes
    for n in range(17):
        found = [float(f"{value:.{n}g}" if n else f"1e{round(math.log10(value))}") for value in between]
        every = [first, *found, last]
        if all(a < b for a, b in itertools.pairwise(every)):
            return every
    return list(magnitudes)

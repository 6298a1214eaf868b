"""Which rows of a stream are judged: at kinks, the first, the last, extremes, not finite ones, and a seeded rest.

Looks at every row once and holds a few of them, however many go by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.check.many_points import MOST_CRITICAL, MOST_POINTS
from gradcli.check.sample import SEED, magnitude
from gradcli.results import Array

_LOST = 4
"""Rows with a number that is not finite that are held."""


@dataclass
class Held:
    """A row, with the numbers that were found there."""

    number: int
    inputs: Mapping[str, Array]
    values: tuple[Array, ...]


@dataclass
class Sample:
    """The rows that are held, by what they are held for.

    >>> sample = Sample()
    >>> x = np.arange(-500.0, 500.0)
    >>> sample.see(np.arange(2, 1002), {"x": x}, (x**2,))
    >>> found = [held.number for held in sample.rows()]
    >>> len(found), found[0], 502 in found, found[-1]
    (16, 2, True, 1001)
    """

    _places: dict[str, tuple[float, Held]] = field(default_factory=dict)
    _lost: list[Held] = field(default_factory=list)
    _critical: list[Held] = field(default_factory=list)
    _random: list[tuple[float, Held]] = field(default_factory=list)
    _first: Held | None = None
    _last: Held | None = None
    _generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))

    @property
    def wants_critical(self) -> bool:
        """Whether more rows at kinks can be held."""
        return len(self._critical) < MOST_CRITICAL

    def see(
        self,
        numbers: npt.NDArray[Any],
        inputs: Mapping[str, Array],
        values: tuple[Array, ...],
        critical: Sequence[int] = (),
    ) -> None:
        """Look at some rows.

        Args:
            numbers: What messages call each.
            inputs: The variables, of shape (N, *x.shape).
            values: The quantities, of shape (N, *shape).
            critical: Places of rows at or next to a kink, or another place where there may be no derivative.
        """
        count = len(numbers)
        if not count:
            return

        def held(row: int) -> Held:
            # Copies, as a view would keep the whole block in memory.
            own = {name: array[row].copy() for name, array in inputs.items()}
            return Held(int(numbers[row]), own, tuple(array[row].copy() for array in values))

        self._first = self._first or held(0)
        self._last = held(count - 1)
        sizes = {name: _sizes(array) for name, array in inputs.items()}
        sizes |= {f"{place} out": _sizes(array) for place, array in enumerate(values)}
        for name, size in sizes.items():
            self._extreme(f"least {name}", int(size.argmin()), float(size.min()), held)
            # Infinite sizes have their own list; here they would hide the largest finite row.
            finite = np.where(np.isinf(size), -1.0, size)
            self._extreme(f"most {name}", int(finite.argmax()), -float(finite.max()), held)
        if len(self._lost) < _LOST:
            lost = np.flatnonzero(np.any([np.isinf(size) for size in sizes.values()], axis=0))
            self._lost += [held(int(row)) for row in lost[: _LOST - len(self._lost)]]
        self._critical += [held(row) for row in critical[: MOST_CRITICAL - len(self._critical)]]
        self._reserve(self._generator.random(count), held)

    def _extreme(self, what: str, row: int, size: float, held: Callable[[int], Held]) -> None:
        known = self._places.get(what)
        if known is None or size < known[0]:
            self._places[what] = size, held(row)

    def _reserve(self, keys: Array, held: Callable[[int], Held]) -> None:
        """A reservoir: every row draws a number, and those with the smallest stay."""
        worst = self._random[-1][0] if len(self._random) == MOST_POINTS else 1.0
        # Most rows of a long stream fail this, so that a block costs one comparison.
        fresh = np.flatnonzero(keys < worst)
        if len(fresh) > MOST_POINTS:
            fresh = fresh[np.argpartition(keys[fresh], MOST_POINTS)[:MOST_POINTS]]
        found = [*self._random, *((float(keys[row]), held(int(row))) for row in fresh)]
        self._random = sorted(found, key=lambda pair: pair[0])[:MOST_POINTS]

    def rows(self) -> list[Held]:
        """The sample: at most `MOST_POINTS` rows by their numbers, those at kinks first where it is too small."""
        ends = [row for row in (self._first, self._last) if row is not None]
        extremes = [row for _, row in self._places.values()]
        rest = [row for _, row in self._random]
        order: dict[int, Held] = {}
        for row in [*self._critical, *ends, *self._lost, *extremes[: MOST_POINTS // 2], *rest, *extremes]:
            order.setdefault(row.number, row)
        chosen = list(order.values())[:MOST_POINTS]
        return sorted(chosen, key=lambda row: row.number)


def _sizes(array: Array) -> Array:
    """The largest magnitude in each row; infinite where one is not finite."""
    sizes: Array = magnitude(array.reshape(len(array), math.prod(array.shape[1:]))).max(axis=1, initial=0.0)
    return sizes

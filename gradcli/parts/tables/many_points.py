"""Choice of the points to judge among many, or among the rows of a stream, and one check of all of them.

Points at kinks, the first, the last, those with extreme numbers, and a seeded rest.  A stream is read row by row, and
few rows are held, however many go by.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradcli.arrays import AnyArray
from gradcli.crosscheck.point import MOST_ELEMENTS, FunctionAtPoint
from gradcli.crosscheck.sample import SEED, magnitude
from gradcli.crosscheck.summary import MAX_FINDINGS, badness, joined
from gradcli.language.program.wengert import Atom
from gradcli.reference.near_kinks import critical
from gradcli.results import SEVERITY, Array, Check

MOST_POINTS = 16
"""Most points to judge; of more points, a sample."""

MOST_CRITICAL = 12
"""Most points at or next to a kink in the sample."""


def critical_points(point: FunctionAtPoint, arrays: Mapping[str, Array], names: Sequence[str], count: int) -> list[int]:
    """Find points at or next to a kink, a jump, or an edge of a domain: a few of each operation, in turn.

    Args:
        point: The first point.
        arrays: The value of every variable.
        names: The variables that differ between points.
        count: The number of points.
    """
    largest = max((math.prod(shape) for shape in point.shapes.values()), default=0)
    rows = max(1, MOST_ELEMENTS // max(1, largest))
    found: dict[Atom, list[int]] = {}
    for first in range(0, count, rows):
        part = {name: array[first : first + rows] if name in names else array for name, array in arrays.items()}
        for spots in critical(point.program, point.shapes, part, names).spots:
            own = found.setdefault(spots.atom, [])
            fresh = np.unique(spots.points)[: MOST_CRITICAL - len(own)]
            own += (first + fresh).tolist()
    turns = itertools.zip_longest(*found.values())
    return list(dict.fromkeys(place for turn in turns for place in turn if place is not None))


def merged(checks: Mapping[int, Check], count: int) -> Check:
    """Merge the checks of several points: the worst verdict, the findings with their points, the coverage of all.

    Args:
        checks: The checks, by the number of the point.
        count: The number of points, each with as many entries.
    """
    every = {point: (*check.findings, *check.unlisted) for point, check in checks.items()}
    found = [finding.moved(point=point) for point, own in every.items() for finding in own]
    found.sort(key=badness, reverse=True)
    whole = joined(list(checks.values()))
    return replace(
        whole,
        entries=count * max(check.entries for check in checks.values()),
        checked=sum(check.checked for check in checks.values()),
        findings=tuple(found[:MAX_FINDINGS]),
        findings_count=sum(check.findings_count for check in checks.values()),
        unlisted=tuple(found[MAX_FINDINGS:]),
        chosen=_chosen(checks, count),
        proven=whole.proven and len(checks) == count,
        sampled=whole.sampled or len(checks) < count,
        zeros=sum(check.zeros for check in checks.values()),
        undecided=sum(check.undecided for check in checks.values()),
    )


def worst_point(checks: Mapping[int, Check]) -> int:
    """Return the first of the points with the worst verdict."""
    return max(checks, key=lambda point: (SEVERITY.index(checks[point].verdict), -point))


def _chosen(checks: Mapping[int, Check], count: int) -> str:
    inside = [words for words in dict.fromkeys(check.chosen for check in checks.values()) if words != "all"]
    points = ""
    if len(checks) < count:
        points = f"{len(checks)} of {count:,} points: kinks, first, last, extremes and a random rest, seed {SEED}"
    return "; ".join(filter(None, [points, *(f"at a point: {words}" for words in inside)])) or "all"


_LOST = 4
"""Most rows held because a number is not finite."""


@dataclass
class Held:
    """Row with its numbers, and its name in messages."""

    number: int
    inputs: Mapping[str, Array]
    values: tuple[Array, ...]
    called: str = ""


@dataclass
class Sample:
    """Reservoir of rows kept for checking, by reason: those with the smallest scores for each reason.

    A score follows from the row and its number alone, so that the samples of the parts of a table, joined in any
    order, are that of the whole.

    Attributes:
        most: The most rows to judge.
        kept: The rows and their scores, by reason.

    >>> x, sample = np.arange(-500.0, 500.0), Sample()
    >>> for part in (slice(600, 1000), slice(0, 600)):
    ...     one = Sample()
    ...     one.see(np.arange(2, 1002)[part], {"x": x[part]}, (x[part] ** 2,))
    ...     sample.join(one)
    >>> found = [held.number for held in sample.rows()]
    >>> len(found), found[0], 502 in found, found[-1]
    (16, 2, True, 1001)
    """

    most: int = MOST_POINTS
    kept: dict[str, list[tuple[float, Held]]] = field(default_factory=dict)

    @property
    def wants_critical(self) -> bool:
        """True if more rows at kinks can be held."""
        return len(self.kept.get("critical", ())) < MOST_CRITICAL

    def see(
        self,
        numbers: AnyArray,
        inputs: Mapping[str, Array],
        values: tuple[Array, ...],
        critical: Sequence[int] = (),
        called: Callable[[int], str] = lambda row: "",
    ) -> None:
        """Look at some rows.

        Args:
            numbers: The place of each in their source, ascending.
            inputs: The variables, of shape (N, *x.shape).
            values: The quantities, of shape (N, *shape).
            critical: Places of rows at or next to a kink, or another place where there may be no derivative.
            called: Gives the name of the row at a place in messages.
        """
        count = len(numbers)
        if not count:
            return

        def keep(why: str, scores: Array) -> None:
            kept, most = self.kept.setdefault(why, []), self._room(why)
            # Most rows of a long stream fail this, so that a block costs one comparison.
            fresh = np.flatnonzero(scores < (kept[-1][0] if len(kept) == most else np.inf))
            for row in fresh[np.argsort(scores[fresh], kind="stable")[:most]].tolist():
                # Copies, as a view would keep the whole block in memory.
                own = {name: array[row].copy() for name, array in inputs.items()}
                held = Held(int(numbers[row]), own, tuple(array[row].copy() for array in values), called(row))
                kept.append((float(scores[row]), held))
            self._cut(why)

        order = numbers.astype(np.float64)
        at_kinks = np.full(count, np.inf)
        at_kinks[list(critical)] = order[: len(critical)]
        sizes = {f"{place} {name}": _sizes(array) for place, (name, array) in enumerate(inputs.items())}
        sizes |= {f"{place} out": _sizes(array) for place, array in enumerate(values)}
        lost = np.any([np.isinf(size) for size in sizes.values()], axis=0)
        keep("critical", at_kinks)
        keep("first", order)
        keep("last", -order)
        keep("lost", np.where(lost, order, np.inf))
        keep("random", _random(numbers))
        for name, size in sizes.items():
            keep(f"least {name}", size)
            # Infinite sizes have their own list; here they would hide the largest finite row.
            keep(f"most {name}", np.where(np.isinf(size), 1.0, -size))

    def join(self, other: Sample) -> None:
        """Add the rows of a sample of other rows."""
        for why, kept in other.kept.items():
            self.kept.setdefault(why, []).extend(kept)
            self._cut(why)

    def facts(self) -> dict[str, Any]:
        """Describe the sample for JSON: each row once, and its scores."""
        rows = {held.number: held for kept in self.kept.values() for _, held in kept}
        listed = [
            [one.number, one.called, {name: array.tolist() for name, array in one.inputs.items()},
             [array.tolist() for array in one.values], one.values[0].dtype.name]
            for one in rows.values()
        ]  # fmt: skip
        scores = {why: [[score, held.number] for score, held in kept] for why, kept in self.kept.items()}
        return {"most": self.most, "rows": listed, "kept": scores}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Sample:
        """Rebuild a sample from its `facts`."""
        rows = {}
        for number, called, inputs, values, dtype in facts["rows"]:
            arrays = {name: np.array(one, np.float64) for name, one in inputs.items()}
            rows[number] = Held(number, arrays, tuple(np.array(one, dtype) for one in values), called)
        kept = {why: [(score, rows[number]) for score, number in pairs] for why, pairs in facts["kept"].items()}
        return cls(facts["most"], kept)

    def rows(self) -> list[Held]:
        """Return at most `most` rows, by number; rows at kinks take precedence where not all fit."""
        if not self.kept:
            return []
        critical, first, last, lost, rest, *others = ([row for _, row in kept] for kept in self.kept.values())
        extremes = list(itertools.chain(*others))
        order: dict[int, Held] = {}
        for row in [*critical, *first, *last, *lost, *extremes[: self.most // 2], *rest, *extremes]:
            order.setdefault(row.number, row)
        chosen = list(order.values())[: self.most]
        return sorted(chosen, key=lambda row: row.number)

    def _room(self, why: str) -> int:
        """Return the most rows to hold for a reason."""
        return {"critical": MOST_CRITICAL, "lost": _LOST, "random": self.most}.get(why, 1)

    def _cut(self, why: str) -> None:
        once = {pair[1].number: pair for pair in self.kept[why]}.values()
        self.kept[why] = sorted(once, key=lambda pair: (pair[0], pair[1].number))[: self._room(why)]


def _random(numbers: AnyArray) -> Array:
    """Hash the numbers of the rows to scores from 0 to 1.

    Source: SplitMix64 of G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    mixed = (numbers.astype(np.uint64) + np.uint64(SEED + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Array = ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return found


def _sizes(array: Array) -> Array:
    """Return the largest magnitude in each row; infinite where one is not finite."""
    sizes: Array = magnitude(array.reshape(len(array), math.prod(array.shape[1:]))).max(axis=1, initial=0.0)
    return sizes

"""Many points: at which of them the numbers are judged, and one check of what was found at each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gradcli.check.point import Point
from gradcli.check.sample import SEED, magnitude, pick
from gradcli.check.summary import MAX_FINDINGS, badness, joined
from gradcli.check.survey import MOST_ELEMENTS
from gradcli.language.program.wengert import Atom
from gradcli.reference.critical import critical
from gradcli.results import SEVERITY, Array, Check

MOST_POINTS = 16
"""Points whose numbers are judged; of more, a sample."""

MOST_CRITICAL = 12
"""Of them, points at or next to a kink."""


def critical_points(point: Point, arrays: Mapping[str, Array], names: Sequence[str], count: int) -> list[int]:
    """The points at or next to a kink, a jump, or an edge of a domain: a few of each operation, in turn.

    Args:
        point: The first of them.
        arrays: The value of every variable.
        names: Those that differ between points.
        count: How many there are.
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


def chosen_points(count: int, numbers: Sequence[Array], critical: Sequence[int] = ()) -> list[int]:
    """The points to judge: all, or critical ones, the first, the last, those with extreme numbers, and a seeded rest.

    Args:
        count: How many there are.
        numbers: Arrays with the points on their first axis: inputs, values and derivatives.
        critical: Points that come first, at most `MOST_CRITICAL`.

    >>> chosen_points(3, [])
    [0, 1, 2]
    >>> found = chosen_points(1000, [np.where(np.arange(1000) == 700, np.nan, 1.0)])
    >>> len(found), found[0], 700 in found, found[-1]
    (16, 0, True, 999)
    """
    if count <= MOST_POINTS:
        return list(range(count))
    sizes = [magnitude(array.reshape(count, -1)).max(axis=1, initial=0.0) for array in numbers]
    least = [int(size.argmin()) for size in sizes]  # many a kink is at 0
    largest = np.max(sizes, axis=0) if sizes else np.zeros(count)
    order = [*critical[:MOST_CRITICAL], 0, count - 1, *least, *pick(largest, MOST_POINTS, np.random.default_rng(SEED))]
    return sorted(list(dict.fromkeys(order))[:MOST_POINTS])


def merged(checks: Mapping[int, Check], count: int) -> Check:
    """One check of several points: the worst verdict, the findings with their points, the coverage of all points.

    Args:
        checks: By the number of the point.
        count: How many points there are, each with as many entries.
    """
    found = [replace(finding, point=point) for point, check in checks.items() for finding in check.findings]
    found.sort(key=badness, reverse=True)
    whole = joined(list(checks.values()))
    return replace(
        whole,
        entries=count * max(check.entries for check in checks.values()),
        checked=sum(check.checked for check in checks.values()),
        findings=tuple(found[:MAX_FINDINGS]),
        findings_count=sum(check.findings_count for check in checks.values()),
        chosen=_chosen(checks, count),
        proven=whole.proven and len(checks) == count,
        sampled=whole.sampled or len(checks) < count,
        zeros=sum(check.zeros for check in checks.values()),
    )


def worst_point(checks: Mapping[int, Check]) -> int:
    """The first of the points with the worst verdict."""
    return max(checks, key=lambda point: (SEVERITY.index(checks[point].verdict), -point))


def _chosen(checks: Mapping[int, Check], count: int) -> str:
    """How points, and entries at each, were chosen."""
    inside = [words for words in dict.fromkeys(check.chosen for check in checks.values()) if words != "all"]
    points = ""
    if len(checks) < count:
        points = f"{len(checks)} of {count:,} points: kinks, first, last, extremes and a random rest, seed {SEED}"
    return "; ".join(filter(None, [points, *(f"at a point: {words}" for words in inside)])) or "all"

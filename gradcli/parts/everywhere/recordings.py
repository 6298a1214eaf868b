"""Parts of a box in which torch runs the same operations.

A recording has the operations of its point, and knows the values by which torch decides on these: the order of numbers
that are sorted, or what Python reads.  Where they may be others, nothing is proved of it.  In one variable the box is
cut there: it is recorded at several points too, and where two of a line differ, the number between which they do is
found by bisection.
"""

from __future__ import annotations

import itertools

import numpy as np

from gradcli.arrays import Array
from gradcli.parts.everywhere.box_sets import first_grid, middle_of
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.rounded_arrays import RoundedArrays
from gradcli.parts.everywhere.rounded_passes import RoundedPasses, recorded_at, signature
from gradcli.reference.bounds import NoRuleError

PROBES = 9
"""Points of a line at which torch's passes are recorded."""

CELLS = 256
"""Cells of a line in which it is asked whether a recording holds."""

MOST_PROBES = 32
"""Most points of a line."""

MOST_HALVINGS = 80
"""Bisections between two points: as many as the bits of a float, and some."""


def with_recordings(box: MovingBox) -> list[tuple[MovingBox, RoundedPasses]]:
    """Cut a box of one variable where torch runs other operations, and give the passes of each part.

    Raises:
        NoRuleError: Torch's passes cannot be recorded, or have an operation whose rounding is not known.
    """
    passes = _passes_of(box)
    if not passes.conditions or len(box.low) > 1:
        return [(box, passes)]
    points = _probes(box, passes)
    cuts = [cut for a, b in itertools.pairwise(points) if (cut := _cut(box, a, b)) is not None]
    if not cuts:
        return [(box, passes)]
    starts, ends = [box.low, *(b for _, b in cuts)], [*(a for a, _ in cuts), box.high]
    parts = [box.part(a, b) for a, b in zip(starts, ends, strict=True)]
    return [(part, _passes_of(part)) for part in parts]


def _passes_of(box: MovingBox) -> RoundedPasses:
    return RoundedArrays(box) if box.is_of_arrays else RoundedPasses(box)


def _probes(box: MovingBox, passes: RoundedPasses) -> list[Array]:
    """Choose points of a line: some that are spread over it, and ends of stretches where a recording may not hold."""
    tiny = float(np.finfo(box.bound_function.dtype).smallest_subnormal)
    inside = [x for x in (-tiny, 0.0, tiny) if box.low[0] < x < box.high[0]]
    spread = first_grid(box.low, box.high, PROBES - 1)
    cells = first_grid(box.low, box.high, CELLS)
    holds = passes.are_recorded(cells.sides)
    changes = np.flatnonzero(holds[1:] != holds[:-1])[:MOST_PROBES]
    ends = [*cells.low[0, changes], *cells.high[0, changes]]
    return [np.array([x]) for x in np.unique([*spread.low[0], box.high[0], *inside, *ends])]


def _at(box: MovingBox, point: Array) -> str:
    return signature(recorded_at(box.question_at(point)))


def _cut(box: MovingBox, low: Array, high: Array) -> tuple[Array, Array] | None:
    """Find the two nearest numbers between which torch's operations change."""
    first = _at(box, low)
    if first == _at(box, high):
        return None
    for _ in range(MOST_HALVINGS):
        middle = middle_of(low, high)
        if not low < middle < high:
            break
        low, high = (middle, high) if _at(box, middle) == first else (low, middle)
    if np.nextafter(low, high).astype(box.bound_function.dtype) < high.astype(box.bound_function.dtype):
        raise NoRuleError(f"torch's operations change near {float(high[0]):.6g}, and not between two floats")
    return low, high

"""Parts of a box in which torch runs the same operations.

Some kernels take another way by the sign of their argument, as the backward pass of logsigmoid does, and a recording
has the way of its point.  It is made at several points; where two of a line differ, the number between which they do
is found by bisection.  In more than one variable the box is refused.
"""

from __future__ import annotations

import itertools

import numpy as np

from gradcli.arrays import Array
from gradcli.language.program.wengert import Program
from gradcli.parts.everywhere.box_sets import first_grid, middle_of
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.rounded_passes import BASIC, EXACT, LIBRARY, recorded_at, signature
from gradcli.reference.bounds import NoRuleError

PROBES = 9
"""Points of a line at which torch's passes are recorded."""

MOST_HALVINGS = 80
"""Bisections between two points: as many as the bits of a float, and some."""


OF_ONE_WAY = EXACT | BASIC | LIBRARY | frozenset("gelu silu softplus sum mean".split())
"""Operations whose passes are the same whatever their arguments are.

Source: tools/autograd/derivatives.yaml of torch, whose formulas of these decide by `where`, not by values.
"""


def _has_one_way(program: Program) -> bool:
    """Tell whether torch certainly runs the same operations everywhere."""
    return all(
        op.name in OF_ONE_WAY or op.sense or op.is_branch or op.only_moves
        for op in (line.call.op for line in program.lines)
    )


def with_one_recording(box: MovingBox) -> list[MovingBox]:
    """Cut a box of one variable where torch runs other operations.

    Raises:
        NoRuleError: Torch does so in a box of several variables, or its passes cannot be recorded.
    """
    if _has_one_way(box.bound_function.program):
        return [box]
    if len(box.low) > 1:
        corners = list(itertools.islice(itertools.product(*zip(box.low, box.high, strict=True)), 2 * PROBES))
        points = [np.array(corner) for corner in corners]
        points += [box.low * (1 - t) + box.high * t for t in (0.25, 0.5, 0.75)]
        if len({_at(box, one) for one in points}) > 1:
            raise NoRuleError("torch's passes are not the same operations everywhere in the box")
        return [box]
    tiny = float(np.finfo(box.bound_function.dtype).smallest_subnormal)
    inside = [x for x in (-tiny, 0.0, tiny) if box.low[0] < x < box.high[0]]
    grid = first_grid(box.low, box.high, PROBES - 1)
    points = [np.array([x]) for x in np.unique([*grid.low[0], box.high[0], *inside])]
    cuts = []
    for a, b in itertools.pairwise(points):
        cuts += _cuts(box, a, b)
    starts, ends = [box.low, *(b for _, b in cuts)], [*(a for a, _ in cuts), box.high]
    return [box.part(a, b) if cuts else box for a, b in zip(starts, ends, strict=True)]


def _at(box: MovingBox, point: Array) -> str:
    return signature(recorded_at(box.question_at(point)))


def _cuts(
    box: MovingBox,
    low: Array,
    high: Array,
) -> list[tuple[Array, Array]]:
    """Find the two nearest numbers between which torch's operations change."""
    first = _at(box, low)
    if first == _at(box, high):
        return []
    for _ in range(MOST_HALVINGS):
        middle = middle_of(low, high)
        if not low < middle < high:
            break
        low, high = (middle, high) if _at(box, middle) == first else (low, middle)
    if np.nextafter(low, high).astype(box.bound_function.dtype) < high.astype(box.bound_function.dtype):
        raise NoRuleError(f"torch's operations change near {float(high[0]):.6g}, and not between two floats")
    return [(low, high)]

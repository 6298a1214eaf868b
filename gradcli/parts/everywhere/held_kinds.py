"""What a box may hold: its kinks, jumps, poles and edges, narrowed down by halving."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradcli.arrays import Array
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_kinds import BoxKind
from gradcli.parts.everywhere.box_sets import first_grid, halves
from gradcli.parts.everywhere.stopping import must_stop
from gradcli.reference.deadline import OverTimeError

NARROW = 2.0**-30
"""Part of the range from whose width down a box is halved no more."""

LEVELS = 100

EVERY = sum(map(int, BoxKind))
"""All kinds, as bits."""

WORDS = {
    BoxKind.KINK: "kink",
    BoxKind.JUMP: "jump",
    BoxKind.POLE: "pole",
    BoxKind.EDGE: "edge",
    BoxKind.OUTSIDE: "outside",
    BoxKind.OVERFLOW: "overflow",
}
"""The kinds in words."""


def held_kinds(function: BoxQuantity, low: Array, high: Array, wanted: int = EVERY) -> int:
    """Find what a box may hold of some kinds, as bits of `BoxKind`."""
    boxes, found, pending = first_grid(low, high, most=function.function.at_once), 0, wanted
    for _ in range(LEVELS):
        try:
            kinds = np.broadcast_to(function.jets(boxes.sides, is_second=False).kinds & wanted, (len(boxes),))
        except OverTimeError:
            return found | pending
        pending = int(np.bitwise_or.reduce(kinds, initial=0))
        boxes = boxes.take(np.asarray(kinds & ~found != 0))
        left = kinds[kinds & ~found != 0]
        if not len(boxes):
            return found
        width = boxes.parts_of(low, high)
        is_narrow = (width <= NARROW).all(axis=0)
        if len(boxes) > function.function.at_once or must_stop():
            is_narrow = np.ones(len(boxes), bool)
        found |= int(np.bitwise_or.reduce(left[is_narrow], initial=0))
        rest = ~is_narrow & (left & ~found != 0)
        boxes = boxes.take(rest)
        if not len(boxes):
            return found
        boxes = halves(boxes, np.argmax(width[:, rest], axis=0))
    return found | int(np.bitwise_or.reduce(left, initial=0))


NOT_EVERYWHERE = {"jump": "jump", "pole": "have a pole", "edge": "leave its domain", "outside": "leave its domain"}
"""What y may do in a box, by the names of the kinds."""


def not_everywhere(output: str, names: Sequence[str]) -> str:
    """Say what y may do in a box besides having values; "" if nothing."""
    words = dict.fromkeys(NOT_EVERYWHERE[one] for one in names if one in NOT_EVERYWHERE)
    return f"{output} may {', or '.join(words)} in the box" if words else ""


def words_of(kinds: int) -> tuple[str, ...]:
    """Name the kinds."""
    return tuple(word for kind, word in WORDS.items() if kinds & int(kind))

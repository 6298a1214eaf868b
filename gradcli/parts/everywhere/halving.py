"""Searches by halving: some boxes at a time are looked at, until none is left or the search must stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradcli.parts.everywhere.box_sets import AT_ONCE, BoxSet
from gradcli.parts.everywhere.stopping import OVER_TIME, must_stop
from gradcli.reference.deadline import OverTimeError

MOST_BOXES = 400_000
"""Boxes that one search looks at."""


@dataclass(frozen=True)
class Halving:
    """What is left of a search.

    Attributes:
        left: The boxes that were not looked at.
        evaluated: How many were.
        stopped: Why it ended early; "" where it did not.
    """

    left: BoxSet
    evaluated: int
    stopped: str


@np.errstate(all="ignore")  # what is beyond float64 has no end there
def halved(
    boxes: BoxSet,
    step: Callable[[BoxSet], BoxSet],
    *,
    ordered: Callable[[BoxSet], BoxSet] = lambda boxes: boxes,
    most: Callable[[], int] = lambda: MOST_BOXES,
    at_once: int = AT_ONCE,
) -> Halving:
    """Look at boxes until none is left.

    Args:
        boxes: The first ones.
        step: Looks at some, and returns what is to be looked at in their place, such as halves of some of them.
        ordered: Returns those that are still to be looked at, in order; none ends the search.
        most: Tells how many may be looked at.
        at_once: How many are at a time.
    """
    evaluated = 0
    try:
        while len(boxes := ordered(boxes)):
            if reason := must_stop():
                return Halving(boxes, evaluated, reason)
            if evaluated >= most():
                return Halving(boxes, evaluated, f"after {evaluated:,} boxes")
            now, later = boxes.take(slice(0, at_once)), boxes.take(slice(at_once, None))
            evaluated += len(now)
            boxes = BoxSet.joined([step(now), later])
    except OverTimeError:
        return Halving(boxes, evaluated, OVER_TIME)
    return Halving(boxes, evaluated, "")

"""A line, for a picture: stretches where torch's numbers are proved, and places that may be singular."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradcli.arrays import Array
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.errors import GradcliError
from gradcli.parts.everywhere.box_check import FOUND, regions_of, witnessed
from gradcli.parts.everywhere.box_regions import JudgedRegions
from gradcli.parts.everywhere.box_sets import middle_of
from gradcli.parts.everywhere.code_boxes import require_recorded
from gradcli.parts.everywhere.line_boxes import on_line, parameter_of
from gradcli.parts.everywhere.moving_box import AskedBox, MovingBox
from gradcli.parts.everywhere.rounded_passes import recorded_at
from gradcli.progress import SECONDS, budget_factor
from gradcli.questions.bound_function import BoundFunction
from gradcli.reference.bounds import NoRuleError
from gradcli.reference.deadline import OverTimeError, part_limit
from gradcli.reference.singular_places import BREAK, HOLE, SingularRange, joined_places
from gradcli.results import RegionVerdict, Stretch

SHARE, SHARE_OF_ALL = 0.15, 0.45
"""Shares of the time of a question for the search of stretches, and for it and its witnesses."""

FINEST = 2.0**-14
"""Part of the line from whose width down nothing is halved to prove it, nor is a proved stretch told apart from two
others that it is between."""

PLACES = ("kink", "jump", "pole", "edge")
"""Verdicts on boxes that may hold a place."""

PROVED = ("proved", "near-zero")


@dataclass(frozen=True)
class ProvedLine:
    """What is proved on a line.

    Attributes:
        places: Ranges that may hold a place without a derivative; None where the search ended early.
        stretches: The stretches of the line by verdict, in order.
    """

    places: Sequence[SingularRange] | None
    stretches: tuple[Stretch, ...]


def proved_line(
    bound_function: BoundFunction, direction: Mapping[str, Array] | None, low: float, high: float
) -> ProvedLine | None:
    """Find where torch's numbers are proved along a range; None if nothing is known.

    Args:
        bound_function: A function of one element, at a point.
        direction: How its variables move from the point; None where the range is that of its one number.
        low: The lower end of the range.
        high: The upper end.
    """
    all_seconds = SECONDS * budget_factor()
    try:
        _ = bound_function.value  # so that torch is there, which takes a while
        with part_limit(SHARE_OF_ALL * all_seconds):
            box = _box(bound_function, direction, low, high)
            _ = recorded_at(box.bound_function)
            regions = regions_of(box, TOLERANCE[bound_function.dtype].rtol, SHARE * all_seconds, FINEST)
            if regions.stopped and not np.isin(regions.verdicts.astype(str), PROVED).any():
                return None
            found = _found(box, regions)
    except (GradcliError, NoRuleError, OverTimeError):
        return None
    return ProvedLine(None if regions.stopped else _places(box, regions), tuple(_stretches(regions, found, high - low)))


def _box(bound_function: BoundFunction, direction: Mapping[str, Array] | None, low: float, high: float) -> MovingBox:
    """Ask of the one number, or of the parameter of a line; of code, where its recording is the function.

    Raises:
        GradcliError: The code may do something else there.
    """
    line = None
    if direction is not None:
        line = dict(bound_function.arrays), direction
        bound_function = on_line(bound_function, direction, parameter_of(bound_function), low)
    (name,) = bound_function.wrt
    ranges = {name: f"{low}..{high}"}
    require_recorded(AskedBox(bound_function, ranges, {name: (np.array(low), np.array(high))}))
    is_recorded = bound_function.recording is not None
    return MovingBox(bound_function, ranges, np.array([low]), np.array([high]), is_recorded, line)


def _found(box: MovingBox, regions: JudgedRegions) -> RegionVerdict:
    """Judge points of what is not proved for no other reason than its rounding, and name it."""
    boxes = regions.boxes.take(regions.verdicts == "open")
    if not len(boxes):
        return "open"
    low, high = boxes.low[0], boxes.high[0]
    chosen = np.unique([np.argmin(high - low), np.argmin(low), np.argmax(high)])  # the narrowest is next to a place
    verdict = witnessed(box, middle_of(boxes.low, boxes.high)[:, chosen])
    return "open" if verdict is None else FOUND.get(verdict, "open")


def _places(box: MovingBox, regions: JudgedRegions) -> list[SingularRange]:
    """Join boxes that may hold a place; one is a hole where an operation has no value."""
    chosen = np.isin(regions.verdicts.astype(str), PLACES)
    if not chosen.any():
        return []
    lows, highs, verdicts = regions.boxes.low[0, chosen], regions.boxes.high[0, chosen], regions.verdicts[chosen]
    middles = zip(verdicts, lows / 2 + highs / 2, strict=True)
    has_value = [verdict != "edge" or _has_value(box, at) for verdict, at in middles]
    lacks = np.where((verdicts == "pole") | ~np.array(has_value), HOLE, BREAK)
    return joined_places(lows, highs, lacks, (float(box.low[0]), float(box.high[0])))


def _has_value(box: MovingBox, at: float) -> bool:
    """Tell whether torch has a value at a number."""
    return bool(np.isfinite(box.question_at(np.array([at])).value).all())


def _stretches(regions: JudgedRegions, found: RegionVerdict, length: float) -> Iterator[Stretch]:
    """Join boxes next to each other of one verdict, in order."""
    order = np.argsort(regions.boxes.low[0], kind="stable")
    lows, highs = regions.boxes.low[0, order].tolist(), regions.boxes.high[0, order].tolist()
    verdicts = [found if one == "open" else one for one in regions.verdicts[order].tolist()]
    pieces = [Stretch(*one) for one in zip(verdicts, lows, highs, strict=True)]
    joined = list(_joined(pieces))
    for n in range(1, len(joined) - 1):
        before, one, after = joined[n - 1 : n + 2]
        is_within = before.verdict == after.verdict not in (*PLACES, *PROVED)
        if is_within and one.verdict in PROVED and one.high - one.low < FINEST * length:
            joined[n] = Stretch(before.verdict, one.low, one.high)
    yield from _joined(joined)


def _joined(pieces: Sequence[Stretch]) -> Iterator[Stretch]:
    for verdict, group in itertools.groupby(pieces, lambda one: one.verdict):
        own = list(group)
        yield Stretch(verdict, own[0].low, own[-1].high)

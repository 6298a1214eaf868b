"""Where torch's numbers are proved along a line, and the places of it that may be singular: by the check of all points.

The check is that of the part `everywhere`.  Where it knows nothing, as of code that branches on the line, there are no
stretches, and places are those that bounds of the core find.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradcli.parts import is_listed
from gradcli.parts.plot.moving_function import MovingFunction
from gradcli.reference.singular_places import SingularRange
from gradcli.results import MarkedRange, Stretch


@dataclass(frozen=True)
class ProvedPart:
    """What the check of all points knows of a line.

    Attributes:
        places: The places that may be singular; None where it does not know all of them.
        stretches: The verdicts, in order; none where it knows nothing.
    """

    places: Sequence[SingularRange] | None = None
    stretches: tuple[Stretch, ...] = ()

    def named(self, spans: Sequence[MarkedRange]) -> list[MarkedRange]:
        """Tell ranges in which y is beyond the numbers of torch from those in which it has no value."""
        over = [one for one in self.stretches if one.verdict == "overflow"]
        return [
            replace(span, kind="overflow") if span.kind == "undefined" and _is_within(span, over) else span
            for span in spans
        ]


def _is_within(span: MarkedRange, stretches: Sequence[Stretch]) -> bool:
    """Tell whether stretches make up most of a range."""
    shared = (max(0.0, min(span.high, one.high) - max(span.low, one.low)) for one in stretches)
    return sum(shared) > (span.high - span.low) / 2


def proved_of(line: MovingFunction, low: float, high: float) -> ProvedPart:
    """Check all points of a line."""
    bound, direction = line.bound, line.directions[0]
    if math.prod(bound.shape) != 1 or list(direction) != list(bound.wrt):
        return ProvedPart()
    own, start = direction.get(line.name), line.start.get(line.name)
    is_number = own is not None and start is not None and bool((own == 1).all() and (start == 0).all())
    if is_listed("everywhere"):
        from gradcli.parts.everywhere import proved_line

        if (found := proved_line(bound, None if is_number else direction, low, high)) is not None:
            # Of second derivatives more places are singular.
            return ProvedPart(found.places if line.order == 1 else None, found.stretches)
    return ProvedPart()

"""Limits on rays and curves into a point, and words for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gradcli.crosscheck.compare import to_float
from gradcli.reference.balls import Ball
from gradcli.reference.directional_series import Element
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.series import CONSTANT, Absent, Divergent, Series, Undecided


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit on a ray: a finite ball, infinite, absent (no value), or unknown."""

    kind: Literal["finite", "infinite", "absent", "unknown"]
    ball: Ball | None = None

    @classmethod
    def from_element(cls, element: Element) -> Limit:
        """Return the limit of an element."""
        if isinstance(element, Absent):
            return cls("absent")
        if isinstance(element, Divergent):
            return cls("infinite")
        if isinstance(element, Undecided):
            return cls("unknown")
        if element.is_bounded:
            return cls("finite", element.constant)
        is_known = bool(element.terms) and element.terms[0][0] < CONSTANT and not element.terms[0][1].contains(0)
        return cls("infinite" if is_known else "unknown")

    @classmethod
    def of_slope(cls, series: Series, order: int = 1) -> Limit:
        """Return the derivative of a series by the distance, of an order."""
        try:
            slope = series.derivative(order)
        except Undecided:
            return cls("unknown")
        return cls("infinite") if slope is None else cls("finite", slope)

    def meets(self, other: Limit) -> bool:
        """Tell whether both are finite and may be the same number."""
        return self.ball is not None and other.ball is not None and bool(self.ball.overlaps(other.ball))

    def plus(self, other: Limit) -> Limit:
        """Return the sum of two finite limits; else the first."""
        return self if self.ball is None or other.ball is None else Limit(self.kind, self.ball + other.ball)

    def times(self, factor: float) -> Limit:
        """Multiply a finite limit by a factor."""
        return self if self.ball is None else Limit(self.kind, self.ball * factor)


def sides_in_words(left: Limit, right: Limit, of: str = "it") -> str:
    """Describe the slopes on both sides, of which at least one is not finite.

    Args:
        left: The slope on the left.
        right: The slope on the right.
        of: What has these slopes, if a side has a finite one: that of an operation inside may be another.
    """
    if left.kind == right.kind == "infinite":
        return "it grows without bound"
    words = {"infinite": "grows without bound", "absent": "does not exist", "unknown": "is not known"}
    found = [
        f"{words.get(one.kind) or f'tends to {midpoint(one.ball)}'} on the {name}"
        for name, one in (("left", left), ("right", right))
    ]
    return f"{of if 'finite' in (left.kind, right.kind) else 'it'} {' and '.join(found)}"


def midpoint(ball: Outcome | None) -> str:
    """Write the midpoint of an outcome for messages; `nothing` without one."""
    return "nothing" if ball is None or isinstance(ball, Undefined) else shown_number(to_float(ball))


def shown_number(number: float) -> str:
    """Write a float for messages: all digits, no `.0`, no -0."""
    return repr(number + 0.0).removesuffix(".0")

"""Entries whose truth went through slopes that were measured, of a call that cannot be read.

    agree       torch's number is within the error of the measurement, which is small
    disagree    the error cannot explain the difference
    unchecked   the error is so large that a mistake of a thousandth would be hidden

Nothing of them is proven.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from flint import arb

from gradcli.crosscheck.point import Numbers
from gradcli.language.program.opaque import MeasuredNumbers
from gradcli.language.program.wengert import Line
from gradcli.reference.balls import Ball
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Plan
from gradcli.results import Entry

LARGEST_ERROR = 5e-4
"""Largest error of a truth that a number may agree with, relative to the largest entry of the gradient."""

ROUNDINGS = 2**10
"""Largest difference that rounding may explain, in roundings of the largest entry of the gradient."""

USUAL_ROUNDINGS = 16
"""Largest difference, in the same roundings, of numbers that agree: such as those that are 0 but for rounding."""

MOST_DIGITS = 15
"""Most digits to which a float64 is said to be known."""


class MeasuredTruth(NamedTuple):
    """What is known of the truth of an entry besides its ball.

    Attributes:
        scale: The largest entry of the same gradient.
        epsilon: The machine epsilon of torch's number.
        called: The function whose slopes were measured.
        noted: What makes its errors large, with a way out.
        unknown: The reason why its slopes are not known; empty if they are.
    """

    scale: float
    epsilon: float
    called: str
    noted: str
    unknown: str


Measured = Callable[[Entry], MeasuredTruth | None]
"""Tells of an entry what is known if its truth was measured; None of another."""


def digits_of(truth: Ball, scale: float) -> int:
    """Count the digits to which a truth is known, next to the largest entry.

    >>> digits_of(arb(2, 3e-9), 1.0)
    8
    """
    radius, size = float(truth.rad()), max(abs(float(truth.mid())), scale)
    if not math.isfinite(radius):
        return 0
    relative = radius / size if size else float(radius > 0)
    return MOST_DIGITS if relative <= 10.0**-MOST_DIGITS else max(0, math.floor(-math.log10(relative)))


def shortened(truth: Ball) -> Ball:
    """Round the middle of a ball to the digits that are known, and one more.

    >>> float(shortened(arb(1.23456789, 3e-4)).mid())
    1.23457
    """
    radius, middle = float(truth.rad()), float(truth.mid())
    if not (math.isfinite(radius) and math.isfinite(middle) and radius > 0):
        return truth
    rounded = round(middle, 1 - math.floor(math.log10(radius)))
    return arb(rounded, radius + abs(middle - rounded))


@dataclass(frozen=True)
class MeasuredEntries:
    """Entries of a Jacobian that went through measured slopes, by direction and row.

    Attributes:
        rows: The rows of each direction, with what was measured; None for all rows.
        numbers: Torch's numbers.
        usual: A usual size of the derivatives by each variable, for those that are all 0.
    """

    rows: Mapping[Direction, Mapping[int | None, MeasuredNumbers]]
    numbers: Numbers
    usual: Mapping[str, float]

    @classmethod
    def following(cls, plan: Plan, lines: Iterable[tuple[Line, MeasuredNumbers]], numbers: Numbers) -> MeasuredEntries:
        """Follow the directions of a plan through the lines that multiply by measured slopes."""
        rows: dict[Direction, dict[int | None, MeasuredNumbers]] = {}
        for line, measured in lines:
            reached = plan.reached.get(line.symbol)
            if reached is None:
                continue
            try:
                followed: Sequence[tuple[int, int | None]] = [
                    *zip(*(n.tolist() for n in plan.reference.wide.followed({line.symbol: reached})), strict=True)
                ]
            except OverBudgetError:
                followed = [(d, None) for d in np.unique(reached[0]).tolist()]
            for d, row in followed:
                found = rows.setdefault(plan.directions[d], {})
                if row not in found or _is_worse(measured, found[row]):
                    found[row] = measured
        y = float(np.abs(numbers.value[np.isfinite(numbers.value)]).max(initial=0.0))
        sizes = {str(symbol): float(np.abs(x).max(initial=0.0)) for symbol, x in plan.reference.inputs.items()}
        return cls(rows, numbers, {name: y / size if size else y for name, size in sizes.items()})

    def of_entry(self, direction: Direction, row: int | None) -> MeasuredTruth | None:
        """Give what is known of an entry; of vᵀJ without a row; None of one that was not measured."""
        found = self.rows.get(direction, {})
        known = found.values() if row is None else [found[at] for at in (row, None) if at in found]
        worst = next((one for one in known if _reason(one)), next(iter(known), None))
        if worst is None or worst.slopes is None:
            return None
        epsilon = float(np.finfo(self.numbers.dtype).eps)
        return MeasuredTruth(
            self._largest[str(direction[0])], epsilon, worst.called, worst.slopes.noted, worst.slopes.unknown
        )

    @cached_property
    def _largest(self) -> Mapping[str, float]:
        """The largest number of each block."""
        found = {}
        for symbol, _ in self.rows:
            if str(symbol) not in found:
                block = self.numbers.block(str(symbol))
                largest = float(np.abs(block[np.isfinite(block)]).max(initial=0.0))
                found[str(symbol)] = largest or self.usual.get(str(symbol), 0.0)
        return found


def _reason(one: MeasuredNumbers) -> str:
    return "" if one.slopes is None else one.slopes.unknown


def _is_worse(one: MeasuredNumbers, other: MeasuredNumbers) -> bool:
    return bool(_reason(one)) and not _reason(other)


def judge_measured(
    entry: Entry, truth: Ball, allowed: Ball, known: MeasuredTruth, *, is_strict: bool, is_last: bool
) -> Entry | None:
    """Give an entry its verdict by a truth that was measured; None if more precision may decide.

    Args:
        entry: Torch's number, which is finite.
        truth: The truth, as far as it is known.
        allowed: The largest distance from the truth that agrees.
        known: What else is known of it.
        is_strict: Whether the user asked for that distance.
        is_last: Whether no more precision helps.
    """
    assert entry.torch is not None, "what is compared is a number"  # noqa: S101
    number, radius = entry.torch, float(truth.rad())
    digits, scale = digits_of(truth, known.scale), max(known.scale, abs(float(truth.mid())))
    distance = abs(float((truth.mid() - arb(number)).mid()))
    size = abs(float(truth.mid()))
    error = distance / size if size else None if distance == 0 else math.inf
    found = entry.judged(
        truth=shortened(truth), proven=False, digits=digits, relative_error=error, note="", one_sided=None
    )
    if abs(truth - arb(number)) > allowed:
        if distance - radius > ROUNDINGS * known.epsilon * scale:
            note = f"the slopes of {known.called}, measured, do not have it: their error cannot explain it"
            return found.judged(verdict="disagree", note=note)
        if distance - radius > (0 if is_strict else USUAL_ROUNDINGS * known.epsilon * scale):
            note = "torch's number is not the truth, and whether rounding explains it is not known"
            return found.judged(verdict="unchecked", note=note) if is_last else None
    if radius <= LARGEST_ERROR * scale and not (is_strict and not allowed >= radius):
        return found.judged(verdict="agree")
    if not is_last:
        return None
    if is_strict and radius <= LARGEST_ERROR * scale:
        note = f"the slopes of {known.called} are measured to {digits} digits, and the tolerance asks for more"
    else:
        note = known.noted
    return found.judged(verdict="unchecked", note=note)

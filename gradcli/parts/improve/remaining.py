"""Say what a better form still loses: how many bits, and from where to where.

Lost is what a check would not let pass.  Of one variable the ends of each stretch are found by bisection over
magnitudes between a point that is lost and the next one that is not; of several variables one point is named.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gradcli.language.program.wengert import Program
from gradcli.parts.improve.improving import NARROW, STEPS, MeasureAt, between
from gradcli.parts.improve.measuring import LostBits, Measure
from gradcli.report.numbers import digits

MOST_STRETCHES = 3
"""Most stretches of lost points that are named; of more, their first point is."""

SHOWN_DIGITS = 2
"""Digits of the end of a stretch, which is found to a tenth of itself."""


def still_lost(program: Program, loss: LostBits, measure: Measure, measure_at: MeasureAt, moving: Sequence[str]) -> str:
    """Say what a form loses more than a check lets pass, and where; empty if it is nothing.

    Args:
        program: The form.
        loss: The bits that it loses at the measured points.
        measure: The measure of forms at these.
        measure_at: Makes the measure of forms at another point.
        moving: The names of the variables whose values differ from point to point.
    """
    count = loss.asked or len(loss.bits)
    bits, points = loss.bits[:count], measure.points[:count]
    lost = [n for n in range(count) if bits[n] > measure.agreeing]
    if not lost:
        return ""
    worst = max(bits[n] for n in lost)
    what = "all digits" if worst >= measure.digits else f"up to {round(worst)} of {measure.digits} bits"
    if len(lost) == count:
        return f"{what} at {'the point' if count == 1 else 'every point that was measured'}"
    if len(moving) != 1 or points[0][moving[0]].ndim:
        at = ", ".join(f"{name} = {digits(points[lost[0]][name])}" for name in moving if not points[0][name].ndim)
        return f"{what} at {len(lost)} of {count} points{f', such as {at}' if at else ''}"
    (name,) = moving
    keys = [float(point[name]) for point in points]
    order = sorted(range(count), key=keys.__getitem__)
    if loss.asked:
        return f"{what} at " + ", ".join(f"{name} = {digits(keys[n])}" for n in order if n in lost)

    def is_lost(value: float) -> bool | None:
        at = measure_at({**points[0], name: np.asarray(value, points[0][name].dtype)})
        found = at.lost_bits(program)
        return None if found is None else found.worst > measure.agreeing

    stretches = list(_stretches([keys[n] for n in order], [n in lost for n in order], is_lost))
    if len(stretches) > MOST_STRETCHES:
        return f"{what} at {len(lost)} of {count} points, such as {name} = {digits(keys[lost[0]])}"
    return f"{what} " + ", and ".join(_in_words(name, *ends) for ends in stretches)


def _stretches(
    keys: Sequence[float], is_bad: Sequence[bool], is_lost: Callable[[float], bool | None]
) -> Iterator[tuple[float | None, float | None]]:
    """Yield the ends of each run of lost numbers; None where it begins or ends with the range."""
    first = 0
    for bad, run in itertools.groupby(is_bad):
        last = first + len(list(run)) - 1
        if bad:
            low = None if first == 0 else _end(keys[first - 1], keys[first], is_lost)
            high = None if last == len(keys) - 1 else _end(keys[last + 1], keys[last], is_lost)
            yield low, high
        first = last + 1


def _end(kept: float, lost: float, is_lost: Callable[[float], bool | None]) -> float:
    """Find the number from which on digits are lost, between one where they are kept and one where they are not."""
    for _ in range(STEPS):
        low, high = sorted((kept, lost))
        if low < 0 < high or (abs(high) <= NARROW * abs(low) and abs(low) <= NARROW * abs(high)):
            break
        middle = between(low, high)
        match is_lost(middle):
            case None:
                break
            case True:
                lost = middle
            case False:
                kept = middle
    return lost


def _in_words(name: str, low: float | None, high: float | None) -> str:
    first, last = ("" if end is None else f"{name} ≈ {end:.{SHOWN_DIGITS}g}" for end in (low, high))
    if low is None:
        return f"up to {last}"
    return f"from {first} on" if high is None else f"from {first} to {last}" if first != last else f"near {first}"

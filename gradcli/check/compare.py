"""Is torch's number the truth, to within the tolerance?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from gradcli.reference.balls import Ball
from gradcli.reference.float_formats import Rounding
from gradcli.results import Entry, Verdict

BITS = (64, 128, 256, 1_152, 4_096)
"""Precisions of the balls, one after the other until they can decide.

At the last but one, what cannot be told from 0 is smaller than any float, beside terms of ordinary size.
"""

FIRST_BITS, ZERO_BITS, LAST_BITS = BITS[0], BITS[-2], BITS[-1]

KNOWN_BITS = 53
"""Bits of the truth that must be known before torch's number is called wrong, so that the truth can be printed."""

FORMATS: Mapping[str, Rounding] = {"float64": Rounding(53, -1074), "float32": Rounding(24, -149)}
"""What each dtype rounds."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number of a dtype may be from the truth: |number - truth| <= atol + rtol*|truth|.

    It is strict if the user gave it; else a 0 may also be off by the rounding of the terms that cancel to it.
    """

    rtol: float
    atol: float = 0.0
    is_strict: bool = False
    dtype: str = "float64"


TOLERANCE: Mapping[str, Tolerance] = {
    "float64": Tolerance(2.0**-30),
    "float32": Tolerance(2.0**-16, dtype="float32"),
}
"""The error that still agrees: n roundings leave about n * 2**-53 (2**-24 in float32), so this admits chains of 2**23
(2**8) operations, and functions that torch computes to ten (five) digits; few wrong formulas are as close."""


def compare(entry: Entry, truth: Ball, tolerance: Tolerance, *, is_last: bool) -> Entry | None:
    """The entry with its verdict, None if more precision may decide; a wrong number is `disagree` until explained.

    What was said of it before is forgotten.
    """
    number = number_of(entry)
    is_known = is_last or truth.is_exact() or truth.rel_accuracy_bits() >= KNOWN_BITS or _is_nothing(number, truth)
    if not math.isfinite(number):
        return _not_finite(entry, truth, tolerance.dtype) if is_known else None
    distance, size = abs(truth - arb(number)), abs(truth)
    allowed = arb(tolerance.atol) + arb(tolerance.rtol) * size
    if distance <= allowed:
        error = 0.0 if distance == 0 else to_float(distance.upper() / size.lower()) if size.lower() > 0 else None
        return _compared(entry, truth, "agree", error)
    if distance < arb(2) ** FORMATS[tolerance.dtype].smallest:
        return _compared(entry, truth, "agree")  # no number of this format is nearer
    if distance > allowed and is_known:
        error = to_float(distance.mid() / size.mid()) if size > 0 else math.inf
        # Under a strict tolerance the correctly rounded number may still be too far: nothing better exists.
        with np.errstate(over="ignore"):  # a truth beyond float32 is infinite there
            is_nearest = float(np.dtype(tolerance.dtype).type(to_float(truth))) == number
        return _compared(entry, truth, "agree" if is_nearest else "disagree", error)
    if not is_last:
        return None
    note = f"the truth is not known well enough at {LAST_BITS:,} bits"
    return replace(_compared(entry, truth, "unchecked", note=note), proven=False)


def _compared(entry: Entry, truth: Ball, verdict: Verdict, error: float | None = None, note: str = "") -> Entry:
    """The entry with a verdict and a truth, made by its fields: faster than `replace` where there are thousands."""
    return Entry(
        variable=entry.variable,
        row=entry.row,
        column=entry.column,
        verdict=verdict,
        torch=entry.torch,
        relative_error=error,
        note=note,
        proven=True,
        of=entry.of,
        by=entry.by,
        truth=truth,
    )


def noun(entry: Entry) -> str:
    """The word for the number in messages: a value of y, or a derivative."""
    return "value" if entry.variable is None else "derivative"


def number_of(entry: Entry) -> float:
    """Torch's number of an entry that has one."""
    assert entry.torch is not None, "what is compared is a number"  # noqa: S101
    return entry.torch


def known_truth(truth: Ball | None) -> float | None:
    """An enclosure to float64; None without one, or if it is not finite."""
    if truth is None or not truth.is_finite():
        return None
    return 0.0 if truth.contains(0) else to_float(truth)  # what cannot be told from 0 is called 0


def to_float(ball: Ball) -> float:
    """The midpoint of a ball as a float64, never -0."""
    return float(ball.mid()) + 0.0


def _is_nothing(number: float, truth: Ball) -> bool:
    """Whether the truth may be 0, and is nothing beside torch's number: no number of bits shows that it is 0."""
    if not math.isfinite(number):
        return False
    return bool(truth.contains(0) and abs(truth).upper() < abs(arb(number)) * arb(2) ** -(2 * KNOWN_BITS))


def _not_finite(entry: Entry, truth: Ball, dtype: str) -> Entry:
    if abs(truth) > float(np.finfo(dtype).max):
        note = f"the {noun(entry)} exists but is beyond the range of {dtype}"
        return _compared(entry, truth, "inaccurate", note=note)
    return _compared(entry, truth, "nan-trap", note=f"the {noun(entry)} exists, and torch gives {entry.torch}")

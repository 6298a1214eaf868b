"""Is torch's number the truth, to within the tolerance?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from flint import arb

from gradcli.check.entry import Entry, Tolerance, to_float
from gradcli.check.target import Target
from gradcli.reference.balls import Ball
from gradcli.reference.float_formats import Rounding

FIRST_BITS, LAST_BITS = 64, 4_096
"""Precision starts at the first and doubles until the balls can decide, at most to the last."""

KNOWN_BITS = 53
"""Bits of the truth that must be known before torch's number is called wrong, so that the truth can be printed."""

FORMATS: Mapping[str, Rounding] = {"float64": Rounding(53, -1074), "float32": Rounding(24, -149)}
"""What each dtype rounds."""


def compare(target: Target, truth: Ball, tolerance: Tolerance, dtype: str, *, is_last: bool) -> Entry | None:
    """The entry's verdict, or None if more precision may decide; a wrong number is `disagree` until explained."""
    is_known = is_last or truth.is_exact() or truth.rel_accuracy_bits() >= KNOWN_BITS or _is_nothing(target, truth)
    if not math.isfinite(target.torch):
        return _not_finite(target, truth, dtype) if is_known else None
    distance, size = abs(truth - arb(target.torch)), abs(truth)
    allowed = arb(tolerance.atol) + arb(tolerance.rtol) * size
    if distance <= allowed:
        error = 0.0 if distance == 0 else to_float(distance.upper() / size.lower()) if size.lower() > 0 else None
        return target.entry("agree", truth, error)
    if distance < arb(2) ** FORMATS[dtype].smallest:
        return target.entry("agree", truth)  # no number of this format is nearer
    if distance > allowed and is_known:
        error = to_float(distance.mid() / size.mid()) if size > 0 else math.inf
        is_nearest = float(np.dtype(dtype).type(to_float(truth))) == target.torch
        return target.entry("agree" if is_nearest else "disagree", truth, error)
    if not is_last:
        return None
    return target.entry(
        "unchecked", truth, note=f"the truth is not known well enough at {LAST_BITS:,} bits", proven=False
    )


def _is_nothing(target: Target, truth: Ball) -> bool:
    """Whether the truth may be 0, and is nothing beside torch's number: no number of bits shows that it is 0."""
    if not math.isfinite(target.torch):
        return False
    return bool(truth.contains(0) and abs(truth).upper() < abs(arb(target.torch)) * arb(2) ** -(2 * KNOWN_BITS))


def _not_finite(target: Target, truth: Ball, dtype: str) -> Entry:
    largest = float(np.finfo(dtype).max)
    if abs(truth) > largest:
        return target.entry("inaccurate", truth, note=f"the {target.noun} exists but is beyond the range of {dtype}")
    return target.entry("nan-trap", truth, note=f"the {target.noun} exists, and torch gives {target.torch}")

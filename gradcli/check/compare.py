"""Is torch's number the truth, to within the tolerance; and if not, can the rounding of its precision explain it?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from flint import arb

from gradcli.check.entry import Entry, Tolerance, to_float
from gradcli.check.point import Point
from gradcli.check.target import Sight, Target
from gradcli.reference.balls import Ball, precision
from gradcli.reference.duals import OverBudgetError, Reference
from gradcli.reference.rounding import Rounding
from gradcli.reference.rules import Outcome, Trouble
from gradcli.results import Verdict

FIRST_BITS, LAST_BITS = 64, 4_096
"""Precision starts at the first and doubles until the balls can decide, at most to the last."""

KNOWN_BITS = 53
"""Bits of the truth that must be known before torch's number is called wrong, so that the truth can be printed."""

FORMATS: Mapping[str, Rounding] = {"float64": Rounding(53, -1074), "float32": Rounding(24, -149)}
"""What each dtype rounds: the balls that cover it bound what rounding can explain."""

DIGITS: Mapping[str, int] = {"float64": 16, "float32": 7}
"""Decimal digits of each dtype."""

SLACK = 8
"""How much wider than those balls an error may be, as torch may fuse or reorder operations."""


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


def explained(
    point: Point, rows: Sequence[int] | None, wrong: Sequence[tuple[Target, Entry]], dtype: str
) -> list[Entry]:
    """What the balls of the dtype's own rounding cover is `inaccurate`: digits were lost, no rule is wrong.

    They are taken of the Program as typed, as torch rounds where its own functions end.

    Args:
        point: The Program and its inputs.
        rows: Of y, that may matter; None for all.
        wrong: The targets whose number is not the truth, with their entries.
        dtype: Of torch.
    """
    entries = [entry for _, entry in wrong]
    if not wrong:
        return entries
    directions = list(dict.fromkeys(t.place for t, _ in wrong if t.variable is not None))
    rounding = FORMATS[dtype]
    try:
        plan = Reference(point.typed, point.typed_shapes, point.inputs).plan(
            directions, None if rows is None else np.array(rows, dtype=np.int64)
        )
    except OverBudgetError:
        return entries
    sight = Sight(plan.run(rounding.bits, rounding))
    found = []
    for target, entry in wrong:
        direction = directions.index(target.place) if target.variable is not None else -1
        with precision(rounding.bits):
            covered = replace(target, direction=direction)
            note = (
                _excuse(covered, covered.truth(sight, as_added=True), entry, dtype)
                if _is_judged(covered, sight)
                else ""
            )
        verdict: Verdict = "inaccurate" if note else "disagree"
        found.append(replace(entry, verdict=verdict, note=note or "rounding does not explain it"))
    return found


def _is_judged(target: Target, sight: Sight) -> bool:
    return target.variable is not None or target.row in sight.values


def _excuse(target: Target, rounded: Outcome, entry: Entry, dtype: str) -> str:
    """How rounding explains a wrong number, empty if it does not."""
    if isinstance(rounded, Trouble):
        effect = "leave the domain" if rounded.kind == "domain" else "take another branch"
        return f"rounding in {dtype} may {effect}: {rounded.reason}"
    if abs(rounded.mid() - arb(target.torch)) > SLACK * rounded.rad():
        return ""
    count = surviving(entry.error, dtype)
    return f"{count} of {DIGITS[dtype]} digits survive{'s' * (count == 1)} the rounding of {dtype}"


def surviving(error: float | None, dtype: str) -> int:
    """How many decimal digits are right at a relative error.

    >>> surviving(2e-4, "float64"), surviving(float("inf"), "float64")
    (3, 0)
    """
    if error is None or not math.isfinite(error):
        return 0
    return DIGITS[dtype] if error == 0 else max(0, min(DIGITS[dtype], math.floor(-math.log10(error))))

"""The derivative at the point that is given, where the enclosure has none: what the check itself says of it there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from gradcli.check.entry import TOLERANCE
from gradcli.check.sides import Missing
from gradcli.check.singular import classify_singularities
from gradcli.check.target import ReferenceValues, Target
from gradcli.claims.evaluation import FIRST_BITS, Comparison, Entry, Look, Seen, moved
from gradcli.reference.balls import Ball, precision
from gradcli.reference.rules import Undefined


def with_limits(comparison: Comparison, look: Look) -> tuple[Look, str]:
    """A look in which truths are limits, too, where there are no others; and a remark on them.

    Args:
        comparison: The claim.
        look: At the point that is given.
    """
    found = _limits(comparison, look)
    with precision(FIRST_BITS):
        claims = comparison.claims(look.inputs, look.v, FIRST_BITS) if found else {}
        seen = [
            Seen(entry, ball, claimed, comparison.is_apart(ball, claimed))
            for entry, ball in found.items()
            if not isinstance(claimed := claims[entry], Undefined)
        ]
    if not seen:
        return look, ""
    settled = {one.entry for one in seen}
    missing = {entry: reason for entry, reason in look.missing.items() if entry not in settled}
    remark = f"at the point the truth is a limit, as {look.missing[seen[0].entry]}"
    return replace(look, seen=(*look.seen, *seen), missing=missing), remark


def _limits(comparison: Comparison, look: Look) -> Mapping[Entry, Ball]:
    """What the check finds of the entries without a truth from what the function does around the point."""
    if not set(look.missing) - set(look.kinks):
        return {}
    plan = moved(comparison.truth, look.inputs)
    sight = ReferenceValues(plan.run(FIRST_BITS))
    number = {column: d for d, (_, column) in enumerate(plan.directions)}
    missing = []
    for entry in look.missing:
        weights = None if entry.row >= 0 else comparison.weights(look.v)
        name = str(comparison.subject.variable)
        target = Target(name, entry.column, entry.row, number[entry.column], math.nan, weights)
        trouble = target.truth(sight)
        if entry not in look.kinks and isinstance(trouble, Undefined):
            missing.append(Missing(target, trouble, frozenset(target.rows(sight))))
    decided = classify_singularities(plan.reference, missing, TOLERANCE["float64"], "float64")
    return {Entry(one.row, one.column): one.ball for one in decided if one.ball is not None}

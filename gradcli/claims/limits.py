"""The derivative at the point that is given, where the enclosure has none: what the check itself says of it there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from gradcli import results
from gradcli.check.case import Case, ReferenceValues
from gradcli.check.compare import TOLERANCE
from gradcli.check.point import flat, unravel
from gradcli.check.sides import Singular
from gradcli.check.singular import classify_singularities
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
    seen = ReferenceValues(plan.run(FIRST_BITS), plan.directions)
    # There is no number of torch to judge here: the tolerance is asked for, and the truth alone is used.
    case = Case(plan.reference, TOLERANCE["float64"], comparison.weights(look.v))
    name = str(comparison.subject.variable)
    x, y = (plan.reference.shapes[s] for s in (comparison.subject.variable, plan.reference.program.output))
    singular = []
    for entry in look.missing:
        row = None if entry.row < 0 else unravel(entry.row, y)
        asked = results.Entry(name, row, unravel(entry.column, x), "unchecked", math.nan)
        cause = case.truth(asked, seen)
        if entry not in look.kinks and isinstance(cause, Undefined):
            singular.append(Singular(asked, cause, frozenset(case.rows(asked, seen))))
    return {
        Entry(-1 if one.row is None else flat(one.row, y), flat(one.column or (), x)): one.truth
        for one in classify_singularities(case, singular)
        if one.truth is not None
    }

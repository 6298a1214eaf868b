"""Which numbers of an answer are not to be trusted, by where they stand, and the signs beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gradcli.report.components import Component
from gradcli.report.document import TONES, Role
from gradcli.results import SEVERITY, Array, Entry, Judged, Verdict

Index = tuple[int, ...]
Place = tuple[str, str | None, str | None, Index | None, Index | None]
"""What an entry belongs to, the variable of its row in a Hessian, its variable, its row and its column."""

ROUNDING = 1e-12
"""What is left of jumps that cancel, relative to their sizes."""

MARKS = {"agree": "✓", "kink": "∧", "unchecked": "?", "undefined": "?"}


def mark(verdict: Verdict) -> str:
    """The sign of a verdict."""
    return MARKS.get(verdict, "✗")


def tone(verdict: Verdict) -> Role:
    """The role of a number with this verdict: one that is not the truth is bad, whatever explains it."""
    return "bad" if mark(verdict) == "✗" else TONES[verdict]


def wrong(answer: Judged) -> dict[Place, Entry]:
    """The entries that do not agree, by where they are; one of a Hessian stands for its mirror image too."""
    findings = () if answer.check is None else answer.check.findings
    found: dict[Place, Entry] = {
        (one.of, one.variable, one.by, one.column, one.row): one for one in findings if one.of == "hessian"
    }
    return found | {(one.of, one.by, one.variable, one.row, one.column): one for one in findings}


def of_product(found: Mapping[Place, Entry], name: str, v: Array) -> dict[Index, Verdict]:
    """The verdicts on elements of vᵀJ: their own, or the worst of what v weighs for them, which is no more certain.

    Kinks whose jumps of the slope add up to 0 leave it smooth.
    """
    own: dict[Index, Verdict] = {}
    parts: dict[Index, Verdict] = {}
    jumps: dict[Index, list[float]] = {}
    for (of, _, variable, row, column), entry in found.items():
        if of or variable != name or column is None:
            continue
        if row is None:
            own[column] = entry.verdict
        elif v[row] != 0:
            parts[column] = max(parts.get(column, entry.verdict), entry.verdict, key=SEVERITY.index)
            left, right = entry.one_sided or (math.nan, math.nan)
            jumps.setdefault(column, []).append(float(v[row]) * (right - left))
    smooth = [c for c, own in jumps.items() if abs(sum(own)) <= ROUNDING * sum(map(abs, own))]
    return {c: verdict for c, verdict in parts.items() if verdict != "kink" or c not in smooth} | own


def of_array(found: Mapping[Place, Entry], part: Component) -> dict[Index, Entry]:
    """The entries of one array, by their index: that of the row, of the column, or of both."""
    return {
        (row or ()) + (column or ()): entry
        for (of, by, variable, row, column), entry in found.items()
        if (of, by, variable) == (part.of, part.by, part.variable)
        and (row is not None or (column is not None and part.rows is None))
    }


def verdicts(found: Mapping[Index, Entry]) -> dict[Index, Verdict]:
    """The verdicts of entries."""
    return {place: entry.verdict for place, entry in found.items()}

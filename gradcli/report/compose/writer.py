"""Numbers as text: with fewer digits, listed or as tables; and marks on the doubtful ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from gradcli.notation import Notation
from gradcli.report import document as doc
from gradcli.report.components import Component
from gradcli.report.document import TONES, Role, line, lines
from gradcli.report.numbers import LONG, digits, in_a_line, rounded
from gradcli.results import SEVERITY, Array, Entry, Judged, Verdict
from gradcli.results.record import Record

Index = tuple[int, ...]
Place = tuple[str, str | None, str | None, Index | None, Index | None]
"""Quantity of an entry, the variable of its row in a Hessian, its variable, its row and its column."""

ROUNDING = 1e-12
"""Rounding left of jumps that cancel, relative to their sizes."""

MARKS = {"agree": "✓", "kink": "∧", "unchecked": "?", "undefined": "?"}


def mark(verdict: Verdict) -> str:
    """Get the sign of a verdict."""
    return MARKS.get(verdict, "✗")


def tone(verdict: Verdict) -> Role:
    """Get the role of a number with this verdict: a number other than the truth is bad, whatever explains it."""
    return "bad" if mark(verdict) == "✗" else TONES[verdict]


def wrong_of(answer: Judged) -> dict[Place, Entry]:
    """Index the entries that do not agree by their place; one of a Hessian stands for its mirror image too."""
    findings = () if answer.check is None else answer.check.findings
    found: dict[Place, Entry] = {
        (one.of, one.variable, one.by, one.column, one.row): one for one in findings if one.of == "hessian"
    }
    return found | {(one.of, one.by, one.variable, one.row, one.column): one for one in findings}


def of_product(found: Mapping[Place, Entry], name: str, v: Array) -> dict[Index, Verdict]:
    """Collect verdicts on elements of vᵀJ: their own, or else the worst of the entries that v weighs for them.

    A sum is no more certain than its worst entry; kinks whose jumps of the slope add up to 0 leave it smooth.
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
    """Index the entries of one array by row, by column, or by both."""
    return {
        (row or ()) + (column or ()): entry
        for (of, by, variable, row, column), entry in found.items()
        if (of, by, variable) == (part.of, part.by, part.variable)
        and (row is not None or (column is not None and part.rows is None))
    }


def verdicts(found: Mapping[Index, Entry]) -> dict[Index, Verdict]:
    """Map indices to the verdicts of their entries."""
    return {place: entry.verdict for place, entry in found.items()}


# -- numbers

Doubts = Mapping[Index, Verdict]
"""Verdicts on the elements of an array that are not to be trusted."""

_Item = TypeVar("_Item")


class Writer(Record):
    """Writer of numbers.

    Attributes:
        digits: Significant digits; None for all.
        is_full: Whether arrays are unfolded, as tables.
    """

    digits: int | None
    is_full: bool

    def number(self, number: Any) -> str:
        """Write a number."""
        return digits(self.rounded(number))

    def rounded(self, found: Any) -> Any:
        """Round an array, or a part of an answer, to as many digits."""
        return found if self.digits is None else rounded(found, self.digits)

    def listed(self, array: Array) -> str:
        """Write an array as it can be typed; of a long one, its ends."""
        return in_a_line(array, self.number)

    def cell(self, number: Any, found: Entry | None = None, role: doc.Role = "strong") -> doc.Line:
        """Write a number; a wrong one stands out, with the truth next to it."""
        if found is None:
            return line(doc.Styled(self.number(number), role))
        return line(doc.Styled(self.beside(number, found), tone(found.verdict)))

    def beside(self, number: Any, found: Entry) -> str:
        """Write a wrong number and the truth, with as many digits as it takes to tell them apart."""
        shown = self.number(number)
        if found.one_sided is not None:
            return f"{shown} {MARKS['kink']} {self.enclosed(found)}"
        if found.reference is None or found.verdict == "unchecked":
            return f"{shown} {mark(found.verdict)} {found.verdict}"
        if shown == (truth := self.number(found.reference)):
            shown, truth = digits(number), digits(found.reference)
        return f"{shown} ✗ truth {truth}"

    def marked(self, array: Array, doubts: Doubts, role: doc.Role = "strong") -> doc.Line:
        """List an array with its doubtful elements marked, or with a count of them."""
        if self.is_full:
            return line(doc.ArrayNumbers(array))
        shown = set(np.ndindex(array.shape)) if array.size <= LONG else set()
        parts = list(self._parts(array, doubts)) if shown and doubts else [doc.Styled(self.listed(array), role)]
        hidden = [verdict for place, verdict in doubts.items() if place not in shown]
        if hidden:
            worst = max(hidden, key=SEVERITY.index)
            parts.append(doc.Styled(f" {mark(worst)} {len(hidden)} {worst}", tone(worst)))
        return line(*parts)

    def _parts(self, array: Array, doubts: Doubts, at: Index = ()) -> Iterator[doc.Styled]:
        if array.ndim == 0:
            shown, verdict = self.number(array[()]), doubts.get(at)
            yield (
                doc.Styled(shown, "strong")
                if verdict is None
                else doc.Styled(f"{shown} {mark(verdict)}", tone(verdict))
            )
            return
        for n, inner in enumerate(array):
            yield doc.Styled(", " if n else "[", "strong")
            yield from self._parts(inner, doubts, (*at, n))
        yield doc.Styled("]", "strong")

    def arrays(self, arrays: Iterable[tuple[Notation, Array, Doubts]], header: str = "") -> doc.Table:
        """Tabulate arrays, a row each, with their shapes."""
        rows = []
        for label, array, doubts in arrays:
            cell = doc.EquationCell(label, doc.ArrayNumbers(array)) if self.is_full else self.marked(array, doubts)
            rows.append(lines(doc.Symbol(label), str(array.shape), cell))
        return doc.Table(lines("", "shape", header), tuple(rows))

    def enclosed(self, one: Entry) -> str:
        """Write the truth; where fewer digits of it are proven than a float has, with the radius.

        >>> wide = Entry("x", None, (0,), "inaccurate", 1.5, 1.25, radius=0.5)
        >>> Writer(None, True).enclosed(wide), Writer(None, False).enclosed(wide)
        ('1.25 ± 0.5', '1.25')
        """
        if one.one_sided is not None:
            left, right = map(self.number, one.one_sided)
            return f"left {left}, right {right}"
        if one.reference is None:
            return "none"
        is_wide = self.is_full and (one.radius or 0.0) > math.ulp(one.reference)
        return self.number(one.reference) + (f" ± {one.radius:.2g}" if is_wide else "")


def cut(rows: Sequence[_Item], count: int, most: int) -> tuple[_Item | None, ...]:
    """Keep the rows; of more than `most`, the ends."""
    if count <= most and len(rows) == count:
        return tuple(rows)
    half = most // 2
    return (*rows[:half], None, *rows[-half:])

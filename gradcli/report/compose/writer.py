"""Numbers as they are shown: with fewer digits, listed or as tables; and which of them are not to be trusted."""

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


def wrong_of(answer: Judged) -> dict[Place, Entry]:
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


# -- numbers

Doubts = Mapping[Index, Verdict]
"""Which elements of an array are not to be trusted."""

_Item = TypeVar("_Item")


class Writer(Record):
    """What writes numbers.

    Attributes:
        digits: How many they have; None for all.
        is_full: Whether arrays are unfolded, as tables.
    """

    digits: int | None
    is_full: bool

    def number(self, number: Any) -> str:
        """A number in digits."""
        return digits(self.rounded(number))

    def rounded(self, found: Any) -> Any:
        """An array, or a part of an answer, with as many digits."""
        return found if self.digits is None else rounded(found, self.digits)

    def listed(self, array: Array) -> str:
        """An array as it can be typed; of a long one, its ends."""
        return in_a_line(array, self.number)

    def cell(self, number: Any, found: Entry | None = None, role: doc.Role = "strong") -> doc.Line:
        """A number; one that is not the truth stands out, with the truth beside it."""
        if found is None:
            return line(doc.Styled(self.number(number), role))
        return line(doc.Styled(self.beside(number, found), tone(found.verdict)))

    def beside(self, number: Any, found: Entry) -> str:
        """A number that is not the truth, and the truth, with as many digits as it takes to tell them apart."""
        shown = self.number(number)
        if found.one_sided is not None:
            return f"{shown} {MARKS['kink']} {self.enclosed(found)}"
        if found.reference is None or found.verdict == "unchecked":
            return f"{shown} {mark(found.verdict)} {found.verdict}"
        if shown == (truth := self.number(found.reference)):
            shown, truth = digits(number), digits(found.reference)
        return f"{shown} ✗ truth {truth}"

    def marked(self, array: Array, doubts: Doubts, role: doc.Role = "strong") -> doc.Line:
        """An array as it is listed, in which elements stand out that are not to be trusted, or how many do."""
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
        """A row an array, with its shape."""
        rows = []
        for label, array, doubts in arrays:
            cell = doc.EquationCell(label, doc.ArrayNumbers(array)) if self.is_full else self.marked(array, doubts)
            rows.append(lines(doc.Symbol(label), str(array.shape), cell))
        return doc.Table(lines("", "shape", header), tuple(rows))

    def enclosed(self, one: Entry) -> str:
        """The truth; where fewer digits of it are proven than a float has, with the radius."""
        if one.one_sided is not None:
            left, right = map(self.number, one.one_sided)
            return f"left {left}, right {right}"
        if one.reference is None:
            return "none"
        is_wide = self.is_full and (one.radius or 0.0) > math.ulp(one.reference)
        return self.number(one.reference) + (f" ± {one.radius:.2g}" if is_wide else "")


def cut(rows: Sequence[_Item], count: int, most: int) -> tuple[_Item | None, ...]:
    """The rows; of more than `most`, those at the ends."""
    if count <= most and len(rows) == count:
        return tuple(rows)
    half = most // 2
    return (*rows[:half], None, *rows[-half:])

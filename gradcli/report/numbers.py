"""Numbers of an answer: its arrays, their digits as text, and marks on the doubtful ones.

Digits are the shortest that read back as the same float of the same precision, or fewer.  Fewer digits, and texts that
can be shown, are made by walks over an answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, SupportsFloat, TypeVar

import numpy as np

from gradcli.errors import displayable
from gradcli.notation import Notation
from gradcli.report import document as doc
from gradcli.report.document import TONES, Role, line, lines
from gradcli.results import SEVERITY, Answer, Array, Entry, Index, Judged, Quantity, Verdict
from gradcli.results.record import Record

EDGE = 3
"""Elements shown at either end of a long axis."""

LONG = 12
"""Most elements of an axis that are all shown; of a longer one, only the ends are."""


MOST_DIGITS = 17
"""Significant digits that tell any two floats apart."""

MANY = 2**16
"""Most elements turned into text at a time: as Python's numbers they take several times their own memory."""

Anything = TypeVar("Anything")


def digits(number: Any) -> str:
    """Write one element of an array, without the `.0` of whole numbers; of conditions, the word.

    >>> digits(np.float64(2)), digits(np.float64(0.1)), digits(np.float32(0.1))
    ('2', '0.1', '0.1')
    >>> digits(np.True_)
    'True'
    """
    text = str(number) if isinstance(number, np.floating | np.bool_ | float) else repr(float(number))
    return text.removesuffix(".0")


def outward(number: float, many: int | None, *, is_upper: bool) -> str:
    """Write a bound with so many digits, rounded outward.

    >>> outward(1.23456, 3, is_upper=True), outward(1.23456, 3, is_upper=False), outward(-2e-7, 1, is_upper=True)
    ('1.24', '1.23', '-2e-07')
    """
    if math.isinf(number):
        return "no bound"
    if many is None or number == 0:
        return digits(number)
    exact = Decimal(repr(float(number)))  # which denotes the float, as in all other places
    place = Decimal(1).scaleb(exact.adjusted() - many + 1)
    rounded = exact.quantize(place, ROUND_CEILING if is_upper else ROUND_FLOOR) if many < MOST_DIGITS else exact
    return digits(float(rounded))


def elements(array: Array) -> str:
    """Write elements separated by commas, a line a row; the corners and the count of a large array."""
    if array.ndim == 0:
        return digits(array[()])
    if array.size == 0:
        return "empty"
    rows = array.reshape(-1, array.shape[-1])
    shown = [
        "…" if i < 0 else ", ".join("…" if j < 0 else digits(rows[i, j]) for j in ends(rows.shape[1]))
        for i in ends(len(rows))
    ]
    if max(rows.shape) > LONG:
        shown.append(f"({array.size:,} elements)")
    return "\n".join(shown)


def ends(size: int) -> list[int]:
    """List the positions of an axis; only the ends of a long one, -1 standing for the rest."""
    if size <= LONG:
        return list(range(size))
    return [*range(EDGE), -1, *range(size - EDGE, size)]


def in_a_line(array: Array, number: Callable[[object], str] = digits) -> str:
    """Write the elements as they can be typed; of many, the ends."""
    if array.ndim == 0:
        return number(array[()])
    if array.size <= LONG:
        return f"[{', '.join(in_a_line(part, number) for part in array)}]"
    flat = array.reshape(-1)
    return f"[{', '.join([*map(number, flat[:EDGE]), '…', number(flat[-1])])}]"


def in_lists(array: Array) -> Any:
    """Turn an array into nested lists of Python floats, or a float; numbers that JSON lacks become strings.

    >>> in_lists(np.array([1.0, np.nan, -np.inf]))
    [1.0, 'NaN', '-Infinity']
    """
    if array.dtype.kind in "biu" or (array.dtype == np.float64 and np.isfinite(array).all()):
        return array.tolist()
    # Each number once: zeros and ones, of which large arrays are made, come a million times.
    bits, places = np.unique(np.ravel(array).view(f"i{array.itemsize}"), return_inverse=True)
    known = np.array([json_number(number) for number in bits.view(array.dtype)], dtype=object)
    return known[places].reshape(array.shape).tolist()


def json_number(number: SupportsFloat) -> float | str:
    """Turn a number into a float that has its digits, or `"NaN"`, `"Infinity"`, `"-Infinity"`.

    >>> json_number(np.float32(0.1)), json_number(-math.inf)
    (0.1, '-Infinity')
    """
    exact = float(str(number)) if isinstance(number, np.floating) else float(number)
    if math.isnan(exact):
        return "NaN"
    if math.isinf(exact):
        return "Infinity" if exact > 0 else "-Infinity"
    return exact


def spaced(row: Array) -> Iterator[str]:
    """Write the numbers of a vector with blanks between, at most `MANY` at a time."""
    for first in range(0, len(row), MANY):
        yield " " * (first > 0) + " ".join(map(digits, row[first : first + MANY]))


# -- an answer with every text and number in it passed through a function


def changed(answer: object, leaf: Callable[[object], object], stays: Callable[[object], bool] | None = None) -> Any:
    """Replace each text, number and array of an answer by the value of `leaf` for it.

    Args:
        answer: An object of `gradcli.results`, or a part of one; names are left as they are.
        leaf: Function of one text, number or array.
        stays: Tells of a record whether it is left as it is.

    >>> changed((1, {"x": "a"}), lambda one: one * 2)
    (2, {'x': 'aa'})
    """
    match answer:
        case Mapping():
            return {key: changed(value, leaf, stays) for key, value in answer.items()}
        case tuple():
            return tuple(changed(value, leaf, stays) for value in answer)
    if not is_dataclass(answer):
        return leaf(answer)
    if stays is not None and stays(answer):
        return answer
    return replace(answer, **{one.name: changed(getattr(answer, one.name), leaf, stays) for one in fields(answer)})  # type: ignore[type-var]


def printable(answer: Anything) -> Anything:
    """Escape all in the texts of an answer that a terminal or a page would not show as itself."""
    found: Anything = changed(answer, lambda one: displayable(one) if isinstance(one, str) else one)
    return found


def rounded(answer: Anything, digits: int) -> Anything:
    """Round every float of an answer; text and whole numbers stay, and an entry whose error would be out of sight.

    Args:
        answer: An object of `gradcli.results`, or a part of one.
        digits: Number of digits to keep.

    >>> rounded((1 / 3, 2, {"x": 123456.0}), 3)
    (0.333, 2, {'x': 123000.0})
    """

    def leaf(one: object) -> object:
        match one:
            case np.ndarray():
                return _array(one, digits)
            case np.floating():
                return _array(np.asarray(one), digits)[()]
            case float():
                return _number(one, digits)
        return one

    def is_hidden(one: object) -> bool:
        if not isinstance(one, Entry) or one.verdict == "agree" or one.torch is None or one.reference is None:
            return False
        return one.torch != one.reference and _number(one.torch, digits) == _number(one.reference, digits)

    found: Anything = changed(answer, leaf, is_hidden)
    return found


def _number(number: Any, digits: int) -> float:
    found = float(f"{float(number):.{digits - 1}e}")
    return number if np.isinf(found) else found  # the largest floats have no neighbour above


def _array(array: Array, digits: int) -> Array:
    if array.dtype.kind != "f":
        return array
    with np.errstate(over="ignore"):
        fewer = np.array([_number(number, digits) for number in array.flat]).reshape(array.shape).astype(array.dtype)
    return np.where(np.isinf(fewer), array, fewer)


# -- marks on doubtful numbers

ROUNDING = 1e-12
"""Rounding left of jumps that cancel, relative to their sizes."""

MARKS = {"agree": "✓", "kink": "∧", "unchecked": "?", "undefined": "?"}
"""Signs of verdicts; of the others, the cross."""

SLIGHT = "≈"
"""Sign of a number that lost digits: at least three are left, or they do not matter beside the largest entry."""


def mark(verdict: Verdict, *, is_slight: bool = False) -> str:
    """Get the sign of a verdict."""
    return SLIGHT if is_slight else MARKS.get(verdict, "✗")


def tone(verdict: Verdict, *, is_slight: bool = False) -> Role:
    """Get the role of a number with this verdict: a number other than the truth is bad, unless that is slight."""
    return "bad" if mark(verdict, is_slight=is_slight) == "✗" else TONES[verdict]


class Doubt(Record):
    """A verdict on a number that is not to be trusted, and whether it is a slight loss of digits."""

    verdict: Verdict
    is_slight: bool = False

    @property
    def mark(self) -> str:
        """Sign of the verdict."""
        return mark(self.verdict, is_slight=self.is_slight)

    @property
    def tone(self) -> Role:
        """Role of the number."""
        return tone(self.verdict, is_slight=self.is_slight)

    @property
    def severity(self) -> tuple[int, bool]:
        """How bad it is beside others."""
        return SEVERITY.index(self.verdict), not self.is_slight


Doubts = Mapping[Index, Doubt]
"""Doubts about the elements of an array that are not to be trusted."""


def entries_of(answer: Answer, quantity: Quantity) -> dict[Index, Entry]:
    """Index the entries of a quantity that do not agree; one of a Hessian stands for its mirror image too."""
    found: dict[Index, Entry] = {}
    for one in (*map(_mirrored, findings_of(answer)), *findings_of(answer)):
        is_one = one.row is not None or (one.column is not None and len(quantity.axes) == 1)
        if quantity.has(one) and is_one:
            found[(one.row or ()) + (one.column or ())] = one
    return found


def findings_of(answer: Answer) -> Sequence[Entry]:
    """List the entries that do not agree."""
    check = answer.check if isinstance(answer, Judged) else None
    return () if check is None else (*check.findings, *check.unlisted)


def _mirrored(entry: Entry) -> Entry:
    """Exchange row and column of an entry of a Hessian."""
    if entry.kind != "hessian":
        return entry
    return entry.moved(variable=entry.by, row=entry.column, column=entry.row, by=entry.variable)


def doubts_of_product(answer: Answer, name: str, v: Array) -> dict[Index, Doubt]:
    """Collect doubts about elements of vᵀJ: their own, or else the worst of the entries that v weighs for them.

    A sum is no more certain than its worst entry; kinks whose jumps of the slope add up to 0 leave it smooth.
    """
    own: dict[Index, Doubt] = {}
    parts: dict[Index, Doubt] = {}
    jumps: dict[Index, list[float]] = {}
    for entry in findings_of(answer):
        row, column = entry.row, entry.column
        if entry.kind not in ("vjp", "jacobian") or entry.variable != name or column is None:
            continue
        if row is None:
            own[column] = Doubt(entry.verdict, entry.is_slight)
        elif v[row] != 0:
            part = Doubt(entry.verdict, entry.is_slight and v.size == 1)  # a sum may cancel
            parts[column] = max(parts.get(column, part), part, key=lambda one: one.severity)
            left, right = entry.one_sided or (math.nan, math.nan)
            jumps.setdefault(column, []).append(float(v[row]) * (right - left))
    smooth = [c for c, own in jumps.items() if abs(sum(own)) <= ROUNDING * sum(map(abs, own))]
    return {c: one for c, one in parts.items() if one.verdict != "kink" or c not in smooth} | own


def doubts(found: Mapping[Index, Entry]) -> dict[Index, Doubt]:
    """Map indices to the doubts about their entries."""
    return {place: Doubt(entry.verdict, entry.is_slight) for place, entry in found.items()}


# -- the writer of numbers, which marks the doubtful ones

_Item = TypeVar("_Item")


class Writer(Record):
    """Writer of numbers.

    Attributes:
        digits: Significant digits; None for all.
        is_full: Whether arrays are unfolded, as tables.
    """

    digits: int | None
    is_full: bool

    def number(self, number: object) -> str:
        """Write a number."""
        return digits(self.rounded(number))

    def rounded(self, found: object) -> Any:
        """Round an array, or a part of an answer, to as many digits."""
        return found if self.digits is None else rounded(found, self.digits)

    def listed(self, array: Array) -> str:
        """Write an array as it can be typed; of a long one, its ends."""
        return in_a_line(array, self.number)

    def cell(self, number: object, found: Entry | None = None, role: doc.Role = "strong") -> doc.Line:
        """Write a number; a wrong one stands out, with the truth next to it."""
        if found is None:
            return line(doc.Styled(self.number(number), role))
        return line(doc.Styled(self.beside(number, found), tone(found.verdict, is_slight=found.is_slight)))

    def beside(self, number: object, found: Entry) -> str:
        """Write a wrong number and the truth, with as many digits as it takes to tell them apart."""
        if found.torch is not None:  # which is not rounded where its error would be out of sight
            number = np.asarray(found.torch).astype(np.asarray(number).dtype)[()]
        shown = self.number(number)
        if found.one_sided is not None:
            return f"{shown} {MARKS['kink']} {self.enclosed(found)}"
        if found.reference is None or found.verdict == "unchecked":
            return f"{shown} {mark(found.verdict, is_slight=found.is_slight)} {found.verdict}"
        shown, truth = self.apart(number, found.reference)
        return f"{shown} {mark(found.verdict, is_slight=found.is_slight)} truth {truth}"

    def apart(self, number: object, truth: float) -> tuple[str, str]:
        """Write a number and another one, with as many digits as it takes to tell them apart.

        >>> Writer(3, False).apart(0.5000043, 0.5000033), Writer(3, False).apart(2.0, 2 / 3)
        (('0.500004', '0.500003'), ('2', '0.667'))
        """
        for count in range(self.digits or MOST_DIGITS, MOST_DIGITS):
            shown = Writer(count, self.is_full)
            if (found := shown.number(number)) != (other := shown.number(truth)):
                return found, other
        return digits(number), digits(truth)

    def marked(self, array: Array, doubts: Doubts, role: doc.Role = "strong") -> doc.Line:
        """List an array with its doubtful elements marked, or with a count of them."""
        if self.is_full:
            return line(doc.ArrayNumbers(array))
        shown = set(np.ndindex(array.shape)) if array.size <= LONG else set()
        parts = list(self._parts(array, doubts)) if shown and doubts else [doc.Styled(self.listed(array), role)]
        hidden = [one for place, one in doubts.items() if place not in shown]
        for verdict in sorted({one.verdict for one in hidden}, key=SEVERITY.index, reverse=True):
            own = [one for one in hidden if one.verdict == verdict]
            worst = max(own, key=lambda one: one.severity)
            parts.append(doc.Styled(f" {worst.mark} {len(own)} {verdict}", worst.tone))
        return line(*parts)

    def _parts(self, array: Array, doubts: Doubts, at: Index = ()) -> Iterator[doc.Styled]:
        if array.ndim == 0:
            doubt = doubts.get(at)
            words = f"{self.number(array[()])}{'' if doubt is None else f' {doubt.mark}'}"
            yield doc.Styled(words, "strong" if doubt is None else doubt.tone)
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

        >>> from gradcli.results import Assessment, Position
        >>> wide = Entry(Position("vjp", "x", column=(0,)), 1.5, Assessment("inaccurate", 1.25, radius=0.5))
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

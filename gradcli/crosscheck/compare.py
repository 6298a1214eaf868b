"""Comparison of torch's numbers with the truth, to within the tolerance, and the lookup of the truth of each number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from flint import arb, fmpq

from gradcli.crosscheck.measured import Measured, MeasuredTruth, judge_measured
from gradcli.crosscheck.point import FunctionAtPoint, flat, unravel
from gradcli.language.program.wengert import Shape
from gradcli.progress import set_step
from gradcli.reference.balls import Ball, precision
from gradcli.reference.dependencies import Flat, OverBudgetError
from gradcli.reference.enclosure_pass import DerivativeColumns, Direction, EnclosedDerivatives
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Outcome, Rounding, Undefined
from gradcli.results import Array, Assessment, Entry, Index, Verdict
from gradcli.results.verdicts import changed, entry_of

if TYPE_CHECKING:
    from gradcli.symbolic.derivative import Derivative

RISING_BITS = (64, 128, 256, 1_152, 4_096)
"""Precisions of the balls, one after the other until they can decide.

At the last but one, a ball that contains 0 is smaller than any float, if its terms are of ordinary size.
"""

FIRST_BITS, ZERO_BITS, LAST_BITS = RISING_BITS[0], RISING_BITS[-2], RISING_BITS[-1]

KNOWN_BITS = 53
"""Bits of the truth that must be known before torch's number is called wrong, so that the truth can be printed."""

FLOAT_FORMATS: Mapping[str, Rounding] = {"float64": Rounding(53, -1074), "float32": Rounding(24, -149)}
"""Rounding of each dtype."""


AT_ONCE = 64
"""Entries between two steps that are shown as done."""

MOST_FORMULA_ENTRIES = 40
"""Most entries at which to compare one formula."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Largest distance of a number of a dtype from the truth: |number - truth| <= atol + rtol*|truth|.

    It is strict if the user gave it; else a 0 may also be off by the rounding of the terms that cancel to it.
    """

    rtol: float
    atol: float = 0.0
    is_strict: bool = False
    dtype: str = "float64"


EXACT = Tolerance(0.0)
"""Tolerance of no error at all: for proved formulas, and for claims without decimals."""

TOLERANCE: Mapping[str, Tolerance] = {
    "float64": Tolerance(2.0**-30),
    "float32": Tolerance(2.0**-16, dtype="float32"),
}
"""Largest error that still agrees: n roundings leave about n * 2**-53 (2**-24 in float32), so this admits chains of
2**23 (2**8) operations, and functions that torch computes to ten (five) digits; few wrong formulas are as close."""


def compare(
    entry: Entry, truth: Ball, tolerance: Tolerance, *, is_last: bool, measured: MeasuredTruth | None = None
) -> Entry | None:
    """Give an entry its verdict; None if more precision may decide.  A wrong number is `disagree` until explained.

    An earlier verdict and note are dropped.

    Args:
        entry: Torch's number.
        truth: Its truth.
        tolerance: How far the number may be from it.
        is_last: Whether there is no more precision.
        measured: What else is known of a truth that was measured, and is no better known with more precision.
    """
    number = number_of(entry)
    if measured is not None and math.isfinite(number):
        room = arb(tolerance.atol) + arb(tolerance.rtol) * abs(truth)
        return judge_measured(entry, truth, room, measured, is_strict=tolerance.is_strict, is_last=is_last)
    if truth is ZERO and number == 0:
        return entry_of(entry.position, number, _ZERO_AGREES)
    if not math.isfinite(number):
        is_known = is_last or is_sharp(truth, KNOWN_BITS)
        return _not_finite(entry, truth, tolerance.dtype) if is_known else None
    distance, size = abs(truth - arb(number)), abs(truth)
    allowed = tolerance.rtol * size if tolerance.atol == 0 else arb(tolerance.atol) + arb(tolerance.rtol) * size
    if distance <= allowed:
        error = 0.0 if distance == 0 else to_float(distance.upper() / size.lower()) if size.lower() > 0 else None
        return _compared(entry, truth, "agree", error)
    if distance < arb(2) ** FLOAT_FORMATS[tolerance.dtype].smallest:
        return _compared(entry, truth, "agree")  # no number of this format is nearer
    is_known = is_last or is_sharp(truth, KNOWN_BITS) or _is_nothing(number, truth)
    if distance > allowed and is_known:
        error = to_float(distance.mid() / size.mid()) if size > 0 else math.inf
        # Under a strict tolerance the correctly rounded number may still be too far: nothing better exists.
        with np.errstate(over="ignore"):  # a truth beyond float32 is infinite there
            is_nearest = float(np.dtype(tolerance.dtype).type(to_float(truth))) == number
        return _compared(entry, truth, "agree" if is_nearest else "disagree", error)
    if not is_last:
        return None
    note = f"the truth is not known well enough at {LAST_BITS:,} bits"
    return _compared(entry, truth, "unchecked", note=note).judged(proven=False)


@dataclass
class Verdicts:
    """Entries by outcome: decided, wrong until the error is explained, or without a truth."""

    decided: list[Entry] = field(default_factory=list)
    wrong: list[Entry] = field(default_factory=list)
    missing: list[tuple[Entry, Undefined]] = field(default_factory=list)


Truths = Callable[[int, Sequence[Entry]], Callable[[Entry], Outcome]]
"""Function that encloses the truths of some entries with a number of bits, and returns the lookup of each."""


def verdicts(
    entries: Sequence[Entry],
    truths: Truths,
    tolerance: Tolerance,
    measured: Measured | None = None,
) -> Verdicts:
    """Judge entries at rising precision until each is decided.

    Args:
        entries: Torch's numbers.
        truths: Encloses the truths of the entries that are still open.
        tolerance: How far a number may be from the truth.
        measured: Tells what else is known of a truth that was measured; None if none was.
    """
    found = Verdicts()
    for bits in RISING_BITS if entries else ():
        truth_of, is_last, waiting = truths(bits, entries), bits == LAST_BITS, list[Entry]()
        with precision(bits):
            for n, entry in enumerate(entries):
                if n % AT_ONCE == 0:
                    set_step("proving", n, len(entries))
                truth = truth_of(entry)
                # Undecided at these bits is not singular: a ball around 0 may shrink away from it.
                if isinstance(truth, Undefined) and (truth.decided or is_last):
                    found.missing.append((entry, truth))
                    continue
                one = None
                if not isinstance(truth, Undefined):
                    one = compare(entry, truth, tolerance, is_last=is_last, measured=measured and measured(entry))
                if one is None:
                    waiting.append(entry)
                else:
                    is_wrong = one.verdict == "disagree" and one.digits is None  # of a measured one nothing explains it
                    (found.wrong if is_wrong else found.decided).append(one)
        entries = waiting
        if not entries:
            break
    return found


def _compared(entry: Entry, truth: Ball, verdict: Verdict, error: float | None = None, note: str = "") -> Entry:
    """Give an entry a new assessment, without an earlier one."""
    found = {"verdict": verdict, "relative_error": error, "note": note, "proven": True, "truth": truth}
    return entry_of(entry.position, entry.torch, changed(_UNJUDGED, found))


def is_sharp(ball: Ball, bits: int, least: float = -math.inf) -> bool:
    """Tell whether a ball is known to these bits, or is below 2**least in size and so as good as 0."""
    is_known = ball.is_exact() or ball.rel_accuracy_bits() >= bits
    return bool(is_known or (math.isfinite(least) and abs(ball) < arb(2) ** int(least)))


def noun(entry: Entry) -> str:
    """Return the word for the number in messages: a value of y, or a derivative."""
    return "value" if entry.variable is None else "derivative"


def number_of(entry: Entry) -> float:
    """Return torch's number of an entry that has one."""
    assert entry.torch is not None, "what is compared is a number"  # noqa: S101
    return entry.torch


def known_truth(truth: Ball | None) -> float | None:
    """Convert an enclosure to float64, a number beyond it to one that is written out; None if it is not finite."""
    return None if truth is None or not truth.is_finite() else (_large if abs(truth) > LARGEST else to_float)(truth)


def _large(truth: Ball) -> float:
    from gradcli.crosscheck.large_numbers import large_number  # which few answers need

    return large_number(truth)


def to_float(ball: Ball) -> float:
    """Return the midpoint of a ball as a float64, never -0; 0 for a ball that contains 0."""
    return 0.0 if ball.is_finite() and ball.contains(0) else float(ball.mid()) + 0.0


def _is_nothing(number: float, truth: Ball) -> bool:
    """Tell whether the truth may be 0 and is negligible next to torch's number: no precision shows that it is 0."""
    if not math.isfinite(number):
        return False
    return bool(truth.contains(0) and abs(truth).upper() < abs(arb(number)) * arb(2) ** -(2 * KNOWN_BITS))


def _not_finite(entry: Entry, truth: Ball, dtype: str) -> Entry:
    if abs(truth) > float(np.finfo(dtype).max):
        note = f"the {noun(entry)} exists but is beyond the range of {dtype}"
        return _compared(entry, truth, "inaccurate", note=note)
    return _compared(entry, truth, "nan-trap", note=f"the {noun(entry)} exists, and torch gives {entry.torch}")


_UNJUDGED = Assessment()

LARGEST = float(np.finfo("float64").max)
"""The largest float64."""

ZERO = arb(0)
"""Truth of an entry that is 0 by structure."""

_ZERO_AGREES = Assessment("agree", relative_error=0.0, proven=True, truth=ZERO)
"""The opinion of all numbers that are 0, as their truths are by structure: most of a large Jacobian are."""

Truth = tuple[Index, Index, Ball]
"""Row, column and truth of an entry; an index is empty where there is none."""

Block = tuple[str, str]
"""Variables of row and column; empty where there is none: a row of the Jacobian belongs to y."""


@dataclass(frozen=True)
class Evidence:
    """Entries of derivatives whose truth the reference knows, by block, row and column.

    Attributes:
        blocks: The truths; of a Jacobian by ("", x), of Ju by ("", ""), of Hu and the Hessian as formulas are.
        bits: The precision of the balls, at least.
        reached: The rows of y in which an element of a variable has a derivative, for a Jacobian.
    """

    blocks: Mapping[Block, Mapping[tuple[Index, Index], Ball]]
    bits: int
    reached: Mapping[tuple[str, int], Sequence[int]] | None = None

    @classmethod
    def enclosed(
        cls, point: FunctionAtPoint, directions: Sequence[Direction], rows: Flat | None, bits: int
    ) -> Evidence | None:
        """Enclose columns of a Jacobian without torch; None where the work is over the budget."""
        with suppress(OverBudgetError):
            plan = Reference(point.program, point.shapes, point.inputs).plan(directions, rows)
            return cls.of_columns(point, directions, plan.run(bits).columns, rows, bits)
        return None

    @classmethod
    def of_columns(
        cls,
        point: FunctionAtPoint,
        directions: Sequence[Direction],
        columns: DerivativeColumns,
        rows: Flat | None,
        bits: int,
    ) -> Evidence:
        """Collect columns of a Jacobian, at these rows of y, None for all."""
        known: dict[str, tuple[list[tuple[int, int, Ball]], list[tuple[int, int, Ball]]]] = {}
        reached: dict[tuple[str, int], list[int]] = {}
        all_rows = range(min(point.rows, MOST_FORMULA_ENTRIES)) if rows is None else rows.tolist()
        for symbol, j in directions:
            column, name = columns.get((symbol, j), {}), symbol.name
            reached[name, j] = list(column)
            nonzero, zero = known.setdefault(name, ([], []))
            nonzero += [(row, j, ball) for row, ball in column.items() if not isinstance(ball, Undefined)]
            zero += [(row, j, arb(0)) for row in all_rows if row not in column]
        blocks = {
            ("", name): {
                (unravel(row, point.shape), unravel(j, point.shape_of(name))): ball
                for row, j, ball in _chosen(*entries)
            }
            for name, entries in known.items()
        }
        return cls(blocks, bits, reached)

    def truths(self, derivative: Derivative) -> list[Truth]:
        """Return the entries of this block with a known truth, as many as are compared, the nonzero ones first."""
        found = self.blocks.get((derivative.first, derivative.variable), {})
        entries = [(row, column, ball) for (row, column), ball in found.items()]
        zero = [entry for entry in entries if entry[2] == 0]
        return _chosen([entry for entry in entries if not entry[2] == 0], zero)  # noqa: SIM201


def _chosen(nonzero: Sequence[object], zero: Sequence[object]) -> list[Any]:
    """Choose the entries at which a formula is compared."""
    return [*spaced(nonzero, MOST_FORMULA_ENTRIES), *spaced(zero, MOST_FORMULA_ENTRIES // 4)]


def spaced(items: Sequence[object], most: int) -> list[Any]:
    """Choose at most this many items, evenly spaced."""
    return list(items[:: max(1, math.ceil(len(items) / most))])


@dataclass(frozen=True)
class Case:
    """Function at a point, with the tolerance and weights to compare torch's numbers: elements of y, J and vᵀJ.

    Attributes:
        reference: The function at the point.
        tolerance: How far a number may be from the truth.
        v: The gradient vector, flat, for entries of vᵀJ.
        passes: The v of each pass, one per row, if vᵀJ adds up several passes; `v` is their sum.
        u: The direction by variable, for entries of Hu.
        value: Torch's y, flat, if it is known.
        wrt: The variables whose derivatives are asked for, which may move together.
    """

    reference: Reference
    tolerance: Tolerance
    v: Array | None = None
    passes: Array | None = None
    u: Mapping[str, Array] | None = None
    value: Array | None = None
    wrt: frozenset[str] = frozenset()

    def direction(self, entry: Entry) -> Direction:
        """Return the element of x that an entry is a derivative by."""
        symbol, shape = self._variables[entry.variable or ""]
        return symbol, flat(entry.column or (), shape)

    def row(self, entry: Entry) -> int:
        """Return the flat row of y of an element or an entry of J."""
        return flat(entry.row, self._shape) if entry.row else 0

    def weight(self, entry: Entry, row: int) -> float:
        """Return the weight of a row of y in an entry."""
        if entry.row is not None:
            return 1.0
        assert self.v is not None, "an entry of vᵀJ has weights"  # noqa: S101
        return float(self.v[row])

    def seeds(self, entry: Entry) -> Array:
        """Return the weights of the rows of y from which a backward pass for an entry starts."""
        if entry.row is None and self.v is not None:
            return self.v
        return np.eye(1, math.prod(self._shape), self.row(entry)).ravel()

    def truth(self, entry: Entry, seen: EnclosedDerivatives) -> Outcome:
        """Return the ball that contains the true number; an entry that no direction reaches is an exact zero.

        Args:
            entry: The number.
            seen: The derivatives that the reference enclosed.
        """
        place = entry.position
        if place.variable is None:
            return seen.values[self.row(entry)]
        if place.row is not None:
            symbol, shape = self._variables[place.variable]
            column = seen.columns.get((symbol, flat(place.column or (), shape)))
            row = flat(place.row, self._shape) if place.row else 0
            return ZERO if column is None else column.get(row, ZERO)
        total = arb(0)
        for row, outcome, weight in self._weighted(entry, seen):
            if not math.isfinite(weight):
                return Undefined("domain", f"v is {weight} here", True)
            if isinstance(outcome, Undefined):
                return outcome
            total += outcome * (weight if self.passes is None else _exact(self.passes[:, row]))
        return total

    def rows(self, entry: Entry, seen: EnclosedDerivatives) -> list[int]:
        """Return the flat rows of y that an entry is about."""
        if entry.row is not None:
            return [self.row(entry)]
        return [row for row, _, _ in self._weighted(entry, seen)]

    @cached_property
    def _variables(self) -> Mapping[str, tuple[sympy.Symbol, Shape]]:
        """Symbols and shapes of the variables by name, cached as each entry asks for them."""
        shapes = self.reference.shapes
        return {symbol.name: (symbol, shapes[symbol]) for symbol in self.reference.program.variables}

    @cached_property
    def _shape(self) -> Shape:
        """Shape of y, asked of the reference once for all entries."""
        return self.reference.shapes.get(self.reference.program.output, ())

    def _weighted(self, entry: Entry, seen: EnclosedDerivatives) -> Iterator[tuple[int, Outcome, float]]:
        for row, outcome in seen.columns.get(self.direction(entry), {}).items():
            weight = self.weight(entry, row)
            if weight != 0 or (self.passes is not None and _exact(self.passes[:, row]) != 0):
                yield row, outcome, weight


@dataclass(frozen=True, slots=True)
class Singular:
    """Entry with a missing truth at the point, the cause, and the flat rows of y that it is about."""

    entry: Entry
    cause: Undefined
    rows: frozenset[int]


def _exact(weights: Array) -> Ball:
    """Sum some numbers exactly, whatever cancels."""
    total = sum(map(Fraction, weights.tolist()), start=Fraction(0)) if np.isfinite(weights).all() else math.nan
    return arb(total) if isinstance(total, float) else arb(fmpq(total.numerator, total.denominator))

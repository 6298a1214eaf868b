"""Values of formulas at the entries of an answer, and the entries at which a formula does not hold.

A formula by cases takes one of them where they meet, and a quotient may be 0/0 where the derivative exists: there the
formula is wrong at the point, though it is right elsewhere.  The remark names such entries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType

import sympy
from flint import arb
from sympy import Expr

from gradcli.crosscheck.compare import (
    KNOWN_BITS,
    RISING_BITS,
    ZERO,
    ZERO_BITS,
    Block,
    Evidence,
    is_sharp,
    to_float,
)
from gradcli.crosscheck.confirming import KnownValues, NamedDirections, has_cases_at, lookups, place_of, values_at
from gradcli.crosscheck.point import FunctionAtPoint, flat, unravel
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.compiling import OverWorkError, environment, evaluate
from gradcli.reference.deadline import OverTimeError
from gradcli.results import Array, Entry, Position
from gradcli.symbolic.derivative import Derivative

FORMULA_WORK = 100_000
"""Most ball operations for the values of all formulas together: about half a second."""

AT_ONCE = 128
"""Entries that are evaluated together."""

WITHOUT_TRUTH = ("undefined", "unchecked", "cut")
"""Verdicts on entries that have no truth to compare a formula with, or, of a `cut`, that of another formula."""


class FormulaValues:
    """Evaluator of the entries of derivatives by their confirmed formulas, within `FORMULA_WORK`.

    Args:
        point: The Program and its inputs.
        derivatives: The formulas, by block.
        v: The gradient vector, if entries are of vᵀJ.
        evidence: The rows of y that each element of x reaches; formulas of vᵀJ leave out the other rows.
        directions: The directions of Ju and Hu.
        known: What is known of their values by block; only that of this point is taken.
    """

    def __init__(
        self,
        point: FunctionAtPoint,
        derivatives: Mapping[Block, Derivative],
        v: Array | None = None,
        evidence: Evidence | None = None,
        directions: NamedDirections | None = None,
        known: Mapping[Block, KnownValues | None] = MappingProxyType({}),
    ) -> None:
        self.point = point
        self.derivatives = derivatives
        self.v = None if v is None else v.ravel()
        self.reached = evidence.reached if evidence else None
        self._symbols = lookups(point, directions)
        self._environments: dict[tuple[Block, int], Mapping[sympy.Symbol, object]] = {}
        self._first = {
            block: dict(one.balls)
            for block, one in known.items()
            if one is not None and one.point is point and one.bits == RISING_BITS[0]
        }
        self._found: dict[Position, tuple[Ball | None]] = {}

    def renewed(self) -> FormulaValues:
        """Copy the evaluator with all of the work to spend again, and the values that are known."""
        found = copy(self)
        found._environments = {}
        return found

    def value(self, entry: Entry) -> float | None:
        """Evaluate the formula at one entry; None if the work that is left does not suffice to know it to a float."""
        try:
            found = self.ball(entry)
        except OverWorkError:
            return None
        return None if found is None or not exists(found) else to_float(found)

    def ball(self, entry: Entry, *, drops_zeros: bool = False) -> Ball | None:
        """Enclose the value of the formula at one entry to a float; NaN where it has none, None without a formula.

        Args:
            entry: The entry, which is evaluated once.
            drops_zeros: Whether a term is 0 where its δ[i,j] is, even if another factor has no value there.

        Raises:
            OverWorkError: The work that is left does not suffice.
        """
        if drops_zeros:
            return self._ball(entry, drops_zeros=True)
        known = self._found.get(entry.position)
        if known is None:
            known = self._found[entry.position] = (self._ball(entry, drops_zeros=False),)
        return known[0]

    def _ball(self, entry: Entry, *, drops_zeros: bool) -> Ball | None:
        derivative = self.derivatives.get((entry.by or "", entry.variable or ""))
        weights = None if derivative is None else self._weights(derivative, entry)
        if derivative is None or weights is None:
            return None
        column = entry.column or ()
        first = {} if drops_zeros else self._first.get((derivative.first, derivative.variable), {})
        for bits in RISING_BITS[:-1]:
            with precision(bits):
                total, env = arb(0), self._environment(derivative, bits)
                for row, weight in weights.items():
                    value = first.get((row, column)) if bits == RISING_BITS[0] else None
                    if value is None:
                        expression, indices = derivative.entry_formula(row, column)
                        if drops_zeros:
                            expression = _with_deltas_known(expression, indices)
                        value = evaluate(expression, {**env, **indices})
                    total += value * arb(weight)
            # At the last precision, less than 2**(-bits/2) counts as 0.
            least = -bits // 2 if bits == ZERO_BITS else -math.inf
            if exists(total) and is_sharp(total, KNOWN_BITS, least):
                return total
        return total if not exists(total) else None

    def prepare(self, entries: Sequence[Entry]) -> None:
        """Evaluate formulas at entries with a row and a column at once, where the first precision suffices."""
        by_block: dict[Block, list[Position]] = {}
        for entry in entries:
            place = entry.position
            if place.row is not None and place.column is not None:
                block = place.by or "", place.variable or ""
                if block in by_block:
                    by_block[block].append(place)
                else:
                    by_block[block] = [place]
        for block, places in by_block.items():
            if (derivative := self.derivatives.get(block)) is not None:
                known = self._first.setdefault(block, {})
                indices = [(place.row or (), place.column or ()) for place in places]
                with precision(RISING_BITS[0]):
                    shared = self._environment(derivative, RISING_BITS[0])
                    known |= values_at(derivative, [one for one in indices if one not in known], shared)
                for place, index in zip(places, indices, strict=True):
                    ball = known.get(index)
                    if ball is not None and place.kind == derivative.of and exists(ball) and is_sharp(ball, KNOWN_BITS):
                        self._found[place] = (ball,)

    def _weights(self, derivative: Derivative, entry: Entry) -> Mapping[tuple[int, ...], float] | None:
        """Return the rows of the formula whose weighted sum an entry is; None if of something else, or unknown."""
        if entry.of != ("" if derivative.of in ("jacobian", "vjp") else derivative.of):
            return None
        if entry.of or entry.row is not None:
            return {entry.row or (): 1.0}
        if self.v is None or self.reached is None:
            return None
        j = flat(entry.column or (), self.point.shape_of(derivative.variable))
        rows = self.reached.get((derivative.variable, j))
        if rows is None:  # the truth of the entry comes from bounds on arrays, which do not tell
            return None
        return {unravel(row, self.point.shape): float(self.v[row]) for row in rows if self.v[row] != 0}

    def _environment(self, derivative: Derivative, bits: int) -> Mapping[sympy.Symbol, object]:
        """Map symbols to values; one map per precision, as it keeps the sums that it has computed."""
        key = (derivative.first, derivative.variable), bits
        if key not in self._environments:
            values = {**self._symbols, **derivative.sizes}
            self._environments[key] = environment(values, FORMULA_WORK / len(self.derivatives))
        return self._environments[key]


@dataclass(frozen=True)
class Mismatch:
    """Entry whose derivative exists and at which the formula has another value, or none.

    Attributes:
        entry: The entry, with its truth.
        value: The value of the formula; None where it has none, such as 0/0.
        is_zero_by_delta: Whether the formula has a value if a term is 0 where its δ[i,j] is, as readers take it.
    """

    entry: Entry
    value: float | None
    is_zero_by_delta: bool = False


@dataclass(frozen=True)
class Mismatches:
    """Entries at which one formula does not hold, and how many entries it was compared at.

    Attributes:
        found: The entries.
        compared: The number of entries that were compared.
        entries: The number of entries with a known truth.
    """

    found: Sequence[Mismatch]
    compared: int
    entries: int

    @property
    def contradicts(self) -> bool:
        """Tell whether the formula has another value than the derivative somewhere."""
        return any(one.value is not None for one in self.found)

    @property
    def differs(self) -> bool:
        """Tell whether the formula, as readers take it, has another value than the derivative somewhere, or none."""
        return any(not one.is_zero_by_delta for one in self.found)

    def remarks(self, derivative: Derivative) -> Iterator[str]:
        """Say at which entries the formula has another value, or none, and at how many it could not be compared."""
        others = [one for one in self.found if one.value is not None]
        missing = [one for one in self.found if one.value is None and not one.is_zero_by_delta]
        for ones in filter(None, (others, missing)):
            entry, value = ones[0].entry, ones[0].value
            fault = "has no value" if value is None else "does not hold"
            place = place_of(derivative, entry.row or (), entry.column or ())
            gives = "" if value is None else f"it gives {_number(value)} and "
            more = f"; nor at {len(ones) - 1:,} more" * (len(ones) > 1)
            truth = _number(to_float(entry.truth))
            yield f"the formula {fault} at {place}, where {gives}the derivative is {truth}{more}"
        if self.compared < self.entries:
            yield f"the formula was compared at {self.compared:,} of {self.entries:,} entries that were checked"


def mismatches(values: FormulaValues, entries: Sequence[Entry]) -> dict[Block, Mismatches]:
    """Compare each formula with the truth at all entries whose truth is known; only formulas that differ are returned.

    Args:
        values: The formulas.
        entries: The entries as the judge decided them.
    """
    known: dict[Block, list[Entry]] = {block: [] for block in values.derivatives}
    places = [entry.position for entry in entries]
    is_in_jacobian = {(place.variable, place.column) for place in places if place.kind == "jacobian"}
    for entry, place in zip(entries, places, strict=True):
        is_repeated = place.kind == "vjp" and (place.variable, place.column) in is_in_jacobian
        block = place.by or "", place.variable or ""
        if block in known and not is_repeated and _has_truth(entry):
            known[block].append(entry)
    found = {block: _compared(values, ones) for block, ones in known.items()}
    # Where no cases meet and no domain ends, a formula is one analytic expression: it need not be compared everywhere.
    return {
        block: one
        for block, one in found.items()
        if one.found or (one.compared < one.entries and has_cases_at(values.point))
    }


def _compared(values: FormulaValues, entries: Sequence[Entry]) -> Mismatches:
    """Compare a formula with the truths of entries, as many as the work admits."""
    different, compared = list[Mismatch](), 0
    with suppress(OverWorkError, OverTimeError, NotImplementedError):  # the comparisons until then stay valid
        # Zeros last: they say the least.
        in_order = sorted(entries, key=lambda one: one.assessment.truth is ZERO or bool(one.assessment.truth == 0))
        for n, entry in enumerate(in_order):
            if n % AT_ONCE == 0:
                values.prepare(in_order[n : n + AT_ONCE])
            ball = values.ball(entry)
            compared += 1
            if ball is None:
                continue
            is_there = exists(ball)
            if not is_there and entry.verdict != "removable":
                kept = values.ball(entry, drops_zeros=True)
                different.append(Mismatch(entry, None, kept is not None and exists(kept)))
            elif is_there and not ball.overlaps(entry.assessment.truth):
                different.append(Mismatch(entry, float(ball.mid()) + 0.0))
    different.sort(key=lambda one: (one.entry.row or (), one.entry.column or ()))
    return Mismatches(different, compared, len(entries))


def _with_deltas_known(expression: Expr, indices: Mapping[sympy.Symbol, int]) -> Expr:
    """Put 0 or 1 in the place of each Kronecker delta of an entry's own indices, so that its terms vanish."""
    known = {index: sympy.Integer(number) for index, number in indices.items()}
    return expression.xreplace({delta: delta.xreplace(known) for delta in expression.atoms(sympy.KroneckerDelta)})


def _has_truth(entry: Entry) -> bool:
    opinion = entry.assessment
    if opinion.truth is None or not opinion.proven or opinion.verdict in WITHOUT_TRUTH:
        return False
    return opinion.truth is ZERO or exists(opinion.truth)


def _number(value: float) -> str:
    """Write a number as answers do: 2, not 2.0."""
    return repr(value).removesuffix(".0")

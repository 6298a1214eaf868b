"""The formula held to the matrix: its values at all entries of the pattern, and its own entries to the pattern.

An entry of the formula outside of the pattern refutes it, unless its coefficient is 0 there: the pattern is sound by
construction.  Where a value differs from torch's number, balls say which of the two is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.arrays import Array
from gradcli.crosscheck.compare import TOLERANCE, Block, Evidence
from gradcli.crosscheck.confirming import confirm, has_cases_at, place_of
from gradcli.crosscheck.formulas import Derived, Formulas, with_refuted
from gradcli.crosscheck.point import FunctionAtPoint, unravel
from gradcli.language.ops import Kind
from gradcli.language.program.numeric import array_of
from gradcli.language.program.wengert import Program
from gradcli.parts.sparse.expression_values import NoValuesError, SortedTerms, values_at
from gradcli.parts.sparse.formula_pattern import places_of
from gradcli.parts.sparse.pattern import SparsityPattern
from gradcli.reference.deadline import OverTimeError, part_limit
from gradcli.results import Check, Formula
from gradcli.symbolic.derivative import Derivative, structure_of
from gradcli.symbolic.element import constant_symbol
from gradcli.symbolic.printing import formula, with_names

SECONDS = 5.0
"""Seconds of processor time for all formulas."""

PER_MILLION = 1.0
"""More of them for each million of entries."""

FEWEST_PLACES = 1_000
"""Places of a term of a formula that are listed; of a larger pattern twice as many as it has."""

AT_ONCE = 2**20
"""Entries that are compared at once."""

MOST_DECIDED = 20
"""Entries that balls decide, of those at which the value of a formula is not torch's number."""

Places = npt.NDArray[np.int32] | npt.NDArray[np.int64]
"""Flat rows, or flat columns."""

Decide = Callable[[Sequence[int]], Evidence | None]
"""Encloses the truths of some entries, by their places in the pattern."""


@dataclass(frozen=True)
class SparseNumbers:
    """Torch's numbers for the entries of a pattern, by blocks.

    Attributes:
        point: The function at the point.
        pattern: The pattern of all blocks.
        values: The number of each entry.
        columns: The first column and the size of each variable.
        is_second: Whether rows are those of variables too.
        dtype: Of the numbers.
    """

    point: FunctionAtPoint
    pattern: SparsityPattern
    values: Array
    columns: Mapping[str, tuple[int, int]]
    is_second: bool
    dtype: str


def compare_formulas(
    numbers: SparseNumbers,
    formulas: Formulas,
    derived: Derived,
    program: Program,
    check: Check | None,
    decide: Decide,
) -> tuple[Formulas, Check | None]:
    """Compare all formulas with the numbers: one that is refuted is taken back, and one that is everywhere right shown.

    A formula that was not confirmed, as each of its entries is a sum of too many terms for balls, is confirmed by its
    values at all entries, if the numbers there are proved.

    Args:
        numbers: Torch's.
        formulas: The formulas.
        derived: The same before they were confirmed.
        program: The Program as typed, for its names.
        check: The check of the numbers, if there is one, which gets a finding for each that is refuted.
        decide: Encloses the truths of some entries.
    """
    refuted: dict[Block, str] = {}
    whole = set[Block]()
    right: dict[Block, _FormulaComparison] = {}
    is_proved = check is not None and check.verdict == "agree" and check.proven
    with suppress(OverTimeError), part_limit(SECONDS + PER_MILLION * numbers.pattern.count / 1e6):
        for block, derivative in derived.blocks.items():
            is_shown = block in formulas.shown
            if isinstance(derivative, str) or block in formulas.refuted or not (is_shown or is_proved):
                continue
            with suppress(NoValuesError, NotImplementedError):
                comparison = _FormulaComparison(numbers, derivative, decide)
                if not is_shown:
                    if comparison.holds_everywhere():
                        right[block] = comparison
                    continue
                reason = comparison.refuted()
                whole.add(block)
                if reason:
                    refuted[block] = reason
    shown = {
        block: replace(one, note="") if block in whole else one
        for block, one in formulas.shown.items()
        if block not in refuted
    }
    shown |= with_names({block: one.text(program) for block, one in right.items()}, program)
    known = {block: reason for block, reason in formulas.omitted.items() if block not in right}
    omitted = known | {block: f"it disagrees with the reference: {reason}" for block, reason in refuted.items()}
    derivatives = formulas.derivatives | {block: one.derivative for block, one in right.items()}
    formulas = replace(
        formulas, shown=shown, omitted=omitted, refuted=formulas.refuted | refuted, derivatives=derivatives
    )
    return formulas, check and with_refuted(check, refuted, derived)


class _FormulaComparison:
    """Comparison of one formula."""

    def __init__(self, numbers: SparseNumbers, derivative: Derivative, decide: Decide) -> None:
        self.numbers, self.derivative, self.decide = numbers, derivative, decide
        point = numbers.point
        self.inside = point.shape_of(derivative.variable)
        self.outside = point.shape_of(derivative.first) if derivative.first else point.shape
        self.left, width = numbers.columns[derivative.variable]
        self.top, height = numbers.columns[derivative.first] if derivative.first else (0, numbers.pattern.shape[0])
        pattern = numbers.pattern
        own = (pattern.columns >= self.left) & (pattern.columns < self.left + width)
        if derivative.first:
            own &= (pattern.rows >= self.top) & (pattern.rows < self.top + height)
        self.places: slice | npt.NDArray[np.int64] = slice(None) if own.all() else np.flatnonzero(own)
        self.rows, self.columns = pattern.rows[self.places], pattern.columns[self.places]
        self.given = numbers.values[self.places]
        if self.top or self.left:
            self.rows, self.columns = self.rows - np.int32(self.top), self.columns - np.int32(self.left)
        self.width = width
        self.env = _environment(point, derivative)
        self.sorted_terms: dict[sympy.Sum, SortedTerms] = {}

    def refuted(self) -> str:
        """Say at which entry the formula is wrong; "" if it is at none.

        Raises:
            NoValuesError: It cannot be evaluated here.
        """
        return self._off_pattern() or self._on_pattern()

    def holds_everywhere(self) -> bool:
        """Tell whether the formula has the number of each entry, and of some entry another one than 0.

        Raises:
            NoValuesError: It cannot be evaluated here.
        """
        rtol = TOLERANCE[self.numbers.dtype].rtol
        for part, values in self._by_parts():
            given = self.given[part]
            if not (abs(values - given) <= rtol * abs(given)).all():
                return False
        return bool(self.given.any()) and not self._off_pattern()

    def text(self, program: Program) -> Formula:
        """Write the formula, with the structure that the matrix has at these shapes."""
        return formula(self.derivative, program, "", structure_of(self.derivative, self.outside, self.inside))

    def _off_pattern(self) -> str:
        """Look for an entry of the formula that is not in the pattern."""
        known = self.rows.astype(np.int64)  # in order, as those of the pattern are
        known *= self.width
        known += self.columns
        most = FEWEST_PLACES + 2 * len(known)
        for rows, columns in places_of(self.derivative, self.outside, self.inside, most, self.env):
            keys = rows * self.width + columns
            is_ordered = bool((keys[1:] >= keys[:-1]).all())
            ordered = keys if is_ordered else np.sort(keys)  # which are found faster one after the other
            if len(known) and (known[np.minimum(np.searchsorted(known, ordered), len(known) - 1)] == ordered).all():
                continue
            at = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
            is_new = known[at] != keys if len(known) else np.ones(len(keys), dtype=bool)
            values = self._values(rows[is_new], columns[is_new])
            wrong = np.flatnonzero(np.isfinite(values) & (values != 0))
            if len(wrong) and not has_cases_at(self.numbers.point):
                n = int(wrong[0])
                row, column = (unravel(int(one[is_new][n]), shape) for one, shape in self._sides(rows, columns))
                there = place_of(self.derivative, row, column)
                return f"at {there} the formula gives {float(values[n])}, and the derivative is 0 by structure"
        return ""

    def _sides(
        self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
    ) -> tuple[tuple[npt.NDArray[np.int64], tuple[int, ...]], ...]:
        return (rows, self.outside), (columns, self.inside)

    def _on_pattern(self) -> str:
        """Look for an entry of the pattern at which the formula has another value."""
        rtol, found = TOLERANCE[self.numbers.dtype].rtol, list[npt.NDArray[np.int64]]()
        for part, values in self._by_parts():
            given = self.given[part]
            with np.errstate(all="ignore"):
                is_off = ~(abs(values - given) <= rtol * abs(given))
            if is_off.any():
                found.append(part.start + np.flatnonzero(is_off & np.isfinite(values) & np.isfinite(given)))
        others = np.concatenate(found) if found else np.zeros(0, np.int64)
        if not len(others):
            return ""
        chosen = others[np.unique(np.linspace(0, len(others) - 1, MOST_DECIDED).astype(int))]
        if not isinstance(self.places, slice):
            chosen = self.places[chosen]
        evidence = self.decide(chosen.tolist())
        if evidence is None or has_cases_at(self.numbers.point):
            return ""
        return confirm(self.numbers.point, self.derivative, evidence, most=0).refuted

    def _by_parts(self) -> Iterator[tuple[slice, Array]]:
        """Yield the values of the formula at the entries of the pattern, so many of them at once."""
        for first in range(0, len(self.rows), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            yield part, self._values(self.rows[part], self.columns[part])

    def _values(self, rows: Places, columns: Places) -> Array:
        """Evaluate the formula at some entries."""
        derivative = self.derivative
        at: dict[sympy.Symbol, npt.NDArray[np.int64]] = {}
        for symbols, shape, places in (
            (derivative.rows, self.outside, rows),
            (derivative.columns, self.inside, columns),
        ):
            whole = places.astype(np.int64)
            of_each = (whole,) if len(shape) == 1 else np.unravel_index(whole, shape) if shape else ()
            at |= dict(zip(symbols, of_each, strict=True))
        found = np.full(len(rows), np.nan)
        for case, expression in derivative.cases:
            own = np.ones(len(rows), dtype=bool)
            for symbol, number in case.items():
                own &= at[symbol] == int(number)
            if own.all():
                found = self._at(expression, at, len(rows))
            elif own.any():
                here = {symbol: places[own] for symbol, places in at.items()}
                found[own] = self._at(expression, here, int(own.sum()))
        return found

    def _at(self, expression: sympy.Expr, at: Mapping[sympy.Symbol, npt.NDArray[np.int64]], count: int) -> Array:
        found = values_at(expression, at, self.env, self.sorted_terms)  # type: ignore[arg-type]
        return found if len(found) == count else np.broadcast_to(found, (count,)).copy()


def _environment(point: FunctionAtPoint, derivative: Derivative) -> dict[sympy.Symbol, object]:
    """Return the arrays of the variables and of constants, and the sizes."""
    found: dict[sympy.Symbol, object] = {s: np.asarray(point.inputs[str(s)]) for s in point.program.variables}
    for line in point.program.lines:
        if line.call.op.kind is Kind.SOURCE:
            found[constant_symbol(line.call)] = array_of(line.call)
    return found | {symbol: int(size) for symbol, size in derivative.sizes.items()}

"""Every entry with what each reading says of it, worst first: torch, the formula, the enclosure, a difference quotient.

The verdicts are the judge's; nothing is decided here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from flint import arb

from gradcli.check.compare import number_of
from gradcli.check.confirming import lookups, shared_work, work_of
from gradcli.check.evidence import Enclosed, Evidence
from gradcli.check.point import Point, flat, unravel
from gradcli.check.summary import published
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.compiling import compile_ball, environment
from gradcli.results import SEVERITY, Array, Entry
from gradcli.symbolic.derivative import Derivative

MAX_OPINIONS = 1_024
"""Entries that are listed: all that the judge looks at where it does not sample."""

FORMULA_WORK = 100_000
"""Ball operations that the values of all formulas may take together: about half a second."""

FORMULA_BITS = (64, 256, 1_024)
"""Precisions at which a formula is evaluated, until its value is known to a float."""

KNOWN_BITS = 53
"""Bits of a formula's value that make a float."""

Differences = Mapping[Entry, tuple[float, float]]
"""A difference quotient of an entry, and its error."""


def worst_first(entries: Iterable[Entry]) -> list[Entry]:
    """By verdict, then by error, zeros last; elements of y behind entries of the same verdict, as there may be many."""

    def badness(entry: Entry) -> tuple[int, bool, float, bool]:
        missing = 0.0 if entry.verdict == "agree" else math.inf
        error = missing if entry.relative_error is None else entry.relative_error
        return SEVERITY.index(entry.verdict), entry.variable is not None, error, entry.torch != 0

    return sorted(entries, key=badness, reverse=True)


def opinions(
    point: Point,
    entries: Iterable[Entry],
    derivatives: Mapping[str, Derivative],
    differences: Differences,
    dtype: str,
    v: Array | None = None,
    evidence: Evidence | None = None,
) -> tuple[Entry, ...]:
    """The first `MAX_OPINIONS` entries, with what all readings say of them.

    Args:
        point: The Program and its inputs.
        entries: As the judge decided them, in the order wanted.
        derivatives: Formulas that were confirmed, by variable.
        differences: Difference quotients of the entries that have one.
        dtype: Of torch's numbers, whose last places are the unit of the error.
        v: The gradient vector, if entries are of vᵀJ.
        evidence: Which rows of y each element of x reaches: the others are left out of vᵀJ.
    """
    formulas = _Formulas(point, derivatives, v, _reached(evidence))
    found = []
    for entry in itertools.islice(entries, MAX_OPINIONS):
        ball = entry.truth if entry.truth is not None and exists(entry.truth) else None
        quotient, error = differences.get(entry, (None, None))
        found.append(
            replace(
                published(entry),
                formula=formulas.value(entry),
                radius=None if ball is None else float(ball.rad()),
                difference=quotient,
                difference_error=error,
                ulps=None if ball is None else _ulps(number_of(entry), ball, dtype),
            )
        )
    return tuple(found)


def _ulps(number: float, truth: Ball, dtype: str) -> float | None:
    """The distance in units in the last place at the truth; None where a number has none.

    >>> _ulps(1 + 2**-50, arb(1), "float64"), _ulps(0.1, arb(0.1), "float32"), _ulps(math.nan, arb(1), "float64")
    (4.0, 0.0, None)
    """
    with np.errstate(over="ignore"):
        unit = float(np.spacing(np.abs(np.dtype(dtype).type(float(truth.mid())))))
    if not (math.isfinite(number) and math.isfinite(unit)):
        return None
    with precision(KNOWN_BITS * 2):
        return float(abs(arb(number) - truth).mid() / unit) + 0.0


class _Formulas:
    """The confirmed formulas of a Jacobian as an evaluator of its entries, within `FORMULA_WORK`."""

    def __init__(
        self,
        point: Point,
        derivatives: Mapping[str, Derivative],
        v: Array | None,
        reached: Mapping[tuple[str, int], list[int]] | None,
    ) -> None:
        self.point = point
        self.derivatives = derivatives
        self.v = None if v is None else v.ravel()
        self.reached = reached
        self.left = FORMULA_WORK - sum(shared_work(d, d.sizes) for d in derivatives.values())
        self._environments: dict[tuple[str, int], dict[object, object]] = {}

    def value(self, entry: Entry) -> float | None:
        """The value of the formula at one entry, if the work that is left suffices to know it to a float."""
        derivative = self.derivatives.get(entry.variable or "")
        if derivative is None:
            return None
        column = entry.column or ()
        if entry.row is not None:
            weights = {entry.row: 1.0}
        elif self.v is not None and self.reached is not None:
            j = flat(column, self.point.shape_of(derivative.variable))
            rows = self.reached.get((derivative.variable, j), [])
            weights = {unravel(row, self.point.shape): float(self.v[row]) for row in rows if self.v[row] != 0}
        else:
            return None
        if len(weights) > self.left:
            return None
        terms = [(weight, *derivative.at(row, column)) for row, weight in weights.items()]
        work = sum(work_of(expression, derivative, derivative.sizes) for _, expression, _ in terms)
        for bits in FORMULA_BITS:
            self.left -= work
            if self.left < 0:
                return None
            with precision(bits):
                env = self._environment(derivative, bits)
                total = sum((compile_ball(e)({**env, **indices}) * arb(weight) for weight, e, indices in terms), arb(0))
            if _is_known(total, bits):
                return float(total.mid()) + 0.0
        return None

    def _environment(self, derivative: Derivative, bits: int) -> dict[object, object]:
        """What the symbols stand for; the sums that it keeps are of these bits."""
        key = derivative.variable, bits
        if key not in self._environments:
            self._environments[key] = environment({**lookups(self.point), **derivative.sizes})
        return self._environments[key]


def _reached(evidence: Evidence | None) -> dict[tuple[str, int], list[int]] | None:
    """The rows of y that an element of x has a derivative in; in the others it is 0 whatever the numbers are."""
    if not isinstance(evidence, Enclosed):
        return None
    found: dict[tuple[str, int], list[int]] = {}
    for direction, row in evidence.columns:
        symbol, position = evidence.directions[direction]
        found.setdefault((str(symbol), position), []).append(row)
    return found


def _is_known(ball: Ball, bits: int) -> bool:
    is_tight = ball.is_exact() or ball.rel_accuracy_bits() >= KNOWN_BITS
    is_nothing = bits == FORMULA_BITS[-1] and abs(ball) < arb(2) ** (-bits // 2)
    return bool(exists(ball) and (is_tight or is_nothing))

"""Formulas of an answer: derived once, confirmed at each point, shown only where they hold.

Then every entry with the number of each reading, worst first: torch, the formula, the enclosure, a difference
quotient.  The verdicts are the judge's; nothing is decided here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.compare import BITS, FIRST_BITS, KNOWN_BITS, ZERO_BITS, Block, Evidence, is_sharp, number_of
from gradcli.crosscheck.confirming import Confirmation, Directions, confirm, lookups
from gradcli.crosscheck.point import Point, flat, unravel
from gradcli.crosscheck.summary import published, with_findings
from gradcli.language.program.wengert import Program
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.compiling import OverWorkError, environment, evaluate
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import SEVERITY, Array, Check, Entry, Formula, Of, Verdict
from gradcli.symbolic.derivative import (
    Derivative,
    OutputElement,
    direction_names,
    hessian,
    hvp,
    jvp,
    structure_of,
    transposed,
)
from gradcli.symbolic.origins import NoFormulaError
from gradcli.symbolic.printing import formula, with_names

MAX_FORMULAS = 30
"""Most formulas to derive for an answer; each takes a walk over the whole Program."""

MOST_DIRECTIONS = 64
"""Most columns of a Jacobian to enclose with the reference to confirm formulas."""


@dataclass(frozen=True)
class Derived:
    """Formula of each block, or the reason for its absence; it depends on the shapes of a point, not on its values.

    Attributes:
        blocks: The formulas; of ∂y/∂x and Hu by ("", x), of Ju by ("", ""), of a Hessian by its two variables.
        directions: The directions of Ju and Hu.
    """

    blocks: Mapping[Block, Derivative | str]
    directions: Directions = field(default_factory=dict)


@dataclass(frozen=True)
class Formulas:
    """Formulas at a point after the comparison with the reference, by block.

    Attributes:
        shown: The formulas that hold, as text.
        omitted: The reason for leaving out the formula, for the other blocks.
        derivatives: The formulas that hold, as expressions.
        refuted: The contradiction by the reference, in words.
        confirmations: The outcome of each comparison.
    """

    shown: dict[Block, Formula] = field(default_factory=dict)
    omitted: dict[Block, str] = field(default_factory=dict)
    derivatives: dict[Block, Derivative] = field(default_factory=dict)
    refuted: dict[Block, str] = field(default_factory=dict)
    confirmations: dict[Block, Confirmation] = field(default_factory=dict)


def derive_formulas(
    point: Point, program: Program, wrt: Sequence[str], command: str = "", u: Mapping[str, Array] | None = None
) -> Derived:
    """Derive the formulas of Ju, Hu or the blocks of the Hessian, or those of ∂y/∂x for these variables.

    Args:
        point: The Program and its inputs.
        program: The Program as typed, for its names.
        wrt: The variables of the rows and columns.
        command: `jvp`, `hvp`, `hessian`, or another for ∂y/∂x.
        u: The direction of each variable that moves, for Ju and Hu.
    """
    given, moved = point.in_formulas, u or {}
    names = direction_names(program, list(moved))
    symbols = {name: sympy.Symbol(name, real=True) for name in wrt}
    ways: dict[Block, Callable[[], Derivative]]
    match command:
        case "jvp":
            ways = {("", ""): partial(jvp, *given, names)}
        case "hvp":
            ways = {("", name): partial(hvp, *given, names, x) for name, x in symbols.items()}
        case "hessian":
            pairs = combinations_with_replacement(wrt, 2)
            ways = {(row, column): partial(hessian, *given, symbols[row], symbols[column]) for row, column in pairs}
        case _:
            element = OutputElement(*given)
            ways = {("", name): partial(element.differentiated, x) for name, x in symbols.items()}
    what = "blocks" if command == "hessian" else "variables"
    omitted = f"formulas are given for {MAX_FORMULAS} {what}, and there are {len(ways)}"
    found: dict[Block, Derivative | str] = {}
    for number, ((row, column), derive) in enumerate(ways.items()):
        found[row, column] = one = _derived(derive) if number < MAX_FORMULAS else omitted
        if row and row != column:
            found[column, row] = one if isinstance(one, str) else transposed(one)
    return Derived(found, {name: (names[name], array) for name, array in moved.items()})


def _derived(derive: Callable[[], Derivative]) -> Derivative | str:
    try:
        return derive()
    except NoFormulaError as error:
        return str(error)


def evidence_at(point: Point, names: Sequence[str]) -> Evidence | None:
    """Enclose columns of these variables at a point; None where the work is over the reference's budget or time."""
    directions = point.directions(names)
    with suppress(OverTimeError), time_limit():
        return Evidence.enclosed(point, directions[:: 1 + len(directions) // MOST_DIRECTIONS], None, FIRST_BITS)
    return None


def contradicted(point: Point, derived: Derived, evidence: Evidence | None) -> dict[Block, str]:
    """Find the formulas that the evidence at a point contradicts; nothing is compared elsewhere."""
    compared = {
        block: confirm(point, derivative, evidence, derived.directions, most=0).refuted
        for block, derivative in derived.blocks.items()
        if not isinstance(derivative, str)
    }
    return {block: reason for block, reason in compared.items() if reason}


def confirmed(point: Point, program: Program, derived: Derived, evidence: Evidence | None, most: int = 1) -> Formulas:
    """Compare the formulas with the reference at a point.

    Args:
        point: The Program and its inputs.
        program: The Program as typed, for its names.
        derived: The formulas.
        evidence: The truths that the reference enclosed at the point, if any.
        most: The most probes for a formula that the evidence neither confirms nor refutes.
    """
    found = Formulas()
    for block, derivative in derived.blocks.items():
        if isinstance(derivative, str):
            found.omitted[block] = derivative
            continue
        confirmation = found.confirmations[block] = confirm(point, derivative, evidence, derived.directions, most)
        if confirmation.holds:
            sides = (point.shape_of(name) if name else point.shape for name in (derivative.first, derivative.variable))
            structure = structure_of(derivative, *sides) if derivative.of in ("jacobian", "hessian") else ""
            found.shown[block] = formula(derivative, program, confirmation.note, structure)
            found.derivatives[block] = derivative
        elif reason := confirmation.refuted:
            found.refuted[block], found.omitted[block] = reason, f"it disagrees with the reference: {reason}"
        else:
            found.omitted[block] = "the reference could not confirm it"
    return found


RANDOM_POINTS = 3
"""Random points at which to confirm a formula, if the question has no point."""


def confirmed_at_random(point: Point, program: Program, derived: Derived) -> tuple[Formulas, Check]:
    """Confirm formulas at random points, and count the comparisons in a check.

    Args:
        point: The Program and its shapes; it has no inputs.
        program: The Program as typed, for its names.
        derived: The formulas.
    """
    found = confirmed(point, program, derived, None, RANDOM_POINTS)
    shown = {block: replace(formula, note="") for block, formula in found.shown.items()}
    found = replace(found, shown=with_names(shown, program))
    verdict: Verdict = "agree" if found.shown else "unchecked"
    compared = sum(one.entries for one in found.confirmations.values())
    points = max((one.points for one in found.confirmations.values()), default=0)
    check = Check(verdict, compared, compared, None, chosen=f"{points} random points", sampled=True)
    return found, with_refuted(check, found.refuted, derived)


def concluded(
    check: Check | None, point: Point, evidence: Evidence | None, program: Program, derived: Derived
) -> tuple[Formulas, Check | None]:
    """Confirm formulas at a point, and add to the check a finding for each that the reference contradicts.

    Args:
        check: The check of the numbers, if there is one.
        point: The Program and its inputs.
        evidence: The truths that the reference enclosed at the point, if any.
        program: The Program as typed, for its names.
        derived: The formulas.
    """
    formulas = confirmed(point, program, derived, evidence)
    shown = with_names(formulas.shown, program)
    if check is not None and check.findings:  # the findings say what is special at this point
        shown = {block: replace(formula, note="") for block, formula in shown.items()}
    formulas = replace(formulas, shown=shown)
    if check is not None:
        check = _with_conventions(check, point, derived, formulas)
    return formulas, check and with_refuted(check, formulas.refuted, derived)


def _with_conventions(check: Check, point: Point, derived: Derived, formulas: Formulas) -> Check:
    """Add the value of the formula to the notes of kinks at which torch takes another side."""
    known = {x: d for (_, x), d in derived.blocks.items() if ("", x) in formulas.shown and isinstance(d, Derivative)}
    values, findings = _Formulas(point, known, None, None), []
    for finding in check.findings:
        is_entry = finding.verdict == "kink" and not finding.of and finding.column is not None
        value = values.value(finding) if is_entry else None
        is_other = value is not None and value != finding.torch
        note = f"{finding.note}, where the formula has {repr(value).removesuffix('.0')}" if is_other else finding.note
        findings.append(replace(finding, note=note))
    return replace(check, findings=tuple(findings))


def with_refuted(check: Check, refuted: Mapping[Block, str], derived: Derived) -> Check:
    """Add to a check a finding for each formula that the reference contradicts, once."""
    found = []
    for (row, column), reason in refuted.items():
        derivative = derived.blocks[row, column]
        assert not isinstance(derivative, str), "a formula is refuted"  # noqa: S101
        of: Of = "" if derivative.of == "jacobian" or derivative.of == "vjp" else derivative.of  # noqa: PLR1714
        note = f"the formula is wrong: {reason}"
        finding = Entry(column or None, None, None, "disagree", None, note=note, of=of, by=row or None)
        if all(replace(one, note=note) != finding for one in check.findings):
            found.append(finding)
    return with_findings(check, found)


MAX_OPINIONS = 1_024
"""Most entries to list: as many as the judge looks at where it does not sample."""

FORMULA_WORK = 100_000
"""Most ball operations for the values of all formulas together: about half a second."""

Differences = Mapping[Entry, tuple[float, float]]
"""Difference quotient of an entry and its error, by entry."""


def worst_first(entries: Iterable[Entry]) -> list[Entry]:
    """Sort by verdict, then by error, zeros last; elements of y after entries of the same verdict: they may be many."""

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
    """Return the first `MAX_OPINIONS` entries, with the numbers of all readings.

    Args:
        point: The Program and its inputs.
        entries: The entries as the judge decided them, in the order wanted.
        derivatives: Formulas that were confirmed, by variable.
        differences: Difference quotients of the entries that have one.
        dtype: The dtype of torch's numbers; a unit in its last place is the unit of the error.
        v: The gradient vector, if entries are of vᵀJ.
        evidence: The rows of y that each element of x reaches; formulas of vᵀJ leave out the other rows.
    """
    formulas = _Formulas(point, derivatives, v, evidence.reached if evidence else None)
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
    """Return the distance in units in the last place of the truth; None where it is not finite.

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
    """Evaluator of the entries of a Jacobian by its confirmed formulas, within `FORMULA_WORK`."""

    def __init__(
        self,
        point: Point,
        derivatives: Mapping[str, Derivative],
        v: Array | None,
        reached: Mapping[tuple[str, int], Sequence[int]] | None,
    ) -> None:
        self.point = point
        self.derivatives = derivatives
        self.v = None if v is None else v.ravel()
        self.reached = reached
        self._environments: dict[tuple[str, int], Mapping[sympy.Symbol, object]] = {}

    def value(self, entry: Entry) -> float | None:
        """Evaluate the formula at one entry; None if the work that is left does not suffice to know it to a float."""
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
        for bits in BITS[:-1]:
            with precision(bits):
                total, env = arb(0), self._environment(derivative.variable, bits)
                for row, weight in weights.items():
                    expression, indices = derivative.entry_formula(row, column)
                    try:
                        total += evaluate(expression, {**env, **indices}) * arb(weight)
                    except OverWorkError:
                        return None
            # At the last precision, less than 2**(-bits/2) counts as 0.
            least = -bits // 2 if bits == ZERO_BITS else -math.inf
            if exists(total) and is_sharp(total, KNOWN_BITS, least):
                return float(total.mid()) + 0.0
        return None

    def _environment(self, variable: str, bits: int) -> Mapping[sympy.Symbol, object]:
        """Map symbols to values; one map per precision, as it keeps the sums that it has computed."""
        if (variable, bits) not in self._environments:
            values = {**lookups(self.point), **self.derivatives[variable].sizes}
            self._environments[variable, bits] = environment(values, FORMULA_WORK / len(self.derivatives))
        return self._environments[variable, bits]

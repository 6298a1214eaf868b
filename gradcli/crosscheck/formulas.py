"""Formulas of an answer: derived once, confirmed at each point, shown only where they hold.

Then every entry with the number of each reading, worst first: torch, the formula, the enclosure, a difference
quotient.  The verdicts are the judge's; nothing is decided here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
import sympy
from flint import arb

from gradcli import trial
from gradcli.crosscheck.compare import KNOWN_BITS, Block, Evidence, number_of
from gradcli.crosscheck.confirming import Confirmation, NamedDirections, confirm, has_cases_at
from gradcli.crosscheck.formula_values import FormulaValues, mismatches
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.crosscheck.summary import RANKS, published, with_findings
from gradcli.language.program.wengert import Program
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.deadline import OverTimeError, formula_limit
from gradcli.results import Array, Assessment, Check, Entry, Formula, Position, Verdict
from gradcli.results.verdicts import entry_of
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


@dataclass(frozen=True)
class Derived:
    """Formula of each block, or the reason for its absence; it depends on the shapes of a point, not on its values.

    Attributes:
        blocks: The formulas; of ∂y/∂x and Hu by ("", x), of Ju by ("", ""), of a Hessian by its two variables.
        directions: The directions of Ju and Hu.
    """

    blocks: Mapping[Block, Derivative | str]
    directions: NamedDirections = field(default_factory=dict)


@dataclass(frozen=True)
class Formulas:
    """Formulas at a point after the comparison with the reference, by block.

    Attributes:
        shown: The formulas that hold, as text.
        omitted: The reason for leaving out the formula, for the other blocks.
        derivatives: The formulas that hold, as expressions.
        refuted: The contradiction by the reference, in words.
        confirmations: The outcome of each comparison.
        values: The values of the formulas at the entries of a point, once they are compared there.
    """

    shown: dict[Block, Formula] = field(default_factory=dict)
    omitted: dict[Block, str] = field(default_factory=dict)
    derivatives: dict[Block, Derivative] = field(default_factory=dict)
    refuted: dict[Block, str] = field(default_factory=dict)
    confirmations: dict[Block, Confirmation] = field(default_factory=dict)
    values: FormulaValues | None = field(default=None, repr=False, compare=False)


def derive_formulas(
    point: FunctionAtPoint,
    program: Program,
    wrt: Sequence[str],
    command: str = "",
    u: Mapping[str, Array] | None = None,
) -> Derived:
    """Derive the formulas of Ju, Hu or the blocks of the Hessian, or those of ∂y/∂x for these variables.

    Args:
        point: The Program and its inputs.
        program: The Program as typed, for its names.
        wrt: The variables of the rows and columns.
        command: `jvp`, `hvp`, `hessian`, or another for ∂y/∂x.
        u: The direction of each variable that moves, for Ju and Hu.
    """
    trial.end()
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
    with formula_limit():
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
    except OverTimeError as error:
        return f"it is {error}"


def contradicted(point: FunctionAtPoint, derived: Derived, evidence: Evidence | None) -> dict[Block, str]:
    """Find the formulas that the evidence at a point contradicts; nothing is compared elsewhere."""
    compared = {
        block: confirm(point, derivative, evidence, derived.directions, most=0).refuted
        for block, derivative in derived.blocks.items()
        if not isinstance(derivative, str)
    }
    return {block: reason for block, reason in compared.items() if reason}


def confirmed(
    point: FunctionAtPoint, program: Program, derived: Derived, evidence: Evidence | None, most: int = 1
) -> Formulas:
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
            found.omitted[block] = "the derived formula could not be confirmed here; the verdict is of the numbers"
    return found


RANDOM_POINTS = 3
"""Random points at which to confirm a formula, if the question has no point."""


def confirmed_at_random(point: FunctionAtPoint, program: Program, derived: Derived) -> tuple[Formulas, Check]:
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


def confirm_at(
    check: Check | None, point: FunctionAtPoint, evidence: Evidence | None, program: Program, derived: Derived
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
    if check is not None and any(finding.verdict == "kink" for finding in check.findings):
        formulas, check = _with_conventions(formulas, check, point, derived)
    return formulas, check and with_refuted(check, formulas.refuted, derived)


def with_mismatches(
    formulas: Formulas, judgement: Judgement, point: FunctionAtPoint, derived: Derived, v: Array | None = None
) -> tuple[Formulas, Check]:
    """Compare the formulas that are shown at each entry of a point, and say at which entries one does not hold.

    Where cases of the function meet, or a domain ends, that is a remark; elsewhere the formula is refuted.

    Args:
        formulas: The formulas after their confirmation.
        judgement: The verdicts on the entries, and their check so far.
        point: The Program and its inputs.
        derived: The formulas before their confirmation, and the directions.
        v: The gradient vector, if entries are of vᵀJ.
    """
    check = judgement.check
    confirmed_there = {block: one.values for block, one in formulas.confirmations.items()}
    values = FormulaValues(point, formulas.derivatives, v, judgement.evidence, derived.directions, confirmed_there)
    found = mismatches(values, judgement.entries)
    known = formulas.derivatives
    wrong = {block: one for block, one in found.items() if one.contradicts and not has_cases_at(point)}
    refuted = {block: next(one.remarks(known[block])) for block, one in wrong.items()}
    remarks = [remark for block, one in found.items() if block not in refuted for remark in one.remarks(known[block])]
    shown = {
        block: replace(formula, holds_here=formula.holds_here and (block not in found or not found[block].differs))
        for block, formula in formulas.shown.items()
        if block not in refuted
    }
    omitted = {block: f"it disagrees with the reference: {reason}" for block, reason in refuted.items()}
    formulas = replace(
        formulas, shown=shown, refuted=formulas.refuted | refuted, omitted=formulas.omitted | omitted, values=values
    )
    check = replace(check, notes=tuple(dict.fromkeys((*check.notes, *remarks))))
    return formulas, with_refuted(check, refuted, derived)


def _with_conventions(
    formulas: Formulas, check: Check, point: FunctionAtPoint, derived: Derived
) -> tuple[Formulas, Check]:
    """Add the value of the formula to the notes of kinks at which torch takes another side: it does not hold there."""
    values = FormulaValues(point, formulas.derivatives, directions=derived.directions)
    findings, others = [], set[Block]()
    for finding in check.findings:
        is_entry = finding.verdict == "kink" and finding.column is not None
        block = finding.position.by or "", finding.position.variable or ""
        value = values.value(finding) if is_entry and block in formulas.shown else None
        is_other = value is not None and value != finding.torch
        others |= {block} if is_other else set()
        note = finding.note
        if is_other:
            note += f"{';' if block[0] else ', where'} the formula has {repr(value).removesuffix('.0')}"
        findings.append(finding.judged(note=note))
    shown = {
        block: replace(formula, holds_here=formula.holds_here and block not in others)
        for block, formula in formulas.shown.items()
    }
    return replace(formulas, shown=shown), replace(check, findings=tuple(findings))


def with_refuted(check: Check, refuted: Mapping[Block, str], derived: Derived) -> Check:
    """Add to a check a finding for each formula that the reference contradicts, once."""
    return with_findings(check, refutations(check, refuted, derived))


def refutations(check: Check, refuted: Mapping[Block, str], derived: Derived) -> list[Entry]:
    """Make a finding for each formula that the reference contradicts, unless the check has it."""
    found = []
    for (row, column), reason in refuted.items():
        derivative = derived.blocks[row, column]
        assert not isinstance(derivative, str), "a formula is refuted"  # noqa: S101
        place = Position(derivative.of, column or None, by=row or None)
        finding = Entry(place, None, Assessment("disagree", note=f"the formula is wrong: {reason}"))
        if all(one.judged(note=finding.note) != finding for one in check.findings):
            found.append(finding)
    return found


MAX_OPINIONS = 1_024
"""Most entries to list: as many as the judge looks at where it does not sample."""

DifferenceQuotients = Mapping[Entry, tuple[float, float]]
"""Difference quotient of an entry and its error, by entry."""


def worst_first(entries: Iterable[Entry]) -> list[Entry]:
    """Sort by verdict, then by error, zeros last; elements of y after entries of the same verdict: they may be many."""

    def badness(entry: Entry) -> tuple[int, bool, float, bool]:
        opinion, rank = entry.assessment, RANKS[entry.assessment.verdict]
        missing = math.inf if rank else 0.0
        error = missing if opinion.relative_error is None else opinion.relative_error
        return rank, entry.position.variable is not None, error, entry.torch != 0

    return sorted(entries, key=badness, reverse=True)


def opinions(
    entries: Iterable[Entry],
    values: FormulaValues | None,
    differences: DifferenceQuotients,
    dtype: str,
) -> tuple[Entry, ...]:
    """Return the first `MAX_OPINIONS` entries, with the numbers of all readings.

    Args:
        entries: The entries as the judge decided them, in the order wanted.
        values: The values of formulas that were confirmed, if there are any.
        differences: Difference quotients of the entries that have one.
        dtype: The dtype of torch's numbers; a unit in its last place is the unit of the error.
    """
    with precision(KNOWN_BITS * 2):
        return tuple(_opinions(entries, values and values.renewed(), differences, dtype))


def _opinions(
    entries: Iterable[Entry], values: FormulaValues | None, differences: DifferenceQuotients, dtype: str
) -> list[Entry]:
    found: list[Entry] = []
    known: dict[tuple[int, float | None, float | None], Assessment] = {}  # of zeros by structure, which share one
    for entry in itertools.islice(entries, MAX_OPINIONS):
        truth = entry.assessment.truth
        value = None if values is None else values.value(entry)
        key = id(entry.assessment), entry.torch, value
        if not differences and key in known:
            found.append(entry_of(entry.position, entry.torch, known[key]))
            continue
        ball = truth if truth is not None and exists(truth) else None
        quotient, error = differences.get(entry, (None, None)) if differences else (None, None)
        one = published(
            entry,
            formula=value,
            radius=None if ball is None else float(ball.rad()),
            difference=quotient,
            difference_error=error,
            ulps=None if ball is None else _ulps(number_of(entry), ball, dtype),
        )
        known[key] = one.assessment
        found.append(one)
    return found


def _ulps(number: float, truth: Ball, dtype: str) -> float | None:
    """Return the distance in units in the last place of the truth; None where it is not finite.

    The precision is to be twice that of a float.

    >>> with precision(KNOWN_BITS * 2):
    ...     _ulps(1 + 2**-50, arb(1), "float64"), _ulps(0.1, arb(0.1), "float32"), _ulps(math.nan, arb(1), "float64")
    (4.0, 0.0, None)
    """
    middle = float(truth.mid())
    if dtype == "float64":
        unit = math.ulp(middle)
    else:
        with np.errstate(over="ignore"):
            unit = float(np.spacing(np.abs(np.dtype(dtype).type(middle))))
    if not (math.isfinite(number) and math.isfinite(unit)):
        return None
    return float(abs(arb(number) - truth).mid() / unit) + 0.0

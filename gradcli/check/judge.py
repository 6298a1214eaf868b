"""A verdict for every checked entry.

In this order: does the function exist here, does its derivative, is torch's number the truth to within a stated
tolerance, and if not, can the rounding of its precision explain it?
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy
from flint import arb

from gradcli.check.point import Point, Torch, unravel
from gradcli.check.sample import Rows, Selection, selections
from gradcli.reference.balls import Ball, precision
from gradcli.reference.duals import Columns, Direction, OverBudgetError, Reference
from gradcli.reference.rounding import Rounding
from gradcli.reference.rules import Outcome, Trouble
from gradcli.results import SEVERITY, Array, Check, Finding, Verdict

MAX_FINDINGS = 10
"""Findings that are listed."""

FIRST_BITS, LAST_BITS = 64, 4_096
"""Precision starts at the first and doubles until the balls can decide, at most to the last."""

TOLERANCE: Mapping[str, float] = {"float64": 2.0**-30, "float32": 2.0**-16}
"""The relative error that still agrees: n roundings leave about n * 2**-53 (2**-24 in float32), so this admits chains
of 2**23 (2**8) operations, and functions that torch computes to ten (five) digits; few wrong formulas are as close."""

KNOWN_BITS = 53
"""Bits of the truth that must be known before torch's number is called wrong, so that the truth can be printed."""

FORMATS: Mapping[str, Rounding] = {"float64": Rounding(53, -1074), "float32": Rounding(24, -149)}
"""What each dtype rounds: the balls that cover it bound what rounding can explain."""

SLACK = 8
"""How much wider than those balls an error may be, as torch may fuse or reorder operations."""


@dataclass(frozen=True)
class Evidence:
    """What the reference found at the point, for the formulas: columns by number of the direction, at some bits."""

    directions: Sequence[Direction]
    columns: Columns
    rows: Rows | None
    bits: int


@dataclass(frozen=True, slots=True)
class _Target:
    """One number of torch: an entry of the Jacobian, or of vᵀJ if `weights` are given."""

    direction: int
    variable: str
    column: int
    row: int
    torch: float
    weights: Array | None = None

    def truth(self, columns: Mapping[int, Mapping[int, Outcome]]) -> Outcome:
        """The ball that contains the true number; what no direction reaches is an exact zero."""
        column = columns.get(self.direction, {})
        if self.weights is None:
            return column.get(self.row, arb(0))
        total = arb(0)
        for row, outcome in column.items():
            weight = float(self.weights[row])
            if not math.isfinite(weight):
                return Trouble("domain", f"v is {weight} here", True)
            if weight == 0:
                continue
            if isinstance(outcome, Trouble):
                return outcome
            total += outcome * weight
        return total


@dataclass(frozen=True, slots=True)
class _Entry:
    """A decided target; `ball` is None where there is no truth."""

    target: _Target
    verdict: Verdict
    ball: Ball | None
    error: float | None
    note: str


def judge(point: Point, torch: Torch, wrt: tuple[str, ...]) -> tuple[Check, Evidence | None]:
    """Compare torch's numbers with the reference, all of them or a sample.

    Args:
        point: The Program and its inputs.
        torch: The numbers, per variable.
        wrt: The variables, in order.

    Returns:
        The check, and what the reference found, None if nothing was within its budget.
    """
    variables = sorted((s for s in point.program.variables if str(s) in wrt), key=lambda s: wrt.index(str(s)))
    main = _judge_part(point, torch, variables)
    if torch.jacobian is None or torch.vjp is None or main.chosen == "all":
        return _summarize(point, main, None), main.evidence
    return _summarize(point, main, _judge_part(point, replace(torch, jacobian=None), variables)), main.evidence


@dataclass(frozen=True, slots=True)
class _Part:
    """The entries of J, or of vᵀJ, that were looked at."""

    entries: int
    decided: Sequence[_Entry]
    chosen: str
    evidence: Evidence | None
    notes: tuple[str, ...] = ()

    @property
    def checked(self) -> int:
        """Entries whose number was compared or shown to have no truth; those of J, where it is there."""
        weighted = all(e.target.weights is not None for e in self.decided)
        kept = [e for e in self.decided if weighted or e.target.weights is None]
        return sum(e.verdict != "unchecked" for e in kept)


def _judge_part(point: Point, torch: Torch, variables: Sequence[sympy.Symbol]) -> _Part:
    blocks = torch.jacobian if torch.jacobian is not None else torch.vjp or {}
    entries = sum(int(blocks[str(symbol)].size) for symbol in variables)
    if entries == 0:
        return _Part(0, (), "all", None, ("there are no entries to check",))
    reference = Reference(point.program, point.shapes, point.inputs)
    for selection in selections(point, torch, variables, entries):
        try:
            evidence, judges_value = _evidence(reference, selection)
        except OverBudgetError:
            continue
        decided = _decide(point, reference, evidence, _targets(point, torch, selection), torch.dtype)
        notes = () if judges_value else ("whether y itself exists was not checked: that was over the budget",)
        return _Part(entries, decided, selection.chosen, evidence, notes)
    return _Part(entries, (), "none", None, ("even one entry was over the budget of the reference",))


def _evidence(reference: Reference, selection: Selection) -> tuple[Evidence, bool]:
    plan = reference.plan(selection.directions, selection.rows)
    return Evidence(selection.directions, plan.run(FIRST_BITS), selection.rows, FIRST_BITS), plan.judges_value


def _targets(point: Point, torch: Torch, selection: Selection) -> list[_Target]:
    rows = range(point.rows) if selection.rows is None else selection.rows.tolist()
    targets = []
    for d, (symbol, j) in enumerate(selection.directions):
        name = str(symbol)
        if torch.jacobian is not None:
            block = torch.jacobian[name].reshape(point.rows, -1)
            targets += [_Target(d, name, j, row, float(block[row, j])) for row in rows]
        if torch.vjp is not None and torch.v is not None and selection.rows is None:
            targets.append(_Target(d, name, j, -1, float(torch.vjp[name].ravel()[j]), torch.v.ravel()))
    return targets


def _by_direction(columns: Columns) -> dict[int, dict[int, Outcome]]:
    grouped: dict[int, dict[int, Outcome]] = {}
    for (direction, row), outcome in columns.items():
        grouped.setdefault(direction, {})[row] = outcome
    return grouped


def _decide(point: Point, reference: Reference, evidence: Evidence, targets: list[_Target], dtype: str) -> list[_Entry]:
    """Raise the precision for the targets that need it, then ask whether rounding explains what is wrong."""
    bits, columns, directions = evidence.bits, evidence.columns, list(evidence.directions)
    entries: list[_Entry] = []
    while targets:
        with precision(bits):
            grouped = _by_direction(columns)
            found = [(t, _compare(t, t.truth(grouped), dtype, is_last=bits >= LAST_BITS)) for t in targets]
        entries += [entry for _, entry in found if entry is not None]
        targets, directions = _renumbered([t for t, entry in found if entry is None], directions)
        bits *= 2
        if targets:
            columns = reference.plan(directions, evidence.rows).run(bits)
    return _explained(point, evidence, entries, dtype)


def _renumbered(targets: list[_Target], directions: list[Direction]) -> tuple[list[_Target], list[Direction]]:
    """The targets with only the directions that they need."""
    kept = sorted({t.direction for t in targets})
    number = {d: n for n, d in enumerate(kept)}
    return [replace(t, direction=number[t.direction]) for t in targets], [directions[d] for d in kept]


def _compare(target: _Target, truth: Outcome, dtype: str, *, is_last: bool) -> _Entry | None:
    """The entry's verdict, or None if more precision may decide; a wrong number is `disagree` until explained."""
    if isinstance(truth, Trouble):
        if truth.decided:
            return _Entry(target, "undefined", None, None, truth.reason)
        if not is_last:
            return None
        note = f"{truth.reason}, or so close to it that {LAST_BITS} bits cannot tell"
        return _Entry(target, "unchecked", None, None, note)
    is_known = is_last or truth.is_exact() or truth.rel_accuracy_bits() >= KNOWN_BITS
    if not math.isfinite(target.torch):
        return _not_finite(target, truth, dtype) if is_known else None
    distance, size = abs(truth - arb(target.torch)), abs(truth)
    tolerance = TOLERANCE[dtype]
    if distance <= tolerance * size:
        error = 0.0 if distance == 0 else _to_float(distance.upper() / size.lower())
        return _Entry(target, "agree", truth, error, "")
    if distance < arb(2) ** FORMATS[dtype].smallest:
        return _Entry(target, "agree", truth, None, "")  # no number of this format is nearer
    if distance > tolerance * size and is_known:
        error = _to_float(distance.mid() / size.mid()) if size > 0 else math.inf
        return _Entry(target, "disagree", truth, error, "")
    if not is_last:
        return None
    return _Entry(target, "unchecked", truth, None, f"the truth is not known well enough at {LAST_BITS} bits")


def _not_finite(target: _Target, truth: Ball, dtype: str) -> _Entry:
    largest = float(np.finfo(dtype).max)
    if abs(truth) > largest:
        note = f"the derivative exists but is beyond the range of {dtype}"
        return _Entry(target, "inaccurate", truth, None, note)
    return _Entry(target, "nan-trap", truth, None, f"the derivative exists, and torch gives {target.torch}")


def _explained(point: Point, evidence: Evidence, entries: list[_Entry], dtype: str) -> list[_Entry]:
    """What the balls of the dtype's own rounding cover is `inaccurate`: digits were lost, no rule is wrong.

    They are taken of the Program as typed, as torch rounds where its own functions end.
    """
    wrong = [e for e in entries if e.verdict == "disagree"]
    if not wrong:
        return entries
    directions = list(dict.fromkeys(_direction(e.target) for e in wrong))
    rounding = FORMATS[dtype]
    try:
        plan = Reference(point.typed, point.typed_shapes, point.inputs).plan(directions, evidence.rows)
    except OverBudgetError:
        return entries
    columns = _by_direction(plan.run(rounding.bits, rounding))
    explained = []
    for entry in entries:
        if entry.verdict == "disagree":
            target = replace(entry.target, direction=directions.index(_direction(entry.target)))
            with precision(rounding.bits):
                note = _excuse(target, target.truth(columns), dtype)
            verdict: Verdict = "inaccurate" if note else "disagree"
            entry = replace(entry, verdict=verdict, note=note or "rounding does not explain it")  # noqa: PLW2901
        explained.append(entry)
    return explained


def _excuse(target: _Target, rounded: Outcome, dtype: str) -> str:
    """How rounding explains a wrong number, empty if it does not."""
    if isinstance(rounded, Trouble):
        return f"rounding in {dtype} may take another branch: {rounded.reason}"
    is_covered = abs(rounded.mid() - arb(target.torch)) <= SLACK * rounded.rad()
    return f"digits were lost to rounding in {dtype}" if is_covered else ""


def _direction(target: _Target) -> Direction:
    return sympy.Symbol(target.variable, real=True), target.column


def _to_float(ball: Ball) -> float:
    return float(ball.mid()) + 0.0  # never -0.0


def _summarize(point: Point, main: _Part, product: _Part | None) -> Check:
    """One check of the main part, J if there is one, and of a vᵀJ that was sampled on its own."""
    decided = [*main.decided, *(product.decided if product else ())]
    errors = [e.error for e in decided if e.error is not None]
    wrong = {(e.target.variable, e.target.column) for e in decided if e.verdict != "agree" and e.target.weights is None}
    bad = [
        e
        for e in decided
        if e.verdict != "agree" and (e.target.weights is None or (e.target.variable, e.target.column) not in wrong)
    ]
    bad.sort(key=_badness, reverse=True)
    findings = tuple(_finding(point, e) for e in bad[:MAX_FINDINGS])
    verdict = worst([e.verdict for e in decided] or ["unchecked"])
    notes = main.notes
    if product is not None:
        notes = tuple(
            dict.fromkeys(
                (*notes, f"of vᵀJ, {product.checked:,} of {product.entries:,} entries were checked", *product.notes)
            )
        )
    return Check(verdict, main.entries, main.checked, max(errors, default=None), findings, len(bad), main.chosen, notes)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts.

    >>> worst(["agree", "undefined", "agree"])
    'undefined'
    """
    return max(verdicts, key=SEVERITY.index)


def _badness(entry: _Entry) -> tuple[int, float]:
    return SEVERITY.index(entry.verdict), math.inf if entry.error is None else entry.error


def _finding(point: Point, entry: _Entry) -> Finding:
    target = entry.target
    symbol = sympy.Symbol(target.variable, real=True)
    row = None if target.weights is not None else unravel(target.row, point.shapes.get(point.program.output, ()))
    reference = None if entry.ball is None or not entry.ball.is_finite() else _to_float(entry.ball)
    column = unravel(target.column, point.shapes[symbol])
    return Finding(target.variable, row, column, entry.verdict, target.torch, reference, entry.error, entry.note)

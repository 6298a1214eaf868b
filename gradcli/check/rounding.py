"""Why torch's number is not the truth: what rounding does in its own passes, and what its kernels are known to do.

Torch goes back by rows, and by columns where they are fewer: a number is explained if either way covers it.  The passes
are of the Program as torch computes it, with its own backward formulas (`gradcli.reference.tape`), and for a second
derivative back through the backward pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from flint import arb

from gradcli.check.case import Case, ReferenceValues
from gradcli.check.compare import FORMATS, number_of
from gradcli.check.point import Point
from gradcli.check.sample import Rows
from gradcli.check.tangents import STEP
from gradcli.language.program.expansion import computed
from gradcli.language.program.shapes import infer
from gradcli.reference.balls import Ball, precision
from gradcli.reference.duals import OverBudgetError, Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.running import Direction
from gradcli.reference.tape import OVERFLOW, Adjoint, Size, TooLongError
from gradcli.reference.tape_passes import Passes
from gradcli.results import Array, Entry, Index, Verdict

SLACK = 8
"""How much wider than the balls of rounding an error may be, as torch may fuse or reorder operations."""

RESIDUE = 2
"""Units in the last place that each operation on the way may leave of terms that cancel."""

ZERO_BITS = 1_152
"""Bits at which what cannot be told from 0 is smaller than any float, beside terms of ordinary size."""

DIGITS: Mapping[str, int] = {"float64": 16, "float32": 7}
"""Decimal digits of each dtype."""


def explained(case: Case, point: Point, rows: Rows | None, wrong: Sequence[Entry]) -> list[Entry]:
    """What rounding covers is `inaccurate`: digits were lost, no rule is wrong.

    What is left of terms that cancel to 0 agrees, if it is no more than their rounding; under a strict tolerance that
    is wrong too.

    Args:
        case: What the numbers are compared with.
        point: The Program and its inputs.
        rows: Of y, that may matter; None for all.
        wrong: The entries whose number is not the truth.
    """
    if not wrong:
        return []
    back = _Back(case, point, wrong)
    residues = ["" if case.tolerance.is_strict else back.residue(entry) for entry in wrong]
    zeros = _zeros(case, rows, {n: entry for n, entry in enumerate(wrong) if residues[n]})
    found = [replace(wrong[n], verdict="agree", relative_error=None, note=residues[n]) for n in zeros]
    rest = [entry for n, entry in enumerate(wrong) if n not in zeros]
    return found + (_excused(case, point, rows, rest, back) if rest else [])


def _excused(case: Case, point: Point, rows: Rows | None, wrong: Sequence[Entry], back: _Back) -> list[Entry]:
    forward = _Columns(case, point, rows, wrong)
    faults = sorted({line.call.op.fault for line in back.source.lines} - {""})
    sound = _Back(case, point, wrong, faulty=False) if faults else None
    is_along = point.tangent_of is not None or STEP in point.program.names
    is_along = is_along and any(line.call.op.computed_along for line in back.source.lines)
    through = _Back(case, point, wrong, along=True) if is_along else back
    found = []
    told = ": " + " and ".join(faults)  # once, as it is the same of all entries
    for entry in sorted(wrong, key=lambda one: -(one.relative_error or 0)):
        # Forward mode, torch's backward pass, or one along u: whichever covers the number explains it.
        excuse = forward.excuse(entry) or back.excuse(entry) or through.excuse(entry)
        # A known fault of torch is to blame only if sound arithmetic does not explain the number.
        if excuse and sound is not None and not sound.excuse(entry) and sound.outcome(entry) is not None:
            excuse, told = f"{_surviving(entry, case.tolerance.dtype)}{told}", ""
        elif excuse == COVERED:
            excuse = f"{_surviving(entry, case.tolerance.dtype)} the rounding of {case.tolerance.dtype}"
        verdict: Verdict = "inaccurate" if excuse else "disagree" if back.outcome(entry) is not None else "unchecked"
        found.append(replace(entry, verdict=verdict, note=excuse or UNEXPLAINED[verdict]))
    return found


COVERED = "rounding explains it"

UNEXPLAINED: Mapping[Verdict, str] = {
    "disagree": "rounding does not explain it",
    "unchecked": "torch's number is not the truth, and whether rounding explains it was over the budget",
}


def _zeros(case: Case, rows: Rows | None, entries: Mapping[int, Entry]) -> set[int]:
    """The numbers of the entries whose truth is 0, as far as a float can tell."""
    if not entries:
        return set()
    try:
        plan = case.reference.plan(list(dict.fromkeys(map(case.direction, entries.values()))), rows)
    except OverBudgetError:
        return set()
    seen, found = ReferenceValues(plan.run(ZERO_BITS), plan.directions), set()
    with precision(ZERO_BITS):
        for n, entry in entries.items():
            truth = case.truth(entry, seen)
            if not isinstance(truth, Undefined) and truth.contains(0):
                found.add(n)
    return found


def _excuse(rounded: Outcome, entry: Entry, dtype: str) -> str:
    """How rounding explains a number that is wrong, empty if it does not."""
    if rounded == OVERFLOW:
        return f"a number on the way may be beyond the range of {dtype}"
    if isinstance(rounded, Undefined):
        effect = "leave the domain" if rounded.kind == "domain" else "take another branch"
        return f"rounding in {dtype} may {effect}: {rounded.reason}"
    return COVERED if abs(rounded.mid() - arb(number_of(entry))) <= SLACK * rounded.rad() else ""


class _Columns:
    """The derivatives along the elements of x, forward, over balls of the dtype; and y."""

    def __init__(self, case: Case, point: Point, rows: Rows | None, entries: Sequence[Entry]) -> None:
        self.case, self.dtype, self.rounding = case, case.tolerance.dtype, FORMATS[case.tolerance.dtype]
        directions = list(dict.fromkeys(case.direction(e) for e in entries if e.variable is not None))
        self.seen: ReferenceValues | None = None
        try:
            plan = Reference(point.typed, point.typed_shapes, point.inputs).plan(directions, rows)
            self.seen = ReferenceValues(plan.run(self.rounding.bits, self.rounding), directions)
        except OverBudgetError:
            pass

    def excuse(self, entry: Entry) -> str:
        """How rounding explains a number, empty if it does not."""
        if self.seen is None or (entry.variable is None and self.case.row(entry) not in self.seen.values):
            return ""
        with precision(self.rounding.bits):
            return _excuse(self.case.truth(entry, self.seen, as_added=True), entry, self.dtype)


class _Back:
    """Torch's backward passes over balls of the dtype, each run once."""

    def __init__(
        self, case: Case, point: Point, entries: Sequence[Entry], *, faulty: bool = True, along: bool = False
    ) -> None:
        self.case, self.dtype, self.rounding = case, case.tolerance.dtype, FORMATS[case.tolerance.dtype]
        of: Point = point
        self.u: Mapping[str, Array] | None = None
        if point.tangent_of is not None:
            of, self.u = point.tangent_of
        self.source = of.source or of.typed
        self.program = computed(self.source, faulty=faulty, along=along)
        self._passes: Passes | None = None
        self._adjoints: dict[Index | None, dict[Direction, Adjoint]] = {}
        shapes = infer(self.program, {s: of.shapes[s] for s in self.program.variables}, bounded=False)
        rows = {row for entry in entries for row in self._weights(entry)}
        reference = Reference(self.program, shapes, of.inputs)
        places = [case.direction(entry) for entry in entries if entry.variable is not None]
        directions = list(dict.fromkeys([*places, *self._moving()]))
        try:
            with precision(self.rounding.bits):
                self._passes = Passes(reference, directions, np.array(sorted(rows)), self.rounding, faulty=faulty)
        except (OverBudgetError, TooLongError):
            pass

    def _weights(self, entry: Entry) -> dict[int, float]:
        """The rows of y that a pass goes back from."""
        return {0: 1.0} if self.u is not None else self.case.seeds(entry)

    def _adjoint(self, entry: Entry) -> Adjoint | None:
        """What flows back to the element of x; None where nothing does, or that is not known."""
        if self._passes is None:
            return None
        if entry.row not in self._adjoints:
            try:
                with precision(self.rounding.bits):
                    self._adjoints[entry.row] = self._run(self._passes, entry)
            except TooLongError:
                self._passes = None
                return None
        return self._adjoints[entry.row].get(self.case.direction(entry))

    def _run(self, passes: Passes, entry: Entry) -> dict[Direction, Adjoint]:
        if self.u is None:
            return passes.back(self._weights(entry))
        return passes.twice(self._moving())

    def _moving(self) -> dict[Direction, float]:
        """The direction u, of a second derivative."""
        symbols = {str(s): s for s in self.program.variables}
        u = self.u or {}
        return {(symbols[x], int(j)): float(a.ravel()[j]) for x, a in u.items() for j in np.flatnonzero(a)}

    def outcome(self, entry: Entry) -> Outcome | None:
        """What torch may have for a number; None if that is not known."""
        adjoint = self._adjoint(entry) if entry.variable is not None else None
        if self._passes is None:
            return None
        if entry.variable is None:
            return self._passes.value(self.case.row(entry))
        return arb(0) if adjoint is None else self._passes.tape.outcomes[adjoint.node]

    def excuse(self, entry: Entry) -> str:
        """How rounding explains a number, empty if it does not."""
        outcome = self.outcome(entry)
        with precision(self.rounding.bits):
            return "" if outcome is None else _excuse(outcome, entry, self.dtype)

    def residue(self, entry: Entry) -> str:
        """Of which terms a number is the rounding, where the truth is that they cancel to 0; empty if of none."""
        if entry.truth is None or not entry.truth.contains(0) or entry.variable is None:
            return ""
        adjoint, outcome = self._adjoint(entry), self.outcome(entry)
        if adjoint is None or isinstance(outcome, Undefined):
            return ""
        with precision(self.rounding.bits):
            if abs(arb(entry.torch)) > _allowed(adjoint.size, self.rounding.bits):
                return ""
            return f"0 up to rounding of terms of size {float(adjoint.size.largest.mid()):.2g}"


def _allowed(size: Size, bits: int) -> Ball:
    """The largest residue of terms that cancel."""
    return size.total * arb(2) ** -bits * (RESIDUE * size.roundings)


def _surviving(entry: Entry, dtype: str) -> str:
    count = surviving(entry.relative_error, dtype)
    return f"{count} of {DIGITS[dtype]} digits survive{'s' * (count == 1)}"


def surviving(error: float | None, dtype: str) -> int:
    """How many decimal digits are right at a relative error.

    >>> surviving(2e-4, "float64"), surviving(float("inf"), "float64")
    (3, 0)
    """
    if error is None or not math.isfinite(error):
        return 0
    return DIGITS[dtype] if error == 0 else max(0, min(DIGITS[dtype], math.floor(-math.log10(error))))

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

from gradcli.check.along import STEP
from gradcli.check.compare import FORMATS
from gradcli.check.context import Point
from gradcli.check.entry import Entry, Tolerance
from gradcli.check.sample import Rows
from gradcli.check.target import ReferenceValues, Target
from gradcli.language.program.expansion import computed
from gradcli.language.program.shapes import infer
from gradcli.reference.balls import Ball, precision
from gradcli.reference.duals import Direction, OverBudgetError, Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.tape import OVERFLOW, Adjoint, Size, TooLongError
from gradcli.reference.tape_passes import Passes
from gradcli.results import Array, Verdict

SLACK = 8
"""How much wider than the balls of rounding an error may be, as torch may fuse or reorder operations."""

RESIDUE = 2
"""Units in the last place that each operation on the way may leave of terms that cancel."""

ZERO_BITS = 1_152
"""Bits at which what cannot be told from 0 is smaller than any float, beside terms of ordinary size."""

DIGITS: Mapping[str, int] = {"float64": 16, "float32": 7}
"""Decimal digits of each dtype."""

Wrong = tuple[Target, Entry]
"""A number of torch that is not the truth to within the tolerance."""


def explained(point: Point, rows: Rows | None, wrong: Sequence[Wrong], dtype: str, tolerance: Tolerance) -> list[Entry]:
    """What rounding covers is `inaccurate`: digits were lost, no rule is wrong.

    What is left of terms that cancel to 0 agrees, if it is no more than their rounding.

    Args:
        point: The Program and its inputs.
        rows: Of y, that may matter; None for all.
        wrong: The targets whose number is not the truth, with their entries.
        dtype: Of torch.
        tolerance: How far a number may be from the truth; if strict, what is left of terms that cancel is wrong too.
    """
    if not wrong:
        return []
    targets = [target for target, _ in wrong]
    back = _Back(point, targets, dtype)
    residues = ["" if tolerance.is_strict else back.residue(target, entry) for target, entry in wrong]
    zeros = _zeros(point, rows, {n: target for n, target in enumerate(targets) if residues[n]})
    found = [replace(wrong[n][1], verdict="agree", error=None, note=residues[n]) for n in zeros]
    rest = [one for n, one in enumerate(wrong) if n not in zeros]
    return found + (_excused(point, rows, rest, back, dtype) if rest else [])


def _excused(point: Point, rows: Rows | None, wrong: Sequence[Wrong], back: _Back, dtype: str) -> list[Entry]:
    targets = [target for target, _ in wrong]
    forward = _Columns(point, rows, targets, dtype)
    faults = sorted({line.call.op.fault for line in back.source.lines} - {""})
    sound = _Back(point, targets, dtype, faulty=False) if faults else None
    is_along = point.tangent_of is not None or STEP in point.program.names
    is_along = is_along and any(line.call.op.computed_along for line in back.source.lines)
    through = _Back(point, targets, dtype, along=True) if is_along else back
    found = []
    told = ": " + " and ".join(faults)  # once, as it is the same of all entries
    for target, entry in sorted(wrong, key=lambda one: -(one[1].error or 0)):
        excuse = forward.excuse(target) or back.excuse(target) or through.excuse(target)
        if excuse and sound is not None and not sound.excuse(target) and sound.outcome(target) is not None:
            excuse, told = f"{_surviving(entry, dtype)}{told}", ""
        elif excuse == COVERED:
            excuse = f"{_surviving(entry, dtype)} the rounding of {dtype}"
        verdict: Verdict = "inaccurate" if excuse else "disagree" if back.outcome(target) is not None else "unchecked"
        found.append(replace(entry, verdict=verdict, note=excuse or UNEXPLAINED[verdict]))
    return found


COVERED = "rounding explains it"

UNEXPLAINED: Mapping[Verdict, str] = {
    "disagree": "rounding does not explain it",
    "unchecked": "torch's number is not the truth, and whether rounding explains it was over the budget",
}


def _zeros(point: Point, rows: Rows | None, targets: Mapping[int, Target]) -> set[int]:
    """The numbers of the targets whose truth is 0, as far as a float can tell."""
    if not targets:
        return set()
    directions = list(dict.fromkeys(target.place for target in targets.values()))
    try:
        plan = Reference(point.program, point.shapes, point.inputs).plan(directions, rows)
    except OverBudgetError:
        return set()
    sight, found = ReferenceValues(plan.run(ZERO_BITS)), set()
    with precision(ZERO_BITS):
        for n, target in targets.items():
            truth = replace(target, direction=directions.index(target.place)).truth(sight)
            if not isinstance(truth, Undefined) and truth.contains(0):
                found.add(n)
    return found


def _excuse(rounded: Outcome, number: float, dtype: str) -> str:
    """How rounding explains a number that is wrong, empty if it does not."""
    if rounded == OVERFLOW:
        return f"a number on the way may be beyond the range of {dtype}"
    if isinstance(rounded, Undefined):
        effect = "leave the domain" if rounded.kind == "domain" else "take another branch"
        return f"rounding in {dtype} may {effect}: {rounded.reason}"
    return COVERED if abs(rounded.mid() - arb(number)) <= SLACK * rounded.rad() else ""


class _Columns:
    """The derivatives along the elements of x, forward, over balls of the dtype; and y."""

    def __init__(self, point: Point, rows: Rows | None, targets: Sequence[Target], dtype: str) -> None:
        self.dtype, self.rounding = dtype, FORMATS[dtype]
        self.directions = list(dict.fromkeys(t.place for t in targets if t.variable is not None))
        self.sight: ReferenceValues | None = None
        reference = Reference(point.typed, point.typed_shapes, point.inputs)
        try:
            plan = reference.plan(self.directions, rows)
            self.sight = ReferenceValues(plan.run(self.rounding.bits, self.rounding))
        except OverBudgetError:
            pass

    def excuse(self, target: Target) -> str:
        """How rounding explains a number, empty if it does not."""
        if self.sight is None or (target.variable is None and target.row not in self.sight.values):
            return ""
        direction = self.directions.index(target.place) if target.variable is not None else -1
        with precision(self.rounding.bits):
            truth = replace(target, direction=direction).truth(self.sight, as_added=True)
            return _excuse(truth, target.torch, self.dtype)


class _Back:
    """Torch's backward passes over balls of the dtype, each run once."""

    def __init__(
        self, point: Point, targets: Sequence[Target], dtype: str, *, faulty: bool = True, along: bool = False
    ) -> None:
        self.dtype, self.rounding = dtype, FORMATS[dtype]
        of: Point = point
        self.u: Mapping[str, Array] | None = None
        if point.tangent_of is not None:
            of, self.u = point.tangent_of
        self.source = of.source or of.typed
        self.program = computed(self.source, faulty=faulty, along=along)
        self._passes: Passes | None = None
        self._adjoints: dict[int, dict[Direction, Adjoint]] = {}
        shapes = infer(self.program, {s: of.shapes[s] for s in self.program.variables}, bounded=False)
        rows = {row for target in targets for row in self._weights(target)}
        reference = Reference(self.program, shapes, of.inputs)
        places = [target.place for target in targets if target.variable is not None]
        directions = list(dict.fromkeys([*places, *self._moving()]))
        try:
            with precision(self.rounding.bits):
                self._passes = Passes(reference, directions, np.array(sorted(rows)), self.rounding, faulty=faulty)
        except (OverBudgetError, TooLongError):
            pass

    def _weights(self, target: Target) -> dict[int, float]:
        """The rows of y that a pass goes back from."""
        if self.u is not None or target.weights is None:
            return {max(0, target.row) if self.u is None else 0: 1.0}
        return {int(row): float(target.weights[row]) for row in np.flatnonzero(target.weights)}

    def _adjoint(self, target: Target) -> Adjoint | None:
        """What flows back to the element of x; None where nothing does, or that is not known."""
        if self._passes is None:
            return None
        if target.row not in self._adjoints:
            try:
                with precision(self.rounding.bits):
                    self._adjoints[target.row] = self._run(self._passes, target)
            except TooLongError:
                self._passes = None
                return None
        return self._adjoints[target.row].get(target.place)

    def _run(self, passes: Passes, target: Target) -> dict[Direction, Adjoint]:
        if self.u is None:
            return passes.back(self._weights(target))
        return passes.twice(self._moving())

    def _moving(self) -> dict[Direction, float]:
        """The direction u, of a second derivative."""
        symbols = {str(s): s for s in self.program.variables}
        u = self.u or {}
        return {(symbols[x], int(j)): float(a.ravel()[j]) for x, a in u.items() for j in np.flatnonzero(a)}

    def outcome(self, target: Target) -> Outcome | None:
        """What torch may have for a number; None if that is not known."""
        adjoint = self._adjoint(target) if target.variable is not None else None
        if self._passes is None:
            return None
        if target.variable is None:
            return self._passes.value(target.row)
        return arb(0) if adjoint is None else self._passes.tape.outcomes[adjoint.node]

    def excuse(self, target: Target) -> str:
        """How rounding explains a number, empty if it does not."""
        outcome = self.outcome(target)
        with precision(self.rounding.bits):
            return "" if outcome is None else _excuse(outcome, target.torch, self.dtype)

    def residue(self, target: Target, entry: Entry) -> str:
        """Of which terms a number is the rounding, where the truth is that they cancel to 0; empty if of none."""
        if entry.ball is None or not entry.ball.contains(0) or target.variable is None:
            return ""
        adjoint, outcome = self._adjoint(target), self.outcome(target)
        if adjoint is None or isinstance(outcome, Undefined):
            return ""
        with precision(self.rounding.bits):
            if abs(arb(target.torch)) > _allowed(adjoint.size, self.rounding.bits):
                return ""
            return f"0 up to rounding of terms of size {float(adjoint.size.largest.mid()):.2g}"


def _allowed(size: Size, bits: int) -> Ball:
    """The largest residue of terms that cancel."""
    return size.total * arb(2) ** -bits * (RESIDUE * size.roundings)


def _surviving(entry: Entry, dtype: str) -> str:
    count = surviving(entry.error, dtype)
    return f"{count} of {DIGITS[dtype]} digits survive{'s' * (count == 1)}"


def surviving(error: float | None, dtype: str) -> int:
    """How many decimal digits are right at a relative error.

    >>> surviving(2e-4, "float64"), surviving(float("inf"), "float64")
    (3, 0)
    """
    if error is None or not math.isfinite(error):
        return 0
    return DIGITS[dtype] if error == 0 else max(0, min(DIGITS[dtype], math.floor(-math.log10(error))))

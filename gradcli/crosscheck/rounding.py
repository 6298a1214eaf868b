"""Why torch's number is not the truth: what rounding does in its own passes, and what its kernels are known to do.

Torch goes back by rows, and by columns where they are fewer: a number is explained if either way covers it.  The passes
are of the Program as torch computes it, with its own backward formulas (`gradcli.reference.tape`), and for a second
derivative back through the backward pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from gradcli.crosscheck.compare import FORMATS, ZERO_BITS, Case, ReferenceValues, Wrong, number_of
from gradcli.crosscheck.point import STEP, Point, way
from gradcli.language.program.expansion import computed
from gradcli.language.program.shapes import infer
from gradcli.reference.balls import Ball, precision
from gradcli.reference.deadline import OverTimeError, looks_limit, require_time
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import Flat, OverBudgetError
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.running import Direction
from gradcli.reference.tape import OVERFLOW, Adjoint, Size, TooLongError
from gradcli.reference.tape_passes import Passes, elements_on_tape
from gradcli.results import Array, Entry, Index, Verdict

SLACK = 8
"""How much wider than the balls of rounding an error may be, as torch may fuse or reorder operations."""

RESIDUE = 2
"""How many times the rounding of all terms that cancel each rounding on the way may leave."""

MOST_ELEMENTS = 20_000
"""Elements that one tape goes through for several entries: each leaves some nodes on it."""

DIGITS: Mapping[str, int] = {"float64": 16, "float32": 7}
"""Decimal digits of each dtype."""


def explained(case: Case, point: Point, rows: Flat | None, wrong: Sequence[Wrong]) -> list[Entry]:
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
    residues = {} if case.tolerance.is_strict else {one: found for one in wrong if (found := back.residue(one.entry))}
    zeros = _zeros(case, rows, list(residues))
    rest = [one for one in wrong if one not in zeros]
    return [residues[one] for one in zeros] + (_excused(case, point, rows, rest, back) if rest else [])


def _excused(case: Case, point: Point, rows: Flat | None, wrong: Sequence[Wrong], back: _Back) -> list[Entry]:
    forward = _Columns(case, point, rows, [one.entry for one in wrong])
    faults = sorted({line.call.op.fault for line in back.source.lines} - {""})
    sound = _Back(case, point, wrong, faulty=False) if faults else None
    is_along = point.tangent_of is not None or STEP in point.program.names
    is_along = is_along and any(line.call.op.computed_along for line in back.source.lines)
    through = _Back(case, point, wrong, along=True) if is_along else back
    found = []
    told = ": " + " and ".join(faults)  # once, as it is the same of all entries
    for entry in sorted((one.entry for one in wrong), key=lambda entry: -(entry.relative_error or 0)):
        # Forward mode, torch's backward pass, or one along u: whichever covers the number explains it.
        excuse = forward.excuse(entry) or back.excuse(entry) or through.excuse(entry)
        # A known fault of torch is to blame only if sound arithmetic does not explain the number.
        if excuse and sound is not None and not sound.excuse(entry) and sound.outcome(entry) is not None:
            excuse, told = f"{digits_left(entry, case.tolerance.dtype)}{told}", ""
        elif excuse == COVERED:
            excuse = f"{digits_left(entry, case.tolerance.dtype)} the rounding of {case.tolerance.dtype}"
        verdict: Verdict = "inaccurate" if excuse else "disagree" if back.outcome(entry) is not None else "unchecked"
        found.append(replace(entry, verdict=verdict, note=excuse or UNEXPLAINED[verdict]))
    return found


COVERED = "rounding explains it"

UNEXPLAINED: Mapping[Verdict, str] = {
    "disagree": "rounding does not explain it",
    "unchecked": "torch's number is not the truth, and whether rounding explains it was over the budget",
}

UNKNOWN_RESIDUE = "the truth is 0, and whether torch's number is what rounding leaves of it was over the budget"


def _zeros(case: Case, rows: Flat | None, wrong: Sequence[Wrong]) -> list[Wrong]:
    """The entries whose truth is 0, as far as a float can tell."""
    if not wrong:
        return []
    try:
        plan = case.reference.plan(list(dict.fromkeys(case.direction(one.entry) for one in wrong)), rows)
    except OverBudgetError:
        return []
    seen = ReferenceValues(plan.run(ZERO_BITS), plan.directions)
    with precision(ZERO_BITS):
        truths = {one: case.truth(one.entry, seen) for one in wrong}
        return [one for one, truth in truths.items() if not isinstance(truth, Undefined) and truth.contains(0)]


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

    def __init__(self, case: Case, point: Point, rows: Flat | None, entries: Sequence[Entry]) -> None:
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


@dataclass(frozen=True, slots=True)
class _Known:
    """What torch may have for a number, and the size of the terms that it adds up to it; None where it adds none."""

    outcome: Outcome
    size: Size | None = None


class _Back:
    """Torch's backward passes over balls of the dtype, on tapes of bounded length."""

    def __init__(
        self, case: Case, point: Point, wrong: Sequence[Wrong], *, faulty: bool = True, along: bool = False
    ) -> None:
        self.case, self.dtype, self.rounding = case, case.tolerance.dtype, FORMATS[case.tolerance.dtype]
        self.faulty = faulty
        of: Point = point
        self.u: Mapping[str, Array] | None = None
        if point.tangent_of is not None:  # the passes are those of the function, of one row, and not of its tangent
            of, self.u = point.tangent_of
            wrong = [replace(one, rows=frozenset({0})) for one in wrong]
        self.source = of.source or of.typed
        self.program = computed(self.source, faulty=faulty, along=along)
        shapes = infer(self.program, {s: of.shapes[s] for s in self.program.variables}, bounded=False)
        self.reference = Reference(self.program, shapes, of.inputs)
        self._known: dict[_Key, _Known | None] = {}
        self._group_of = {_key(one.entry): group for group in self._groups(wrong) for one in group}

    def _groups(self, wrong: Sequence[Wrong]) -> list[Sequence[Wrong]]:
        """Entries that one tape goes through for: all, if it is not too long, else those with rows in common."""
        groups, waiting = [], [wrong]
        while waiting:
            group = waiting.pop()
            if len({one.rows for one in group}) == 1 or self._is_short(group):
                groups.append(group)
            else:
                waiting += _halves(group)
        return groups

    def _is_short(self, group: Sequence[Wrong]) -> bool:
        try:
            made_of = elements_on_tape(self.reference, self._directions(group), _rows(group))
        except OverBudgetError:
            return False
        return sum(map(len, made_of.values())) <= MOST_ELEMENTS

    def _weights(self, entry: Entry) -> dict[int, float]:
        """The rows of y that a pass goes back from."""
        return {0: 1.0} if self.u is not None else self.case.seeds(entry)

    def _directions(self, group: Sequence[Wrong]) -> list[Direction]:
        places = [self.case.direction(one.entry) for one in group if one.entry.variable is not None]
        return list(dict.fromkeys([*places, *way(self.u or {})]))

    def _look(self, entry: Entry) -> _Known | None:
        """What the passes leave of a number, found with all of its group; None if that takes too long."""
        if _key(entry) not in self._known:
            group = self._group_of[_key(entry)]
            self._known.update(dict.fromkeys(_key(one.entry) for one in group))
            with suppress(OverTimeError), looks_limit(), precision(self.rounding.bits):
                self._run(group)
        return self._known[_key(entry)]

    def _run(self, group: Sequence[Wrong]) -> None:
        require_time()
        try:
            passes = Passes(self.reference, self._directions(group), _rows(group), self.rounding, faulty=self.faulty)
            backward: dict[Index | None, dict[Direction, Adjoint]] = {}
            for entry in (one.entry for one in group):
                if entry.variable is not None and entry.row not in backward:
                    once = self.u is None
                    backward[entry.row] = passes.back(self._weights(entry)) if once else passes.twice(way(self.u or {}))
                self._known[_key(entry)] = self._left(entry, passes, backward)
        except OverBudgetError:
            return
        except TooLongError:
            if len({one.rows for one in group}) > 1:
                for half in _halves(group):
                    self._run(half)

    def _left(
        self, entry: Entry, passes: Passes, backward: Mapping[Index | None, Mapping[Direction, Adjoint]]
    ) -> _Known | None:
        if entry.variable is None:
            value = passes.value(self.case.row(entry))
            return None if value is None else _Known(value)
        adjoint = backward[entry.row].get(self.case.direction(entry))
        return _Known(arb(0)) if adjoint is None else _Known(passes.tape.outcomes[adjoint.node], adjoint.size)

    def outcome(self, entry: Entry) -> Outcome | None:
        """What torch may have for a number; None if that is not known."""
        known = self._look(entry)
        return None if known is None else known.outcome

    def excuse(self, entry: Entry) -> str:
        """How rounding explains a number, empty if it does not."""
        outcome = self.outcome(entry)
        with precision(self.rounding.bits):
            return "" if outcome is None else _excuse(outcome, entry, self.dtype)

    def residue(self, entry: Entry) -> Entry | None:
        """An entry whose truth is that terms cancel to 0, as what its number is; None if it is no rounding of terms."""
        if entry.truth is None or not entry.truth.contains(0) or entry.variable is None:
            return None
        known = self._look(entry)
        if known is None:
            return replace(entry, verdict="unchecked", note=UNKNOWN_RESIDUE, proven=False)
        if known.size is None or isinstance(known.outcome, Undefined):
            return None
        with precision(self.rounding.bits):
            if abs(arb(entry.torch)) > _allowed(known.size, self.rounding.bits):
                return None
            note = f"0 up to rounding of terms of size {float(known.size.largest.mid()):.2g}"
            return replace(entry, verdict="agree", relative_error=None, note=note)


_Key = tuple[str | None, Index | None, Index | None]


def _key(entry: Entry) -> _Key:
    return entry.variable, entry.row, entry.column


def _rows(group: Sequence[Wrong]) -> Flat:
    return np.array(sorted(frozenset().union(*(one.rows for one in group))), dtype=np.int64)


def _halves(group: Sequence[Wrong]) -> tuple[Sequence[Wrong], Sequence[Wrong]]:
    """Two groups, each of entries whose rows are near each other."""
    order = sorted(group, key=lambda one: min(one.rows, default=0))
    return order[: len(order) // 2], order[len(order) // 2 :]


def _allowed(size: Size, bits: int) -> Ball:
    """The largest residue of terms that cancel."""
    return size.total * arb(2) ** -bits * (RESIDUE * size.roundings)


def digits_left(entry: Entry, dtype: str) -> str:
    """How many decimal digits of a number are right, as the beginning of a sentence."""
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

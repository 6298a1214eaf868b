"""Reasons for torch's number to differ from the truth: rounding in its own passes, and known faults of its kernels.

Torch's passes are recorded, and evaluated on balls that round (`gradcli.reference.rounded`).  A ball that contains both
torch's number and the truth explains the difference: digits were lost.  If a ball does not contain the truth, the
passes compute something else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Literal

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.compare import FLOAT_FORMATS, ZERO_BITS, Case, Truths, number_of
from gradcli.crosscheck.point import STEP, FunctionAtPoint
from gradcli.language.program.shapes import infer
from gradcli.language.program.torch_passes import OF_Y, TorchPasses, Way
from gradcli.language.program.wengert import Atom
from gradcli.reference.balls import Ball, precision
from gradcli.reference.deadline import OverTimeError, extra_limit, require_time
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rounded import RoundedPass, Size, sizes
from gradcli.reference.rules import OVERFLOW, UNBOUNDED, Outcome, Rounding, Undefined
from gradcli.results import Entry, Verdict

SLACK = 8
"""Largest ratio of an error to the radius of the ball of rounding, as torch may fuse or reorder operations."""

RESIDUE = 2
"""Largest residue of terms that cancel, for each rounding on the way, in roundings of the sum of their sizes."""

ROWS_ALWAYS = 64
"""Most rows of y for torch to take a backward pass from each row."""

MOST_PASS_ELEMENTS = 60_000
"""Most elements that the passes for several entries go through together."""

DIGITS: Mapping[str, int] = {"float64": 16, "float32": 7}
"""Decimal digits of each dtype."""


def explained(case: Case, point: FunctionAtPoint, wrong: Sequence[Entry], truths: Truths) -> list[Entry]:
    """Call errors within rounding `inaccurate` (digits were lost, no rule is wrong), and give the others their reason.

    The residue of terms that cancel to 0 agrees, if it is no more than the rounding of the terms; not under a strict
    tolerance.

    Args:
        case: The function, and the tolerance.
        point: The Program and its inputs.
        wrong: The entries with a number other than the truth.
        truths: Encloses the truths of entries.
    """
    if not wrong:
        return []
    passes = _Passes(case, point, wrong)
    residues = {} if case.tolerance.is_strict else {one: found for one in wrong if (found := passes.residue(one))}
    zeros = _zeros(list(residues), truths)
    rest = [one for one in wrong if one not in zeros]
    return [found for one, found in residues.items() if one in zeros] + (_excused(case, rest, passes) if rest else [])


def _excused(case: Case, rest: Sequence[Entry], passes: _Passes) -> list[Entry]:
    known = {entry: passes.excuse(entry) for entry in rest}
    sound = _Passes(case, passes.point, rest, is_sound=True) if passes.faults else None
    found = []
    told = ": " + " and ".join(passes.faults)  # once, as it is the same of all entries
    for entry in sorted(rest, key=lambda entry: -(entry.relative_error or 0)):
        excuse, number, truth = known[entry], arb(number_of(entry)), entry.truth
        is_faulty = sound is not None and not sound.covers(entry, number)
        # A known fault of torch is to blame where its passes have the number, and the truth without the fault.
        if sound is not None and is_faulty and passes.covers(entry, number) and sound.covers(entry, truth):
            excuse, told = f"{digits_left(entry, case.tolerance.dtype)}{told}", ""
        elif excuse == COVERED:
            excuse = f"{digits_left(entry, case.tolerance.dtype)} the rounding of {case.tolerance.dtype}"
        verdict: Verdict = "inaccurate" if excuse else "disagree" if passes.is_known(entry) else "unchecked"
        note = excuse or UNEXPLAINED[verdict]
        if verdict == "disagree" and passes.wrong and passes.covers(entry, number):
            note = f"{' and '.join(passes.wrong)}, which is a fault of torch's"
        found.append(entry.judged(verdict=verdict, note=note))
    return found


COVERED = "rounding explains it"

UNEXPLAINED: Mapping[Verdict, str] = {
    "disagree": "rounding does not explain it",
    "unchecked": "torch's number is not the truth, and whether rounding explains it is not known",
}

UNKNOWN_RESIDUE = "the truth is 0, and whether torch's number is what rounding leaves of it is not known"


def _zeros(entries: Sequence[Entry], truths: Truths) -> set[Entry]:
    """Select the entries with a truth of 0, as far as a float can tell."""
    if not entries:
        return set()
    truth_of = truths(ZERO_BITS, entries)
    with precision(ZERO_BITS):
        known = {entry: truth_of(entry) for entry in entries}
    return {entry for entry, truth in known.items() if not isinstance(truth, Undefined) and truth.contains(0)}


@dataclass(frozen=True, slots=True)
class _Known:
    """Ball of the possible numbers of torch, and the size of their terms; None without a sum."""

    outcome: Outcome
    size: Size | None = None

    def added(self, other: _Known) -> _Known:
        """Add the numbers of another pass."""
        if isinstance(self.outcome, Undefined) or isinstance(other.outcome, Undefined):
            return self if isinstance(self.outcome, Undefined) else other
        known = [one.size for one in (self, other) if one.size is not None]
        return _Known(self.outcome + other.outcome, known[0].joined(known[-1]) if len(known) == 2 else None)


@dataclass(frozen=True, slots=True)
class _Target:
    """Element of a result of a pass, and the seeds that the pass starts from, flat and by variable."""

    way: Way
    result: str
    element: int
    seeds: tuple[tuple[str, bytes], ...]


class _Passes:
    """Torch's passes over balls of the dtype, each run once for all entries that it gives.

    Args:
        case: The function, and the tolerance.
        point: The Program and its inputs.
        entries: The entries to explain.
        is_sound: True to replace kernels that are known to be wrong by correct ones.
    """

    def __init__(self, case: Case, point: FunctionAtPoint, entries: Sequence[Entry], *, is_sound: bool = False) -> None:
        self.case, self.dtype, self.format = case, case.tolerance.dtype, FLOAT_FORMATS[case.tolerance.dtype]
        self.point, self.u, self.is_sound = point, case.u, is_sound
        self.wrt = tuple(dict.fromkeys([*(e.variable for e in entries if e.variable), *(self.u or {})]))
        self._recordings: dict[Way, _Recording | None] = {}
        self._ways = {entry: list(self._targets(entry)) for entry in entries}
        self._waiting: dict[tuple[Any, ...], list[_Target]] = {}
        self._balls: dict[_Target, _Known] = {}
        for target in (target for own in self._ways.values() for targets in own for target in targets):
            self._waiting.setdefault((target.way, target.seeds), []).append(target)

    def _known(self, entry: Entry) -> Iterator[_Known]:
        """Yield the ball of a number for each way to compute it, if known; a pass runs once for all of its elements."""
        for targets in self._ways[entry]:
            for group in (self._waiting.pop((one.way, one.seeds), []) for one in targets):
                if group and (recording := self._recording(group[0].way)) is not None:
                    with suppress(OverTimeError), extra_limit(), precision(self.format.bits):
                        recording.run(group, self.format, self._balls)
            if self._balls.keys() >= {*targets}:
                yield reduce(_Known.added, (self._balls[one] for one in targets))

    @property
    def faults(self) -> tuple[str, ...]:
        """Known faults of the kernels in the recorded passes."""
        return self._remarks("faults")

    @property
    def wrong(self) -> tuple[str, ...]:
        """Formulas of torch's in the recorded passes that are wrong here, and that no rounding explains."""
        return self._remarks("wrong")

    def _remarks(self, kind: Literal["faults", "wrong"]) -> tuple[str, ...]:
        found = (getattr(one.passes, kind) for one in self._recordings.values() if one is not None)
        return tuple(dict.fromkeys(remark for remarks in found for remark in remarks))

    def _targets(self, entry: Entry) -> Iterator[list[_Target]]:
        """Yield the ways in which torch may have computed a number: for each the elements to add up."""
        if entry.variable is None:
            yield [_Target("back", OF_Y, self.case.row(entry), ())]
            return
        name, column = entry.variable, self.case.direction(entry)[1]
        if self.u is not None:
            seeds = tuple((x, np.asarray(u, dtype=np.float64).tobytes()) for x, u in self.u.items())
            yield [_Target("twice", name, column, seeds)]
            return
        if entry.row is not None and (name == STEP or self._has_fewer_columns):
            unit = np.zeros(math.prod(self.point.shape_of(name)))
            unit[column] = 1.0
            yield [_Target("columns", name, self.case.row(entry), ((name, unit.tobytes()),))]
        if name == STEP or entry.row is None or not self._has_fewer_columns:
            several = self.case.passes if entry.row is None and self.case.passes is not None else None
            vs = [self.case.seeds(entry)] if several is None else several
            yield [_Target("back", name, column, ((OF_Y, np.asarray(v, dtype=np.float64).tobytes()),)) for v in vs]

    @cached_property
    def _has_fewer_columns(self) -> bool:
        return (
            self.point.rows > ROWS_ALWAYS and sum(math.prod(self.point.shape_of(x)) for x in self.wrt) < self.point.rows
        )

    def _recording(self, way: Way) -> _Recording | None:
        if way not in self._recordings:
            record, program = self.point.passes, self.point.source
            inputs = {name: self.point.inputs[name] for name in program.names}
            found = record and record(way, program, inputs, self.wrt, self.dtype, is_sound=self.is_sound)
            self._recordings[way] = _Recording(found) if found else None
        return self._recordings[way]

    def is_known(self, entry: Entry) -> bool:
        """Tell whether some recorded pass gives a ball for a number."""
        return any(True for _ in self._known(entry))

    def covers(self, entry: Entry, number: Ball) -> bool:
        """Return True if rounding can produce this number."""
        return any(_covers(one.outcome, number) for one in self._known(entry))

    def excuse(self, entry: Entry) -> str:
        """Explain a number by rounding, in words; empty if rounding does not explain it."""
        return next(filter(None, (self._excuse(one.outcome, entry) for one in self._known(entry))), "")

    def _excuse(self, rounded: Outcome, entry: Entry) -> str:
        if rounded == OVERFLOW:
            return f"a number on the way may be beyond the range of {self.dtype}"
        if rounded == UNBOUNDED:
            return f"{digits_left(entry, self.dtype)} the rounding of {self.dtype}, of which no bound is known here"
        if isinstance(rounded, Undefined):
            effect = "leave the domain" if rounded.kind == "domain" else "take another branch"
            # A line is only a part of the text that it quotes: keep the words on the numbers that the operation takes.
            reason = rounded.reason.partition(" here: ")[2] or rounded.reason
            return f"rounding in {self.dtype} may {effect}" + f": {reason}" * bool(reason)
        return COVERED if _covers(rounded, arb(number_of(entry))) and _covers(rounded, entry.truth) else ""

    def residue(self, entry: Entry) -> Entry | None:
        """Judge an entry of terms that cancel to 0: `agree` if its number is their rounding; None if it is not."""
        if entry.truth is None or not entry.truth.contains(0) or entry.variable is None:
            return None
        if not (known := list(self._known(entry))):
            return entry.judged(verdict="unchecked", note=UNKNOWN_RESIDUE, proven=False)
        for size in (one.size for one in known if one.size is not None and not isinstance(one.outcome, Undefined)):
            if abs(arb(entry.torch)) <= size.total * arb(2) ** -self.format.bits * (RESIDUE * size.roundings):
                note = f"0 up to rounding of terms of size {float(size.largest.mid()):.2g}"
                return entry.judged(verdict="agree", relative_error=None, note=note)
        return None


class _Recording:
    """Recorded passes, and the reference that evaluates them.

    Args:
        passes: The passes as torch makes them.
    """

    def __init__(self, passes: TorchPasses) -> None:
        self.passes = passes
        shapes = {symbol: passes.inputs[str(symbol)].shape for symbol in passes.program.variables}
        self.reference = Reference(passes.program, infer(passes.program, shapes, bounded=False), passes.inputs)
        self.reference.budget = MOST_PASS_ELEMENTS

    def run(self, group: Sequence[_Target], rounding: Rounding, known: dict[_Target, _Known]) -> None:
        """Find the balls of some elements of one pass, half of the elements at a time where all are too many."""
        require_time()
        names = self.passes.seeds
        given = {names[name]: np.frombuffer(numbers) for name, numbers in group[0].seeds if name in names}
        reference, seeds = self.reference.moved_to(given), [sympy.Symbol(name, real=True) for name in given]
        start: dict[Atom, list[int]] = {}
        for target in group:
            start.setdefault(self._atom(target), []).append(target.element)
        atoms = {reference.renamed.get(a, a): np.unique(np.array(e)) for a, e in start.items() if a.is_Symbol}
        try:
            needed = reference.backward_closure(atoms)
        except OverBudgetError:
            for half in (group[: len(group) // 2], group[len(group) // 2 :]) if len(group) > 1 else ():
                self.run(half, rounding, known)
            return
        run = RoundedPass(reference, needed, rounding)
        terms = sizes(run, seeds)
        for target in group:
            atom = self._atom(target)
            own = terms.get(reference.renamed.get(atom, atom), {}).get(target.element)
            known[target] = _Known(run.outcome(atom, target.element), own)

    def _atom(self, target: _Target) -> Atom:
        found = self.passes.value if target.result == OF_Y else self.passes.results.get(target.result)
        return sympy.S.Zero if found is None else found


def _covers(rounded: Outcome, number: Ball) -> bool:
    """Tell whether a ball contains a number, to within the slack."""
    if isinstance(rounded, Undefined) or not rounded.is_finite():
        return False
    with precision(ZERO_BITS):
        return bool(abs(rounded.mid() - number) <= SLACK * rounded.rad())


def digits_left(entry: Entry, dtype: str) -> str:
    """Write the number of right decimal digits of an entry, as the beginning of a sentence."""
    count = surviving(entry.relative_error, dtype)
    return f"{count} of {DIGITS[dtype]} digits survive{'s' * (count == 1)}"


def surviving(error: float | None, dtype: str) -> int:
    """Count the right decimal digits at a relative error.

    >>> surviving(2e-4, "float64"), surviving(float("inf"), "float64")
    (3, 0)
    """
    if error is None or not math.isfinite(error):
        return 0
    return DIGITS[dtype] if error == 0 else max(0, min(DIGITS[dtype], math.floor(-math.log10(error))))

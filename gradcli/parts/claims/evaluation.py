"""A claim against the truth at one point: both as balls, entry by entry.

The truth is the enclosure of the reference, the claim a formula run on the same balls, or numbers.  Different entries
are proved different: no rounding is on either side.  Decimals are the fractions that they are written as; those of a
claim may be rounded, so they are balls of the tolerance, and a claim with any is compared within it alone.  Where the
enclosure has no derivative, the truth may be what the check itself finds there: the slope on both sides, or a limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy
from flint import arb

from gradcli.arrays import told_apart
from gradcli.crosscheck.compare import EXACT, TOLERANCE, Case, Singular, Tolerance, is_sharp, to_float
from gradcli.crosscheck.point import flat, unravel
from gradcli.crosscheck.sample import SEED, pick
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program, Shape
from gradcli.parts.claims.claim_readings import Reading, as_written, has_rounded_tensor, softened
from gradcli.parts.claims.subject import VECTOR, Subject
from gradcli.reference.balls import Ball, precision
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Plan, Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import Array, Entry, Position

SAMPLES = (256, 64, 16, 1)
"""Entries that are compared, all or a sample: the first number that the reference's budget admits."""

FIRST_BITS, LAST_BITS, BITS_AROUND = 128, 4_096, 512
"""Precision to begin with, and to end with at the point that is given and at other points."""

VISIBLE = 1e-9
"""Relative difference from which two numbers look different."""

SHARP = 60
"""Bits of truth and claim that have to agree before they count as the same; half of all bits where they are 0."""

InputArrays = Mapping[str, Array]
Radii = Mapping[sympy.Symbol, Ball]


@dataclass(frozen=True, slots=True)
class Seen:
    """One entry at one point, where truth and claim exist; `is_apart` if they are proved to differ."""

    entry: Entry
    truth: Ball
    claimed: Ball
    is_apart: bool

    @property
    def distance(self) -> float:
        """Relative difference of claim and truth; infinite if the truth may be 0 or the claim is not finite."""
        if not math.isfinite(self.claimed) or self.truth.contains(0):
            return math.inf
        return to_float(abs((self.claimed - self.truth) / self.truth))

    @property
    def is_visible(self) -> bool:
        """Tell whether people see from the first digits that they differ."""
        return self.is_apart and self.distance >= VISIBLE


@dataclass(frozen=True)
class Look:
    """Claim and truth of every entry at one point.

    Attributes:
        inputs: The point.
        v: The gradient vector there.
        seen: The entries where truth and claim exist.
        missing: Why others have nothing to compare, by entry.
        limits: Why enclosures have no truth for some of the entries that are seen.
    """

    inputs: InputArrays
    v: Array
    seen: tuple[Seen, ...]
    missing: Mapping[Entry, str]
    limits: Sequence[str] = ()

    @property
    def shows(self) -> bool:
        """Tell whether it refutes the claim by numbers that look different."""
        return any(one.is_visible for one in self.seen)

    @property
    def worst(self) -> Seen | None:
        """The entry that is most apart, if one is."""
        return max((one for one in self.seen if one.is_apart), key=lambda one: one.distance, default=None)


def reference_of(program: Program, shapes: Mapping[sympy.Symbol, Shape]) -> Reference:
    """Make the reference reading of a Program whose inputs come later."""
    primitive = for_formulas(program)
    own = {symbol: shapes[symbol] for symbol in program.variables}
    zeros = {str(symbol): np.zeros(shape) for symbol, shape in own.items()}
    return Reference(primitive, infer(primitive, own, bounded=False), zeros)


UNKNOWN_POSITIONS = "positions of elements are not known here, or lead to too many"
"""Reason why nothing is compared at a point."""


class ClaimComparison:
    """A claim about a function, to be looked at point by point.

    Attributes:
        entries: Those that are compared.
        chosen: How they were chosen, if they are not all.
        rounded: Decimals that may be rounded, as the function has them not.
        tolerance: That of the comparison: none at all, if the claim is exact.
        work: Ball operations of one look.
    """

    def __init__(self, subject: Subject, reading: Reading, tolerance: Tolerance, numbers: Array | None = None) -> None:
        self.subject, self.reading, self.numbers = subject, reading, numbers
        self.decimals: Mapping[sympy.Symbol, sympy.Rational] = {}
        self.rounded: Set[sympy.Symbol] = frozenset()
        self.program: Program | None = None
        is_member = all(one.is_exact for one in subject.assumed.values())
        is_exact = numbers is None
        if reading.program is not None:
            self.program, self.decimals = softened(for_formulas(reading.program))
            rounded = has_rounded_tensor(self.program) or has_rounded_tensor(for_formulas(subject.program))
            # A decimal such as 0.333 is meant as rounded, so compared within a tolerance, if the function has it not.
            self.rounded = self.decimals.keys() - softened(for_formulas(subject.program))[1].keys()
            is_exact = not self.rounded and not rounded and is_member
        # What floats can be only nearly leaves of a derivative that is 0 what a float is off by.
        self.tolerance = (
            EXACT if is_exact else tolerance if is_member else replace(tolerance, atol=tolerance.atol + tolerance.rtol)
        )
        self.function = reference_of(as_written(for_formulas(subject.program)), subject.shapes)
        self.case = Case(self.function, self.tolerance)
        self.entries, self.chosen = self._planned()

    @property
    def is_exact(self) -> bool:
        """Tell whether the claim is compared without a tolerance."""
        return self.tolerance is EXACT

    @cached_property
    def work(self) -> int:
        """The ball operations of comparing truth and claim at one point."""
        return self.truth.work + (self.claim.work if self.claim is not None else 0) + 1

    def index(self, entry: Entry) -> tuple[int, ...]:
        """Return the index of an entry in the claim."""
        return (*(entry.row or ()), *(entry.column or ()))

    def place(self, entry: Entry) -> tuple[int, int]:
        """Return the flat positions of an entry in y and in x."""
        return self.case.row(entry), self.case.direction(entry)[1]

    def look(self, inputs: InputArrays, v: Array, last_bits: int = BITS_AROUND) -> Look:
        """Enclose truth and claim at a point, with as many bits as it takes to see that they differ or agree."""
        bits = FIRST_BITS
        while True:
            with precision(bits):
                try:
                    pairs = list(zip(self._truths(inputs, v, bits), self.claims(inputs, v, bits), strict=True))
                except OverBudgetError:
                    return Look(inputs, v, (), dict.fromkeys(self.entries, UNKNOWN_POSITIONS))
                if bits >= last_bits or not any(self._is_open(*pair, bits) for pair in pairs):
                    break
            bits *= 2
        seen, missing = [], {}
        with precision(bits):
            for entry, (truth, claimed) in zip(self.entries, pairs, strict=True):
                if isinstance(claimed, Undefined):
                    missing[entry] = f"the claim has no value: {claimed.reason}"
                elif isinstance(truth, Undefined):
                    missing[entry] = truth.reason
                else:
                    seen.append(Seen(entry, truth, claimed, self.is_apart(truth, claimed)))
        return Look(inputs, v, tuple(seen), missing)

    def with_limits(self, look: Look) -> Look:
        """Add the slopes or limits that the check finds for missing entries, where the enclosure has no derivative."""
        from gradcli.crosscheck.singular import classify_singularities

        if UNKNOWN_POSITIONS in look.missing.values():
            return look
        plan = self.truth.moved_to(look.inputs)
        found, known = plan.run(FIRST_BITS), {self.index(entry): entry for entry in look.missing}
        # There is no number of torch to judge here: the tolerance is asked for, and the truth alone is used.
        case = Case(plan.reference, TOLERANCE["float64"], self.weights(look.v))
        causes = ((entry, case.truth(entry, found)) for entry in look.missing)
        lost = [
            Singular(e, cause, frozenset(case.rows(e, found))) for e, cause in causes if isinstance(cause, Undefined)
        ]
        seen, missing, limits = list(look.seen), dict(look.missing), list[str]()
        with precision(FIRST_BITS):
            claims = dict(zip(self.entries, self.claims(look.inputs, look.v, FIRST_BITS), strict=True))
            for one in classify_singularities(case, lost):
                entry = known[self.index(one)]
                claimed = claims[entry]
                if one.one_sided is not None:
                    slopes = " and ".join(told_apart(*one.one_sided))
                    missing[entry] += f"; a kink with slopes {slopes} has no derivative to claim"
                elif one.truth is not None and not isinstance(claimed, Undefined):
                    seen.append(Seen(entry, one.truth, claimed, self.is_apart(one.truth, claimed)))
                    limits.append(missing.pop(entry))
        return replace(look, seen=tuple(seen), missing=missing, limits=limits)

    # -- what is planned once

    def _planned(self) -> tuple[Sequence[Entry], str]:
        """Plan truth and claim for all entries, or for a sample; for none if even one is too much."""
        total = math.prod(self.reading.shape)
        for most in SAMPLES:
            entries = self._some(most)
            sampled = f"{len(entries):,} of {total:,} entries were compared (sampled, seed {SEED})"
            with suppress(OverBudgetError):
                self._plan(entries)
                return entries, sampled if len(entries) < total else ""
        return (), "the truth is over the budget of the reference"

    def _plan(self, entries: Sequence[Entry]) -> None:
        is_whole, places = self.reading.of != "Jacobian", list(map(self.place, entries))
        rows = None if is_whole else np.unique([row for row, _ in places]).astype(np.int64)
        self.claim: Plan | None = None
        columns = sorted({column for _, column in places})
        self.truth = self.function.plan([(self.subject.variable, j) for j in columns], rows)
        if self.program is not None:
            shapes = {**self.subject.known, **dict.fromkeys(self.decimals, ())}
            wanted = np.unique([self.position(e) for e in entries]).astype(np.int64)
            self.claim = reference_of(self.program, shapes).plan((), wanted)
            if not self.claim.judges_value:
                raise OverBudgetError

    def _some(self, most: int) -> list[Entry]:
        """List all entries, or a sample of at most so many."""
        generator, name = np.random.default_rng(SEED), str(self.subject.variable)
        width, height = math.prod(self.subject.x), math.prod(self.subject.y)

        def some(size: int, most: int) -> list[int]:
            return sorted(pick(generator.random(size), most, generator))

        x, y = self.subject.x, self.subject.y
        if self.reading.of != "Jacobian":
            return [Entry(Position("vjp", name, column=unravel(j, x)), math.nan) for j in some(width, most)]
        columns, rows = list(range(width)), list(range(height))
        if width * height > most:
            columns = some(width, math.isqrt(most))
            rows = sorted({*some(height, max(1, math.isqrt(most) // 2)), *(j for j in columns if j < height)})
        return [
            Entry(Position("jacobian", name, unravel(i, y), unravel(j, x)), math.nan) for i in rows for j in columns
        ]

    def position(self, entry: Entry) -> int:
        """Return the flat position of an entry in the claim's own value, before it stretches."""
        index, own = self.index(entry), self.reading.own
        if self.reading.is_transposed:
            rank = len(self.subject.y)
            index = (*index[rank:], *index[:rank])
        index = index[len(index) - len(own) :]
        return flat(tuple(min(n, size - 1) for n, size in zip(index, own, strict=True)), own)

    # -- what is looked at

    def weights(self, v: Array) -> Array:
        """Return the weights of the rows of the Jacobian: ones for a gradient, else v."""
        return np.ones(self.subject.y).ravel() if self.reading.of == "gradient" else np.asarray(v).ravel()

    def _truths(self, inputs: InputArrays, v: Array, bits: int) -> list[Outcome]:
        plan = self.truth.moved_to(inputs)
        found, case = plan.run(bits), Case(plan.reference, self.tolerance, self.weights(v))
        lost = {row: value for row, value in found.values.items() if isinstance(value, Undefined)}

        def truth(entry: Entry) -> Outcome:
            # A row of y that has no value has no derivative, not even by what it does not depend on.
            gone = lost.get(case.row(entry)) if entry.row is not None else next(iter(lost.values()), None)
            return gone or case.truth(entry, found)

        return [truth(entry) for entry in self.entries]

    def claims(self, inputs: InputArrays, v: Array, bits: int, radii: Radii | None = None) -> list[Outcome]:
        """Evaluate the claim at a point, in the order of the entries; decimals have these radii, or the tolerance."""
        if self.claim is None:
            assert self.numbers is not None, "a claim is a formula or numbers"  # noqa: S101
            return [arb(float(self.numbers.flat[self.position(entry)])) for entry in self.entries]
        decimals = {str(symbol): np.asarray(float(exact)) for symbol, exact in self.decimals.items()}
        # From the floats that stand for decimals to the balls of all that they may be rounded from.
        shift: dict[Direction, Ball] = {}
        for symbol, exact in self.decimals.items():
            whole = arb(int(exact.p)) / int(exact.q)
            own = abs(whole).upper() * self.tolerance.rtol if symbol in self.rounded else arb(0)
            radius = own if radii is None else radii[symbol]
            shift[symbol, 0] = whole - arb(float(exact)) + arb(0, radius)
        values = self.claim.moved_to({str(VECTOR): v, **inputs, **decimals}).run(bits, shift=shift).values
        return [values[self.position(entry)] for entry in self.entries]

    def is_apart(self, truth: Ball, claimed: Ball) -> bool:
        """Tell whether they are proved to differ by more than the claim is allowed to."""
        if self.numbers is not None and not claimed.is_finite():
            return True
        if self.is_exact:
            return not (truth - claimed).contains(0)
        return bool(abs(truth - claimed) > arb(self.tolerance.atol) + arb(self.tolerance.rtol) * abs(truth))

    def _is_open(self, truth: Outcome, claimed: Outcome, bits: int) -> bool:
        """Tell whether more bits may decide between equal and different, or show more digits of the difference."""
        if isinstance(truth, Undefined):
            return not truth.decided
        if isinstance(claimed, Undefined):
            return not claimed.decided
        if self.is_apart(truth, claimed):
            return not is_sharp(truth, SHARP, -bits // 2)  # to be shown with all digits
        balls = (truth, claimed) if self.is_exact else (truth,)
        return not all(is_sharp(ball, SHARP, -bits // 2) for ball in balls)

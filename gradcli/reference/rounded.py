"""A Program on balls that round as a float format does: each contains torch's possible results.

At the precision of the format Arb rounds each result as torch's kernels do.  To that come sums, which torch adds up in
an order of its own, numbers that are held with fewer bits than usual, and numbers beyond the range.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import Ball, exists
from gradcli.reference.dependencies import Flat
from gradcli.reference.enclosure_pass import EnclosurePass
from gradcli.reference.enclosure_plan import Plan, Reference
from gradcli.reference.piecewise import grouped
from gradcli.reference.rules import OVERFLOW, UNBOUNDED, Outcome, Rounding, Undefined, rule_of

_UNKNOWN = Undefined("domain", "a number on the way is not known", False)

FEW_BITS = 20
"""Most binary places of a constant that counts as written exactly."""

SERIES = 2.0**-30
"""The relative error of torch's polygamma(1, x), which ends its series after six terms."""


class RoundedPass(EnclosurePass):
    """The values at some elements, at the precision of a format.

    Args:
        reference: The Program and its inputs.
        needed: The elements of each value.
        rounding: The format.
    """

    def __init__(self, reference: Reference, needed: Mapping[Atom, Flat], rounding: Rounding) -> None:
        super().__init__(Plan(reference, (), needed=dict(needed)))
        self.rounding = self.format = rounding
        self.evaluate()

    def outcome(self, atom: Atom, element: int) -> Outcome:
        """Return the possible results of torch for one element of a value."""
        atom = self.reference.renamed.get(atom, atom)
        return self.values[atom][element] if atom.is_Symbol else arb(float(atom))

    def _rounded(self, exact: Ball, nearest: float) -> Ball:
        """Enclose a constant, which may be rounded: pi, 0.1, and whole numbers beyond the format."""
        bits = self.format.bits
        is_exact = abs(nearest) < 2.0**53 and (nearest * 2.0**FEW_BITS).is_integer()
        found = self.format.constant(exact, nearest)
        if abs(found) > self.format.largest / 2:  # torch's number for infinity in tables of logarithms
            return arb.pos_inf() if found > 0 else arb.neg_inf()
        return found if is_exact or not exists(found) else found + arb(0, abs(found).upper() * arb(2) ** -bits)

    def _line_values(self, line: Line, elements: Flat) -> dict[int, Outcome]:
        found, out = super()._line_values(line, elements), elements.tolist()
        op = line.call.op
        if op.kind is Kind.ELEMENTWISE and not op.is_branch:
            columns = [self.operand(line, k, elements) for k in range(len(line.call.operands))]
            for e, operands in zip(out, zip(*columns, strict=True), strict=True):
                found[e] = self._kernel(line, found[e], operands)
        elif op.is_extreme:
            groups = grouped(self, line, elements)
            found = {e: _one_of(groups[e].values, outcome, op) for e, outcome in found.items()}
        elif not (op.only_moves or op.is_aggregate or op.is_branch):  # what is chosen is not rounded again
            sizes = dict.fromkeys(out, arb(0))
            for k, position, source in self.reference.dependencies.source_chunks(line, elements):
                for p, term in zip(position.tolist(), self.values_at(line, k, source), strict=True):
                    if not isinstance(term, Undefined) and exists(term):
                        sizes[out[p]] += abs(term).upper()
            for e, total in found.items():
                if not (isinstance(total, Undefined) or total.is_exact()):
                    found[e] = total + arb(0, sizes[e].upper() * arb(2) ** -self.format.bits)
        return found if op.only_moves else {e: self._held(outcome) for e, outcome in found.items()}

    def _kernel(self, line: Line, outcome: Outcome, operands: Sequence[Outcome]) -> Outcome:
        """Return the result of a kernel that is known better, or less well, than by its rule."""
        op = line.call.op
        if isinstance(outcome, Undefined):
            is_nothing = op.monoid is Monoid.PRODUCT and any(not isinstance(o, Undefined) and o == 0 for o in operands)
            return arb(0) if is_nothing else arb.neg_inf() if op.name == "log" and operands[0] == 0 else outcome
        if op.sense and operands[0] is operands[1]:  # one number, whatever it is
            return arb(int(0 in op.sense))
        if op.is_extreme:
            return _one_of(operands, outcome, op)
        return outcome if op.kernel == (0, 0.0) else self._moved(line, operands)

    def _moved(self, line: Line, operands: Sequence[Outcome]) -> Outcome:
        """Enclose the result of a kernel that rounds inside: it reflects or shifts an operand, or ends a series.

        A result with fewer bits than usual may be 0 there.
        """
        *others, x = operands
        assert not isinstance(x, Undefined), "it has a value"  # noqa: S101
        units, loss = line.call.op.kernel
        width = abs(x).upper() * units * arb(2) ** (1 - self.format.bits)
        moved = rule_of(line.call).evaluate([*others, x + arb(0, width)], "a part")
        if isinstance(moved, Undefined):
            return moved
        if line.call.op.name != "polygamma":
            return moved + arb(0, abs(moved).upper() * loss + arb(2) ** (self.format.smallest + self.format.bits))
        order = line.call.statics[0]
        if order == 1:
            return moved + arb(0, abs(moved).upper() * SERIES)
        # torch's series begins with x**(-order - 1), which may underflow
        return moved + arb(0, abs(x).upper() * arb(order + 1).gamma() * arb(2) ** self.format.smallest)

    def _held(self, outcome: Outcome) -> Outcome:
        """Round a result to the format; an infinity of the text stays one."""
        if isinstance(outcome, Undefined):
            return outcome
        if not exists(outcome.mid()):
            return _UNKNOWN if outcome.is_nan() else outcome
        if not exists(outcome) or abs(outcome).upper() > self.format.largest:
            return OVERFLOW if abs(outcome.mid()) > self.format.largest else UNBOUNDED
        return self.format.underflown(outcome)


def _one_of(values: Sequence[Outcome], outcome: Outcome, op: Op) -> Outcome:
    """Return the operand that certainly is the extreme, so that comparing both compares a number with itself."""
    if any(isinstance(value, Undefined) for value in values):
        return outcome
    beats: Callable[[Any, Any], Any] = operator.gt if op.monoid is Monoid.LARGEST else operator.lt
    return next((a for a in values if all(a is b or beats(a, b) for b in values)), outcome)


@dataclass(frozen=True, slots=True)
class Size:
    """Size of the terms that add up to a number: the largest, all together, and the most roundings of one."""

    largest: Ball
    total: Ball
    roundings: int

    def joined(self, other: Size) -> Size:
        """Join both."""
        roundings = max(self.roundings, other.roundings) + 1
        return Size(self.largest.max(other.largest), self.total + other.total, roundings)

    def times(self, factor: Ball) -> Size:
        """Multiply the terms by a factor."""
        size = abs(factor.mid())
        return Size(self.largest * size, self.total * size, self.roundings + 2)


def sizes(run: RoundedPass, seeds: Sequence[Atom]) -> dict[Atom, dict[int, Size]]:
    """Compute the sizes of the terms of all values that are linear in some seeds; others are left out.

    Args:
        run: The values.
        seeds: Variables.
    """
    found: dict[Atom, dict[int, Size]] = {}
    for seed in seeds:
        values = run.values.get(seed, {}).items()
        found[seed] = {e: Size(abs(one), abs(one), 0) for e, one in values if not isinstance(one, Undefined)}
    for line in run.reference.program.lines:
        if line.symbol in run.values and not found.keys().isdisjoint(line.call.operands):
            found[line.symbol] = _of_line(run, line, found)
    return found


def _of_line(run: RoundedPass, line: Line, known: Mapping[Atom, Mapping[int, Size]]) -> dict[int, Size]:
    op, operands = line.call.op, line.call.operands
    out = np.array(sorted(run.values[line.symbol]), dtype=np.int64)
    found: dict[int, Size] = {}
    if op.is_aggregate:  # a kernel that goes through whole matrices leaves roundings of all their numbers
        for e, outcome in run.values[line.symbol].items():
            if op.kind in (Kind.MATRIX, Kind.SPECTRAL) and not isinstance(outcome, Undefined):
                radius = outcome.rad() * arb(2) ** run.format.bits
                found[e] = Size(radius, radius, 1)
        return found
    for k, position, source in run.reference.dependencies.source_chunks(line, out):
        entering = known.get(operands[k], {})
        pairs = [
            (int(out[p]), entering[s]) for p, s in zip(position.tolist(), source.tolist(), strict=True) if s in entering
        ]
        if op.kind is Kind.ELEMENTWISE and pairs:
            pairs = list(_scaled(run, line, k, pairs))
        for e, size in pairs:
            found[e] = found[e].joined(size) if e in found else size
    return found


def _scaled(run: RoundedPass, line: Line, k: int, pairs: Sequence[tuple[int, Size]]) -> Iterator[tuple[int, Size]]:
    """Yield the terms of one operand as an elementwise operation passes them on: times its slope."""
    op, elements = line.call.op, np.array([e for e, _ in pairs], dtype=np.int64)
    if op.coefficients:
        yield from pairs
        return
    source = run.reference.dependencies.sources(line, k, elements)[1]
    for (e, size), slope in zip(pairs, run.slopes(line, k, elements, source), strict=True):
        if not isinstance(slope, Undefined) and slope != 0:
            yield e, size if op.is_choice else size.times(slope)

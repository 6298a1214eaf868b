"""Adjoints over balls: what flows back from y to every line, by the chain rule as reverse mode applies it.

The judge follows directions forward; this is for asking where on its way back torch went wrong.  Beside the adjoint it
keeps the largest single product of slopes: where the sum is much smaller, the products cancel.  What is not taken, and
what only an exact zero is multiplied with, gets nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy
from flint import arb

from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import Ball
from gradcli.reference.choices import is_choice, slope_of_choice
from gradcli.reference.duals import Plan, Reference
from gradcli.reference.element_groups import Groups, is_aggregate
from gradcli.reference.footprint import Flat
from gradcli.reference.rules import Outcome, Undefined, rule_of, slope_condition
from gradcli.reference.running import Run

Elements = Mapping[int, "Flow"]
"""By flat position; what is not in it is an exact zero."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What flows back to an element: the sum over all ways, and the largest of them."""

    total: Outcome
    largest: Ball

    def joined(self, other: Flow) -> Flow:
        """The sum of two flows into the same element, and the larger of their largest ways."""
        largest = self.largest.max(other.largest)
        if isinstance(self.total, Undefined):
            return Flow(self.total, largest)
        return Flow(other.total if isinstance(other.total, Undefined) else self.total + other.total, largest)

    def through(self, slope: Outcome) -> Flow:
        """What an operation with this slope passes on."""
        if isinstance(slope, Undefined):
            return Flow(self.total if isinstance(self.total, Undefined) else slope, self.largest)
        total = self.total if isinstance(self.total, Undefined) else self.total * slope
        return Flow(total, self.largest * abs(slope).upper())


@dataclass(frozen=True, slots=True)
class Sweep:
    """What flows back: to every value, and to an operand from one line, by the symbols of line and operand."""

    adjoints: Mapping[Atom, Elements]
    entering: Mapping[tuple[Atom, Atom], Elements]


class Backward:
    """The values at some elements, at the precision in force, and sweeps back through them."""

    def __init__(self, reference: Reference, needed: Mapping[Atom, Flat]) -> None:
        self.reference = reference
        self._run = Run(Plan(reference, (), needed=dict(needed)), None, {}, 0)
        self._run.evaluate()
        self.values: Mapping[Atom, Mapping[int, Outcome]] = self._run.values

    def sweep(
        self, seeds: Mapping[Atom, Elements], lines: Sequence[Line], within: Mapping[Atom, Flat] | None = None
    ) -> Sweep:
        """Carry what is given at some elements back through some lines.

        Args:
            seeds: Where to start.
            lines: In the order of the Program.
            within: The elements to follow; all if None.
        """
        adjoints: dict[Atom, dict[int, Flow]] = {atom: dict(flows) for atom, flows in seeds.items()}
        entering: dict[tuple[Atom, Atom], dict[int, Flow]] = {}
        for line in reversed(lines):
            flows = {e: flow for e, flow in adjoints.get(line.symbol, {}).items() if not _is_zero(flow.total)}
            for k, operand in enumerate(line.call.operands):
                if not flows or not isinstance(operand, sympy.Symbol):
                    continue
                followed = None if within is None else within.get(operand, np.empty(0, dtype=np.int64))
                for out, source, slope in self._slopes(line, k, np.array(sorted(flows), dtype=np.int64), followed):
                    if not _is_zero(slope):
                        flow = flows[out].through(slope)
                        _add(entering.setdefault((line.symbol, operand), {}), source, flow)
                        _add(adjoints.setdefault(operand, {}), source, flow)
        return Sweep(adjoints, entering)

    def refused(self, line: Line, k: int, elements: Flat) -> Flat:
        """The elements of operand k that a choice does not take: `where`, `maximum`, `minimum`, `amax`, `amin`."""
        position, source = self.reference.footprint.down(line, k, elements)
        taken = {(out, s) for out, s, slope in self._slopes(line, k, elements, None) if not _is_zero(slope)}
        out = elements[position]
        return np.array([s for o, s in zip(out.tolist(), source.tolist(), strict=True) if (o, s) not in taken], int)

    def sensitivity(self, line: Line, k: int, out: int) -> Ball | None:
        """How many times as large the slope of an elementwise operation makes the rounding of its operands."""
        elements = np.array([out], dtype=np.int64)
        if line.call.op.kind is not Kind.ELEMENTWISE or is_choice(line.call.op):
            return None
        operands = [self._run.operand(line, n, elements)[0] for n in range(len(line.call.operands))]
        slope = self._run.slopes(line, k, elements)[0]
        if isinstance(slope, Undefined) or slope.contains(0) or any(isinstance(o, Undefined) for o in operands):
            return None
        return slope_condition(line.call, k, operands, slope) / abs(slope)

    def _slopes(self, line: Line, k: int, elements: Flat, within: Flat | None) -> Iterator[tuple[int, int, Outcome]]:
        """Elements of the line and of operand k with the slope between them; a condition has none."""
        position, source = self.reference.footprint.down(line, k, elements)
        if within is not None:
            kept = np.isin(source, within)
            position, source = position[kept], source[kept]
        if not len(source):
            return
        out = elements[position]
        pairs = list(zip(out.tolist(), source.tolist(), strict=True))
        op = line.call.op
        slopes: Sequence[Outcome]
        if is_aggregate(op):
            groups = Groups(self._run, line, np.unique(out))
            slopes = [groups.slope(o, s) for o, s in pairs]
        elif op.kind is not Kind.ELEMENTWISE:
            slopes = [arb(1)] * len(pairs)
        elif is_choice(op):
            columns = zip(*(self._run.operand(line, n, out) for n in range(len(line.call.operands))), strict=True)
            slopes = [slope_of_choice(op, k, operands) for operands in columns]
        elif rule_of(line.call).is_flat:
            return
        else:
            slopes = self._run.slopes(line, k, out)
        for (o, s), slope in zip(pairs, slopes, strict=True):
            yield o, s, slope


def _is_zero(outcome: Outcome) -> bool:
    return not isinstance(outcome, Undefined) and bool(outcome == 0)


def _add(flows: dict[int, Flow], element: int, flow: Flow) -> None:
    flows[element] = flow if element not in flows else flows[element].joined(flow)

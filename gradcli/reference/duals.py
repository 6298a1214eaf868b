"""Dual numbers over balls, at the elements that are asked for.

A `Plan` follows directions e_j of the inputs forward through the Program as sparse lists of (direction, element), finds
the values that the local derivatives need, and counts the work before any is done.  Running it at a number of bits
gives, for each direction and row of y, a ball that contains ∂y[row]/∂x[j], or the reason why there is none.
Elements outside the lists are exact zeros.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb

from gradcli.language.ops import Kind
from gradcli.language.program import Atom, Line, Program, number
from gradcli.language.shapes import Shape, infer
from gradcli.reference.balls import Ball, compile_ball, precision
from gradcli.reference.footprint import Flat, Footprint, TooManyError
from gradcli.reference.lowering import lower
from gradcli.reference.rules import Outcome, Trouble, rule_of, spread

BUDGET = 60_000
"""Ball operations of one plan: at 3 to 5 µs each, about a tenth of what importing torch takes."""

LINEAR = frozenset(["neg", "add", "sub"])
"""Operations whose derivative needs no values."""

Direction = tuple[sympy.Symbol, int]
"""A variable and the flat position of one of its elements."""

Columns = Mapping[tuple[int, int], Outcome]
"""Nonzero derivatives by (number of the direction, flat row of y)."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """A float format: the bits of its significand, and the exponent of its smallest positive number."""

    bits: int
    smallest: int

    def constant(self, exact: Ball, nearest: float) -> Ball:
        """A constant and what the format makes of it."""
        rounded = float(np.float32(nearest)) if self.bits == 24 else nearest
        return exact.union(arb(rounded)) if math.isfinite(rounded) else exact

    def slope(self, ball: Ball, spread: Ball) -> Ball:
        """A slope with the error of computing it from rounded operands and a rounded value."""
        return ball + arb(0, spread * arb(2) ** (1 - self.bits))

    def underflown(self, ball: Ball) -> Ball:
        """A result with the error of holding it with fewer bits than usual, or not at all."""
        smallest = arb(2) ** self.smallest
        return ball + arb(0, smallest) if ball != 0 and abs(ball).lower() < smallest * 2**60 else ball


class OverBudgetError(Exception):
    """The plan would take more than `BUDGET` ball operations."""


@dataclass(frozen=True, slots=True)
class _Flow:
    """How the tangents of a line arise: pair `target[n]` of the line gets pair `source[n]` of operand k."""

    operand: int
    source: list[int]
    target: list[int]


@dataclass
class Plan:
    """What it takes to push some directions through a Program; `run` does it at a number of bits."""

    reference: Reference
    directions: Sequence[Direction]
    pairs: dict[Atom, tuple[Flat, Flat]] = field(default_factory=dict)
    flows: dict[Atom, list[_Flow]] = field(default_factory=dict)
    needed: dict[Atom, Flat] = field(default_factory=dict)
    judges_value: bool = True

    def run(self, bits: int, rounding: Rounding | None = None) -> Columns:
        """The nonzero columns of the Jacobian at this precision, exact but for it.

        Args:
            bits: Of the balls.
            rounding: A float format; the balls then also cover what its rounding can do.
        """
        with precision(bits):
            return _Run(self, rounding).columns()


class Reference:
    """The reference reading of a Program of primitives at given inputs."""

    def __init__(
        self, program: Program, shapes: Mapping[Atom, Shape], inputs: Mapping[str, npt.NDArray[np.float64]]
    ) -> None:
        self.program = lower(program, shapes)
        variables = {symbol: shapes[symbol] for symbol in program.variables}
        self.shapes = infer(self.program, variables, bounded=False)
        self.inputs = {
            symbol: np.asarray(inputs[str(symbol)], dtype=np.float64).ravel() for symbol in program.variables
        }
        self.footprint = Footprint(self.shapes, BUDGET)

    def plan(self, directions: Sequence[Direction], rows: Flat | None = None) -> Plan:
        """Prepare columns of the Jacobian, at some flat rows of y or at all.

        Raises:
            OverBudgetError: more than `BUDGET` ball operations.
        """
        try:
            return self._planned(directions, rows, judges_value=True)
        except TooManyError:
            pass
        try:
            return self._planned(directions, rows, judges_value=False)
        except TooManyError:
            raise OverBudgetError from None

    def _planned(self, directions: Sequence[Direction], rows: Flat | None, *, judges_value: bool) -> Plan:
        plan = Plan(self, directions, judges_value=judges_value)
        self._reach(plan, None if rows is None else self._wanted(rows))
        start = self._values_for_slopes(plan)
        if judges_value:
            size = math.prod(self.shapes[self.program.output])
            self._require(size if rows is None else len(rows))
            start.setdefault(self.program.output, []).append(np.arange(size) if rows is None else rows)
        plan.needed = self._closure({atom: np.unique(np.concatenate(lists)) for atom, lists in start.items()})
        work = sum(len(f.source) for flows in plan.flows.values() for f in flows)
        self._require(work + sum(map(len, plan.needed.values())))
        return plan

    def _wanted(self, rows: Flat) -> Mapping[Atom, Flat] | None:
        """The elements that these rows of y are made of; None, for all, where a list of them would be too long."""
        try:
            return self._closure({self.program.output: rows})
        except TooManyError:
            return None

    def _require(self, work: int) -> None:
        if work > BUDGET:
            raise TooManyError

    def _reach(self, plan: Plan, wanted: Mapping[Atom, Flat] | None) -> None:
        """Follow the directions forward."""
        for variable in self.program.variables:
            chosen = [(d, j) for d, (symbol, j) in enumerate(plan.directions) if symbol == variable]
            if chosen:
                found = np.array(chosen, dtype=np.int64)
                plan.pairs[variable] = found[:, 0], found[:, 1]
        total = 0
        for line in self.program.lines:
            entering = []
            for k, operand in enumerate(line.call.operands):
                if operand in plan.pairs:
                    d, e = plan.pairs[operand]
                    source, out = self.footprint.up(line, k, e)
                    if wanted is not None:
                        kept = np.isin(out, wanted.get(line.symbol, np.empty(0, dtype=np.int64)))
                        source, out = source[kept], out[kept]
                    if len(source):
                        entering.append((k, source, d[source], out))
            if entering:
                self._join(plan, line, entering)
                total += len(plan.pairs[line.symbol][0])
                self._require(total)

    def _join(self, plan: Plan, line: Line, entering: list[tuple[int, Flat, Flat, Flat]]) -> None:
        size = max(1, math.prod(self.shapes[line.symbol]))
        keys = np.concatenate([d * size + out for _, _, d, out in entering])
        distinct, position = np.unique(keys, return_inverse=True)
        plan.pairs[line.symbol] = distinct // size, distinct % size
        flows, start = [], 0
        for k, source, _, _ in entering:
            flows.append(_Flow(k, source.tolist(), position[start : start + len(source)].tolist()))
            start += len(source)
        plan.flows[line.symbol] = flows

    def _values_for_slopes(self, plan: Plan) -> dict[Atom, list[Flat]]:
        """The operand elements at which local derivatives will be taken."""
        start: dict[Atom, list[Flat]] = {}
        for line in self.program.lines:
            if (
                line.symbol not in plan.pairs
                or line.call.op.kind is not Kind.ELEMENTWISE
                or line.call.op.name in LINEAR
            ):
                continue
            out = np.unique(plan.pairs[line.symbol][1])
            for k, operand in enumerate(line.call.operands):
                if isinstance(operand, sympy.Symbol):
                    start.setdefault(operand, []).append(self.footprint.down(line, k, out)[1])
        return start

    def _closure(self, start: Mapping[Atom, Flat]) -> dict[Atom, Flat]:
        """Everything that these elements are made of, backward through the lines."""
        known: dict[Atom, Flat] = {}
        lists: dict[Atom, list[Flat]] = {atom: [elements] for atom, elements in start.items()}
        total = 0
        for line in reversed(self.program.lines):
            if line.symbol not in lists:
                continue
            known[line.symbol] = elements = np.unique(np.concatenate(lists[line.symbol]))
            for k, operand in enumerate(line.call.operands):
                if isinstance(operand, sympy.Symbol):
                    made_of = self.footprint.down(line, k, elements)[1]
                    total += len(made_of)
                    self._require(total)
                    lists.setdefault(operand, []).append(made_of)
        for variable in self.program.variables:
            if variable in lists:
                known[variable] = np.unique(np.concatenate(lists[variable]))
        return known

    def shown(self, line: Line) -> str:
        """The sub-expression of a line, for messages."""
        start, stop = line.span.start, line.span.stop
        text = " ".join(self.program.text[start : min(stop, start + 100)].split())
        return text if len(text) <= 40 and stop <= start + 100 else f"{text[:37]}..."


class _Run:
    """One pass over a plan at the current precision."""

    def __init__(self, plan: Plan, rounding: Rounding | None) -> None:
        self.plan, self.reference, self.rounding = plan, plan.reference, rounding
        self.values: dict[Atom, dict[int, Outcome]] = {}

    def columns(self) -> Columns:
        for variable in self.reference.program.variables:
            if variable in self.plan.needed:
                self.values[variable] = self._inputs(variable, self.plan.needed[variable].tolist())
        for line in self.reference.program.lines:
            if line.symbol in self.plan.needed:
                self.values[line.symbol] = self._line_values(line, self.plan.needed[line.symbol])
        tangents = self._tangents()
        output = self.reference.program.output
        if output not in self.plan.pairs:
            return {}
        d, rows = (pairs.tolist() for pairs in self.plan.pairs[output])
        judged = self.values.get(output, {}) if self.plan.judges_value else {}
        columns: dict[tuple[int, int], Outcome] = {}
        for direction, row, tangent in zip(d, rows, tangents[output], strict=True):
            value = judged.get(row)
            columns[direction, row] = value if isinstance(value, Trouble) else tangent
        return columns

    def _inputs(self, variable: sympy.Symbol, elements: list[int]) -> dict[int, Outcome]:
        data = self.reference.inputs[variable]
        found: dict[int, Outcome] = {}
        for j in elements:
            number = float(data[j])
            found[j] = arb(number) if math.isfinite(number) else Trouble("domain", f"{variable} is {number} here", True)
        return found

    def _line_values(self, line: Line, elements: Flat) -> dict[int, Outcome]:
        out = elements.tolist()
        if line.call.op.kind is Kind.ELEMENTWISE:
            rule, shown = rule_of(line.call), self.reference.shown(line)
            columns = [self._operand(line, k, elements) for k in range(len(line.call.operands))]
            return {
                e: self._underflown(rule.evaluate(list(operands), shown))
                for e, operands in zip(out, zip(*columns, strict=True), strict=True)
            }
        if line.call.op.name == "mean" and self._count(line) == 0:
            nothing = Trouble("domain", f"{self.reference.shown(line)} is a mean of nothing", True)
            return dict.fromkeys(out, nothing)
        totals: dict[int, Outcome] = {}
        for k, operand in enumerate(line.call.operands):
            position, source = (a.tolist() for a in self.reference.footprint.down(line, k, elements))
            ball = self._constant(operand)
            for p, s in zip(position, source, strict=True):
                totals[out[p]] = _plus(totals.get(out[p]), self.values[operand][s] if ball is None else ball)
        scale = self._scale(line)
        return {e: _times(totals.get(e, arb(0)), scale) for e in out}

    def _operand(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        operand = line.call.operands[k]
        constant = self._constant(operand)
        if constant is not None:
            return [constant] * len(elements)
        values = self.values[operand]
        return [values[e] for e in self.reference.footprint.down(line, k, elements)[1].tolist()]

    def _constant(self, operand: Atom) -> Ball | None:
        if isinstance(operand, sympy.Symbol):
            return None
        exact = compile_ball(operand)({})
        return exact if self.rounding is None else self.rounding.constant(exact, number(operand))

    def _scale(self, line: Line) -> Ball | None:
        """What a reduction multiplies its sum by: a mean divides by the number of elements it takes in."""
        if line.call.op.name != "mean":
            return None
        return 1 / arb(self._count(line))

    def _count(self, line: Line) -> int:
        """How many elements of its operand a reduction takes into one of its own."""
        before = math.prod(self.reference.shapes.get(line.call.operands[0], ()))
        return before // max(1, math.prod(self.reference.shapes[line.symbol]))

    def _tangents(self) -> dict[Atom, list[Outcome]]:
        tangents: dict[Atom, list[Outcome]] = {
            variable: [arb(1)] * len(self.plan.pairs[variable][0])
            for variable in self.reference.program.variables
            if variable in self.plan.pairs
        }
        for line in self.reference.program.lines:
            if line.symbol in self.plan.pairs:
                tangents[line.symbol] = self._line_tangents(line, tangents)
        return tangents

    def _line_tangents(self, line: Line, tangents: Mapping[Atom, list[Outcome]]) -> list[Outcome]:
        elements = self.plan.pairs[line.symbol][1]
        totals: list[Outcome | None] = [None] * len(elements)
        scale = self._scale(line)
        is_elementwise = line.call.op.kind is Kind.ELEMENTWISE
        for flow in self.plan.flows[line.symbol]:
            slopes = self._slopes(line, flow.operand, elements) if is_elementwise else None
            entering = tangents[line.call.operands[flow.operand]]
            for source, target in zip(flow.source, flow.target, strict=True):
                factor = scale if slopes is None else slopes[target]
                product = self._underflown(_times(entering[source], factor))
                totals[target] = _plus(totals[target], product)
        return totals

    def _slopes(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """The local derivative by operand k at each element, taken once where several directions pass."""
        if line.call.op.name in LINEAR:
            partial = rule_of(line.call).partials[k]
            return [partial({}) if partial else arb(0)] * len(elements)
        distinct, position = np.unique(elements, return_inverse=True)
        columns = [self._operand(line, n, distinct) for n in range(len(line.call.operands))]
        slopes = [self._slope(line, k, list(operands)) for operands in zip(*columns, strict=True)]
        return [slopes[p] for p in position.tolist()]

    def _slope(self, line: Line, k: int, operands: list[Outcome]) -> Outcome:
        slope = rule_of(line.call).slope(k, operands, self.reference.shown(line))
        if self.rounding is None or isinstance(slope, Trouble):
            return slope
        return self.rounding.underflown(self.rounding.slope(slope, spread(line.call, k, operands, slope)))

    def _underflown(self, outcome: Outcome) -> Outcome:
        return outcome if self.rounding is None or isinstance(outcome, Trouble) else self.rounding.underflown(outcome)


def _plus(a: Outcome | None, b: Outcome) -> Outcome:
    if a is None or isinstance(b, Trouble):
        return b
    return a if isinstance(a, Trouble) else a + b


def _times(a: Outcome, b: Outcome | None) -> Outcome:
    """The product of a tangent and a slope.

    An exact zero undoes a kink on either side: |x|**2 is smooth at 0, and |g| is where g and its derivative are 0, as
    the slopes of a kink are bounded.  A jump or an infinite slope is not undone.
    """
    if b is None:
        return a
    if isinstance(a, Trouble):
        return arb(0) if a.kind == "kink" and not isinstance(b, Trouble) and b == 0 else a
    if isinstance(b, Trouble):
        return arb(0) if b.kind == "kink" and a == 0 else b
    return a * b

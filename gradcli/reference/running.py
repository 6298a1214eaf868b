"""One pass over a plan of the reference: values and tangents as balls, line by line.

Elementwise operations follow their rules, sums and movements carry tangents along, `where` follows the branch that is
taken; products, extremes, determinants and inverses (`aggregates`) have partial derivatives of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import sympy
from flint import arb

from gradcli.language import sources
from gradcli.language.movement import fill_of
from gradcli.language.ops import Kind
from gradcli.language.program import Atom, Line, number
from gradcli.language.shapes import count_of
from gradcli.reference.balls import Ball, compile_ball
from gradcli.reference.footprint import Flat
from gradcli.reference.groups import AGGREGATES, Groups
from gradcli.reference.rounding import Rounding
from gradcli.reference.rules import Outcome, Trouble, rule_of, spread

if TYPE_CHECKING:
    from gradcli.reference.duals import Columns, Plan


class Run:
    """One pass over a plan at the current precision."""

    def __init__(self, plan: Plan, rounding: Rounding | None) -> None:
        self.plan, self.reference, self.rounding = plan, plan.reference, rounding
        self.values: dict[Atom, dict[int, Outcome]] = {}

    def columns(self) -> Columns:
        """The nonzero derivatives, or why there are none."""
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

    # -- values

    def _inputs(self, variable: sympy.Symbol, elements: list[int]) -> dict[int, Outcome]:
        data = self.reference.inputs[variable]
        found: dict[int, Outcome] = {}
        for j in elements:
            number = float(data[j])
            found[j] = arb(number) if math.isfinite(number) else Trouble("domain", f"{variable} is {number} here", True)
        return found

    def _line_values(self, line: Line, elements: Flat) -> dict[int, Outcome]:
        out = elements.tolist()
        call = line.call
        match call.op.kind:
            case Kind.ELEMENTWISE:
                rule, shown = rule_of(call), self.reference.shown(line)
                columns = zip(*(self.operand(line, k, elements) for k in range(len(call.operands))), strict=True)
                if call.op.name == "where":
                    found = [_branch(*operands) for operands in columns]
                else:
                    found = [rule.evaluate(list(operands), shown) for operands in columns]
                return {e: self._underflown(outcome) for e, outcome in zip(out, found, strict=True)}
            case Kind.COUNT:
                size = count_of(self.reference.shapes.get(call.operands[0], ()), call.statics[0])
                return dict.fromkeys(out, arb(size))
            case Kind.SOURCE:
                data = sources.array_of(call).ravel()[elements].tolist()
                return {e: self._rounded(arb(a), a) for e, a in zip(out, data, strict=True)}
            case _ if call.op.name in AGGREGATES:
                groups = Groups(self, line, elements)
                return {e: self._underflown(groups.value(e)) for e in out}
        totals: dict[int, Outcome] = {}
        for k in range(len(call.operands)):
            position, source = self.reference.footprint.down(line, k, elements)
            for p, outcome in zip(position.tolist(), self.at(line, k, source), strict=True):
                totals[out[p]] = _plus(totals.get(out[p]), outcome)
        fill = arb(fill_of(call)) if call.op.kind is Kind.MOVEMENT else arb(0)
        return {e: totals.get(e, fill) for e in out}

    def operand(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """Operand k of an elementwise operation at each of its elements."""
        return self.at(line, k, self.reference.footprint.down(line, k, elements)[1])

    def at(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """Operand k at its own elements."""
        operand = line.call.operands[k]
        if not isinstance(operand, sympy.Symbol):
            return [self._rounded(compile_ball(operand)({}), number(operand))] * len(elements)
        values = self.values[operand]
        return [values[e] for e in elements.tolist()]

    def _rounded(self, exact: Ball, nearest: float) -> Ball:
        return exact if self.rounding is None else self.rounding.constant(exact, nearest)

    # -- tangents

    def _tangents(self) -> dict[Atom, list[Outcome]]:
        tangents: dict[Atom, list[Outcome]] = {
            variable: [arb(1)] * len(self.plan.pairs[variable][0])
            for variable in self.reference.program.variables
            if variable in self.plan.pairs
        }
        for line in self.reference.program.lines:
            if line.symbol in self.plan.pairs:
                of_line = self._branch_tangents if line.call.op.name == "where" else self._line_tangents
                tangents[line.symbol] = of_line(line, tangents)
        return tangents

    def _line_tangents(self, line: Line, tangents: Mapping[Atom, list[Outcome]]) -> list[Outcome]:
        elements = self.plan.pairs[line.symbol][1]
        totals: list[Outcome | None] = [None] * len(elements)
        groups = Groups(self, line, np.unique(elements)) if line.call.op.name in AGGREGATES else None
        for flow in self.plan.flows[line.symbol]:
            slopes: list[Outcome] | None = None
            if groups is not None:
                inside = self.plan.pairs[line.call.operands[0]][1]
                pairs = zip(elements[flow.target].tolist(), inside[flow.source].tolist(), strict=True)
                slopes = [self._slope_error(groups.slope(out, e), 2 * groups.size(out)) for out, e in pairs]
            elif line.call.op.kind is Kind.ELEMENTWISE:
                of_element = self._slopes(line, flow.operand, elements)
                slopes = [of_element[target] for target in flow.target]
            entering = tangents[line.call.operands[flow.operand]]
            for n, (source, target) in enumerate(zip(flow.source, flow.target, strict=True)):
                product = self._underflown(_times(entering[source], slopes[n] if slopes else None))
                totals[target] = _plus(totals[target], product)
        return totals

    def _branch_tangents(self, line: Line, tangents: Mapping[Atom, list[Outcome]]) -> list[Outcome]:
        """The tangent of the branch that is taken; where the condition changes, that of both if they agree."""
        elements = self.plan.pairs[line.symbol][1]
        entering: list[dict[int, Outcome]] = [{}, {}, {}]
        for flow in self.plan.flows[line.symbol]:
            of_operand = tangents[line.call.operands[flow.operand]]
            entering[flow.operand] = {t: of_operand[s] for s, t in zip(flow.source, flow.target, strict=True)}
        columns = zip(*(self.operand(line, k, elements) for k in range(3)), strict=True)
        shown = self.reference.shown(line)
        return [
            _branch_tangent(operands, [of.get(n, arb(0)) for of in entering], shown)
            for n, operands in enumerate(columns)
        ]

    def _slopes(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """The local derivative by operand k at each element, taken once where several directions pass."""
        if line.call.op.name in ("neg", "add", "sub"):
            partial = rule_of(line.call).partials[k]
            return [partial({}) if partial else arb(0)] * len(elements)
        distinct, position = np.unique(elements, return_inverse=True)
        columns = [self.operand(line, n, distinct) for n in range(len(line.call.operands))]
        slopes = [self._slope(line, k, list(operands)) for operands in zip(*columns, strict=True)]
        return [slopes[p] for p in position.tolist()]

    def _slope(self, line: Line, k: int, operands: list[Outcome]) -> Outcome:
        slope = rule_of(line.call).slope(k, operands, self.reference.shown(line))
        if self.rounding is None or isinstance(slope, Trouble):
            return slope
        return self.rounding.underflown(self.rounding.slope(slope, spread(line.call, k, operands, slope)))

    def _slope_error(self, slope: Outcome, operations: int) -> Outcome:
        """The slope of an aggregate with the rounding of this many operations."""
        if self.rounding is None or isinstance(slope, Trouble):
            return slope
        return self.rounding.underflown(self.rounding.slope(slope, abs(slope).upper() * operations))

    def _underflown(self, outcome: Outcome) -> Outcome:
        return outcome if self.rounding is None or isinstance(outcome, Trouble) else self.rounding.underflown(outcome)


def _branch(condition: Outcome, first: Outcome, second: Outcome) -> Outcome:
    """The value of the branch that is taken, whatever the other one is."""
    if isinstance(condition, Trouble):
        return condition
    if condition in (0, 1):
        return first if condition == 1 else second
    if isinstance(first, Trouble):
        return Trouble(first.kind, first.reason, False)
    if isinstance(second, Trouble):
        return Trouble(second.kind, second.reason, False)
    return first.union(second)


def _branch_tangent(operands: tuple[Outcome, ...], entering: list[Outcome], shown: str) -> Outcome:
    condition, first, second = operands
    change, of_first, of_second = entering
    if isinstance(condition, Trouble):
        return condition
    if not isinstance(change, Trouble) and condition in (0, 1):
        return of_first if condition == 1 else of_second
    if isinstance(change, Trouble) and change.kind not in ("jump", "kink"):
        return change
    is_decided = isinstance(change, Trouble) and change.decided
    trouble = next((o for o in (first, second, of_first, of_second) if isinstance(o, Trouble)), None)
    if trouble is not None:
        return Trouble("jump", f"{shown} changes its branch here: {trouble.reason}", is_decided and trouble.decided)
    return _where_branches_meet((first, second), (of_first, of_second), shown, is_decided=is_decided)


def _where_branches_meet(
    values: tuple[Ball, Ball], slopes: tuple[Ball, Ball], shown: str, *, is_decided: bool
) -> Outcome:
    """Smooth, a kink or a jump."""
    (first, second), (of_first, of_second) = values, slopes
    if first == second and of_first == of_second:
        return of_first
    is_decided = is_decided and (bool(first != second) or (bool(first == second) and bool(of_first != of_second)))
    if first.overlaps(second):
        reason = f"{shown} has a kink here: its branches meet with different slopes"
        return Trouble("kink", reason, is_decided)
    return Trouble("jump", f"{shown} jumps here", is_decided)


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

"""One pass over a plan of the reference: values and tangents as balls, line by line.

Elementwise operations follow their rules, sums and movements carry tangents along, branches and extremes take one of
them; products, determinants and inverses have partial derivatives of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy
from flint import arb

from gradcli.language.ops import Kind, Monoid
from gradcli.language.program import numeric
from gradcli.language.program.movement import fill_of
from gradcli.language.program.shapes import count_of
from gradcli.language.program.wengert import Atom, Line, number
from gradcli.progress import doing
from gradcli.reference.balls import Ball, exists
from gradcli.reference.choices import (
    Extreme,
    Groups,
    Tangent,
    branch,
    branch_tangent,
    flat,
    is_aggregate,
    is_choice,
    jump_of,
    plus,
    times,
)
from gradcli.reference.compiling import compile_ball
from gradcli.reference.deadline import require_time
from gradcli.reference.exact_numbers import Numbering
from gradcli.reference.footprint import Flat
from gradcli.reference.rules import Outcome, Rounding, Rule, Undefined, at_edge, is_power, rule_of

if TYPE_CHECKING:
    from gradcli.reference.duals import Plan


Direction = tuple[sympy.Symbol, int]
"""A variable and the flat position of one of its elements."""

Columns = Mapping[tuple[int, int], Outcome]
"""Nonzero derivatives by (number of the direction, flat row of y)."""

Shift = Mapping[Direction, Ball]
"""How far elements of the inputs are moved from where they are."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one pass gives.

    Attributes:
        values: Of y by flat row, where the plan judges them.
        columns: The derivatives of what depends on a direction; why there is none, where y has no value.
    """

    values: Mapping[int, Outcome]
    columns: Columns


class Run:
    """One pass over a plan at the current precision."""

    rounding: Rounding | None = None

    def __init__(self, plan: Plan, shift: Shift | None = None) -> None:
        self.plan, self.reference, self.shift = plan, plan.reference, shift or {}
        self.values: dict[Atom, dict[int, Outcome]] = {}
        self._numbering: Numbering | None = None
        self._functions: Numbering | None = None

    @property
    def numbering(self) -> Numbering:
        """Which values are certainly the same; at the point itself, the same for all precisions."""
        if self.shift:
            self._numbering = self._numbering or Numbering(self)
            return self._numbering
        self.plan.numbering = self.plan.numbering or Numbering(self)
        return self.plan.numbering

    def found(self) -> Found:
        """The values of y and its nonzero derivatives, or why there are none."""
        self.evaluate()
        tangents = self._tangents()
        output = self.reference.program.output
        judged = self._judged(output)
        if output not in self.plan.pairs:
            return Found(judged, {})
        columns: dict[tuple[int, int], Outcome] = {}
        d, rows = (pairs.tolist() for pairs in self.plan.pairs[output])
        for direction, row, tangent in zip(d, rows, tangents[output], strict=True):
            value = judged.get(row)
            columns[direction, row] = value if isinstance(value, Undefined) else arb(0) if tangent is None else tangent
        return Found(judged, columns)

    # -- values

    def evaluate(self) -> None:
        """Every value that the plan needs, in `values`."""
        for variable in self.reference.program.variables:
            if variable in self.plan.needed:
                self.values[variable] = self._inputs(variable, self.plan.needed[variable].tolist())
        lines = self.reference.program.lines
        for n, line in enumerate(lines):
            if line.symbol in self.plan.needed:
                require_time()
                doing("enclosing line", n + 1, len(lines))
                found = self._line_values(line, self.plan.needed[line.symbol])
                self.values[line.symbol] = {e: self._exact(line, e, outcome) for e, outcome in found.items()}

    def _exact(self, line: Line, element: int, outcome: Outcome) -> Outcome:
        """The value; where the ball may be 0, the rational number that it is by its structure, if it is one."""
        if self.rounding is not None or isinstance(outcome, Undefined) or outcome.is_exact() or not outcome.contains(0):
            return outcome
        exact = self.numbering.constant(line.symbol, element) if exists(outcome) else None
        return outcome if exact is None else arb(exact.numerator) / exact.denominator

    def _judged(self, output: Atom) -> dict[int, Outcome]:
        if not self.plan.judges_value:
            return {}
        values = self.values[output] if isinstance(output, sympy.Symbol) else {0: compile_ball(output)({})}
        return {row: self._finite(outcome) for row, outcome in values.items()}

    def _finite(self, outcome: Outcome) -> Outcome:
        """The outcome, unless it is no number: one such as -inf or nan may go in or be inside, y may not be one."""
        if isinstance(outcome, Undefined) or exists(outcome.mid()):
            return outcome
        for symbol, data in self.reference.inputs.items():
            others = data[~np.isfinite(data)]
            if others.size:
                return Undefined("domain", f"{symbol} is {float(others[0])} here", True)
        return Undefined("domain", f"y is {float(outcome.mid())} here", True)

    def _inputs(self, variable: sympy.Symbol, elements: list[int]) -> dict[int, Outcome]:
        data = self.reference.inputs[variable]
        found: dict[int, Outcome] = {}
        for j in elements:
            number, moved = float(data[j]), self.shift.get((variable, j))
            found[j] = arb(number) if moved is None else arb(number) + moved
        return found

    def _line_values(self, line: Line, elements: Flat) -> dict[int, Outcome]:
        out = elements.tolist()
        call = line.call
        match call.op.kind:
            case Kind.ELEMENTWISE:
                rule, shown = rule_of(call), self.reference.program.excerpt(line)
                columns = zip(*(self.operand(line, k, elements) for k in range(len(call.operands))), strict=True)
                # Before the rule, which is undefined if any operand is: the branch that is not taken may have no value.
                if call.op.is_branch:
                    found = [branch(*operands) for operands in columns]
                else:
                    found = [self._evaluated(rule, list(o), shown) for o in columns]
                return dict(zip(out, found, strict=True))
            case Kind.COUNT:
                size = count_of(self.reference.shapes.get(call.operands[0], ()), call.statics[0])
                return dict.fromkeys(out, arb(size))
            case Kind.SOURCE:
                data = numeric.array_of(call).ravel()[elements].tolist()
                return {e: self._rounded(arb(a), a) for e, a in zip(out, data, strict=True)}
            case _ if is_aggregate(call.op):
                groups = Groups(self, line, elements)
                return {e: groups.value(e) for e in out}
        totals: dict[int, Outcome] = {}
        for k, position, source in self.reference.footprint.parts(line, elements):
            for p, outcome in zip(position.tolist(), self.at(line, k, source), strict=True):
                totals[out[p]] = outcome if out[p] not in totals else _sum(totals[out[p]], outcome)
        # What no element moves to: the padding of a movement, the empty sum of a reduction.
        fill = arb(fill_of(call)) if call.op.kind is Kind.MOVEMENT else arb(0)
        return {e: totals.get(e, fill) for e in out}

    def _evaluated(self, rule: Rule, operands: list[Outcome], shown: str) -> Outcome:
        require_time()
        return rule.evaluate(operands, shown)

    def operand(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """Operand k of an elementwise operation at each of its elements."""
        return self.at(line, k, self.reference.footprint.down(line, k, elements)[1])

    def at(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """The values of operand k at flat positions of the operand itself."""
        operand = line.call.operands[k]
        if not isinstance(operand, sympy.Symbol):
            return [self._rounded(compile_ball(operand)({}), number(operand))] * len(elements)
        values = self.values[operand]
        return [values[e] for e in elements.tolist()]

    def _rounded(self, exact: Ball, nearest: float) -> Ball:
        return exact

    # -- tangents

    def _tangents(self) -> dict[Atom, list[Tangent]]:
        tangents: dict[Atom, list[Tangent]] = {
            variable: [arb(1)] * len(self.plan.pairs[variable][0])
            for variable in self.reference.program.variables
            if variable in self.plan.pairs
        }
        lines = self.reference.program.lines
        for n, line in enumerate(lines):
            if line.symbol in self.plan.pairs:
                require_time()
                doing("enclosing derivatives of line", n + 1, len(lines))
                tangents[line.symbol] = self._tangents_of(line, tangents)
        return tangents

    def _tangents_of(self, line: Line, tangents: Mapping[Atom, list[Tangent]]) -> list[Tangent]:
        op = line.call.op
        if is_choice(op):
            return self._chosen_operands(line, tangents)
        if op.is_extreme:
            return self._chosen_elements(line, tangents)
        found = self._line_tangents(line, tangents)
        if not op.sense or {*op.sense} != {-sign for sign in op.sense}:
            return found
        # an equation of a function with itself holds on both sides, as `cov == cov.T` of a covariance does
        jumps = [isinstance(one, Undefined) and one.kind == "jump" for one in found]
        return [None if jumps[n] and self._is_one_function(line, n) else one for n, one in enumerate(found)]

    def _line_tangents(self, line: Line, tangents: Mapping[Atom, list[Tangent]]) -> list[Tangent]:
        elements = self.plan.pairs[line.symbol][1]
        totals: list[Tangent] = [None] * len(elements)
        groups = Groups(self, line, np.unique(elements)) if is_aggregate(line.call.op) else None
        is_flat = line.call.op.kind is Kind.ELEMENTWISE and rule_of(line.call).is_flat
        for flow in self.plan.flows[line.symbol]:
            slopes: list[Outcome] | None = None
            if groups is not None:
                inside = self.plan.pairs[line.call.operands[0]][1]
                pairs = zip(elements[flow.target].tolist(), inside[flow.source].tolist(), strict=True)
                slopes = [groups.slope(out, e) for out, e in pairs]
            elif line.call.op.kind is Kind.ELEMENTWISE and line.call.op.coefficients[flow.operand :][:1] != (1,):
                of_element = self.slopes(line, flow.operand, elements)
                slopes = [of_element[target] for target in flow.target]
            entering = tangents[line.call.operands[flow.operand]]
            for n, (source, target) in enumerate(zip(flow.source, flow.target, strict=True)):
                entered, slope = entering[source], slopes[n] if slopes else None
                product = entered if slope is None else flat(entered, slope) if is_flat else times(entered, slope)
                totals[target] = product if totals[target] is None else plus(totals[target], product)
        if is_power(line.call) and len(self.plan.flows[line.symbol]) > 1:
            self._to_edges(line, tangents, totals)
        return totals

    def _to_edges(self, line: Line, tangents: Mapping[Atom, list[Tangent]], totals: list[Tangent]) -> None:
        """A power of 0 whose base and exponent both move is at an edge of its domain, whatever the exponent is here."""
        for n, ((base, _), entering) in enumerate(self._operands_and_tangents(line, tangents)):
            if None not in entering and not isinstance(base, Undefined) and base.contains(0):
                edge = at_edge(self.reference.program.excerpt(line), base)
                totals[n] = totals[n] if isinstance(totals[n], Undefined) else edge

    def _chosen_operands(self, line: Line, tangents: Mapping[Atom, list[Tangent]]) -> list[Tangent]:
        """The tangent of the operand that is taken; where two meet, that of both if they agree."""
        op, first, last = line.call.op, *line.call.operands[-2:]
        shown, pairs = self.reference.program.excerpt(line), self._operands_and_tangents(line, tangents)
        if op.is_branch and first == last:  # no kink, wherever the condition changes
            return [of[1] for _, of in pairs]
        if op.is_branch:
            return [branch_tangent(values, of, shown) for values, of in pairs]
        return [
            of[0] if self._are_one_function(line, n, of) else self._larger(line, values, of, shown)
            for n, (values, of) in enumerate(pairs)
        ]

    def _are_one_function(self, line: Line, n: int, of: Sequence[Tangent]) -> bool:
        """Whether both operands of an extreme are the same around the point, which balls of their slopes never show."""
        if any(tangent is None or isinstance(tangent, Undefined) or tangent.is_exact() for tangent in of):
            return False
        return self._is_one_function(line, n)

    def _is_one_function(self, line: Line, n: int) -> bool:
        self._functions = self._functions or Numbering(self, by_value=False)
        return self.are_same(line, int(self.plan.pairs[line.symbol][1][n]), self._functions)

    def _operands_and_tangents(
        self, line: Line, tangents: Mapping[Atom, list[Tangent]]
    ) -> Iterator[tuple[tuple[Outcome, ...], list[Tangent]]]:
        """For each pair of an elementwise line, the values of its operands and the tangents that enter by them."""
        elements, operands = self.plan.pairs[line.symbol][1], line.call.operands
        entering: list[dict[int, Tangent]] = [{} for _ in operands]
        for flow in self.plan.flows[line.symbol]:
            of_operand = tangents[operands[flow.operand]]
            entering[flow.operand] = {t: of_operand[s] for s, t in zip(flow.source, flow.target, strict=True)}
        columns = zip(*(self.operand(line, k, elements) for k in range(len(operands))), strict=True)
        for n, values in enumerate(columns):
            met = values if is_power(line.call) else self._met(line, int(elements[n]), values)
            yield met, [tangent.get(n) for tangent in entering]

    def _met(self, line: Line, element: int, values: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
        """The operands of a choice; where the two to choose from are certainly the same, as one exact number."""
        first, last = values[-2:]
        if isinstance(first, Undefined) or isinstance(last, Undefined):
            return values
        if (first.is_exact() and last.is_exact()) or not first.overlaps(last):
            return values
        return (*values[:-2], first.mid(), first.mid()) if self.are_same(line, element) else values

    def are_same(self, line: Line, element: int, numbering: Numbering | None = None) -> bool:
        """Whether the last two operands of a line have one form at an element: of values, if of nothing else."""
        forms, operands, numbering = [], line.call.operands, numbering or self.numbering
        for k in (len(operands) - 2, len(operands) - 1):
            (source,) = self.reference.footprint.down(line, k, np.array([element]))[1].tolist()
            forms.append(numbering.form(operands[k], source))
        return forms[0] == forms[1]

    def _larger(self, line: Line, values: tuple[Outcome, ...], of: list[Tangent], shown: str) -> Tangent:
        missing = next((value for value in values if isinstance(value, Undefined)), None)
        if missing is not None or line.call.operands[0] == line.call.operands[1]:
            return missing or of[0]
        extreme = Extreme(list(values), largest=line.call.op.monoid is Monoid.LARGEST)
        reason = f"{shown} has a kink here: its left and right derivatives differ"
        return jump_of(of) or extreme.tangent([of[n] for n in extreme.possible], reason)

    def _chosen_elements(self, line: Line, tangents: Mapping[Atom, list[Tangent]]) -> list[Tangent]:
        """The tangent of the element that is the extreme; where several tie, that of all if they agree."""
        directions, elements = (pairs.tolist() for pairs in self.plan.pairs[line.symbol])
        operand = line.call.operands[0]
        from_directions, inside = (pairs.tolist() for pairs in self.plan.pairs[operand])
        known = dict(zip(zip(from_directions, inside, strict=True), tangents[operand], strict=True))
        groups = Groups(self, line, np.unique(self.plan.pairs[line.symbol][1]))
        return [groups.chosen(e, d, known) for d, e in zip(directions, elements, strict=True)]

    def slopes(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """The local derivative by operand k at each element, taken once where several directions pass."""
        if coefficients := line.call.op.coefficients:
            return [arb(coefficients[k])] * len(elements)
        distinct, position = np.unique(elements, return_inverse=True)
        columns = [self.operand(line, n, distinct) for n in range(len(line.call.operands))]
        slopes = [self._slope(line, k, list(operands)) for operands in zip(*columns, strict=True)]
        return [slopes[p] for p in position.tolist()]

    def _slope(self, line: Line, k: int, operands: list[Outcome]) -> Outcome:
        require_time()
        return rule_of(line.call).slope(k, operands, self.reference.program.excerpt(line))


def _sum(a: Outcome, b: Outcome) -> Outcome:
    """The sum of two values; undefined if one of them is, the first before the second."""
    if isinstance(a, Undefined):
        return a
    return b if isinstance(b, Undefined) else a + b

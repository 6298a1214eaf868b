"""Kinks, jumps, poles and ends of domains that a slope meets at the point, by the inputs that move them.

A derivative of a slope follows one branch at the point; where none is met on the way, that is the only one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

import numpy as np

from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Call
from gradcli.reference.balls import precision
from gradcli.reference.duals import Plan
from gradcli.reference.footprint import Flat
from gradcli.reference.rules import Outcome, Undefined, is_polynomial, is_power, rule_of
from gradcli.reference.running import Direction, Run

BITS = 128
"""Enough to tell whether something is met at the point."""


class KinksMet:
    """The inputs that a slope is made of, and those of them that move something that is not smooth.

    Args:
        plan: Of the slope, in a Program whose products and extremes are of two.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        with precision(BITS):
            met: dict[Atom, list[int]] = {}
            for symbol, element in self._met():
                met.setdefault(symbol, []).append(element)
        inside = plan.reference.made_of({symbol: np.array(elements) for symbol, elements in met.items()})
        variables = plan.reference.program.variables
        self._moving = {(s, e) for s in variables for e in inside.get(s, np.empty(0, int)).tolist()}
        self._inputs = {(s, e) for s in variables for e in self._elements(s).tolist()}

    def within(self, directions: Collection[Direction]) -> set[Direction]:
        """Those that the slope is made of."""
        return self._inputs.intersection(directions)

    def meets(self, directions: Collection[Direction]) -> bool:
        """Whether one of these moves what is met."""
        return not self._moving.isdisjoint(directions)

    @cached_property
    def slope_exists(self) -> bool:
        """Whether the slope certainly exists at the point."""
        return not any(isinstance(slope, Undefined) for slope in self.plan.run(BITS).columns.values())

    def _elements(self, atom: Atom) -> Flat:
        """Of a symbol, those that matter: what slopes are taken at, and what moves with the plan's directions."""
        needed = self.plan.needed.get(atom, np.empty(0, dtype=np.int64))
        return np.union1d(needed, self.plan.pairs[atom][1]) if atom in self.plan.pairs else needed

    def _met(self) -> Iterator[tuple[Atom, int]]:
        """Elements of lines that are not smooth at the point, or may be so close to it."""
        run = Run(self.plan)
        run.evaluate()
        for line in self.plan.reference.program.lines:
            elements = self._elements(line.symbol)
            if not len(elements) or not may_be_met(line.call):
                continue
            if line.call.op.kind in (Kind.MATRIX, Kind.SPECTRAL):
                values = run.values.get(line.symbol, {})
                yield from ((line.symbol, e) for e in elements.tolist() if isinstance(values.get(e), Undefined))
            else:
                columns = zip(*(run.operand(line, k, elements) for k in range(len(line.call.operands))), strict=True)
                met = (_is_met(line.call, list(operands)) for operands in columns)
                yield from ((line.symbol, e) for e, is_met in zip(elements.tolist(), met, strict=True) if is_met)


def may_be_met(call: Call) -> bool:
    """Whether an operation is not smooth everywhere; a constant divisor or a whole power never is in the way."""
    if call.op.kind is not Kind.ELEMENTWISE or call.op.is_branch:
        return bool(call.op.keeps_shape) or call.op.kind is Kind.SPECTRAL
    last = call.operands[-1]
    if call.op.name == "div" and last.is_number:
        return bool(last == 0)
    if is_polynomial(call):
        return False
    rule = rule_of(call)
    return bool(rule.kinks or rule.domain)


def _is_met(call: Call, operands: list[Outcome]) -> bool:
    """Whether an operation has a kink, a jump or no finite slope here; powers other than whole ones end at 0."""
    balls = [operand for operand in operands if not isinstance(operand, Undefined)]
    if len(balls) < len(operands):
        return True
    if is_power(call) and balls[0].contains(0):
        exponent = balls[1].unique_fmpz()
        if exponent is None or exponent < 0:
            return True
    rule = rule_of(call)
    return any(
        isinstance(rule.slope(k, operands, ""), Undefined)
        for k, partial in enumerate(rule.partials)
        if partial is not None
    )

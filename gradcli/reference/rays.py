"""A Program on a ray into the point: every element that the output is made of as a series in the distance.

Where the first terms are known the derivative on this side is proved, or that there is none: the function grows
without bound, or has no value on this side.  Determinants, inverses and logarithms of what goes to 0 have no series.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import reduce

import numpy as np
import sympy
from flint import arb
from sympy import Expr

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import Ball, exists, fraction, precision
from gradcli.reference.deadline import require_time
from gradcli.reference.duals import Plan
from gradcli.reference.footprint import Flat
from gradcli.reference.rules import Undefined, exponent_of, rule_of
from gradcli.reference.running import Direction, Run
from gradcli.reference.series import (
    ANALYTIC,
    Absent,
    Series,
    Undecided,
    coefficients_of,
    composed,
    constant,
    plus,
    power,
    ray,
    scaled,
    times,
)

SKIPPED = 256
"""Members of a sum that do not move, which take as long as one that does."""

Element = Series | Absent | Undecided
"""What an element is on the ray: no value there, or not known."""


class Rays:
    """The rays into the point of a plan, at some precision; counts the members of the sums and operations on them."""

    def __init__(self, plan: Plan, bits: int) -> None:
        self.plan, self.reference, self.bits = plan, plan.reference, bits
        self.run = Run(plan)
        self.known: dict[Atom, dict[int, Element]] = {}
        self.work = 0
        with precision(bits):
            self.run.evaluate()

    def on(self, moving: Collection[Direction], side: int) -> Mapping[int, Element]:
        """The elements of y that the plan judges, while some elements of the inputs move to one side."""
        program = self.reference.program
        numbers = [n for n, direction in enumerate(self.plan.directions) if direction in moving]
        with precision(self.bits):
            self.known = {}
            for symbol, j in moving:
                value = self.run.values.get(symbol, {}).get(j)
                if value is not None and not isinstance(value, Undefined):
                    self.known.setdefault(symbol, {})[j] = ray(value, side)
            for line in program.lines:
                if line.symbol in self.plan.pairs and line.symbol in self.plan.needed:
                    require_time()
                    directions, elements = self.plan.pairs[line.symbol]
                    reached = np.intersect1d(elements[np.isin(directions, numbers)], self.plan.needed[line.symbol])
                    self.known[line.symbol] = self._line(line, reached)
            output = program.output
            return {e: self._element(output, e) for e in self.plan.needed.get(output, np.array([], int)).tolist()}

    def _element(self, operand: Atom, element: int) -> Element:
        """An operand at one of its elements; what is not known to move is its value."""
        moving = self.known.get(operand, {}).get(element)
        if moving is not None:
            return moving
        value = self.run.values[operand][element]
        return Undecided() if isinstance(value, Undefined) or not exists(value) else constant(value)

    def _line(self, line: Line, elements: Flat) -> dict[int, Element]:
        """The elements of a line that move, or that have no value at the point."""
        found: dict[int, Element] = {}
        for e, inside in self._members(line, elements).items():
            value = self.run.values[line.symbol][e]
            if isinstance(value, Undefined) or not all(map(_stays, inside)):
                found[e] = self._anchored(self._result(line, inside), value)
        return found

    def _members(self, line: Line, elements: Flat) -> dict[int, list[Element]]:
        """What the elements of a line are made of; of a sum only what moves, where the rest is in its value."""
        members: dict[int, list[Element]] = {e: [] for e in elements.tolist()}
        values = self.run.values[line.symbol]
        is_sum = _is_sum(line) and not any(isinstance(values[e], Undefined) for e in members)
        for k, position, source in self.reference.footprint.parts(line, elements):
            operand = line.call.operands[k]
            pairs = list(zip(elements[position].tolist(), source.tolist(), strict=True))
            moving = self.known.get(operand, {})
            # What does not move is in the value of the sum, which `_anchored` puts back for the constant term.
            if is_sum and all(_is_continuous(moving[s]) for _, s in pairs if s in moving):
                pairs = [(e, s) for e, s in pairs if s in moving]
            self.work += len(pairs) + len(source) // SKIPPED
            is_number = not isinstance(operand, sympy.Symbol)
            number = constant(self.run.at(line, k, source[:1])[0]) if is_number and pairs else None
            for e, s in pairs:
                members[e].append(number or self._element(operand, s))
        return members

    def _anchored(self, element: Element, value: Ball | Undefined) -> Element:
        """With the value at the point for its constant, which may be an exact 0 that the balls do not show."""
        if not isinstance(element, Series) or isinstance(value, Undefined):
            return element
        is_continuous = element.is_continuous or (element.is_bounded and element.constant == value)
        if not is_continuous:
            return element
        if not exists(value) or not element.is_bounded:
            return Undecided()
        return Series((*constant(value).terms, *(t for t in element.terms if t[0] > 0)), element.rest)

    def _result(self, line: Line, inside: list[Element]) -> Element:
        op = line.call.op
        try:
            if op.is_branch:
                return _chosen(inside)
            operands = [_series(a) for a in inside]
            if op.kind is Kind.ELEMENTWISE:
                return self._elementwise(line, operands)
            if op.is_extreme:
                return reduce(lambda a, b: _extreme(a, b, op), operands)
            if op.is_nonlinear_fold:
                return reduce(times, operands, constant(arb(1)))
            if _is_sum(line):
                return reduce(plus, operands, constant(arb(0)))
        except (Absent, Undecided) as reason:
            return reason
        return Undecided()

    def _elementwise(self, line: Line, operands: list[Series]) -> Series:
        op, (a, *rest) = line.call.op, operands
        if op.is_extreme:
            return _extreme(a, rest[0], op)
        if op.coefficients:
            pairs = zip(op.coefficients, operands, strict=True)
            return reduce(plus, [term if factor == 1 else scaled(term, arb(factor)) for factor, term in pairs])
        if op.sense:
            holds = plus(a, scaled(rest[0], arb(-1))).sign() in op.sense
            return Series(constant(arb(int(holds))).terms, is_continuous=False)
        match name := op.name:
            case "mul":
                return times(a, *rest)
            case "div":
                return times(a, power(rest[0], Fraction(-1)))
            case "sqrt":
                return power(a, Fraction(1, 2))
            case "pow":
                exponent = exponent_of(line.call)
                return _power(a, rest[0], _rational(exponent) or fraction(rest[0].constant))
            case "asin" | "acos" | "acosh" if not a.is_still and a.constant in (1, -1 if name != "acosh" else 1):
                return _at_end(name, a)
            case "abs":
                return scaled(a, arb(a.sign()))
            case "detach":
                raise Undecided
        return _step(line, a) if op.is_step and len(operands) == 1 else _smooth(line, operands)


def _is_sum(line: Line) -> bool:
    return line.call.op.is_linear and line.call.op.kind is not Kind.ELEMENTWISE


def _is_continuous(element: Element) -> bool:
    """Whether it certainly tends to its value at the point, if it has a series."""
    return not isinstance(element, Series) or element.is_continuous


def _stays(element: Element) -> bool:
    """Whether it certainly is what it is at the point."""
    return isinstance(element, Series) and element.is_continuous and element.is_still


def _series(element: Element) -> Series:
    if isinstance(element, Series):
        return element
    raise element


def _chosen(inside: list[Element]) -> Series:
    """The branch that is taken on the ray."""
    condition, first, second = inside
    holds = _series(condition)
    if not holds.is_still or not holds.constant.is_exact():
        raise Undecided
    taken = _series(first if holds.constant == 1 else second)
    return Series(taken.terms, taken.rest, taken.is_continuous and holds.is_continuous)


def _extreme(a: Series, b: Series, op: Op) -> Series:
    """What is larger (or smaller) near the point; where they may be the same, up to the terms that are."""
    difference = plus(a, scaled(b, arb(-1)))
    is_continuous = a.is_continuous and b.is_continuous
    if not difference.terms:
        rest = difference.rest
        return Series(tuple(t for t in a.terms if rest is None or t[0] < rest), rest, is_continuous)
    taken = a if difference.sign() == (1 if op.monoid is Monoid.LARGEST else -1) else b
    return Series(taken.terms, taken.rest, is_continuous)


def _power(a: Series, b: Series, exponent: Fraction | None) -> Series:
    """A power, which need not be constant: a**(b + u) is a**b up to O(t**(e/2)) relatively, if u goes as t**e.

    Args:
        a: The base.
        b: The exponent.
        exponent: Its constant, where that is a rational number.
    """
    if b.is_still and exponent is not None:
        return power(a, exponent)
    # A base that is positive at the point: exp(b*log(a)) is analytic there.
    if a.least == 0 and a.sign() > 0:
        return _analytic("exp", times(b, _analytic("log", a)))
    moving = b.moving()
    if moving.terms and a.sign() < 0:
        raise Absent  # the exponent is no whole number on the ray
    if exponent is None or moving.least is None or a.sign() <= 0:
        raise Undecided
    result = power(a, exponent)
    if exponent <= 0 or result.least is None:
        raise Undecided
    # t**u with u of order t**e is 1 + O(t**e*log(t)), which half of e bounds: logarithms are no terms here.
    rest = result.least + moving.least / 2
    rest = rest if result.rest is None else min(rest, result.rest)
    return Series(tuple(t for t in result.terms if t[0] < rest), rest, a.is_continuous and b.is_continuous)


def _rational(number: Expr | None) -> Fraction | None:
    return Fraction(int(number.p), int(number.q)) if number is not None and number.is_Rational else None


def _analytic(name: str, a: Series) -> Series:
    moving, at = a.moving(), a.constant
    if name == "log" and (at < 0 or (at == 0 and moving.sign() <= 0)):
        raise Absent
    coefficients = coefficients_of(name, at)
    if not all(c.is_finite() for c in coefficients):
        raise Undecided
    return composed(coefficients, moving)


def _at_end(name: str, a: Series) -> Series:
    """At an end of the domain by a square root: acos(x) is 2*asin(sqrt((1 - x)/2)), and so on."""
    end = int(a.constant.unique_fmpz())
    inside = scaled(plus(constant(arb(1)), scaled(a, arb(-end))), arb(0.5))  # (1 - |x|)/2
    if name == "acosh":
        root = power(scaled(inside, arb(-1)), Fraction(1, 2))
        return scaled(_analytic("asinh", root), arb(2))
    angle = scaled(_analytic("asin", power(inside, Fraction(1, 2))), arb(2 * end))
    straight = arb.pi() / 2 if name == "asin" else arb(0) if end > 0 else arb.pi()
    return plus(
        constant(end * straight if name == "asin" else straight), scaled(angle, arb(-1 if name == "asin" else 1))
    )


def _step(line: Line, a: Series) -> Series:
    """A step is the value beside the point: a quarter away from a jump there is no other."""
    rule = rule_of(line.call)
    (parameter,) = rule.parameters
    moving, at = a.moving(), a.constant
    kinks = [kink({parameter: at}) for kink in rule.kinks]
    jumps = any(distance == 0 for distance in kinks) and not a.is_still
    if not jumps and any(distance.contains(0) for distance in kinks) and not a.is_still:
        raise Undecided
    beside = at + arb(moving.sign()) / 4 if jumps else at
    value = rule.value({parameter: beside})
    return Series(constant(value).terms, is_continuous=a.is_continuous and not jumps)


def _smooth(line: Line, operands: list[Series]) -> Series:
    """By the power series; of one that is not at hand, to the first order."""
    if line.call.op.name in ANALYTIC:
        return _analytic(line.call.op.name, operands[0])
    moving = [a.moving() for a in operands]
    rule, balls = rule_of(line.call), [a.constant for a in operands]
    value = rule.evaluate(list(balls), "")
    slopes = [rule.slope(k, list(balls), "") for k in range(len(balls))]
    if isinstance(value, Undefined) or any(isinstance(s, Undefined) for s in slopes):
        raise Undecided
    total = Series(constant(value).terms, is_continuous=all(a.is_continuous for a in operands))
    for slope, part in zip(slopes, moving, strict=True):
        if part.least is not None:
            # What the first order leaves out is of the second order in what moves.
            total = plus(total, plus(scaled(part, slope), Series((), 2 * part.least)))
    return total

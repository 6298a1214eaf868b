"""A Program on a ray into the point: every element that the output is made of as a series in the distance.

Where the first terms are known the value and the derivatives on this side are proved, or that there are none: the
function grows without bound, or does not exist on this side.  Large determinants and inverses have no series, and
eigenvalues one of the first order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, reduce
from itertools import product
from typing import NamedTuple

import numpy as np
import sympy
from flint import arb
from sympy import Expr

from gradcli.adjoint.slopes import exponent_of
from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import Ball, exists, fraction, precision
from gradcli.reference.compiling import compile_ball, whole_number
from gradcli.reference.deadline import require_time
from gradcli.reference.dependencies import Flat
from gradcli.reference.enclosure_pass import Direction, EnclosurePass
from gradcli.reference.enclosure_plan import Plan
from gradcli.reference.exact_series import ExactSeries
from gradcli.reference.matrix_series import eigenvalue, of_matrix
from gradcli.reference.pass_views import ValueForm
from gradcli.reference.rules import Undefined, curvature, known_balls, rule_of
from gradcli.reference.series import (
    ANALYTIC,
    CONSTANT,
    FLAT,
    FUNCTIONS,
    Absent,
    Divergent,
    Nan,
    Power,
    Series,
    Undecided,
    coefficients_of,
    composed,
    constant,
    exp,
    log,
    power,
    ray,
)

MOST_ROWS = 4
"""Rows of a matrix whose determinant is taken by minors, of which there are as many as their factorial."""

MOST_ROWS_OF_SPECTRA = 8
"""Rows of a matrix whose eigenvalues are followed."""

SKIPPED = 256
"""Number of members of a sum that do not move and together take as long as one that does."""

Element = Series | Absent | Divergent | Undecided
"""Element on a ray: a series, no value, beyond all powers, or unknown."""


class CurveOfElement(NamedTuple):
    """Element of an input that moves by weight*t**exponent."""

    direction: Direction
    weight: float
    exponent: Fraction

    @property
    def series(self) -> Series:
        """The distance that it moves by."""
        return Series((((self.exponent, 0), arb(self.weight)),))


class Rays:
    """The rays into the point of a plan, at some precision; counts the members of the sums and operations on them.

    Attributes:
        left: Elements of conditions and steps that have another value on the last ray than at the point.
    """

    def __init__(self, plan: Plan, bits: int) -> None:
        self.plan, self.reference, self.bits = plan, plan.reference, bits
        self.run = EnclosurePass(plan)
        self.known: dict[Atom, dict[int, Element]] = {}
        self.exact: ExactSeries | None = None
        self.left: frozenset[tuple[Atom, int]] = frozenset()
        self._own: dict[int, Mapping[Atom, Mapping[int, Element]]] = {}
        self.work = 0
        with precision(bits):
            self.run.evaluate()

    def on(self, moving: Mapping[Direction, float], near: CurveOfElement | None = None) -> Mapping[int, Element]:
        """Follow the elements of y that the plan judges while some elements of the inputs move by a weight times t.

        Args:
            moving: The weights.
            near: An element that moves by a power of t besides, on a curve next to the ray.
        """
        with precision(self.bits):
            self._follow(moving, {}, near=near)
            output = self.reference.program.output
            return {e: self._element(output, e) for e in self.plan.needed.get(output, np.array([], int)).tolist()}

    def along(self, direction: Direction, sign: int) -> Mapping[int, Element]:
        """Follow the elements of y that one input moves; those that no other input moves once for all inputs."""
        with precision(self.bits):
            if sign not in self._own:
                self._follow(dict.fromkeys(self.plan.directions, float(sign)), {}, of_one_alone=True)
                self._own[sign] = self.known
            self._follow({direction: float(sign)}, self._own[sign])
            output = self.reference.program.output
            moved = self._moved.get(output, {}).get(self._numbers[direction], np.array([], int))
            return {e: self._element(output, e) for e in moved.tolist()}

    def _follow(
        self,
        moving: Mapping[Direction, float],
        own: Mapping[Atom, Mapping[int, Element]],
        *,
        of_one_alone: bool = False,
        near: CurveOfElement | None = None,
    ) -> None:
        """Follow the lines of the Program on a ray.

        Args:
            moving: The inputs that move, with their weights.
            own: Elements that are known, of those that one input alone moves.
            of_one_alone: Whether to follow these elements only.
            near: An element that moves by a power of t besides.
        """
        program = self.reference.program
        reached = self._reached([*moving, *([near.direction] if near else [])])
        if of_one_alone:
            several = {atom: np.array(sorted(self._of_several[atom]), int) for atom in reached}
            reached = {atom: np.setdiff1d(moved, several[atom]) for atom, moved in reached.items()}
        self.known, self.exact = {}, None if near else ExactSeries(self.run, moving, reached)
        for (symbol, j), weight in moving.items():
            value = self.run.values.get(symbol, {}).get(j)
            if value is not None:
                still, row = _still(value), self.known.setdefault(symbol, {})
                row[j] = ray(still.constant, arb(weight)) if isinstance(still, Series) else still
        if near is not None and near.direction[1] in self.run.values.get(near.direction[0], {}):
            symbol, j = near.direction
            start = self._element(symbol, j)
            self.known.setdefault(symbol, {})[j] = start + near.series if isinstance(start, Series) else start
        for line in program.lines:
            if line.symbol in reached and line.symbol in self.plan.needed:
                require_time()
                elements, known = reached[line.symbol], own.get(line.symbol)
                if known is None:
                    self.known[line.symbol] = self._line(line, elements)
                    continue
                found = self.known[line.symbol] = {e: known[e] for e in elements.tolist() if e in known}
                others = [e for e in elements.tolist() if e in self._of_several[line.symbol]]
                found |= self._line(line, np.array(others)) if others else {}
        self.left = frozenset(self._left_at_once())

    @cached_property
    def _of_several(self) -> Mapping[Atom, frozenset[int]]:
        """The elements of each line that more than one direction moves."""
        found = {}
        for atom, moved in self._moved.items():
            elements, counts = np.unique(np.concatenate([*moved.values(), np.array([], int)]), return_counts=True)
            found[atom] = frozenset(elements[counts > 1].tolist())
        return found

    def _left_at_once(self) -> Iterator[tuple[Atom, int]]:
        """Find the elements of conditions and steps that certainly change just off the point, along the ray."""
        for line in self.reference.program.lines:
            if line.call.op.is_locally_constant:
                values = self.run.values.get(line.symbol, {})
                for e, element in self.known.get(line.symbol, {}).items():
                    value = values.get(e)
                    if not isinstance(element, Series) or not element.is_bounded or not isinstance(value, arb):
                        continue
                    if not element.constant.overlaps(value):
                        yield line.symbol, e

    def of_direction(self, elements: Iterable[tuple[Atom, int]], direction: Direction) -> set[tuple[Atom, int]]:
        """Keep the elements of lines that one direction moves."""
        number = self._numbers[direction]
        return {(atom, e) for atom, e in elements if e in self._moved.get(atom, {}).get(number, ())}

    def _reached(self, moving: Collection[Direction]) -> Mapping[Atom, Flat]:
        """Find the elements of lines that the plan needs and that these directions move."""
        numbers = [self._numbers[direction] for direction in moving if direction in self._numbers]
        found = {}
        for atom, moved in self._moved.items():
            parts = [moved[n] for n in numbers if n in moved]
            if parts:
                found[atom] = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
        return found

    @cached_property
    def _numbers(self) -> Mapping[Direction, int]:
        return {direction: n for n, direction in enumerate(self.plan.directions)}

    @cached_property
    def _moved(self) -> Mapping[Atom, Mapping[int, Flat]]:
        """The elements of each line that the plan needs and that a direction moves, by the number of that."""
        found = {}
        for atom, (directions, elements) in self.plan.reached.items():
            if atom in self.plan.needed:
                is_needed = np.isin(elements, self.plan.needed[atom])
                order = np.lexsort((elements[is_needed], directions[is_needed]))
                own, numbers = elements[is_needed][order], directions[is_needed][order]
                starts = np.flatnonzero(np.diff(numbers, prepend=-1))
                parts = np.split(own, starts[1:]) if len(own) else []
                found[atom] = {n: np.unique(part) for n, part in zip(numbers[starts].tolist(), parts, strict=True)}
        return found

    def _element(self, operand: Atom, element: int) -> Element:
        """Return an operand at one of its elements; its value where it is not known to move."""
        moving = self.known.get(operand, {}).get(element)
        if moving is not None:
            return moving
        return _still(self.run.values[operand][element])

    def _line(self, line: Line, elements: Flat) -> dict[int, Element]:
        """Compute the elements of a line that move, or that have no value at the point."""
        found: dict[int, Element] = {}
        for e, inside in self._members(line, elements).items():
            value = self.run.values[line.symbol][e]
            if isinstance(value, Undefined) or not all(map(_stays, inside)):
                found[e] = self._cleared(line, e, self._anchored(self._result(line, e, inside, value), value))
        return found

    def _cleared(self, line: Line, e: int, element: Element) -> Element:
        """Drop leading coefficients that are exactly 0, by the exact forms, as balls around 0 do not show it."""
        if not isinstance(element, Series) or not element.is_bounded:
            return element
        still, moving = (tuple(t for t in element.terms if (t[0] > CONSTANT) == moves) for moves in (False, True))
        while moving and moving[0][1].contains(0) and self._is_zero(line, e, moving[0][0]):
            moving = moving[1:]
        return replace(element, terms=(*still, *moving))

    def _is_zero(self, line: Line, e: int, power: Power) -> bool:
        order, logarithms = power
        is_whole = logarithms == 0 and order.denominator == 1
        return is_whole and self.exact is not None and self.exact.is_zero(line.symbol, e, int(order))

    def _members(self, line: Line, elements: Flat) -> dict[int, list[Element]]:
        """Collect the members of each element of a line; of a sum only the moving ones, as its value has the rest.

        Where members are compared, numbers that are certainly the same share one ball, which cancels exactly.
        """
        members: dict[int, list[Element]] = {e: [] for e in elements.tolist()}
        is_compared = line.call.op.is_extreme or bool(line.call.op.sense)
        same: dict[tuple[int, ValueForm], Ball] = {}
        values = self.run.values[line.symbol]
        is_sum = _is_sum(line) and not any(isinstance(values[e], Undefined) for e in members)
        for k, position, source in self.reference.dependencies.source_chunks(line, elements):
            operand = line.call.operands[k]
            moving = self.known.get(operand, {})
            moves = np.fromiter((s in moving for s in source.tolist()), bool, len(source))
            # Members that do not move are in the value of the sum, which `_anchored` puts back for the constant term.
            is_left = is_sum and all(_is_continuous(moving[s]) for s in source[moves].tolist())
            taken = moves if is_left else slice(None)
            pairs = list(zip(elements[position[taken]].tolist(), source[taken].tolist(), strict=True))
            self.work += len(pairs) + len(source) // SKIPPED
            is_number = not isinstance(operand, sympy.Symbol)
            number = _still(self.run.values_at(line, k, source[:1])[0]) if is_number and pairs else None
            for e, s in pairs:
                a = number or self._element(operand, s)
                if is_compared and isinstance(a, Series) and a.is_continuous and not a.constant.is_exact():
                    form = self.run.numbering.form(operand, s)
                    a = a.moved_to(same.setdefault((e, form), a.constant))
                members[e].append(a)
        if line.call.op.is_at_positions:
            self._displace(line, elements, members)
        return members

    def _displace(self, line: Line, elements: Flat, members: dict[int, list[Element]]) -> None:
        """Take another element where a position is another one on the ray, and nothing where it moves."""
        operand, known = line.call.operands[1], self.known.get(line.call.operands[1], {})
        places: dict[int, list[Element]] = {}
        for p, s in zip(*(a.tolist() for a in self.reference.dependencies.sources(line, 1, elements)), strict=True):
            places.setdefault(int(elements[p]), []).append(known.get(s) or self._element(operand, s))
        for e, positions in places.items():
            if not all(map(_stays, positions)):
                members[e] = [self._element_at(line, e, positions)]

    def _element_at(self, line: Line, e: int, positions: Sequence[Element]) -> Element:
        """Return the element of a gather that is at these positions, as of no continuous function."""
        whole = [whole_number(a.constant) for a in positions if isinstance(a, Series) and a.is_still]
        place = self.reference.dependencies.source_at(line, e, whole) if len(whole) == len(positions) else None
        if line.call.op.kind is not Kind.GATHER:
            return Undecided()
        if place is not None and place not in self.run.values.get(line.call.operands[0], {}):
            return Undecided()
        if place is None:  # there is nothing between two positions
            return Series((), is_continuous=False)
        found = self._element(line.call.operands[0], place)
        return replace(found, is_continuous=False) if isinstance(found, Series) else found

    def _anchored(self, element: Element, value: Ball | Undefined) -> Element:
        """Set the constant to the value at the point, which may be an exact 0 that the balls do not show."""
        if not isinstance(element, Series) or isinstance(value, Undefined):
            return element
        is_continuous = element.is_continuous or (element.is_bounded and element.constant == value)
        if not is_continuous:
            return element
        if not exists(value) or not element.is_bounded:
            return Undecided()
        return Series((*constant(value).terms, *(t for t in element.terms if t[0] > CONSTANT)), element.rest)

    def _result(self, line: Line, e: int, inside: list[Element], value: Ball | Undefined) -> Element:
        op = line.call.op
        try:
            if op.is_branch:
                holds, *branches = inside
                taken = branches[0 if _holds(holds) else 1]
                if isinstance(taken, Series) and not _is_continuous(holds):
                    return replace(taken, is_continuous=taken.is_continuous and self.run.are_same(line, e))
                return taken
            if op.name == "detach":
                return constant(value) if not isinstance(value, Undefined) else Undecided()
            if any(isinstance(a, Nan) for a in inside):
                if op.sense:
                    return Series(constant(arb(int(op.name == "ne"))).terms, is_continuous=False)
                # The result is nan, but for nan**0 and 1**nan, which are 1.
                return Absent() if op.name == "pow" and exponent_of(line.call) is None else Nan()
            if op.sense and not isinstance(value, Undefined) and _is_beside_infinity(line, inside):
                return constant(value)
            if any(isinstance(a, Divergent) for a in inside):
                return _beyond(line, inside)
            operands = [_series(a) for a in inside]
            if op.kind is Kind.ELEMENTWISE:
                found = _elementwise(line, operands)
                return replace(found, is_continuous=found.is_continuous and all(a.is_continuous for a in operands))
            if op.is_extreme:
                return reduce(lambda a, b: _extreme(a, b, op), operands)
            if op.is_nonlinear_fold:
                return reduce(Series.__mul__, operands, constant(arb(1)))
            if _is_sum(line):
                return reduce(Series.__add__, operands, constant(arb(0)))
            if op.kind is Kind.MATRIX and len(operands) <= MOST_ROWS**2:
                return of_matrix(op, operands, e)
            if op.kind is Kind.SPECTRAL and op.name == "eigvalsh" and len(operands) <= MOST_ROWS_OF_SPECTRA**2:
                return eigenvalue(operands, e)
        except (Absent, Divergent, Undecided) as reason:
            return reason
        return Undecided()


def _elementwise(line: Line, operands: list[Series]) -> Series:
    op, (a, *rest) = line.call.op, operands
    if op.is_extreme:
        return _extreme(a, rest[0], op)
    if op.coefficients:
        pairs = zip(op.coefficients, operands, strict=True)
        return reduce(Series.__add__, [term if factor == 1 else term.scaled(arb(factor)) for factor, term in pairs])
    if op.sense:
        holds = (a - rest[0]).sign() in op.sense
        return Series(constant(arb(int(holds))).terms, is_continuous=False)
    if op.name == "pow":
        return _power(a, rest[0], _rational(exponent_of(line.call)) or fraction(rest[0].constant))
    if op.is_step and len(operands) == 1:
        return _step(line, a)
    return FUNCTIONS[op.name](*operands) if op.name in FUNCTIONS else _smooth(line, operands)


def _still(value: Ball | Undefined) -> Element:
    """Convert a value at the point to an element that is constant along the ray."""
    if isinstance(value, Undefined):
        return Nan() if value.is_nan else Absent() if value.kind == "domain" and value.decided else Undecided()
    return constant(value) if exists(value) else Nan() if value.is_nan() else Divergent()


def _is_sum(line: Line) -> bool:
    return line.call.op.is_linear and line.call.op.kind is not Kind.ELEMENTWISE


def _is_continuous(element: Element) -> bool:
    """Tell whether an element certainly tends to its value at the point, if it has a series."""
    return not isinstance(element, Series) or element.is_continuous


def _stays(element: Element) -> bool:
    """Return True if an element is certainly constant along the ray, the point included."""
    return isinstance(element, Series) and element.is_continuous and element.is_still


def _series(element: Element) -> Series:
    if isinstance(element, Series):
        return element
    raise element


def _is_beside_infinity(line: Line, inside: list[Element]) -> bool:
    """Tell whether continuous finite values are compared with an infinite constant."""
    near = [a for a, of in zip(inside, line.call.operands, strict=True) if of not in (sympy.oo, -sympy.oo)]
    return len(near) < len(inside) and all(isinstance(a, Series) and a.is_bounded and a.is_continuous for a in near)


def _beyond(line: Line, inside: list[Element]) -> Element:
    """Operate on elements beyond all powers: a reciprocal is flat, and a sum with one such term is beyond too."""
    op, (first, *rest) = line.call.op, inside
    if op.name == "div" and isinstance(rest[0], Divergent):
        return _series(first) * Series((), FLAT, is_continuous=False)
    others = [a for a in inside if not isinstance(a, Divergent)]
    if (
        (op.coefficients or _is_sum(line))
        and len(others) == len(inside) - 1
        and all(isinstance(a, Series) for a in others)
    ):
        return Divergent()
    return next((a for a in others if isinstance(a, Absent)), Undecided())


def _holds(condition: Element) -> bool:
    """Tell whether a condition holds on the ray."""
    holds = _series(condition)
    if not holds.is_still or not holds.constant.is_exact():
        raise Undecided
    return bool(holds.constant == 1)


def _extreme(a: Series, b: Series, op: Op) -> Series:
    """Return the larger (or smaller) series near the point; where they may be the same, the terms they share."""
    difference = a - b
    is_continuous = a.is_continuous and b.is_continuous
    if not difference.terms:
        rest = difference.rest
        return Series(tuple(t for t in a.terms if rest is None or t[0] < rest), rest, is_continuous)
    taken = a if difference.sign() == (1 if op.monoid is Monoid.LARGEST else -1) else b
    return replace(taken, is_continuous=is_continuous)


def _power(a: Series, b: Series, exponent: Fraction | None) -> Series:
    """Raise to a power, which need not be constant.

    Args:
        a: The base.
        b: The exponent.
        exponent: The constant of b, where that is a rational number.
    """
    if b.is_still and exponent is not None:
        return power(a, exponent)
    sign = a.sign()
    if sign < 0:
        raise Undecided if b.is_still else Absent  # a moving exponent is no whole number on the ray
    if sign == 0 and b.sign() <= 0:
        raise Absent
    found = exp(b * log(a)) if sign else a
    return replace(found, is_continuous=bool(a.constant > 0 or b.constant > 0))  # 0**0 is 1, and no limit


def _rational(number: Expr | None) -> Fraction | None:
    return Fraction(int(number.p), int(number.q)) if number is not None and number.is_Rational else None


def _step(line: Line, a: Series) -> Series:
    """Take the value of a step a quarter to the side, as jumps are at least one apart."""
    rule = rule_of(line.call)
    (parameter,) = rule.parameters
    moving, at = a.moving(), a.constant
    kinks = [compile_ball(kink)({parameter: at}) for kink in rule.kinks]
    jumps = any(distance == 0 for distance in kinks) and not a.is_still
    if not jumps and any(distance.contains(0) for distance in kinks) and not a.is_still:
        raise Undecided
    beside = at + arb(moving.sign()) / 4 if jumps else at
    value = compile_ball(rule.expression)({parameter: beside})
    return Series(constant(value).terms, is_continuous=a.is_continuous and not jumps)


def _smooth(line: Line, operands: list[Series]) -> Series:
    """Compose with the power series; where none is at hand, expand to the second order."""
    moving, balls = [a.moving() for a in operands], [a.constant for a in operands]
    if line.call.op.name in ANALYTIC:
        return composed(coefficients_of(line.call.op.name, balls[0]), moving[0])
    rule = rule_of(line.call)
    value = rule.evaluate(list(balls), "")
    slopes = [arb(0) if a.least is None else rule.slope(k, list(balls), "") for k, a in enumerate(moving)]
    if isinstance(value, Undefined) or any(isinstance(slope, Undefined) for slope in slopes):
        raise Undecided
    total = Series(constant(value).terms, is_continuous=all(a.is_continuous for a in operands))
    for slope, part in zip(known_balls(slopes), moving, strict=True):
        total += part.scaled(slope)
    for (k, a), (m, b) in product(enumerate(moving), repeat=2):
        if (bend := curvature(line.call, k, m)) is not None:
            total += (a * b).scaled(bend(balls) / 2)
    least = [part.least for part in moving if part.least is not None]
    return total + Series((), (3 * min(least)[0], 3 * min(least)[1])) if least else total
